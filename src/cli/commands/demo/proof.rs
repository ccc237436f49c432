//! The proof: the verdict of `bellwether check --trace` on what the members recorded.
//!
//! It judges twice. Without the fault schedule a killed leader counts as leading until its lease
//! ends: the stricter view, by which reigns are counted and gaps measured. With the schedule it
//! can also say whether leaders came in time, provided that the machine kept up.

use super::cast::MEMBERS;
use super::place::Place;
use super::timeline::{Lane, Span, State};
use crate::cli::failure::Failure;
use bellwether::check::live::{
    BadTrace, Gap, Judgement, Outcome, Reign, Ruling, Trace, judge, lives, merged,
};
use bellwether::core::{Duration, Event, Record, SimTime};
use bellwether::protocols::local_leader::Params;
use std::fs;

/// The invariant that the demonstration is about.
const NEVER_TWO: &str = "never-two";

/// The verdicts on the run.
#[derive(Debug)]
pub(super) struct Proof {
    traces: Vec<Trace>,
    faults: Trace,
    strict: Judgement,
    /// All of it, if it could be judged whether leaders came in time.
    timed: Option<Judgement>,
    /// How late the machine let a thread wake.
    pub(super) stall: Duration,
}

impl Proof {
    /// Reads the records and judges them.
    pub(super) fn find(
        place: &Place,
        faults: &str,
        params: &Params,
        stall: Duration,
    ) -> Result<Self, Failure> {
        let read = |id: u64| {
            let path = place.record(id);
            let bytes = fs::read(&path).map_err(|error| Failure::io("read", &path, &error))?;
            Trace::parse(&path.display().to_string(), &bytes).map_err(bad)
        };
        let traces = MEMBERS.into_iter().map(read).collect::<Result<Vec<Trace>, Failure>>()?;
        let faults = Trace::parse("the fault schedule", faults.as_bytes()).map_err(bad)?;
        let strict = judge(&traces, None, None).map_err(bad)?;
        let kept_up = stall <= params.sigma();
        let timed =
            kept_up.then(|| judge(&traces, Some(&faults), None)).transpose().map_err(bad)?;
        Ok(Self { traces, faults, strict, timed, stall })
    }

    /// Whether nothing was violated, and it is certain that no two led at once.
    pub(super) fn is_complete(&self) -> bool {
        self.verdict() == "holds"
    }

    /// The verdict in a word.
    pub(super) fn verdict(&self) -> &'static str {
        let never_two =
            |ruling: &Ruling| ruling.invariant == NEVER_TWO && ruling.outcome == Outcome::Holds;
        if self.timed.iter().chain([&self.strict]).any(Judgement::violated) {
            "violated"
        } else if self.strict.rulings.iter().any(never_two) {
            "holds"
        } else {
            "undecidable"
        }
    }

    /// The ruling of each invariant: of two decisions the worse one; a decision rather than a
    /// doubt.
    pub(super) fn rulings(&self) -> Vec<&Ruling> {
        let Some(timed) = &self.timed else { return self.strict.rulings.iter().collect() };
        let pairs = self.strict.rulings.iter().zip(&timed.rulings);
        pairs
            .map(|(strict, timed)| match strict.outcome {
                Outcome::Violated { .. } => strict,
                Outcome::Holds if timed.outcome == Outcome::Holds => strict,
                Outcome::Holds | Outcome::Undecidable(_) => timed,
            })
            .collect()
    }

    /// Whether it could be judged if leaders came in time.
    pub(super) fn is_timed(&self) -> bool {
        self.timed.is_some()
    }

    /// How many records were looked at.
    pub(super) fn records(&self) -> usize {
        self.strict.records
    }

    /// How many lives they record.
    pub(super) fn lives(&self) -> usize {
        self.strict.lives
    }

    /// Who led when.
    pub(super) fn reigns(&self) -> &[Reign] {
        self.strict.reigns.as_ref().map_or(&[], |reigns| &reigns.past)
    }

    /// The smallest gap between the reigns of two leaders.
    pub(super) fn gap(&self) -> Option<Gap> {
        self.strict.reigns.as_ref()?.smallest_gap()
    }

    /// All as one trace.
    pub(super) fn merged(&self) -> Vec<Record> {
        merged(self.traces.iter().chain([&self.faults]))
    }

    /// What each member did when, for a picture.
    pub(super) fn lanes(&self) -> Result<Vec<Lane>, Failure> {
        let lives = lives(&self.traces).map_err(bad)?;
        let mut lanes = Vec::new();
        for id in MEMBERS {
            let mut spans: Vec<Span> = Vec::new();
            let mut died: Option<SimTime> = None;
            for life in lives.iter().filter(|life| life.node.0 == id) {
                let span = |state, from, to| Span { state, from, to };
                spans.extend(died.map(|died| span(State::Dead, died, life.begins())));
                spans.push(span(State::Follows, life.begins(), life.ends()));
                died = Some(life.ends());
            }
            let own = self.reigns().iter().filter(|reign| reign.leader.0 == id);
            spans.extend(own.map(|r| Span { state: State::Leads, from: r.from, to: r.to }));
            spans.extend(self.pauses(id));
            lanes.push(Lane { id, spans });
        }
        Ok(lanes)
    }

    fn pauses(&self, id: u64) -> Vec<Span> {
        let mut spans = Vec::new();
        let mut since = None;
        let records = self.faults.lines.iter().map(|line| &line.record);
        for record in records.filter(|record| record.node.0 == id) {
            match record.event {
                Event::Pause => since = Some(record.t),
                Event::Resume => {
                    let paused = |from| Span { state: State::Paused, from, to: record.t };
                    spans.extend(since.take().map(paused));
                }
                _ => {}
            }
        }
        spans
    }
}

fn bad(trace: BadTrace) -> Failure {
    Failure::Io(trace.to_string())
}
