//! The guardian's trace: when the command may have run, and when it certainly did.
//!
//! **Source.** The records of a member's trace; [`Work`] says what each means.
//!
//! **Assumptions.** Only the guardian writes to the file: member and guardian are two processes,
//! and half a line of one must not corrupt the other's. Time is `CLOCK_BOOTTIME`, as everywhere
//! here.
//!
//! **Promise.** Nothing is written while a process of the command exists, so a slow disk cannot
//! keep the guardian from ending it. A run is recorded before it starts and closed when no process
//! of it is left: if the guardian is killed in between, the trace shows a longer run than there
//! was. A write error is printed once to the standard error, and ends only the recording.

use super::Plan;
use super::alarm::now;
use crate::member::boot_id;
use bellwether_core::{Event, Instant, NodeId, Record, SimTime, Watcher, Work};
use rustix::fs::OFlags;
use rustix::process::Pid;
use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

/// The settings of a guardian's trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recording {
    /// The file, to be appended to.
    pub file: PathBuf,
    /// The group.
    pub group: String,
    /// The member.
    pub node: NodeId,
    /// When the member's process began, as in the member's own trace.
    pub since: Instant,
    /// When this guardian was requested. No process of an earlier guardian's command existed then.
    /// [`Guardian::spawn`](super::Guardian::spawn) sets it.
    pub asked: Instant,
}

impl Recording {
    /// The file beside the trace of a member: `a.1.work.jsonl` for `a.1.jsonl`.
    pub fn beside(trace: &Path, group: &str, node: NodeId, since: Instant) -> Self {
        let mut name = trace.file_stem().unwrap_or_default().to_owned();
        name.push(".work");
        if let Some(extension) = trace.extension() {
            name.push(".");
            name.push(extension);
        }
        let file = trace.with_file_name(name);
        Self { file, group: group.to_owned(), node, since, asked: since }
    }

    /// Opens the file for appending; creates it if it is missing.
    ///
    /// # Errors
    /// If it cannot be opened, or is not a regular file: a pipe could block the guardian.
    pub fn open(&self) -> io::Result<File> {
        // Without blocking: opening a pipe waits for its other end.
        let flags = OFlags::NONBLOCK.bits().cast_signed();
        let mut options = OpenOptions::new();
        let file = options.create(true).append(true).mode(0o600).custom_flags(flags);
        match file.open(&self.file) {
            Ok(file) if file.metadata()?.is_file() => Ok(file),
            Err(error) if !std::fs::metadata(&self.file).is_ok_and(|it| !it.is_file()) => {
                Err(error)
            }
            _ => {
                let error = "it is no regular file; name another one, which will be made";
                Err(io::Error::new(io::ErrorKind::InvalidInput, error))
            }
        }
    }
}

impl Plan {
    /// The same settings for a guardian that is requested now.
    pub(super) fn asked_now(&self) -> Self {
        let mut plan = self.clone();
        if let Some(recording) = &mut plan.recording {
            recording.asked = now();
        }
        plan
    }
}

/// The current run, as far as it was seen.
#[derive(Debug)]
struct Run {
    number: u64,
    seen: Option<Seen>,
}

#[derive(Clone, Copy, Debug)]
struct Seen {
    pid: u32,
    from: SimTime,
    to: SimTime,
}

/// Writes the trace of one guardian. Without a file it does nothing.
#[derive(Debug)]
pub(super) struct RunRecorder {
    file: Option<File>,
    path: PathBuf,
    node: NodeId,
    /// When it was requested, which identifies it among the guardians of the member.
    asked: SimTime,
    run: Option<Run>,
}

impl RunRecorder {
    /// Begins the trace, if one is wanted.
    pub(super) fn begin(recording: Option<&Recording>) -> Self {
        let Some(recording) = recording else {
            let (path, node, asked) = (PathBuf::new(), NodeId(0), SimTime::ZERO);
            return Self { file: None, path, node, asked, run: None };
        };
        let (path, node, asked) = (recording.file.clone(), recording.node, world(recording.asked));
        let mut run_recorder = Self { file: None, path, node, asked, run: None };
        match recording.open() {
            Ok(file) => run_recorder.file = Some(file),
            Err(error) => run_recorder.give_up(&error),
        }
        let (boot, group) = (boot_id(), recording.group.clone());
        let watcher = Watcher { boot, group, since: world(recording.since) };
        run_recorder.write(recording.asked, Event::Guardian(watcher));
        run_recorder
    }

    /// Records that the command is about to start, unless it is too late.
    pub(super) fn starts(&mut self, number: u64) {
        self.run = Some(Run { number, seen: None });
        self.record(Work::Starts { run: number });
    }

    /// Notes that a process of the command existed after this time. Nothing is written.
    pub(super) fn see(&mut self, at: Instant, leader: Pid) {
        let Some(run) = &mut self.run else { return };
        let (at, pid) = (world(at), leader.as_raw_pid().cast_unsigned());
        run.seen.get_or_insert(Seen { pid, from: at, to: at }).to = at;
    }

    /// Records that no process of the command is left, or that it was never started.
    pub(super) fn ended(&mut self) {
        let Some(Run { number, seen }) = self.run.take() else { return };
        let (pid, from, to) =
            (seen.map(|seen| seen.pid), seen.map(|seen| seen.from), seen.map(|seen| seen.to));
        self.record(Work::Ended { run: number, pid, from, to });
    }

