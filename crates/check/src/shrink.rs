//! Shrinks a schedule while it still breaks the same invariant.
//!
//! **Source.** Andreas Zeller and Ralf Hildebrandt, "Simplifying and isolating failure-inducing
//! input", IEEE TSE 28(2), 2002 (delta debugging): leave out halves, then quarters, and so on down
//! to single faults, as long as the invariant still breaks.
//!
//! **Promise.** The result breaks the same invariant and has no more faults, processes or time. If
//! the invariant needs calm, the result becomes calm.

use crate::invariants::BrokenInvariant;
use crate::judge::{Judge, Judging, Trial};
use crate::links::Links;
use crate::schedule::Schedule;
use bellwether_core::{Duration, Protocol, SimTime, Visitor};
use bellwether_protocols::choice::Choice;
use bellwether_sim::network::{Delay, Loss, Probability};
use bellwether_sim::{Fault, Network, Timed, Who};

/// The most runs that are tried.
const TRIES: u32 = 4_000;

/// Shrinks a schedule that breaks an invariant. Returns the smaller one and what it breaks.
pub fn shrink<P: Protocol>(
    trial: &Trial,
    params: &P::Params,
    schedule: Schedule,
    breach: BrokenInvariant,
) -> (Schedule, BrokenInvariant) {
    let judge = &mut Judge::<P>::new(trial, params.clone());
    shrink_with(judge, trial, schedule, breach, &|| false)
}

fn shrink_with(
    judge: &mut dyn Judging,
    trial: &Trial,
    schedule: Schedule,
    breach: BrokenInvariant,
    over: &dyn Fn() -> bool,
) -> (Schedule, BrokenInvariant) {
    let calm = judge.needs_calm(breach.invariant);
    let mut shrinker = Shrinker { judge, trial, calm, best: schedule, breach, tries: 0, over };
    shrinker.cut_off();
    loop {
        let before = shrinker.best.clone();
        shrinker.drop_faults();
        shrinker.drop_processes();
        shrinker.join_all();
        shrinker.set_clocks();
        shrinker.simplify_networks();
        shrinker.shorten();
        shrinker.cut_off();
        if shrinker.best == before || shrinker.tries >= TRIES {
            return (shrinker.best, shrinker.breach);
        }
    }
}

/// [`shrink`] for a protocol chosen at run time.
pub fn shrink_choice(
    trial: &Trial,
    choice: Choice,
    schedule: Schedule,
    breach: BrokenInvariant,
) -> (Schedule, BrokenInvariant) {
    shrink_choice_until(trial, choice, schedule, breach, &|| false)
}

/// The same; `over` is asked before each run, and ends it with the smallest schedule so far.
pub fn shrink_choice_until(
    trial: &Trial,
    choice: Choice,
    schedule: Schedule,
    breach: BrokenInvariant,
    over: &dyn Fn() -> bool,
) -> (Schedule, BrokenInvariant) {
    struct Shrinks<'a>(&'a Trial, Schedule, BrokenInvariant, &'a dyn Fn() -> bool);

    impl Visitor for Shrinks<'_> {
        type Output = (Schedule, BrokenInvariant);

        fn visit<P: Protocol>(self, params: P::Params) -> Self::Output {
            let Self(trial, schedule, breach, over) = self;
            shrink_with(&mut Judge::<P>::new(trial, params), trial, schedule, breach, over)
        }
    }

    choice.visit(Shrinks(trial, schedule, breach, over))
}

struct Shrinker<'a> {
    judge: &'a mut dyn Judging,
    trial: &'a Trial,
    /// Whether the invariant needs a calm end.
    calm: bool,
    best: Schedule,
    breach: BrokenInvariant,
    tries: u32,
    /// Whether nobody waits for the result any more.
    over: &'a dyn Fn() -> bool,
}

