//! Invalid parameters, and their errors.

use super::*;
use crate::on_demand::Inner as _;
use alloc::string::ToString;

#[test]
fn what_breaks_a_rule_is_named() {
    let good = Config::default();
    let refused = |config: Config| Params::try_from(config).unwrap_err().to_string();
    let late = refused(Config { wait: good.reply, ..good });
    assert!(late.starts_with("reply = 1s and wait = 1s, but 0 < reply < wait"), "{late}");
    for config in [
        Config { reply: Duration::ZERO, ..good },
        Config { wait: Duration::MAX, ..good },
        Config { call_after: Duration::ZERO, ..good },
    ] {
        assert!(refused(config).contains("must hold; try "), "{config:?}");
    }
}

#[test]
fn what_is_written_is_read() {
    let written = r#"{"reply":"2s","top-answers":"coordinator","recovery":"ask","stamps":true}"#;
    let config: Config = serde_json::from_str(written).unwrap();
    let (top_answers, recovery) = (TopAnswers::Coordinator, Recovery::Ask);
    let reply = Duration::from_secs(2);
    let expected = Config { reply, top_answers, recovery, stamps: true, ..Config::default() };
    assert_eq!(config, expected);
    let again = serde_json::to_string(&config).unwrap();
    assert_eq!(serde_json::from_str::<Config>(&again).unwrap(), config);
    assert!(serde_json::from_str::<Config>(r#"{"replies":"1s"}"#).is_err());
}

#[test]
fn a_simulation_is_told_that_elections_are_called() {
    let profile = Params::try_from(Config::default()).unwrap().profile();
    assert!(profile.on_demand && profile.leases.is_none());
}
