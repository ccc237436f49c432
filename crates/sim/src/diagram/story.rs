//! What the records tell, put in the order a picture needs: who, from when to when, what flew.

use super::track::Track;
use bellwether_core::{Event, Instant, NodeId, Record, SimTime, Stage, Term};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

/// More lanes than this no screen can tell apart.
pub(super) const LANES_MAX: usize = 400;

/// Messages that say nothing new, and are there for the stamps that any message has, or as signs of
/// life: they stay in the background, and take no colour from those that say something.
const QUIET: [&str; 2] = ["stamp", "heartbeat"];

/// One run, ready to be drawn.
pub(super) struct Story {
    /// The first and last moment shown, in nanoseconds.
    pub(super) from: u64,
    pub(super) to: u64,
    pub(super) lanes: Vec<Lane>,
    /// Processes that have no lane because there are too many.
    pub(super) left_out: usize,
    pub(super) messages: Vec<Message>,
    pub(super) marks: Vec<Mark>,
    /// The kinds of message by name, the quiet ones aside: their place is their colour and shape,
    /// which so do not depend on who speaks first.
    pub(super) kinds: Vec<String>,
    /// The place, and so the colour, of everyone who was ever followed or promised support: the
    /// longest comes first.
    pub(super) leaders: BTreeMap<NodeId, usize>,
}

/// The life of one process.
pub(super) struct Lane {
    pub(super) id: NodeId,
    pub(super) phases: Vec<Span<Phase>>,
    pub(super) beliefs: Vec<Span<Belief>>,
    pub(super) holds: Vec<Span<Hold>>,
    /// The runs of its command, if it has one.
    pub(super) works: Vec<Span<u64>>,
    /// What it believes in the end, even if it has only just come to.
    pub(super) end: Option<Belief>,
}

/// Something that holds from one moment to another, in nanoseconds.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Span<T> {
    pub(super) from: u64,
    pub(super) to: u64,
    pub(super) what: T,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// It was not started yet, or has left.
    Absent,
    Up,
    Paused,
    Down,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Belief {
    pub(super) leaders: Vec<NodeId>,
    pub(super) term: Option<Term>,
    pub(super) stage: Stage,
}

/// What a process has promised, as a supporter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Hold {
    /// To support nobody but this one.
    To(NodeId),
    /// To support nobody.
    Nobody,
}

/// One sending and all that became of it.
pub(super) struct Message {
    pub(super) lane: usize,
    pub(super) sent: u64,
    pub(super) number: u64,
    /// An index into [`Story::kinds`]; none if it is a quiet one.
    pub(super) kind: Option<usize>,
    /// Which quiet one, if it is.
    quiet: &'static str,
    pub(super) to: Option<NodeId>,
    /// When and on which lane it arrived.
    pub(super) received: Vec<(u64, usize)>,
    /// When and on which lane it was missed.
    pub(super) lost: Vec<(u64, usize)>,
}

impl Message {
    /// How many marks it takes to draw.
    pub(super) fn weight(&self) -> usize {
        1 + self.received.len() + self.lost.len()
    }
}

/// Something that happened to a process at a moment.
pub(super) struct Mark {
    pub(super) lane: usize,
    pub(super) at: u64,
    pub(super) sign: Sign,
    pub(super) told: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Sign {
    Join,
    Crash,
    Restart,
    Leave,
    Command,
    Jump,
    /// It was told that a peer, or the link to it, is there,
    Gained,
    /// or is not.
    Lost,
}

impl Story {
    /// Reads the records, which are [in order](in_order), of at most so many processes. Those that
    /// stand in `order` have their lanes in it; without one, lanes are in order of ids.
    pub(super) fn of(
        records: &[&Record],
        until: Option<SimTime>,
        lanes_max: usize,
        order: &[NodeId],
    ) -> Self {
        let (from, to) = stretch(records, until);
        let (mut ids, left_out) = who(records, lanes_max);
        ids.sort_by_key(|id| order.iter().position(|other| other == id));
        let mut reader = Reader::new(&ids, from, records);
        for record in records {
            reader.read(record);
        }
        reader.finish(to, left_out)
    }

    /// Whether anybody promised anything for a time: such a picture has room for it.
    pub(super) fn has_holds(&self) -> bool {
        self.lanes.iter().any(|lane| !lane.holds.is_empty())
    }

    /// Whether there is anything that only protocols with leases have.
    pub(super) fn has_leases(&self) -> bool {
        self.has_holds() || self.messages.iter().any(|message| message.kind.is_none())
    }

