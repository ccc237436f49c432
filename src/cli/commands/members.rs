//! `bellwether members`: who is in the group, as one of its members sees it, and who votes.

use crate::cli::Done;
use crate::cli::failure::Failure;
use crate::cli::flags::target::Target;
use crate::cli::output::Rows;
use crate::cli::output::TableOrJson;
use crate::cli::output::change::{millis, names};
use bellwether::core::NodeId;
use bellwether::net::status::{MemberStatus, Status, Voters};
use bellwether::net::{Partition, VoterChange};
use clap::{Args, Subcommand};
use std::io::{self, Write};
use std::thread::sleep;
use std::time::Duration;

/// List the members of a group as a member on this machine sees them; or change who votes
#[derive(Args, Debug)]
#[command(disable_help_subcommand = true, after_help = EXAMPLES)]
pub(in crate::cli) struct Members {
    #[command(flatten)]
    target: Target,
    /// With add, remove, replace and set: only if the present list of voters has this number
    #[arg(long, global = true, value_name = "N")]
    if_list: Option<u64>,
    #[command(subcommand)]
    change: Option<Wish>,
}

const EXAMPLES: &str = "\
The leader changes the voters, one at a time, in a group with durable tokens: ask it. A change \
that is refused changes nothing.

Examples:
  bellwether members web                            who is there, and who votes
  bellwether members web --format json | jq '.[] | .address'
  bellwether members web add 4                      on the leader's machine: member 4 votes, too
  bellwether members web replace 1 4                member 4 votes instead of member 1
  bellwether members web remove 4 --if-list 2       only if the list is still number 2
  bellwether members web set --lock 300ms           on the leader's machine: locks last longer
  bellwether members web forget 4                   on the leader's machine: 4 joined, and is gone";

#[derive(Subcommand, Debug)]
enum Wish {
    /// Make an observer a voter
    Add {
        /// The new voter
        #[arg(value_name = "MEMBER")]
        new: u64,
    },
    /// Make a voter an observer
    Remove {
        /// The voter
        #[arg(value_name = "MEMBER")]
        old: u64,
    },
    /// Make an observer a voter instead of another member
    Replace {
        /// The voter that votes no longer
        old: u64,
        /// The member that votes in its place
        new: u64,
    },
    /// Change how long locks last, or by how much clocks may drift; all members follow
    #[command(group = clap::ArgGroup::new("lengths").required(true).multiple(true))]
    Set {
        /// The new lockTime, such as 300ms
        #[arg(long, group = "lengths", value_name = "TIME")]
        lock: Option<bellwether::core::Duration>,
        /// The new bound on the drift of clocks, in parts per million
        #[arg(long, group = "lengths", value_name = "PPM")]
        drift_ppm: Option<u32>,
    },
    /// Forget a member that joined while the group ran, votes no longer, and has ended for good
    Forget {
        /// The member
        #[arg(value_name = "MEMBER")]
        gone: u64,
    },
}

/// How often the new list is looked for.
const LOOK: Duration = Duration::from_millis(50);
/// The least time to wait for it.
const PATIENCE: Duration = Duration::from_secs(20);
/// The time to wait for it in lockTimes: a new voter has four periods to answer.
const LOCKS: f64 = 10.0;

impl Members {
    pub(in crate::cli) fn run(&self) -> Done {
        if self.if_list.is_some() && matches!(self.change, None | Some(Wish::Forget { .. })) {
            return Err(Failure::Usage(
                "--if-list has no effect without add, remove, replace or set; leave it out"
                    .to_owned(),
            ));
        }
        match &self.change {
            Some(Wish::Forget { gone }) => return self.forget(*gone),
            Some(Wish::Add { new }) => return self.change(VoterChange::Add(NodeId(*new))),
            Some(Wish::Remove { old }) => return self.change(VoterChange::Remove(NodeId(*old))),
            Some(Wish::Replace { old, new }) => {
                let (old, new) = (NodeId(*old), NodeId(*new));
                return self.change(VoterChange::Replace { old, new });
            }
            Some(Wish::Set { lock, drift_ppm }) => {
                let (lock, drift_ppm) = (*lock, *drift_ppm);
                return self.change(VoterChange::Lengths { lock, drift_ppm });
            }
            None => {}
        }
        let status = self.target.connect()?.status()?;
        let text = match self.target.format {
            TableOrJson::Table => {
                let voters = voters(&status).map(|voters| format!("\n\nvoters {voters}"));
                let part = partition(&status).map(|part| format!("\n\npartition {part}"));
                list(&status) + &voters.unwrap_or_default() + &part.unwrap_or_default()
            }
            TableOrJson::Json => serde_json::to_string(&status.members).map_err(io::Error::from)?,
        };
        writeln!(io::stdout(), "{text}")?;
        Ok(())
    }

