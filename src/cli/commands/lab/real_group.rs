//! Five real processes on this machine, which a page can kill, pause, ask to resign and start
//! again. They are those of `bellwether demo`.
//!
//! **Promise.** One thread owns them: it starts them, acts on them and ends them, so that they end
//! with it (the kernel ends a process whose parent's thread is gone). When this is dropped, they
//! are gone. A failover is timed from the action to the moment at which the next one led, by the
//! clock that all of them read.

use crate::cli::commands::demo::cast::{Cast, MEMBERS};
use crate::cli::commands::demo::place::Place;
use crate::cli::failure::Failure;
use bellwether::core::{Duration, Instant};
use bellwether::lab::{Cannot, Demo};
use bellwether::net::clock::{BootTime, Clock};
use bellwether::protocols::local_leader::{Config, Mode, Params, Preset};
use serde_json::{Value, json};
use std::fs::File;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, Sender, TryRecvError, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};

/// The most failovers that are remembered.
const FAILOVERS_MAX: usize = 200;
/// The most bytes of records that are kept.
const RECORDS_MAX: u64 = 48 << 20;

/// What is to be done to a member.
struct Order {
    member: u64,
    what: Action,
    done: Sender<Result<(), String>>,
}

/// What can be done to a member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Action {
    Kill,
    Pause,
    Continue,
    Resign,
    Restart,
}

impl Action {
    const ALL: [(&'static str, Self); 5] = [
        ("kill", Self::Kill),
        ("pause", Self::Pause),
        ("continue", Self::Continue),
        ("resign", Self::Resign),
        ("restart", Self::Restart),
    ];

    fn name(self) -> &'static str {
        Self::ALL.iter().find(|(_, action)| *action == self).map_or("", |(name, _)| name)
    }
}

/// A leader that was disturbed, and who led next.
#[derive(Clone, Debug)]
struct Failover {
    what: &'static str,
    old: u64,
    new: u64,
    took: Duration,
    at: Instant,
    /// At most so long, where it did not hand over.
    bound: Option<Duration>,
}

/// How the group is.
#[derive(Clone, Debug, Default)]
struct State {
    /// By member: whether it is there, whether it stands still, and its process.
    members: Vec<(u64, &'static str, Option<u32>)>,
    leader: Option<u64>,
    failovers: Vec<Failover>,
    /// What went wrong by itself.
    complaint: Option<String>,
    faults: String,
    /// Whether records were forgotten, because there were too many.
    forgotten: bool,
}

/// The group.
pub(super) struct RealGroup {
    dir: PathBuf,
    records: Vec<PathBuf>,
    state: Arc<Mutex<State>>,
    orders: Mutex<Option<Sender<Order>>>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl RealGroup {
    /// Starts them.
    pub(super) fn start() -> Result<Self, Failure> {
        let config = Config { mode: Mode::Majority, ..Config::default() };
        let params = Params::try_from(config).map_err(Failure::usage)?;
        let place = Place::prepare(None)?;
        let (dir, records) = (place.dir().to_owned(), MEMBERS.map(|id| place.record(id)).to_vec());
        let state = Arc::new(Mutex::new(State::default()));
        let (orders, taken) = channel();
        let (began, begun) = channel();
        let told = Arc::clone(&state);
        let bound = params.failover() + params.stagger();
        let work = move || {
            let mut cast = match begin(&place) {
                Ok(cast) => cast,
                Err(failure) => {
                    let _ = began.send(Err(failure)); // or nobody waits for it any more
                    return;
                }
            };
            let _ = began.send(Ok(()));
            let records = MEMBERS.map(|id| place.record(id));
            let (disturbed, paused) = (None, Vec::new());
            Scene { state: &told, records, bound, disturbed, paused }.play(&mut cast, &taken);
        };
        let thread = thread::Builder::new().name("lab-demo".to_owned()).spawn(work);
        let thread = thread.map_err(|error| Failure::Io(format!("cannot start: {error}")))?;
        let started = begun.recv();
        let group = Self {
            dir,
            records,
            state,
            orders: Mutex::new(Some(orders)),
            thread: Mutex::new(Some(thread)),
        };
        match started {
            Ok(Ok(())) => Ok(group),
            Ok(Err(failure)) => Err(failure),
            Err(_) => Err(Failure::Io("the demonstration could not begin".to_owned())),
        }
    }
}

fn begin(place: &Place) -> Result<Cast<'_>, Failure> {
    let mut cast = Cast::new(place, Preset::default().name())?;
    cast.go_on();
    for id in MEMBERS {
        cast.start(id)?;
    }
    Ok(cast)
}

/// Empties these files if they have more bytes than this, together; whether they had. Who appends
/// to them goes on from their beginning.
fn forget(records: &[PathBuf], most: u64) -> bool {
    let length = |path: &PathBuf| std::fs::metadata(path).map_or(0, |it| it.len());
    if records.iter().map(length).sum::<u64>() <= most {
        return false;
    }
    for path in records {
        // One that has not begun has nothing to forget.
        let _ = File::options().write(true).open(path).and_then(|file| file.set_len(0));
    }
    true
}

/// What the thread knows that owns them.
struct Scene<'a> {
    state: &'a Mutex<State>,
    records: [PathBuf; MEMBERS.len()],
    bound: Duration,
    /// The leader that was disturbed last, until another one leads.
    disturbed: Option<(Action, u64, Instant)>,
    paused: Vec<u64>,
}

