//! What the explorer finds: without a rule a state with two leaders can be reached. That none can
//! with all of them is what `explore.rs` pins, and `docs/checking.md` for larger adversaries.

use super::mutant::Explored;
use super::table::MUTANTS;
use bellwether_check::explore::{World, explore};
use bellwether_protocols::local_leader::Hall;

/// More than any mutant needs; those that need more are too slow for a test.
const MOST: usize = 3_000_000;

#[test]
fn the_explorer_kills_what_the_table_says_it_does() {
    for mutant in MUTANTS {
        let Some(Explored { nodes, ticks, adversary, property }) = &mutant.explored else {
            continue;
        };
        let params =
            mutant.without.iter().fold(ticks.params(), |params, rule| params.without(*rule));
        // One thread takes the same path every time.
        let answer = explore(World::<Hall>::new(*nodes, params, *adversary), MOST, 1);
        let (broken, path) = answer.breach.unwrap_or_else(|| {
            panic!("{}: nothing broke in {} states", mutant.changed, answer.states)
        });
        let told = format!("{}: {} states, {} moves", mutant.changed, answer.states, path.len());
        assert_eq!(broken, *property, "{told}");
        println!("{told}");
    }
}
