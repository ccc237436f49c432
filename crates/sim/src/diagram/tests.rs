//! Checks the contents of pictures, and that they are well-formed.

mod leases;

use super::*;
use bellwether_core::{Duration, Event, Fact, Instant, NodeId, Stage, Term, Watcher, Work};
use proptest::prelude::*;
use std::collections::BTreeSet;

fn at(millis: u64, node: u64, event: Event) -> Record {
    Record { t: moment(millis), node: NodeId(node), event }
}

fn moment(millis: u64) -> SimTime {
    SimTime::ZERO + Duration::from_millis(millis)
}

fn believing(leader: u64, stage: Stage) -> Event {
    Event::Leadership { leaders: vec![NodeId(leader)], term: None, until: None, stage }
}

fn instant(millis: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(millis)
}

fn send(kind: &'static str, number: u64) -> Event {
    Event::Send { to: None, message: kind.into(), number }
}

fn recv(from: u64, kind: &'static str, number: u64, sent: u64) -> Event {
    let (from, message, sent) = (NodeId(from), kind.into(), moment(sent));
    Event::Recv { from, message, number, sent, life: None, body: None }
}

fn lost(from: u64, kind: &'static str, number: u64, sent: u64) -> Event {
    let (from, message, sent) = (NodeId(from), kind.into(), moment(sent));
    Event::Drop { from, message, number, sent, why: "loss".into() }
}

/// Everyone announces itself in turn, the greatest is adopted and later crashes.
fn election(nodes: u64) -> Vec<Record> {
    let mut records = Vec::new();
    for node in 1..=nodes {
        records.push(at(0, node, Event::Start { incarnation: 1 }));
        records.push(at(0, node, believing(node, Stage::Undecided)));
    }
    for (number, sent) in [500, 1_500, 2_500].into_iter().enumerate() {
        let number = number as u64;
        records.push(at(sent, nodes, send("announce", number)));
        for node in 1..nodes {
            if (node + number).is_multiple_of(5) {
                records.push(at(sent + 100, node, lost(nodes, "announce", number, sent)));
            } else {
                records.push(at(sent + 100, node, recv(nodes, "announce", number, sent)));
                records.push(at(sent + 100, node, believing(nodes, Stage::Decided)));
            }
        }
        records.push(at(sent + 100, nodes, believing(nodes, Stage::Decided)));
    }
    records.push(at(3_400, nodes, Event::Crash));
    records.push(at(5_000, nodes, Event::Restart { incarnation: 2 }));
    records
}

fn draw(records: &[Record]) -> String {
    space_time(records, &Options::default())
}

fn count(picture: &str, what: &str) -> usize {
    picture.matches(what).count()
}

/// Fails unless the text is one element whose tags balance, whose attributes are quoted and unique,
/// and whose text holds no stray markup; checks that every attribute that is a number is finite.
pub(super) fn assert_is_a_picture(picture: &str) {
    let (mut open, mut rest, mut roots) = (Vec::new(), picture, 0);
    while let Some((text, tag_on)) = rest.split_once('<') {
        assert_text(text);
        let (tag, after) = tag_on.split_once('>').expect("every tag ends");
        rest = after;
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop(), Some(name), "tags balance");
            continue;
        }
        let (tag, empty) = tag.strip_suffix('/').map_or((tag, false), |tag| (tag, true));
        let (name, attributes) = tag.split_once(' ').unwrap_or((tag, ""));
        assert!(name.chars().all(|letter| letter.is_ascii_alphabetic()), "{name}");
        assert_attributes(attributes);
        roots += usize::from(open.is_empty());
        if !empty {
            open.push(name);
        }
    }
    assert_text(rest);
    assert!(open.is_empty() && roots == 1, "one element, closed");
}

fn assert_text(text: &str) {
    assert!(
        !text.contains('>') && !text.contains(|letter: char| letter != '\n' && letter.is_control())
    );
    for (start, _) in text.match_indices('&') {
        let entity = &text[start..];
        let known = ["&amp;", "&lt;", "&gt;", "&quot;", "&#39;"];
        assert!(known.iter().any(|known| entity.starts_with(known)), "{text}");
    }
}

