//! A record: one line of a trace, the same in simulated and live runs.

use crate::candidacy::Candidacy;
use crate::fact::Fact;
use crate::id::{NodeId, Term};
use crate::leadership::Stage;
use crate::time::{Instant, SimTime};
use crate::work::{Watcher, Work};
use alloc::borrow::Cow;
use alloc::string::String;
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

/// An event at one process. As JSON, one object per line: `{"t":…,"node":…,"kind":"send",…}`, times
/// in nanoseconds.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Record {
    /// The time: simulated time in a simulation, the node's own clock in a live trace.
    pub t: SimTime,
    /// The process.
    pub node: NodeId,
    /// The event.
    #[serde(flatten)]
    pub event: Event,
}

/// The number of the last message of an incarnation: its [last will](crate::Protocol::last_will).
/// Whoever received it knows that the incarnation is over.
pub const LAST_NUMBER: u64 = u64::MAX;

/// An event of a trace.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", tag = "kind")]
pub enum Event {
    /// An incarnation of a live process begins, with all that its replay needs.
    Begin(LifeHeader),
    /// The process started.
    Start {
        /// The number of this incarnation.
        incarnation: u64,
    },
    /// It sent a message.
    Send {
        /// The receiver; everyone if absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        to: Option<NodeId>,
        /// The kind of message.
        message: Cow<'static, str>,
        /// The number of the message, from 0 at each sender.
        number: u64,
    },
    /// It received a message.
    Recv {
        /// The sender.
        from: NodeId,
        /// The kind of message.
        message: Cow<'static, str>,
        /// The sender's number for it; [`LAST_NUMBER`] if it is the sender's last will.
        number: u64,
        /// When it was sent.
        sent: SimTime,
        /// The sender's incarnation, where that is recorded.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        life: Option<u64>,
        /// The bytes of the message, in hexadecimal digits, where they are recorded.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        body: Option<String>,
    },
    /// A message to it was lost.
    Drop {
        /// The sender.
        from: NodeId,
        /// The kind of message.
        message: Cow<'static, str>,
        /// The sender's number for it.
        number: u64,
        /// When it was sent.
        sent: SimTime,
        /// Why it was lost.
        why: Cow<'static, str>,
    },
    /// A timer fired.
    Timer {
        /// Its kind.
        timer: String,
    },
    /// It stored something.
    Store {
        /// The number of bytes.
        bytes: usize,
    },
    /// It crashed.
    Crash,
    /// It restarted.
    Restart {
        /// The number of this incarnation.
        incarnation: u64,
    },
    /// It was paused.
    Pause,
    /// It resumed.
    Resume,
    /// The application gave a command.
    Command {
        /// The command.
        command: String,
        /// Whether the protocol accepted it.
        taken: bool,
    },
    /// It left for good.
    Leave,
    /// It withdrew: it takes no part until it begins again.
    Withdraw {
        /// Why, in a word.
        why: Cow<'static, str>,
    },
    /// Somebody collected its recent past, and it was alive.
    Collected {
        /// Which start of which machine its clock counts from.
        boot: String,
        /// The wall clock, in nanoseconds since 1970.
        wall: u64,
        /// How many earlier entries were overwritten.
        lost: u64,
    },
    /// Its clock was set forward.
    Jump {
        /// Its new reading.
        reads: Instant,
    },
    /// Its view of the group has changed.
    Peers {
        /// The other members.
        members: Vec<NodeId>,
    },
    /// It was told that a peer's reachability changed.
    Reach {
        /// The peer.
        peer: NodeId,
        /// Whether it is reachable.
        up: bool,
    },
    /// The network is cut: from now on no message of `from` reaches `to`, for any `node`.
    Cut {
        /// The senders.
        from: Vec<NodeId>,
        /// The receivers.
        to: Vec<NodeId>,
    },
    /// All cuts of the network are healed.
    Heal,
    /// A fact about its state.
    Fact(Fact),
    /// Its belief about leadership changed.
    Leadership {
        /// The leaders that it follows.
        leaders: Vec<NodeId>,
        /// The term.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        term: Option<Term>,
        /// The deadline on its clock; none if absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        until: Option<Instant>,
        /// How far the election is.
        stage: Stage,
    },
    /// A guardian of a live member begins, with its member and its clock.
    Guardian(Watcher),
    /// An event of the command that runs while the member leads.
    Work {
        /// The guardian that records it, by the time of its first record.
        guardian: SimTime,
        /// The event.
        #[serde(flatten)]
        work: Work,
    },
}

