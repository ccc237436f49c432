//! Leases whose renewals only some of the voters answer: a voter that says nothing is locked all
//! the same, and every step is one of the proved model.

use crate::{fuzz, steps_compared};
use bellwether_check::{FaultKind, FaultKinds, Trial};
use bellwether_core::{Dest, Message as _, Protocol, SimTime};
use bellwether_protocols::choice::Choice;
use bellwether_protocols::local_leader::message::Message;
use bellwether_protocols::local_leader::{Config, LocalLeader, Params};
use bellwether_sim::{Observer, World};

fn params(spare: u32) -> Params {
    let config = Config { spare: Some(spare), ..Config::default() };
    Params::try_from(config).expect("they are valid")
}

#[test]
fn leases_keep_their_promise_though_not_everybody_answers() {
    for (nodes, spare, seed, members) in
        [(3, 0, 41, false), (5, 0, 42, false), (5, 1, 43, true), (7, 1, 44, false)]
    {
        let choice = Choice::from(params(spare));
        let mut trial = Trial::new(&choice, nodes, None, seed);
        if members {
            trial.mix.forced = FaultKinds::of(&[FaultKind::Members]);
        }
        let report = fuzz(&trial, &choice, 0..1_000, 2);
        let number = report.violation.as_ref().map_or(0, |violation| violation.number);
        let what = format!("{nodes} processes, spare {spare}, seed {seed}, schedule {number}");
        assert_eq!(report.violation, None, "{what}");
        let compared = steps_compared(&trial, &report);
        println!("{what}: {compared} steps compared");
        assert!(compared > 100 * 1_000, "{what}: {compared} steps compared");
    }
}

/// How many requests name who is to answer, and how many do not.
#[derive(Default)]
struct Seen {
    some: u64,
    all: u64,
}

impl Observer<LocalLeader> for Seen {
    fn on_send(
        &mut self,
        _at: SimTime,
        _from: u32,
        _to: Dest,
        message: &<LocalLeader as Protocol>::Message,
        _number: u32,
    ) {
        match &message.body {
            Some(Message::Election { answerers: Some(_), .. }) => self.some += 1,
            _ => self.all += u64::from(message.kind() == "election"),
        }
    }
}

/// These schedules are what they are meant to be: many requests are for some, and many for all.
#[test]
fn many_requests_are_answered_by_some() {
    let params = params(1);
    let trial = Trial::new(&Choice::from(params.clone()), 5, None, 45);
    let (mut world, mut seen) = (World::<LocalLeader>::new(params.layered()), Seen::default());
    for number in 0..50 {
        let schedule = trial.schedule(number);
        world.run(&schedule.plan, schedule.run_seed(), &mut seen);
    }
    println!("{} requests are for some, {} for all", seen.some, seen.all);
    assert!(seen.some > 1_000 && seen.all > 1_000, "{} {}", seen.some, seen.all);
}
