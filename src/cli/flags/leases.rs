//! The time constants of leases in formulas: flags of `sim`, which has more.

use crate::cli::failure::Failure;
use crate::cli::flags::{Offers, Parameters, read_by_formulas};
use bellwether::analysis::{Inputs, local_leader};
use clap::Args;
use serde_json::Value;

#[derive(Args, Debug)]
#[group(skip)]
pub(in crate::cli) struct Leases {
    #[command(flatten)]
    times: Parameters<Times>,
}

/// The parameters of local-leader that formulas read.
#[derive(Debug)]
struct Times;

impl Offers for Times {
    const ONLY: &'static [&'static str] = &[
        "mode",
        "preset",
        "delta",
        "sigma",
        "renew",
        "lock",
        "period",
        "expires",
        "fastest",
        "refresh",
        "tree",
        "drift-ppm",
    ];
}

impl Leases {
    /// Enters them into the inputs of a formula.
    pub(in crate::cli) fn enter(&self, given: &mut Inputs) -> Result<(), Failure> {
        let config = read_by_formulas("local-leader", &self.times)?;
        let other = || Failure::usage("local-leader has other parameters");
        given.leases = local_leader::Leases::written(&config).ok_or_else(other)?;
        Ok(())
    }

    /// All of them, under the names of the flags.
    pub(in crate::cli) fn shown(&self) -> Vec<(&'static str, Option<Value>)> {
        let mut given = Inputs::default();
        // What cannot be asked about is not shown either.
        let _ = self.enter(&mut given);
        let all = given.leases.to_map();
        let value = |name: &str| {
            let key = name.replace('-', "_");
            all.iter().find(|(known, _)| *known == key).map(|(_, value)| value.clone())
        };
        Times::ONLY.iter().map(|name| (*name, value(name))).collect()
    }
}
