//! Which parameters a page or a program may give, each with its help: the flags of the command,
//! without those of files and of the output.

use super::refused::renamed;
use super::words::{Caller, answers, hides};
use crate::cli::command_about;
use crate::cli::commands::trace::VIEW_PROB;
use crate::cli::flags::group::{all_flags, own_flags};
use crate::cli::flags::help::{default_of, of_one, unusual};
use crate::cli::flags::{self, Live, Offers as _};
use bellwether::protocols::choice::{Entry, PROTOCOLS};
use bellwether::protocols::param::{Kind, Param};
use clap::{Arg, ArgAction, Command};
use serde::Serialize;
use serde_json::{Value, json};

/// A parameter that may be given. A page gets it as JSON, without what it has not.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(in crate::cli) struct Offered {
    /// The name of its flag, without dashes.
    pub(in crate::cli) name: String,
    /// `length`, `count`, `number`, `switch`, `choice` or `text`.
    kind: &'static str,
    /// What it is for.
    help: String,
    /// The same with its rule and its default, as the command's help says it.
    #[serde(skip)]
    whole: String,
    /// Its default, where there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::cli) default: Option<String>,
    /// Which of the choices the default is as a rule, where it is another one elsewhere.
    #[serde(skip_serializing_if = "Option::is_none")]
    usually: Option<&'static str>,
    /// What a choice is between.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    choices: Vec<Choice>,
    #[serde(skip_serializing_if = "str::is_empty")]
    unit: &'static str,
    #[serde(skip_serializing_if = "str::is_empty")]
    range: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    only_with: Option<OnlyWith>,
    /// Under which heading the help has it.
    heading: String,
    /// Whether it is a parameter of the protocol.
    #[serde(skip_serializing_if = "is_no")]
    parameter: bool,
    /// Whether it may be given several times.
    #[serde(skip_serializing_if = "is_no")]
    multiple: bool,
    /// Its place among those that one changes first; nothing if it is none of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    first: Option<usize>,
}

/// The flags of a group that one changes first, in this order; the parameters of its protocol that
/// the table calls [leading](Param::leading) come after them.
const FIRST: [&str; 6] = ["nodes", "seed", "loss", "delay", "initiators", "graph"];

fn is_no(switch: &bool) -> bool {
    !switch
}

/// One of the names that a choice has.
#[derive(Clone, Debug, PartialEq, Serialize)]
struct Choice {
    name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    help: Option<String>,
}

/// The other flag, and the values of it, without which a parameter has no effect.
#[derive(Clone, Debug, PartialEq, Serialize)]
struct OnlyWith {
    flag: &'static str,
    values: &'static [&'static str],
}

impl Offered {
    /// What a program is told of it: a name with `_` for `-`, and the help in such names.
    fn for_programs(&self) -> Value {
        json!({
            "name": self.name.replace('-', "_"),
            "kind": self.kind,
            "choices": self.choices.iter().map(|choice| &choice.name).collect::<Vec<_>>(),
            "default": self.default,
            "several": self.multiple,
            "help": renamed(&self.whole.replace('\n', " ")).0,
        })
    }
}

/// A command, or what it does about one protocol where that is a command of its own.
fn find(whole: &Command, name: &str, about: Option<&str>) -> Option<Command> {
    let command = whole.find_subcommand(name)?;
    match about {
        Some(about) if name == "plan" => command.find_subcommand(about).cloned(),
        _ => Some(command.clone()),
    }
}

/// The flag of a command about this.
pub(super) fn flag(name: &str, about: Option<&str>, long: &str) -> Option<Arg> {
    let command = find(&command_about(PROTOCOLS), name, about)?;
    command.get_arguments().find(|flag| flag.get_long() == Some(long)).cloned()
}

/// The parameters of a command (`sim`, `sweep`, `trace`, `check`, `analyze`, `plan` or `run`) for a
/// program: of one protocol, or of all; nothing if there is no such command or protocol. Each has a
/// name, a kind, choices, a default, whether it may have several values, and its help.
pub fn offered(command: &str, protocol: Option<&str>) -> Option<Value> {
    let entry = match (command, protocol) {
        ("plan", about) => {
            about?;
            None
        }
        (_, Some(name)) => Some(PROTOCOLS.iter().find(|entry| entry.name == name)?),
        (_, None) => None,
    };
    let entries = entry.map_or(PROTOCOLS, std::slice::from_ref);
    let found = find(&command_about(entries), command, protocol).filter(|_| answers(command))?;
    let all = offered_by(&found, Caller::Program, command, entry);
    Some(all.iter().map(Offered::for_programs).collect())
}

