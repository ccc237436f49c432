//! The sources of settings: a file, the environment, flags; the later one wins.
//!
//! Each is a layer of texts by the names of flags. The layers are merged and then parsed once, by
//! the parser of the command line, so that a value means the same everywhere.

use super::checks::check::of_table;
use super::options::Options;
use crate::cli::failure::{Failure, line_of};
use bellwether::net::files;
use clap::{ArgAction, Args, FromArgMatches};
use rustix::fs::{Mode, OFlags};
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::io::{self, ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::sync::{LazyLock, Mutex, PoisonError};

/// Values by the names of their flags.
pub(super) type Layer = BTreeMap<String, Vec<String>>;

/// A setting that is no flag, but has a name in files and in the environment.
pub(super) const GROUP: &str = "group";
/// The same, in files alone.
const COMMAND: &str = "command";
/// Set for commands and hooks by `run` itself, or for other programs.
const FOREIGN: [&str; 6] = ["role", "leader", "term", "term-kept", "reign", "until-ms"];
/// Pairs that exclude each other: the later layer removes the other one of the earlier.
const EXCLUSIVE: [(&str, &str); 2] = [("key", "insecure"), ("bye", "bye-copies")];
/// The most bytes of a file with settings.
const FILE_MAX: u64 = 1 << 20;

fn parser() -> clap::Command {
    Options::augment_args(clap::Command::new("run")).no_binary_name(true)
}

/// What a flag is like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Flag {
    /// Whether it takes a value.
    takes: bool,
    /// Whether it can be given several times.
    several: bool,
}

/// The flags that can be set.
fn flags() -> &'static BTreeMap<String, Flag> {
    static FLAGS: LazyLock<BTreeMap<String, Flag>> = LazyLock::new(|| {
        let parser = parser();
        let named = |flag: &clap::Arg| {
            let (takes, action) = (flag.get_action().takes_values(), flag.get_action());
            let several = matches!(action, ArgAction::Append);
            Some((flag.get_long()?.to_owned(), Flag { takes, several }))
        };
        let flags = parser.get_arguments().filter_map(named);
        flags.filter(|(name, _)| name != "help").collect()
    });
    &FLAGS
}

/// Parses a merged layer.
pub(super) fn parse(layer: &Layer) -> Result<Options, String> {
    let flags = flags();
    let written = layer.iter().flat_map(|(name, values)| {
        let takes = flags.get(name).is_none_or(|flag| flag.takes);
        values.iter().filter_map(move |value| match (takes, value.as_str()) {
            (true, value) => Some(format!("--{name}={value}")),
            (false, "false") => None,
            (false, _) => Some(format!("--{name}")),
        })
    });
    static PARSER: LazyLock<Mutex<clap::Command>> = LazyLock::new(|| Mutex::new(parser()));
    let mut parser = PARSER.lock().unwrap_or_else(PoisonError::into_inner);
    parser
        .try_get_matches_from_mut(written)
        .and_then(|matches| Options::from_arg_matches(&matches))
        .map_err(|error| line_of(&error))
}

/// Lays one layer over another.
pub(super) fn over(mut below: Layer, above: Layer) -> Layer {
    for (one, other) in EXCLUSIVE {
        for (new, old) in [(one, other), (other, one)] {
            // A switch that is off excludes nothing.
            let on = |values: &Vec<String>| values.iter().any(|value| value != "false");
            if above.get(new).is_some_and(on) {
                below.remove(old);
            }
        }
    }
    below.extend(above);
    below
}

/// The contents of a file.
#[derive(Debug, Default)]
pub(super) struct File {
    /// Its flags and the group.
    pub(super) layer: Layer,
    /// The command.
    pub(super) command: Vec<OsString>,
    /// The protocol's parameters.
    pub(super) params: Params,
}

/// The protocol's parameters in a file, with their lines.
#[derive(Debug, Default)]
pub(super) struct Params {
    pub(super) table: toml::Table,
    /// The line of each.
    lines: BTreeMap<String, usize>,
    /// The file.
    path: PathBuf,
}

