//! `bellwether protocols`: lists the protocols, their promises and their parameters.

use crate::cli::Done;
use crate::cli::flags::target_file::ProtocolOrFile;
use crate::cli::flags::{self, help};
use crate::cli::output::Rows;
use bellwether::protocols::choice::{Entry, PROTOCOLS, find};
use bellwether::protocols::param::Param;
use clap::builder::{PossibleValue, TypedValueParser};
use clap::error::ErrorKind;
use clap::{Arg, Args, Command, ValueEnum};
use serde_json::{Value, json};
use std::ffi::OsStr;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// List the protocols and what they promise
#[derive(Args, Debug)]
pub(in crate::cli) struct Protocols {
    /// List the parameters of every protocol instead
    #[arg(long)]
    params: bool,
    /// How to write the list
    #[arg(long, value_enum, default_value_t)]
    format: PageFormat,
}

/// How a list is written.
#[derive(ValueEnum, Clone, Copy, Debug, Default, PartialEq, Eq)]
enum PageFormat {
    /// For people
    #[default]
    Table,
    /// One object a row, stable keys
    Json,
    /// A header and rows
    Csv,
    /// A page of tables; with --params, docs/parameters.md
    Markdown,
}

impl Protocols {
    pub(in crate::cli) fn run(&self) -> Done {
        let text = match (self.params, self.format) {
            (true, PageFormat::Markdown) => reference(),
            (params, form) => {
                let rows = if params { parameters(PROTOCOLS) } else { protocols() };
                match form {
                    PageFormat::Table => rows.to_text(),
                    PageFormat::Json => rows.to_json().to_string(),
                    PageFormat::Csv => rows.to_csv(),
                    PageFormat::Markdown => rows.to_markdown(),
                }
            }
        };
        writeln!(io::stdout(), "{text}")?;
        Ok(())
    }
}

pub(in crate::cli) fn protocols() -> Rows {
    let row = |entry: &Entry| {
        let Entry { name, summary, source, .. } = entry;
        [json!(name), json!(entry.promise().to_string()), json!(summary), json!(source)]
    };
    Rows::of(["protocol", "promise", "summary", "source"], PROTOCOLS.iter().map(row))
}

/// A row for each parameter of these protocols.
fn parameters(entries: &'static [Entry]) -> Rows {
    let columns =
        ["protocol", "parameter", "values", "default", "rule", "only_with", "depends_on", "help"];
    let mut rows = Rows::new(columns);
    for entry in entries {
        for param in entry.own_params() {
            rows.push([json!(entry.name)].into_iter().chain(cells(param)));
        }
    }
    rows
}

/// The cells of a parameter, after its protocol.
fn cells(param: &Param) -> [Value; 7] {
    let values = match param.unit {
        "" => param.form(),
        unit => format!("{} ({unit})", param.form()),
    };
    let with = param
        .only_with
        .map_or_else(String::new, |(other, values)| format!("{other} = {}", values.join(" or ")));
    let default = help::default_of(param).unwrap_or_default();
    let texts = [values, default, param.range.to_owned(), with, param.depends_on.join(", ")];
    let [values, default, range, with, depends] = texts.map(|text| json!(text));
    [json!(param.name), values, default, range, with, depends, json!(param.help)]
}

