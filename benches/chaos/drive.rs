//! Drives one group through its faults, and has it judged.

use crate::lab::clock::{millis, now, sleep_until};
use crate::lab::group::PATIENCE;
use crate::lab::marks::{Overlap, overlaps};
use crate::options::Options;
use crate::plan::{Batch, Fault, GroupPlan, Kind};
use crate::report::{Failover, Report};
use crate::scene::{INTERRUPTED, Scene, rest};
use bellwether::core::{Duration, Instant};
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::atomic::Ordering;

/// A member that could not store something takes no part for so long, and then tries again.
const FULL: Duration = Duration::from_secs(1);

/// What is done at a moment of a batch.
#[derive(Clone, Copy)]
enum Step {
    Begin,
    /// The next restart of a storm, the switch of keys.
    Again,
    End,
}

/// Brings up a group, strikes it and ends it. What it finds is in the report; a broken promise
/// panics, and the folder with all records stays.
pub(crate) fn drive(options: &Options, plan: &GroupPlan, report: &mut Report) {
    let mut scene = Scene::new(options, plan);
    scene.settled();
    report.cgroup(plan.cgroups, scene.has_cgroup());
    scene.keep_states();
    let mut story = Vec::new();
    for batch in &plan.batches {
        let (first, unexplained) = (story.len(), report.unexplained());
        strike(&mut scene, batch, report, &mut story);
        if report.unexplained() > unexplained && !options.load {
            println!("{}", story[first..].join("\n"));
            scene.group.folder().keep();
        }
    }
    scene.settled();
    finish(scene, report, &story);
}

/// One batch: calm, faults that overlap, and all is healed.
fn strike(scene: &mut Scene, batch: &Batch, report: &mut Report, story: &mut Vec<String>) {
    scene.settled();
    if scene.durable {
        scene.committed();
    }
    rest(scene.group.params().lock() + batch.calm);
    let leader = scene.settled();
    let mut targets = Targets { leader, struck: BTreeMap::new() };
    let alone = batch.faults.len() == 1;
    if !alone || batch.faults.iter().any(|fault| !is_recorded(fault.kind)) {
        scene.unsettled = true;
        scene.group.unsettle();
    }
    let begun = now();
    for (due, fault, step) in steps(batch) {
        sleep_until(begun + due);
        let (id, at) = (targets.of(scene, fault), now());
        match step {
            Step::Begin => {
                let refused = scene.refused;
                let struck = scene.strike(fault, id, alone);
                let made = now();
                report.refuse(fault.kind, scene.refused - refused);
                story.push(format!("{} {} of member {id}", struck.as_nanos(), fault.kind.name()));
                report.count(fault.kind);
                if fault.kind.is_excepted() {
                    scene.excepted.push((id, struck));
                }
                // Of two voters neither can do without the other.
                if alone && scene.voters > 2 && is_measured(fault, id, leader) {
                    measure(scene, fault.kind, leader, (struck, made), report, story);
                }
            }
            Step::Again if fault.kind == Kind::Keys => scene.switch_keys(),
            Step::Again => {
                scene.again(id);
            }
            Step::End => end(scene, fault.kind, id),
        }
        report.latest = report.latest.max(now().since(at));
        assert!(!INTERRUPTED.load(Ordering::Relaxed), "interrupted");
    }
    let healed = scene.heal();
    story.push(format!("{} all healed", healed.as_nanos()));
    let full = batch.faults.iter().any(|fault| fault.kind == Kind::FullDisk);
    let bound = scene.kappa() + if full { FULL } else { Duration::ZERO };
    recover(scene, healed, bound, report, story);
}

/// Whom the faults of a batch befall.
struct Targets {
    /// Who led when it began.
    leader: u64,
    /// By the role and the kind of a fault: whom it struck.
    struck: BTreeMap<(u64, Kind), u64>,
}

impl Targets {
    /// The member that a fault befalls, the same from its first step to its last. No two faults of
    /// processes befall the same.
    fn of(&mut self, scene: &Scene, fault: &Fault) -> u64 {
        let key = (fault.target, fault.kind);
        if let Some(id) = self.struck.get(&key) {
            return *id;
        }
        let others = scene.group.without(&[self.leader]);
        let wanted = match fault.target {
            0 => scene.leader().unwrap_or(self.leader),
            other => others[(other as usize - 1) % others.len()],
        };
        let in_use = |id: &u64| {
            let mut struck = self.struck.iter();
            struck.any(|((_, kind), struck)| kind.strikes_processes() && struck == id)
        };
        let free = fault.kind.strikes_processes() && in_use(&wanted);
        let free = scene.group.ids().into_iter().find(|id| free && !in_use(id));
        let id = free.unwrap_or(wanted);
        self.struck.insert(key, id);
        id
    }
}

/// Whether the judge is told of this fault by records of its own.
fn is_recorded(kind: Kind) -> bool {
    !matches!(
        kind,
        Kind::Loss | Kind::Weather | Kind::FullDisk | Kind::Keys | Kind::Flood | Kind::Voters
    )
}

/// Whether a failover follows that has a bound.
fn is_measured(fault: &Fault, id: u64, leader: u64) -> bool {
    let asked = matches!(fault.kind, Kind::Resign | Kind::Transfer);
    fault.kind.bounds_failover() && (asked || id == leader)
}

