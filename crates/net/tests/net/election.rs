//! Members in one process, over loopback: the library as an application uses it.

use crate::support::{Folder, PATIENCE, member, patient_leases, peers, places};
use bellwether_core::{Instant, NodeId, Refused};
use bellwether_net::clock::{BootTime, Clock, Readings};
use bellwether_net::{Builder, Election, Gone, Keyring, Next, NotNow, Peers, Role, Watch};
use bellwether_protocols::announce_listen::{self, Criterion, Variant};
use bellwether_protocols::choice::Config;
use bellwether_protocols::local_leader::{self, Mode, Preset, Tokens};
use std::collections::BTreeMap;
use std::net::UdpSocket;
use std::pin::pin;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};
use std::time::Duration;

fn group(places: &[String]) -> Vec<Election> {
    (1..).take(places.len()).map(|id| member(id, places).join().expect("it joins")).collect()
}

fn follow(election: &Election, wanted: impl Fn(&Election) -> bool) -> bool {
    let mut watch = election.watch();
    while !wanted(election) {
        if !matches!(watch.next_within(PATIENCE), Next::Changed(_)) {
            return false;
        }
    }
    true
}

/// Waits for a future without any executor.
fn block_on<F: Future>(future: F) -> F::Output {
    struct Unpark(Thread);
    impl Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let mut future = pin!(future);
    loop {
        match future.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(output) => return output,
            Poll::Pending => thread::park_timeout(Duration::from_secs(20)),
        }
    }
}

#[test]
fn three_members_elect_one_and_another_when_it_leaves() {
    let members = group(&places(3));
    assert!(
        members.iter().all(|member| follow(member, |m| m.leadership().role() != Role::Looking))
    );
    let leads = |member: &&Election| member.leadership().leads();
    let leader = members.iter().find(leads).unwrap();
    let first = leader.leadership().me;
    leader.leave();
    assert_eq!(leader.leadership().role(), Role::Looking);
    let others: Vec<&Election> =
        members.iter().filter(|member| member.leadership().me != first).collect();
    for other in &others {
        assert!(follow(other, |m| {
            let standing = m.leadership();
            standing.stage == bellwether_core::Stage::Decided && !standing.leaders.contains(&first)
        }));
    }
    assert_eq!(others.iter().filter(|member| member.leadership().leads()).count(), 1);
}

#[test]
fn a_guard_ends_with_its_reign_and_resigns_when_dropped() {
    let members = group(&places(3));
    let guard = block_on(members[0].campaign()).unwrap();
    assert!(guard.still_leading() && guard.remaining() > Duration::ZERO);
    assert!(guard.deadline().is_some());
    drop(guard);
    let other = block_on(members[1].campaign()).unwrap();
    assert!(other.still_leading() && !members[0].leadership().leads());
    members[1].leave();
    assert!(!other.still_leading() && other.deadline().is_none());
    block_on(other.lost());
    assert_eq!(members[1].wait(None).unwrap_err(), Gone);
}

#[test]
fn a_member_alone_has_no_majority_and_says_why() {
    let member = member(2, &places(3)).join().unwrap();
    assert!(member.wait(Some(Duration::from_millis(600))).unwrap().is_none());
    let status = member.status().unwrap();
    assert_eq!(status.role, Role::Looking);
    let why = status.why.join("; ");
    assert!(why.contains("1 was never heard") && why.contains("a leader needs 2"), "{why}");
    assert_eq!(status.security, "insecure");
}

#[test]
fn another_key_is_refused_and_counted() {
    let places = places(2);
    let keyed = |id, keyring: &Keyring| {
        let builder = Election::builder("test").peers(peers(&places)).id(id);
        builder.keyring(keyring.clone()).join().unwrap()
    };
    let (one, other) = (Keyring::generate().unwrap(), Keyring::generate().unwrap());
    let (first, second) = (keyed(1, &one), keyed(2, &other));
    assert!(first.wait(Some(Duration::from_millis(700))).unwrap().is_none());
    let refused = first.status().unwrap().traffic.refused;
    assert!(refused.get("key").is_some_and(|count| *count > 0), "{refused:?}");
    // With the same keys they agree, without a new start.
    second.set_keyring(one).unwrap();
    assert!(follow(&first, |m| m.leadership().role() != Role::Looking));
    let refused = first.status().unwrap().traffic.refused;
    assert!(!refused.contains_key("replayed"), "no refusal counts as a replay: {refused:?}");
}

