//! Ours: when Query, Suppress-then-Query and Bye are improvements on LE-A and LE-S (section 5.7).

use super::reestablishment_delay::departing;
use super::sketch::simulated;
use crate::announce_listen::point;
use crate::figures::evidence::{ABOVE, Margin, above_from, equal, lies_above, value};
use crate::figures::tell::{Comparison, at_least, no_less_by};
use crate::figures::{Axis, Claim, Curve, Figure, Finding, Pane, Panel, Verdict};
use crate::inputs::Loss;
use crate::point::duration;
use bellwether_protocols::announce_listen::{Variant, bye_copies};
use bellwether_sim::{Measure, Scenario};

const N: u32 = 20;
const DELAY: f64 = 0.1;
/// T_A/Δ.
const RATIOS: [f64; 8] = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0];
const SIZES: [f64; 6] = [2.0, 5.0, 10.0, 20.0, 50.0, 100.0];
const LOSSES: [f64; 8] = [0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7];
/// The loss at a start.
const L: f64 = 0.4;
const VARIANTS: [(&str, Variant); 4] = [
    ("LE-A", Variant::LeA),
    ("LE-S", Variant::LeS),
    ("Query", Variant::Query),
    ("Suppress-then-Query", Variant::SuppressQuery),
];

const NO_BYE: &str = "no Bye";
const ONE_BYE: &str = "one Bye";
const MEAN_BYES: &str = "1 + X(N − 1) Byes";
const MORE_BYES: &str = "three times as many";

pub(super) fn figure() -> Figure {
    Figure {
        title: "When are Query, Suppress-then-Query and Bye improvements on LE-A and LE-S?",
        source: "ours; the figure that section 5.7 proposes",
        says: "A Query at the outset is answered by the leader, sooner than its next announcement \
               if T_A is long. Suppress-then-Query asks only after a random wait; it generates \
               fewer messages than Query, at the price of delay. Byes decrease the delay after a \
               departure and cost messages; how many follows from the loss. The chapter proposes \
               all three and studies none.",
        choices: &[
            "T_S = 1 s, Δ = .1 s; T_A = 1 s unless it varies.",
            "A joiner: N = 20, no loss, one joins that is not to lead; T_L is infinite.",
            "A start: loss .4, uncorrelated. A Query counts as an announcement, as section 5.7 \
             says, so it may settle the election by itself. Four times as many runs below N = 50.",
            "A Query waits for a round trip and announces then. Answers to Suppress-then-Query \
             are spread over Δ.",
            "A departure: N = 20, LE-S, T_L = 30 s, uncorrelated loss; copies are the smallest \
             whole number not below 1 + X(N − 1), the mean that section 5.7 names; or one, or \
             three times as many.",
        ],
        panels: vec![joiner(), departure(), start(true), start(false)],
        claims,
        ..Figure::BARE
    }
}

fn joiner() -> Panel {
    let mut series = Vec::new();
    for (hue, (name, variant)) in VARIANTS.into_iter().enumerate() {
        let simulation = |ratio| {
            let point = point(variant, N, Loss::None);
            let point = point.with("announce", duration(ratio * DELAY));
            point.scenario(Scenario::JoinSmaller, 2.0 * ratio * DELAY + 5.0)
        };
        series.push(simulated(name, hue, Measure::ReestablishmentDelay, &RATIOS, simulation));
    }
    let y = Axis::log("time until it follows", "s");
    Panel { title: "a joiner learns who leads", x: Axis::log("T_A/Δ", ""), y, series }
}

fn start(delay: bool) -> Panel {
    let measure = if delay { Measure::LeadershipDelay } else { Measure::Messages };
    let series = VARIANTS.into_iter().enumerate().map(|(hue, (name, variant))| {
        // Small groups vary by much, and cost little.
        let runs = |n: f64| if n < 50.0 { 4000 } else { 1000 };
        let simulation = |n: f64| point(variant, n as u32, Loss::apart(L)).runs(runs(n));
        simulated(name, hue, measure, &SIZES, simulation)
    });
    let (title, y) = if delay {
        ("start, l = .4: delay", Axis::linear("leadership delay", "s"))
    } else {
        ("start, l = .4: messages", Axis::log("messages", ""))
    };
    Panel { title, x: Axis::log("processes N", ""), y, series: series.collect() }
}

/// How many Byes a leader of 20 sends at this loss.
fn byes(l: f64) -> u32 {
    bye_copies(u64::from(N - 1), l).unwrap_or(u32::MAX)
}

fn departure() -> Panel {
    let simulation =
        |l: f64, copies: u32| departing(Variant::LeS, N, Loss::apart(l)).with("bye-copies", copies);
    let measure = Measure::ReestablishmentDelay;
    let series = vec![
        simulated(NO_BYE, 4, measure, &LOSSES, |l| simulation(l, 0)),
        simulated(ONE_BYE, 5, measure, &LOSSES, |l| simulation(l, 1)),
        simulated(MEAN_BYES, 6, measure, &LOSSES, |l| simulation(l, byes(l))),
        simulated(MORE_BYES, 7, measure, &LOSSES, |l| simulation(l, 3 * byes(l))),
    ];
    let (x, y) = (Axis::linear("loss l", ""), Axis::linear("re-establishment delay", "s"));
    Panel { title: "the leader departs", x, y, series }
}

