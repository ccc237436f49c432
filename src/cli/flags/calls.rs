//! The inputs of formulas about elections that somebody calls. The flags have the names and the
//! meaning that they have in `sim`, which has more of them.

use crate::cli::failure::Failure;
use crate::cli::flags::calling::initiators;
use crate::cli::flags::circumstances::seconds;
use crate::cli::flags::{Offers, Parameters};
use bellwether::analysis::Inputs;
use bellwether::core::Duration;
use bellwether::sim::Initiators;
use clap::Args;
use serde_json::{Value, json};

#[derive(Args, Debug)]
#[command(next_help_heading = "Elections that are called (bully, rings, ad-hoc)")]
pub(in crate::cli) struct Calls {
    /// How many call the election at once [default: one; where a mean is taken over calls, all]
    #[arg(long, value_name = "one|all|K|random", value_parser = initiators)]
    initiators: Option<Initiators>,
    /// The process that calls it, where it matters which one does
    #[arg(long, value_name = "ID", default_value = "0")]
    initiator: u32,
    /// How many links the network has [default: 2 for each process]
    #[arg(long, value_name = "E")]
    links: Option<u64>,
    /// How long a process takes to handle each message
    #[arg(long, value_name = "D", default_value = "0s")]
    processing: Duration,
    #[command(flatten)]
    reply: Parameters<Reply>,
}

/// The parameter of bully that formulas read.
#[derive(Debug)]
struct Reply;

impl Offers for Reply {
    const ONLY: &'static [&'static str] = &["reply"];
}

impl Calls {
    /// Enters them into the inputs of a formula.
    pub(in crate::cli) fn enter(&self, given: &mut Inputs) -> Result<(), Failure> {
        let Self { initiators, initiator, links, processing, reply } = self;
        given.initiators = match initiators {
            None => None,
            Some(Initiators::One) => Some(1),
            Some(Initiators::All) => Some(given.nodes),
            Some(Initiators::Some(count)) => Some(*count),
            Some(Initiators::Random | Initiators::Named(_)) => {
                return Err(Failure::usage(
                    "--initiators random: no formula is about a random part; choose one, all or a \
                     number",
                ));
            }
        };
        // Checked when it was read; by default it follows from the delay.
        let reply = reply.pairs().next().and_then(|(_, text)| text.parse().ok()).map(seconds);
        (given.initiator, given.links) = (*initiator, *links);
        (given.processing, given.reply) = (seconds(*processing), reply);
        Ok(())
    }

    /// What was said, under the names of the flags.
    pub(in crate::cli) fn shown(&self, nodes: u32) -> [(&'static str, Option<Value>); 5] {
        let mut given = Inputs { nodes, ..Inputs::default() };
        // What cannot be asked about is not shown either.
        let _ = self.enter(&mut given);
        [
            ("initiators", given.initiators.map(|count| json!(count))),
            ("initiator", Some(json!(given.initiator))),
            ("links", given.links.map(|links| json!(links))),
            ("processing", Some(json!(given.processing))),
            ("reply", given.reply.map(|reply| json!(reply))),
        ]
    }
}
