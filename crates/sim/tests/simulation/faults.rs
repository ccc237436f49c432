//! Faults have exactly the promised effect: on the right process, at the right time, and no other.

use crate::support::keeper::{Found, Keeper, Starts, Woke};
use crate::support::ping::{Ping, Pings};
use crate::support::rough::{NODES, Rough};
use crate::support::spinner::Spinner;
use crate::support::{
    at, constant, fault, followed, hears_from, hears_kind, ms, node, p, params, plan, receives,
    scenario, sends, times, trace,
};
use bellwether_core::{Duration, Event, NodeId, Record, SimTime};
use bellwether_protocols::announce_listen::{AnnounceListen, Variant};
use bellwether_sim::network::{Delay, Loss, Network};
use bellwether_sim::{Disk, Fault, Plan, Renumbered, RunSeed, Tracer, Who, World};

/// Process 0 sends to all every 100 ms, at 100, 200, …; the delay is 10 ms.
fn pinging(nodes: u32, until: u64, faults: Vec<bellwether_sim::Timed>) -> Vec<Record> {
    let plan = plan(nodes, constant(10, Loss::None), ms(until), faults);
    trace::<Ping>(&Pings::to_all(ms(100)), &plan, 1)
}

fn every(step: u64, from: u64, to: u64) -> Vec<SimTime> {
    (0..).map(|i| from + i * step).take_while(|t| *t <= to).map(at).collect()
}

#[test]
fn a_crashed_process_sends_nothing_and_receives_nothing() {
    let speaker = pinging(2, 1_000, vec![fault(455, Fault::Crash { node: node(0) })]);
    assert_eq!(times(&speaker, 0, sends), every(100, 100, 400));
    assert_eq!(times(&speaker, 1, receives), every(100, 110, 410));

    let crash_and_back = vec![
        fault(405, Fault::Crash { node: node(1) }),
        fault(650, Fault::Restart { node: node(1), disk: Disk::Kept, reboot: false }),
    ];
    let listener = pinging(2, 1_000, crash_and_back);
    // The message of 400 was in flight when it crashed; it is not kept for the next incarnation.
    let heard = [every(100, 110, 310), every(100, 710, 910)].concat();
    assert_eq!(times(&listener, 1, receives), heard);
}

#[test]
fn what_a_process_sent_before_it_crashed_still_arrives() {
    let records = pinging(2, 1_000, vec![fault(405, Fault::Crash { node: node(0) })]);
    assert_eq!(times(&records, 1, receives), every(100, 110, 410));
}

fn starts(faults: Vec<Fault>) -> Vec<Woke> {
    let timed = (1..).zip(faults).map(|(i, what)| fault(i * 100, what)).collect();
    let mut starts = Starts::default();
    let plan = plan(2, Network::default(), ms(5_000), timed);
    World::<Keeper>::new(()).run(&plan, RunSeed::new(1, 0), &mut starts);
    starts.0
}

fn crash() -> Fault {
    Fault::Crash { node: node(0) }
}

fn restart(disk: Disk) -> Fault {
    Fault::Restart { node: node(0), disk, reboot: false }
}

#[test]
fn every_restart_is_another_life_and_finds_what_the_disk_still_holds() {
    let kept = [crash(), restart(Disk::Kept), crash(), restart(Disk::Kept)];
    let found = [Woke(1, Found::First), Woke(2, Found::Boots(1)), Woke(3, Found::Boots(2))];
    assert_eq!(starts(kept.to_vec()), found);

    let lost = [crash(), restart(Disk::Lost)];
    assert_eq!(starts(lost.to_vec()), [Woke(1, Found::First), Woke(2, Found::Lost)]);

    let torn = [crash(), restart(Disk::Torn)];
    assert_eq!(starts(torn.to_vec()), [Woke(1, Found::First), Woke(2, Found::Torn(4))]);
}

