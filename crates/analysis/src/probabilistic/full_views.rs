//! Success where everyone sees everyone, exactly.
//!
//! All relays prefer the same one, so nothing depends on unicasts. A round succeeds if a relay
//! lasts, everybody else fails or hears at least one that does, and the leader lives. With h the
//! probability to be a relay (K/N for the initiator, (1−p_mcastl)K/N for others), s relays that
//! last and t = 1 − p_mcastl^s, each member is
//!
//! * a relay that lasts, with h(1−p_fail);
//! * no such relay and no harm, with p_fail + (1−h)(1−p_fail)t; the leader must not fail, and is no
//!   harm with (1−h)(1−p_fail)t.
//!
//! The sum over s of the products of these. A process that fails does so before its final message,
//! as in all of the section, and the initiator after its first. The leader is anybody as far as
//! initiating goes, and one round is all there is.
//!
//! The text has no such form; printed is its bound, the product.

use super::round::Round;
use super::spread::Spread;
use super::{CHANCE, round_of, success};
use crate::inputs::{OutOfDomain, ValidInputs};
use crate::point::Point;
use crate::quantity::Quantity;
use bellwether_sim::Measure;
use libm::{exp, log, pow};

/// The text's bound for such views.
pub fn printed(inputs: &ValidInputs) -> Result<f64, OutOfDomain> {
    let seeing = inputs.with(|given| (given.view, given.unicast_loss) = (1.0, 0.0))?;
    success::printed(&seeing)
}

/// Exactly.
pub fn corrected(inputs: &ValidInputs) -> Result<f64, OutOfDomain> {
    let round = Round::of(inputs);
    let other = Member::new(round.pass * round.hears, inputs);
    let initiator = Member::new(round.pass, inputs);
    let (apart, same) = ([initiator, other.leading()], [initiator.leading(), Member::NOBODY]);
    let leads = 1.0 / f64::from(inputs.nodes);
    let mut sum = 0.0;
    if inputs.nodes > 1 {
        sum += (1.0 - leads) * succeed(round.others() - 1, other, apart, inputs.multicast_loss);
    }
    sum += leads * succeed(round.others(), other, same, inputs.multicast_loss);
    Ok(sum.min(1.0))
}

/// One member, as far as success goes.
#[derive(Clone, Copy)]
struct Member {
    /// How probable it is that it is a relay that lasts.
    relay: f64,
    /// That it fails and that does no harm.
    fails: f64,
    /// That it lasts, is no relay, and so has to hear one.
    listens: f64,
}

impl Member {
    /// Nobody: no harm in any case.
    const NOBODY: Self = Self { relay: 0.0, fails: 1.0, listens: 0.0 };

    fn new(relay: f64, inputs: &ValidInputs) -> Self {
        let lasts = 1.0 - inputs.fail;
        Self { relay: relay * lasts, fails: inputs.fail, listens: (1.0 - relay) * lasts }
    }

    /// The leader: it must not fail.
    fn leading(self) -> Self {
        Self { fails: 0.0, ..self }
    }

    /// That it is no relay and no harm, if each other hears a relay with this probability.
    fn harmless(self, told: f64) -> f64 {
        self.fails + self.listens * told
    }
}

/// So many alike and two more: that at least one is a relay and the others are no harm.
fn succeed(alike: u64, other: Member, two: [Member; 2], loss: f64) -> f64 {
    let relays = Spread::binomial(alike, other.relay);
    let told = |relays: u64| 1.0 - pow(loss, relays as f64);
    let [one, two] = two;
    relays.mean_of(|relays| {
        let rest = (alike - relays) as f64;
        // The others, none of whom is a relay that lasts: each given that it is not.
        let others = |told: f64| match rest == 0.0 {
            true => 1.0,
            false => exp(rest * log(other.harmless(told) / (1.0 - other.relay))),
        };
        let with = |more: u64, chance: &dyn Fn(f64) -> f64| match relays + more {
            0 => 0.0,
            relays => chance(told(relays)) * others(told(relays)),
        };
        with(0, &|told| one.harmless(told) * two.harmless(told))
            + with(1, &|told| one.relay * two.harmless(told) + one.harmless(told) * two.relay)
            + with(2, &|_| one.relay * two.relay)
    })
}

