//! What a member remembers, and what a reader gets of it.

use super::*;
use crate::clock::BootTime;

fn at(millis: u64) -> Instant {
    Instant::from_nanos(millis * 1_000_000)
}

fn head(incarnation: u64) -> LifeHeader {
    LifeHeader {
        boot: "b".to_owned(),
        group: "g".to_owned(),
        protocol: "local-leader".to_owned(),
        params: "{}".to_owned(),
        incarnation,
        rank: 1,
        candidacy: Candidacy::default(),
        members: vec![NodeId(2), NodeId(3)],
        founders: None,
        seed: 9,
        memory: Some("ff".to_owned()),
        work: None,
    }
}

fn belief(leaders: &[NodeId], term: u64, until: Instant) -> Leadership<'_> {
    let (term, stage) = (Term::new(term), Stage::Decided);
    Leadership { leaders, term, until, stage }
}

fn writer() -> (PastWriter, Arc<Ring>) {
    let ring = Arc::new(Ring::new());
    (PastWriter::new(Arc::clone(&ring), NodeId(1)), ring)
}

/// All records but the last, and how many entries were lost.
fn read(ring: &Arc<Ring>, last: Option<Duration>) -> (Vec<Record>, u64) {
    let clock = Arc::new(CheckedClock::new(Arc::new(BootTime), None));
    let mut records: Vec<Record> = Past::new(ring, &clock, NodeId(1), last).collect();
    let times: Vec<SimTime> = records.iter().map(|record| record.t).collect();
    assert!(times.is_sorted(), "{records:?}");
    match records.pop().map(|record| record.event) {
        Some(Event::Collected { lost, wall, .. }) if wall > 0 => (records, lost),
        other => panic!("{other:?}"),
    }
}

fn kinds(records: &[Record]) -> String {
    let name = |record: &Record| match &record.event {
        Event::Begin(head) => format!("begin {}", head.incarnation),
        Event::Leadership { leaders, until, .. } => {
            let until = until.map_or(0, |until| until.as_nanos() / 1_000_000);
            format!("{leaders:?} until {until}")
        }
        Event::Fact(Fact::Held { until }) => format!("held {}", until.as_nanos() / 1_000_000),
        Event::Command { command, .. } => command.clone(),
        Event::Recv { from, message, .. } => format!("{message} of {from}"),
        Event::Withdraw { why } => why.to_string(),
        Event::Peers { members } => format!("sees {}", members.len()),
        other => format!("{other:?}"),
    };
    records.iter().map(name).collect::<Vec<_>>().join(", ")
}

#[test]
fn a_renewal_changes_the_last_belief_and_takes_no_room() {
    let (mut writer, ring) = writer();
    let me = [NodeId(1)];
    writer.begin(at(1), &head(7));
    writer.belief(at(2), &belief(&me, 5, at(10)));
    for step in 1..100_000 {
        writer.belief(at(2 + step), &belief(&me, 5, at(10 + step)));
    }
    assert_eq!(ring.written.load(Ordering::Relaxed), 3);
    let (records, lost) = read(&ring, None);
    let text = kinds(&records);
    assert_eq!((text.as_str(), lost), ("begin 7, [NodeId(1)] until 100009, held 100009", 0));
    let Event::Begin(begun) = &records[0].event else { panic!("{records:?}") };
    assert_eq!((begun.seed, &begun.memory), (0, &None), "what only a replay needs is left out");
    assert_eq!(begun.members, [NodeId(2), NodeId(3)]);
    // A lease that had run out begins another reign.
    writer.belief(at(200_000), &belief(&me, 5, at(200_008)));
    assert!(kinds(&read(&ring, None).0).ends_with("held 100009, [NodeId(1)] until 200008"));
}

#[test]
fn only_what_changed_a_belief_is_remembered_of_messages_and_every_last_will() {
    let (mut writer, ring) = writer();
    let (one, two) = ([NodeId(1)], [NodeId(2)]);
    writer.begin(at(1), &head(7));
    writer.received(at(2), NodeId(2), "election", (8, 1));
    writer.belief(at(2), &belief(&two, 5, at(10)));
    writer.received(at(3), NodeId(2), "election", (8, 2));
    writer.belief(at(3), &belief(&two, 5, at(11)));
    writer.received(at(4), NodeId(3), "release", (9, LAST_NUMBER));
    writer.belief(at(4), &belief(&two, 5, at(11)));
    writer.received(at(5), NodeId(2), "reply", (8, 3));
    writer.belief(at(5), &belief(&two, 5, at(12)));
    writer.step();
    writer.belief(at(12), &belief(&[], 0, Instant::NEVER));
    writer.belief(at(13), &belief(&one, 6, at(20)));
    writer.command(at(14), Command::Transfer(NodeId(3)), true);
    writer.belief(at(14), &belief(&[], 0, Instant::NEVER));
    writer.members(at(15), &[NodeId(2)]);
    writer.withdraw(at(16), "a reason");
    let told = "begin 7, election of 2, [NodeId(2)] until 12, release of 3, held 12, [] until 0, \
                [NodeId(1)] until 20, Transfer(NodeId(3)), [] until 0, sees 1, a reason";
    assert_eq!(kinds(&read(&ring, None).0), told);
}

