//! Reads the runs of the command from the guardians' traces.
//!
//! **Source.** [`Work`]: a run is recorded before it starts and closed when no process of it is
//! left, with the times between which it certainly ran.
//!
//! **Assumptions.** A member's process starts another guardian only when no process of the earlier
//! one's command is left. Another process of the same member cannot know that: if member and
//! guardian were both killed, the end of the command is unknown.
//!
//! **Promise.** Each run has its longest and shortest possible duration.

use super::read::{BadTrace, Line, Trace};
use bellwether_core::{Event, NodeId, SimTime, Watcher, Work};
use std::collections::BTreeMap;

/// One guardian, from its first record to its last.
#[derive(Clone, Debug)]
pub(super) struct Guardian<'a> {
    pub(super) node: NodeId,
    pub(super) head: &'a Watcher,
    pub(super) file: &'a str,
    pub(super) runs: Vec<Run>,
    /// Its last record.
    pub(super) last: SimTime,
    /// Whether it recorded its end.
    pub(super) done: bool,
}

/// One run of the command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Run {
    pub(super) number: u64,
    pub(super) pid: Option<u32>,
    /// The earliest start.
    pub(super) starts: SimTime,
    /// The latest end; absent if unknown.
    pub(super) ended: Option<SimTime>,
    /// When it was first and last seen running, if it was.
    pub(super) seen: Option<(SimTime, SimTime)>,
    /// The line of its record.
    pub(super) line: usize,
}

impl Run {
    /// The latest end.
    pub(super) fn over(&self) -> SimTime {
        self.ended.unwrap_or(SimTime::NEVER)
    }

    /// The run in words, with its process id where it is known.
    pub(super) fn words(&self, node: NodeId) -> String {
        let pid = self.pid.map_or_else(String::new, |pid| format!(", pid {pid}"));
        format!("run {} of process {node}'s command{pid}", self.number)
    }
}

/// All guardians, in the order of the files.
///
/// # Errors
/// [`BadTrace`] if a record has no guardian, or time goes back.
pub(super) fn guardians(traces: &[Trace]) -> Result<Vec<Guardian<'_>>, BadTrace> {
    let mut all: Vec<Guardian<'_>> = Vec::new();
    for trace in traces {
        // By member and the time of the first record: if a member restarts while the earlier
        // guardian still ends the command, the lines of two guardians are mixed.
        let mut present: BTreeMap<(NodeId, SimTime), usize> = BTreeMap::new();
        for line in &trace.lines {
            let (node, t) = (line.record.node, line.record.t);
            let bad = |problem: String| BadTrace::at(&trace.name, line.number, problem);
            match &line.record.event {
                Event::Guardian(head) => {
                    for index in present.range((node, SimTime::ZERO)..=(node, t)).map(|it| *it.1) {
                        all[index].is_followed_by(head, t);
                    }
                    if present.insert((node, t), all.len()).is_some() {
                        return Err(bad(format!("a guardian of process {node} begins twice")));
                    }
                    let (file, runs) = (trace.name.as_str(), Vec::new());
                    all.push(Guardian { node, head, file, runs, last: t, done: false });
                }
                Event::Work { guardian, work } => {
                    let index = present.get(&(node, *guardian)).ok_or_else(|| {
                        bad(format!("no guardian of process {node} began at {guardian}"))
                    })?;
                    all[*index].hear(line, *work).map_err(bad)?;
                }
                _ => {}
            }
        }
    }
    Ok(all)
}

impl Guardian<'_> {
    /// The file and line of a run.
    pub(super) fn place(&self, run: &Run) -> String {
        format!("{}:{}", self.file, run.line)
    }

    /// Notes that another guardian begins. If it is of the same process, the last run was over by
    /// then.
    fn is_followed_by(&mut self, next: &Watcher, t: SimTime) {
        if (&next.boot, next.since) == (&self.head.boot, self.head.since)
            && let Some(run) = self.runs.last_mut()
        {
            run.ended.get_or_insert(t);
        }
    }

    fn hear(&mut self, line: &Line, work: Work) -> Result<(), String> {
        let t = line.record.t;
        if t < self.last || t == SimTime::NEVER {
            return Err(format!(
                "{t} is earlier than the line before it; the file is not as it was recorded"
            ));
        }
        self.last = t;
        let open = self.runs.last_mut().filter(|run| run.ended.is_none());
        match (work, open) {
            (Work::Starts { run }, None) => {
                let (number, line) = (run, line.number);
                let (pid, ended, seen) = (None, None, None);
                self.runs.push(Run { number, pid, starts: t, ended, seen, line });
            }
            (Work::Ended { run, pid, from, to }, Some(open)) if run == open.number => {
                (open.pid, open.ended, open.line) = (pid, Some(t), line.number);
                let seen = from.zip(to);
                open.seen = seen.filter(|(a, b)| open.starts <= *a && a <= b && *b <= t);
            }
            (Work::Done, None) => self.done = true,
            (_, Some(open)) => {
                return Err(format!("run {} has no end before this line", open.number));
            }
            (_, None) => return Err("a run ends that did not start".to_owned()),
        }
        Ok(())
    }
}
