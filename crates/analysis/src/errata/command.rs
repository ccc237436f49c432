//! The command that computes both forms of a quantity again.

use crate::inputs::{Loss, ValidInputs};
use crate::point::duration;
use crate::quantity::Quantity;
use bellwether_protocols::local_leader::Preset;

/// `bellwether analyze` with what the quantity reads.
pub(super) fn analyze(quantity: &Quantity, inputs: &ValidInputs) -> String {
    let mut command = format!("bellwether analyze {}", quantity.name);
    for flag in quantity.reads {
        let value = match *flag {
            "nodes" => inputs.nodes.to_string(),
            "loss" => match inputs.loss {
                Loss::None => continue,
                loss => format!("{} --loss-model {}", loss.rate(), loss.name()),
            },
            "delay" => duration(inputs.delay).to_string(),
            "suppress" => duration(inputs.suppress).to_string(),
            "announce" => duration(inputs.announce).to_string(),
            "listen" if inputs.listen.is_finite() => duration(inputs.listen).to_string(),
            "departures" => inputs.departures.to_string(),
            "arrivals" => inputs.arrivals.to_string(),
            "round" => inputs.round.to_string(),
            "sent" => inputs.sent.to_string(),
            "k" => inputs.k.to_string(),
            "view" => inputs.view.to_string(),
            "fail" => inputs.fail.to_string(),
            "ucast-loss" => inputs.unicast_loss.to_string(),
            "mcast-loss" => inputs.multicast_loss.to_string(),
            "initiators" => match inputs.initiators {
                Some(count) => count.to_string(),
                None => continue,
            },
            "links" => match inputs.links {
                Some(links) => links.to_string(),
                None => continue,
            },
            "preset" if inputs.leases.preset != Preset::default() => {
                inputs.leases.preset.name().to_owned()
            }
            "period" => match inputs.leases.period {
                Some(period) => period.to_string(),
                None => continue,
            },
            // The others have their defaults in the errata.
            _ => continue,
        };
        command += &format!(" --{flag} {value}");
    }
    command
}
