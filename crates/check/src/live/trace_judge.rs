//! Checks a live run: recorded steps fill the rows of processes, and the invariants are checked
//! after every step and whenever a belief has ended.

use super::commands::Commands;
use super::conditions::Conditions;
use super::doubts::{Doubts, Gap, boots, gaps};
use super::lives::{Group, Life, lives};
use super::read::{BadTrace, Line, Trace};
use super::reigns::Reigns;
use super::ruling::{Outcome, Ruling, Sum, ruled};
use super::wills::Wills;
use super::works::guardians;
use crate::invariants::{Invariant, of_promise};
use crate::links::Links;
use crate::nodes::Nodes;
use crate::view::{Course, Lock, Row, VoterList};
use crate::watch::{Watch, named};
use bellwether_core::{Duration, Event, Fact, Instant, NodeId, Record, SimTime, Term};
use bellwether_protocols::promise::Promise;
use bellwether_protocols::time_scales::TimeScales;
use std::collections::BTreeSet;

/// The result of checking a live run.
#[derive(Clone, Debug)]
pub struct Judgement {
    /// The group.
    pub group: String,
    /// The protocol's name.
    pub protocol: String,
    /// The promise that was checked.
    pub promise: Promise,
    /// The members, by id.
    pub members: Vec<NodeId>,
    /// How many records there are.
    pub records: usize,
    /// How many incarnations they belong to.
    pub lives: usize,
    /// How many runs of a command.
    pub runs: usize,
    /// From the first record to the last, if all clocks agree.
    pub lasted: Option<Duration>,
    /// The leaders over time, if all clocks agree.
    pub reigns: Option<Reigns>,
    /// The result of each invariant.
    pub rulings: Vec<Ruling>,
    /// Notes for the reader.
    pub notes: Vec<String>,
}

impl Judgement {
    /// Whether anything was violated.
    pub fn violated(&self) -> bool {
        self.rulings.iter().any(|ruling| matches!(ruling.outcome, Outcome::Violated { .. }))
    }
}

/// Checks a live run by the traces of its members. Without a promise it checks the protocol's own
/// with all its invariants; otherwise the main invariants of the given one.
///
/// # Errors
/// [`BadTrace`] if the traces are not those of one group.
pub fn judge(
    traces: &[Trace],
    faults: Option<&Trace>,
    promise: Option<Promise>,
) -> Result<Judgement, BadTrace> {
    judge_until(traces, faults, promise, &|| false)
}

