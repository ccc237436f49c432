//! The settings of a member, and the rules they must keep.

mod learning;
mod multicast;
mod prepared;
mod voters;

use crate::bad_settings::BadSettings;
use crate::book::Book;
use crate::clock::{BootTime, Clock};
use crate::control::check_group;
use crate::frame::{BODY_MAX, Keyring};
use crate::handle::Election;
use crate::peers::Peers;
use crate::program::{BadProgram, Program};
use crate::randomness;
use crate::report::list;
use crate::resolver::lookup;
use crate::settings::Settings;
use crate::state::BINDS_MAX;
use bellwether_core::{Candidacy, Duration, Instant, NodeId, Protocol};
use bellwether_protocols::choice::Config;
use bellwether_protocols::local_leader::{self, Mode, Tokens};
use std::fmt;
use std::io::ErrorKind;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::path::PathBuf;
use std::sync::Arc;

pub use prepared::Prepared;
pub use voters::FoundingVoters;

/// Collects the settings of a member. All have a default that works, except the members and the
/// keys: without keys, [`insecure`](Self::insecure) must say so.
#[derive(Clone)]
pub struct Builder {
    group: String,
    peers: Option<Peers>,
    /// The members to ask, for one that joins a running group.
    through: Vec<String>,
    /// What was learnt from them.
    book: Option<Book>,
    voters: Option<FoundingVoters>,
    priorities: Vec<(NodeId, u32)>,
    id: Option<u64>,
    listen: Option<SocketAddr>,
    multicast: Option<SocketAddr>,
    keyring: Option<Keyring>,
    program: Option<Result<Program, BadProgram>>,
    rank: Option<u64>,
    candidacy: Candidacy,
    dir: Option<PathBuf>,
    bootstrap: bool,
    least_lease: Duration,
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

impl Builder {
    pub(crate) fn new(group: &str) -> Self {
        Self {
            group: group.to_owned(),
            peers: None,
            through: Vec::new(),
            book: None,
            voters: None,
            priorities: Vec::new(),
            id: None,
            listen: None,
            multicast: None,
            keyring: None,
            program: None,
            rank: None,
            candidacy: Candidacy::default(),
            dir: None,
            bootstrap: false,
            least_lease: Duration::ZERO,
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

    /// Joins a running group through these members, as `HOST:PORT`, instead of
    /// [`peers`](Self::peers): the members, who votes and the parameters are learnt from the group.
    /// One that answers suffices. [`id`](Self::id) must be given, and no other member may have it.
    /// For leases from a majority with durable tokens.
    ///
    /// Others reach this member at [`listen`](Self::listen); without that, at the address from
    /// which this machine reaches the first of those members, and the port of that one.
    ///
    /// What was learnt is stored: after a restart nobody is asked. The member is an observer until
    /// it is [made a voter](Election::add_voter).
    #[must_use]
    pub fn join_through(mut self, members: impl IntoIterator<Item = String>) -> Self {
        self.through = members.into_iter().collect();
        self
    }

    /// The listed members that vote at first; all of them otherwise. The others are observers: they
    /// follow and do not vote. For leases from a majority, and the same for all members.
    ///
    /// With durable tokens the voters can change later ([`Election::change_voters`]). This is the
    /// founding list alone, and stays as it is then.
    #[must_use]
    pub fn voters(self, voters: impl IntoIterator<Item = u64>) -> Self {
        let ids = voters.into_iter().map(NodeId).collect();
        self.founding_voters(FoundingVoters::Named(ids))
    }

    /// The same by rank: so many of the listed members vote at first, those with the greatest
    /// [`priorities`](Self::priorities), and of equal ones those with the least ids.
    #[must_use]
    pub fn best_voters(self, count: usize) -> Self {
        self.founding_voters(FoundingVoters::Best(count))
    }

    /// The same, either way.
    #[must_use]
    pub fn founding_voters(mut self, voters: FoundingVoters) -> Self {
        self.voters = Some(voters);
        self
    }

    /// The [priorities](Self::priority) of listed members, by id; 0 otherwise. The same for all
    /// members, which so agree on the [best](Self::best_voters).
    #[must_use]
    pub fn priorities(mut self, priorities: impl IntoIterator<Item = (u64, u32)>) -> Self {
        let of = |(id, priority)| (NodeId(id), priority);
        self.priorities = priorities.into_iter().map(of).collect();
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

    /// A multicast address: what the protocol says to everyone is sent there once, and not to each
    /// member that hears it. Each member finds out who does, and sends to the others as without
    /// it; so the network need not have multicast, and members may be given this one by one. For
    /// listed members, all in one network; give each group an address or a port of its own.
    #[must_use]
    pub fn multicast(mut self, to: SocketAddr) -> Self {
        self.multicast = Some(to);
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

    /// Of several members that could lead, one with a greater priority comes first; 0 otherwise.
    /// For leases from a majority.
    #[must_use]
    pub fn priority(mut self, priority: u32) -> Self {
        self.candidacy.priority = priority;
        self
    }

    /// Whether this member votes and never leads. For leases from a majority.
    #[must_use]
    pub fn witness(mut self, witness: bool) -> Self {
        self.candidacy.witness = witness;
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

    /// The shortest lease with which this member can work, for example end a command in time. While
    /// it leads, it refuses a [change](Election::change_voters) to a lockTime with a shorter one.
    #[must_use]
    pub fn least_lease(mut self, least: Duration) -> Self {
        self.least_lease = least;
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
        match self.knows_group()? {
            Some(learnt) => learnt.settle().map(|(_, rules)| rules),
            None => self.check_joining(),
        }
    }

    /// Joins the group. From now on this member may be elected at any time, also if no thread waits
    /// for it: join when you are ready to lead, and leave when you no longer are. Blocks while
    /// members are asked ([`join_through`](Self::join_through)).
    ///
    /// # Errors
    /// [`BadSettings`] if a rule is broken, or the system refuses.
    pub fn join(self) -> Checked<Election> {
        self.prepare()?.join()
    }

    /// Checks all rules and finds out which member this is, without joining. Blocks while names are
    /// looked up, and while members are asked ([`join_through`](Self::join_through)).
    ///
    /// # Errors
    /// [`BadSettings`] if a rule is broken, or the group does not accept this member.
    pub fn prepare(self) -> Checked<Prepared> {
        self.prepare_and_tell(&mut |_| {})
    }

    /// The same; `tell` is called with a line that says what it waits for while no member answers.
    ///
    /// # Errors
    /// [`BadSettings`] as for [`prepare`](Self::prepare).
    pub fn prepare_and_tell(self, tell: &mut dyn FnMut(String)) -> Checked<Prepared> {
        let learnt = match self.knows_group()? {
            Some(learnt) => learnt,
            None => self.learn(tell)?,
        };
        learnt.settle().map(|(settings, _)| Prepared { settings })
    }
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
        if let Some(text) = self.check_multicast(&peers, listen)? {
            holds("multicast", text);
        }
        let keyring = self.keyring.clone().ok_or(BadSettings::NoKey)?;
        holds(
            "key",
            match keyring.is_insecure() {
                true => "none: everybody who reaches the port can lead the group".to_owned(),
                false => format!("sends with {}", keyring.ids(&self.group).join(", accepts ")),
            },
        );
        let program = self.find_program(&peers).map_err(BadSettings::Program)?;
        let voters = self.check_voters(&peers, &program)?;
        let size = program.check(&peers, voters.as_deref(), BODY_MAX)?;
        holds("protocol", format!("{}, which promises: {}", program.name, program.promise));
        for rule in program.rules() {
            holds("timing", rule);
        }
        let lock = program.leases.map(|leases| leases.lock);
        if let Some(lock) = lock.filter(|lock| *lock > BINDS_MAX) {
            return Err(BadSettings::LockTooLong { lock, most: BINDS_MAX });
        }
        if let Some(text) = size {
            holds("datagrams", text);
        }
        if let Some(voters) = &voters {
            holds("voters", format!("members {} vote at first, the others follow", list(voters)));
        }
        let candidacy = self.find_candidacy(me, &peers)?;
        if let Some(text) = self.check_candidacy(candidacy, &program)? {
            holds("candidacy", text);
        }
        if let Some(text) = self.check_tokens(&program)? {
            holds("tokens", text);
        }
        let settings = Settings {
            group: self.group.clone(),
            me,
            rank: self.rank.unwrap_or(me.0),
            candidacy,
            witness: candidacy.witness,
            peers,
            book: self.book.clone(),
            voters,
            listen,
            multicast: self.multicast,
            keyring,
            program,
            // A member with a random id has no earlier incarnation to remember.
            dir: self.dir.clone().filter(|_| self.id.is_some() || self.is_listed()),
            bootstrap: self.bootstrap,
            least_lease: self.least_lease,
            control: self.control.clone(),
            record: self.record.clone(),
            work: self.work,
            last_will: None,
            clock: Arc::clone(&self.clock),
        };
        Ok((settings, rules))
    }

    fn is_listed(&self) -> bool {
        self.peers.as_ref().is_some_and(Peers::is_list)
    }

    /// Checks that priorities and witnesses have an effect; says what this member is.
    fn check_candidacy(&self, candidacy: Candidacy, program: &Program) -> Checked<Option<String>> {
        let Candidacy { priority, witness } = candidacy;
        let reads = program.choice.as_ref().is_none_or(|choice| choice.reads_candidacy());
        match (witness, priority) {
            _ if !reads && (!candidacy.is_ordinary() || !self.priorities.is_empty()) => {
                Err(BadSettings::NoCandidacy { protocol: program.name })
            }
            (false, 0) => Ok(None),
            (true, 0) => Ok(Some("it votes and never leads".to_owned())),
            (true, _) => Err(BadSettings::WitnessWithPriority { priority }),
            (false, _) => {
                Ok(Some(format!("it leads before members of a priority below {priority}")))
            }
        }
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

    fn find_program(&self, peers: &Peers) -> Result<Program, BadProgram> {
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
        if let Some((id, at)) = self.own_entry() {
            return Ok((id, self.listen.unwrap_or(at)));
        }
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
        if addresses.len() > 1 {
            let (id, place) = (*id, place.clone());
            return Err(BadSettings::SeveralAddresses { id, place, addresses });
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

impl fmt::Debug for Builder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Builder").field("group", &self.group).field("peers", &self.peers).finish()
    }
}