/// The keeper stores nothing after damage, so the next incarnation finds exactly the damage.
#[test]
fn what_is_lost_or_torn_stays_so_until_the_process_stores_again() {
    let lost = starts(vec![crash(), restart(Disk::Lost), crash(), restart(Disk::Kept)]);
    assert_eq!(lost[2], Woke(3, Found::Lost));
    let torn = starts(vec![crash(), restart(Disk::Torn), crash(), restart(Disk::Kept)]);
    assert_eq!(torn[2], Woke(3, Found::Torn(4)));
}

#[test]
fn who_joins_after_a_crash_or_restarts_without_one_counts_its_lives_right() {
    let back = starts(vec![crash(), Fault::Join { node: node(0) }]);
    assert_eq!(back, [Woke(1, Found::First), Woke(2, Found::Boots(1))]);
    let alive = starts(vec![restart(Disk::Lost), Fault::Join { node: node(0) }]);
    assert_eq!(alive, [Woke(1, Found::First)], "who is there does not start again");

    let faults = vec![fault(100, restart(Disk::Lost))];
    let plan = Plan { absent: vec![0], ..plan(2, Network::default(), ms(500), faults) };
    let mut never_ran = Starts::default();
    World::<Keeper>::new(()).run(&plan, RunSeed::new(1, 0), &mut never_ran);
    assert_eq!(never_ran.0, [Woke(1, Found::First)], "who never ran has nothing to lose");
}

/// Its number is that of a former incarnation, but it knows that it ran before. A later start
/// counts on from the greatest number.
#[test]
fn a_life_may_have_the_number_of_a_former_one_or_a_lower_one() {
    let number = |life| Fault::Renumber { node: node(0), life };
    let again = |life| [crash(), number(life), restart(Disk::Kept)];
    let twice = [crash(), restart(Disk::Kept)];
    let same = [again(Renumbered::Same).to_vec(), twice.to_vec()].concat();
    let found = [Woke(1, Found::First), Woke(1, Found::Lost), Woke(2, Found::Lost)];
    assert_eq!(starts(same), found);
    let lower = [twice.to_vec(), again(Renumbered::Lower).to_vec(), twice.to_vec()].concat();
    let lives: Vec<u64> = starts(lower).into_iter().map(|Woke(life, _)| life).collect();
    assert_eq!(lives, [1, 2, 0, 3]);
    assert_eq!(starts(vec![number(Renumbered::Lower)]), [Woke(1, Found::First)], "it is there");
}

#[test]
fn while_a_process_stands_still_messages_wait_and_then_arrive_in_order() {
    let faults = vec![
        fault(250, Fault::Pause { node: node(1) }),
        fault(575, Fault::Resume { node: node(1) }),
    ];
    let records = pinging(3, 800, faults);
    let heard: Vec<(SimTime, u64)> = records
        .iter()
        .filter(|record| record.node == NodeId(1))
        .filter_map(|record| match record.event {
            Event::Recv { number, .. } => Some((record.t, number)),
            _ => None,
        })
        .collect();
    let expected = [(110, 0), (210, 1), (575, 2), (575, 3), (575, 4), (610, 5), (710, 6)];
    assert_eq!(heard, expected.map(|(time, number)| (at(time), number)));
    assert_eq!(times(&records, 2, receives), every(100, 110, 710), "others hear as before");
}

#[test]
fn a_deadline_that_passed_while_a_process_stood_still_is_met_when_it_goes_on() {
    let faults = vec![
        fault(250, Fault::Pause { node: node(0) }),
        fault(575, Fault::Resume { node: node(0) }),
    ];
    let sent = times(&pinging(2, 850, faults), 0, sends);
    assert_eq!(sent, [100, 200, 575, 575, 575, 600, 700, 800].map(at));
}