/// The flags of a command that this caller may give, about one protocol or about any.
pub(in crate::cli) fn offered_by(
    command: &Command,
    caller: Caller,
    name: &str,
    entry: Option<&'static Entry>,
) -> Vec<Offered> {
    // Flags that only some protocols have, and those of this one. There `--view` is what a picture
    // shows.
    let foreign = entry.map(|entry| match name {
        "run" => (flags::all::<Live>(), flags::own::<Live>(entry)),
        _ => (all_flags(), own_flags(entry)),
    });
    let offers = |flag: &&Arg| {
        let Some(long) = flag.get_long() else { return false };
        let named = if long == VIEW_PROB { "view" } else { long };
        let is = |flags: &[String]| flags.iter().any(|own| own == named);
        let fits = foreign.as_ref().is_none_or(|(all, own)| !is(all) || is(own));
        fits && !flag.is_hide_set() && !hides(caller, name, long)
    };
    command.get_arguments().filter(offers).map(|flag| described(name, entry, flag)).collect()
}

fn described(command: &str, entry: Option<&'static Entry>, flag: &Arg) -> Offered {
    let id = flag.get_id().as_str();
    let is_param = |param: &&Param| {
        let long = if command == "run" { Live::long(param.name) } else { param.name };
        flag.get_long() == Some(long)
    };
    let own = |entry: &'static Entry| entry.own_params().find(|param| param.name == id);
    let offered = match entry.and_then(own).filter(is_param) {
        Some(param) => of_param(command, param),
        None => {
            let shared = flags::shared().iter().map(|shared| shared.param);
            of_flag(flag, shared.into_iter().find(|it| it.name == id).filter(is_param))
        }
    };
    let name = flag.get_long().unwrap_or_default();
    let first = FIRST.iter().position(|first| *first == name);
    Offered {
        name: name.to_owned(),
        heading: flag.get_help_heading().unwrap_or("Group").to_owned(),
        multiple: matches!(flag.get_action(), ArgAction::Append),
        first: offered.first.or(first),
        ..offered
    }
}

fn value_name(flag: &Arg) -> Option<String> {
    flag.get_value_names().and_then(|names| names.first()).map(ToString::to_string)
}

/// A parameter, by its table.
fn of_param(command: &str, param: &Param) -> Offered {
    let choice = |(name, help): &(&str, &str)| Choice {
        name: (*name).to_owned(),
        help: Some((*help).to_owned()),
    };
    let choices = if let Kind::OneOf(choices) = param.kind { choices } else { &[] };
    let unusual = unusual(command, param);
    let default = unusual.map(str::to_owned).or_else(|| default_of(param));
    // `majority; local where the members are not listed`
    let rule = default.as_ref().and_then(|text| text.split_once(';'));
    let known = rule.and_then(|(rule, _)| choices.iter().find(|(name, _)| *name == rule));
    Offered {
        name: String::new(),
        kind: kind_of(param),
        help: param.help.to_owned(),
        whole: of_one(param, unusual),
        usually: known.map(|(name, _)| *name),
        default,
        choices: choices.iter().map(choice).collect(),
        unit: param.unit,
        range: param.range,
        only_with: param.only_with.map(|(flag, values)| OnlyWith { flag, values }),
        heading: String::new(),
        parameter: true,
        multiple: false,
        first: param.leading.then_some(FIRST.len()),
    }
}

/// Another flag, by what the command line says of it; `shared` is the parameter of some protocols
/// that it stands for.
fn of_flag(flag: &Arg, shared: Option<&Param>) -> Offered {
    let choice = |value: &clap::builder::PossibleValue| Choice {
        name: value.get_name().to_owned(),
        help: value.get_help().map(ToString::to_string),
    };
    let text = flag.get_help().map(ToString::to_string).unwrap_or_default();
    let usual = flag.get_default_values().first();
    let usual = usual.map(|value| value.to_string_lossy().into_owned());
    let usual = usual.filter(|_| flag.get_action().takes_values());
    let (help, said) = match text.split_once(" [default: ") {
        Some((help, default)) => (help.to_owned(), Some(default.trim_end_matches(']').to_owned())),
        None => (text.clone(), None),
    };
    let whole = match (&said, &usual) {
        (None, Some(default)) => format!("{text} [default: {default}]"),
        _ => text,
    };
    Offered {
        name: String::new(),
        kind: shared.map_or_else(|| kind_of_flag(flag), kind_of),
        help,
        whole,
        default: said.or(usual),
        usually: None,
        choices: flag.get_possible_values().iter().map(choice).collect(),
        unit: "",
        range: "",
        only_with: None,
        heading: String::new(),
        parameter: false,
        multiple: false,
        first: None,
    }
}

