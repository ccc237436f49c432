//! `bellwether check --explore`: explores every behaviour of a small group.

use crate::cli::Done;
use crate::cli::commands::sim;
use crate::cli::failure::Failure;
use crate::cli::file;
use crate::cli::flags;
use crate::cli::output::progress::{Interrupt, Progress, Stopwatch};
use crate::cli::output::{Format, Rows};
use bellwether::check::explore::{
    Adversary, Answer, Asked, World, announcements, explore_while, leases,
};
use bellwether::core::{Protocol, SimTime};
use bellwether::protocols::answers::Answers as _;
use bellwether::protocols::local_leader::Hall;
use bellwether::sim::diagram::{Options, space_time};
use bellwether::sim::trace;
use clap::{Args, value_parser};
use serde_json::{Value, json};
use std::fs::create_dir_all;
use std::io::{self, Write};
use std::path::Path;

/// What may go wrong in a small group, and how far it is explored.
#[derive(Args, Debug)]
#[command(next_help_heading = "Exploring (with --explore)")]
pub(in crate::cli) struct Explore {
    /// Explore every behaviour of a group of 1 to 4 processes [default: 3], instead of random
    /// faults. Time is counted in ticks. For local-leader and the announce-listen elections
    #[arg(long)]
    explore: bool,
    /// A message takes at least this many ticks
    #[arg(long, value_name = "N", default_value_t = 1, requires = "explore")]
    quickest: u64,
    /// A message takes at most this many ticks, or is lost
    #[arg(long, value_name = "N", default_value_t = 1, requires = "explore")]
    slowest: u64,
    /// How many crashes there may be; whoever crashed may come back
    #[arg(long, value_name = "N", default_value_t = 0, requires = "explore")]
    crashes: u8,
    /// How many of those that crashed may lose what they stored
    #[arg(long, value_name = "N", default_value_t = 0, requires = "explore")]
    lost_disks: u8,
    /// How many of those that crashed may be released, as by their guardians
    #[arg(long, value_name = "N", default_value_t = 0, requires = "explore")]
    releases: u8,
    /// How many messages may arrive twice
    #[arg(long, value_name = "N", default_value_t = 0, requires = "explore")]
    copies: u8,
    /// How many times a leader may be asked to resign
    #[arg(long, value_name = "N", default_value_t = 0, requires = "explore")]
    resignations: u8,
    /// How many times a leader may be asked to hand over to another process
    #[arg(long, value_name = "N", default_value_t = 0, requires = "explore")]
    transfers: u8,
    /// How many changes of the voters there may be: any process is added, removed or replaced
    #[arg(long, value_name = "N", default_value_t = 0, requires = "explore")]
    changes: u8,
    /// How many processes vote at first [default: all]
    #[arg(long, value_name = "N", requires = "explore")]
    #[arg(value_parser = value_parser!(u8).range(1..))]
    founders: Option<u8>,
    /// How many times a process that does not lead may be asked to hold an election
    #[arg(long, value_name = "N", default_value_t = 0, requires = "explore")]
    campaigns: u8,
    /// Processes may sleep through their deadlines
    #[arg(long, requires = "explore")]
    sleep: bool,
    /// Explore this many ticks [default: 10: terms grow and announcements are repeated without end]
    #[arg(long, value_name = "N", requires = "explore")]
    ticks: Option<u32>,
    /// Stop after about this many states
    #[arg(long, value_name = "N", default_value = "100000000", requires = "explore")]
    #[arg(value_parser = states)]
    states: usize,
}

/// The flags of `check` that have an effect: these, and some of all. A protocol's own have none,
/// because time is in ticks.
pub(in crate::cli) fn flags() -> Vec<String> {
    let common = ["nodes", "threads", "out", "format"].map(str::to_owned);
    flags::of::<Explore>().into_iter().chain(common).collect()
}

/// Parses a number of states.
fn states(text: &str) -> Result<usize, String> {
    match text.parse::<usize>() {
        Ok(states) if states > 0 => Ok(states),
        _ => Err("states are a whole number, at least 1".to_owned()),
    }
}

/// Where the result goes, and how many threads explore.
pub(in crate::cli) struct Destination<'a> {
    pub(in crate::cli) threads: usize,
    pub(in crate::cli) out: &'a Path,
    pub(in crate::cli) format: Format,
}

/// What is explored.
struct Subject<'a> {
    name: &'a str,
    nodes: u8,
    ticks: Option<u32>,
    asked: Asked,
    about: &'static str,
    interrupted: bool,
}

/// The most processes: with five the states would not fit into memory.
const NODES_MAX: u32 = 4;

impl Explore {
    /// Whether it is asked for.
    pub(in crate::cli) fn is_on(&self) -> bool {
        self.explore
    }

