//! A group in a network of namespaces: started, disturbed, waited for, and judged.

use super::clock::{millis, now, sleep};
use super::faults::Faults;
use super::log::{Log, Said};
use super::member::{BELLWETHER, Member, Start};
use super::network::{Family, Network};
use super::stalls::Stalls;
use super::{Folder, shell};
use bellwether::core::{Duration, Event, Instant, NodeId};
use bellwether::protocols::choice::Choice;
use bellwether::protocols::local_leader::{Config, Params, Preset};
use rustix::process::Signal;
use std::collections::BTreeMap;

/// Nothing that should happen takes longer, on however busy a machine.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);

/// What a group is made of.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    pub(crate) members: u64,
    pub(crate) preset: Preset,
    pub(crate) family: Family,
}

impl Shape {
    /// So many members on a local network.
    pub(crate) const fn lan(members: u64) -> Self {
        Self { members, preset: Preset::Lan, family: Family::V4 }
    }
}

/// Members 1 to n, of which some run.
pub(crate) struct Group {
    shape: Shape,
    // What is declared first is dropped first: members, then the network they are in.
    members: BTreeMap<u64, Member>,
    pub(crate) network: Network,
    pub(crate) log: Log,
    pub(crate) stalls: Stalls,
    faults: Faults,
    commands: BTreeMap<u64, Vec<String>>,
    lives: BTreeMap<u64, u64>,
    folder: Folder,
}

/// Making and starting.
impl Group {
    pub(crate) fn new(shape: Shape) -> Self {
        let folder = Folder::new();
        shell::must(&[BELLWETHER, "keygen", &folder.file("key")], "");
        Self {
            shape,
            members: BTreeMap::new(),
            network: Network::new(shape.members),
            log: Log::default(),
            stalls: Stalls::watch(),
            faults: Faults::new(folder.file("faults")),
            commands: BTreeMap::new(),
            lives: BTreeMap::new(),
            folder,
        }
    }

    /// All members, started at once.
    pub(crate) fn started(shape: Shape) -> Self {
        let mut group = Self::new(shape);
        (1..=shape.members).for_each(|id| group.start(id));
        group
    }

    pub(crate) fn folder(&self) -> &Folder {
        &self.folder
    }

    /// The member will run this while it leads.
    pub(crate) fn give_command(&mut self, id: u64, command: Vec<String>) {
        self.commands.insert(id, command);
    }

    /// The parameters that all members have.
    pub(crate) fn params(&self) -> Params {
        let config = Config { preset: self.shape.preset, ..Config::default() };
        Params::try_from(config).expect("a preset keeps its own rules")
    }

    /// Within this the group has settled once nothing goes wrong any more (κ).
    pub(crate) fn kappa(&self) -> Duration {
        let members = u32::try_from(self.shape.members).expect("groups are small");
        Choice::from(self.params()).pace(members).settles
    }

    /// The bound on replacing a leader that fell silent, if so many of those before the next one in
    /// line have fallen silent before.
    pub(crate) fn failover(&self, silent: u64) -> Duration {
        self.params().failover() + self.params().stagger() * silent
    }

    fn trace(&self, id: u64) -> String {
        self.folder.file(&format!("trace-{id}"))
    }

    /// Starts a member for the first time, or again after it left.
    pub(crate) fn start(&mut self, id: u64) {
        let life = self.lives.entry(id).or_insert(0);
        *life += 1;
        let state = self.folder.file(&format!("state-{id}"));
        let words = [
            "lab",
            "--id",
            &id.to_string(),
            "--peers",
            &self.network.peers(self.shape.family),
            "--preset",
            self.shape.preset.name(),
            "--key",
            &self.folder.file("key"),
            "--dir",
            &state,
            "--record",
            &self.trace(id),
            "--format",
            "json",
        ];
        let start = Start {
            id,
            namespace: Some(self.network.namespace(id)),
            arguments: words.map(str::to_owned).to_vec(),
            command: self.commands.get(&id).cloned().unwrap_or_default(),
            errors: self.folder.file(&format!("errors-{id}")),
        };
        // A former life ends before the next one begins.
        self.members.remove(&id);
        self.members.insert(id, Member::start(start, &self.log));
    }
}

/// Faults. Each says when it began.
impl Group {
    pub(crate) fn member(&mut self, id: u64) -> &mut Member {
        self.members.get_mut(&id).unwrap_or_else(|| panic!("member {id} was never started"))
    }

    /// kill -9.
    pub(crate) fn crash(&mut self, id: u64) -> Instant {
        let member = self.members.get_mut(&id).expect("who crashes was started");
        self.faults.befall(id, Event::Crash, || member.kill())
    }

    /// Starts a member that crashed again.
    pub(crate) fn restart(&mut self, id: u64) -> Instant {
        let incarnation = self.lives.get(&id).copied().unwrap_or(0) + 1;
        let begun = self.faults.befall(id, Event::Restart { incarnation }, || ());
        self.start(id);
        begun
    }

    /// SIGSTOP.
    pub(crate) fn pause(&mut self, id: u64) -> Instant {
        let member = &self.members[&id];
        self.faults.befall(id, Event::Pause, || member.signal(Signal::STOP))
    }

    /// SIGCONT.
    pub(crate) fn resume(&mut self, id: u64) -> Instant {
        let member = &self.members[&id];
        self.faults.befall(id, Event::Resume, || member.signal(Signal::CONT))
    }

    /// SIGTERM: it leaves in good order.
    pub(crate) fn stop(&mut self, id: u64) -> Instant {
        let begun = now();
        self.member(id).signal(Signal::TERM);
        begun
    }