#[test]
fn a_member_with_another_list_is_refused_and_told_why_and_the_group_goes_on() {
    let all = places(3);
    let good: Vec<Election> = (1..3).map(|id| member(id, &all).join().unwrap()).collect();
    assert!(good.iter().all(|m| follow(m, |m| m.leadership().role() != Role::Looking)));
    // The third believes to be alone, and would lead by its own majority of one.
    let alone = member(3, &all[2..]).join().unwrap();
    assert!(follow(&alone, |m| m.leadership().role() == Role::Withdrawn), "{alone:?}");
    let status = alone.status().unwrap();
    assert!(status.traffic.refused.contains_key("list"), "{:?}", status.traffic);
    assert!(status.warnings.join(" ").contains("member list"), "{:?}", status.warnings);
    // The others hear of it, though it would not speak to them by its own list.
    thread::sleep(Duration::from_secs(1));
    assert!(good.iter().all(|m| m.leadership().role() != Role::Withdrawn), "they are two of three");
    assert_eq!(good.iter().filter(|m| m.leadership().leads()).count(), 1);
    let status = good[0].status().unwrap();
    let told = status.warnings.join(" ");
    assert!(told.contains("member 3 at") && told.contains("correct its list"), "{told}");
    good.iter().for_each(Election::leave);
    assert!(follow(&alone, |m| m.leadership().leads()), "once nobody disagrees, it leads");
}

#[test]
fn lists_with_one_member_in_common_do_not_both_have_a_leader() {
    let all = places(5);
    let old: Vec<Election> = (1..3).map(|id| member(id, &all[..3]).join().unwrap()).collect();
    assert!(old.iter().all(|m| follow(m, |m| m.leadership().role() != Role::Looking)));
    let new: Vec<Election> = (3..6).map(|id| member(id, &all[2..]).join().unwrap()).collect();
    // The one in both lists hears the former leader, and tells it that three have the new list.
    assert!(old.iter().all(|m| follow(m, |m| m.leadership().role() == Role::Withdrawn)));
    assert!(new.iter().all(|m| follow(m, |m| m.leadership().role() != Role::Looking)));
    assert!(old.iter().all(|m| m.leadership().role() == Role::Withdrawn), "and it stays so");
}

#[test]
fn a_leader_that_withdraws_leaves_its_lease_to_run_out() {
    let all = places(6);
    let config = local_leader::Config {
        preset: Preset::Wan,
        tokens: Tokens::Volatile,
        ..local_leader::Config::default()
    };
    let slowly = |id, list: &[String]| {
        let config = Config::LocalLeader(config.clone());
        member(id, list).protocol("local-leader", config).join().unwrap()
    };
    let members: Vec<Election> = (1..4).map(|id| slowly(id, &all[..3])).collect();
    let guard = members[0].wait(PATIENCE).unwrap().expect("the first in line leads");
    let mut watches: Vec<Watch> = members[1..].iter().map(Election::watch).collect();
    let deadline = guard.deadline().expect("it leads");
    // Three of another list could have a leader too, and are no fewer.
    let list = [&all[..1], &all[3..]].concat();
    let rogues: Vec<Election> = (4..7).map(|id| slowly(id, &list)).collect();
    assert!(follow(&members[0], |m| m.leadership().role() == Role::Withdrawn));
    assert!(!guard.still_leading());
    for watch in &mut watches {
        while let Next::Changed(standing) = watch.next_within(Some(Duration::from_millis(100))) {
            assert!(!standing.leads() || standing.at >= deadline, "{standing:?}, {deadline}");
        }
    }
    drop(rogues);
}

/// However many strangers its list names.
#[test]
fn one_mistyped_list_stops_one_member_and_not_the_group() {
    mistype_a_list(Tokens::Volatile);
}

/// The group is founded before, and the member with the mistyped list has a record of it.
#[test]
fn one_mistyped_list_stops_one_member_and_not_the_group_with_durable_tokens() {
    mistype_a_list(Tokens::Durable);
}

