//! What leases owe: never two, and an end without an event.

use super::*;
use crate::world::{Drive, Setup, both, typed};
use bellwether_core::harness::{Harness, assert_survives_the_wire};

type Leased = FailAware<Leases>;

/// What a peer whose clock is 5 s ahead says `held` after it heard `asked`, in answer to `node`.
fn answer(asked: Instant, held: Duration, body: Said) -> Frame<Said> {
    let received = asked + Duration::from_secs(5);
    let echoes = vec![(NodeId(1), Stamps { sent: asked, received })];
    Frame { sent: received + held, echoes, body: Some(body) }
}

/// Node 1 of three, that leads by a grant which took a millisecond.
fn leader() -> Harness<Leased> {
    let peers = [2, 3].map(NodeId);
    let mut node = Harness::<Leased>::boot(Boot::first(NodeId(1)), params(), &peers, &[]);
    node.ring();
    let reply = Said::Reply { term: Term::FIRST, request: node.now(), granted: true };
    let frame = answer(node.now(), Duration::ZERO, reply);
    node.wait(Duration::from_millis(1)).message(2, frame);
    node
}

fn releases(node: &Harness<Leased>) -> bool {
    let mut kinds = node.effects().into_iter().filter_map(|effect| match effect {
        Effect::Send(_, frame) => Some(frame.kind()),
        _ => None,
    });
    kinds.any(|kind| kind == "release")
}

#[test]
fn leases_and_stamps_survive_the_wire() {
    samples().iter().for_each(assert_survives_the_wire);
}

#[test]
fn a_grant_is_stored_before_it_is_answered() {
    let peers = [1, 3].map(NodeId);
    let mut node = Harness::<Leased>::boot(Boot::first(NodeId(2)), params(), &peers, &[]);
    let election = Said::Election { term: Term::FIRST, request: Instant::ZERO, leading: false };
    let mut frame = answer(Instant::ZERO, Duration::ZERO, election);
    frame.echoes[0].0 = NodeId(2);
    node.wait(Duration::from_millis(1)).message(1, frame);
    let stored = Grant { term: Term::FIRST, to: NodeId(1) }.encode();
    assert_eq!(node.effects()[0], Effect::Store(stored));
    assert!(matches!(node.effects()[2], Effect::Send(Dest::Node(NodeId(1)), _)));
    let until = node.now() + params().inner.lock;
    assert_eq!(node.facts()[0], Fact::Locked { to: NodeId(1), until });
}

#[test]
fn the_delay_is_bounded_by_the_round_trip_less_what_the_peer_held_it() {
    let node = leader();
    let (layer, params) = (node.node().protocol(), params());
    let (peers, mut entropy) = (Members::from_iter([NodeId(2)]), harness::Scripted::default());
    let mut env = Env { now: Instant::from_nanos(9_000_000), peers: &peers, entropy: &mut entropy };
    let mut effects = Vec::new();
    let cx = Cx::new(&mut env, &params, &mut effects);
    let release = Said::Release { request: Instant::ZERO };
    let held = answer(Instant::ZERO, Duration::from_millis(6), release);
    // 9 ms there and back, 6 of them at the peer, drift of 200 ppm on either, 0.1 ms at least.
    let bound = Duration::from_nanos(9_001_801 - 5_998_800 - 100_000);
    assert_eq!(layer.bound(&held, &cx), Some(bound));
    let unknown = Frame { echoes: Vec::new(), ..held.clone() };
    assert_eq!(layer.bound(&unknown, &cx), None, "no round trip, no bound");
    let impossible = answer(Instant::from_nanos(9_000_001), Duration::ZERO, release);
    assert_eq!(layer.bound(&impossible, &cx), None, "it answers what was not yet asked");
}

#[test]
fn a_message_that_was_slow_grants_nothing() {
    let peers = [2, 3].map(NodeId);
    let mut node = Harness::<Leased>::boot(Boot::first(NodeId(1)), params(), &peers, &[]);
    node.ring();
    let reply = Said::Reply { term: Term::FIRST, request: node.now(), granted: true };
    let frame = answer(node.now(), Duration::ZERO, reply);
    node.wait(Duration::from_millis(11)).message(2, frame);
    assert_eq!(node.leadership(), Leadership::NONE);
}

