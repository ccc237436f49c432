//! Small groups of majority leases, and of elections that draw, explored to the last state.
//!
//! The numbers of states are pinned: whoever changes the protocol or the world sees that something
//! else is explored than before. `bellwether check local-leader --explore` runs the same, and
//! larger ones. Leases are explored for some ticks: their terms grow, so no state comes again.

use bellwether_check::explore::{Adversary, Answer, World, announcements, explore, leases};
use bellwether_protocols::answers::Answers as _;
use bellwether_protocols::local_leader::{Hall, Params, Rule};

/// Enough for all of these; none is cut short.
const MOST: usize = 20_000_000;

/// Messages arrive in the tick they are sent in, or never.
const NO_DELAY: Adversary =
    Adversary { fastest: 0, slowest: 0, ticks: Some(9), ..Adversary::LOSSES };

fn hold(nodes: u8, adversary: Adversary, states: usize) -> Answer {
    hold_all(nodes, None, adversary, states)
}

/// All states of a group, of which the first few vote in the beginning.
fn hold_all(nodes: u8, founders: Option<u8>, adversary: Adversary, states: usize) -> Answer {
    hold_with(leases::in_ticks(), nodes, founders, adversary, states)
}

/// The same with these leases.
fn hold_with(
    params: Params,
    nodes: u8,
    founders: Option<u8>,
    adversary: Adversary,
    states: usize,
) -> Answer {
    let model = params.time_scales(nodes.into());
    let mut world = World::<Hall>::new(nodes, params, adversary).validated(&model);
    if let Some(founders) = founders {
        world = world.founded_by(founders);
    }
    let answer = explore(world, MOST, 2);
    assert_eq!(answer.breach, None, "{adversary:?}: {:?}", answer.refused);
    assert!(answer.complete && answer.somebody_leads, "{answer:?}");
    assert_eq!(answer.states, states, "{nodes} processes, {adversary:?}");
    answer
}

#[test]
fn two_processes_with_late_messages_and_a_crash() {
    hold(2, Adversary { slowest: 3, crashes: 1, ticks: Some(12), ..Adversary::LOSSES }, 234_444);
}

#[test]
fn two_processes_that_may_sleep_and_crash() {
    hold(2, Adversary { sleep: true, crashes: 1, ticks: Some(12), ..Adversary::LOSSES }, 650_682);
}

#[test]
fn three_processes_with_any_losses() {
    hold(3, Adversary { ticks: Some(9), ..Adversary::LOSSES }, 376_617);
}

#[test]
fn three_processes_with_a_crash() {
    hold(3, Adversary { crashes: 1, ticks: Some(7), ..Adversary::LOSSES }, 159_597);
}

#[test]
fn three_processes_with_a_message_that_comes_twice() {
    hold(3, Adversary { copies: 1, ticks: Some(7), ..Adversary::LOSSES }, 52_617);
}

#[test]
fn three_processes_of_which_one_resigns() {
    hold(3, Adversary { resignations: 1, ticks: Some(8), ..Adversary::LOSSES }, 184_960);
}

#[test]
fn three_processes_that_may_sleep() {
    hold(3, Adversary { sleep: true, ticks: Some(6), ..Adversary::LOSSES }, 28_961);
}

#[test]
fn three_processes_without_delay() {
    hold(3, Adversary { ticks: Some(5), ..NO_DELAY }, 440_454);
}

/// A process that lost its disk reads the terms of the others, and uses none again.
#[test]
fn two_processes_of_which_one_loses_its_disk() {
    let adversary = Adversary { crashes: 1, lost_disks: 1, ticks: Some(14), ..Adversary::LOSSES };
    let answer = hold(2, adversary, 216_053);
    assert!(answer.somebody_recovers, "it has a record again, and votes");
}

/// With the usual leases it does not get as far as a record, with shorter ones it does.
#[test]
fn three_processes_of_which_one_loses_its_disk() {
    let adversary = Adversary { crashes: 1, lost_disks: 1, ticks: Some(7), ..Adversary::LOSSES };
    let answer = hold(3, adversary, 265_188);
    assert!(!answer.somebody_recovers, "this is for larger explorations");
    let adversary = Adversary { ticks: Some(8), ..adversary };
    let answer = hold_with(leases::brief_in_ticks(), 3, None, adversary, 1_233_406);
    assert!(answer.somebody_recovers, "it has a record again, and votes");
}

/// A process that crashed is released: others need not wait until its lease is over.
#[test]
fn two_processes_of_which_one_is_killed_and_released() {
    hold(2, Adversary { crashes: 1, releases: 1, ticks: Some(14), ..Adversary::LOSSES }, 516_201);
}

#[test]
fn three_processes_of_which_one_is_killed_and_released() {
    hold(3, Adversary { crashes: 1, releases: 1, ticks: Some(6), ..Adversary::LOSSES }, 687_843);
}

#[test]
fn three_processes_of_which_one_hands_over() {
    hold(3, Adversary { transfers: 1, ticks: Some(8), ..Adversary::LOSSES }, 455_921);
}

