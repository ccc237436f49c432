//! A small explorer: every draw, every order of delivery, every state once.
//!
//! Time is discrete and all clocks agree. A message takes any time up to a limit; time moves on to
//! the next deadline, or to the end of a message's limit, whichever is first. The run loop's rule
//! holds: a message that arrives at the instant of a deadline comes before it.

use crate::suppression::{Params, Suppression, params};
use crate::world::without;
use bellwether_core::*;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};

/// A message on its way, and when it arrives at the latest.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Letter<M> {
    from: NodeId,
    to: usize,
    by: Instant,
    message: M,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct State<P: Protocol> {
    now: Instant,
    nodes: Vec<Node<P>>,
    letters: Vec<Letter<P::Message>>,
}

#[derive(Clone, Copy, Debug)]
enum Move {
    Deliver(usize),
    Wake(usize),
    Wait,
}

/// What is explored.
struct Question<P: Protocol> {
    ids: Vec<NodeId>,
    params: P::Params,
    /// A message takes at most this long.
    slowest: Duration,
    /// Whether states that differ in nothing but the date are one.
    forget_the_date: bool,
    /// Where to give up.
    states_max: usize,
}

/// What was found.
#[derive(Debug, PartialEq, Eq)]
struct Answer {
    states: usize,
    /// Whether every reachable state was seen, so that the number means something.
    complete: bool,
}

/// Every sequence of draws, one after the other: the last draw counts up, and if it cannot, it is
/// dropped and the one before it does.
#[derive(Default)]
struct Enumerated {
    draws: Vec<(u64, u64)>,
    used: usize,
}

impl Entropy for Enumerated {
    fn below(&mut self, n: u64) -> u64 {
        if self.used == self.draws.len() {
            self.draws.push((0, n));
        }
        let (draw, bound) = self.draws[self.used];
        assert_eq!(bound, n, "the same beginning must lead to the same question");
        self.used += 1;
        draw
    }
}

impl Enumerated {
    fn next(&mut self) -> bool {
        self.used = 0;
        while let Some((draw, n)) = self.draws.last_mut() {
            *draw += 1;
            if *draw < *n {
                return true;
            }
            self.draws.pop();
        }
        false
    }
}

/// States by hash, and by equality where hashes meet: hashing alone could drop one unseen.
struct Known<P: Protocol>(BTreeMap<u64, Vec<State<P>>>);

impl<P: Protocol> Known<P> {
    fn insert(&mut self, state: &State<P>) -> bool {
        // Created with fixed keys, so the same from run to run.
        let mut hasher = DefaultHasher::new();
        state.hash(&mut hasher);
        let same = self.0.entry(hasher.finish()).or_default();
        let new = !same.contains(state);
        if new {
            same.push(state.clone());
        }
        new
    }
}

impl<P: Protocol> Question<P> {
    /// Walks through all states and shows each to `look`.
    fn explore(&self, mut look: impl FnMut(&State<P>)) -> Answer {
        let mut stack = Vec::new();
        let mut known = Known(BTreeMap::new());
        let mut states = 0;
        self.every_draw(|entropy| stack.push(self.start(entropy)));
        while let Some(state) = stack.pop() {
            if !known.insert(&state) {
                continue;
            }
            if states == self.states_max {
                return Answer { states, complete: false };
            }
            states += 1;
            look(&state);
            for chosen in self.moves(&state) {
                self.every_draw(|entropy| stack.push(self.after(&state, chosen, entropy)));
            }
        }
        Answer { states, complete: true }
    }

    fn every_draw(&self, mut run: impl FnMut(&mut Enumerated)) {
        let mut entropy = Enumerated::default();
        loop {
            run(&mut entropy);
            if !entropy.next() {
                break;
            }
        }
    }

    fn start(&self, entropy: &mut Enumerated) -> State<P> {
        let mut state = State { now: Rebase::ORIGIN, nodes: Vec::new(), letters: Vec::new() };
        for &id in &self.ids {
            let peers = without(id, &self.ids);
            let mut env = Env { now: state.now, peers: &peers, entropy: &mut *entropy };
            let mut effects = Vec::new();
            let node = Node::start(Boot::first(id), &mut env, &self.params, &mut effects);
            state.nodes.push(node);
            self.post(&mut state, id, effects);
        }
        self.tidy(state)
    }

    fn moves(&self, state: &State<P>) -> Vec<Move> {
        let due = |node: &Node<P>| node.poll_timeout() <= state.now;
        let overdue = |letter: &Letter<P::Message>| letter.by <= state.now;
        let mut moves: Vec<Move> = (0..state.letters.len()).map(Move::Deliver).collect();
        for (index, _) in state.nodes.iter().enumerate().filter(|(_, node)| due(node)) {
            if !state.letters.iter().any(|letter| letter.to == index && overdue(letter)) {
                moves.push(Move::Wake(index));
            }
        }
        if !state.nodes.iter().any(due) && !state.letters.iter().any(overdue) {
            moves.push(Move::Wait);
        }
        moves
    }