/// What is done when, in order.
fn steps(batch: &Batch) -> Vec<(Duration, &Fault, Step)> {
    let mut steps = Vec::new();
    for fault in &batch.faults {
        steps.push((fault.at, fault, Step::Begin));
        let again = match fault.kind {
            Kind::Storm => 1 + fault.level % 4,
            Kind::Keys => 1,
            _ => 0,
        };
        for number in 1..=again {
            let part = Duration::from_nanos(fault.lasts.as_nanos() * number / (again + 1));
            steps.push((fault.at + part, fault, Step::Again));
        }
        steps.push((fault.at + fault.lasts, fault, Step::End));
    }
    steps.sort_by_key(|(due, ..)| *due);
    steps
}

/// Ends one fault of a batch, where it can end before the others. Networks are healed at the end.
fn end(scene: &mut Scene, kind: Kind, id: u64) {
    match kind {
        Kind::Stop(_) => scene.go_on(id),
        Kind::FullDisk => scene.clear_disk(id),
        Kind::Flood => scene.flood = None,
        Kind::Keys => scene.finish_keys(),
        Kind::Kill(_) | Kind::Machine | Kind::LostState | Kind::OldState
            // A member cannot start on a full disk.
            if !scene.filled.contains(&id) && scene.killed.remove(&id) =>
        {
            scene.group.restart(id);
        }
        _ => {}
    }
}

/// Waits for another member's worker, and holds the time against the bound.
fn measure(
    scene: &Scene,
    kind: Kind,
    leader: u64,
    (struck, made): (Instant, Instant),
    report: &mut Report,
    story: &mut Vec<String>,
) {
    let asked = matches!(kind, Kind::Resign | Kind::Transfer);
    // Who was not asked, or refused, leads on.
    let patience = if asked { scene.group.failover(0) } else { PATIENCE };
    let Some(next) = scene.next_run(struck, leader, patience) else {
        assert!(asked, "nobody ran the worker after {} of {leader}", kind.name());
        return;
    };
    let (took, making) = (next.since(struck), made.since(struck));
    let stalls = scene.group.stalls.total_between(struck, next);
    story.push(format!("{} the next worker, {:.1} ms later", next.as_nanos(), millis(took)));
    report.failover(kind, Failover { took, bound: scene.group.failover(0), making, stalls });
}

/// Somebody must lead within κ once all is healed, and all are ready to take part.
fn recover(
    scene: &mut Scene,
    healed: Instant,
    bound: Duration,
    report: &mut Report,
    story: &mut Vec<String>,
) {
    let Some(next) = scene.next_run(healed, 0, PATIENCE) else {
        scene.group.give_up(&format!("nobody leads after all was healed\n{}", story.join("\n")));
    };
    let took = next.since(healed);
    story.push(format!("{} a worker runs, {:.1} ms later", next.as_nanos(), millis(took)));
    let stalls = scene.group.stalls.total_between(healed, next);
    report.recovery(Failover { took, bound, making: Duration::ZERO, stalls });
}

/// Ends the group: nothing of any command is left, no two ran at once, and the judge agrees.
fn finish(mut scene: Scene, report: &mut Report, story: &[String]) {
    for id in scene.group.ids() {
        scene.group.stop(id);
    }
    for id in scene.group.ids() {
        scene.group.member(id).wait();
    }
    let runs = scene.runs();
    report.runs += runs.len();
    for overlap in overlaps(&runs) {
        let margin = scene.group.params().lease().as_nanos() / 10;
        let (lock, half) = (scene.group.params().lock(), Duration::from_nanos(margin / 2));
        let still = scene.standstills.longest_between(overlap.from - lock, overlap.to);
        let text = told(&overlap, still);
        if scene.is_excepted(&overlap) {
            report.excepted += 1;
        } else if still > half {
            println!("{text}: the machine stood still");
            report.excused += 1;
        } else {
            report.overlaps += 1;
            panic!("{text}\n{}", story.join("\n"));
        }
    }
    report.noticed += scene.noticed();
    println!("    {} processes of workers ran, no two at once; judging", runs.len());
    let verdict = scene.judged();
    report.verdict(&verdict);
}

fn told(overlap: &Overlap, still: Duration) -> String {
    let Overlap { one, other, from, to } = overlap;
    format!(
        "OVERLAP of {:.2} ms: a process of member {}'s worker ({}) ran from {} to {}, one of \
         member {}'s ({}) from {} to {}; the machine stood still for {:.2} ms at most",
        millis(to.since(*from)),
        one.id,
        one.pid,
        one.first.as_nanos(),
        one.last.as_nanos(),
        other.id,
        other.pid,
        other.first.as_nanos(),
        other.last.as_nanos(),
        millis(still)
    )
}

/// How many invariants have which verdict.
pub(crate) fn rulings(verdict: &Value) -> Vec<(String, String)> {
    let invariants = verdict["invariants"].as_object().into_iter().flatten();
    let ruling = |(name, ruling): (&String, &Value)| {
        (name.clone(), ruling["verdict"].as_str().unwrap_or("missing").to_owned())
    };
    invariants.map(ruling).collect()
}
