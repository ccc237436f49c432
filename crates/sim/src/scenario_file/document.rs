//! A TOML text with the place of everything in it.

use super::bad::{BadScenario, Place, Problem};
use crate::plan::Key;
use bellwether_protocols::choice::{Config, Family};
use serde::de::DeserializeOwned;
use std::ops::Range;
use toml::Spanned;
use toml::de::{DeTable, DeValue, Deserializer, Error, ValueDeserializer};

/// A parsed TOML text.
pub(super) struct Document<'a> {
    text: &'a str,
    root: Spanned<DeTable<'a>>,
}

impl<'a> Document<'a> {
    pub(super) fn parse(text: &'a str) -> Result<Self, BadScenario> {
        match DeTable::parse(text) {
            Ok(root) => Ok(Self { text, root }),
            Err(error) => {
                let line =
                    |span: Range<usize>| Place { line: line_of(text, span.start), key: None };
                Err(BadScenario { place: error.span().map(line), problem: said(&error) })
            }
        }
    }

    /// Reads the whole text as one value.
    pub(super) fn read<T: DeserializeOwned>(&self) -> Result<T, BadScenario> {
        let reader = Deserializer::from(self.root.clone());
        T::deserialize(reader).map_err(|error| self.misread(&error))
    }

    /// Reads the parameters for this family of protocols; the defaults if there are none.
    ///
    /// A program writes all of them. Earlier releases gave values also to those that the protocol
    /// does not have; they are not held against whoever opens such a file.
    pub(super) fn params(&self, family: Family) -> Result<Config, BadScenario> {
        let none = || Spanned::new(0..0, DeValue::Table(DeTable::new()));
        let params = self.root.get_ref().get("params").cloned().unwrap_or_else(none);
        let keys = params.get_ref().as_table().cloned().unwrap_or_default();
        let read = family.read(ValueDeserializer::from(params));
        let config = read.map_err(|error| self.misread(&error))?;
        let written_by_program = config.is_spelt_out(&|name| keys.contains_key(name));
        Ok(if written_by_program { config.own() } else { config })
    }

    /// An error about the value of this key.
    pub(super) fn refuse(&self, key: impl Into<Key>, problem: Problem) -> BadScenario {
        let root = self.root.get_ref();
        let (start, key) = match key.into() {
            Key::Top(key) => (start_of(root, key).unwrap_or_default(), key.to_owned()),
            Key::Fault(number, key) => {
                let fault = root.get("faults").and_then(|faults| faults.get_ref().get(number));
                let within = fault.and_then(|fault| start_of(fault.get_ref().as_table()?, key));
                let start = within.or(fault.map(|fault| fault.span().start));
                (start.unwrap_or_default(), format!("faults.{key}"))
            }
        };
        let place = Place { line: line_of(self.text, start), key: Some(key) };
        BadScenario { place: Some(place), problem }
    }

    fn misread(&self, error: &Error) -> BadScenario {
        let place = |span: Range<usize>| {
            let mut keys = Vec::new();
            find(self.root.get_ref(), &span, &mut keys);
            let key = (!keys.is_empty()).then(|| keys.join("."));
            Place { line: line_of(self.text, span.start), key }
        };
        // Something missing from the file as a whole has no place.
        let span = error.span().filter(|span| !span.is_empty());
        BadScenario { place: span.map(place), problem: said(error) }
    }
}

/// The message of an error, in one line.
fn said(error: &Error) -> Problem {
    Problem::Form(error.message().lines().collect::<Vec<_>>().join("; "))
}

fn line_of(text: &str, start: usize) -> usize {
    text.bytes().take(start).filter(|byte| *byte == b'\n').count() + 1
}

/// Where a key of this table begins.
fn start_of(table: &DeTable<'_>, wanted: &str) -> Option<usize> {
    let key = table.keys().find(|key| key.get_ref() == wanted)?;
    Some(key.span().start)
}

/// Collects the keys that lead to the innermost entry around this part of the text.
fn find(table: &DeTable<'_>, span: &Range<usize>, keys: &mut Vec<String>) {
    for (key, value) in table {
        if holds(&key.span(), span) {
            keys.push(key.get_ref().to_string());
            return;
        }
        if covers(value, span) {
            keys.push(key.get_ref().to_string());
            return find_in(value.get_ref(), span, keys);
        }
    }
}

fn find_in(value: &DeValue<'_>, span: &Range<usize>, keys: &mut Vec<String>) {
    match value {
        DeValue::Table(table) => find(table, span, keys),
        DeValue::Array(array) => {
            if let Some(item) = array.iter().find(|item| covers(item, span)) {
                find_in(item.get_ref(), span, keys);
            }
        }
        _ => {}
    }
}

/// Whether this part of the text belongs to the value. The span of a table with a header covers
/// only the header; its contents follow.
fn covers(value: &Spanned<DeValue<'_>>, span: &Range<usize>) -> bool {
    let within = match value.get_ref() {
        DeValue::Table(table) => {
            table.iter().any(|(key, value)| holds(&key.span(), span) || covers(value, span))
        }
        DeValue::Array(array) => array.iter().any(|item| covers(item, span)),
        _ => false,
    };
    within || holds(&value.span(), span)
}

fn holds(outer: &Range<usize>, inner: &Range<usize>) -> bool {
    outer.start <= inner.start && inner.end <= outer.end
}