    fn after(&self, state: &State<P>, chosen: Move, entropy: &mut Enumerated) -> State<P> {
        let mut next = state.clone();
        let (index, input) = match chosen {
            Move::Deliver(letter) => {
                let letter = next.letters.remove(letter);
                (letter.to, Input::Message(letter.from, Cow::Owned(letter.message)))
            }
            Move::Wake(index) => (index, Input::Timeout),
            Move::Wait => {
                let alarms = next.nodes.iter().map(Node::poll_timeout);
                let arrivals = next.letters.iter().map(|letter| letter.by);
                next.now = alarms.chain(arrivals).min().unwrap_or(next.now);
                return self.tidy(next);
            }
        };
        let id = self.ids[index];
        let peers = without(id, &self.ids);
        let mut env = Env { now: next.now, peers: &peers, entropy };
        let mut effects = Vec::new();
        // Whether the belief changed shows in the state itself.
        let _ = next.nodes[index].handle(input, &mut env, &self.params, &mut effects);
        self.post(&mut next, id, effects);
        self.tidy(next)
    }

    fn post(&self, state: &mut State<P>, from: NodeId, effects: Vec<Effect<P>>) {
        let by = state.now + self.slowest;
        for effect in effects {
            let Effect::Send(dest, message) = effect else { continue };
            for (to, &id) in self.ids.iter().enumerate().filter(|(_, id)| **id != from) {
                if dest == Dest::Everyone || dest == Dest::Node(id) {
                    let message = message.clone();
                    state.letters.push(Letter { from, to, by, message });
                }
            }
        }
    }

    /// Puts the state into the one form that all states like it share.
    fn tidy(&self, mut state: State<P>) -> State<P> {
        state.letters.sort_by_cached_key(|letter| {
            let mut bytes = Vec::new();
            letter.message.encode(&mut bytes);
            (letter.to, letter.from, letter.by, bytes)
        });
        if self.forget_the_date {
            let rebase = Rebase::new(state.now);
            state.nodes.iter_mut().for_each(|node| node.instants(&rebase));
            for letter in &mut state.letters {
                letter.message.instants(self.ids[letter.to], &rebase);
                rebase.deadline(&mut letter.by);
            }
            state.now = Rebase::ORIGIN;
        }
        state
    }
}

/// Suppression among `n`, words being slower than the points are apart but faster than a round.
fn suppression(n: u64) -> Question<Suppression> {
    Question {
        ids: (1..=n).map(NodeId).collect(),
        params: params(),
        slowest: Duration::from_millis(15),
        forget_the_date: true,
        states_max: 100_000,
    }
}

fn speakers(state: &State<Suppression>) -> usize {
    state.nodes.iter().filter(|node| node.protocol().spoke).count()
}

fn all_quiet(state: &State<Suppression>) -> bool {
    state.nodes.iter().all(|node| node.protocol().suppressed)
}

#[test]
fn no_order_of_events_suppresses_everybody() {
    for (n, states) in [(2, 112), (3, 3045)] {
        let mut most = 0;
        let answer = suppression(n).explore(|state| {
            assert!(!all_quiet(state), "nobody spoke in {state:?}");
            most = most.max(speakers(state));
        });
        assert_eq!(answer, Answer { states, complete: true });
        assert_eq!(most, n as usize, "words that cross suppress nobody, and that was explored");
    }
}

#[test]
fn words_that_outlive_their_round_can_suppress_everybody_and_the_explorer_finds_it() {
    let slow = Question { slowest: Duration::from_millis(35), ..suppression(2) };
    let mut found = false;
    let answer = slow.explore(|state| found |= all_quiet(state));
    assert!(answer.complete && found);
}

#[test]
fn with_the_date_in_the_state_no_exploration_ends() {
    let dated = Question { forget_the_date: false, states_max: 10_000, ..suppression(2) };
    assert_eq!(dated.explore(|_| ()), Answer { states: 10_000, complete: false });
}

#[test]
fn a_word_can_silence_another_at_the_very_instant_it_would_speak() {
    let params = Params { points: 1, ..params() };
    let together = Question { params, ..suppression(2) };
    let mut spoke_alone = false;
    let answer = together.explore(|state| {
        spoke_alone |= speakers(state) == 1 && state.nodes.iter().any(|n| n.protocol().suppressed);
    });
    assert!(answer.complete);
    assert!(spoke_alone, "both orders of one instant are explored");
}
