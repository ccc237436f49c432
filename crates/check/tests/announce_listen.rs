//! The announce-listen family keeps its own promises, and not those of others.

use bellwether_check::{Fuzz, Regime, Report, Trial};
use bellwether_core::Duration;
use bellwether_protocols::announce_listen::{Config, Params, Variant};
use bellwether_protocols::choice::{self, Choice, Promise};

fn choice(variant: Variant) -> Choice {
    let config = Config { listen: Duration::from_secs(3), ..Config::new(variant) };
    Params::try_from(config).expect("the family's defaults are valid").into()
}

fn judged(variant: Variant, promise: Option<Promise>, schedules: u64, threads: usize) -> Report {
    let own = choice::find(variant.name()).expect("it is listed").promise;
    let choice = choice(variant);
    let trial = Trial {
        nodes: 5,
        pace: choice.pace(5),
        promise: promise.unwrap_or(own),
        own: promise.is_none(),
        regime: Regime::default(),
        seed: 1,
    };
    let fuzz = Fuzz { trial: &trial, numbers: 0..schedules, threads, progress: &|| () };
    fuzz.run_choice(choice).expect("threads start")
}

#[test]
fn every_variant_keeps_its_own_promise() {
    for variant in Variant::ALL {
        let report = judged(variant, None, 3_000, 2);
        eprintln!("{} {:?} {:?}", variant.name(), report.violation, report.tally);
    }
}
