//! Steps made by hand in which voters change: those of the model are taken, and each guard refuses
//! once.

use super::super::lists::List;
use super::*;
use crate::view::{Lengths, VoterList};

const ALL: &[u32] = &[0, 1, 2];

fn nodes(voters: &[u32]) -> Nodes {
    voters.iter().copied().collect()
}

fn list(version: u64, voters: &[u32]) -> List {
    let TimeScales { lease: lock, drift, .. } = time_scales(true);
    List { version, voters: nodes(voters), lengths: Lengths { lock, drift_ppm: drift / 1_000 } }
}

impl Group {
    /// Reports a list from now on that was made from one of these.
    fn open(&mut self, node: u32, version: u64, voters: &[u32], before: &[u32]) {
        let (voters, before) = (nodes(voters), nodes(before));
        let list = VoterList { version, committed: false, voters, before, ..VoterList::default() };
        self.row(node).list = Some(list);
    }

    /// Reports a list from now on that it takes for committed.
    fn committed(&mut self, node: u32, version: u64, voters: &[u32]) {
        let (voters, before) = (nodes(voters), Nodes::NONE);
        let list = VoterList { version, committed: true, voters, before, ..VoterList::default() };
        self.row(node).list = Some(list);
    }

    /// Process 0 leads and makes a list of these, asks by it at 20, and votes for itself.
    fn made(voters: &[u32]) -> Self {
        let mut group = Self::led();
        group.now = 20;
        group.open(0, 1, voters, ALL);
        assert_eq!(group.step(0), "", "change");
        assert_eq!(group.ask(0, 8), "");
        assert_eq!(group.grant(0, 0, 20, 8), "");
        group
    }

    /// Process 1 votes for that list, and process 0 leads by it: it is one of 0 and 1.
    fn changed() -> Self {
        let mut group = Self::made(&[0, 1]);
        group.open(1, 1, &[0, 1], ALL);
        assert_eq!(group.grant(1, 0, 20, 8), "", "learn_list and grant");
        group.committed(0, 1, &[0, 1]);
        assert_eq!(group.lead(0, 20 + LEASE, 8, &[0, 1]), "", "renew_joint");
        group
    }

    /// Process 1 ends and begins without a record, and its quarantine is over.
    fn lose(&mut self) {
        assert_eq!(self.restart(1, self.now + LOCK, None), "");
        self.now += LOCK + 1;
        assert_eq!(self.step(1), "");
    }
}

#[test]
fn voters_are_removed_and_others_hear_of_it() {
    let mut group = Group::changed();
    group.committed(2, 1, &[0, 1]);
    assert_eq!(group.step(2), "", "learn_list");
    group.now = 30;
    assert_eq!((group.ask(0, 8), group.grant(0, 0, 30, 8)), (String::new(), String::new()));
    assert_eq!(group.grant(1, 0, 30, 8), "");
    assert_eq!(group.lead(0, 30 + LEASE, 8, &[0, 1]), "", "renew");
    // The next list, which another life leads by: that commits it.
    group.now = 40;
    group.open(0, 2, ALL, &[0, 1]);
    assert_eq!(group.step(0), "", "change");
    assert_eq!(group.give_up(0, 30), "");
    group.open(2, 2, ALL, &[0, 1]);
    assert_eq!((group.free(0), group.free(1)), (String::new(), String::new()));
    assert_eq!((group.ask(2, 9), group.grant(2, 2, 40, 9)), (String::new(), String::new()));
    for node in [0, 1] {
        group.open(node, 2, ALL, &[0, 1]);
        assert_eq!(group.grant(node, 2, 40, 9), "");
    }
    group.committed(2, 2, ALL);
    assert_eq!(group.lead(2, 40 + LEASE, 9, ALL), "", "adopt_joint");
    assert_eq!(group.validator.ghost.lists.top(), Some(list(2, ALL)));
}

/// A leader makes a list at the reading at which it asked by the one before it, and the lease by it
/// looks the same.
#[test]
fn a_list_may_be_made_voted_for_and_committed_at_the_reading_of_the_last_request() {
    let mut group = Group::new();
    group.now = 10;
    let by_root = [group.ask(0, 8), group.grant(0, 0, 10, 8), group.grant(1, 0, 10, 8)];
    assert_eq!(by_root, [""; 3]);
    assert_eq!(group.lead(0, 10 + LEASE, 8, &[0, 1]), "", "adopt");
    group.open(0, 1, &[0, 1], ALL);
    assert_eq!(group.step(0), "", "change, request and grant");
    group.open(1, 1, &[0, 1], ALL);
    assert_eq!(group.step(1), "", "learn_list and grant");
    group.committed(0, 1, &[0, 1]);
    assert_eq!(group.step(0), "", "renew_joint");
}

