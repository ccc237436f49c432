//! Random schedules: a pure function of (seed, number), the size of the group, the protocol's pace
//! and a regime.
//!
//! **Source.** Alex Groce, Chaoqiang Zhang, Eric Eide, Yang Chen and John Regehr, "Swarm testing",
//! ISSTA 2012: test cases that each leave out some features find more than test cases that have
//! them all. Here each schedule switches every kind of trouble on or off by coin and draws its
//! strength.
//!
//! **Promise.** Whatever goes wrong goes wrong before the end of the chaos; then the network is
//! benign, cuts are those of the finale, nobody stands still. When the last late message has
//! arrived it is *calm*, and stays so for κ and a few leases more.

mod clocks;
mod cuts;
mod finale;
mod lives;
mod luck;
mod processes;
mod weather;

pub use luck::Luck;

use crate::nodes::Nodes;
use crate::regime::Regime;
use crate::schedule::Schedule;
use crate::trouble::{Occurrences, Trouble, Troubles};
use bellwether_core::{Duration, SimTime};
use bellwether_protocols::pace::Pace;
use bellwether_sim::{Fault, Plan, Timed};

/// For how many leases a group that should have settled is watched.
const WATCH: u64 = 4;

/// The schedule with this number.
pub fn draw(seed: u64, number: u64, nodes: u32, pace: &Pace, regime: &Regime) -> Schedule {
    let mut luck = Luck::new(seed, number);
    let run = luck.seed();
    let mut later = Luck::later(seed, number);
    let kinds = regime.draw(&mut luck, &mut later);
    let chaos = luck.stretch(pace.lease, regime.chaos);
    let draft = Draft::new(pace, regime);
    let mut draft = Draft { nodes, kinds, chaos, luck, later, ..draft };
    let offset = draft.draw_clocks();
    let network = draft.draw_weather();
    draft.draw_cuts();
    draft.draw_processes();
    draft.draw_calls();
    draft.draw_lives();
    let (links, calm) = draft.draw_finale();
    let Draft { mut faults, absent, trouble, .. } = draft;
    faults.sort_by_key(|timed| timed.at); // stable: what was drawn first comes first
    let horizon = calm + pace.settles + pace.lease * WATCH;
    let plan = Plan { network, absent, faults, offset, horizon, ..Plan::new(nodes) };
    Schedule { plan, calm: SimTime::ZERO + calm, links, luck: run, trouble }
}

/// No schedule lasts longer.
pub fn longest(pace: &Pace, regime: &Regime) -> Duration {
    let chaos = luck::scaled(pace.lease, regime.chaos.1);
    let late = pace.lease * (weather::LONGEST + 2 * weather::STRAGGLE_LONG);
    let slow = pace.lease + pace.scheduling * 2;
    chaos + late + slow + pace.timely * 5 + pace.settles + pace.lease * WATCH
}

/// A schedule being drawn.
struct Draft<'a> {
    nodes: u32,
    pace: &'a Pace,
    regime: &'a Regime,
    kinds: Troubles,
    /// How long it goes wrong.
    chaos: Duration,
    luck: Luck,
    /// For the kinds of trouble that were [added later](Trouble::LATER).
    later: Luck,
    faults: Vec<Timed>,
    absent: Vec<u32>,
    /// Whose lives have numbers of former ones.
    renumbered: Nodes,
    trouble: Occurrences,
    /// How long after the chaos something late may still arrive or be done.
    late: Duration,
    slowest: Duration,
}

impl<'a> Draft<'a> {
    fn new(pace: &'a Pace, regime: &'a Regime) -> Self {
        Self {
            nodes: 1,
            pace,
            regime,
            kinds: Troubles::NONE,
            chaos: Duration::ZERO,
            luck: Luck::new(0, 0),
            later: Luck::later(0, 0),
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

    /// The moments at which a kind of trouble strikes; none if it is switched off.
    fn moments(&mut self, kind: Trouble) -> Vec<Duration> {
        if !self.kinds.has(kind) {
            return Vec::new();
        }
        let (least, most) = self.regime.episodes;
        let luck = if Trouble::LATER.contains(&kind) { &mut self.later } else { &mut self.luck };
        let count = least + luck.below(most.saturating_sub(least) + 1);
        let moments = (0..count).map(|_| luck.within(Duration::ZERO, self.chaos)).collect();
        (0..count).for_each(|_| self.trouble.count(kind));
        moments
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::invariants::scenes::pace;

    #[test]
    fn every_schedule_is_valid_and_really_becomes_calm() {
        for nodes in [1, 2, 3, 5, 9] {
            for number in 0..400 {
                let schedule = draw(7, number, nodes, &pace(), &Regime::default());
                assert_eq!(schedule.plan.check(), Ok(()), "schedule {number}");
                assert!(schedule.is_calm(&pace()), "schedule {number}: {schedule:#?}");
                let again = draw(7, number, nodes, &pace(), &Regime::default());
                assert_eq!(schedule, again, "schedule {number} is not a function of its number");
            }
        }
    }

    #[test]
    fn the_swarm_has_every_kind_of_trouble_and_every_kind_is_missing_somewhere() {
        let mut trouble = Occurrences::default();
        let mut missing = Troubles::NONE;
        for number in 0..300 {
            let schedule = draw(1, number, 5, &pace(), &Regime::default());
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
        assert_eq!(missing, Troubles::ALL);
    }

    #[test]
    fn a_regime_has_what_it_forces_and_nothing_else() {
        for kind in Trouble::ALL {
            let regime = Regime::only(&[kind]);
            for number in 0..20 {
                let schedule = draw(3, number, 5, &pace(), &regime);
                for (other, count) in schedule.trouble.iter() {
                    let modifies = matches!(kind, Trouble::LostDisk | Trouble::Reboot);
                    let expected = other == kind && !modifies;
                    let name = (kind.name(), other.name());
                    assert_eq!(count > 0, expected, "{name:?}: {schedule:#?}");
                }
            }
        }
    }
}
