//! The address that moves, as its client sees it: our leader's, and keepalived's.
//!
//! **What is measured.** A client sends a packet every millisecond to the address; an outage is the
//! longest time between two that were answered, and packets lost are those that were not. SIGTERM,
//! SIGKILL and SIGSTOP strike our member alone, whose guardian lives on, or all that keepalived
//! started. In a silent cut the host that has the address is off the bridge for five seconds; after
//! SIGSTOP its processes stand still for as long. Two owners are the time in which two hosts had
//! the address, at most in any repetition: zero is promised. Packets are all that the three hosts
//! send while nothing happens and there is no client.

use crate::lab::Folder;
use crate::lab::clock::{millis, now, sleep, sleep_until};
use crate::lab::group::{PATIENCE, listed};
use crate::lab::member::{BELLWETHER, with_descendants};
use crate::lab::network::{Family, Network};
use crate::lab::shell::{attempt, must};
use crate::lab::stalls::stalls;
use crate::owners::Owners;
use crate::row::{Row, Rows};
use crate::traffic::Traffic;
use bellwether::core::Duration;
use rustix::process::{Pid, Signal, kill_process};
use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr};
use std::process::{Child, Command, Stdio};

const ADDRESS: Ipv4Addr = Ipv4Addr::new(10, 77, 0, 100);
const HOSTS: [u64; 3] = [1, 2, 3];
/// How long a host is cut off, or stands still.
const CUT: Duration = Duration::from_secs(5);
/// Ours is equal if it is at most this times the other's: repetitions of one row differ by as much.
const EQUAL: f64 = 1.05;
/// Or if it is more by at most this, in the unit of the column: a scheduler's delay in ms.
const LEAST: f64 = 0.5;
/// For how long packets are counted.
const COUNTED: Duration = Duration::from_secs(5);

/// Whose address it is.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Whose {
    Ours(Ours),
    /// With this time between adverts.
    Keepalived(Duration),
}

/// A group of ours.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ours {
    name: &'static str,
    flags: &'static [&'static str],
    /// When a leader that is not heard is given up.
    given_up: Duration,
}

const FASTEST: Ours =
    Ours { name: "fastest", flags: &["--preset", "fastest"], given_up: Duration::from_millis(36) };
/// The same with as few packets as it can do with, so also with multicasts.
const THRIFTY: Ours = Ours {
    name: "fastest --spare 0",
    flags: &["--preset", "fastest", "--multicast", "239.77.0.1:7401", "--spare", "0"],
    given_up: Duration::from_millis(36),
};
const LAN: Ours =
    Ours { name: "lan", flags: &["--preset", "lan"], given_up: Duration::from_millis(150) };
const SLOW: Ours = Ours {
    name: "--lease 3.6s",
    flags: &["--lease", "3.6s"],
    given_up: Duration::from_millis(3_600),
};

impl Whose {
    pub(crate) fn name(self) -> String {
        match self {
            Self::Ours(ours) => format!("address, {}", ours.name),
            Self::Keepalived(advert) => format!("keepalived {advert}"),
        }
    }

    /// Its name in the README.
    fn title(self) -> String {
        match self {
            Self::Ours(ours) => format!("bellwether, `{}`", ours.name),
            Self::Keepalived(advert) => format!("keepalived, adverts of {advert}"),
        }
    }

    /// When a leader that is not heard is given up.
    fn given_up(self) -> Duration {
        match self {
            Self::Ours(ours) => ours.given_up,
            // Three adverts, and a part of one that depends on the priority: 100 of 256 and more.
            Self::Keepalived(advert) => advert * 36 / 10,
        }
    }
}

/// Three hosts and a client.
struct Hosts {
    whose: Whose,
    // What is declared first is dropped first: threads, processes, then what they stand on.
    traffic: Option<Traffic>,
    owners: Owners,
    processes: BTreeMap<u64, Child>,
    client: u64,
    network: Network,
    folder: Folder,
}