fn mistype_a_list(tokens: Tokens) {
    let (all, folder) = (places(9), Folder::new());
    let durable = tokens == Tokens::Durable;
    let member = |id, list: &[String]| {
        let config = patient_leases(Mode::Majority, tokens);
        let builder = member(id, list).protocol("local-leader", config);
        if durable { builder.dir(&folder.0) } else { builder }
    };
    let first = if durable { 1..4 } else { 1..3 };
    let mut members: Vec<Election> =
        first.map(|id| member(id, &all[..3]).join().expect("it joins")).collect();
    assert!(members.iter().all(|m| follow(m, |m| m.leadership().role() != Role::Looking)));
    let leads = members.iter().find(|m| m.leadership().leads()).expect("one leads").leadership().me;
    // This one is in both lists.
    let both = if leads == NodeId(3) { 2 } else { 3 };
    if durable {
        members.remove(both as usize - 1).leave();
    }
    let before: Vec<_> = members.iter().map(|m| m.leadership().reign).collect();
    let own = std::slice::from_ref(&all[both as usize - 1]);
    let rogues = [
        member(both, &[own, &all[3..]].concat()).join().expect("it joins"),
        member(4, &[&all[..1], &all[3..]].concat()).join().expect("it joins"),
    ];
    for rogue in &rogues {
        assert!(follow(rogue, |m| m.leadership().role() == Role::Withdrawn), "{rogue:?}");
    }
    for _ in 0..200 {
        for (member, before) in members.iter().zip(&before) {
            let now = member.leadership();
            assert!(now.role() != Role::Withdrawn && now.reign == *before, "{now:?}");
        }
        assert_eq!(members.iter().filter(|m| m.leadership().leads()).count(), 1);
        thread::sleep(Duration::from_millis(20));
    }
    let status = members[0].status().expect("it runs");
    assert!(status.traffic.refused["list"] > 0, "counted: {:?}", status.traffic);
    assert_eq!(status.term_kept, durable);
    // Whole frames are dropped for that, so no request by the other list gets to the protocol.
    let counted = |m: &Election| m.status().expect("it runs").other_lists;
    assert!(members.iter().all(|m| counted(m).is_empty()), "{:?}", counted(&members[0]));
    let told = rogues[1].status().expect("it runs").warnings.join(" ");
    // It hears one member of each list, so that any one may be the odd one.
    let odd = [
        "has one member list, 4 another".to_owned(),
        "member 4 has one member list, 1 another".to_owned(),
        format!("member 4 has one member list, {both} another"),
    ];
    assert!(odd.iter().any(|odd| told.contains(odd)), "{told}");
}

#[test]
fn the_last_guard_that_is_dropped_resigns_and_no_other_does() {
    let alone = member(1, &places(1)).join().unwrap();
    let first = alone.wait(PATIENCE).unwrap().unwrap();
    let second = alone.wait(PATIENCE).unwrap().unwrap();
    drop(first);
    assert!(alone.leadership().leads() && second.still_leading(), "one is still held");
    drop(second);
    assert!(!alone.leadership().leads(), "not for a moment longer");
    let third = alone.wait(PATIENCE).unwrap().unwrap();
    assert!(third.still_leading(), "by another reign");
    drop(alone);
    assert!(third.still_leading(), "a guard keeps its member");
}

#[test]
fn whoever_resigns_is_told_at_once_and_waits_for_the_guards() {
    let alone = member(1, &places(1)).join().unwrap();
    let guards = [(); 2].map(|()| alone.wait(PATIENCE).unwrap().unwrap());
    let deadline = guards[0].deadline().unwrap();
    alone.resign().unwrap();
    assert!(BootTime.now() >= deadline, "it waited for them");
    assert!(guards.iter().all(|guard| !guard.still_leading() && guard.deadline().is_none()));
    let [one, other] = [(); 2].map(|()| alone.wait(PATIENCE).unwrap().unwrap());
    let deadline = other.deadline().unwrap();
    thread::scope(|scope| {
        let resigning = scope.spawn(|| one.resign());
        assert!(other.wait_lost(PATIENCE), "it is told");
        drop(other);
        resigning.join().unwrap().unwrap();
    });
    drop(guards);
    let again = alone.wait(PATIENCE).unwrap().unwrap();
    assert!(again.deadline().unwrap() > deadline, "another lease");
    assert_eq!(again.resign(), Ok(()));
    assert_eq!(alone.resign(), Err(NotNow::Refused(Refused::NotLeading)), "it does not lead");
}