/// The page docs/parameters.md: protocols with the same parameters share a table.
fn reference() -> String {
    let params = flags::shared().iter().map(|shared| shared.param);
    let unattended = params.filter(|param| !param.unattended.is_empty()).map(|param| {
        format!("`{}` is {} by default in `run` and `check`", param.name, param.unattended)
    });
    let mut page = format!(
        "# Parameters\n\nWritten by `bellwether protocols --params --format markdown`. Each name \
         is a flag (`--name`), a key of `[params]` in files, and, with `_` for `-`, a key of \
         `params` in results. `bellwether run` calls `--listen` `--listen-for`, `--join` \
         `--join-by` and `--multicast` `--multicast-within`, because its `--listen`, `--join` and \
         `--multicast` are addresses; {}.\n",
        unattended.collect::<Vec<_>>().join("; ")
    );
    let names = |entry: &'static Entry| -> Vec<&Param> { entry.own_params().collect() };
    let mut tables: Vec<(Vec<&Param>, Vec<&str>)> = Vec::new();
    for entry in PROTOCOLS {
        let own = names(entry);
        match tables.iter_mut().find(|(known, _)| *known == own) {
            Some((_, owners)) => owners.push(entry.name),
            None => tables.push((own, vec![entry.name])),
        }
    }
    for (params, owners) in tables {
        page += &format!("\n## {}\n\n", owners.join(", "));
        let columns =
            ["parameter", "values", "default", "rule", "only with", "depends on", "what it is for"];
        page += &(Rows::of(columns, params.into_iter().map(cells)).to_markdown() + "\n");
    }
    page.trim_end().to_owned()
}

/// Reads the name of a protocol, and offers all names to shells.
#[derive(Clone, Copy, Debug)]
pub(in crate::cli) struct Named;

impl Named {
    /// The same, where a scenario file will do.
    pub(in crate::cli) fn or_file() -> NamedOrFile {
        NamedOrFile
    }
}

/// Reads the name of a protocol or of a scenario file.
#[derive(Clone, Copy, Debug)]
pub(in crate::cli) struct NamedOrFile;

fn names() -> Box<dyn Iterator<Item = PossibleValue>> {
    let name = |entry: &'static Entry| PossibleValue::new(entry.name).help(entry.summary);
    Box::new(PROTOCOLS.iter().map(name))
}

impl TypedValueParser for Named {
    type Value = &'static Entry;

    fn parse_ref(
        &self,
        command: &Command,
        flag: Option<&Arg>,
        value: &OsStr,
    ) -> Result<Self::Value, clap::Error> {
        let name = value.to_string_lossy();
        parse(&name).map_err(|why| refused(command, flag, &name, &why))
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(names())
    }
}

impl TypedValueParser for NamedOrFile {
    type Value = ProtocolOrFile;

    fn parse_ref(
        &self,
        command: &Command,
        flag: Option<&Arg>,
        value: &OsStr,
    ) -> Result<Self::Value, clap::Error> {
        let (path, name) = (Path::new(value), value.to_string_lossy());
        let scenario = path.extension().is_some_and(|end| end == "toml") || path.is_file();
        match parse(&name) {
            Ok(entry) => Ok(ProtocolOrFile::Protocol(entry)),
            Err(_) if scenario => Ok(ProtocolOrFile::File(PathBuf::from(value))),
            Err(why) => Err(refused(command, flag, &name, &why)),
        }
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(names())
    }
}

/// The error that clap would make of a value that does not parse.
fn refused(command: &Command, flag: Option<&Arg>, name: &str, why: &str) -> clap::Error {
    let flag = flag.map_or_else(|| "<PROTOCOL>".to_owned(), ToString::to_string);
    let line = format!("invalid value '{name}' for '{flag}': {why}\n");
    clap::Error::raw(ErrorKind::ValueValidation, line).with_cmd(command)
}

/// The protocol with this name, or an error that names the nearest one.
fn parse(name: &str) -> Result<&'static Entry, String> {
    if let Some(entry) = find(name) {
        return Ok(entry);
    }
    let likeness = |entry: &&Entry| strsim::jaro_winkler(name, entry.name);
    let nearest = PROTOCOLS.iter().max_by(|a, b| likeness(a).total_cmp(&likeness(b)));
    let hint = match nearest {
        Some(entry) if likeness(&entry) > 0.6 => format!("did you mean '{}'? ", entry.name),
        _ => String::new(),
    };
    Err(format!("no protocol has that name; {hint}`bellwether protocols` lists them"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reference_page_is_what_the_tables_say() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/parameters.md");
        let page = std::fs::read_to_string(path).unwrap();
        let again = "bellwether protocols --params --format markdown > docs/parameters.md";
        assert_eq!(page, reference() + "\n", "write it again: {again}");
    }
}
