//! What every skeleton owes, whatever it does.

use crate::world::{Drive, Setup, both, typed};
use crate::{ad_hoc, collecting_ring, leases, probabilistic, suppression};
use bellwether_core::*;
use proptest::prelude::*;

/// The skeletons, as a run time would choose among them.
#[derive(Clone, Copy, Debug)]
enum Choice {
    Leases,
    CollectingRing,
    AdHoc,
    Probabilistic,
    Suppression,
}

impl Choice {
    const ALL: [Self; 5] =
        [Self::Leases, Self::CollectingRing, Self::AdHoc, Self::Probabilistic, Self::Suppression];

    fn visit<V: Visitor>(self, visitor: V) -> V::Output {
        match self {
            Self::Leases => visitor.visit::<leases::FailAware<leases::Leases>>(leases::params()),
            Self::CollectingRing => {
                use collecting_ring::{Detect, Ring, params};
                visitor.visit::<Detect<Ring>>(params())
            }
            Self::AdHoc => visitor.visit::<ad_hoc::AdHoc>(ad_hoc::params()),
            Self::Probabilistic => {
                visitor.visit::<probabilistic::Probabilistic>(probabilistic::params())
            }
            Self::Suppression => visitor.visit::<suppression::Suppression>(suppression::params()),
        }
    }

    /// Real messages as bytes.
    fn samples(self) -> Vec<Vec<u8>> {
        match self {
            Self::Leases => encoded(&leases::samples()),
            Self::CollectingRing => encoded(&collecting_ring::samples()),
            Self::AdHoc => encoded(&ad_hoc::samples()),
            Self::Probabilistic => encoded(&probabilistic::samples()),
            Self::Suppression => encoded(&[suppression::Word]),
        }
    }
}

fn encoded<M: Message>(messages: &[M]) -> Vec<Vec<u8>> {
    let bytes = |message: &M| {
        let mut bytes = Vec::new();
        message.encode(&mut bytes);
        bytes
    };
    messages.iter().map(bytes).collect()
}

/// Draws nothing but the least.
struct Least;

impl Entropy for Least {
    fn below(&mut self, _n: u64) -> u64 {
        0
    }
}

/// A story that gets something out of every skeleton.
fn story(world: &mut dyn Drive) {
    for (a, b) in [(1, 2), (2, 3), (3, 4), (4, 5), (5, 1)] {
        world.link(a, b, Reach::Up);
    }
    // Whoever does not take it is none the worse for having been asked.
    let _ = world.command(2, Command::Campaign);
    world.run_for(Duration::from_millis(130));
    world.crash(5);
    world.run_for(Duration::from_millis(333));
}

struct NodesAndEndpointsAgree;

impl Visitor for NodesAndEndpointsAgree {
    type Output = ();

    fn visit<P: Protocol>(self, params: P::Params) {
        both::<P>(&Setup::clique(5), params, |world| {
            story(world);
            assert!(world.sent() > 0 && !world.log().is_empty());
        });
    }
}

#[test]
fn nodes_and_endpoints_believe_the_same_at_the_same_time() {
    Choice::ALL.into_iter().for_each(|choice| choice.visit(NodesAndEndpointsAgree));
}

struct DatesDoNotMatter;

impl Visitor for DatesDoNotMatter {
    type Output = ();

    fn visit<P: Protocol>(self, params: P::Params) {
        let at = |ahead: fn(NodeId) -> Duration| {
            let setup = Setup { ahead, ..Setup::clique(5) };
            let mut world = typed::<P>(&setup, params.clone());
            story(&mut world);
            world.rebased()
        };
        let (early, late) = (at(|_| Duration::ZERO), at(|_| Duration::from_secs(86_400)));
        assert_eq!(early, late, "{} keeps an instant from its rebase", P::NAME);
        let apart = at(Setup::clique(5).ahead);
        assert_eq!(early, apart, "{} takes another's instant for its own", P::NAME);
    }
}

#[test]
fn the_same_states_at_different_dates_and_on_different_clocks_coincide() {
    Choice::ALL.into_iter().for_each(|choice| choice.visit(DatesDoNotMatter));
}

struct RefusalsAreFree;

impl Visitor for RefusalsAreFree {
    type Output = usize;