fn kind_of(param: &Param) -> &'static str {
    match param.kind {
        Kind::Length => "length",
        Kind::Count => "count",
        Kind::Number => "number",
        Kind::Switch => "switch",
        Kind::OneOf(_) => "choice",
        Kind::Text(_) => "text",
    }
}

/// By the name of the value, which the help shows.
fn kind_of_flag(flag: &Arg) -> &'static str {
    match (flag.get_action().takes_values(), value_name(flag).as_deref()) {
        (false, _) => "switch",
        (true, _) if !flag.get_possible_values().is_empty() => "choice",
        (true, Some("D")) => "length",
        (true, Some("N" | "S" | "R" | "E" | "I" | "r" | "i" | "PPM" | "ID")) => "count",
        (true, Some("X" | "P" | "M")) => "number",
        (true, Some("T")) if flag.get_long() == Some("threads") => "count",
        (true, Some("T")) => "length",
        (true, _) => "text",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(command: &str, protocol: Option<&str>) -> Vec<String> {
        let told = offered(command, protocol).unwrap();
        let all = told.as_array().unwrap().iter();
        all.map(|it| it["name"].as_str().unwrap().to_owned()).collect()
    }

    #[test]
    fn a_protocol_has_its_own_parameters_and_those_of_the_group() {
        for entry in PROTOCOLS {
            for command in ["sim", "trace", "check"] {
                let names = names(command, Some(entry.name));
                for param in entry.own_params() {
                    let key = param.key();
                    assert!(names.contains(&key), "{command} {} {key}", entry.name);
                }
                assert!(names.contains(&"nodes".to_owned()) && names.contains(&"seed".to_owned()));
            }
        }
        assert!(!names("sim", Some("le-s")).contains(&"graph".to_owned()));
        assert!(names("sim", Some("ad-hoc")).contains(&"graph".to_owned()));
        assert!(names("sim", None).contains(&"graph".to_owned()));
        assert!(names("plan", Some("local-leader")).contains(&"detect".to_owned()));
        assert_eq!((offered("plan", None), offered("sim", Some("le-x"))), (None, None));
        assert_eq!(names("sweep", None), ["out", "threads", "plot", "parquet"]);
        assert_eq!(offered("demo", None), None);
    }

    #[test]
    fn nothing_that_a_member_in_a_program_may_give_is_for_a_command_or_a_terminal() {
        let all = names("run", Some("local-leader"));
        let expected =
            ["peers", "join", "voters", "priorities", "id", "listen", "multicast", "key"];
        let settings = ["insecure", "protocol", "rank", "priority", "witness", "dir", "bootstrap"];
        let more = ["record", "lease"];
        let known = expected.iter().chain(&settings).chain(&more);
        let own =
            flags::own::<Live>(PROTOCOLS.iter().find(|it| it.name == "local-leader").unwrap());
        let own: Vec<String> = own.iter().map(|name| name.replace('-', "_")).collect();
        for name in &all {
            let fine = known.clone().any(|known| known == name) || own.contains(name);
            assert!(fine, "{name}");
        }
    }

    #[test]
    fn kinds_and_defaults_are_those_of_the_table() {
        let all = offered("sim", Some("le-s")).unwrap();
        let of = |name: &str| all.as_array().unwrap().iter().find(|it| it["name"] == name).unwrap();
        for (name, kind) in [
            ("announce", "length"),
            ("nodes", "count"),
            ("loss", "number"),
            ("bye", "switch"),
            ("threads", "count"),
            ("scenario", "choice"),
        ] {
            assert_eq!(of(name)["kind"], kind, "{name}");
        }
        assert_eq!(of("runs")["default"], "1000");
        assert!(of("scenario")["choices"].as_array().unwrap().contains(&json!("departure")));
        let help = of("jitter")["help"].as_str().unwrap();
        assert!(help.contains("only with mapping standing"), "{help}");
    }
}