/// The same; `over` is asked before each event, and ends it with what was seen so far.
///
/// # Errors
/// As [`judge`].
pub fn judge_until(
    traces: &[Trace],
    faults: Option<&Trace>,
    promise: Option<Promise>,
    over: &dyn Fn() -> bool,
) -> Result<Judgement, BadTrace> {
    let all = lives(traces)?;
    let group = Group::of(&all)?;
    let own = promise.is_none();
    let members = u32::try_from(group.ids.len()).unwrap_or(u32::MAX);
    let promise = promise.unwrap_or_else(|| group.choice.promise_to(members));
    let guardians = guardians(traces)?;
    group.owns(&guardians)?;
    let (boots, gaps) = (boots(&all), gaps(&all));
    let schedule = faults.filter(|_| boots.len() == 1);
    let time_scales = group.choice.time_scales(members);
    let promised = || {
        let mut invariants = of_promise(promise, own, false);
        invariants.retain(|invariant| invariant.applies(&time_scales));
        invariants
    };
    let mut sums: Vec<Sum> = Vec::new();
    let mut reigns = None;
    for boot in &boots {
        let there: Vec<&Life<'_>> = all.iter().filter(|life| life.head.boot == **boot).collect();
        let mut judge = TraceJudge::new(&group, promised(), schedule.is_some());
        judge.note_unseen(&all, boot);
        let unknown: Vec<&Gap> = gaps.iter().filter(|gap| gap.boot == **boot).collect();
        judge.hear(&there, &unknown, schedule, over);
        sums.resize_with(judge.watch.invariants.len(), Sum::default);
        for (sum, found) in sums.iter_mut().zip(judge.findings()) {
            sum.looks += found.looks;
            sum.broken = sum.broken.take().or(found.broken);
            sum.lacks = sum.lacks.or(found.lacks);
        }
        reigns = (boots.len() == 1).then_some(judge.reigns);
    }
    let doubts = Doubts { boots: boots.len(), faults: faults.is_some(), gaps };
    let mut rulings = ruled(&promised(), sums, &doubts);
    rulings.extend(Wills::of(all.iter()).will_of_the_dead(&all));
    let commands = Commands { guardians: &guardians, lives: &all, gaps: &doubts.gaps };
    if commands.are_there() {
        rulings.extend((promise == Promise::NeverTwo).then(|| commands.one_command()));
        let leased = own && group.choice.profile().leases.is_some();
        rulings.extend(leased.then(|| commands.command_within_lease()));
    }
    let (first, last) = (all.iter().map(Life::begins).min(), all.iter().map(Life::ends).max());
    let lasted = first.zip(last).map(|(first, last)| last.since(first));
    Ok(Judgement {
        group: group.name.to_owned(),
        protocol: group.protocol.to_owned(),
        promise,
        records: traces.iter().map(|trace| trace.lines.len()).sum(),
        lives: all.len(),
        runs: guardians.iter().map(|guardian| guardian.runs.len()).sum(),
        lasted: lasted.filter(|_| boots.len() == 1),
        reigns,
        rulings,
        notes: notes(traces, &all, &group, &doubts),
        members: group.ids,
    })
}

fn notes(traces: &[Trace], lives: &[Life<'_>], group: &Group<'_>, doubts: &Doubts) -> Vec<String> {
    let mut notes = Vec::new();
    for trace in traces.iter().filter(|trace| trace.torn > 0) {
        notes
            .push(format!("{}: half a line, left by a killed process, is passed over", trace.name));
    }
    let lived = |id: &&NodeId| lives.iter().any(|life| life.node == **id);
    for id in group.ids.iter().filter(|id| !lived(id) && !doubts.was_heard(**id)) {
        notes.push(format!("process {id} left no trace and nobody heard it: taken as absent"));
    }
    notes.extend(doubts.notes());
    notes
}

/// What one process last recorded about leadership.
#[derive(Clone, Copy)]
struct Belief {
    names: Nodes,
    leads: bool,
    /// Whether the next recorded supporters replace the earlier ones.
    anew: bool,
}

const NOTHING: Belief = Belief { names: Nodes::NONE, leads: false, anew: false };

/// An event of a live run.
enum Happening<'a> {
    /// A step of a process: its records, the file, and whether the trace ends there.
    Step(u32, &'a [&'a Line], &'a str, bool),
    Fault(Option<u32>, &'a Line, &'a str),
    /// An incarnation whose trace ends.
    Silence(u32),
    /// An incarnation that others were told is over.
    Gone(u32),
    /// The last will of this incarnation was received, and it is over.
    Will(u32, u64),
    /// From now until then it is unknown what a process did.
    Doubt(u32, SimTime),
}

/// Applies the events and checks the invariants.
struct TraceJudge<'a> {
    group: &'a Group<'a>,
    time_scales: TimeScales,
    watch: Watch,
    beliefs: Vec<Belief>,
    conditions: Conditions,
    knows_faults: bool,
    reigns: Reigns,
    /// The place of each violation.
    places: Vec<String>,
    /// For each process, until when its actions are unknown.
    doubtful: Vec<SimTime>,
    /// The processes with incarnations that were not recorded with this clock.
    unseen: Vec<bool>,
    /// The life that left in the last step.
    left: Option<(u32, u64)>,
}

