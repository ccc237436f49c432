//! What hooks are told, and what is waited for, without a member.

use super::super::printer::Stream;
use super::*;

/// The hook of a member that does not lead: a program that returns at once, and has its time.
fn hooks() -> Hooks {
    let errors = Printer::start(Stream::Error, WakeFd::new().unwrap()).unwrap();
    let limit = Duration::from_secs(1_000);
    let programs = Programs { hooks: vec!["/bin/true".into()], limit, retries: 0, rank: 1 };
    let (looper, lease) = (WakeFd::new().unwrap(), Box::new(|| None));
    let plan = Plan { programs, name: None, fifo: None, lease, will: None, looper, errors };
    Hooks::start(plan).unwrap()
}

fn change(role: Role) -> Change {
    Change {
        t: 0,
        group: "web".to_owned(),
        id: 1,
        role,
        leaders: Vec::new(),
        until: None,
        term: None,
        term_kept: false,
        why: None,
        wall: String::new(),
    }
}

/// The member is about to hand over in this reign; until when it waits.
fn leave(hooks: &Hooks, reign: u64, ends: bool) -> Option<Instant> {
    hooks.take_leave(|| change(Role::Looking), reign, (ends, false))
}

/// Waits until the hook that was told has returned.
fn returned(hooks: &Hooks) {
    while hooks.waited_for_until() != Instant::NEVER {
        thread::sleep(std::time::Duration::from_millis(5));
    }
}

#[test]
fn what_went_wrong_is_a_warning_for_a_while_and_counts_for_ever() {
    let hooks = hooks();
    let (tally, at) = (hooks.tally(), BootTime.now());
    let mut queue = hooks.shared.lock();
    queue.last_failure = Some("hook /x: it failed".to_owned());
    (queue.failures, queue.failed_at) = (1, Some(at));
    (queue.skipped, queue.skipped_at) = (1, Some(at));
    drop(queue);
    let told = [
        "1 call of hooks failed, the last: hook /x: it failed",
        "1 call of hooks was skipped: the state was over before its turn came",
    ];
    assert_eq!(tally.warnings_at(at), told);
    assert_eq!(tally.warnings_at(at + RECENT), Vec::<String>::new());
    assert_eq!((tally.counts()["failed"], tally.counts()["skipped"]), (1, 1));
}

/// The lease was lost after STOP, and the member leads again before it has ended.
#[test]
fn what_is_not_told_is_not_waited_for() {
    for later in [Role::Looking, Role::Follower, Role::Leader] {
        let hooks = hooks();
        assert!(leave(&hooks, 1, true).is_some());
        returned(&hooks);
        assert_eq!(leave(&hooks, 1, true), None);
        hooks.tell(&change(Role::Follower), 0, false);
        assert_eq!(leave(&hooks, 1, true), None, "a change that came late");
        hooks.tell(&change(later), if later == Role::Leader { 2 } else { 1 }, false);
        assert_eq!(leave(&hooks, 2, true), None, "{later:?}");
        assert_eq!(hooks.tally().counts()["succeeded"], 1);
    }
}

#[test]
fn a_change_from_before_a_reign_does_not_take_the_place_of_its_farewell() {
    let hooks = hooks();
    let by = leave(&hooks, 2, false);
    assert!(by.is_some());
    hooks.tell(&change(Role::Follower), 1, false);
    assert_eq!(hooks.shared.lock().farewell.map(|it| it.by), by);
    returned(&hooks);
    assert_eq!((leave(&hooks, 2, false), hooks.tally().counts()["succeeded"]), (None, 1));
}

#[test]
fn a_member_that_is_asked_to_end_while_it_waits_waits_no_longer() {
    let hooks = hooks();
    let by = leave(&hooks, 1, false);
    assert!(by.is_some());
    returned(&hooks);
    assert_eq!(leave(&hooks, 1, true), by);
}
