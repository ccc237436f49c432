//! Three members of another system: processes in namespaces, which are killed, stopped and cut off.
//!
//! **Promise.** Every process ends with the cluster, and with this program if that is killed.

use crate::claims::Claims;
use crate::lab::Folder;
use crate::lab::clock::{now, sleep};
use crate::lab::member::with_descendants;
use crate::lab::network::Network;
use crate::lab::shell::attempt;
use crate::{Fault, Peer};
use ::bellwether::core::{Duration, Instant};
use rustix::process::{Pid, Signal, kill_process};
use std::collections::BTreeMap;
use std::process::{Child, Command, Stdio};

/// No system takes longer to agree.
const PATIENCE: Duration = Duration::from_secs(60);

/// How a system is started, and how it shows who leads.
pub(crate) trait System {
    /// Its name, with its timers.
    fn name(&self) -> String;
    /// After how long a silent leader is given up.
    fn gives_up_after(&self) -> Duration;
    /// A file that is there if it is installed, or a program.
    fn program(&self) -> &'static str;
    /// The Debian package that has it.
    fn package(&self) -> &'static str;
    /// The command of a member.
    fn command(&self, id: u64, folder: &Folder) -> Command;
    /// Watches a member that was just started, for as long as it runs.
    fn watch(&self, id: u64, child: &mut Child, place: &Place<'_>);
    /// How long a member that was started again, or is in the network again, takes to be one of
    /// the group.
    fn rejoins_after(&self) -> Duration {
        Duration::from_secs(2)
    }
    /// Whether whatever the leader does ends with its process.
    fn ends_with_process(&self) -> bool {
        true
    }
    /// Removes what a killed member has left behind, before it is started again.
    fn clean(&self, _id: u64, _network: &Network) {}
}

/// Where a member is, and where to note what is seen of it.
pub(crate) struct Place<'a> {
    pub(crate) network: &'a Network,
    pub(crate) folder: &'a Folder,
    pub(crate) claims: &'a Claims,
}

/// Whether a program is there, or a file if the name has a path.
pub(crate) fn is_installed(program: &str) -> bool {
    attempt(&["sh", "-c", "command -v \"$0\"", program], "").is_ok()
}

/// A command in a member's namespace that ends with this program.
pub(crate) fn within(namespace: &str) -> Command {
    let mut command = Command::new("ip");
    command.args(["netns", "exec", namespace, "setpriv", "--pdeathsig", "KILL"]);
    command.stdin(Stdio::null());
    command
}

/// A running cluster.
pub(crate) struct Cluster {
    system: Box<dyn System>,
    // What is declared first is dropped first: processes, then what they stand on.
    members: BTreeMap<u64, Child>,
    /// What a member has started that was killed alone: it may end later than that one.
    orphans: Vec<Orphan>,
    claims: Claims,
    network: Network,
    folder: Folder,
}

/// A process whose parent was killed, by its number and the time at which it began: a later
/// process may have the same number.
struct Orphan {
    pid: u32,
    began: Option<String>,
}

impl Orphan {
    fn new(pid: u32) -> Self {
        Self { pid, began: began(pid) }
    }

    fn end(self) {
        if self.began.is_some() && began(self.pid) == self.began {
            signal(self.pid, Signal::KILL);
        }
    }
}

/// When a process began, in the 22nd field of its status; `None` if it is no more.
fn began(pid: u32) -> Option<String> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The second field is a name in parentheses, which may hold blanks.
    let (_, rest) = stat.rsplit_once(')')?;
    rest.split_whitespace().nth(19).map(str::to_owned)
}

/// Sends a signal. A process that has just ended cannot be signalled, which is no failure.
fn signal(pid: u32, signal: Signal) {
    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw);
    let _ = pid.map(|pid| kill_process(pid, signal));
}

const IDS: [u64; 3] = [1, 2, 3];

