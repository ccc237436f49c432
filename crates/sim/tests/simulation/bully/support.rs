//! A group of bullies.

use crate::support::count::{Count, until_quiet};
use bellwether_protocols::bully::{Bully, Config, Params};
use bellwether_sim::{Plan, World};

pub(crate) fn params(config: Config) -> Params {
    Params::try_from(config).expect("the configurations of these tests keep the rules")
}

/// Runs a group until no event is left.
pub(crate) fn run(config: Config, plan: &Plan) -> (Count, World<Bully>) {
    until_quiet(params(config), plan, 7)
}
