//! Keys of a running group: list them, install a new one, use it, remove the old one.
//!
//! **Source.** The words are Serf's (`serf keys`). How members agree is ours.
//!
//! One member is asked ([`Keys`]) and asks all others, each by frames of its own, which are sealed
//! with the key that the member sends with now (`words`). Each of them changes its key file and
//! then the keys that it uses (`own`).
//!
//! **Assumptions.** Each member has a key file that it may replace. Whoever has a key of the group
//! may speak for it, here as elsewhere: to shut somebody out who has a key, give the members a new
//! one by other means (see `SECURITY.md`).
//!
//! **Promise.** A step is refused unless all members answer, or those that do not are left out by
//! will; and unless the step before was taken: a key is used that all have which answer, and a key
//! is removed with which none of them sends. So members that took part always understand each
//! other, and a step that was interrupted can be taken again. A member obeys an order that shows
//! the challenge which it gave for it a moment ago, so an old frame orders nothing. The election's
//! thread passes frames on and waits for nothing: files are written by another thread. Secrets are
//! in the frames and in the files alone, and erased from memory.

mod bad_step;
mod group;
mod own;
mod words;

pub use bad_step::BadKeyStep;
#[cfg(feature = "fuzzing")]
pub use words::fuzzing;

use crate::frame::{Keyring, Kind, Opened};
use crate::handle::{Election, ask_status};
use crate::member::Member;
use crate::request::Request;
use crate::shared::Shared;
use bellwether_core::{Dest, NodeId};
use own::Own;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::mpsc::{Receiver, Sender, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use words::Word;
use zeroize::{Zeroize as _, Zeroizing};

/// The most frames about keys that wait to be read; more are dropped, and are sent again.
const WAITING_MAX: usize = 256;

/// The short name of a key: four bytes of a hash, as frames show it. It tells nothing of the key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct KeyId(pub [u8; 4]);

impl fmt::Display for KeyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:08x}", u32::from_be_bytes(self.0))
    }
}

impl FromStr for KeyId {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let plain = text.len() == 8 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        let number = u32::from_str_radix(text, 16).ok().filter(|_| plain);
        number.map(|number| Self(number.to_be_bytes())).ok_or_else(|| {
            "the short name of a key has eight hexadecimal digits, as the list of keys shows it"
                .to_owned()
        })
    }
}

impl TryFrom<String> for KeyId {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<KeyId> for String {
    fn from(id: KeyId) -> Self {
        id.to_string()
    }
}

/// A step of a rotation of keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum KeyStep {
    /// Only look.
    List,
    /// Give all members a new key, or this one, which the asked member has, to those without it.
    Install(Option<KeyId>),
    /// Have all members send with this key.
    Use(KeyId),
    /// Have all members forget this key.
    Remove(KeyId),
}

/// The keys of one member.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemberKeys {
    /// The member.
    pub id: u64,
    /// Its keys by their short names; it sends with the first.
    pub keys: Vec<KeyId>,
    /// Why it did not take the step, or that it does not answer.
    #[serde(default)]
    pub why: Option<String>,
}

/// What came of a step.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeyReport {
    /// The key that the step was about.
    pub key: Option<KeyId>,
    /// All members, with their keys as of now.
    pub members: Vec<MemberKeys>,
}

/// The part of a member that looks after keys. Clones are one.
#[derive(Clone, Debug)]
pub struct Keys(Arc<Inner>);

struct Inner {
    shared: Arc<Shared>,
    group: String,
    own: Mutex<Own>,
    /// Who waits for answers, by the number of the question.
    waiting: Mutex<BTreeMap<u64, Sender<(NodeId, Word)>>>,
    /// Held while a step is taken by this member for all.
    turn: Mutex<()>,
    /// Who is told of the keys when they have changed.
    tell: Box<Tell>,
}

/// Hears which keys the member has now, when an order of a member changed them.
type Tell = dyn Fn(&[KeyId]) + Send + Sync;

impl fmt::Debug for Inner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Keys").field("group", &self.group).finish_non_exhaustive()
    }
}

/// The keys of a member, which nobody else changes meanwhile.
#[derive(Debug)]
pub struct HeldKeys<'a>(MutexGuard<'a, Own>);

impl HeldKeys<'_> {
    /// From now on the keys are in this file.
    pub fn set_file(&mut self, file: Option<PathBuf>) {
        self.0.set_file(file);
    }
}

/// A frame about keys: its sender, and its body.
pub(crate) type Heard = (NodeId, Zeroizing<Vec<u8>>);