impl Hosts {
    fn started(whose: Whose) -> Self {
        let (mut network, folder) = (Network::new(3), Folder::new());
        let client = network.add_guest();
        network.get_ready();
        must(&[BELLWETHER, "keygen", &folder.file("key")], "");
        let owners = Owners::watch(&network, &HOSTS, IpAddr::V4(ADDRESS));
        let processes = BTreeMap::new();
        let mut hosts = Self { whose, traffic: None, owners, processes, client, network, folder };
        HOSTS.into_iter().for_each(|id| hosts.start(id));
        hosts
    }

    fn start(&mut self, id: u64) {
        let namespace = self.network.namespace(id);
        let mut command = Command::new("ip");
        command.args(["netns", "exec", &namespace, "setpriv", "--pdeathsig", "KILL"]);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        match self.whose {
            Whose::Ours(Ours { flags, .. }) => {
                let (key, dir) = (self.folder.file("key"), self.folder.file(&format!("dir-{id}")));
                let peers = listed(&Network::places(3, Family::V4));
                command.args([
                    BELLWETHER,
                    "run",
                    "lab",
                    "--id",
                    &id.to_string(),
                    "--peers",
                    &peers,
                ]);
                command.args(["--key", &key, "--dir", &dir]).args(flags);
                command.args(["--address", &format!("{ADDRESS}/32@eth0")]);
            }
            Whose::Keepalived(advert) => {
                let file = self.folder.file(&format!("keepalived-{id}.conf"));
                std::fs::write(&file, keepalived(id, advert)).expect("the folder can be written");
                command.args(["keepalived", "--dont-fork", "--vrrp", "--use-file", &file]);
                for (flag, name) in [("--pid", "parent"), ("--vrrp_pid", "vrrp")] {
                    let file = self.folder.file(&format!("keepalived-{id}-{name}.pid"));
                    let _ = std::fs::remove_file(&file); // one that was killed leaves it behind
                    command.arg(flag).arg(file);
                }
            }
        }
        let child = command.spawn().unwrap_or_else(|error| panic!("{command:?}: {error}"));
        self.processes.insert(id, child);
    }

    /// Waits until a host other than this has the address and, if there is a client, answers it.
    fn reached(&self, former: Option<u64>) -> u64 {
        let (begun, end) = (now(), now() + PATIENCE);
        loop {
            let owners = self.owners.now();
            let owner = owners.iter().copied().find(|owner| Some(*owner) != former);
            let answers = |owner: &u64| match &self.traffic {
                Some(traffic) => traffic.answers(begun) == Some(*owner),
                None => true,
            };
            if let Some(owner) = owner.filter(answers) {
                return owner;
            }
            assert!(now() < end, "{}: nobody took over; owners {owners:?}", self.whose.name());
            sleep(Duration::from_millis(1));
        }
    }

    /// Waits until one host alone has it, for a while.
    fn settled(&self) -> u64 {
        let (mut since, mut owner, end) = (now(), Vec::new(), now() + PATIENCE);
        while owner.len() != 1 || now().since(since) < Duration::from_secs(1) {
            let owners = self.owners.now();
            if owners != owner {
                (since, owner) = (now(), owners);
            }
            assert!(now() < end, "{}: no agreement; owners {owner:?}", self.whose.name());
            sleep(Duration::from_millis(5));
        }
        self.reached(None)
    }

    fn signal(&self, pids: &[u32], signal: Signal) {
        for pid in pids {
            let pid = i32::try_from(*pid).ok().and_then(Pid::from_raw);
            let _ = pid.map(|pid| kill_process(pid, signal)); // it may just have ended
        }
    }

    /// Signals our member alone, or all that keepalived started; but SIGTERM, which asks it to end.
    fn hit(&self, id: u64, hit: Signal) {
        let pid = self.processes[&id].id();
        let all = match (self.whose, hit) {
            (Whose::Ours(_), _) | (_, Signal::TERM) => vec![pid],
            (Whose::Keepalived(_), _) => with_descendants(pid),
        };
        self.signal(&all, hit);
    }