fn assert_attributes(mut attributes: &str) {
    let mut names = BTreeSet::new();
    while let Some((name, rest)) = attributes.split_once("=\"") {
        let (value, rest) = rest.split_once('"').expect("every value ends");
        assert!(names.insert(name.trim()), "{name} stands twice");
        assert!(!value.contains("NaN") && !value.contains("inf"), "{name} is {value}");
        attributes = rest;
    }
    assert_eq!(attributes.trim(), "");
}

#[test]
fn an_election_shows_everything_that_happened() {
    let picture = draw(&election(8));
    assert_is_a_picture(&picture);
    assert!(picture.starts_with("<svg xmlns=") && picture.contains("role=\"img\""));
    assert!(picture.contains("<title>8 leads, 0.6s to 3.4s</title>"));
    assert_eq!(count(&picture, "class=\"l0\" x"), 2, "its term and the legend");
    assert!(picture.contains("<title>1 follows 8, 0.6s to 5s</title>"));
    assert!(picture.contains("<title>1 undecided, provisionally itself, 0s to 0.6s</title>"));
    assert!(picture.contains(
        "<title>announce #0 from 8 to all, sent 0.5s: received by 6, lost for 1</title>"
    ));
    assert!(picture.contains("<title>8 crashes, 3.4s</title>"));
    assert!(picture.contains("<title>8 restarts: life 2, 5s</title>"));
    assert_eq!(count(&picture, "<title>announce"), 3);
    assert_eq!(count(&picture, "class=\"down\" d"), 2, "while it is down, and the legend");
    assert!(picture.contains(">8 processes, 0 s to 5 s; messages: 3 sent, 18 received, 3 lost<"));
    assert!(picture.contains("At the end follows 8: 1, 2, 3, 4, 5, 6, 7; without belief: 8."));
}

#[test]
fn a_message_flies_from_where_it_was_sent_to_where_it_was_received() {
    let picture = draw(&[
        at(0, 1, send("hello", 0)),
        at(500, 2, recv(1, "hello", 0, 0)),
        at(1_000, 2, Event::Timer { timer: "Wake".into() }),
    ]);
    // The lanes are 40 high from 40 on; the label takes 38.4, then 899.6 are left for one second.
    assert!(picture.contains("d=\"M38.4 60L488.2 100\""), "{picture}");
}

#[test]
fn the_legend_lists_what_occurs_and_nothing_else() {
    let quiet = draw(&[at(0, 1, believing(1, Stage::Decided)), at(9, 1, Event::Pause)]);
    for absent in [">lost<", ">crashes<", ">undecided<", ">suppressed<", ">down<"] {
        assert!(!quiet.contains(absent), "{absent}");
    }
    let suppressed = Event::Leadership {
        leaders: vec![],
        term: Term::new(3),
        until: Some(instant(500)),
        stage: Stage::Suppressed,
    };
    let eventful = draw(&[
        at(0, 1, suppressed),
        at(1, 2, Event::Pause),
        at(2, 2, Event::Resume),
        at(2, 3, Event::Start { incarnation: 1 }),
        at(3, 2, Event::Command { command: "Resign".into(), taken: true }),
        at(4, 1, Event::Jump { reads: Instant::ZERO }),
        at(4, 1, believing(1, Stage::Aborted)),
        at(5, 2, Event::Leave),
    ]);
    assert_is_a_picture(&eventful);
    for present in [
        ">suppressed<",
        ">gave up<",
        ">stands still<",
        ">starts<",
        ">leaves<",
        ">command<",
        ">clock set forward<",
    ] {
        assert!(eventful.contains(present), "{present}");
    }
    assert!(eventful.contains("<title>1 suppressed, term 3, 0s to 0.004s</title>"));
    assert!(eventful.contains("<title>2 stands still, 0.001s to 0.002s</title>"));
    assert!(eventful.contains("<title>2 command: Resign, taken, 0.003s</title>"));
}

#[test]
fn a_belief_ends_with_a_crash_but_not_with_a_pause() {
    let records = |event| {
        vec![at(0, 1, believing(1, Stage::Decided)), at(10, 1, event), at(20, 2, Event::Resume)]
    };
    assert!(draw(&records(Event::Crash)).contains("<title>1 leads, 0s to 0.01s</title>"));
    assert!(draw(&records(Event::Pause)).contains("<title>1 leads, 0s to 0.02s</title>"));
}

