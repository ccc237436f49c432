//! Checks the contents of the pictures of rings and networks, and compares trees with the
//! protocol's own messages.

mod shapes;
mod trees;

use super::*;
use crate::diagram::tests::{any_event, assert_is_a_picture};
use crate::fault::{Fault, Timed, Who};
use crate::network::{Delay, Loss, Network, Topology};
use crate::{Order, Plan, RunSeed, StreamPurpose, Tracer, World, graph};
use bellwether_core::{Duration, Event, NodeId, Protocol};
use bellwether_protocols::ad_hoc::{self, AdHoc};
use bellwether_protocols::ring::{self, ChangRoberts, Collecting, HirschbergSinclair, Variant};
use proptest::prelude::*;

fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

fn fault(millis: u64, fault: Fault) -> Timed {
    Timed { at: ms(millis), fault }
}

fn campaign(node: u32) -> Timed {
    fault(0, Fault::Campaign { node: Who::Node(node) })
}

/// Ten milliseconds per hop; failures are told at once.
fn plan(nodes: u32, faults: Vec<Timed>) -> Plan {
    let network = Network::uniform(Delay::Constant(ms(10)), Loss::None);
    Plan { network, detection: Some(Duration::ZERO), faults, ..Plan::new(nodes) }
}

fn on_graph(nodes: u32, links: graph::Links, faults: Vec<Timed>) -> Plan {
    let mut plan = plan(nodes, faults);
    plan.network.topology = Topology::Graph { links };
    plan
}

fn run<P: Protocol>(params: P::Params, plan: &Plan) -> Vec<Record> {
    assert_eq!(plan.check(), Ok(()));
    let mut tracer = Tracer::default();
    World::<P>::new(params).run(plan, RunSeed::new(1, 0), &mut tracer);
    tracer.records
}

fn ring_of<P: Protocol<Params = ring::Params>>(variant: Variant, plan: &Plan) -> Vec<Record> {
    let config = ring::Config { variant, ..ring::Config::default() };
    run::<P>(config.try_into().expect("valid parameters"), plan)
}

fn ad_hoc(plan: &Plan) -> Vec<Record> {
    run::<AdHoc>(ad_hoc::Config::default().try_into().expect("valid parameters"), plan)
}

fn drawn(records: &[Record], arrangement: &Arrangement) -> String {
    let picture = plane(records, arrangement, &Options::default()).expect("few enough");
    assert_is_a_picture(&picture);
    assert_eq!(plane(records, arrangement, &Options::default()), Ok(picture.clone()));
    picture
}

fn ring(plan: &Plan, both_ways: bool) -> Arrangement {
    Arrangement::ring(plan, RunSeed::new(1, 0), both_ways)
}

fn count(picture: &str, what: &str) -> usize {
    picture.matches(what).count()
}

#[test]
fn a_ring_shows_who_called_who_leads_and_what_went_round() {
    let plan = Plan { order: Order::Listed(vec![2, 0, 3, 1]), ..plan(4, vec![campaign(1)]) };
    let picture = drawn(&ring_of::<Collecting>(Variant::Ring, &plan), &ring(&plan, false));
    assert!(picture.contains(">4 processes on a ring, clockwise; messages: 4 election, 4 coord"));
    for (from, to) in [(2, 0), (0, 3), (3, 1), (1, 2)] {
        assert!(picture.contains(&format!("<title>1 election from {from} to {to}</title>")));
        assert!(picture.contains(&format!("<title>1 coordinator from {from} to {to}</title>")));
    }
    assert!(picture.contains("<title>1 follows 3; called an election</title>"));
    assert!(
        picture.contains("<title>3 leads</title>") && picture.contains("lead: 3. Down: nobody")
    );
    assert_eq!(count(&picture, "class=\"p-rim\""), 2, "the caller, and the legend");
    assert_eq!(count(&picture, "class=\"p-lead\""), 2, "the leader, and the legend");
    for (kind, class) in [("election", "k0 p-w0"), ("coordinator", "k2 p-w2")] {
        let class = format!("class=\"p-hop {class}\"");
        assert_eq!(count(&picture, &class), 5, "{kind}: four ways, and the legend");
    }
    // The first of the order is at the top, the second at the right.
    let top = picture.find("<title>2 follows").expect("2 is there");
    assert!(
        picture[top..]
            .starts_with("<title>2 follows 3</title><circle class=\"p-on f0\" cx=\"480\"")
    );
}

