//! The fault schedule: what befell whom and when, for the judge.
//!
//! **Promise.** What stops something is written with the instant after it was done, what lets
//! something go on with the instant before: between the two a member may do either.

use super::clock::now;
use bellwether::core::{Event, Instant, NodeId, Record, SimTime};
use std::fs::File;
use std::io::Write;

/// A file of records, one line each.
pub(crate) struct Faults {
    path: String,
    file: File,
}

impl Faults {
    pub(crate) fn new(path: String) -> Self {
        let file = File::create(&path).expect("the folder can be written");
        Self { path, file }
    }

    pub(crate) fn path(&self) -> &str {
        &self.path
    }

    /// Does something, writes it down, and says when it began.
    pub(crate) fn befall(&mut self, id: u64, event: Event, act: impl FnOnce()) -> Instant {
        let begun = now();
        act();
        let goes_on = matches!(event, Event::Resume | Event::Restart { .. });
        self.write(if goes_on { begun } else { now() }, id, event);
        begun
    }

    fn write(&mut self, at: Instant, id: u64, event: Event) {
        let record = Record { t: SimTime::from_nanos(at.as_nanos()), node: NodeId(id), event };
        let line = serde_json::to_string(&record).expect("a record is JSON");
        writeln!(self.file, "{line}").expect("the folder can be written");
    }
}
