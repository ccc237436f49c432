//! `bellwether merge`: joins the pieces of a sweep, or of figures, that several machines made.

use super::figures::{self, Joined};
use super::folder::{Folder, Folders, Owner};
use super::table::{Table, TableFormat};
use super::{Planned, Shown};
use crate::cli::Done;
use crate::cli::commands::reproduce::Report;
use crate::cli::failure::Failure;
use crate::cli::output::TableOrJson;
use bellwether::analysis::sweep::work::{NotSwept, Outcome};
use clap::Args;
use std::path::PathBuf;

/// Join the pieces of a sweep, or of figures, that several machines made
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(in crate::cli) struct Merge {
    /// The folders that `sweep --shard` or `reproduce --shard` wrote
    #[arg(value_name = "DIR", required = true)]
    folders: Vec<PathBuf>,
    /// Where the rows or figures are written [default: the first of them]
    #[arg(long, short, value_name = "DIR")]
    out: Option<PathBuf>,
    #[command(flatten)]
    shown: Shown,
}

const EXAMPLES: &str = "\
Examples:
  bellwether merge share1 share2 share3 --out loss
  bellwether merge loss --plot x=loss,y=messages
  bellwether merge part1 part2 --out report

The rows and figures are those of one machine that made all pieces, to the last byte. Nothing is
simulated.";

impl Merge {
    /// Runs the command.
    pub(in crate::cli) fn run(&self) -> Done {
        if self.folders.iter().any(|folder| figures::are_in(folder)) {
            return self.join_figures();
        }
        let mut folders = Vec::new();
        let mut first: Option<(PathBuf, String)> = None;
        for path in &self.folders {
            let (folder, text) = Folder::open(path)?;
            match &first {
                None => first = Some((path.clone(), text)),
                Some((_, known)) if *known == text => {}
                Some((other, _)) => {
                    return Err(Failure::usage(format!(
                        "{} and {} keep pieces of different sweeps: their sweep.toml differ",
                        other.display(),
                        path.display()
                    )));
                }
            }
            folders.push(folder);
        }
        let Some((path, text)) = first else { return Ok(()) };
        let plan = Planned::of(text, &path.join("sweep.toml"))?;
        let out = self.out.clone().unwrap_or(path);
        self.shown.check(&plan, Some(&out))?;
        let outcomes = self.joined(&plan, Folders(folders))?;
        let folder = Folder::make(&out, Owner::Sweep)?;
        folder.describe(&plan.text)?;
        let table = Table::new(&plan, &outcomes);
        table.write(&folder, self.shown.parquet)?;
        self.shown.show(&plan, &table, Some(folder.path()))?;
        if table.has_broken() { Err(Failure::Violated) } else { Ok(()) }
    }

    /// Joins shares of `reproduce`.
    fn join_figures(&self) -> Done {
        let format = match self.shown.format {
            TableFormat::Table => TableOrJson::Table,
            TableFormat::Json => TableOrJson::Json,
            TableFormat::Csv => {
                let line = "--format csv: each figure has its CSV in --out; choose table or json";
                return Err(Failure::usage(line));
            }
        };
        if self.shown.parquet || self.shown.plot.is_some() {
            let line = "--plot and --parquet are for sweeps, and these are figures; leave them out";
            return Err(Failure::usage(line));
        }
        let joined = Joined::of(&self.folders)?;
        let out = self.out.clone().unwrap_or_else(|| self.folders[0].clone());
        Report { out, budget: joined.budget, format }.write(joined.figures, joined.bench)
    }

    fn joined(&self, plan: &Planned, folders: Folders) -> Result<Vec<Outcome>, Failure> {
        let Some(rule) = &plan.sweep.rule else { return Ok(Vec::new()) };
        plan.work(&plan.tasks(), rule, &folders).join().map_err(|why| match why {
            NotSwept::Missing(..) => Failure::usage(format!(
                "{why}; `bellwether sweep {}/sweep.toml --out {}` makes what is missing{}",
                self.folders[0].display(),
                self.folders[0].display(),
                folders.of_others()
            )),
            other => Failure::usage(other),
        })
    }
}
