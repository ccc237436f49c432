//! The plan: which faults befall whom, when and for how long. It follows from the seed alone.
//!
//! **Assumptions that every plan keeps** (docs/promises.md, and "What can outlive a lease" in
//! docs/running.md): of the three processes that look after a command at least one runs, or all are
//! gone together with the command, as when a machine fails; one member at a time loses its record;
//! only the state file goes back, never its directory; one change of the voters at a time; a
//! member's clock keeps its offset.

use crate::options::Options;
use bellwether::core::{Duration, Entropy};
use bellwether::sim::coin::Stream;
use bellwether::sim::{RunSeed, StreamPurpose};

/// The faults of one group; then it is ended and judged.
pub(crate) const GROUP: u64 = 25;
/// The most faults of one batch.
const BATCH: u64 = 4;

/// The processes that look after a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Watchers {
    Member,
    Guardian,
    Watchdog,
    MemberGuardian,
    MemberWatchdog,
    GuardianWatchdog,
    /// Nobody looks after the command any more: a documented exception.
    All,
}

impl Watchers {
    /// Those that leave one to look after the command.
    const KEPT: [Self; 6] = [
        Self::Member,
        Self::Guardian,
        Self::Watchdog,
        Self::MemberGuardian,
        Self::MemberWatchdog,
        Self::GuardianWatchdog,
    ];

    /// Member, guardian, watchdog: which of them it is.
    pub(crate) fn which(self) -> [bool; 3] {
        match self {
            Self::Member => [true, false, false],
            Self::Guardian => [false, true, false],
            Self::Watchdog => [false, false, true],
            Self::MemberGuardian => [true, true, false],
            Self::MemberWatchdog => [true, false, true],
            Self::GuardianWatchdog => [false, true, true],
            Self::All => [true; 3],
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Member => "member",
            Self::Guardian => "guardian",
            Self::Watchdog => "watchdog",
            Self::MemberGuardian => "member and guardian",
            Self::MemberWatchdog => "member and watchdog",
            Self::GuardianWatchdog => "guardian and watchdog",
            Self::All => "all three",
        }
    }
}

/// One kind of fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    /// kill -9 of these.
    Kill(Watchers),
    /// SIGSTOP of these, and SIGCONT.
    Stop(Watchers),
    /// All processes of a member at once, the command too.
    Machine,
    /// SIGTERM to the member.
    Terminate,
    /// Killed and started again, several times.
    Storm,
    LostState,
    OldState,
    Cut,
    LinkDown,
    /// The member hears nobody.
    Deaf,
    /// Nobody hears the member.
    Mute,
    /// The member and another one do not hear each other.
    NonTransitive,
    Loss,
    /// The relay delays, doubles and reorders.
    Weather,
    FullDisk,
    Keys,
    Voters,
    Resign,
    Transfer,
    Flood,
}

impl Kind {
    /// Whether it strikes processes: a member has one such fault at a time.
    pub(crate) fn strikes_processes(self) -> bool {
        matches!(
            self,
            Self::Kill(_)
                | Self::Stop(_)
                | Self::Machine
                | Self::Terminate
                | Self::Storm
                | Self::LostState
                | Self::OldState
        )
    }

    /// Whether the worker may outlive its lease, as "What can outlive a lease" says.
    pub(crate) fn is_excepted(self) -> bool {
        matches!(self, Self::Kill(Watchers::All) | Self::Stop(Watchers::All))
    }

    /// Whether it needs a network of namespaces.
    fn cuts(self) -> bool {
        matches!(
            self,
            Self::Cut | Self::LinkDown | Self::Deaf | Self::Mute | Self::NonTransitive | Self::Loss
        )
    }

    /// Whether a leader that it befalls is replaced within the bound for a silent leader.
    pub(crate) fn bounds_failover(self) -> bool {
        let by_process = match self {
            Self::Kill(which) | Self::Stop(which) => which.which()[0],
            _ => false,
        };
        by_process
            || matches!(
                self,
                Self::Machine
                    | Self::Terminate
                    | Self::Cut
                    | Self::LinkDown
                    | Self::Resign
                    | Self::Transfer
                    | Self::LostState
                    | Self::OldState
            )
    }

    pub(crate) fn name(self) -> String {
        match self {
            Self::Kill(which) => format!("kill -9 of {}", which.name()),
            Self::Stop(which) => format!("SIGSTOP of {}", which.name()),
            Self::Machine => "all processes of a member gone".to_owned(),
            Self::Terminate => "SIGTERM".to_owned(),
            Self::Storm => "restart storm".to_owned(),
            Self::LostState => "killed, state directory lost".to_owned(),
            Self::OldState => "killed, old state file put back".to_owned(),
            Self::Cut => "silent cut".to_owned(),
            Self::LinkDown => "link down".to_owned(),
            Self::Deaf => "one-way cut, hears nobody".to_owned(),
            Self::Mute => "one-way cut, nobody hears it".to_owned(),
            Self::NonTransitive => "non-transitive cut".to_owned(),
            Self::Loss => "loss of 1 to 30 %".to_owned(),
            Self::Weather => "delay, duplication, reordering".to_owned(),
            Self::FullDisk => "full disk".to_owned(),
            Self::Keys => "key rotation".to_owned(),
            Self::Voters => "change of voters".to_owned(),
            Self::Resign => "resign".to_owned(),
            Self::Transfer => "transfer".to_owned(),
            Self::Flood => "flood of garbage".to_owned(),
        }
    }
}

/// One fault of a batch.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fault {
    pub(crate) kind: Kind,
    /// 0: whoever leads at that moment; n: the n-th of the others when the batch begins.
    pub(crate) target: u64,
    /// After the beginning of the batch.
    pub(crate) at: Duration,
    pub(crate) lasts: Duration,
    /// A number from which the rest is drawn: how much is lost, which voter is changed.
    pub(crate) level: u64,
}