    /// The host begins anew, without what it had.
    fn begin_anew(&mut self, id: u64) {
        if let Some(mut process) = self.processes.remove(&id) {
            let _ = process.wait();
        }
        let (namespace, address) = (self.network.namespace(id), format!("{ADDRESS}/32"));
        // It may have been removed, as it should.
        let _ = attempt(&["ip", "-n", &namespace, "address", "del", &address, "dev", "eth0"], "");
        self.start(id);
    }

    fn packets(&self) -> u64 {
        HOSTS.iter().map(|id| self.network.packets(*id)).sum()
    }

    /// Strikes the host that has the address, waits until another one is reached, and mends it.
    fn strike(&mut self, fault: Fault) -> Struck {
        let owner = self.settled();
        let (begun, before) = (now(), self.owners.overlap());
        match fault {
            Fault::Term => self.hit(owner, Signal::TERM),
            Fault::Kill => self.hit(owner, Signal::KILL),
            Fault::Stop => self.hit(owner, Signal::STOP),
            Fault::Cut => self.network.cut_silently(owner),
        }
        self.reached(Some(owner));
        let traffic = self.traffic.as_ref();
        let (lost, gap) = traffic.map_or((0, Duration::MAX), |traffic| traffic.outage(begun));
        sleep_until(if fault.lasts() { begun + CUT } else { now() });
        match fault {
            Fault::Term | Fault::Kill => {
                self.begin_anew(owner);
                // Ours does not vote before all that it may have granted is over.
                sleep(self.whose.given_up() * 2);
            }
            Fault::Stop => self.hit(owner, Signal::CONT),
            Fault::Cut => self.network.join(owner),
        }
        self.settled();
        let two = millis(self.owners.overlap()) - millis(before);
        Struck { outage: millis(gap), lost: lost as f64, two }
    }
}

impl Drop for Hosts {
    fn drop(&mut self) {
        for process in self.processes.values_mut() {
            for pid in with_descendants(process.id()) {
                let pid = i32::try_from(pid).ok().and_then(Pid::from_raw);
                let _ = pid.map(|pid| kill_process(pid, Signal::KILL));
            }
            let _ = process.wait();
        }
    }
}

fn keepalived(id: u64, advert: Duration) -> String {
    format!(
        "global_defs {{\n router_id m{id}\n vrrp_version 3\n}}\n\
         vrrp_instance lab {{\n state BACKUP\n \
         nopreempt\n interface eth0\n virtual_router_id 77\n priority {}\n advert_int {}\n \
         virtual_ipaddress {{\n  {ADDRESS}/32 dev eth0\n }}\n}}\n",
        100 + id,
        advert.as_secs_f64(),
    )
}

/// What befalls the host that has the address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    Term,
    Kill,
    Stop,
    Cut,
}

impl Fault {
    const ALL: [Self; 4] = [Self::Term, Self::Kill, Self::Stop, Self::Cut];

    fn name(self) -> &'static str {
        match self {
            Self::Term => "SIGTERM",
            Self::Kill => "kill -9",
            Self::Stop => "SIGSTOP",
            Self::Cut => "silent cut",
        }
    }

    /// Whether it goes on for a while, and not only for a moment.
    fn lasts(self) -> bool {
        matches!(self, Self::Stop | Self::Cut)
    }
}

/// What one fault did.
struct Struck {
    /// How long the client was without an answer, in milliseconds.
    outage: f64,
    /// How many of its packets were not answered.
    lost: f64,
    /// How long two hosts had the address, in milliseconds.
    two: f64,
}

/// One figure of one of them: fewer is better.
struct Figure {
    column: String,
    value: f64,
    unit: &'static str,
    target: Option<f64>,
}

