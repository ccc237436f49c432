//! The rings that find the greatest through random schedules; see the drawer.

use super::drawer::{LAYER, NODES_MAX, Schedules};
use super::support::{calm, params};
use bellwether_core::{Duration, Protocol};
use bellwether_protocols::detect::Detect;
use bellwether_protocols::ring::{ChangRoberts, Config, HirschbergSinclair, Params, Variant};
use bellwether_sim::Order;

/// How many a test runs.
const SCHEDULES: Schedules =
    Schedules { count: 5_000, variable: "EXTREMA_SEED", slow: false, orders: &[Order::Random] };
/// A hop takes no longer, or rarely.
const RETRY: Duration = Duration::from_millis(300);
const PATIENCE: Duration = Duration::from_secs(5);
/// How much later those agree who have to find out for themselves.
const LATER: Duration = Duration::from_secs(10);

/// Whoever is told the truth agrees within what the parameters say.
fn told<P: Protocol<Params = Params>>(variant: Variant) {
    let params = restless(variant);
    let what = format!("{variant:?}");
    SCHEDULES.agree::<P>(params, false, true, params.settles(NODES_MAX), &what);
}

/// Whoever has to find out does so too, a while later.
fn finding_out<P: Protocol<Params = Params>>(variant: Variant) {
    let params = restless(variant);
    let around = LAYER.around(params).expect("the layer's parameters keep the rules");
    let settles = params.settles(NODES_MAX) + LATER;
    SCHEDULES.agree::<Detect<P>>(around, true, true, settles, &format!("{variant:?}"));
}

fn restless(variant: Variant) -> Params {
    params(Config { call_after: PATIENCE, retry: RETRY, ..calm(variant) })
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
