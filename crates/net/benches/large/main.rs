//! What large groups cost, live: `cargo bench --locked -p bellwether-net --bench large`.
//!
//! **What is measured.** Groups of 5 to 1,000 members of one machine, each with a socket of its own
//! on the loopback and a thread of its own. Five members vote, each in its own process; the others
//! are in four processes. Datagrams are those that the members sent, after all of them name the
//! same leader. Memory and processor time are those of the process of the leader, and those of the
//! processes of the observers divided by the number of observers. Then the process of the leader is
//! killed, and started again once the group has another one, five times: a failover lasts until
//! another member leads, and "all know" until all others name that one.
//!
//! **What must hold.** A failover takes no longer than the preset allows (lockTime+2Δ+2σ), in a
//! group of any size; where it does, the machine stalled for longer meanwhile. All know the next
//! leader 5(2Δ+σ) + `announce` later at the latest, as `docs/promises.md` says. A voter leads as
//! soon as in a group of five, and all know it soon after: see [`slower`]. What a follower sends in
//! a second differs by less than [`FACTOR`] between groups of all sizes. Otherwise the exit code
//! is 1.
//!
//! **How to read it.** All members share the cores of this machine, so that the failover of a large
//! group includes the work of all its members. Processor time is in parts of a core. `-- --quick`
//! measures smaller groups for a short time, with one kill each, and `-- --csv FILE` writes a table
//! that `docs/draw large` draws.

#![allow(
    clippy::disallowed_types,
    clippy::disallowed_methods,
    reason = "it measures how long processes take, by the clock that they share"
)]

mod host;
mod stalls;

use bellwether_protocols::local_leader::{Config, Params};
use host::{Host, PATIENCE, VOTERS, ask, host_members, wall};
use stalls::Stalls;
use std::path::Path;
use std::process::ExitCode;
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Processes of observers.
const HOSTS: u64 = 4;
/// From this size on there are so many observers that they hear of the leader through each other.
const LARGE: u64 = 10;
/// The largest and the smallest rate of datagrams of a follower differ by less than this factor.
const FACTOR: f64 = 2.0;
/// How often a measurement begins anew because the leader changed by itself.
const TRIES: usize = 5;
/// How long the leader has run before it is killed.
const REST: Duration = Duration::from_millis(500);

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [host, size, first, last] = &arguments[..]
        && host == "host"
    {
        let number = |text: &str| text.parse().expect("a number");
        host_members(number(size), number(first)..=number(last));
        return ExitCode::SUCCESS;
    }
    let quick = arguments.iter().any(|argument| argument == "--quick");
    let file = arguments.windows(2).find(|pair| pair[0] == "--csv").map(|pair| &pair[1]);
    let sizes: &[u64] = if quick { &[5, 30, 100] } else { &[5, 10, 30, 100, 300, 1000] };
    let effort = match quick {
        true => Effort { watched: Duration::from_secs(2), kills: 1 },
        false => Effort { watched: Duration::from_secs(10), kills: 5 },
    };
    let stalls = Stalls::watch();
    println!("{HEAD}");
    let mut rows = Vec::new();
    for size in sizes {
        let row = measure(*size, &effort, &stalls);
        println!("{}", row.shown());
        rows.push(row);
    }
    if let Some(file) = file {
        let lines: Vec<String> = rows.iter().map(Row::csv).collect();
        // Cargo starts a benchmark in the directory of its crate.
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(file);
        std::fs::write(file, format!("{CSV}\n{}\n", lines.join("\n"))).expect("it can be written");
    }
    let missed = missed(&rows);
    missed.iter().for_each(|line| println!("MISSED: {line}"));
    if missed.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// How much is measured.
struct Effort {
    /// How long datagrams and processor time are counted.
    watched: Duration,
    /// How often the leader is killed.
    kills: usize,
}

