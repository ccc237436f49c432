//! What the guardian records: when the command may have run, and when it certainly did.
//!
//! **Source.** The records of a member's trace; [`Work`] says what each means.
//!
//! **Assumptions.** The file is the guardian's own: member and guardian are two processes, and half
//! a line of one must not garble the other's. Time is `CLOCK_BOOTTIME`, as everywhere here.
//!
//! **Promise.** Nothing is written while something of the command is there, so a disk that stalls
//! cannot keep the guardian from ending it. A run is recorded before it starts and closed when
//! nothing is left of it: whoever is killed in between has claimed more than it did. What cannot be
//! written is told once on the standard error, and costs the record and nothing else.

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

/// Where a guardian records, and for whom.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recording {
    /// The file; what it holds is kept.
    pub file: PathBuf,
    /// The group.
    pub group: String,
    /// The member.
    pub node: NodeId,
    /// When the member's process began, as its own trace says too.
    pub since: Instant,
    /// When this guardian was asked for: nothing was left then of what a former one guarded.
    /// [`Guardian::spawn`](super::Guardian::spawn) sets it.
    pub asked: Instant,
}

impl Recording {
    /// Beside the trace of a member: `a.1.work.jsonl` for `a.1.jsonl`.
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

    /// Opens the file, to be appended to; makes it if it is not there.
    ///
    /// # Errors
    /// If it cannot be opened, or is no regular file: a pipe could hold the guardian up.
    pub fn open(&self) -> io::Result<File> {
        // Without waiting: to open a pipe waits for its other end.
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
    /// The same for a guardian that is asked for now.
    pub(super) fn asked_now(&self) -> Self {
        let mut plan = self.clone();
        if let Some(recording) = &mut plan.recording {
            recording.asked = now();
        }
        plan
    }
}

/// The run that goes on, as far as it was seen.
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

/// Writes the record of one guardian. Without a file it does nothing.
#[derive(Debug)]
pub(super) struct Diary {
    file: Option<File>,
    path: PathBuf,
    node: NodeId,
    /// When it was asked for, which tells it from others of the same member.
    asked: SimTime,
    run: Option<Run>,
}

impl Diary {
    /// Begins, if there is something to record.
    pub(super) fn begin(recording: Option<&Recording>) -> Self {
        let Some(recording) = recording else {
            let (path, node, asked) = (PathBuf::new(), NodeId(0), SimTime::ZERO);
            return Self { file: None, path, node, asked, run: None };
        };
        let (path, node, asked) = (recording.file.clone(), recording.node, world(recording.asked));
        let mut diary = Self { file: None, path, node, asked, run: None };
        match recording.open() {
            Ok(file) => diary.file = Some(file),
            Err(error) => diary.give_up(&error),
        }
        let (boot, group) = (boot_id(), recording.group.clone());
        let watcher = Watcher { boot, group, since: world(recording.since) };
        diary.write(recording.asked, Event::Guardian(watcher));
        diary
    }

    /// The command will be started now, unless it turns out to be too late.
    pub(super) fn starts(&mut self, number: u64) {
        self.run = Some(Run { number, seen: None });
        self.record(Work::Starts { run: number });
    }

    /// Something of the command was there after this time was read. Nothing is written.
    pub(super) fn see(&mut self, at: Instant, leader: Pid) {
        let Some(run) = &mut self.run else { return };
        let (at, pid) = (world(at), leader.as_raw_pid().cast_unsigned());
        run.seen.get_or_insert(Seen { pid, from: at, to: at }).to = at;
    }

    /// Nothing of the command is left, or it was never started.
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
        // A former guardian may have left half a line.
        if begins && file.metadata().is_ok_and(|it| it.len() > 0) {
            line.insert(0, '\n');
        }
        // A record with a hole would tell lies: the first failure is the end of it.
        if let Err(error) = file.write_all(line.as_bytes()) {
            self.give_up(&error);
        }
    }

    /// Records nothing more, and says why: in a thread, since whoever reads may not.
    fn give_up(&mut self, error: &io::Error) {
        self.file = None;
        let file = &self.path;
        let text = format!(
            "bellwether: when the command of member {} runs is not recorded any more: cannot write \
             {}: {error}\n",
            self.node,
            file.display()
        );
        let tell = move || drop(io::stderr().write_all(text.as_bytes()));
        // If there is no thread to be had, the record itself shows that it is not whole.
        let _ = std::thread::Builder::new().spawn(tell);
    }
}

impl Drop for Diary {
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
        let file = format!("bellwether-diary-{}-{name}.jsonl", std::process::id());
        let trace = std::env::temp_dir().join(file);
        let recording = Recording::beside(&trace, "flock", NodeId(3), Instant::from_nanos(5));
        let _ = std::fs::remove_file(&recording.file); // a test that failed may have left one
        recording
    }

    /// What the file holds, which is removed.
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
        let mut diary = Diary::begin(Some(&recording));
        diary.ended(); // of a run that was never permitted
        diary.starts(1);
        let before = std::fs::read_to_string(&recording.file).expect("it was written");
        assert!(before.ends_with("\"phase\":\"starts\",\"run\":1}\n"), "{before}");
        let pid = Pid::from_raw(77).expect("a number");
        [10, 12, 19].iter().for_each(|at| diary.see(Instant::from_nanos(*at), pid));
        diary.ended();
        diary.starts(2);
        diary.ended();
        drop(diary);
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
        drop(Diary::begin(Some(&recording)));
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
        let mut diary = Diary::begin(Some(&recording));
        diary.starts(1);
        diary.ended();
    }
}
