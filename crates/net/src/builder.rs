//! The settings of a member, and the rules they must keep.

use crate::bad_settings::BadSettings;
use crate::clock::{BootTime, CheckedClock, Clock};
use crate::control::{self, check_group};
use crate::directory::{Directory, Times, ambiguous};
use crate::frame::{BODY_MAX, Keyring, Session};
use crate::handle::Election;
use crate::member::{Member, Parts};
use crate::peers::Peers;
use crate::priority::{self, Children, Class};
use crate::program::Program;
use crate::randomness;
use crate::recorder::Recorder;
use crate::resolver::lookup;
use crate::settings::Settings;
use crate::shared::{Request, Shared};
use crate::snapshot::Snapshot;
use crate::socket::Sockets;
use crate::state::{BINDS_MAX, State};
use bellwether_core::{Instant, NodeId, Protocol};
use bellwether_protocols::choice::Config;
use bellwether_protocols::local_leader::{self, Mode, Tokens};
use std::fmt;
use std::io::ErrorKind;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;

/// Collects the settings of a member. All have a default that works, except the members and the
/// keys: without keys, [`insecure`](Self::insecure) must say so.
#[derive(Clone)]
pub struct Builder {
    group: String,
    peers: Option<Peers>,
    id: Option<u64>,
    listen: Option<SocketAddr>,
    keyring: Option<Keyring>,
    program: Option<Result<Program, String>>,
    rank: Option<u64>,
    dir: Option<PathBuf>,
    bootstrap: bool,
    control: Option<PathBuf>,
    record: Option<PathBuf>,
    work: Option<Instant>,
    clock: Arc<dyn Clock>,
}

/// A rule that was checked and holds.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Rule {
    /// What it is about.
    pub name: &'static str,
    /// How it holds, with the values.
    pub text: String,
}

type Checked<T> = Result<T, BadSettings>;

fn rule<T>(text: String) -> Checked<T> {
    Err(BadSettings::Rule(text))
}

impl Builder {
    pub(crate) fn new(group: &str) -> Self {
        Self {
            group: group.to_owned(),
            peers: None,
            id: None,
            listen: None,
            keyring: None,
            program: None,
            rank: None,
            dir: None,
            bootstrap: false,
            control: None,
            record: None,
            work: None,
            clock: Arc::new(BootTime),
        }
    }

    /// Where the members are.
    #[must_use]
    pub fn peers(mut self, peers: Peers) -> Self {
        self.peers = Some(peers);
        self
    }

    /// Which of the members this is. Not needed if exactly one of the listed addresses is this
    /// machine's. In an open group the default is a random number.
    #[must_use]
    pub fn id(mut self, id: u64) -> Self {
        self.id = Some(id);
        self
    }

    /// The address to listen at, if not the listed one.
    #[must_use]
    pub fn listen(mut self, at: SocketAddr) -> Self {
        self.listen = Some(at);
        self
    }

    /// The keys of the group.
    #[must_use]
    pub fn keyring(mut self, keyring: Keyring) -> Self {
        self.keyring = Some(keyring);
        self
    }

    /// No key: everybody who reaches the port can lead the group. For trials.
    #[must_use]
    pub fn insecure(self) -> Self {
        self.keyring(Keyring::insecure())
    }

    /// The protocol by its name in the table of protocols, and its parameters. Without this:
    /// leases from a majority if the members are listed, one leader in each partition otherwise;
    /// with tokens that are not stored.
    #[must_use]
    pub fn protocol(mut self, name: &str, config: Config) -> Self {
        self.program = Some(Program::of_table(name, config));
        self
    }

    /// A protocol of the application's own: the very type that it simulates and checks.
    ///
    /// The runtime knows nothing of its leases: it does not compare clocks for them, and does not
    /// wait for promises of an earlier incarnation. A deadline that the protocol gives is kept as
    /// the [`Guard`](crate::Guard) says, by the unchecked clock.
    #[must_use]
    pub fn own_protocol<P: Protocol>(mut self, params: P::Params) -> Self {
        self.program = Some(Ok(Program::own::<P>(params)));
        self
    }

    /// How fit this member is to lead, for protocols that choose by fitness. Its id otherwise.
    #[must_use]
    pub fn rank(mut self, rank: u64) -> Self {
        self.rank = Some(rank);
        self
    }

