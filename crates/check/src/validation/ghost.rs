//! The history that the model has and no process: requests with their votes, lives, leases, lists,
//! and what each process had stored when.

use super::StepReport;
use super::lists::{List, Lists};
use crate::nodes::Nodes;
use crate::view::Lengths;
use crate::view::Record;
use bellwether_core::{Duration, Instant, SimTime};
use bellwether_protocols::time_scales::TimeScales;

/// The history of a run.
#[derive(Clone, Debug)]
pub(super) struct Ghost {
    /// The members of the group.
    pub(super) group: Nodes,
    /// One for each of them, by its number; others are nobody's.
    pub(super) members: Vec<Member>,
    /// All lives that have begun, in order.
    pub(super) lives: Vec<Life>,
    /// How many steps there were: what happens at one instant has an order.
    pub(super) steps: u64,
    /// The lengths of the founding list, and of all requests if those of a list do not change. A
    /// member may have been given [another lockTime](Member::own_lock).
    pub(super) lengths: Lengths,
    /// ε.
    pub(super) error: Duration,
    /// The longest lockTime of any request.
    pub(super) longest: Duration,
    /// The lists of voters.
    pub(super) lists: Lists,
    /// Whether records, tokens and lists are promised to last.
    pub(super) tokens: bool,
    /// Whether an assumption of the model does not hold, so that nothing more can be said.
    pub(super) blind: bool,
}

/// One process.
#[derive(Clone, Debug, Default)]
pub(super) struct Member {
    /// The lockTime that it was given, if that is not the group's.
    pub(super) own_lock: Option<Duration>,
    /// Its present life, as a place in [`Ghost::lives`].
    pub(super) life: Option<usize>,
    /// When the life before ended.
    pub(super) gone: Option<SimTime>,
    pub(super) lock: Option<Held>,
    /// What it has stored; kept while it is down.
    pub(super) record: Option<Record>,
    /// The list in that record, and whether it knows that to be committed.
    pub(super) list: Option<List>,
    pub(super) sure: bool,
    pub(super) lease: Option<Lease>,
    /// The step since which its quarantine is over.
    pub(super) free: Option<u64>,
    /// For how long it was in quarantine, if this is not its first life.
    pub(super) waited: Option<Duration>,
    /// The reading at which its life began.
    pub(super) born: Option<Instant>,
    /// Of the leases that rested on its vote: the version of the newest list, and the highest token
    /// of those by that list; zero if there were none.
    pub(super) owes: (u64, u64),
    /// What it had stored when, if that matters.
    pub(super) past: Vec<Moment>,
}

/// A lock, or a quarantine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Held {
    /// The candidate, its life, and when it asked by its own clock; `None` in a quarantine.
    pub(super) to: Option<(u32, u64, Instant)>,
    /// The last reading at which it holds.
    pub(super) until: Instant,
}

/// A lease, as its holder reports it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Lease {
    pub(super) until: Instant,
    pub(super) token: u64,
    pub(super) voters: Nodes,
}

/// What others could learn of a process from a step on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Moment {
    pub(super) step: u64,
    /// The step with which its life began, if it runs.
    pub(super) life: Option<u64>,
    /// Its highest term, if it has a record.
    pub(super) highest: Option<u64>,
    /// Its list, if it has a record.
    pub(super) list: Option<List>,
}

impl Moment {
    /// Whether it has no record, or has granted nothing.
    pub(super) fn is_clean(&self) -> bool {
        self.highest.is_none_or(|term| term == 0)
    }
}

/// One life of a process.
#[derive(Clone, Debug)]
pub(super) struct Life {
    pub(super) node: u32,
    /// The step with which it began.
    pub(super) began: u64,
    /// Whether others were told that it is over: it left, or its last will was sent.
    said_farewell: bool,
    /// The number of its incarnation.
    pub(super) number: u64,
    /// Its requests, in order.
    pub(super) requests: Vec<Request>,
    /// The last request that it gave up, by its clock.
    pub(super) given_up: Option<Instant>,
    /// The highest token that it has led with; zero if it has not led.
    pub(super) led: u64,
    /// The last list that it has led by.
    pub(super) led_by: Option<List>,
}

