//! The network's flags, the same for every protocol.

use crate::cli::failure::Failure;
use crate::cli::flags::group::{finite, name, number};
use bellwether::core::Duration;
use bellwether::sim::network::{Bursts, Delay, Loss, Network, Probability};
use clap::{Args, ValueEnum};
use serde_json::{Map, Value, json};

#[derive(Args, Debug)]
#[command(next_help_heading = "Network")]
pub(in crate::cli) struct Channel {
    /// How often a message is lost [default: 0]
    #[arg(long, value_name = "P")]
    loss: Option<Probability>,
    /// Who loses it: all receivers together, or each for itself [default: each for itself]
    #[arg(long, value_enum)]
    loss_model: Option<LossModel>,
    /// With --loss-model bursts: the mean number of messages lost in a row
    #[arg(long, value_name = "X", default_value_t = BURST, value_parser = number)]
    burst: f64,
    /// How long a message takes, on average [default: 0.1s; local-leader: 1ms;
    /// ad-hoc: 10ms]
    #[arg(long, value_name = "D")]
    delay: Option<Duration>,
    /// The distribution of the delay
    #[arg(long, value_enum, default_value_t)]
    delay_model: DelayModel,
    /// How often a message arrives twice
    #[arg(long, value_name = "P", default_value = "0")]
    duplicate: Probability,
    /// How often a message is held up, so that later ones overtake it
    #[arg(long, value_name = "P", default_value = "0")]
    reorder: Probability,
    /// By how much a second copy or a held-up message is late, at most
    #[arg(long, value_name = "D", default_value = "0.1s")]
    straggle: Duration,
}

/// How long a burst is by default, in messages.
const BURST: f64 = 4.0;

/// Refuses a model of loss where no loss is given.
pub(in crate::cli) fn check_loss_model(
    loss: Option<Probability>,
    model: Option<impl ValueEnum>,
) -> Result<(), Failure> {
    match model.and_then(name) {
        Some(model) if loss.is_none() => Err(Failure::usage(format!(
            "--loss-model {model} has no effect without loss; add --loss, or leave --loss-model out"
        ))),
        _ => Ok(()),
    }
}

#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
enum LossModel {
    /// Nothing is lost
    None,
    /// All receivers lose it, or none
    Correlated,
    /// Each receiver for itself
    Uncorrelated,
    /// Each receiver for itself, in bursts
    Bursts,
}

#[derive(ValueEnum, Clone, Copy, Debug, Default, PartialEq, Eq)]
enum DelayModel {
    /// Always the same
    #[default]
    Constant,
    /// Anything from nothing to twice the mean
    Uniform,
    /// Exponential, without memory
    Exponential,
    /// A long tail
    LogNormal,
}

impl Channel {
    /// The network, with this delay unless another was asked for.
    pub(in crate::cli) fn network(&self, delay: Duration) -> Result<Network, Failure> {
        let Self { duplicate, reorder, straggle, .. } = *self;
        for (flag, length) in [("delay", self.delay(delay)), ("straggle", straggle)] {
            if length == Duration::MAX {
                return Err(Failure::usage(format!(
                    "--{flag} infinite: nothing would ever arrive"
                )));
            }
        }
        let plain = Network::uniform(self.distribution(self.delay(delay)), self.loss()?);
        Ok(Network { duplicate, reorder, straggle, ..plain })
    }

    /// Whether some messages arrive twice.
    pub(in crate::cli) fn duplicates(&self) -> bool {
        self.duplicate != Probability::ZERO
    }

    /// The mean delay.
    pub(in crate::cli) fn delay(&self, default: Duration) -> Duration {
        self.delay.unwrap_or(default)
    }

    /// What differs between experiments, for people to read.
    pub(in crate::cli) fn conditions(&self, delay: Duration) -> String {
        let mut text = format!(", delay {}", self.delay(delay));
        let loss = self.chance().value();
        if loss > 0.0 {
            text += &format!(", loss {loss} {}", name(self.loss_model()).unwrap_or_default());
        }
        text
    }

    /// All of it, for programs: enough to ask the same again, under the names of the flags.
    pub(in crate::cli) fn to_json(&self, delay: Duration) -> Map<String, Value> {
        let mut map = Map::new();
        let mut put = |key: &str, value: Value| map.insert(key.to_owned(), value);
        put("loss", json!(self.chance().value()));
        put("loss_model", json!(name(self.loss_model())));
        put("burst", json!(self.burst));
        put("delay", json!(finite(self.delay(delay))));
        put("delay_model", json!(name(self.delay_model)));
        put("duplicate", json!(self.duplicate.value()));
        put("reorder", json!(self.reorder.value()));
        put("straggle", json!(finite(self.straggle)));
        map
    }

    fn chance(&self) -> Probability {
        self.loss.unwrap_or(Probability::ZERO)
    }

    fn loss_model(&self) -> LossModel {
        let lossless = self.chance() == Probability::ZERO;
        self.loss_model.unwrap_or(if lossless { LossModel::None } else { LossModel::Uncorrelated })
    }

    pub(in crate::cli) fn loss(&self) -> Result<Loss, Failure> {
        let loss = self.chance();
        let model = self.loss_model.filter(|model| *model != LossModel::None);
        check_loss_model(self.loss, model)?;
        if self.burst != BURST && self.loss_model() != LossModel::Bursts {
            return Err(Failure::usage(format!(
                "--burst {} has no effect without --loss-model bursts; add that, or leave --burst \
                 out",
                self.burst
            )));
        }
        Ok(match self.loss_model() {
            LossModel::None if loss == Probability::ZERO => Loss::None,
            LossModel::None => {
                let value = loss.value();
                return Err(Failure::usage(format!(
                    "--loss {value} with --loss-model none: choose one of them"
                )));
            }
            LossModel::Correlated => Loss::Correlated(loss),
            LossModel::Uncorrelated => Loss::Uncorrelated(loss),
            LossModel::Bursts => Loss::Bursts(self.bursts()?),
        })
    }

    /// A channel that loses everything while it is bad, with the loss and burst length asked for.
    fn bursts(&self) -> Result<Bursts, Failure> {
        let (loss, length) = (self.chance().value(), self.burst);
        let worsen = loss / ((1.0 - loss) * length);
        if !(length >= 1.0 && length.is_finite() && worsen <= 1.0) {
            return Err(Failure::usage(format!(
                "--burst {length} with --loss {loss}: bursts last at least 1 message and at least \
                 loss/(1-loss) messages; choose longer bursts or less loss"
            )));
        }
        let certain = |value: f64| Probability::try_from(value).map_err(Failure::usage);
        Ok(Bursts {
            worsen: certain(worsen)?,
            recover: certain(1.0 / length)?,
            good: Probability::ZERO,
            bad: certain(1.0)?,
        })
    }

    fn distribution(&self, mean: Duration) -> Delay {
        match self.delay_model {
            DelayModel::Constant => Delay::Constant(mean),
            DelayModel::Uniform => Delay::Uniform { min: Duration::ZERO, max: mean * 2 },
            DelayModel::Exponential => Delay::Exponential { min: Duration::ZERO, mean },
            DelayModel::LogNormal => Delay::log_normal(mean, 1.0),
        }
    }
}