    /// The directory of the state that must survive this process. Without it nothing is stored.
    /// With durable tokens it must be on a disk: if the records of all members are lost at once,
    /// the group founds itself anew when all of them are there.
    #[must_use]
    pub fn dir(mut self, dir: impl Into<PathBuf>) -> Self {
        self.dir = Some(dir.into());
        self
    }

    /// The operator's word that this member has never voted in this group, also not before its
    /// state was lost. It then need not ask all other members: a group of one can begin, and a
    /// member that takes the place of another one. If it is not true, a token may be used twice.
    ///
    /// Joining fails if there is a record of votes, so this is for the first start alone.
    #[must_use]
    pub fn bootstrap(mut self, never_voted: bool) -> Self {
        self.bootstrap = never_voted;
        self
    }

    /// Answers other processes of this user and root at a socket in this directory: `bellwether
    /// status`, `watch`, `why` and `resign` find the member there. They look in `$BELLWETHER_DIR`,
    /// `$XDG_RUNTIME_DIR/bellwether`, `/run/bellwether` and `/tmp/bellwether-UID`, unless they are
    /// given a directory.
    ///
    /// A missing directory is created, for its owner alone.
    #[must_use]
    pub fn control_dir(mut self, dir: impl Into<PathBuf>) -> Self {
        self.control = Some(dir.into());
        self
    }

    /// Appends a trace of every step to this file.
    #[must_use]
    pub fn record(mut self, file: impl Into<PathBuf>) -> Self {
        self.record = Some(file.into());
        self
    }

    /// Says in that trace that a command runs while this member leads, and that its guardian
    /// records when (`guardian::Recording`); `since` is when this process began.
    #[must_use]
    pub fn record_work(mut self, since: Instant) -> Self {
        self.work = Some(since);
        self
    }

    /// Another clock than the machine's, for tests.
    #[must_use]
    pub fn clock(mut self, clock: Arc<dyn Clock>) -> Self {
        self.clock = clock;
        self
    }

    /// Checks all rules without joining, and says how each holds.
    ///
    /// # Errors
    /// [`BadSettings`] for the first rule that does not.
    pub fn check(&self) -> Checked<Vec<Rule>> {
        self.settle().map(|(_, rules)| rules)
    }

    /// Joins the group. From now on this member may be elected at any time, also if no thread waits
    /// for it: join when you are ready to lead, and leave when you no longer are.
    ///
    /// # Errors
    /// [`BadSettings`] if a rule is broken, or the system refuses.
    pub fn join(self) -> Checked<Election> {
        self.prepare()?.join()
    }

    /// Checks all rules and finds out which member this is, without joining. Blocks while names are
    /// looked up.
    ///
    /// # Errors
    /// [`BadSettings`] if a rule is broken.
    pub fn prepare(self) -> Checked<Prepared> {
        self.settle().map(|(settings, _)| Prepared { settings })
    }
}

/// A member with checked settings that has not joined yet. Use it to prepare what must be ready
/// before the member may be elected.
pub struct Prepared {
    settings: Settings,
}

impl Prepared {
    /// Which member of the group it will be.
    pub fn id(&self) -> u64 {
        self.settings.me.0
    }

