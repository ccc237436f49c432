//! Figures in shares: the points of `bellwether reproduce` are pieces of a folder.
//!
//! A share is every N-th figure. Whether a claim needs more runs is known only to whoever has all
//! points of its figure, so a figure belongs to one share. Points that figures of several shares
//! show are made by each of them, unless they write to one folder and one comes later.

use super::folder::{FIGURES, Folder, Folders, Owner};
use super::share;
use super::slurm::Cluster;
use crate::cli::Done;
use crate::cli::commands::sim::count;
use crate::cli::failure::Failure;
use bellwether::analysis::figures::{Budget, Figure, Workbench, figure};
use bellwether::analysis::sweep::work::Share;
use clap::Args;
use serde_json::{Map, Value};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Whether all figures are made here, and at once.
#[derive(Args, Debug)]
pub(in crate::cli) struct Sharing {
    /// Make only this share of the figures, as in 2/8; `bellwether merge` joins them
    #[arg(long, value_name = "I/N", value_parser = share)]
    pub(in crate::cli) shard: Option<Share>,
    #[command(flatten)]
    cluster: Cluster,
}

/// Figures to make, and a folder for their points.
pub(in crate::cli) struct Shared {
    folder: Arc<Folder>,
    figures: Vec<Figure>,
    budget: Budget,
}

impl Sharing {
    /// Has Slurm make what is missing, if that is asked.
    pub(in crate::cli) fn submit(&self, shared: &Shared) -> Done {
        if !self.cluster.slurm {
            return Ok(());
        }
        shared.describe()?;
        let ids = shared.figures.iter().map(|figure| figure.id.to_owned());
        let Budget { runs, seed, .. } = shared.budget;
        let flags = ["--runs".to_owned(), runs.to_string(), "--seed".to_owned(), seed.to_string()];
        let command: Vec<String> =
            ["reproduce".to_owned()].into_iter().chain(ids).chain(flags).collect();
        self.cluster.run(&shared.folder, &command, &|share| shared.lacks(share))
    }
}

impl Shared {
    /// Points of these figures are kept in this folder.
    pub(in crate::cli) fn new(
        out: &Path,
        figures: &[Figure],
        budget: Budget,
    ) -> Result<Self, Failure> {
        let folder = Arc::new(Folder::make(out, Owner::Figures)?);
        Ok(Self { folder, figures: figures.to_vec(), budget })
    }

    /// A workbench that keeps its points there.
    pub(in crate::cli) fn bench(&self) -> Workbench {
        Workbench::keeping(self.budget, Arc::<Folder>::clone(&self.folder))
    }

    /// The figures of a share.
    pub(in crate::cli) fn share(&self, share: Share) -> Result<Vec<Figure>, Failure> {
        self.describe()?;
        Ok(self.of(share).cloned().collect())
    }

    fn of(&self, share: Share) -> impl Iterator<Item = &Figure> {
        let mine = self.figures.iter().enumerate().filter(move |(at, _)| share.has(*at));
        mine.map(|(_, figure)| figure)
    }

    /// Whether some point of a share is not there.
    fn lacks(&self, share: Share) -> bool {
        let mut bench = self.bench();
        self.of(share).any(|figure| !matches!(bench.known(figure.clone()), Ok(Some(_))))
    }

    /// Says in the folder what is made there.
    fn describe(&self) -> Done {
        let Budget { runs, seed, .. } = self.budget;
        let ids: Vec<String> =
            self.figures.iter().map(|figure| format!("\"{}\"", figure.id)).collect();
        let text = format!("figures = [{}]\nruns = {runs}\nseed = {seed}\n", ids.join(", "));
        self.folder.describe_as(FIGURES, &text)
    }

    /// The figures are made: points that this machine made for itself are removed. Those of shares
    /// stay, for `merge`.
    pub(in crate::cli) fn finish(&self, sharing: &Sharing) {
        if sharing.cluster.slurm {
            self.folder.tidy();
        } else {
            self.folder.clear();
        }
    }
}

/// Whether shares of figures were made in this folder.
pub(super) fn are_in(folder: &Path) -> bool {
    folder.join(FIGURES).is_file()
}

/// Shares of the same figures, which several machines made.
pub(in crate::cli) struct Joined {
    pub(in crate::cli) figures: Vec<Figure>,
    pub(in crate::cli) budget: Budget,
    /// A workbench with all points.
    pub(in crate::cli) bench: Workbench,
}

impl Joined {
    /// Refuses folders of different figures, and what is not complete.
    pub(super) fn of(paths: &[PathBuf]) -> Result<Self, Failure> {
        let mut texts = Vec::new();
        for path in paths {
            let path = path.join(FIGURES);
            let text = fs::read_to_string(&path);
            texts.push(text.map_err(|error| Failure::io("read", &path, &error))?);
        }
        if let Some(other) = texts.iter().position(|text| *text != texts[0]) {
            return Err(Failure::usage(format!(
                "{} and {} keep points of different figures: their {FIGURES} differ",
                paths[0].display(),
                paths[other].display()
            )));
        }
        let (figures, budget) = described(&texts[0])
            .ok_or_else(|| Failure::Config(format!("{}: no shares", paths[0].display())))?;
        let make = |path: &PathBuf| Folder::make(path, Owner::Figures);
        let folders = Folders(paths.iter().map(make).collect::<Result<_, _>>()?);
        let folders = Arc::new(folders);
        let mut bench = Workbench::keeping(budget, Arc::<Folders>::clone(&folders));
        let mut missing = Vec::new();
        for figure in &figures {
            if bench.known(figure.clone()).map_err(Failure::usage)?.is_none() {
                missing.push(figure.id);
            }
        }
        if let Some(first) = missing.first() {
            let are = if missing.len() == 1 { "is" } else { "are" };
            let Budget { runs, seed, .. } = budget;
            return Err(Failure::usage(format!(
                "{} {are} not complete; the first is {first}; `bellwether reproduce {} --runs \
                 {runs} --seed {seed} --out {}` makes what is missing{}",
                count(missing.len() as u64, "figure", "figures"),
                missing.join(" "),
                paths[0].display(),
                folders.of_others()
            )));
        }
        Ok(Self { figures, budget, bench })
    }
}

/// What a description says.
fn described(text: &str) -> Option<(Vec<Figure>, Budget)> {
    let keys: Map<String, Value> = toml::from_str(text).ok()?;
    let ids = keys.get("figures")?.as_array()?;
    let figures: Option<Vec<Figure>> = ids.iter().map(|id| figure(id.as_str()?)).collect();
    let number = |key: &str| keys.get(key)?.as_u64();
    let budget = Budget { runs: number("runs")?, seed: number("seed")?, ..Budget::default() };
    Some((figures?, budget))
}
