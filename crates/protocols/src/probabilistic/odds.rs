//! How probable *probably* is: the lower bound of section 4 for one round.
//!
//! **Source.** Section 4. With K1 = (1 − p_mcast) K and K2 = (1 − p_fail) K1 a round succeeds if
//! there are about as many relays as there should be (E1), those that last form one component (E2),
//! they choose the same leader (E3), everyone hears of it (E4), and it lives (E5).
//!
//! **Assumptions.** Those of the section: independent losses, long time-outs, a fair hash, N much
//! greater than K, and for E2 an approximation that exceeds the exact value for few relays.
//!
//! It is a very low bound for small K: .27 for the first round of the defaults with views of half
//! the group and nothing lost, where .983 of simulated rounds succeed
//! (`bellwether sim probabilistic --max-rounds 1 --runs 2000`).

/// What the network and the group are like.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Conditions {
    /// How many members there are.
    pub nodes: f64,
    /// How probable it is that one member has another in its view.
    pub view: f64,
    /// How often a unicast is lost.
    pub unicast_loss: f64,
    /// How often a receiver misses a multicast.
    pub multicast_loss: f64,
    /// How often a process fails within a round.
    pub fail: f64,
}

/// Lower bounds for one round.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Odds {
    /// About as many relays as there should be.
    pub relays: f64,
    /// They form one component.
    pub connected: f64,
    /// They choose the same leader.
    pub same: f64,
    /// Everyone who lives hears of it.
    pub heard: f64,
    /// The leader lives.
    pub lives: f64,
}

impl Odds {
    /// For a round with K relays on average.
    pub fn of(relays: f64, conditions: &Conditions) -> Self {
        let Conditions { nodes, view, unicast_loss, multicast_loss, fail } = *conditions;
        let begin = (1.0 - multicast_loss) * relays;
        let last = (1.0 - fail) * begin;
        let (fewest, most) = (last / 2.0, last * 1.5);
        let astray = |mean: f64| {
            2.0 * libm::sqrt(2.0 / (core::f64::consts::PI * mean)) * libm::exp(-mean / 8.0)
        };
        let hears = 1.0 - libm::pow(multicast_loss, fewest);
        Self {
            relays: (1.0 - astray(begin) - astray(last)).clamp(0.0, 1.0),
            connected: libm::exp(-fewest * libm::pow(1.0 - view, fewest - 1.0)),
            same: (1.0 - fail) * libm::pow(1.0 - unicast_loss, (most - 1.0).max(0.0)),
            heard: libm::pow(fail + (1.0 - fail) * hears, nodes),
            lives: 1.0 - fail,
        }
    }

    /// All of it together.
    pub fn success(&self) -> f64 {
        self.relays * self.connected * self.same * self.heard * self.lives
    }
}