impl Shrinker<'_> {
    /// Keeps the candidate if it still breaks the same invariant.
    fn accept(&mut self, candidate: Schedule) -> bool {
        if !clocks_are_bounded(&candidate, self.trial) {
            return false; // a violation with a clock beyond its bounds means nothing
        }
        if self.tries >= TRIES || candidate == self.best || (self.over)() {
            return false;
        }
        if self.calm && !candidate.is_calm(&self.trial.time_scales) {
            return false;
        }
        self.tries += 1;
        match self.judge.run_schedule(&candidate).breach {
            Some(breach) if breach.invariant == self.breach.invariant => {
                (self.best, self.breach) = (candidate, breach);
                true
            }
            _ => false,
        }
    }

    /// Removes what comes after the violation.
    fn cut_off(&mut self) {
        let at = self.breach.at.since(SimTime::ZERO);
        let mut candidate = self.best.clone();
        candidate.plan.horizon = at.max(Duration::from_nanos(1));
        candidate.plan.faults.retain(|timed| timed.at <= at);
        self.accept(candidate);
    }

    /// Removes sequences of faults, long ones first.
    fn drop_faults(&mut self) {
        let mut length = self.best.plan.faults.len();
        while length > 0 {
            let mut at = 0;
            while at < self.best.plan.faults.len() {
                let mut candidate = self.best.clone();
                let end = (at + length).min(candidate.plan.faults.len());
                candidate.plan.faults.drain(at..end);
                if !self.accept(candidate) {
                    at += length;
                }
            }
            length /= 2;
        }
        self.drop_pairs();
    }

    /// Removes faults that belong together: a pause and its end, a cut and its healing.
    fn drop_pairs(&mut self) {
        let mut first = 0;
        while first < self.best.plan.faults.len() {
            let faults = &self.best.plan.faults;
            let belongs = |other: &Timed| belong(&faults[first].fault, &other.fault);
            let partners: Vec<usize> =
                (first + 1..faults.len()).filter(|other| belongs(&faults[*other])).collect();
            let dropped = partners.iter().any(|partner| {
                let mut candidate = self.best.clone();
                candidate.plan.faults.remove(*partner);
                candidate.plan.faults.remove(first);
                self.accept(candidate)
            });
            first += usize::from(!dropped);
        }
    }

    /// Removes processes: they never start, and have no faults.
    fn drop_processes(&mut self) {
        for node in (0..self.best.plan.nodes).rev() {
            let mut candidate = self.best.clone();
            candidate.plan.faults.retain(|timed| timed.fault.node() != Some(Who::Node(node)));
            if !candidate.plan.absent.contains(&node) {
                candidate.plan.absent.push(node);
            }
            self.accept(candidate);
        }
    }

    /// Connects all processes in the end.
    fn join_all(&mut self) {
        let mut candidate = self.best.clone();
        candidate.links = Links::all(candidate.plan.nodes);
        let calm = candidate.calm;
        let last_heal = candidate
            .plan
            .faults
            .iter()
            .rposition(|timed| timed.fault == Fault::Heal && timed.time() <= calm);
        let mut index = 0;
        candidate.plan.faults.retain(|timed| {
            index += 1;
            let final_cut = last_heal.is_none_or(|heal| index > heal + 1);
            !(final_cut && matches!(timed.fault, Fault::Cut { .. }))
        });
        self.accept(candidate);
    }

    /// Removes the initial offsets of clocks.
    fn set_clocks(&mut self) {
        let mut candidate = self.best.clone();
        candidate.plan.offset = Duration::ZERO;
        self.accept(candidate);
    }

    /// Simplifies every network.
    fn simplify_networks(&mut self) {
        let delay = Delay::Constant(self.trial.time_scales.timely);
        let steps: [&dyn Fn(&mut Network); 7] = [
            &|network| *network = Network::uniform(delay.clone(), Loss::None),
            &|network| network.multicast.loss = Loss::None,
            &|network| network.unicast.loss = Loss::None,
            &|network| network.duplicate = Probability::ZERO,
            &|network| network.reorder = Probability::ZERO,
            &|network| network.multicast.delay = delay.clone(),
            &|network| network.unicast.delay = delay.clone(),
        ];
        for step in steps {
            let mut candidate = self.best.clone();
            step(&mut candidate.plan.network);
            self.accept(candidate);
            for index in 0..self.best.plan.faults.len() {
                let mut candidate = self.best.clone();
                if let Fault::Network { network } = &mut candidate.plan.faults[index].fault {
                    step(network);
                    self.accept(candidate);
                }
            }
        }
    }

    /// Shortens the time between faults, and before the calm.
    fn shorten(&mut self) {
        for index in 0..=self.best.plan.faults.len() {
            for keep in [0, 4, 8, 12] {
                let mut candidate = self.best.clone();
                pull(&mut candidate, index, keep);
                if self.accept(candidate) {
                    break;
                }
            }
        }
        self.round();
    }

    /// Rounds times to whole milliseconds, which are easier to read.
    fn round(&mut self) {
        const MILLI: u64 = 1_000_000;
        let mut candidate = self.best.clone();
        for timed in &mut candidate.plan.faults {
            timed.at = Duration::from_nanos(timed.at.as_nanos() / MILLI * MILLI);
        }
        self.accept(candidate);
    }
}

