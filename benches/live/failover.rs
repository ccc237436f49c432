//! How long a group is without a leader.

use crate::lab::clock::{millis, now, sleep};
use crate::lab::group::{Group, Shape};
use crate::overlap;
use crate::row::{Row, Worst};
use bellwether::core::{Duration, Entropy, Instant};
use bellwether::protocols::local_leader::Preset;
use bellwether::sim::{RunSeed, StreamPurpose};

/// What befalls the leader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    Kill,
    Cut,
    Pause,
    Terminate,
}

impl Fault {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Kill => "kill -9",
            Self::Cut => "silent cut",
            Self::Pause => "pause",
            Self::Terminate => "SIGTERM",
        }
    }

    fn strike(self, group: &mut Group, id: u64) -> Instant {
        match self {
            Self::Kill => group.crash(id),
            Self::Cut => group.cut_silently(id),
            Self::Pause => group.pause(id),
            Self::Terminate => group.stop(id),
        }
    }

    fn mend(self, group: &mut Group, id: u64) {
        match self {
            Self::Kill => {
                group.restart(id);
            }
            Self::Cut => {
                group.heal();
            }
            Self::Pause => {
                group.resume(id);
            }
            Self::Terminate => {
                group.member(id).wait();
                group.start(id);
            }
        }
    }
}

/// Strikes the leader again and again; the group settles in between.
pub(crate) fn measure(preset: Preset, fault: Fault, repetitions: u64, target: Option<f64>) -> Row {
    let mut group = Group::started(Shape { preset, ..Shape::lan(3) });
    let mut luck = RunSeed::new(1, 0).world(StreamPurpose::Caller(0));
    let (mut times, began, bound) = (Vec::new(), now(), group.failover(0));
    let mut by_stalls = true;
    for _ in 0..repetitions {
        group.settled(&group.ids());
        // Long enough for all to be members again, and then a random part of some leases.
        sleep(group.params().lock() + Duration::from_nanos(luck.below(1 << 28)));
        let leader = group.settled(&group.ids());
        let begun = fault.strike(&mut group, leader);
        let (_, took) = group.replaced(leader, begun);
        times.push(millis(took));
        by_stalls &= took <= bound + group.stalls.total_between(begun, begun + took);
        fault.mend(&mut group, leader);
    }
    group.settled(&group.ids());
    times.sort_by(f64::total_cmp);
    let (middle, value) = (times.len() / 2, times.last().copied().unwrap_or(f64::NAN));
    let worst = Some(Worst { value, bound: millis(bound), by_stalls });
    Row {
        what: format!("{} {}, {repetitions} times", preset.name(), fault.name()),
        value: f64::midpoint(times[(times.len() - 1) / 2], times[middle]),
        unit: "ms median",
        target,
        worst,
        stall: millis(group.stalls.longest(began)),
        leaders: Some(overlap(&group.judge())),
    }
}
