//! How often the intervals hold an exact probability, for each method with an event whose
//! probability is known; and what is counted, beside what is estimated.

use super::*;

/// A method, and an event whose probability is known.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Way {
    /// False departures by splitting.
    Splitting,
    /// The same by losses that are forced.
    ForcedLosses,
    /// Failed elections by relays that are selected less often.
    FewerRelays,
    /// Lost leases by spells of heavy loss.
    Spells,
}

/// In how many of so many whole runs three members with leases, watched for two seconds at a loss
/// of .15, lost one. There is no closed form. The samples of `bellwether sim local-leader --nodes 3
/// --loss .15 --window 2s --runs 700000 --seed 7` have so many losses that are not 0.
const COUNTED: Proportion = Proportion { successes: 98, runs: 700_000 };
/// The mean of the 200 estimates of `how_often_intervals_by_spells_hold`, and its relative standard
/// error. What is counted is known to 10 %, which is too little to judge intervals of 9 % by. So
/// they are held against this mean, and the mean against what is counted.
const LOST: [f64; 2] = [1.276e-4, 0.009];

/// Such a group.
fn leaseholders() -> Experiment {
    Experiment { window: Duration::from_secs(2), ..group("local-leader", 3, 0.15, &[]) }
}

impl Way {
    fn name(self) -> &'static str {
        match self {
            Self::Splitting => "splitting",
            Self::ForcedLosses => "forced losses",
            Self::FewerRelays => "fewer relays",
            Self::Spells => "spells",
        }
    }

    /// The relative standard error of the probability that is known.
    fn doubt(self) -> f64 {
        match self {
            Self::Spells => LOST[1],
            Self::Splitting | Self::ForcedLosses | Self::FewerRelays => 0.0,
        }
    }

    /// An event of about 10^−digits, its probability, and how it is estimated. Of lost leases there
    /// is one.
    fn event(self, digits: usize) -> (Experiment, f64, Rare) {
        if self == Self::Spells {
            return (leaseholders(), LOST[0], Rare::new(RareEvent::LeadershipLoss));
        }
        if self == Self::FewerRelays {
            let k = match digits {
                3 => 7,
                6 => 13,
                9 => 20,
                _ => 26,
            };
            let params = [("k", k.to_string()), ("max-rounds", "1".to_owned())];
            let params = params.each_ref().map(|(name, value)| (*name, value.as_str()));
            let exact = libm::pow(1.0 - f64::from(k) / 200.0, 200.0);
            let rare = Rare::new(RareEvent::FailedElection);
            return (group("probabilistic", 200, 0.0, &params), exact, rare);
        }
        let (losses, rare) = (digits + 1, Rare::new(RareEvent::FalseDeparture));
        let method = if self == Self::Splitting { Method::Split } else { Method::Tilt };
        (follower(0.1, losses), given_up(0.1, losses, 20), Rare { method, ..rare })
    }
}

/// What many estimates with different seeds come to.
struct Covered {
    exact: f64,
    /// The relative standard error of that one.
    doubt: f64,
    /// In how many of how many the interval holds the exact probability.
    held: Proportion,
    /// How many intervals lie below it; the other ones that fail lie above.
    below: u64,
    /// The mean of the estimates, divided by the exact probability, and its standard error.
    mean: Summary,
    /// The mean of the relative errors that they state.
    error: f64,
}

/// So many estimates, each of so many replications with so many runs in a stage.
fn covered(way: Way, digits: usize, [estimates, replications, effort]: [u32; 3]) -> Covered {
    let (experiment, exact, rare) = way.event(digits);
    let rare = Rare { effort, replications, ..rare };
    let made: Vec<Estimate> = (0..u64::from(estimates))
        .map(|number| {
            let experiment = Experiment { seed: 1000 + number, ..experiment.clone() };
            experiment.estimate(&rare, FREE).expect("it can be estimated")
        })
        .collect();
    let count = |is: fn(&[f64; 2], f64) -> bool| {
        made.iter().filter(|estimate| is(&estimate.ci95, exact)).count() as u64
    };
    let successes = count(|[low, high], exact| *low <= exact && exact <= *high);
    let ratios: Vec<f64> = made.iter().map(|estimate| estimate.probability / exact).collect();
    Covered {
        exact,
        doubt: way.doubt(),
        held: Proportion { successes, runs: u64::from(estimates) },
        below: count(|[_, high], exact| *high < exact),
        mean: Summary::of(&ratios).expect("there are estimates"),
        error: made.iter().map(Estimate::relative_error).sum::<f64>() / f64::from(estimates),
    }
}

