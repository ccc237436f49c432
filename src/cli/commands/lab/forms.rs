//! What a page makes its forms of: every protocol with its promise and its flags, and what can be
//! measured.

use crate::cli::ask::{Caller, Offered, offered_by};
use crate::cli::command_about;
use bellwether::core::Duration;
use bellwether::lab::NODES_MAX;
use bellwether::protocols::choice::{Choice, Entry, PROTOCOLS, Promise};
use bellwether::protocols::param::GivenParams;
use bellwether::protocols::simulated::Layout;
use bellwether::protocols::surroundings::Surroundings;
use bellwether::sim::Measure;
use bellwether::sim::diagram::known_kinds;
use serde_json::{Value, json};

/// How many processes a stage has where the usual group has no room on it.
pub(super) const FEWER: u32 = 12;

/// All protocols, and all that can be measured.
pub(super) fn protocols() -> Value {
    json!({
        "protocols": PROTOCOLS.iter().map(protocol).collect::<Vec<_>>(),
        "measures": Measure::ALL.iter().map(measure).collect::<Vec<_>>(),
        "looks": looks(),
        "promises": Promise::ALL.iter().map(promise).collect::<Vec<_>>(),
    })
}

/// The colour and the shape of each kind of message, as the still diagrams have them.
fn looks() -> Value {
    let look = |(kind, colour, shape): (&str, usize, usize)| (kind.into(), json!([colour, shape]));
    Value::Object(known_kinds().map(look).collect())
}

/// A promise by the name that flags have, and in words.
fn promise(promise: &Promise) -> Value {
    json!({ "name": promise.name(), "text": promise.to_string() })
}

fn measure(measure: &Measure) -> Value {
    json!({ "name": measure.name(), "help": measure.about() })
}

fn protocol(entry: &'static Entry) -> Value {
    let calm = Surroundings::calm(5, Duration::from_millis(100));
    let config = entry.config(&calm, &GivenParams::default()).ok();
    let choice = config.and_then(|config| Choice::try_from(config).ok());
    let choice = choice.as_ref();
    let layout = choice.and_then(|choice| choice.layout()).map(|layout| match layout {
        Layout::Ring { .. } => "ring",
        Layout::Graph => "graph",
    });
    let usual = entry.family.usual();
    let shown = Some(usual.nodes_shown).filter(|nodes| *nodes <= NODES_MAX).unwrap_or(FEWER);
    let mut described = json!({
        "name": entry.name,
        "summary": entry.summary,
        "source": entry.source,
        "promise": entry.promise().to_string(),
        "on_demand": choice.is_some_and(|choice| choice.profile().on_demand),
        "leases": entry.family.has_leases(),
        "rounds": choice.is_some_and(|choice| choice.rounds().is_some()),
        "layout": layout,
        "nodes": {
            "stage": shown,
            "measure": usual.nodes,
            "most": NODES_MAX,
        },
    });
    let command = command_about(std::slice::from_ref(entry));
    for (name, key) in [("trace", "stage"), ("sim", "measure"), ("check", "check")] {
        let offered =
            command.find_subcommand(name).map(|it| offered_by(it, Caller::Page, name, Some(entry)));
        let mut flags: Vec<Offered> = offered.unwrap_or_default();
        for flag in flags.iter_mut().filter(|flag| key == "stage" && flag.name == "nodes") {
            flag.default = Some(shown.to_string());
        }
        described[key] = json!(flags);
    }
    described
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_protocol_is_described_with_its_parameters_and_no_file_can_be_named() {
        let told = protocols();
        let all = told["protocols"].as_array().unwrap();
        assert_eq!(all.len(), PROTOCOLS.len());
        for (entry, told) in PROTOCOLS.iter().zip(all) {
            for command in ["stage", "measure", "check"] {
                let flags = told[command].as_array().unwrap();
                let names: Vec<&str> =
                    flags.iter().map(|flag| flag["name"].as_str().unwrap()).collect();
                for param in entry.own_params() {
                    let found = flags.iter().find(|flag| flag["name"] == param.name).unwrap();
                    assert_eq!(
                        (&found["parameter"], &found["help"]),
                        (&json!(true), &json!(param.help))
                    );
                }
                assert!(names.contains(&"nodes") && names.contains(&"seed"), "{names:?}");
                for file in ["svg", "from", "samples", "trace", "out", "format", "explore"] {
                    assert!(!names.contains(&file), "{command} of {}: {file}", entry.name);
                }
            }
        }
    }
}
