//! Which strategies are tried, in what order, and how often.
//!
//! K rises in steps of about √2. Once there is a best strategy, the search looks first at a single
//! round of each K: no strategy that begins with this K takes fewer messages, so if one round takes
//! more than the best strategy, the search is over. Next come the strategies that succeed most
//! often; if they do not reach the goal, no other with this K does. Then come all others, the
//! cheapest first. At the end the search tries the values of K around the best one.
//!
//! A look has three times the runs of the one before, from the same seed, until the goal lies
//! outside the interval, or too near to its end to decide; the last look has as many runs as the
//! effort allows. A single run shows how much work a run is, before more are made. Only the first
//! look decides which of two strategies is cheaper, for every goal. So the strategy for a harder
//! goal reaches an easier one too, and is not cheaper than the strategy for that, unless one of
//! them is too near to decide.

use super::refused::Best;
use super::tactic::{Attainment, Tactic, Trial};
use super::{Effort, Goals, LOOK_MIN, MORE, Refused, runs_to_show};
use crate::figures::SimulationFailed;
use crate::point::Point;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};

/// After this many K in a row that did not raise the best success, the search tries no larger K.
const PATIENCE: u32 = 3;
/// But only if it succeeds so often, of what failures leave: before, a rise may be too small to be
/// seen.
const SEEN: f64 = 0.5;
/// The largest K.
const K_MAX: u32 = 2_000;
/// How many times as many runs as chose a strategy confirm it.
const FRESH: u64 = 2;

/// A strategy that reaches the goal, and what else was tried.
#[derive(Clone, Debug)]
pub struct Found {
    /// What was asked for.
    pub goals: Goals,
    /// The smallest.
    pub chosen: Trial,
    /// All of them, by K.
    pub tried: Vec<Trial>,
    /// Those that might be smaller still, if more runs were made.
    pub open: Vec<Tactic>,
}

/// Looks for the smallest strategy; `progress` is told which one is tried, and what part of the
/// most work there can be is done.
///
/// # Errors
/// [`Refused`], with the best there is.
pub fn search(
    goals: Goals,
    effort: Effort,
    progress: &(dyn Fn(&Tactic, f64) + Sync),
) -> Result<Found, Refused> {
    goals.check(&effort)?;
    let looks = effort.first_look(goals.point.nodes);
    let spent = 0.0;
    let mut search = Search { goals, effort, progress, looks, spent, tried: BTreeMap::new() };
    let best = search.coarse()?;
    let best = match best {
        Some(best) => search.fine(best)?,
        None => return Err(search.refused()),
    };
    Ok(search.found(best))
}

impl Found {
    /// Asks fresh runs whether the chosen strategy reaches the goal: twice as many, from the next
    /// seed.
    ///
    /// # Errors
    /// [`SimulationFailed`], if the simulation cannot be done.
    pub fn confirm(
        &self,
        threads: usize,
        progress: &(dyn Fn() + Sync),
    ) -> Result<Trial, SimulationFailed> {
        let seed = self.chosen.point.seed.wrapping_add(1);
        let point = self.chosen.tactic.point(&self.goals, self.fresh_runs(), seed);
        let failed = |why| SimulationFailed { command: point.command(), why };
        let answer = point.answer(threads, progress);
        let answer = answer.map_err(failed)?;
        Ok(Trial::new(self.chosen.tactic, point, answer))
    }

    /// How many runs confirm it.
    pub fn fresh_runs(&self) -> u64 {
        FRESH * self.chosen.success.runs
    }

    /// Whether these runs confirm it: the lower end of their interval reaches the goal.
    pub fn confirmed_by(&self, fresh: &Trial) -> bool {
        fresh.interval()[0] >= self.goals.success
    }
}

/// The best strategy yet, and what it took at its first look.
#[derive(Clone, Copy)]
struct Leading {
    tactic: Tactic,
    messages: f64,
}

/// What a K had to offer.
enum Offer {
    /// Even one round costs more than the best one.
    Dear,
    /// No strategy that reaches the goal.
    Weak,
    /// One at least that does, though maybe not a smaller one.
    Strong,
}

struct Search<'a> {
    goals: Goals,
    effort: Effort,
    progress: &'a (dyn Fn(&Tactic, f64) + Sync),
    /// The runs of a first look.
    looks: u64,
    /// Deliveries.
    spent: f64,
    /// What each strategy took at the first look, in messages, and the last look.
    tried: BTreeMap<Tactic, (f64, Trial)>,
}

