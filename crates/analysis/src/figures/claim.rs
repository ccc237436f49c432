//! What a paper claims, and what the numbers say to it.

use super::finding::Dot;
use super::tell::{self, Comparison};
use bellwether_sim::stats::reach;
use serde::Serialize;
use std::collections::BTreeSet;

/// What the numbers say to a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// It holds.
    Confirmed,
    /// It does not hold.
    Refuted,
    /// The text does not say enough to tell.
    NotReproducible,
    /// As many runs as there may be do not tell.
    Undecided,
}

impl Verdict {
    /// All of them.
    pub const ALL: [Self; 4] =
        [Self::Confirmed, Self::Refuted, Self::Undecided, Self::NotReproducible];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Confirmed => "confirmed",
            Self::Refuted => "refuted",
            Self::NotReproducible => "not reproducible",
            Self::Undecided => "undecided",
        }
    }
}

/// A claim with its verdict.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Claim {
    /// What is claimed, in our words.
    pub says: &'static str,
    /// Where.
    pub section: &'static str,
    /// What the numbers say.
    pub verdict: Verdict,
    /// The numbers, or why there are none.
    pub because: String,
    /// Which rule decided, at which level, and what counts as equal.
    pub rule: String,
    /// Of what more runs would help to decide.
    #[serde(skip)]
    pub wants: BTreeSet<String>,
    /// For how many of the [`CLAIMS`](super::CLAIMS) of a page it counts: how often it may be
    /// decided in error.
    #[serde(skip)]
    pub weight: usize,
}

impl Claim {
    /// A claim about formulas, counts or records, in which nothing is random: it holds or does not.
    pub fn judged(says: &'static str, section: &'static str, holds: bool, because: String) -> Self {
        let verdict = if holds { Verdict::Confirmed } else { Verdict::Refuted };
        let rule = "nothing compared is random".to_owned();
        Self { says, section, verdict, because, rule, wants: BTreeSet::new(), weight: 1 }
    }

    /// A claim that holds if these comparisons do. `margin` says in words what is asked of them.
    pub(super) fn compared(
        says: &'static str,
        section: &'static str,
        margin: &str,
        comparisons: &[Comparison],
        because: String,
    ) -> Self {
        let tell::Ruling { verdict, rule, wants } = tell::rule(margin, comparisons);
        Self { says, section, verdict, because, rule, wants, weight: 1 }
    }

    /// A claim that cannot be judged from what the text says.
    pub fn open(says: &'static str, section: &'static str, why: &str) -> Self {
        let (because, rule) = (why.to_owned(), "the text leaves open what is to be judged".into());
        let verdict = Verdict::NotReproducible;
        Self { says, section, verdict, because, rule, wants: BTreeSet::new(), weight: 1 }
    }

    /// The claim, counting for so many.
    pub(super) fn weighing(self, weight: usize) -> Self {
        Self { weight, ..self }
    }

    /// The claim with the reason for its verdict, if this is the verdict.
    pub fn explained(mut self, verdict: Verdict, why: &str) -> Self {
        if self.verdict == verdict {
            self.because += "; ";
            self.because += why;
        }
        self
    }

    /// The claim, which says so if its numbers are not those that its figure shows: it was decided
    /// before, and `shown` is what would be said of the figure now.
    pub(super) fn beside(mut self, shown: &Self) -> Self {
        if self.because != shown.because {
            self.rule += "; these are the numbers of that look, and the figure shows a later look, \
                with more runs";
        }
        self
    }

    /// The claim as it is judged with so many runs at a point: not at all, if they are too few.
    pub(super) fn with_runs(self, runs: u64) -> Self {
        if runs >= ENOUGH_RUNS || self.verdict == Verdict::NotReproducible {
            return self;
        }
        let why = format!("too few runs to tell ({runs}; at least {ENOUGH_RUNS} are needed): ");
        let rule = format!("with fewer than {ENOUGH_RUNS} runs nothing is judged");
        let (verdict, because) = (Verdict::Undecided, why + &self.because);
        Self { verdict, because, rule, wants: BTreeSet::new(), ..self }
    }
}

/// With fewer runs at a point nothing is judged: most claims would hold, or would not, for lack of
/// data alone.
pub(super) const ENOUGH_RUNS: u64 = 300;

/// How sure "beyond doubt" is: as sure as four standard errors of a normal law, which chance
/// exceeds once in 15,000 times.
const SURE: f64 = 0.999_936_657_516_334;

/// How many standard errors make a difference beyond doubt, if the error was learnt from so many
/// runs: the fewer there were, the less is known of it. A formula, with none, has no error.
pub(crate) fn doubt(runs: usize) -> f64 {
    if runs == 0 { 0.0 } else { reach(runs, SURE) }
}

/// The smaller number of runs of the two; a formula has none and limits nothing.
pub(crate) fn fewer_runs(mine: &Dot, other: &Dot) -> usize {
    [mine.runs, other.runs].into_iter().filter(|runs| *runs > 0).min().unwrap_or(0)
}

impl Dot {
    /// Whether this is larger than the other beyond doubt.
    pub fn exceeds(&self, other: &Self) -> bool {
        self.y - other.y > self.margin(other)
    }

    /// Whether this may be the same as the other, as far as both can tell; a billionth is rounding.
    pub fn agrees(&self, other: &Self) -> bool {
        let slack = 1e-9 * other.y.abs();
        (self.y - other.y).abs() <= self.margin(other) + slack
    }

    /// The largest difference that may be chance. One run has no error that could be known.
    fn margin(&self, other: &Self) -> f64 {
        let (errors, error) =
            (doubt(fewer_runs(self, other)), libm::hypot(self.stderr, other.stderr));
        if errors.is_infinite() { errors } else { errors * error }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dot(y: f64, stderr: f64, runs: usize) -> Dot {
        Dot { stderr, runs, ..Dot::exactly(0.0, y) }
    }

    #[test]
    fn a_reason_stands_beside_the_verdict_that_it_explains_and_no_other() {
        let claim = |holds| {
            let claim = Claim::judged("It grows.", "5.4", holds, "1 and 2".to_owned());
            claim.explained(Verdict::Refuted, "nothing feeds it").because
        };
        assert_eq!([true, false].map(claim), ["1 and 2", "1 and 2; nothing feeds it"]);
    }

    #[test]
    fn with_many_runs_four_standard_errors_are_beyond_doubt_and_with_few_more_are() {
        let none = dot(0.0, 0.0, 0);
        assert!(dot(4.01, 1.0, 100_000).exceeds(&none));
        assert!(dot(3.99, 1.0, 100_000).agrees(&none));
        assert!(dot(6.0, 1.0, 10).agrees(&none) && !dot(6.0, 1.0, 10).exceeds(&none));
        assert!(dot(1000.0, 1.0, 2).agrees(&none) && !dot(1000.0, 1.0, 2).exceeds(&none));
    }

    #[test]
    fn the_smaller_number_of_runs_decides() {
        let (many, few) = (dot(6.0, 1.0, 100_000), dot(0.0, 0.0, 10));
        assert!(!many.exceeds(&few) && many.exceeds(&Dot { runs: 1000, ..few }));
    }

    #[test]
    fn a_single_run_tells_nothing_and_formulas_tell_all() {
        let (one, formula) = (dot(9.0, 0.0, 1), dot(0.0, 0.0, 0));
        assert!(!one.exceeds(&formula) && one.agrees(&formula));
        assert!(dot(1.0, 0.0, 0).exceeds(&formula) && !dot(1.0, 0.0, 0).agrees(&formula));
    }
}