    fn record(&mut self, work: Work) {
        self.write(now(), Event::Work { guardian: self.asked, work });
    }

    fn write(&mut self, t: Instant, event: Event) {
        let Some(file) = &mut self.file else { return };
        let begins = matches!(event, Event::Guardian(_));
        let record = Record { t: world(t), node: self.node, event };
        // A record is strings and numbers under fixed keys: it can always be written as JSON.
        let Ok(mut line) = serde_json::to_string(&record) else { return };
        line.push('\n');
        // An earlier guardian may have left half a line.
        if begins && file.metadata().is_ok_and(|it| it.len() > 0) {
            line.insert(0, '\n');
        }
        // A trace with a gap would mislead, so recording stops at the first failure.
        if let Err(error) = file.write_all(line.as_bytes()) {
            self.give_up(&error);
        }
    }

    /// Stops recording and says why, in a thread, because the standard error may block.
    fn give_up(&mut self, error: &io::Error) {
        self.file = None;
        let file = &self.path;
        let text = format!(
            "bellwether: the runs of the command of member {} are no longer recorded: cannot write \
             {}: {error}\n",
            self.node,
            file.display()
        );
        let tell = move || drop(io::stderr().write_all(text.as_bytes()));
        // Without a thread, the trace itself shows that it is incomplete.
        let _ = std::thread::Builder::new().spawn(tell);
    }
}

impl Drop for RunRecorder {
    fn drop(&mut self) {
        if self.run.is_none() {
            self.record(Work::Done);
        }
    }
}

fn world(at: Instant) -> SimTime {
    SimTime::from_nanos(at.as_nanos())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn recording(name: &str) -> Recording {
        let file = format!("bellwether-run_recorder-{}-{name}.jsonl", std::process::id());
        let trace = std::env::temp_dir().join(file);
        let recording = Recording::beside(&trace, "flock", NodeId(3), Instant::from_nanos(5));
        let _ = std::fs::remove_file(&recording.file); // a test that failed may have left one
        recording
    }

    /// The content of the file, which is removed.
    fn lines(recording: &Recording) -> Vec<Event> {
        let text = std::fs::read_to_string(&recording.file).expect("it was written");
        std::fs::remove_file(&recording.file).expect("it is there");
        let whole = text.lines().filter(|line| !line.is_empty());
        whole.filter_map(|line| serde_json::from_str::<Record>(line).ok()?.event.into()).collect()
    }

    #[test]
    fn the_file_lies_beside_the_trace_and_a_pattern_finds_both() {
        for (trace, expected) in [
            ("a/b.1.jsonl", "a/b.1.work.jsonl"),
            ("trace-1", "trace-1.work"),
            ("/x.y", "/x.work.y"),
        ] {
            let it = Recording::beside(trace.as_ref(), "g", NodeId(1), Instant::ZERO);
            assert_eq!(it.file, Path::new(expected));
        }
    }

    #[test]
    fn a_run_is_recorded_before_it_starts_and_closed_with_what_was_seen_of_it() {
        let recording = recording("run");
        let mut run_recorder = RunRecorder::begin(Some(&recording));
        run_recorder.ended(); // of a run that was never permitted
        run_recorder.starts(1);
        let before = std::fs::read_to_string(&recording.file).expect("it was written");
        assert!(before.ends_with("\"phase\":\"starts\",\"run\":1}\n"), "{before}");
        let pid = Pid::from_raw(77).expect("a number");
        [10, 12, 19].iter().for_each(|at| run_recorder.see(Instant::from_nanos(*at), pid));
        run_recorder.ended();
        run_recorder.starts(2);
        run_recorder.ended();
        drop(run_recorder);
        let at = |nanos| Some(SimTime::from_nanos(nanos));
        let works = lines(&recording);
        assert!(matches!(&works[0], Event::Guardian(it) if it.group == "flock"), "{works:?}");
        let expected = [
            Work::Starts { run: 1 },
            Work::Ended { run: 1, pid: Some(77), from: at(10), to: at(19) },
            Work::Starts { run: 2 },
            Work::Ended { run: 2, pid: None, from: None, to: None },
            Work::Done,
        ];
        let guardian = world(recording.asked);
        assert_eq!(works[1..], expected.map(|work| Event::Work { guardian, work }));
    }

    #[test]
    fn a_guardian_that_follows_one_with_half_a_line_begins_a_line_of_its_own() {
        let recording = recording("half");
        std::fs::write(&recording.file, "{\"t\":5,\"nod").expect("it can be written");
        drop(RunRecorder::begin(Some(&recording)));
        let works = lines(&recording);
        assert!(
            matches!(works[..], [Event::Guardian(_), Event::Work { work: Work::Done, .. }]),
            "{works:?}"
        );
    }

    #[test]
    fn what_is_no_regular_file_is_refused_at_once_and_costs_nothing_but_the_record() {
        let file = PathBuf::from("/dev/null");
        let recording = Recording { file, ..recording("pipe") };
        let error = recording.open().expect_err("it is no file").to_string();
        assert!(error.starts_with("it is no regular file"), "{error}");
        let mut run_recorder = RunRecorder::begin(Some(&recording));
        run_recorder.starts(1);
        run_recorder.ended();
    }
}
