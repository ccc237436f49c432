//! What a page makes its forms of: every protocol with its promise and its flags, and what can be
//! measured.

use super::answers;
use crate::cli::ask::{Caller, Offered, offered_by};
use crate::cli::command_about;
use bellwether::core::Duration;
use bellwether::lab::NODES_MAX;
use bellwether::protocols::choice::{Choice, Entry, PROTOCOLS, Promise};
use bellwether::protocols::param::{GivenParams, Kind, Param};
use bellwether::protocols::simulated::Layout;
use bellwether::protocols::surroundings::Surroundings;
use bellwether::sim::Measure;
use bellwether::sim::diagram::known_kinds;
use serde_json::{Map, Value, json};

/// How many processes a stage has where the usual group has no room on it.
pub(super) const FEWER: u32 = 12;

/// A slider of a length of time that never passes has this many delays, or announcements, in its
/// middle.
const SOME: f64 = 10.0;

/// All protocols, and all that can be measured. Protocols share most of their flags: each of those
/// is there once, under `flags`, and protocols have their numbers.
pub(super) fn protocols() -> Value {
    let mut flags = Vec::new();
    json!({
        "protocols": PROTOCOLS.iter().map(|entry| protocol(entry, &mut flags)).collect::<Vec<_>>(),
        "flags": flags,
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

fn protocol(entry: &'static Entry, known: &mut Vec<Value>) -> Value {
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
        "usual": usual_values(entry),
    });
    let command = command_about(std::slice::from_ref(entry));
    for (name, key) in [("trace", "stage"), ("sim", "measure"), ("check", "check")] {
        let offered =
            command.find_subcommand(name).map(|it| offered_by(it, Caller::Page, name, Some(entry)));
        let mut flags: Vec<Offered> = offered.unwrap_or_default();
        for flag in flags.iter_mut().filter(|flag| key == "stage" && flag.name == "nodes") {
            flag.default = Some(shown.to_string());
        }
        let numbers = flags.iter().map(|flag| number_of(json!(flag), known));
        described[key] = json!(numbers.collect::<Vec<_>>());
    }
    described
}

/// The number of this flag among those that are known; it is known afterwards.
fn number_of(flag: Value, known: &mut Vec<Value>) -> usize {
    known.iter().position(|one| *one == flag).unwrap_or_else(|| {
        known.push(flag);
        known.len() - 1
    })
}

/// What the lengths of time and the counts of a protocol are in a simulation that nothing is said
/// about: in seconds, null if that is never, and beside it what a slider has in its middle.
fn usual_values(entry: &'static Entry) -> Map<String, Value> {
    let Ok((config, experiment)) = answers::usual(entry) else { return Map::new() };
    let values: Map<String, Value> = config.to_map().into_iter().collect();
    let above_zero = |value: Option<f64>| value.filter(|value| *value > 0.0);
    let delay = experiment.network.constant_delay().map(Duration::as_secs_f64);
    let delay = above_zero(delay).unwrap_or(0.1);
    let announce = above_zero(values.get("announce").and_then(Value::as_f64));
    let middle = |param: &Param| {
        let value = values.get(&param.key()).and_then(Value::as_f64);
        match (param.kind, value) {
            (Kind::Length, None) => Some((value, SOME * announce.unwrap_or(delay))),
            (Kind::Length, Some(seconds)) => {
                Some((value, if seconds > 0.0 { seconds } else { delay }))
            }
            (Kind::Count, Some(count)) if count >= 1.0 => Some((value, count)),
            _ => None,
        }
    };
    let told = |param: &'static Param| Some((param.name.to_owned(), json!(middle(param)?)));
    entry.own_params().filter_map(told).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_protocol_is_described_with_its_parameters_and_no_file_can_be_named() {
        let told = protocols();
        let (all, known) = (told["protocols"].as_array().unwrap(), &told["flags"]);
        assert_eq!(all.len(), PROTOCOLS.len());
        for (entry, told) in PROTOCOLS.iter().zip(all) {
            for command in ["stage", "measure", "check"] {
                let numbers = told[command].as_array().unwrap().iter();
                let flags: Vec<&Value> =
                    numbers.map(|number| &known[number.as_u64().unwrap() as usize]).collect();
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

    /// What a page says that is also called like a parameter or a protocol: facts, layouts, kinds
    /// of values, and names of what it draws.
    const OTHERS: [(&str, &str); 7] = [
        ("bench.js", "announce"),
        ("form.js", "choice"),
        ("lanes.js", "bound"),
        ("machine.js", "bound"),
        ("palette.js", "k"),
        ("places.js", "ring"),
        ("scene.js", "ring"),
    ];

    #[test]
    fn no_script_of_the_page_names_a_protocol_or_a_parameter() {
        let params = PROTOCOLS.iter().flat_map(Entry::own_params).map(|param| param.name);
        let names: Vec<&str> = PROTOCOLS.iter().map(|entry| entry.name).chain(params).collect();
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/crates/lab/page");
        let (mut found, mut scripts) = (BTreeSet::new(), 0);
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let file = path.file_name().unwrap().to_str().unwrap().to_owned();
            if !file.ends_with(".js") {
                continue;
            }
            scripts += 1;
            let text = std::fs::read_to_string(&path).unwrap();
            let named = names.iter().filter(|name| text.contains(&format!("\"{name}\"")));
            found.extend(named.map(|name| (file.clone(), (*name).to_owned())));
        }
        let known = OTHERS.map(|(file, name)| (file.to_owned(), name.to_owned()));
        assert!(scripts > 30, "{scripts}");
        assert_eq!(found, BTreeSet::from(known));
    }

    #[test]
    fn what_one_changes_first_has_its_place_and_a_default_that_follows_is_named() {
        let told = protocols();
        let all = told["protocols"].as_array().unwrap();
        let of = |protocol: &str, name: &str| {
            let numbers = all.iter().find(|it| it["name"] == protocol).unwrap()["measure"].clone();
            let numbers: Vec<usize> = serde_json::from_value(numbers).unwrap();
            let mut flags = numbers.iter().map(|number| &told["flags"][*number]);
            flags.find(|flag| flag["name"] == name).unwrap().clone()
        };
        for (place, name) in ["nodes", "seed", "loss", "delay"].iter().enumerate() {
            assert_eq!(of("le-s", name)["first"], place, "{name}");
        }
        let mode = of("local-leader", "mode");
        assert_eq!((&mode["first"], &mode["usually"]), (&json!(6), &json!("majority")));
        let tokens = of("local-leader", "tokens");
        assert_eq!((&tokens["first"], &tokens["usually"]), (&Value::Null, &json!("durable")));
        let timer = of("le-s", "timer");
        assert_eq!((&timer["default"], &timer["usually"]), (&json!("uniform"), &Value::Null));
    }

    #[test]
    fn every_timer_of_every_protocol_has_a_place_on_a_slider() {
        for entry in PROTOCOLS {
            let usual = usual_values(entry);
            for param in entry.own_params().filter(|param| param.kind == Kind::Length) {
                let middle = usual.get(param.name).and_then(|told| told[1].as_f64());
                assert!(middle.is_some_and(|middle| middle > 0.0), "{} {}", entry.name, param.name);
            }
        }
        let of = |name: &str, param: &str| {
            let entry = PROTOCOLS.iter().find(|entry| entry.name == name).unwrap();
            usual_values(entry)[param].clone()
        };
        // What is a word in the help: "the preset's", "10 delays", "infinite", and one of K.
        assert_eq!(of("local-leader", "lock"), json!([0.15, 0.15]));
        assert_eq!(of("bully", "reply"), json!([1.0, 1.0]));
        assert_eq!(of("le-s", "listen"), json!([null, 10.0]));
        assert_eq!(of("le-s", "jitter"), json!([0.0, 0.1]));
        assert_eq!(of("probabilistic", "k"), json!([7.0, 7.0]));
    }
}