    fn others(&self, id: u64) -> Vec<u64> {
        (1..=self.shape.members).filter(|other| *other != id).collect()
    }

    /// Both directions between one member and all others.
    fn cut_off(&mut self, id: u64, act: impl FnOnce(&Network)) -> Instant {
        let others = self.others(id);
        let network = &self.network;
        let begun = self.faults.befall(id, cut(&[id], &others), || act(network));
        self.faults.befall(id, cut(&others, &[id]), || ());
        begun
    }

    /// The port leaves the bridge, the carrier stays.
    pub(crate) fn cut_silently(&mut self, id: u64) -> Instant {
        self.cut_off(id, |network| network.cut_silently(id))
    }

    /// The interface goes down.
    pub(crate) fn link_down(&mut self, id: u64) -> Instant {
        self.cut_off(id, |network| network.link_down(id))
    }

    /// Nothing that these send reaches those.
    pub(crate) fn cut_one_way(&mut self, from: &[u64], to: &[u64]) -> Instant {
        let network = &self.network;
        self.faults.befall(from[0], cut(from, to), || {
            for (from, to) in from.iter().flat_map(|from| to.iter().map(move |to| (*from, *to))) {
                network.cut_one_way(from, to);
            }
        })
    }

    /// Nothing goes between these and those, in either direction.
    pub(crate) fn cut_between(&mut self, these: &[u64], those: &[u64]) -> Instant {
        let begun = self.cut_one_way(these, those);
        self.cut_one_way(those, these);
        begun
    }

    /// Every port on the bridge, every interface up, every rule gone.
    pub(crate) fn heal(&mut self) -> Instant {
        let (network, members) = (&self.network, self.shape.members);
        self.faults.befall(1, Event::Heal, || {
            for id in 1..=members {
                network.join(id);
                network.link_up(id);
                network.mend(id);
            }
        })
    }
}

fn cut(from: &[u64], to: &[u64]) -> Event {
    let ids = |ids: &[u64]| ids.iter().copied().map(NodeId).collect();
    Event::Cut { from: ids(from), to: ids(to) }
}

/// Waiting and judging.
impl Group {
    /// Waits until all of these follow the same one of them, who leads; says who.
    pub(crate) fn settled(&mut self, among: &[u64]) -> u64 {
        let leader = self.log.wait(PATIENCE, |said| {
            let last = |id: u64| said.iter().rev().find(|said| said.id == id);
            let leader = among.iter().copied().find(|id| last(*id).is_some_and(Said::leads))?;
            let follows = |id: &u64| last(*id).is_some_and(|said| said.leaders == [leader]);
            among.iter().all(follows).then_some(leader)
        });
        leader.unwrap_or_else(|| self.give_up(&format!("no agreement among {among:?}")))
    }

    /// Waits until somebody other than this one leads; says who, and how long it took.
    pub(crate) fn replaced(&mut self, former: u64, since: Instant) -> (u64, Duration) {
        let next = self.log.wait(PATIENCE, |said| {
            let begun = |said: &&Said| said.t > since && said.id != former && said.leads();
            said.iter().find(begun).map(|said| (said.id, said.t.since(since)))
        });
        next.unwrap_or_else(|| self.give_up(&format!("nobody replaced {former}")))
    }

    /// Waits until this one says that it does not lead; says how long it took.
    pub(crate) fn deposed(&mut self, id: u64, since: Instant) -> Duration {
        let over = self.log.wait(PATIENCE, |said| {
            let over = |said: &&Said| said.t > since && said.id == id && !said.leads();
            said.iter().find(over).map(|said| said.t.since(since))
        });
        over.unwrap_or_else(|| self.give_up(&format!("{id} never said that it leads no more")))
    }

    /// Everything anybody may want to know.
    fn give_up(&mut self, what: &str) -> ! {
        let mut story = format!("{what} within {PATIENCE}; the last that was said:\n");
        story += &self.log.tail(20);
        for (id, member) in &mut self.members {
            let ended = member.ended();
            story += &format!("member {id}: ended {ended:?}; {}\n", member.complaints());
        }
        panic!("{story}");
    }

    /// Holds a measured time against a bound. What the machine itself was late is allowed for.
    pub(crate) fn assert_within(&self, what: &str, took: Duration, bound: Duration, from: Instant) {
        let stalls = self.stalls.total(from);
        let text = format!(
            "{what}: {:.1} ms, bound {:.1} ms, the machine stalled for {:.1} ms meanwhile",
            millis(took),
            millis(bound),
            millis(stalls)
        );
        println!("{text}");
        assert!(took <= bound + stalls, "{text}\n{}", self.log.tail(20));
    }

    /// Waits for as long as the group may take to settle, and for some more to be watched.
    pub(crate) fn calm(&self) {
        sleep(self.kappa() + self.params().lock() * 4);
    }

    /// Ends all members, and has what they recorded judged.
    pub(crate) fn judge(mut self) -> serde_json::Value {
        self.members.values_mut().for_each(Member::kill);
        let traces: Vec<String> = self.lives.keys().map(|id| self.trace(*id)).collect();
        let mut words = vec![BELLWETHER, "check", "--format", "json"];
        words.extend(["--faults", self.faults.path(), "--trace"]);
        words.extend(traces.iter().map(String::as_str));
        let verdict = shell::attempt(&words, "");
        let verdict = verdict.unwrap_or_else(|error| panic!("the judge: {error}"));
        serde_json::from_str(&verdict).unwrap_or_else(|error| panic!("{error}: {verdict}"))
    }
}
