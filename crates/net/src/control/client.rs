//! The client: finds the members that run on this machine, and asks one of them.

use super::{Answer, Ask, Change, ChangedSetting, NotReloaded, Question, connect, named};
use crate::keys::{BadKeyStep, KeyReport, KeyStep};
use crate::setting::{NamesSettings, Setting};
use crate::status::Status;
use crate::voter_change::VoterChange;
use bellwether_core::{Duration, Event, Record};
use std::fmt;
use std::fs;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};

/// The longest answer: a group of a thousand members fits.
const ANSWER_MAX: u64 = 4 << 20;
/// The longest to wait for an answer.
const PATIENCE: std::time::Duration = std::time::Duration::from_secs(5);
/// The longest to wait for what takes its time.
const LONG_PATIENCE: std::time::Duration = std::time::Duration::from_secs(120);
/// The most directory entries that are read.
const PLACES_MAX: usize = 10_000;

/// A member's socket, which may be left over from a process that has ended.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub struct Place {
    /// Its group.
    pub group: String,
    /// Its id.
    pub id: u64,
    /// Its socket.
    pub path: PathBuf,
}

/// Why there is no answer.
#[derive(Debug)]
#[non_exhaustive]
pub enum ClientError {
    /// No running member matches.
    Nobody {
        /// What was looked for.
        sought: String,
        /// The directory.
        dir: PathBuf,
        /// Matching members that no longer run.
        gone: Vec<Place>,
    },
    /// Several running members match.
    Several(Vec<Place>),
    /// The member runs and does not answer.
    Silent(Place),
    /// The system refused.
    Io(PathBuf, io::Error),
    /// The member refused, for this reason.
    Refused(String),
    /// The member read its settings again, and changed nothing.
    NotReloaded(NotReloaded),
    /// The step of a rotation of keys was not taken, or not by all.
    Keys(BadKeyStep),
    /// The answer does not fit the question.
    Strange(PathBuf),
}

impl NamesSettings for ClientError {
    fn explain(&self, name: &dyn Fn(Setting) -> String) -> String {
        match self {
            Self::Nobody { sought, dir, gone } => {
                let ended = |Place { group, id, .. }: &Place| {
                    format!(" (member {id} of {group} was here, and has ended)")
                };
                format!(
                    "no running {sought} in {}{}; start one, or set {} to its directory",
                    dir.display(),
                    gone.first().map(ended).unwrap_or_default(),
                    name(Setting::Dir)
                )
            }
            Self::Several(places) => {
                let id = name(Setting::Id);
                let names = places.iter().map(|place| format!("{} {id} {}", place.group, place.id));
                let names = names.collect::<Vec<_>>().join(", ");
                format!("several members run here: choose one of {names}")
            }
            Self::Silent(Place { group, id, .. }) => {
                format!("member {id} of {group} does not answer: it may be stopped, or hang")
            }
            Self::Io(path, error) => format!("cannot talk to {}: {error}", path.display()),
            Self::Refused(why) | Self::NotReloaded(NotReloaded { why, .. }) => why.clone(),
            Self::Keys(bad) => bad.explain(name),
            Self::Strange(path) => format!(
                "{} does not answer as it should: is another version running?",
                path.display()
            ),
        }
    }
}

impl fmt::Display for ClientError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.explain(&|setting| setting.to_string()))
    }
}

impl std::error::Error for ClientError {}

/// All members' sockets in a directory, also of ended processes, sorted by group and id.
///
/// # Errors
/// The system's error. A missing directory counts as empty.
pub fn places(dir: &Path) -> io::Result<Vec<Place>> {
    let entries = match fs::read_dir(dir) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries?,
    };
    let mut places = Vec::new();
    for entry in entries.take(PLACES_MAX) {
        let entry = entry?;
        if let Some((group, id)) = entry.file_name().to_str().and_then(named) {
            places.push(Place { group: group.to_owned(), id, path: entry.path() });
        }
    }
    places.sort();
    Ok(places)
}

