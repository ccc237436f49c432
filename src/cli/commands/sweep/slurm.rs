//! Shares as a job array of Slurm: written, submitted, waited for, joined; what
//! failed is submitted again.
//!
//! Every task makes one share of the work and keeps its pieces in the folder, which all machines
//! of the cluster see. So a task that failed, was killed or ran out of time costs only the pieces
//! that it had not finished, and its successor makes those alone. Slurm is asked only whether the
//! job is still there: whether a share is done is read from its pieces.
//!
//! Tasks may start hours later, when the program's file is another build whose pieces nobody
//! could join. So they start a copy of it, which lies in the folder under a name made of its bytes.

use super::folder::Folder;
use super::program;
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
    /// How many tasks the array has; Slurm's MaxArraySize, 1001 by default, must be greater
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
/// So often in a row Slurm may not answer: for ten minutes.
const SILENCE: u32 = 300;
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
            wait(known.trim(), &interrupt, &mut || left(known.trim()), PAUSE)?;
        }
        for attempt in 0..=self.slurm_retries {
            let shares = lacking();
            if shares.is_empty() {
                return Ok(());
            }
            let program = program::copied(folder)?;
            let script = self.script(folder.path(), &program, command, &shares)?;
            folder.write("slurm.sh", script.as_bytes())?;
            let job = submit(&folder.path().join("slurm.sh"))?;
            folder.write(JOB, job.as_bytes())?;
            let tasks = count(shares.len() as u64, "task", "tasks");
            let again = if attempt == 0 { "" } else { " again" };
            // Whoever does not read it still gets the rows.
            let _ = writeln!(io::stderr(), "job {job}: {tasks}{again}");
            wait(&job, &interrupt, &mut || left(&job), PAUSE)?;
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

    /// The script of the array, which starts this program.
    fn script(
        &self,
        out: &Path,
        program: &Path,
        command: &[String],
        shares: &[u64],
    ) -> Result<String, Failure> {
        let whole = |path: &Path| {
            std::path::absolute(path).map_err(|error| Failure::io("find", path, &error))
        };
        let (out, program) = (whole(out)?, whole(program)?);
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
    // "Invalid job array specification" is all that it says.
    let way_out = match line.contains("array") {
        true => "; --slurm-tasks must be less than MaxArraySize (`scontrol show config`)",
        false => "",
    };
    Err(Failure::Io(format!("sbatch refuses {}: {line}{way_out}", script.display())))
}

/// What Slurm says of a job.
enum Left {
    /// So many tasks wait or run; none if it has forgotten the job.
    Tasks(u64),
    /// Nothing, for this reason.
    Unknown(String),
}

/// Waits until no task of the job is left, and shows how many are not. Gives up if Slurm does not
/// answer so often in a row that somebody has to see to it.
fn wait(
    job: &str,
    interrupt: &Interrupt,
    left: &mut dyn FnMut() -> Result<Left, Failure>,
    pause: Duration,
) -> Done {
    let mut progress: Option<(u64, Progress)> = None;
    let mut silent = 0;
    loop {
        match left()? {
            Left::Tasks(0) => return Ok(()),
            Left::Tasks(left) => {
                silent = 0;
                let (all, progress) =
                    progress.get_or_insert_with(|| (left, Progress::of(left, "tasks")));
                progress.reach(all.saturating_sub(left));
            }
            Left::Unknown(why) if silent == SILENCE => {
                return Err(Failure::Io(format!(
                    "squeue has not answered {SILENCE} times in a row: {why}; job {job} may go \
                     on, and the same command waits for it"
                )));
            }
            Left::Unknown(why) => {
                if silent == 0 {
                    // Whoever does not read it still gets the rows.
                    let _ = writeln!(io::stderr(), "squeue does not answer: {why}; asking again");
                }
                silent += 1;
            }
        }
        let mut rest = pause;
        while !rest.is_zero() {
            if interrupt.came() {
                return Err(Failure::Interrupted(Some(
                    "interrupted; the job goes on (squeue shows it), and the same command waits \
                     for it",
                )));
            }
            let glance = rest.min(GLANCE);
            std::thread::sleep(glance);
            rest -= glance;
        }
    }
}

/// How many tasks of the job wait or run. Slurm forgets jobs that ended, and refuses their number
/// then; if it does not answer at all, nobody knows how many.
fn left(job: &str) -> Result<Left, Failure> {
    // A line for each task, also of those that wait.
    let arguments = ["--noheader", "--array", "--format=%i", "--jobs", job];
    let output = Command::new("squeue").args(arguments).output();
    let output = output.map_err(|error| Failure::Io(format!("cannot start squeue: {error}")))?;
    if output.status.success() {
        let lines = output.stdout.split(|byte| *byte == b'\n');
        let tasks = lines.filter(|line| !line.trim_ascii().is_empty()).count() as u64;
        return Ok(Left::Tasks(tasks));
    }
    let errors = String::from_utf8_lossy(&output.stderr);
    if errors.contains("Invalid job id") {
        return Ok(Left::Tasks(0));
    }
    let line = errors.lines().last().map_or_else(|| output.status.to_string(), str::to_owned);
    Ok(Left::Unknown(line))
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
        let out = Path::new("/data/a sweep");
        let script = cluster.script(out, &out.join("program"), &words, &[1, 5]).unwrap();
        for line in [
            "#SBATCH --array=1,5%2",
            "#SBATCH --partition=short",
            "#SBATCH --time=30",
            "#SBATCH --mem=2G",
        ] {
            assert!(script.lines().any(|written| written == line), "{line}: {script}");
        }
        let line = "exec '/data/a sweep/program' 'sweep' '/data/a sweep/sweep.toml' \
                    --out '/data/a sweep' --threads 1";
        assert!(script.contains(line), "{script}");
        assert!(script.ends_with("--threads 1 --shard \"$SLURM_ARRAY_TASK_ID/8\"\n"), "{script}");
    }

    #[test]
    fn a_slurm_that_never_answers_is_not_asked_for_ever() {
        let interrupt = Interrupt::catch().unwrap();
        let mut asked = 0;
        let mut never = || {
            asked += 1;
            // One answer in between: what counts is how often in a row there is none.
            let unknown = Left::Unknown("Unable to contact slurm controller".to_owned());
            Ok(if asked == 100 { Left::Tasks(2) } else { unknown })
        };
        let failure = wait("7", &interrupt, &mut never, Duration::ZERO).unwrap_err();
        assert_eq!(asked, 100 + SILENCE + 1);
        let line = failure.to_string();
        assert!(line.contains("Unable to contact slurm controller; job 7 may go on"), "{line}");
    }
}
