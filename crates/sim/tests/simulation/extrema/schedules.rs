//! The rings that find the greatest under random schedules; see `support/schedules.rs`.

use super::support::{calm, params};
use crate::support::schedules::{LAYER, NODES_MAX, Schedules};
use bellwether_core::{Duration, Protocol};
use bellwether_protocols::detect::Detect;
use bellwether_protocols::ring::{ChangRoberts, Config, HirschbergSinclair, Params, Variant};
use bellwether_sim::Order;

/// How many a test runs.
const SCHEDULES: Schedules =
    Schedules { count: 5_000, variable: "EXTREMA_SEED", slow: false, orders: &[Order::Random] };
/// The longest usual delay of a hop.
const RETRY: Duration = Duration::from_millis(300);
const CALL_AFTER: Duration = Duration::from_secs(5);
/// How much later processes agree that must detect failures themselves.
const LATER: Duration = Duration::from_secs(10);

/// Processes that are told the truth agree within the time that the parameters promise.
fn told<P: Protocol<Params = Params>>(variant: Variant) {
    let params = restless(variant);
    let what = format!("{variant:?}");
    SCHEDULES.agree::<P>(params, false, true, params.settles(NODES_MAX), &what);
}

/// Processes that must detect failures agree too, a while later.
fn finding_out<P: Protocol<Params = Params>>(variant: Variant) {
    let params = restless(variant);
    let around = LAYER.around(params).expect("the layer's parameters keep the rules");
    let settles = params.settles(NODES_MAX) + LATER;
    SCHEDULES.agree::<Detect<P>>(around, true, true, settles, &format!("{variant:?}"));
}

fn restless(variant: Variant) -> Params {
    params(Config { call_after: CALL_AFTER, retry: RETRY, ..calm(variant) })
}

#[test]
fn all_name_the_greatest_once_they_are_told_the_truth_chang_roberts() {
    told::<ChangRoberts>(Variant::ChangRoberts);
}

#[test]
fn all_name_the_greatest_once_they_are_told_the_truth_hirschberg_sinclair() {
    told::<HirschbergSinclair>(Variant::HirschbergSinclair);
}

#[test]
fn all_name_the_greatest_once_the_network_heals_chang_roberts() {
    finding_out::<ChangRoberts>(Variant::ChangRoberts);
}

#[test]
fn all_name_the_greatest_once_the_network_heals_hirschberg_sinclair() {
    finding_out::<HirschbergSinclair>(Variant::HirschbergSinclair);
}