impl Covered {
    /// Intervals that hold the exact value 95 times of a hundred hold it so seldom with probability
    /// .001; and the mean of unbiased estimates is so far off with probability 10⁻⁵.
    fn check(&self, way: Way) {
        let Self { exact, doubt, held, mean, .. } = self;
        assert!(held.interval(0.998)[1] >= 0.95, "{way:?} at {exact:e}: {held:?}");
        let off = (mean.mean - 1.0) / libm::hypot(mean.stderr, *doubt);
        assert!(off.abs() < 4.5, "{way:?} at {exact:e}: {off} off, {mean:?}");
    }
}

const DIGITS: [usize; 4] = [3, 6, 9, 12];

/// Weights make short work of it. Splitting, which does not, has a test of its own, and the table
/// below.
#[test]
fn weighed_runs_have_intervals_that_hold_down_to_1e_12() {
    for digits in DIGITS {
        covered(Way::ForcedLosses, digits, [100, 10, 10]).check(Way::ForcedLosses);
        covered(Way::FewerRelays, digits, [50, 10, 40]).check(Way::FewerRelays);
    }
}

/// With a fifth of the usual effort, and half of the replications.
#[test]
fn intervals_by_spells_hold_and_their_mean_is_what_was_counted() {
    let [low, high] = COUNTED.interval(0.99);
    assert!(low < LOST[0] && LOST[0] < high, "{low:e} .. {high:e}");
    covered(Way::Spells, 4, [40, 10, 100]).check(Way::Spells);
}

/// Prints the head of a table of coverage.
fn print_head() {
    println!("method          probability  estimates  held    below  above  error  mean/exact");
}

/// Prints and checks a row: 200 estimates with as many replications and as much effort as the
/// command has by default.
fn print_row(way: Way, digits: usize) {
    let Rare { replications, effort, .. } = way.event(digits).2;
    let found = covered(way, digits, [200, replications, effort]);
    let Covered { exact, held, below, mean, error, .. } = &found;
    println!(
        "{:<15} {exact:>11.2e} {:>10} {:>5.1} % {below:>6} {:>6} {:>4.1} % {:>5.3} ± {:.3}",
        way.name(),
        held.runs,
        100.0 * held.share(),
        held.runs - held.successes - below,
        100.0 * error,
        mean.mean,
        mean.stderr
    );
    found.check(way);
}

/// `docs/sweeps.md` names it.
#[test]
#[ignore = "it takes a while, and is for the documentation"]
fn how_often_intervals_hold() {
    print_head();
    for way in [Way::Splitting, Way::ForcedLosses, Way::FewerRelays] {
        DIGITS.into_iter().for_each(|digits| print_row(way, digits));
    }
}

/// `docs/sweeps.md` names it.
#[test]
#[ignore = "it takes a while, and is for the documentation"]
fn how_often_intervals_by_spells_hold() {
    print_head();
    print_row(Way::Spells, 4);
}

/// Both estimates of a false departure, and the exact value, beside so many whole runs.
fn beside_counting(losses: usize, runs: u32) -> String {
    let (experiment, exact) = (follower(0.1, losses), given_up(0.1, losses, 20));
    let rare = Rare::new(RareEvent::FalseDeparture);
    let found = counted(&experiment, &rare, runs);
    assert!(found.successes > 20, "{found:?} is enough to compare with");
    let [low, high] = found.interval(0.9999);
    assert!(low <= exact && exact <= high, "{exact:e}: {low:e} .. {high:e}");
    let [close, far] = found.interval(0.95);
    let mut text = format!(
        "{:<15} {:.3e}, 95 % interval {close:.3e} .. {far:.3e}: {} of {runs} runs\n",
        "counted",
        found.share(),
        found.successes
    );
    for way in [Way::Splitting, Way::ForcedLosses] {
        let (_, _, rare) = way.event(0);
        let estimate = experiment.estimate(&rare, FREE).expect("it can be estimated");
        let slack = 4.0 * estimate.stderr;
        let value = estimate.probability;
        assert!(value + slack >= low && value - slack <= high, "{low:e} .. {high:e}: {estimate:?}");
        let ([close, far], runs) = (estimate.ci95, estimate.runs);
        text += &format!(
            "{:<15} {value:.3e}, 95 % interval {close:.3e} .. {far:.3e}: {runs} runs and \
             branches\n",
            way.name()
        );
    }
    text + &format!("{:<15} {exact:.3e}", "exact")
}

/// About one in 5500.
#[test]
fn false_departures_are_as_rare_as_they_are_when_counted() {
    println!("{}", beside_counting(5, 200_000));
}

/// About one in 55,000: the comparison of `docs/sweeps.md`.
#[test]
#[ignore = "it counts ten million runs, and is for the documentation"]
fn at_1e_5_estimates_agree_with_counting() {
    println!("{}", beside_counting(6, 10_000_000));
}