/// A request.
#[derive(Clone, Copy, Debug)]
pub(super) struct Request {
    pub(super) at: SimTime,
    /// The reading of its candidate's clock.
    pub(super) sent: Instant,
    pub(super) term: u64,
    /// The list that its candidate held.
    pub(super) list: Option<List>,
    /// Who has granted it.
    pub(super) granted: Nodes,
    /// Whether it was given up.
    pub(super) dead: bool,
    pub(super) spans: Spans,
}

/// How long what rests on a request lasts.
#[derive(Clone, Copy, Debug)]
pub(super) struct Spans {
    /// A lock for it, by the voter's clock.
    pub(super) lock: Duration,
    /// A lease from it, by its holder's clock: lockTime(1−2ρ)−2ε.
    pub(super) lease: Duration,
    /// No lease from it runs longer than this in real time: LEASE.
    pub(super) longest: Duration,
}

impl Life {
    pub(super) fn new(node: u32, number: u64, began: u64) -> Self {
        let (requests, given_up) = (Vec::new(), None);
        let (said_farewell, led, led_by) = (false, 0, None);
        Self { node, began, said_farewell, number, requests, given_up, led, led_by }
    }

    /// Others are told that it is over: all its requests are given up.
    pub(super) fn say_farewell(&mut self) {
        self.said_farewell = true;
        self.requests.iter_mut().for_each(|request| request.dead = true);
    }

    pub(super) fn is(&self, node: u32, number: u64) -> bool {
        self.node == node && self.number == number
    }

    /// Whether a release of it names a request at this reading, or a later one. A last will names
    /// the latest that there can be.
    fn released(&self, sent: Instant) -> bool {
        self.said_farewell || self.given_up >= Some(sent)
    }
}

impl Ghost {
    pub(super) fn new(group: Nodes, time_scales: &TimeScales) -> Self {
        let TimeScales { lease: lock, drift, clock_error: error, tokens, .. } = *time_scales;
        Self {
            group,
            members: vec![
                Member::default();
                group.iter().last().map_or(0, |last| last as usize + 1)
            ],
            lives: Vec::new(),
            steps: 0,
            lengths: Lengths { lock, drift_ppm: drift / 1_000 },
            error,
            longest: lock * 2,
            lists: Lists::default(),
            tokens,
            blind: false,
        }
    }

    /// This member was given another lockTime than the group.
    pub(super) fn give_lock(&mut self, node: u32, lock: Duration) {
        if let Some(member) = self.members.get_mut(node as usize) {
            member.own_lock = Some(lock);
            self.longest = self.longest.max(lock * 2);
        }
    }

    /// The lengths by which a process counts that holds this list: those of the list, or if they
    /// are the founding ones, those that it was given.
    pub(super) fn lengths_of(&self, node: u32, list: Lengths) -> Lengths {
        let own = self.members[node as usize].own_lock.filter(|_| list == self.lengths);
        own.map_or(list, |lock| Lengths { lock, ..list })
    }

    /// For how long votes by this list bind a process: the longest lock by it, and by the one that
    /// it was made from unless it is known to be committed.
    pub(super) fn binds_for(&self, told: &StepReport<'_>, list: List) -> Duration {
        let lock = |list: List| self.lengths_of(told.node, list.lengths).lock;
        let before = self.lists.parent(list).filter(|_| !told.is_sure());
        before.map_or(lock(list), |before| lock(before).max(lock(list)))
    }

