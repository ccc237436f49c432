//! `bellwether reproduce`: draws the papers' figures again, with a verdict on each claim.

use crate::cli::Done;
use crate::cli::commands::sim::count;
use crate::cli::commands::sweep::figures::{Shared, Sharing};
use crate::cli::failure::Failure;
use crate::cli::file;
use crate::cli::flags::common::{Seed, Threads};
use crate::cli::output::Rows;
use crate::cli::output::TableOrJson;
use crate::cli::output::progress::{Progress, Stopwatch};
use bellwether::analysis::figures::{self, Budget, Figure, Finding, Verdict, Workbench, figure};
use bellwether::analysis::report::page::{self, Piece};
use bellwether::analysis::report::{csv, json, picture, stem};
use clap::Args;
use clap::builder::{PossibleValue, TypedValueParser};
use serde_json::{Value, json};
use std::ffi::OsStr;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Draw the figures of the papers again, and judge what they claim
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES, mut_arg("seed", |flag| flag.short('s')))]
pub(in crate::cli) struct Reproduce {
    /// The figures, by name; `all` for all of them, `published` for those that papers have
    #[arg(value_name = "FIGURE", required_unless_present = "list")]
    #[arg(value_parser = Named, hide_possible_values = true)]
    figures: Vec<String>,
    /// Where the files are written; made if it is not there
    #[arg(long, short, value_name = "DIR", default_value = "figures")]
    out: PathBuf,
    /// How many runs at each point, at first; figures with costly points use a fraction of that,
    /// and what leaves a claim undecided gets more. With fewer than 300 no claim is judged
    #[arg(long, short, value_name = "R", default_value = "1000")]
    #[arg(value_parser = runs)]
    runs: u64,
    #[command(flatten)]
    seed: Seed,
    #[command(flatten)]
    threads: Threads,
    /// How to write the verdicts
    #[arg(long, value_enum, default_value_t)]
    format: TableOrJson,
    #[command(flatten)]
    sharing: Sharing,
    /// List the figures and where they come from, and do nothing else
    #[arg(long)]
    #[arg(conflicts_with_all = ["figures", "out", "runs", "seed", "threads", "shard", "slurm"])]
    list: bool,
}

const EXAMPLES: &str = "\
Examples:
  bellwether reproduce --list
  bellwether reproduce all --out report        then open report/index.html
  bellwether reproduce 5.6 5.7 --runs 10000
  bellwether reproduce all --out part1 --shard 1/2
  bellwether merge part1 part2 --out report

Each figure becomes DIR/FIGURE.svg, .csv and .json as soon as it is made; DIR/index.html shows it
beside those that it showed before, with what the paper says, what we find, and how to get each
number again. After an interrupt (Ctrl-C) or kill -9 the figures made so far are kept, and so are
the points of the others: the same command goes on with them.";

/// Parses a number of runs: a mean needs two for its error.
fn runs(text: &str) -> Result<u64, String> {
    match text.parse::<u64>() {
        Ok(runs) if runs > 1 => Ok(runs),
        _ => Err("runs are a whole number, at least 2".to_owned()),
    }
}

/// A finding, and how long it took to find.
struct Made {
    finding: Finding,
    took: Duration,
}

impl Reproduce {
    pub(in crate::cli) fn run(&self) -> Done {
        if self.list {
            writeln!(io::stdout(), "{}", self.listed())?;
            return Ok(());
        }
        let chosen = chosen(&self.figures)?;
        if self.out.exists() && !self.out.is_dir() {
            let out = self.out.display();
            return Err(Failure::usage(format!("--out {out}: that is a file; name a folder")));
        }
        fs::create_dir_all(&self.out)
            .map_err(|error| Failure::io("make the folder", &self.out, &error))?;
        file::check_writable(&self.out.join("index.html"))?;
        let shared = Shared::new(&self.out, &chosen, self.budget())?;
        if let Some(share) = self.sharing.shard {
            let mine = shared.share(share)?;
            let made = make(mine, shared.bench(), &mut |_, _| Ok(()))?;
            let made = count(made.len() as u64, "figure", "figures");
            writeln!(io::stdout(), "share {}/{}: {made}", share.part, share.of)?;
            return Ok(());
        }
        self.sharing.submit(&shared)?;
        let (out, format) = (self.out.clone(), self.format);
        Report { out, budget: self.budget(), format }.write(chosen, shared.bench())?;
        shared.finish(&self.sharing);
        Ok(())
    }

    fn budget(&self) -> Budget {
        let (runs, seed, threads) = (self.runs, self.seed.get(), self.threads.threads);
        Budget { runs, seed, threads, ..Budget::default() }
    }

