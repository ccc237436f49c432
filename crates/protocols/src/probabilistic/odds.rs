//! The probability of success: the lower bound of section 4 for one round.
//!
//! **Source.** Section 4. With K1 = (1 − p_mcast) K and K2 = (1 − p_fail) K1 a round succeeds if
//! the number of relays is about as expected (E1), the surviving ones form one component (E2), they
//! choose the same leader (E3), everyone hears of it (E4), and it survives (E5).
//!
//! **Assumptions.** Those of the section: independent losses, long time-outs, a fair hash, N much
//! greater than K, and for E2 an approximation that exceeds the exact value for few relays.
//!
//! The bound is very low for small K: .27 for the first round of the defaults with views of half
//! the group and no losses, where .983 of simulated rounds succeed (`bellwether sim probabilistic
//! --max-rounds 1 --runs 2000`).

/// The properties of the network and the group.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Conditions {
    /// How many members there are.
    pub nodes: f64,
    /// The probability that one member has another in its view.
    pub view: f64,
    /// The loss of unicasts.
    pub unicast_loss: f64,
    /// The loss of multicasts, per receiver.
    pub multicast_loss: f64,
    /// The probability that a process fails within a round.
    pub fail: f64,
}

/// Lower bounds for one round.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Odds {
    /// E1: the number of relays is about as expected.
    pub relays: f64,
    /// E2: they form one component.
    pub connected: f64,
    /// E3: they choose the same leader.
    pub same: f64,
    /// E4: every live process hears of it.
    pub heard: f64,
    /// E5: the leader survives.
    pub lives: f64,
}

impl Odds {
    /// The bounds for a round with K relays on average.
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

    /// The bound for all conditions together.
    pub fn success(&self) -> f64 {
        self.relays * self.connected * self.same * self.heard * self.lives
    }
}