#[test]
fn what_is_older_is_overwritten_and_a_reader_still_knows_the_life() {
    let (mut writer, ring) = writer();
    writer.begin(at(1), &head(7));
    let all = 3 * ENTRIES;
    for step in 0..all {
        let leaders = [NodeId(1 + step % 2)];
        writer.belief(at(2 + step), &belief(&leaders, step + 1, at(10 + step)));
    }
    let (records, lost) = read(&ring, None);
    assert_eq!(lost, all + 2 - ENTRIES);
    assert_eq!(records.len() as u64, ENTRIES + 1);
    assert!(matches!(&records[0].event, Event::Begin(head) if head.incarnation == 7));
    let size: usize = ring.words.len() * size_of::<AtomicU64>();
    assert_eq!(size, BYTES);
}

#[test]
fn the_last_time_begins_with_what_was_believed_before_it() {
    let (mut writer, ring) = writer();
    let now = BootTime.now();
    let ago = |secs: u64| Instant::from_nanos(now.as_nanos() - secs * 1_000_000_000);
    let (one, two) = ([NodeId(1)], [NodeId(2)]);
    writer.begin(ago(100), &head(7));
    writer.belief(ago(90), &belief(&one, 5, Instant::NEVER));
    writer.belief(ago(80), &belief(&two, 6, Instant::NEVER));
    writer.command(ago(70), Command::Campaign, true);
    writer.belief(ago(20), &belief(&one, 7, Instant::NEVER));
    let last = |secs| kinds(&read(&ring, Some(Duration::from_secs(secs))).0);
    assert_eq!(last(50), "begin 7, [NodeId(2)] until 0, [NodeId(1)] until 0");
    assert_eq!(last(1), "begin 7, [NodeId(1)] until 0");
    assert!(last(75).contains("Campaign"));
    let (mut writer, ring) = self::writer();
    assert_eq!(kinds(&read(&ring, None).0), "", "it has not begun");
    writer.begin(ago(5), &head(8));
    assert_eq!(kinds(&read(&ring, Some(Duration::from_secs(1))).0), "begin 8");
}

#[test]
fn a_reader_never_sees_half_an_entry() {
    let (mut writer, ring) = writer();
    writer.begin(at(1), &head(7));
    std::thread::scope(|scope| {
        let own = Arc::clone(&ring);
        let reading = scope.spawn(move || {
            let mut seen = 0;
            while seen < 200_000 {
                for record in read(&own, None).0 {
                    // Each belief is written with a term that is its time.
                    if let Event::Leadership { term, .. } = record.event {
                        assert_eq!(term.map(Term::number), Some(record.t.as_nanos()));
                        seen += 1;
                    }
                }
            }
        });
        for step in 2.. {
            let leaders = [NodeId(step)];
            let now = Instant::from_nanos(1_000_000 + step);
            writer.belief(now, &belief(&leaders, now.as_nanos(), Instant::NEVER));
            if reading.is_finished() {
                break;
            }
        }
    });
}

#[test]
fn every_command_is_remembered_as_it_was_given() {
    let (mut writer, ring) = writer();
    writer.begin(at(1), &head(7));
    let all = [
        Command::Campaign,
        Command::Resign,
        Command::Transfer(NodeId(3)),
        Command::Leave,
        Command::Rank(9),
        Command::Add(NodeId(4)),
        Command::Remove(NodeId(5)),
        Command::Replace(NodeId(6), NodeId(7)),
        Command::Lengths(None, Some(100)),
        Command::Candidacy(Candidacy { priority: 7, witness: true }),
        Command::Candidacy(Candidacy::default()),
    ];
    all.iter().for_each(|command| writer.command(at(2), *command, true));
    let (records, _) = read(&ring, None);
    let told: Vec<String> = records[1..].iter().map(|it| kinds(std::slice::from_ref(it))).collect();
    assert_eq!(told, all.map(|command| format!("{command:?}")));
}

/// Somebody reads slowly, and the lease is renewed meanwhile.
#[test]
fn the_end_of_a_lease_is_noted_before_a_reader_gets_it() {
    let (mut writer, ring) = writer();
    let me = [NodeId(1)];
    writer.begin(at(1), &head(7));
    writer.belief(at(2), &belief(&me, 5, at(10)));
    let clock = Arc::new(CheckedClock::new(Arc::new(BootTime), None));
    let will = LastWill::new().unwrap();
    let past = Past::new(&ring, &clock, NodeId(1), None).noting(Some(&will));
    assert_eq!(will.told_until().unwrap(), Instant::ZERO, "nothing is told yet");
    writer.belief(at(5), &belief(&me, 5, at(20)));
    let mut latest = Instant::ZERO;
    for record in past {
        if let Event::Leadership { until: Some(until), .. } | Event::Fact(Fact::Held { until }) =
            record.event
        {
            latest = latest.max(until);
        }
        assert!(will.told_until().unwrap() >= latest);
    }
    assert_eq!(latest, at(20), "the renewal was told");
    assert_eq!(will.told_until().unwrap(), latest);
}
