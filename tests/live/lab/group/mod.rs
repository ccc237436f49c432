//! A group of members that run for real: made and started here, [disturbed](trouble), and
//! [waited for, measured and judged](verdict).

mod clocks;
mod trouble;
mod verdict;

use super::clock::now;
use super::faults::Faults;
use super::log::Log;
use super::member::{BELLWETHER, Member, Start, with_descendants};
use super::network::{Family, Network};
use super::relay::{Relay, Weather};
use super::stalls::{Stalls, stalls};
use super::{Folder, shell};
use bellwether::core::{Duration, Event, Fact, Instant, NodeId, Record};
use bellwether::protocols::choice::{self, Choice, Entry};
use bellwether::protocols::local_leader::{Config, Mode, Params, Preset, Tokens};
use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::atomic::{AtomicU32, Ordering};

/// Nothing that should happen takes longer, on however busy a machine.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);

/// The name of the group.
pub(crate) const NAME: &str = "lab";

/// What starts a member from which the machine's cgroups are hidden, and becomes it.
const WITHOUT_CGROUPS: [&str; 6] =
    ["unshare", "--mount", "sh", "-c", "umount -a -t cgroup2 && exec \"$@\"", "sh"];

/// Where members meet.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Ground {
    /// In a network of namespaces, listed by their addresses.
    Listed(Family),
    /// The same, but they find each other by a multicast address.
    Multicast(Family),
    /// The same, but they find each other by a host name.
    Named,
    /// On the loopback.
    Loopback,
    /// On the loopback, with a relay in between.
    Relayed(Weather),
}

/// What a group is made of.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    pub(crate) members: u64,
    pub(crate) protocol: &'static str,
    pub(crate) preset: Preset,
    /// Another lockTime than the preset's; EP and the time after which a process is not considered
    /// alive are longer by as much.
    pub(crate) lock: Option<Duration>,
    pub(crate) tokens: Tokens,
    pub(crate) ground: Ground,
}

/// The protocol of leases, which has presets. All others run five times as fast as they would.
const LEASES: &str = "local-leader";

impl Shape {
    /// So many members with leases on a local network.
    pub(crate) const fn lan(members: u64) -> Self {
        let ground = Ground::Listed(Family::V4);
        let (preset, tokens) = (Preset::Lan, Tokens::Volatile);
        Self { members, protocol: LEASES, preset, lock: None, tokens, ground }
    }
}

/// Members 1 to n, of which some run.
pub(crate) struct Group {
    shape: Shape,
    // What is declared first is dropped first: members, then what they stand on.
    members: BTreeMap<u64, Member>,
    network: Option<Network>,
    relay: Option<Relay>,
    peers: String,
    /// Where a member really is, if not where it is listed.
    listen: BTreeMap<u64, SocketAddr>,
    commands: BTreeMap<u64, Vec<String>>,
    flags: Vec<String>,
    /// Whether commands may have a cgroup.
    cgroups: bool,
    /// How far a member's clock is ahead of the machine's, if it has one of its own.
    clocks: BTreeMap<u64, Duration>,
    lives: BTreeMap<u64, u64>,
    faults: Faults,
    begun: Instant,
    pub(crate) log: Log,
    pub(crate) stalls: &'static Stalls,
    folder: Folder,
}

/// Places on the loopback that nobody else has: addresses made of this process's number. A port
/// that was free a moment ago may be somebody else's by now.
pub(crate) fn free_places(count: u64) -> Vec<SocketAddr> {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let pid = std::process::id();
    let place = |_| {
        let c = 1 + COUNT.fetch_add(1, Ordering::Relaxed) % 250;
        let [a, b, c] = [1 + pid % 250, pid / 250 % 250, c].map(|part| part as u8);
        SocketAddr::new(Ipv4Addr::new(127, a, b, c).into(), Network::PORT)
    };
    (0..count).map(place).collect()
}

/// A list of members, as `--peers` takes it.
pub(crate) fn listed(places: &[SocketAddr]) -> String {
    let rows = (1..).zip(places).map(|(id, place): (u64, _)| format!("{id}={place}"));
    rows.collect::<Vec<_>>().join(",")
}