#[test]
fn a_list_is_made_from_one_s_own_which_is_committed() {
    let mut group = Group::made(&[0, 1]);
    group.open(0, 2, &[0], &[0, 1]);
    refused(&group.step(0), "change", "which is not committed");
    let mut group = Group::led();
    group.open(0, 2, &[0, 1], ALL);
    refused(&group.step(0), "change", "and had list 0 of {0, 1, 2}");
    let mut group = Group::led();
    group.open(0, 1, &[0], &[0, 1]);
    refused(&group.step(0), "change", "from one of {0, 1}, and had list 0");
    let mut group = Group::led();
    group.open(0, 1, &[], ALL);
    refused(&group.step(0), "change", "nobody votes");
}

#[test]
fn a_list_is_taken_if_it_is_newer_or_committed() {
    let mut group = Group::led();
    group.committed(1, 1, &[0, 1]);
    refused(&group.step(1), "learn_list", "which was never made");
    let mut group = Group::made(&[0, 1]);
    group.committed(1, 1, &[0, 1]);
    refused(&group.step(1), "learn_list", "for committed, and that is not so");
    let mut group = Group::changed();
    group.row(1).list = None;
    refused(&group.step(1), "learn_list", "and had list 1 of {0, 1}, which is newer");
    // Two lists of one version.
    let mut group = Group::made(&[0, 1]);
    group.open(2, 1, &[0, 2], ALL);
    assert_eq!(group.step(2), "", "change");
    group.open(1, 1, &[0, 2], ALL);
    assert_eq!(group.step(1), "", "learn_list");
    group.open(1, 1, &[0, 1], ALL);
    refused(&group.step(1), "learn_list", "takes list 1 of {0, 1}, which is not committed");
    let mut group = Group::changed();
    group.open(2, 1, &[0, 2], ALL);
    assert_eq!(group.step(2), "", "change, of who has not heard");
    group.committed(2, 1, &[0, 1]);
    assert_eq!(group.step(2), "", "learn_list: of two the one that is committed");
}

#[test]
fn a_vote_is_by_the_list_that_the_voter_holds() {
    let told = Group::made(&[0, 1]).grant(2, 0, 20, 8);
    refused(&told, "grant", "which is by list 1 of {0, 1}, and holds list 0 of {0, 1, 2}");
}

#[test]
fn a_list_that_is_not_committed_takes_majorities_of_both() {
    let mut group = Group::made(&[0]);
    group.committed(0, 1, &[0]);
    let told = group.lead(0, 20 + LEASE, 8, &[0]);
    refused(&told, "renew_joint", "on 1 votes of list 0 of {0, 1, 2}; a majority is 2");
    let mut group = Group::made(&[1]);
    assert_eq!(group.grant(1, 0, 10, 8), "");
    group.row(0).leads = false;
    assert_eq!(group.step(0), "");
    let told = group.lead(0, 20 + LEASE, 8, &[0]);
    refused(&told, "adopt_joint", "on 0 votes of list 1 of {1}; a majority is 1");
}

/// A new leader asks again at once, and the only voter of a list needs nobody else from then on.
#[test]
fn the_only_voter_of_a_list_may_commit_it_and_lead_on_in_one_step() {
    let story = |votes: bool| {
        let mut group = Group::made(&[0]);
        group.row(0).leads = false;
        assert_eq!(group.step(0), "");
        group.now = 30;
        assert_eq!((group.ask(0, 9), group.grant(0, 0, 30, 9)), (String::new(), String::new()));
        group.open(1, 1, &[0], ALL);
        assert!(!votes || group.grant(1, 0, 30, 9).is_empty());
        group.now = 40;
        group.committed(0, 1, &[0]);
        let row = group.row(0);
        row.account.request = Some(Request { sent: at(40), term: 9 });
        row.account.granted = Some((1, at(40)));
        row.lock = Some(Lock { to: 0, until: at(40 + LOCK) });
        group.lead(0, 40 + LEASE, 9, &[0])
    };
    assert_eq!(story(true), "", "adopt_joint, request, grant and renew");
    refused(&story(false), "adopt_joint", "on 1 votes of list 0 of {0, 1, 2}");
}

#[test]
fn a_lease_rests_on_votes_by_one_list() {
    let mut group = Group::made(&[0, 1]);
    group.committed(0, 1, &[0, 1]);
    let told = group.lead(0, 10 + LEASE, 8, &[0, 1]);
    refused(&told, "renew_joint", "process 1, which has granted no request");
    refused(&told, "renew_joint", "by list 1 of {0, 1}");
}