impl Params {
    /// The place of a parameter, such as `web.toml: line 7: `; empty if no file has it.
    pub(super) fn place(&self, name: &str) -> String {
        let path = self.path.display();
        self.lines.get(name).map_or_else(String::new, |line| format!("{path}: line {line}: "))
    }
}

/// The parameters alone, with their places.
#[derive(Deserialize)]
struct Places {
    #[serde(default)]
    params: BTreeMap<String, toml::Spanned<toml::Value>>,
}

/// Reads a file with settings.
pub(super) fn from_file(path: &Path) -> Result<File, Failure> {
    let bad = |problem: String| Failure::Config(format!("{}: {problem}", path.display()));
    let cannot = |error: io::Error| match error.kind() {
        ErrorKind::InvalidInput => bad(format!("{error}; --config names a file")),
        ErrorKind::InvalidData => bad("it is no text; settings are written in TOML".to_owned()),
        _ => Failure::io("read", path, &error),
    };
    let file = files::open(path, OFlags::RDONLY, Mode::empty()).map_err(cannot)?;
    let mut text = String::new();
    file.take(FILE_MAX + 1).read_to_string(&mut text).map_err(cannot)?;
    if text.len() as u64 > FILE_MAX {
        return Err(bad(format!("a file with settings has at most {FILE_MAX} bytes")));
    }
    let mut file = from_text(&text).map_err(bad)?;
    path.clone_into(&mut file.params.path);
    Ok(file)
}

/// The line of a byte, counted from 1.
fn line(text: &str, at: usize) -> usize {
    let before = text.bytes().take(at);
    before.filter(|byte| *byte == b'\n').count() + 1
}

pub(super) fn from_text(text: &str) -> Result<File, String> {
    let table: toml::Table = toml::from_str(text).map_err(|error| {
        let problem = error.message().lines().collect::<Vec<_>>().join("; ");
        let at = error.span().map_or(0, |span| span.start);
        format!("line {}: {problem}", line(text, at))
    })?;
    let (flags, mut file) = (flags(), File::default());
    for (key, value) in table {
        match (key.as_str(), value) {
            ("params", toml::Value::Table(table)) => {
                let places = toml::from_str::<Places>(text).map(|all| all.params);
                let lines = places.unwrap_or_default().into_iter();
                let lines = lines.map(|(name, value)| (name, line(text, value.span().start)));
                file.params = Params { table, lines: lines.collect(), path: PathBuf::new() };
            }
            (COMMAND, value) => {
                file.command = texts(COMMAND, value)?.into_iter().map(OsString::from).collect();
            }
            (GROUP, value) => {
                file.layer.insert(key, vec![one_text(GROUP, value)?]);
            }
            // The members may be a list, which is easier to read.
            ("peers", value) => {
                file.layer.insert(key, vec![texts("peers", value)?.join(",")]);
            }
            // Each may be a table, [[address]], which is easier to read.
            ("address", toml::Value::Array(all)) => {
                let all = all.into_iter().map(address).collect::<Result<_, _>>()?;
                file.layer.insert(key, all);
            }
            // Each is a table, [[check]], or the text of a flag.
            ("check", value) => {
                let all = match value {
                    toml::Value::Array(all) => all,
                    one => vec![one],
                };
                let all = all.into_iter().enumerate().map(check).collect::<Result<_, _>>()?;
                file.layer.insert(key, all);
            }
            // A list names voters, also if it names one; a number says how many.
            ("voters", toml::Value::Array(ids)) => {
                let ids = texts("voters", toml::Value::Array(ids))?.join(",");
                file.layer.insert(key, vec![ids + ","]);
            }
            (name, value) if flags.contains_key(name) && name != "config" => {
                let values = match flags[name] {
                    Flag { takes: true, several: true } => texts(name, value)?,
                    Flag { takes: true, several: false } => vec![one_text(name, value)?],
                    Flag { takes: false, .. } => vec![switch(name, &[one_text(name, value)?])?],
                };
                file.layer.insert(key, values);
            }
            (name, _) => return Err(unknown(name, &names())),
        }
    }
    let only_flags = file.layer.clone().into_iter().filter(|(name, _)| name != GROUP).collect();
    parse(&only_flags)?;
    Ok(file)
}