/// A paused process must not give up a leader that is still there when it resumes: messages that
/// arrived meanwhile come before the deadline that passed.
#[test]
fn what_waited_is_handled_before_the_deadline_that_passed() {
    let text = "about = ''\nprotocol = 'le-a'\nnodes = 2\nuntil = '12s'\nparams.listen = '2.5s'
        faults = [{ at = '2s', what = 'pause', node = 0 },
        { at = '8s', what = 'resume', node = 0 }]";
    let records = scenario(text).trace(1);
    assert_eq!(followed(&records, 0), [1]);
    let timed_out = times(&records, 0, |event| matches!(event, Event::Timer { .. }));
    assert_eq!(timed_out, [], "it followed process 1 from its first message on");
}

#[test]
fn a_process_that_stands_still_is_asked_when_it_goes_on() {
    let text = |resume: &str| {
        format!(
            "about = ''\nprotocol = 'le-a'\nnodes = 3\nuntil = '4s'\nparams.bye-copies = 1
             faults = [{{ at = '1s', what = 'pause', node = 2 }},
             {{ at = '2s', what = 'leave', node = 2 }}{resume}]"
        )
    };
    let resume = ", { at = '3s', what = 'resume', node = 2 }";
    let records = scenario(&text(resume)).trace(1);
    assert_eq!(times(&records, 2, |event| *event == Event::Leave), [at(3_000)]);
    assert_eq!(times(&records, 0, hears_kind("bye")), [at(3_100)]);
    assert!(times(&scenario(&text("")).trace(1), 0, hears_kind("bye")).is_empty());
}

/// Over many seeds, because the delay is random.
#[test]
fn a_slow_process_reacts_late_by_at_most_the_bound_and_never_early() {
    let mut latest = Duration::ZERO;
    for seed in 0..50 {
        let faults = vec![
            fault(150, Fault::Slow { node: node(0), by: ms(60) }),
            fault(150, Fault::Slow { node: node(1), by: ms(30) }),
            fault(1_950, Fault::Slow { node: node(0), by: ms(0) }),
            fault(1_950, Fault::Slow { node: node(1), by: ms(0) }),
        ];
        let plan = plan(3, constant(10, Loss::None), ms(3_000), faults);
        let records = trace::<Ping>(&Pings::to_all(ms(100)), &plan, seed);
        let sent = times(&records, 0, sends);
        for (&sent, due) in sent.iter().zip(every(100, 100, 3_000)) {
            let slow = (at(150)..at(1_950)).contains(&due);
            assert!(sent >= due && sent <= due + ms(if slow { 60 } else { 0 }), "seed {seed}");
            latest = Duration::from_nanos(latest.as_nanos().max(sent.since(due).as_nanos()));
        }
        assert!(sent.len() >= 29, "late ones do not move the others");
        for (&heard, sent) in times(&records, 1, receives).iter().zip(&sent) {
            let most = if *sent < at(1_950) { ms(10) + ms(30) } else { ms(10) };
            assert!(heard >= *sent + ms(10) && heard <= *sent + most, "seed {seed}");
        }
        for (heard, sent) in times(&records, 2, receives).iter().zip(sent) {
            assert_eq!(*heard, sent + ms(10), "process 2 is not slow, seed {seed}");
        }
    }
    assert!(latest > ms(57), "in a thousand deadlines, some come near the bound: {latest}");
}

/// What process 1 received from process 0, by number.
fn numbers(records: &[Record], who: u64) -> Vec<u64> {
    let mine = records.iter().filter(|record| record.node.0 == who);
    let heard = mine.filter_map(|record| match record.event {
        Event::Recv { number, .. } => Some(number),
        _ => None,
    });
    heard.collect()
}

