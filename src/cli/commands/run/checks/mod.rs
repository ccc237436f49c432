//! Health checks: whether this member may lead, and with which priority.
//!
//! **Source.** keepalived's `vrrp_script`: `interval`, `timeout`, `rise`, `fall`, `weight` and
//! `init_fail` mean what they mean there.
//!
//! **Assumptions.** The loop reads [`Checks::candidacy`] whenever it is woken.
//!
//! **Promise.** Each check has a thread of its own, so that one that hangs holds up neither the
//! election nor other checks. A run that takes too long has failed, also if it never ends. Each
//! change of a check is told in one line.

pub(super) mod check;
mod exec;
mod probe;

use super::printer::Printer;
use super::programs::check_command;
use crate::cli::failure::Failure;
use crate::cli::output::change;
use bellwether::core::{Candidacy, Instant};
use bellwether::net::WakeFd;
use bellwether::net::clock::{BootTime, Clock};
use bellwether::net::status::CheckStatus;
pub(in crate::cli) use check::Check;
use check::Kind;
use exec::{Outcome, Remains, left};
use rustix::event::{PollFd, PollFlags, poll};
use std::collections::BTreeSet;
use std::io;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, channel, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

/// The most checks of a member.
const CHECKS_MAX: usize = 32;
/// How long the end waits for commands that were killed.
const PATIENCE: std::time::Duration = std::time::Duration::from_secs(1);

/// What the checks look at, or why one of them cannot.
pub(super) fn check(checks: &[Check], witness: bool) -> Result<Vec<String>, Failure> {
    if let Some(check) = checks.first().filter(|_| witness) {
        return Err(Failure::Config(format!(
            "--check {}: a witness never leads, so there is nothing to check; leave --check or \
             --witness out",
            check.name
        )));
    }
    if checks.len() > CHECKS_MAX {
        return Err(Failure::Config(format!(
            "--check: {} checks are too many; a member has at most {CHECKS_MAX}",
            checks.len()
        )));
    }
    let mut names = BTreeSet::new();
    for check in checks {
        if !names.insert(&check.name) {
            return Err(Failure::Config(format!(
                "--check: two checks are called '{}': give one of them another name, as in \
                 name = \"...\"",
                check.name
            )));
        }
        if let Kind::Exec(words) = &check.kind {
            check_command(words[0].as_ref()).map_err(|failure| {
                let why = failure.into_line().0.unwrap_or_default();
                Failure::Config(format!("--check {}: {why}", check.name))
            })?;
        }
    }
    Ok(checks.iter().map(ToString::to_string).collect())
}

/// The names of checks, for people.
pub(super) fn names(checks: &[Check]) -> String {
    match checks {
        [] => "nothing".to_owned(),
        checks => checks.iter().map(|check| check.name.as_str()).collect::<Vec<_>>().join(", "),
    }
}

/// The checks of a member, and their threads.
#[derive(Debug)]
pub(super) struct Checks {
    findings: Findings,
    /// How willing the member was to lead before the first run.
    first: Candidacy,
    /// Nothing comes here; it is closed when all threads have ended.
    ended: Receiver<()>,
}

/// What the checks have found so far, for those who answer questions. Clones are one, also after
/// other checks have taken their place.
#[derive(Clone, Debug)]
pub(super) struct Findings(Arc<Mutex<Arc<Shared>>>);

