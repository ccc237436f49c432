//! Rough runs: all kinds of faults, drawn from a seed and written as a scenario file, so that a run
//! that fails a property can be examined with `bellwether trace`.

use super::{fault, ms, node, scenario};
use bellwether_core::{Duration, Entropy};
use bellwether_protocols::announce_listen::Variant;
use bellwether_sim::coin::Stream;
use bellwether_sim::network::Network;
use bellwether_sim::{Disk, Fault, Plan, RunSeed, ScenarioFile, StreamPurpose, Timed};
use serde::Serialize;

/// A scenario and the text it was read from.
pub(crate) struct Rough {
    pub(crate) scenario: ScenarioFile,
    text: String,
}

#[derive(Serialize)]
struct WrittenParams {
    listen: Duration,
}

pub(crate) const NODES: u32 = 70; // more than one word of the multicast filter

const UNTIL_MS: u64 = 6_000;
const FAULTS: u64 = 14;

impl Rough {
    /// The rough run of this seed, of this protocol and in this network.
    pub(crate) fn new(variant: Variant, network: &Network, seed: u64) -> Self {
        let mut luck = RunSeed::new(seed, 0).world(StreamPurpose::Caller(99));
        let mut faults: Vec<Timed> = (0..FAULTS).map(|_| any_fault(&mut luck, seed)).collect();
        faults.sort_by_key(|timed| timed.at);
        let plan = Plan {
            absent: vec![3, NODES - 1],
            horizon: ms(UNTIL_MS),
            network: network.clone(),
            faults,
            ..Plan::new(NODES)
        };
        let (about, params) = ("drawn from a seed by a test", WrittenParams { listen: ms(2_500) });
        let text = ScenarioFile::write(about, variant.name(), &params, &plan, seed)
            .expect("a scenario can be written");
        Self { scenario: scenario(&text), text }
    }

    /// How to replay it: the end of a failure message.
    pub(crate) fn replay(&self) -> String {
        format!(
            "REPLAY WITH: bellwether trace rough.toml\nwhere rough.toml holds:\n\n{}",
            self.text
        )
    }
}

fn any_fault(luck: &mut Stream, seed: u64) -> Timed {
    let when = luck.below(UNTIL_MS);
    let who = node(luck.below(u64::from(NODES)) as u32);
    // Few ids, so that faults meet: crashed processes restart, paused ones resume.
    let few = node([3, 8, 64, NODES - 1][luck.below(4) as usize]);
    let disk = [Disk::Kept, Disk::Lost, Disk::Torn][luck.below(3) as usize];
    // From the first slow process or cut on, multicasts are no longer single events; so not in
    // every run.
    let kinds = if seed.is_multiple_of(3) { 13 } else { 10 };
    let what = match luck.below(kinds) {
        0 => Fault::Crash { node: few },
        1 => Fault::Restart { node: few, disk, reboot: false },
        2 | 3 => Fault::Pause { node: few },
        4 | 5 => Fault::Resume { node: few },
        6 => Fault::Join { node: few },
        7 => Fault::Leave { node: who },
        8 => Fault::Crash { node: bellwether_sim::Who::Leader },
        9 if luck.below(2) == 0 => Fault::Jump { node: few, by: ms(luck.below(900)) },
        9 => Fault::Drift { node: who, parts_per_billion: luck.below(200_000_000) as i32 },
        10 => Fault::Slow { node: few, by: ms(luck.below(300)) },
        11 => Fault::Cut { from: vec![8, 64], to: vec![0, 1, 2, 3] },
        _ => Fault::Heal,
    };
    fault(when, what)
}
