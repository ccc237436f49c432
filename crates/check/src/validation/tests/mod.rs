//! Steps made by hand: those of the model are taken, and each guard refuses once.

mod lists;

use super::Validator;
use crate::invariants::scenes;
use crate::nodes::Nodes;
use crate::view::{Lock, Record, Request, Row};
use bellwether_core::{Instant, SimTime};
use bellwether_protocols::time_scales::TimeScales;

/// lockTime is 100, a lease 90, on clocks that lose or gain 5 %.
const LOCK: u64 = 100;
const LEASE: u64 = 90;

/// A group of three, with clocks that agree, and records of term 7 granted to nobody.
struct Group {
    validator: Validator,
    rows: Vec<Row>,
    now: u64,
}

fn at(reading: u64) -> Instant {
    Instant::from_nanos(reading)
}

fn record(highest: u64, granted: Option<(u32, u64)>) -> Option<Record> {
    Some(Record { highest, granted })
}

fn time_scales(tokens: bool) -> TimeScales {
    let (lease, clock_error) = (at(LOCK).since(at(0)), at(0).since(at(0)));
    let drift = 50_000_000;
    let (quorum, proved) = (Some(2), true);
    TimeScales { lease, clock_error, drift, quorum, tokens, proved, ..scenes::time_scales() }
}

impl Group {
    fn with(tokens: bool) -> Self {
        let validator = Validator::new(Nodes::first(3), &time_scales(tokens));
        let mut group = Self { validator, rows: vec![Row::ABSENT; 3], now: 0 };
        for node in 0..3 {
            group.row(node).alive = true;
            group.row(node).account.life = Some(1);
            group.row(node).account.record = record(7, None);
            assert_eq!(group.step(node), "");
        }
        group
    }

    fn new() -> Self {
        Self::with(true)
    }

    fn row(&mut self, node: u32) -> &mut Row {
        &mut self.rows[node as usize]
    }

    /// A step of this process; why it is refused, or nothing.
    fn step(&mut self, node: u32) -> String {
        let now = at(self.now);
        self.row(node).reading = now;
        let row = &self.rows[node as usize];
        let step = self.validator.step(node, row, SimTime::from_nanos(self.now));
        match step {
            Ok(true) => String::new(),
            Ok(false) => "blind".to_owned(),
            Err(refusal) => refusal.to_string(),
        }
    }

    /// Asks at this moment, without a vote of its own.
    fn ask(&mut self, node: u32, term: u64) -> String {
        let sent = at(self.now);
        self.row(node).account.request = Some(Request { sent, term });
        self.step(node)
    }

    /// Votes at this moment for the request of then.
    fn grant(&mut self, node: u32, to: u32, sent: u64, term: u64) -> String {
        let until = at(self.now + LOCK);
        let row = self.row(node);
        row.lock = Some(Lock { to, until });
        row.account.granted = Some((1, at(sent)));
        row.account.record = record(term, Some((to, 1)));
        self.step(node)
    }

    fn free(&mut self, node: u32) -> String {
        let row = self.row(node);
        (row.lock, row.account.granted) = (None, None);
        self.step(node)
    }

    /// Others are told that this life of a process is over.
    fn farewell(&mut self, node: u32, life: u64) -> String {
        let told = self.validator.farewell(node, life).err();
        told.map_or_else(String::new, |refusal| refusal.to_string())
    }

    fn lead(&mut self, node: u32, until: u64, token: u64, voters: &[u32]) -> String {
        let row = self.row(node);
        (row.leads, row.told, row.term) = (true, at(until), token);
        row.supporters = voters.iter().copied().collect();
        self.step(node)
    }

    fn give_up(&mut self, node: u32, sent: u64) -> String {
        let row = self.row(node);
        row.leads = false;
        row.account.gave_up = Some(at(sent));
        self.step(node)
    }

    /// Ends and begins again at this moment, with this record.
    fn restart(&mut self, node: u32, until: u64, record: Option<Record>) -> String {
        let gone = Some(SimTime::from_nanos(self.now));
        *self.row(node) = Row { gone, ..Row::ABSENT };
        assert_eq!(self.step(node), "");
        let row = self.row(node);
        row.alive = true;
        (row.account.life, row.account.record) = (Some(2), record);
        row.account.bound = Some(at(until)).filter(|until| *until > at(0));
        self.step(node)
    }

    /// Process 0 leads by its own vote and that of process 1, for the request of 10, term 8.
    fn led() -> Self {
        let mut group = Self::new();
        group.now = 10;
        assert_eq!(group.ask(0, 8), "");
        assert_eq!(group.grant(0, 0, 10, 8), "");
        group.now = 12;
        assert_eq!(group.grant(1, 0, 10, 8), "");
        group.now = 14;
        assert_eq!(group.lead(0, 10 + LEASE, 8, &[0, 1]), "");
        group
    }
}

