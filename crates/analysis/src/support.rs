//! Which form of a quantity a simulation supports.
//!
//! A simulation supports a form if its mean does not contradict the form at 99.9 %: chance rejects
//! one true form of a thousand. Few runs support everything; more runs decide. A percentile is
//! judged in the same way, by an [interval](Quantile) that holds for samples of any law. From fewer
//! than [`RUNS_MIN`] runs it has no upper end, and decides nothing.
//!
//! If all n runs gave the same yes or no, their mean says little of its own error. They contradict
//! a probability q of that outcome only if qⁿ is below one in a thousand.
//!
//! An approximation is not judged, because enough runs would reject any. [`Off`] says how far it is
//! from the simulation.

use bellwether_sim::Quantile;
use bellwether_sim::stats::Summary;

/// How sure a simulation must be before it rejects a form.
pub const CONFIDENCE: f64 = 0.999;

/// From so many runs on the interval of a 99th percentile has an upper end at that confidence:
/// .99ⁿ falls below .0005.
pub const RUNS_MIN: u64 = 757;

/// Which form a simulation supports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Support {
    /// The corrected one alone.
    Corrected,
    /// The printed one alone.
    Printed,
    /// Both: they are the same, or too near to each other for so few runs.
    Both,
    /// Neither.
    Neither,
}

impl Support {
    /// What this simulation says to these forms; a printed one without a value has no support.
    pub fn of(simulated: &Summary, printed: Option<f64>, corrected: f64) -> Self {
        Self::by(|form| may_be(simulated, form), printed, corrected)
    }

    /// The same of forms of a percentile; `None` if there are too few runs.
    pub fn of_percentile(
        simulated: &Quantile,
        printed: Option<f64>,
        corrected: f64,
    ) -> Option<Self> {
        let decides = simulated.interval(CONFIDENCE)[1].is_finite();
        let support = || Self::by(|form| simulated.may_be(form, CONFIDENCE), printed, corrected);
        decides.then(support)
    }

    fn by(agrees: impl Fn(f64) -> bool, printed: Option<f64>, corrected: f64) -> Self {
        match (agrees(corrected), printed.is_some_and(&agrees)) {
            (true, true) => Self::Both,
            (true, false) => Self::Corrected,
            (false, true) => Self::Printed,
            (false, false) => Self::Neither,
        }
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Corrected => "corrected",
            Self::Printed => "printed",
            Self::Both => "both",
            Self::Neither => "neither",
        }
    }
}

/// Whether this form may be the true mean.
pub fn may_be(simulated: &Summary, form: f64) -> bool {
    let Summary { min, max, count, .. } = *simulated;
    let always = min == max && (min == 0.0 || min == 1.0) && (0.0..=1.0).contains(&form);
    let otherwise = (form - min).abs();
    let unseen = || libm::exp(count as f64 * libm::log1p(-otherwise)) >= 1.0 - CONFIDENCE;
    simulated.agrees_with(form, CONFIDENCE) || (always && unseen())
}

/// How far an approximation is from what happens.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Off {
    /// By what part of the simulated value; above zero if the approximation is too high.
    pub part: f64,
    /// The standard error of that.
    pub stderr: f64,
}

impl Off {
    /// How far this form is off; `None` if the simulated mean is zero.
    pub fn of(simulated: &Summary, form: f64) -> Option<Self> {
        let Summary { mean, stderr, .. } = *simulated;
        // The form is known; all the error is that of the mean it is divided by.
        let ratio = form / mean.abs();
        let off =
            Self { part: (form - mean) / mean.abs(), stderr: ratio.abs() * stderr / mean.abs() };
        (off.part.is_finite() && off.stderr.is_finite()).then_some(off)
    }

    /// How far this form of a percentile is off. The interval of a percentile need not be
    /// symmetric; half of it stands for two standard errors.
    pub fn of_percentile(simulated: &Quantile, form: f64) -> Option<Self> {
        let (value, [low, high]) = (simulated.value(), simulated.interval(0.95));
        let (ratio, stderr) = (form / value.abs(), (high - low) / 4.0);
        let off =
            Self { part: (form - value) / value.abs(), stderr: ratio.abs() * stderr / value.abs() };
        (off.part.is_finite() && off.stderr.is_finite()).then_some(off)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_percentile_is_judged_if_enough_runs_could_exceed_it() {
        let one_to =
            |count: u64| Quantile::of(0.99, (1..=count).map(|run| run as f64).collect()).unwrap();
        assert_eq!(Support::of_percentile(&one_to(RUNS_MIN - 1), Some(1e9), 750.0), None);
        let enough = one_to(RUNS_MIN);
        let support = Support::of_percentile(&enough, Some(1e9), 750.0);
        assert_eq!(support, Some(Support::Corrected));
        let support = Support::of_percentile(&enough, Some(750.0), 400.0);
        assert_eq!(support, Some(Support::Printed));
        assert_eq!(Off::of_percentile(&one_to(300), 297.0), None, "no upper end at 95 % either");
        let off = Off::of_percentile(&one_to(1000), 1980.0).unwrap();
        assert!((off.part - 1.0).abs() < 1e-12 && off.stderr > 0.0, "{off:?}");
    }

    #[test]
    fn a_form_is_supported_if_the_simulation_does_not_speak_against_it() {
        let samples: Vec<f64> = (0..1000).map(|run| f64::from(run % 10)).collect();
        let summary = Summary::of(&samples).unwrap(); // 4.5, standard error 0.09
        let judge = |printed, corrected| Support::of(&summary, printed, corrected);
        assert_eq!(judge(Some(9.0), 4.5), Support::Corrected);
        assert_eq!(judge(Some(4.5), 9.0), Support::Printed);
        assert_eq!(judge(Some(4.6), 4.5), Support::Both);
        assert_eq!(judge(Some(3.0), 9.0), Support::Neither);
        assert_eq!(judge(None, 4.7), Support::Corrected);
        assert_eq!(judge(None, 4.9), Support::Neither);
    }

    #[test]
    fn what_never_happened_may_be_rare() {
        let never = Summary::of(&[0.0; 1000]).unwrap();
        let always = Summary::of(&[1.0; 1000]).unwrap();
        assert!(may_be(&never, 0.006) && !may_be(&never, 0.008));
        assert!(may_be(&always, 0.994) && !may_be(&always, 0.992));
        assert!(!may_be(&always, 1.001) && !may_be(&never, -0.001));
        assert!(!may_be(&Summary::of(&[7.0; 1000]).unwrap(), 7.001), "no yes or no");
    }

    #[test]
    fn an_approximation_is_off_by_a_part_of_what_happens() {
        let samples: Vec<f64> = (0..1000).map(|run| f64::from(run % 10)).collect();
        let summary = Summary::of(&samples).unwrap(); // 4.5, standard error 0.0909
        let near = |found: f64, expected: f64| (found - expected).abs() < 1e-12;
        let high = Off::of(&summary, 9.0).unwrap();
        assert!(near(high.part, 1.0) && near(high.stderr, 2.0 * summary.stderr / 4.5), "{high:?}");
        let low = Off::of(&summary, 3.6).unwrap();
        assert!(near(low.part, -0.2) && near(low.stderr, 0.8 * summary.stderr / 4.5), "{low:?}");
        assert_eq!(Off::of(&Summary::of(&[0.0, 0.0]).unwrap(), 1.0), None);
    }
}