impl Scene<'_> {
    /// Obeys until nobody gives orders any more.
    fn play(&mut self, cast: &mut Cast<'_>, orders: &Receiver<Order>) {
        loop {
            match orders.try_recv() {
                Ok(Order { member, what, done }) => {
                    let answer = self.obey(cast, member, what);
                    let _ = done.send(answer); // or nobody waits for it any more
                }
                Err(TryRecvError::Disconnected) => return,
                Err(TryRecvError::Empty) => {}
            }
            for (id, why) in cast.glance() {
                cast.kill(id);
                locked(self.state).complaint = Some(why);
            }
            self.look(cast);
            if forget(&self.records, RECORDS_MAX) {
                locked(self.state).forgotten = true;
            }
        }
    }

    fn obey(&mut self, cast: &mut Cast<'_>, id: u64, what: Action) -> Result<(), String> {
        if !MEMBERS.contains(&id) {
            return Err(format!("there is no member {id}; members are 1 to {}", MEMBERS.len()));
        }
        let (there, paused) = (cast.is_there(id), self.paused.contains(&id));
        let leads = cast.leading(&self.paused) == Some(id);
        let now = BootTime.now();
        let refuse = |why: &str| Err(format!("member {id} {why}"));
        let failed = |failure: Failure| failure.to_string();
        match what {
            Action::Restart if there => return refuse("runs; kill it first"),
            Action::Restart => cast.start(id).map_err(failed)?,
            _ if !there => return refuse("is dead; restart it first"),
            Action::Pause if paused => return refuse("stands still already"),
            Action::Continue if !paused => return refuse("is not paused"),
            Action::Resign if paused => return refuse("stands still; let it continue first"),
            Action::Resign if !leads => return refuse("does not lead; ask the leader to resign"),
            Action::Kill => cast.kill(id),
            Action::Pause => cast.pause(id).map_err(failed)?,
            Action::Continue => cast.resume(id).map_err(failed)?,
            Action::Resign => cast.resign(id).map_err(failed)?,
        }
        match what {
            Action::Pause => self.paused.push(id),
            Action::Continue | Action::Kill => self.paused.retain(|other| *other != id),
            Action::Resign | Action::Restart => {}
        }
        if leads && matches!(what, Action::Kill | Action::Pause | Action::Resign) {
            self.disturbed = Some((what, id, now));
        }
        self.look(cast);
        Ok(())
    }

    /// Says how they are.
    fn look(&mut self, cast: &Cast<'_>) {
        let mut state = locked(self.state);
        if let Some((what, old, at)) = self.disturbed
            && let Some((new, led)) = cast.successor(Some(old), at)
        {
            let bound = (what != Action::Resign).then_some(self.bound);
            let took = led.since(at);
            state.failovers.push(Failover { what: what.name(), old, new, took, at, bound });
            let spare = state.failovers.len().saturating_sub(FAILOVERS_MAX);
            state.failovers.drain(..spare);
            self.disturbed = None;
        }
        state.leader = cast.leading(&self.paused);
        state.faults = cast.faults();
        state.members = MEMBERS
            .iter()
            .map(|id| {
                let word = match (cast.is_there(*id), self.paused.contains(id)) {
                    (false, _) => "dead",
                    (true, true) => "paused",
                    (true, false) => "running",
                };
                (*id, word, cast.pid(*id))
            })
            .collect();
    }
}