/// The step is refused with this action and these words.
fn refused(told: &str, action: &str, words: &str) {
    assert!(told.contains(&format!("the nearest is {action}: ")), "{told}");
    assert!(told.contains(words), "{told}");
}

#[test]
fn a_lease_is_taken_renewed_given_up_and_followed_by_that_of_another() {
    let mut group = Group::led();
    group.now = 50;
    assert_eq!(group.ask(0, 8), "");
    assert_eq!(group.grant(0, 0, 50, 8), "");
    assert_eq!(group.grant(2, 0, 50, 8), "");
    assert_eq!(group.lead(0, 50 + LEASE, 8, &[0, 2]), "", "renew");
    group.now = 60;
    assert_eq!(group.give_up(0, 50), "");
    assert_eq!(group.free(0), "");
    assert_eq!(group.free(2), "", "unlock");
    assert_eq!(group.ask(2, 9), "");
    assert_eq!(group.grant(2, 2, 60, 9), "");
    assert_eq!(group.grant(0, 2, 60, 9), "");
    assert_eq!(group.lead(2, 60 + LEASE, 9, &[0, 2]), "", "adopt");
    group.now = 113;
    assert_eq!(group.free(1), "", "lapse");
}

#[test]
fn a_request_is_made_now_and_is_later_than_what_was_given_up() {
    let mut group = Group::led();
    group.row(0).account.request = Some(Request { sent: at(13), term: 8 });
    refused(&group.step(0), "request", "a request is made at the present reading");
    let mut group = Group::led();
    group.now = 20;
    assert_eq!(group.give_up(0, 20), "");
    refused(&group.ask(0, 9), "request", "but gave up all requests up to");
}

#[test]
fn whoever_gives_up_leads_no_longer_and_gives_up_all() {
    let mut group = Group::led();
    group.row(0).account.gave_up = Some(at(10));
    refused(&group.step(0), "give_up", "and leads on until");
    let mut group = Group::led();
    group.now = 20;
    assert_eq!(group.ask(0, 8), "");
    refused(&group.give_up(0, 10), "give_up", "but not that of");
}

#[test]
fn a_vote_is_for_a_request_that_was_made_and_locks_for_lock_time() {
    let mut group = Group::led();
    refused(&group.grant(2, 0, 11, 8), "grant", "which was never made");
    let mut group = Group::led();
    group.row(2).lock = Some(Lock { to: 0, until: at(14 + LOCK - 1) });
    group.row(2).account.granted = Some((1, at(10)));
    refused(&group.step(2), "grant", "less than lockTime");
    let mut group = Group::led();
    group.now = 50;
    assert_eq!((group.ask(0, 8), group.grant(1, 0, 50, 8)), (String::new(), String::new()));
    refused(&group.grant(1, 0, 10, 8), "grant", "is earlier than the one");
}

#[test]
fn whoever_is_locked_votes_for_nobody_else_before_a_release_or_the_end() {
    let mut group = Group::led();
    group.now = 20;
    assert_eq!(group.ask(2, 9), "");
    refused(&group.grant(1, 2, 20, 9), "unlock", "has not given up that request");
    let mut group = Group::led();
    refused(&group.free(1), "unlock", "has not given up that request");
}

impl Group {
    /// Process 0, which led, has crashed and begun its life 2.
    fn crashed() -> Self {
        let mut group = Self::led();
        group.now = 20;
        assert_eq!(group.ask(0, 8), "");
        assert_eq!(group.grant(1, 0, 20, 8), "");
        assert_eq!(group.restart(0, 20 + LOCK, record(8, Some((0, 1)))), "");
        group.now = 30;
        group
    }
}

/// What a leader started may outlive it, so a crash frees nobody.
#[test]
fn a_lock_to_a_life_that_crashed_ends_by_its_will_and_not_before() {
    refused(&Group::crashed().free(1), "unlock", "has not given up that request");
    let mut group = Group::crashed();
    assert_eq!(group.farewell(0, 1), "");
    assert_eq!(group.free(1), "", "unlock");
    refused(&Group::led().farewell(0, 1), "will", "life 1 is over, which runs");
    let mut group = Group::crashed();
    refused(&group.farewell(0, 2), "will", "life 2 is over, which runs");
    group.validator.lose_sight();
    assert_eq!(group.farewell(0, 2), "");
}