    fn listed(&self) -> String {
        let row = |figure: Figure| [figure.id, figure.title, figure.source];
        let figures = figures::figures().into_iter().map(row);
        let rows = Rows::of(["figure", "title", "source"], figures);
        match self.format {
            TableOrJson::Table => rows.to_text(),
            TableOrJson::Json => rows.to_json().to_string(),
        }
    }
}

/// Where figures are written, from how much work, and how their verdicts are shown.
pub(in crate::cli) struct Report {
    pub(in crate::cli) out: PathBuf,
    pub(in crate::cli) budget: Budget,
    pub(in crate::cli) format: TableOrJson,
}

impl Report {
    /// Makes the figures on this workbench, writes their files, and says what they show.
    pub(in crate::cli) fn write(&self, chosen: Vec<Figure>, bench: Workbench) -> Done {
        fs::create_dir_all(&self.out)
            .map_err(|error| Failure::io("make the folder", &self.out, &error))?;
        let mut index = Index::open(&self.out, self.budget);
        let made = make(chosen, bench, &mut |finding, progress| {
            write_files(&self.out, finding)?;
            index.add(finding)?;
            match self.format {
                TableOrJson::Table => Ok(progress.print(&verdicts(finding))?),
                TableOrJson::Json => Ok(()),
            }
        })?;
        let (findings, took): (Vec<Finding>, Vec<Duration>) =
            made.into_iter().map(|made| (made.finding, made.took)).unzip();
        let text = match self.format {
            TableOrJson::Table => self.summary(&findings, &took),
            TableOrJson::Json => self.for_programs(&findings, &took).to_string(),
        };
        writeln!(io::stdout(), "{text}")?;
        Ok(())
    }

    /// What all figures came to.
    fn summary(&self, findings: &[Finding], took: &[Duration]) -> String {
        let claims: u64 = findings.iter().map(|finding| finding.claims.len() as u64).sum();
        let of = |verdict: Verdict| format!("{} {}", number(findings, verdict), verdict.name());
        let verdicts = Verdict::ALL.map(of);
        let mut text = format!("{}: {}\n", count(claims, "claim", "claims"), verdicts.join(", "));
        text += &format!("time: {}\n", times(findings, took).join(", "));
        text + &format!("written: {}", self.out.join("index.html").display())
    }

    fn for_programs(&self, findings: &[Finding], took: &[Duration]) -> Value {
        let mut figures = json::verdicts(findings);
        for ((figure, finding), took) in figures.iter_mut().zip(findings).zip(took) {
            let stem = stem(finding);
            let file = |kind| self.out.join(format!("{stem}.{kind}")).display().to_string();
            figure["files"] = json!(["svg", "csv", "json"].map(file));
            figure["wall_seconds"] = json!(took.as_secs_f64());
        }
        json!({
            "figures": figures,
            "runs": self.budget.runs,
            "seed": self.budget.seed,
            "confirmed": number(findings, Verdict::Confirmed),
            "refuted": number(findings, Verdict::Refuted),
            "undecided": number(findings, Verdict::Undecided),
            "not_reproducible": number(findings, Verdict::NotReproducible),
            "page": self.out.join("index.html").display().to_string(),
            "wall_seconds": took.iter().sum::<Duration>().as_secs_f64(),
        })
    }
}

/// A figure's verdicts, for people.
fn verdicts(finding: &Finding) -> String {
    let mut text = format!("{}  {} ({})\n", finding.id, finding.title, finding.source);
    for claim in &finding.claims {
        let verdict = claim.verdict.name();
        text += &format!("  {verdict:<16}  {} ({})\n", claim.says, claim.section);
        text += &format!("  {:<16}  {}\n", "", claim.because);
        text += &format!("  {:<16}  rule: {}\n", "", claim.rule);
    }
    for cut in finding.cuts() {
        text += &format!("  {:<16}  {cut}\n", "cut");
    }
    text
}

/// How many claims have this verdict.
fn number(findings: &[Finding], verdict: Verdict) -> usize {
    let claims = findings.iter().flat_map(|finding| &finding.claims);
    claims.filter(|claim| claim.verdict == verdict).count()
}

/// How long the papers' figures took, and how long ours. Points that both show count for the first.
fn times(findings: &[Finding], took: &[Duration]) -> Vec<String> {
    let part = |ours: bool, name: &str| {
        let is = |(finding, _): &(&Finding, &Duration)| finding.is_ours() == ours;
        let (number, time) = findings
            .iter()
            .zip(took)
            .filter(is)
            .fold((0, Duration::ZERO), |(number, time), (_, took)| (number + 1, time + *took));
        let figures = count(number, "figure", "figures");
        (number > 0).then(|| format!("{name} {figures} {:.1} s", time.as_secs_f64()))
    };
    [part(false, "published"), part(true, "ours")].into_iter().flatten().collect()
}

