//! What is wrong in the papers: each error, its size, the right form, and the simulation that
//! decides.
//!
//! [`document`] writes all of it as Markdown; `docs/errata.md` is what it writes, and a test
//! compares. So no number there is typed, and none outlives a change of a formula.

mod announce_listen;
mod classic;
mod command;
mod local_leader;
mod probabilistic;

use crate::figures::Verdict;
use crate::inputs::{Inputs, Loss, OutOfDomain, ValidInputs};
use crate::numbers::precise;
use crate::point::Point;
use crate::quantity::{Formula, quantity};
use crate::support::Support;
use bellwether_sim::stats::Summary;
use bellwether_sim::{Answer, BadExperiment, Measure};
use std::fmt::{self, Write};

/// One error.
#[derive(Clone, Debug)]
pub struct Erratum {
    /// What it is about.
    pub title: &'static str,
    /// Where.
    pub section: &'static str,
    /// What the paper has.
    pub printed: &'static str,
    /// What it should have.
    pub corrected: &'static str,
    /// Why.
    pub why: &'static str,
    /// Where the difference shows.
    pub cases: Vec<Case>,
}

/// Named parameters at which both forms are compared with a simulation.
#[derive(Clone, Debug)]
pub enum Case {
    /// Both forms of a quantity.
    Forms {
        /// The quantity's name.
        quantity: &'static str,
        /// Where it is asked about.
        given: Inputs,
        /// How many runs decide.
        runs: u64,
    },
    /// A protocol as printed and as corrected: what each does.
    Programs {
        /// The protocol as printed; without its mistake it is the corrected one.
        printed: Point,
        /// Where both are run, as the papers write it.
        parameters: String,
        /// What is measured of both.
        measure: Measure,
    },
    /// A claim of a figure, whose verdict decides.
    Figure {
        /// The figure's name.
        figure: &'static str,
        /// The claim, as the figure words it.
        claim: &'static str,
        /// Its verdict.
        verdict: Verdict,
    },
    /// A test that decides what no number shows.
    Test {
        /// The command that runs it.
        command: &'static str,
    },
}

/// Why the errata cannot be written.
#[derive(Clone, Debug, PartialEq)]
pub enum Unwritten {
    /// A formula has no value where the errata need one.
    Formula(String, OutOfDomain),
    /// A simulation cannot be done.
    Simulation(String, BadExperiment),
    /// The end of the watch cut so many runs of a simulation: its mean is too low.
    Cut(String, u64),
}

impl fmt::Display for Unwritten {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Formula(name, why) => write!(f, "{name}: {why}"),
            Self::Simulation(command, why) => write!(f, "{command}: {why}"),
            Self::Cut(command, runs) => write!(
                f,
                "{command}: its window cut {runs} runs, so that its mean is too low; give its \
                 quantity a longer window"
            ),
        }
    }
}

impl std::error::Error for Unwritten {}

/// One row of a table: what is compared, where, and what came out.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// What is compared.
    pub what: String,
    /// At which parameters.
    pub parameters: String,
    /// As printed; or why it has no value.
    pub printed: Result<f64, String>,
    /// As corrected.
    pub corrected: f64,
    /// What the simulation gave, if there is one.
    pub simulated: Option<Summary>,
    /// Which form it supports.
    pub support: Option<Support>,
    /// The command that repeats it.
    pub command: String,
}

/// All errors, paper by paper.
pub fn errata() -> Vec<Erratum> {
    let mut all = announce_listen::errata();
    all.extend(classic::errata());
    all.extend(probabilistic::errata());
    all.extend(local_leader::errata());
    all
}

impl Case {
    /// Compares; a figure and a test have no numbers here.
    ///
    /// # Errors
    /// [`Unwritten`], if the corrected form has no value, or the simulation cannot be done or is
    /// cut.
    pub fn row(&self) -> Result<Option<Row>, Unwritten> {
        match self {
            Self::Forms { quantity, given, runs } => forms(quantity, *given, *runs).map(Some),
            Self::Programs { printed, parameters, measure } => {
                programs(printed, parameters.clone(), *measure).map(Some)
            }
            Self::Figure { .. } | Self::Test { .. } => Ok(None),
        }
    }

    /// The command of a case without numbers.
    fn command(&self) -> Option<String> {
        match self {
            Self::Figure { figure, .. } => Some(format!("bellwether reproduce {figure}")),
            Self::Test { command } => Some((*command).to_owned()),
            Self::Forms { .. } | Self::Programs { .. } => None,
        }
    }
}

