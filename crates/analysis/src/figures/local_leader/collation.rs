//! Figure 29: replies through a tree against direct replies, and how many of them arrive.

use super::common::{Group, HARDWARE, PROCESSING};
use crate::figures::evidence::{Margin, exactly, scaled, value};
use crate::figures::tell::{at_least, within};
use crate::figures::{Axis, Claim, Curve, Dot, Figure, Finding, Law, Panel, Series, Trial};
use crate::numbers::number;
use bellwether_core::Duration;
use bellwether_protocols::local_leader::{Config, Mode, Preset};

/// How many processes there are.
const SIZES: [u32; 4] = [8, 16, 32, 64];
/// How many there are where answers are counted, up to as many as a group may have.
const COUNTED: [u32; 4] = [8, 32, 128, 1024];
/// Children of a process, as in figure 28.
const WIDTH: u32 = 3;
/// Elections in a run, and runs at a budget of a thousand.
const ELECTIONS: usize = 20;
const RUNS: u64 = 10;
/// Requests of which the answers are counted, and runs; their number is not random.
const REQUESTS: usize = 2;
const FIXED: u64 = 2;

const DIRECT: &str = "direct replies";
const TREE: &str = "a tree of width 3";
const DIRECT_COUNT: &str = "answers, direct replies";
const TREE_COUNT: &str = "answers, a tree of width 3";
const DIRECT_TIME: &str = "renewal time, direct replies";
const TREE_TIME: &str = "renewal time, a tree of width 3";

type Run = fn(u32, u64, u64) -> Option<f64>;

pub(super) fn figure() -> Figure {
    let series = |name: &'static str, hue, run: Run| {
        let trial = |nodes: &u32| {
            let trial = Trial {
                name,
                argument: *nodes,
                runs: RUNS,
                messages: 2 * ELECTIONS as u64 * u64::from(*nodes),
                law: Law::Mean,
                run,
            };
            (f64::from(*nodes), trial)
        };
        Series::measured(name, hue, SIZES.iter().map(trial))
    };
    let series = vec![
        series(DIRECT, 0, |nodes, seed, run| mean(nodes, 0, seed, run)),
        series(TREE, 1, |nodes, seed, run| mean(nodes, WIDTH, seed, run)),
    ];
    let x = Axis::log("processes", "");
    let time = Panel { title: "election time", x, y: Axis::log("election time", "ms"), series };
    let y = Axis::log("messages at the leader for each request", "");
    let answers = Panel { title: "answers to a request", x, y, series: counts() };
    let y = Axis::linear("renewal time", "ms");
    let renewals = Panel { title: "renewal time beside them", x, y, series: renewal_times() };
    Figure {
        title: "Replies through a tree, and direct replies",
        source: "Fetzer and Cristian, figure 29",
        says: "The election time of eight processes, three of which reply to the leader directly, \
            and three through another, against that with direct replies. The improvement was not \
            sufficient to justify the complexity; with more processes it could be significant.",
        choices: &[
            HARDWARE,
            "Messages take from .5 to 1.5 ms, evenly, and a process .5 ms over each that it \
             receives, one after the other. Nothing is lost, and clocks are exact.",
            "The constants are those of the preset `wan`, since 64 replies take their receiver 32 \
             ms: with Δ = 15 ms they would be slow.",
            "Renewals count, from the request until the last answer is handled.",
            "Up to 1024 processes messages take 1 ms and processors no time, for the answers and \
             the renewal time beside them: with .5 ms each, the answers of 1024 processes would \
             take their receiver half a second, and be slow. This is in majority mode: where any \
             process may lead, 1024 that start at once all ask all.",
        ],
        panels: vec![time, answers, renewals],
        claims,
        ..Figure::BARE
    }
}

/// How many messages reach the leader as answers to a request.
fn counts() -> Vec<Series> {
    vec![
        fixed(DIRECT_COUNT, 0, |nodes, seed, run| answers(nodes, 0, seed, run)),
        fixed(TREE_COUNT, 1, |nodes, seed, run| answers(nodes, WIDTH, seed, run)),
    ]
}

/// How long it takes until a request is granted, where nothing but the way takes time.
fn renewal_times() -> Vec<Series> {
    vec![
        fixed(DIRECT_TIME, 0, |nodes, seed, run| even_mean(nodes, 0, seed, run)),
        fixed(TREE_TIME, 1, |nodes, seed, run| even_mean(nodes, WIDTH, seed, run)),
    ]
}

/// What is not random, up to as many processes as a group may have.
fn fixed(name: &'static str, hue: usize, run: Run) -> Series {
    let trial = |nodes: &u32| {
        let (argument, law) = (*nodes, Law::Fixed);
        let messages = u64::from(*nodes) * u64::from(*nodes);
        (f64::from(*nodes), Trial { name, argument, runs: FIXED, messages, law, run })
    };
    Series::measured(name, hue, COUNTED.iter().map(trial))
}

