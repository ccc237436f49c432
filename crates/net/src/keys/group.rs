//! A step that one member takes for all: it asks each, checks the rules, and gives orders.
//!
//! **Promise.** It waits for a few seconds at most. If a rule does not hold, nobody was told to
//! change anything. If a member fails after that, it is named, and the step can be taken again.

use super::words::{Order, Word};
use super::{BadKeyStep, Inner, KeyId, KeyReport, KeyStep, MemberKeys};
use crate::clock::{BootTime, Clock as _};
use crate::frame::Keyring;
use crate::handle::ask_status;
use crate::randomness;
use bellwether_core::{Duration, NodeId};
use std::collections::BTreeMap;
use std::sync::TryLockError;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread::sleep;

/// How long members have to say which keys they have, and to change their files.
const LISTING: Duration = Duration::from_secs(3);
const CHANGING: Duration = Duration::from_secs(10);
/// How often a member that has not answered is asked again.
const AGAIN: Duration = Duration::from_millis(250);
/// So many frames are sent at a time, and then a pause is made: the election has its turn.
const BURST: usize = 16;
const PAUSE: std::time::Duration = std::time::Duration::from_millis(2);

/// What a member said of itself.
#[derive(Clone, Debug)]
struct Said {
    challenge: u64,
    keys: Vec<KeyId>,
    refused: Option<String>,
}

/// All members by id; `None` for those that do not answer.
type Answers = BTreeMap<NodeId, Option<Said>>;

/// Takes a step.
pub(super) fn take(keys: &Inner, step: KeyStep, force: bool) -> Result<KeyReport, BadKeyStep> {
    let _turn = match keys.turn.try_lock() {
        Ok(turn) => turn,
        Err(TryLockError::Poisoned(turn)) => turn.into_inner(),
        Err(TryLockError::WouldBlock) => {
            return Err("this member is asked for another step of keys already; try again".into());
        }
    };
    let status = ask_status(&keys.shared).map_err(|gone| gone.to_string())?;
    let me = NodeId(status.id);
    if status.security == "insecure" {
        return Err(BadKeyStep::NoKey);
    }
    let members = status.members.iter().map(|member| NodeId(member.id));
    let group = Group { keys, me, members: members.collect() };
    let before = group.survey()?;
    let (order, key) = match step {
        KeyStep::List => return Ok(report(None, &before, &BTreeMap::new())),
        KeyStep::Install(key) => {
            let ring = group.secret(key)?;
            let order = ring.only_secret().map(Order::Install).ok_or("there is no key")?;
            (order, ring.key_ids(&keys.group).first().copied())
        }
        KeyStep::Use(id) => (Order::Use(id), Some(id)),
        KeyStep::Remove(id) => (Order::Remove(id), Some(id)),
    };
    check(&before, &order, force)?;
    let after = group.order(&before, &order)?;
    let report = report(key, &before, &after);
    let failed = after.iter().filter_map(|(id, done)| {
        let why = match done {
            Some(said) => said.refused.clone()?,
            None => "it did not answer in time".to_owned(),
        };
        Some((id.0, why))
    });
    let failed: BTreeMap<u64, String> = failed.collect();
    if failed.is_empty() { Ok(report) } else { Err(BadKeyStep::Partly(failed)) }
}

/// Checks that the step before was taken, by all that answer.
fn check(before: &Answers, order: &Order, force: bool) -> Result<(), BadKeyStep> {
    let ids = |wanted: &dyn Fn(Option<&Said>) -> bool| {
        let are = before.iter().filter(|(_, said)| wanted(said.as_ref()));
        are.map(|(id, _)| id.0).collect::<Vec<_>>()
    };
    let says = |wanted: &dyn Fn(&Said) -> bool| ids(&|said| said.is_some_and(wanted));
    let unable: BTreeMap<u64, String> = before
        .iter()
        .filter_map(|(id, said)| Some((id.0, said.as_ref()?.refused.clone()?)))
        .collect();
    if !unable.is_empty() {
        return Err(BadKeyStep::Unable(unable));
    }
    if let Order::Use(key) = *order {
        let members = says(&|said| !said.keys.contains(&key));
        if !members.is_empty() {
            return Err(BadKeyStep::Lacking { key, members });
        }
    }
    if let Order::Remove(key) = *order {
        let members = says(&|said| said.keys.first() == Some(&key));
        if !members.is_empty() {
            return Err(BadKeyStep::Sending { key, members });
        }
        if says(&|said| said.keys.contains(&key)).is_empty() {
            return Err(BadKeyStep::Unknown(key));
        }
    }
    let (silent, of) = (ids(&|said| said.is_none()), before.len());
    if silent.is_empty() {
        return Ok(());
    }
    if 2 * silent.len() >= of {
        return Err(BadKeyStep::MostSilent { silent, of });
    }
    // A key that is only accepted harms nobody.
    if force || matches!(order, Order::Install(_)) {
        return Ok(());
    }
    Err(BadKeyStep::Silent { silent, of })
}

