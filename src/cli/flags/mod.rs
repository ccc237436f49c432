//! Flags for the parameters of protocols, made from the tables that describe them.
//!
//! **Source.** [`Entry::params`] of every protocol. A name that several protocols have is one flag.
//!
//! **Assumptions.** Parameters of the same name take values of the same kind.
//!
//! **Promise.** Every parameter is a flag, under the same name in every command; `run` alone has
//! other names for those that [`Live`] lists. The library gets names and texts, and what it refuses
//! is reported with the name of the flag.

pub(super) mod calling;
pub(super) mod calls;
pub(super) mod chances;
pub(super) mod channel;
pub(super) mod circumstances;
pub(super) mod common;
pub(super) mod group;
pub(super) mod help;
pub(super) mod leases;
pub(super) mod probabilistic;
pub(super) mod target;
pub(super) mod target_file;

use crate::cli::failure::Failure;
use bellwether::core::Duration;
use bellwether::protocols::choice::{BadConfig, Config, Entry, PROTOCOLS, find};
use bellwether::protocols::named::Named;
use bellwether::protocols::param::{BadParam, Fallback, Kind, Param};
use bellwether::protocols::surroundings::Surroundings;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches};
use std::fmt::Debug;
use std::fs::read_to_string;
use std::marker::PhantomData;
use std::sync::LazyLock;

/// Which parameters a command takes, and under which names.
pub(super) trait Offers: Debug + 'static {
    /// These alone; all if it is empty.
    const ONLY: &'static [&'static str] = &[];
    /// The parameters that have another name, and that name.
    const RENAMED: &'static [(&'static str, &'static str)] = &[];

    /// The name of a parameter's flag, without dashes.
    fn long(param: &'static str) -> &'static str {
        let renamed = Self::RENAMED.iter().find(|(renamed, _)| *renamed == param);
        renamed.map_or(param, |(_, long)| long)
    }
}

/// All parameters, under their own names.
#[derive(Clone, Debug)]
pub(super) struct Every;

impl Offers for Every {}

/// A live member's: there `--listen` and `--multicast` are addresses, and `--join` the member
/// that is asked.
#[derive(Clone, Debug)]
pub(super) struct Live;

impl Offers for Live {
    const RENAMED: &'static [(&'static str, &'static str)] =
        &[("listen", "listen-for"), ("join", "join-by"), ("multicast", "multicast-within")];
}

/// A parameter and the protocols that have it.
pub(super) struct Shared {
    pub(super) param: &'static Param,
    pub(super) owners: Vec<&'static Entry>,
}

/// All parameters of all protocols, each name once, in the order of the tables.
pub(super) fn shared() -> &'static [Shared] {
    static SHARED: LazyLock<Vec<Shared>> = LazyLock::new(|| {
        let mut all: Vec<Shared> = Vec::new();
        for entry in PROTOCOLS {
            for param in entry.params() {
                let owner = param.is_of(entry.name).then_some(entry);
                match all.iter_mut().find(|known| known.param.name == param.name) {
                    Some(known) => known.owners.extend(owner),
                    None => all.push(Shared { param, owners: owner.into_iter().collect() }),
                }
            }
        }
        all
    });
    &SHARED
}

/// A name and what it means, for the help.
fn possible((name, about): &(&'static str, &'static str)) -> PossibleValue {
    PossibleValue::new(*name).help(about.trim_end_matches('.'))
}

/// Reads one of the library's names.
pub(super) fn one_of<T: Named + Send + Sync>() -> impl TypedValueParser<Value = T> {
    some_of(T::ALL)
}

/// Reads some of the library's names.
pub(super) fn some_of<T: Named + Send + Sync>(
    these: &'static [T],
) -> impl TypedValueParser<Value = T> {
    let offered = T::ALL.iter().zip(T::CHOICES).filter(|(value, _)| these.contains(value));
    let parser = PossibleValuesParser::new(offered.map(|(_, choice)| possible(choice)));
    parser.try_map(|name| T::of_name(&name).ok_or("no value has this name"))
}

/// The names of a protocol's flags.
pub(super) fn own<O: Offers>(entry: &'static Entry) -> Vec<String> {
    entry.own_params().map(|param| O::long(param.name).to_owned()).collect()
}

/// The names of the flags for parameters of any protocol.
pub(super) fn all<O: Offers>() -> Vec<String> {
    shared().iter().map(|shared| O::long(shared.param.name).to_owned()).collect()
}

/// The names of the flags that a set of arguments has.
pub(super) fn of<A: Args>() -> Vec<String> {
    let command = A::augment_args(Command::new("flags"));
    command.get_arguments().filter_map(|flag| flag.get_long().map(str::to_owned)).collect()
}

/// Refuses the flags among these that belong to other protocols.
pub(super) fn refuse_foreign(
    entry: &Entry,
    given: &[String],
    all: &[String],
    own: &[String],
) -> Result<(), Failure> {
    match given.iter().find(|flag| all.contains(flag) && !own.contains(flag)) {
        None => Ok(()),
        Some(flag) => Err(Failure::usage(format!(
            "--{flag} is no flag of {}, which has --{}",
            entry.name,
            own.join(" --")
        ))),
    }
}

