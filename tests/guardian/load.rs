//! Load: a command that takes all processors, and a machine on which others do. Nothing of the
//! command runs after its permission, with the margins of the shortest leases.
//!
//! Each process of the command writes the time into a place of its own, again and again: the
//! latest of them is when the command last ran. A thread in real time sees whether the machine as
//! a whole stood still meanwhile: what it then does says nothing of the guardian, and is repeated.
//! If it stood still too often the test fails with a line that `tests/steady` knows, and which runs
//! it again.

use crate::machine;
use crate::member::{Member, PLAIN, Setup, WITHOUT_CGROUP, cgroups_can_be_made, now};
use bellwether_core::{Duration, Instant};
use bellwether_net::priority::{Children, Class, raise};
use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;

/// The margin and the grace of preset `fast`.
const SHORT: Setup =
    Setup { margin: Duration::from_millis(5), grace: Duration::from_millis(5), ..PLAIN };
/// Long enough to start forty processes on a busy machine.
const LEASE: u64 = 8000;
/// So many runs must be seen.
const RUNS: u32 = 2;
/// So many are tried at most, on a machine that stands still now and then.
const TRIES: u32 = 6;
/// A machine that stands still for longer keeps no promise of five milliseconds.
const STALL: Duration = Duration::from_micros(1500);

/// What the commands of these tests start: it spins, and says when it last ran.
#[test]
#[ignore = "it is what the commands of other tests start"]
fn spins() {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let (Some(place), Some(path)) = (number("PLACE"), std::env::var_os("MARKS")) else { return };
    let marks = File::options().write(true).open(path).expect("the file is there");
    let end = now() + Duration::from_secs(40); // whatever becomes of the test
    while now() < end {
        marks.write_all_at(&now().as_nanos().to_le_bytes(), place * 8).expect("there is room");
    }
}

/// A command of so many processes that spin and ignore SIGTERM.
fn spinners(count: u32) -> String {
    format!(
        "exec 9>$LIFE; trap '' TERM; export MARKS=$LIFE.marks PLACE=0; : >$MARKS
        while [ $PLACE -lt {count} ]; do
            $THIS --exact load::spins --ignored >/dev/null & PLACE=$((PLACE+1))
        done; echo up >&9; wait"
    )
}

/// When any of the command's processes last ran, and how many did.
fn last_ran(member: &Member) -> (Instant, usize) {
    let marks = fs::read(member.folder.join("life.marks")).expect("it is there");
    let times = marks.chunks_exact(8).map(|it| it.try_into().map_or(0, u64::from_le_bytes));
    let times: Vec<u64> = times.filter(|time| *time > 0).collect();
    (Instant::from_nanos(times.iter().copied().max().unwrap_or(0)), times.len())
}

/// Measures how long the machine stands still: a thread in real time that should run every half
/// millisecond.
fn stalls<T>(work: impl FnOnce() -> T) -> (T, Duration) {
    let (over, worst) = (AtomicBool::new(false), AtomicU64::new(0));
    let done = thread::scope(|scope| {
        scope.spawn(|| {
            let _ = raise(Class::RealTime, Children::Normal);
            while !over.load(Ordering::Relaxed) {
                let before = now();
                thread::sleep(std::time::Duration::from_micros(500));
                let late = now().since(before + Duration::from_micros(500));
                worst.fetch_max(late.as_nanos(), Ordering::Relaxed);
            }
        });
        let done = work();
        over.store(true, Ordering::Relaxed);
        done
    });
    (done, Duration::from_nanos(worst.into_inner()))
}

/// One run without an extension, to its end. If the machine stood still meanwhile it says nothing:
/// then the error is for how long.
fn run(setup: Setup, count: u32) -> Result<(), Duration> {
    let mut member = Member::set_up(setup, &spinners(count));
    let until = member.permit(LEASE);
    member.expect_started();
    member.expect_up(1);
    while now() < until - Duration::from_millis(300) {
        thread::sleep(std::time::Duration::from_millis(20));
    }
    let (gone, stall) = stalls(|| member.gone());
    let (last, processes) = last_ran(&member);
    println!(
        "{processes} processes ran until {} before the end, all gone {} after that, stall {stall}",
        until.since(last),
        gone.since(last)
    );
    assert!(processes > 0 && until.since(last) < Duration::from_secs(1), "it spun until then");
    if stall > STALL {
        return Err(stall);
    }
    assert!(last < until, "it ran {} too long, stall {stall}", last.since(until));
    if setup.before.is_empty() && cgroups_can_be_made() {
        // However long it took the killed ones to be gone, the guardian is not thought lost.
        member.expect("report Ended");
    }
    Ok(())
}

/// Runs a command of so many processes while so many others spin.
fn runs(setup: Setup, count: u32, others: u32) {
    let _turn = machine::load();
    let _load = Load::start(others);
    let (mut seen, mut longest) = (0, Duration::ZERO);
    for _ in 0..TRIES {
        match run(setup, count) {
            Ok(()) => seen += 1,
            Err(stall) => longest = longest.max(stall),
        }
        if seen == RUNS {
            return;
        }
    }
    panic!(
        "undecided: the machine stood still for {:.4} s; only {seen} of {RUNS} runs of {TRIES} \
         could be judged",
        longest.as_secs_f64()
    );
}

/// Processes that spin, and end with the test.
struct Load(Vec<Child>);

impl Load {
    fn start(count: u32) -> Self {
        let spin = || {
            let mut command = Command::new("sh");
            command.args(["-c", "while :; do :; done"]).stdin(Stdio::null());
            command.spawn().expect("there is a shell")
        };
        Self((0..count).map(|_| spin()).collect())
    }
}

impl Drop for Load {
    fn drop(&mut self) {
        for process in &mut self.0 {
            let _ = process.kill();
            let _ = process.wait();
        }
    }
}

#[test]
fn a_command_of_forty_spinning_processes_does_not_run_after_its_permission() {
    runs(SHORT, 40, 0);
}

#[test]
fn nor_does_it_without_a_cgroup() {
    let setup = Setup { before: WITHOUT_CGROUP.before, ..SHORT };
    if setup.is_possible() {
        runs(setup, 40, 0);
    }
}

#[test]
fn on_a_machine_with_a_load_of_twenty_a_command_does_not_run_after_its_permission() {
    runs(SHORT, 8, 20);
}
