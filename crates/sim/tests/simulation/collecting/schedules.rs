//! The collecting rings under random schedules; see `support/schedules.rs`.

use super::support::{BOTH, params};
use crate::support::ms;
use crate::support::schedules::{LAYER, NODES_MAX, Schedules};
use bellwether_core::Duration;
use bellwether_protocols::detect::Detect;
use bellwether_protocols::ring::{Collecting, Config, Variant};
use bellwether_sim::Order;

/// How many of each variant.
const SCHEDULES: Schedules = Schedules {
    count: 2_500,
    variable: "RING_SEED",
    slow: false,
    orders: &[Order::Random, Order::Ascending],
};

fn config(variant: Variant) -> Config {
    Config { variant, call_after: Duration::from_secs(5), retry: ms(400), ..Config::default() }
}

#[test]
fn all_name_the_greatest_once_they_are_told_the_truth() {
    for variant in BOTH {
        let (params, what) = (params(config(variant)), format!("{variant:?}"));
        SCHEDULES.agree::<Collecting>(params, false, true, params.settles(NODES_MAX), &what);
    }
}

#[test]
fn all_name_the_greatest_once_the_network_heals() {
    for variant in BOTH {
        let inner = params(config(variant));
        let outer = LAYER.around(inner).expect("the layer's parameters keep the rules");
        let settles = inner.settles(NODES_MAX) + ms(10_000);
        let what = format!("{variant:?}");
        SCHEDULES.agree::<Detect<Collecting>>(outer, true, true, settles, &what);
    }
}