#[test]
fn the_dead_are_crossed_out_and_passed_over() {
    let crash = fault(200, Fault::Crash { node: Who::Node(3) });
    let plan = plan(4, vec![campaign(0), crash]);
    let records = ring_of::<ChangRoberts>(Variant::ChangRoberts, &plan);
    let picture = drawn(&records, &ring(&plan, false));
    assert!(picture.contains("<title>3 is down</title>") && picture.contains("Down: 3</desc>"));
    assert_eq!(count(&picture, "class=\"p-cross\""), 2, "the dead, and the legend");
    assert!(picture.contains("election from 2 to 0</title>"), "past the dead");
    assert!(picture.contains("<title>2 leads"));
    let absent = Plan { absent: vec![3], ..plan };
    let records = ring_of::<ChangRoberts>(Variant::ChangRoberts, &absent);
    let picture = drawn(&records, &ring(&absent, false));
    assert!(picture.contains("<title>3 is not there</title>"));
    assert_eq!(count(&picture, "class=\"p-cross\""), 0);
}

#[test]
fn ways_against_the_order_go_inside_where_there_are_any() {
    let plan = plan(6, (0..6).map(campaign).collect());
    let records = ring_of::<HirschbergSinclair>(Variant::HirschbergSinclair, &plan);
    let picture = drawn(&records, &ring(&plan, true));
    // Clockwise is the sweep of an arc that SVG calls 1.
    let arcs: Vec<&str> = picture.split("class=\"p-way\" d=\"").skip(1).collect();
    let back = arcs.iter().filter(|arc| arc.contains(" 0 0 0 ")).count();
    let on = arcs.iter().filter(|arc| arc.contains(" 0 0 1 ")).count();
    assert!(back >= 6 && on >= 6, "{back} and {on}");
    assert!(picture.contains(">6 processes on a ring, both ways; messages: "));
    let one_way = drawn(&records, &ring(&plan, false));
    assert!(!one_way.contains(" 0 0 0 ") && !one_way.contains(" 0 1 0 "));
}

#[test]
fn what_does_not_arrive_ends_in_a_cross_and_is_told() {
    let records = [
        Event::Start { incarnation: 1 },
        Event::Send { to: Some(NodeId(1)), message: "election".into(), number: 0 },
    ]
    .map(|event| Record { t: SimTime::ZERO, node: NodeId(0), event });
    let arrangement = Arrangement::Ring { order: vec![0, 1, 2], both_ways: false };
    let picture = drawn(&records, &arrangement);
    assert!(picture.contains("<title>1 election from 0 to 1, 1 of them not received</title>"));
}

#[test]
fn a_network_shows_its_links_the_tree_and_what_was_reported() {
    // 0 - 1 - 2 - 3, and 1 - 3.
    let links = vec![(0, 1), (1, 2), (2, 3), (1, 3)];
    let plan = on_graph(4, links, vec![campaign(0)]);
    let picture = drawn(&ad_hoc(&plan), &Arrangement::graph(&plan, None));
    assert!(picture.contains(">4 processes with 4 links; messages: 5 election, 5 ack, 3 leader<"));
    for (child, parent, best) in [(1, 0, 3), (2, 1, 2), (3, 1, 3)] {
        let tree = format!("<title>{child} took part because {parent} called it</title>");
        assert!(picture.contains(&tree), "{tree}");
        assert!(picture.contains(&format!("<title>{child} reports {best}</title>")));
    }
    assert_eq!(count(&picture, "took part because"), 3);
    assert!(picture.contains("<title>0 follows 3; called an election</title>"));
    assert!(picture.contains("<title>3 leads; its parent is 1</title>"));
    let links = picture.split("class=\"p-link\" d=\"").nth(1).expect("links are drawn");
    let links = links.split('"').next().expect("the path ends");
    assert_eq!(count(links, "M"), 4);
}

