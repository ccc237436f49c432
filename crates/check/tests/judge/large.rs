//! Large groups: few vote, and the others hear of the leader through each other.
//!
//! With nine processes or more and at most four founders there are more than four observers, so
//! that leaders announce themselves and requests go to voters alone. Voters change in every
//! schedule, beside all other faults; in half of the trials leaders also replace voters that they
//! do not hear.

use crate::{follow_the_proof, looked, ms, newest_list, seen, valid};
use bellwether_check::{FaultKind, FaultKinds, Trial};
use bellwether_core::{Dest, Message as _, Protocol, SimTime};
use bellwether_protocols::choice::Choice;
use bellwether_protocols::local_leader::{Config, LocalLeader, Params};
use bellwether_sim::{Observer, Scene};

fn params(replaces: bool) -> Params {
    valid(Config { replace_after: replaces.then(|| ms(300)), ..Config::default() })
}

fn trial(nodes: u32, replaces: bool, seed: u64) -> (Trial, Choice) {
    let choice = Choice::from(params(replaces));
    let mut trial = Trial::new(&choice, nodes, None, seed);
    trial.mix.forced = FaultKinds::of(&[FaultKind::Members]);
    (trial, choice)
}

#[test]
fn leases_keep_their_promise_in_large_groups() {
    for (nodes, replaces, seed) in [(9, false, 31), (9, true, 32), (10, true, 33)] {
        let (trial, choice) = trial(nodes, replaces, seed);
        let what = format!("replaces: {replaces}");
        let report = follow_the_proof(&trial, &choice, (1_000, 400), &what);
        assert!(report.tally.trouble.of(FaultKind::Members) >= 1_000, "{what}");
        let told = looked(&trial, &report, "observers-tokens");
        assert!(told > 100 * 1_000, "{what}: observers named a leader {told} times");
    }
}

/// What happens in a run.
#[derive(Default)]
struct Seen {
    announcements: u64,
    /// The newest committed list.
    version: u64,
}

impl Observer<LocalLeader> for Seen {
    const LOOKS: bool = true;

    fn on_send(
        &mut self,
        _at: SimTime,
        _from: u32,
        _to: Dest,
        message: &<LocalLeader as Protocol>::Message,
        _number: u32,
    ) {
        self.announcements += u64::from(message.kind() == "announcement");
    }

    fn on_step(&mut self, node: u32, scene: &Scene<'_, LocalLeader>) {
        self.version = self.version.max(newest_list(node, scene));
    }
}

/// These schedules are what they are meant to be: leaders announce themselves, and lists change
/// more often where leaders replace voters. Most voters come back before they are replaced.
#[test]
fn leaders_really_announce_themselves_and_replace_voters() {
    let of = |replaces| {
        let (trial, _) = trial(9, replaces, 34);
        let runs = seen::<Seen>(&trial, &params(replaces), 100).into_iter();
        runs.fold((0, 0), |(announced, lists), seen| {
            (announced + usize::from(seen.announcements > 0), lists + seen.version)
        })
    };
    let ((announced, commanded), (_, replaced)) = (of(false), of(true));
    assert!(announced > 80, "leaders announced themselves in {announced} of 100 groups");
    assert!(replaced > commanded + 20, "{commanded} lists by command, {replaced} in all");
}
