//! lockTime and drift change while the group runs.

use crate::support::{Folder, eventually, leader, member, patient_leases, places};
use bellwether_core::{Duration, Instant, Refused};
use bellwether_net::clock::{BootTime, Clock, Readings};
use bellwether_net::{Builder, Election, NotNow, Role};
use bellwether_protocols::choice::{Choice, Config};
use bellwether_protocols::local_leader::{self, Mode, Tokens};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread::{scope, sleep};

/// The founding lockTime of these groups, in milliseconds.
const FOUNDING: f64 = 900.0;

fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

fn durable(id: u64, places: &[String], dir: &Path) -> Builder {
    let config = patient_leases(Mode::Majority, Tokens::Durable);
    member(id, places).protocol("local-leader", config).dir(dir)
}

/// Has the leader change lockTime or drift; whoever led may have lost its lease.
fn set(members: &[Election], lock: Option<Duration>, drift_ppm: Option<u32>) {
    eventually("the change begins", || {
        let leader = leader(members);
        members[leader.0 as usize - 1].set_lengths(lock, drift_ppm).ok()
    });
}

/// Waits until all of them hold a committed list with this number, lockTime and drift, and show
/// these as the durations of their leases.
fn hold(members: &[Election], version: u64, lock_ms: f64, drift_ppm: u32) {
    eventually("the list", || {
        let holds = |election: &Election| {
            let status = election.status().expect("it runs");
            let list = status.voters?;
            let lengths = (list.lock_ms, list.drift_ppm) == (Some(lock_ms), Some(drift_ppm));
            let lease = lock_ms * (1.0 - 2e-6 * f64::from(drift_ppm));
            let shown = status.lease_duration_ms == Some(lock_ms)
                && status
                    .renew_deadline_ms
                    .is_some_and(|shown| (lease - 2.0..lease).contains(&shown));
            (list.version == version && list.committed && lengths && shown).then_some(())
        };
        members.iter().map(holds).collect::<Option<Vec<()>>>().map(|_| ())
    });
}

/// κ for this lockTime: until then a group that lost its leader has another one.
fn kappa(lock: Duration) -> Duration {
    let Config::LocalLeader(config) = patient_leases(Mode::Majority, Tokens::Durable) else {
        panic!("they are leases")
    };
    let period = Some(lock + ms(200));
    let expires = Some(lock + ms(1_200));
    let config = local_leader::Config { lock: Some(lock), period, expires, ..config };
    let choice = Choice::try_from(Config::LocalLeader(config)).expect("it is valid");
    choice.time_scales(3).settles
}

/// Looks all the time how many lead, until told to stop. Returns the longest time without a leader.
fn watch(members: &[Election], stop: &AtomicBool) -> Duration {
    let (mut since, mut longest) = (BootTime.now(), Duration::ZERO);
    while !stop.load(Ordering::Relaxed) {
        let leads = || (0..members.len()).find(|place| members[*place].leadership().leads());
        // While the first one leads, no other one does: it is looked at again, last.
        if let Some(one) = leads() {
            let other = (one + 1..members.len()).find(|place| members[*place].leadership().leads());
            let two = other.is_some() && members[one].leadership().leads();
            assert!(!two, "the members at {one} and {other:?} lead at once");
            since = BootTime.now();
        }
        longest = longest.max(BootTime.now().since(since));
        sleep(std::time::Duration::from_millis(1));
    }
    longest
}