    /// Explores the protocol with this name, and says what was found.
    pub(in crate::cli) fn run(&self, name: &str, nodes: u32, to: &Destination<'_>) -> Done {
        let nodes = u8::try_from(nodes).ok().filter(|n| (1..=NODES_MAX as u8).contains(n));
        let Some(nodes) = nodes else {
            return Err(Failure::usage(format!(
                "--explore takes from 1 to {NODES_MAX} processes: each one more multiplies the \
                 states by about ten"
            )));
        };
        if self.quickest > self.slowest {
            return Err(Failure::usage(format!(
                "--quickest {} and --slowest {}: the quickest message is not slower than the \
                 slowest",
                self.quickest, self.slowest
            )));
        }
        let mut subject = Subject {
            name,
            nodes,
            ticks: Some(self.ticks()),
            asked: Asked::Leases,
            about: leases::ABOUT,
            interrupted: false,
        };
        if name == Hall::NAME {
            let params = leases::in_ticks();
            let model = params.time_scales(nodes.into());
            let mut world = World::<Hall>::new(nodes, params, self.adversary()).validated(&model);
            if let Some(founders) = self.founders.filter(|founders| *founders < nodes) {
                world = world.founded_by(founders);
            }
            subject.asked = Asked::Proved;
            return self.explore(&world, &subject, to);
        }
        let counts = [self.lost_disks, self.releases, self.transfers, self.changes];
        if counts.iter().any(|count| *count > 0) || self.founders.is_some() {
            return Err(Failure::usage(format!(
                "--explore: {name} stores nothing and has no voters and no leases; --lost-disks, \
                 --releases, --transfers, --changes and --founders are for local-leader"
            )));
        }
        let Some(variant) = announcements::variant(name) else {
            return Err(Failure::usage(format!(
                "--explore: {name} is not explored; choose local-leader, or an announce-listen \
                 election that names a leader, such as le-s"
            )));
        };
        subject.about = announcements::ABOUT;
        subject.asked = Asked::Candidate;
        self.explore(&announcements::world(nodes, variant, self.adversary()), &subject, to)
    }

    fn explore<P: Protocol>(
        &self,
        world: &World<P>,
        subject: &Subject<'_>,
        to: &Destination<'_>,
    ) -> Done {
        let Destination { threads, out, format } = *to;
        let watch = Stopwatch::start();
        let progress = Progress::without_end("states");
        let interrupt = Interrupt::catch()?;
        let answer = explore_while(world.clone(), self.states, threads, |states| {
            progress.reach(states as u64);
            !interrupt.came()
        });
        drop(progress);
        let interrupted = interrupt.came() && !answer.complete && answer.breach.is_none();
        let subject = &Subject { interrupted, ..*subject };
        let seconds = watch.elapsed().as_secs_f64();
        let text = match format {
            Format::Table => self.for_people(subject, &answer, seconds),
            Format::Json => self.for_programs(subject, &answer, seconds).to_string(),
            Format::Csv => {
                let columns = ["nodes", "states", "depth", "complete"];
                Rows::picked(columns, [self.for_programs(subject, &answer, seconds)]).to_csv()
            }
        };
        let printed = writeln!(io::stdout(), "{text}");
        let Some((property, path)) = &answer.breach else {
            return if interrupted { Err(Failure::Interrupted(None)) } else { Ok(printed?) };
        };
        let records = world.tell(path);
        if format == Format::Table {
            let _ = writeln!(io::stdout(), "\n{}", trace::transcript(&records));
        }
        let until = records.last().map(|record| record.t).unwrap_or(SimTime::ZERO);
        let title = format!("{property} is broken; a tick is a millisecond");
        let picture = Options { title, until: Some(until), ..Options::default() };
        create_dir_all(out).map_err(|error| Failure::io("make", out, &error))?;
        // Another violation has another name, so none overwrites another.
        let name = format!("explored-{property}-{:016x}.svg", trace::digest(&records));
        let drawn = out.join(name);
        file::write(&drawn, &space_time(&records, &picture))?;
        if format == Format::Table {
            let _ = writeln!(io::stdout(), "picture: {}", drawn.display());
        }
        Err(Failure::Violated)
    }

    /// How long it explores. Terms grow and announcements are repeated, so there is always an end.
    fn ticks(&self) -> u32 {
        self.ticks.unwrap_or(announcements::TICKS)
    }

    fn adversary(&self) -> Adversary {
        Adversary {
            fastest: self.quickest,
            slowest: self.slowest,
            crashes: self.crashes,
            lost_disks: self.lost_disks,
            releases: self.releases,
            copies: self.copies,
            resignations: self.resignations,
            transfers: self.transfers,
            changes: self.changes,
            campaigns: self.campaigns,
            sleep: self.sleep,
            ticks: Some(self.ticks()),
        }
    }

