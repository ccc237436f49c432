//! Whether a group that is left alone keeps its leader, and what it costs.

use crate::cost::Cost;
use crate::lab::clock::{millis, now, sleep};
use crate::lab::group::{Group, Shape};
use crate::overlap;
use crate::row::Row;
use bellwether::core::{Duration, Instant};
use std::process::{Child, Command, Stdio};

/// What else the machine does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Load {
    None,
    /// A process on every core that never sleeps.
    EveryCore,
}

impl Load {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::None => "idle",
            Self::EveryCore => "loaded",
        }
    }
}

/// The processes that are the load; they end with it.
struct Busy(Vec<Child>);

impl Busy {
    fn start(load: Load) -> Self {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let count = if load == Load::None { 0 } else { cores };
        let spin = |_| {
            let words = ["--pdeathsig", "KILL", "sh", "-c", "while :; do :; done"];
            let mut command = Command::new("setpriv");
            command.args(words).stdin(Stdio::null()).spawn().expect("a shell can be started")
        };
        Self((0..count).map(spin).collect())
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        for child in &mut self.0 {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// Changes of leader that no stall of the machine explains. A leader asks every P, so it takes a
/// stall of lockTime − P − 2Δ, or several that add up to it, to lose a lease.
fn unexplained(group: &Group, since: Instant) -> (usize, usize) {
    let params = group.params();
    let room = params.lock().saturating_sub(params.renew() + params.delta() * 2);
    let before = params.lock() + params.failover();
    let said = group.log.since(since);
    let reigns: Vec<Instant> = said.iter().filter(|said| said.leads()).map(|said| said.t).collect();
    let stalled = |at: &&Instant| group.stalls.total_between(**at - before, **at) >= room;
    (reigns.len(), reigns.len() - reigns.iter().filter(stalled).count())
}

/// Watches three members for so long.
pub(crate) fn measure(load: Load, watched: Duration) -> Vec<Row> {
    let mut group = Group::started(Shape::lan(3));
    group.settled(&group.ids());
    let busy = Busy::start(load);
    sleep(Duration::from_secs(1));
    let (began, before) = (now(), Cost::read(&mut group));
    sleep(watched);
    let cost = Cost::read(&mut group).since(&before, now().since(began));
    drop(busy);
    let (changes, unexplained) = unexplained(&group, began);
    let stall = millis(group.stalls.longest(began));
    let leaders = Some(overlap(&group.judge()));
    let row = |what: String, value, unit, target| Row {
        what,
        value,
        unit,
        target,
        worst: None,
        leaders: None,
        stall,
    };
    let what = format!("changes of leader, {}, {watched}", load.name());
    let mut rows = vec![row(what, changes as f64, "", None)];
    let what = "    of them without a stall".to_owned();
    rows.push(Row { leaders, ..row(what, unexplained as f64, "", Some(0.0)) });
    if load == Load::None {
        rows.push(row("datagrams, the group".to_owned(), cost.datagrams, "/s", Some(100.0)));
        rows.push(row("memory, a member at most".to_owned(), cost.memory, "MiB", Some(8.0)));
        rows.push(row("processor, a member at most".to_owned(), cost.processor, "%", Some(1.0)));
    }
    rows
}