#[test]
fn two_processes_that_change_their_voters() {
    let adversary = Adversary { changes: 1, ticks: Some(12), ..Adversary::LOSSES };
    assert!(hold(2, adversary, 13_286).somebody_commits, "it is a change");
}

#[test]
fn three_processes_that_change_their_voters() {
    let adversary = Adversary { changes: 1, ticks: Some(8), ..Adversary::LOSSES };
    assert!(hold(3, adversary, 251_963).somebody_commits, "it is a change");
}

#[test]
fn two_voters_and_a_third_process() {
    let adversary = Adversary { changes: 1, ticks: Some(8), ..Adversary::LOSSES };
    assert!(hold_all(3, Some(2), adversary, 22_283).somebody_commits, "it is a change");
}

#[test]
fn two_voters_and_a_third_process_with_a_lost_disk() {
    let adversary =
        Adversary { changes: 1, crashes: 1, lost_disks: 1, ticks: Some(8), ..Adversary::LOSSES };
    let answer = hold_all(3, Some(2), adversary, 496_137);
    assert!(answer.somebody_commits, "it is a change");
    assert!(!answer.somebody_recovers, "that takes more ticks, or shorter leases");
}

/// Tokens, a lost disk and a change at once, in a group of three. Both come to their end.
#[test]
fn two_voters_and_a_third_process_with_a_lost_disk_and_shorter_leases() {
    let adversary =
        Adversary { changes: 1, crashes: 1, lost_disks: 1, ticks: Some(8), ..Adversary::LOSSES };
    let answer = hold_with(leases::brief_in_ticks(), 3, Some(2), adversary, 751_554);
    assert!(answer.somebody_commits && answer.somebody_recovers, "{answer:?}");
}

/// The same where all vote.
#[test]
fn two_voters_with_a_lost_disk_and_a_change() {
    let adversary =
        Adversary { changes: 1, crashes: 1, lost_disks: 1, ticks: Some(12), ..Adversary::LOSSES };
    let answer = hold(2, adversary, 166_682);
    assert!(answer.somebody_commits && answer.somebody_recovers, "{answer:?}");
}

#[test]
fn three_voters_with_a_lost_disk_and_a_change() {
    let adversary =
        Adversary { changes: 1, crashes: 1, lost_disks: 1, ticks: Some(6), ..Adversary::LOSSES };
    let answer = hold(3, adversary, 656_145);
    assert!(!answer.somebody_commits && !answer.somebody_recovers, "they begin: {answer:?}");
}

/// Without delay and drift a lease and the locks it rests on end at the same instant: there, and
/// only there, it matters who may still act at it.
#[test]
fn without_strict_expiry_two_lead_at_the_last_instant() {
    let params = leases::in_ticks().without(Rule::StrictExpiry);
    let world = World::<Hall>::new(3, params, NO_DELAY);
    let answer = explore(world.clone(), MOST, 2);
    let (property, path) = answer.breach.expect("two leaders at one instant");
    assert_eq!(property, "never-two");
    let told = bellwether_sim::trace::transcript(&world.tell(&path));
    let leads = told.lines().filter(|line| line.contains("leads")).count();
    assert!(leads >= 2, "{told}");
}

/// A group of announce-listen elections, whose processes draw when they wake up.
fn draws(name: &str, nodes: u8, adversary: Adversary) -> Answer {
    let variant = announcements::variant(name).expect("a name of the table");
    explore(announcements::world(nodes, variant, adversary), MOST, 2)
}

#[test]
fn of_processes_that_wake_at_random_somebody_always_stands() {
    let states = [
        (2, Adversary::LOSSES),
        (2, Adversary { crashes: 1, slowest: 2, ..Adversary::LOSSES }),
        (2, Adversary { sleep: true, copies: 1, ..Adversary::LOSSES }),
        (3, Adversary::LOSSES),
    ]
    .map(|(nodes, adversary)| {
        let answer = draws("le-s", nodes, adversary);
        assert_eq!(answer.breach, None, "{nodes} processes, {adversary:?}");
        assert!(answer.complete && answer.somebody_leads, "{answer:?}");
        answer.states
    });
    assert_eq!(states, [539, 12_462, 5_181, 10_425]);
}

#[test]
fn of_two_that_follow_whoever_speaks_first_each_may_follow_the_other_for_ever() {
    let variant = announcements::variant("sup-al-elect").expect("a name of the table");
    let world = announcements::world(2, variant, Adversary::LOSSES);
    let answer = explore(world.clone(), MOST, 1);
    let (property, path) = answer.breach.expect("the deadlock that the text does not see");
    assert_eq!(property, "somebody-stands");
    let told = bellwether_sim::trace::transcript(&world.tell(&path));
    assert!(told.lines().filter(|line| line.contains("announce")).count() >= 2, "{told}");
}

/// Its farewell overtakes its announcement, and is forgotten by it: the other one follows a leader
/// that has resigned, and that follows it. With T_L infinite nobody notices.
#[test]
fn a_farewell_that_overtakes_an_announcement_is_in_vain() {
    let answer = draws("le-s", 2, Adversary { resignations: 1, ..Adversary::LOSSES });
    let (property, _) = answer.breach.expect("each follows the other");
    assert_eq!(property, "somebody-stands");
}
