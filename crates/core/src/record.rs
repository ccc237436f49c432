//! One line of a trace, simulated and live alike.

use crate::fact::Fact;
use crate::id::{NodeId, Term};
use crate::leadership::Stage;
use crate::time::{Instant, SimTime};
use crate::work::{Watcher, Work};
use alloc::borrow::Cow;
use alloc::string::String;
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

/// Something that happened at one process. As JSON, one object a line:
/// `{"t":…,"node":…,"kind":"send",…}`, times in nanoseconds.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Record {
    /// When: the world's time in a simulation, the node's own clock in a live trace.
    pub t: SimTime,
    /// Where.
    pub node: NodeId,
    /// What.
    #[serde(flatten)]
    pub event: Event,
}

/// What happened.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", tag = "kind")]
pub enum Event {
    /// A life of a live process begins: all that it takes to live it again.
    Begin(Head),
    /// The process began.
    Start {
        /// The number of this life.
        incarnation: u64,
    },
    /// It sent a message.
    Send {
        /// To whom; to everyone if absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        to: Option<NodeId>,
        /// The kind of message.
        message: Cow<'static, str>,
        /// The sender's count of its messages, from 0.
        number: u64,
    },
    /// It received a message.
    Recv {
        /// From whom.
        from: NodeId,
        /// The kind of message.
        message: Cow<'static, str>,
        /// The sender's number for it.
        number: u64,
        /// When it was sent.
        sent: SimTime,
        /// In which of the sender's lives it was sent, where that is recorded.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        life: Option<u64>,
        /// The message itself, in hexadecimal digits, where that is recorded.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        body: Option<String>,
    },
    /// A message to it was lost.
    Drop {
        /// From whom.
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
    /// A timer ran.
    Timer {
        /// Its kind.
        timer: String,
    },
    /// It stored something.
    Store {
        /// How much.
        bytes: usize,
    },
    /// It stopped without a word.
    Crash,
    /// It came back.
    Restart {
        /// The number of this life.
        incarnation: u64,
    },
    /// It stands still.
    Pause,
    /// It goes on.
    Resume,
    /// The application asked it something.
    Command {
        /// What.
        command: String,
        /// Whether the protocol took it.
        taken: bool,
    },
    /// It left for good.
    Leave,
    /// Its clock was set forward.
    Jump {
        /// What it reads now.
        reads: Instant,
    },
    /// Its view of the group has changed.
    Peers {
        /// Who else is in it.
        members: Vec<NodeId>,
    },
    /// It was told whether a peer can be reached.
    Reach {
        /// Which.
        peer: NodeId,
        /// Whether it can.
        up: bool,
    },
    /// From now on nothing that these send reaches those, whoever `node` is.
    Cut {
        /// The senders.
        from: Vec<NodeId>,
        /// The receivers.
        to: Vec<NodeId>,
    },
    /// All cuts are mended.
    Heal,
    /// Something it holds true.
    Fact(Fact),
    /// What it believes has changed.
    Leadership {
        /// Whom it follows.
        leaders: Vec<NodeId>,
        /// The reign.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        term: Option<Term>,
        /// Until when on its clock; for ever if absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        until: Option<Instant>,
        /// How far it is.
        stage: Stage,
    },
    /// A guardian of a live member begins: whose, and by which clock.
    Guardian(Watcher),
    /// What becomes of the command that runs while the member leads.
    Work {
        /// When the guardian was asked for that records it: the time of its first record.
        guardian: SimTime,
        /// What.
        #[serde(flatten)]
        work: Work,
    },
}

/// What a live process began with.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Head {
    /// Which start of which machine its clock counts from: clocks of the same one agree.
    pub boot: String,
    /// The group.
    pub group: String,
    /// The protocol's name.
    pub protocol: String,
    /// The protocol's configuration, as JSON.
    pub params: String,
    /// The number of this life.
    pub incarnation: u64,
    /// How fit it is to lead.
    pub rank: u64,
    /// Who else is in the group.
    pub members: Vec<NodeId>,
    /// Where its random choices come from.
    pub seed: u64,
    /// What it had stored, in hexadecimal digits; absent if that is lost.
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