    /// The name of a message's kind.
    pub(super) fn kind(&self, message: &Message) -> &str {
        message.kind.map_or(message.quiet, |kind| &self.kinds[kind])
    }
}

/// The records up to `until`, in whatever order they come, in order of time.
pub(super) fn in_order(records: &[Record], until: Option<SimTime>) -> Vec<&Record> {
    let last = until.unwrap_or(SimTime::NEVER);
    let mut records: Vec<&Record> = records.iter().filter(|record| record.t <= last).collect();
    records.sort_by_key(|record| record.t);
    records
}

/// What time to show: from zero, unless that would leave most of the picture empty.
fn stretch(records: &[&Record], until: Option<SimTime>) -> (u64, u64) {
    let nanos = |record: &&Record| record.t.as_nanos();
    let first = records.first().map_or(0, nanos);
    let last = until.map_or_else(|| records.last().map_or(0, nanos), SimTime::as_nanos);
    let from = if first <= last.saturating_sub(first) { 0 } else { first };
    // What somebody came to believe at the very end is to be seen.
    let believes = |record: &&Record| matches!(record.event, Event::Leadership { .. });
    let late = records.iter().rev().take_while(|record| record.t.as_nanos() == last).any(believes);
    let more = if until.is_none() && late { (last - from) / 20 } else { 0 };
    let last = last.saturating_add(more);
    // A run of a single moment still needs an axis.
    (from, if last > from { last } else { from.saturating_add(1_000_000_000) })
}

/// The processes that get a lane, and how many do not. Where an election goes by id the greater
/// ones decide it, so they stay.
fn who(records: &[&Record], lanes_max: usize) -> (Vec<NodeId>, usize) {
    let mut ids = BTreeSet::new();
    for record in records {
        ids.insert(record.node);
        if let Event::Recv { from, .. } | Event::Drop { from, .. } = &record.event {
            ids.insert(*from);
        }
    }
    let left_out = ids.len().saturating_sub(lanes_max);
    (ids.into_iter().skip(left_out).collect(), left_out)
}

/// What a reception is matched to its sending by. Numbers begin anew after a restart, so they are
/// not enough; time comes first, so that messages are kept in the order in which they were sent.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Sending {
    sent: u64,
    lane: usize,
    number: u64,
    kind: Option<usize>,
}

struct Reader {
    from: u64,
    lanes: Vec<Track>,
    lane_of: BTreeMap<NodeId, usize>,
    messages: BTreeMap<Sending, Message>,
    marks: Vec<Mark>,
    /// In order.
    kinds: Vec<String>,
}

impl Reader {
    fn new(ids: &[NodeId], from: u64, records: &[&Record]) -> Self {
        let lane_of: BTreeMap<NodeId, usize> = ids.iter().copied().zip(0..).collect();
        let shown = |record: &&&Record| lane_of.contains_key(&record.node);
        let kinds = records.iter().filter(shown).filter_map(|record| {
            let (from, kind) = match &record.event {
                Event::Send { message, .. } => (&record.node, message),
                Event::Recv { from, message, .. } | Event::Drop { from, message, .. } => {
                    (from, message)
                }
                _ => return None,
            };
            (lane_of.contains_key(from) && quiet(kind).is_none()).then_some(kind)
        });
        let kinds: BTreeSet<&str> = kinds.map(AsRef::as_ref).collect();
        Self {
            from,
            lanes: ids.iter().copied().map(Track::new).collect(),
            messages: BTreeMap::new(),
            marks: Vec::new(),
            kinds: kinds.into_iter().map(str::to_owned).collect(),
            lane_of,
        }
    }

    fn read(&mut self, record: &Record) {
        let Some(lane) = self.lane(record.node) else { return };
        let at = record.t.as_nanos();
        self.lanes[lane].lapse(at);
        match &record.event {
            Event::Drop { from, message, number, sent, .. } => {
                if let Some(flight) = self.message(*from, *sent, *number, message) {
                    flight.lost.push((at, lane));
                }
                return; // a message may be lost on a process that is down, or not there yet
            }
            Event::Recv { from, message, number, sent, .. } => {
                if let Some(flight) = self.message(*from, *sent, *number, message) {
                    flight.received.push((at, lane));
                }
            }
            Event::Send { to, message, number } => {
                if let Some(flight) = self.message(record.node, record.t, *number, message) {
                    flight.to = *to;
                }
            }
            Event::Leadership { leaders, term, until, stage } => {
                let belief = Belief { leaders: leaders.clone(), term: *term, stage: *stage };
                self.lanes[lane].believe(at, belief, until.unwrap_or(Instant::NEVER));
            }
            Event::Fact(fact) => self.lanes[lane].learn(at, *fact),
            // A guardian is there before its member and after it.
            Event::Guardian(_) => return,
            Event::Work { work, .. } => return self.lanes[lane].work(at, *work),
            Event::Timer { .. } | Event::Store { .. } => {}
            life => self.live(lane, at, life),
        }
        self.lanes[lane].begin(self.from, Phase::Up);
    }

