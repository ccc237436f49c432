//! How a command fails: one line on the standard error, and a stable exit code.

use bellwether::net::frame::{BadKeyFile, BadKeys, Fault};
use bellwether::net::{BadSettings, NamesSettings};
use std::fmt::{self, Display};
use std::io::{self, Write};
use std::process::ExitCode;

/// The exit code of what was interrupted, as shells have it.
const INTERRUPTED: u8 = 130;

/// Why a command did not do what it should.
#[derive(Debug)]
pub(in crate::cli) enum Failure {
    /// The arguments break a rule.
    Usage(String),
    /// A file breaks a rule.
    Config(String),
    /// Reading or writing failed.
    Io(String),
    /// Nothing is wrong with the question, but there is no answer.
    NoAnswer(String),
    /// A promise is broken, and the output says so.
    Violated,
    /// Ctrl-C came before the work was done. What was done by then is in the output, or the text
    /// says that there is nothing.
    Interrupted(Option<&'static str>),
    /// Everything was printed; this is the exit code.
    Code(u8),
    /// The reader of the output has gone.
    Closed,
}

impl Failure {
    pub(in crate::cli) fn usage(what: impl Display) -> Self {
        Self::Usage(what.to_string())
    }

    pub(in crate::cli) fn io(what: &str, path: &std::path::Path, error: &io::Error) -> Self {
        Self::Io(format!("cannot {what} {}: {error}", path.display()))
    }

    /// The line that is still to be printed, if any, and the exit code.
    pub(in crate::cli) fn into_line(self) -> (Option<String>, u8) {
        match self {
            Self::Usage(line) => (Some(line), 2),
            Self::Config(line) => (Some(line), 78),
            Self::Io(line) | Self::NoAnswer(line) => (Some(line), 1),
            Self::Violated => (None, 1),
            Self::Interrupted(line) => (line.map(str::to_owned), INTERRUPTED),
            Self::Code(code) => (None, code),
            Self::Closed => (None, 0),
        }
    }

    pub(in crate::cli) fn report(self) -> ExitCode {
        let (line, code) = self.into_line();
        if let Some(line) = line {
            complain(&line);
        }
        ExitCode::from(code)
    }
}

/// The text of an error of the runtime, with the flags of its settings.
pub(super) fn with_flags(error: &impl NamesSettings) -> String {
    error.explain(&|setting| format!("--{}", setting.name()))
}

impl From<BadSettings> for Failure {
    fn from(bad: BadSettings) -> Self {
        let mut line = with_flags(&bad);
        if matches!(bad, BadSettings::NoKey) {
            line += &makes_a_key("FILE");
        }
        if bad.is_config() { Self::Config(line) } else { Self::Io(line) }
    }
}

impl From<BadKeyFile> for Failure {
    fn from(bad: BadKeyFile) -> Self {
        let hint = match &bad.fault {
            Fault::Io(error) if error.kind() == io::ErrorKind::NotFound => {
                makes_a_key(&bad.path.display().to_string())
            }
            Fault::NotText | Fault::Keys(BadKeys::Form { .. } | BadKeys::None) => {
                makes_a_key("FILE")
            }
            _ => String::new(),
        };
        Self::Config(format!("{bad}{hint}"))
    }
}

/// What this program offers whoever has no key: the library knows no commands.
fn makes_a_key(file: &str) -> String {
    format!("; `bellwether keygen {file}` makes one")
}

/// Prints what is wrong. If nobody reads it, the exit code still tells.
fn complain(line: &str) {
    let _ = writeln!(io::stderr(), "bellwether: {line}");
}

impl Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Usage(line) | Self::Config(line) => f.write_str(line),
            Self::Io(line) | Self::NoAnswer(line) => f.write_str(line),
            Self::Interrupted(Some(line)) => f.write_str(line),
            Self::Violated | Self::Interrupted(None) | Self::Code(_) | Self::Closed => {
                f.write_str("the output says why")
            }
        }
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        if error.kind() == io::ErrorKind::BrokenPipe {
            Self::Closed
        } else {
            Self::Io(format!("cannot write the output: {error}"))
        }
    }
}

/// Reports what clap found: help and version as they are, everything else in one line.
pub(in crate::cli) fn of_usage(error: &clap::Error) -> ExitCode {
    if !error.use_stderr() {
        let _ = error.print(); // help that nobody reads to the end is no failure
        return ExitCode::SUCCESS;
    }
    if error.kind() == clap::error::ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
        let _ = error.print();
        return ExitCode::from(2);
    }
    let way_out = if lacks_dashes(error) { "; put -- before the command" } else { "" };
    complain(&format!("{}{way_out}; try --help", line_of(error)));
    ExitCode::from(2)
}

/// Whether a word that is no flag was written where a member takes none: perhaps a command.
fn lacks_dashes(error: &clap::Error) -> bool {
    use clap::error::{ContextKind, ContextValue, ErrorKind};
    let runs = std::env::args_os().nth(1).is_some_and(|it| it == "run" || it == "check-config");
    let word = match error.get(ContextKind::InvalidArg) {
        Some(ContextValue::String(word)) => !word.starts_with('-'),
        _ => false,
    };
    runs && word && error.kind() == ErrorKind::UnknownArgument
}

/// What clap found, in one line.
pub(in crate::cli) fn line_of(error: &clap::Error) -> String {
    let text = error.render().to_string();
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let said = lines.filter(|line| !line.starts_with("Usage:") && !line.starts_with("For more"));
    let line = said.fold(String::new(), |text, line| match text.chars().last() {
        None => line.to_owned(),
        Some(':') => format!("{text} {line}"),
        Some(_) => format!("{text}; {line}"),
    });
    line.strip_prefix("error: ").unwrap_or(&line).to_owned()
}
