//! The estimated group size.

use super::*;
use crate::probabilistic::size::QUIET;

fn gossip(me: u64, draws: &[u64]) -> Process {
    boot(Boot::first(NodeId(me)), &[1, 2, 9], Config { size: Size::Gossip, ..config() }, draws)
}

fn traces(members: impl IntoIterator<Item = u64>) -> Sketch {
    Sketch::of(0, members.into_iter().map(NodeId))
}

#[test]
fn an_estimate_is_within_five_percent_in_nineteen_cases_of_twenty() {
    for nodes in [1u64, 2, 10, 100, 1_000, 3_000, 6_000, 20_000] {
        let cases = 20;
        let off = |case: u64| {
            // The same ids: every group has an error of its own.
            Sketch::of(case, (0..nodes).map(NodeId)).estimate() as f64 / nodes as f64 - 1.0
        };
        let errors: Vec<f64> = (0..cases).map(off).collect();
        let far = errors.iter().filter(|error| error.abs() > 0.05).count();
        assert!(far <= 3, "{far} of {cases} at {nodes}: {errors:?}");
        let bias = errors.iter().sum::<f64>() / cases as f64;
        assert!(bias.abs() < 0.02, "{bias} at {nodes}");
        assert!(nodes > 10 || far == 0 && bias == 0.0, "few are counted to the last one");
    }
}

#[test]
fn order_and_repetition_do_not_matter() {
    let (one, other) = (traces(0..100), traces((0..100).rev().chain(20..60)));
    assert_eq!(one, other);
    assert!(!one.exceeds(&other) && one.exceeds(&traces(0..50)));
}

#[test]
fn a_process_sends_its_traces_until_there_is_no_news() {
    let mut process = gossip(5, &[77]);
    assert_eq!(process.effects(), [process.armed(Timer::Gossip, Duration::from_nanos(77))]);
    let own = || Message::Gossip(Box::new(traces([5])));
    // Ids 1 to 9 are drawn from; after 4 comes 9, which closes the range.
    for (drawn, receiver) in [(0, 1), (1, 2), (3, 9), (8, 9), (2, 9)] {
        process.draws(&[drawn]).ring();
        assert_eq!(process.packets(), [to(receiver, own())]);
    }
    assert!(process.is_quiet());
    process.message(1, Message::Gossip(Box::new(traces([5, 7]))));
    assert_eq!(process.effects(), [process.armed(Timer::Gossip, Duration::from_secs(1))]);
    process.message(1, Message::Gossip(Box::new(traces([5]))));
    assert_eq!(process.packets(), [to(1, Message::Gossip(Box::new(traces([5, 7]))))], "behind");
    assert_eq!(QUIET, 5);
}

#[test]
fn a_group_is_no_smaller_than_the_view() {
    let config = Config { k: 4, size: Size::Gossip, ..config() };
    let everyone_passes = |gathered: u64| {
        let passes = |me: u64| {
            let mut process = boot(Boot::first(NodeId(me)), &[1, 2, 3], config.clone(), &[0]);
            process.message(1, Message::Gossip(Box::new(traces(0..gathered))));
            process.message(1, Message::Initiate(FIRST));
            !process.packets().is_empty()
        };
        (10..60).all(passes)
    };
    assert!(everyone_passes(2), "four of four");
    assert!(!everyone_passes(50), "four of fifty");
}

#[test]
fn the_size_of_the_view_lets_more_through_where_views_are_small() {
    let passing = |size| {
        let passes = |me: &u64| {
            let mut process =
                start_with(*me, &[1, 2, 3, 4, 5, 6, 7, 8, 9], Config { size, ..config() });
            process.message(500, Message::Initiate(FIRST));
            !process.packets().is_empty()
        };
        (100..200).filter(passes).count()
    };
    let (view, given) = (passing(Size::View), passing(Size::Given(100)));
    assert!((60..80).contains(&view) && given < 15, "{view} {given}");
    assert_eq!(passing(Size::Group), view, "a live view is the group");
}

#[test]
fn traces_mean_nothing_to_whoever_does_not_count() {
    let mut process = relay(3, &[4]);
    process.message(4, Message::Gossip(Box::new(traces(0..9))));
    assert_eq!(process.effects(), []);
}