/// Messages come far more often than it reacts; it is also paused for a while, and fast again at
/// the end.
#[test]
fn a_slow_process_handles_messages_in_the_order_they_arrived() {
    for seed in 0..50 {
        let slow = |by| Fault::Slow { node: node(1), by: ms(by) };
        let faults = vec![
            fault(25, slow(60)),
            fault(200, Fault::Pause { node: node(1) }),
            fault(300, Fault::Resume { node: node(1) }),
            fault(400, Fault::Pause { node: node(1) }),
            fault(410, Fault::Resume { node: node(1) }),
            fault(495, slow(0)),
        ];
        let plan = plan(2, constant(10, Loss::None), ms(700), faults);
        let records = trace::<Ping>(&Pings::to_all(ms(5)), &plan, seed);
        let heard = numbers(&records, 1);
        assert!(heard.iter().copied().eq(0..heard.len() as u64), "seed {seed}: {heard:?}");
        assert_eq!(heard.len(), (700 - 10) / 5, "none is lost, seed {seed}");
        for (&sent, heard) in times(&records, 0, sends).iter().zip(times(&records, 1, receives)) {
            let arrived = sent + ms(10);
            let mut latest = arrived + ms(if arrived < at(555) { 60 } else { 0 });
            for (from, to) in [(at(200), at(300)), (at(400), at(410))] {
                if arrived < to && latest >= from {
                    latest = latest.max(to); // it may have stood still when its turn came
                }
            }
            assert!(heard >= arrived && heard <= latest, "seed {seed}: {arrived} {heard}");
        }
    }
}

/// It is paused over its deadlines, and its clock is set over one: late is late all the same, and
/// earlier arrivals come first.
#[test]
fn a_slow_process_is_late_also_when_it_goes_on_or_its_clock_is_set() {
    let (mut resumed, mut set) = (Vec::new(), Vec::new());
    for seed in 0..50 {
        let faults = vec![
            fault(150, Fault::Slow { node: node(0), by: ms(60) }),
            fault(280, Fault::Pause { node: node(0) }),
            fault(350, Fault::Resume { node: node(0) }),
            fault(550, Fault::Jump { node: node(0), by: ms(60) }),
        ];
        let plan = plan(2, constant(10, Loss::None), ms(620), faults);
        let records = trace::<Ping>(&Pings::to_all(ms(100)), &plan, seed);
        let sent = times(&records, 0, sends);
        let first = |from, to| sent.iter().find(|sent| (at(from)..=at(to)).contains(sent)).copied();
        resumed.push(first(350, 410).expect("the deadline of 300"));
        set.push(first(550, 610).expect("the deadline of 600"));
    }
    for (times, from) in [(resumed, at(350)), (set, at(550))] {
        let late = times.iter().filter(|time| **time > from + ms(1)).count();
        assert!(late > 40, "{times:?}");
    }
}

#[test]
fn timers_follow_the_local_clock() {
    // A quarter too fast: 100 ms on its clock are 80 ms. A fifth too slow: 125 ms.
    for (parts_per_billion, step) in [(250_000_000, 80), (-200_000_000, 125)] {
        let drift = Fault::Drift { node: node(0), parts_per_billion };
        let sent = times(&pinging(2, 1_000, vec![fault(0, drift)]), 0, sends);
        assert_eq!(sent, every(step, step, 1_000));
    }
    // A tenth too fast from 250 ms on: 300 on its clock is 50/1.1 ms later, rounded up to the
    // nanosecond, and so on.
    let drift = Fault::Drift { node: node(0), parts_per_billion: 100_000_000 };
    let sent = times(&pinging(2, 700, vec![fault(250, drift)]), 0, sends);
    let later = (0..5).map(|i: u64| at(250) + ns((50_000_000 + i * 100_000_000) * 10, 11));
    assert_eq!(sent, [at(100), at(200)].into_iter().chain(later).collect::<Vec<_>>());
}

/// A fraction of a nanosecond counts as a whole one: a deadline is never early.
fn ns(nanos: u64, parts: u64) -> Duration {
    Duration::from_nanos(nanos.div_ceil(parts))
}

#[test]
fn a_clock_set_forward_makes_deadlines_due_at_once() {
    let jump = |by| vec![fault(250, Fault::Jump { node: node(0), by: ms(by) })];
    // It reads 290: the next message is due at 300, ten milliseconds from now.
    let ahead = times(&pinging(2, 500, jump(40)), 0, sends);
    assert_eq!(ahead, [100, 200, 260, 360, 460].map(at));
    // It reads 450: those of 300 and 400 are due now.
    let past = times(&pinging(2, 500, jump(200)), 0, sends);
    assert_eq!(past, [100, 200, 250, 250, 300, 400, 500].map(at));
}

