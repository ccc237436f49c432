//! The network's flags, the same for every protocol.

use crate::cli::failure::Failure;
use crate::cli::flags::common::{Delaying, Losing, Spreading};
use crate::cli::flags::group::{finite, number};
use bellwether::core::Duration;
use bellwether::sim::network::{Bursts, Loss, LossModel, Network, Probability};
use clap::Args;
use serde_json::{Map, Value, json};

#[derive(Args, Debug)]
#[command(next_help_heading = "Network")]
pub(in crate::cli) struct Channel {
    #[command(flatten)]
    losing: Losing,
    /// With --loss-model bursts: the mean number of messages lost in a row
    #[arg(long, value_name = "X", default_value_t = BURST, value_parser = number)]
    burst: f64,
    #[command(flatten)]
    delay: Delaying,
    #[command(flatten)]
    spread: Spreading,
    /// How often a message arrives twice
    #[arg(long, value_name = "P", default_value = "0")]
    duplicate: Probability,
    /// How often a message is held up, so that later ones overtake it
    #[arg(long, value_name = "P", default_value = "0")]
    reorder: Probability,
    /// By how much a second copy or a held-up message is late, at most
    #[arg(long, value_name = "D", default_value_t = STRAGGLE)]
    straggle: Duration,
}

/// How long a burst is by default, in messages.
const BURST: f64 = 4.0;
/// How late a straggler is by default, at most.
const STRAGGLE: Duration = Duration::from_millis(100);

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
        let none_late = [duplicate, reorder] == [Probability::ZERO; 2];
        if straggle != STRAGGLE && none_late {
            return Err(Failure::usage(format!(
                "--straggle {straggle} has no effect without --duplicate or --reorder; add one of \
                 them, or leave --straggle out"
            )));
        }
        let plain = Network::uniform(self.spread.delay_model.of(self.delay(delay)), self.loss()?);
        Ok(Network { duplicate, reorder, straggle, ..plain })
    }

    /// Whether some messages arrive twice.
    pub(in crate::cli) fn duplicates(&self) -> bool {
        self.duplicate != Probability::ZERO
    }

    /// The mean delay.
    pub(in crate::cli) fn delay(&self, default: Duration) -> Duration {
        self.delay.delay.unwrap_or(default)
    }

    /// What differs between experiments, for people to read.
    pub(in crate::cli) fn conditions(&self, delay: Duration) -> String {
        let mut text = format!(", delay {}", self.delay(delay));
        let loss = self.losing.rate().value();
        if loss > 0.0 {
            text += &format!(", loss {loss} {}", self.losing.model());
        }
        text
    }

    /// All of it, for programs: enough to ask the same again, under the names of the flags.
    pub(in crate::cli) fn to_json(&self, delay: Duration) -> Map<String, Value> {
        let mut map = Map::new();
        let mut put = |key: &str, value: Value| map.insert(key.to_owned(), value);
        put("loss", json!(self.losing.rate().value()));
        put("loss_model", json!(self.losing.model().name()));
        put("burst", json!(self.burst));
        put("delay", json!(finite(self.delay(delay))));
        put("delay_model", json!(self.spread.delay_model.name()));
        put("duplicate", json!(self.duplicate.value()));
        put("reorder", json!(self.reorder.value()));
        put("straggle", json!(finite(self.straggle)));
        map
    }

    /// What is lost.
    pub(in crate::cli) fn loss(&self) -> Result<Loss, Failure> {
        self.losing.check()?;
        let (loss, model) = (self.losing.rate(), self.losing.model());
        if self.burst != BURST && model != LossModel::Bursts {
            return Err(Failure::usage(format!(
                "--burst {} has no effect without --loss-model bursts; add that, or leave --burst \
                 out",
                self.burst
            )));
        }
        Ok(match model {
            LossModel::None => Loss::None,
            LossModel::Correlated => Loss::Correlated(loss),
            LossModel::Uncorrelated => Loss::Uncorrelated(loss),
            LossModel::Bursts => Loss::Bursts(self.bursts()?),
        })
    }

    /// A channel that loses everything while it is bad, with the loss and burst length asked for.
    fn bursts(&self) -> Result<Bursts, Failure> {
        let (loss, length) = (self.losing.rate().value(), self.burst);
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
}
