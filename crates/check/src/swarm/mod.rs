//! Random schedules: a pure function of (seed, number), the size of the group, the protocol's
//! time scales and a mix.
//!
//! **Source.** Alex Groce, Chaoqiang Zhang, Eric Eide, Yang Chen and John Regehr, "Swarm testing",
//! ISSTA 2012: test cases that each leave out some features find more than test cases that have
//! them all. Here each schedule switches every kind of fault on or off at random and draws its
//! strength.
//!
//! **Promise.** All faults happen before a certain time. After it the network is reliable and
//! timely, only the final cuts remain, and no process is paused. When the last late message has
//! arrived the run is *calm*, and stays so for κ and a few leases more.

mod clocks;
mod cuts;
mod finale;
mod incarnations;
mod lengths;
mod members;
mod network;
mod processes;
mod random;
mod roles;

pub use random::ScheduleRng;

use crate::fault_kind::{FaultKind, FaultKinds, Occurrences};
use crate::fault_mix::FaultMix;
use crate::nodes::Nodes;
use crate::schedule::Schedule;
use bellwether_core::{Duration, SimTime};
use bellwether_protocols::time_scales::TimeScales;
use bellwether_sim::{Fault, Plan, Timed};

/// For how many leases a settled group is checked.
const WATCH: u64 = 4;

/// The schedule with this number.
pub fn draw(
    seed: u64,
    number: u64,
    nodes: u32,
    time_scales: &TimeScales,
    mix: &FaultMix,
) -> Schedule {
    let mut rng = ScheduleRng::new(seed, number);
    let run = rng.seed();
    let mut later = ScheduleRng::later(seed, number);
    let mut latest = ScheduleRng::latest(seed, number);
    let mut kinds = mix.draw(&mut rng, &mut later, &mut latest);
    if !time_scales.roles {
        kinds = kinds.without(&[FaultKind::Transfer]); // it would be refused
    }
    let mut changes = ScheduleRng::members(seed, number);
    if time_scales.tokens && nodes > 1 && mix.draw_members(&mut changes) {
        kinds = kinds.with(FaultKind::Members);
    }
    let mut releases = ScheduleRng::releases(seed, number);
    // A will names a life by its number: lives with one number are one to it.
    let numbers = kinds.has_any(&[FaultKind::RepeatedLife, FaultKind::LowerLife]);
    if time_scales.roles && mix.draw_release(&mut releases) && !numbers {
        kinds = kinds.with(FaultKind::Release);
    }
    let chaos = rng.stretch(time_scales.lease, mix.chaos);
    let mut lengths = ScheduleRng::lengths(seed, number);
    let widest = lengths::widest(time_scales);
    let mut time_scales = time_scales;
    if time_scales.tokens && mix.draw_lengths(&mut lengths) {
        (kinds, time_scales) = (kinds.with(FaultKind::Lengths), &widest);
    }
    let mut together = ScheduleRng::all_restart(seed, number);
    if time_scales.roles && mix.draw_all_restart(&mut together) {
        kinds = kinds.with(FaultKind::AllRestart);
    }
    let draft = Draft { lengths, together, ..Draft::new(time_scales, mix) };
    let mut draft = Draft { nodes, kinds, chaos, rng, later, latest, changes, releases, ..draft };
    draft.draw_founders();
    let offset = draft.draw_clocks();
    let network = draft.draw_weather();
    draft.draw_cuts();
    draft.draw_processes();
    draft.draw_calls();
    draft.draw_lives();
    draft.draw_transfers();
    draft.draw_changes();
    draft.draw_releases();
    draft.draw_all_restarts();
    let longer = draft.draw_lengths();
    let (links, calm) = draft.draw_finale();
    let Draft { mut faults, absent, founders, trouble, .. } = draft;
    let calm = calm + longer;
    faults.sort_by_key(|timed| timed.at); // stable: at equal times the order of drawing counts
    let horizon = calm + time_scales.settles + watched(time_scales, nodes);
    let unknown_first_lives =
        time_scales.tokens && ScheduleRng::founding(seed, number).chance(mix.founding);
    let mut roles = ScheduleRng::roles(seed, number);
    let (priorities, witnesses) = match time_scales.roles && roles.chance(mix.roles) {
        true => roles::draw(nodes, &mut roles),
        false => (Vec::new(), Vec::new()),
    };
    let founders = founders.to_vec();
    let group = Plan { founders, priorities, witnesses, ..Plan::new(nodes) };
    let plan = Plan { unknown_first_lives, network, absent, faults, offset, horizon, ..group };
    Schedule { plan, calm: SimTime::ZERO + calm, links, luck: run, trouble }
}

/// How long a group that must have settled is watched: where leadership goes round, until it has
/// been to everyone.
fn watched(time_scales: &TimeScales, nodes: u32) -> Duration {
    let round = time_scales.rotates.map(|one| one * (u64::from(nodes) + 2));
    time_scales.lease * WATCH + round.unwrap_or(Duration::ZERO)
}

/// The longest schedule.
pub fn longest(time_scales: &TimeScales, mix: &FaultMix, nodes: u32) -> Duration {
    let chaos = random::scaled(time_scales.lease, mix.chaos.1);
    let late = time_scales.lease * (network::LONGEST + 2 * network::STRAGGLE_LONG + 2);
    let slow = time_scales.lease + time_scales.scheduling * 2;
    let settled = time_scales.timely * 5 + lengths::latest(time_scales) + time_scales.settles;
    chaos + late + slow + settled + watched(time_scales, nodes)
}

