//! The reigns that leaders recorded themselves.

use super::clocks::{Timeline, shifted};
use super::{End, Reign, Wills};
use bellwether_core::{Event, Fact, Instant, NodeId, Stage, Term};

/// All reigns of all members, by member.
pub(super) fn reigns(line: &Timeline<'_>, wills: &Wills) -> Vec<Reign> {
    let mut all = Vec::new();
    for (id, records) in &line.members {
        let mut reader = Reader::new(*id, line, wills);
        for (at, event) in records {
            reader.read(*at, event);
        }
        reader.stop(End::Silent);
        all.extend(reader.past);
    }
    all
}

/// A reign that goes on.
#[derive(Clone, Copy)]
struct Present {
    from: u64,
    /// When it ends unless it is renewed.
    until: u64,
    term: Option<u64>,
}

/// One member while its records are read.
struct Reader<'a> {
    id: NodeId,
    line: &'a Timeline<'a>,
    wills: &'a Wills,
    life: u64,
    /// What has to be added to readings of its clock.
    add: i128,
    present: Option<Present>,
    /// The time of the last record.
    last: u64,
    /// The command that was given last and taken, and when.
    command: Option<(u64, End)>,
    /// Whether it was told not to be a candidate.
    unfit: bool,
    past: Vec<Reign>,
}

impl<'a> Reader<'a> {
    fn new(id: NodeId, line: &'a Timeline<'a>, wills: &'a Wills) -> Self {
        let (life, add, present, last, command) = (0, 0, None, 0, None);
        let (unfit, past) = (false, Vec::new());
        Self { id, line, wills, life, add, present, last, command, unfit, past }
    }

    fn read(&mut self, at: u64, event: &Event) {
        match event {
            Event::Begin(head) => {
                self.stop(End::Killed);
                (self.life, self.unfit) = (head.incarnation, false);
                self.add = self.line.shifts.get(&(self.id, self.life)).copied().unwrap_or(0);
            }
            Event::Command { command, taken: true } => {
                if command.starts_with("Candidacy") {
                    self.unfit = command.contains("witness: true");
                }
                let end = meant(command).map(|end| match end {
                    End::Resigned if self.unfit => End::Unfit,
                    end => end,
                });
                self.command = end.map(|end| (at, end));
            }
            Event::Leadership { leaders, term, until, stage } => {
                let leads = *stage == Stage::Decided && leaders.contains(&self.id);
                let other = leaders.iter().find(|leader| **leader != self.id);
                self.believes(at, leads, (*until, *term), other.filter(|_| !leads).copied());
            }
            Event::Fact(Fact::Held { until }) => {
                let until = self.moment(*until);
                self.present.iter_mut().for_each(|present| present.until = until);
            }
            Event::Leave => self.end(at, End::Left),
            Event::Withdraw { why } => self.end(at, End::Withdrew(why.to_string())),
            Event::Collected { .. } => {
                let runs = self.present.is_some_and(|present| at < present.until);
                self.end(at, if runs { End::Leads } else { End::Lapsed });
            }
            _ => {}
        }
        self.last = at;
    }

    fn moment(&self, until: Instant) -> u64 {
        if until == Instant::NEVER { u64::MAX } else { shifted(until.as_nanos(), self.add) }
    }

    fn believes(
        &mut self,
        at: u64,
        leads: bool,
        (until, term): (Option<Instant>, Option<Term>),
        other: Option<NodeId>,
    ) {
        let lapsed = self.present.is_some_and(|present| present.until <= at);
        if !leads || lapsed {
            let commanded = self.command.take().filter(|(then, _)| *then == at);
            let why = match (commanded, other) {
                (Some((_, end)), _) => end,
                _ if lapsed => End::Lapsed,
                (None, Some(other)) => End::Preempted(other),
                (None, None) => End::GaveUp,
            };
            self.end(at, why);
        }
        if leads {
            let until = self.moment(until.unwrap_or(Instant::NEVER));
            let from = self.present.map_or(at, |present| present.from);
            self.present = Some(Present { from, until, term: term.map(Term::number) });
        }
    }

    /// Ends the reign, if there is one.
    fn end(&mut self, at: u64, end: End) {
        let Some(Present { from, until, term }) = self.present.take() else { return };
        let (leader, to) = (self.id, at.min(until));
        self.past.push(Reign { leader, from, to, bound: to, term, end, own: true });
    }

    /// Ends the reign with the last record of its life.
    fn stop(&mut self, end: End) {
        let Some(Present { from, until, term }) = self.present.take() else { return };
        let will = self.wills.get(&(self.id, self.life)).copied();
        let to = self.last.min(until);
        // Without a lease nobody waits; after a last will nobody has to.
        let bound = if until == u64::MAX { to } else { will.map_or(until, |will| until.min(will)) };
        let end = if will.is_some() { End::Killed } else { end };
        let (leader, bound) = (self.id, bound.max(to));
        self.past.push(Reign { leader, from, to, bound, term, end, own: true });
    }
}

/// What a command means for a leader that takes it.
fn meant(command: &str) -> Option<End> {
    let digits = |text: &str| text.chars().filter(char::is_ascii_digit).collect::<String>();
    match command.split('(').next()? {
        "Resign" => Some(End::Resigned),
        "Leave" => Some(End::Left),
        "Transfer" => digits(command).parse().ok().map(|to| End::Transferred(NodeId(to))),
        _ => None,
    }
}
