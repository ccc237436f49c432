//! The command line: the subcommands, the flags they share, and how results are written.

pub mod ask;
mod commands;
mod connect;
mod failure;
mod file;
mod flags;
mod memory;
mod output;
mod runtime_dir;
mod signals;

use bellwether::protocols::choice::{Entry, PROTOCOLS};
use clap::parser::ValueSource;
use clap::{ArgMatches, CommandFactory, FromArgMatches, Parser, Subcommand};
use commands::{
    analyze, check, check_config, completions, demo, guard, keygen, keys, lab, members, plan,
    protocols, reload, replay, report, reproduce, resign, run, sim, status, sweep, trace, transfer,
    watch, why,
};
use failure::Failure;
use flags::group;
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

/// Leader election without a coordinator: run it, simulate it, measure it, try to break it.
#[derive(Parser, Debug)]
#[command(name = "bellwether", version, max_term_width = 100, after_help = EXAMPLES)]
struct Bellwether {
    #[command(subcommand)]
    command: Command,
}

const EXAMPLES: &str = "\
Examples:
  bellwether demo                                  five processes, four failovers, and the proof
  bellwether sim le-s                              a hundred processes elect a leader, 1000 times
  bellwether sim le-s --nodes 1000000 --loss .4    a million do, with 40 % of the messages lost
  bellwether sim local-leader --loss .01           five hold leases: never two leaders
  bellwether trace le-s --nodes 8 --svg run.svg    one election, as a picture
  bellwether lab                                   all of it in a browser
  bellwether check local-leader                    whatever goes wrong: are there ever two leaders?
  bellwether analyze le-s.leadership-delay         what the paper computes, and what is right
  bellwether plan announce-listen --loss .05       timers for at most one false alarm a day
  bellwether plan local-leader --detect 1s         leases that replace a dead leader in time
  bellwether run web --config web.toml -- CMD      CMD runs on one of the members at a time
  bellwether protocols                             what there is and what it promises

Durations: 250ms, 1.5s; a bare number is seconds. Every command knows --help.";

#[derive(Subcommand, Debug)]
enum Command {
    /// Simulate a protocol many times and sum up how it did
    Sim(Box<sim::Sim>),
    /// Simulate many points, in pieces that survive an interruption, and make one table of them
    Sweep(sweep::Sweeping),
    /// Join the pieces of a sweep that several machines made
    Merge(sweep::merge::Merge),
    /// Simulate one run and show all that happened: as text, JSON lines or a picture
    Trace(Box<trace::Trace>),
    /// Try to break what a protocol promises, with random faults
    Check(Box<check::Check>),
    /// Draw the figures of the papers again, and judge what they claim
    Reproduce(reproduce::Reproduce),
    /// Compute what a paper computes: as printed, as corrected, and as simulated
    Analyze(Box<analyze::Analyze>),
    /// Choose a protocol's parameters from goals, and confirm what to expect by simulation
    Plan(plan::Planning),
    /// Watch five processes elect a leader, lose it four times, and never have two
    Demo(demo::Demo),
    /// See elections in a browser: play a run and break it, measure, judge, watch a live group
    Lab(lab::Laboratory),
    /// Be a member of a group; run a command only while it leads
    Run(Box<run::Run>),
    /// Check all settings of a member, and show the values that satisfy each rule
    CheckConfig(Box<check_config::CheckConfig>),
    /// Show the state of a running member: role, leader, leases, members, refused datagrams
    Status(status::Show),
    /// List the members of a group as a member on this machine sees them; or change who votes
    Members(members::Members),
    /// Show the present state of a running member, and each change
    Watch(watch::Watch),
    /// Make a running leader give up its leadership; it stays in the group
    Resign(resign::Resign),
    /// Make a running leader hand over to another member; it stays in the group
    Transfer(transfer::Transfer),
    /// List the keys of all members of a running group, by their short names; or change them
    Keys(keys::Keys),
    /// Make a running member read its settings again; it goes on leading
    Reload(reload::Reload),
    /// Explain why a running member leads, follows, or does neither
    Why(why::Why),
    /// Tell who led when, why no longer, and how long nobody did
    Report(report::Report),
    /// Replay recorded traces and name the first difference
    Replay(replay::Replay),
    /// List the protocols and what they promise
    Protocols(protocols::Protocols),
    /// Make a new key for a group
    Keygen(keygen::Keygen),
    /// Print a completion script for a shell
    Completions(completions::Completions),
    /// Print the manual page of the command, or of one of its subcommands
    Man(completions::Man),
    /// Keep watch over a command for the `run` that started this
    #[command(hide = true)]
    Guard(guard::Guard),
    /// Become another command, which ends when the process that started it does
    #[command(hide = true)]
    Leash(demo::leash::Leash),
}