#[test]
fn links_that_go_are_dashed_and_so_is_the_tree_on_them() {
    let gone = Fault::Link { ends: (1, 2), up: false };
    let come = Fault::Link { ends: (0, 2), up: true };
    let faults = vec![campaign(0), fault(300, come), fault(400, gone)];
    // 3 leads, whatever happens to 2.
    let plan = on_graph(4, vec![(0, 1), (1, 2), (0, 3)], faults);
    let records = ad_hoc(&plan);
    let picture = drawn(&records, &Arrangement::graph(&plan, None));
    assert!(picture.contains(">4 processes with 3 links; "));
    assert_eq!(count(&picture, "class=\"p-link p-past\""), 2, "one path, and the legend");
    assert_eq!(count(&picture, "class=\"p-tree p-old\""), 2, "2 under 1, and the legend");
    assert_eq!(count(&picture, "class=\"p-tree\""), 3, "1 and 3 under 0, and the legend");
    let before = Options { until: Some(SimTime::ZERO + ms(350)), ..Options::default() };
    let before = plane(&records, &Arrangement::graph(&plan, None), &before).expect("few");
    assert!(
        before.contains(">4 processes with 4 links; ") && !before.contains("\"p-link p-past\"")
    );
}

#[test]
fn values_are_written_where_they_are_not_the_ids() {
    let mut plan = on_graph(5, graph::grid(1, 5), vec![campaign(2)]);
    let plain = drawn(&ad_hoc(&plan), &Arrangement::graph(&plan, None));
    assert_eq!(count(&plain, "class=\"p-tiny"), 0);
    plan.ranks = crate::Ranks::Random;
    let valued = drawn(&ad_hoc(&plan), &Arrangement::graph(&plan, None));
    assert_eq!(count(&valued, "class=\"p-tiny"), 5);
    assert_eq!(count(&valued, "; its value is "), 5);
}

#[test]
fn both_pictures_stand_under_each_other() {
    let plan = plan(4, vec![campaign(0)]);
    let records = ring_of::<Collecting>(Variant::Ring, &plan);
    let options = Options { title: "A & B".to_owned(), ..Options::default() };
    let both = plane_and_time(&records, &ring(&plan, false), &options).expect("few");
    assert_is_a_picture(&both);
    assert_eq!(count(&both, ">A &amp; B<"), 2, "its name, and above it, once");
    let height = |picture: &str| {
        let (_, rest) = picture.split_once(" height=\"").expect("it has a height");
        rest.split('"').next().and_then(|height| height.parse::<f64>().ok()).expect("a number")
    };
    let untitled = Options { title: String::new(), ..options.clone() };
    let above = plane(&records, &ring(&plan, false), &options).expect("few");
    let below = crate::diagram::space_time(&records, &untitled);
    assert!((height(&both) - height(&above) - height(&below)).abs() < 0.2);
    assert!(both.contains(&format!("translate(0 {})", N(height(&above)))));
}

#[test]
fn the_lanes_of_a_ring_are_in_its_order() {
    let order = vec![2, 0, 3, 1];
    let plan = Plan { order: Order::Listed(order.clone()), ..plan(4, vec![campaign(0)]) };
    let records = ring_of::<Collecting>(Variant::Ring, &plan);
    let both = plane_and_time(&records, &ring(&plan, false), &Options::default()).expect("few");
    let (_, lanes) = both.split_once("<g text-anchor=\"end\">").expect("lanes have labels");
    let place = |node: &u32| lanes.find(&format!(">{node}</text>")).expect("each has a label");
    assert!(order.iter().map(place).is_sorted());
}

