//! Groups that run: members on this machine and elsewhere, and the demonstration's.
//!
//! **Promise.** A member is asked as `status` asks it, at most a few times a second, and one that
//! does not answer holds up nobody but whoever asks it. Only the processes of the demonstration can
//! be disturbed; other members of this machine can be asked to resign, and members elsewhere are
//! only watched. When a client goes away, its server threads stop asking members.

use crate::groups::Groups;
use crate::program::{Demo, Program};
use crate::reply;
use crate::routes::{App, Shared, read};
use crate::work::Lines;
use axum::extract::{Path, Request, State};
use axum::http::HeaderValue;
use axum::response::Response;
use bellwether_net::clock::{BootTime, Clock};
use bellwether_net::control::{ClientError, find, places};
use hyper::StatusCode;
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

/// How long a member rests between two questions.
const REST: Duration = Duration::from_millis(200);
/// How often it is looked whether something has changed.
const GLANCE: Duration = Duration::from_millis(50);
/// After how many glances a line is sent although nothing has changed.
const GLANCES: u32 = 20;
/// The most members that are asked.
const MEMBERS_MAX: usize = 64;

/// Where a member is asked.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Source {
    /// In this directory, this member of this group.
    Here(PathBuf, String, u64),
    /// At this address.
    There(String),
}

impl Source {
    /// What pages call it.
    pub(crate) fn key(&self) -> String {
        match self {
            // Two directories may have a member of the same group and number.
            Self::Here(dir, group, id) => format!("{}/{group}/{id}", dir.display()),
            Self::There(url) => url.clone(),
        }
    }

    /// Whether it is a process of this demonstration.
    fn is_of(&self, demo: Option<&Arc<dyn Demo>>) -> bool {
        match (self, demo) {
            (Self::Here(dir, ..), Some(demo)) => *dir == demo.dir(),
            _ => false,
        }
    }
}

/// What is known of a member.
#[derive(Clone, Debug, Default, PartialEq)]
struct Latest {
    status: Option<Value>,
    error: Option<String>,
    /// Whether it was here and has ended: its socket is left, and nobody answers.
    ended: bool,
}

/// Asks one member again and again, on a thread of its own.
struct Asking {
    latest: Arc<Mutex<Latest>>,
    over: Arc<AtomicBool>,
}

impl Drop for Asking {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
    }
}

fn ask(source: &Source, program: &dyn Program) -> Latest {
    let mut ended = false;
    let asked = match source {
        Source::Here(dir, group, id) => {
            let status = find(dir, Some(group), Some(*id)).and_then(|mut client| client.status());
            ended = matches!(status, Err(ClientError::Nobody { .. }));
            match status {
                Ok(status) => serde_json::to_value(&status).map_err(|error| error.to_string()),
                Err(error) => Err(error.to_string()),
            }
        }
        Source::There(url) => program.remote_status(url),
    };
    match asked {
        Ok(status) => Latest { status: Some(status), error: None, ended },
        Err(why) => Latest { status: None, error: Some(why), ended },
    }
}

impl Asking {
    fn begin(source: Source, program: Arc<dyn Program>) -> Option<Self> {
        let latest = Arc::new(Mutex::new(Latest::default()));
        let over = Arc::new(AtomicBool::new(false));
        let (told, ended) = (Arc::clone(&latest), Arc::clone(&over));
        let work = move || {
            while !ended.load(Ordering::Relaxed) {
                let mut news = ask(&source, program.as_ref());
                let mut known = told.lock().unwrap_or_else(PoisonError::into_inner);
                // What it last said is shown beside why it says no more.
                news.status = news.status.or_else(|| known.status.take());
                *known = news;
                drop(known);
                thread::sleep(REST);
            }
        };
        thread::Builder::new().name("lab-asks".to_owned()).spawn(work).ok()?;
        Some(Self { latest, over })
    }

