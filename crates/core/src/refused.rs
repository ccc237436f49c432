//! Why a protocol refuses a command.

use crate::id::NodeId;
use crate::time::Duration;
use core::fmt;

/// Why a protocol refused a command. Nothing changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Refused {
    /// The protocol has no such command, with any state or with these parameters.
    Unsupported,
    /// Only a leader can do that, and this process does not lead.
    NotLeading,
    /// It is not possible at this moment: the process leads already, is bound to another one, or
    /// waits for something.
    NotNow,
    /// The process takes no part in the election now.
    Withdrawn,
    /// The process resigned, and others come first.
    CoolingDown,
    /// The process is a witness: it votes and never leads.
    Witness,
    /// This process cannot be the next leader.
    Nominee(NodeId, Unfit),
    /// This process is not a member.
    UnknownMember(NodeId),
    /// This process votes already.
    AlreadyMember(NodeId),
    /// Without this process nobody could vote.
    LastVoter(NodeId),
    /// Another change of the members is not finished.
    ChangePending,
    /// The change is based on another list of voters than the present one, which has this number.
    Outdated(u64),
    /// This member does not vote.
    NotVoter(NodeId),
    /// A leader does not remove itself from the voters.
    Leads(NodeId),
    /// Too few of those that would vote after the change answer now: the group would stop.
    WouldStop,
    /// The group does not store what it grants, so its voters cannot change.
    Volatile,
    /// With one voter more, or while lockTime changes, the messages would not fit a datagram.
    TooManyVoters,
    /// The group does not store what it grants, so nobody joins it while it runs.
    NobodyJoins,
    /// This member is in the founding list, which stays.
    Founder(NodeId),
    /// This member votes, and so is not forgotten.
    Votes(NodeId),
    /// This member runs, and so is not forgotten.
    Runs(NodeId),
    /// With this lockTime or this drift a constraint would not hold; with these values all do.
    Lengths {
        /// The constraint.
        rule: &'static str,
        /// The nearest lockTime.
        lock: Duration,
        /// The drift that goes with it, in millionths.
        drift_ppm: u32,
    },
    /// The group has this lockTime and this drift already.
    SameLengths,
}

/// Why a process cannot be the next leader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Unfit {
    /// It is not a member of the group.
    Unknown,
    /// It is the process that was asked.
    Itself,
    /// No timely message came from it lately.
    Silent,
    /// It is a witness.
    Witness,
    /// It does not vote.
    Observer,
    /// It did not vote for the current leader: it has no record of what it granted, or it missed
    /// the last requests.
    Behind,
    /// Leadership goes round, and another process is the next.
    NotNext,
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unsupported => f.write_str("the protocol has no such command"),
            Self::NotLeading => f.write_str("this member does not lead"),
            Self::NotNow => f.write_str("this is not possible at the moment; try again later"),
            Self::Withdrawn => {
                f.write_str("the member takes no part in the election now; its status says why")
            }
            Self::CoolingDown => {
                f.write_str("this member resigned, and others come first; it will ask in its turn")
            }
            Self::Witness => f.write_str("this member is a witness: it votes and never leads"),
            Self::Nominee(id, why) => write!(f, "member {id} cannot be the next leader: {why}"),
            Self::UnknownMember(id) => write!(f, "the group has no member {id}"),
            Self::AlreadyMember(id) => write!(f, "member {id} votes already"),
            Self::LastVoter(id) => write!(
                f,
                "member {id} is the last one that votes; add another before it is removed"
            ),
            Self::ChangePending => {
                f.write_str("another change of the members is not finished; try again later")
            }
            Self::Outdated(now) => write!(
                f,
                "the change is based on another list of voters than the present one, which is list \
                 {now}; look at that first"
            ),
            Self::NotVoter(id) => write!(f, "member {id} does not vote"),
            Self::Leads(id) => write!(
                f,
                "member {id} leads, and a leader does not remove itself; let another one lead first"
            ),
            Self::WouldStop => f.write_str(
                "too few of those that would vote then answer now, so the group would stop; wait \
                 for them, or remove one that is gone first",
            ),
            Self::Volatile => f.write_str(
                "this group does not store what it grants, so its voters stay the same; use \
                 durable tokens",
            ),
            Self::TooManyVoters => {
                f.write_str("the messages would not fit a datagram any more; remove a voter first")
            }
            Self::NobodyJoins => f.write_str(
                "only members that joined while the group ran are forgotten, and nobody joins this \
                 one: that takes leases from a majority and durable tokens",
            ),
            Self::Founder(id) => {
                write!(f, "member {id} is in the founding list, and only joined ones are forgotten")
            }
            Self::Votes(id) => write!(f, "member {id} votes; remove it from the voters first"),
            Self::Runs(id) => write!(f, "member {id} runs; end it first"),
            Self::Lengths { rule, lock, drift_ppm } => write!(
                f,
                "this would break the rule {rule}; the nearest values that keep all rules are \
                 lock = {lock} and drift-ppm = {drift_ppm}"
            ),
            Self::SameLengths => {
                f.write_str("the group has this lockTime and this drift already; name others")
            }
        }?;
        f.write_str("; nothing changed")
    }
}

impl core::error::Error for Refused {}

impl fmt::Display for Unfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Unknown => "it is not in the group",
            Self::Itself => "it leads already; name another one",
            Self::Silent => "it was not heard lately; wait until it is there",
            Self::Witness => {
                "it is a witness, or a health check of it fails: it votes and does not lead"
            }
            Self::Observer => "it does not vote, and so cannot lead",
            Self::Behind => {
                "it has not voted for the present leader, so it may not be ready; try again later"
            }
            Self::NotNext => "leadership goes round, and another one is the next; name that one",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    #[test]
    fn a_refusal_says_why_and_that_nothing_changed() {
        let nominee = Refused::Nominee(NodeId(7), Unfit::Silent).to_string();
        assert_eq!(
            nominee,
            "member 7 cannot be the next leader: it was not heard lately; wait until it is there; \
             nothing changed"
        );
        assert_eq!(Refused::NotLeading.to_string(), "this member does not lead; nothing changed");
    }
}
