//! Shares as a job array of Slurm: written, submitted, waited for, joined; what
//! failed is submitted again.
//!
//! Every task makes one share of the work and keeps its pieces in the folder, which all machines
//! of the cluster see. So a task that failed, was killed or ran out of time costs only the pieces
//! that it had not finished, and its successor makes those alone. Slurm is asked only whether the
//! job is still there: whether a share is done is read from its pieces.

use super::folder::Folder;
use crate::cli::Done;
use crate::cli::commands::sim::count;
use crate::cli::failure::Failure;
use crate::cli::output::progress::{Interrupt, Progress};
use bellwether::analysis::sweep::work::Share;
use clap::Args;
use std::io::{self, Write};
use std::path::Path;
use std::process::Command;
use std::time::Duration;

/// The heading of these flags.
const HEADING: &str = "Slurm";

#[derive(Args, Debug)]
pub(in crate::cli) struct Cluster {
    /// Make the pieces as a job array of Slurm, which sees --out on all its machines
    #[arg(long, conflicts_with = "shard", help_heading = HEADING)]
    pub(super) slurm: bool,
    /// How many tasks the array has
    #[arg(long, value_name = "N", default_value = "16", requires = "slurm", help_heading = HEADING)]
    #[arg(value_parser = clap::value_parser!(u64).range(1..=100_000))]
    slurm_tasks: u64,
    /// How many of them run at a time, at most [default: as many as there is room for]
    #[arg(long, value_name = "N", requires = "slurm", help_heading = HEADING)]
    #[arg(value_parser = clap::value_parser!(u64).range(1..))]
    slurm_at_once: Option<u64>,
    /// The partition
    #[arg(long, value_name = "NAME", requires = "slurm", help_heading = HEADING)]
    partition: Option<String>,
    /// How long a task may take, as Slurm writes it: 30, 2:00:00, 1-12
    #[arg(long, value_name = "TIME", requires = "slurm", help_heading = HEADING)]
    time: Option<String>,
    /// How much memory a task gets, as Slurm writes it: 500M, 2G
    #[arg(long, value_name = "SIZE", requires = "slurm", help_heading = HEADING)]
    memory: Option<String>,
    /// How often tasks that failed are submitted again
    #[arg(long, value_name = "N", default_value = "3", requires = "slurm", help_heading = HEADING)]
    slurm_retries: u32,
}

/// Between two questions to Slurm.
const PAUSE: Duration = Duration::from_secs(2);
/// Between two looks for Ctrl-C.
const GLANCE: Duration = Duration::from_millis(100);
/// Where the number of the job is kept.
const JOB: &str = "slurm.job";

impl Cluster {
    /// Submits what is lacking until nothing is. `lacks` says of a share whether it has no result
    /// yet; `command` are the words that make one, but for the share.
    pub(super) fn run(
        &self,
        folder: &Folder,
        command: &[String],
        lacks: &dyn Fn(Share) -> bool,
    ) -> Done {
        let of = self.slurm_tasks;
        let lacking =
            || -> Vec<u64> { (1..=of).filter(|part| lacks(Share { part: *part, of })).collect() };
        let interrupt = Interrupt::catch()?;
        // A job of an earlier command may still be at work.
        let known = std::fs::read_to_string(folder.path().join(JOB)).unwrap_or_default();
        if !known.trim().is_empty() {
            wait(known.trim(), &interrupt)?;
        }
        for attempt in 0..=self.slurm_retries {
            let shares = lacking();
            if shares.is_empty() {
                return Ok(());
            }
            let script = self.script(folder.path(), command, &shares)?;
            folder.write("slurm.sh", script.as_bytes())?;
            let job = submit(&folder.path().join("slurm.sh"))?;
            folder.write(JOB, job.as_bytes())?;
            let tasks = count(shares.len() as u64, "task", "tasks");
            let again = if attempt == 0 { "" } else { " again" };
            // Whoever does not read it still gets the rows.
            let _ = writeln!(io::stderr(), "job {job}: {tasks}{again}");
            wait(&job, &interrupt)?;
        }
        match lacking().as_slice() {
            [] => Ok(()),
            left => Err(Failure::Io(format!(
                "{} did not finish; {}/slurm-*.log say why, and the same command goes on",
                count(left.len() as u64, "task", "tasks"),
                folder.path().display()
            ))),
        }
    }