/// Connects to the only running member with this group and id; `None` matches all.
///
/// # Errors
/// [`ClientError`], if there is no such member, or more than one.
pub fn find(dir: &Path, group: Option<&str>, id: Option<u64>) -> Result<Client, ClientError> {
    let all = places(dir).map_err(|error| ClientError::Io(dir.to_owned(), error))?;
    let wanted = |place: &Place| {
        group.is_none_or(|group| group == place.group) && id.is_none_or(|id| id == place.id)
    };
    let (mut clients, mut gone) = (Vec::new(), Vec::new());
    for place in all.into_iter().filter(wanted) {
        match connect(&place.path, PATIENCE) {
            Ok(stream) => clients.push((place, stream)),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                return Err(ClientError::Silent(place));
            }
            Err(error) if is_gone(&error) => gone.push(place),
            Err(error) => return Err(ClientError::Io(place.path, error)),
        }
    }
    if clients.len() > 1 {
        return Err(ClientError::Several(clients.into_iter().map(|(place, _)| place).collect()));
    }
    match clients.pop() {
        Some((place, stream)) => Client::new(place, stream),
        None => Err(ClientError::Nobody { sought: sought(group, id), dir: dir.to_owned(), gone }),
    }
}

fn is_gone(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::ConnectionRefused | io::ErrorKind::NotFound)
}

fn sought(group: Option<&str>, id: Option<u64>) -> String {
    let member = id.map_or_else(|| "member".to_owned(), |id| format!("member {id}"));
    group.map_or_else(|| member.clone(), |group| format!("{member} of group {group}"))
}

/// A connection to one member.
#[derive(Debug)]
pub struct Client {
    place: Place,
    stream: BufReader<UnixStream>,
}

impl Client {
    fn new(place: Place, stream: UnixStream) -> Result<Self, ClientError> {
        let prepared = stream.set_write_timeout(Some(PATIENCE));
        prepared.map_err(|error| ClientError::Io(place.path.clone(), error))?;
        Ok(Self { place, stream: BufReader::new(stream) })
    }

    /// The member at the other end.
    pub fn place(&self) -> &Place {
        &self.place
    }

    /// Asks for the status.
    ///
    /// # Errors
    /// [`ClientError`].
    pub fn status(&mut self) -> Result<Status, ClientError> {
        match self.ask(Ask::Status)? {
            Answer::Status(status) => Ok(*status),
            other => Err(self.unexpected(other)),
        }
    }

    /// Makes the member resign; returns once it has.
    ///
    /// # Errors
    /// [`ClientError`].
    pub fn resign(&mut self) -> Result<(), ClientError> {
        match self.ask(Ask::Resign)? {
            Answer::Done(true) => Ok(()),
            other => Err(self.unexpected(other)),
        }
    }

    /// Makes the member resign in favour of another one; returns once it has.
    ///
    /// # Errors
    /// [`ClientError`].
    pub fn transfer(&mut self, to: u64) -> Result<(), ClientError> {
        match self.converse(Question { to: Some(to), ..Question::of(Ask::Transfer) })? {
            Answer::Done(true) => Ok(()),
            other => Err(self.unexpected(other)),
        }
    }

    /// Makes the member change the voters of its group, if the present list has this number;
    /// returns once the change has begun.
    ///
    /// # Errors
    /// [`ClientError`].
    pub fn change_voters(
        &mut self,
        change: VoterChange,
        list: Option<u64>,
    ) -> Result<(), ClientError> {
        let (add, remove) = (change.added().map(|id| id.0), change.removed().map(|id| id.0));
        let (lock, drift_ppm) = change.lengths();
        let question = Question { lock, drift_ppm, ..Question::of(Ask::Voters) };
        match self.converse(Question { add, remove, list, ..question })? {
            Answer::Done(true) => Ok(()),
            other => Err(self.unexpected(other)),
        }
    }

    /// Makes the member forget one that joined and has ended for good; returns once it has.
    ///
    /// # Errors
    /// [`ClientError`].
    pub fn forget(&mut self, id: u64) -> Result<(), ClientError> {
        match self.converse(Question { member: Some(id), ..Question::of(Ask::Forget) })? {
            Answer::Done(true) => Ok(()),
            other => Err(self.unexpected(other)),
        }
    }

    /// Makes the member read its settings again; returns what changed.
    ///
    /// # Errors
    /// [`ClientError::NotReloaded`] with the reason if nothing changed, and others.
    pub fn reload(&mut self) -> Result<Vec<ChangedSetting>, ClientError> {
        match self.ask(Ask::Reload)? {
            Answer::Reloaded(changed) => Ok(changed),
            Answer::Unchanged(why) => Err(ClientError::NotReloaded(why)),
            other => Err(self.unexpected(other)),
        }
    }