impl Cluster {
    pub(crate) fn started(system: Box<dyn System>) -> Self {
        let mut cluster = Self {
            system,
            members: BTreeMap::new(),
            orphans: Vec::new(),
            claims: Claims::default(),
            network: Network::new(3),
            folder: Folder::new(),
        };
        IDS.into_iter().for_each(|id| cluster.start(id));
        cluster
    }

    fn start(&mut self, id: u64) {
        let inside = self.system.command(id, &self.folder);
        let mut command = within(&self.network.namespace(id));
        command.arg(inside.get_program()).args(inside.get_args());
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let name = self.system.name();
        let mut child =
            command.spawn().unwrap_or_else(|error| panic!("cannot start {name}: {error}"));
        let Self { network, folder, claims, .. } = self;
        self.system.watch(id, &mut child, &Place { network, folder, claims });
        self.members.insert(id, child);
    }

    /// The process of a member and all that it started.
    fn processes(&self, id: u64) -> Vec<u32> {
        with_descendants(self.members[&id].id())
    }

    fn signal(&self, id: u64, signal: Signal) {
        self.processes(id).into_iter().for_each(|pid| self::signal(pid, signal));
    }

    /// Kills a member and all that it started, or had started before it was killed alone.
    fn end(&mut self, id: u64) {
        self.signal(id, Signal::KILL);
        self.orphans.drain(..).for_each(Orphan::end);
        if let Some(child) = self.members.get_mut(&id) {
            let _ = child.wait();
        }
    }

    /// Kills the process of a member alone.
    fn kill(&mut self, id: u64) {
        self.orphans.extend(self.processes(id).into_iter().skip(1).map(Orphan::new));
        if let Some(child) = self.members.get_mut(&id) {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

impl Peer for Cluster {
    fn name(&self) -> String {
        self.system.name()
    }

    fn gives_up_after(&self) -> Duration {
        self.system.gives_up_after()
    }

    fn settled(&mut self) -> u64 {
        let only = self.claims.only_leader(PATIENCE);
        only.unwrap_or_else(|| panic!("{} has no single leader", self.system.name()))
    }

    fn strike(&mut self, fault: Fault, id: u64) -> Instant {
        let begun = now();
        match fault {
            Fault::Kill => self.kill(id),
            Fault::KillAll => self.end(id),
            Fault::Cut => self.network.cut_silently(id),
            Fault::Pause => self.signal(id, Signal::STOP),
            Fault::Terminate => {
                signal(self.members[&id].id(), Signal::TERM);
            }
        }
        if matches!(fault, Fault::Kill | Fault::KillAll) && self.system.ends_with_process() {
            self.claims.note(id, false);
        }
        begun
    }

    fn replaced(&mut self, former: u64, since: Instant) -> Duration {
        let other = self.claims.other(former, since, PATIENCE);
        let other = other.unwrap_or_else(|| panic!("{}: nobody leads", self.system.name()));
        other.since(since)
    }

    fn mend(&mut self, fault: Fault, id: u64) {
        match fault {
            Fault::Kill | Fault::KillAll | Fault::Terminate => {
                self.end(id);
                self.system.clean(id, &self.network);
                self.claims.note(id, false);
                self.start(id);
                sleep(self.system.rejoins_after());
            }
            Fault::Cut => {
                self.network.join(id);
                sleep(self.system.rejoins_after());
            }
            Fault::Pause => self.signal(id, Signal::CONT),
        }
    }

    fn two_led(self: Box<Self>) -> Duration {
        self.claims.two_led()
    }

    fn packets(&self) -> u64 {
        IDS.iter().map(|id| self.network.packets(*id)).sum()
    }

    fn memory(&self) -> f64 {
        let member = |id: &u64| self.processes(*id).into_iter().map(resident).sum::<f64>();
        IDS.iter().map(member).fold(0.0, f64::max)
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        IDS.into_iter().for_each(|id| self.end(id));
    }
}

/// The resident memory of a process in MiB; zero if it has ended.
pub(crate) fn resident(pid: u32) -> f64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kib = line.and_then(|line| line.split_whitespace().next()?.parse::<f64>().ok());
    kib.unwrap_or(0.0) / 1024.0
}