/// The parameters that were written, by name and text.
#[derive(Clone, Debug)]
pub(super) struct Parameters<O> {
    written: Vec<(&'static str, String)>,
    offers: PhantomData<O>,
}

impl<O: Offers> Parameters<O> {
    /// Nothing was written.
    pub(super) fn none() -> Self {
        Self { written: Vec::new(), offers: PhantomData }
    }

    /// What was written, by name and text.
    pub(super) fn pairs(&self) -> impl Iterator<Item = (&str, &str)> {
        self.written.iter().map(|(name, text)| (*name, text.as_str()))
    }

    /// The parameters of this protocol in these surroundings, with what was written.
    pub(super) fn config(&self, entry: &Entry, around: &Surroundings) -> Result<Config, Failure> {
        let refused = |bad| Failure::usage(refused::<O>(bad));
        let pairs = self.pairs().filter(|(name, text)| !is_default(entry, name, text));
        let given = entry.given(pairs).map_err(refused)?;
        entry.config(around, &given).map_err(refused)
    }

    /// What was written, for people to read.
    pub(super) fn shown(&self) -> String {
        let shown = self.pairs().map(|(name, text)| match text {
            "true" => format!(", {name}"),
            text => format!(", {name} {text}"),
        });
        shown.collect()
    }
}

/// The parameters of a protocol that formulas read, with the values that were given.
pub(super) fn read_by_formulas<O: Offers>(
    name: &str,
    params: &Parameters<O>,
) -> Result<Config, Failure> {
    let unknown = || Failure::usage(format!("no protocol is called {name}"));
    let entry: &Entry = find(name).ok_or_else(unknown)?;
    // The network of a formula has flags of its own.
    let around = Surroundings::calm(2, Duration::from_millis(100));
    params.config(entry, &around)
}

/// Parameters as they are written on a command line, each after a space.
pub(super) fn written(pairs: &[(&str, String)]) -> String {
    let flag = |(name, text): &(&str, String)| match text.as_str() {
        "true" => format!(" --{name}"),
        "false" => format!(" --{name}=false"),
        text => format!(" --{name} {text}"),
    };
    pairs.iter().map(flag).collect()
}

/// Whether this is what the parameter is anyway. Then it is not refused for having no effect.
fn is_default(entry: &Entry, name: &str, text: &str) -> bool {
    let param = entry.params().iter().find(|param| param.name == name);
    let fixed =
        |param: &Param| matches!(param.default, Fallback::Is(_)) && param.unattended.is_empty();
    let usual = entry.default_config();
    param.is_some_and(fixed) && usual.with(name, text).as_ref() == Ok(&usual)
}

/// Which rule the parameters break, with the names of their flags.
pub(super) fn broken<O: Offers>(bad: &BadConfig) -> String {
    bad.explain(&|name| format!("--{}", O::long(name)))
}

/// Why a parameter is refused, with the name of its flag.
pub(super) fn refused<O: Offers>(bad: BadParam) -> String {
    match bad {
        BadParam::Form { name, text, must } => {
            format!("invalid value '{text}' for '--{}': {must}", O::long(name))
        }
        BadParam::NoEffect(bad) => {
            let (name, needs) = (O::long(bad.name), O::long(bad.needs));
            format!(
                "--{name} has no effect with --{needs} {}, only with --{needs} {}; set that too, \
                 or leave --{name} out",
                bad.found,
                bad.values.join(" or ")
            )
        }
        BadParam::Unfit { name, text, because } => {
            format!("--{} {text}, but {because}", O::long(name))
        }
        other => other.to_string(),
    }
}

fn is_offered<O: Offers>(param: &Param) -> bool {
    O::ONLY.is_empty() || O::ONLY.contains(&param.name)
}

fn is_switch(param: &Param) -> bool {
    param.kind == Kind::Switch && param.default == Fallback::Is("false")
}

impl<O: Offers> Args for Parameters<O> {
    fn augment_args(command: Command) -> Command {
        let offered = shared().iter().filter(|shared| is_offered::<O>(shared.param));
        command.args(offered.map(|shared| argument(shared, O::long(shared.param.name))))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl<O: Offers> FromArgMatches for Parameters<O> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let mut written = Vec::new();
        for Shared { param, .. } in shared().iter().filter(|it| is_offered::<O>(it.param)) {
            if matches.value_source(param.name) != Some(ValueSource::CommandLine) {
                continue;
            }
            let text = match is_switch(param) {
                true => Some("true".to_owned()),
                false => matches.get_one::<String>(param.name).cloned(),
            };
            written.extend(text.map(|text| (param.name, text)));
        }
        Ok(Self { written, offers: PhantomData })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

/// The flag for a parameter.
fn argument(shared: &Shared, long: &'static str) -> Arg {
    let (param, owner) = (shared.param, shared.owners[0]);
    let flag = Arg::new(param.name)
        .long(long)
        .help(help::of_all(shared))
        .help_heading(help::HEADING)
        .action(ArgAction::Set);
    let named = match param.kind {
        Kind::Switch if is_switch(param) => return flag.action(ArgAction::SetTrue),
        Kind::Switch => {
            let flag = flag.num_args(0..=1).require_equals(true).default_missing_value("true");
            return flag.value_name("true|false").value_parser(["true", "false"]);
        }
        Kind::OneOf(choices) => {
            let parser = PossibleValuesParser::new(choices.iter().map(possible));
            return flag.value_name("NAME").value_parser(parser);
        }
        Kind::Length => "D",
        Kind::Count => "N",
        Kind::Number => "X",
        Kind::Text(_) => "TEXT|FILE",
    };
    // A negative value is refused by the rule, and not taken for a flag.
    let flag = flag.value_name(named).allow_hyphen_values(true);
    flag.value_parser(move |text: &str| read(owner, param, text))
}

/// Checks the form of a value. A text that no parameter takes may be a file that holds one.
fn read(owner: &Entry, param: &Param, text: &str) -> Result<String, String> {
    let fits = |text: &str| match owner.default_config().with(param.name, text) {
        Ok(_) => Ok(text.to_owned()),
        Err(BadParam::Form { must, .. }) if must == param.form() => {
            Err(format!("it must be {must}"))
        }
        Err(BadParam::Form { must, .. }) => Err(must),
        Err(bad) => Err(bad.to_string()),
    };
    fits(text).or_else(|problem| match (param.kind, read_to_string(text)) {
        (Kind::Text(_), Ok(held)) => fits(held.trim()),
        _ => Err(problem),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use bellwether::core::Duration;

    #[test]
    fn parameters_of_one_name_take_values_of_one_kind() {
        for Shared { param, owners } in shared() {
            for owner in owners {
                let theirs = owner.own_params().find(|other| other.name == param.name).unwrap();
                assert_eq!(theirs.kind, param.kind, "{} of {}", param.name, owner.name);
            }
        }
    }

    fn config(protocol: &str, flags: &str) -> Result<Config, String> {
        config_in(protocol, flags, false)
    }

    fn config_in(protocol: &str, flags: &str, unattended: bool) -> Result<Config, String> {
        let entry = find(protocol).unwrap();
        let command = Parameters::<Every>::augment_args(Command::new("x").no_binary_name(true));
        let matches = command.try_get_matches_from(flags.split_whitespace());
        let matches = matches.map_err(|error| crate::cli::failure::line_of(&error))?;
        let written = Parameters::<Every>::from_arg_matches(&matches).unwrap();
        let calm = Surroundings::calm(5, Duration::from_millis(100));
        let around = Surroundings { unattended, ..calm };
        written.config(entry, &around).map_err(|failure| failure.to_string())
    }

    #[test]
    fn every_parameter_of_every_protocol_can_be_written_as_a_flag() {
        for entry in PROTOCOLS {
            let usual = config(entry.name, "").unwrap();
            for param in entry.own_params() {
                let text = match (param.kind, param.default) {
                    (Kind::Switch, _) => String::new(),
                    (_, Fallback::Is(text)) => format!(" {text}"),
                    (Kind::OneOf(choices), _) => format!(" {}", choices[0].0),
                    _ => continue,
                };
                // A switch that is on has no text.
                let needs = param.only_with.map_or_else(String::new, |(name, values)| {
                    format!("--{name} {} ", values[0].trim_start_matches("true"))
                });
                let flags = format!("{needs}--{}{text}", param.name);
                let written = config(entry.name, &flags).unwrap();
                assert_eq!(written.to_map().len(), usual.to_map().len(), "{}", param.name);
            }
        }
    }

    #[test]
    fn a_group_that_nobody_looks_after_has_defaults_of_its_own_unless_a_value_is_given() {
        let listen = |flags: &str, unattended: bool| {
            let config = config_in("le-s", flags, unattended).unwrap();
            let found = config.to_map().into_iter().find(|(key, _)| key == "listen");
            found.unwrap().1.as_f64()
        };
        assert_eq!((listen("", false), listen("", true)), (None, Some(3.0)));
        assert_eq!(listen("--listen 7s", true), Some(7.0));
        assert_eq!(listen("--listen infinite", true), None, "though it is the default elsewhere");
    }

    #[test]
    fn a_value_without_effect_is_refused_with_the_flag_that_is_missing() {
        let line = config("le-s", "--jitter 5ms").unwrap_err();
        let rule = "--jitter has no effect with --mapping random, only with --mapping standing";
        assert!(line.starts_with(rule), "{line}");
        assert!(config("le-s", "--jitter 0").is_ok(), "that is what it is anyway");
        assert!(config("le-s", "--jitter 5ms --mapping standing").is_ok());
    }

    #[test]
    fn a_negative_value_is_refused_by_the_rule() {
        for (flags, rule) in [
            ("--announce -1s", "'-1s' for '--announce <D>': it must be a length of time"),
            ("--leaders -1", "'-1' for '--leaders <N>': it must be a whole number"),
        ] {
            let line = config("le-s", flags).unwrap_err();
            assert!(line.contains(rule), "{line}");
        }
    }
}
