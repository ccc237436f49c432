//! Which processes take part, and how long all wait.

use super::*;

#[test]
fn about_k_of_n_pass_and_any_two_rounds_differ() {
    let passing = |round, nodes: u64| {
        let filter = Filter::new(0, Name::Initiate(round), 50, nodes);
        (0..nodes).filter(|id| filter.passes(NodeId(*id))).collect::<Vec<_>>()
    };
    for nodes in [1_000, 10_000, 100_000] {
        let counts = (1..=400).map(|election| passing(RoundId::first_of(election), nodes).len());
        let mean = counts.sum::<usize>() as f64 / 400.0;
        assert!((mean - 50.0).abs() < 3.5 * (50.0f64 / 400.0).sqrt(), "{mean} of {nodes}");
    }
    let (first, second) = (passing(FIRST, 10_000), passing(SECOND, 10_000));
    let both = first.iter().filter(|id| second.contains(id)).count();
    assert!(both < 5, "{both} of {} pass both", first.len());
}

#[test]
fn the_spread_of_those_who_pass_is_that_of_fair_coins() {
    let count = |election| {
        let filter = Filter::new(0, Name::Initiate(RoundId::first_of(election)), 7, 500);
        (0..500).filter(|id| filter.passes(NodeId(*id))).count() as f64
    };
    let counts: Vec<f64> = (1..=2_000).map(count).collect();
    let mean = counts.iter().sum::<f64>() / 2_000.0;
    let variance =
        counts.iter().map(|count| (count - mean) * (count - mean)).sum::<f64>() / 1_999.0;
    assert!((variance - 7.0 * (1.0 - 7.0 / 500.0)).abs() < 0.75, "{variance}");
}

#[test]
fn nobody_is_left_out_where_k_is_no_less_than_n() {
    for (relays, nodes) in [(5, 5), (9, 5), (u64::MAX, u64::MAX), (1, 0)] {
        let filter = Filter::new(0, Name::Initiate(FIRST), relays, nodes);
        assert!((0..1_000).all(|id| filter.passes(NodeId(id))), "{relays} of {nodes}");
    }
}

#[test]
fn different_groups_choose_different_relays() {
    let chosen = |group| {
        let filter = Filter::new(group, Name::Initiate(FIRST), 7, 1_000);
        (0..1_000).filter(|id| filter.passes(NodeId(*id))).collect::<Vec<_>>()
    };
    assert_ne!(chosen(1), chosen(2));
    assert_eq!(chosen(1), chosen(1));
}

#[test]
fn a_process_begins_passive() {
    let process = relay(3, &[1, 2]);
    assert_eq!((process.effects(), process.leader()), (vec![], None));
    assert_eq!((stage(&process), round(&process)), (Stage::Undecided, in_round(0)));
}

#[test]
fn a_relay_tells_its_contacts_and_then_everyone() {
    let mut process = relay(3, &[2, 5]);
    process.message(9, Message::Initiate(FIRST));
    // Time_Out_2 is 3K/2 = 10.5, so 11 hops; not all begin at the same moment.
    let settle = process.armed(Timer::Phase, MULTICAST + UNICAST * 11);
    assert_eq!(process.effects(), [settle, to(2, prefer(2)), to(5, prefer(2))]);
    process.ring();
    let waits = process.armed(Timer::Phase, MULTICAST * 2);
    assert_eq!(process.effects(), [to_all(named(2)), waits]);
    process.ring();
    assert_eq!((process.leader(), process.is_quiet()), (Some(2), true), "its own counts");
}

#[test]
fn whoever_does_not_pass_waits() {
    let mut process = bystander();
    process.message(9, Message::Initiate(FIRST));
    let decide = process.armed(Timer::Phase, MULTICAST * 3 + UNICAST * 11);
    assert_eq!(process.effects(), [decide]);
    process.message(4, named(1));
    assert_eq!((process.effects(), process.leader()), (vec![], None));
    process.ring();
    assert_eq!((process.leader(), stage(&process)), (Some(1), Stage::Decided));
    assert_eq!(process.leadership().term, Some(Term::FIRST));
}

#[test]
fn only_a_later_round_is_news() {
    let mut process = bystander();
    process.message(9, Message::Initiate(SECOND));
    assert_eq!(round(&process), in_round(2));
    for (election, number) in [(1, 1), (1, 2), (1, 6), (2, 6)] {
        process.message(8, Message::Initiate(RoundId { election, number }));
        assert_eq!(process.effects(), [], "old, the same, or beyond the last");
    }
    process.message(8, Message::Initiate(RoundId::first_of(2)));
    assert_eq!(round(&process), in_round(1));
}

#[test]
fn several_initiators_of_one_round_are_one() {
    let mut process = relay(3, &[2]);
    process.command(Command::Campaign).unwrap();
    assert_eq!(process.packets(), [to_all(Message::Initiate(FIRST)), to(2, prefer(2))]);
    process.message(2, Message::Initiate(FIRST));
    assert_eq!(process.effects(), []);
    process.command(Command::Campaign).unwrap();
    assert_eq!(process.effects(), [], "an election is being held");
}

#[test]
fn the_declared_leader_is_in_the_view_from_then_on() {
    let mut process = relay(3, &[4]);
    process.message(9, named(1));
    process.ring();
    assert_eq!(process.leader(), Some(1));
    process.command(Command::Campaign).unwrap();
    let again = Message::Prefer(RoundId::first_of(2), someone(1));
    assert_eq!(process.packets()[1..], [to(1, again.clone()), to(4, again)]);
}

#[test]
fn a_process_that_takes_no_part_is_small() {
    let (state, node) =
        (size_of::<Probabilistic>(), size_of::<bellwether_core::Node<Probabilistic>>());
    assert!(
        state <= 80 && node <= 136,
        "{state} and {node} bytes, of which there may be a million"
    );
    let mut process = bystander();
    process.message(9, Message::Initiate(FIRST)).message(4, named(1)).ring();
    let Probabilistic { relay, known, gossip, .. } = process.node().protocol();
    assert!(relay.is_none() && known.is_none() && gossip.is_none());
}