/// Rates in datagrams a second, memory in KiB, processor time in cores.
#[derive(Clone, Copy, Default)]
struct Cost {
    datagrams: f64,
    memory: f64,
    cores: f64,
}

/// What came of a kill, in milliseconds.
#[derive(Clone, Copy)]
struct Failover {
    led: f64,
    known: f64,
    /// How long the machine stalled until the next leader led, and until all knew it; the time in
    /// which it ended the process that was killed included.
    stalled: [f64; 2],
}

/// What was measured of one size.
struct Row {
    size: u64,
    all: f64,
    leader: Cost,
    follower: Cost,
    failovers: Vec<Failover>,
}

const HEAD: &str =
    "        datagrams/s                KiB          % of a core     next leader, ms  \
    all know, ms
members     all leader follower   leader follower  leader follower   median   worst   median   \
    worst";
const CSV: &str = "members,datagrams,leader_datagrams,follower_datagrams,leader_kib,follower_kib,\
    leader_percent,follower_percent,failover_median_ms,failover_worst_ms,known_median_ms,\
    known_worst_ms";

impl Row {
    fn numbers(&self) -> [f64; 11] {
        let Self { all, leader, follower, .. } = self;
        let [led, led_worst] = self.middle_and_worst(|failover| failover.led);
        let [known, known_worst] = self.middle_and_worst(|failover| failover.known);
        let percent = |cost: &Cost| cost.cores * 100.0;
        [
            *all,
            leader.datagrams,
            follower.datagrams,
            leader.memory,
            follower.memory,
            percent(leader),
            percent(follower),
            led,
            led_worst,
            known,
            known_worst,
        ]
    }

    fn middle_and_worst(&self, of: impl Fn(&Failover) -> f64) -> [f64; 2] {
        let mut all: Vec<f64> = self.failovers.iter().map(of).collect();
        all.sort_by(f64::total_cmp);
        [all[all.len() / 2], all[all.len() - 1]]
    }

    fn shown(&self) -> String {
        let [all, leader, follower, held, each, busy, part, led, worst, known, last] =
            self.numbers();
        format!(
            "{:>7} {all:>7.0} {leader:>6.0} {follower:>8.2} {held:>8.0} {each:>8.0} {busy:>7.2} \
             {part:>8.3} {led:>8.0} {worst:>7.0} {known:>8.0} {last:>7.0}",
            self.size
        )
    }

    fn csv(&self) -> String {
        let numbers = self.numbers().map(|number| format!("{number:.3}"));
        format!("{},{}", self.size, numbers.join(","))
    }
}

/// Of the medians of so few kills nothing is said: the phase of one decides.
const KILLS_MIN: usize = 5;
/// To how many others each process forwards an announcement, in each direction.
const FANOUT: f64 = 4.0;

/// The levels of the tree of the observers, in the largest group.
const LEVELS: f64 = 5.0;

