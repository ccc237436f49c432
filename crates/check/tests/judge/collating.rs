//! Leases whose renewals are answered through a tree: a vote that is relayed is a reply that takes
//! longer, and every step is one of the proved model.

use crate::{fuzz, steps_compared};
use bellwether_check::Trial;
use bellwether_core::{Dest, Message as _, Protocol, SimTime};
use bellwether_protocols::choice::Choice;
use bellwether_protocols::local_leader::message::Message;
use bellwether_protocols::local_leader::{Config, LocalLeader, Mode, Params};
use bellwether_sim::{Observer, World};

fn params(mode: Mode, tree: u32) -> Params {
    let config = Config { mode, tree, ..Config::default() };
    Params::try_from(config).expect("they are valid")
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
        let report = fuzz(&trial, &choice, 0..500, 2);
        let number = report.violation.as_ref().map_or(0, |violation| violation.number);
        let what = format!("{nodes} processes, {mode:?}, tree {tree}, seed {seed}, {number}");
        assert_eq!(report.violation, None, "{what}");
        let compared = steps_compared(&trial, &report);
        println!("{what}: {compared} steps compared");
        assert!(mode == Mode::Local || compared > 100 * 500, "{what}: {compared} steps compared");
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
        let (mut world, mut seen) = (World::<LocalLeader>::new(params.layered()), Seen::default());
        for number in 0..50 {
            let schedule = trial.schedule(number);
            world.run(&schedule.plan, schedule.run_seed(), &mut seen);
        }
        let Seen { trees, direct, relayed } = seen;
        println!("{mode:?}: {trees} requests by a tree, {direct} without, {relayed} votes relayed");
        assert!(trees > 1_000 && direct > 1_000 && relayed > trees, "{mode:?}: {trees} {direct}");
    }
}
