//! A group of [twins](Twin) whose messages take a little time, and what happens to it.

use crate::twin::{Belief, Event, Twin};
use bellwether_core::{
    Boot, Command, Dest, Duration, Instant, Members, Memory, Message, Node, NodeId, Protocol,
    Reach, Rebase, SimTime,
};
use std::collections::BTreeMap;

/// Within one call at most this many events; more is a protocol that talks to itself for ever.
const EVENTS_MAX: usize = 200_000;
/// This many messages of each kind are kept as samples.
const SAMPLES: usize = 40;

/// What the members' clocks show when the group begins.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Clocks {
    /// The same.
    Agree,
    /// The same, a day later.
    DayLater,
    /// Each something else.
    Apart,
}

struct Member<P: Protocol> {
    id: NodeId,
    twin: Option<Twin<P>>,
    peers: Members,
    lives: u64,
    stored: Option<Vec<u8>>,
}

/// A message under way.
struct Packet<M> {
    from: NodeId,
    to: usize,
    message: M,
}

/// A message under way: from whom, to whom, how long it has still to go, and what it says.
pub(crate) type UnderWay<M> = (NodeId, NodeId, Duration, M);

/// Members and packets.
pub(crate) struct Group<P: Protocol> {
    params: P::Params,
    clocks: Clocks,
    now: SimTime,
    members: Vec<Member<P>>,
    packets: BTreeMap<(SimTime, usize), Packet<P::Message>>,
    posted: usize,
    sent: usize,
    log: Vec<(SimTime, NodeId, Belief)>,
    samples: BTreeMap<&'static str, Vec<P::Message>>,
}

impl<P: Protocol> Group<P> {
    /// Members 1 to `count`, who know each other and begin at once.
    pub(crate) fn new(count: u64, params: P::Params, clocks: Clocks) -> Self {
        let ids = || (1..=count).map(NodeId);
        let member = |id| {
            let peers = ids().filter(|other| *other != id).collect();
            Member { id, twin: None, peers, lives: 0, stored: None }
        };
        let mut group = Self {
            params,
            clocks,
            now: SimTime::ZERO,
            members: ids().map(member).collect(),
            packets: BTreeMap::new(),
            posted: 0,
            sent: 0,
            log: Vec::new(),
            samples: BTreeMap::new(),
        };
        (0..group.members.len()).for_each(|index| group.begin(index));
        group
    }

    /// A story that gets something out of every protocol: commands, a crash, a return.
    pub(crate) fn story(&mut self) {
        let last = self.members.len() - 1;
        self.run_for(Duration::from_millis(1_500));
        // Whoever does not take it is none the worse for having been asked.
        self.command(1, Command::Campaign);
        self.run_for(Duration::from_millis(2_500));
        self.members[last].twin = None;
        self.report(last, Reach::Down);
        self.run_for(Duration::from_millis(4_300));
        self.begin(last);
        self.report(last, Reach::Up);
        self.command(0, Command::Transfer(NodeId(2)));
        self.command(1, Command::Rank(77));
        self.run_for(Duration::from_millis(3_000));
        (0..=last).for_each(|index| self.command(index, Command::Resign));
        self.run_for(Duration::from_millis(2_200));
        self.command(2, Command::Leave);
        self.members[2].twin = None;
        self.report(2, Reach::Down);
        self.run_for(Duration::from_millis(1_100));
    }

    /// How many messages were sent; one for a multicast.
    pub(crate) fn sent(&self) -> usize {
        self.sent
    }

    /// Every change of belief.
    pub(crate) fn log(&self) -> &[(SimTime, NodeId, Belief)] {
        &self.log
    }

    /// Some of the messages, by kind.
    pub(crate) fn samples(&self) -> &BTreeMap<&'static str, Vec<P::Message>> {
        &self.samples
    }

    /// All that lives and all that is under way, without the date and the clocks' offsets.
    pub(crate) fn rebased(&self) -> (Vec<Node<P>>, Vec<UnderWay<P::Message>>) {
        let clocks = |id: NodeId| self.clock(id);
        let node = |member: &Member<P>| {
            let mut node = member.twin.as_ref()?.node().clone();
            node.instants(&Rebase::with_clocks(clocks(member.id), &clocks));
            Some(node)
        };
        let packet = |(&(at, _), packet): (&(SimTime, usize), &Packet<P::Message>)| {
            let (to, mut message) = (self.members[packet.to].id, packet.message.clone());
            message.instants(to, &Rebase::with_clocks(clocks(packet.from), &clocks));
            (packet.from, to, at.since(self.now), message)
        };
        (self.members.iter().filter_map(node).collect(), self.packets.iter().map(packet).collect())
    }
}

