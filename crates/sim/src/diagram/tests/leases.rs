//! Leases and locks are drawn for exactly as long as they last.

use super::*;

fn leading(node: u64, until: u64) -> Event {
    let (leaders, until) = (vec![NodeId(node)], Some(instant(until)));
    Event::Leadership { leaders, term: None, until, stage: Stage::Decided }
}

fn locked(to: u64, until: u64) -> Event {
    Event::Fact(Fact::Locked { to: NodeId(to), until: instant(until) })
}

fn held(until: u64) -> Event {
    Event::Fact(Fact::Held { until: instant(until) })
}

/// The records, on a picture of one second.
fn second(mut records: Vec<Record>) -> String {
    records.push(at(1_000, 9, Event::Timer { timer: "End".into() }));
    let picture = draw(&records);
    assert_is_a_picture(&picture);
    picture
}

#[test]
fn a_term_ends_with_its_lease_even_if_the_leader_is_paused() {
    let picture = second(vec![
        at(100, 1, leading(1, 400)),
        at(200, 1, Event::Pause),
        at(700, 1, Event::Resume),
    ]);
    assert!(picture.contains("<title>1 leads, 0.1s to 0.4s</title>"));
    assert!(picture.contains("<title>1 undecided, 0.4s to 1s</title>"));
    assert!(picture.contains("<title>1 stands still, 0.2s to 0.7s</title>"));
}

#[test]
fn the_command_of_a_leader_is_a_line_from_its_start_to_its_end() {
    let guardian = moment(50);
    let work = |work| Event::Work { guardian, work };
    let ended = Work::Ended { run: 7, pid: None, from: None, to: None };
    let (boot, group) = ("b".to_owned(), "g".to_owned());
    let picture = second(vec![
        at(50, 1, Event::Guardian(Watcher { boot, group, since: guardian })),
        at(90, 1, Event::Start { incarnation: 1 }),
        at(100, 1, leading(1, 400)),
        at(120, 1, work(Work::Starts { run: 7 })),
        at(380, 1, work(ended)),
        at(900, 1, work(Work::Starts { run: 8 })),
    ]);
    assert!(picture.contains("<title>1's command, run 7, 0.12s to 0.38s</title>"), "{picture}");
    assert!(picture.contains("<title>1's command, run 8, 0.9s to 1s</title>"));
    assert!(picture.contains(">its command runs</text>"));
    let without = second(vec![at(100, 1, leading(1, 400))]);
    assert!(!without.contains("work") && !without.contains("command"));
}

#[test]
fn a_renewed_lease_is_one_bar_and_a_lapsed_one_begins_another() {
    let picture = second(vec![
        at(100, 1, leading(1, 300)),
        at(250, 1, held(500)),
        at(450, 1, held(600)),
        at(700, 1, leading(1, 900)),
    ]);
    assert!(picture.contains("<title>1 leads, 0.1s to 0.6s</title>"));
    assert!(picture.contains("<title>1 undecided, 0.6s to 0.7s</title>"));
    assert!(picture.contains("<title>1 leads, 0.7s to 0.9s</title>"));
}

#[test]
fn ends_are_read_from_the_clock_that_was_to_end_them() {
    let reads = |millis| Event::Fact(Fact::Clock { reads: instant(millis) });
    // A clock that restarted with its machine, and another that is ahead.
    let picture = second(vec![
        at(300, 1, reads(0)),
        at(300, 1, leading(1, 200)),
        at(300, 2, reads(5_300)),
        at(300, 2, locked(1, 5_400)),
    ]);
    assert!(picture.contains("<title>1 leads, 0.3s to 0.5s</title>"));
    assert!(picture.contains("<title>2 locked to 1, 0.3s to 0.4s</title>"));
}

#[test]
fn a_clock_that_is_set_forward_ends_what_it_jumps_over_and_nothing_before() {
    let jump = |millis| Event::Jump { reads: instant(millis) };
    let over = second(vec![at(100, 1, leading(1, 400)), at(200, 1, jump(600))]);
    assert!(over.contains("<title>1 leads, 0.1s to 0.2s</title>"));
    let nearer = second(vec![at(100, 1, leading(1, 400)), at(200, 1, jump(300))]);
    assert!(nearer.contains("<title>1 leads, 0.1s to 0.3s</title>"));
    let after = second(vec![at(100, 1, leading(1, 400)), at(500, 1, jump(900))]);
    assert!(after.contains("<title>1 leads, 0.1s to 0.4s</title>"));
}

