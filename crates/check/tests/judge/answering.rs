//! Leases whose renewals only some of the voters answer: a voter that says nothing is locked all
//! the same, and every step is one of the proved model.

use crate::{follow_the_proof, seen, valid};
use bellwether_check::{FaultKind, FaultKinds, Trial};
use bellwether_core::{Dest, Message as _, Protocol, SimTime};
use bellwether_protocols::choice::Choice;
use bellwether_protocols::local_leader::message::Message;
use bellwether_protocols::local_leader::{Config, LocalLeader, Params};
use bellwether_sim::Observer;

fn params(spare: u32) -> Params {
    valid(Config { spare: Some(spare), ..Config::default() })
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
        follow_the_proof(&trial, &choice, (1_000, 100), &format!("spare {spare}"));
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
    let runs = seen::<Seen>(&trial, &params, 50).into_iter();
    let (some, all) = runs.fold((0, 0), |(some, all), run| (some + run.some, all + run.all));
    println!("{some} requests are for some, {all} for all");
    assert!(some > 1_000 && all > 1_000, "{some} {all}");
}