impl Keys {
    /// Looks after the keys of this member, which are in this file. It goes on until the member
    /// ends.
    ///
    /// # Errors
    /// If the system has no thread for it.
    pub fn start(election: &Election, group: &str, file: Option<PathBuf>) -> io::Result<Self> {
        Self::start_and_tell(election, group, file, |_| ())
    }

    /// The same; `tell` is called with the keys, the one that is sent with first, whenever a step
    /// of a rotation has changed them.
    ///
    /// # Errors
    /// If the system has no thread for it.
    pub fn start_and_tell(
        election: &Election,
        group: &str,
        file: Option<PathBuf>,
        tell: impl Fn(&[KeyId]) + Send + Sync + 'static,
    ) -> io::Result<Self> {
        let shared = Arc::clone(election.shared());
        let (hears, heard) = sync_channel(WAITING_MAX);
        let inner = Inner {
            shared: Arc::clone(&shared),
            group: group.to_owned(),
            own: Mutex::new(Own::new(file)),
            waiting: Mutex::default(),
            turn: Mutex::default(),
            tell: Box::new(tell),
        };
        let keys = Self(Arc::new(inner));
        let own = Arc::clone(&keys.0);
        thread::Builder::new().name("keys".to_owned()).spawn(move || own.work(&heard))?;
        shared.hear_of_keys(hears);
        Ok(keys)
    }

    /// Keeps file and keys as they are until it is dropped: orders of other members wait.
    pub fn hold(&self) -> HeldKeys<'_> {
        HeldKeys(self.0.own())
    }

    /// Takes a step of a rotation with all members, or tells why nothing or not all was done. With
    /// `force` members that do not answer are left out, unless they are half of all or more.
    ///
    /// # Errors
    /// [`BadKeyStep`], which names the members and the way out.
    pub fn take(&self, step: KeyStep, force: bool) -> Result<KeyReport, BadKeyStep> {
        group::take(&self.0, step, force)
    }
}

impl Inner {
    fn own(&self) -> MutexGuard<'_, Own> {
        self.own.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn waiting(&self) -> MutexGuard<'_, BTreeMap<u64, Sender<(NodeId, Word)>>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Answers frames about keys until the member ends.
    fn work(&self, heard: &Receiver<Heard>) {
        for (sender, body) in heard {
            let Some(word) = Word::decode(&body) else { continue };
            if let Word::Answer { number, .. } = &word {
                let asks = self.waiting().get(number).cloned();
                let _ = asks.map(|asks| asks.send((sender, word))); // or nobody waits any more
                continue;
            }
            let Some(present) = self.present() else { return };
            let mut enforce = |keyring| self.enforce(keyring);
            let answer = self.own().answer(sender, word, &present, &self.group, &mut enforce);
            if let Some(answer) = answer {
                self.say(sender, &answer);
            }
        }
    }

    /// Has the member use these keys; whether there is one.
    fn enforce(&self, keyring: Keyring) -> bool {
        let ids = keyring.key_ids(&self.group);
        let done = self.shared.ask(Request::Keyring(keyring));
        if done {
            (self.tell)(&ids);
        }
        done
    }

    /// The keys that are in force, once all requests before this one were served; `None` if the
    /// member has ended.
    fn present(&self) -> Option<Vec<KeyId>> {
        let status = ask_status(&self.shared).ok()?;
        Some(status.keys.iter().filter_map(|id| id.parse().ok()).collect())
    }

    fn say(&self, to: NodeId, word: &Word) {
        self.shared.ask(Request::SendKeys(to, word.encode()));
    }
}

/// The member's thread.
impl Member {
    /// Passes a frame about keys on, if it is for this member alone and there is room.
    pub(crate) fn on_keys(&mut self, opened: &Opened) {
        if !opened.for_all {
            let body = Zeroizing::new(self.body.clone());
            self.shared.pass_on_keys((opened.sender, body));
        }
        self.body.zeroize();
    }

    /// Sends a frame about keys.
    pub(crate) fn send_keys(&mut self, to: NodeId, body: &[u8]) {
        let mut frame = Vec::new();
        if let Ok(number) = self.sealer.seal(Kind::Keys, Some(to), body, &mut frame) {
            self.transmit(Dest::Node(to), number, &frame, self.now);
        }
    }
}

/// Where frames about keys go, once somebody looks after them.
pub(crate) type Inbox = Mutex<Option<SyncSender<Heard>>>;
