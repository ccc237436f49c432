//! Ways in which mutants are caught, and the trouble that catches them.

use super::mutant::{Explored, Harm, Judged, Mutant, Ticks, Validated, Watched};
use bellwether_check::FaultKind;
use bellwether_check::FaultKind::{
    Campaign, Crash, Duplicates, Lengths, LongPause, Loss, LostDisk, Members, OneWay, Partition,
    QuickRestart, ShortPause, Stragglers, Tails,
};
use bellwether_check::explore::Adversary;
use bellwether_core::Duration;
use bellwether_protocols::local_leader::Rule;
use bellwether_sim::{Disk, Fault, Timed, Who};

/// Messages arrive in the tick they are sent in, or never.
pub(super) const NO_DELAY: Adversary =
    Adversary { fastest: 0, slowest: 0, ticks: Some(7), ..Adversary::LOSSES };
pub(super) const CRASH: Adversary = Adversary { crashes: 1, ..NO_DELAY };
pub(super) const LATE: Adversary = Adversary { slowest: 1, ..NO_DELAY };

pub(super) const fn never_two(
    nodes: u32,
    trouble: &'static [FaultKind],
    schedules: u64,
) -> Option<Judged> {
    let (invariant, watched) = ("never-two", Watched::NeverTwo);
    Some(Judged { nodes, trouble, schedules, invariant, watched })
}

pub(super) const fn bounds(trouble: &'static [FaultKind], schedules: u64) -> Option<Judged> {
    let (invariant, watched) = ("delay-bounds", Watched::BothModes);
    Some(Judged { nodes: 3, trouble, schedules, invariant, watched })
}

pub(super) const fn reused(trouble: &'static [FaultKind], schedules: u64) -> Option<Judged> {
    let (invariant, watched) = ("tokens-grow", Watched::All);
    Some(Judged { nodes: 3, trouble, schedules, invariant, watched })
}

/// While voters change.
pub(super) const fn changing(trouble: &'static [FaultKind], schedules: u64) -> Option<Judged> {
    never_two(5, trouble, schedules)
}

pub(super) const fn two_leaders(adversary: Adversary) -> Option<Explored> {
    Some(Explored { nodes: 3, ticks: Ticks::Usual, adversary, property: "never-two" })
}

pub(super) const fn within(ticks: u32, adversary: Adversary) -> Adversary {
    Adversary { ticks: Some(ticks), ..adversary }
}

/// Two lead in stories so rare that the unit test tells one, and validation sees a step of it.
pub(super) const fn rarely(
    without: &'static [Rule],
    changed: &'static str,
    unit: &'static str,
    validated: Validated,
) -> Mutant {
    let (harm, judged, explored) = (Harm::UnsafeRarely, None, None);
    Mutant { without, changed, harm, unit, judged, explored, validated }
}

/// Another process leads than should.
pub(super) const fn order(
    without: &'static [Rule],
    changed: &'static str,
    unit: &'static str,
) -> Mutant {
    let (harm, judged, explored, validated) = (Harm::Order, None, None, ORDER);
    Mutant { without, changed, harm, unit, judged, explored, validated }
}

/// The rule of processes that are killed, and released by somebody who knows that nothing of their
/// work is left. The judge sees processes, not what they started.
pub(super) const FREED_BY_A_CRASH: Mutant = Mutant {
    without: &[Rule::CrashFreesNobody],
    changed: "whoever hears the next life of a process is free of its lock to the one before",
    harm: Harm::Work,
    unit: "without_locks_that_outlive_crashes_the_next_life_of_a_leader_frees_its_supporters",
    judged: None,
    explored: None,
    validated: refused("unlock", RESTARTS),
};

/// The rule of witnesses, in groups that have some.
pub(super) const WITNESS: Mutant = Mutant {
    judged: Some(Judged {
        nodes: 3,
        trouble: RESTARTS,
        schedules: 100,
        invariant: "witness-never-leads",
        watched: Watched::Roles,
    }),
    ..order(
        &[Rule::WitnessNeverAsks],
        "a witness asks like any other",
        "without_witnesses_that_never_ask_one_does",
    )
};

