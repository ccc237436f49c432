//! Ours: wake-up times that follow from what governs leadership (sections 5.4.3 and 5.6).

use super::sketch::{formula, simulated};
use crate::announce_listen::point;
use crate::figures::evidence::{ABOVE, Margin, equal, lies_above, value};
use crate::figures::tell::Comparison;
use crate::figures::{Axis, Claim, Figure, Finding, Kind, Pane, Panel};
use crate::inputs::{Inputs, Loss};
use crate::point::{Point, duration};
use bellwether_protocols::announce_listen::{Criterion, Variant, WakeBy};
use bellwether_sim::Measure;

const SIZES: [f64; 8] = [2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0, 500.0];
const L: f64 = 0.4;
/// The jitter that is shown, in seconds: half of T_S.
const JITTER: f64 = 0.5;

/// How wake-up times come about.
#[derive(Clone, Copy)]
enum Wake {
    Random,
    ById(f64),
    ByRank,
    Leads,
    AtOnce,
}

impl Wake {
    /// The formula there is for its delay, or for its messages.
    fn quantity(self, delay: bool) -> Option<&'static str> {
        match self {
            Self::Random => Some(if delay { "le-s.leadership-delay" } else { "le-s.messages" }),
            Self::Leads => Some(if delay { "le-m.leadership-delay" } else { "le-m.messages" }),
            Self::AtOnce => Some(if delay { "le-a.leadership-delay" } else { "le-a.messages" }),
            Self::ById(_) | Self::ByRank => None,
        }
    }
}

const LE_S: &str = "LE-S: at random";
const BY_ID: &str = "LE-S: by id";
const JITTERED: &str = "LE-S: by id, jitter .5 s";
const BY_RANK: &str = "LE-S: by a random rank";
const LE_M: &str = "LE-M: the earliest leads";
const LE_A: &str = "LE-A: no wait";
const WAYS: [(&str, Wake); 6] = [
    (LE_S, Wake::Random),
    (BY_ID, Wake::ById(0.0)),
    (JITTERED, Wake::ById(JITTER)),
    (BY_RANK, Wake::ByRank),
    (LE_M, Wake::Leads),
    (LE_A, Wake::AtOnce),
];

pub(super) fn figure() -> Figure {
    let lossy = Loss::apart(L);
    Figure {
        title: "Wake-up times that follow from what governs leadership",
        source: "ours; sections 5.4.3, 5.6 and 5.7",
        says: "Choosing the greatest id is slow because ids and wake-up times have nothing to do \
               with each other. LE-M makes the earliest lead; the chapter suggests in general to \
               make the wake-up time a function of whatever governs leadership, and expects the \
               least delay and the fewest messages of that, but simulates only LE-M.",
        choices: &[
            "T_S = T_A = 1 s, Δ = .1 s, T_L infinite; loss .4, uncorrelated.",
            "Groups below 50 get four times as many runs: with loss they differ by little.",
            "By id: N − 1 wakes at 0, id 0 at T_S, the others evenly between; jitter is a random \
             addition below the time named.",
            "By a random rank: the greatest rank leads, the wake-up falls linearly with it. What \
             is measured in practice is spread like that, and not evenly.",
        ],
        panels: vec![
            panel("delay, no loss", Loss::None, true),
            panel("messages, no loss", Loss::None, false),
            panel("delay, l = .4", lossy, true),
            panel("messages, l = .4", lossy, false),
        ],
        claims,
        ..Figure::BARE
    }
}

fn simulation(wake: Wake, nodes: u32, loss: Loss) -> Point {
    let variant = match wake {
        Wake::Leads => Variant::LeM,
        Wake::AtOnce => Variant::LeA,
        Wake::Random | Wake::ById(_) | Wake::ByRank => Variant::LeS,
    };
    // Small groups differ by little, and cost little.
    let runs = if nodes < 50 { 4000 } else { 1000 };
    let point = point(variant, nodes, loss).runs(runs);
    let standing = WakeBy::Standing.name();
    match wake {
        Wake::ById(jitter) => point.with("mapping", standing).with("jitter", duration(jitter)),
        Wake::ByRank => point.with("mapping", standing).with("criterion", Criterion::Rank.name()),
        Wake::Random | Wake::Leads | Wake::AtOnce => point,
    }
}

