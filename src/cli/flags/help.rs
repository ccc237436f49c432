//! What `--help` says of parameters: for all protocols, for one, or that one has to be named.

use super::{Shared, shared};
use crate::cli::commands::run::options::DEFAULT;
use bellwether::protocols::choice::{Entry, PROTOCOLS, find};
use bellwether::protocols::param::{Fallback, Param};
use clap::Command;

/// The heading above the parameters.
pub(super) const HEADING: &str = "Parameters of the protocol";

/// The purpose of a parameter, when it has an effect, its rule and its default.
pub(in crate::cli) fn of_one(param: &Param, default: Option<&str>) -> String {
    let mut text = param.help.to_owned();
    if let Some(first) = text.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    if !param.unit.is_empty() {
        text += &format!(", in {}", param.unit);
    }
    if let Some((other, values)) = param.only_with {
        text += &format!("; only with --{other} {}", values.join(" or "));
    }
    if !param.range.is_empty() {
        text += &format!(" ({})", param.range);
    }
    match default.map_or_else(|| default_of(param), |default| Some(default.to_owned())) {
        Some(default) => text + &format!(" [default: {default}]"),
        None => text,
    }
}

/// The default of a parameter; nothing if it is off or absent by default.
pub(in crate::cli) fn default_of(param: &Param) -> Option<String> {
    match param.default {
        Fallback::Is("false") | Fallback::Absent => None,
        Fallback::Is(text) | Fallback::Follows(text) => Some(text.to_owned()),
    }
}

/// The same for every protocol that has it.
pub(super) fn of_all(shared: &Shared) -> String {
    let mut texts: Vec<(String, Vec<&str>)> = Vec::new();
    for owner in &shared.owners {
        for param in owner.own_params().filter(|param| param.name == shared.param.name) {
            let text = of_one(param, None);
            match texts.iter_mut().find(|(known, _)| *known == text) {
                Some((_, owners)) => owners.push(owner.name),
                None => texts.push((text, vec![owner.name])),
            }
        }
    }
    let lines = texts.iter().map(|(text, owners)| format!("{}: {text}", among(owners)));
    lines.collect::<Vec<_>>().join("; ")
}

/// Some names, and the number of the others.
pub(super) fn among(names: &[&str]) -> String {
    const NAMED: usize = 3;
    match names.get(..NAMED) {
        Some(first) if names.len() > NAMED + 1 => {
            format!("{} and {} others", first.join(", "), names.len() - NAMED)
        }
        _ => names.join(", "),
    }
}

/// The commands that take parameters of protocols.
const ASKED: [&str; 5] = ["sim", "trace", "check", "run", "check-config"];

/// The protocols that a command line is about: the one that it names, or all.
pub(in crate::cli) fn about(words: &[String]) -> &'static [Entry] {
    named(words).map_or(PROTOCOLS, std::slice::from_ref)
}

/// The protocol that a command line is about, if it names one.
fn named(words: &[String]) -> Option<&'static Entry> {
    let live = words.first().is_some_and(|word| word == "run" || word == "check-config");
    if !live {
        return words.iter().skip(1).find_map(|word| find(word));
    }
    let after = words.iter().skip_while(|word| *word != "--protocol").nth(1);
    let joined = words.iter().find_map(|word| word.strip_prefix("--protocol="));
    find(after.map(String::as_str).or(joined).unwrap_or(DEFAULT))
}

/// The command with the help that these arguments ask for: for one protocol its own flags and the
/// common ones, without a protocol the common ones alone.
pub(in crate::cli) fn asked(
    command: Command,
    words: &[String],
    own: &dyn Fn(&'static Entry) -> Vec<String>,
    all: &[String],
) -> Command {
    let wanted = words.iter().any(|word| word == "--help" || word == "-h");
    let Some(name) = words.first().filter(|name| wanted && ASKED.contains(&name.as_str())) else {
        return command;
    };
    let entry = named(words);
    let own = entry.map_or_else(Vec::new, own);
    command.mut_subcommand(name, |command| {
        let command = command.mut_args(|flag| {
            let Some(long) = flag.get_long().map(str::to_owned) else { return flag };
            let id = flag.get_id().to_string();
            let param = entry.and_then(|entry| entry.own_params().find(|param| param.name == id));
            match param {
                _ if all.contains(&long) && !own.contains(&long) => flag.hide(true),
                Some(param) => flag.help(of_one(param, unusual(name, param))),
                None => flag,
            }
        });
        match entry {
            Some(entry) => {
                let (name, summary) = (entry.name, entry.summary);
                command.before_help(format!("{name}: {summary}"))
            }
            None => command.before_help(format!(
                "These are the flags for all protocols. `bellwether {name} PROTOCOL --help` shows \
                 those of one as well."
            )),
        }
    })
}

/// The default of a parameter where this command has another one.
pub(in crate::cli) fn unusual(command: &str, param: &Param) -> Option<&'static str> {
    let unattended = ["check", "run", "check-config"].contains(&command);
    (unattended && !param.unattended.is_empty()).then_some(param.unattended)
}

/// The command with the defaults of a group that runs unattended.
pub(in crate::cli) fn unattended(command: Command) -> Command {
    let differ = shared().iter().filter(|shared| !shared.param.unattended.is_empty());
    differ.fold(command, |command, Shared { param, owners }| {
        let owners: Vec<&str> = owners.iter().map(|owner| owner.name).collect();
        let help = format!("{}: {}", among(&owners), of_one(param, Some(param.unattended)));
        command.mut_arg(param.name, |flag| flag.help(help))
    })
}
