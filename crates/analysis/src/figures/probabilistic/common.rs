//! What the figures of the probabilistic election have in common: the paper's strategy, what is
//! drawn of it, what we chose where the text is silent, and how its words are judged.

use crate::figures::evidence::{Margin, exactly, joined, or_more, value};
use crate::figures::tell::{self, no_less, no_more};
use crate::figures::{Axis, Claim, Curve, Dot, Figure, Panel, Series};
use crate::numbers::number;
use crate::point::Point;
use bellwether_sim::Measure;

/// What counts as a success "very high" or "close to 1": the uppermost twentieth of the axis.
const HIGH: f64 = 0.95;
/// What counts as "1 expected round": as a linear axis is read.
const ONE_ROUND: f64 = 1.05;
/// What counts as few rounds: half of the five that the strategy permits.
const FEW_ROUNDS: f64 = 2.5;

pub(super) const CALL: &str = "One member, any of them, calls the election by a multicast, and \
    need not hear its own message. It is a member like the others.";
pub(super) const STRATEGY: &str = "K = 7, 14, 28, 56, and N in the fifth round, after which it is \
    given up; no more than 6000 relays, which limits nothing up to N = 6000.";
pub(super) const TIMES: &str = "Every message takes .1 s, and none is expected to take longer than \
    .2 s: the time-outs of section 3.3 are multiples of that, with 3K/2 hops in the Relay phase.";
pub(super) const FAILURES: &str = "Failures belong to rounds: when a round begins it is drawn for \
    each process whether it fails, and when in the round, evenly. Nobody knows who is dead: the \
    dead stay in views, and can be preferred and elected.";
pub(super) const SIZE: &str = "Everyone knows the true size of the group at its start. If each \
    took the size of its view for it, as section 3.1 first says, K/view_prob would relay.";
pub(super) const TIES: &str = "Lower ids are preferred. A preference is answered only if it is \
    strictly worse; as printed two who agree would answer each other until the time-out.";
pub(super) const SUCCESS: &str = "Strong success: all who live follow the same leader, and it \
    lives. Weak success: the part of those who live that follows whom most of them follow, dead or \
    alive.";
pub(super) const ROUNDS: &str = "Rounds are those that were begun, the last one included, whether \
    it ended well, badly without anybody's knowledge, or in giving up.";
pub(super) const MESSAGES: &str = "Messages count when they are sent, those to the dead included; \
    calls and re-initiations are multicasts, too.";
pub(super) const RULES: &str = "Section 3.1 names two ways to begin a round again: `hash`, which \
    figure 3 prints, where each process that saw that something is wrong does so with probability \
    K/N; and `delay`, where of all that saw it the one with the shortest wait does. Where the rule \
    is not named it is `delay`.";

/// The choices behind a figure of success.
const OF_SUCCESS: &[&str] = &[RULES, CALL, STRATEGY, TIMES, FAILURES, SIZE, TIES, SUCCESS];
/// The choices behind a figure of rounds.
const OF_ROUNDS: &[&str] = &[ROUNDS, RULES, CALL, STRATEGY, TIMES, FAILURES, SIZE, TIES];
/// The choices behind a figure of messages.
const OF_MESSAGES: &[&str] = &[MESSAGES, RULES, CALL, STRATEGY, TIMES, FAILURES, SIZE, TIES];

/// The choices behind a figure of all three.
pub(super) const OF_ALL: &[&str] =
    &[RULES, CALL, STRATEGY, TIMES, FAILURES, SIZE, TIES, SUCCESS, ROUNDS, MESSAGES];

/// One kind of elections over a range of parameters.
#[derive(Clone, Copy, Debug)]
pub(super) struct Case {
    /// What the legend adds; nothing, if there is but one.
    pub(super) name: &'static str,
    /// What is simulated at x.
    pub(super) point: fn(f64) -> Point,
}

/// What a picture goes through, and for whom.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sweep {
    pub(super) x: Axis,
    pub(super) values: &'static [f64],
    pub(super) cases: &'static [Case],
}

impl Sweep {
    /// Strong and weak success.
    pub(super) fn success(&self) -> Panel {
        let y = Axis::linear("success", "");
        let what = [("strong", Measure::StrongSuccess), ("weak", Measure::WeakSuccess)];
        self.panel("success", y, &what)
    }

    /// Rounds.
    pub(super) fn rounds(&self) -> Panel {
        self.panel("rounds", Axis::linear("rounds", ""), &[("rounds", Measure::Rounds)])
    }

    /// A figure of success alone, to be completed.
    pub(super) fn figure_of_success(&self) -> Figure {
        alone(self.success(), OF_SUCCESS)
    }

    /// A figure of rounds alone, to be completed.
    pub(super) fn figure_of_rounds(&self) -> Figure {
        alone(self.rounds(), OF_ROUNDS)
    }

    /// A figure of messages alone, to be completed.
    pub(super) fn figure_of_messages(&self) -> Figure {
        alone(self.messages(), OF_MESSAGES)
    }

    /// Unicasts and multicasts.
    pub(super) fn messages(&self) -> Panel {
        let what = [("unicasts", Measure::Unicasts), ("multicasts", Measure::Multicasts)];
        self.panel("messages", Axis::log("messages", ""), &what)
    }