/// Alone, `le-a` leads again in the very step in which it resigned.
#[test]
fn whoever_leads_on_after_resigning_has_another_reign_and_everybody_is_told() {
    let config = Config::AnnounceListen(announce_listen::Config::new(Variant::LeA));
    let alone = member(1, &places(1)).protocol("le-a", config).join().unwrap();
    let guard = alone.wait(PATIENCE).unwrap().unwrap();
    let mut watch = alone.watch();
    assert!(matches!(watch.next_within(PATIENCE), Next::Changed(_)));
    thread::scope(|scope| {
        let waiting = scope.spawn(|| {
            while guard.still_leading() {
                thread::yield_now();
            }
            alone.wait(PATIENCE).unwrap().is_some()
        });
        let _ = alone.resign(); // whether it says so or not
        assert!(waiting.join().unwrap(), "another guard is to be had");
    });
    assert!(!guard.still_leading(), "what was lost stays lost");
    assert!(matches!(watch.next_within(PATIENCE), Next::Changed(_)), "and a watch hears of it");
    drop(guard);
    assert!(follow(&alone, |m| m.leadership().leads()), "a guard of a former reign ends nothing");
}

#[test]
fn a_member_that_raises_its_rank_leads_where_ranks_decide() {
    let mut ranked = announce_listen::Config::new(Variant::LeA);
    ranked.criterion = Some(Criterion::Rank);
    let (places, config) = (places(2), Config::AnnounceListen(ranked));
    let join = |id| member(id, &places).protocol("le-a", config.clone()).rank(id).join().unwrap();
    let members = [join(1), join(2)];
    assert!(follow(&members[0], |m| m.leadership().leaders == [NodeId(2)]), "the greater rank");
    members[0].set_rank(3).unwrap();
    assert!(members.iter().all(|m| follow(m, |m| m.leadership().leaders == [NodeId(1)])));
    let by_id = member(1, &self::places(1)).join().unwrap();
    assert!(
        matches!(by_id.set_rank(3), Err(NotNow::Refused(Refused::Unsupported))),
        "leases have no ranks"
    );
}

/// The machine's clock, steered by so many millionths from some moment on.
#[derive(Default)]
struct Steered {
    from: OnceLock<Readings>,
    ppm: AtomicI64,
}

impl Steered {
    fn slew(&self, ppm: i64) {
        self.ppm.store(ppm, Ordering::Release);
    }
}

impl Clock for Steered {
    fn now(&self) -> Instant {
        let read = self.readings().unwrap_or_else(|| panic!("the machine stands still"));
        Instant::from_nanos(read.boot)
    }

    fn readings(&self) -> Option<Readings> {
        let read = BootTime.readings()?;
        let ppm = self.ppm.load(Ordering::Acquire);
        if ppm == 0 {
            return Some(read);
        }
        let since = read.raw - self.from.get_or_init(|| read).raw.min(read.raw);
        let gained = since as i64 / 1_000 * ppm / 1_000;
        let steered = |time: u64| time.saturating_add_signed(gained);
        Some(Readings { boot: steered(read.boot), monotonic: steered(read.monotonic), ..read })
    }
}

#[test]
fn a_member_whose_clock_is_slewed_withdraws_before_anybody_acts_by_it() {
    for ppm in [-2_000, -300, 300, 2_000] {
        let clock = Arc::new(Steered::default());
        let alone = member(1, &places(1)).clock(Arc::clone(&clock) as _).join().unwrap();
        let guard = alone.wait(PATIENCE).unwrap().unwrap();
        assert!(guard.still_leading(), "{ppm}: so far its clock is right");
        clock.slew(ppm);
        assert!(guard.wait_lost(PATIENCE), "{ppm}: the guard is lost");
        assert!(follow(&alone, |m| m.leadership().role() == Role::Withdrawn), "{ppm}");
        let why = alone.status().unwrap().warnings.join("; ");
        assert!(why.contains("more than 100 millionths, half of drift-ppm"), "{ppm}: {why}");
    }
}

#[test]
fn a_clock_that_is_said_to_be_perfect_is_not_believed() {
    let config = local_leader::Config { drift_ppm: Some(0), ..local_leader::Config::default() };
    let perfect = member(1, &places(1)).protocol("local-leader", Config::LocalLeader(config));
    let refused = perfect.join().unwrap_err().to_string();
    assert!(refused.contains("drift-ppm is less than 2"), "{refused}");
}

