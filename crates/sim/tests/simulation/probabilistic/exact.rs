//! One round in a small group, compared with the probability of success computed without the
//! protocol: by a sum, or by enumerating everything that can happen.

use super::support::{Trial, assert_near, many};
use bellwether_protocols::probabilistic::{Choice, Config, WokenBy};

const RUNS: u64 = 6_000;

/// A single round with this K.
fn once(k: u32) -> Config {
    Config { k, max_rounds: 1, ..Config::default() }
}

fn binomial(n: u32, k: u32) -> f64 {
    (0..k).map(|i| f64::from(n - i) / f64::from(i + 1)).product()
}

/// Everyone sees everyone and prefers the same process. What may fail: that there is a relay, and
/// that every other process hears one. The initiator need not hear itself.
fn with_full_views(nodes: u32, k: u32, loss: f64) -> f64 {
    let pass = f64::from(k) / f64::from(nodes);
    let hears = pass * (1.0 - loss);
    let others = |m: u32| {
        let ways = binomial(nodes - 1, m);
        ways * hears.powi(m as i32) * (1.0 - hears).powi((nodes - 1 - m) as i32)
    };
    let told = |m: u32| match m {
        0 => 0.0,
        m => (1.0 - loss.powi(m as i32)).powi((nodes - m) as i32),
    };
    (0..nodes).map(|m| others(m) * (pass * told(m + 1) + (1.0 - pass) * told(m))).sum()
}

#[test]
fn with_full_views_success_is_that_somebody_tells_everybody() {
    for (nodes, k, loss) in [(8, 3, 0.3), (20, 4, 0.1), (5, 1, 0.0)] {
        // A preference would wake processes that missed the beginning, and then this sum does not
        // apply.
        let config = Config { woken_by: WokenBy::Initiation, ..once(k) };
        let trial = Trial { multicast_loss: loss, ..Trial::calm(nodes, config) };
        assert_near(many(&trial, RUNS).strong, with_full_views(nodes, k, loss), RUNS);
    }
}

/// Nothing is lost, but views are partial. Enumerates all sets of relays and all views.
fn with_weak_views(nodes: usize, k: f64, view: f64) -> f64 {
    let pass = k / nodes as f64;
    let pairs: Vec<(usize, usize)> = (0..nodes)
        .flat_map(|me| (0..nodes).map(move |other| (me, other)))
        .filter(|(me, other)| me != other)
        .collect();
    let mut success = 0.0;
    for seen in 0u32..1 << pairs.len() {
        let count = seen.count_ones() as i32;
        let likely = view.powi(count) * (1.0 - view).powi(pairs.len() as i32 - count);
        let sees = |me, other| {
            let place = pairs.iter().position(|pair| *pair == (me, other));
            place.is_some_and(|place| seen >> place & 1 == 1)
        };
        for relays in 1u32..1 << nodes {
            let m = relays.count_ones() as i32;
            if chosen(nodes, relays, &sees).len() == 1 {
                success += likely * pass.powi(m) * (1.0 - pass).powi(nodes as i32 - m);
            }
        }
    }
    success
}

/// The choices of the components of the relay graph.
fn chosen(nodes: usize, relays: u32, sees: &impl Fn(usize, usize) -> bool) -> Vec<usize> {
    let relays: Vec<usize> = (0..nodes).filter(|id| relays >> id & 1 == 1).collect();
    let best = |me: &usize| (0..*me).find(|other| sees(*me, *other)).unwrap_or(*me);
    let mut choices: Vec<usize> = relays.iter().map(best).collect();
    for _ in &relays {
        for (i, one) in relays.iter().enumerate() {
            for (j, other) in relays.iter().enumerate() {
                if sees(*one, *other) || sees(*other, *one) {
                    choices[i] = choices[i].min(choices[j]);
                }
            }
        }
    }
    choices.sort_unstable();
    choices.dedup();
    choices
}

#[test]
fn with_weak_views_success_is_that_all_components_choose_the_same() {
    for (k, view) in [(2, 0.5), (3, 0.3), (4, 0.2)] {
        let trial = Trial { view, ..Trial::calm(4, once(k)) };
        assert_near(many(&trial, RUNS).strong, with_weak_views(4, f64::from(k), view), RUNS);
    }
}

/// Two relays, of which the better one begins: its message arrives, or the other's does and is
/// answered.
#[test]
fn two_relays_agree_unless_three_words_go_astray() {
    for loss in [0.1f64, 0.3, 0.6] {
        let config = Config { choice: Choice::Rank, ..once(2) };
        let trial = Trial { unicast_loss: loss, ..Trial::calm(2, config) };
        let arrives = 1.0 - loss;
        let expected = 1.0 - loss * (1.0 - arrives * arrives);
        assert_near(many(&trial, RUNS).strong, expected, RUNS);
    }
}

#[test]
fn an_initiator_of_a_calm_group_never_decides_too_soon() {
    // As printed it would: the time-outs allow for one multicast, and two are needed before the
    // others' final messages are back.
    for nodes in [2, 3, 7, 30] {
        let means = many(&Trial::calm(nodes, Config { k: nodes, ..Config::default() }), 50);
        assert_eq!((means.strong, means.rounds), (1.0, 1.0), "{nodes}");
    }
}
