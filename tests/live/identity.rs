//! Two processes with one id, where names say who is where: they never lead both.

use crate::lab::Folder;
use crate::lab::clock::{now, sleep};
use crate::lab::group::{NAME, PATIENCE};
use crate::lab::log::{Log, Said};
use crate::lab::member::{BELLWETHER, Member, Start};
use crate::lab::network::{Family, Network};
use crate::lab::shell::must;
use crate::stage;
use bellwether::core::{Duration, Instant};

/// Members 2 and 3 by their addresses, and 1 by a name.
const PEERS: &str = "1=one:7400,2=10.77.0.2:7400,3=10.77.0.3:7400";

/// All of them by their addresses.
const ADDRESSES: &str = "1=10.77.0.1:7400,2=10.77.0.2:7400,3=10.77.0.3:7400";

/// A network of four machines: 1 to 3 for the members, 4 for a second process with the id 1.
struct Stage {
    network: Network,
    folder: Folder,
    peers: &'static str,
}

impl Stage {
    fn new(peers: &'static str) -> Self {
        let (network, folder) = (Network::new(4), Folder::new());
        must(&[BELLWETHER, "keygen", &folder.file("key")], "");
        Self { network, folder, peers }
    }

    /// On this machine, the name leads to these ones.
    fn name(&self, machine: u64, to: &[u64]) {
        let line = |id: &u64| format!("{} one\n", Network::address(*id, Family::V4));
        let lines: String = to.iter().map(line).collect();
        self.network.give_hosts(machine, &format!("127.0.0.1 localhost\n{lines}"));
    }

    /// Starts the process of this machine.
    fn start(&self, machine: u64) -> (Member, Log) {
        let id = if machine == 4 { 1 } else { machine }.to_string();
        let listen = format!("{}:{}", Network::address(machine, Family::V4), Network::PORT);
        let (key, dir) = (self.folder.file("key"), self.folder.file(&format!("state-{machine}")));
        std::fs::create_dir_all(&dir).expect("the folder can be written");
        let words = [NAME, "--id", &id, "--listen", &listen, "--peers", self.peers, "--key", &key];
        let words = words.into_iter().chain(["--dir", &dir, "--format", "json"]);
        let start = Start {
            namespace: Some(self.network.namespace(machine)),
            before: Vec::new(),
            arguments: words.map(str::to_owned).collect(),
            command: Vec::new(),
            errors: self.folder.file(&format!("errors-{machine}")),
        };
        let log = Log::default();
        (Member::start(start, &log), log)
    }

    fn status(&self, machine: u64) -> String {
        let dir = self.folder.file(&format!("state-{machine}"));
        must(&[BELLWETHER, "status", NAME, "--dir", &dir], "")
    }
}

/// The code with which a member ends by itself; nothing if it goes on.
fn ended(member: &mut Member) -> Option<i32> {
    let end = now() + PATIENCE;
    while now() < end {
        if let Some(status) = member.ended() {
            return status.code();
        }
        sleep(Duration::from_millis(20));
    }
    None
}

fn becomes(log: &Log, role: &str, from: Instant) -> bool {
    let said = |said: &Said| said.t >= from && said.role == role;
    log.wait(PATIENCE, |all| all.iter().any(said).then_some(())).is_some()
}

#[test]
fn a_name_with_two_addresses_is_refused_at_the_start() {
    let _stage = stage();
    let stage = Stage::new(PEERS);
    for machine in 1..=4 {
        stage.name(machine, &[1, 4]);
        let (mut member, _) = stage.start(machine);
        let code = ended(&mut member);
        assert_eq!(code, Some(78), "{}", member.complaints());
        let text = member.complaints();
        assert!(text.contains("member 1: one:7400 has 2 addresses"), "{text}");
        assert!(text.contains("10.77.0.1:7400 and 10.77.0.4:7400"), "{text}");
    }
}

#[test]
fn a_name_that_gets_a_second_address_stops_those_who_see_it() {
    let _stage = stage();
    let stage = Stage::new(PEERS);
    (1..=3).for_each(|machine| stage.name(machine, &[1]));
    let members: Vec<(Member, Log)> = (1..=3).map(|machine| stage.start(machine)).collect();
    for (_, log) in &members {
        let led = log.wait(PATIENCE, |all| all.iter().any(|s| !s.leaders.is_empty()).then_some(()));
        assert!(led.is_some(), "nobody leads: {}", log.tail(5));
    }
    let begun = now();
    (1..=3).for_each(|machine| stage.name(machine, &[1, 4]));
    stage.name(4, &[4]);
    let _double = stage.start(4);
    // It speaks from where it is not expected, so the name is looked up again.
    for machine in [2, 3] {
        let (_, log) = &members[machine - 1];
        assert!(becomes(log, "withdrawn", begun), "{machine}: {}", log.tail(5));
        let text = stage.status(machine as u64);
        assert!(text.contains("one:7400 has 2 addresses"), "{text}");
    }
}

/// When somebody led, by what it said.
fn reigns(log: &Log, from: Instant, to: Instant) -> Vec<(Instant, Instant)> {
    let said = log.since(from);
    let ends = said.iter().skip(1).map(|next| next.t).chain([to]);
    let reigns = said.iter().zip(ends).filter(|(said, _)| said.leads());
    reigns.map(|(said, end)| (said.t, end)).collect()
}

