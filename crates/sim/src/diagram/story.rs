//! The contents of the diagram: lanes, spans and messages, collected from the records.

use super::kinds::{self, Look};
use super::track::Track;
use bellwether_core::{Event, Instant, NodeId, Record, SimTime, Stage, Term};
use bellwether_protocols::choice::message_kind;
use bellwether_protocols::purpose::Purpose;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

/// The most lanes; no screen can show more.
pub(super) const LANES_MAX: usize = 400;

/// One run, ready to be drawn.
pub(super) struct Story {
    /// The first and last moment shown, in nanoseconds.
    pub(super) from: u64,
    pub(super) to: u64,
    pub(super) lanes: Vec<Lane>,
    /// How many processes have no lane because there are too many.
    pub(super) left_out: usize,
    pub(super) messages: Vec<Message>,
    pub(super) marks: Vec<Mark>,
    /// The kinds of messages, sorted by name, without the quiet ones.
    pub(super) kinds: Vec<String>,
    /// How each of them looks.
    pub(super) looks: Vec<Look>,
    /// The colour index of each process that was ever followed or locked to; the longest comes
    /// first.
    pub(super) leaders: BTreeMap<NodeId, usize>,
}

/// The history of one process.
pub(super) struct Lane {
    pub(super) id: NodeId,
    pub(super) phases: Vec<Span<Phase>>,
    pub(super) beliefs: Vec<Span<Belief>>,
    pub(super) holds: Vec<Span<Hold>>,
    /// The runs of its command, if it has one.
    pub(super) works: Vec<Span<u64>>,
    /// The partitions that it belonged to, where leaders are local.
    pub(super) views: Vec<View>,
    /// Its belief at the end, even a very recent one.
    pub(super) end: Option<Belief>,
}

/// A partition as a process knows it from this moment on; the number 0 and no members, if it
/// belongs to none.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct View {
    pub(super) at: u64,
    pub(super) version: u64,
    pub(super) members: Vec<NodeId>,
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
    /// Not started yet, or has left.
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

/// The lock of a supporter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Hold {
    /// It supports only this process.
    To(NodeId),
    /// It supports nobody.
    Nobody,
}

/// One sending with its receptions and losses.
pub(super) struct Message {
    pub(super) lane: usize,
    pub(super) sent: u64,
    pub(super) number: u64,
    /// An index into [`Story::kinds`]; none for a quiet message.
    pub(super) kind: Option<usize>,
    /// The kind of a quiet message.
    quiet: &'static str,
    pub(super) to: Option<NodeId>,
    /// When and on which lane it was received.
    pub(super) received: Vec<(u64, usize)>,
    /// When and on which lane it was lost.
    pub(super) lost: Vec<(u64, usize)>,
}

impl Message {
    /// How many marks it needs.
    pub(super) fn weight(&self) -> usize {
        1 + self.received.len() + self.lost.len()
    }
}

/// An event of a process at one moment.
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
    /// It was told that a peer, or the link to it, is up.
    Gained,
    /// It was told that a peer, or the link to it, is down.
    Lost,
}

impl Story {
    /// Reads the records, which are [in order](in_order), of at most `lanes_max` processes.
    /// Processes in `order` have their lanes in that order; without one, lanes are in order of id.
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

    /// Whether any supporter is ever locked: such a picture has room for lock bars.
    pub(super) fn has_holds(&self) -> bool {
        self.lanes.iter().any(|lane| !lane.holds.is_empty())
    }

    /// Whether the records contain anything that only protocols with leases have.
    pub(super) fn has_leases(&self) -> bool {
        self.has_holds() || self.messages.iter().any(|message| message.kind.is_none())
    }

    /// How a message looks; a quiet one has no look of its own.
    pub(super) fn look(&self, message: &Message) -> Option<Look> {
        message.kind.map(|kind| self.looks[kind])
    }

    /// The name of a message's kind.
    pub(super) fn kind(&self, message: &Message) -> &str {
        message.kind.map_or(message.quiet, |kind| &self.kinds[kind])
    }
}

/// The records up to `until`, sorted by time.
pub(super) fn in_order(records: &[Record], until: Option<SimTime>) -> Vec<&Record> {
    let last = until.unwrap_or(SimTime::NEVER);
    let mut records: Vec<&Record> = records.iter().filter(|record| record.t <= last).collect();
    records.sort_by_key(|record| record.t);
    records
}

/// The interval to show: from zero, unless that would leave most of the picture empty.
fn stretch(records: &[&Record], until: Option<SimTime>) -> (u64, u64) {
    let nanos = |record: &&Record| record.t.as_nanos();
    let first = records.first().map_or(0, nanos);
    let last = until.map_or_else(|| records.last().map_or(0, nanos), SimTime::as_nanos);
    let from = if first <= last.saturating_sub(first) { 0 } else { first };
    // A belief that changes at the very end must be visible.
    let believes = |record: &&Record| matches!(record.event, Event::Leadership { .. });
    let late = records.iter().rev().take_while(|record| record.t.as_nanos() == last).any(believes);
    let more = if until.is_none() && late { (last - from) / 20 } else { 0 };
    let last = last.saturating_add(more);
    // A run of a single moment still needs an axis.
    (from, if last > from { last } else { from.saturating_add(1_000_000_000) })
}

/// The processes that get a lane, and how many do not. Processes with greater ids are preferred,
/// because they decide elections by id.
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

/// Matches a reception to its sending. Numbers start again after a restart, so they are not
/// sufficient. Time comes first, so that messages are sorted by sending.
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
    /// Sorted.
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
                return; // a process may lose a message while it is down or not started
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
            // A guardian starts before its member and ends after it.
            Event::Guardian(_) => return,
            Event::Work { work, .. } => return self.lanes[lane].work(at, *work),
            Event::Timer { .. } | Event::Store { .. } => {}
            life => self.live(lane, at, life),
        }
        self.lanes[lane].begin(self.from, Phase::Up);
    }

    /// Applies an event of the process itself.
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
        // Processes that run when the picture begins need no start mark.
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
        let (marks, looks, kinds) = (self.marks, kinds::looks(&self.kinds), self.kinds);
        Story { from, to, lanes, left_out, messages, marks, kinds, looks, leaders }
    }
}

/// The name of a kind of message that says only that its sender lives. Such are drawn in the
/// background, and use none of the colours of the others.
fn quiet(kind: &str) -> Option<&'static str> {
    let known = message_kind(kind)?;
    (known.purpose == Purpose::SignOfLife).then_some(known.name)
}

/// Assigns colours to leaders. There are fewer colours than possible leaders, so those followed for
/// longest get their own. Provisional beliefs do not count, because at first every process names
/// itself.
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

/// Merges every span shorter than `finest` nanoseconds into the next one.
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
