//! The control socket of a running member: a unix socket in its directory, one JSON object per
//! line.
//!
//! **Source.** Ours. A question is `{"ask":"status"}`, `{"ask":"resign"}`,
//! `{"ask":"transfer","to":2}`, `{"ask":"voters","add":4,"remove":1}`,
//! `{"ask":"forget","member":4}`, `{"ask":"reload"}`, `{"ask":"keys","step":"list"}`,
//! `{"ask":"past","last":"1h"}` or `{"ask":"watch"}`; an answer is `{"status":…}`, `{"done":true}`,
//! `{"reloaded":[…]}`, `{"unchanged":{…}}`, `{"keys":{…}}`, `{"record":…}`, `{"change":…}` or
//! `{"error":"…"}`. A watch is answered with the present state and then with each change; the past
//! with one record a line, of which the last has the kind `collected`.
//!
//! **Assumptions.** The directory belongs to the member's user, and nobody else may write to it.
//!
//! **Promise.** Only the member's own user and root are answered, because only they may write to
//! the socket's file; their namespace does not matter. A client can neither block the member nor
//! make its memory grow: questions, connections and times are bounded.

mod client;
mod connections;
mod handler;
pub(crate) mod own;
mod reload;
mod server;
mod socket;

pub use client::{Client, ClientError, Place, find, places};
pub use handler::{ChangeStream, ControlHandler, WatchEvent};
pub use reload::{ChangedSetting, NotReloaded};
pub use server::{ServeError, Server};
pub use socket::listen;

use crate::Snapshot;
use crate::clock::wall_time;
use crate::keys::{BadKeyStep, KeyReport, KeyStep};
use crate::setting::{NamesSettings, Setting};
use crate::status::{Role, Status};
use bellwether_core::{Duration, Instant, Record, Term};
use rustix::net::sockopt::{Timeout, set_socket_timeout};
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType, socket_with};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::io;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};

/// What a client can ask.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Ask {
    /// The status of the member.
    Status,
    /// To resign.
    Resign,
    /// To resign in favour of the member that the question names.
    Transfer,
    /// To change the voters: to add one, to remove one, or both; or lockTime and drift.
    Voters,
    /// To forget the member that the question names, which joined and has ended for good.
    Forget,
    /// To read its settings again.
    Reload,
    /// To list or change the keys of all members of its group.
    Keys,
    /// What happened to it in the last time, as records of a trace.
    Past,
    /// Its present state, and every change from now on.
    Watch,
}

/// A question as it is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Question {
    ask: Ask,
    /// The member that should lead next, for [`Ask::Transfer`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    to: Option<u64>,
    /// The member that should vote, for [`Ask::Voters`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    add: Option<u64>,
    /// The member that should vote no longer, for [`Ask::Voters`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    remove: Option<u64>,
    /// The new lockTime, for [`Ask::Voters`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    lock: Option<Duration>,
    /// The new bound on the drift of clocks, in parts per 10⁶, for [`Ask::Voters`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    drift_ppm: Option<u32>,
    /// The number of the list of voters to change, for [`Ask::Voters`]; any if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    list: Option<u64>,
    /// The member to forget, for [`Ask::Forget`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    member: Option<u64>,
    /// The step, for [`Ask::Keys`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    step: Option<KeyStep>,
    /// Whether members that do not answer are left out, for [`Ask::Keys`].
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    force: bool,
    /// How far back, for [`Ask::Past`]; all that is remembered if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    last: Option<Duration>,
}

impl Question {
    /// A question without details.
    fn of(ask: Ask) -> Self {
        Self {
            ask,
            to: None,
            add: None,
            remove: None,
            lock: None,
            drift_ppm: None,
            list: None,
            member: None,
            step: None,
            force: false,
            last: None,
        }
    }
}

/// The answer to a question.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Answer {
    /// To [`Ask::Status`].
    Status(Box<Status>),
    /// To [`Ask::Resign`] and [`Ask::Transfer`], once the member has resigned; to [`Ask::Voters`],
    /// once the change has begun.
    Done(bool),
    /// To [`Ask::Reload`]: what changed.
    Reloaded(Vec<ChangedSetting>),
    /// To [`Ask::Reload`]: nothing changed, and why.
    Unchanged(NotReloaded),
    /// To [`Ask::Keys`]: the members and their keys.
    Keys(KeyReport),
    /// To [`Ask::Keys`]: the step was not taken, or not by all, and why.
    #[serde(rename = "no-step")]
    NoStep(BadKeyStep),
    /// To [`Ask::Past`], one per record.
    Record(Box<Record>),
    /// To [`Ask::Watch`], one per change.
    Change(Change),
    /// The request failed, and why.
    Error(String),
}

