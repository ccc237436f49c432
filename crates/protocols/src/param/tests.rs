//! Every table against the configuration that it describes.

use super::*;
use crate::choice::{Choice, Config, Entry, PROTOCOLS};
use alloc::collections::BTreeMap;
use alloc::format;

const DELAY: Duration = Duration::from_millis(100);

fn calm() -> Surroundings {
    Surroundings::calm(5, DELAY)
}

fn unsteady() -> Surroundings {
    Surroundings { unsteady: true, unattended: true, ..calm() }
}

/// The configuration of a row with these parameters, in these surroundings.
fn made(name: &str, around: &Surroundings, pairs: &[(&str, &str)]) -> Result<Config, BadParam> {
    let entry = crate::choice::find(name).expect("a protocol");
    entry.config(around, &entry.given(pairs.iter().copied())?)
}

fn value_of(config: &Config, name: &str) -> Value {
    let key = name.replace('-', "_");
    let found = config.to_map().into_iter().find(|(known, _)| *known == key);
    found.map_or(Value::Null, |(_, value)| value)
}

/// The keys of an object of plain values, in the order in which they are written.
fn keys(json: &str) -> Vec<&str> {
    let ends = json.match_indices("\":").map(|(end, _)| end);
    ends.map(|end| &json[json[..end].rfind('"').map_or(0, |start| start + 1)..end]).collect()
}

#[test]
fn a_table_names_the_fields_of_its_configuration_in_their_order() {
    for entry in PROTOCOLS {
        let own: Vec<&str> = entry.own_params().map(|param| param.name).collect();
        assert_eq!(own, keys(&entry.default_config().to_json()), "{}", entry.name);
        let names: Vec<&str> = entry.params().iter().map(|param| param.name).collect();
        let shown: Vec<String> = entry.params().iter().map(Param::key).collect();
        let map = entry.default_config().to_map();
        assert_eq!(map.into_iter().map(|(key, _)| key).collect::<Vec<_>>(), shown);
        for param in entry.params() {
            let others = param.depends_on.iter().copied();
            for other in others.chain(param.only_with.map(|(other, _)| other)) {
                assert!(names.contains(&other), "{}: {other}", param.name);
            }
            assert!(!param.help.is_empty() && !param.help.ends_with('.'), "{}", param.name);
        }
    }
}

#[test]
fn a_default_that_is_a_value_is_the_value_of_the_default_configuration() {
    for entry in PROTOCOLS {
        let config = entry.default_config();
        for param in entry.params() {
            if let Fallback::Is(text) = param.default {
                assert_eq!(config.with(param.name, text).as_ref(), Ok(&config), "{}", param.name);
            }
        }
    }
}

