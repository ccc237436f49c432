//! A run as text: JSON lines for programs, a transcript for people, a digest to compare runs.
//!
//! | function | gives | used by |
//! |---|---|---|
//! | [`to_json_lines`] | one object per line | `trace`, `check`, lab |
//! | [`transcript`] | one aligned line per record | golden tests, `trace` on a terminal |
//! | [`digest`] | 64 bits | "same seed, same run" |
//!
//! All are functions of the records alone. The JSON is complete. The transcript leaves out what a
//! reader can see elsewhere in it (when a received message was sent). It also leaves out the facts
//! that accompany every change of leadership and of leases: they are for programs and diagrams.
//! Only a list of voters that has changed is told.

use bellwether_core::{Event, Fact, Fnv1a, Instant, NodeId, Record, SimTime, Stage, Term, Work};
use std::collections::BTreeMap;
use std::fmt::{self, Write as _};
use std::io;

/// Appends the records to `out`, one JSON object per line.
pub fn to_json_lines(records: &[Record], out: &mut String) {
    for record in records {
        out.push_str(&serde_json::to_string(record).expect(IS_JSON));
        out.push('\n');
    }
}

/// A 64-bit digest of the run: FNV-1a over its JSON lines. It is the same on every machine and in
/// every version, as long as the records are.
pub fn digest(records: &[Record]) -> u64 {
    let mut hash = Hashed::default();
    for record in records {
        serde_json::to_writer(&mut hash, record).expect(IS_JSON);
        hash.0.add(b"\n");
    }
    hash.0.value()
}

/// The run as text for people: one line per record except facts, `time  process  what happened`.
///
/// Times are in seconds with 3 decimals, or with 6 or 9 where these are needed to be exact. The
/// decimal point is always in the same column.
pub fn transcript(records: &[Record]) -> String {
    let lists = lists(records);
    let told = |(index, record): &(usize, &Record)| {
        !matches!(record.event, Event::Fact(_)) || lists.contains_key(index)
    };
    let told = records.iter().enumerate().filter(told);
    let (places, records): (Vec<usize>, Vec<&Record>) = told.unzip();
    let times: Vec<String> = records.iter().map(|record| seconds(record.t)).collect();
    let before_point = |time: &String| time.find('.').unwrap_or(time.len());
    let whole_width = times.iter().map(before_point).max().unwrap_or(0).max(TIME_WIDTH);
    let rest_width = times.iter().map(|time| time.len() - before_point(time)).max().unwrap_or(0);
    let id_width = records.iter().map(|record| record.node.to_string().len()).max().unwrap_or(0);
    let mut out = String::new();
    for ((record, time), place) in records.iter().zip(&times).zip(places) {
        let (whole, rest) = time.split_at(before_point(time));
        out.push_str(&format!("{whole:>whole_width$}{rest:<rest_width$}"));
        out.push_str(&format!("  {:>id_width$}  ", record.node.0));
        match lists.get(&place) {
            Some(list) => out.push_str(list),
            None => what_happened(record, &mut out),
        }
        out.push('\n');
    }
    out
}

/// The lists of voters, by the place of their records, in words: where the list of a process is
/// another one than before, or became committed.
fn lists(records: &[Record]) -> BTreeMap<usize, String> {
    let mut told = BTreeMap::new();
    let mut last = BTreeMap::new();
    for (place, Record { node, event, .. }) in records.iter().enumerate() {
        let Event::Fact(Fact::List { version, committed }) = event else { continue };
        let lengths = records.get(place + 1).and_then(|record| match record.event {
            Event::Fact(Fact::Lengths { lock, drift_ppm, .. }) => Some((lock, drift_ppm)),
            _ => None,
        });
        let from = place + 1 + usize::from(lengths.is_some());
        let voter = |record: &Record| match record.event {
            Event::Fact(Fact::Voter { peer }) => Some(peer),
            _ => None,
        };
        let voters: Vec<NodeId> = records[from..].iter().map_while(voter).collect();
        let open = if *committed { "" } else { ", not committed" };
        let mut text = format!("list {version}: {} vote{open}", list(voters.iter()));
        if let Some((lock, drift_ppm)) = lengths {
            text.push_str(&format!(", lock = {lock}, drift-ppm = {drift_ppm}"));
        }
        if last.insert(*node, text.clone()).as_ref() != Some(&text) {
            told.insert(place, text);
        }
    }
    told
}

