//! Parameters as words of a command line.
//!
//! **Promise.** What is asked is parsed by the parser of the command line, so that a page, a
//! program and a person mean the same by the same names, and are refused with the same words.

use super::offered::flag;
use crate::cli::commands::explore::Explore;
use crate::cli::failure::line_of;
use crate::cli::flags;
use crate::cli::{Command, Written, parse_words};
use bellwether::protocols::choice::find;
use bellwether::protocols::param::Kind;
use clap::error::ContextKind;
use std::ffi::OsString;
use std::path::Path;

/// The value of a parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ParamValue {
    /// A value, as it is written.
    Text(String),
    /// A switch that is on.
    On,
    /// A switch that is off.
    Off,
    /// Several values, one after the other.
    Several(Vec<String>),
}

/// Who asks in place of a person at a terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::cli) enum Caller {
    /// A page of the laboratory: somebody in a browser, who is not given the files of this machine.
    Page,
    /// A program that this one is part of.
    Program,
}

/// The flags of these commands that nobody has but a person: those of files and of the output.
const HIDDEN: [(&str, &[&str]); 7] = [
    ("sim", &SIM),
    ("sweep", &SWEEP),
    ("trace", &["svg", "view", "title", "format", "help"]),
    ("check", &["out", "format", "trace", "faults", "svg", "help"]),
    ("analyze", &["list", "errata", "format", "help"]),
    ("plan", &["svg", "format", "help"]),
    ("run", &RUN),
];
const SIM: [&str; 4] = ["samples", "trace", "format", "help"];
/// A program waits for its rows: shares are made by commands.
const SWEEP: [&str; 10] = [
    "shard",
    "slurm",
    "slurm-tasks",
    "slurm-at-once",
    "partition",
    "time",
    "memory",
    "slurm-retries",
    "format",
    "help",
];
/// A member in another program runs no command, prints nothing and calls no hook.
const RUN: [&str; 26] = [
    "config",
    "name",
    "address",
    "check",
    "guardian",
    "format",
    "elected-within",
    "once",
    "http",
    "http-token",
    "log",
    "log-level",
    "on-change",
    "hook-timeout",
    "hook-retry",
    "notify-fifo",
    "leader-file",
    "shell",
    "pass-stdin",
    "restart",
    "stop-timeout",
    "stop-signal",
    "grace",
    "margin",
    "preempt-asks",
    "help",
];
/// Those that a page does not have either: they name files, or it has a field of its own for them.
const NOT_FOR_PAGES: [(&str, &[&str]); 3] = [
    ("trace", &["from"]),
    ("sim", &["runs", "threads", "rare", "longer", "method", "effort", "replications"]),
    ("check", &["schedules", "schedule", "promise", "threads"]),
];

/// Whether a caller does not have this flag of a command.
pub(in crate::cli) fn hides(caller: Caller, command: &str, long: &str) -> bool {
    let lists = |all: &[(&str, &[&str])]| {
        all.iter().any(|(name, flags)| *name == command && flags.contains(&long))
    };
    lists(&HIDDEN)
        || (caller == Caller::Page && lists(&NOT_FOR_PAGES))
        || (command == "check" && flags::of::<Explore>().iter().any(|flag| flag == long))
}

/// Whether others than a person may ask this command.
pub(super) fn answers(command: &str) -> bool {
    HIDDEN.iter().any(|(name, _)| *name == command)
}

/// What was asked, parsed.
pub(in crate::cli) struct Parsed {
    pub(in crate::cli) command: Command,
    pub(in crate::cli) written: Written,
    /// As somebody would write it.
    pub(in crate::cli) text: String,
}

impl Parsed {
    /// The names of the flags that were given.
    pub(in crate::cli) fn given(&self) -> Vec<String> {
        self.written.iter().map(|(flag, _)| flag.clone()).collect()
    }
}

/// A question for a command.
#[derive(Clone, Copy, Debug)]
pub(in crate::cli) struct Question<'a> {
    /// The command.
    pub(in crate::cli) name: &'a str,
    /// The protocol, the file, the quantity or the group that it is about.
    pub(in crate::cli) what: Option<&'a str>,
    /// Flags without their dashes, and their values.
    pub(in crate::cli) flags: &'a [(String, ParamValue)],
    /// Words that are added to what the caller gives.
    pub(in crate::cli) more: &'a [String],
}