/// The sizes at which the median failover is longer than with five members.
///
/// The next leader is one of the same five voters, which ask nobody else; so when *a voter leads*
/// does not depend on the size. What differs between two kills of one group is their phase in the
/// renewal period: a lease ends lockTime−P to lockTime after the kill. So a median may be
/// lockTime/(lockTime−P) of the other's and no more; with the preset's values that is 1.5. *All
/// know* when the announcement has crossed the tree of the observers, which has ⌈log₄ n⌉ levels
/// (5 with 1,000) of 2Δ+σ at most; one that is lost is followed by the next after `announce`. For
/// both, the machine's stalls at the median are added: all members share its cores.
fn slower(rows: &[Row], params: &Params) -> Vec<String> {
    let ms = |length: bellwether_core::Duration| length.as_nanos() as f64 / 1e6;
    let factor = ms(params.lock()) / ms(params.lock().saturating_sub(params.renew()));
    let enough = |row: &&Row| row.failovers.len() >= KILLS_MIN;
    let Some(five) = rows.iter().filter(enough).find(|row| row.size == VOTERS) else {
        return Vec::new();
    };
    let middle = |row: &Row, of: fn(&Failover) -> f64| row.middle_and_worst(of)[0];
    let mut slower = Vec::new();
    for row in rows.iter().filter(enough).filter(|row| row.size > VOTERS) {
        let levels = ((row.size - VOTERS) as f64).log(FANOUT).ceil();
        let spread = levels * ms(params.stagger()) + ms(params.announce());
        let led: fn(&Failover) -> f64 = |failover| failover.led;
        let known: fn(&Failover) -> f64 = |failover| failover.known;
        let stalls: [fn(&Failover) -> f64; 2] =
            [|failover| failover.stalled[0], |failover| failover.stalled[1]];
        for (of, more, stalled, what) in
            [(led, 0.0, stalls[0], "a voter led"), (known, spread, stalls[1], "all knew it")]
        {
            let (took, with_five) = (middle(row, of), middle(five, of));
            let stalled = middle(row, stalled);
            if took > with_five * factor + more + stalled {
                slower.push(format!(
                    "{} members: {what} after {took:.0} ms at the median, with five after \
                     {with_five:.0} ms; a factor of {factor:.2} and {more:.0} ms more are allowed, \
                     and the machine stalled for {stalled:.0} ms",
                    row.size
                ));
            }
        }
    }
    slower
}

/// What does not hold.
fn missed(rows: &[Row]) -> Vec<String> {
    let params = Params::try_from(Config::default()).expect("a preset is valid");
    let ms = |length: bellwether_core::Duration| length.as_nanos() as f64 / 1e6;
    let failover = ms(params.failover());
    let spread = LEVELS * ms(params.stagger()) + ms(params.announce());
    let mut missed = slower(rows, &params);
    for Row { size, failovers, .. } in rows {
        for Failover { led, known, stalled } in failovers {
            for (took, bound, stalled, what) in [
                (led, failover, stalled[0], "the next leader came after"),
                (known, failover + spread, stalled[1], "all knew it after"),
            ] {
                if *took > bound + stalled {
                    missed.push(format!(
                        "{size} members: {what} {took:.0} ms; the bound is {bound:.0} ms, and the \
                         machine stalled for {stalled:.0} ms"
                    ));
                }
            }
        }
    }
    let large = rows.iter().filter(|row| row.size >= LARGE);
    let rates: Vec<f64> = large.map(|row| row.follower.datagrams).collect();
    let least = rates.iter().copied().fold(f64::MAX, f64::min);
    let most = rates.iter().copied().fold(0.0, f64::max);
    if most > least * FACTOR {
        missed.push(format!(
            "a follower sends {least:.2} to {most:.2} datagrams a second, by the size of its \
             group: more than a factor of {FACTOR}"
        ));
    }
    missed
}

/// Waits until all members name the same leader.
fn settled(hosts: &mut [Host]) -> u64 {
    let begin = Instant::now();
    while begin.elapsed() < PATIENCE {
        let named: Vec<f64> = ask(hosts, "who").iter().map(|answer| answer[0]).collect();
        if named[0] > 0.0 && named.iter().all(|leader| *leader == named[0]) {
            return named[0] as u64;
        }
        sleep(Duration::from_millis(100));
    }
    panic!("no leader that all know within {PATIENCE:?}");
}

fn measure(size: u64, effort: &Effort, stalls: &Stalls) -> Row {
    let mut hosts: Vec<Host> = (1..=VOTERS).map(|id| Host::start(size, id, id)).collect();
    let observers = size - VOTERS;
    for host in 0..HOSTS.min(observers) {
        let place = |host: u64| VOTERS + observers * host / HOSTS.min(observers);
        hosts.push(Host::start(size, place(host) + 1, place(host + 1)));
    }
    hosts.iter_mut().for_each(|host| assert_eq!(host.hear(), [1.0], "ready"));
    // If the leader changes by itself meanwhile, nothing was measured.
    let costs = (0..TRIES).find_map(|_| costs(&mut hosts, effort.watched));
    let (all, leader, follower) = costs.expect("a steady leader");
    let kill = |_| (0..TRIES).find_map(|_| kill(&mut hosts, size, stalls)).expect("a leader");
    let failovers = (0..effort.kills).map(kill).collect();
    Row { size, all, leader, follower, failovers }
}