/// What the lock allows and no lock would: two live requests of different lives.
#[test]
fn all_live_votes_of_a_process_are_for_one_life() {
    let mut group = Group::led();
    group.now = 20;
    assert_eq!(group.restart(1, 20 + LOCK, record(8, Some((0, 1)))), "");
    group.now = 21;
    assert_eq!(group.ask(2, 9), "");
    group.validator.ghost.members[1].lock = None;
    refused(&group.grant(1, 2, 21, 9), "grant", "while a lease of process 0 may rest on its vote");
    // That of a life that crashed goes on until its end or its will.
    for (now, will, words) in
        [(30, false, "of process 0 may rest"), (30, true, ""), (20 + LOCK + 1, false, "")]
    {
        let mut group = Group::crashed();
        group.now = now;
        let farewell = will.then(|| group.farewell(0, 1));
        assert_eq!(farewell.unwrap_or_default(), "");
        assert_eq!(group.ask(2, 9), "");
        group.validator.ghost.members[1].lock = None;
        let told = group.grant(1, 2, now, 9);
        assert!(told.contains(words) && told.is_empty() == words.is_empty(), "{told}");
    }
}

#[test]
fn a_term_is_granted_once_and_stored() {
    let mut group = Group::new();
    group.now = 10;
    assert_eq!(group.ask(0, 7), "");
    refused(&group.grant(1, 0, 10, 7), "grant", "and had a record of term 7");
    let mut group = Group::new();
    group.now = 10;
    assert_eq!(group.ask(0, 8), "");
    group.row(1).lock = Some(Lock { to: 0, until: at(10 + LOCK) });
    group.row(1).account.granted = Some((1, at(10)));
    refused(&group.step(1), "grant", "and stores a record of term 7");
    let mut group = Group::new();
    group.row(1).account.record = record(9, None);
    assert_eq!(group.step(1), "", "learn");
    group.row(1).account.record = record(8, None);
    refused(&group.step(1), "learn", "and had a record of term 9");
    let mut group = Group::with(false);
    group.row(1).account.record = record(0, None);
    assert_eq!(group.step(1), "", "records that need not last are not asked about");
}

#[test]
fn a_lease_rests_on_a_majority_of_votes_that_count() {
    let mut group = Group::led();
    refused(&group.lead(0, 10 + LEASE, 8, &[0]), "renew", "a majority is 2");
    let mut group = Group::led();
    refused(&group.lead(0, 11 + LEASE, 8, &[0, 1]), "renew", "at the latest");
    let mut group = Group::led();
    let told = group.lead(0, 10 + LEASE, 8, &[0, 2]);
    refused(&told, "renew", "rests on the vote of process 2, which has granted no request");
    let mut group = Group::led();
    group.now = 20;
    assert_eq!(group.ask(0, 8), "");
    let told = group.lead(0, 20 + LEASE, 8, &[0, 1]);
    refused(&told, "renew", "rests on the vote of process 0");
    let mut group = Group::led();
    group.now = 20;
    assert_eq!(group.give_up(0, 10), "");
    refused(&group.lead(0, 10 + LEASE, 8, &[0, 1]), "adopt", "rests on the vote of process 0");
}

#[test]
fn a_new_leadership_has_one_term_and_a_higher_one() {
    // Votes of terms 8 and 9.
    let mut group = Group::new();
    group.now = 10;
    assert_eq!((group.ask(0, 8), group.grant(1, 0, 10, 8)), (String::new(), String::new()));
    group.now = 20;
    assert_eq!((group.ask(0, 9), group.grant(0, 0, 20, 9)), (String::new(), String::new()));
    refused(&group.lead(0, 10 + LEASE, 8, &[0, 1]), "adopt", "for term 8");
    // The same again after its end.
    let mut group = Group::led();
    group.row(0).leads = false;
    assert_eq!(group.step(0), "");
    refused(&group.lead(0, 10 + LEASE, 8, &[0, 1]), "adopt", "but it has led with 8 before");
}

#[test]
fn a_token_never_falls_and_is_higher_than_that_of_every_other() {
    refused(&Group::led().lead(0, 10 + LEASE, 7, &[0, 1]), "renew", "falls from 8 to 7");
    let mut group = Group::led();
    group.validator.ghost.lives[2].led = 8;
    let told = group.lead(0, 9 + LEASE, 8, &[0, 1]);
    refused(&told, "renew", "its token is 8, but process 2 has led with 8");
}