#[test]
fn the_same_run_gives_the_same_picture_in_whatever_order_processes_tell_it() {
    let records = election(6);
    let by_process: Vec<Record> = (1..=6)
        .flat_map(|node| records.iter().filter(move |record| record.node == NodeId(node)).cloned())
        .collect();
    assert_ne!(records, by_process);
    assert_eq!(draw(&records), draw(&records));
    assert_eq!(draw(&records), draw(&by_process));
}

#[test]
fn any_number_of_processes_fits_and_what_does_not_is_said() {
    for nodes in [0, 1, 2, 13, 50, 200, 500] {
        let picture = draw(&election(nodes));
        assert_is_a_picture(&picture);
        let note = "Of 500 processes the 400 with the greatest ids are shown.";
        assert_eq!(picture.contains(note), nodes == 500);
    }
    assert!(draw(&[]).contains(">no records<"));
    assert!(draw(&election(1)).contains(">1 process, "));
}

#[test]
fn too_many_messages_are_thinned_out_and_the_picture_says_so() {
    let mut records = Vec::new();
    for number in 0..2_000 {
        records.push(at(number, 1, send("hello", number)));
        for node in 2..10 {
            records.push(at(number + 5, node, recv(1, "hello", number, number)));
        }
    }
    let options = Options { max_marks: 900, ..Options::default() };
    let thin = space_time(&records, &options);
    assert_is_a_picture(&thin);
    assert_eq!(count(&thin, "<title>hello"), 100);
    assert!(thin.contains("Thinned out: 100 of 2000 messages are drawn."));
    assert!(thin.contains("sent 0s") && thin.contains("sent 1.98s"), "spread over the whole run");
    assert_eq!(thin, space_time(&records, &options));
    assert!(!draw(&records).contains("Thinned out"), "18,000 marks are no more than 20,000");

    let none = space_time(&records, &Options { max_marks: 0, ..Options::default() });
    assert_is_a_picture(&none);
    assert_eq!(count(&none, "<title>hello"), 0);
}

#[test]
fn a_run_full_of_changes_and_crashes_is_bounded_too() {
    let mut records = Vec::new();
    for millis in 0..20_000 {
        let event = match millis % 4 {
            0 => Event::Restart { incarnation: millis },
            1 => believing(1, Stage::Decided),
            2 => believing(2, Stage::Decided),
            _ => Event::Crash,
        };
        records.push(at(millis, 1, event));
    }
    let picture = space_time(&records, &Options { max_marks: 300, ..Options::default() });
    assert_is_a_picture(&picture);
    assert!(count(&picture, "<rect") + count(&picture, "<path") < 2_000);
    assert!(picture.contains("is left out of the bands."));
    assert!(picture.contains("Of 10000 crashes, restarts, … the first 300 are marked."));
}

#[test]
fn many_leaders_share_a_colour_but_the_one_followed_longest_has_its_own() {
    let mut records: Vec<Record> =
        (1..=9).map(|node| at(node * 100, node, believing(node, Stage::Decided))).collect();
    records.extend((1..=8).map(|node| at(1_000, node, believing(9, Stage::Decided))));
    records.push(at(9_000, 1, Event::Crash));
    let picture = draw(&records);
    assert_is_a_picture(&picture);
    let term = picture.lines().find(|line| line.contains("<title>9 leads, 0.9s")).unwrap();
    assert!(term.contains("class=\"l0\""), "{term}");
    assert!(picture.contains(">others<") && picture.contains("class=\"l6\""));
}

#[test]
fn texts_from_a_trace_cannot_become_markup() {
    let hostile = "</title><script>alert('1')</script>\" onload=\"x\u{0}\u{1b}&amp";
    let records = [
        at(0, 1, Event::Send { to: None, message: hostile.into(), number: 0 }),
        at(1, 1, Event::Command { command: hostile.into(), taken: true }),
        at(2, 2, Event::Timer { timer: hostile.into() }),
    ];
    let picture = space_time(
        &records,
        &Options { title: format!("{hostile}{}", "x".repeat(10_000)), ..Options::default() },
    );
    assert_is_a_picture(&picture);
    assert!(!picture.contains("<script"));
    assert!(picture.contains("&lt;script&gt;") && picture.len() < 20_000);
}