/// The rule of replies that are collated; they are through a chain of all supporters.
pub(super) const ADDED_VOTES: Mutant = Mutant {
    without: &[Rule::VotesAsGiven],
    changed: "whoever collects replies adds those of its children that did not come (`tree` 1)",
    harm: Harm::Unsafe,
    unit: "without_votes_as_given_a_leader_leads_by_locks_that_nobody_has",
    judged: never_two(5, CUTS, 5_000),
    explored: None,
    validated: refused_of_five("renew", CUTS, 100),
};

/// Refused in a group of three within a hundred schedules.
pub(super) const fn refused(action: &'static str, trouble: &'static [FaultKind]) -> Validated {
    Validated::InSchedules { action, nodes: 3, trouble, schedules: 100 }
}

/// Refused in a group of five within so many.
pub(super) const fn refused_of_five(
    action: &'static str,
    trouble: &'static [FaultKind],
    schedules: u64,
) -> Validated {
    Validated::InSchedules { action, nodes: 5, trouble, schedules }
}

/// 0 leads, is cut off, and removes 2. 1 leads, is cut off, and removes 0. So there are two lists
/// of one version, which nobody else has seen. Then 2 loses its disk, and is told of both.
pub(super) fn open_fork() -> Vec<Timed> {
    let at = |ms, fault| Timed { at: Duration::from_millis(ms), fault };
    let cut = |ms, one: u32, others: [u32; 2]| {
        let (one, others) = (vec![one], others.to_vec());
        [
            at(ms, Fault::Cut { from: one.clone(), to: others.clone() }),
            at(ms, Fault::Cut { from: others, to: one }),
        ]
    };
    let remove = |ms, node, voter| at(ms, Fault::Remove { node: Who::Node(node), voter });
    let node = Who::Node(2);
    let mut faults = cut(1_000, 0, [1, 2]).to_vec();
    faults.push(remove(1_001, 0, 2));
    faults.extend(cut(2_000, 1, [0, 2]));
    faults.push(remove(2_001, 1, 0));
    faults.push(at(2_010, Fault::Crash { node }));
    faults.push(at(2_500, Fault::Restart { node, disk: Disk::Lost, reboot: false }));
    faults.push(at(2_500, Fault::Heal));
    faults
}

pub(super) const TIME: Validated = Validated::Not("the model has no such lengths of time");
pub(super) const ORDER: Validated = Validated::Not("in the model anybody may ask at any time");

pub(super) const CUTS: &[FaultKind] = &[Loss, OneWay, Partition];
pub(super) const RESTARTS: &[FaultKind] = &[QuickRestart, Crash, Partition];
pub(super) const LOST_DISKS: &[FaultKind] = &[QuickRestart, Crash, LostDisk, Partition];
pub(super) const CHANGES: &[FaultKind] = &[Members, QuickRestart, Crash, Partition, OneWay, Loss];
pub(super) const CHANGES_AND_CUTS: &[FaultKind] = &[Members, Loss, OneWay, Partition];
pub(super) const CHANGES_AND_LOST_DISKS: &[FaultKind] =
    &[Members, QuickRestart, Crash, LostDisk, Partition];
pub(super) const LENGTHENED: &[FaultKind] =
    &[Lengths, QuickRestart, Crash, Partition, OneWay, Loss];
pub(super) const LENGTHENED_AND_LOST_DISKS: &[FaultKind] =
    &[Lengths, QuickRestart, Crash, LostDisk, Partition];
pub(super) const LENGTHENED_AND_LATE: &[FaultKind] =
    &[Lengths, QuickRestart, LostDisk, OneWay, Stragglers];
pub(super) const LOUD: &[FaultKind] = &[Loss, Campaign, OneWay, Duplicates];
pub(super) const PAUSES: &[FaultKind] = &[LongPause, ShortPause, Tails];