/// The quantities of this file.
pub(super) const QUANTITIES: &[&Quantity] = &[&Quantity {
    name: "probabilistic.success.full-views",
    section: "Gupta 4: p^Success",
    about: "that a round succeeds if everyone sees everyone",
    reads: &["nodes", "k", "fail", "mcast-loss"],
    printed,
    corrected,
    note: |_| "printed: the product of the bounds; corrected: somebody is a relay and all hear one",
    simulation: |inputs| Some((Point { view: 1.0, ..round_of(inputs) }, Measure::StrongSuccess)),
    ..CHANCE
}];

#[cfg(test)]
mod tests {
    use super::super::testing::{assert_near, calm, inputs};
    use super::*;

    /// Goes through who passes, who hears the initiation, who fails and who hears whose final
    /// message, for three members, the last one leading and any one initiating.
    fn walked(k: u32, fail: f64, loss: f64) -> f64 {
        const N: usize = 3;
        let pass = (f64::from(k) / N as f64).min(1.0);
        let coin = |bits: u32, place: usize, chance: f64| {
            let up = bits >> place & 1 == 1;
            (up, if up { chance } else { 1.0 - chance })
        };
        let mut sum = 0.0;
        for initiator in 0..N {
            for bits in 0u32..1 << (3 * N + N * N) {
                let mut likely = 1.0 / N as f64;
                let mut flip = |place: usize, chance: f64| {
                    let (up, with) = coin(bits, place, chance);
                    likely *= with;
                    up
                };
                let passes: Vec<bool> = (0..N).map(|i| flip(i, pass)).collect();
                let told: Vec<bool> =
                    (0..N).map(|i| flip(N + i, 1.0 - loss) || i == initiator).collect();
                let lives: Vec<bool> = (0..N).map(|i| flip(2 * N + i, 1.0 - fail)).collect();
                let arrives: Vec<bool> = (0..N * N).map(|i| flip(3 * N + i, 1.0 - loss)).collect();
                let speaks = |i: usize| passes[i] && told[i] && lives[i];
                let knows = |i: usize| (0..N).any(|j| speaks(j) && (i == j || arrives[j * N + i]));
                if lives[N - 1] && (0..N).all(|i| !lives[i] || knows(i)) {
                    sum += likely;
                }
            }
        }
        sum
    }

    #[test]
    fn it_is_what_going_through_everything_gives() {
        for (k, fail, loss) in [(1, 0.0, 0.0), (1, 0.2, 0.3), (2, 0.5, 0.1), (3, 0.1, 0.6)] {
            let at = inputs(3, |given| {
                (given.k, given.fail, given.multicast_loss) = (k, fail, loss);
            });
            assert_near(corrected(&at).unwrap(), walked(k, fail, loss), 1e-11);
        }
    }

    /// The sum that the simulator's own tests use.
    #[test]
    fn without_failures_it_is_a_plain_sum() {
        for (nodes, k, loss) in [(8u32, 3u32, 0.3f64), (20, 4, 0.1), (5, 1, 0.0), (1, 1, 0.5)] {
            let pass = f64::from(k) / f64::from(nodes);
            let hears = pass * (1.0 - loss);
            let others = |m: u32| {
                super::super::testing::chosen(u64::from(nodes - 1), u64::from(m))
                    * hears.powi(m as i32)
                    * (1.0 - hears).powi((nodes - 1 - m) as i32)
            };
            let told = |m: u32| match m {
                0 => 0.0,
                m => (1.0 - loss.powi(m as i32)).powi((nodes - m) as i32),
            };
            let sum: f64 =
                (0..nodes).map(|m| others(m) * (pass * told(m + 1) + (1.0 - pass) * told(m))).sum();
            let at = inputs(nodes, |given| {
                (given.k, given.fail, given.multicast_loss) = (k, 0.0, loss);
            });
            assert_near(corrected(&at).unwrap(), sum, 1e-11);
        }
    }

    #[test]
    fn it_grows_with_k_up_to_what_failures_allow() {
        let of = |k| {
            let at = inputs(1_000_000, |given| {
                (given.k, given.fail, given.multicast_loss) = (k, 0.01, 0.1);
            });
            corrected(&at).unwrap()
        };
        let curve: Vec<f64> = [1, 5, 10, 20, 40, 1000].map(of).to_vec();
        assert!(curve.windows(2).all(|pair| pair[0] < pair[1] + 1e-12), "{curve:?}");
        assert_near(*curve.last().unwrap(), 0.99, 1e-9);
        assert_near(corrected(&calm(100, 100, 1.0)).unwrap(), 1.0, 1e-12);
        assert_near(corrected(&calm(100, 1, 1.0)).unwrap(), 1.0 - 0.99f64.powi(100), 1e-12);
    }
}