/// Everything about one of them.
fn measure(whose: Whose, repetitions: usize) -> Vec<Figure> {
    let mut hosts = Hosts::started(whose);
    hosts.settled();
    let (before, since) = (hosts.packets(), now());
    sleep(COUNTED);
    let rate = (hosts.packets() - before) as f64 / now().since(since).as_secs_f64();
    let to = IpAddr::V4(ADDRESS);
    hosts.traffic = Some(Traffic::start(&hosts.network, hosts.client, &HOSTS, to));
    let figure = |column: String, value, unit, target| Figure { column, value, unit, target };
    let promised = matches!(whose, Whose::Ours(_)).then_some(0.0);
    let mut figures = Vec::new();
    for fault in Fault::ALL {
        let all: Vec<Struck> = (0..repetitions).map(|_| hosts.strike(fault)).collect();
        let of = |what: fn(&Struck) -> f64| all.iter().map(what).collect::<Vec<f64>>();
        let named = |what: &str| format!("{}{what}", fault.name());
        figures.push(figure(named(""), median(of(|it| it.outage)), "ms median", None));
        figures.push(figure(named(", lost"), median(of(|it| it.lost)), "packets", None));
        let most = of(|it| it.two).into_iter().fold(0.0, f64::max);
        figures.push(figure(named(", two owners"), most, "ms at most", promised));
    }
    figures.push(figure("packets".to_owned(), rate, "/s", None));
    figures
}

/// Whether the program can be started that ours is measured beside.
pub(crate) fn keepalived_is_there() -> bool {
    let mut version = Command::new("keepalived");
    version.arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok()
}

/// Each of ours beside keepalived: row by row, then column by column, then as a table for README.
/// Leaders are given up after the same time, but with `lan`.
pub(crate) fn compare(repetitions: usize, rows: &mut Rows) {
    let (mut told, mut table) = (Vec::new(), vec![String::new()]);
    table.extend(HEAD.map(str::to_owned));
    for (ours, advert) in
        [([FASTEST, THRIFTY], Duration::from_millis(10)), ([LAN, SLOW], Duration::from_secs(1))]
    {
        let theirs = Whose::Keepalived(advert);
        let others = told_of(theirs, repetitions, rows);
        for ours in ours.map(Whose::Ours) {
            let own = told_of(ours, repetitions, rows);
            told.push(format!("\n{} beside {}", ours.name(), theirs.name()));
            told.extend(own.iter().zip(&others).map(|(ours, theirs)| beside(ours, theirs)));
            table.push(line(ours, &own));
        }
        table.push(line(theirs, &others));
    }
    rows.tell(&told);
    rows.tell(&table);
}

/// Measures one of them, and tells each figure.
fn told_of(whose: Whose, repetitions: usize, rows: &mut Rows) -> Vec<Figure> {
    let begun = now();
    let figures = measure(whose, repetitions);
    let stall = millis(stalls().longest(begun));
    for Figure { column, value, unit, target } in &figures {
        let what = format!("{}: {column}", whose.name());
        let (value, unit, target) = (*value, *unit, *target);
        rows.push(Row { what, value, unit, target, worst: None, leaders: None, stall });
    }
    figures
}

/// The head of the table in README.
const HEAD: [&str; 2] = [
    "| | given up after, ms | outage after SIGTERM, ms | after `kill -9`, ms | after SIGSTOP, ms | \
     after a silent cut, ms | two owners in a cut of 5 s, ms | packets a second |",
    "|---|---|---|---|---|---|---|---|",
];

/// A line of the table in README.
fn line(whose: Whose, figures: &[Figure]) -> String {
    let of = |column: &str| {
        let figure = figures.iter().find(|figure| figure.column == column);
        figure.map_or(f64::NAN, |figure| figure.value)
    };
    let outages = Fault::ALL.map(|fault| format!("{:.1}", of(fault.name()))).join(" | ");
    let two = of("silent cut, two owners");
    let (title, given_up, packets) = (whose.title(), millis(whose.given_up()), of("packets"));
    format!("| {title} | {given_up:.0} | {outages} | {two:.0} | {packets:.1} |")
}

/// A line that says whether ours is the best in a column.
fn beside(ours: &Figure, theirs: &Figure) -> String {
    let (one, other) = (ours.value, theirs.value);
    let verdict = match one > (other * EQUAL).max(other + LEAST) {
        true => "NOT the best",
        false if one < other => "best",
        false => "equal",
    };
    format!("{:<38} {one:>9.1} {other:>9.1} {:<10} {verdict}", ours.column, ours.unit)
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}
