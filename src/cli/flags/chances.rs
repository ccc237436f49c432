//! The inputs of formulas about the probabilistic election. The flags have the names and meanings
//! that they have in `sim`, which has more of them.

use crate::cli::commands::analyze::read_by_formulas;
use crate::cli::flags::{Offers, Parameters};
use bellwether::analysis::Inputs;
use bellwether::protocols::choice::Config;
use bellwether::sim::network::Probability;
use clap::Args;
use serde_json::{Value, json};

#[derive(Args, Debug)]
#[command(next_help_heading = "Probabilistic")]
pub(in crate::cli) struct Chances {
    #[command(flatten)]
    k: Parameters<K>,
    /// How probable it is that a process sees another
    #[arg(long, value_name = "P", default_value = "0.5")]
    view: Probability,
    /// How often a process crashes in a round
    #[arg(long, value_name = "P", default_value = "0.001")]
    fail: Probability,
    /// How often a message to one process is lost
    #[arg(long, value_name = "P", default_value = "0.001")]
    ucast_loss: Probability,
    /// How often a receiver misses a message to everyone
    #[arg(long, value_name = "P", default_value = "0.001")]
    mcast_loss: Probability,
}

/// The parameter of probabilistic that formulas read.
#[derive(Debug)]
struct K;

impl Offers for K {
    const ONLY: &'static [&'static str] = &["k"];
}

impl Chances {
    fn k(&self) -> u32 {
        match read_by_formulas("probabilistic", &self.k) {
            Ok(Config::Probabilistic(config)) => config.k,
            _ => 0, // which no formula takes
        }
    }

    /// Enters them into the inputs of a formula.
    pub(in crate::cli) fn enter(&self, given: &mut Inputs) {
        let Self { view, fail, ucast_loss, mcast_loss, .. } = self;
        (given.k, given.view, given.fail) = (self.k(), view.value(), fail.value());
        (given.unicast_loss, given.multicast_loss) = (ucast_loss.value(), mcast_loss.value());
    }

    /// What was said, under the names of the flags.
    pub(in crate::cli) fn shown(&self) -> [(&'static str, Option<Value>); 5] {
        let Self { view, fail, ucast_loss, mcast_loss, .. } = self;
        [
            ("k", Some(json!(self.k()))),
            ("view", Some(json!(view.value()))),
            ("fail", Some(json!(fail.value()))),
            ("ucast-loss", Some(json!(ucast_loss.value()))),
            ("mcast-loss", Some(json!(mcast_loss.value()))),
        ]
    }
}
