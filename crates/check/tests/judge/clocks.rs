//! Clocks that do all that the runtime's check lets through: they drift by ρ, and between any two
//! readings they are off by ε beyond that.

use crate::first_breach;
use bellwether_check::{BrokenInvariant, FaultKind, FaultMix, Judge, Trial};
use bellwether_protocols::choice::{Choice, Promise};
use bellwether_protocols::local_leader::{Config, LocalLeader, Params, Preset};

const SEED: u64 = 4;
const SCHEDULES: u64 = 20_000;

/// The first breach of never two among the schedules, and its number: they are those of a preset.
fn breach(name: Preset, params: &Params) -> Option<(u64, BrokenInvariant)> {
    let choice = Choice::from(preset(name));
    let trial = Trial {
        own: false,
        validated: true,
        promise: Promise::NeverTwo,
        mix: FaultMix::only(&[FaultKind::Drift, FaultKind::Partition, FaultKind::Resign]),
        ..Trial::new(&choice, 3, None, SEED)
    };
    first_breach(Judge::<LocalLeader>::new(&trial, params.layered()), SCHEDULES)
}

fn preset(preset: Preset) -> Params {
    Params::try_from(Config { preset, ..Config::default() }).expect("a preset is valid")
}

#[test]
fn never_two_whatever_the_check_of_the_clocks_lets_through() {
    for name in [Preset::Lan, Preset::Fast, Preset::Fastest, Preset::Wan] {
        if let Some((number, breach)) = breach(name, &preset(name)) {
            panic!("{}: schedule {number} of seed {SEED}: {breach}", name.name());
        }
    }
}

#[test]
fn leases_that_do_not_pay_for_the_error_of_clocks_can_overlap() {
    let unpaid = preset(Preset::Fast).with_exact_clocks();
    let (number, breach) = breach(Preset::Fast, &unpaid).expect("two lead at once");
    assert_eq!(breach.invariant, "never-two", "schedule {number}: {breach}");
}