#[test]
fn a_leader_with_a_fast_clock_announces_more_often() {
    let text = "about = ''\nprotocol = 'le-a'\nnodes = 2\nuntil = '4.1s'
        faults = [{ at = '0s', what = 'drift', node = 1, parts-per-billion = 250_000_000 }]";
    let records = scenario(text).trace(1);
    assert_eq!(times(&records, 1, sends), every(800, 0, 4_100));
    assert_eq!(times(&records, 0, hears_from(1)), every(800, 100, 4_100));
}

#[test]
fn who_is_absent_is_not_there_until_it_joins() {
    let text = "about = ''\nprotocol = 'al'\nnodes = 3\nabsent = [2]\nuntil = '4.5s'
        faults = [{ at = '2.35s', what = 'join', node = 2 }]";
    let records = scenario(text).trace(1);
    assert_eq!(times(&records, 2, |event| *event == Event::Start { incarnation: 1 }), [at(2_350)]);
    assert_eq!(times(&records, 2, sends), every(1_000, 2_350, 4_500));
    assert_eq!(times(&records, 2, hears_from(0)), every(1_000, 3_100, 4_500));
    assert_eq!(times(&records, 0, hears_from(2)), every(1_000, 2_450, 4_500));
    assert_eq!(followed(&records, 0), [2]);
}

#[test]
fn who_leaves_says_goodbye_and_is_gone_for_good() {
    let text = "about = ''\nprotocol = 'le-a'\nnodes = 3\nuntil = '6s'\nparams.bye-copies = 2
        faults = [{ at = '2.5s', what = 'leave', node = 'leader' }]";
    let records = scenario(text).trace(1);
    assert_eq!(times(&records, 2, |event| *event == Event::Leave), [at(2_500)]);
    assert_eq!(times(&records, 2, |_| true).last(), Some(&at(2_500)), "then nothing more");
    for who in [0, 1] {
        assert_eq!(times(&records, who, hears_kind("bye")), [at(2_600); 2]);
        assert_eq!(followed(&records, who), [1], "T_L is infinite: only a Bye could tell");
    }
}

#[test]
fn who_resigns_stays_and_follows() {
    let text = "about = ''\nprotocol = 'le-a'\nnodes = 3\nuntil = '6s'
        faults = [{ at = '2.5s', what = 'resign', node = 'leader' }]";
    let records = scenario(text).trace(1);
    let asked = times(&records, 2, |event| matches!(event, Event::Command { taken: true, .. }));
    assert_eq!(asked, [at(2_500)]);
    assert!((0..3).all(|who| followed(&records, who) == [1]));
    assert!(times(&records, 2, receives).last() > Some(&at(5_000)), "it is still there");
}

/// All announce for ever, and each reaches those it can.
fn cut_and_healed(pairs: &[(&[u32], &[u32])]) -> Vec<Record> {
    let cut = |&(from, to): &(&[u32], &[u32])| Fault::Cut { from: from.into(), to: to.into() };
    let mut faults: Vec<_> = pairs.iter().map(|pair| fault(950, cut(pair))).collect();
    faults.push(fault(3_950, Fault::Heal));
    let plan = plan(3, Network::default(), ms(6_000), faults);
    trace::<AnnounceListen>(&params(Variant::Al, Duration::MAX), &plan, 1)
}

