//! Leadership by leases: its constraints, how long elections take, what they cost, and how often a
//! leader is lost.
//!
//! **Source.** Christof Fetzer and Flaviu Cristian, "A highly available local leader election
//! service", IEEE Transactions on Software Engineering 25(5), 1999, sections IV, VIII to XI, each
//! formula as printed and as corrected in our reading. The bound of a fail-aware datagram is
//! derived anew, since the paper refers to another for it. *Corrected* is the protocol that we run,
//! with several requests in a lease (C6); *printed* is that of figures 30 and 31.
//!
//! **Assumptions.** Each message takes Δ' = [`delay`](crate::Inputs::delay), losses are without
//! memory, and processes react at once, as they do in a simulation: σ is room that is not used.
//! Bounds hold for processes that react within σ.
//!
//! **Promise.** The constraints and bounds are those that the protocol itself checks
//! ([`Params::constraints`], [`Params::kappa_timeliness`]): nothing is computed twice. A bound says
//! that it is one. Whatever needs messages that are certain to be fast says so if they are not.
//!
//! | paper | code | unit | meaning |
//! |---|---|---|---|
//! | N | [`nodes`](crate::Inputs::nodes) | | all processes |
//! | δ | [`delay`](crate::Inputs::delay) | s | how long a message takes |
//! | Δ | [`delta`](Leases::delta) | s | a message that may have taken longer is slow |
//! | δmin | [`fastest`](Leases::fastest) | s | no message is faster |
//! | σ | [`sigma`](Leases::sigma) | s | a process reacts within this |
//! | ρ | [`drift_ppm`](Leases::drift_ppm) | 10⁻⁶ | how wrong the rate of a clock may be |
//! | ε | [`CLOCK_ERROR`](bellwether_protocols::local_leader::CLOCK_ERROR) | s | ours: how much a clock may gain or lose beyond ρ |
//! | EP | [`period`](Leases::period) | s | a candidate that failed asks again after this |
//! | lockTime | [`lock`](Leases::lock) | s | a supporter supports nobody else for this long |
//! | expires | [`expires`](Leases::expires) | s | a process silent for so long is not alive |
//! | – | [`renew`](Leases::renew) | s | P, ours: a leader asks this often |
//! | κ of (T) | [`kappa`] | s | in a stable partition there is a leader within this |
//! | κ of (BI) | [`kappa`] | s | whoever is connected to a leader for so long supports it |
//! | lockTime(1−2ρ) | [`constraints`] | s | a lease, from the sending of its request |

pub mod constraints;
pub mod datagram;
pub mod election;
pub mod failover;
pub mod kappa;
mod leases;
pub mod losses;
pub mod messages;
pub mod presence;
#[cfg(test)]
mod testing;

pub use leases::Leases;

use crate::inputs::{OutOfDomain, ValidInputs};
use crate::plan::lease::Renewal;
use crate::point::{Point, duration};
use crate::quantity::{Quantity, Unit};
use bellwether_protocols::choice::Config;
use bellwether_protocols::local_leader::{self, Mode, NODES_MAX, Params};

/// All quantities, one list per file.
pub const QUANTITIES: &[&[&Quantity]] = &[
    kappa::QUANTITIES,
    constraints::QUANTITIES,
    constraints::LEFT_SIDES,
    datagram::QUANTITIES,
    messages::QUANTITIES,
    election::QUANTITIES,
    failover::QUANTITIES,
    losses::QUANTITIES,
    presence::QUANTITIES,
];

/// The parameters that the time constants are made of.
macro_rules! times {
    ($($more:literal),*) => {
        &[$($more,)* "preset", "delta", "sigma", "renew", "lock", "period", "expires", "fastest",
          "refresh", "drift-ppm"]
    };
}
use times;

/// A length of time; to be completed.
const TIME: Quantity = Quantity {
    name: "",
    section: "",
    about: "",
    unit: Unit::Seconds,
    reads: times!(),
    printed: |_| Err(OutOfDomain::NoValue("the text has no formula")),
    corrected: |_| Err(OutOfDomain::NoValue("there is no formula")),
    note: |_| "",
    exact: |_| true,
    is_percentile: false,
    simulation: |_| None,
};

/// How many processes there are, if a group can have so many: at least two, so that somebody
/// answers.
fn group(inputs: &ValidInputs) -> Result<u32, OutOfDomain> {
    inputs.needs_nodes(2, u32::try_from(NODES_MAX).unwrap_or(u32::MAX))?;
    Ok(inputs.nodes)
}

/// Checks that messages are certain to be fast, or nobody is elected.
fn is_timely(inputs: &ValidInputs, params: &Params) -> Result<(), OutOfDomain> {
    if duration(inputs.delay) <= params.timely(params.refresh() + params.period()) {
        return Ok(());
    }
    Err(OutOfDomain::Condition {
        rule: "no message is certain to be fast that takes so long, and nobody answers a slow one",
        way_out: "lower `delay`, such as to 1ms, or raise `delta`",
    })
}

/// Checks that nothing is lost.
fn is_calm(inputs: &ValidInputs) -> Result<(), OutOfDomain> {
    if inputs.loss.rate() > 0.0 {
        return Err(OutOfDomain::Condition {
            rule: "loss > 0, but this is how long it takes if nothing is lost",
            way_out: "leave `loss` out",
        });
    }
    Ok(())
}

/// How leases are renewed in these circumstances, by the corrected protocol.
fn renewal(inputs: &ValidInputs) -> Result<Renewal, OutOfDomain> {
    let nodes = group(inputs)?;
    let params = inputs.leases.corrected()?;
    is_timely(inputs, &params)?;
    Ok(Renewal::of(&params, nodes, inputs.loss, duration(inputs.delay)))
}

/// The simulation of what formulas are asked about, of the protocol as printed or as corrected.
pub(crate) fn point_of(inputs: &ValidInputs, as_published: bool) -> Point {
    let config = inputs.leases.config(as_published);
    let usual = Config::LocalLeader(local_leader::Config::default());
    let plain = Point::new("local-leader", inputs.nodes).loss(inputs.loss);
    let point = Point { delay: duration(inputs.delay), ..plain };
    let arguments = Config::LocalLeader(config).arguments(&usual);
    arguments.into_iter().fold(point, |point, (name, text)| point.with(name, text))
}

/// Whether leaders need the support of all whom they can reach, and not of a majority.
fn is_local(inputs: &ValidInputs) -> bool {
    inputs.leases.mode == Mode::Local
}