    /// The script of the array.
    fn script(&self, out: &Path, command: &[String], shares: &[u64]) -> Result<String, Failure> {
        let out = std::path::absolute(out).map_err(|error| Failure::io("find", out, &error))?;
        let program = std::env::current_exe()?;
        let numbers: Vec<String> = shares.iter().map(u64::to_string).collect();
        let at_once = self.slurm_at_once.map_or_else(String::new, |most| format!("%{most}"));
        let mut script = format!(
            "#!/bin/sh\n#SBATCH --job-name=bellwether\n#SBATCH --array={}{at_once}\n\
             #SBATCH --cpus-per-task=1\n#SBATCH --output={}/slurm-%a.log\n",
            numbers.join(","),
            out.display()
        );
        let options = [("partition", &self.partition), ("time", &self.time), ("mem", &self.memory)];
        for (name, value) in options {
            if let Some(value) = value {
                if value.contains(char::is_whitespace) {
                    let line = format!("'{value}': no option of Slurm has a space; leave it out");
                    return Err(Failure::usage(line));
                }
                script += &format!("#SBATCH --{name}={value}\n");
            }
        }
        let quoted = |word: &str| format!("'{}'", word.replace('\'', "'\\''"));
        let words: Vec<String> = command.iter().map(|word| quoted(word)).collect();
        script += &format!(
            "exec {} {} --out {} --threads 1 --shard \"$SLURM_ARRAY_TASK_ID/{}\"\n",
            quoted(&program.display().to_string()),
            words.join(" "),
            quoted(&out.display().to_string()),
            self.slurm_tasks
        );
        Ok(script)
    }
}

/// Submits a script; returns the number of the job.
fn submit(script: &Path) -> Result<String, Failure> {
    let output = Command::new("sbatch").arg("--parsable").arg(script).output();
    let output = output.map_err(|error| {
        Failure::Io(format!("cannot start sbatch: {error}; is Slurm installed on this machine?"))
    })?;
    let text = String::from_utf8_lossy(&output.stdout);
    // With several clusters its name follows, after a semicolon.
    let job = text.trim().split(';').next().unwrap_or_default().to_owned();
    if output.status.success() && !job.is_empty() && job.bytes().all(|b| b.is_ascii_digit()) {
        return Ok(job);
    }
    let errors = String::from_utf8_lossy(&output.stderr);
    let line = errors.lines().last().unwrap_or("it gave no number of a job");
    Err(Failure::Io(format!("sbatch refuses {}: {line}", script.display())))
}

/// Waits until no task of the job is left, and shows how many are not.
fn wait(job: &str, interrupt: &Interrupt) -> Done {
    let mut progress: Option<(u64, Progress)> = None;
    while let Some(left) = left(job)? {
        if let Some(left) = left {
            let (all, progress) =
                progress.get_or_insert_with(|| (left, Progress::of(left, "tasks")));
            progress.reach(all.saturating_sub(left));
        }
        let glances = PAUSE.as_millis() / GLANCE.as_millis();
        for _ in 0..glances {
            if interrupt.came() {
                return Err(Failure::Interrupted(Some(
                    "interrupted; the job goes on (squeue shows it), and the same command waits \
                     for it",
                )));
            }
            std::thread::sleep(GLANCE);
        }
    }
    Ok(())
}

/// How many tasks of the job wait or run; nothing if none does. Slurm forgets jobs that ended, and
/// refuses their number then; if it does not answer at all, nobody knows how many, and it is asked
/// again.
fn left(job: &str) -> Result<Option<Option<u64>>, Failure> {
    // A line for each task, also of those that wait.
    let arguments = ["--noheader", "--array", "--format=%i", "--jobs", job];
    let output = Command::new("squeue").args(arguments).output();
    let output = output.map_err(|error| Failure::Io(format!("cannot start squeue: {error}")))?;
    if output.status.success() {
        let lines = output.stdout.split(|byte| *byte == b'\n');
        let tasks = lines.filter(|line| !line.trim_ascii().is_empty()).count() as u64;
        return Ok((tasks > 0).then_some(Some(tasks)));
    }
    let forgotten = String::from_utf8_lossy(&output.stderr).contains("Invalid job id");
    Ok((!forgotten).then_some(None))
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::FromArgMatches;

    #[test]
    fn the_script_asks_for_what_was_asked() {
        let command = Cluster::augment_args(clap::Command::new("sweep"));
        let command = command.arg(clap::Arg::new("shard").long("shard"));
        let words = "sweep --slurm --partition short --time 30 --memory 2G \
                     --slurm-tasks 8 --slurm-at-once 2";
        let matches = command.try_get_matches_from(words.split_whitespace()).unwrap();
        let cluster = Cluster::from_arg_matches(&matches).unwrap();
        let words = ["sweep", "/data/a sweep/sweep.toml"].map(str::to_owned);
        let script = cluster.script(Path::new("/data/a sweep"), &words, &[1, 5]).unwrap();
        for line in [
            "#SBATCH --array=1,5%2",
            "#SBATCH --partition=short",
            "#SBATCH --time=30",
            "#SBATCH --mem=2G",
        ] {
            assert!(script.lines().any(|written| written == line), "{line}: {script}");
        }
        let line = "'sweep' '/data/a sweep/sweep.toml' --out '/data/a sweep' --threads 1";
        assert!(script.contains(line), "{script}");
        assert!(script.ends_with("--threads 1 --shard \"$SLURM_ARRAY_TASK_ID/8\"\n"), "{script}");
    }
}