/// Time.
impl<P: Protocol> Group<P> {
    fn ahead(&self, id: NodeId) -> Duration {
        match self.clocks {
            Clocks::Agree => Duration::ZERO,
            Clocks::DayLater => Duration::from_secs(86_400),
            Clocks::Apart => Duration::from_secs(1_000) * id.0,
        }
    }

    fn clock(&self, id: NodeId) -> Instant {
        Instant::from_nanos(self.now.as_nanos()) + self.ahead(id)
    }

    fn run_for(&mut self, length: Duration) {
        let end = self.now + length;
        for _ in 0..EVENTS_MAX {
            if !self.step(end) {
                self.now = end;
                return;
            }
        }
        panic!("{} does not come to rest", P::NAME);
    }

    /// Runs the first thing that happens until `end`, a message before a timer. False if none does.
    fn step(&mut self, end: SimTime) -> bool {
        let packet = self.packets.first_key_value().map_or(SimTime::NEVER, |(key, _)| key.0);
        let alarms = (0..self.members.len()).map(|index| (self.alarm(index), index));
        let (alarm, index) = alarms.min().unwrap_or((SimTime::NEVER, 0));
        if packet.min(alarm) > end {
            return false;
        }
        if packet <= alarm {
            self.now = packet;
            if let Some((_, Packet { from, to, message })) = self.packets.pop_first() {
                self.act(to, Event::Message(from, message));
            }
        } else {
            self.now = self.now.max(alarm);
            self.act(index, Event::Timeout);
        }
        true
    }

    /// When a member wants to be woken, in the group's time.
    fn alarm(&self, index: usize) -> SimTime {
        let member = &self.members[index];
        match member.twin.as_ref().map(|twin| twin.node().poll_timeout()) {
            None | Some(Instant::NEVER) => SimTime::NEVER,
            Some(at) => SimTime::from_nanos(at.as_nanos()) - self.ahead(member.id),
        }
    }
}

/// Members.
impl<P: Protocol> Group<P> {
    /// Starts a member, with what it stored in its former life.
    fn begin(&mut self, index: usize) {
        let now = self.clock(self.members[index].id);
        let member = &mut self.members[index];
        member.lives += 1;
        let memory = match &member.stored {
            Some(bytes) => Memory::Kept(bytes),
            None if member.lives == 1 => Memory::First,
            None => Memory::Lost,
        };
        let boot = Boot { incarnation: member.lives, memory, ..Boot::first(member.id) };
        let seed = member.id.0 << 8 | member.lives;
        let (twin, step) = Twin::start(boot, seed, &member.peers, now, &self.params);
        member.twin = Some(twin);
        self.settle(index, step);
    }

    fn command(&mut self, index: usize, command: Command) {
        self.act(index, Event::Command(command));
    }

    /// Tells everybody else of a member.
    fn report(&mut self, of: usize, reach: Reach) {
        let id = self.members[of].id;
        let others = (0..self.members.len()).filter(|index| *index != of);
        others.for_each(|index| self.act(index, Event::Peer(id, reach)));
    }

    /// Lets something happen to a member, if it lives, and does what it asks for.
    fn act(&mut self, index: usize, event: Event<P::Message>) {
        let now = self.clock(self.members[index].id);
        let Member { twin, peers, .. } = &mut self.members[index];
        let Some(twin) = twin else { return };
        let step = twin.handle(event, peers, now, &self.params);
        self.settle(index, step);
    }

    fn settle(&mut self, index: usize, step: crate::twin::Step<P::Message>) {
        let id = self.members[index].id;
        if let Some(bytes) = step.stored {
            self.members[index].stored = Some(bytes);
        }
        if let (true, Some(twin)) = (step.changed, &self.members[index].twin) {
            self.log.push((self.now, id, twin.belief(self.clock(id))));
        }
        for (to, message) in step.sends {
            self.sent += 1;
            let samples = self.samples.entry(message.kind()).or_default();
            if samples.len() < SAMPLES {
                samples.push(message.clone());
            }
            assert_ne!(to, Dest::Node(id), "{} writes to itself", P::NAME);
            for other in 0..self.members.len() {
                let meant = to == Dest::Everyone || to == Dest::Node(self.members[other].id);
                if meant && other != index {
                    self.post(id, other, message.clone());
                }
            }
        }
    }

    /// One message in nine is lost. The others take a little longer or less on each way, so that no
    /// order is a matter of luck.
    fn post(&mut self, from: NodeId, to: usize, message: P::Message) {
        self.posted += 1;
        if !self.posted.is_multiple_of(9) {
            let way = (from.0 * 31 + to as u64 * 7) % 13;
            let at = self.now + Duration::from_micros(1_000 + 50 * way);
            self.packets.insert((at, self.posted), Packet { from, to, message });
        }
    }
}
