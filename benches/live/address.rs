//! The address that moves, as its client sees it: our leader's, and keepalived's.
//!
//! **What is measured.** A client sends a packet every millisecond to the address; an outage is the
//! longest time between two that were answered. In a silent cut the host that has the address is
//! off the bridge for five seconds; two owners are the time in which two hosts had it. Packets are
//! all that the three hosts send while nothing happens and there is no client.

use crate::lab::Folder;
use crate::lab::clock::{millis, now, sleep, sleep_until};
use crate::lab::group::{PATIENCE, listed};
use crate::lab::member::{BELLWETHER, with_descendants};
use crate::lab::network::{Family, Network};
use crate::lab::shell::{attempt, must};
use crate::lab::stalls::stalls;
use crate::owners::Owners;
use crate::row::Row;
use crate::traffic::Traffic;
use bellwether::core::{Duration, Instant};
use bellwether::protocols::local_leader::Preset;
use rustix::process::{Pid, Signal, kill_process};
use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr};
use std::process::{Child, Command, Stdio};

const ADDRESS: Ipv4Addr = Ipv4Addr::new(10, 77, 0, 100);
const HOSTS: [u64; 3] = [1, 2, 3];
/// How long a host is cut off.
const CUT: Duration = Duration::from_secs(5);
/// For how long packets are counted.
const COUNTED: Duration = Duration::from_secs(5);

/// Whose address it is.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Whose {
    Ours(Preset),
    /// With this time between adverts.
    Keepalived(Duration),
}

impl Whose {
    pub(crate) fn name(self) -> String {
        match self {
            Self::Ours(preset) => format!("address, {}", preset.name()),
            Self::Keepalived(advert) => format!("address, keepalived {advert}"),
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
            Whose::Ours(preset) => {
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
                command.args(["--key", &key, "--dir", &dir, "--preset", preset.name()]);
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

    /// SIGTERM, or SIGKILL: of our member alone, or of all that keepalived started.
    fn end(&mut self, id: u64, hit: Signal) {
        let pid = self.processes[&id].id();
        let all = match (self.whose, hit) {
            (Whose::Keepalived(_), Signal::KILL) => with_descendants(pid),
            _ => vec![pid],
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

    fn outage(&self, since: Instant) -> f64 {
        self.traffic.as_ref().map_or(f64::NAN, |traffic| millis(traffic.outage(since).1))
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

/// Everything about one of them.
pub(crate) fn measure(whose: Whose, repetitions: usize) -> Vec<Row> {
    let (mut hosts, begun) = (Hosts::started(whose), now());
    hosts.settled();
    let (before, since) = (hosts.packets(), now());
    sleep(COUNTED);
    let rate = (hosts.packets() - before) as f64 / now().since(since).as_secs_f64();
    let to = IpAddr::V4(ADDRESS);
    hosts.traffic = Some(Traffic::start(&hosts.network, hosts.client, &HOSTS, to));
    let mut rows = Vec::new();
    let stall = || millis(stalls().longest(begun));
    let row = |what: &str, value, unit, target| Row {
        what: format!("{}: {what}", whose.name()),
        value,
        unit,
        target,
        worst: None,
        leaders: None,
        stall: stall(),
    };
    for (what, hit) in [("SIGTERM", Signal::TERM), ("kill -9", Signal::KILL)] {
        let outages = (0..repetitions).map(|_| {
            let owner = hosts.settled();
            let begun = now();
            hosts.end(owner, hit);
            hosts.reached(Some(owner));
            let outage = hosts.outage(begun);
            hosts.begin_anew(owner);
            outage
        });
        rows.push(row(what, median(outages.collect()), "ms median", None));
    }
    let (mut outages, mut overlaps) = (Vec::new(), Vec::new());
    for _ in 0..repetitions {
        let owner = hosts.settled();
        let (begun, overlap) = (now(), hosts.owners.overlap());
        hosts.network.cut_silently(owner);
        hosts.reached(Some(owner));
        outages.push(hosts.outage(begun));
        sleep_until(begun + CUT);
        hosts.network.join(owner);
        hosts.settled();
        overlaps.push(millis(hosts.owners.overlap()) - millis(overlap));
    }
    rows.push(row("silent cut", median(outages), "ms median", None));
    let ours = matches!(whose, Whose::Ours(_)).then_some(0.0);
    rows.push(row("two owners in a cut", median(overlaps), "ms median", ours));
    rows.push(row("packets", rate, "/s", None));
    rows
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}
