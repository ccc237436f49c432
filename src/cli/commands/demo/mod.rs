//! `bellwether demo`: five real processes, four faults of their leader, and the proof.
//!
//! **Assumptions.** Linux, a loopback interface, and a directory for temporary files. No root.
//!
//! **Promise.** It ends by itself within 20 s, and nothing that it started outlives it: neither
//! processes, however it ends, nor files that were not asked for. It succeeds only if the judge of
//! `bellwether check --trace` finds nothing wrong in what the processes recorded.
//!
//! | file | what it holds |
//! |---|---|
//! | `place` | where keys, sockets and records are |
//! | `cast`, `leash` | the processes, and how they end |
//! | `story` | the faults |
//! | `stalls` | whether the machine kept up |
//! | `proof` | what the judge says |
//! | `table`, `timeline` | the output |

pub(in crate::cli) mod cast;
pub(in crate::cli) mod leash;
pub(in crate::cli) mod place;
mod proof;
mod stalls;
mod story;
mod table;
mod timeline;

use crate::cli::Done;
use crate::cli::failure::Failure;
use crate::cli::flags::some_of;
use crate::cli::output::TableOrJson;
use bellwether::net::clock::{BootTime, Clock};
use bellwether::protocols::local_leader::{Config, Mode, Params, Preset};
use cast::Cast;
use clap::Args;
use place::Place;
use proof::Proof;
use stalls::Stalls;
use std::io::{self, Write};
use std::path::PathBuf;
use story::Story;
use table::Report;

/// Watch five processes elect a leader, lose it four times, and never have two
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(in crate::cli) struct Demo {
    /// Keep what the processes recorded, and a picture of it, in this directory
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// The time constants of the leases
    #[arg(long, value_parser = some_of(PRESETS), default_value_t)]
    preset: Preset,
    /// Decides at which moment of a lease each fault happens
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// How to write the result
    #[arg(long, value_enum, default_value_t)]
    format: TableOrJson,
}

const EXAMPLES: &str = "\
Examples:
  bellwether demo
  bellwether demo --out recorded         keep the records and a picture
  bellwether demo --preset fast          shorter leases, for a machine with little else to do

Exit codes: 0 no two ever led at once; 1 some did, or it could not be shown; 130 interrupted.";

/// Those with which it lasts as long as somebody watches.
const PRESETS: &[Preset] = &[Preset::Lan, Preset::Fast, Preset::Fastest];

impl Demo {
    pub(in crate::cli) fn run(&self) -> Done {
        let began = BootTime.now();
        let params = self.params()?;
        let mut place = Place::prepare(self.out.as_deref())?;
        let stalls = Stalls::watch().map_err(|error| cannot("watch the machine", &error))?;
        let mut cast = Cast::new(&place, self.preset.name())?;
        let mut story = Story::new(&params, self.seed);
        story.play(&mut cast, &mut |line| self.tell(line))?;
        cast.end()?;
        let stall = stalls.longest();
        let (faults, pids) = (cast.faults(), cast.pids().to_vec());
        drop(cast);
        let proof = Proof::find(&place, &faults, &params, stall)?;
        let kept = place.keep_records(&faults, &proof)?;
        let report = Report {
            preset: self.preset.name(),
            seed: self.seed,
            params: &params,
            story: &story,
            proof: &proof,
            pids: &pids,
            seconds: BootTime.now().since(began).as_secs_f64(),
            kept: kept.as_deref(),
        };
        let text = match self.format {
            TableOrJson::Table => report.for_people(timeline::columns()),
            TableOrJson::Json => report.for_programs().to_string(),
        };
        writeln!(io::stdout(), "{text}")?;
        if proof.is_complete() { Ok(()) } else { Err(Failure::Violated) }
    }

    /// Prints what happens, for people.
    fn tell(&self, line: &str) -> io::Result<()> {
        match self.format {
            TableOrJson::Table => writeln!(io::stdout(), "{line}"),
            TableOrJson::Json => Ok(()),
        }
    }

    fn params(&self) -> Result<Params, Failure> {
        let config = Config { mode: Mode::Majority, preset: self.preset, ..Config::default() };
        Params::try_from(config).map_err(Failure::usage)
    }
}

fn cannot(what: &str, error: &io::Error) -> Failure {
    Failure::Io(format!("cannot {what}: {error}"))
}
