//! `bellwether report`: who led when, why each reign ended, and how long nobody led.
//!
//! | part | holds |
//! |---|---|
//! | `collect` | the recent pasts of members that this machine reaches |
//! | `http` | the question to a member on another machine |
//! | `text` | the account for people and for programs |

pub(in crate::cli) mod collect;
pub(in crate::cli) mod http;
mod text;

use crate::cli::Done;
use crate::cli::commands::live::read_all;
use crate::cli::failure::Failure;
use crate::cli::file;
use crate::cli::output::TableOrJson;
use bellwether::check::account::{Account, Piece, pictured};
use bellwether::check::live::{Judgement, judge};
use bellwether::core::{Duration, Event, SimTime};
use bellwether::sim::diagram::{Options, space_time};
use clap::Args;
use collect::{Collected, Missing};
use std::io::{self, Write};
use std::path::PathBuf;

/// Tell who led when, why no longer, and how long nobody did
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(in crate::cli) struct Report {
    /// The group; not needed if the members of just one run here [env: BELLWETHER_GROUP]
    #[arg(conflicts_with = "trace")]
    group: Option<String>,
    /// Read these files instead of asking members: traces, or what /v1/trace answered
    #[arg(long, value_name = "FILE", num_args = 1..)]
    trace: Vec<PathBuf>,
    /// How far back, as in 1h or 10min [default: all that is remembered]
    #[arg(long, value_name = "D")]
    since: Option<Duration>,
    /// Ask a member on another machine, too, as in http://10.0.0.2:7480; or, as in :7480, all
    /// members that the others know, at this port. May be given several times
    #[arg(long, value_name = "URL|:PORT", conflicts_with = "trace")]
    http_from: Vec<http::From>,
    /// The directory that the members were started with [env: BELLWETHER_DIR]
    #[arg(long, value_name = "DIR", conflicts_with = "trace")]
    dir: Option<PathBuf>,
    /// Draw it into this file
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
    /// How to write it
    #[arg(long, value_enum, default_value_t)]
    format: TableOrJson,
}

const EXAMPLES: &str = "\
Examples:
  bellwether report web --since 1h                          the members on this machine
  bellwether report web --since 1h --http-from :7480        and all on other machines
  bellwether report web --http-from http://10.0.0.2:7480    or one of them
  bellwether report --trace 1.jsonl 2.jsonl --svg run.svg   what members recorded into files";

impl Report {
    pub(in crate::cli) fn run(&self) -> Done {
        if let Some(path) = &self.svg {
            file::check_writable(path)?;
        }
        let (pieces, missing) = if self.trace.is_empty() {
            let Collected { pieces, missing } = collect::collect(
                self.group.clone(),
                self.dir.as_deref(),
                &self.http_from,
                self.since,
            )?;
            (pieces, missing)
        } else {
            let traces = read_all(&self.trace)?;
            let pieces = traces.into_iter().map(|trace| Piece { trace, clock: None });
            (pieces.collect(), Vec::new())
        };
        let account =
            Account::of(&pieces, self.since).map_err(|bad| Failure::Config(bad.to_string()))?;
        if let Some(path) = &self.svg {
            file::write(path, &picture(&account, &pieces)?)?;
        }
        let judgement = judged(&pieces);
        let report = text::ReportText {
            account: &account,
            missing: &missing,
            judgement: judgement.as_ref(),
        };
        let text = match self.format {
            TableOrJson::Table => report.for_people(),
            TableOrJson::Json => report.for_programs().to_string(),
        };
        // A reader that stops early still gets the exit code.
        let printed = writeln!(io::stdout(), "{text}");
        if report.violated() { Err(Failure::Violated) } else { Ok(printed?) }
    }
}

/// What the judge says of whole traces. Recent pasts tell only what changed, and are not judged.
fn judged(pieces: &[Piece]) -> Option<Judgement> {
    let lines = || pieces.iter().flat_map(|piece| &piece.trace.lines);
    if lines().any(|line| matches!(line.record.event, Event::Collected { .. })) {
        return None;
    }
    let traces: Vec<_> = pieces.iter().map(|piece| piece.trace.clone()).collect();
    judge(&traces, None, None).ok()
}

fn picture(account: &Account, pieces: &[Piece]) -> Result<String, Failure> {
    let records = pictured(account, pieces).map_err(|bad| Failure::Config(bad.to_string()))?;
    let title = format!("{} in group {}", account.protocol, account.group);
    let until = Some(SimTime::ZERO + account.lasted());
    Ok(space_time(&records, &Options { title, until, ..Options::default() }))
}