/// The layer of the environment, from these variables.
pub(super) fn from_environment(
    variables: impl Iterator<Item = (OsString, OsString)>,
) -> Result<Layer, String> {
    let (flags, mut layer) = (flags(), Layer::new());
    for (variable, value) in variables {
        let Some(name) = variable.to_str().and_then(|name| name.strip_prefix("BELLWETHER_")) else {
            continue;
        };
        let name = name.to_ascii_lowercase().replace('_', "-");
        let variable = variable.to_string_lossy();
        let known = name == GROUP || flags.contains_key(&name);
        if value.is_empty() || FOREIGN.contains(&name.as_str()) {
            continue;
        }
        if !known {
            // Other programs have variables too; a name that is nearly ours is meant for us.
            match nearest(&name, &names(), 0.7) {
                Some(near) => {
                    let near = near.to_ascii_uppercase().replace('-', "_");
                    return Err(format!("{variable}: did you mean BELLWETHER_{near}?"));
                }
                None => continue,
            }
        }
        let Ok(value) = value.into_string() else {
            return Err(format!("{variable}: its value is no text"));
        };
        let value = match flags.get(&name) {
            Some(Flag { takes: false, .. }) => switch(&variable, &[value])?,
            _ => value,
        };
        let entry = Layer::from([(name.clone(), vec![value])]);
        if name != GROUP {
            parse(&entry).map_err(|problem| format!("{variable}: {problem}"))?;
        }
        layer.extend(entry);
    }
    Ok(layer)
}

/// A value of a file that may be a list, as texts.
fn texts(name: &str, value: toml::Value) -> Result<Vec<String>, String> {
    match value {
        toml::Value::Array(values) => {
            values.into_iter().map(|value| one_text(name, value)).collect()
        }
        value => one_text(name, value).map(|text| vec![text]),
    }
}

/// A value of a file that is one value.
fn one_text(name: &str, value: toml::Value) -> Result<String, String> {
    match value {
        toml::Value::String(text) => Ok(text),
        toml::Value::Integer(number) => Ok(number.to_string()),
        toml::Value::Float(number) => Ok(number.to_string()),
        toml::Value::Boolean(truth) => Ok(truth.to_string()),
        other => Err(format!(
            "{name} is a text, a number, true or false, and not {}: write {name} = \"...\"",
            match other {
                toml::Value::Array(_) => "a list",
                toml::Value::Table(_) => "a table",
                _ => "a date",
            }
        )),
    }
}

/// An address as a flag has it: from a table with an ip and an interface, or from a text.
fn address(value: toml::Value) -> Result<String, String> {
    let toml::Value::Table(mut table) = value else { return one_text("address", value) };
    let mut part = |name: &str| {
        let value = table.remove(name).ok_or_else(|| {
            format!(
                "[[address]] has no {name}: write ip = \"10.0.0.100/24\" and interface = \"eth0\""
            )
        });
        one_text(name, value?)
    };
    let text = format!("{}@{}", part("ip")?, part("interface")?);
    match table.keys().next() {
        Some(other) => Err(format!(
            "[[address]] has no setting '{}', but ip and interface{}",
            other.escape_debug(),
            of_member(other, "[[address]]")
        )),
        None => Ok(text),
    }
}

/// A check as a flag has it, from a table or from a text; its number is told if it is not right.
fn check((number, value): (usize, toml::Value)) -> Result<String, String> {
    let text = match value {
        toml::Value::Table(table) => {
            let settings: Vec<String> = table.keys().cloned().collect();
            let hint =
                |name: &String| Some(of_member(name, "[[check]]")).filter(|it| !it.is_empty());
            of_table(table).map_err(|why| {
                let named = |name: &&String| {
                    [name.replace('_', "-"), name.to_string()]
                        .iter()
                        .any(|name| why.contains(&format!("has no setting '{name}'")))
                };
                let own = settings.iter().filter(named);
                why.clone() + &own.filter_map(hint).next().unwrap_or_default()
            })
        }
        value => one_text("check", value),
    };
    text.map_err(|why| format!("[[check]] number {}: {why}", number + 1))
}