    /// These measures, for each case.
    pub(super) fn panel(&self, title: &'static str, y: Axis, what: &[(&str, Measure)]) -> Panel {
        let mut series = Vec::new();
        for case in self.cases {
            for (name, measure) in what {
                series.push(self.series(&named(name, case.name), series.len(), *measure, case));
            }
        }
        Panel { title, x: self.x, y, series }
    }

    fn series(&self, name: &str, hue: usize, measure: Measure, case: &Case) -> Series {
        Series::simulated(name, hue, measure, self.values.iter().map(|x| (*x, (case.point)(*x))))
    }
}

/// The only panel of a figure needs no title.
fn alone(panel: Panel, choices: &'static [&'static str]) -> Figure {
    Figure { choices, panels: vec![Panel { title: "", ..panel }], ..Figure::BARE }
}

/// A curve's name: what it shows, and in which case.
fn named(what: &str, case: &str) -> String {
    if case.is_empty() { what.to_owned() } else { format!("{what}, {case}") }
}

/// A curve in a sentence: how it begins, and how it ends.
pub(super) fn ends(curve: &Curve, axis: &str) -> String {
    let [first, .., last] = &curve.dots[..] else {
        return format!("{}: fewer than two points", curve.name);
    };
    let at = |dot: &Dot| format!("{} at {axis} {}", value(dot), dot.x);
    format!("{}: {}, {}", curve.name, at(first), at(last))
}

/// The point of a curve before which no other is in this order of what is asked of them.
fn extreme(curve: &Curve, least: impl Fn(&Dot) -> f64) -> Option<&Dot> {
    curve.dots.iter().reduce(|best, dot| if least(dot) < least(best) { dot } else { best })
}

/// A point in a sentence, with its interval.
pub(super) fn interval(dot: &Dot) -> String {
    let [low, high] = dot.ci95.map(number);
    let around = || format!("{} ({low} to {high} at 95 %, {} runs)", number(dot.y), dot.runs);
    or_more(dot).unwrap_or_else(around)
}

/// Claims that success is high: 95 % or more, everywhere.
pub(super) fn high(
    says: &'static str,
    section: &'static str,
    axis: &str,
    curves: &[&Curve],
) -> Claim {
    let told_of = |curve: &&Curve| match extreme(curve, |dot| dot.ci95[0]) {
        None => format!("{}: no point", curve.name),
        Some(least) => {
            format!("{}: the least, at {axis} {}, is {}", curve.name, least.x, interval(least))
        }
    };
    let because = curves.iter().map(told_of).collect::<Vec<_>>().join(". ");
    let dots = curves.iter().flat_map(|curve| &curve.dots);
    let tests: Vec<_> = dots.map(|dot| no_less(dot, HIGH)).collect();
    Claim::compared(
        says,
        section,
        "high is .95 or more, the uppermost twentieth of the axis",
        &tests,
        because,
    )
}

/// Claims that a mean is nowhere above a limit.
fn within(
    says: &'static str,
    section: &'static str,
    axis: &str,
    curve: &Curve,
    limit: f64,
) -> Claim {
    let tests: Vec<_> = curve.dots.iter().map(|dot| no_more(dot, limit)).collect();
    let because = extreme(curve, |dot| -dot.ci95[1]).map_or_else(
        || format!("{}: no point", curve.name),
        |most| {
            let most = format!("the most at {axis} {}: {}", most.x, interval(most));
            format!("{}, {most}", ends(curve, axis))
        },
    );
    Claim::compared(says, section, &format!("at most {limit}"), &tests, because)
}

/// Claims that one round is expected to be enough.
pub(super) fn one_round(
    says: &'static str,
    section: &'static str,
    axis: &str,
    curve: &Curve,
) -> Claim {
    within(says, section, axis, curve, ONE_ROUND)
}

/// Claims that rounds are few.
pub(super) fn few_rounds(
    says: &'static str,
    section: &'static str,
    axis: &str,
    curve: &Curve,
) -> Claim {
    within(says, section, axis, curve, FEW_ROUNDS)
}

/// Claims that there are fewer messages of both kinds than members.
pub(super) fn fewer_than(
    says: &'static str,
    section: &'static str,
    axis: &str,
    both: [&Curve; 2],
    members: f64,
) -> Claim {
    let [unicasts, multicasts] = both;
    let sums = unicasts.beside(multicasts).map(|(mine, other)| {
        // They are not independent; their errors at most add up.
        let (y, stderr) = (mine.y + other.y, mine.stderr + other.stderr);
        let ci95 = [0, 1].map(|end| mine.ci95[end] + other.ci95[end]);
        let origin = joined([mine, other]);
        Dot { stderr, ci95, runs: mine.runs, origin, ..exactly(mine.x, y) }
    });
    let sums = Curve { name: "both".to_owned(), dots: sums.collect(), ..unicasts.clone() };
    within(says, section, axis, &sums, members)
}

/// Claims that a curve is everywhere as large as a value.
pub(super) fn steady_at(
    says: &'static str,
    section: &'static str,
    axis: &str,
    curve: &Curve,
    level: f64,
) -> Claim {
    let near = |dot: &Dot| tell::within(dot, &exactly(dot.x, level), Margin::Linear.of(level));
    let tests: Vec<_> = curve.dots.iter().flat_map(near).collect();
    let asked = format!("about is {}", Margin::Linear.in_words());
    Claim::compared(says, section, &asked, &tests, ends(curve, axis))
}
