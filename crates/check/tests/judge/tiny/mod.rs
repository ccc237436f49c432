//! Tiny protocols that break exactly one property each: the judge sees it, in a real run.

mod claimant;

use crate::ms;
use bellwether_check::fault_kind::Occurrences;
use bellwether_check::links::Links;
use bellwether_check::{FaultMix, Judge, Schedule, Trial};
use bellwether_core::{Duration, SimTime};
use bellwether_protocols::promise::Promise;
use bellwether_protocols::time_scales::TimeScales;
use bellwether_sim::network::{Delay, Loss};
use bellwether_sim::{Fault, Network, Plan, Ranks, Timed, Who};
use claimant::{Claim, Claimant};

const NODES: u32 = 3;

fn time_scales() -> TimeScales {
    TimeScales {
        fastest: ms(1),
        timely: ms(5),
        scheduling: ms(5),
        drift: 200_000,
        clock_error: Duration::ZERO,
        stamps: ms(200),
        lease: ms(100),
        announces: Duration::ZERO,
        settles: ms(400),
        leases: true,
        best: false,
        quorum: None,
        tokens: false,
        roles: false,
        proved: false,
        rotates: None,
    }
}

/// What is broken when processes say this, calm from 100 ms on.
fn broken(promise: Promise, claims: Vec<Claim>, faults: Vec<Timed>) -> Option<&'static str> {
    let trial = Trial {
        nodes: NODES,
        time_scales: time_scales(),
        promise,
        own: true,
        validated: true,
        mix: FaultMix::default(),
        ranks: Ranks::ById,
        seed: 1,
        locks: Vec::new(),
    };
    let network = Network::uniform(Delay::Constant(ms(2)), Loss::None);
    let plan = Plan { network, faults, horizon: ms(1_500), ..Plan::new(NODES) };
    let schedule = Schedule {
        plan,
        calm: SimTime::ZERO + ms(100),
        links: Links::all(NODES),
        luck: 1,
        trouble: Occurrences::default(),
    };
    let verdict = Judge::<Claimant>::new(&trial, claims).run_schedule(&schedule);
    verdict.breach.map(|breach| breach.invariant)
}

/// 0 leads with everybody's support, and all say so.
fn good() -> Vec<Claim> {
    let follows = Claim { names: vec![0], locked_to: Some(0), ..Claim::default() };
    let leads = Claim { supporters: vec![0, 1, 2], ..follows.clone() };
    vec![leads, follows.clone(), follows]
}

fn with(change: impl FnOnce(&mut Vec<Claim>)) -> Vec<Claim> {
    let mut claims = good();
    change(&mut claims);
    claims
}

#[test]
fn who_keeps_everything_breaks_nothing() {
    for promise in [Promise::NeverTwo, Promise::OnePerPartition, Promise::EventuallyOne] {
        assert_eq!(broken(promise, good(), vec![]), None, "{promise}");
    }
    let silent = vec![Claim::default(); 3];
    assert_eq!(broken(Promise::ElectsNobody, silent, vec![]), None);
}

#[test]
fn each_property_is_broken_by_who_breaks_it() {
    use Promise::{ElectsNobody, EventuallyOne, NeverTwo, OnePerPartition};
    let second = |claims: &mut Vec<Claim>| {
        claims[1].names = vec![1];
        claims[1].supporters = vec![1];
        claims[1].locked_to = Some(1);
        claims[0].supporters = vec![0, 2];
    };
    for (promise, claims, expected) in [
        (NeverTwo, with(second), "never-two"),
        (OnePerPartition, with(second), "bounded-inconsistency"),
        (EventuallyOne, with(|claims| claims[1].names = vec![1]), "agreement"),
        (EventuallyOne, with(|claims| claims[1].names = vec![]), "agreement"),
        (ElectsNobody, good(), "elects-nobody"),
        (NeverTwo, with(|claims| claims[0].supporters = vec![1, 2]), "leader-supports-itself"),
        (NeverTwo, with(|claims| claims[2].locked_to = Some(1)), "locked-supporters"),
        (NeverTwo, with(|claims| claims[2].locked_to = None), "locked-supporters"),
        (NeverTwo, vec![Claim::default(); 3], "timeliness"),
        (OnePerPartition, vec![Claim::default(); 3], "timeliness"),
        (
            OnePerPartition,
            with(|claims| claims[0].supporters = vec![0, 1]),
            "bounded-inconsistency",
        ),
    ] {
        assert_eq!(broken(promise, claims, vec![]), Some(expected), "{promise}");
    }
}

#[test]
fn a_supporter_of_two_is_seen() {
    let claims = with(|claims| {
        claims[0].supporters = vec![0, 2];
        claims[1].names = vec![1];
        claims[1].supporters = vec![1, 2];
        claims[1].locked_to = Some(1);
    });
    let found = broken(Promise::OnePerPartition, claims, vec![]);
    assert_eq!(found, Some("support-at-most-one"));
}

#[test]
fn the_least_must_lead_and_no_other_will_do() {
    let claims = (0..3).map(|node| Claim {
        names: vec![1],
        locked_to: Some(1),
        supporters: if node == 1 { vec![0, 1, 2] } else { vec![] },
        ..Claim::default()
    });
    let found = broken(Promise::OnePerPartition, claims.collect(), vec![]);
    assert_eq!(found, Some("minimum-leads"));
}

/// A leader that stands still must not lead for longer than it said; one that goes on may.
#[test]
fn a_leader_that_stands_still_leads_no_longer_than_it_told() {
    let until = Some(ms(250));
    let pause = vec![Timed { at: ms(120), fault: Fault::Pause { node: Who::Node(0) } }];
    let ends = with(|claims| claims[0].leads_until = until);
    assert_eq!(broken(Promise::NeverTwo, ends, pause.clone()), Some("timeliness"));
    let overdue = with(|claims| (claims[0].leads_until, claims[0].overdue) = (until, true));
    assert_eq!(broken(Promise::NeverTwo, overdue, pause), Some("ends-by-deadline"));
}

/// A crash ends a lock, and nobody is to blame for as long as the lock would have lasted.
#[test]
fn a_supporter_that_crashed_is_excused_for_a_lease() {
    let crash = |at| vec![Timed { at: ms(at), fault: Fault::Crash { node: Who::Node(2) } }];
    assert_eq!(broken(Promise::NeverTwo, good(), crash(50)), Some("locked-supporters"));
    assert_eq!(broken(Promise::NeverTwo, good(), crash(1_450)), None, "time is up before");
}
