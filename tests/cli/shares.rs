//! Figures in shares: points that survive a `kill -9`, and shares that join. And what is shown
//! while a cluster makes shares.

use crate::command::{folder, pieces, program, refusal, stdout};
use std::collections::BTreeMap;
use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

/// The figures of a folder: all files but descriptions and logs.
fn figures(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = std::fs::read_dir(folder).expect("the folder was made");
    let paths = entries.map(|entry| entry.expect("the folder can be read").path());
    let is_figure = |path: &std::path::PathBuf| {
        path.extension()
            .is_some_and(|end| ["svg", "csv", "json", "html"].iter().any(|it| end == *it))
    };
    let read = |path: std::path::PathBuf| {
        let name = path.file_name().expect("files have names").to_string_lossy().into_owned();
        (name, std::fs::read(path).expect("files can be read"))
    };
    paths.filter(is_figure).map(read).collect()
}

/// With 300 runs claims are judged, and points of undecided ones get more runs.
#[test]
fn shares_of_figures_join_to_the_bytes_of_one_machine() {
    let folder = folder("shares-join");
    let at = |name: &str| folder.join(name).display().to_string();
    let flags = "5.6 5.8 merea-messages --runs 300 --seed 3";
    stdout(&format!("reproduce {flags} --out {}", at("whole")));
    assert!(!folder.join("whole/pieces").exists(), "points are kept only until all is made");
    for part in 1..=2 {
        let text =
            stdout(&format!("reproduce {flags} --shard {part}/2 --out {}{part}", at("part")));
        let count = if part == 1 { "2 figures" } else { "1 figure" };
        assert_eq!(text, format!("share {part}/2: {count}\n"));
        assert!(figures(&folder.join(format!("part{part}"))).is_empty(), "only points are kept");
    }
    // What it says makes the missing figure, and leaves the points of the others there.
    let alone = at("alone");
    stdout(&format!("reproduce {flags} --shard 1/2 --out {alone}"));
    stdout(&format!("reproduce 5.8 --runs 300 --seed 3 --out {alone}"));
    stdout(&format!("merge {alone} --out {}", at("completed")));
    assert_eq!(figures(&folder.join("completed")), figures(&folder.join("whole")));
    let line = refusal(&format!("merge {}1 --out {}", at("part"), at("joined")), 2);
    assert!(line.contains("1 figure is not complete; the first is 5.8"), "{line}");
    assert!(line.contains("bellwether reproduce 5.8 --runs 300 --seed 3 --out"), "{line}");
    let text = stdout(&format!("merge {0}1 {0}2 --out {1}", at("part"), at("joined")));
    assert!(text.contains(&format!("written: {}/index.html", at("joined"))), "{text}");
    assert_eq!(figures(&folder.join("joined")), figures(&folder.join("whole")));
    std::fs::remove_dir_all(folder).expect("it was made by this test");
}

#[test]
fn what_cannot_be_joined_is_refused() {
    let folder = folder("shares-refused");
    let at = |name: &str| folder.join(name).display().to_string();
    for (out, seed) in [("one", 1), ("two", 2)] {
        let flags = format!("5.8 --runs 2 --seed {seed} --shard 1/1");
        stdout(&format!("reproduce {flags} --out {}", at(out)));
    }
    let line = refusal(&format!("merge {} {}", at("one"), at("two")), 2);
    assert!(line.contains("different figures"), "{line}");
    let line = refusal(&format!("merge {} --plot x=loss,y=messages", at("one")), 2);
    assert!(line.contains("these are figures"), "{line}");
    let line = refusal(&format!("merge {} --format csv", at("one")), 2);
    assert!(line.contains("choose table or json"), "{line}");
    let line = refusal("reproduce 5.8 --shard 3/2", 2);
    assert!(line.contains("a share is I/N"), "{line}");
    std::fs::remove_dir_all(folder).expect("it was made by this test");
}