    /// Joins the group: see [`Builder::join`].
    ///
    /// # Errors
    /// [`BadSettings`] if the system refuses.
    pub fn join(self) -> Checked<Election> {
        let settings = self.settings;
        let failed = |what: &'static str| move |error| BadSettings::System(what, error);
        let listen = settings.listen;
        let state = State::open(settings.dir.as_deref(), &settings.name());
        let mut state = state.map_err(BadSettings::State)?;
        if settings.bootstrap {
            found(&settings, &mut state)?;
        }
        let record = settings.record.as_deref();
        let recorder = Recorder::open(record, settings.me).map_err(|error| {
            BadSettings::Record(record.map(Path::to_owned).unwrap_or_default(), error)
        })?;
        let sockets = match &settings.peers {
            Peers::Multicast { group, interface } => {
                Sockets::join(listen, *group, interface.as_deref())
            }
            Peers::Listed(_) | Peers::Dns(_) => Sockets::bind(listen),
        };
        let sockets = sockets.map_err(|error| BadSettings::Listen(listen, error))?;
        let clock = CheckedClock::new(Arc::clone(&settings.clock), settings.clock_check());
        let clock = Arc::new(clock);
        let standing = Snapshot::none(settings.me, clock.now());
        let shared = Shared::new(clock, standing).map(Arc::new);
        let shared = shared.map_err(failed("cannot start the member"))?;
        // A member that should answer other processes, and cannot, does not join.
        let server = settings
            .control
            .as_deref()
            .map(|dir| control::own::serve(dir, &settings.group, settings.me.0, &shared))
            .transpose()
            .map_err(BadSettings::Control)?;
        let most = settings.program.most_others(BODY_MAX);
        let mailbox = Arc::downgrade(&shared);
        let resolved = move || {
            mailbox.upgrade().map(|shared| shared.ask(Request::Resolved));
        };
        let times = Times { forget: settings.forget(), absent: settings.binds() * 2 };
        let directory = Directory::new(settings.me, &settings.peers, times, most, resolved)
            .map_err(failed("cannot look names up"))?;
        let name = format!("bellwether-{}", settings.me);
        let former = state.still_binds(settings.binds());
        let incarnation = state.begin(settings.binds()).map_err(BadSettings::State)?;
        let session = Session::draw().map_err(failed("cannot draw a random number"))?;
        let life = (incarnation, session);
        let parts =
            Parts { settings, sockets, directory, state, recorder, shared: Arc::clone(&shared) };
        let member = Member::new(parts, life, former);
        let thread = thread::Builder::new().name(name).spawn(move || {
            // Without permission the member only loses its lease earlier under load.
            let _ = priority::raise(Class::Nice, Children::Normal);
            member.run();
        });
        let thread = thread.map_err(failed("cannot start the member's thread"))?;
        Ok(Election::new(shared, thread, server))
    }
}

/// Stores that this member has never voted, by the operator's word.
fn found(settings: &Settings, state: &mut State) -> Checked<()> {
    let record = settings.program.founding_record.as_ref().ok_or(BadSettings::NoRecords)?;
    // A damaged file may have held a record, and is put aside by now.
    if let Some(place) = state.damage().map(str::to_owned).or_else(|| state.holds()) {
        return Err(BadSettings::HasVoted { place });
    }
    state.store(record).map_err(BadSettings::State)
}

/// The rules.
impl Builder {
    fn settle(&self) -> Checked<(Settings, Vec<Rule>)> {
        let mut rules = Vec::new();
        let mut holds = |name, text: String| rules.push(Rule { name, text });
        check_group(&self.group).map_err(BadSettings::Group)?;
        holds("group", format!("'{}' can be part of a file's name", self.group));
        let peers = self.peers.clone().ok_or(BadSettings::NoPeers)?;
        holds("peers", peers.to_string());
        if let Some(names) = each_has_one_address(&peers)? {
            holds("names", names);
        }
        let (me, listen) = self.find_itself(&peers)?;
        holds("id", format!("this is member {me}, and listens at {listen}"));
        let keyring = self.keyring.clone().ok_or(BadSettings::NoKey)?;
        holds(
            "key",
            match keyring.is_insecure() {
                true => "none: everybody who reaches the port can lead the group".to_owned(),
                false => format!("sends with {}", keyring.ids(&self.group).join(", accepts ")),
            },
        );
        let program = self.find_program(&peers).map_err(BadSettings::Rule)?;
        let size = program.check(&peers, BODY_MAX)?;
        holds("protocol", format!("{}, which promises: {}", program.name, program.promise));
        for rule in program.rules() {
            holds("timing", rule);
        }
        let lock = program.leases.map(|leases| leases.lock);
        if let Some(lock) = lock.filter(|lock| *lock > BINDS_MAX) {
            return rule(format!("lock = {lock}, but lock <= {BINDS_MAX} must hold; choose less"));
        }
        if let Some(text) = size {
            holds("datagrams", text);
        }
        if let Some(text) = self.check_tokens(&program)? {
            holds("tokens", text);
        }
        let settings = Settings {
            group: self.group.clone(),
            me,
            rank: self.rank.unwrap_or(me.0),
            peers,
            listen,
            keyring,
            program,
            // A member with a random id has no earlier incarnation to remember.
            dir: self.dir.clone().filter(|_| self.id.is_some() || self.is_listed()),
            bootstrap: self.bootstrap,
            control: self.control.clone(),
            record: self.record.clone(),
            work: self.work,
            clock: Arc::clone(&self.clock),
        };
        Ok((settings, rules))
    }

    fn is_listed(&self) -> bool {
        self.peers.as_ref().is_some_and(Peers::is_list)
    }

