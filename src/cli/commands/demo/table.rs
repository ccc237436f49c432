//! The result: a table, a picture and the proof for people; one object for programs.

use super::place::{again, picture};
use super::proof::Proof;
use super::story::{Failover, Story, ms};
use super::timeline;
use crate::cli::output::Rows;
use bellwether::check::live::{Gap, Outcome, Ruling};
use bellwether::core::Duration;
use bellwether::protocols::local_leader::Params;
use serde_json::{Map, Value, json};
use std::path::Path;

/// The whole result.
#[derive(Debug)]
pub(super) struct Report<'a> {
    pub(super) preset: &'a str,
    pub(super) seed: u64,
    pub(super) params: &'a Params,
    pub(super) story: &'a Story,
    pub(super) proof: &'a Proof,
    pub(super) pids: &'a [u32],
    pub(super) seconds: f64,
    /// Where the records are, if they are kept.
    pub(super) kept: Option<&'a Path>,
}

impl Report<'_> {
    pub(super) fn for_people(&self, columns: usize) -> String {
        let header = ["what", "old leader", "new leader", "took", "at most"];
        let rows = Rows::of(header, self.story.failovers.iter().map(row));
        let mut parts = vec![String::new(), rows.to_text(), String::new()];
        if let Ok(lanes) = self.proof.lanes() {
            parts.extend([timeline::draw(&lanes, columns), String::new()]);
        }
        parts.push(self.sentence());
        parts.extend(self.doubts());
        parts.push(match self.kept {
            Some(dir) => format!("picture: {}\nagain:   {}", picture(dir).display(), again(dir)),
            None => "To keep the records and a picture: bellwether demo --out DIR".to_owned(),
        });
        parts.join("\n")
    }

    /// The proof, or what is wrong.
    fn sentence(&self) -> String {
        let proof = self.proof;
        let judged = format!("{} records of {} lives", proof.records(), proof.lives());
        if !proof.is_complete() {
            let mut text = format!("NOT PROVED, by {judged}:");
            for Ruling { invariant, outcome, .. } in proof.rulings() {
                match outcome {
                    Outcome::Holds => {}
                    Outcome::Violated { text: seen, place, .. } => {
                        text += &format!("\n  {invariant} is violated: {seen}, after {place}");
                    }
                    Outcome::Undecidable(why) => text += &format!("\n  {invariant}: {why}"),
                }
            }
            return text;
        }
        let gap = match proof.gap() {
            Some(Gap::Free(gap)) => format!(", at least {} ms apart", ms(gap)),
            Some(Gap::Overlap(_)) | None => String::new(),
        };
        let held = proof.rulings().iter().filter(|r| r.outcome == Outcome::Holds).count();
        format!(
            "No two ever led at once: {} reigns{gap}, in {judged}; {held} invariants hold.",
            proof.reigns().len()
        )
    }

    /// What could not be judged because the machine was slow.
    fn doubts(&self) -> Option<String> {
        let (stall, sigma) = (self.proof.stall, self.params.sigma());
        (!self.proof.is_timed()).then(|| {
            format!(
                "Timeliness was not checked: this machine delayed a thread by {} ms, and preset {} \
                 allows {} ms.",
                ms(stall),
                self.preset,
                ms(sigma)
            )
        })
    }

    pub(super) fn for_programs(&self) -> Value {
        let Self { story, proof, .. } = self;
        let rulings: Map<String, Value> =
            proof.rulings().into_iter().map(|r| (r.invariant.to_owned(), self.ruling(r))).collect();
        let reigns = proof.reigns().iter().map(|reign| {
            json!({
                "leader": reign.leader.0,
                "from": reign.from.as_nanos(),
                "to": reign.to.as_nanos(),
            })
        });
        let gap = match proof.gap() {
            Some(Gap::Free(gap)) => Some(millis(gap)),
            Some(Gap::Overlap(overlap)) => Some(-millis(overlap)),
            None => None,
        };
        json!({
            "preset": self.preset,
            "seed": self.seed,
            "elected_ms": millis(story.elected),
            "failovers": story.failovers.iter().map(failover).collect::<Vec<_>>(),
            "verdict": proof.verdict(),
            "invariants": rulings,
            "records": proof.records(),
            "lives": proof.lives(),
            "reigns": reigns.collect::<Vec<_>>(),
            "smallest_gap_ms": gap,
            "stall_ms": millis(proof.stall),
            "pids": self.pids,
            "seconds": self.seconds,
            "out": self.kept.map(|dir| dir.display().to_string()),
        })
    }

    fn ruling(&self, ruling: &Ruling) -> Value {
        let (verdict, why) = match &ruling.outcome {
            Outcome::Holds => ("holds", None),
            Outcome::Violated { text, .. } => ("violated", Some(text.clone())),
            // The fault schedule was not used because the machine was slow.
            Outcome::Undecidable(why) => ("undecidable", self.doubts().or(Some(why.to_string()))),
        };
        json!({ "verdict": verdict, "looks": ruling.looks, "why": why })
    }
}

fn row(failover: &Failover) -> [String; 5] {
    let Failover { fault, old, new, took, bound } = failover;
    [
        fault.name().to_owned(),
        old.to_string(),
        new.to_string(),
        format!("{} ms", ms(*took)),
        bound.map_or_else(|| "at once".to_owned(), |bound| format!("{} ms", ms(bound))),
    ]
}

fn failover(failover: &Failover) -> Value {
    json!({
        "what": failover.fault.name(),
        "old": failover.old,
        "new": failover.new,
        "ms": millis(failover.took),
        "bound_ms": failover.bound.map(millis),
    })
}

fn millis(length: Duration) -> f64 {
    length.as_nanos() as f64 / 1e6
}