#[test]
fn locks_become_longer_and_shorter_and_the_group_keeps_its_leader() {
    let (places, folder) = (places(3), Folder::new());
    let join = |id| durable(id, &places, &folder.0).join().expect("it joins");
    let members: Vec<Election> = (1..=3).map(join).collect();
    leader(&members);
    hold(&members, 0, FOUNDING, 200);
    let stop = AtomicBool::new(false);
    let longest = scope(|scope| {
        let watcher = scope.spawn(|| watch(&members, &stop));
        set(&members, Some(ms(2_000)), None);
        hold(&members, 1, 2_000.0, 200);
        set(&members, Some(ms(1_000)), Some(300));
        hold(&members, 2, 1_000.0, 300);
        set(&members, None, Some(200));
        hold(&members, 3, 1_000.0, 200);
        stop.store(true, Ordering::Relaxed);
        watcher.join().expect("at no moment two led")
    });
    assert!(longest < kappa(ms(2_000)), "no leader for {longest:?}");
    // A member whose settings are the founding ones goes on with the present list, one by one...
    let mut members = members;
    for id in 1..=3 {
        members.remove(id as usize - 1).leave();
        members.insert(id as usize - 1, join(id));
        leader(&members);
        hold(&members, 3, 1_000.0, 200);
    }
    // ... and all at once; also one that lost its record, which it reads from the others.
    members.iter().for_each(Election::leave);
    std::fs::remove_file(folder.0.join("test.2.state")).expect("it had a record");
    let members: Vec<Election> = (1..=3).map(join).collect();
    leader(&members);
    hold(&members, 3, 1_000.0, 200);
    // Back to where it began.
    set(&members, Some(ms(900)), None);
    hold(&members, 4, FOUNDING, 200);
}

#[test]
fn a_lock_that_breaks_a_rule_is_refused_with_the_nearest_that_keeps_all() {
    let (places, folder) = (places(2), Folder::new());
    let join = |id| durable(id, &places, &folder.0).join().expect("it joins");
    let members: Vec<Election> = (1..=2).map(join).collect();
    let refused = |lock: Option<u64>, drift_ppm: Option<u32>| {
        eventually("an answer of the leader", || {
            let leads = members.iter().find(|member| member.leadership().leads())?;
            leads.set_lengths(lock.map(ms), drift_ppm).err()
        })
    };
    for (lock, drift_ppm, words) in [
        (Some(100), None, "the nearest values that keep all rules are lock = 0.70"),
        (Some(100_000_000), None, "the nearest values that keep all rules are lock = 124.05"),
        (None, Some(90_000), "this would break the rule (Δ+δmin-4ρ(refresh+EP)-2ε)/2 > δmin"),
        (None, Some(0), "clocks"),
        (None, Some(1), "the nearest values that keep all rules are lock = 0.9s and drift-ppm = 2"),
        (Some(900), Some(200), "the group has this lockTime and this drift already"),
    ] {
        let line = refused(lock, drift_ppm).to_string();
        assert!(line.contains(words) && !line.contains('\n'), "{line}");
        assert!(line.ends_with("nothing changed"), "{line}");
    }
    // What is named is not refused.
    let Some(NotNow::Refused(Refused::Lengths { lock, .. })) = Some(refused(Some(100), None))
    else {
        panic!("it is refused for a rule")
    };
    set(&members, Some(lock), None);
    hold(&members, 1, lock.as_nanos() as f64 / 1e6, 200);
    let follower = members.iter().find(|member| !member.leadership().leads()).expect("one of two");
    let refused = follower.set_lengths(Some(ms(2_000)), None);
    assert_eq!(refused, Err(NotNow::Refused(Refused::NotLeading)));
}

#[test]
fn without_durable_tokens_the_lock_stays() {
    let places = places(2);
    let config = patient_leases(Mode::Majority, Tokens::Volatile);
    let join = |id| member(id, &places).protocol("local-leader", config.clone()).join();
    let members: Vec<Election> = (1..=2).map(|id| join(id).expect("it joins")).collect();
    let first = leader(&members);
    let refused = members[first.0 as usize - 1].set_lengths(Some(ms(2_000)), None);
    assert_eq!(refused, Err(NotNow::Refused(Refused::Volatile)));
}