/// The numbers of all four at x.
fn all_four(pane: &Pane, x: f64, unit: &str) -> String {
    VARIANTS.map(|(name, _)| format!("{name} {}{unit}", value(pane.curve(name).at(x)))).join(", ")
}

fn claims(finding: &Finding) -> Vec<Claim> {
    let [joiner, departure, delay, messages] = &finding.panes[..] else { return Vec::new() };
    let mut claims = claims_of_joiners(joiner);
    claims.extend(claims_of_starts(delay, messages));
    claims.extend(claims_of_byes(departure));
    claims
}

fn claims_of_joiners(pane: &Pane) -> Vec<Claim> {
    let [le_a, le_s, query, later] = VARIANTS.map(|(name, _)| pane.curve(name));
    let sooner = |slow: &Curve, fast: &Curve| -> Vec<Comparison> {
        let longest = slow.beside(fast).last().map(|(slow, fast)| at_least(slow, fast));
        let never =
            slow.beside(fast).map(|(slow, fast)| no_less_by(slow, fast, Margin::Log.of(slow.y)));
        never.chain(longest).collect()
    };
    let asked = "sooner where T_A is longest, and nowhere later by more than 10 %";
    let in_words = |slow: &Curve, fast: &Curve| match above_from(slow, fast) {
        Some(ratio) => format!("sooner than {} from T_A = {ratio} Δ on", slow.name),
        None => format!("not sooner than {} even where T_A is longest", slow.name),
    };
    vec![
        Claim::compared(
            "A Query is answered sooner than the next announcement comes, if T_A is long, and \
             never later.",
            "5.7",
            asked,
            &[sooner(le_a, query), sooner(le_s, query)].concat(),
            format!("{}; at 32 Δ {}", in_words(le_a, query), all_four(pane, 32.0, " s")),
        ),
        Claim::compared(
            "Suppress-then-Query helps a joiner too: it learns who leads sooner than in LE-S, if \
             T_A is long, and never later.",
            "5.7",
            asked,
            &sooner(le_s, later),
            format!(
                "T_S = 10 Δ: {}; at 128 Δ {}",
                in_words(le_s, later),
                all_four(pane, 128.0, " s"),
            ),
        ),
    ]
}

fn claims_of_starts(delay: &Pane, messages: &Pane) -> Vec<Claim> {
    let [le_a, le_s, query, later] = VARIANTS.map(|(name, _)| delay.curve(name));
    let [sends_a, sends_s, asks, asks_later] = VARIANTS.map(|(name, _)| messages.curve(name));
    vec![
        Claim::compared(
            "When all begin at once Suppress-then-Query generates fewer messages than Query.",
            "5.7",
            ABOVE,
            &lies_above(asks, asks_later),
            format!("N = 100: {}", all_four(messages, 100.0, "")),
        ),
        Claim::compared(
            "It takes longer than Query to establish a leader.",
            "5.7",
            ABOVE,
            &lies_above(later, query),
            format!("N = 100: {}", all_four(delay, 100.0, " s")),
        ),
        Claim::compared(
            "At a start with loss Query is an improvement on LE-A, and Suppress-then-Query one on \
             LE-S, in delay.",
            "ours",
            ABOVE,
            &[lies_above(le_a, query), lies_above(le_s, later)].concat(),
            format!("N = 20: {}", all_four(delay, 20.0, " s")),
        )
        .explained(
            Verdict::Confirmed,
            "who has asked announces a round trip later, and need not wait for T_A to say it again",
        ),
        Claim::compared(
            "At a start neither spares messages nor costs any: Query generates as many as LE-A, \
             and Suppress-then-Query as many as LE-S.",
            "ours",
            &format!("as many is {}", Margin::Log.in_words()),
            &[equal(asks, sends_a, Margin::Log), equal(asks_later, sends_s, Margin::Log)].concat(),
            format!("N = 20: {}", all_four(messages, 20.0, "")),
        ),
    ]
}

fn claims_of_byes(departure: &Pane) -> Vec<Claim> {
    let curves = [NO_BYE, ONE_BYE, MEAN_BYES, MORE_BYES].map(|name| departure.curve(name));
    let [silent, once, enough, more] = curves;
    let at = |l: f64| {
        let [silent, once, enough, more] = curves.map(|curve| value(curve.at(l)));
        let copies = byes(l);
        format!(
            "at l = {l}: {silent} s without, {once} s with one, {enough} s with {copies}, {more} \
             s with {}",
            3 * copies,
        )
    };
    let in_words = [0.0, 0.4, 0.7].map(at).join("; ");
    vec![
        Claim::compared(
            "Byes decrease the delay after a departure.",
            "5.7",
            ABOVE,
            &[lies_above(silent, once), lies_above(silent, enough)].concat(),
            in_words.clone(),
        ),
        Claim::compared(
            "The mean number of announcements that reaches all is a number of Byes that reaches \
             all: with more of them nothing would be gained.",
            "5.7",
            &format!("nothing is {}", Margin::Linear.in_words()),
            &equal(more, enough, Margin::Linear),
            in_words,
        )
        .explained(
            Verdict::Refuted,
            "a mean is too few about as often as not, and who misses them waits for T_L",
        ),
    ]
}