    /// Checks that votes can be stored where tokens rest on that; says how tokens grow.
    fn check_tokens(&self, program: &Program) -> Checked<Option<String>> {
        let durable = program.founding_record.is_some();
        if self.bootstrap && !durable {
            return Err(BadSettings::NoRecords);
        }
        match &self.dir {
            None if durable => Err(BadSettings::NoDir),
            Some(dir) if durable => {
                let place = dir.display();
                Ok(Some(format!("grow, also across restarts, as long as {place} is kept")))
            }
            _ if program.has_tokens() => {
                Ok(Some("grow, but not across restarts of the members".to_owned()))
            }
            _ => Ok(None),
        }
    }

    fn find_program(&self, peers: &Peers) -> Result<Program, String> {
        self.program.clone().unwrap_or_else(|| {
            let mode = if peers.is_list() { Mode::Majority } else { Mode::Local };
            let tokens = Tokens::Volatile;
            let config = local_leader::Config { mode, tokens, ..local_leader::Config::default() };
            Program::of_table("local-leader", Config::LocalLeader(config))
        })
    }

    /// Finds out which member this is, and where it listens.
    fn find_itself(&self, peers: &Peers) -> Checked<(NodeId, SocketAddr)> {
        let list = match peers {
            Peers::Listed(list) => list,
            Peers::Dns(name) => {
                let port = name.rsplit_once(':').and_then(|(_, port)| port.parse().ok());
                let found = lookup(name);
                let any = any_like(found.first(), port.unwrap_or(0));
                return Ok((self.any_id()?, self.listen.unwrap_or(any)));
            }
            Peers::Multicast { group, .. } => {
                let any = any_like(Some(group), 0);
                return Ok((self.any_id()?, self.listen.unwrap_or(any)));
            }
        };
        if let Some(id) = self.id.map(NodeId) {
            let Some(place) = list.get(&id) else {
                return Err(BadSettings::UnknownId { id, peers: peers.clone() });
            };
            let listen = self.listen.or_else(|| lookup(place).first().copied());
            let place = place.clone();
            return listen.map(|at| (id, at)).ok_or(BadSettings::NoAddress { id, place });
        }
        let here = list.iter().filter_map(|(id, place)| {
            let local = lookup(place).into_iter().find(|address| is_here(*address));
            local.map(|address| (*id, self.listen.unwrap_or(address)))
        });
        let here: Vec<(NodeId, SocketAddr)> = here.collect();
        match here.as_slice() {
            [only] => Ok(*only),
            others => Err(BadSettings::WhichMember { here: others.len(), peers: peers.clone() }),
        }
    }

    fn any_id(&self) -> Checked<NodeId> {
        let draw = || randomness::number().map(|id| id >> 16); // short enough to read
        let id = self.id.map_or_else(draw, Ok);
        id.map(NodeId).map_err(|error| BadSettings::System("cannot draw an id", error))
    }
}

/// Looks up the names of a list and says their addresses. A name must have one.
fn each_has_one_address(peers: &Peers) -> Checked<Option<String>> {
    let Peers::Listed(list) = peers else { return Ok(None) };
    let mut found = Vec::new();
    for (id, place) in list.iter().filter(|(_, place)| place.parse::<SocketAddr>().is_err()) {
        let addresses = lookup(place);
        if let Some(text) = ambiguous(place, &addresses) {
            return rule(format!("member {id}: {text}"));
        }
        found.push(match addresses.first() {
            Some(address) => format!("{place} is {address}"),
            None => format!("{place} is not found yet"),
        });
    }
    Ok(Some(found.join(", ")).filter(|names| !names.is_empty()))
}

fn any_like(address: Option<&SocketAddr>, port: u16) -> SocketAddr {
    match address {
        Some(SocketAddr::V6(_)) => SocketAddr::new(Ipv6Addr::UNSPECIFIED.into(), port),
        _ => SocketAddr::new(Ipv4Addr::UNSPECIFIED.into(), port),
    }
}

/// Whether this machine has that address. The port is not tried.
fn is_here(address: SocketAddr) -> bool {
    match UdpSocket::bind(SocketAddr::new(address.ip(), 0)) {
        Ok(_) => true,
        Err(error) => error.kind() != ErrorKind::AddrNotAvailable,
    }
}

impl fmt::Debug for Prepared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Prepared").field("id", &self.id()).finish_non_exhaustive()
    }
}

impl fmt::Debug for Builder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Builder").field("group", &self.group).field("peers", &self.peers).finish()
    }
}