    /// Lists the keys of all members of the group, or takes a step of a rotation with them.
    ///
    /// # Errors
    /// [`ClientError::Keys`] if the step was not taken, and others.
    pub fn keys(&mut self, step: KeyStep, force: bool) -> Result<KeyReport, ClientError> {
        let question = Question { step: Some(step), force, ..Question::of(Ask::Keys) };
        match self.converse(question)? {
            Answer::Keys(report) => Ok(report),
            Answer::NoStep(bad) => Err(ClientError::Keys(bad)),
            other => Err(self.unexpected(other)),
        }
    }

    /// Calls `tell` with what happened to the member in the last time of this length, as far as it
    /// remembers, or with all of that. The last record has the kind `collected`.
    ///
    /// # Errors
    /// [`ClientError`].
    pub fn past(
        &mut self,
        last: Option<Duration>,
        tell: &mut dyn FnMut(Record),
    ) -> Result<(), ClientError> {
        self.say(Question { last, ..Question::of(Ask::Past) }, Some(PATIENCE))?;
        loop {
            match self.hear()? {
                Some(Answer::Record(record)) => {
                    let over = matches!(record.event, Event::Collected { .. });
                    tell(*record);
                    if over {
                        return Ok(());
                    }
                }
                Some(other) => return Err(self.unexpected(other)),
                None => {
                    let why = "the member closed the connection: it is ending".to_owned();
                    return Err(ClientError::Refused(why));
                }
            }
        }
    }

    /// Calls `tell` with the present state and each change, until it returns false or the member
    /// ends.
    ///
    /// # Errors
    /// [`ClientError`].
    pub fn watch(&mut self, tell: &mut dyn FnMut(&Change) -> bool) -> Result<(), ClientError> {
        self.say(Question::of(Ask::Watch), None)?;
        while let Some(answer) = self.hear()? {
            match answer {
                Answer::Change(change) if tell(&change) => {}
                Answer::Change(_) => return Ok(()),
                other => return Err(self.unexpected(other)),
            }
        }
        Ok(())
    }

    fn ask(&mut self, ask: Ask) -> Result<Answer, ClientError> {
        self.converse(Question::of(ask))
    }

    fn converse(&mut self, question: Question) -> Result<Answer, ClientError> {
        // A leader ends its command first; files may be on a disk that is slow.
        let long = [Ask::Resign, Ask::Transfer, Ask::Reload, Ask::Keys].contains(&question.ask);
        self.say(question, Some(if long { LONG_PATIENCE } else { PATIENCE }))?;
        self.hear()?.ok_or_else(|| {
            ClientError::Refused("the member closed the connection: it is ending".to_owned())
        })
    }

    fn say(
        &mut self,
        question: Question,
        patience: Option<std::time::Duration>,
    ) -> Result<(), ClientError> {
        let said = serde_json::to_string(&question).map_err(io::Error::from);
        let mut stream = self.stream.get_ref();
        said.and_then(|line| {
            stream.set_read_timeout(patience)?;
            stream.write_all(format!("{line}\n").as_bytes())
        })
        .map_err(|error| self.failed(error))
    }

    /// The next answer; `None` if the member closed the connection.
    fn hear(&mut self) -> Result<Option<Answer>, ClientError> {
        let mut line = String::new();
        let read = self.stream.by_ref().take(ANSWER_MAX).read_line(&mut line);
        match read.map_err(|error| self.failed(error))? {
            0 => Ok(None),
            _ => serde_json::from_str(&line)
                .map(Some)
                .map_err(|_| ClientError::Strange(self.place.path.clone())),
        }
    }

    fn unexpected(&self, answer: Answer) -> ClientError {
        match answer {
            Answer::Error(why) => ClientError::Refused(why),
            _ => ClientError::Strange(self.place.path.clone()),
        }
    }

    fn failed(&self, error: io::Error) -> ClientError {
        if error.kind() == io::ErrorKind::WouldBlock {
            return ClientError::Silent(self.place.clone());
        }
        ClientError::Io(self.place.path.clone(), error)
    }
}
