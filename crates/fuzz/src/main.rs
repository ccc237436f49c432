//! Runs the mutator: `cargo run --release -p bellwether-fuzz -- all --executions 10000000`.

use bellwether_fuzz::{Outcome, Target, fuzz, run_once, targets};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

const USAGE: &str = "\
usage: bellwether-fuzz TARGET... [--executions N] [--seed N] [--out DIR]
       bellwether-fuzz TARGET --input FILE      run one input again
       bellwether-fuzz all --write-seeds DIR    write what a coverage-guided fuzzer begins with
       bellwether-fuzz list                     the targets
TARGET is a name or a part of one; `all` means all. A finding is written to DIR (fuzz/findings).";

/// What is asked for.
struct Wish {
    names: Vec<String>,
    executions: u64,
    seed: u64,
    out: PathBuf,
    input: Option<PathBuf>,
    seeds: Option<PathBuf>,
}

impl Wish {
    fn read(mut words: impl Iterator<Item = String>) -> Option<Self> {
        let mut wish = Self {
            names: Vec::new(),
            executions: 20_000,
            seed: 1,
            out: "fuzz/findings".into(),
            input: None,
            seeds: None,
        };
        while let Some(word) = words.next() {
            match word.as_str() {
                "--executions" => wish.executions = words.next()?.parse().ok()?,
                "--seed" => wish.seed = words.next()?.parse().ok()?,
                "--out" => wish.out = words.next()?.into(),
                "--input" => wish.input = Some(words.next()?.into()),
                "--write-seeds" => wish.seeds = Some(words.next()?.into()),
                flag if flag.starts_with('-') => return None,
                _ => wish.names.push(word),
            }
        }
        (!wish.names.is_empty()).then_some(wish)
    }

    fn is_for(&self, target: &Target) -> bool {
        self.names.iter().any(|name| name == "all" || target.name.contains(name.as_str()))
    }
}

fn main() -> ExitCode {
    let Some(wish) = Wish::read(std::env::args().skip(1)) else {
        eprintln!("{USAGE}");
        return ExitCode::from(2);
    };
    let mut all = targets();
    if wish.names == ["list"] {
        all.iter().for_each(|target| println!("{:<32} {}", target.name, target.about));
        return ExitCode::SUCCESS;
    }
    // An exact name is that target and no other.
    let exact = wish.names.iter().all(|name| all.iter().any(|target| target.name == *name));
    all.retain(
        |target| if exact { wish.names.contains(&target.name) } else { wish.is_for(target) },
    );
    if all.is_empty() {
        eprintln!("no target is called so; `bellwether-fuzz list` names them");
        return ExitCode::from(2);
    }
    if let Some(folder) = &wish.seeds {
        return done(all.iter().try_for_each(|target| write_seeds(target, folder)));
    }
    match &wish.input {
        Some(file) => again(&all, file),
        None => run(&all, &wish),
    }
}

fn done(written: std::io::Result<()>) -> ExitCode {
    match written {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("cannot write: {error}");
            ExitCode::FAILURE
        }
    }
}

fn write_seeds(target: &Target, folder: &Path) -> std::io::Result<()> {
    let folder = folder.join(&target.name);
    std::fs::create_dir_all(&folder)?;
    for (number, seed) in target.seeds.iter().enumerate() {
        std::fs::write(folder.join(format!("seed-{number}")), seed)?;
    }
    Ok(())
}

/// Runs one input again.
fn again(all: &[Target], file: &Path) -> ExitCode {
    let input = match std::fs::read(file) {
        Ok(input) => input,
        Err(error) => {
            eprintln!("cannot read {}: {error}", file.display());
            return ExitCode::FAILURE;
        }
    };
    let mut code = ExitCode::SUCCESS;
    for target in all {
        match run_once(target, &input) {
            Ok(read) => println!("{}: {}", target.name, if read { "read" } else { "not read" }),
            Err(problem) => {
                println!("{}: {problem}", target.name);
                code = ExitCode::FAILURE;
            }
        }
    }
    code
}

/// Runs targets and prints a row for each.
fn run(all: &[Target], wish: &Wish) -> ExitCode {
    println!("seed {}; of an input that can be read others are made\n", wish.seed);
    println!(
        "{:<32} {:>11} {:>11} {:>10} {:>9}",
        "target", "executions", "read", "per second", "findings"
    );
    let mut code = ExitCode::SUCCESS;
    for target in all {
        let outcome = fuzz(target, wish.executions, wish.seed);
        let Outcome { executions, read, took, findings, .. } = &outcome;
        let rate = *executions as f64 / took.as_secs_f64().max(1e-9);
        let (name, found) = (&target.name, findings.len());
        println!("{name:<32} {executions:>11} {read:>11} {rate:>10.0} {found:>9}");
        for (number, finding) in findings.iter().enumerate() {
            code = ExitCode::FAILURE;
            let file = wish.out.join(format!("{name}-{number}"));
            let written = std::fs::create_dir_all(&wish.out)
                .and_then(|()| std::fs::write(&file, &finding.input));
            println!("  {}", finding.problem.replace('\n', "\n  "));
            match written {
                Ok(()) => println!(
                    "  again: cargo run -p bellwether-fuzz -- {name} --input {}",
                    file.display()
                ),
                Err(error) => println!("  cannot write {}: {error}", file.display()),
            }
        }
    }
    code
}