impl Group {
    pub(crate) fn new(shape: Shape) -> Self {
        let (mut network, mut relay, mut listen) = (None, None, BTreeMap::new());
        let peers = match shape.ground {
            Ground::Listed(family) => {
                network = Some(Network::new(shape.members));
                listed(&Network::places(shape.members, family))
            }
            Ground::Multicast(family) => {
                network = Some(Network::new(shape.members));
                format!("multicast:{}@eth0", Network::multicast(family))
            }
            Ground::Named => {
                network.insert(Network::new(shape.members)).give_names();
                format!("dns:{}:{}", Network::HOST, Network::PORT)
            }
            Ground::Loopback => listed(&free_places(shape.members)),
            Ground::Relayed(weather) => {
                let places = free_places(shape.members);
                let relaying = relay.insert(Relay::start(&places, weather));
                listen = (1..).zip(places).collect();
                listed(relaying.listed())
            }
        };
        let folder = Folder::new();
        shell::must(&[BELLWETHER, "keygen", &folder.file("key")], "");
        Self {
            shape,
            members: BTreeMap::new(),
            network,
            relay,
            peers,
            listen,
            commands: BTreeMap::new(),
            flags: Vec::new(),
            cgroups: true,
            clocks: BTreeMap::new(),
            lives: BTreeMap::new(),
            faults: Faults::new(folder.file("faults")),
            begun: now(),
            log: Log::default(),
            stalls: stalls(),
            folder,
        }
    }

    /// All members, started at once.
    pub(crate) fn started(shape: Shape) -> Self {
        let mut group = Self::new(shape);
        group.start_all();
        group
    }

    pub(crate) fn start_all(&mut self) {
        self.ids().into_iter().for_each(|id| self.start(id));
    }

    /// All members, running or not.
    pub(crate) fn ids(&self) -> Vec<u64> {
        (1..=self.shape.members).collect()
    }

    /// The processes of each member: its own, and all that it started, such as its guardian.
    pub(crate) fn processes(&self) -> Vec<Vec<u32>> {
        self.members.values().map(|member| with_descendants(member.pid())).collect()
    }

    /// All but these.
    pub(crate) fn without(&self, missing: &[u64]) -> Vec<u64> {
        self.ids().into_iter().filter(|id| !missing.contains(id)).collect()
    }

    pub(crate) fn folder(&self) -> &Folder {
        &self.folder
    }

    /// The network of namespaces.
    pub(crate) fn network(&self) -> &Network {
        self.network.as_ref().expect("only a network of namespaces can be cut")
    }

    /// Joins a host that is no member to the network; returns its number.
    pub(crate) fn add_guest(&mut self) -> u64 {
        self.network.as_mut().expect("only a network of namespaces has guests").add_guest()
    }

    /// Where members really are.
    pub(crate) fn places(&self) -> Vec<SocketAddr> {
        match self.shape.ground {
            Ground::Relayed(_) => self.listen.values().copied().collect(),
            Ground::Loopback => {
                let places = self.peers.split(',').filter_map(|row| row.split_once('='));
                places.filter_map(|(_, place)| place.parse().ok()).collect()
            }
            _ => Network::places(self.shape.members, Family::V4),
        }
    }

    /// The member will run this while it leads.
    pub(crate) fn give_command(&mut self, id: u64, command: Vec<String>) {
        self.commands.insert(id, command);
    }

    /// All members will be started with these flags, too.
    pub(crate) fn give_flags(&mut self, flags: &[&str]) {
        self.flags.extend(flags.iter().map(|flag| (*flag).to_owned()));
    }

    /// The member will have a clock of its own, so many seconds ahead, in a time namespace.
    pub(crate) fn give_clock(&mut self, id: u64, ahead: Duration) {
        self.clocks.insert(id, ahead);
    }

    /// No command will have a cgroup: members see none in which they could make one.
    pub(crate) fn hide_cgroups(&mut self) {
        self.cgroups = false;
    }

    /// What becomes the member, after what it is to find there.
    fn surroundings(&self, id: u64) -> Vec<String> {
        let hidden = if self.cgroups { &[][..] } else { &WITHOUT_CGROUPS };
        let clock = self.clocks.get(&id).map_or_else(Vec::new, |ahead| clocks::enter(*ahead));
        hidden.iter().map(|word| (*word).to_owned()).chain(clock).collect()
    }

    /// The parameters that all members have.
    pub(crate) fn params(&self) -> Params {
        let open = matches!(self.shape.ground, Ground::Multicast(_) | Ground::Named);
        let mode = if open { Mode::Local } else { Mode::Majority };
        let config = Config { mode, preset: self.shape.preset, ..Config::default() };
        let params = |config| Params::try_from(config).expect("a preset keeps its own rules");
        let usual = params(config.clone());
        let Some(lock) = self.shape.lock else { return usual };
        let longer = lock.saturating_sub(usual.lock());
        let [period, expires] = [usual.period(), usual.expires()].map(|time| Some(time + longer));
        params(Config { lock: Some(lock), period, expires, ..config })
    }

