//! Changes of leader that nobody asked for: how many a stall of the machine explains, and what is
//! to be seen beside each of the others.

use crate::lab::clock::{millis, now, sleep};
use crate::lab::group::{Group, NAME};
use crate::lab::member::BELLWETHER;
use crate::lab::shell;
use bellwether::core::{Duration, Instant};

/// How often to look. What members remember of their delays is older than that.
const LOOK: Duration = Duration::from_secs(1);
/// A stall is known when it is over, and a change when it was read.
const KNOWN: Duration = Duration::from_millis(100);
/// The stalls that are told of a change are those of so long before it.
const BEFORE: Duration = Duration::from_millis(200);

/// How often somebody began to lead.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Changes {
    pub(crate) all: usize,
    /// Those that no stall explains.
    pub(crate) unexplained: usize,
}

/// Watches a group for so long. Of a change that no stall explains it tells at once what may have
/// been the cause, and the traces are kept.
pub(crate) fn watch(group: &Group, watched: Duration) -> Changes {
    let (mut changes, began) = (Changes::default(), now());
    let end = began + watched;
    while now() < end {
        sleep(LOOK.min(end.since(now())));
        changes.look(group, began, now() - KNOWN);
    }
    sleep(KNOWN);
    changes.look(group, began, end);
    changes
}

impl Changes {
    /// Looks at those that are known by then.
    fn look(&mut self, group: &Group, began: Instant, known: Instant) {
        let begun = group.log.begun(began);
        for at in begun.iter().filter(|at| **at <= known).skip(self.all) {
            self.all += 1;
            if !is_explained(group, *at) {
                self.unexplained += 1;
                tell(group, *at);
            }
        }
    }
}

/// Whether the machine stalled before somebody began to lead. A leader asks every P, so it takes a
/// stall of lockTime − P − 2Δ, or several that add up to it, to lose a lease.
fn is_explained(group: &Group, at: Instant) -> bool {
    let params = group.params();
    let room = params.lock().saturating_sub(params.renew() + params.delta() * 2);
    group.stalls.total_between(at - (params.lock() + params.failover()), at) >= room
}

/// On the standard error, because the figures are on the other one.
fn tell(group: &Group, at: Instant) {
    group.folder().keep();
    eprintln!("a leader began at {} ns, and no stall explains it", at.as_nanos());
    for (ended, length) in group.stalls.since(at - BEFORE).filter(|(ended, _)| *ended <= at) {
        let (before, length) = (millis(at.since(ended)), millis(length));
        eprintln!("  a stall of {length:.1} ms ended {before:.1} ms before");
    }
    for id in group.ids() {
        let status = group.ask("status", id, &["--format", "json"]).unwrap_or_default();
        let status: serde_json::Value = serde_json::from_str(&status).unwrap_or_default();
        eprintln!("  member {id} was woken up to {} ms late", status["scheduling_delay_ms"]);
        let report = ["report", NAME, "--dir", &group.dir(id), "--since", "5s"];
        let report = shell::attempt(&[&[BELLWETHER], &report[..]].concat(), "");
        let report = report.unwrap_or_else(|error| error);
        report.lines().for_each(|line| eprintln!("    {line}"));
    }
}
