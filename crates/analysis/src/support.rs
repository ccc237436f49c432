//! Which form of a quantity a simulation supports.
//!
//! A form is supported if the simulated mean does not speak against it at 99.9 %: of a thousand
//! true forms one is turned away by chance. Few runs support everything; more runs decide.

use bellwether_sim::stats::Summary;

/// How sure a simulation must be before it turns a form away.
pub const CONFIDENCE: f64 = 0.999;

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
        let agrees = |form: f64| simulated.agrees_with(form, CONFIDENCE);
        match (agrees(corrected), printed.is_some_and(agrees)) {
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

#[cfg(test)]
mod tests {
    use super::*;

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
}