/// What the group costs, and each of its kinds of members.
fn costs(hosts: &mut [Host], watched: Duration) -> Option<(f64, Cost, Cost)> {
    settled(hosts);
    sleep(watched.min(Duration::from_secs(5)));
    let leader = settled(hosts);
    let (sent, begin, used) = (ask(hosts, "sent"), Instant::now(), ask(hosts, "used"));
    sleep(watched);
    let used_later = ask(hosts, "used");
    let (seconds, sent_later) = (begin.elapsed().as_secs_f64(), ask(hosts, "sent"));
    let cost = |host: usize| Cost {
        datagrams: (sent_later[host][0] - sent[host][0]) / seconds,
        memory: used_later[host][0],
        cores: (used_later[host][1] - used[host][1]) / seconds,
    };
    let (led_by, voters) = (leader as usize - 1, VOTERS as usize);
    // In a group where all vote a follower is a voter.
    let kinds = if hosts.len() > voters { voters..hosts.len() } else { 0..voters };
    let members = |host: usize| hosts[host].members as f64;
    let followers =
        kinds.filter(|host| *host != led_by).fold((Cost::default(), 0.0), |sum, host| {
            let (so_far, one) = (sum.0, cost(host));
            let datagrams = so_far.datagrams + one.datagrams;
            let (memory, cores) = (so_far.memory + one.memory, so_far.cores + one.cores);
            (Cost { datagrams, memory, cores }, sum.1 + members(host))
        });
    let (Cost { datagrams, memory, cores }, count) = followers;
    let each = Cost { datagrams: datagrams / count, memory: memory / count, cores: cores / count };
    let all = (0..hosts.len()).map(|host| cost(host).datagrams).sum();
    let at_first = cost(led_by);
    (settled(hosts) == leader).then_some((all, at_first, each))
}

/// Kills the process of the leader, and starts it again once all others name the next one.
fn kill(hosts: &mut [Host], size: u64, stalls: &Stalls) -> Option<Failover> {
    settled(hosts);
    sleep(REST);
    let leader = settled(hosts);
    let led_by = leader as usize - 1;
    for (place, host) in hosts.iter_mut().enumerate() {
        if place != led_by {
            host.tell(&format!("watch {leader}"));
        }
    }
    sleep(Duration::from_millis(50));
    let (begin, killed) = (Instant::now(), wall());
    hosts[led_by].child.kill().expect("it is killed");
    hosts[led_by].child.wait().expect("it ends");
    // Until then it may have gone on to renew its lease.
    let dying = begin.elapsed();
    let others = hosts.iter_mut().enumerate().filter(|(place, _)| *place != led_by);
    let seen: Vec<Vec<f64>> = others.map(|(_, host)| host.hear()).collect();
    let led = seen.iter().map(|seen| seen[0]).filter(|at| *at > 0.0).fold(f64::MAX, f64::min);
    let known = seen.iter().map(|seen| seen[1]).fold(0.0, f64::max);
    hosts[led_by] = Host::start(size, leader, leader);
    assert_eq!(hosts[led_by].hear(), [1.0], "ready");
    let after = |at: f64| begin + Duration::from_secs_f64((at - killed).clamp(0.0, 1e6));
    let stalled = |at| (stalls.between(begin, after(at)) + dying).as_secs_f64() * 1e3;
    let stalled = [led, known].map(stalled);
    let [led, known] = [led, known].map(|at| (at - killed) * 1e3);
    (led > 0.0 && led < 1e9).then_some(Failover { led, known, stalled })
}