#[test]
fn a_cut_holds_from_whom_to_whom_it_says_until_it_is_healed() {
    let all = every(1_000, 100, 5_900);
    let around: Vec<_> = [100, 4_100, 5_100].map(at).to_vec();
    // 0 alone against 1 and 2; only from 0 to 2; and not transitive: 0 and 1, 1 and 2 hear each
    // other, 0 and 2 do not.
    let full: &[(&[u32], &[u32])] = &[(&[0], &[1, 2]), (&[1, 2], &[0])];
    let one_way: &[(&[u32], &[u32])] = &[(&[0], &[2])];
    let not_transitive: &[(&[u32], &[u32])] = &[(&[0], &[2]), (&[2], &[0])];
    for pairs in [full, one_way, not_transitive] {
        let records = cut_and_healed(pairs);
        for (from, to) in [(0, 1), (1, 0), (0, 2), (2, 0), (1, 2), (2, 1)] {
            let severed = pairs.iter().any(|(f, t)| f.contains(&from) && t.contains(&to));
            let heard = times(&records, to, hears_from(from));
            assert_eq!(heard, *if severed { &around } else { &all }, "{pairs:?}: {from} to {to}");
        }
    }
}

#[test]
fn one_link_is_mended_and_the_other_cuts_stay() {
    let cut = |from: &[u32], to: &[u32]| Fault::Cut { from: from.into(), to: to.into() };
    let mend = |from: &[u32], to: &[u32]| Fault::Mend { from: from.into(), to: to.into() };
    let faults = vec![
        fault(950, cut(&[0, 1, 2], &[0, 1, 2])),
        fault(950, cut(&[0], &[1])),
        fault(2_950, mend(&[0], &[1])),
        fault(3_950, mend(&[1, 2], &[2, 1])),
    ];
    let plan = plan(3, Network::default(), ms(6_000), faults);
    let records = trace::<AnnounceListen>(&params(Variant::Al, Duration::MAX), &plan, 1);
    for (from, to, again) in
        [(0, 1, 3_100), (1, 2, 4_100), (2, 1, 4_100), (0, 2, 6_100), (1, 0, 6_100), (2, 0, 6_100)]
    {
        let expected: Vec<_> = every(1_000, 100, 5_900)
            .into_iter()
            .filter(|t| *t < at(950) || *t >= at(again))
            .collect();
        assert_eq!(times(&records, to, hears_from(from)), expected, "{from} to {to}");
    }
}

#[test]
fn a_cut_strikes_what_is_sent_while_it_lasts_not_what_is_under_way() {
    let cut = Fault::Cut { from: vec![0], to: vec![1] };
    let records = pinging(2, 600, vec![fault(205, cut), fault(305, Fault::Heal)]);
    assert_eq!(times(&records, 1, receives), [110, 210, 410, 510].map(at));
}

/// In LE-M the leader is the process that woke first, so "leader" cannot stand for a fixed id.
#[test]
fn the_leader_is_whom_most_follow_at_that_moment() {
    let crashed = |records: &[Record]| {
        let mut who = records.iter().filter(|record| record.event == Event::Crash);
        who.next().map(|record| record.node.0)
    };
    let mut leaders = std::collections::BTreeSet::new();
    for seed in 0..20 {
        let faults = vec![fault(3_500, Fault::Crash { node: Who::Leader })];
        let plan = plan(8, constant(100, Loss::Uncorrelated(p(0.2))), ms(3_500), faults);
        let records = trace::<AnnounceListen>(&params(Variant::LeM, ms(9_000)), &plan, seed);
        let votes: Vec<u64> = (0..8).map(|who| followed(&records, who)[0]).collect();
        let count = |leader: u64| votes.iter().filter(|vote| **vote == leader).count();
        let most = (0..8).max_by_key(|leader| (count(*leader), *leader));
        assert_eq!(
            crashed(&records),
            most,
            "{votes:?}; REPLAY WITH: bellwether trace le-m --nodes 8 --loss .2 --listen 9s \
             --crash-leader 3.5s --until 3.5s --seed {seed}"
        );
        leaders.extend(most);
    }
    assert!(leaders.len() > 4, "{leaders:?}");
}