/// Checks the text of a file with the settings of a member, for fuzzers; the error is one line.
///
/// # Errors
/// What is wrong with it.
pub fn check_settings(text: &str) -> Result<(), String> {
    let settings = run::Settings::of_text(text);
    settings.map(|_| ()).map_err(|failure| failure.into_line().0.unwrap_or_default())
}

/// The words of a page's flags for this command, for fuzzers.
///
/// # Errors
/// Which flag is not for a page, in one line.
pub fn spell_flags(command: &str, asked: bellwether_lab::Asked<'_>) -> Result<String, String> {
    lab::spell_flags(command, asked)
}

/// Checks the text of a file that describes a sweep, for fuzzers; the error is one line.
///
/// # Errors
/// What is wrong with it.
pub fn check_sweep(text: &str) -> Result<(), String> {
    sweep::described(text).map(|_| ())
}

/// Runs the command line. The exit code is 0 for success, 2 for bad usage, 78 for a bad file, and 1
/// for anything else.
pub fn main() -> ExitCode {
    if let Some(done) = guarded() {
        return code(done);
    }
    let (command, written) = match parse() {
        Ok(parsed) => parsed,
        Err(error) => return failure::of_usage(&error),
    };
    let given: Vec<String> = written.iter().map(|(flag, _)| flag.clone()).collect();
    let done = match command {
        Command::Sim(sim) => sim.run(&given),
        Command::Sweep(sweep) => sweep.run(),
        Command::Merge(merge) => merge.run(),
        Command::Trace(trace) => trace.run(&given),
        Command::Check(check) => check.run(&written),
        Command::Reproduce(reproduce) => reproduce.run(),
        Command::Analyze(analyze) => analyze.run(&given),
        Command::Plan(plan) => plan.run(),
        Command::Demo(demo) => demo.run(),
        Command::Lab(lab) => lab.run(),
        Command::Run(run) => run.run(&written),
        Command::CheckConfig(check) => check.run(&written),
        Command::Status(show) => show.run(),
        Command::Members(members) => members.run(),
        Command::Watch(watch) => watch.run(),
        Command::Resign(resign) => resign.run(),
        Command::Transfer(transfer) => transfer.run(),
        Command::Keys(keys) => keys.run(),
        Command::Reload(reload) => reload.run(),
        Command::Why(why) => why.run(),
        Command::Report(report) => report.run(),
        Command::Replay(replay) => replay.run(),
        Command::Protocols(protocols) => protocols.run(),
        Command::Keygen(keygen) => keygen.run(),
        Command::Completions(completions) => completions.run(),
        Command::Man(man) => man.run(),
        Command::Guard(guard) => guard.run(),
        Command::Leash(leash) => leash.run(),
    };
    code(done)
}

fn code(done: Done) -> ExitCode {
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}

/// Runs `guard` without clap's description of all flags, which costs time and memory: a member with
/// a command waits for two of them.
fn guarded() -> Option<Done> {
    let mut words = std::env::args_os().skip(1);
    let only = words.next().is_some_and(|word| word == "guard") && words.next().is_none();
    only.then(|| guard::Guard {}.run())
}

