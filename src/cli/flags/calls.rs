//! The inputs of formulas about elections that somebody calls: flags of `sim`, which has more.

use crate::cli::failure::Failure;
use crate::cli::flags::circumstances::seconds;
use crate::cli::flags::common::{Callers, Links, Processing, by_default};
use crate::cli::flags::{Offers, Parameters};
use bellwether::analysis::Inputs;
use bellwether::sim::Initiators;
use clap::Args;
use serde_json::{Value, json};

#[derive(Args, Debug)]
#[command(mut_arg("initiators", |flag| by_default(flag, INITIATORS)))]
#[command(mut_arg("initiator", |flag| by_default(flag, "0")))]
pub(in crate::cli) struct Calls {
    #[command(flatten)]
    callers: Callers,
    #[command(flatten)]
    links: Links,
    #[command(flatten)]
    processing: Processing,
    #[command(flatten)]
    reply: Parameters<Reply>,
}

/// Who calls by default.
const INITIATORS: &str = "one; all for quantities that average over who calls";

/// The parameter of bully that formulas read.
#[derive(Debug)]
struct Reply;

impl Offers for Reply {
    const ONLY: &'static [&'static str] = &["reply"];
}

impl Calls {
    /// Enters them into the inputs of a formula.
    pub(in crate::cli) fn enter(&self, given: &mut Inputs) -> Result<(), Failure> {
        let Self { callers, links, processing, reply } = self;
        let initiator = match callers.initiator[..] {
            [] => 0,
            [one] => one,
            _ => return Err(Failure::usage("--initiator: a formula is about one; give it once")),
        };
        given.initiators = match &callers.initiators {
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
        (given.initiator, given.links) = (initiator, links.links.map(|links| links as u64));
        (given.processing, given.reply) = (seconds(processing.processing), reply);
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
