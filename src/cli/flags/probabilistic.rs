//! The circumstances of the probabilistic election: what each process sees, and what goes wrong.

use crate::cli::failure::Failure;
use crate::cli::flags::calling::Call;
use bellwether::sim::network::{Loss, Network, Probability};
use bellwether::sim::{Initiation, Initiators};
use clap::Args;
use serde_json::{Map, Value, json};

/// What clap knows `--view` by: to `trace`, a view is also what a picture shows.
pub(in crate::cli) const SIGHT: &str = "sight";

#[derive(Args, Debug)]
#[command(next_help_heading = "Circumstances (probabilistic)")]
pub(in crate::cli) struct Probabilistic {
    /// How probable it is that a process sees another
    #[arg(id = SIGHT, long = "view", value_name = "P", default_value = "0.5")]
    view: Probability,
    /// How often a message to one process is lost [default: as --loss]
    #[arg(long, value_name = "P")]
    ucast_loss: Option<Probability>,
    /// How often a receiver misses a message to everyone [default: as --loss]
    #[arg(long, value_name = "P")]
    mcast_loss: Option<Probability>,
    /// How often a process crashes in a round, at any moment of it
    #[arg(long, value_name = "P", default_value = "0")]
    fail: Probability,
}

impl Probabilistic {
    /// The network, with losses of its own for each way to send.
    pub(in crate::cli) fn network(&self, mut network: Network) -> Network {
        let lossy = |loss: Probability| match loss {
            Probability::ZERO => Loss::None,
            loss => Loss::Uncorrelated(loss),
        };
        if let Some(loss) = self.ucast_loss {
            network.unicast.loss = lossy(loss);
        }
        if let Some(loss) = self.mcast_loss {
            network.multicast.loss = lossy(loss);
        }
        network
    }

    /// Who calls, and what each process sees. Where one calls, it is drawn.
    pub(in crate::cli) fn initiation(&self, call: &Call) -> Result<Initiation, Failure> {
        let called = call.initiation()?;
        let initiators = match called.initiators {
            Initiators::One => Initiators::Some(1),
            others => others,
        };
        Ok(Initiation { initiators, view: self.view, fail: self.fail, ..called })
    }

    /// What differs between experiments, for people to read.
    pub(in crate::cli) fn conditions(&self, call: &Call) -> String {
        let mut text = format!(", view {}", self.view.value());
        let lost = [("unicasts", self.ucast_loss), ("multicasts", self.mcast_loss)];
        for (what, loss) in lost {
            if let Some(loss) = loss {
                text += &format!(", loss of {what} {}", loss.value());
            }
        }
        if self.fail != Probability::ZERO {
            text += &format!(", failures {} a round", self.fail.value());
        }
        text + &call.conditions("any")
    }

    /// All of it, for programs, under the names of the flags.
    pub(in crate::cli) fn to_json(&self, call: &Call) -> Map<String, Value> {
        let mut map = call.to_json();
        map.remove("detection");
        map.extend([
            ("view".to_owned(), json!(self.view.value())),
            ("ucast_loss".to_owned(), json!(self.ucast_loss.map(Probability::value))),
            ("mcast_loss".to_owned(), json!(self.mcast_loss.map(Probability::value))),
            ("fail".to_owned(), json!(self.fail.value())),
        ]);
        map
    }
}