#[test]
fn whatever_is_sent_to_a_member_moves_one_counter_and_is_not_answered() {
    let all = places(3);
    let members = [member(1, &all).join().unwrap(), member(2, &all).join().unwrap()];
    assert!(members.iter().all(|m| follow(m, |m| m.leadership().role() != Role::Looking)));
    let stranger = UdpSocket::bind("127.0.0.1:0").unwrap();
    let target = all[0].split_once('=').unwrap().1;
    let before = members[0].status().unwrap();
    let total = |refused: &BTreeMap<String, u64>| refused.values().sum::<u64>();
    let mut sent = 0;
    for length in 0..=1500_usize {
        let bytes: Vec<u8> = (0..length).map(|at| (at * 31 + length * 7) as u8).collect();
        stranger.send_to(&bytes, target).unwrap();
        sent += 1;
        if sent % 50 == 0 {
            thread::sleep(Duration::from_millis(5)); // its queue is not endless
        }
    }
    let seen = |m: &Election| total(&m.status().unwrap().traffic.refused);
    for _ in 0..1000 {
        if seen(&members[0]) - total(&before.traffic.refused) == sent {
            break;
        }
        thread::sleep(Duration::from_millis(10));
    }
    let after = members[0].status().unwrap();
    assert_eq!(total(&after.traffic.refused) - total(&before.traffic.refused), sent);
    assert_eq!((after.leaders, after.changes), (before.leaders, before.changes));
    stranger.set_nonblocking(true).unwrap();
    assert!(stranger.recv_from(&mut [0; 64]).is_err(), "no answer");
}

#[test]
fn the_same_port_or_the_same_state_is_not_had_twice() {
    let all = places(1);
    let folder = Folder::new();
    let dir = &folder.0;
    let first = member(1, &all).dir(dir).join().unwrap();
    let error = member(1, &all).join().unwrap_err();
    assert!(error.to_string().contains("cannot listen at 127."), "{error}");
    let error = member(1, &all).dir(dir).join().unwrap_err();
    assert!(error.to_string().contains("another process is member test.1"), "{error}");
    let listen = "127.0.0.1:0".parse().unwrap();
    let error = member(1, &all).dir(dir).listen(listen).join().unwrap_err();
    assert!(error.to_string().contains("another process is member test.1"), "{error}");
    drop(first);
}

#[test]
fn an_id_used_twice_has_one_voice() {
    let all = places(3);
    let good = [member(1, &all).join().unwrap(), member(2, &all).join().unwrap()];
    assert!(good.iter().all(|m| follow(m, |m| m.leadership().role() != Role::Looking)));
    let elsewhere = "127.0.0.1:0".parse().unwrap();
    let double = member(1, &all).listen(elsewhere).join().unwrap();
    assert!(double.wait(Some(Duration::from_millis(600))).unwrap().is_none());
    let refused = good[1].status().unwrap().traffic.refused;
    assert!(refused.get("address").is_some_and(|count| *count > 0), "{refused:?}");
    assert!(good[0].leadership().leads() || good[1].leadership().leads());
}

#[test]
fn whoever_finds_nobody_under_a_name_does_not_think_to_be_alone() {
    let peers: Peers = "dns:nobody.invalid:7400".parse().unwrap();
    let listen = "127.0.0.1:0".parse().unwrap();
    let lost = Election::builder("test").peers(peers).listen(listen).insecure().join().unwrap();
    assert!(lost.wait(Some(Duration::from_millis(800))).unwrap().is_none());
    assert_eq!(lost.leadership().role(), Role::Withdrawn);
}

#[test]
fn rules_are_told_and_broken_ones_named() {
    let all = places(3);
    let rules = member(1, &all).check().unwrap();
    assert!(rules.iter().any(|rule| rule.text.contains("never two")), "{rules:?}");
    let says = |builder: Builder, words: &str| {
        let error = builder.check().unwrap_err();
        assert!(error.is_config() && error.to_string().contains(words), "{error}");
    };
    let peers = peers(&all);
    says(Election::builder("a/b").peers(peers.clone()).insecure(), "group 'a/b'");
    says(Election::builder("g").insecure(), "the members are not given");
    says(Election::builder("g").peers(peers.clone()).id(1), "there is no key");
    says(member(9, &all), "id 9 is not in the list");
    says(Election::builder("g").peers(peers).insecure(), "3 of the members have addresses");
    let crowd: Vec<String> = (1..200).map(|id| format!("{id}=127.0.0.1:{}", 1000 + id)).collect();
    says(member(1, &crowd), "with 199 voters a message may have");
}