#[test]
fn another_life_is_silent_for_lock_time_and_keeps_its_record_or_loses_it() {
    let kept = record(8, Some((0, 1)));
    let mut group = Group::led();
    refused(&group.restart(1, 0, kept), "restart", "may vote before");
    let mut group = Group::led();
    refused(&group.restart(1, 14 + LOCK - 1, kept), "restart", "may vote before");
    let mut group = Group::led();
    refused(&group.restart(1, 14 + LOCK, record(0, None)), "restart", "a record without a term");
    for record in [kept, None] {
        let mut group = Group::led();
        assert_eq!(group.restart(1, 14 + LOCK, record), "");
        group.now = 50;
        group.row(1).account.bound = None;
        refused(&group.step(1), "lapse", "its quarantine lasts until");
    }
    let mut group = Group::led();
    group.row(2).account.bound = Some(at(14 + LOCK));
    refused(&group.step(2), "restart", "but did not begin");
}

impl Group {
    /// Process 1 has lost its record and its quarantine is over.
    fn lost() -> Self {
        let mut group = Self::led();
        assert_eq!(group.restart(1, 14 + LOCK, None), "");
        group.now = 15 + LOCK;
        assert_eq!(group.step(1), "");
        group
    }

    fn store(&mut self, node: u32, highest: u64) -> String {
        self.row(node).account.record = record(highest, None);
        self.step(node)
    }
}

#[test]
fn whoever_lost_its_record_reads_those_of_enough_others_after_its_quarantine() {
    assert_eq!(Group::lost().store(1, 8), "", "recover");
    let mut group = Group::led();
    assert_eq!(group.restart(1, 14 + LOCK, None), "");
    group.now = 50;
    refused(&group.store(1, 8), "recover", "before its quarantine is over");
    let told = Group::lost().store(1, 7);
    refused(&told, "recover", "but only 1 others had a record of no higher term");
    let mut group = Group::lost();
    group.validator.ghost.members[1].owes = (0, 9);
    refused(&group.store(1, 8), "recover", "a lease with token 9 has rested on its vote");
}

#[test]
fn a_group_is_founded_by_those_who_never_voted() {
    let told = Group::lost().store(1, 0);
    refused(&told, "found", "not all others have said the same of themselves");
    // All lose their records: a new group, whose tokens begin again.
    let mut group = Group::lost();
    for node in [0, 2] {
        assert_eq!(group.restart(node, group.now + LOCK, None), "");
    }
    group.now += LOCK + 1;
    for node in [0, 2] {
        assert_eq!(group.step(node), "");
    }
    assert!(group.validator.ghost.members[1].owes.1 > 0);
    assert_eq!(group.store(1, 0), "");
    assert!(group.validator.ghost.members.iter().all(|member| member.owes == (0, 0)));
    assert!(group.validator.ghost.lives.iter().all(|life| life.led == 0));
}

/// `run` without `--bootstrap` in an empty directory, and then with it: the second life has the
/// record that the first one lacked.
#[test]
fn a_later_life_begins_with_a_founding_record_if_it_has_never_voted() {
    let founding = record(0, None);
    let begun = || {
        let validator = Validator::new(Nodes::first(3), &time_scales(true));
        let mut group = Group { validator, rows: vec![Row::ABSENT; 3], now: 0 };
        for node in 0..3 {
            group.row(node).alive = true;
            group.row(node).account.life = Some(1);
            assert_eq!(group.step(node), "");
        }
        group.now = 10;
        group
    };
    let mut group = begun();
    for node in 0..2 {
        assert_eq!(group.restart(node, 10 + LOCK, founding), "", "bootstrap");
    }
    group.now = 11 + LOCK;
    for node in 0..2 {
        group.row(node).account.bound = None;
        assert_eq!(group.step(node), "");
    }
    assert_eq!(group.restart(1, 11 + 2 * LOCK, founding), "", "a record is kept");
    refused(&begun().restart(1, 10 + LOCK, record(3, None)), "restart", "but had no record");
    refused(&begun().restart(1, 0, founding), "restart", "may vote before");
    // The operator is wrong: it has voted and lost its record.
    let mut group = Group::led();
    assert_eq!(group.restart(1, 14 + LOCK, None), "");
    group.now = 20;
    refused(&group.restart(1, 20 + LOCK, founding), "bootstrap", "granted a request of term 8");
    let mut group = begun();
    group.validator.ghost.members[1].owes = (0, 9);
    refused(&group.restart(1, 10 + LOCK, founding), "bootstrap", "a lease with token 9");
}

#[test]
fn whoever_does_not_report_its_votes_cannot_be_validated() {
    let mut group = Group::led();
    group.row(1).account.granted = None;
    assert_eq!(group.step(1), "blind");
    assert_eq!(group.step(0), "blind", "nor can the others from then on");
    let mut group = Group::led();
    group.validator.lose_sight();
    assert_eq!(group.step(1), "blind");
}