#[test]
fn the_picture_ends_where_it_is_told_to() {
    let options = Options { until: Some(moment(2_000)), ..Options::default() };
    let picture = space_time(&election(4), &options);
    assert_is_a_picture(&picture);
    assert!(picture.contains("<title>4 leads, 0.6s to 2s</title>"));
    assert_eq!(count(&picture, "<title>announce"), 2);
    assert!(!picture.contains("crashes"));
}

#[test]
fn a_trace_that_begins_late_is_not_drawn_in_a_corner() {
    let hour = 3_600_000;
    let records = [at(hour, 1, Event::Pause), at(hour + 10, 1, Event::Resume)];
    assert!(draw(&records).contains("1 process, 3600000 ms to 3600010 ms"));
}

pub(super) fn any_event() -> impl Strategy<Value = Event> {
    let id = || (0..6_u64).prop_map(NodeId);
    let time = || any::<u64>().prop_map(SimTime::from_nanos);
    let instant =
        || (any::<u64>(), 0..64_u32).prop_map(|(nanos, less)| Instant::from_nanos(nanos >> less));
    let text = || prop_oneof![".{0,8}".prop_map(std::borrow::Cow::Owned), Just("stamp".into())];
    let stage = prop::sample::select(&[Stage::Undecided, Stage::Decided, Stage::Suppressed][..]);
    prop_oneof![
        any::<u64>().prop_map(|incarnation| Event::Start { incarnation }),
        any::<u64>().prop_map(|incarnation| Event::Restart { incarnation }),
        prop::sample::select(&[Event::Crash, Event::Pause, Event::Resume, Event::Leave][..]),
        (prop::option::of(id()), text(), 0..3_u64).prop_map(|(to, message, number)| Event::Send {
            to,
            message,
            number
        }),
        (id(), text(), 0..3_u64, time()).prop_map(|(from, message, number, sent)| Event::Recv {
            from,
            message,
            number,
            sent,
            life: None,
            body: None
        }),
        (id(), text(), 0..3_u64, time(), text()).prop_map(|(from, message, number, sent, why)| {
            Event::Drop { from, message, number, sent, why }
        }),
        (prop::collection::vec(id(), 0..3), prop::option::of(instant()), stage).prop_map(
            |(leaders, until, stage)| Event::Leadership { leaders, term: None, until, stage }
        ),
        instant().prop_map(|reads| Event::Jump { reads }),
        (id(), any::<bool>()).prop_map(|(peer, up)| Event::Reach { peer, up }),
        (id(), instant()).prop_map(|(to, until)| Event::Fact(Fact::Locked { to, until })),
        instant().prop_map(|until| Event::Fact(Fact::Bound { until })),
        instant().prop_map(|until| Event::Fact(Fact::Held { until })),
        instant().prop_map(|reads| Event::Fact(Fact::Clock { reads })),
    ]
}

#[test]
fn what_is_believed_at_the_very_end_is_seen_and_told() {
    let records = [at(0, 1, send("hello", 0)), at(1_000, 1, believing(1, Stage::Decided))];
    let picture = draw(&records);
    assert!(picture.contains("<title>1 leads, 1s to 1.05s</title>"));
    assert!(picture.contains("At the end leads: 1."));
    let until = Some(moment(1_000));
    let ends = space_time(&records, &Options { until, ..Options::default() });
    assert!(!ends.contains("<title>1 leads") && ends.contains("At the end leads: 1."));
}

#[test]
fn peers_and_links_that_come_and_go_are_ticks() {
    let reach = |up| Event::Reach { peer: NodeId(2), up };
    let picture =
        draw(&[at(0, 1, reach(false)), at(500, 1, reach(true)), at(1_000, 1, reach(true))]);
    assert!(picture.contains("<title>1 peer or link down: 2, 0s</title>"));
    assert!(picture.contains("<title>1 peer or link up: 2, 0.5s</title>"));
    assert_eq!(count(&picture, "class=\"tick\""), 5, "three, and the legend");
    assert!(picture.contains(">peer or link up<") && picture.contains(">peer or link down<"));
}

