//! Accounts of records made by hand.

use super::*;
use crate::live::Trace;
use std::fmt::Write as _;

/// The parameters of a protocol with leases, and of one without.
fn params(protocol: &str) -> String {
    let entry = bellwether_protocols::choice::find(protocol).expect("there is one");
    entry.family.default_config().to_json()
}

/// The records of one member, in milliseconds, as a member remembers them.
struct Member {
    id: u64,
    protocol: &'static str,
    boot: &'static str,
    lines: String,
}

impl Member {
    fn new(id: u64) -> Self {
        Self { id, protocol: "local-leader", boot: "b", lines: String::new() }
    }

    fn add(mut self, ms: u64, rest: &str) -> Self {
        let (t, id) = (ms * 1_000_000, self.id);
        let _ = writeln!(self.lines, "{{\"t\":{t},\"node\":{id},{rest}}}"); // strings take all
        self
    }

    fn begin(self, ms: u64, life: u64) -> Self {
        let params = params(self.protocol).replace('"', "\\\"");
        let (boot, protocol) = (self.boot, self.protocol);
        self.add(
            ms,
            &format!(
                "\"kind\":\"begin\",\"boot\":\"{boot}\",\"group\":\"g\",\"protocol\":\
                 \"{protocol}\",\"params\":\"{params}\",\"incarnation\":{life},\"rank\":1,\
                 \"members\":[1,2,3],\"seed\":0"
            ),
        )
    }

    fn follows(self, ms: u64, leader: Option<u64>, term: u64, until: u64) -> Self {
        let leaders = leader.map_or(String::new(), |leader| leader.to_string());
        let until = if until == 0 { String::new() } else { format!(",\"until\":{until}000000") };
        let term = if term == 0 { String::new() } else { format!(",\"term\":{term}") };
        let belief = "\"kind\":\"leadership\",\"stage\":\"decided\"";
        self.add(ms, &format!("{belief},\"leaders\":[{leaders}]{term}{until}"))
    }

    fn hears(self, ms: u64, from: u64, life: u64, number: u64) -> Self {
        let t = ms * 1_000_000;
        let rest = format!("\"from\":{from},\"life\":{life},\"number\":{number},\"sent\":{t}");
        self.add(ms, &format!("\"kind\":\"recv\",\"message\":\"release\",{rest}"))
    }

    fn collected(self, ms: u64, wall: u64) -> Self {
        let boot = self.boot;
        self.add(
            ms,
            &format!("\"kind\":\"collected\",\"boot\":\"{boot}\",\"wall\":{wall}000000,\"lost\":0"),
        )
    }

    fn piece(self) -> Piece {
        let name = format!("member {}", self.id);
        let trace = Trace::parse(&name, self.lines.as_bytes()).unwrap();
        Piece { trace, clock: None }
    }
}

fn account(members: Vec<Member>) -> Account {
    let pieces: Vec<Piece> = members.into_iter().map(Member::piece).collect();
    let account = Account::of(&pieces, None).unwrap();
    let picture = pictured(&account, &pieces).unwrap();
    assert!(picture.is_sorted_by_key(|record| record.t));
    account
}

/// Who led from when to when, in milliseconds, why not longer, and whether others say so.
fn told(account: &Account) -> Vec<(u64, u64, u64, End, bool)> {
    let ms = |t: u64| t / 1_000_000;
    let reign = |it: &Reign| (it.leader.0, ms(it.from), ms(it.to), it.end.clone(), it.own);
    account.reigns.iter().map(reign).collect()
}

fn gaps(account: &Account) -> Vec<(u64, u64)> {
    account.gaps.iter().map(|(from, to)| (from / 1_000_000, to / 1_000_000)).collect()
}

const LAST: u64 = LAST_NUMBER;