#[test]
fn a_table_lists_the_names_that_are_read_and_no_others() {
    for entry in PROTOCOLS {
        for param in entry.own_params() {
            let Kind::OneOf(choices) = param.kind else { continue };
            for (name, help) in choices {
                let config = entry.default_config().with(param.name, name).unwrap();
                assert_eq!(value_of(&config, param.name), *name);
                assert!(help.ends_with('.') && !help.starts_with(' '), "{help}");
            }
            let text = format!(r#"{{"{}":"nonsense"}}"#, param.name);
            let refused = Config::from_json(entry.name, &text).unwrap_err().to_string();
            let listed: Vec<&str> = refused.split('`').skip(3).step_by(2).collect();
            let names: Vec<&str> = choices.iter().map(|(name, _)| *name).collect();
            assert_eq!(listed, names, "{refused}");
        }
    }
}

/// What has an effect in as many protocols as possible.
fn base(entry: &Entry, param: &Param) -> Config {
    let mut config = entry.config(&unsteady(), &GivenParams::default()).unwrap();
    let mut put = |name, text| {
        if find(entry.params(), name).is_ok() {
            config = config.with(name, text).unwrap();
        }
    };
    put("listen", "3s");
    match param.only_with {
        Some(("mapping", _)) => {
            put("mapping", "standing");
            put("best", "9");
        }
        Some((other, values)) => put(other, values[0]),
        None => {}
    }
    config
}

/// Values just outside of a range such as `0 < aging < listen`.
fn outside(param: &Param, config: &Config) -> Vec<String> {
    let words: Vec<&str> = param.range.split(' ').collect();
    let Some(at) = words.iter().position(|word| *word == param.name) else {
        assert_eq!(param.range, "", "{} is not in its range", param.name);
        return Vec::new();
    };
    let number = |word: &str| match value_of(config, word) {
        _ if word == "infinite" => None,
        Value::Null => word.trim_end_matches('s').parse().ok(),
        value => value.as_f64(),
    };
    let text = |number: Option<f64>| match (number, param.kind) {
        (Some(number), Kind::Length) => format!("{number}s"),
        (Some(number), _) => number.to_string(),
        (None, Kind::Length) => "infinite".to_owned(),
        (None, _) => "0".to_owned(),
    };
    let mut found = Vec::new();
    if let [.., bound, order] = &words[..at] {
        let step = if *order == "<=" { 1.0 } else { 0.0 };
        found.push(text(number(bound).map(|number| number - step)));
    }
    if let [order, bound, ..] = &words[at + 1..] {
        let step = if *order == "<=" { 1.0 } else { 0.0 };
        found.push(text(number(bound).map(|number| number + step)));
    }
    found
}

#[test]
fn what_is_outside_of_a_range_is_refused_by_name() {
    let mut refused: BTreeMap<String, bool> = BTreeMap::new();
    for entry in PROTOCOLS {
        let table: Vec<&str> = entry.params().iter().map(|param| param.name).collect();
        for param in entry.own_params() {
            let config = base(entry, param);
            assert!(Choice::try_from(config.clone()).is_ok(), "{}: {config:?}", entry.name);
            for text in outside(param, &config) {
                let tried = config.with(param.name, &text).unwrap();
                let result = Choice::try_from(tried);
                if let Err(error) = &result {
                    let flags = error.explain(&|name| format!("--{name}"));
                    let flag = format!("--{}", param.name);
                    assert!(flags.contains(&flag), "{} = {text}: {flags}", param.name);
                }
                // Some protocols of a family have no use for a parameter of the others.
                let key = format!("{} = {text} of {}", param.name, table.join(" "));
                *refused.entry(key).or_default() |= result.is_err();
            }
        }
    }
    let accepted: Vec<&String> =
        refused.iter().filter(|(_, refused)| !**refused).map(|(key, _)| key).collect();
    assert!(accepted.is_empty(), "{accepted:#?}");
    assert!(refused.len() > 60, "only {} values were tried", refused.len());
}

#[test]
fn what_has_no_effect_is_refused_with_both_names() {
    for (protocol, pair, needs) in [
        ("le-s", ("timer-rate", "3"), "timer = uniform"),
        ("le-s", ("jitter", "1s"), "mapping = random"),
        ("le-s", ("best", "3"), "mapping = random"),
        ("le-s", ("worst", "3"), "mapping = random"),
        ("bully", ("beat", "1s"), "detector = told"),
        ("ring", ("suspect", "1s"), "detector = told"),
        ("merea", ("resend", "1s"), "detector = told"),
        ("ad-hoc", ("tries", "3"), "detector = told"),
    ] {
        let error = made(protocol, &calm(), &[pair]).unwrap_err();
        let text = error.to_string();
        assert!(matches!(error, BadParam::NoEffect(_)), "{text}");
        assert!(text.starts_with(pair.0) && text.contains(needs), "{text}");
        let json = format!(r#"{{"{}":"{}"}}"#, pair.0, pair.1);
        let json =
            if pair.1.ends_with('s') { json } else { json.replace(":\"", ":").replace("\"}", "}") };
        let error = Choice::from_json(protocol, &json).unwrap_err().to_string();
        assert_eq!(error, text, "a file is refused alike");
    }
}

#[test]
fn what_is_unknown_or_of_the_wrong_form_is_refused_by_name() {
    for (protocol, name, text, words) in [
        ("le-s", "silence", "1s", "no parameter is called 'silence'; there are suppress, announce"),
        ("le-s", "listen", "soon", "listen = 'soon', but listen must be: a length of time"),
        ("le-s", "leaders", "-1", "leaders = '-1', but leaders must be: a whole number"),
        ("le-s", "timer-rate", "NaN", "timer-rate = 'NaN'"),
        ("le-s", "timer", "flat", "timer must be: uniform, exponential, exponential-falling"),
        ("le-s", "bye", "yes", "bye must be: true or false"),
        ("bully", "tries", "5000000000", "tries = '5000000000', but tries must be: invalid value"),
        ("probabilistic", "strategy", "7,many", "'many' is no K"),
        ("probabilistic", "size", "half", "'half' is no size"),
    ] {
        let error = made(protocol, &calm(), &[(name, text)]).unwrap_err().to_string();
        assert!(error.contains(words), "{error}");
    }
}

#[test]
fn what_follows_follows_what_was_given() {
    let seconds = |protocol, around: &Surroundings, pairs: &[(&str, &str)], name| {
        value_of(&made(protocol, around, pairs).unwrap(), name).as_f64()
    };
    let spread = [("reply-spread", "1s")];
    assert_eq!(seconds("query", &calm(), &[], "patience"), Some(0.200_000_001));
    assert_eq!(seconds("suppress-query", &calm(), &[], "patience"), Some(0.300_000_001));
    assert_eq!(seconds("query", &calm(), &spread, "patience"), Some(1.200_000_001));
    assert_eq!(seconds("bully", &calm(), &[("reply", "2s")], "wait"), Some(6.0));
    assert_eq!(seconds("bully", &calm(), &[], "call-after"), None);
    let heartbeats = [("detector", "heartbeats")];
    assert_eq!(seconds("bully", &calm(), &heartbeats, "call-after"), Some(6.0));
    assert_eq!(seconds("bully", &calm(), &heartbeats, "beat"), Some(1.0));
    let (detects, told) = (unsteady(), [("detector", "told")]);
    assert_eq!(seconds("ad-hoc", &detects, &[], "leader-beat"), Some(6.0));
    assert_eq!(seconds("ad-hoc", &detects, &told, "leader-beat"), Some(2.0));
    assert_eq!(seconds("bully", &calm(), &[("patience", "7s")], "call-after"), Some(7.0));
    assert_eq!(seconds("probabilistic", &unsteady(), &[("bound", "1s")], "silence"), Some(17.5));
    assert_eq!(seconds("probabilistic", &calm(), &[("bound", "1s")], "unicast"), Some(1.0));
    let standing = [("mapping", "standing")];
    assert_eq!(seconds("le-s", &calm(), &standing, "best"), Some(4.0));
    let lossy = Surroundings { loss: 0.2, ..calm() };
    assert_eq!(seconds("le-s", &lossy, &[("bye", "true")], "bye-copies"), Some(2.0));
    assert_eq!(seconds("le-s", &lossy, &[("bye-from-all", "true")], "bye-copies"), Some(1.0));
}

#[test]
fn what_does_not_fit_the_surroundings_is_refused_by_name() {
    let copies = Surroundings { copies: true, ..unsteady() };
    let deaf = Surroundings { loss: 1.0, ..unsteady() };
    for (protocol, around, pairs, words) in [
        ("ring", &calm(), &[("retry", "10ms")][..], "retry = 0.01s, but a message takes 0.1s"),
        ("ring", &copies, &[("detector", "told")], "detector = told, but messages arrive twice"),
        ("le-s", &deaf, &[("bye", "true")], "bye = true, but loss = 1"),
        ("le-s", &calm(), &[("bye", "true"), ("bye-copies", "9")], "bye-copies is another number"),
        ("probabilistic", &calm(), &[("bound", "50ms")], "bound = 0.05s, but a message takes 0.1s"),
    ] {
        let error = made(protocol, around, pairs).unwrap_err().to_string();
        assert!(error.contains(words), "{error}");
    }
    let moving = Surroundings { moving: true, ..copies };
    assert!(made("ad-hoc", &moving, &[]).is_ok(), "those who move are told by default");
}

#[test]
fn only_members_that_are_listed_need_a_majority() {
    let open = Surroundings { listed: false, ..calm() };
    let mode = |around: &Surroundings, pairs: &[(&str, &str)]| {
        value_of(&made("local-leader", around, pairs).unwrap(), "mode")
    };
    assert_eq!((mode(&calm(), &[]), mode(&open, &[])), ("majority".into(), "local".into()));
    assert_eq!(mode(&open, &[("mode", "majority")]), "majority");
}

#[test]
fn arguments_are_what_differs_and_lead_to_the_same() {
    for entry in PROTOCOLS {
        let usual = entry.config(&calm(), &GivenParams::default()).unwrap();
        assert_eq!(usual.arguments(&usual), [], "{}", entry.name);
        let mut changed = usual.clone();
        for param in entry.params() {
            let text = match param.kind {
                Kind::Length => "1.25s",
                Kind::Count => "3",
                Kind::Number => "2.5",
                Kind::Switch => "true",
                Kind::OneOf(choices) => choices.last().map_or("", |(name, _)| name),
                Kind::Text(_) if param.name == "size" => "view",
                Kind::Text(_) => "7,20,all",
            };
            changed = changed.with(param.name, text).unwrap();
        }
        let arguments = changed.arguments(&usual);
        assert!(arguments.len() + 2 >= entry.params().len(), "{arguments:?}");
        let again = arguments
            .iter()
            .fold(usual.clone(), |config, (name, text)| config.with(name, text).unwrap());
        assert_eq!(again, changed);
    }
}

#[test]
fn results_show_lengths_in_seconds_and_infinite_ones_as_nothing() {
    let config = made("le-m", &calm(), &[("timer", "exponential"), ("suppress", "250ms")]).unwrap();
    let shown = |name| value_of(&config, name);
    assert_eq!((shown("suppress"), shown("listen")), (Value::from(0.25), Value::Null));
    assert_eq!((shown("timer"), shown("timer-rate")), ("exponential".into(), Value::from(10.0)));
    assert_eq!((shown("criterion"), shown("leaders")), ("earliest-wake-up".into(), 1.into()));
    assert_eq!((shown("aging"), shown("bye")), (Value::Null, false.into()));
    assert_eq!(shown("patience"), Value::Null, "only those that ask have it");
    let leases = made("local-leader", &calm(), &[("preset", "wan")]).unwrap();
    assert_eq!(value_of(&leases, "lock"), Value::from(0.9), "the preset's");
}

/// The parameters of `le-s` as an earlier release recorded them.
const EARLIER: &str = r#"{"suppress":"1s","announce":"1s","listen":"3s","aging":null,
"timer":"uniform","timer-rate":null,"patience":"0.300000001s","reply-spread":"0.1s",
"criterion":null,"mapping":"random","jitter":"0s","best":null,"worst":null,"leaders":1,
"bye":false,"bye-copies":0,"bye-from-all":false,"as-printed":false}"#;

#[test]
fn what_earlier_releases_wrote_of_other_members_is_as_if_it_was_not_there() {
    let mut read = 0;
    for entry in PROTOCOLS.iter().filter(|entry| find(entry.params(), "reply-spread").is_ok()) {
        let config = Config::from_json(entry.name, EARLIER).unwrap();
        let given = |pairs: &[_]| made(entry.name, &unsteady(), pairs).unwrap();
        if !entry.own_params().any(|param| param.name == "patience") {
            let same = given(&[("listen", "3s")]);
            assert_eq!(config, same, "{}", entry.name);
            assert!(Choice::try_from(config).is_ok(), "{}", entry.name);
            read += 1;
        } else {
            let kept = value_of(&config, "patience").as_f64();
            assert_eq!(kept, Some(0.300_000_001), "{}", entry.name);
        }
        // The rules between parameters hold in recordings too.
        let broken = EARLIER.replace(r#""jitter":"0s""#, r#""jitter":"1s""#);
        let refused = Choice::from_json(entry.name, &broken).is_err();
        assert_eq!(refused, entry.own_params().any(|param| param.name == "jitter"));
    }
    assert_eq!(read, 8);
}

#[test]
fn a_program_writes_every_parameter_and_a_person_those_that_matter() {
    let all = made("le-s", &calm(), &[]).unwrap();
    let earlier: Map<String, Value> = serde_json::from_str(EARLIER).unwrap();
    assert!(all.is_spelt_out(&|name| earlier.contains_key(name)));
    let own: Map<String, Value> = serde_json::from_str(&all.to_json()).unwrap();
    assert!(!own.contains_key("patience") && own.contains_key("suppress"));
    assert!(!all.is_spelt_out(&|name| own.contains_key(name)));
    assert!(!all.is_spelt_out(&|name| ["listen", "patience"].contains(&name)));
}