    /// How long what rests on a request with these lengths lasts.
    fn spans(&self, Lengths { lock, drift_ppm }: Lengths) -> Spans {
        const MILLION: u128 = 1_000_000;
        let drift = u128::from(drift_ppm).min(MILLION / 4);
        let (length, error) = (u128::from(lock.as_nanos()), u128::from(self.error.as_nanos()));
        let shorter = length * (MILLION - 2 * drift) / MILLION;
        let longest = (shorter.saturating_sub(error) * MILLION).div_ceil(MILLION - drift) + 1;
        let length = |nanos: u128| Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX));
        let lease = length(shorter.saturating_sub(2 * error));
        Spans { lock, lease, longest: length(longest) }
    }

    /// How long what rests on a request by this list lasts: while the list was not known to be
    /// committed, no longer than by the one before it. If both are possible, because it became
    /// known in the step that made the request, what is asked least of anybody.
    pub(super) fn spans_by(&self, told: &StepReport<'_>) -> Spans {
        let list = self.held_list(told).filter(|_| self.tokens);
        let lengths = |lengths: Lengths| self.lengths_of(told.node, lengths);
        let Some(list) = list else { return self.spans(lengths(self.lengths)) };
        let asked = lengths(list.lengths);
        let own = self.spans(asked);
        let member = &self.members[told.node as usize];
        let (knew, knows) = (member.list == Some(list) && member.sure, told.is_sure());
        // One that nobody knows yet it has just made, from its own.
        let made = member.list.filter(|_| !self.lists.is_known(list));
        let before = self.lists.parent(list).or(made);
        let Some(before) = before.map(|before| lengths(before.lengths)) else { return own };
        let open = self.spans(Lengths {
            lock: asked.lock.min(before.lock),
            drift_ppm: asked.drift_ppm.max(before.drift_ppm),
        });
        match (knew, knows) {
            (true, _) => own,
            (false, false) => open,
            (false, true) => Spans { lease: own.lease, ..open },
        }
    }

    /// The request that this life of a process made at this reading; of several the one for this
    /// term and by this list.
    pub(super) fn request(
        &mut self,
        (node, life, sent): (u32, u64, Instant),
        (term, list): (Option<u64>, Option<List>),
    ) -> Option<&mut Request> {
        let lives = self.lives.iter_mut().rev().filter(|one| one.is(node, life));
        let made = lives.flat_map(|life| {
            // They are in the order of their readings.
            let first = life.requests.partition_point(|request| request.sent < sent);
            let from_then = life.requests[first..].iter_mut();
            from_then.take_while(|request| request.sent == sent)
        });
        made.max_by_key(|request| (Some(request.term) == term, request.list == list))
    }

    /// Whether this life of a process has given up the request that it made at this reading.
    pub(super) fn released(&self, node: u32, life: u64, sent: Instant) -> bool {
        self.lives.iter().any(|one| one.is(node, life) && one.released(sent))
    }

    /// Another life than this one, for one of whose live requests this process has voted.
    pub(super) fn voted_for_another(
        &self,
        voter: u32,
        but: (u32, u64),
        at: SimTime,
    ) -> Option<u32> {
        let current = |list: List| !self.tokens || self.lists.is_current(list);
        let live = |request: &&Request| {
            let timely = !request.dead && at < request.at + request.spans.longest;
            timely && request.list.is_none_or(current)
        };
        let longest = self.longest;
        let others = self.lives.iter().filter(|life| !life.is(but.0, but.1));
        let mut voted = others.filter(|life| {
            let recent = life.requests.iter().rev();
            let mut recent = recent.take_while(|request| at < request.at + longest).filter(live);
            recent.any(|request| request.granted.contains(voter))
        });
        voted.next().map(|life| life.node)
    }

    /// Notes what others could learn of a process from now on.
    pub(super) fn remember(&mut self, told: &StepReport<'_>) {
        if !self.tokens {
            return;
        }
        let member = &mut self.members[told.node as usize];
        let life = member.life.map(|life| self.lives[life].began);
        let highest = member.record.map(|record| record.highest);
        let list = member.list;
        member.sure = told.is_sure();
        let same = |last: &Moment| (last.life, last.highest, last.list) == (life, highest, list);
        if !member.past.last().is_some_and(same) {
            member.past.push(Moment { step: self.steps, life, highest, list });
        }
    }
}

/// A record in words.
pub(super) fn words(record: Option<Record>) -> String {
    match record {
        None => "no record".to_owned(),
        Some(Record { highest: 0, .. }) => "a record without a term".to_owned(),
        Some(Record { highest, granted: None }) => format!("a record of term {highest}"),
        Some(Record { highest, granted: Some((node, life)) }) => {
            format!("a record of term {highest}, granted to life {life} of process {node}")
        }
    }
}