impl Question<'_> {
    /// Parses it; what is refused is said as on the command line.
    pub(in crate::cli) fn parse(self, caller: Caller) -> Result<Parsed, String> {
        if let Some(what) = self.what.filter(|what| what.starts_with('-') || what.is_empty()) {
            return Err(format!("'{}' is no name", what.escape_debug()));
        }
        let words = self.all_words(caller)?;
        let start = ["bellwether", self.name].into_iter().chain(self.what);
        let start: Vec<String> = start.map(str::to_owned).collect();
        let spelled: Vec<String> = words.iter().map(|word| spelled(word)).collect();
        let text = start.join(" ") + &spelled.concat();
        let all: Vec<OsString> = start.into_iter().chain(words).map(OsString::from).collect();
        let (command, written) = parse_words(&all).map_err(|mut error| {
            error.remove(ContextKind::Suggested); // what only somebody who writes words can do
            line_of(&error)
        })?;
        Ok(Parsed { command, written, text })
    }

    /// Its flags as somebody would write them, without the parser of the command line.
    pub(in crate::cli) fn spell(self, caller: Caller) -> Result<String, String> {
        Ok(self.all_words(caller)?.iter().map(|word| spelled(word)).collect())
    }

    fn all_words(self, caller: Caller) -> Result<Vec<String>, String> {
        let mut words = Vec::new();
        for (long, value) in self.flags {
            self.refuse(caller, long, value)?;
            words.extend(self.words(long, value));
        }
        words.extend(self.more.iter().cloned());
        Ok(words)
    }

    fn refuse(self, caller: Caller, long: &str, value: &ParamValue) -> Result<(), String> {
        let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        let named = !long.is_empty() && !long.starts_with('-') && long.chars().all(plain);
        let who = match caller {
            Caller::Page => "page",
            Caller::Program => "program",
        };
        if !named || hides(caller, self.name, long) {
            return Err(format!("--{} is not for a {who}; leave it out", long.escape_debug()));
        }
        // The parser would read such a file.
        let param = self.what.and_then(find);
        let param = param.and_then(|entry| entry.own_params().find(|param| param.name == long));
        let reads = param.is_some_and(|param| matches!(param.kind, Kind::Text(_)));
        let texts: &[String] = match value {
            ParamValue::Text(text) => std::slice::from_ref(text),
            ParamValue::Several(texts) => texts,
            ParamValue::On | ParamValue::Off => &[],
        };
        match texts.iter().find(|text| Path::new(text).exists()) {
            Some(text) if reads && caller == Caller::Page => {
                Err(format!("--{long} {text}: a page cannot name a file; write the value"))
            }
            _ => Ok(()),
        }
    }

    /// A flag with its values, each in the same word.
    fn words(self, long: &str, value: &ParamValue) -> Vec<String> {
        match value {
            ParamValue::Text(text) => vec![format!("--{long}={text}")],
            ParamValue::Several(texts) => {
                texts.iter().map(|text| format!("--{long}={text}")).collect()
            }
            ParamValue::On => vec![format!("--{long}")],
            // What is off anyway is not written. What nobody knows is written as if it were on, so
            // that the parser refuses it.
            ParamValue::Off => match flag(self.name, self.what, long) {
                Some(flag) if flag.get_action().takes_values() => vec![format!("--{long}=false")],
                Some(_) => Vec::new(),
                None => vec![format!("--{long}")],
            },
        }
    }
}