/// Room for a quarter of an hour, so that most transcripts use the same columns.
const TIME_WIDTH: usize = 4;

/// Records hold strings and numbers under fixed keys, and neither of the writers here fails.
const IS_JSON: &str = "a record can always be written as JSON";

/// A writer that keeps only the hash.
#[derive(Default)]
struct Hashed(Fnv1a);

impl io::Write for Hashed {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.add(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// `0.512s`, `0.512345s` or `0.512345678s`: the shortest of the three that is exact.
fn seconds(t: SimTime) -> String {
    if t == SimTime::NEVER {
        return t.to_string();
    }
    let (whole, nanos) = (t.as_nanos() / 1_000_000_000, t.as_nanos() % 1_000_000_000);
    match nanos {
        _ if nanos.is_multiple_of(1_000_000) => format!("{whole}.{:03}s", nanos / 1_000_000),
        _ if nanos.is_multiple_of(1_000) => format!("{whole}.{:06}s", nanos / 1_000),
        _ => format!("{whole}.{nanos:09}s"),
    }
}

fn what_happened(record: &Record, out: &mut String) {
    let told = match &record.event {
        Event::Begin(head) => write!(
            out,
            "{} in group {}, on machine {}",
            OneLine(&head.protocol),
            OneLine(&head.group),
            OneLine(&head.boot)
        ),
        Event::Start { incarnation: 0 | 1 } => write!(out, "start"),
        Event::Start { incarnation } => write!(out, "start (life {incarnation})"),
        Event::Send { to, message, number } => {
            let to = to.map_or_else(|| "all".to_owned(), |to| to.to_string());
            write!(out, "send {} #{number} → {to}", OneLine(message))
        }
        Event::Recv { from, message, number, .. } => {
            write!(out, "recv {} #{number} ← {from}", OneLine(message))
        }
        Event::Drop { from, message, number, why, .. } => {
            write!(out, "lost {} #{number} ← {from} ({})", OneLine(message), OneLine(why))
        }
        Event::Timer { timer } => write!(out, "timer {}", OneLine(timer)),
        Event::Store { bytes } => write!(out, "store {bytes} bytes"),
        Event::Crash => write!(out, "crash"),
        Event::Restart { incarnation } => write!(out, "restart (life {incarnation})"),
        Event::Pause => write!(out, "pause"),
        Event::Resume => write!(out, "resume"),
        Event::Command { command, taken } => {
            let answer = if *taken { "taken" } else { "refused" };
            write!(out, "command {} {answer}", OneLine(command))
        }
        Event::Leave => write!(out, "leave"),
        Event::Jump { reads } => write!(out, "clock jumps to {reads}"),
        Event::Peers { members } => write!(out, "sees {}", list(members.iter())),
        Event::Reach { peer, up: true } => write!(out, "learns that {peer} is up"),
        Event::Reach { peer, up: false } => write!(out, "learns that {peer} is down"),
        Event::Cut { from, to } => {
            write!(out, "cut from {} to {}", list(from.iter()), list(to.iter()))
        }
        Event::Heal => write!(out, "all cuts are mended"),
        Event::Withdraw { why } => write!(out, "withdraws: {}", OneLine(why)),
        Event::Collected { .. } => write!(out, "is asked for its past"),
        Event::Fact(_) => return, // for programs
        Event::Guardian(_) => write!(out, "its guardian begins"),
        Event::Work { work: Work::Starts { run }, .. } => {
            write!(out, "its command starts (run {run})")
        }
        Event::Work { work: Work::Ended { run, .. }, .. } => {
            write!(out, "its command has ended (run {run})")
        }
        Event::Work { work: Work::Done, .. } => write!(out, "its guardian goes"),
        Event::Leadership { leaders, term, until, stage } => {
            out.write_str(&believes(record.node, leaders, *term, *until, *stage))
        }
    };
    debug_assert!(told.is_ok(), "a string takes what is written to it");
}

/// The belief of a process in words; diagrams use it too.
pub(crate) fn believes(
    me: NodeId,
    leaders: &[NodeId],
    term: Option<Term>,
    until: Option<Instant>,
    stage: Stage,
) -> String {
    let mut words = match (stage, leaders) {
        (Stage::Decided, []) => "follows nobody".to_owned(),
        (Stage::Decided, [only]) if *only == me => "leads".to_owned(),
        (Stage::Decided, _) if leaders.contains(&me) => {
            format!("leads with {}", list(leaders.iter().filter(|&&leader| leader != me)))
        }
        (Stage::Decided, _) => format!("follows {}", list(leaders.iter())),
        (Stage::Undecided, []) => "undecided".to_owned(),
        (Stage::Undecided, [only]) if *only == me => "undecided, provisionally itself".to_owned(),
        (Stage::Undecided, _) => format!("undecided, provisionally {}", list(leaders.iter())),
        (Stage::Suppressed, _) => "suppressed".to_owned(),
        (Stage::Aborted, _) => "gave up".to_owned(),
    };
    if let Some(term) = term {
        words.push_str(&format!(", term {term}"));
    }
    if let Some(until) = until {
        words.push_str(&format!(", until {until}"));
    }
    words
}

fn list<'a>(ids: impl Iterator<Item = &'a NodeId>) -> String {
    let ids: Vec<String> = ids.map(ToString::to_string).collect();
    ids.join(", ")
}

/// A text from a trace with its control characters made visible, so that a record is one line.
struct OneLine<'a>(&'a str);