/// Faults that overlap.
#[derive(Clone, Debug)]
pub(crate) struct Batch {
    pub(crate) faults: Vec<Fault>,
    /// How long the group is left alone before.
    pub(crate) calm: Duration,
}

/// What one group is like, and what befalls it.
#[derive(Clone, Debug)]
pub(crate) struct GroupPlan {
    pub(crate) relayed: bool,
    pub(crate) durable: bool,
    /// Whether commands may have a cgroup; without one they are ended process by process.
    pub(crate) cgroups: bool,
    /// How far each member's clock is ahead, in seconds; none: all have the machine's.
    pub(crate) clocks: Vec<u64>,
    pub(crate) seed: u64,
    pub(crate) batches: Vec<Batch>,
}

/// All groups.
pub(crate) fn draw(options: &Options, lock: Duration) -> Vec<GroupPlan> {
    let mut groups = Vec::new();
    let mut left = options.faults;
    while left > 0 {
        let number = groups.len() as u64;
        let mut luck = RunSeed::new(options.seed, number).world(StreamPurpose::Caller(0));
        let faults = left.min(GROUP);
        groups.push(group(&mut luck, options, lock, number, faults));
        left -= faults;
    }
    groups
}

fn group(
    luck: &mut Stream,
    options: &Options,
    lock: Duration,
    number: u64,
    faults: u64,
) -> GroupPlan {
    // Every fourth group has a relay, every other one durable tokens, and clocks that differ.
    let (relayed, durable) = (number % 4 == 3, number % 2 == 1);
    // Every other group on the whole, and among those with a relay or durable tokens, too.
    let cgroups = number.count_ones().is_multiple_of(2);
    let ahead = |luck: &mut Stream| match luck.below(3) {
        0 => 0,
        1 => 1 + luck.below(3_600),
        _ => 86_400 * (1 + luck.below(3_650)),
    };
    let clocks = match number % 3 {
        1 => (0..options.members).map(|_| ahead(luck)).collect(),
        _ => Vec::new(),
    };
    let mut kinds = kinds(relayed, durable);
    if options.exceptions {
        kinds = vec![Kind::Kill(Watchers::All), Kind::Stop(Watchers::All)];
    }
    let (mut batches, mut left) = (Vec::new(), faults);
    while left > 0 {
        let size = if luck.below(2) == 0 { 1 } else { 2 + luck.below(BATCH - 1) }.min(left);
        let faults = batch(luck, &kinds, options.members, size, lock);
        left -= faults.len() as u64;
        batches.push(Batch { faults, calm: part(luck, lock, 0, 80) });
    }
    GroupPlan { relayed, durable, cgroups, clocks, seed: luck.below(u64::MAX), batches }
}

/// All kinds that such a group can have.
fn kinds(relayed: bool, durable: bool) -> Vec<Kind> {
    let mut kinds: Vec<Kind> = Watchers::KEPT.map(Kind::Kill).to_vec();
    kinds.extend(Watchers::KEPT.map(Kind::Stop));
    kinds.extend([
        Kind::Machine,
        Kind::Terminate,
        Kind::Storm,
        Kind::LostState,
        Kind::OldState,
        Kind::Cut,
        Kind::LinkDown,
        Kind::Deaf,
        Kind::Mute,
        Kind::NonTransitive,
        Kind::Loss,
        Kind::Weather,
        Kind::FullDisk,
        Kind::Keys,
        Kind::Voters,
        Kind::Resign,
        Kind::Transfer,
        Kind::Flood,
    ]);
    kinds.retain(|kind| if relayed { !kind.cuts() } else { *kind != Kind::Weather });
    kinds.retain(|kind| durable || *kind != Kind::Voters);
    if relayed {
        // What only these groups have comes more often.
        kinds.extend([Kind::Weather; 4]);
    }
    if durable {
        kinds.extend([Kind::Voters; 2]);
    }
    kinds
}

fn batch(luck: &mut Stream, kinds: &[Kind], members: u64, size: u64, lock: Duration) -> Vec<Fault> {
    let mut faults: Vec<Fault> = Vec::new();
    // Few draws fail; a batch of several has a bound on them all the same.
    for _ in 0..size * 20 {
        if faults.len() as u64 == size {
            break;
        }
        let kind = kinds[luck.below(kinds.len() as u64) as usize];
        // Two of three befall the leader.
        let target = if luck.below(3) > 0 { 0 } else { 1 + luck.below(members - 1) };
        let at = if faults.is_empty() { Duration::ZERO } else { part(luck, lock, 0, 200) };
        let lasts = part(luck, lock, 5, 350);
        let fault = Fault { kind, target, at, lasts, level: luck.below(1 << 32) };
        if faults.iter().all(|other| are_compatible(&fault, other)) {
            faults.push(fault);
        }
    }
    faults
}

/// Whether two faults may overlap.
fn are_compatible(one: &Fault, other: &Fault) -> bool {
    let lose = |kind| matches!(kind, Kind::LostState | Kind::OldState);
    let processes = one.kind.strikes_processes() && other.kind.strikes_processes();
    one.kind != other.kind
        && !(processes && one.target == other.target)
        && !(lose(one.kind) && lose(other.kind))
}

/// Between so many and so many hundredths of a lease.
fn part(luck: &mut Stream, lock: Duration, least: u64, most: u64) -> Duration {
    let hundredths = least * 1000 + luck.below((most - least) * 1000);
    Duration::from_nanos(lock.as_nanos() / 100_000 * hundredths)
}
