//! `bellwether sweep`: one question at many points, and one table of the answers.
//!
//! | file | what it does |
//! |---|---|
//! | `point` | asks `sim` or `analyze` what a point is, through their own flags |
//! | `folder`, `program` | pieces as files, each written in one step; whose they are |
//! | `table`, `parquet` | rows, and the files that they become |
//! | `plot` | rows as a picture |
//! | `slurm` | the work of a cluster |
//! | `figures` | the points of `reproduce` as pieces of such a folder |
//! | `merge` | `bellwether merge` |

pub(in crate::cli) mod figures;
mod folder;
pub(in crate::cli) mod merge;
mod parquet;
mod plot;
mod point;
mod program;
mod slurm;
mod table;

use crate::cli::Done;
use crate::cli::commands::sim::count;
use crate::cli::failure::Failure;
use crate::cli::flags::common::Threads;
use crate::cli::output::progress::{Interrupt, Progress};
use bellwether::analysis::sweep::Sweep;
use bellwether::analysis::sweep::looks::Rule;
use bellwether::analysis::sweep::work::{InMemory, Keep, NotSwept, Outcome, Share, Task, Work};
use clap::Args;
use folder::{Folder, Owner};
use plot::Plot;
use point::{Asked, Asker};
use serde_json::{Map, Value};
use slurm::Cluster;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use table::{Table, TableFormat};

/// Simulate many points, in pieces that survive an interruption, and make one table of them
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(in crate::cli) struct Sweeping {
    /// The file that describes the sweep
    #[arg(value_name = "FILE.toml")]
    file: PathBuf,
    /// Keep finished pieces and the rows in this folder; made if it is not there
    #[arg(long, short, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Make only this share of the pieces, as in 2/8; `bellwether merge` joins them
    #[arg(long, value_name = "I/N", value_parser = share, requires = "out")]
    shard: Option<Share>,
    #[command(flatten)]
    threads: Threads,
    #[command(flatten)]
    cluster: Cluster,
    #[command(flatten)]
    shown: Shown,
}

/// How the rows are shown.
#[derive(Args, Debug)]
pub(in crate::cli) struct Shown {
    /// How to write the rows
    #[arg(long, value_enum, default_value_t)]
    format: TableFormat,
    /// Draw DIR/plot.svg: x and colour are flags of axes, y a measure; log and log-x are optional
    #[arg(long, value_name = "x=FLAG,y=MEASURE[,colour=FLAG][,log][,log-x]")]
    plot: Option<Plot>,
    /// Write DIR/rows.parquet, too; needs a build with the feature `parquet`
    #[arg(long)]
    parquet: bool,
}

const EXAMPLES: &str = "\
Examples:
  bellwether sweep loss.toml
  bellwether sweep loss.toml --out loss --plot x=loss,y=messages,colour=nodes,log
  bellwether sweep loss.toml --out share2 --shard 2/8
  bellwether merge share1 share2 share3 --out loss