impl<'a> TraceJudge<'a> {
    fn new(group: &'a Group<'a>, invariants: Vec<Box<dyn Invariant>>, knows_faults: bool) -> Self {
        // Recorded runs do not contain the ranks of processes.
        let time_scales =
            TimeScales { best: false, ..group.choice.time_scales(group.ids.len() as u32) };
        let numbers = group.numbers();
        let mut watch = Watch::new(invariants);
        watch.begin(Course::new(SimTime::NEVER, Links::none(numbers), time_scales), numbers);
        watch.members = group.ids.iter().filter_map(|id| group.number(*id)).collect();
        Self {
            group,
            time_scales,
            watch,
            beliefs: vec![NOTHING; numbers as usize],
            conditions: Conditions::new(numbers),
            knows_faults,
            reigns: Reigns::default(),
            places: Vec::new(),
            doubtful: vec![SimTime::ZERO; numbers as usize],
            unseen: vec![false; numbers as usize],
            left: None,
        }
    }

    /// Notes the processes without incarnations, or with missing ones, on this clock.
    fn note_unseen(&mut self, all: &[Life<'_>], boot: &str) {
        for id in &self.group.ids {
            let mut lived = all.iter().filter(|life| life.node == *id).peekable();
            let unseen = lived.peek().is_none() || lived.any(|life| life.head.boot != boot);
            if let Some(number) = self.group.number(*id) {
                self.watch.rows[number as usize].unseen = unseen;
                self.unseen[number as usize] = unseen;
            }
        }
    }

    /// Applies all events, in order, unless it is told to give up.
    fn hear(
        &mut self,
        lives: &'a [&'a Life<'a>],
        gaps: &[&Gap],
        faults: Option<&'a Trace>,
        over: &dyn Fn() -> bool,
    ) {
        let mut happenings = happenings(self.group, lives, faults);
        doubt(self.group, gaps, &mut happenings);
        let end = happenings.last().map_or(SimTime::ZERO, |(at, _)| *at);
        for (at, happening) in happenings.into_iter().take_while(|_| !over()) {
            self.pass(at);
            let place = match happening {
                Happening::Step(node, lines, file, last) => {
                    self.step(at, node, lines);
                    (self.watch.stepped, self.watch.torn) = (Some(node), last);
                    format!("{file}:{}", lines.last().map_or(0, |line| line.number))
                }
                Happening::Fault(node, line, file) => {
                    self.fault(at, node, &line.record);
                    let crash = line.record.event == Event::Crash;
                    (self.watch.stepped, self.watch.torn) = (node.filter(|_| crash), false);
                    format!("{file}:{}", line.number)
                }
                Happening::Silence(node) => {
                    self.silence(at, node);
                    "the end of a trace".to_owned()
                }
                Happening::Gone(node) => {
                    self.gone(at, node);
                    self.disturb(at);
                    (self.watch.stepped, self.watch.torn) = (Some(node), false);
                    "a last will".to_owned()
                }
                Happening::Will(node, life) => {
                    self.watch.farewells.push((node, life));
                    continue; // whoever received it makes a step now
                }
                Happening::Doubt(node, to) => {
                    self.doubt(at, node, to);
                    "where a record is missing".to_owned()
                }
            };
            self.look(at, &place);
            self.watch.farewells.extend(self.left.take());
            self.watch.stepped = None;
        }
        let row = |id| self.group.number(id).and_then(|one| self.watch.rows.get(one as usize));
        self.reigns.close(end, |id| row(id).map_or(Instant::NEVER, |row| row.told));
    }

    /// The result of each invariant.
    fn findings(&self) -> impl Iterator<Item = Sum> {
        self.watch.invariants.iter().zip(&self.watch.tally.checks).map(|(invariant, counts)| {
            let breaches = self.watch.breaches.iter().zip(&self.places);
            let mut mine = breaches.filter(|(breach, _)| breach.invariant == invariant.name());
            let broken = mine.next().map(|(breach, place)| Outcome::Violated {
                at: breach.at,
                text: format!("{}{}", breach.text, self.group.legend()),
                place: place.clone(),
            });
            Sum { looks: counts.checks, broken, lacks: invariant.lacks() }
        })
    }

    /// Advances time: a leader whose deadline has passed no longer leads.
    fn pass(&mut self, at: SimTime) {
        loop {
            let leading = self.watch.rows.iter().filter(|row| row.alive && row.leads);
            let ends = leading.map(|row| row.ends).filter(|ends| *ends < at).min();
            let Some(ends) = ends else { break };
            self.reread(ends);
            self.look(ends, "between records");
        }
        self.reread(at);
        self.watch.pass(at);
    }

    /// Updates the rows to this moment.
    fn reread(&mut self, at: SimTime) {
        let reading = Instant::from_nanos(at.as_nanos());
        for (row, belief) in self.watch.rows.iter_mut().zip(&self.beliefs) {
            let goes_on = row.alive && reading < row.told;
            row.reading = reading;
            row.leads = goes_on && belief.leads;
            row.names = if goes_on { belief.names } else { Nodes::NONE };
        }
        self.watch.count();
    }

    fn look(&mut self, at: SimTime, place: &str) {
        self.watch.count();
        self.reigns.see(at, &self.group.members(self.watch.leaders));
        // One check finds one violation; a broken invariant is not checked again.
        for _ in 0..=self.watch.invariants.len() {
            let before = self.watch.breaches.len();
            self.watch.look(at);
            if self.watch.breaches.len() == before {
                break;
            }
            self.places.push(place.to_owned());
        }
    }

    /// Notes a change that needs time to settle.
    fn disturb(&mut self, at: SimTime) {
        let known = self.knows_faults && self.doubtful.iter().all(|until| *until <= at);
        let links = self.conditions.links().filter(|_| known);
        let calm = if links.is_some() { at } else { SimTime::NEVER };
        let links = links.unwrap_or_else(|| Links::none(self.group.numbers()));
        let resigned = self.conditions.resigned;
        let course = Course { resigned, ..Course::new(calm, links, self.time_scales) };
        self.watch.disturb(course, self.conditions.still);
    }

    fn fault(&mut self, at: SimTime, node: Option<u32>, record: &Record) {
        self.conditions.take(&record.event, node, self.group);
        if let (Event::Crash, Some(node)) = (&record.event, node) {
            self.gone(at, node);
        }
        self.disturb(at);
    }

    /// Marks a process as unknown: its last record may not be its present belief.
    fn doubt(&mut self, at: SimTime, node: u32, to: SimTime) {
        let doubtful = &mut self.doubtful[node as usize];
        *doubtful = to.max(*doubtful);
        self.gone(at, node);
        self.watch.rows[node as usize].unseen = true;
        self.disturb(at);
    }

    /// Ends the records of a process. What it believed until a deadline may bind it and others
    /// until then. A belief without one ends here: a dead process would never take it back.
    fn silence(&mut self, at: SimTime, node: u32) {
        self.conditions.still.set(node, true);
        for id in self.group.members(Nodes::only(node)) {
            self.reigns.silence(at, id);
        }
        let row = &mut self.watch.rows[node as usize];
        if row.told == Instant::NEVER {
            (row.told, row.leads, row.names) =
                (Instant::from_nanos(at.as_nanos()), false, Nodes::NONE);
        }
        self.disturb(at);
    }

    fn gone(&mut self, at: SimTime, node: u32) {
        let row = &mut self.watch.rows[node as usize];
        *row = Row { gone: Some(at), unseen: row.unseen, ..Row::ABSENT };
        self.beliefs[node as usize] = NOTHING;
        self.conditions.still.set(node, false);
    }

    /// Applies a step of one process: its records are its beliefs after it. Beliefs that it did not
    /// record stay, and an invariant reports those that should have ended.
    fn step(&mut self, at: SimTime, node: u32, lines: &[&Line]) {
        if at < self.doubtful[node as usize] {
            return;
        }
        let mut acted = false;
        for line in lines {
            acted |= match &line.record.event {
                Event::Begin(_) => self.begin(at, node),
                Event::Leave => {
                    let life = self.watch.rows[node as usize].account.life;
                    self.left = life.map(|life| (node, life));
                    self.gone(at, node);
                    self.disturb(at);
                    return;
                }
                Event::Command { command, taken } => self.command(at, command, *taken),
                Event::Peers { .. } => {
                    self.disturb(at);
                    false
                }
                Event::Recv { .. } | Event::Timer { .. } => true,
                said => self.said(at, node, said),
            };
        }
        let (row, belief) = (&mut self.watch.rows[node as usize], &self.beliefs[node as usize]);
        if acted {
            (row.names, row.leads) = (belief.names, belief.leads);
        }
        if row.leads {
            row.ends = SimTime::from_nanos(row.told.as_nanos());
        }
    }

    fn begin(&mut self, at: SimTime, node: u32) -> bool {
        let row = &mut self.watch.rows[node as usize];
        // An incarnation that was not recorded may have made promises until its end.
        let doubtful = std::mem::replace(&mut self.doubtful[node as usize], SimTime::ZERO);
        let gone = if row.alive || doubtful != SimTime::ZERO { Some(at) } else { row.gone };
        let (reading, unseen) = (Instant::from_nanos(at.as_nanos()), self.unseen[node as usize]);
        *row = Row { alive: true, gone, reading, unseen, ..Row::ABSENT };
        self.beliefs[node as usize] = NOTHING;
        self.conditions.still.set(node, false);
        self.disturb(at);
        true
    }

    fn command(&mut self, at: SimTime, command: &str, taken: bool) -> bool {
        if taken {
            self.conditions.resigned |= !command.starts_with("Campaign");
            self.disturb(at);
        }
        taken
    }

    /// Applies a record of a process; returns whether it changes the belief.
    fn said(&mut self, at: SimTime, node: u32, event: &Event) -> bool {
        let (row, belief) = (&mut self.watch.rows[node as usize], &mut self.beliefs[node as usize]);
        let number = |id: &NodeId| self.group.number(*id);
        match event {
            Event::Leadership { leaders, term, until, stage } => {
                let (names, leads) = named(leaders.iter().filter_map(number), *stage, node);
                *belief = Belief { names, leads, anew: false };
                row.told = until.unwrap_or(Instant::NEVER);
                (row.supporters, row.lock) = (Nodes::NONE, None);
                (row.account.bound, row.account.granted) = (None, None);
                (row.term, row.no_record) = (term.map_or(0, Term::number), false);
                true
            }
            Event::Fact(Fact::Held { until }) => {
                (row.told, belief.anew) = (*until, true);
                true
            }
            Event::Fact(Fact::Supporter { peer }) => {
                if std::mem::take(&mut belief.anew) {
                    row.supporters = Nodes::NONE;
                }
                let one = number(peer).map_or(Nodes::NONE, Nodes::only);
                row.supporters = row.supporters.or(one);
                false
            }
            Event::Fact(Fact::Locked { to, until }) => {
                // A lock with an earlier end than before has ended.
                let to = number(to).unwrap_or(u32::MAX);
                row.account.bound = None;
                let former = row.lock.filter(|lock| lock.to == to && *until < lock.until);
                let ended = former.is_some() && until.as_nanos() <= at.as_nanos();
                row.lock = (!ended).then_some(Lock { to, until: *until });
                false
            }
            Event::Fact(Fact::Highest { term }) => {
                row.highest = term.number();
                false
            }
            Event::Fact(fact) => {
                row.no_record = match fact {
                    Fact::NoRecord => true,
                    Fact::Record { .. } => false,
                    _ => row.no_record,
                };
                if matches!(fact, Fact::Bound { .. }) {
                    row.lock = None;
                }
                row.account.note(*fact, |id| number(&id).unwrap_or(u32::MAX));
                VoterList::hear(&mut row.list, fact, number);
                false
            }
            _ => false,
        }
    }
}

/// All events, sorted by time. A crash of the fault schedule counts from the last record of the
/// process, which was alive until then; or from its last will, if that was received before the
/// schedule says so. At one time, deaths come before steps.
fn happenings<'a>(
    group: &Group<'_>,
    lives: &'a [&'a Life<'a>],
    faults: Option<&'a Trace>,
) -> Vec<(SimTime, Happening<'a>)> {
    let mut all = Vec::new();
    let mut crashed: BTreeSet<usize> = BTreeSet::new();
    let wills = Wills::of(lives.iter().copied());
    for (line, file) in faults.iter().flat_map(|file| file.lines.iter().map(|line| (line, *file))) {
        let mut at = line.record.t;
        if line.record.event == Event::Crash {
            let node = line.record.node;
            let former = lives.iter().enumerate().filter(|(_, life)| life.node == node);
            let begun = former.filter(|(_, life)| life.begins() <= at);
            if let Some((index, life)) = begun.max_by_key(|(_, life)| life.begins()) {
                crashed.insert(index);
                at = wills.over(life).map_or(at, |over| at.min(over)).max(life.ends());
            }
        }
        let node = group.number(line.record.node);
        all.push((at, Happening::Fault(node, line, file.name.as_str())));
    }
    let quiet = |index: usize, life: &Life<'_>| !life.left() && !crashed.contains(&index);
    // Before all steps: the sort is stable, and who receives a will acts on a life that is over.
    for (_, life) in lives.iter().enumerate().filter(|(index, life)| quiet(*index, life)) {
        if let Some((node, over)) = group.number(life.node).zip(ended(life, lives, &wills)) {
            all.push((over, Happening::Gone(node)));
        }
    }
    for life in lives {
        if let Some((node, over)) = group.number(life.node).zip(wills.over(life)) {
            all.push((over, Happening::Will(node, life.head.incarnation)));
        }
    }
    for (index, life) in lives.iter().enumerate() {
        let Some(node) = group.number(life.node) else { continue };
        for lines in life.steps() {
            let at = lines.first().map_or(SimTime::ZERO, |line| line.record.t);
            let last =
                lines.last().map(|line| line.number) == life.lines.last().map(|it| it.number);
            all.push((at, Happening::Step(node, lines, life.file, last && !life.left())));
        }
        // It died at some moment between its last record and its will.
        let over = ended(life, lives, &wills);
        if quiet(index, life) && over.is_none_or(|over| life.ends() < over) {
            all.push((life.ends(), Happening::Silence(node)));
        }
    }
    all.sort_by_key(|(at, _)| *at);
    all
}

/// When others learnt that this incarnation is over, unless the next one had begun by then.
fn ended(life: &Life<'_>, lives: &[&Life<'_>], wills: &Wills<'_>) -> Option<SimTime> {
    let same = lives.iter().filter(|other| other.node == life.node);
    let next = same.map(|other| other.begins()).filter(|begins| *begins > life.begins()).min();
    wills.over(life).filter(|over| next.is_none_or(|next| *over < next))
}

/// Adds the gaps, after all events until then. Without earlier records a gap begins at the first
/// moment.
fn doubt(group: &Group<'_>, gaps: &[&Gap], happenings: &mut Vec<(SimTime, Happening<'_>)>) {
    let first = happenings.first().map_or(SimTime::ZERO, |(at, _)| *at);
    for gap in gaps {
        if let Some(node) = group.number(gap.node) {
            happenings.push((gap.from.max(first), Happening::Doubt(node, gap.to)));
        }
    }
    happenings.sort_by_key(|(at, _)| *at);
}