/// A schedule being drawn.
struct Draft<'a> {
    nodes: u32,
    time_scales: &'a TimeScales,
    mix: &'a FaultMix,
    kinds: FaultKinds,
    /// How long faults happen.
    chaos: Duration,
    rng: ScheduleRng,
    /// The random stream of the kinds that were [added later](FaultKind::LATER).
    later: ScheduleRng,
    /// The random stream of the [latest](FaultKind::LATEST) ones.
    latest: ScheduleRng,
    /// The random stream of changes of the voters.
    changes: ScheduleRng,
    /// The random stream of releases.
    releases: ScheduleRng,
    /// The random stream of changes of lockTime and ρ.
    lengths: ScheduleRng,
    /// The random stream of restarts of all at once.
    together: ScheduleRng,
    faults: Vec<Timed>,
    absent: Vec<u32>,
    /// Who votes at first, if voters change.
    founders: Nodes,
    /// The processes whose disks are never lost.
    safe: Nodes,
    /// The processes with the number of an earlier incarnation.
    renumbered: Nodes,
    trouble: Occurrences,
    /// How long late messages and reactions may follow after the faults.
    late: Duration,
    slowest: Duration,
}

impl<'a> Draft<'a> {
    fn new(time_scales: &'a TimeScales, mix: &'a FaultMix) -> Self {
        Self {
            nodes: 1,
            time_scales,
            mix,
            kinds: FaultKinds::NONE,
            chaos: Duration::ZERO,
            rng: ScheduleRng::new(0, 0),
            later: ScheduleRng::later(0, 0),
            latest: ScheduleRng::latest(0, 0),
            changes: ScheduleRng::members(0, 0),
            releases: ScheduleRng::releases(0, 0),
            lengths: ScheduleRng::lengths(0, 0),
            together: ScheduleRng::all_restart(0, 0),
            founders: Nodes::NONE,
            safe: Nodes::NONE,
            faults: Vec::new(),
            absent: Vec::new(),
            renumbered: Nodes::NONE,
            trouble: Occurrences::default(),
            late: Duration::ZERO,
            slowest: Duration::ZERO,
        }
    }

    fn push(&mut self, at: Duration, fault: Fault) {
        self.faults.push(Timed { at, fault });
    }

    /// The times of a kind of fault; none if it is switched off.
    fn moments(&mut self, kind: FaultKind) -> Vec<Duration> {
        if !self.kinds.has(kind) {
            return Vec::new();
        }
        let (least, most) = self.mix.episodes;
        let rng = match kind {
            FaultKind::Members => &mut self.changes,
            FaultKind::Release => &mut self.releases,
            FaultKind::Lengths => &mut self.lengths,
            FaultKind::AllRestart => &mut self.together,
            kind if FaultKind::LATER.contains(&kind) => &mut self.later,
            kind if FaultKind::LATEST.contains(&kind) => &mut self.latest,
            _ => &mut self.rng,
        };
        let count = least + rng.below(most.saturating_sub(least) + 1);
        let moments = (0..count).map(|_| rng.within(Duration::ZERO, self.chaos)).collect();
        (0..count).for_each(|_| self.trouble.count(kind));
        moments
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::invariants::scenes;

    /// Those of a protocol whose voters can change.
    fn time_scales() -> TimeScales {
        TimeScales { tokens: true, ..scenes::time_scales() }
    }

    #[test]
    fn every_schedule_is_valid_and_really_becomes_calm() {
        for nodes in [1, 2, 3, 5, 9] {
            for number in 0..400 {
                let schedule = draw(7, number, nodes, &time_scales(), &FaultMix::default());
                assert_eq!(schedule.plan.check(), Ok(()), "schedule {number}");
                assert!(schedule.is_calm(&time_scales()), "schedule {number}: {schedule:#?}");
                let again = draw(7, number, nodes, &time_scales(), &FaultMix::default());
                assert_eq!(schedule, again, "schedule {number} is not a function of its number");
            }
        }
    }

    #[test]
    fn the_swarm_has_every_kind_of_trouble_and_every_kind_is_missing_somewhere() {
        let mut trouble = Occurrences::default();
        let mut missing = FaultKinds::NONE;
        let mix = FaultMix { members: 0.25, ..FaultMix::default() };
        for number in 0..300 {
            let schedule = draw(1, number, 5, &time_scales(), &mix);
            trouble.add(&schedule.trouble);
            for (kind, count) in schedule.trouble.iter() {
                if count == 0 {
                    missing = missing.with(kind);
                }
            }
        }
        for (kind, count) in trouble.iter() {
            assert!(count >= 20, "{}: {count} in 300 schedules", kind.name());
        }
        assert_eq!(missing, FaultKinds::ALL);
    }

    #[test]
    fn a_regime_has_what_it_forces_and_nothing_else() {
        for kind in FaultKind::ALL {
            let mix = FaultMix::only(&[kind]);
            for number in 0..20 {
                let schedule = draw(3, number, 5, &time_scales(), &mix);
                for (other, count) in schedule.trouble.iter() {
                    let modifies = matches!(kind, FaultKind::LostDisk | FaultKind::Reboot);
                    let expected = other == kind && !modifies;
                    let name = (kind.name(), other.name());
                    assert_eq!(count > 0, expected, "{name:?}: {schedule:#?}");
                }
            }
        }
    }
}