/// What is told of all members.
fn report(key: Option<KeyId>, before: &Answers, after: &Answers) -> KeyReport {
    let row = |(id, said): (&NodeId, &Option<Said>)| {
        let now = after.get(id).and_then(Option::as_ref).or(said.as_ref());
        let silent = || "it does not answer".to_owned();
        MemberKeys {
            id: id.0,
            keys: now.map(|now| now.keys.clone()).unwrap_or_default(),
            why: now.map_or_else(|| Some(silent()), |now| now.refused.clone()),
        }
    };
    KeyReport { key, members: before.iter().map(row).collect() }
}

/// The members, and who asks.
struct Group<'a> {
    keys: &'a Inner,
    me: NodeId,
    members: Vec<NodeId>,
}

impl Group<'_> {
    /// The key to install: a new one, or one that this member has.
    fn secret(&self, key: Option<KeyId>) -> Result<Keyring, String> {
        let Some(key) = key else {
            let new = Keyring::generate();
            return new.map_err(|error| format!("this machine has no randomness: {error}"));
        };
        self.keys.own().secret(key, &self.keys.group)
    }

    /// Asks all members which keys they have.
    fn survey(&self) -> Result<Answers, String> {
        let present = self.keys.present().ok_or("the member has ended")?;
        let refused = self.keys.own().refuses(&present, &self.keys.group);
        let mine = Said { challenge: 0, keys: present, refused };
        let number = number()?;
        let words = self.others().map(|id| (id, Word::List { number })).collect();
        let mut answers = self.ask(number, words, LISTING);
        answers.insert(self.me, Some(mine));
        Ok(answers)
    }

    /// Gives the order to all that answered, and last to this member itself.
    fn order(&self, before: &Answers, order: &Order) -> Result<Answers, String> {
        let number = number()?;
        let word = |id: NodeId| {
            let challenge = before.get(&id)?.as_ref()?.challenge;
            Some((id, Word::Do { number, challenge, order: order.clone() }))
        };
        let mut answers = self.ask(number, self.others().filter_map(word).collect(), CHANGING);
        let present = self.keys.present().ok_or("the member has ended")?;
        let mut enforce = |keyring| self.keys.enforce(keyring);
        let done = self.keys.own().obey(order, &present, &self.keys.group, &mut enforce);
        let (keys, refused) = match done {
            Ok(keys) => (keys, None),
            Err(why) => (present, Some(why)),
        };
        answers.insert(self.me, Some(Said { challenge: 0, keys, refused }));
        Ok(answers)
    }

    fn others(&self) -> impl Iterator<Item = NodeId> {
        self.members.iter().copied().filter(|id| *id != self.me)
    }

    /// Says these words to these members, again and again, until all answered or the time is up.
    fn ask(&self, number: u64, words: BTreeMap<NodeId, Word>, within: Duration) -> Answers {
        let (asks, answered) = channel();
        self.keys.waiting().insert(number, asks);
        let mut answers: Answers = words.keys().map(|id| (*id, None)).collect();
        let end = BootTime.now() + within;
        'rounds: while answers.values().any(Option::is_none) && BootTime.now() < end {
            let silent =
                words.iter().filter(|(id, _)| answers.get(id).is_some_and(Option::is_none));
            for (sent, (id, word)) in (1..).zip(silent) {
                self.keys.say(*id, word);
                if sent % BURST == 0 {
                    sleep(PAUSE);
                }
            }
            let again = (BootTime.now() + AGAIN).min(end);
            while answers.values().any(Option::is_none) {
                let left = again.since(BootTime.now()).as_nanos();
                match answered.recv_timeout(std::time::Duration::from_nanos(left)) {
                    Ok((from, Word::Answer { challenge, keys, refused, .. })) => {
                        if let Some(answer) = answers.get_mut(&from) {
                            *answer = Some(Said { challenge, keys, refused });
                        }
                    }
                    Ok(_) => {}
                    Err(RecvTimeoutError::Timeout) => break,
                    Err(RecvTimeoutError::Disconnected) => break 'rounds,
                }
            }
        }
        self.keys.waiting().remove(&number);
        answers
    }
}

/// A number that nobody can guess: whoever answers it has read the question.
fn number() -> Result<u64, String> {
    randomness::number().map_err(|error| format!("this machine has no randomness: {error}"))
}
