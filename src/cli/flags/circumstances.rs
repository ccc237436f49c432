//! The group and the network of a formula: the flags that `analyze` and `plan` share. They have the
//! names and the meaning that they have in `sim`, which has more of them.

use crate::cli::failure::Failure;
use crate::cli::flags::channel;
use crate::cli::flags::group::{self, name};
use bellwether::analysis::Loss;
use bellwether::core::Duration;
use bellwether::sim::network::Probability;
use clap::{Args, ValueEnum};

#[derive(Args, Debug)]
pub(in crate::cli) struct Circumstances {
    /// How many processes there are
    #[arg(long, short, value_name = "N", default_value = "100")]
    #[arg(value_parser = group::nodes)]
    pub(in crate::cli) nodes: u32,
    /// How often a message is lost [default: 0]
    #[arg(long, value_name = "P", help_heading = "Network")]
    loss: Option<Probability>,
    /// Who loses it: all receivers together, or each for itself [default: each for itself]
    #[arg(long, value_enum, help_heading = "Network")]
    loss_model: Option<LossModel>,
    /// How long a message takes
    #[arg(long, value_name = "D", default_value = "0.1s")]
    #[arg(help_heading = "Network")]
    pub(in crate::cli) delay: Duration,
}

#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
enum LossModel {
    /// Nothing is lost
    None,
    /// All receivers lose it, or none
    Correlated,
    /// Each receiver for itself
    Uncorrelated,
}

impl Circumstances {
    /// What is lost.
    pub(in crate::cli) fn loss(&self) -> Result<Loss, Failure> {
        let rate = self.loss.map_or(0.0, Probability::value);
        let lossless = if rate == 0.0 { LossModel::None } else { LossModel::Uncorrelated };
        channel::check_loss_model(
            self.loss,
            self.loss_model.filter(|model| *model != LossModel::None),
        )?;
        Ok(match self.loss_model.unwrap_or(lossless) {
            LossModel::None if rate > 0.0 => {
                let model = name(LossModel::None).unwrap_or_default();
                return Err(Failure::usage(format!(
                    "--loss {rate} with --loss-model {model}: choose one of them"
                )));
            }
            LossModel::None => Loss::None,
            LossModel::Correlated => Loss::Correlated(rate),
            LossModel::Uncorrelated => Loss::Uncorrelated(rate),
        })
    }
}

/// A length of time as formulas take it.
pub(in crate::cli) fn seconds(length: Duration) -> f64 {
    if length == Duration::MAX { f64::INFINITY } else { length.as_secs_f64() }
}