/// The mean of a simulation, and all that is known of its error.
///
/// # Errors
/// [`Unwritten::Cut`]: the mean of a measure that the window cut is that of the runs that were over
/// soon.
fn whole(answer: &Answer, measure: Measure, point: &Point) -> Result<Option<Summary>, Unwritten> {
    match answer.cut(measure) {
        Some(cut) => Err(Unwritten::Cut(point.command(), cut.runs)),
        None => Ok(answer.measure(measure).cloned()),
    }
}

fn forms(name: &'static str, given: Inputs, runs: u64) -> Result<Row, Unwritten> {
    let failed = |why| Unwritten::Formula(name.to_owned(), why);
    let unknown = OutOfDomain::NoValue("no quantity has this name");
    let found = quantity(name).ok_or_else(|| failed(unknown))?;
    let inputs = ValidInputs::try_from(given).map_err(failed)?;
    let corrected = (found.corrected)(&inputs).map_err(failed)?;
    let printed = (found.printed as Formula)(&inputs);
    let simulation = (found.simulation)(&inputs);
    // Where nothing is simulated both forms are computed again.
    let (mut simulated, mut command) = (None, command::analyze(found, &inputs));
    if let Some((point, measure)) = simulation {
        // Points come with the proportion of runs that suits them, of a thousand.
        let runs = (point.runs * runs / 1000).max(2);
        let point = point.runs(runs).seed(1);
        command = point.command();
        simulated = whole(&answer(&point)?, measure, &point)?;
    }
    let value = printed.as_ref().ok().copied();
    // An approximation is not expected to agree to the last digit.
    let judged = simulated.as_ref().filter(|_| (found.exact)(&inputs));
    Ok(Row {
        what: format!("`{name}`"),
        parameters: parameters(found.reads, &inputs),
        printed: printed.map_err(|why| why.to_string()),
        corrected,
        support: judged.map(|summary| Support::of(summary, value, corrected)),
        simulated,
        command,
    })
}

fn programs(printed: &Point, parameters: String, measure: Measure) -> Result<Row, Unwritten> {
    let corrected = AS_PRINTED.iter().fold(printed.clone(), |point, name| point.without(name));
    let mean = |point: &Point| {
        let nothing = OutOfDomain::NoValue("nothing was measured");
        let summary = whole(&answer(point)?, measure, point)?;
        summary.map(|summary| summary.mean).ok_or(Unwritten::Formula(measure.name(), nothing))
    };
    let (wrong, right) = (mean(printed)?, mean(&corrected)?);
    Ok(Row {
        what: format!("`{}`, `{}`", printed.protocol, measure.name()),
        parameters,
        printed: Ok(wrong),
        corrected: right,
        simulated: None,
        support: None,
        command: printed.command(),
    })
}

/// The parameters by which a program is as its paper prints it; their defaults are corrected.
const AS_PRINTED: [&str; 3] = ["as-printed", "reinitiate", "as-published"];

fn answer(point: &Point) -> Result<Answer, Unwritten> {
    point.answer(0, &|| ()).map_err(|why| Unwritten::Simulation(point.command(), why))
}

/// The parameters that matter, as the papers write them.
fn parameters(reads: &[&str], inputs: &ValidInputs) -> String {
    let mut parts = Vec::new();
    for flag in reads {
        parts.push(match *flag {
            "nodes" => format!("N = {}", inputs.nodes),
            "loss" if inputs.loss == Loss::None => "l = 0".to_owned(),
            "loss" => format!("l = {} {}", inputs.loss.rate(), inputs.loss.name()),
            "delay" if reads.contains(&"delta") => format!("δ = {}", inputs.delay),
            "delay" => format!("Δ = {}", inputs.delay),
            "listen" => format!("T_L = {}", inputs.listen),
            "departures" => format!("{} departures/s", inputs.departures),
            "arrivals" => format!("{} arrivals/s", inputs.arrivals),
            "round" => format!("r = {}", inputs.round),
            "sent" => format!("i = {}", inputs.sent),
            "initiators" => match inputs.initiators {
                Some(count) => format!("k = {count}"),
                None => continue,
            },
            "links" => match inputs.links {
                Some(links) => format!("E = {links}"),
                None => continue,
            },
            "k" => format!("K = {}", inputs.k),
            "view" => format!("v = {}", inputs.view),
            "fail" => format!("p_fail = {}", inputs.fail),
            "ucast-loss" => format!("p_ucastl = {}", inputs.unicast_loss),
            "mcast-loss" => format!("p_mcastl = {}", inputs.multicast_loss),
            "preset" => format!("constants of `{}`", inputs.leases.preset.name()),
            "period" => match inputs.leases.period {
                Some(period) => format!("EP = {period}"),
                None => continue,
            },
            _ => continue,
        });
    }
    parts.join(", ")
}