impl Demo for RealGroup {
    fn state(&self) -> Value {
        let State { members, leader, failovers, complaint, .. } = locked(&self.state).clone();
        let member = |member: &(u64, &str, Option<u32>)| {
            let (id, state, pid) = member;
            json!({ "id": id, "state": state, "pid": pid })
        };
        let ms = |length: Duration| length.as_nanos() as f64 / 1e6;
        let failover = |it: &Failover| {
            json!({
                "what": it.what,
                "old": it.old,
                "new": it.new,
                "ms": ms(it.took),
                "bound_ms": it.bound.map(ms),
                "t_ms": it.at.as_nanos() as f64 / 1e6,
            })
        };
        json!({
            "running": true,
            "members": members.iter().map(member).collect::<Vec<_>>(),
            "leader": leader,
            "failovers": failovers.iter().map(failover).collect::<Vec<_>>(),
            "complaint": complaint,
        })
    }

    fn dir(&self) -> PathBuf {
        self.dir.clone()
    }

    fn trace(&self) -> Result<Vec<u8>, Cannot> {
        let State { faults, forgotten, .. } = locked(&self.state).clone();
        if forgotten {
            return Err(format!(
                "the members have recorded more than {RECORDS_MAX} bytes, and the first of them \
                 are forgotten; stop the demonstration and start it again"
            ));
        }
        let mut bytes = faults.into_bytes();
        for path in &self.records {
            // A member that has not begun has recorded nothing.
            let Ok(more) = std::fs::read(path) else { continue };
            if !bytes.is_empty() && !bytes.ends_with(b"\n") {
                bytes.push(b'\n');
            }
            bytes.extend(more);
        }
        Ok(bytes)
    }

    fn act_on(&self, member: u64, what: &str) -> Result<(), Cannot> {
        let Some((_, what)) = Action::ALL.iter().find(|(name, _)| *name == what) else {
            let names = Action::ALL.map(|(name, _)| name).join(", ");
            return Err(format!(
                "nobody can '{}' a member; there are {names}",
                what.escape_debug()
            ));
        };
        let (done, answer) = channel();
        let gone = || "the demonstration has ended; start it again".to_owned();
        let order = Order { member, what: *what, done };
        let sent = locked(&self.orders).as_ref().map(|orders| orders.send(order));
        match sent {
            Some(Ok(())) => answer.recv().unwrap_or_else(|_| Err(gone())),
            _ => Err(gone()),
        }
    }

    fn end(&self) {
        drop(locked(&self.orders).take());
        let thread = locked(&self.thread).take();
        if let Some(thread) = thread {
            let _ = thread.join(); // a panic there ends them as well
        }
    }
}

impl Drop for RealGroup {
    fn drop(&mut self) {
        self.end();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn records_are_forgotten_before_they_fill_the_memory() {
        let dir = std::env::temp_dir().join(format!("bw-forget-{}", std::process::id()));
        std::fs::create_dir_all(&dir).unwrap();
        let paths = ["a", "b", "missing"].map(|name| dir.join(name));
        let opened =
            paths[..2].iter().map(|path| File::options().create(true).append(true).open(path));
        let mut files: Vec<File> = opened.map(Result::unwrap).collect();
        let mut most = 0;
        for round in 0..100 {
            for file in &mut files {
                file.write_all(&[b'x'; 10]).unwrap();
            }
            let length: u64 = paths[..2].iter().map(|it| it.metadata().unwrap().len()).sum();
            most = most.max(length);
            assert_eq!(forget(&paths, 100), length > 100, "round {round}: {length} bytes");
        }
        assert_eq!(most, 120, "what is appended after that begins at the front");
        std::fs::remove_dir_all(&dir).unwrap();
    }
}