#[test]
fn few_have_their_ids_many_are_dots_and_too_many_are_refused() {
    for (nodes, labelled) in [(1, true), (60, true), (61, false), (2_000, false)] {
        let plan = plan(nodes, vec![campaign(0)]);
        let records = ring_of::<ChangRoberts>(Variant::ChangRoberts, &plan);
        let picture = drawn(&records, &ring(&plan, false));
        let last = format!(">{}</text>", nodes - 1);
        let middle = format!(">{}</text>", nodes / 3);
        assert!(picture.contains(&last), "the leader has its id, {nodes}");
        assert_eq!(picture.contains(&middle), labelled || nodes == 1, "{nodes}");
        assert!(picture.len() < 2_000_000);
    }
    let order = (0..2_001).collect();
    let refused = plane(&[], &Arrangement::Ring { order, both_ways: false }, &Options::default());
    let refused = refused.expect_err("too many");
    assert_eq!(refused, TooMany { processes: 2_001 });
    assert!(refused.to_string().starts_with("2001 processes, but "));
    assert!(refused.to_string().contains("at most 2000"));
}

#[test]
fn marks_are_bounded_and_what_is_left_out_is_said() {
    let options = Options { max_marks: 10, ..Options::default() };
    let plan = plan(30, vec![campaign(0)]);
    let records = ring_of::<Collecting>(Variant::Ring, &plan);
    let picture = plane(&records, &ring(&plan, false), &options).expect("few");
    assert!(picture.contains(">Of 60 ways of messages the first 10 are drawn.<"));
    let graph = on_graph(30, graph::complete(30), vec![]);
    let picture = plane(&[], &Arrangement::graph(&graph, None), &options).expect("few");
    assert!(picture.contains(">Of 435 links the first 10 are drawn.<"));
    // Everyone sends to everyone: more paths than there are tracks.
    let all = (0..12).flat_map(|from| (0..12).map(move |to| (from, to)));
    let send = |(from, to)| Record {
        t: SimTime::ZERO,
        node: NodeId(from),
        event: Event::Send { to: Some(NodeId(to)), message: "election".into(), number: to },
    };
    let records: Vec<Record> = all.filter(|(from, to)| from != to).map(send).collect();
    let order = Arrangement::Ring { order: (0..12).collect(), both_ways: false };
    assert!(drawn(&records, &order).contains(" ways of messages, over each other, are not drawn."));
}

#[test]
fn texts_from_outside_cannot_leave_their_place() {
    let message = "<script>alert(1)</script>\"&";
    let send = Event::Send { to: Some(NodeId(1)), message: message.into(), number: 0 };
    let records = [Record { t: SimTime::ZERO, node: NodeId(0), event: send }];
    let options = Options { title: message.to_owned(), ..Options::default() };
    for arrangement in [
        Arrangement::Ring { order: vec![0, 1], both_ways: true },
        Arrangement::graph(&on_graph(2, vec![(0, 1)], vec![]), None),
    ] {
        let picture = plane_and_time(&records, &arrangement, &options).expect("few");
        assert_is_a_picture(&picture);
        assert!(!picture.contains("<script>") && picture.contains("&lt;script&gt;"));
    }
}

proptest! {
    #[test]
    fn whatever_happened_and_wherever_they_stand_it_is_a_picture(
        happened in prop::collection::vec((any::<u64>(), 0..8_u64, any_event()), 0..60),
        magnitude in 0..64_u32,
        both_ways in any::<bool>(),
        nodes in 0..9_u32,
        links in prop::collection::vec((0..10_u32, 0..10_u32), 0..20),
        places in prop::option::of(prop::collection::vec([any::<f64>(), any::<f64>()], 0..9)),
        width in any::<u32>(),
        max_marks in 0..40_usize,
    ) {
        let records: Vec<Record> = happened
            .into_iter()
            .map(|(t, node, event)| {
                Record { t: SimTime::from_nanos(t >> magnitude), node: NodeId(node), event }
            })
            .collect();
        let options = Options { width, max_marks, ..Options::default() };
        let changes = links.iter().rev().map(|link| (SimTime::ZERO, *link, link.0 < 5)).collect();
        for arrangement in [
            Arrangement::Ring { order: (0..nodes).collect(), both_ways },
            Arrangement::Graph(Graph { nodes, links, changes, places }),
        ] {
            assert_is_a_picture(&plane_and_time(&records, &arrangement, &options).expect("few"));
        }
    }
}
