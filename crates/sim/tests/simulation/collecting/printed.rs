//! Table 3 as it is printed.

use super::support::{assert_counts, campaign, plan, run, trusting};
use crate::support::count::leaders;
use bellwether_protocols::ring::{Config, Variant};
use bellwether_sim::Plan;

/// Two processes call an election; the older message passes the younger caller, which is the
/// greatest.
#[test]
fn the_greatest_is_missed_if_its_own_election_is_the_younger() {
    let faults = vec![campaign(0, 1), campaign(1, 4)];
    let plan = Plan { faults, ..plan(5) };
    let printed = Config { as_printed: true, ..trusting(Variant::Merea) };
    let (count, world) = run(printed, &plan, 0);
    assert_eq!(leaders(&world, 5), [Some(3); 5], "as printed");
    assert_counts(&count, 5 + 2, 5, "as printed");
    let (count, world) = run(trusting(Variant::Merea), &plan, 0);
    assert_eq!(leaders(&world, 5), [Some(4); 5], "corrected");
    assert_counts(&count, 5 + 2, 5, "corrected");
}

/// Equal times destroy nothing, and a process that holds an election is added to no other.
#[test]
fn at_equal_times_everyone_elects_itself() {
    let faults = (0..5).map(|node| campaign(0, node)).collect();
    let plan = Plan { faults, ..plan(5) };
    let printed = Config { as_printed: true, ..trusting(Variant::Merea) };
    let (count, _) = run(printed, &plan, 0);
    assert_counts(&count, 25, 25, "all at once");
}
