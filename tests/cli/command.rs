//! Starts the command and gives its output, in the shape that a test asks about.

use serde_json::Value;
use std::fs::DirEntry;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The command, yet without arguments.
pub(crate) fn program() -> Command {
    Command::new(env!("CARGO_BIN_EXE_bellwether"))
}

/// All that it gives.
pub(crate) fn bellwether(arguments: &str) -> Output {
    program().args(arguments.split_whitespace()).output().expect("the command starts")
}

/// What it writes, without a word on the standard error, and its exit code.
pub(crate) fn ran(arguments: &str) -> (String, Option<i32>) {
    let output = bellwether(arguments);
    assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{arguments}");
    (String::from_utf8(output.stdout).expect("the output is text"), output.status.code())
}

/// What it writes if it succeeds, without a word on the standard error.
pub(crate) fn stdout(arguments: &str) -> String {
    let (text, code) = ran(arguments);
    assert_eq!(code, Some(0), "{arguments}: {text}");
    text
}

/// The same as JSON.
pub(crate) fn json(arguments: &str) -> Value {
    serde_json::from_str(&stdout(&format!("{arguments} --format json"))).expect("it is JSON")
}

/// The one line with which a bad call is refused.
pub(crate) fn refusal(arguments: &str, code: i32) -> String {
    let output = bellwether(arguments);
    let errors = String::from_utf8(output.stderr).expect("errors are text");
    assert_eq!(output.status.code(), Some(code), "{arguments}: {errors}");
    assert_eq!(output.stdout, b"", "{arguments}: nothing is written");
    assert_eq!(errors.lines().count(), 1, "{arguments}: one line, not\n{errors}");
    assert!(errors.starts_with("bellwether: "), "{errors}");
    errors
}

/// The mean of a measure in a result of `sim`.
pub(crate) fn mean(result: &Value, measure: &str) -> f64 {
    let mean = result["metrics"][measure]["mean"].as_f64();
    mean.unwrap_or_else(|| panic!("no {measure}: {result}"))
}

/// The mean that the command of a simulation prints.
pub(crate) fn mean_of(command: &str, measure: &str) -> f64 {
    mean(&json(command.strip_prefix("bellwether ").expect("it is our command")), measure)
}

/// A place of this test's own for a folder or a file; nothing is there yet.
pub(crate) fn unused(name: &str) -> PathBuf {
    let path = std::env::temp_dir().join(format!("bellwether-{name}-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&path); // a test that failed may have left a folder
    path
}

/// An empty folder of this test's own.
pub(crate) fn folder(name: &str) -> PathBuf {
    let folder = unused(name);
    std::fs::create_dir_all(&folder).expect("there is room for a folder");
    folder
}

/// The files in the folders of pieces, one of which each build of the program has.
pub(crate) fn files_of_pieces(out: &Path) -> Vec<String> {
    let name = |file: &DirEntry| file.file_name().to_string_lossy().into_owned();
    entries_of_pieces(out).iter().map(name).collect()
}

/// The same files themselves.
pub(crate) fn entries_of_pieces(out: &Path) -> Vec<DirEntry> {
    let entries = |path: &Path| std::fs::read_dir(path).into_iter().flatten().flatten();
    entries(&out.join("pieces")).flat_map(|build| entries(&build.path())).collect()
}

/// How many pieces are kept there.
pub(crate) fn pieces(out: &Path) -> usize {
    files_of_pieces(out).iter().filter(|name| !name.ends_with(".new")).count()
}