/// A word as somebody would write it, after a space.
fn spelled(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_.,:/%+@".contains(c);
    let quoted = |value: &str| match !value.is_empty() && value.chars().all(plain) {
        true => value.to_owned(),
        false => format!("'{}'", value.replace('\'', "'\\''")),
    };
    match word.split_once('=') {
        // A switch that is on by default takes its value in the same word, and so does a number
        // that begins with a minus.
        Some((flag, value)) if value == "false" || value.starts_with('-') => {
            format!(" {flag}={}", quoted(value))
        }
        Some((flag, value)) => format!(" {flag} {}", quoted(value)),
        None => format!(" {word}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn given(pairs: &[(&str, ParamValue)]) -> Vec<(String, ParamValue)> {
        pairs.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect()
    }

    fn asked(
        caller: Caller,
        (name, what): (&str, &str),
        pairs: &[(&str, ParamValue)],
    ) -> Result<Parsed, String> {
        let flags = given(pairs);
        Question { name, what: Some(what), flags: &flags, more: &[] }.parse(caller)
    }

    fn text(text: &str) -> ParamValue {
        ParamValue::Text(text.to_owned())
    }

    #[test]
    fn parameters_are_the_words_that_somebody_would_write() {
        let flags = [("nodes", text("8")), ("loss", text(".3")), ("bye", ParamValue::On)];
        let parsed = asked(Caller::Page, ("trace", "le-s"), &flags).unwrap();
        assert_eq!(parsed.text, "bellwether trace le-s --nodes 8 --loss .3 --bye");
        let links = ParamValue::Several(vec!["0-1".to_owned(), "1-2".to_owned()]);
        let flags = [("nodes", text("3")), ("link", links)];
        let parsed = asked(Caller::Program, ("sim", "ad-hoc"), &flags).unwrap();
        assert_eq!(parsed.text, "bellwether sim ad-hoc --nodes 3 --link 0-1 --link 1-2");
        let both = ["0-1".to_owned(), "1-2".to_owned()].to_vec();
        assert!(parsed.written.contains(&("link".to_owned(), both)), "{:?}", parsed.written);
        assert_eq!(
            (spelled("--x=a b"), spelled("--x=-3")),
            (" --x 'a b'".into(), " --x=-3".into())
        );
    }

    #[test]
    fn a_switch_is_on_or_off_and_nothing_else_is() {
        let written = |pairs: &[(&str, ParamValue)]| {
            asked(Caller::Program, ("sim", "le-s"), pairs).map(|parsed| parsed.written)
        };
        assert_eq!(written(&[("bye", ParamValue::On)]), Ok(vec![("bye".to_owned(), Vec::new())]));
        assert_eq!(written(&[("bye", ParamValue::Off)]), Ok(Vec::new()));
        let off = [("nodes", "invalid value 'false' for '--nodes <N>'"), ("lck", "'--lck'")];
        for (name, why) in off {
            let line = written(&[(name, ParamValue::Off)]).unwrap_err();
            assert!(line.contains(why), "{line}");
        }
        let goal = [("detect", ParamValue::Off)];
        let line = asked(Caller::Program, ("plan", "local-leader"), &goal).err().unwrap();
        assert!(line.contains("invalid value 'false' for '--detect"), "{line}");
    }

    #[test]
    fn what_is_wrong_is_said_as_on_the_command_line() {
        let [page, program] = [Caller::Page, Caller::Program];
        for (caller, asking, (name, value), why) in [
            (page, ("trace", "le-s"), ("nodes", "0"), "invalid value '0' for '--nodes <N>'"),
            (program, ("trace", "le-s"), ("loss", "2"), "invalid value '2' for '--loss <P>'"),
            (page, ("trace", "le-s"), ("zzz", "1"), "unexpected argument '--zzz' found"),
            (page, ("trace", "le-s"), ("svg", "x.svg"), "--svg is not for a page"),
            (program, ("trace", "le-s"), ("svg", "x.svg"), "--svg is not for a program"),
            (page, ("trace", "le-s"), ("from", "/etc/passwd"), "--from is not for a page"),
            (program, ("sim", "le-s"), ("samples", "x"), "--samples is not for a program"),
            (page, ("sim", "le-s"), ("runs", "7"), "--runs is not for a page"),
            (page, ("check", "le-s"), ("out", "/tmp"), "--out is not for a page"),
            (program, ("check", "le-s"), ("explore", "3"), "--explore is not for a program"),
            (program, ("run", "web"), ("on-change", "x"), "--on-change is not for a program"),
            (page, ("trace", "le-s"), ("-h", "x"), "---h is not for a page"),
            (program, ("sim", "--help"), ("nodes", "3"), "'--help' is no name"),
            (page, ("trace", "probabilistic"), ("strategy", "/etc/hostname"), "cannot name a file"),
        ] {
            let line = asked(caller, asking, &[(name, text(value))]).err().unwrap();
            assert!(line.contains(why) && line.lines().count() == 1, "{line}");
        }
        assert!(asked(program, ("sim", "le-s"), &[("runs", text("7"))]).is_ok());
        // Advice about words is for whoever writes words.
        let line = asked(program, ("run", "web"), &[("lck", text("1s"))]).err().unwrap();
        assert!(line.ends_with("a similar argument exists: '--lock'"), "{line}");
    }

    #[test]
    fn what_is_hidden_is_a_flag_of_the_command() {
        for (command, flags) in HIDDEN.iter().chain(&NOT_FOR_PAGES) {
            let about: &[Option<&str>] = match *command {
                "plan" => &[Some("local-leader"), Some("probabilistic")],
                _ => &[None],
            };
            for long in flags.iter().filter(|long| **long != "help") {
                let found = about.iter().any(|about| flag(command, *about, long).is_some());
                assert!(found, "{command} has no --{long}");
            }
        }
    }
}
