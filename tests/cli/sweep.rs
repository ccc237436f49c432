//! Sweeps: rows, pieces that survive a `kill -9`, shares that join, and pictures.

use crate::command::{
    bellwether, entries_of_pieces, files_of_pieces, folder, json, pieces, program, refusal, stdout,
};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs::DirEntry;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

/// A folder with this sweep in it.
fn sweep(name: &str, text: &str) -> (PathBuf, String) {
    let folder = folder(name);
    let file = folder.join("sweep.toml");
    std::fs::write(&file, text).expect("there is room for a file");
    (folder, file.display().to_string())
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The rows of a folder, in both forms.
fn rows(out: &Path) -> (String, String) {
    (read(&out.join("rows.csv")), read(&out.join("rows.jsonl")))
}

const SMALL: &str = "sim = \"le-s\"\nruns = 60\npiece = 20\nmeasures = [\"messages\", \"rounds\"]\n\
    [fixed]\nloss-model = \"correlated\"\n\
    [[axis]]\nloss = [0.1, 0.3]\n[[axis]]\nnodes = [5, 20]\nsuppress = [\"1s\", \"2s\"]\n";

#[test]
fn a_row_has_the_numbers_that_its_command_prints() {
    let (folder, file) = sweep("sweep-rows", SMALL);
    let text = stdout(&format!("sweep {file} --format json --threads 1"));
    let rows: Vec<Value> =
        text.lines().map(|line| serde_json::from_str(line).expect("an object a line")).collect();
    assert_eq!(rows.len(), 2 * 2 * 2, "four points, two measures");
    assert_eq!((&rows[7]["nodes"], &rows[7]["suppress"]), (&20.into(), &"2s".into()));
    for row in [&rows[0], &rows[7]] {
        let command = row["command"].as_str().and_then(|text| text.strip_prefix("bellwether "));
        let answer = json(command.expect("it is our command"));
        let metric = &answer["metrics"][row["metric"].as_str().expect("a name")];
        for key in ["mean", "stderr", "min", "p50", "p99", "max", "count"] {
            assert_eq!(metric[key], row[key], "{command:?} {key}");
        }
        assert_eq!((&metric["ci95"][0], &metric["ci95"][1]), (&row["low"], &row["high"]));
    }
    let table = stdout(&format!("sweep {file}"));
    assert!(table.contains("suppress") && table.lines().count() == 9, "{table}");
    std::fs::remove_dir_all(folder).expect("it was made by this test");
}

#[test]
fn shares_join_to_the_rows_of_one_machine() {
    let (folder, file) = sweep("sweep-shares", SMALL);
    let at = |name: &str| folder.join(name).display().to_string();
    stdout(&format!("sweep {file} --out {}", at("whole")));
    for part in 1..=3 {
        let text = stdout(&format!("sweep {file} --shard {part}/3 --out {}{part}", at("share")));
        assert_eq!(text, format!("share {part}/3: 4 pieces\n"));
    }
    let line = refusal(&format!("merge {0}1 {0}3 --out {1}", at("share"), at("joined")), 2);
    assert!(line.contains("4 pieces are missing; the first is bellwether sim le-s"), "{line}");
    stdout(&format!("merge {0}1 {0}2 {0}3 --out {1}", at("share"), at("joined")));
    assert_eq!(rows(&folder.join("joined")), rows(&folder.join("whole")));
    let other = SMALL.replace("runs = 60", "runs = 80");
    std::fs::write(folder.join("share2").join("sweep.toml"), other).expect("it is there");
    let line = refusal(&format!("merge {0}1 {0}2", at("share")), 2);
    assert!(line.contains("different sweeps"), "{line}");
    std::fs::remove_dir_all(folder).expect("it was made by this test");
}

/// `cargo test --features bellwether/parquet --test cli parquet`; other builds write no such file.
#[cfg(feature = "parquet")]
#[test]
fn the_cells_of_a_parquet_file_are_those_of_the_other_files() {
    use parquet::file::reader::{FileReader, SerializedFileReader};
    use parquet::record::Field;
    let (folder, file) = sweep("sweep-parquet", SMALL);
    let out = folder.join("out");
    stdout(&format!("sweep {file} --out {} --parquet", out.display()));
    let written = std::fs::File::open(out.join("rows.parquet")).expect("it was written");
    let reader = SerializedFileReader::new(written).expect("it is a Parquet file");
    let read: Vec<_> =
        reader.get_row_iter(None).expect("it has rows").map(Result::unwrap).collect();
    let (csv, lines) = rows(&out);
    assert_eq!((read.len(), csv.lines().count()), (8, 9));
    for (row, line) in read.iter().zip(lines.lines()) {
        let told: Value = serde_json::from_str(line).expect("an object a line");
        assert_eq!(row.len(), told.as_object().map_or(0, serde_json::Map::len), "all columns");
        for (name, cell) in row.get_column_iter() {
            let same = match cell {
                Field::Null => told[name].is_null(),
                Field::Bool(value) => told[name].as_bool() == Some(*value),
                Field::Long(value) => told[name].as_i64() == Some(*value),
                Field::Double(value) => told[name].as_f64() == Some(*value),
                Field::Str(value) => told[name].as_str() == Some(value),
                _ => false,
            };
            assert!(same, "{name}: {cell:?} {line}");
        }
    }
    std::fs::remove_dir_all(folder).expect("it was made by this test");
}

/// The finished pieces by name, with what tells a file from one that was written in its place: its
/// inode, and when it was written.
fn finished(out: &Path) -> BTreeMap<String, [i64; 3]> {
    let entry = |file: DirEntry| {
        let name = file.file_name().into_string().ok().filter(|name| !name.ends_with(".new"))?;
        let known = file.metadata().ok()?;
        let inode = i64::try_from(known.ino()).ok()?;
        Some((name, [inode, known.mtime(), known.mtime_nsec()]))
    };
    entries_of_pieces(out).into_iter().filter_map(entry).collect()
}

/// Makes the sweep, and kills whoever makes it, by a signal that it cannot catch, whenever some
/// more pieces are there, three times; then it is left to finish. Returns how often it was killed:
/// on a machine that stands still for a while it may be ready before. No piece that was finished is
/// made again.
fn killed_again_and_again(file: &str, out: &Path) -> u32 {
    let mut kills = 0;
    let mut kept = BTreeMap::new();
    loop {
        let before = pieces(out);
        let mut command = program();
        command.args(["sweep", file, "--out"]).arg(out);
        let mut child =
            command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it starts");
        loop {
            if child.try_wait().expect("it is ours").is_some() {
                assert_survive(&kept, out);
                return kills;
            }
            if kills < 3 && pieces(out) > before + 20 {
                break;
            }
            std::thread::sleep(Duration::from_millis(2));
        }
        child.kill().expect("it is ours"); // SIGKILL
        child.wait().expect("it is ours");
        kills += 1;
        assert_survive(&kept, out);
        kept = finished(out);
        assert!(!kept.is_empty(), "some were finished");
    }
}

/// These pieces are still there, and nobody wrote them again.
fn assert_survive(kept: &BTreeMap<String, [i64; 3]>, out: &Path) {
    let now = finished(out);
    for (name, file) in kept {
        assert_eq!(now.get(name), Some(file), "{name} was made again");
    }
}

#[test]
fn a_sweep_that_is_killed_again_and_again_ends_with_the_same_bytes() {
    let text = "sim = \"le-s\"\nruns = 400\npiece = 20\n[fixed]\nengine = \"event\"\nnodes = 400\n\
        [[axis]]\nloss = { from = 0.05, to = 0.5, step = 0.05 }\n";
    let (folder, file) = sweep("sweep-killed", text);
    let whole = folder.join("whole");
    stdout(&format!("sweep {file} --out {}", whole.display()));
    assert_eq!(pieces(&whole), 200);
    let killed = (0..20).map(|attempt| folder.join(format!("killed{attempt}")));
    let killed = killed.into_iter().find(|out| killed_again_and_again(&file, out) > 0);
    let killed = killed.expect("one in twenty is killed before it is ready");
    assert_eq!(rows(&killed), rows(&whole));
    assert_eq!(files_of_pieces(&killed).len(), 200, "nothing is left of what was being written");
    std::fs::remove_dir_all(folder).expect("it was made by this test");
}

/// A copy of the program, with something added to its file: it runs as before, and may be other
/// code for all that anybody knows. Another process writes it: a program cannot be started while a
/// child of some other test still has its file open for writing.
fn copied(folder: &Path, name: &str, added: &str) -> Command {
    let path = folder.join(name);
    let mut copy = Command::new("sh");
    copy.args(["-c", "cp \"$0\" \"$1\" && printf %s \"$2\" >>\"$1\""]);
    copy.arg(program().get_program()).arg(&path).arg(added);
    assert!(copy.status().expect("there is a shell").success(), "there is room for a program");
    Command::new(path)
}

#[test]
fn pieces_of_another_build_are_not_used() {
    let (folder, file) = sweep("sweep-builds", SMALL);
    let out = folder.join("out");
    let own = format!("sweep {file} --out {}", out.display());
    let run = |command: &mut Command, line: &str| {
        let output = command.args(line.split_whitespace()).output().expect("it starts");
        (output.status.code(), String::from_utf8(output.stderr).expect("it is text"))
    };
    stdout(&own);
    assert_eq!(pieces(&out), 12);
    let rows_before = rows(&out);
    assert_eq!(run(&mut copied(&folder, "copy", ""), &own).0, Some(0));
    assert_eq!(pieces(&out), 12, "the same program, wherever it is, has the same pieces");
    let (code, line) = run(
        &mut copied(&folder, "other", "other"),
        &format!("merge {} --out {}", out.display(), folder.join("merged").display()),
    );
    assert_eq!(code, Some(2), "{line}");
    let says = ["12 pieces are missing", "has pieces of another build of this program"];
    assert!(says.iter().all(|words| line.contains(words)), "{line}");
    assert_eq!(run(&mut copied(&folder, "other", "other"), &own).0, Some(0));
    assert_eq!((pieces(&out), rows(&out)), (24, rows_before));
    std::fs::remove_dir_all(folder).expect("it was made by this test");
}

#[test]
fn runs_are_made_until_the_interval_is_narrow_enough() {
    let text = "sim = \"le-s\"\nmeasures = [\"messages\"]\n\
        runs = { relative = 0.03, first = 100, most = 3200 }\n\
        [[axis]]\nloss = [0.1, 0.6]\n[fixed]\nnodes = 20\n";
    let (folder, file) = sweep("sweep-narrow", text);
    let lines = stdout(&format!("sweep {file} --format json"));
    for line in lines.lines() {
        let row: Value = serde_json::from_str(line).expect("an object");
        let number = |key: &str| row[key].as_f64().expect("a number");
        let half = (number("high") - number("low")) / 2.0;
        assert!(half <= 0.03 * number("mean") && row["narrow"] == true, "{row}");
        assert!(number("runs") < 3200.0 && number("runs") >= 100.0, "{row}");
    }
    let line = "the first look";
    let sloppy = text.replace("0.03", "0.5");
    std::fs::write(&file, sloppy).expect("it is there");
    let lines = stdout(&format!("sweep {file} --format csv"));
    assert!(lines.lines().skip(1).all(|row| row.contains(",messages,100,")), "{line}: {lines}");
    std::fs::remove_dir_all(folder).expect("it was made by this test");
}

/// Half the width in the unit of the measure; and of a proportion, whose interval is not symmetric.
#[test]
fn runs_are_made_until_the_interval_is_as_narrow_as_a_number_says() {
    let text = "sim = \"le-s\"\nmeasures = [\"messages\"]\n\
        runs = { absolute = 0.5, first = 100, most = 3200 }\n\
        [[axis]]\nloss = [0.1, 0.6]\n[fixed]\nnodes = 20\n";
    let (folder, file) = sweep("sweep-absolute", text);
    let chance = "sim = \"probabilistic\"\nmeasures = [\"strong_success\"]\n\
        runs = { absolute = 0.05, first = 100, most = 3200 }\n\
        [[axis]]\nk = [3, 4]\n[fixed]\nnodes = 30\nmax-rounds = 1\nview = 1\nloss = 0\n";
    for (text, half) in [(text, 0.5), (chance, 0.05)] {
        std::fs::write(&file, text).expect("it is there");
        let lines = stdout(&format!("sweep {file} --format json"));
        assert_eq!(lines.lines().count(), 2, "{lines}");
        for line in lines.lines() {
            let row: Value = serde_json::from_str(line).expect("an object");
            let number = |key: &str| row[key].as_f64().expect("a number");
            let wider = (number("high") - number("mean")).max(number("mean") - number("low"));
            assert!(0.0 < wider && wider <= half && row["narrow"] == true, "{row}");
            assert!(number("runs") < 3200.0 && number("runs") > 100.0, "{row}");
        }
    }
    let most = text.replace("absolute = 0.5", "absolute = 1e-6");
    std::fs::write(&file, most).expect("it is there");
    let lines = stdout(&format!("sweep {file} --format csv"));
    assert!(lines.lines().skip(1).all(|row| row.contains(",messages,3200,")), "{lines}");
    assert!(lines.lines().skip(1).all(|row| row.contains(",false,")), "{lines}");
    std::fs::remove_dir_all(folder).expect("it was made by this test");
}

/// A flag that is given several times has a list at each point.
#[test]
fn flags_that_are_given_several_times_are_swept() {
    let text = "sim = \"ad-hoc\"\nruns = 4\nmeasures = [\"messages\"]\n\
        [fixed]\nnodes = 3\ninitiator = [0, 2]\n\
        [[axis]]\nlink = [[\"0-1\", \"1-2\"], [\"0-1\", \"0-2\", \"1-2\"]]\n";
    let (folder, file) = sweep("sweep-several", text);
    let lines = stdout(&format!("sweep {file} --format json"));
    let rows: Vec<Value> =
        lines.lines().map(|line| serde_json::from_str(line).expect("an object a line")).collect();
    let flags = ["--initiator 0 --initiator 2", "--link 0-1 --link 1-2"];
    for (row, links) in rows.iter().zip(["0-1 1-2", "0-1 0-2 1-2"]) {
        let command = row["command"].as_str().and_then(|text| text.strip_prefix("bellwether "));
        let command = command.expect("it is our command");
        assert!(command.contains(flags[0]), "{command}");
        let answer = json(command);
        assert_eq!(answer["metrics"]["messages"]["mean"], row["mean"], "{command}");
        assert_eq!(row["link"], links);
    }
    assert!(rows[0]["command"].to_string().contains(flags[1]) && rows.len() == 2, "{lines}");
    let csv = stdout(&format!("sweep {file} --format csv"));
    assert!(csv.contains(",0-1 0-2 1-2,messages,4,"), "{csv}");
    std::fs::write(&file, text.replace("nodes = 3", "nodes = [3, 4]")).expect("it is there");
    let line = refusal(&format!("sweep {file}"), 78);
    assert!(line.contains("nodes: --nodes is given once"), "{line}");
    std::fs::remove_dir_all(folder).expect("it was made by this test");
}

#[test]
fn formulas_are_swept_beside_their_simulation_and_drawn() {
    let text = "analyze = \"le-s.leadership-delay\"\nruns = 100\n\
        [[axis]]\nnodes = { from = 2, to = 32, count = 5, log = true, whole = true }\n\
        [[axis]]\nloss = [0.1, 0.4]\n";
    let (folder, file) = sweep("sweep-formulas", text);
    let out = folder.join("out");
    let flags = format!("sweep {file} --out {}", out.display());
    stdout(&format!("{flags} --plot x=nodes,y=corrected,colour=loss,log-x"));
    let csv = read(&out.join("rows.csv"));
    assert_eq!(csv.lines().count(), 1 + 10 * 3, "{csv}");
    for form in ["printed", "corrected", "leadership_delay"] {
        assert_eq!(csv.matches(&format!(",{form},")).count(), 10, "{form}: {csv}");
    }
    let picture = read(&out.join("plot.svg"));
    assert!(picture.starts_with("<svg") && picture.contains("loss 0.4"), "{picture}");
    // The same values are elsewhere on an axis by factors.
    stdout(&format!("{flags} --plot x=nodes,y=corrected,colour=loss,log,log-x"));
    let by_factors = read(&out.join("plot.svg"));
    assert!(by_factors.starts_with("<svg") && by_factors != picture, "{by_factors}");
    let line = refusal(&format!("{flags} --plot x=delay,y=corrected"), 2);
    assert!(line.contains("x=delay: that is no axis"), "{line}");
    std::fs::remove_dir_all(folder).expect("it was made by this test");
}

#[test]
fn a_point_of_which_runs_were_cut_has_neither_error_nor_bar() {
    let text = "sim = \"le-s\"\nmeasures = [\"reestablishment_delay\"]\nruns = 100\n\
        [fixed]\nnodes = 50\nloss = 0.4\nlisten = \"2.5s\"\nscenario = \"departure\"\n\
        [[axis]]\nwindow = [\"7s\", \"500s\"]\n";
    let (folder, file) = sweep("sweep-cut", text);
    let out = folder.join("out");
    let table = stdout(&format!(
        "sweep {file} --out {} --plot x=window,y=reestablishment_delay",
        out.display()
    ));
    assert!(table.lines().any(|line| line.contains("7s") && line.contains(" cut)")), "{table}");
    let rows = read(&out.join("rows.jsonl"));
    let rows: Vec<Value> =
        rows.lines().map(|row| serde_json::from_str(row).expect("it is JSON")).collect();
    let is_empty = |row: &Value| ["stderr", "low", "high"].map(|key| row[key].is_null());
    assert_eq!((is_empty(&rows[0]), is_empty(&rows[1])), ([true; 3], [false; 3]), "{rows:?}");
    let picture = read(&out.join("plot.svg"));
    assert_eq!(picture.matches("runs were cut)</title>").count(), 1, "{picture}");
    assert_eq!(picture.matches(", 100 runs)</title>").count(), 1, "{picture}");
    std::fs::remove_dir_all(folder).expect("it was made by this test");
}

#[test]
fn a_point_that_breaks_a_rule_is_refused_before_any_is_simulated() {
    for (text, rule) in [
        ("sim = \"le-s\"\n[[axis]]\nloss = [0.1, 1.5]\n", "--loss 1.5: invalid value '1.5'"),
        ("sim = \"le-s\"\n[[axis]]\nlos = [0.1]\n", "no flag --los; did you mean loss?"),
        ("sim = \"le-x\"\n", "le-x"),
        ("sim = \"le-s\"\n[fixed]\ndetector = \"heartbeats\"\n", "no flag of le-s"),
        ("sim = \"le-s\"\nmeasures = [\"mesages\"]\n", "no measure is called mesages"),
        ("sim = \"le-s\"\nruns = \n", "line 2"),
        ("sim = \"le-s\"\n[[axis]]\nbye = [1]\n", "is a switch; give it true or false"),
    ] {
        let (folder, file) = sweep("sweep-refused", text);
        let line = refusal(&format!("sweep {file} --out {}", folder.join("out").display()), 78);
        assert!(line.contains(rule), "{text}: {line}");
        assert!(!folder.join("out").exists(), "nothing is made");
        std::fs::remove_dir_all(folder).expect("it was made by this test");
    }
    let (folder, file) = sweep("sweep-usage", SMALL);
    for (flags, rule) in [
        ("--shard 3/2 --out x", "a share is I/N"),
        ("--shard 1/2", "--out"),
        ("--plot x=loss,y=messages", "needs --out DIR"),
        ("--parquet", if cfg!(feature = "parquet") { "needs --out DIR" } else { "--features" }),
        ("--slurm", "--slurm needs --out DIR"),
    ] {
        let line = refusal(&format!("sweep {file} {flags}"), 2);
        assert!(line.contains(rule), "{flags}: {line}");
    }
    assert!(!bellwether("merge /nowhere").status.success());
    std::fs::remove_dir_all(folder).expect("it was made by this test");
}

/// A sweep of rare events has replications for runs: a row is the estimate of its command, and
/// shares of replications join to the same bytes.
#[test]
fn rare_events_are_swept_in_shares_too() {
    let text = "sim = \"le-s\"\nruns = 4\npiece = 2\nmeasures = \"probability\"\n\
        [fixed]\nnodes = 2\nloss = 0.1\nwindow = \"20s\"\nrare = \"false-departure\"\neffort = 40\n\
        [[axis]]\nlisten = [\"3.5s\", \"6.5s\"]\n";
    let (folder, file) = sweep("sweep-rare", text);
    let at = |name: &str| folder.join(name).display().to_string();
    stdout(&format!("sweep {file} --out {}", at("whole")));
    for part in 1..=2 {
        stdout(&format!("sweep {file} --shard {part}/2 --out {}{part}", at("share")));
    }
    stdout(&format!("merge {0}1 {0}2 --out {1}", at("share"), at("joined")));
    let (csv, lines) = rows(&folder.join("whole"));
    assert_eq!(rows(&folder.join("joined")), (csv, lines.clone()));
    let row: Value =
        serde_json::from_str(lines.lines().last().expect("two rows")).expect("an object");
    let command = row["command"].as_str().and_then(|text| text.strip_prefix("bellwether "));
    let answer = json(command.expect("it is our command"));
    assert_eq!(answer["probability"], row["mean"], "{command:?}");
    assert_eq!((&answer["ci95"][0], &answer["ci95"][1]), (&row["low"], &row["high"]));
    std::fs::remove_dir_all(folder).expect("it was made by this test");
}

/// A sweep of schedules of faults counts all that break the promise, and says so by its exit code;
/// `check` breaks off at the first.
#[test]
fn schedules_of_faults_are_swept_in_shares_too() {
    let text = "check = \"le-s\"\nruns = 60\npiece = 20\n[[axis]]\nnodes = [3, 4]\n\
        [fixed]\npromise = \"never-two\"\n";
    let (folder, file) = sweep("sweep-check", text);
    let at = |name: &str| folder.join(name).display().to_string();
    let whole = bellwether(&format!("sweep {file} --out {}", at("whole")));
    assert_eq!(whole.status.code(), Some(1), "it promises no such thing");
    for part in 1..=2 {
        stdout(&format!("sweep {file} --shard {part}/2 --out {}{part}", at("share")));
    }
    let joined = bellwether(&format!("merge {0}1 {0}2 --out {1}", at("share"), at("joined")));
    assert_eq!(joined.status.code(), Some(1));
    let (csv, lines) = rows(&folder.join("whole"));
    assert_eq!(rows(&folder.join("joined")), (csv, lines.clone()));
    let row: Value = serde_json::from_str(lines.lines().next().expect("rows")).expect("an object");
    assert_eq!((&row["metric"], &row["runs"]), (&"broken".into(), &60.into()));
    assert!(row["mean"].as_f64() > Some(0.0), "{row}");
    // The row names the first schedule that broke it, and its command shows that one.
    let first = row["broke_first"].as_u64().expect("a number");
    let command = row["command"].as_str().and_then(|text| text.strip_prefix("bellwether "));
    let command = command.expect("it is our command");
    assert!(command.ends_with(&format!("--schedule {first}")), "{row}");
    let shown = bellwether(&format!("{command} --format json --out {}", at("shown")));
    assert_eq!(shown.status.code(), Some(1), "{command}");
    let verdict: Value = serde_json::from_slice(&shown.stdout).expect("it is JSON");
    assert_eq!(verdict["violations"][0]["schedule"], first, "{verdict}");
    let earlier = command.rsplit_once(" --schedule ").expect("it ends so").0;
    let earlier = format!("{earlier} --schedules {}", first.max(1));
    let code = if first == 0 { 1 } else { 0 };
    let before = bellwether(&format!("{earlier} --out {}", at("shown")));
    assert_eq!(before.status.code(), Some(code), "no earlier one breaks it: {earlier}");
    let kept = text.replace("never-two", "eventually-one");
    std::fs::write(&file, kept).expect("it is there");
    let lines = stdout(&format!("sweep {file} --format json"));
    let row: Value = serde_json::from_str(lines.lines().next().expect("rows")).expect("an object");
    let command = row["command"].as_str().expect("a text");
    assert!(row["broke_first"].is_null() && command.ends_with("--schedules 60"), "{row}");
    std::fs::remove_dir_all(folder).expect("it was made by this test");
}