    /// Tries every command on a fresh node and counts the refusals.
    fn visit<P: Protocol>(self, params: P::Params) -> usize {
        let peers = Members::from_iter([2, 3].map(NodeId));
        let commands = [
            Command::Campaign,
            Command::Resign,
            Command::Transfer(NodeId(2)),
            Command::Leave,
            Command::Rank(9),
        ];
        let refused = |command: &Command| {
            let mut env = Env { now: Instant::ZERO, peers: &peers, entropy: &mut Least };
            let mut effects = Vec::new();
            let boot = Boot::first(NodeId(1));
            let mut node = Node::<P>::start(boot, &mut env, &params, &mut effects);
            effects.clear();
            let before = node.clone();
            let refused = node.command(*command, &mut env, &params, &mut effects).is_err();
            if refused {
                assert_eq!(node, before, "{} changed when it refused {command:?}", P::NAME);
                assert_eq!(effects, [], "{} asked for something", P::NAME);
            }
            let mut endpoint = endpoint::<P>(boot, &mut env, params.clone());
            while endpoint.poll_output().is_some() {}
            let wake = endpoint.poll_timeout();
            assert_eq!(endpoint.command(*command, &mut env).is_err(), refused);
            if refused {
                assert_eq!((endpoint.poll_output(), endpoint.poll_timeout()), (None, wake));
            }
            refused
        };
        commands.iter().filter(|command| refused(command)).count()
    }
}

#[test]
fn a_refused_command_changes_nothing() {
    let refusals = Choice::ALL.map(|choice| choice.visit(RefusalsAreFree));
    assert_eq!(refusals, [5, 4, 4, 4, 5], "three of them can be told to hold an election");
}

/// A datagram and when it comes.
#[derive(Clone, Debug)]
struct Datagram {
    from: u64,
    bytes: Vec<u8>,
    after: u64,
}

struct TakesAnyBytes<'a> {
    datagrams: &'a [Datagram],
}

impl Visitor for TakesAnyBytes<'_> {
    type Output = ();

    fn visit<P: Protocol>(self, params: P::Params) {
        let peers = Members::from_iter([2, 3].map(NodeId));
        let (mut now, mut luck) = (Instant::ZERO, Least);
        let mut env = Env { now, peers: &peers, entropy: &mut luck };
        let mut endpoint = endpoint::<P>(Boot::first(NodeId(1)), &mut env, params);
        endpoint.peer(NodeId(2), Reach::Up, &mut env);
        endpoint.peer(NodeId(3), Reach::Up, &mut env);
        for Datagram { from, bytes, after } in self.datagrams {
            now += Duration::from_nanos(*after);
            env.now = now;
            let readable = P::Message::decode(&mut Reader::new(bytes)).is_ok();
            let taken = endpoint.datagram(NodeId(*from), bytes, &mut env).is_ok();
            assert!(readable || !taken, "what cannot be read cannot be taken");
            endpoint.timeout(&mut env);
            while endpoint.poll_output().is_some() {}
            assert!(endpoint.leadership(now).until > now);
        }
    }
}

fn any_choice() -> impl Strategy<Value = Choice> {
    prop::sample::select(Choice::ALL.to_vec())
}

/// Anything, small numbers (of which more get past a decoder), or a real message with one byte
/// made another.
fn any_datagram(choice: Choice) -> impl Strategy<Value = Datagram> {
    let samples = choice.samples();
    let spoilt = (prop::sample::select(samples), any::<prop::sample::Index>(), any::<u8>());
    let spoilt = spoilt.prop_map(|(mut bytes, place, byte)| {
        let place = place.index(bytes.len());
        bytes[place] = byte;
        bytes
    });
    let bytes = prop_oneof![
        prop::collection::vec(any::<u8>(), 0..80),
        prop::collection::vec(0..5_u8, 0..80),
        spoilt,
    ];
    let after = prop_oneof![0..10_u64, 0..100_000_000_u64];
    (0..5_u64, bytes, after).prop_map(|(from, bytes, after)| Datagram { from, bytes, after })
}

fn any_datagrams() -> impl Strategy<Value = (Choice, Vec<Datagram>)> {
    any_choice()
        .prop_flat_map(|choice| (Just(choice), prop::collection::vec(any_datagram(choice), 1..30)))
}

proptest! {
    #[test]
    fn no_bytes_make_a_skeleton_panic((choice, datagrams) in any_datagrams()) {
        choice.visit(TakesAnyBytes { datagrams: &datagrams });
    }
}