/// What the command line asks for, and the flags that were given on it with their values. Clap's
/// description of all flags is large; a member that runs for months does not keep it.
fn parse() -> Result<(Command, Written), clap::Error> {
    parse_words(&std::env::args_os().collect::<Vec<_>>())
}

/// The same of these words, of which the first is the name of the program.
fn parse_words(all: &[OsString]) -> Result<(Command, Written), clap::Error> {
    let words: Vec<String> =
        all.iter().skip(1).map(|word| word.to_string_lossy().into_owned()).collect();
    let mut command = with_help(command_about(flags::help::about(&words)), &words);
    let matches = command.try_get_matches_from_mut(all)?;
    let parsed = Bellwether::from_arg_matches(&matches)?;
    Ok((parsed.command, written(&command, &matches)))
}

/// Flags without their dashes, and the values of each.
type Written = Vec<(String, Vec<String>)>;

/// The command as clap knows it, for completions and manual pages.
fn command() -> clap::Command {
    command_about(PROTOCOLS)
}

/// The command with the defaults of these protocols.
fn command_about(protocols: &'static [Entry]) -> clap::Command {
    Bellwether::command()
        .mut_subcommand("sim", |command| group::with_defaults(command, protocols, false))
        .mut_subcommand("trace", |command| trace::with_defaults(command, protocols))
        .mut_subcommand("check", check::with_defaults)
        .mut_subcommand("run", flags::help::unattended)
        .mut_subcommand("check-config", flags::help::unattended)
        .mut_subcommands(|command| {
            command.mut_subcommands(|inner| inner.mut_args(signed)).mut_args(signed)
        })
}

/// Takes a value that begins with a minus for a value, so that it is refused by the rule for it.
/// Names of files are left alone: where one is missing, the next flag is not its name.
fn signed(flag: clap::Arg) -> clap::Arg {
    use std::any::TypeId;
    let parsed = flag.get_value_parser().type_id();
    let texts = [TypeId::of::<PathBuf>(), TypeId::of::<String>(), TypeId::of::<OsString>()];
    let is_number = flag.get_long().is_some() && !texts.iter().any(|text| parsed == *text);
    let takes = flag.get_action().takes_values();
    if is_number && takes { flag.allow_hyphen_values(true) } else { flag }
}

/// The command with the help that these words ask for.
fn with_help(command: clap::Command, words: &[String]) -> clap::Command {
    let live = words.first().is_some_and(|word| word == "run" || word == "check-config");
    if live {
        let all = flags::all::<flags::Live>();
        return flags::help::asked(command, words, &flags::own::<flags::Live>, &all);
    }
    // There, `--view` is what a picture shows.
    let trace = words.first().is_some_and(|word| word == "trace");
    let renamed = |flags: Vec<String>| -> Vec<String> {
        let named = |flag: String| match flag.as_str() {
            "view" if trace => trace::VIEW_PROB.to_owned(),
            _ => flag,
        };
        flags.into_iter().map(named).collect()
    };
    let own = |entry| renamed(group::own_flags(entry));
    flags::help::asked(command, words, &own, &renamed(group::all_flags()))
}

/// The flags that were given on the command line, without their dashes, and their values. Clap's
/// values alone do not distinguish them from defaults.
fn written(command: &clap::Command, matches: &ArgMatches) -> Written {
    let Some((name, matches)) = matches.subcommand() else { return Vec::new() };
    let Some(subcommand) = command.find_subcommand(name) else { return Vec::new() };
    let written = |argument: &&clap::Arg| {
        matches.value_source(argument.get_id().as_str()) == Some(ValueSource::CommandLine)
    };
    let flags = subcommand.get_arguments().filter(written);
    let spelled = |flag: &clap::Arg| {
        let takes = flag.get_action().takes_values();
        let raw = matches.get_raw(flag.get_id().as_str()).filter(|_| takes);
        let values = raw.into_iter().flatten().map(|value| value.to_string_lossy().into_owned());
        Some((flag.get_long()?.to_owned(), values.collect()))
    };
    flags.filter_map(spelled).collect()
}

type Done = Result<(), Failure>;