impl fmt::Display for OneLine<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for character in self.0.chars() {
            if character.is_control() {
                write!(f, "{}", character.escape_default())?;
            } else {
                f.write_char(character)?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bellwether_core::Duration;

    fn at(millis: u64, node: u64, event: Event) -> Record {
        let t = SimTime::ZERO + Duration::from_millis(millis);
        Record { t, node: NodeId(node), event }
    }

    fn believing(leaders: &[u64], stage: Stage) -> Event {
        let leaders = leaders.iter().copied().map(NodeId).collect();
        Event::Leadership { leaders, term: None, until: None, stage }
    }

    fn one_of_each() -> Vec<Record> {
        let sent = SimTime::from_nanos(512_000_000);
        let (from, number) = (NodeId(3), 0);
        let until = Instant::from_nanos(9_500_000_000);
        let held = believes_for(&[12], Term::new(4), Some(until));
        vec![
            at(0, 3, Event::Start { incarnation: 1 }),
            at(0, 3, believing(&[3], Stage::Undecided)),
            at(512, 3, Event::Timer { timer: "Wake".into() }),
            at(512, 3, Event::Send { to: None, message: "announce".into(), number }),
            at(512, 3, Event::Send { to: Some(NodeId(12)), message: "query".into(), number: 1 }),
            at(
                612,
                5,
                Event::Recv {
                    from,
                    message: "announce".into(),
                    number,
                    sent,
                    life: None,
                    body: None,
                },
            ),
            at(612, 5, believing(&[3], Stage::Decided)),
            at(
                612,
                12,
                Event::Drop { from, message: "announce".into(), number, sent, why: "loss".into() },
            ),
            at(700, 12, believing(&[], Stage::Undecided)),
            at(700, 12, believing(&[3, 5], Stage::Undecided)),
            at(701, 12, believing(&[12], Stage::Decided)),
            at(702, 12, believing(&[3, 5], Stage::Decided)),
            at(703, 12, believing(&[12, 5], Stage::Decided)),
            at(704, 12, believing(&[], Stage::Decided)),
            at(705, 12, believing(&[], Stage::Suppressed)),
            at(706, 12, believing(&[], Stage::Aborted)),
            at(707, 12, held),
            at(800, 12, Event::Store { bytes: 24 }),
            at(900, 3, Event::Crash),
            at(1_000, 3, Event::Restart { incarnation: 2 }),
            at(1_000, 5, Event::Pause),
            at(1_100, 5, Event::Resume),
            at(1_200, 5, Event::Command { command: "Resign".into(), taken: true }),
            at(1_200, 5, Event::Command { command: "Rank(7)".into(), taken: false }),
            at(1_300, 5, Event::Jump { reads: until }),
            at(1_400, 5, Event::Fact(Fact::Locked { to: NodeId(3), until })),
            at(1_500, 5, Event::Leave),
        ]
    }

    fn believes_for(leaders: &[u64], term: Option<Term>, until: Option<Instant>) -> Event {
        let leaders = leaders.iter().copied().map(NodeId).collect();
        Event::Leadership { leaders, term, until, stage: Stage::Decided }
    }

    #[test]
    fn a_transcript_reads_as_a_story() {
        let expected = "
   0.000s   3  start
   0.000s   3  undecided, provisionally itself
   0.512s   3  timer Wake
   0.512s   3  send announce #0 → all
   0.512s   3  send query #1 → 12
   0.612s   5  recv announce #0 ← 3
   0.612s   5  follows 3
   0.612s  12  lost announce #0 ← 3 (loss)
   0.700s  12  undecided
   0.700s  12  undecided, provisionally 3, 5
   0.701s  12  leads
   0.702s  12  follows 3, 5
   0.703s  12  leads with 5
   0.704s  12  follows nobody
   0.705s  12  suppressed
   0.706s  12  gave up
   0.707s  12  leads, term 4, until 9.5s
   0.800s  12  store 24 bytes
   0.900s   3  crash
   1.000s   3  restart (life 2)
   1.000s   5  pause
   1.100s   5  resume
   1.200s   5  command Resign taken
   1.200s   5  command Rank(7) refused
   1.300s   5  clock jumps to 9.5s
   1.500s   5  leave
";
        assert_eq!(transcript(&one_of_each()), expected[1..]);
    }

    #[test]
    fn times_take_as_many_decimals_as_make_them_exact_and_keep_the_point_in_its_column() {
        let record = |nanos, node| Record {
            t: SimTime::from_nanos(nanos),
            node: NodeId(node),
            event: Event::Crash,
        };
        let records = [
            record(500_000_000, 1),
            record(500_001_000, 2),
            record(12_345_500_000_001, 3),
            record(u64::MAX, 4),
        ];
        let expected = "
    0.500s        1  crash
    0.500001s     2  crash
12345.500000001s  3  crash
never             4  crash
";
        assert_eq!(transcript(&records), expected[1..]);
    }

    #[test]
    fn a_record_stays_one_line_whatever_its_texts_hold() {
        let records = [at(1, 1, Event::Timer { timer: "a\nb\u{1b}[31m".into() })];
        assert_eq!(transcript(&records), "   0.001s  1  timer a\\nb\\u{1b}[31m\n");
        let mut json = String::new();
        to_json_lines(&records, &mut json);
        assert_eq!(json.lines().count(), 1);
    }

    #[test]
    fn nothing_gives_nothing() {
        assert_eq!(transcript(&[]), "");
    }

    #[test]
    fn json_lines_come_back_equal() {
        let records = one_of_each();
        let mut text = String::new();
        to_json_lines(&records, &mut text);
        let read = text.lines().map(|line| serde_json::from_str(line).expect("a record"));
        assert_eq!(read.collect::<Vec<Record>>(), records);
    }

    #[test]
    fn the_digest_is_fnv_1a_of_the_json_lines() {
        let records = one_of_each();
        let (mut text, mut hash) = (String::new(), Fnv1a::default());
        to_json_lines(&records, &mut text);
        hash.add(text.as_bytes());
        assert_eq!(digest(&records), hash.value());
    }

    #[test]
    fn runs_that_differ_in_anything_differ_in_their_digest() {
        let records = one_of_each();
        let whole = digest(&records);
        for index in 0..records.len() {
            let mut without = records.clone();
            without.remove(index);
            assert_ne!(digest(&without), whole);
            let mut later = records.clone();
            later[index].t += Duration::from_nanos(1);
            assert_ne!(digest(&later), whole);
        }
    }
}
