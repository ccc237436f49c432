//! `bellwether protocols`: what there is, and what each promises.

use super::Done;
use super::output::{Format, csv, table};
use bellwether::protocols::choice::{Entry, PROTOCOLS};
use clap::Args;
use serde_json::json;
use std::io::{self, Write};

/// List the protocols and what they promise
#[derive(Args, Debug)]
pub(super) struct Protocols {
    /// How to write the list
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

const HEADER: [&str; 4] = ["protocol", "promise", "what it does", "source"];

impl Protocols {
    pub(super) fn run(&self) -> Done {
        let cells = |entry: &Entry| {
            [entry.name, &entry.promise.to_string(), entry.summary, entry.source]
                .map(str::to_owned)
                .to_vec()
        };
        let rows: Vec<_> = PROTOCOLS.iter().map(cells).collect();
        let text = match self.format {
            Format::Table => table(&HEADER, &rows),
            Format::Csv => csv(&["protocol", "promise", "summary", "source"], &rows),
            Format::Json => {
                let object = |entry: &Entry| {
                    json!({
                        "protocol": entry.name,
                        "promise": entry.promise.to_string(),
                        "summary": entry.summary,
                        "source": entry.source,
                    })
                };
                serde_json::Value::Array(PROTOCOLS.iter().map(object).collect()).to_string()
            }
        };
        writeln!(io::stdout(), "{text}")?;
        Ok(())
    }
}

/// The protocol with this name, or what the name might have meant.
pub(super) fn parse(name: &str) -> Result<&'static Entry, String> {
    if let Some(entry) = bellwether::protocols::choice::find(name) {
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
