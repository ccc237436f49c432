//! The inputs of formulas about the probabilistic election: flags of `sim`, which has more. The
//! papers assume some failures, so there are some by default.

use crate::cli::flags::common;
use crate::cli::flags::{Offers, Parameters, read_by_formulas};
use bellwether::analysis::Inputs;
use bellwether::protocols::choice::Config;
use bellwether::sim::network::Probability;
use clap::Args;
use serde_json::{Value, json};

#[derive(Args, Debug)]
#[group(skip)]
#[command(mut_arg("fail", |flag| flag.default_value(SOME)))]
#[command(mut_arg("ucast_loss", |flag| flag.default_value(SOME)))]
#[command(mut_arg("mcast_loss", |flag| flag.default_value(SOME)))]
pub(in crate::cli) struct Chances {
    #[command(flatten)]
    k: Parameters<K>,
    #[command(flatten)]
    chances: common::Chances,
}

/// How often something goes wrong by default.
const SOME: &str = "0.001";

/// The parameter of probabilistic that formulas read.
#[derive(Debug)]
struct K;

impl Offers for K {
    const ONLY: &'static [&'static str] = &["k"];
}

impl Chances {
    fn k(&self) -> u32 {
        match read_by_formulas("probabilistic", &self.k) {
            Ok(Config::Probabilistic(config)) => config.k,
            _ => 0, // which no formula takes
        }
    }

    /// Enters them into the inputs of a formula.
    pub(in crate::cli) fn enter(&self, given: &mut Inputs) {
        let common::Chances { view, fail, ucast_loss, mcast_loss } = self.chances;
        let rate = |loss: Option<Probability>| loss.map_or(0.0, Probability::value);
        (given.k, given.view, given.fail) = (self.k(), view.value(), fail.value());
        (given.unicast_loss, given.multicast_loss) = (rate(ucast_loss), rate(mcast_loss));
    }

    /// What was said, under the names of the flags.
    pub(in crate::cli) fn shown(&self) -> [(&'static str, Option<Value>); 5] {
        let mut given = Inputs::default();
        self.enter(&mut given);
        [
            ("k", Some(json!(given.k))),
            ("view", Some(json!(given.view))),
            ("fail", Some(json!(given.fail))),
            ("ucast-loss", Some(json!(given.unicast_loss))),
            ("mcast-loss", Some(json!(given.multicast_loss))),
        ]
    }
}
