//! The group and the network of a formula: flags of `sim`, which has more, for `analyze` and
//! `plan`.

use crate::cli::failure::Failure;
use crate::cli::flags::common::{Delaying, Losing, Nodes};
use crate::cli::flags::some_of;
use bellwether::analysis::Loss;
use bellwether::core::Duration;
use bellwether::sim::network::LossModel;
use clap::Args;

/// The models of loss that formulas are about.
const OF_FORMULAS: &[LossModel] =
    &[LossModel::None, LossModel::Correlated, LossModel::Uncorrelated];

#[derive(Args, Debug)]
#[command(mut_arg("nodes", |flag| flag.default_value("100")))]
#[command(mut_arg("loss_model", |flag| flag.value_parser(some_of(OF_FORMULAS))))]
#[command(mut_arg("delay", |flag| flag.default_value("0.1s")))]
pub(in crate::cli) struct Circumstances {
    #[command(flatten)]
    nodes: Nodes,
    #[command(flatten)]
    losing: Losing,
    #[command(flatten)]
    delay: Delaying,
}

impl Circumstances {
    /// How many processes there are.
    pub(in crate::cli) fn nodes(&self) -> u32 {
        self.nodes.nodes.unwrap_or_default()
    }

    /// How long a message takes.
    pub(in crate::cli) fn delay(&self) -> Duration {
        self.delay.delay.unwrap_or_default()
    }

    /// What is lost.
    pub(in crate::cli) fn loss(&self) -> Result<Loss, Failure> {
        self.losing.check()?;
        let rate = self.losing.rate().value();
        let loss = Loss::of(self.losing.model(), rate);
        loss.ok_or_else(|| Failure::usage("--loss-model bursts: no formula is about it"))
    }
}

/// A length of time as formulas take it.
pub(in crate::cli) fn seconds(length: Duration) -> f64 {
    if length == Duration::MAX { f64::INFINITY } else { length.as_secs_f64() }
}