/// What a live process started with.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct LifeHeader {
    /// Identifies the boot of the machine that its clock counts from: clocks of the same boot
    /// agree.
    pub boot: String,
    /// The group.
    pub group: String,
    /// The protocol's name.
    pub protocol: String,
    /// The protocol's configuration, as JSON.
    pub params: String,
    /// The number of this incarnation.
    pub incarnation: u64,
    /// Its rank.
    pub rank: u64,
    /// How willing it is to lead.
    #[serde(default, skip_serializing_if = "Candidacy::is_ordinary")]
    pub candidacy: Candidacy,
    /// The other members.
    pub members: Vec<NodeId>,
    /// The voters of the founding list, itself included where it votes; absent if all members vote.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub founders: Option<Vec<NodeId>>,
    /// The seed of its random choices.
    pub seed: u64,
    /// Its stored state, in hexadecimal digits; absent if that is lost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory: Option<String>,
    /// When the process began, if a command runs while it leads and the guardian records that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub work: Option<SimTime>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    #[test]
    fn a_record_is_one_flat_json_object_and_comes_back_equal() {
        let records = [
            (Event::Crash, r#"{"t":5,"node":3,"kind":"crash"}"#),
            (
                Event::Send { to: None, message: Cow::Borrowed("announce"), number: 0 },
                r#"{"t":5,"node":3,"kind":"send","message":"announce","number":0}"#,
            ),
            (
                Event::Leadership {
                    leaders: vec![NodeId(3)],
                    term: None,
                    until: None,
                    stage: Stage::Decided,
                },
                r#"{"t":5,"node":3,"kind":"leadership","leaders":[3],"stage":"decided"}"#,
            ),
            (
                Event::Fact(Fact::Alive { peer: NodeId(1) }),
                r#"{"t":5,"node":3,"kind":"fact","fact":"alive","peer":1}"#,
            ),
            (
                Event::Work { guardian: SimTime::ZERO, work: Work::Starts { run: 2 } },
                r#"{"t":5,"node":3,"kind":"work","guardian":0,"phase":"starts","run":2}"#,
            ),
            (
                Event::Work {
                    guardian: SimTime::ZERO,
                    work: Work::Ended {
                        run: 2,
                        pid: Some(77),
                        from: Some(SimTime::from_nanos(1)),
                        to: Some(SimTime::from_nanos(4)),
                    },
                },
                concat!(
                    r#"{"t":5,"node":3,"kind":"work","guardian":0,"phase":"ended","run":2,"#,
                    r#""pid":77,"from":1,"to":4}"#
                ),
            ),
            (
                Event::Work { guardian: SimTime::ZERO, work: Work::Done },
                r#"{"t":5,"node":3,"kind":"work","guardian":0,"phase":"done"}"#,
            ),
            (
                Event::Guardian(Watcher {
                    boot: "b".into(),
                    group: "g".into(),
                    since: SimTime::from_nanos(3),
                }),
                r#"{"t":5,"node":3,"kind":"guardian","boot":"b","group":"g","since":3}"#,
            ),
        ];
        for (event, json) in records {
            let record = Record { t: SimTime::from_nanos(5), node: NodeId(3), event };
            assert_eq!(serde_json::to_string(&record).unwrap(), json);
            assert_eq!(serde_json::from_str::<Record>(json).unwrap(), record);
        }
    }
}