/// All errata as Markdown.
///
/// # Errors
/// [`Unwritten`], if one of its numbers cannot be had.
pub fn document(progress: &mut dyn FnMut(usize, usize)) -> Result<String, Unwritten> {
    let errata = errata();
    let total = errata.iter().map(|erratum| erratum.cases.len()).sum();
    let mut done = 0;
    let mut text = String::from(HEAD);
    for (number, erratum) in (1..).zip(&errata) {
        let Erratum { title, section, printed, corrected, why, cases } = erratum;
        // Writing to a string cannot fail.
        let _ = write!(
            text,
            "\n## {number}. {title}\n\n*Where:* {section}.\n\n* Printed: {printed}\n* Corrected: \
             {corrected}\n* Why: {why}\n"
        );
        for case in cases {
            if let Case::Figure { figure, claim, verdict } = case {
                let verdict = verdict.name();
                let _ = writeln!(text, "* Figure `{figure}`: \"{claim}\" is {verdict}.");
            }
        }
        if !cases.iter().all(|case| case.command().is_some()) {
            text += TABLE;
        }
        let mut commands: Vec<String> = Vec::new();
        for case in cases {
            progress(done, total);
            let command = match case.row()? {
                Some(row) => {
                    text += &line(&row);
                    Some(row.command)
                }
                None => case.command(),
            };
            // Several measures may be of the same runs.
            commands.extend(command.filter(|command| !commands.contains(command)));
            done += 1;
        }
        let _ = write!(text, "\n```sh\n{}\n```\n", commands.join("\n"));
    }
    progress(done, total);
    Ok(text)
}

const HEAD: &str = "\
# Errata

What we found wrong in the papers, how large it is, and the simulation that decides. This page is
written by `bellwether analyze --errata`, and a test compares it with what that writes: every
number in it comes from the formulas in `crates/analysis` and from our simulations (seed 1).

*Simulated* is a mean with its 95 % interval. A form is *supported* if the simulation does not
speak against it at 99.9 %; forms that are approximations are shown beside the simulation and not
judged. So *supports* is – where the corrected form is an approximation or a bound, however far the
printed one lies from the interval; the text says what the numbers show. It is also – where nothing
is simulated beside the two forms: where both are formulas about constants, and where both columns
are simulations, of the program as printed and as corrected. Times are in seconds; T_S = T_A = 1 and
Δ = 0.1 unless said otherwise. Under each error stand the commands that decide: simulations,
formulas where nothing is random, a figure with its deciding claim, or a test that shows what no
number does.

The thesis is Eve M. Schooler, *Why multicast protocols (don't) scale*, California Institute of
Technology, 2001, [doi:10.7907/44QZ-R465](https://doi.org/10.7907/44QZ-R465). MEREA is
P. Beaulah Soundarabai, Thriveni J, K. R. Venugopal and L. M. Patnaik, *An improved leader election
algorithm for distributed systems*, International Journal of Next-Generation Networks 5(1), 2013.
The lecture is Christian Fischer Pedersen, *Leader election*, Aarhus University, 2020.
Gupta and others is Indranil Gupta, Robbert van Renesse and Kenneth P. Birman, *A probabilistically
correct leader election protocol for large groups*, technical report, Cornell University, 2000.
Fetzer and Cristian is Christof Fetzer and Flaviu Cristian, *A highly available local leader
election service*, IEEE Transactions on Software Engineering 25(5), 1999; C1 to C6 are the
corrections by which our protocol differs from theirs.
";

const TABLE: &str = "
| what | where | printed | corrected | simulated | supports |
|---|---|---|---|---|---|
";

fn line(row: &Row) -> String {
    let printed = match &row.printed {
        Ok(value) => precise(*value),
        Err(why) => format!("none: {why}"),
    };
    let simulated = row.simulated.as_ref().map_or_else(
        || "–".to_owned(),
        |summary| {
            let [low, high] = summary.ci95;
            format!("{} ({} to {})", precise(summary.mean), precise(low), precise(high))
        },
    );
    let support = row.support.map_or("–", Support::name);
    let (what, corrected) = (&row.what, precise(row.corrected));
    format!("| {what} | {} | {printed} | {corrected} | {simulated} | {support} |\n", row.parameters)
}