#[test]
fn a_transfer_and_a_kill_are_told_by_those_that_are_left() {
    // 1 hands over to 2, which is killed; 3 leads then. 2 remembers nothing any more.
    let one = Member::new(1)
        .begin(0, 11)
        .follows(100, Some(1), 5, 1_050)
        .add(1_000, "\"kind\":\"command\",\"command\":\"Transfer(NodeId(2))\",\"taken\":true")
        .follows(1_000, None, 0, 0)
        .follows(1_010, Some(2), 6, 2_400)
        .hears(2_300, 2, 22, LAST)
        .follows(2_300, None, 0, 0)
        .follows(2_330, Some(3), 7, 9_000)
        .collected(5_000, 1);
    let three = Member::new(3)
        .begin(0, 33)
        .follows(110, Some(1), 5, 1_060)
        .follows(1_020, Some(2), 6, 2_420)
        .hears(2_301, 2, 22, LAST)
        .follows(2_301, None, 0, 0)
        .follows(2_320, Some(3), 7, 9_000)
        .collected(5_001, 2);
    let account = account(vec![one, three]);
    let reigns = [
        (1, 100, 1_000, End::Transferred(NodeId(2)), true),
        (2, 1_010, 2_300, End::Killed, false),
        (3, 2_320, 5_001, End::Leads, true),
    ];
    assert_eq!(told(&account), reigns);
    assert_eq!(gaps(&account), [(0, 100), (1_000, 1_010), (2_300, 2_320)]);
    assert_eq!(account.missing().collect::<Vec<_>>(), [NodeId(2)]);
    assert_eq!(account.without(), Duration::from_millis(130));
    assert!(account.overlaps.is_empty() && !account.violated());
    assert!((account.availability().unwrap() - 4_871.0 / 5_001.0).abs() < 1e-9);
    let notes = account.notes.join("\n");
    assert!(notes.contains("a reign that others saw ends when they learnt of its end"), "{notes}");
}

#[test]
fn each_way_to_stop_leading_has_its_reason() {
    let command =
        |name: &str| format!("\"kind\":\"command\",\"command\":\"{name}\",\"taken\":true");
    let one = Member::new(1)
        .begin(0, 11)
        .follows(10, Some(1), 5, 100)
        .add(50, &command("Resign"))
        .follows(50, None, 0, 0)
        .follows(60, Some(1), 6, 100)
        .follows(130, None, 0, 0)
        .follows(140, Some(1), 7, 300)
        .follows(200, Some(2), 8, 300)
        .follows(400, Some(1), 9, 600)
        .add(500, "\"kind\":\"withdraw\",\"why\":\"its clock cannot be trusted\"")
        .begin(700, 12)
        .follows(710, Some(1), 10, 800)
        .begin(900, 13)
        .follows(910, Some(1), 11, 1_200)
        .add(1_000, &command("Leave"))
        .add(1_000, "\"kind\":\"leave\"");
    let withdrew = End::Withdrew("its clock cannot be trusted".to_owned());
    let reigns = [
        (1, 10, 50, End::Resigned, true),
        (1, 60, 100, End::Lapsed, true),
        (1, 140, 200, End::Preempted(NodeId(2)), true),
        // 2 has no records, and 1 followed it for a while.
        (2, 200, 300, End::Silent, false),
        (1, 400, 500, withdrew, true),
        (1, 710, 710, End::Killed, true),
        (1, 910, 1_000, End::Left, true),
    ];
    assert_eq!(told(&account(vec![one])), reigns);
}

#[test]
fn what_no_record_covers_is_not_known_and_not_a_time_without_a_leader() {
    // 1 is ended, and nobody is there until 2 is started. 2 withdraws for a while.
    let one = Member::new(1)
        .begin(0, 11)
        .follows(100, Some(1), 5, 900)
        .follows(400, None, 0, 0)
        .add(500, "\"kind\":\"leave\"");
    let two = Member::new(2)
        .begin(2_000, 22)
        .follows(2_100, Some(2), 6, 9_000)
        .add(3_000, "\"kind\":\"withdraw\",\"why\":\"its clock\"")
        .begin(3_500, 23)
        .follows(3_600, Some(2), 7, 9_000)
        .collected(4_000, 1);
    let account = account(vec![one, two]);
    assert_eq!(gaps(&account), [(0, 100), (400, 500), (2_000, 2_100), (3_500, 3_600)]);
    let unknown = account.unknown.iter().map(|(from, to)| (from / 1_000_000, to / 1_000_000));
    assert_eq!(unknown.collect::<Vec<_>>(), [(500, 2_000), (3_000, 3_500)]);
    assert_eq!(account.without(), Duration::from_millis(400));
    assert_eq!(account.not_known(), Duration::from_millis(2_000));
    assert_eq!(account.availability(), Some(0.8), "of the two seconds that are known");
}

#[test]
fn a_leader_whose_checks_fail_does_not_only_resign() {
    let command =
        |name: &str| format!("\"kind\":\"command\",\"command\":\"{name}\",\"taken\":true");
    let candidacy =
        |witness| command(&format!("Candidacy(Candidacy {{ priority: 3, {witness} }})"));
    let one = Member::new(1)
        .begin(0, 11)
        .follows(10, Some(1), 5, 900)
        .add(50, &candidacy("witness: true"))
        .add(60, &command("Resign"))
        .follows(60, None, 0, 0)
        .add(70, &candidacy("witness: false"))
        .follows(80, Some(1), 6, 900)
        .add(90, &command("Resign"))
        .follows(90, None, 0, 0)
        .collected(100, 1);
    let account = account(vec![one]);
    let ends: Vec<&End> = account.reigns.iter().map(|reign| &reign.end).collect();
    assert_eq!(ends, [&End::Unfit, &End::Resigned]);
}