    /// What is explored, in words.
    fn conditions(&self, subject: &Subject<'_>) -> String {
        let Self { quickest, slowest, .. } = self;
        let ticks = match (quickest, slowest) {
            (1, 1) => "1 tick".to_owned(),
            (quickest, slowest) if quickest == slowest => format!("{slowest} ticks"),
            (quickest, slowest) => format!("{quickest} to {slowest} ticks"),
        };
        let mut text = format!("messages take {ticks} or are lost");
        for (count, what) in [
            (self.crashes, ["crash", "crashes"]),
            (self.lost_disks, ["lost disk", "lost disks"]),
            (self.releases, ["release", "releases"]),
            (self.copies, ["doubled message", "doubled messages"]),
            (self.resignations, ["resignation", "resignations"]),
            (self.transfers, ["transfer", "transfers"]),
            (self.changes, ["change of the voters", "changes of the voters"]),
            (self.campaigns, ["campaign", "campaigns"]),
        ] {
            if count > 0 {
                let [one, several] = what;
                text += &format!(", at most {}", sim::count(count.into(), one, several));
            }
        }
        if let Some(founders) = self.founders.filter(|founders| *founders < subject.nodes) {
            text += &format!(", {founders} vote at first");
        }
        if self.sleep {
            text += ", processes may pause at any time";
        }
        text + &subject
            .ticks
            .map_or(", for ever".to_owned(), |ticks| format!(", for {ticks} ticks"))
    }

    fn for_people(&self, subject: &Subject<'_>, answer: &Answer, seconds: f64) -> String {
        let Subject { name, nodes, asked, about, .. } = *subject;
        let mut text = format!(
            "{name} with {nodes} processes, every behaviour\n{}\n{about}\n\n",
            self.conditions(subject),
        );
        for property in asked.properties() {
            let broken = answer.breach.as_ref().is_some_and(|(name, _)| name == property);
            text += &format!("{property:<24}{}\n", if broken { "BROKEN" } else { "held" });
        }
        let bound = match (&answer.breach, answer.complete) {
            (Some((_, path)), _) => format!("broken after {} moves", path.len()),
            (None, true) => "all that can be reached".to_owned(),
            (None, false) if subject.interrupted => "not all: INTERRUPTED".to_owned(),
            (None, false) => "not all: --states was reached".to_owned(),
        };
        let seen = self.witnesses(subject, answer);
        let Answer { states, depth, refused, .. } = answer;
        let why = refused.as_ref().map_or_else(String::new, |why| format!("\n{why}\n"));
        text + &format!(
            "{why}\n{states} states, up to {depth} moves deep: {bound}{seen}; {seconds:.1} s"
        )
    }

    /// Whether what the promises are about happened at all, in words.
    fn witnesses(&self, subject: &Subject<'_>, answer: &Answer) -> String {
        let leases = subject.asked != Asked::Candidate;
        let mut seen = String::new();
        if !answer.somebody_leads {
            seen += "; nobody ever led";
        }
        if leases && self.lost_disks > 0 {
            seen += match answer.somebody_recovers {
                true => "; somebody that lost its disk voted again",
                false => "; nobody that lost its disk ever voted again",
            };
        }
        if leases && self.changes > 0 {
            seen += match answer.somebody_commits {
                true => "; a changed list was committed",
                false => "; no changed list was ever committed",
            };
        }
        seen
    }

    fn for_programs(&self, subject: &Subject<'_>, answer: &Answer, seconds: f64) -> Value {
        let Answer { states, depth, complete, somebody_leads, somebody_recovers, .. } = answer;
        let Answer { breach, refused, somebody_commits, .. } = answer;
        let verdict = if breach.is_some() { "violated" } else { "holds" };
        let mut result = json!({
            "protocol": subject.name,
            "nodes": subject.nodes,
            "quickest": self.quickest,
            "slowest": self.slowest,
            "crashes": self.crashes,
            "lost_disks": self.lost_disks,
            "releases": self.releases,
            "copies": self.copies,
            "resignations": self.resignations,
            "transfers": self.transfers,
            "changes": self.changes,
            "founders": self.founders.unwrap_or(subject.nodes).min(subject.nodes),
            "campaigns": self.campaigns,
            "sleep": self.sleep,
            "ticks": subject.ticks,
            "verdict": verdict,
            "broken": breach.as_ref().map(|(name, _)| *name),
            "moves": breach.as_ref().map(|(_, path)| path.len()),
            "states": states,
            "depth": depth,
            "complete": complete,
            "somebody_leads": somebody_leads,
            "somebody_recovers": somebody_recovers,
            "somebody_commits": somebody_commits,
            "wall_seconds": seconds,
        });
        if let Some(why) = refused {
            result["refused"] = json!(why);
        }
        if subject.interrupted {
            result["interrupted"] = json!(true);
        }
        result
    }
}