fn panel(title: &'static str, loss: Loss, delay: bool) -> Panel {
    let measure = if delay { Measure::LeadershipDelay } else { Measure::Messages };
    let mut series = Vec::new();
    for (hue, (name, wake)) in WAYS.into_iter().enumerate() {
        if let Some(quantity) = wake.quantity(delay) {
            let given = |n| Inputs { nodes: n as u32, loss, ..Inputs::default() };
            series.push(formula(Kind::Corrected, quantity, name, hue, &SIZES, given));
        }
        series.push(simulated(name, hue, measure, &SIZES, |n| simulation(wake, n as u32, loss)));
    }
    let y = if delay { Axis::linear("leadership delay", "s") } else { Axis::log("messages", "") };
    Panel { title, x: Axis::log("processes N", ""), y, series }
}

/// That a rank is as good as a wake-up, as the axis of the pane is read.
fn as_good(pane: &Pane) -> Vec<Comparison> {
    let margin = if pane.y.log { Margin::Log } else { Margin::Linear };
    equal(pane.curve(BY_RANK), pane.curve(LE_M), margin)
}

fn claims(finding: &Finding) -> Vec<Claim> {
    let [delay, messages, lossy_delay, lossy_messages] = &finding.panes[..] else {
        return Vec::new();
    };
    let panes = [delay, messages, lossy_delay, lossy_messages];
    let less = |panes: &[&Pane], better: &[&str]| -> Vec<Comparison> {
        let than_random = |pane: &Pane, name: &str| lies_above(pane.curve(LE_S), pane.curve(name));
        panes
            .iter()
            .flat_map(|pane| better.iter().flat_map(|name| than_random(pane, name)))
            .collect()
    };
    let at = |pane: &Pane, name: &str| value(pane.curve(name).at(100.0));
    let in_words = |pane: &Pane, unit: &str| {
        let names = [LE_S, BY_ID, BY_RANK, LE_M];
        let [random, by_id, by_rank, le_m] = names.map(|name| at(pane, name));
        format!("{random}{unit} at random, {by_id} by id, {by_rank} by rank, {le_m} LE-M")
    };
    vec![
        Claim::compared(
            "Making the wake-up time a function of what governs leadership is sooner done than \
             LE-S with random timers.",
            "5.4.3, 5.6",
            ABOVE,
            &less(&[delay, lossy_delay], &[BY_ID, BY_RANK]),
            format!(
                "N = 100: {}; at l = .4 {}",
                in_words(delay, " s"),
                in_words(lossy_delay, " s")
            ),
        ),
        Claim::compared(
            "It also needs fewer messages.",
            "5.4.3",
            ABOVE,
            &less(&[messages, lossy_messages], &[BY_ID, BY_RANK]),
            format!(
                "N = 100: {}; at l = .4 {}",
                in_words(messages, ""),
                in_words(lossy_messages, "")
            ),
        ),
        Claim::compared(
            "Choosing the earliest wake-up is an improvement on the greatest id.",
            "5.4.3, 5.6",
            ABOVE,
            &less(&panes, &[LE_M]),
            format!("N = 100: {}", in_words(delay, " s")),
        ),
        Claim::compared(
            "A rank that decides on the wake-up is as good as a wake-up that decides on the rank.",
            "5.4.3",
            "as good is within 5 % in delay and 10 % in messages, as their axes are read",
            &panes.map(as_good).concat(),
            format!("N = 100, l = .4: {}", in_words(lossy_delay, " s")),
        ),
        Claim::compared(
            "Probabilistically smaller wake-up times for greater ids suffice: with a jitter of \
             half of T_S there is still an improvement on random timers.",
            "5.4.3",
            ABOVE,
            &less(&panes, &[JITTERED]),
            format!(
                "N = 100, no loss: {} s and {} messages instead of {} s and {}",
                at(delay, JITTERED),
                at(messages, JITTERED),
                at(delay, LE_S),
                at(messages, LE_S),
            ),
        ),
    ]
}