/// Reads the name of a figure, and offers all names to shells.
#[derive(Clone, Copy, Debug)]
struct Named;

impl TypedValueParser for Named {
    type Value = String;

    fn parse_ref(
        &self,
        _command: &clap::Command,
        _flag: Option<&clap::Arg>,
        value: &OsStr,
    ) -> Result<String, clap::Error> {
        Ok(value.to_string_lossy().into_owned())
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        let names = figures::names().chain(["all", "published"]);
        Some(Box::new(names.map(PossibleValue::new)))
    }
}

/// The figures that were named, in the order of the report, each once.
fn chosen(names: &[String]) -> Result<Vec<Figure>, Failure> {
    if names.iter().any(|name| name == "all") {
        return Ok(figures::figures());
    }
    if names.iter().any(|name| name == "published") {
        return Ok(figures::figures().into_iter().filter(|figure| !figure.is_ours()).collect());
    }
    let mut chosen: Vec<Figure> = Vec::new();
    for name in names {
        let figure = figure(name).ok_or_else(|| unknown(name))?;
        if chosen.iter().all(|other| other.id != figure.id) {
            chosen.push(figure);
        }
    }
    chosen.sort_by_key(|figure| figures::names().position(|name| name == figure.id));
    Ok(chosen)
}

/// What the name might have meant.
fn unknown(name: &str) -> Failure {
    let mut near: Vec<(f64, &str)> =
        figures::names().map(|id| (strsim::jaro_winkler(name, id), id)).collect();
    near.sort_by(|(a, _), (b, _)| b.total_cmp(a));
    let near = near.iter().filter(|(likeness, _)| *likeness > 0.6).take(3);
    let near: Vec<String> = near.map(|(_, id)| format!("'{id}'")).collect();
    let hint = match near.as_slice() {
        [] => String::new(),
        near => format!("did you mean {}? ", near.join(" or ")),
    };
    Failure::usage(format!(
        "no figure is called '{name}'; {hint}`bellwether reproduce --list` lists them"
    ))
}

/// The page of all figures of a folder, which grows with each.
struct Index {
    path: PathBuf,
    budget: Budget,
    pieces: Vec<Piece>,
}

impl Index {
    /// As it is; what cannot be read is begun anew.
    fn open(folder: &Path, budget: Budget) -> Self {
        let path = folder.join("index.html");
        let pieces = Piece::all_of(&fs::read_to_string(&path).unwrap_or_default());
        Self { path, budget, pieces }
    }

    /// Shows a figure in its place in the order of all, and in the place of a former one.
    fn add(&mut self, finding: &Finding) -> Done {
        self.pieces.retain(|piece| !piece.is_of(finding.id));
        self.pieces.push(Piece::of(finding));
        let place = |piece: &Piece| figures::names().position(|id| piece.is_of(id));
        self.pieces.sort_by_key(|piece| place(piece).unwrap_or(usize::MAX));
        file::replace(&self.path, &page::assemble(&self.pieces, self.budget))
    }
}

/// Makes the figures, and keeps each as soon as it is made.
fn make(
    figures: Vec<Figure>,
    mut bench: Workbench,
    keep: &mut dyn FnMut(&Finding, &Progress) -> Done,
) -> Result<Vec<Made>, Failure> {
    let progress = Progress::of(bench.missing(&figures) as u64, "points");
    let mut made = Vec::new();
    for figure in figures {
        progress.tell(figure.id);
        let watch = Stopwatch::start();
        let finding = bench.finding(figure, &mut || progress.tick()).map_err(Failure::usage)?;
        let took = watch.elapsed();
        if let Some(why) = bench.not_kept() {
            return Err(Failure::Io(why.to_owned()));
        }
        keep(&finding, &progress)?;
        made.push(Made { finding, took });
    }
    Ok(made)
}

fn write_files(folder: &Path, finding: &Finding) -> Done {
    let write = |kind: &str, text: &str| {
        file::write(&folder.join(format!("{}.{kind}", stem(finding))), text)
    };
    write("svg", &picture::svg(finding))?;
    write("csv", &csv::csv(finding))?;
    let json = serde_json::to_string_pretty(&json::json(finding)).map_err(io::Error::from)?;
    write("json", &(json + "\n"))
}