/// Whether every clock exceeds its drift only for a moment, as in the original schedule. Removing
/// the end of such a moment would make it last for ever.
fn clocks_are_bounded(schedule: &Schedule, trial: &Trial) -> bool {
    let faults = &schedule.plan.faults;
    let rate = |fault: &Fault| match fault {
        Fault::Drift { node, parts_per_billion } => Some((*node, parts_per_billion.unsigned_abs())),
        _ => None,
    };
    let usual = f64::from(trial.time_scales.drift) * trial.mix.drift;
    let is_burst = |rate: u32| f64::from(rate) > usual + BURST_PPB;
    faults.iter().enumerate().all(|(index, timed)| match rate(&timed.fault) {
        Some((node, own)) if is_burst(own) => faults[index + 1..].iter().any(|later| {
            rate(&later.fault).is_some_and(|(other, next)| other == node && !is_burst(next))
        }),
        _ => true,
    })
}

/// A rate beyond this is a short burst; see `swarm/clocks.rs`.
const BURST_PPB: f64 = 50_000_000.0;

/// Whether the second undoes the first.
fn belong(first: &Fault, second: &Fault) -> bool {
    match (first, second) {
        (
            Fault::Crash { .. } | Fault::Kill { .. } | Fault::Leave { .. },
            Fault::Restart { .. } | Fault::Join { .. },
        )
        | (Fault::Renumber { .. }, Fault::Crash { .. } | Fault::Restart { .. })
        | (Fault::Pause { .. }, Fault::Resume { .. })
        | (Fault::Slow { .. }, Fault::Slow { .. }) => match (first.node(), second.node()) {
            (Some(Who::Node(one)), Some(Who::Node(other))) => one == other,
            _ => true,
        },
        (Fault::Cut { .. }, Fault::Heal | Fault::Mend { .. } | Fault::Cut { .. })
        | (Fault::Heal | Fault::Mend { .. }, Fault::Cut { .. })
        | (Fault::Network { .. }, Fault::Network { .. }) => true,
        _ => false,
    }
}

/// Moves all faults from this index on earlier: `keep` sixteenths of the time before it stay.
fn pull(schedule: &mut Schedule, index: usize, keep: u64) {
    let calm = schedule.calm.since(SimTime::ZERO);
    let faults = &mut schedule.plan.faults;
    let before = index.checked_sub(1).map_or(Duration::ZERO, |last| faults[last].at);
    let at = faults.get(index).map_or(calm, |timed| timed.at);
    let gap = at.saturating_sub(before);
    let by = gap.saturating_sub(gap / 16 * keep);
    faults[index..].iter_mut().for_each(|timed| timed.at = timed.at.saturating_sub(by));
    schedule.calm = SimTime::ZERO + calm.saturating_sub(by);
    schedule.plan.horizon = schedule.plan.horizon.saturating_sub(by);
}