/// The settings are those of the founding list, and all members have the same, whatever the present
/// list says.
#[test]
fn a_member_with_another_founding_lock_is_refused_and_told_so() {
    let (places, folder) = (places(3), Folder::new());
    let join = |id| durable(id, &places, &folder.0).join().expect("it joins");
    let mut members: Vec<Election> = (1..=3).map(join).collect();
    leader(&members);
    set(&members, Some(ms(1_000)), None);
    hold(&members, 1, 1_000.0, 200);
    members.remove(2).leave();
    let Config::LocalLeader(config) = patient_leases(Mode::Majority, Tokens::Durable) else {
        panic!("they are leases")
    };
    // The lockTime of the present list is not that of the founding one.
    let other = local_leader::Config { lock: Some(ms(1_000)), period: Some(ms(1_200)), ..config };
    let other = durable(3, &places, &folder.0).protocol("local-leader", Config::LocalLeader(other));
    let odd = other.join().expect("it joins");
    eventually("it takes no part", || {
        let status = odd.status().expect("it runs");
        let told = status.warnings.iter().any(|line| line.contains("lock=1s"));
        (status.role == Role::Withdrawn && told).then_some(())
    });
    odd.leave();
    members.push(join(3));
    leader(&members);
    hold(&members, 1, 1_000.0, 200);
}

#[test]
fn a_leader_refuses_a_lock_that_is_too_short_for_its_work_and_names_the_shortest() {
    let (places, folder) = (places(2), Folder::new());
    let least = ms(700);
    let join = |id| durable(id, &places, &folder.0).least_lease(least).join().expect("it joins");
    let members: Vec<Election> = (1..=2).map(join).collect();
    let refused = eventually("an answer of the leader", || {
        let leads = members.iter().find(|member| member.leadership().leads())?;
        leads.set_lengths(Some(ms(690)), None).err()
    });
    let NotNow::Refused(Refused::Lengths { lock, rule, .. }) = refused else {
        panic!("{refused:?}")
    };
    assert!(rule.contains("grace"), "{rule}");
    assert!(lock > least && lock <= least + ms(2), "{lock}");
    set(&members, Some(lock), None);
}

/// The clock of this machine, slewed by 1,500 millionths from the moment when a test says so.
#[derive(Default)]
struct Slewed {
    /// The hardware's counter then.
    since: OnceLock<u64>,
}

impl Slewed {
    fn slewed(&self, read: Readings) -> Readings {
        let gone = self.since.get().map_or(0, |since| read.raw.saturating_sub(*since));
        let gained = gone * 1_500 / 1_000_000;
        Readings { boot: read.boot + gained, monotonic: read.monotonic + gained, ..read }
    }
}

impl Clock for Slewed {
    fn now(&self) -> Instant {
        eventually("a reading", || self.readings().map(|read| Instant::from_nanos(read.boot)))
    }

    fn readings(&self) -> Option<Readings> {
        BootTime.readings().map(|read| self.slewed(read))
    }
}

/// Half of the drift that a group agrees on is left to the steering of clocks. What this one gains
/// is too much for 200 millionths after a thirtieth of a second.
#[test]
fn a_member_compares_its_clock_by_the_drift_that_the_group_has_agreed_on() {
    let (places, folder) = (places(1), Folder::new());
    let clock = Arc::new(Slewed::default());
    let alone = durable(1, &places, &folder.0).bootstrap(true);
    let alone = [alone.clock(Arc::<Slewed>::clone(&clock)).join().expect("it joins")];
    let [member] = &alone;
    leader(&alone);
    set(&alone, None, Some(4_000));
    hold(&alone, 1, FOUNDING, 4_000);
    // The thread compares by it at most a tenth of a second later.
    sleep(std::time::Duration::from_millis(300));
    let faults = member.clock_faults();
    clock.since.get_or_init(|| eventually("a reading", || BootTime.readings()).raw);
    sleep(std::time::Duration::from_millis(700));
    assert_eq!((faults, member.clock_faults()), (0, 0), "so much is allowed now");
    set(&alone, None, Some(200));
    eventually("a fault", || (member.clock_faults() > 0).then_some(()));
    eventually("it takes no part", || {
        (member.leadership().role() == Role::Withdrawn).then_some(())
    });
}