#[test]
fn a_lock_is_a_bar_for_whom_it_binds_to_until_it_lapses_passes_on_or_is_released() {
    let picture = second(vec![
        at(100, 2, locked(1, 300)),
        at(250, 2, locked(1, 450)), // renewed
        at(500, 2, locked(3, 700)),
        at(600, 2, locked(3, 600)), // released
        at(700, 2, locked(2, 900)),
        at(800, 2, locked(1, 950)), // taken over
        at(850, 2, Event::Crash),
    ]);
    for bar in [
        "2 locked to 1, 0.1s to 0.45s",
        "2 locked to 3, 0.5s to 0.6s",
        "2 locked to itself, 0.7s to 0.8s",
        "2 locked to 1, 0.8s to 0.85s",
    ] {
        assert_eq!(count(&picture, &format!("<title>{bar}</title>")), 1, "{bar}");
    }
    assert_eq!(count(&picture, "<rect class=\"hold"), 4 + 1, "with the legend's");
    assert!(picture.contains(">locked to 1</text>"), "where there is room for it");
    assert!(picture.contains(">locked to who has this colour<"));
    assert!(!picture.contains(">bound to nobody<"));
}

#[test]
fn the_colour_of_a_lock_is_that_of_the_leader_it_is_for() {
    let picture = second(vec![at(0, 1, leading(1, 900)), at(0, 2, locked(1, 800))]);
    let line = |title: &str| {
        picture.lines().find(|line| line.contains(title)).unwrap_or_else(|| panic!("no {title}"))
    };
    assert!(line("<title>1 leads").contains("class=\"l0\""));
    assert!(line("<title>2 locked to 1").contains("class=\"hold f0\""));
}

#[test]
fn who_began_again_is_bound_to_nobody_for_a_while() {
    let bound = Event::Fact(Fact::Bound { until: instant(500) });
    let picture = second(vec![at(300, 1, Event::Restart { incarnation: 2 }), at(300, 1, bound)]);
    assert!(picture.contains("<title>1 bound to nobody, 0.3s to 0.5s</title>"));
    assert!(picture.contains("class=\"hold still\"") && picture.contains(">bound to nobody<"));
    assert!(!picture.contains(">locked to who has this colour<"));
}

#[test]
fn messages_that_say_nothing_lie_under_the_others_and_take_no_colour() {
    let picture = second(vec![
        at(0, 1, send("election", 0)),
        at(10, 2, recv(1, "election", 0, 0)),
        at(100, 2, send("stamp", 0)),
        at(110, 1, recv(2, "stamp", 0, 100)),
        at(200, 2, send("reply", 1)),
    ]);
    let place = |text: &str| picture.find(text).unwrap_or_else(|| panic!("no {text}"));
    assert!(place("<title>stamp #0 from 2") < place("<title>election #0 from 1"));
    assert!(picture.contains("<g class=\"m quiet\"><title>stamp"));
    assert!(picture.contains("<g class=\"m k0\"><title>election"));
    assert!(picture.contains("<g class=\"m k1\"><title>reply"));
    assert!(place(">election</text>") < place(">stamp</text>"), "the legend has it too, last");
}

#[test]
fn only_pictures_with_promises_make_room_for_them() {
    let without = draw(&election(8));
    let with = second(vec![at(0, 1, locked(1, 500))]);
    assert!(!without.contains(".bw .hold") && with.contains(".bw .hold"));
    let many: Vec<Record> = (0..16).map(|node| at(0, node, locked(1, 500))).collect();
    let many = draw(&many);
    assert_eq!(count(&many, "<text class=\"tiny\""), 16, "each can be read, among sixteen");
}

#[test]
fn a_partition_is_named_above_its_lane_until_the_process_belongs_to_none() {
    let partition = |version| Event::Fact(Fact::Partition { version });
    let member = |peer| Event::Fact(Fact::Member { peer: NodeId(peer) });
    let follows = [leading(2, 900), partition(3), member(1), member(2)];
    let mut records: Vec<Record> = follows.map(|event| at(100, 1, event)).into();
    assert!(second(records.clone()).contains(">partition 3: 1, 2</text>"));
    records.extend([partition(0), member(2)].map(|event| at(110, 1, event)));
    let picture = second(records);
    assert!(!picture.contains(">partition ") && !picture.contains(">0: "), "{picture}");
}