    fn latest(&self) -> Latest {
        self.latest.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// All members that can be asked now, and how many are left out.
fn sources(app: &App) -> (Vec<Source>, usize) {
    let demo = app.demo().clone();
    let mut dirs = app.program.dirs();
    dirs.extend(demo.as_ref().map(|demo| demo.dir()));
    let mut here = Vec::new();
    for dir in dirs {
        // A directory that others may not read has nothing for them.
        for place in places(&dir).unwrap_or_default() {
            here.push(Source::Here(dir.clone(), place.group, place.id));
        }
    }
    bounded(app.members.iter().cloned().map(Source::There).collect(), here)
}

/// As many as are asked, first those that somebody named, and how many are left out.
fn bounded(named: Vec<Source>, here: Vec<Source>) -> (Vec<Source>, usize) {
    let mut all = named;
    all.extend(here);
    let left_out = all.len().saturating_sub(MEMBERS_MAX);
    all.truncate(MEMBERS_MAX);
    (all, left_out)
}

/// A member as a page sees it, with the number of its group, if that is known; `own` if it is one
/// of the demonstration.
fn member(source: &Source, latest: &Latest, home: Option<usize>, own: bool) -> Value {
    let (group, id) = match (source, &latest.status) {
        (Source::Here(_, group, id), _) => (json!(group), json!(id)),
        (Source::There(_), Some(status)) => (status["group"].clone(), status["id"].clone()),
        (Source::There(_), None) => (Value::Null, Value::Null),
    };
    let from = match source {
        Source::Here(dir, ..) => dir.display().to_string(),
        Source::There(url) => url.clone(),
    };
    json!({
        "key": source.key(),
        "group": group,
        "home": home,
        "id": id,
        "from": from,
        "resigns": matches!(source, Source::Here(..)) && !own,
        "status": latest.status,
        "error": latest.error,
        "ended": latest.ended,
    })
}

fn follow(app: &App, lines: &mut Lines) {
    let mut asked: BTreeMap<Source, Asking> = BTreeMap::new();
    let (mut before, mut quiet) = (Value::Null, 0);
    let mut groups = Groups::default();
    while !lines.is_over() {
        let demo = app.demo().clone();
        let (now, left_out) = sources(app);
        asked.retain(|source, _| now.contains(source));
        for source in now {
            if !asked.contains_key(&source)
                && let Some(asking) = Asking::begin(source.clone(), Arc::clone(&app.program))
            {
                asked.insert(source, asking);
            }
        }
        let known = asked.iter().map(|(source, asking)| {
            let latest = asking.latest();
            let home = latest.status.as_ref().map(|status| groups.of(status));
            (source, latest, home)
        });
        let known: Vec<(&Source, Latest, Option<usize>)> = known.collect();
        groups.forget(&known.iter().filter_map(|(_, _, home)| *home).collect());
        // Of a demonstration dead and paused members are shown; they are its own.
        let shown = known.iter().filter_map(|(source, latest, home)| {
            let own = source.is_of(demo.as_ref());
            let began = latest.status.is_some() || latest.error.is_some();
            (began && (own || !latest.ended)).then(|| member(source, latest, *home, own))
        });
        let members: Vec<Value> = shown.collect();
        let answering = known.iter().filter(|(_, latest, _)| latest.error.is_none());
        let answering = answering.filter_map(|(source, latest, home)| {
            Some((*source, (*home)?, latest.status.as_ref()?))
        });
        for past in groups.ask(answering, &app.program) {
            lines.say(&past);
            lines.send();
        }
        let state = demo.map_or_else(|| absent(app), |demo| demo.state());
        let said = json!({ "members": members, "left_out": left_out, "demo": state });
        quiet += 1;
        if said != before || quiet >= GLANCES {
            let mut line = said.clone();
            line["lab"] = json!("members");
            line["t_ms"] = json!(BootTime.now().as_nanos() as f64 / 1e6);
            lines.say(&line);
            lines.send();
            (before, quiet) = (said, 0);
        }
        thread::sleep(GLANCE);
    }
}

/// Watches all members.
pub(crate) async fn watch(State(app): Shared) -> Response {
    let shared = Arc::clone(&app);
    let work = move |lines: &mut Lines| {
        follow(&shared, lines);
        Ok(())
    };
    app.watchers.stream(work).await
}

/// Who is to resign.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Resigning {
    member: String,
}

/// Asks a member of this machine to stop leading; it answers when it has handed over.
pub(crate) async fn resign(State(app): Shared, request: Request) -> Response {
    let Resigning { member } = match read(request).await {
        Ok(resigning) => resigning,
        Err(refused) => return refused,
    };
    let shared = Arc::clone(&app);
    let ask = move || {
        let named = |source: &Source| source.key() == member;
        match sources(&shared).0.into_iter().find(named) {
            Some(Source::Here(dir, group, id)) => {
                let asked = find(&dir, Some(&group), Some(id));
                asked.and_then(|mut client| client.resign()).map_err(|error| error.to_string())
            }
            Some(Source::There(url)) => {
                Err(format!("the member at {url} is only watched; ask it on its own machine"))
            }
            None => {
                let member: String = member.chars().take(64).flat_map(char::escape_debug).collect();
                Err(format!("no member '{member}' is here; members are called DIRECTORY/GROUP/ID"))
            }
        }
    };
    done(app.quick.answer(ask).await)
}

fn done(outcome: Result<Result<(), String>, Response>) -> Response {
    match outcome {
        Ok(Ok(())) => reply::json(&json!({ "done": true })),
        Ok(Err(why)) => reply::error(StatusCode::CONFLICT, why),
        Err(refused) => refused,
    }
}

/// The demonstration's state if it does not run: why not, if the server was to begin with it.
fn absent(app: &App) -> Value {
    json!({ "running": false, "complaint": *complaint(app) })
}

fn complaint(app: &App) -> MutexGuard<'_, Option<String>> {
    app.complaint.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Starts the demonstration; why it cannot, in a sentence.
fn begin(app: &App) -> Result<(), String> {
    let mut demo = app.demo();
    if demo.is_some() {
        return Err("the demonstration runs already; stop it first".to_owned());
    }
    *demo = Some(app.program.demo()?);
    *complaint(app) = None;
    Ok(())
}

/// Starts it with the server. Nobody waits for an answer, so what fails is part of its state.
pub(crate) fn begin_by_itself(app: &App) {
    if let Err(why) = begin(app)
        && app.demo().is_none()
    {
        *complaint(app) = Some(reply::one_line(why));
    }
}

/// Starts the demonstration.
pub(crate) async fn start(State(app): Shared) -> Response {
    let shared = Arc::clone(&app);
    done(app.quick.answer(move || begin(&shared)).await)
}

/// Ends it.
pub(crate) async fn stop(State(app): Shared) -> Response {
    let shared = Arc::clone(&app);
    let end = move || {
        shared.end();
        Ok(())
    };
    done(app.quick.answer(end).await)
}

/// The demonstration, if it runs.
fn running(app: &App) -> Result<Arc<dyn Demo>, String> {
    app.demo().clone().ok_or_else(|| "the demonstration does not run; start it first".to_owned())
}

/// Does something to one of its processes.
pub(crate) async fn act_on(
    State(app): Shared,
    Path((member, what)): Path<(String, String)>,
) -> Response {
    let shared = Arc::clone(&app);
    let acted = move || {
        let id = member.parse().map_err(|_| {
            format!("'{}' is no member; members are numbers", member.escape_debug())
        })?;
        running(&shared)?.act_on(id, &what)
    };
    done(app.quick.answer(acted).await)
}

/// What its processes recorded.
pub(crate) async fn trace(State(app): Shared) -> Response {
    const LINES: HeaderValue = HeaderValue::from_static("application/x-ndjson");
    let shared = Arc::clone(&app);
    match app.quick.answer(move || running(&shared)?.trace()).await {
        Ok(Ok(bytes)) => reply::of(StatusCode::OK, LINES, bytes),
        Ok(Err(why)) => reply::error(StatusCode::CONFLICT, why),
        Err(refused) => refused,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_too_many_members_those_that_were_named_are_asked() {
        let here = |id| Source::Here(PathBuf::from("/run"), "web".to_owned(), id);
        let there = Source::There("http://127.0.0.1:1".to_owned());
        let (asked, left_out) = bounded(vec![there.clone()], (0..70).map(here).collect());
        assert_eq!((asked.len(), left_out), (64, 7));
        assert!(asked.contains(&there) && asked.contains(&here(62)), "{asked:?}");
        assert_eq!(bounded(Vec::new(), vec![here(1)]), (vec![here(1)], 0));
    }
}