impl Search<'_> {
    fn coarse(&mut self) -> Result<Option<Leading>, Refused> {
        let mut best = None;
        let (mut highest, mut in_vain) = (0.0, 0);
        for k in ladder(self.goals.point.nodes) {
            match self.consider(k, &mut best)? {
                Offer::Dear => break,
                Offer::Strong => {}
                Offer::Weak => {
                    let share = self.highest_share(k);
                    in_vain = if share > highest { 0 } else { in_vain + 1 };
                    highest = share.max(highest);
                    let seen = highest >= SEEN * (1.0 - self.goals.point.fail);
                    if best.is_none() && seen && in_vain >= PATIENCE {
                        break;
                    }
                }
            }
        }
        Ok(best)
    }

    /// Tries what lies between the steps beside the best K.
    fn fine(&mut self, best: Leading) -> Result<Leading, Refused> {
        let k = best.tactic.k;
        let ladder = ladder(self.goals.point.nodes);
        let below = ladder.iter().rev().find(|step| **step < k).copied().unwrap_or(k);
        let above = ladder.iter().find(|step| **step > k).copied().unwrap_or(k);
        let mut best = Some(best);
        for k in (below + 1..above).step_by((k / 10).max(1) as usize) {
            if let Offer::Dear = self.consider(k, &mut best)? {
                break;
            }
        }
        Ok(best.expect("a better one replaces it, or none does"))
    }

    /// Tries the strategies with this K that may be better than the best.
    fn consider(&mut self, k: u32, best: &mut Option<Leading>) -> Result<Offer, Refused> {
        let at_most = |best: &Option<Leading>, messages: f64| {
            best.is_some_and(|best| best.messages <= messages)
        };
        if best.is_some()
            && let Some(messages) = self.first_look(Tactic::once(k))?
            && at_most(best, messages)
        {
            return Ok(Offer::Dear);
        }
        let mut strong = false;
        for tactic in Tactic::strongest(k, self.goals.max_rounds) {
            strong = strong || self.decide(tactic)? == Attainment::Reaches;
        }
        if !strong {
            return Ok(Offer::Weak);
        }
        let mut costs = Vec::new();
        for tactic in Tactic::all(k, self.goals.max_rounds) {
            costs.extend(self.first_look(tactic)?.map(|messages| Leading { tactic, messages }));
        }
        costs.sort_by(|one, other| {
            one.messages
                .total_cmp(&other.messages)
                .then(one.tactic.rounds.cmp(&other.tactic.rounds))
        });
        for costs in costs {
            if at_most(best, costs.messages) {
                break;
            }
            if self.decide(costs.tactic)? == Attainment::Reaches {
                *best = Some(costs);
                break;
            }
        }
        Ok(Offer::Strong)
    }

    /// What a strategy takes, in messages, by the first look at it; none if the effort does not
    /// suffice for that.
    fn first_look(&mut self, tactic: Tactic) -> Result<Option<f64>, Refused> {
        let looked = self.look(tactic, self.looks)?;
        Ok(looked.then(|| self.tried[&tactic].0))
    }

    /// Looks at a strategy until it is clear where it stands, or for as long as the effort allows.
    /// What hardly ever succeeds shows at a glance; to be chosen takes a first look at least.
    fn decide(&mut self, tactic: Tactic) -> Result<Attainment, Refused> {
        let most = self.effort.runs_for(&self.goals);
        let mut runs = LOOK_MIN;
        loop {
            let looked = self.look(tactic, runs)?;
            let Some((_, trial)) = self.tried.get(&tactic) else { return Ok(Attainment::Open) };
            let standing = trial.standing(self.goals.success);
            let glanced = trial.success.runs < self.looks && standing != Attainment::FallsShort;
            if !looked && glanced {
                return Ok(Attainment::Open);
            }
            let over = !looked || runs >= most || self.is_beyond_effort(trial);
            if !glanced && (standing != Attainment::Open || over) {
                return Ok(standing);
            }
            runs = match runs < self.looks {
                true => self.looks,
                false => runs.saturating_mul(MORE).min(most),
            };
        }
    }

    /// Whether a strategy seems to reach the goal, but what is left does not suffice to show it.
    /// One that seems to fall short may take far fewer runs to be left out.
    fn is_beyond_effort(&self, trial: &Trial) -> bool {
        let success = self.goals.success;
        trial.success.share() >= success && runs_to_show(success) * trial.deliveries() > self.left()
    }

    /// How many deliveries there may yet be.
    fn left(&self) -> f64 {
        self.effort.deliveries() - self.spent
    }

    /// Simulates so many runs of a strategy, if there are not as many already; tells whether the
    /// effort suffices.
    fn look(&mut self, tactic: Tactic, runs: u64) -> Result<bool, Refused> {
        let each = match self.tried.get(&tactic) {
            Some((_, trial)) if trial.success.runs >= runs => return Ok(true),
            Some((_, trial)) => trial.deliveries(),
            // What a run takes is not known before there are some. Everyone hears every relay.
            None => f64::from(tactic.k) * f64::from(self.goals.point.nodes),
        };
        let known = self.tried.contains_key(&tactic);
        let now = if known { runs } else { 1 };
        if each * now as f64 > self.left() {
            return Ok(false);
        }
        let trial = self.simulate(tactic, now, each)?;
        let first = match self.tried.get(&tactic) {
            Some((first, before)) if before.success.runs >= self.looks => *first,
            _ => trial.messages(),
        };
        self.tried.insert(tactic, (first, trial));
        if known { Ok(true) } else { self.look(tactic, runs) }
    }

    /// Runs of a strategy, each of which takes about so many deliveries.
    fn simulate(&mut self, tactic: Tactic, runs: u64, each: f64) -> Result<Trial, Refused> {
        let point = tactic.point(&self.goals, runs, self.effort.seed);
        let (done, spent, most) = (AtomicU64::new(0), self.spent, self.effort.deliveries());
        let tick = || {
            let done = done.fetch_add(1, Ordering::Relaxed) + 1;
            (self.progress)(&tactic, (spent + each * done as f64) / most);
        };
        let answer = point.answer(self.effort.threads, &tick);
        let failed =
            |why| Refused::SimulationFailed(SimulationFailed { command: point.command(), why });
        let trial = Trial::new(tactic, point.clone(), answer.map_err(failed)?);
        self.spent += trial.deliveries() * runs as f64;
        Ok(trial)
    }

    fn highest_share(&self, k: u32) -> f64 {
        let strongest = Tactic::strongest(k, self.goals.max_rounds);
        let trials = strongest.iter().filter_map(|tactic| self.tried.get(tactic));
        trials.map(|(_, trial)| trial.success.share()).fold(0.0, f64::max)
    }

    fn found(self, best: Leading) -> Found {
        let goal = self.goals.success;
        // Of K that are left out as a whole, those that succeed most often stand for all.
        let is_open = |(first, trial): &&(f64, Trial)| {
            *first <= best.messages && trial.standing(goal) == Attainment::Open
        };
        let open = self.tried.values().filter(is_open).map(|(_, trial)| trial.tactic).collect();
        let chosen = self.tried[&best.tactic].1.clone();
        let tried = self.tried.into_values().map(|(_, trial)| trial).collect();
        Found { goals: self.goals, chosen, tried, open }
    }

    /// Why nothing was found, with the best there is; that one is looked at once more, so that its
    /// interval is worth telling.
    fn refused(mut self) -> Refused {
        let best = self.most_successful().map(|trial| trial.tactic);
        if let Some(tactic) = best
            && let Err(refused) = self.look(tactic, self.effort.last_look(self.goals.point.nodes))
        {
            return refused;
        }
        let Goals { success, max_rounds, .. } = self.goals;
        let Point { fail, nodes, .. } = self.goals.point;
        let Some(best) = self.most_successful().cloned() else {
            return Refused::NothingTried { nodes };
        };
        let open = self.tried.values().any(|(_, trial)| {
            let strongest = Tactic::strongest(trial.tactic.k, max_rounds);
            strongest.contains(&trial.tactic) && trial.standing(success) == Attainment::Open
        });
        let best = Best { success, fail, tried: self.tried.len(), best: Box::new(best) };
        if open { Refused::Undecided(best) } else { Refused::Unreached(best) }
    }

    /// The strategy that most surely succeeds most often.
    fn most_successful(&self) -> Option<&Trial> {
        let low = |trial: &Trial| trial.interval()[0];
        let trials = self.tried.values().map(|(_, trial)| trial);
        trials.max_by(|one, other| low(one).total_cmp(&low(other)))
    }
}

/// K in steps of about √2, up to everyone.
fn ladder(nodes: u32) -> Vec<u32> {
    let most = nodes.clamp(1, K_MAX);
    let mut steps = vec![1, 2, 3, 4, 5];
    let mut k = 5.0;
    while k < f64::from(K_MAX) {
        k *= std::f64::consts::SQRT_2;
        steps.push(k as u32);
    }
    steps.retain(|step| *step < most);
    steps.push(most);
    steps
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn k_rises_to_everyone_and_no_further() {
        assert_eq!(ladder(1), [1]);
        assert_eq!(ladder(12), [1, 2, 3, 4, 5, 7, 10, 12]);
        let large = ladder(1_000_000);
        assert!(large.windows(2).all(|pair| pair[0] < pair[1]), "{large:?}");
        assert_eq!(large.last(), Some(&K_MAX));
    }
}