fn group(mode: Mode, nodes: u32, tree: u32, processing: Duration) -> Group {
    let config =
        Config { mode, preset: Preset::Wan, drift_ppm: Some(0), tree, ..Config::default() };
    Group { config, nodes, processing }
}

/// How long a renewal of this group takes, in milliseconds, on average over a run.
fn mean(nodes: u32, tree: u32, seed: u64, run: u64) -> Option<f64> {
    let took = group(Mode::Local, nodes, tree, PROCESSING).renewals(ELECTIONS, seed, run)?;
    Some(1000.0 * took.iter().sum::<f64>() / took.len() as f64)
}

/// How long a renewal takes where each message takes a millisecond, in milliseconds.
fn even_mean(nodes: u32, tree: u32, seed: u64, run: u64) -> Option<f64> {
    let group = group(Mode::Majority, nodes, tree, Duration::ZERO);
    let took = group.even_renewals(REQUESTS, seed, run)?;
    Some(1000.0 * took.iter().sum::<f64>() / took.len() as f64)
}

/// How many levels the tree of so many processes has below its root.
fn levels(nodes: f64) -> u32 {
    let (mut levels, mut below, mut width) = (0, 0.0, 1.0);
    while below < nodes - 1.0 {
        width *= f64::from(WIDTH);
        below += width;
        levels += 1;
    }
    levels
}

/// How many messages reach the leader as answers to a request, on average over a run.
fn answers(nodes: u32, tree: u32, seed: u64, run: u64) -> Option<f64> {
    group(Mode::Majority, nodes, tree, Duration::ZERO).answers(REQUESTS, seed, run)
}

/// What counts as little: a fifth.
const LITTLE: f64 = 0.8;
/// What counts as significant: half.
const MUCH: f64 = 0.5;

fn claims(finding: &Finding) -> Vec<Claim> {
    let (direct, tree) = (finding.curve(DIRECT), finding.curve(TREE));
    let at = |nodes: f64| {
        let [direct, tree] = [direct, tree].map(|curve| curve.at(nodes));
        let because = format!("{} ms directly and {} ms by the tree", value(direct), value(tree));
        (direct, tree, because)
    };
    let (few, few_tree, of_few) = at(8.0);
    let (many, many_tree, of_many) = at(64.0);
    vec![
        Claim::compared(
            "For eight processes a tree improves the election time too little to be worth it.",
            "section XI, figure 29",
            "little is at most a fifth",
            &[at_least(few_tree, &scaled(few, LITTLE))],
            of_few,
        ),
        Claim::compared(
            "With more processes it could decrease the election time significantly.",
            "section XI",
            "significant is by half or more, of 64 processes",
            &[at_least(&scaled(many, MUCH), many_tree)],
            of_many,
        ),
        received(
            "Directly, N − 1 answers to a request reach the leader.",
            "sections II and XII",
            finding.curve(DIRECT_COUNT),
            |nodes| nodes - 1.0,
        ),
        received(
            "With a tree, as many answers as it is wide reach the leader, up to 1024 processes.",
            "ours, of section XI, figure 28",
            finding.curve(TREE_COUNT),
            |_| f64::from(WIDTH),
        ),
        price(finding),
    ]
}

/// What the fewer answers cost, if processors take no time: a delay for each level of the tree.
fn price(finding: &Finding) -> Claim {
    let (direct, tree) = (finding.curve(DIRECT_TIME), finding.curve(TREE_TIME));
    let tests = |(direct, tree): (&Dot, &Dot)| {
        let [trip, longest] = [2.0, 1.0 + f64::from(levels(tree.x))];
        let [more, less] = within(direct, &exactly(direct.x, trip), 0.0);
        [more, less, at_least(tree, direct), at_least(&exactly(tree.x, longest), tree)]
    };
    let tests: Vec<_> = direct.beside(tree).flat_map(tests).collect();
    let list = |(direct, tree): (&Dot, &Dot)| {
        format!("{} and {} ms of {} processes", number(direct.y), number(tree.y), direct.x)
    };
    let list: Vec<_> = direct.beside(tree).map(list).collect();
    Claim::compared(
        "If processors take no time a tree makes renewals longer, by no more than a delay for each \
         level below the first.",
        "ours, of section XI, figure 28",
        "a round trip directly, and a delay more for each level at most",
        &tests,
        format!("directly and by the tree: {}", list.join(", ")),
    )
}

/// Claims that so many answers to a request reach the leader.
fn received(
    says: &'static str,
    section: &'static str,
    curve: &Curve,
    expected: fn(f64) -> f64,
) -> Claim {
    let dots = COUNTED.map(|nodes| curve.at(f64::from(nodes)));
    let list = dots.map(|dot| format!("{} of {} processes", value(dot), dot.x)).join(", ");
    let test = |dot: &Dot| within(dot, &exactly(dot.x, expected(dot.x)), 0.0);
    let tests = dots.map(test).concat();
    Claim::compared(says, section, &Margin::Exact.equal(), &tests, list)
}