/// A change of what a member believes, for programs: the line that `bellwether run` prints.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Change {
    /// When, in nanoseconds of `CLOCK_BOOTTIME`.
    pub t: u64,
    /// The group.
    pub group: String,
    /// The member.
    pub id: u64,
    /// Its role.
    pub role: Role,
    /// The leaders that it follows; itself, if it leads.
    pub leaders: Vec<u64>,
    /// When that ends unless it is renewed, on the same clock; absent if it does not end.
    pub until: Option<u64>,
    /// The term, where the protocol counts terms.
    pub term: Option<u64>,
    /// Whether terms grow across restarts of the members, too.
    #[serde(default)]
    pub term_kept: bool,
    /// Why it takes no part in the election, if it has withdrawn.
    pub why: Option<String>,
    /// When by the wall clock, in the form of RFC 3339, in UTC. For people: the clock may be set
    /// back.
    #[serde(default)]
    pub wall: String,
}

impl Change {
    /// The change that leads to this state of a member.
    pub fn of(group: &str, standing: &Snapshot) -> Self {
        Self {
            t: standing.at.as_nanos(),
            group: group.to_owned(),
            id: standing.me.0,
            role: standing.role(),
            leaders: standing.leaders.iter().map(|leader| leader.0).collect(),
            until: (standing.until != Instant::NEVER).then(|| standing.until.as_nanos()),
            term: standing.term.map(Term::number),
            term_kept: standing.term_kept,
            why: standing.withdrawn.clone(),
            wall: wall_time(standing.at),
        }
    }
}

/// The longest name of a group, which is part of file names.
const GROUP_MAX: usize = 64;
/// The longest path of a unix socket, without the byte that ends it.
const PATH_MAX: usize = 107;
/// The stack size of an answering thread.
const STACK: usize = 256 * 1024;

/// Why a group can have no socket.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum BadPlace {
    /// The name of the group cannot be part of a file's name.
    Group(String),
    /// The path is too long for a unix socket.
    Path(PathBuf),
}

impl NamesSettings for BadPlace {
    fn explain(&self, name: &dyn Fn(Setting) -> String) -> String {
        match self {
            Self::Group(group) => format!(
                "group '{}': the name of a group has from 1 to {GROUP_MAX} letters, digits, '-', \
                 '_' and '.', and does not begin with '.'",
                group.escape_debug()
            ),
            Self::Path(path) => format!(
                "{}: the path of a socket has at most {PATH_MAX} bytes, this has {}; set {} to a \
                 shorter directory",
                path.display(),
                path.as_os_str().len(),
                name(Setting::Dir)
            ),
        }
    }
}

impl fmt::Display for BadPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.explain(&|setting| setting.to_string()))
    }
}

impl std::error::Error for BadPlace {}

/// Checks that the name of a group can be part of a file's name.
///
/// # Errors
/// [`BadPlace::Group`].
pub fn check_group(group: &str) -> Result<(), BadPlace> {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    let good = (1..=GROUP_MAX).contains(&group.len())
        && group.bytes().all(plain)
        && !group.starts_with('.');
    if good { Ok(()) } else { Err(BadPlace::Group(group.to_owned())) }
}

/// The path of a member's socket.
///
/// # Errors
/// [`BadPlace`], if there can be none.
pub fn socket_path(dir: &Path, group: &str, id: u64) -> Result<PathBuf, BadPlace> {
    check_group(group)?;
    let path = dir.join(format!("{group}.{id}.sock"));
    if path.as_os_str().len() > PATH_MAX { Err(BadPlace::Path(path)) } else { Ok(path) }
}

/// Connects. If the server's queue is full it waits for this long at most, and not at all for zero.
fn connect(path: &Path, patience: std::time::Duration) -> io::Result<UnixStream> {
    let waits = !patience.is_zero();
    let nonblocking = if waits { SocketFlags::empty() } else { SocketFlags::NONBLOCK };
    let flags = SocketFlags::CLOEXEC | nonblocking;
    let socket = socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)?;
    if waits {
        set_socket_timeout(&socket, Timeout::Send, Some(patience))?;
    }
    rustix::net::connect(&socket, &SocketAddrUnix::new(path)?)?;
    Ok(UnixStream::from(socket))
}

/// The group and the member of a socket's file name.
fn named(file: &str) -> Option<(&str, u64)> {
    let (group, id) = file.strip_suffix(".sock")?.rsplit_once('.')?;
    check_group(group).ok()?;
    Some((group, id.parse().ok()?))
}

/// Questions and answers, for fuzzers.
#[cfg(feature = "fuzzing")]
pub mod fuzzing {
    use super::{Answer, Ask, Duration, Question};
    use crate::keys::KeyStep;
    use crate::voter_change::VoterChange;

