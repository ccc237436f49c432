//! Other people's commands, run to their end.

use std::io::Write;
use std::process::{Command, Output, Stdio};

/// Runs a command with this input to its end; the text says why it could not be started.
pub(crate) fn run(words: &[&str], input: &str) -> Result<Output, String> {
    let [program, arguments @ ..] = words else { return Err("no command".to_owned()) };
    let told = |error: &dyn std::fmt::Display| format!("{}: {error}", words.join(" "));
    let mut child = Command::new(program)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| told(&error))?;
    // Who does not read its input ends with a code of its own.
    let _ = child.stdin.take().map(|mut pipe| pipe.write_all(input.as_bytes()));
    child.wait_with_output().map_err(|error| told(&error))
}

/// The same, and returns what it wrote, or what went wrong, in one line.
pub(crate) fn attempt(words: &[&str], input: &str) -> Result<String, String> {
    let output = run(words, input)?;
    if output.status.success() {
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    } else {
        let errors = String::from_utf8_lossy(&output.stderr);
        Err(format!("{}: {}: {}", words.join(" "), output.status, errors.trim()))
    }
}

/// Runs a command that has to succeed.
pub(crate) fn must(words: &[&str], input: &str) -> String {
    attempt(words, input).unwrap_or_else(|error| {
        panic!(
            "the laboratory cannot work: {error}\nIt builds networks from namespaces, which takes \
             root, iproute2 (ip), nftables (nft) and util-linux (nsenter, setpriv, unshare, flock)."
        )
    })
}