/// What checks need besides their settings.
#[derive(Clone, Debug)]
pub(super) struct Around {
    /// How willing the member is to lead if all is well.
    pub(super) base: Candidacy,
    pub(super) environment: Vec<(&'static str, String)>,
    /// Wakes the loop when a check has changed.
    pub(super) waker: WakeFd,
    pub(super) errors: Printer,
}

#[derive(Debug)]
struct Shared {
    checks: Vec<Check>,
    found: Mutex<Vec<Found>>,
    around: Around,
    /// Readable when they may run.
    go: WakeFd,
    /// Readable when the member ends, or other checks have taken their place.
    over: WakeFd,
}

/// What one check has found so far.
#[derive(Clone, Debug)]
struct Found {
    up: bool,
    since: Instant,
    /// How many runs in a row said the opposite.
    against: u32,
    succeeded: u64,
    failed: u64,
    too_long: u64,
    last_failure: Option<String>,
}

impl Found {
    /// Notes a run; whether the check has changed by it.
    fn note(&mut self, check: &Check, failure: Option<(&str, bool)>, now: Instant) -> bool {
        match failure {
            None => self.succeeded += 1,
            Some((_, true)) => self.too_long += 1,
            Some((_, false)) => self.failed += 1,
        }
        if let Some((why, _)) = failure {
            self.last_failure = Some(why.to_owned());
        }
        let well = failure.is_none();
        if well == self.up {
            self.against = 0;
            return false;
        }
        self.against += 1;
        let needed = if well { check.rise } else { check.fall };
        let changes = self.against >= needed;
        if changes {
            (self.up, self.against, self.since) = (well, 0, now);
        }
        changes
    }
}

/// How willing a member is to lead, given what its checks have found.
fn candidacy(base: Candidacy, checks: &[Check], found: &[Found]) -> Candidacy {
    let (mut priority, mut witness) = (i64::from(base.priority), base.witness);
    for (check, found) in checks.iter().zip(found) {
        let counts = if check.weight > 0 { found.up } else { !found.up };
        if counts {
            priority += i64::from(check.weight);
            witness |= check.decides();
        }
    }
    let priority = u32::try_from(priority.max(0)).unwrap_or(u32::MAX);
    Candidacy { priority, witness }
}

impl Checks {
    /// The checks before their first run, which is now.
    pub(super) fn start(checks: Vec<Check>, around: Around) -> io::Result<Self> {
        let checks = Self::ready(checks, around)?;
        checks.findings.shared().go.wake();
        Ok(checks)
    }

    /// Checks that do not run before they have [taken the place](Self::give_way_to) of others.
    pub(super) fn ready(checks: Vec<Check>, around: Around) -> io::Result<Self> {
        let since = BootTime.now();
        let begin = |check: &Check| Found {
            up: !check.init_fail,
            since,
            against: 0,
            succeeded: 0,
            failed: 0,
            too_long: 0,
            last_failure: None,
        };
        let found: Vec<Found> = checks.iter().map(begin).collect();
        let first = candidacy(around.base, &checks, &found);
        let found = Mutex::new(found);
        let (go, over) = (WakeFd::new()?, WakeFd::new()?);
        let shared = Arc::new(Shared { checks, found, around, go, over });
        let (running, ended) = sync_channel(1);
        for number in 0..shared.checks.len() {
            let (own, running) = (Arc::clone(&shared), running.clone());
            thread::Builder::new().name(format!("check-{number}")).spawn(move || {
                if own.may_run() {
                    own.work(number);
                }
                drop(running);
            })?;
        }
        Ok(Self { findings: Findings(Arc::new(Mutex::new(shared))), first, ended })
    }

    /// Puts others in the place of these, which are returned: they end when they are dropped, and
    /// that may take a moment. A check of the same name that looks at the same is as well as it
    /// was. This never waits.
    pub(super) fn give_way_to(&mut self, mut others: Self) -> Self {
        let next = others.findings.shared();
        let former = std::mem::replace(&mut *self.findings.lock(), Arc::clone(&next));
        next.inherit(&former);
        *others.findings.lock() = former;
        std::mem::swap(&mut self.ended, &mut others.ended);
        next.go.wake();
        others
    }

    /// How willing the member was to lead before the first run.
    pub(super) fn first(&self) -> Candidacy {
        self.first
    }

    /// How willing the member is to lead now.
    pub(super) fn candidacy(&self) -> Candidacy {
        self.findings.candidacy()
    }

    /// Whether a check keeps the member from leading.
    pub(super) fn forbid(&self) -> bool {
        self.candidacy().witness && !self.findings.shared().around.base.witness
    }

    /// What the checks have found so far.
    pub(super) fn findings(&self) -> Findings {
        self.findings.clone()
    }
}

impl Drop for Checks {
    fn drop(&mut self) {
        self.findings.shared().over.wake();
        let _ = self.ended.recv_timeout(PATIENCE); // one that cannot be killed is left behind
    }
}

impl Findings {
    fn lock(&self) -> MutexGuard<'_, Arc<Shared>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The present checks.
    fn shared(&self) -> Arc<Shared> {
        Arc::clone(&self.lock())
    }

    fn candidacy(&self) -> Candidacy {
        let shared = self.shared();
        let found = shared.lock();
        candidacy(shared.around.base, &shared.checks, &found)
    }

