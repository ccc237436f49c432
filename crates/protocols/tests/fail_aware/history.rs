//! One random history: who speaks when, whose clock drifts, who sleeps, who is restarted.

use crate::clock::Clock;
use crate::judge::Judge;
use crate::weather::{Luck, Weather};
use crate::world::World;
use bellwether_core::{Command, Duration, NodeId};
use bellwether_protocols::local_leader::fail_aware::Params;
use bellwether_protocols::local_leader::{Rule, Rules};

/// Of perfect clocks, good ones, ordinary ones, bad ones, and ones that nobody would sell.
const DRIFTS_PPM: [u32; 5] = [0, 1, 200, 10_000, 100_000];

/// How many things happen in a history, packets aside.
const EVENTS: u64 = 24;

/// How the clocks of a history misbehave.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Drift {
    /// One as slow, the others as fast as they may be, all the time: the worst for a bound.
    Torn,
    /// Each at any rate, and at another one now and then.
    Changing,
}

/// Lives through the history with this number.
pub(crate) fn live(history: u64, lives: bool, judge: &mut Judge) {
    let mut weather = Weather::new(Luck::new(history));
    let luck = &mut weather.luck;
    let count = 2 + luck.below(2);
    let drift = luck.one_of(&[Drift::Torn, Drift::Changing]);
    let restarts = luck.one_of(&[0, 10]);
    let params = Params {
        drift_ppm: luck.one_of(&DRIFTS_PPM),
        clock_error: Duration::ZERO, // the clocks of this world keep to their drift exactly
        fastest: Duration::from_nanos(weather.fastest),
        refresh: luck.one_of(&[Duration::MAX, Duration::from_nanos(weather.pace)]),
        rows_max: luck.one_of(&[0, 8]),
        fast: luck.one_of(&[Duration::MAX, Duration::from_millis(10)]),
        rules: if lives { Rules::ALL } else { Rules::ALL.without(Rule::Lives) },
        inner: (),
    };
    let limits = Limits { drift, ppm: params.drift_ppm.into() };
    let mut world = World::new(history, weather, &params, judge);
    for index in 0..count {
        // Up to a quarter of an hour, in millionths of a nanosecond.
        let shown = world.weather.luck.any_size(1_000_000_000_000_000_000);
        let rate = limits.rate(index as usize, &mut world.weather.luck);
        world.join(Clock::new(shown, rate), count);
    }
    for _ in 0..EVENTS {
        let pause = 4 * world.weather.pace;
        let length = world.weather.luck.any_size(pause);
        world.wait(length);
        let index = world.weather.luck.below(count) as usize;
        happen(&mut world, index, count, &limits, restarts);
    }
    world.finish();
}

/// Within which rates clocks keep.
struct Limits {
    drift: Drift,
    ppm: u64,
}

impl Limits {
    fn rate(&self, index: usize, luck: &mut Luck) -> u64 {
        let (slow, fast) = (1_000_000 - self.ppm, 1_000_000 + self.ppm);
        match (self.drift, luck.below(3)) {
            (Drift::Torn, _) => [slow, fast, fast][index],
            (Drift::Changing, 0) => slow,
            (Drift::Changing, 1) => fast,
            (Drift::Changing, _) => slow + luck.below(2 * self.ppm + 1),
        }
    }
}

fn happen(world: &mut World<'_>, index: usize, count: u64, limits: &Limits, restarts: u64) {
    let luck = &mut world.weather.luck;
    if luck.percent(restarts) {
        let back = if luck.percent(50) {
            let shown = world.clock_shows(index);
            world.weather.luck.any_size(shown)
        } else {
            0
        };
        return world.restart(index, back);
    }
    match luck.below(10) {
        0..=3 => world.wake(index, Some(Command::Campaign)),
        4..=6 => {
            let to = (index as u64 + 1 + luck.below(count - 1)) % count;
            world.wake(index, Some(Command::Transfer(NodeId(to))));
        }
        7 => world.wake(index, None),
        8 => {
            let length = luck.any_size(world.weather.pace * 10);
            world.pause(index, length);
        }
        _ => {
            let rate = limits.rate(index, luck);
            world.drift(index, rate);
        }
    }
}