    /// Within this the group has settled once nothing goes wrong any more (κ).
    pub(crate) fn kappa(&self) -> Duration {
        let members = u32::try_from(self.shape.members).expect("groups are small");
        Choice::from(self.params()).time_scales(members).settles
    }

    /// The bound on replacing a leader that fell silent, if so many of those before the next one in
    /// line have fallen silent earlier.
    pub(crate) fn failover(&self, silent: u64) -> Duration {
        self.params().failover() + self.params().stagger() * silent
    }

    fn trace(&self, id: u64) -> String {
        self.folder.file(&format!("trace-{id}"))
    }

    /// What a member has recorded so far.
    fn records(&self, id: u64) -> Vec<Record> {
        let text = std::fs::read_to_string(self.trace(id)).expect("it records");
        text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
    }

    /// How many messages of this kind a member recorded that it received.
    pub(crate) fn received(&self, id: u64, kind: &str) -> usize {
        let kinds = self.records(id).into_iter().filter_map(|record| match record.event {
            Event::Recv { message, .. } => Some(message),
            _ => None,
        });
        kinds.filter(|message| *message == kind).count()
    }

    /// When the last lease ends that a member recorded.
    pub(crate) fn lease(&self, id: u64) -> Instant {
        let ends = self.records(id).into_iter().filter_map(|record| match record.event {
            Event::Leadership { until, leaders, .. } if leaders == [NodeId(id)] => until,
            Event::Fact(Fact::Held { until }) => Some(until),
            _ => None,
        });
        ends.max().expect("it led")
    }

    /// What its guardian records.
    fn work(&self, id: u64) -> String {
        self.folder.file(&format!("trace-{id}.work"))
    }

    /// Where a member has its state and its socket.
    pub(crate) fn dir(&self, id: u64) -> String {
        self.folder.file(&format!("state-{id}"))
    }

    /// The flags for time constants that are not the preset's.
    fn times(&self) -> Vec<String> {
        let params = self.params();
        let times = [
            ("--lock", params.lock()),
            ("--period", params.period()),
            ("--expires", params.expires()),
        ];
        let flags = |(flag, time): (&str, Duration)| [flag.to_owned(), time.to_string()];
        let given = times.into_iter().filter(|_| self.shape.lock.is_some());
        given.flat_map(flags).collect()
    }

    /// Starts a member for the first time, or again after it left.
    pub(crate) fn start(&mut self, id: u64) {
        *self.lives.entry(id).or_insert(0) += 1;
        let (name, key) = (id.to_string(), self.folder.file("key"));
        let (dir, trace) = (self.dir(id), self.trace(id));
        std::fs::create_dir_all(&dir).expect("the folder can be written");
        let (protocol, times) = (self.shape.protocol, self.times());
        let mut words = vec![NAME, "--id", &name, "--peers", &self.peers, "--protocol", protocol];
        if protocol == LEASES {
            words.extend(["--preset", self.shape.preset.name()]);
            words.extend(times.iter().map(String::as_str));
            if self.shape.tokens == Tokens::Durable {
                words.extend(["--tokens", "durable"]);
            }
        }
        words.extend(announced_soon(protocol));
        words.extend(["--key", &key, "--dir", &dir, "--record", &trace, "--format", "json"]);
        let listen = self.listen.get(&id).map(SocketAddr::to_string);
        if let Some(listen) = &listen {
            words.extend(["--listen", listen]);
        }
        if self.commands.contains_key(&id) {
            // Some of them do not want to go, and a hand-over would wait for them.
            words.extend(["--stop-timeout", "50ms"]);
        }
        words.extend(self.flags.iter().map(String::as_str));
        let start = Start {
            namespace: self.network.as_ref().map(|network| network.namespace(id)),
            before: self.surroundings(id),
            arguments: words.into_iter().map(str::to_owned).collect(),
            command: self.commands.get(&id).cloned().unwrap_or_default(),
            errors: self.folder.file(&format!("errors-{id}")),
        };
        // A former life ends before the next one begins.
        self.members.remove(&id);
        self.members.insert(id, Member::start(start, &self.log));
    }
}

/// The flags by which members that announce themselves do so soon, of those that the protocol has.
fn announced_soon<'a>(protocol: &str) -> impl Iterator<Item = &'a str> {
    let announced = |entry: &&Entry| matches!(entry.family, choice::Family::AnnounceListen(_));
    let own = choice::find(protocol).filter(announced).into_iter().flat_map(Entry::own_params);
    own.flat_map(|param| match param.name {
        "suppress" => ["--suppress", "200ms"].as_slice(),
        "announce" => &["--announce", "200ms"],
        "listen" => &["--listen-for", "1s"],
        _ => &[],
    })
    .copied()
}