/// Whoever makes the figures is killed by a signal that it cannot catch, again and again.
#[test]
fn figures_that_are_killed_again_and_again_end_with_the_same_bytes() {
    let folder = folder("shares-killed");
    let (whole, killed) = (folder.join("whole"), folder.join("killed"));
    let flags = "reproduce 5.6 5.7 5.8 --runs 200 --threads 1 --out";
    stdout(&format!("{flags} {}", whole.display()));
    let mut kills = 0;
    'again: loop {
        let before = pieces(&killed);
        let mut command = program();
        command.args(flags.split_whitespace()).arg(&killed);
        let mut child =
            command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it starts");
        loop {
            if child.try_wait().expect("it is ours").is_some() {
                break 'again;
            }
            if kills < 3 && pieces(&killed) > before + 3 {
                break;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        child.kill().expect("it is ours"); // SIGKILL
        child.wait().expect("it is ours");
        assert!(pieces(&killed) > before, "what was made is kept");
        kills += 1;
    }
    assert!(kills > 0, "it was ready before it could be killed");
    assert_eq!(figures(&killed), figures(&whole));
    std::fs::remove_dir_all(folder).expect("it was made by this test");
}

/// Commands in place of Slurm's. `sbatch` runs a command, then makes all shares at once; `squeue`
/// shows four tasks, two once there is the file `some`, and none once there is the file `all`.
fn pretended_slurm(folder: &Path, before: &str) -> String {
    let tools = folder.join("tools");
    std::fs::create_dir_all(&tools).expect("there is room for a folder");
    let at = folder.display();
    let sbatch = format!(
        "{before}\nfor SLURM_ARRAY_TASK_ID in 1 2 3 4; do export SLURM_ARRAY_TASK_ID; sh \"$2\"; \
         done >/dev/null; echo 7"
    );
    let squeue = format!(
        "[ -e {at}/all ] && exit 0\necho 7_3; echo 7_4\n\
         [ -e {at}/some ] || {{ echo 7_1; echo 7_2; }}"
    );
    for (name, script) in [("sbatch", sbatch), ("squeue", squeue)] {
        let path = tools.join(name);
        std::fs::write(&path, format!("#!/bin/sh\n{script}\n")).expect("there is room for a file");
        let runs = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(&path, runs).expect("it is ours");
    }
    tools.display().to_string()
}

/// A command on a terminal, and what it writes there.
struct Terminal {
    child: Child,
    more: Receiver<Vec<u8>>,
    seen: String,
}

impl Terminal {
    /// `script` is the terminal.
    fn start(line: &str, tools: &str) -> Self {
        let mut command = Command::new("script");
        command.args(["-qfec", &format!("stty cols 120; {line}"), "/dev/null"]);
        let path = format!("{tools}:{}", std::env::var("PATH").unwrap_or_default());
        command.env("PATH", path).env("TERM", "xterm");
        command.stdin(Stdio::null()).stdout(Stdio::piped());
        let mut child = command.spawn().expect("there is a terminal");
        let mut output = child.stdout.take().expect("it is a pipe");
        let (told, more) = channel();
        std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(count @ 1..) = output.read(&mut bytes) {
                let _ = told.send(bytes[..count].to_vec()); // nobody reads what comes too late
            }
        });
        Self { child, more, seen: String::new() }
    }

    /// Waits until this is written; returns all that was.
    fn until(&mut self, words: &str) -> &str {
        while !self.seen.contains(words) {
            let patience = Duration::from_secs(120);
            let more = self.more.recv_timeout(patience);
            let more = more.unwrap_or_else(|_| panic!("no {words}: {}", self.seen));
            self.seen += &String::from_utf8_lossy(&more);
        }
        &self.seen
    }
}