#[test]
fn a_lease_is_by_the_newest_committed_list_and_never_goes_back() {
    let mut group = Group::led();
    group.validator.ghost.lives[0].led_by = Some(list(1, &[0, 1]));
    let told = group.lead(0, 9 + LEASE, 8, &[0, 1]);
    refused(&told, "renew", "but it has led by list 1 of {0, 1} before");
    let mut group = Group::led();
    group.validator.ghost.lists.commit(list(1, &[0, 1]), nodes(&[1, 2]));
    let told = group.lead(0, 9 + LEASE, 8, &[0, 1]);
    refused(&told, "renew", "by list 0 of {0, 1, 2}, but list 1 of {0, 1} is committed");
    let mut group = Group::made(&[0, 1]);
    group.open(1, 1, &[0, 1], ALL);
    assert_eq!(group.grant(1, 0, 20, 8), "");
    group.validator.ghost.lists.commit(list(1, &[0, 2]), nodes(&[1, 2]));
    let told = group.lead(0, 20 + LEASE, 8, &[0, 1]);
    refused(&told, "renew_joint", "made from list 0 of {0, 1, 2}, but list 1 of {0, 2} is");
}

#[test]
fn another_life_keeps_its_list() {
    let told = Group::changed().restart(1, 20 + LOCK, record(8, Some((0, 1))));
    refused(&told, "restart", "with list 0 of {0, 1, 2}, but had list 1 of {0, 1}");
}

#[test]
fn whoever_lost_its_record_reads_the_newest_list() {
    let mut group = Group::changed();
    group.lose();
    group.committed(1, 1, &[0, 1]);
    assert_eq!(group.store(1, 8), "", "recover");
    let mut group = Group::changed();
    group.lose();
    group.row(1).list = None;
    refused(&group.store(1, 8), "recover", "it must have read those of 2 of list 0");
    // It was told of a list that is not committed: the list before it counts, too.
    for (highest, words) in [(8, ""), (9, "it must have read those of 2 of list 0")] {
        let mut group = Group::made(&[0, 1]);
        assert_eq!(group.store(2, highest), "", "learn");
        group.lose();
        group.open(1, 1, &[0, 1], ALL);
        let told = group.store(1, 8);
        assert!(told.contains(words) && told.is_empty() == words.is_empty(), "{told}");
    }
    // Of two lists of one version it takes one, and was not told that it is committed.
    let mut group = Group::made(&[0, 1]);
    group.open(2, 1, &[1, 2], ALL);
    assert_eq!(group.step(2), "", "change");
    group.lose();
    group.open(1, 1, &[0, 1], ALL);
    refused(&group.store(1, 8), "recover", "it must have read those of 2 of list 0");
    let mut group = Group::lost();
    group.open(1, 1, &[0, 1], ALL);
    refused(&group.store(1, 8), "recover", "list 1 of {0, 1}, which nobody could tell it of");
    let mut group = Group::lost();
    group.validator.ghost.lists.commit(list(1, &[0, 1]), nodes(&[0, 1]));
    refused(&group.store(1, 8), "recover", "but list 1 of {0, 1} was committed by its vote");
}

#[test]
fn tokens_by_older_lists_are_not_read() {
    let mut group = Group::changed();
    group.lose();
    group.validator.ghost.members[1].owes = (0, 9);
    group.committed(1, 1, &[0, 1]);
    assert_eq!(group.store(1, 8), "", "the lease that committed the list had no lower one");
}

#[test]
fn only_founders_found() {
    let validator = Validator::new(Nodes::first(3), &time_scales(true));
    let mut group = Group { validator, rows: vec![Row::ABSENT; 3], now: 0 };
    for node in 0..3 {
        group.row(node).alive = true;
        group.row(node).account.life = Some(1);
        assert_eq!(group.step(node), "");
    }
    group.committed(1, 0, &[0, 2]);
    refused(&group.store(1, 0), "found", "but is none of list 0 of {0, 2}");
}

#[test]
fn of_groups_that_changed_before_or_are_founded_anew_nothing_is_said() {
    let validator = Validator::new(Nodes::first(3), &time_scales(true));
    let mut later = Group { validator, rows: vec![Row::ABSENT; 3], now: 0 };
    later.row(0).alive = true;
    (later.row(0).account.life, later.row(0).account.record) = (Some(1), record(8, None));
    later.committed(0, 3, &[0, 1]);
    assert_eq!(later.step(0), "blind");
    let mut group = Group::changed();
    group.lose();
    for node in [0, 2] {
        assert_eq!(group.restart(node, group.now + LOCK, None), "");
    }
    group.now += LOCK + 1;
    for node in [0, 2] {
        assert_eq!(group.step(node), "");
    }
    group.row(1).list = None;
    assert_eq!(group.store(1, 0), "blind");
}