    /// What befalls the process itself.
    fn live(&mut self, lane: usize, at: u64, event: &Event) {
        let (before, phase, mark) = match event {
            Event::Start { incarnation } => {
                (Phase::Absent, Some(Phase::Up), Some((Sign::Join, format!("life {incarnation}"))))
            }
            Event::Restart { incarnation } => {
                (Phase::Down, Some(Phase::Up), Some((Sign::Restart, format!("life {incarnation}"))))
            }
            Event::Crash => (Phase::Up, Some(Phase::Down), Some((Sign::Crash, String::new()))),
            Event::Leave => (Phase::Up, Some(Phase::Absent), Some((Sign::Leave, String::new()))),
            Event::Pause => (Phase::Up, Some(Phase::Paused), None),
            Event::Resume => (Phase::Paused, Some(Phase::Up), None),
            Event::Command { command, taken } => {
                let answer = if *taken { "taken" } else { "refused" };
                (Phase::Up, None, Some((Sign::Command, format!("{command}, {answer}"))))
            }
            Event::Jump { reads } => {
                self.lanes[lane].set_clock(at, *reads);
                (Phase::Up, None, Some((Sign::Jump, format!("reads {reads}"))))
            }
            Event::Reach { peer, up } => {
                let sign = if *up { Sign::Gained } else { Sign::Lost };
                (Phase::Up, None, Some((sign, peer.to_string())))
            }
            _ => return,
        };
        let track = &mut self.lanes[lane];
        track.begin(self.from, before);
        if let Some(phase) = phase {
            track.enter(at, phase);
        }
        // Those who are there when the picture begins need no mark for it.
        if let Some((sign, told)) = mark
            && !(sign == Sign::Join && at <= self.from)
        {
            self.marks.push(Mark { lane, at, sign, told });
        }
    }

    fn lane(&self, id: NodeId) -> Option<usize> {
        self.lane_of.get(&id).copied()
    }

    fn message(
        &mut self,
        from: NodeId,
        sent: SimTime,
        number: u64,
        kind: &str,
    ) -> Option<&mut Message> {
        let lane = self.lane(from)?;
        let quiet = quiet(kind);
        let kind = self.kinds.binary_search_by(|known| known.as_str().cmp(kind)).ok();
        let sent = sent.as_nanos();
        Some(self.messages.entry(Sending { sent, lane, number, kind }).or_insert_with(|| Message {
            lane,
            sent,
            number,
            kind,
            quiet: quiet.unwrap_or_default(),
            to: None,
            received: Vec::new(),
            lost: Vec::new(),
        }))
    }

    fn finish(self, to: u64, left_out: usize) -> Story {
        let from = self.from;
        let lanes: Vec<Lane> = self.lanes.into_iter().map(|track| track.close(from, to)).collect();
        let leaders = places(&lanes);
        let messages = self.messages.into_values().collect();
        let (marks, kinds) = (self.marks, self.kinds);
        Story { from, to, lanes, left_out, messages, marks, kinds, leaders }
    }
}

/// The name of a quiet kind of message, if it is one.
fn quiet(kind: &str) -> Option<&'static str> {
    QUIET.into_iter().find(|quiet| *quiet == kind)
}

/// There are fewer colours than there may be leaders; those who mattered most get one of their own.
/// Nobody gets one for what was merely provisional: at first every process thinks of itself.
fn places(lanes: &[Lane]) -> BTreeMap<NodeId, usize> {
    let mut followed: BTreeMap<NodeId, u128> = BTreeMap::new();
    for span in lanes.iter().flat_map(|lane| &lane.beliefs) {
        if let (Stage::Decided, Some(first)) = (span.what.stage, span.what.leaders.first()) {
            *followed.entry(*first).or_default() += u128::from(span.to - span.from);
        }
    }
    for span in lanes.iter().flat_map(|lane| &lane.holds) {
        if let Hold::To(id) = span.what {
            *followed.entry(id).or_default() += u128::from(span.to - span.from);
        }
    }
    let mut leaders: Vec<(NodeId, u128)> = followed.into_iter().collect();
    leaders.sort_by_key(|&(id, long)| (Reverse(long), Reverse(id)));
    leaders.into_iter().enumerate().map(|(place, (id, _))| (id, place)).collect()
}

/// Lets every span shorter than `finest` nanoseconds give way to the one after it.
pub(super) fn coarsen<T: Clone>(spans: &[Span<T>], finest: u64) -> Vec<Span<T>> {
    let mut coarse: Vec<Span<T>> = Vec::new();
    for span in spans {
        match coarse.last_mut() {
            Some(last) if last.to - last.from < finest => {
                let from = if last.to == span.from { last.from } else { span.from };
                *last = Span { from, ..span.clone() };
            }
            _ => coarse.push(span.clone()),
        }
    }
    coarse
}
