//! How long a group is without a leader.

use crate::lab::clock::{millis, now, sleep_until};
use crate::lab::group::{Group, Shape};
use crate::overlap;
use crate::row::{Row, Worst};
use bellwether::core::{Duration, Entropy, Instant};
use bellwether::protocols::local_leader::Preset;
use bellwether::sim::{RunSeed, StreamPurpose};

/// What befalls the leader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// The member is killed, and its guardian lives.
    Kill,
    /// The member is killed, and all that it started.
    KillAll,
    Cut,
    Pause,
    Terminate,
    Resign,
    Transfer,
}

/// At most this is wanted, in milliseconds; of the worst, the bound of the parameters if absent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    pub(crate) median: f64,
    pub(crate) worst: Option<f64>,
}

impl Fault {
    /// Those that end a leadership in good order.
    pub(crate) const ORDERLY: [Self; 3] = [Self::Terminate, Self::Resign, Self::Transfer];
    /// Those after which the lease must run out.
    pub(crate) const SILENT: [Self; 3] = [Self::KillAll, Self::Cut, Self::Pause];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Kill => "kill -9, guardian alive",
            Self::KillAll => "kill -9 of all",
            Self::Cut => "silent cut",
            Self::Pause => "SIGSTOP",
            Self::Terminate => "SIGTERM",
            Self::Resign => "resign",
            Self::Transfer => "transfer",
        }
    }

    fn strike(self, group: &mut Group, id: u64) -> Instant {
        match self {
            Self::Kill => group.crash(id),
            Self::KillAll => group.crash_all(id),
            Self::Cut => group.cut_silently(id),
            Self::Pause => group.pause(id),
            Self::Terminate => group.stop(id),
            Self::Resign => group.resign(id),
            Self::Transfer => group.transfer(id, id % group.ids().len() as u64 + 1),
        }
    }

    fn mend(self, group: &mut Group, id: u64) {
        match self {
            Self::Kill | Self::KillAll => {
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
            Self::Resign | Self::Transfer => {}
        }
    }
}

/// When to strike: this part of a renewal period after the leader asked for more, as long after the
/// group has settled as it takes for all to be members again.
fn moment(group: &Group, leader: u64, part: f64) -> Instant {
    let (lock, renew) = (group.params().lock(), group.params().renew());
    let began = group.leads_since(leader);
    let periods = (now() + lock).since(began).as_nanos().div_ceil(renew.as_nanos());
    began + renew * periods + Duration::from_nanos((renew.as_nanos() as f64 * part) as u64)
}

/// Strikes the leader again and again; the group settles in between. The phases at which it is
/// struck are spread over the renewal period: one in each of as many equal parts, at random in it.
pub(crate) fn measure(preset: Preset, fault: Fault, repetitions: u64, limits: Limits) -> Row {
    let mut group = Group::started(Shape { preset, ..Shape::lan(3) });
    let mut luck = RunSeed::new(1, 0).world(StreamPurpose::Caller(0));
    group.network().get_ready();
    let (mut times, began) = (Vec::new(), now());
    let ends = limits.worst.map(|most| Duration::from_nanos((most * 1e6) as u64));
    let bound = ends.unwrap_or(group.failover(0));
    let mut by_stalls = true;
    for number in 0..repetitions {
        let leader = group.settled(&group.ids());
        let part =
            (number as f64 + luck.below(1 << 20) as f64 / f64::from(1 << 20)) / repetitions as f64;
        sleep_until(moment(&group, leader, part));
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
        target: Some(limits.median),
        worst,
        stall: millis(group.stalls.longest(began)),
        leaders: Some(overlap(&group.judge())),
    }
}