    /// Whether these bytes are a question or an answer.
    pub fn read(bytes: &[u8]) -> bool {
        let question = serde_json::from_slice::<Question>(bytes);
        if let Ok(question) = &question {
            let again = serde_json::to_vec(question).unwrap_or_default();
            assert_eq!(serde_json::from_slice::<Question>(&again).ok(), Some(*question));
            VoterChange::of(question.add, question.remove);
            VoterChange::of_lengths(question.lock, question.drift_ppm);
        }
        let answer = serde_json::from_slice::<Answer>(bytes);
        if let Ok(answer) = &answer {
            let again = serde_json::to_vec(answer).unwrap_or_default();
            assert!(serde_json::from_slice::<Answer>(&again).is_ok(), "an answer can be read");
        }
        question.is_ok() || answer.is_ok()
    }

    /// What clients and members write.
    pub fn seeds() -> Vec<Vec<u8>> {
        let asks = [Ask::Status, Ask::Resign, Ask::Transfer, Ask::Voters, Ask::Forget];
        let question = |ask| Question {
            ask,
            to: Some(2),
            add: Some(4),
            remove: Some(1),
            lock: None,
            drift_ppm: Some(100),
            list: Some(3),
            member: Some(9),
            step: Some(KeyStep::Install(None)),
            force: true,
            last: Some(Duration::from_secs(5)),
        };
        let bytes = |ask| serde_json::to_vec(&question(ask)).unwrap_or_default();
        let change = br#"{"change":{"t":5,"group":"g","id":1,"role":"leader","leaders":[1],
            "until":7,"term":7,"term_kept":true,"why":null,"wall":"2026-11-16T10:20:47Z"}}"#;
        let reloaded = br#"{"reloaded":[{"setting":"rank","now":"7"}]}"#.to_vec();
        let unchanged = br#"{"unchanged":{"why":"no","fixed":["id"],"bad":true}}"#.to_vec();
        let answers = [br#"{"done":true}"#.to_vec(), br#"{"error":"no"}"#.to_vec()];
        let keys = br#"{"keys":{"key":"0011aabb","members":[{"id":1,"keys":["0011aabb"]}]}}"#;
        let record = br#"{"record":{"t":5,"node":1,"kind":"withdraw","why":"x"}}"#;
        let answers = answers.into_iter().chain([reloaded, unchanged, keys.to_vec()]);
        let more = [Ask::Reload, Ask::Keys, Ask::Past, Ask::Watch].map(bytes);
        let more = more.into_iter().chain([change.to_vec(), record.to_vec()]);
        asks.map(bytes).into_iter().chain(answers).chain(more).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_socket_is_named_after_group_and_member_and_tells_both() {
        let path = socket_path(Path::new("/run/bellwether"), "web.eu-1", 7).unwrap();
        assert_eq!(path, Path::new("/run/bellwether/web.eu-1.7.sock"));
        assert_eq!(named("web.eu-1.7.sock"), Some(("web.eu-1", 7)));
        for name in ["web.sock", "web.x.sock", "web.7", ".7.sock", "a/b.7.sock", "web.-1.sock"] {
            assert_eq!(named(name), None, "{name}");
        }
    }

    #[test]
    fn a_group_that_is_no_file_name_and_a_path_that_is_too_long_are_refused() {
        for group in ["", "a/b", ".hidden", "a b", "ä", "x\0", &"x".repeat(65)] {
            let error = socket_path(Path::new("/run"), group, 1).unwrap_err();
            assert_eq!(error, BadPlace::Group(group.to_owned()));
        }
        let deep = format!("/{}", "d".repeat(90));
        let error = socket_path(Path::new(&deep), "a-long-group", 1).unwrap_err().to_string();
        assert!(error.contains("at most 107 bytes, this has 111"), "{error}");
    }

    #[test]
    fn questions_and_answers_are_the_lines_that_scripts_rely_on() {
        let question = serde_json::to_string(&Question::of(Ask::Status)).unwrap();
        assert_eq!(question, r#"{"ask":"status"}"#);
        assert_eq!(serde_json::to_string(&Answer::Done(true)).unwrap(), r#"{"done":true}"#);
        let error = Answer::Error("no".to_owned());
        assert_eq!(serde_json::to_string(&error).unwrap(), r#"{"error":"no"}"#);
        let change = Change {
            t: 5,
            group: "g".to_owned(),
            id: 1,
            role: Role::Leader,
            leaders: vec![1],
            until: None,
            term: Some(7),
            term_kept: true,
            why: None,
            wall: "2026-11-16T10:20:47.123Z".to_owned(),
        };
        assert_eq!(
            serde_json::to_string(&change).unwrap(),
            concat!(
                r#"{"t":5,"group":"g","id":1,"role":"leader","leaders":[1],"#,
                r#""until":null,"term":7,"term_kept":true,"why":null,"#,
                r#""wall":"2026-11-16T10:20:47.123Z"}"#
            )
        );
    }
}
