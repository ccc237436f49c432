//! Leases whose renewals are answered through a tree: a vote that is relayed is a reply that takes
//! longer, and every step is one of the proved model.

use crate::{follow_the_proof, hold, seen, valid};
use bellwether_check::Trial;
use bellwether_core::{Dest, Message as _, Protocol, SimTime};
use bellwether_protocols::choice::Choice;
use bellwether_protocols::local_leader::message::Message;
use bellwether_protocols::local_leader::{Config, LocalLeader, Mode, Params};
use bellwether_sim::Observer;

fn params(mode: Mode, tree: u32) -> Params {
    valid(Config { mode, tree, ..Config::default() })
}

#[test]
fn leases_keep_their_promise_though_votes_are_relayed() {
    for (nodes, mode, tree, seed) in [
        (5, Mode::Majority, 2, 51),
        (7, Mode::Majority, 2, 52),
        (5, Mode::Majority, 1, 53),
        (5, Mode::Local, 2, 54),
        (7, Mode::Local, 1, 55),
    ] {
        let choice = Choice::from(params(mode, tree));
        let trial = Trial::new(&choice, nodes, None, seed);
        let what = format!("{mode:?}, tree {tree}");
        match mode {
            Mode::Majority => follow_the_proof(&trial, &choice, (500, 100), &what),
            Mode::Local => hold(&trial, &choice, 500, &what),
        };
    }
}

/// How many requests are answered through a tree, and how many directly; and how many votes came
/// through others.
#[derive(Default)]
struct Seen {
    trees: u64,
    direct: u64,
    relayed: u64,
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
            Some(Message::Election { tree: Some(_), .. }) => self.trees += 1,
            Some(Message::Collation(replies)) => self.relayed += replies.voters.len() as u64,
            _ => self.direct += u64::from(message.kind() == "election"),
        }
    }
}

/// These schedules are what they are meant to be: many requests have a tree, and many have none.
#[test]
fn many_requests_are_answered_through_a_tree() {
    for mode in [Mode::Majority, Mode::Local] {
        let params = params(mode, 2);
        let trial = Trial::new(&Choice::from(params.clone()), 5, None, 56);
        let runs = seen::<Seen>(&trial, &params, 50);
        let sum = |count: fn(&Seen) -> u64| runs.iter().map(count).sum::<u64>();
        let [trees, direct, relayed] =
            [sum(|run| run.trees), sum(|run| run.direct), sum(|run| run.relayed)];
        println!("{mode:?}: {trees} requests by a tree, {direct} without, {relayed} votes relayed");
        assert!(trees > 1_000 && direct > 1_000 && relayed > trees, "{mode:?}: {trees} {direct}");
    }
}