/// Whoever waits for a cluster sees how many tasks are done, and for how long it will take once one
/// is.
#[test]
fn tasks_of_a_cluster_are_counted_with_the_time_left() {
    let folder = folder("shares-slurm");
    let file = folder.join("sweep.toml");
    let text = "sim = \"le-s\"\nruns = 40\npiece = 10\n[fixed]\nnodes = 5\n";
    std::fs::write(&file, text).expect("there is room for a file");
    let [whole, out] = ["whole", "out"].map(|name| folder.join(name));
    stdout(&format!("sweep {} --out {}", file.display(), whole.display()));
    let line = format!(
        "{} sweep {} --out {} --slurm --slurm-tasks 4",
        program().get_program().display(),
        file.display(),
        out.display()
    );
    let mut terminal = Terminal::start(&line, &pretended_slurm(&folder, ":"));
    let seen = terminal.until("0/4 tasks");
    assert!(!seen.contains(" left"), "nobody knows before a task is done: {seen}");
    std::fs::write(folder.join("some"), "").expect("there is room for a file");
    terminal.until("2/4 tasks");
    let seen = terminal.until(" left");
    assert!(seen.contains("so far"), "{seen}");
    std::fs::write(folder.join("all"), "").expect("there is room for a file");
    assert!(terminal.child.wait().expect("it ends").success());
    let rows = |out: &Path| std::fs::read(out.join("rows.csv")).expect("it was written");
    assert_eq!(rows(&out), rows(&whole));
    std::fs::remove_dir_all(folder).expect("it was made by this test");
}

/// Tasks may wait for hours. Meanwhile the program's file becomes another build, here one that only
/// fails; the tasks start what was there when they were submitted.
#[test]
fn tasks_of_a_cluster_run_the_build_that_submitted_them() {
    let folder = folder("shares-rebuilt");
    let (file, own) = (folder.join("sweep.toml"), folder.join("bellwether"));
    let text = "sim = \"le-s\"\nruns = 40\npiece = 10\n[fixed]\nnodes = 5\n";
    std::fs::write(&file, text).expect("there is room for a file");
    std::fs::write(folder.join("all"), "").expect("there is room for a file");
    std::fs::copy(program().get_program(), &own).expect("there is room for the program");
    let rebuilt =
        format!("rm {0}; printf '#!/bin/sh\nexit 1\n' >{0}; chmod 755 {0}", own.display());
    let tools = pretended_slurm(&folder, &rebuilt);
    let out = folder.join("out");
    let mut command = Command::new(&own);
    command.arg("sweep").arg(&file).arg("--out").arg(&out);
    command.args(["--slurm", "--slurm-tasks", "4", "--slurm-retries", "0"]);
    command.env("PATH", format!("{tools}:{}", std::env::var("PATH").unwrap_or_default()));
    let output = command.output().expect("it starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(pieces(&out), 4, "the tasks have made them all");
    std::fs::remove_dir_all(folder).expect("it was made by this test");
}

/// Figures remove the pieces of their folder once they are made, and `merge` joins what the folder
/// says it has: so no folder has a sweep and figures.
#[test]
fn a_folder_of_a_sweep_is_none_of_figures() {
    let folder = folder("shares-mixed");
    let at = |name: &str| folder.join(name).display().to_string();
    let file = folder.join("sweep.toml");
    let text = "sim = \"le-s\"\nruns = 20\npiece = 10\n[fixed]\nnodes = 5\n";
    std::fs::write(&file, text).expect("there is room for a file");
    stdout(&format!("sweep {} --out {}", file.display(), at("sweep")));
    for flags in ["", "--shard 1/2"] {
        let line = refusal(&format!("reproduce 5.8 --runs 2 {flags} --out {}", at("sweep")), 2);
        assert!(line.contains("it has sweep.toml, so a sweep keeps pieces there"), "{line}");
    }
    assert_eq!(pieces(&folder.join("sweep")), 2, "they are still there");
    stdout(&format!("reproduce 5.8 --runs 2 --shard 1/1 --out {}", at("figures")));
    let line = refusal(&format!("sweep {} --out {}", file.display(), at("figures")), 2);
    assert!(line.contains("it has figures.toml, so shares of figures keep pieces"), "{line}");
    let line = refusal(&format!("merge {} --out {}", at("sweep"), at("figures")), 2);
    assert!(line.contains("it has figures.toml"), "{line}");
    // As older versions could leave it.
    std::fs::copy(&file, folder.join("figures/sweep.toml")).expect("there is room for a file");
    let line = refusal(&format!("merge {}", at("figures")), 2);
    assert!(line.contains("remove that file if they are not needed"), "{line}");
    std::fs::remove_dir_all(folder).expect("it was made by this test");
}
