//! Valid parameters, and the errors of invalid ones.

use super::*;
use crate::choice::Goal;
use crate::on_demand::Inner as _;
use alloc::string::ToString;

#[track_caller]
fn refused(config: Config, words: &[&str]) {
    let error = Params::try_from(config).expect_err("it breaks a rule").to_string();
    assert!(words.iter().all(|word| error.contains(word)), "{error}");
}

#[test]
fn rules_name_the_values_and_the_way_out() {
    let restless = Config::restless;
    refused(Config { call_after: ms(0), ..restless() }, &["call-after = 0s", "try"]);
    refused(Config { timeout: ms(0), ..restless() }, &["timeout = 0s"]);
    refused(Config { retry: ms(0), ..restless() }, &["retry = 0s"]);
    refused(Config { leader_beat: ms(0), ..restless() }, &["leader-beat = 0s"]);
    refused(Config { leader_silence: ms(0), ..restless() }, &["leader-silence = 0s"]);
    refused(
        Config { leader_silence: ms(500), ..restless() },
        &["leader-silence = 0.5s", "leader-beat = 0.5s", "try"],
    );
    refused(Config { leader_beat: Duration::MAX, ..restless() }, &["leader-beat = infinite"]);
    refused(Config { timeout: ms(100), ..restless() }, &["timeout = 0.1s", "retry = 0.1s", "try"]);
}

#[test]
fn what_is_never_done_needs_no_other_rule() {
    for good in [
        Config::default(),
        Config::restless(),
        Config { leader_silence: Duration::MAX, ..Config::restless() },
        Config { timeout: Duration::MAX, ..Config::restless() },
        Config { retry: Duration::MAX, ..Config::restless() },
    ] {
        assert!(Params::try_from(good.clone()).is_ok(), "{good:?}");
    }
}

#[test]
fn what_a_person_writes_is_read_back_and_nothing_else_is_accepted() {
    let config: Config =
        serde_json::from_str(r#"{"leader-beat":"2s","leader-silence":"7s"}"#).unwrap();
    assert_eq!((config.leader_beat, config.leader_silence), (ms(2_000), ms(7_000)));
    assert_eq!(config.call_after, Duration::MAX);
    let written = serde_json::to_string(&Config::restless()).unwrap();
    assert_eq!(serde_json::from_str::<Config>(&written).unwrap(), Config::restless());
    assert!(serde_json::from_str::<Config>(r#"{"beet":"2s"}"#).is_err());
}

#[test]
fn a_simulation_knows_that_somebody_must_call() {
    let params = valid(Config::restless());
    let profile = params.profile();
    assert!(profile.on_demand && profile.goal == Goal::Leaders(1) && profile.leases.is_none());
    assert_eq!((profile.interval, profile.trust), (params.leader_beat(), params.leader_silence()));
    assert_eq!((profile.attempt, params.call_after()), (params.timeout(), ms(1_000)));
}