#[test]
fn words_keep_out_of_the_way_of_lines() {
    let mut records = vec![
        at(0, 1, believing(1, Stage::Decided)),
        at(1_000, 3, Event::Timer { timer: "End".into() }),
    ];
    let word = |records: &[Record]| {
        let picture = draw(records);
        let (before, _) = picture.split_once("\">leads<").expect("there is room");
        let (_, place) = before.rsplit_once(" x=\"").expect("it has a place");
        place.split('"').next().and_then(|x| x.parse::<f64>().ok()).expect("a number")
    };
    let free = word(&records);
    // Both ends of a line on another lane, so that it crosses the first word's place.
    records.push(at(10, 1, send("hello", 0)));
    records.push(at(60, 3, recv(1, "hello", 0, 10)));
    let moved = word(&records);
    assert!(moved > free + 9.0, "from {free} to {moved}");
}

#[test]
fn words_that_cannot_avoid_messages_have_a_background() {
    let led = |every: u64| {
        let mut records = vec![at(0, 1, believing(1, Stage::Decided))];
        records.push(at(0, 2, believing(1, Stage::Decided)));
        for (number, sent) in (0..10_000).step_by(every as usize).enumerate() {
            records.push(at(sent, 1, send("announce", number as u64)));
            records.push(at(sent + 1, 2, recv(1, "announce", number as u64, sent)));
        }
        draw(&records)
    };
    let background = |class: &str| format!("<rect class=\"in {class}\"");
    let (sparse, dense, most) = (led(5_000), led(50), led(2));
    for class in ["l0", "f0"] {
        assert_eq!(count(&sparse, &background(class)), 0, "there is room beside the messages");
        assert_eq!(count(&dense, &background(class)), 1, "{dense}");
        assert_eq!(count(&most, &background(class)), 1, "too many lines to look for a place");
    }
    assert_is_a_picture(&dense);
}

#[test]
fn a_kind_of_message_looks_the_same_whoever_speaks_first() {
    let election = [at(0, 1, send("election", 0)), at(10, 2, recv(1, "election", 0, 0))];
    let ok = [at(20, 2, send("ok", 0)), at(30, 1, recv(2, "ok", 0, 20))];
    let first = [at(0, 2, send("ok", 7)), at(5, 1, recv(2, "ok", 7, 0))];
    for records in [[election.clone(), ok.clone()].concat(), [first, election, ok].concat()] {
        let picture = draw(&records);
        assert!(picture.contains("<g class=\"m k0\"><title>election #0"));
        assert!(picture.contains("<g class=\"m k1\"><title>ok #0"));
    }
}

#[test]
fn signs_of_life_stay_in_the_background() {
    let picture = draw(&[
        at(0, 1, send("heartbeat", 0)),
        at(10, 2, recv(1, "heartbeat", 0, 0)),
        at(20, 1, send("election", 1)),
        at(30, 2, recv(1, "election", 1, 20)),
    ]);
    assert_eq!(count(&picture, "class=\"m quiet\""), 2, "it, and the legend");
    assert!(picture.contains("<g class=\"m k0\"><title>election #1"), "the first colour is free");
    assert!(picture.contains("<title>heartbeat #0 from 1") && picture.contains(">heartbeat<"));
}

proptest! {
    #[test]
    fn whatever_happened_it_is_a_picture(
        happened in prop::collection::vec((any::<u64>(), 0..6_u64, any_event()), 0..60),
        magnitude in 0..64_u32,
        title in ".{0,20}",
        width in any::<u32>(),
        until in prop::option::of(any::<u64>()),
        max_marks in 0..80_usize,
    ) {
        let records: Vec<Record> = happened
            .into_iter()
            .map(|(t, node, event)| {
                Record { t: SimTime::from_nanos(t >> magnitude), node: NodeId(node), event }
            })
            .collect();
        let until = until.map(|until| SimTime::from_nanos(until >> magnitude));
        let picture = space_time(&records, &Options { title, width, until, max_marks });
        assert_is_a_picture(&picture);
    }
}