#[test]
fn a_lease_lapses_while_nothing_happens() {
    let mut node = leader();
    let lease = node.leadership();
    assert!(lease.names(NodeId(1)) && lease.term == Some(Term::FIRST));
    let end = lease.until;
    assert_eq!(end, Instant::ZERO + Duration::from_nanos(149_940_000));
    while node.node().poll_timeout() < end {
        node.ring();
        assert_eq!(node.change(), Change::Same, "a failed renewal deposes nobody");
        assert!(!releases(&node), "the lease still runs on these locks");
    }
    assert_eq!(node.node().poll_timeout(), end, "the end of the lease wakes the driver");
    assert_eq!(node.node().due(end), None, "though no timer is armed for it");
    node.ring();
    assert_eq!((node.change(), node.effects()), (Change::Changed, Vec::new()));
    assert_eq!(node.leadership(), Leadership::NONE);
}

#[test]
fn a_leader_that_meets_a_higher_term_raises_its_own() {
    let mut node = leader();
    node.ring();
    let (asked, term) = (node.now(), Term::new(7).unwrap());
    let reply = Said::Reply { term, request: asked, granted: false };
    node.message(3, answer(asked, Duration::ZERO, reply));
    node.ring();
    assert_eq!(node.change(), Change::Same, "the round failed, the lease runs on");
    node.ring();
    let raised = Grant { term: term.next(), to: NodeId(1) };
    assert_eq!(node.effects()[0], Effect::Store(raised.encode()));
    assert!(node.facts().contains(&Fact::Highest { term: raised.term }));
}

#[test]
fn a_leader_that_resigns_releases_its_supporters_and_a_follower_cannot_resign() {
    let mut node = leader();
    node.command(Command::Resign).unwrap();
    assert_eq!(node.change(), Change::Changed);
    assert_eq!(node.leadership(), Leadership::NONE);
    assert_eq!(node.command(Command::Resign).err(), Some(Refused));
}

#[test]
fn there_are_never_two_leaders_and_a_dead_one_is_replaced() {
    both::<Leased>(&Setup::clique(5), params(), |world| {
        let watch = |world: &mut dyn Drive, ms: u64| {
            for _ in 0..ms {
                world.run_for(Duration::from_millis(1));
                assert!(world.leading().len() <= 1, "{:?}", world.beliefs());
            }
        };
        watch(world, 200);
        assert!(world.agreed_on(1));
        world.crash(1);
        watch(world, 400);
        assert!(world.agreed_on(2), "{:?}", world.beliefs());
        world.restart(1);
        watch(world, 400);
        assert!(world.agreed_on(2), "the incumbent stays");
        world.crash(3);
        world.crash(4);
        watch(world, 400);
        assert!(world.agreed_on(2), "three of five are enough");
        world.crash(5);
        watch(world, 400);
        assert_eq!(world.leading(), [], "two are not");
        assert!(world.log().iter().filter_map(|told| told.term).is_sorted());
    });
}

#[test]
fn worlds_that_differ_only_in_their_clocks_offsets_coincide() {
    let world = |ahead: fn(NodeId) -> Duration| {
        typed::<Leased>(&Setup { ahead, ..Setup::clique(3) }, params())
    };
    let mut together = world(|_| Duration::ZERO);
    let mut apart = world(|id| Duration::from_secs(999) * (9 - id.0));
    let mut kinds = BTreeSet::new();
    for millisecond in 0..600 {
        if millisecond == 300 {
            let worlds: [&mut dyn Drive; 2] = [&mut together, &mut apart];
            worlds.into_iter().for_each(|world| world.crash(1));
        }
        together.run_for(Duration::from_millis(1));
        apart.run_for(Duration::from_millis(1));
        let (same, (nodes, letters)) = (together.rebased(), apart.rebased());
        assert_eq!(same, (nodes, letters.clone()), "after {millisecond} ms");
        kinds.extend(
            letters.iter().map(|(_, _, _, frame)| (frame.kind(), !frame.echoes.is_empty())),
        );
    }
    // Or nothing was shown of them.
    for kind in ["stamp", "election", "reply"] {
        assert!(kinds.contains(&(kind, true)), "no {kind} with echoes was seen under way");
    }
}

#[test]
fn a_layer_keeps_its_scratch_list_and_keeps_it_empty() {
    let mut node = leader();
    let place = node.node().protocol().scratch.as_ptr();
    for _step in 0..10 {
        node.ring();
        let scratch = &node.node().protocol().scratch;
        assert_eq!((scratch.len(), scratch.as_ptr()), (0, place), "no step allocates another");
        assert!(scratch.capacity() > 0);
    }
}