    /// All of them, for `status` and metrics.
    pub(super) fn all(&self) -> Vec<CheckStatus> {
        let shared = self.shared();
        let (found, now) = (shared.lock().clone(), BootTime.now());
        let all = shared.checks.iter().zip(found);
        let status = |(check, found): (&Check, Found)| CheckStatus {
            name: check.name.clone(),
            what: check.kind.told(),
            up: found.up,
            since_ms: now.since(found.since).as_secs_f64() * 1e3,
            weight: check.weight,
            succeeded: found.succeeded,
            failed: found.failed,
            too_long: found.too_long,
            last_failure: found.last_failure,
        };
        all.map(status).collect()
    }

    /// Why the member does not lead now, if a check keeps it from that.
    pub(super) fn why_not(&self) -> Option<String> {
        let shared = self.shared();
        let found = shared.lock();
        let mut all = shared.checks.iter().zip(found.iter());
        let (check, found) = all.find(|(check, found)| check.decides() && !found.up)?;
        let why = found.last_failure.as_deref().unwrap_or("it was not well yet");
        Some(format!("does not lead while check {} fails: {why}", check.name))
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Vec<Found>> {
        self.found.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins as those were that did the same.
    fn inherit(&self, former: &Self) {
        let known = former.lock();
        for (check, found) in self.checks.iter().zip(self.lock().iter_mut()) {
            let same = |own: &Check| own.name == check.name && own.kind == check.kind;
            if let Some(place) = former.checks.iter().position(same) {
                *found = known[place].clone();
            }
        }
    }

    /// Waits until the checks may run; not if they are dropped before.
    fn may_run(&self) -> bool {
        loop {
            let [go, over] = [&self.go, &self.over].map(|fd| PollFd::new(fd, PollFlags::IN));
            let mut fds = [go, over];
            if poll(&mut fds, None).is_ok() {
                return !fds[0].revents().is_empty() && fds[1].revents().is_empty();
            }
        }
    }

    /// Runs one check again and again, until the member ends.
    fn work(&self, number: usize) {
        let check = &self.checks[number];
        let (mut remains, mut prober) = (Remains::default(), None);
        loop {
            let begin = BootTime.now();
            let outcome = match &check.kind {
                Kind::Exec(words) => {
                    let environment = &self.around.environment;
                    exec::run(words, environment, check.timeout, &self.over, &mut remains)
                }
                _ => self.probe(check, &mut prober),
            };
            if outcome == Outcome::CutShort {
                return;
            }
            self.take(number, &outcome);
            if self.is_over_by(begin + check.interval) {
                return;
            }
        }
    }

    /// Notes the outcome of a run, and tells if the check has changed.
    fn take(&self, number: usize, outcome: &Outcome) {
        let check = &self.checks[number];
        let late = format!("it took longer than {}", check.timeout);
        let failure = match outcome {
            Outcome::Failed(why) => Some((why.as_str(), false)),
            Outcome::TooLong => Some((late.as_str(), true)),
            Outcome::Succeeded | Outcome::CutShort => None,
        };
        let now = BootTime.now();
        let mut found = self.lock();
        if !found[number].note(check, failure, now) {
            return;
        }
        let after = candidacy(self.around.base, &self.checks, &found);
        drop(found);
        let said = match failure {
            Some((why, _)) => format!("fails: {why}"),
            None => "is well".to_owned(),
        };
        let effect = match (check.weight, after.witness) {
            (0, true) => "the member does not lead".to_owned(),
            (0, false) => "the member may lead".to_owned(),
            _ => format!("its priority is {}", after.priority),
        };
        let stamp = change::stamp(now);
        self.around.errors.say(&format!("{stamp} check {} {said}; {effect}", check.name));
        self.around.waker.wake();
    }

    /// Waits until then; whether the member ends before.
    fn is_over_by(&self, until: Instant) -> bool {
        loop {
            let mut fds = [PollFd::new(&self.over, PollFlags::IN)];
            let heard = poll(&mut fds, left(until).as_ref()).is_ok();
            if heard && !fds[0].revents().is_empty() {
                return true;
            }
            if BootTime.now() >= until {
                return false;
            }
        }
    }

    /// Has another thread look, and waits for it no longer than the check may take. A thread that
    /// does not come back is asked no more, and the check fails until it does.
    fn probe(&self, check: &Check, prober: &mut Option<Prober>) -> Outcome {
        let prober = match prober {
            Some(prober) => prober,
            None => match Prober::start(check) {
                Ok(started) => prober.insert(started),
                Err(error) => return Outcome::Failed(format!("cannot look: {error}")),
            },
        };
        prober.look(std::time::Duration::from_nanos(check.timeout.as_nanos()))
    }
}

/// The thread that looks, because a file may be on a disk that hangs.
#[derive(Debug)]
struct Prober {
    wanted: SyncSender<()>,
    seen: Receiver<Result<(), String>>,
    /// Whether it has not come back since it was asked.
    looks: bool,
}

impl Prober {
    fn start(check: &Check) -> io::Result<Self> {
        let (wanted, asked) = sync_channel(1);
        let (tell, seen) = channel();
        let (kind, within) = (check.kind.clone(), check.timeout);
        let within = std::time::Duration::from_nanos(within.as_nanos());
        thread::Builder::new().name("probe".to_owned()).spawn(move || {
            for () in asked {
                if tell.send(probe::look(&kind, within)).is_err() {
                    return; // the member ends
                }
            }
        })?;
        Ok(Self { wanted, seen, looks: false })
    }

    fn look(&mut self, within: std::time::Duration) -> Outcome {
        if self.looks && self.seen.try_recv().is_ok() {
            self.looks = false; // what it saw then is too old
        }
        if !self.looks && self.wanted.try_send(()).is_err() {
            return Outcome::Failed("the thread that looks has ended".to_owned());
        }
        let waits = if self.looks { std::time::Duration::ZERO } else { within };
        self.looks = true;
        match self.seen.recv_timeout(waits) {
            Ok(seen) => {
                self.looks = false;
                seen.map_or_else(Outcome::Failed, |()| Outcome::Succeeded)
            }
            Err(RecvTimeoutError::Timeout) => Outcome::TooLong,
            Err(RecvTimeoutError::Disconnected) => {
                Outcome::Failed("the thread that looks has ended".to_owned())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bellwether::core::Duration;

    fn found(check: &Check) -> Found {
        let (up, since) = (!check.init_fail, Instant::ZERO);
        let (succeeded, failed, too_long, against) = (0, 0, 0, 0);
        Found { up, since, against, succeeded, failed, too_long, last_failure: None }
    }

    #[test]
    fn it_takes_so_many_in_a_row_to_rise_and_to_fall() {
        let check: Check = "file=/x,rise=3,fall=2".parse().unwrap();
        let mut found = found(&check);
        let mut run = |well: bool| {
            let failure = (!well).then_some(("gone", false));
            let changed = found.note(&check, failure, Instant::ZERO + Duration::from_secs(7));
            (changed, found.up)
        };
        assert_eq!(run(false), (false, true));
        assert_eq!(run(true), (false, true));
        assert_eq!(run(false), (false, true), "the one before it does not count any more");
        assert_eq!(run(false), (true, false));
        assert_eq!(run(false), (false, false));
        assert_eq!([run(true), run(true), run(false)], [(false, false); 3]);
        assert_eq!([run(true), run(true)], [(false, false); 2]);
        assert_eq!(run(true), (true, true));
        assert_eq!((found.succeeded, found.failed, found.too_long), (6, 5, 0));
    }

    #[test]
    fn weights_change_the_priority_and_what_has_none_decides() {
        let texts = ["file=/a,weight=-30", "file=/b,weight=20", "file=/c"];
        let checks: Vec<Check> = texts.iter().map(|text| text.parse().unwrap()).collect();
        let base = Candidacy { priority: 10, witness: false };
        let with = |up: [bool; 3]| {
            let all: Vec<Found> =
                checks.iter().zip(up).map(|(check, up)| Found { up, ..found(check) }).collect();
            let Candidacy { priority, witness } = candidacy(base, &checks, &all);
            (priority, witness)
        };
        assert_eq!(with([true, true, true]), (30, false));
        assert_eq!(with([false, true, true]), (0, false));
        assert_eq!(with([true, false, true]), (10, false));
        assert_eq!(with([false, false, false]), (0, true), "no less than zero");
    }

    #[test]
    fn a_look_that_never_ends_fails_and_is_not_begun_again() {
        let (wanted, asked) = sync_channel(1);
        let (tell, seen) = channel();
        let mut prober = Prober { wanted, seen, looks: false };
        let brief = std::time::Duration::from_millis(10);
        assert_eq!(prober.look(brief), Outcome::TooLong);
        assert_eq!(prober.look(brief), Outcome::TooLong);
        assert_eq!(asked.try_iter().count(), 1, "it was asked once");
        tell.send(Ok(())).unwrap();
        assert_eq!(prober.look(brief), Outcome::TooLong, "what it saw is too old");
        assert_eq!(asked.try_iter().count(), 1, "it is asked again");
        tell.send(Ok(())).unwrap();
        assert_eq!(prober.look(brief), Outcome::TooLong, "this is the answer to that");
    }
}