    /// Has the leader change the voters, and waits until the new list is committed.
    fn change(&self, change: VoterChange) -> Done {
        let status = self.target.connect()?.status()?;
        self.target.connect()?.change_voters(change, self.if_list)?;
        let locks = Duration::from_secs_f64(status.lease_duration_ms.unwrap_or(0.0) * LOCKS / 1e3);
        let looks = PATIENCE.max(locks).as_millis() / LOOK.as_millis();
        let mut seen = None;
        for _ in 0..looks {
            seen = self.target.connect()?.status()?.voters;
            if let Some(list) = seen.as_ref().filter(|list| is_made(change, list)) {
                let text = match self.target.format {
                    TableOrJson::Table => format!("{change}; {}", shown(list)),
                    TableOrJson::Json => serde_json::to_string(list).map_err(io::Error::from)?,
                };
                writeln!(io::stdout(), "{text}")?;
                return Ok(());
            }
            if let Some(list) = seen.as_ref().filter(|list| is_given_up(change, list)) {
                return Err(Failure::Io(format!(
                    "the change was given up: the new voter did not answer within four periods, or \
                     the leader lost its lease ({}); look with `bellwether members` who was heard, \
                     and ask again; nothing changed",
                    shown(list)
                )));
            }
            sleep(LOOK);
        }
        let now = seen.map_or_else(|| "it is not known".to_owned(), |list| shown(&list));
        Err(Failure::Io(format!(
            "the change is not made yet ({now}): a list is committed when majorities of the old \
             and the new voters answer; look with `bellwether members` who was heard, and ask again"
        )))
    }

    /// Has the group forget a member that joined.
    fn forget(&self, id: u64) -> Done {
        self.target.connect()?.forget(id)?;
        match self.target.format {
            TableOrJson::Table => writeln!(io::stdout(), "member {id} is forgotten")?,
            TableOrJson::Json => writeln!(io::stdout(), "{{\"done\":true}}")?,
        }
        Ok(())
    }
}

/// Whether the change was given up: the new voter is not asked any more, and no list has it.
fn is_given_up(change: VoterChange, list: &Voters) -> bool {
    let waits = |id: NodeId| list.invited == Some(id.0) || list.ids.contains(&id.0);
    change.added().is_some_and(|id| !waits(id))
}

/// Whether this list has the change, for good.
fn is_made(change: VoterChange, list: &Voters) -> bool {
    let votes = |id: NodeId| list.ids.contains(&id.0);
    let (lock, drift_ppm) = change.lengths();
    let lock = lock.map(|lock| lock.as_nanos() as f64 / 1e6);
    list.committed
        && change.added().is_none_or(votes)
        && !change.removed().is_some_and(votes)
        && (lock.is_none() || lock == list.lock_ms)
        && (drift_ppm.is_none() || drift_ppm == list.drift_ppm)
}

/// A list of voters, in words.
fn shown(list: &Voters) -> String {
    let committed = if list.committed { "" } else { ", not committed yet" };
    format!("list {}{committed}: {}", list.version, names(&list.ids))
}

/// Who votes and who does not, in words.
pub(in crate::cli) fn voters(status: &Status) -> Option<String> {
    let list = status.voters.as_ref()?;
    let observers: Vec<u64> =
        status.members.iter().filter(|member| member.observes).map(|member| member.id).collect();
    let observers = match observers.as_slice() {
        [] => String::new(),
        some => format!("; observers: {}", names(some)),
    };
    let committed = if list.committed { "" } else { ", not committed yet" };
    let lengths = list.lock_ms.zip(list.drift_ppm).map_or(String::new(), |(lock, drift)| {
        format!(", lockTime {}, drift {drift} ppm", millis(lock))
    });
    let list_is = format!("list {}{committed}{lengths}", list.version);
    Some(format!("{} ({list_is}){observers}", names(&list.ids)))
}

/// The partition that the member belongs to, in words.
pub(in crate::cli) fn partition(status: &Status) -> Option<String> {
    let Partition { version, leader, members } = status.partition.as_ref()?;
    let ids: Vec<u64> = members.iter().map(|id| id.0).collect();
    Some(format!("{} (number {version}, leader {leader})", names(&ids)))
}

/// The members as a table.
pub(in crate::cli) fn list(status: &Status) -> String {
    let row = |member: &MemberStatus| {
        let MemberStatus { id, address, me, leads, supports, observes, heard_ms, .. } = member;
        let role = match (leads, supports, observes) {
            (true, ..) => "leads",
            (false, true, _) => "supports",
            (false, false, true) => "observes",
            (false, false, false) => "-",
        };
        let heard = match (me, heard_ms) {
            (true, _) => "itself".to_owned(),
            (false, Some(ms)) => millis(*ms) + " ago",
            (false, None) => "never".to_owned(),
        };
        let address = address.clone().unwrap_or_else(|| "unknown".to_owned());
        [id.to_string(), address, role.to_owned(), heard]
    };
    let columns = ["member", "address", "role", "last heard"];
    Rows::of(columns, status.members.iter().map(row)).to_text()
}