#[test]
fn without_leases_a_killed_leader_led_until_its_last_record() {
    let plain = |id| Member { protocol: "le-s", ..Member::new(id) };
    let one = plain(1)
        .begin(0, 11)
        .follows(10, Some(1), 0, 0)
        .add(500, "\"kind\":\"timer\",\"timer\":\"x\"")
        .begin(9_000, 12)
        .follows(9_100, Some(2), 0, 0);
    let two = plain(2)
        .begin(0, 22)
        .follows(20, Some(1), 0, 0)
        .follows(3_500, Some(2), 0, 0)
        .collected(10_000, 1);
    let account = account(vec![one, two]);
    let reigns = [(1, 10, 500, End::Killed, true), (2, 3_500, 10_000, End::Leads, true)];
    assert_eq!(told(&account), reigns);
    assert_eq!(gaps(&account), [(0, 10), (500, 3_500)]);
    assert!(account.overlaps.is_empty(), "{:?}", account.overlaps);
}

#[test]
fn two_at_once_break_a_promise_only_if_the_clocks_can_tell() {
    let one = || Member::new(1).begin(0, 11).follows(10, Some(1), 5, 900).collected(800, 10_800);
    let two = || Member::new(2).begin(0, 22).follows(300, Some(2), 6, 900).collected(800, 10_800);
    let same = account(vec![one(), two()]);
    assert!(same.violated(), "{same:?}");
    assert_eq!(same.overlaps[0].leaders, [NodeId(1), NodeId(2)]);
    // The same on two machines, whose wall clocks are all that is known.
    let two = Member { boot: "c", ..Member::new(2) };
    let two = two.begin(0, 22).follows(300, Some(2), 6, 900).collected(800, 10_800);
    let apart = account(vec![one(), two]);
    assert!(!apart.violated() && apart.overlaps.len() == 1, "{apart:?}");
    assert!(apart.notes[0].contains("wall clocks"), "{:?}", apart.notes);
    // One that was killed binds the others until its lease ends.
    let one = Member::new(1).begin(0, 11).follows(10, Some(1), 5, 900);
    let two = Member::new(2).begin(0, 22).follows(300, Some(2), 6, 900).collected(800, 10_800);
    let killed = account(vec![one, two]);
    assert_eq!(told(&killed)[0], (1, 10, 10, End::Silent, true));
    assert!(killed.violated(), "another led within the lease");
}

#[test]
fn another_machine_is_put_on_the_same_line() {
    let one = Member::new(1).begin(0, 11).follows(10, Some(1), 5, 100).follows(90, None, 0, 0);
    let one = one.collected(1_000, 50_000).piece();
    let two = || {
        let two = Member { boot: "c", ..Member::new(2) };
        let two = two.begin(7_000, 22).follows(7_100, Some(2), 6, 8_500);
        two.collected(8_000, 50_000).piece()
    };
    let by_wall = Account::of(&[one.clone(), two()], None).unwrap();
    assert_eq!(told(&by_wall)[1], (2, 100, 1_000, End::Leads, true));
    assert_eq!(by_wall.uncertain, None);
    let uncertain = Duration::from_millis(3);
    let measured = Some(ClockOffset { add: -6_990_000_000, uncertain });
    let two = Piece { clock: measured, ..two() };
    let account = Account::of(&[one.clone(), two], None).unwrap();
    assert_eq!(told(&account)[1], (2, 110, 1_010, End::Leads, true));
    assert_eq!(account.uncertain, Some(uncertain));
    let last = Account::of(std::slice::from_ref(&one), Some(Duration::from_millis(950))).unwrap();
    assert_eq!((last.from / 1_000_000, told(&last)[0].1), (50, 50));
    // A file without a wall clock cannot be compared.
    let file = Member { boot: "d", ..Member::new(3) }.begin(5, 33).piece();
    let bad = Account::of(&[one.clone(), file], None).unwrap_err().to_string();
    assert!(bad.contains("cannot be compared"), "{bad}");
    let mut other = Member::new(3);
    other.protocol = "le-s";
    let bad = Account::of(&[one, other.begin(5, 33).piece()], None).unwrap_err().to_string();
    assert!(bad.contains("report on one group at a time"), "{bad}");
    let nothing = Account::of(&[], None).unwrap_err().to_string();
    assert!(nothing.contains("no member has begun"), "{nothing}");
}
