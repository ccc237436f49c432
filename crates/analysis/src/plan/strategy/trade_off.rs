//! All strategies that were tried, as a picture: what they cost, and how often they succeed.
//!
//! Those that fail much more often than the goal allows are left out, or those near it could not be
//! told apart. K stands at the points; a row of markers is what one number of rounds can do.

use super::{Found, Growth, TOLD, Trial};
use crate::figures::{Axis, Curve, Dot, Finding, Kind, Pane};
use crate::report::picture::{Notes, noted};

/// What is shown fails at most so many times as often as the goal allows.
const SHOWN: f64 = 10.0;
/// The hue of the chosen one: a star.
const STAR: usize = 9;

impl Found {
    /// The picture, as SVG.
    pub fn picture(&self) -> String {
        let mut shown: Vec<&Trial> = self.tried.iter().filter(|trial| self.shows(trial)).collect();
        shown.sort_by(|one, other| one.messages().total_cmp(&other.messages()));
        let mut curves = self.curves(&shown);
        let name = format!("chosen: {}", self.chosen.tactic);
        curves.push(curve(name, STAR, vec![dot(&self.chosen)]));
        // The chosen one's name is drawn whatever lies near it.
        let trials = std::iter::once(&self.chosen).chain(shown);
        let named =
            |trial: &Trial| (trial.messages(), trial.success.share(), trial.tactic.k.to_string());
        let notes = Notes {
            level: Some((self.goals.success, format!("goal {}", self.goals.success))),
            names: trials.map(named).collect(),
        };
        let finding = Finding {
            id: "plan-probabilistic",
            title: "Strategies of a probabilistic election: what they cost, how often they succeed",
            source: "ours; the numbers at the points are K of the first round",
            says: "",
            choices: &[],
            panes: vec![Pane {
                title: "",
                x: Axis::log(
                    "messages of an election (unicasts and multicasts), K at the points",
                    "",
                ),
                y: Axis::linear("strong success", ""),
                curves,
            }],
            run: None,
            tables: Vec::new(),
            claims: Vec::new(),
            command: String::new(),
        };
        noted(&finding, &notes)
    }

    fn shows(&self, trial: &Trial) -> bool {
        1.0 - trial.success.share() <= SHOWN * (1.0 - self.goals.success)
    }

    /// A row for each number of rounds, and for each way to get from one to the next.
    fn curves(&self, shown: &[&Trial]) -> Vec<Curve> {
        let mut curves = Vec::new();
        for rounds in 1..=self.goals.max_rounds {
            for growth in [Growth::Fixed, Growth::Doubling] {
                let of = |trial: &&&Trial| {
                    (trial.tactic.rounds, trial.tactic.growth) == (rounds, growth)
                };
                let dots: Vec<Dot> = shown.iter().filter(of).map(|trial| dot(trial)).collect();
                let name = match rounds {
                    1 => "1 round".to_owned(),
                    _ => format!("{rounds} rounds, {}", growth.name()),
                };
                if !dots.is_empty() {
                    curves.push(curve(name, (rounds as usize - 1) % STAR, dots));
                }
            }
        }
        curves
    }
}

fn curve(name: String, hue: usize, dots: Vec<Dot>) -> Curve {
    Curve { name, kind: Kind::Simulated, hue, drawn: true, dots }
}

fn dot(trial: &Trial) -> Dot {
    let (share, runs) = (trial.success.share(), trial.success.runs);
    Dot {
        stderr: libm::sqrt(share * (1.0 - share) / runs.max(1) as f64),
        ci95: trial.success.interval(TOLD),
        runs: usize::try_from(runs).unwrap_or(usize::MAX),
        command: Some(trial.point.command()),
        ..Dot::exactly(trial.messages(), share)
    }
}
