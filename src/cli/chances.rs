//! What formulas about the probabilistic election depend on. The flags are called and read as those
//! of `sim`, which has more of them.

use bellwether::analysis::Inputs;
use bellwether::sim::network::Probability;
use clap::Args;
use serde_json::{Value, json};

#[derive(Args, Debug)]
#[command(next_help_heading = "Probabilistic")]
pub(super) struct Chances {
    /// K of a round: about how many processes agree on behalf of all
    #[arg(long, value_name = "K", default_value = "7", allow_negative_numbers = true)]
    k: u32,
    /// How probable it is that a process sees another
    #[arg(long, value_name = "P", default_value = "0.5", allow_negative_numbers = true)]
    view: Probability,
    /// How often a process crashes in a round
    #[arg(long, value_name = "P", default_value = "0.001", allow_negative_numbers = true)]
    fail: Probability,
    /// How often a message to one process is lost
    #[arg(long, value_name = "P", default_value = "0.001", allow_negative_numbers = true)]
    ucast_loss: Probability,
    /// How often a receiver misses a message to everyone
    #[arg(long, value_name = "P", default_value = "0.001", allow_negative_numbers = true)]
    mcast_loss: Probability,
}

impl Chances {
    /// Enters them into what a formula is asked about.
    pub(super) fn enter(&self, given: &mut Inputs) {
        let Self { k, view, fail, ucast_loss, mcast_loss } = self;
        (given.k, given.view, given.fail) = (*k, view.value(), fail.value());
        (given.unicast_loss, given.multicast_loss) = (ucast_loss.value(), mcast_loss.value());
    }

    /// What was said, under the names of the flags.
    pub(super) fn shown(&self) -> [(&'static str, Option<Value>); 5] {
        let Self { k, view, fail, ucast_loss, mcast_loss } = self;
        [
            ("k", Some(json!(k))),
            ("view", Some(json!(view.value()))),
            ("fail", Some(json!(fail.value()))),
            ("ucast-loss", Some(json!(ucast_loss.value()))),
            ("mcast-loss", Some(json!(mcast_loss.value()))),
        ]
    }
}
