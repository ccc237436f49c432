//! Bully under random schedules; see `support/schedules.rs`.

use super::support::params;
use crate::support::schedules::{LAYER, Schedules};
use bellwether_core::{Duration, Protocol};
use bellwether_protocols::bully::{Bully, Config, Recovery, TopAnswers};
use bellwether_protocols::detect::{self, Detect};
use bellwether_sim::Order;

/// How many of each variant.
const SCHEDULES: Schedules =
    Schedules { count: 2_500, variable: "BULLY_SEED", slow: true, orders: &[Order::Ascending] };
const CALL_AFTER: Duration = Duration::from_secs(5);
const HOP: Duration = Duration::from_secs(1);
/// How much later processes agree that must detect failures themselves.
const LATER: Duration = Duration::from_secs(10);

fn variants() -> Vec<Config> {
    let plain = Config { call_after: CALL_AFTER, ..Config::default() };
    vec![
        plain,
        Config { top_answers: TopAnswers::Coordinator, ..plain },
        Config { stamps: true, ..plain },
    ]
}

fn asking() -> Vec<Config> {
    let ask = Config { call_after: CALL_AFTER, recovery: Recovery::Ask, ..Config::default() };
    vec![ask, Config { stamps: true, ..ask }]
}

fn told(config: Config, best: bool) {
    let settles = params(config).settles(HOP);
    SCHEDULES.agree::<Bully>(params(config), false, best, settles, &format!("{config:?}"));
}

fn finding_out(config: Config, best: bool) {
    let settles = params(config).settles(HOP) + LATER;
    let around = detected(config);
    SCHEDULES.agree::<Detect<Bully>>(around, true, best, settles, &format!("{config:?}"));
}

fn detected(config: Config) -> detect::Params<<Bully as Protocol>::Params> {
    LAYER.around(params(config)).expect("the layer's parameters keep the rules")
}

#[test]
fn all_name_the_greatest_once_they_are_told_the_truth() {
    variants().into_iter().for_each(|config| told(config, true));
}

#[test]
fn all_name_the_same_if_the_recovered_ask() {
    asking().into_iter().for_each(|config| told(config, false));
}

#[test]
fn all_name_the_greatest_once_the_network_heals() {
    variants().into_iter().for_each(|config| finding_out(config, true));
}

#[test]
fn all_name_the_same_once_the_network_heals_if_the_recovered_ask() {
    asking().into_iter().for_each(|config| finding_out(config, false));
}