#[test]
fn what_happens_to_who_is_not_there_changes_nothing() {
    let gone = node(2);
    let faults = vec![
        Fault::Crash { node: gone },
        Fault::Pause { node: gone },
        Fault::Resume { node: gone },
        Fault::Slow { node: gone, by: ms(50) },
        Fault::Leave { node: gone },
        Fault::Resign { node: gone },
        Fault::Resume { node: node(1) }, // who does not stand still
    ];
    let timed = (5..).zip(faults).map(|(i, what)| fault(i * 100, what)).collect();
    let run = |faults| {
        let plan = Plan { absent: vec![2], ..plan(3, Network::default(), ms(4_000), faults) };
        trace::<AnnounceListen>(&params(Variant::LeS, ms(2_500)), &plan, 1)
    };
    assert_eq!(run(timed), run(Vec::new()));
}

/// It runs next to well-behaved processes, which must not notice.
#[test]
fn a_process_that_asks_to_be_woken_in_the_past_cannot_stop_the_world() {
    for back in [ms(0), ms(1), ms(1_000)] {
        let plan = plan(3, constant(25, Loss::None), ms(60), Vec::new());
        let mut tracer = Tracer::default();
        let outcome = World::<Spinner>::new(back).run(&plan, RunSeed::new(1, 0), &mut tracer);
        assert!(outcome.ended >= at(59), "time went on to the horizon, not to {}", outcome.ended);
        let records = tracer.records;
        assert!(records.is_sorted_by_key(|record| record.t), "and never back");
        // They send every 10 ms until they hear each other, then also as soon as they hear.
        assert_eq!(times(&records, 1, sends), [10, 20, 30, 35, 45, 55, 60].map(at));
        assert_eq!(times(&records, 0, hears_from(1)), [35, 45, 55, 60].map(at));
    }
}

/// Correction 4 of the announce-listen family, and the contract's run loop, step 2.
#[test]
fn a_message_comes_before_a_timer_of_the_same_instant() {
    let text = |suppress: &str| {
        format!(
            "about = ''\nprotocol = 'le-s'\nnodes = 2\nuntil = '3s'\n[params]
             suppress = '{suppress}'
             mapping = 'standing'\n best = 1\n worst = 0"
        )
    };
    // Process 1 wakes at 0 and is heard at 100 ms; process 0 wakes at T_S.
    for (suppress, speaks) in [("99.999999ms", true), ("100ms", false), ("100.000001ms", false)] {
        let records = scenario(&text(suppress)).trace(1);
        assert_eq!(!times(&records, 0, sends).is_empty(), speaks, "T_S = {suppress}");
        assert_eq!(followed(&records, 0), [1]);
    }
}

/// What must hold in every run.
#[test]
fn no_trace_shows_a_process_acting_while_it_is_gone_or_stands_still() {
    let delay = Delay::Uniform { min: ms(10), max: ms(200) };
    let networks = [constant(100, Loss::Uncorrelated(p(0.2))), Network::uniform(delay, Loss::None)];
    for seed in 0..60u64 {
        let variant = Variant::ALL[seed as usize % Variant::ALL.len()];
        let rough = Rough::new(variant, &networks[seed as usize % 2], seed);
        let records = rough.scenario.trace(seed);
        assert!(records.is_sorted_by_key(|record| record.t), "{}", rough.replay());
        let mut able = [false; NODES as usize];
        let mut sent = std::collections::BTreeSet::new();
        for record in &records {
            let who = record.node.0 as usize;
            match &record.event {
                Event::Start { .. } | Event::Restart { .. } | Event::Resume => able[who] = true,
                Event::Send { number, .. } => {
                    assert!(sent.insert((who as u64, *number, record.t)), "{}", rough.replay());
                }
                Event::Recv { from, number, sent: when, .. } => {
                    let known = sent.contains(&(from.0, *number, *when)) && *when <= record.t;
                    assert!(known && *from != record.node, "{record:?}; {}", rough.replay());
                }
                _ => {}
            }
            let happens_to_it = matches!(record.event, Event::Drop { .. } | Event::Jump { .. })
                || matches!(record.event, Event::Crash | Event::Pause);
            assert!(able[who] || happens_to_it, "{record:?}; {}", rough.replay());
            if matches!(record.event, Event::Crash | Event::Pause | Event::Leave) {
                able[who] = false;
            }
        }
    }
}