/// A hint, if the setting of a table is one of the member: in TOML all that follows the head of a
/// table belongs to it.
pub(super) fn of_member(name: &str, table: &str) -> String {
    if !names().contains(&name.replace('_', "-")) {
        return String::new();
    }
    format!("; it is a setting of the member: write it above the first line with [, before {table}")
}

/// On or off.
fn switch(name: &str, values: &[String]) -> Result<String, String> {
    match values {
        [value] if ["true", "yes", "on", "1"].contains(&value.as_str()) => Ok("true".to_owned()),
        [value] if ["false", "no", "off", "0"].contains(&value.as_str()) => Ok("false".to_owned()),
        _ => Err(format!("{name} = {}: it is either true or false", values.join(", "))),
    }
}

/// Every name that a file may use.
fn names() -> BTreeSet<String> {
    let own = ["params", COMMAND, GROUP].map(str::to_owned);
    let flags = flags().keys().filter(|name| *name != "config").cloned();
    flags.chain(own).collect()
}

/// Refuses a name, and names the nearest one.
pub(super) fn unknown(name: &str, names: &BTreeSet<String>) -> String {
    let hint = nearest(name, names, 0.6).map(|near| format!("; did you mean '{near}'?"));
    format!("no setting is called '{}'{}", name.escape_debug(), hint.unwrap_or_default())
}

fn nearest<'a>(name: &str, names: &'a BTreeSet<String>, least: f64) -> Option<&'a str> {
    let likeness = |other: &&String| strsim::normalized_damerau_levenshtein(name, other);
    let near = names.iter().max_by(|a, b| likeness(a).total_cmp(&likeness(b)))?;
    (likeness(&near) > least).then_some(near.as_str())
}