with this as loss.toml:
  sim = \"le-s\"
  runs = { relative = 0.01, of = \"messages\" }
  [[axis]]
  loss = { from = 0, to = 0.5, step = 0.1 }
  [[axis]]
  nodes = [10, 100, 1000]

With --out a sweep that was stopped, even by kill -9, goes on where it was: the same command again
makes the missing pieces only, and the rows are the same to the last byte. docs/sweeps.md says more.

Exit code: 0; 1 if schedules of faults broke a promise; 130 if it was interrupted (Ctrl-C).";

/// Parses a share.
fn share(text: &str) -> Result<Share, String> {
    let numbers = text
        .split_once('/')
        .and_then(|(part, of)| Some(Share { part: part.parse().ok()?, of: of.parse().ok()? }));
    match numbers {
        Some(share) if share.part >= 1 && share.part <= share.of => Ok(share),
        _ => Err("a share is I/N, with I from 1 to N, as in 2/8".to_owned()),
    }
}

impl Sweeping {
    /// Runs the command.
    pub(in crate::cli) fn run(&self) -> Done {
        let plan = Planned::read(&self.file)?;
        let Some(table) = self.table(&plan)? else { return Ok(()) };
        self.shown.show(&plan, &table, self.out.as_deref())?;
        if table.has_broken() { Err(Failure::Violated) } else { Ok(()) }
    }

    /// The rows for a program. The keys, if there are any, describe the sweep in place of the file.
    pub(in crate::cli) fn answer(&self, keys: Option<&str>) -> Result<Value, Failure> {
        let plan = match keys {
            None => Planned::read(&self.file)?,
            Some(keys) => Planned::of_keys(keys)?,
        };
        let rows = match self.table(&plan)? {
            None => Value::Array(Vec::new()),
            Some(table) => {
                self.shown.draw(&plan, &table, self.out.as_deref())?;
                table.to_json()
            }
        };
        Ok(rows)
    }

    /// Makes what is missing, and the rows, which are written to the folder if there is one.
    /// Nothing, if it was only a share.
    fn table(&self, plan: &Planned) -> Result<Option<Table>, Failure> {
        self.shown.check(plan, self.out.as_deref())?;
        let make = |path| Folder::make(path, Owner::Sweep);
        let folder = self.out.as_deref().map(make).transpose()?;
        if let Some(folder) = &folder {
            folder.describe(&plan.text)?;
        }
        match (&folder, self.cluster.slurm, &plan.sweep.rule) {
            (_, false, _) => {}
            (None, true, _) => {
                return Err(Failure::usage("--slurm needs --out DIR for its pieces"));
            }
            (_, true, None) => {
                return Err(Failure::usage("--slurm: formulas have no pieces; leave it out"));
            }
            (Some(folder), true, Some(rule)) => {
                let tasks = plan.tasks();
                let work = plan.work(&tasks, rule, folder);
                let command = ["sweep".to_owned(), folder.description()?];
                self.cluster.run(folder, &command, &|share| work.lacks(share))?;
            }
        }
        let memory = InMemory::default();
        let keep: &dyn Keep = folder.as_ref().map_or(&memory, |folder| folder);
        let outcomes = match (self.shard, &plan.sweep.rule) {
            (None, None) => Vec::new(),
            (share, Some(_)) => match self.work(plan, keep, share)? {
                Some(outcomes) => outcomes,
                None => return Ok(None),
            },
            (Some(_), None) => {
                return Err(Failure::usage("--shard: formulas have no pieces; leave it out"));
            }
        };
        let table = Table::new(plan, &outcomes);
        if let Some(folder) = &folder {
            table.write(folder, self.shown.parquet)?;
        }
        Ok(Some(table))
    }

    /// Makes the runs. Nothing, if it was only a share.
    fn work(
        &self,
        plan: &Planned,
        keep: &dyn Keep,
        share: Option<Share>,
    ) -> Result<Option<Vec<Outcome>>, Failure> {
        let Some(rule) = &plan.sweep.rule else { return Ok(None) };
        let tasks = plan.tasks();
        let points = tasks.len() as u64;
        let fixed = rule.narrow.is_none();
        let most = points.saturating_mul(rule.most()) / share.map_or(1, |share| share.of);
        // Where the intervals decide, a point may need fewer.
        let progress = if fixed { Progress::of(most, "runs") } else { Progress::at_most(most) };
        let interrupt = Interrupt::catch()?;
        let work = Work {
            threads: self.threads.start(u64::MAX),
            made: &|runs| progress.add(runs),
            spared: &|runs| progress.skip(runs),
            over: &|| interrupt.came(),
            ..plan.work(&tasks, rule, keep)
        };
        let done = match share {
            None => work.whole().map(Some),
            Some(share) => work.share(share).map(|made| {
                drop(progress);
                let things = if fixed { ("piece", "pieces") } else { ("point", "points") };
                let made = count(made, things.0, things.1);
                // Nobody needs to read it.
                let _ = writeln!(io::stdout(), "share {}/{}: {made}", share.part, share.of);
                None
            }),
        };
        done.map_err(|why| self.failed(&why))
    }

    fn failed(&self, why: &NotSwept) -> Failure {
        match (why, &self.out) {
            (NotSwept::Stopped, Some(_)) => Failure::Interrupted(Some(
                "interrupted; the finished pieces are kept, and the same command goes on with them",
            )),
            (NotSwept::Stopped, None) => Failure::Interrupted(Some(
                "interrupted, and nothing is kept; with --out DIR finished pieces are",
            )),
            (NotSwept::NotKept(why), _) => Failure::Io(why.clone()),
            (why, _) => Failure::usage(why),
        }
    }
}

impl Shown {
    /// Refuses what could not be drawn or written, before any work is done.
    fn check(&self, plan: &Planned, out: Option<&Path>) -> Done {
        match (parquet::REFUSED, out) {
            (Some(why), _) if self.parquet => return Err(Failure::usage(why)),
            (None, None) if self.parquet => {
                let line = "--parquet writes DIR/rows.parquet, so it needs --out DIR";
                return Err(Failure::usage(line));
            }
            _ => {}
        }
        match (&self.plot, out) {
            (None, _) => Ok(()),
            (Some(plot), Some(_)) => plot.check(plan),
            (Some(_), None) => {
                Err(Failure::usage("--plot writes DIR/plot.svg, so it needs --out DIR"))
            }
        }
    }

    fn draw(&self, plan: &Planned, table: &Table, out: Option<&Path>) -> Done {
        match (&self.plot, out) {
            (Some(plot), Some(out)) => plot.draw(plan, table, &out.join("plot.svg")),
            _ => Ok(()),
        }
    }

    fn show(&self, plan: &Planned, table: &Table, out: Option<&Path>) -> Done {
        self.draw(plan, table, out)?;
        writeln!(io::stdout(), "{}", table.to(self.format))?;
        Ok(())
    }
}

/// A sweep, read from its file, with all its points.
pub(in crate::cli) struct Planned {
    text: String,
    sweep: Sweep,
    points: Vec<Asked>,
}

impl Planned {
    fn read(path: &Path) -> Result<Self, Failure> {
        let text =
            std::fs::read_to_string(path).map_err(|error| Failure::io("read", path, &error))?;
        Self::of(text, path)
    }

    /// The sweep of a program, which has the keys of such a file as JSON.
    fn of_keys(json: &str) -> Result<Self, Failure> {
        let keys: Map<String, Value> = serde_json::from_str(json)
            .map_err(|error| Failure::usage(format!("a sweep is an object with keys: {error}")))?;
        let text = toml::to_string(&keys)
            .map_err(|error| Failure::usage(format!("a sweep has no empty values: {error}")))?;
        Self::of(text, Path::new("the sweep")).map_err(|why| Failure::usage(&why))
    }

    /// The sweep of this text, which is in this file.
    fn of(text: String, path: &Path) -> Result<Self, Failure> {
        let bad = |why: String| Failure::Config(format!("{}: {why}", path.display()));
        let sweep = described(&text).map_err(bad)?;
        let mut asker = Asker::new(&sweep).map_err(|why| bad(why.to_string()))?;
        let points = sweep.points().map(|at| asker.ask(&at));
        let points = points.collect::<Result<Vec<_>, _>>().map_err(|why| bad(why.to_string()))?;
        Ok(Self { text, sweep, points })
    }

    /// What is simulated, in the order of the points.
    fn tasks(&self) -> Vec<Task> {
        self.points.iter().filter_map(|point| point.task.clone()).collect()
    }

    /// The work on these tasks, on one thread, which nobody follows.
    fn work<'a>(&self, tasks: &'a [Task], rule: &'a Rule, keep: &'a dyn Keep) -> Work<'a> {
        Work {
            tasks,
            rule,
            piece: self.sweep.piece,
            keep,
            threads: 1,
            made: &|_| (),
            spared: &|_| (),
            over: &|| false,
        }
    }
}

/// The sweep that a text describes, or what is wrong with it.
pub(in crate::cli) fn described(text: &str) -> Result<Sweep, String> {
    let keys: Map<String, Value> = toml::from_str(text).map_err(|error| {
        let newline = |byte: &u8| *byte == b'\n';
        let before = |start: usize| text.bytes().take(start).filter(newline).count();
        let line = error.span().map(|span| before(span.start) + 1);
        let place = line.map_or_else(String::new, |line| format!("line {line}: "));
        format!("{place}{}", error.message().lines().collect::<Vec<_>>().join("; "))
    })?;
    Sweep::of(&keys).map_err(|why| why.to_string().replace('\n', " "))
}