/// Members 1 and 2 know 1 at one address, 3 and the second process with that id at another: each of
/// the two processes has a majority that hears it.
#[test]
fn a_name_that_leads_members_to_different_addresses_makes_no_two_leaders() {
    let _stage = stage();
    let stage = Stage::new(PEERS);
    for (machine, to) in [(1, 1), (2, 1), (3, 4), (4, 4)] {
        stage.name(machine, &[to]);
    }
    let begun = now();
    // Both processes take part before anybody can vote for them, and the second has the later life.
    let first = stage.start(1);
    assert!(becomes(&first.1, "looking", begun), "{}", first.1.tail(5));
    let second = stage.start(4);
    assert!(becomes(&second.1, "looking", begun), "{}", second.1.tail(5));
    let members = [first, stage.start(2), stage.start(3), second];
    sleep(Duration::from_secs(8));
    let end = now();
    // What a member says of its end it says when it next looks.
    let slack = Duration::from_millis(100);
    let all: Vec<_> = members.iter().map(|(_, log)| reigns(log, begun, end)).collect();
    for (one, others) in all.iter().enumerate().map(|(at, one)| (one, &all[at + 1..])) {
        for (from, to) in one {
            for (start, stop) in others.iter().flatten() {
                let overlap = to.min(stop).since(*from.max(start));
                assert!(overlap <= slack, "two led for {overlap}: {all:?}");
            }
        }
    }
    // Members 2 and 3 count 1 as absent while they hear both processes, unless they know the later
    // life and drop the other as a former one. A process that is told of the other one withdraws
    // and falls silent; then the other one is the only one, and may lead.
    assert!(all.iter().any(|reigns| !reigns.is_empty()), "somebody leads: {all:?}");
    let said = members[3].1.since(begun);
    let withdrew = said.iter().find(|s| s.role == "withdrawn").map(|s| s.t);
    for (from, _) in &all[0] {
        let alone = withdrew.is_some_and(|withdrew| withdrew <= *from + slack);
        assert!(alone, "the earlier life led while the later took part: {all:?}, {said:?}");
    }
    let told = [1, 4].map(|machine| stage.status(machine));
    let says = |text: &&String| text.contains("another process uses our id");
    assert!(told.iter().any(|text| says(&text)), "{told:?}");
    let refuses = "refuses us";
    assert!(told.iter().all(|text| text.contains(refuses) || says(&text)), "{told:?}");
}

/// A cut with a process of that id on either side, and a voter that forgot what it promised.
#[test]
fn a_second_process_across_a_cut_never_leads_where_addresses_are_listed() {
    let _stage = stage();
    let stage = Stage::new(ADDRESSES);
    let mut members: Vec<(Member, Log)> = (1..=4).map(|machine| stage.start(machine)).collect();
    assert!(becomes(&members[3].1, "withdrawn", Instant::ZERO), "{}", members[3].1.tail(5));
    for (one, other) in [(1, 3), (1, 4), (2, 3), (2, 4)] {
        stage.network.cut_one_way(one, other);
        stage.network.cut_one_way(other, one);
    }
    let begun = now();
    members[1].0.kill();
    std::fs::remove_dir_all(stage.folder.file("state-2")).expect("it has a state");
    let again = stage.start(2);
    let led = |all: &[Said]| all.iter().any(|said| !said.leaders.is_empty()).then_some(());
    assert!(again.1.wait(PATIENCE, led).is_some(), "1 and 2 have a leader: {}", again.1.tail(5));
    sleep(Duration::from_secs(4));
    let double = reigns(&members[3].1, Instant::ZERO, now());
    assert!(double.is_empty(), "it never leads: {double:?}");
    // Whoever led before the cut on the other side has no majority there.
    let settled = begun + Duration::from_secs(2);
    let mut third = reigns(&members[2].1, Instant::ZERO, now());
    third.retain(|(_, end)| *end > settled);
    assert!(third.is_empty(), "nor does 3 lead with it: {third:?}");
}

/// A pod that is started on another node has the same name and another address.
#[test]
fn a_name_that_moves_is_followed_and_counts_at_its_new_address() {
    let _stage = stage();
    let stage = Stage::new(PEERS);
    (1..=4).for_each(|machine| stage.name(machine, &[1]));
    let mut members: Vec<(Member, Log)> = (1..=3).map(|machine| stage.start(machine)).collect();
    let led = |all: &[Said]| all.iter().any(|said| !said.leaders.is_empty()).then_some(());
    for (_, log) in &members {
        assert!(log.wait(PATIENCE, led).is_some(), "nobody leads: {}", log.tail(5));
    }
    members[0].0.kill();
    (2..=4).for_each(|machine| stage.name(machine, &[4]));
    let moved = stage.start(4);
    assert!(moved.1.wait(PATIENCE, led).is_some(), "it is not heard: {}", moved.1.tail(5));
    // Two of three are left, and one of them is the one that moved.
    let leads = |log: &Log| log.since(Instant::ZERO).last().map(|said| said.leaders.clone());
    let victim = if leads(&moved.1) == Some(vec![3]) { 3 } else { 2 };
    members[victim - 1].0.kill();
    let killed = now();
    sleep(Duration::from_secs(2)); // longer than any lease from before
    let (_, other) = &members[4 - victim];
    let agree = || {
        let (one, two) = (leads(&moved.1), leads(other));
        one == two && one.is_some_and(|ids| !ids.is_empty() && ids != [victim as u64])
    };
    while !agree() {
        assert!(now() < killed + PATIENCE, "{}\n{}", moved.1.tail(5), other.tail(5));
        sleep(Duration::from_millis(20));
    }
}