/// Refuses the settings among these that were given, unless they have an effect: as bad usage if
/// they are flags, and as bad configuration if they are from a file or the environment.
pub(super) fn check_effect(
    given: &Layer,
    written: &[(String, Vec<String>)],
    names: &[&str],
    has_effect: bool,
    why: &str,
) -> Result<(), Failure> {
    let on =
        |name: &&&str| given.get(**name).is_some_and(|text| text.iter().any(|it| it != "false"));
    let Some(name) = names.iter().find(on).filter(|_| !has_effect) else { return Ok(()) };
    let line = format!("--{name} has no effect {why}, or leave --{name} out");
    let by_flag = written.iter().any(|(flag, _)| flag == name);
    Err(if by_flag { Failure::Usage(line) } else { Failure::Config(line) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use bellwether::core::NodeId;
    use bellwether::net::FoundingVoters;

    fn layer(entries: &[(&str, &str)]) -> Layer {
        entries.iter().map(|(name, value)| (name.to_string(), vec![value.to_string()])).collect()
    }

    fn environment(entries: &[(&str, &str)]) -> Result<Layer, String> {
        from_environment(entries.iter().map(|(name, value)| (name.into(), value.into())))
    }

    #[test]
    fn a_file_the_environment_and_flags_use_the_same_names() {
        let file = from_text(
            "group = \"web\"\nid = 3\npeers = [\"1=a:1\", \"2=b:2\"]\nvoters = [1]\nonce = true\n\
             on-change = [\"/x\", \"/y\"]\ncommand = [\"sleep\", \"9\"]\nhook-timeout = \"2s\"\n\
             [params]\npreset = \"fast\"\n",
        )
        .unwrap();
        assert_eq!(file.layer["peers"], ["1=a:1,2=b:2"]);
        let voters = |layer: &Layer| parse(layer).unwrap().voters;
        let named = |ids: &[u64]| FoundingVoters::Named(ids.iter().copied().map(NodeId).collect());
        let only = |text| from_text(text).unwrap().layer;
        assert_eq!(file.layer["voters"], ["1,"]);
        assert_eq!(voters(&only("voters = [1]")), Some(named(&[1])), "a list");
        assert_eq!(voters(&only("voters = 1")), Some(FoundingVoters::Best(1)), "a count");
        let environment_voters = environment(&[("BELLWETHER_VOTERS", "1,2")]).unwrap();
        assert_eq!(voters(&environment_voters), Some(named(&[1, 2])));
        let priorities = only("priorities = [\"4=10\", \"7=5\"]");
        assert_eq!(parse(&priorities).unwrap().priorities, [(4, 10), (7, 5)]);
        assert_eq!(file.layer["on-change"], ["/x", "/y"]);
        assert_eq!(file.layer["id"], ["3"]);
        assert_eq!(file.command, ["sleep", "9"]);
        assert_eq!(file.params.table["preset"].as_str(), Some("fast"));
        let set = [("BELLWETHER_ELECTED_WITHIN", "5s"), ("BELLWETHER_ONCE", "0"), ("PATH", "x")];
        let expected = layer(&[("elected-within", "5s"), ("once", "false")]);
        assert_eq!(environment(&set).unwrap(), expected);
    }

    #[test]
    fn what_lies_above_wins_and_a_list_is_replaced_whole() {
        let below = from_text("id = 1\ninsecure = true\non-change = [\"/x\", \"/y\"]\nonce = true");
        let above = layer(&[("id", "2"), ("key", "k"), ("on-change", "/z"), ("once", "false")]);
        let both = over(below.unwrap().layer, above);
        assert!(!both.contains_key("insecure"), "a key puts it out of force");
        let options = parse(&both).unwrap();
        assert_eq!((options.id, options.insecure, options.once), (Some(2), false, false));
        assert_eq!(options.hooking.on_change, [Path::new("/z")]);
        let off = over(layer(&[("key", "k")]), layer(&[("insecure", "false")]));
        assert!(off.contains_key("key"), "what is switched off puts nothing out of force");
    }

    #[test]
    fn a_name_that_nobody_knows_is_refused_with_the_nearest_one() {
        for (text, hint) in [
            ("peer = \"x\"", "no setting is called 'peer'; did you mean 'peers'?"),
            (
                "hook_timeout = 3",
                "no setting is called 'hook_timeout'; did you mean 'hook-timeout'",
            ),
            ("config = \"x\"", "no setting is called 'config'"),
            ("[parms]\nx = 1", "no setting is called 'parms'; did you mean 'params'?"),
        ] {
            let error = from_text(text).unwrap_err();
            assert!(error.starts_with(hint), "{error}");
        }
        let error = environment(&[("BELLWETHER_PEER", "x")]).unwrap_err();
        assert_eq!(error, "BELLWETHER_PEER: did you mean BELLWETHER_PEERS?");
        let foreign = [
            ("BELLWETHER_SERVICE_HOST", "10.0.0.1"),
            ("BELLWETHER_PORT_7400_TCP", "tcp://10.0.0.1:7400"),
            ("BELLWETHER_UNTIL_MS", "17"),
            ("BELLWETHER_KEY", ""),
        ];
        assert_eq!(environment(&foreign), Ok(Layer::new()), "not meant for us");
    }

    #[test]
    fn a_bad_value_is_refused_with_its_place() {
        for (text, start) in [
            ("id = \"x\"", "invalid value 'x' for '--id <N>'"),
            ("id = ", "line 1: "),
            ("\n\nid = = 3", "line 3: "),
            ("once = \"maybe\"", "once = maybe: it is either true or false"),
            ("id = { a = 1 }", "id is a text, a number"),
            ("key = \"a\"\ninsecure = true", "the argument '--insecure' cannot be used with"),
            ("id = [1, 2]", "id is a text, a number, true or false, and not a list"),
            ("group = [\"g\"]", "group is a text, a number, true or false, and not a list"),
            ("once = [true]", "once is a text, a number, true or false, and not a list"),
            ("dir = [\"/run\"]", "dir is a text, a number, true or false, and not a list"),
            ("on-change = [[\"/x\"]]", "on-change is a text, a number, true or false, and not"),
        ] {
            let error = from_text(text).unwrap_err();
            assert!(error.starts_with(start), "{text}: {error}");
        }
        let error = environment(&[("BELLWETHER_ID", "-1")]).unwrap_err();
        assert!(error.starts_with("BELLWETHER_ID: invalid value '-1'"), "{error}");
    }
}
