//! Whether a group that is left alone keeps its leader, and what it costs.

use crate::changes::{self, Changes};
use crate::cost::Cost;
use crate::lab::clock::{millis, now, sleep};
use crate::lab::group::{Group, Shape};
use crate::overlap;
use crate::row::Row;
use bellwether::core::Duration;
use bellwether::protocols::local_leader::Preset;
use std::process::{Child, Command, Stdio};

/// What else happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Trouble {
    None,
    /// A process on every core that never sleeps.
    EveryCore,
    /// So many of a thousand datagrams are lost.
    Loss(u64),
}

impl Trouble {
    pub(crate) fn name(self) -> String {
        match self {
            Self::None => "idle".to_owned(),
            Self::EveryCore => "loaded".to_owned(),
            Self::Loss(of_thousand) => format!("loss {} %", of_thousand as f64 / 10.0),
        }
    }
}

/// The processes that are the load; they end with it.
struct Busy(Vec<Child>);

impl Busy {
    fn start(trouble: Trouble) -> Self {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let count = if trouble == Trouble::EveryCore { cores } else { 0 };
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

/// Watches three members for so long.
pub(crate) fn measure(preset: Preset, trouble: Trouble, watched: Duration) -> Vec<Row> {
    let mut group = Group::started(Shape { preset, ..Shape::lan(3) });
    group.settled(&group.ids());
    let busy = Busy::start(trouble);
    if let Trouble::Loss(of_thousand) = trouble {
        group.lose(of_thousand);
    }
    sleep(Duration::from_secs(1));
    let (began, before) = (now(), Cost::read(&group));
    let Changes { all, unexplained } = changes::watch(&group, watched);
    let cost = Cost::read(&group).since(&before, now().since(began));
    let asked = (trouble == Trouble::None).then(|| Cost::after_a_question(&group, watched));
    drop(busy);
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
    let what = format!("changes of leader, {} {}, {watched}", preset.name(), trouble.name());
    let mut rows = vec![Row { leaders, ..row(what, all as f64, "", None) }];
    let what = "    of them without a stall".to_owned();
    rows.push(row(what, unexplained as f64, "", Some(0.0)));
    if let Some(asked) = asked {
        // The limits are those of `lan`; shorter leases take more datagrams.
        let only = |most| (preset == Preset::Lan).then_some(most);
        let told = |what: &str, value, unit, target| row(what.to_owned(), value, unit, target);
        rows.push(told("datagrams, the group", cost.datagrams, "/s", only(110.0)));
        rows.push(told("memory, a member at most", cost.memory, "MiB", Some(6.0)));
        rows.push(told("    just after a question", asked.then, "MiB", None));
        rows.push(told("    soon after a question", asked.later, "MiB", Some(6.0)));
        rows.push(told("    of it not of a file", cost.anonymous, "MiB", None));
        rows.push(told("    with its guardian", cost.memory_of_all, "MiB", None));
        rows.push(told("processor, a member at most", cost.processor, "%", only(1.0)));
    }
    rows
}
