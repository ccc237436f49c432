//! Schedules that draw parameters of the protocol, too.
//!
//! A parameter changes what a protocol does, so each of its values is another protocol to be tried.
//! To try them one by one takes a run for each, and none of these has two of them at once. So every
//! schedule may draw some, beside its faults.
//!
//! They have a random stream of their own, so a schedule has the same faults with and without them.

use crate::judge::Trial;
use crate::swarm::ScheduleRng;
use bellwether_core::Duration;
use bellwether_protocols::choice::{Choice, Config};
use bellwether_protocols::param::BadParam;
use std::fmt;

/// The parameters that schedules draw: the first three in about half of them, `spare` and `tree` in
/// a quarter each.
pub const NAMES: [&str; 5] = ["preempt", "preempt-delay", "replace-after", "spare", "tree"];

/// A trial whose schedules draw parameters.
#[derive(Clone, Debug)]
pub struct Varied {
    trial: Trial,
    config: Config,
    choice: Choice,
}

/// One schedule's protocol, and the trial of it.
#[derive(Clone, Debug)]
pub struct OneOf {
    /// The trial, with the time scales of these parameters.
    pub trial: Trial,
    /// The parameters as they are written.
    pub config: Config,
    /// The protocol.
    pub choice: Choice,
    /// The names of the parameters that were drawn.
    pub drawn: Vec<&'static str>,
}

/// Why a protocol's schedules cannot draw parameters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotVaried(String);

impl fmt::Display for NotVaried {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "schedules cannot draw parameters: {}", self.0)
    }
}

impl std::error::Error for NotVaried {}

/// Values by name.
type Values = Vec<(&'static str, String)>;

impl Varied {
    /// A trial of this protocol, whose parameters are those of `config` where none is drawn.
    ///
    /// # Errors
    /// [`NotVaried`] if the protocol lacks a parameter that is drawn, or refuses its values.
    pub fn new(trial: &Trial, config: &Config) -> Result<Self, NotVaried> {
        let refused = |why: &dyn fmt::Display| NotVaried(why.to_string());
        let length = || "300ms".to_owned();
        let both = [
            ("preempt", "true".to_owned()),
            ("preempt-delay", length()),
            ("replace-after", length()),
        ];
        for last in ["spare", "tree"] {
            let values = both.iter().cloned().chain([(last, "1".to_owned())]);
            let config = with(config, values).map_err(|bad| refused(&bad))?;
            Choice::try_from(config).map_err(|bad| refused(&bad))?;
        }
        let choice = Choice::try_from(config.clone()).map_err(|bad| refused(&bad))?;
        if choice.time_scales(trial.nodes).quorum.is_none() {
            return Err(NotVaried("they are parameters of leases from a majority".to_owned()));
        }
        Ok(Self { trial: trial.clone(), config: config.clone(), choice })
    }

    /// What the schedule with this number is run with.
    pub fn of(&self, number: u64) -> OneOf {
        let Trial { seed, nodes, .. } = self.trial;
        let values = draw(seed, number, self.trial.time_scales.lease);
        let drawn = values.iter().map(|(name, _)| *name).collect();
        let config = with(&self.config, values).ok();
        let choice =
            config.and_then(|config| Some((Choice::try_from(config.clone()).ok()?, config)));
        let Some((choice, config)) = choice else {
            let Self { trial, config, choice } = self.clone();
            return OneOf { trial, config, choice, drawn: Vec::new() };
        };
        let time_scales = choice.time_scales(nodes);
        OneOf { trial: Trial { time_scales, ..self.trial.clone() }, config, choice, drawn }
    }
}

/// The parameters with these values.
fn with(
    config: &Config,
    values: impl IntoIterator<Item = (&'static str, String)>,
) -> Result<Config, BadParam> {
    values.into_iter().try_fold(config.clone(), |config, (name, text)| config.with(name, &text))
}

/// Draws parameters for a schedule. Times are of the order of a lease, so that much happens.
fn draw(seed: u64, number: u64, lease: Duration) -> Values {
    let mut rng = ScheduleRng::parameters(seed, number);
    let times = |range: (f64, f64), rng: &mut ScheduleRng| {
        let millis = rng.stretch(lease, range).as_nanos() / 1_000_000;
        format!("{}ms", millis.max(1))
    };
    let mut values = Values::new();
    if rng.chance(0.5) {
        values.push(("preempt", "true".to_owned()));
        values.push(("preempt-delay", times((0.5, 4.0), &mut rng)));
    }
    if rng.chance(0.5) {
        values.push(("replace-after", times((1.0, 4.0), &mut rng)));
    }
    match rng.below(4) {
        0 => values.push(("spare", rng.below(2).to_string())),
        1 => values.push(("tree", (1 + rng.below(3)).to_string())),
        _ => {}
    }
    values
}

#[cfg(test)]
mod tests {
    use super::*;
    use bellwether_protocols::local_leader;

    fn varied(config: local_leader::Config) -> Result<Varied, NotVaried> {
        let config = Config::LocalLeader(config);
        let choice = Choice::try_from(config.clone()).unwrap();
        Varied::new(&Trial::new(&choice, 5, None, 3), &config)
    }

    #[test]
    fn each_parameter_is_in_many_schedules_and_missing_in_many_and_the_faults_are_the_same() {
        let varied = varied(local_leader::Config::default()).unwrap();
        let mut counts = [0; NAMES.len()];
        for number in 0..400 {
            let one = varied.of(number);
            assert_eq!(one.trial.schedule(number), varied.trial.schedule(number), "{number}");
            assert_eq!(one.config, varied.of(number).config, "{number}");
            for (name, count) in NAMES.iter().zip(&mut counts) {
                *count += u32::from(one.drawn.contains(name));
            }
            let usual = one.config == varied.config;
            assert_eq!(usual, one.drawn.is_empty(), "{number}: {:?}", one.drawn);
        }
        assert!(counts.iter().all(|count| (60..300).contains(count)), "{counts:?}");
    }

    #[test]
    fn what_has_no_such_parameters_is_refused() {
        let local = local_leader::Config {
            mode: local_leader::Mode::Local,
            ..local_leader::Config::default()
        };
        assert!(varied(local).is_err());
        let printed =
            local_leader::Config { as_published: true, ..local_leader::Config::default() };
        let why = varied(printed).unwrap_err().to_string();
        assert!(why.contains("as-published has one request per lease"), "{why}");
    }
}
