//! The circumstances of the probabilistic election: what each process sees, and what goes wrong.

use crate::cli::failure::Failure;
use crate::cli::flags::calling::Call;
use crate::cli::flags::common::{Chances, by_default};
use bellwether::sim::network::{Loss, Network, Probability};
use bellwether::sim::{Initiation, Initiators};
use clap::Args;
use serde_json::{Map, Value, json};

#[derive(Args, Debug)]
#[command(mut_arg("ucast_loss", |flag| by_default(flag, "as --loss")))]
#[command(mut_arg("mcast_loss", |flag| by_default(flag, "as --loss")))]
pub(in crate::cli) struct Probabilistic {
    #[command(flatten)]
    chances: Chances,
}

impl Probabilistic {
    /// The network, with losses of its own for each way to send.
    pub(in crate::cli) fn network(&self, mut network: Network) -> Network {
        let lossy = |loss: Probability| match loss {
            Probability::ZERO => Loss::None,
            loss => Loss::Uncorrelated(loss),
        };
        if let Some(loss) = self.chances.ucast_loss {
            network.unicast.loss = lossy(loss);
        }
        if let Some(loss) = self.chances.mcast_loss {
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
        let Chances { view, fail, .. } = self.chances;
        Ok(Initiation { initiators, view, fail, ..called })
    }

    /// What differs between experiments, for people to read.
    pub(in crate::cli) fn conditions(&self, call: &Call) -> String {
        let Chances { view, fail, ucast_loss, mcast_loss } = self.chances;
        let mut text = format!(", view {}", view.value());
        let lost = [("unicasts", ucast_loss), ("multicasts", mcast_loss)];
        for (what, loss) in lost {
            if let Some(loss) = loss {
                text += &format!(", loss of {what} {}", loss.value());
            }
        }
        if fail != Probability::ZERO {
            text += &format!(", failures {} a round", fail.value());
        }
        text + &call.conditions("any")
    }

    /// All of it, for programs, under the names of the flags.
    pub(in crate::cli) fn to_json(&self, call: &Call) -> Map<String, Value> {
        let Chances { view, fail, ucast_loss, mcast_loss } = self.chances;
        let mut map = call.to_json();
        map.remove("detection");
        map.extend([
            ("view".to_owned(), json!(view.value())),
            ("ucast_loss".to_owned(), json!(ucast_loss.map(Probability::value))),
            ("mcast_loss".to_owned(), json!(mcast_loss.map(Probability::value))),
            ("fail".to_owned(), json!(fail.value())),
        ]);
        map
    }
}
