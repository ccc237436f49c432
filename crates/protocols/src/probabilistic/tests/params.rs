//! Invalid parameters, and their errors.

use super::*;
use crate::answers::Answers as _;
use alloc::string::{String, ToString};

fn refused(config: Config) -> String {
    Params::try_from(config).unwrap_err().to_string()
}

#[test]
fn what_breaks_a_rule_is_named() {
    let said = refused(Config { max_rounds: 65, ..config() });
    assert!(said.starts_with("max-rounds = 65, but 1 <= max-rounds <= 64 must hold"), "{said}");
    let said = refused(Config { strategy: Strategy::List(vec![]), ..config() });
    assert!(said.starts_with("strategy lists 0 values of K and max-rounds = 5"), "{said}");
    let listed = vec![Relays::Count(7), Relays::Count(0)];
    let said = refused(Config { strategy: Strategy::List(listed), ..config() });
    assert!(said.starts_with("K = 0 in round 2"), "{said}");
    let said = refused(Config { unicast: Some(Duration::ZERO), ..config() });
    assert!(said.starts_with("unicast = 0s, but 0 < unicast < infinite must hold"), "{said}");
    let said = refused(Config {
        k: u32::MAX,
        most_relays: u32::MAX,
        unicast: Some(Duration::from_secs(5)),
        ..config()
    });
    assert!(said.contains("the round would last"), "{said}");
    for config in [
        Config { max_rounds: 0, ..config() },
        Config { k: 0, ..config() },
        Config { multicast: Some(Duration::MAX), ..config() },
        Config { compute: Duration::MAX, ..config() },
        Config { gossip: Duration::ZERO, ..config() },
        Config { longest_path: Some(0), ..config() },
        Config { most_relays: 0, ..config() },
        Config { beat: Duration::ZERO, ..restless() },
        Config { beat: Duration::MAX, ..restless() },
        Config { silence: Duration::MAX, ..restless() },
        Config { size: Size::Given(0), ..config() },
        Config { strategy: Strategy::List(vec![Relays::All; 6]), ..config() },
    ] {
        assert!(refused(config.clone()).contains("; "), "{config:?}");
    }
}

fn restless() -> Config {
    Config::restless(Duration::from_millis(100))
}

#[test]
fn a_leader_must_be_heard_before_it_is_given_up() {
    let (beat, silence) = (Duration::from_secs(1), Duration::from_millis(1_200));
    let said = refused(Config { beat, silence, ..config() });
    let rule = "silence = 1.2s, beat = 1s and multicast = 0.2s, but silence > beat + multicast";
    assert!(said.starts_with(rule), "{said}");
    let silence = silence + Duration::from_nanos(1);
    assert!(params(Config { beat, silence, ..config() }).is_in_touch());
    assert!(!params(config()).is_in_touch());
    let said = refused(Config { silence, ..config() });
    assert!(said.starts_with("beat = infinite and silence = 1.200000001s, but both"), "{said}");
}

#[test]
fn a_group_no_larger_than_k_is_certain_to_agree() {
    let certain = |config: Config, nodes| params(config).is_certain(nodes);
    assert!(certain(restless(), 7) && !certain(restless(), 8));
    let size = |size| Config { size, ..restless() };
    assert!(certain(size(Size::View), 7) && certain(size(Size::Given(7)), 7));
    assert!(!certain(size(Size::Given(8)), 7) && !certain(size(Size::Gossip), 2));
    assert!(!certain(Config { most_relays: 6, ..restless() }, 7));
}

#[test]
fn a_restless_group_settles_a_few_rounds_after_it_missed_its_leader() {
    let ms = Duration::from_millis;
    let scales = params(restless()).time_scales(5);
    assert_eq!((scales.lease, scales.timely, scales.scheduling), (ms(3_500), ms(100), ms(25)));
    let (round, steps) = (ms(200 * (1 + 6 + 2 + 1)), ms(400 * 3));
    let settles = (round + steps) * 4 + ms(3_500) + steps;
    assert!(scales.settles > settles && scales.settles < settles + ms(10), "{}", scales.settles);
    let by_id = params(Config { choice: Choice::Lot, ..restless() }).time_scales(5);
    let dead = (ms(3_500) + steps + round) * 5;
    assert!(by_id.settles > settles + dead && by_id.settles < settles + dead + ms(40));
    assert!(params(Config::default()).time_scales(5).lease < ms(4_000), "a round");
}

#[test]
fn what_is_written_is_read() {
    let written = r#"{"k":9,"strategy":"9,20,all","reinitiate":"hash",
        "size":"6000","choice":"rank","woken-by":"preference","join":"always",
        "longest-path":4,"unicast":"20ms"}"#;
    let config: Config = serde_json::from_str(written).unwrap();
    let listed = vec![Relays::Count(9), Relays::Count(20), Relays::All];
    let expected = Config {
        k: 9,
        strategy: Strategy::List(listed),
        reinitiate: Reinitiate::Hash,
        size: Size::Given(6000),
        choice: Choice::Rank,
        woken_by: WokenBy::Preference,
        join: Join::Always,
        longest_path: Some(4),
        unicast: Some(Duration::from_millis(20)),
        ..Config::default()
    };
    assert_eq!(config, expected);
    let again = serde_json::to_string(&config).unwrap();
    assert_eq!(serde_json::from_str::<Config>(&again).unwrap(), config);
    assert!(serde_json::from_str::<Config>(r#"{"kay":"1s"}"#).is_err());
    let said = serde_json::from_str::<Config>(r#"{"strategy":"7,some"}"#).unwrap_err();
    assert!(said.to_string().contains("'some' is no K"), "{said}");
}

#[test]
fn a_strategy_tells_k_for_every_round() {
    let rounds = |config: Config| {
        let all: Vec<String> = params(config).rounds().iter().map(Relays::to_string).collect();
        all.join(" ")
    };
    assert_eq!(rounds(Config::default()), "7 14 28 56 all", "the paper's own");
    assert_eq!(rounds(config()), "7 14 28 56 112");
    assert_eq!(rounds(Config { max_rounds: 1, ..Config::default() }), "7");
    assert_eq!(rounds(Config { strategy: Strategy::Fixed, ..Config::default() }), "7 7 7 7 7");
    let listed = Strategy::List(vec![Relays::Count(3), Relays::Count(30)]);
    assert_eq!(rounds(Config { strategy: listed, ..Config::default() }), "3 30 30 30 30");
    assert_eq!(params(Config::default()).relays(5, 6_000), Some(6_000));
    assert_eq!(params(Config::default()).relays(6, 6_000), None);
    assert_eq!(params(Config::default()).relays(0, 6_000), None);
}

#[test]
fn time_outs_follow_from_k_and_the_delays() {
    let config = Config {
        unicast: Some(Duration::from_millis(10)),
        multicast: Some(Duration::from_millis(30)),
        compute: Duration::from_millis(5),
        ..config()
    };
    let ms = Duration::from_millis;
    let of = params(config.clone());
    assert_eq!(of.printed_time_outs(7), [ms(5 + 110 + 30), ms(110), ms(30)]);
    let TimeOuts { settle, decide } = of.time_outs(7);
    assert_eq!((settle, decide), (ms(5 + 30 + 110), ms(5 + 30 + 110 + 60)));
    let short = params(Config { longest_path: Some(4), ..config });
    assert_eq!(short.printed_time_outs(7)[1], ms(40));
    assert_eq!(short.printed_time_outs(2)[1], ms(30));
}

#[test]
fn a_simulation_is_told_that_elections_are_called() {
    let profile = params(Config::default()).profile();
    assert!(profile.on_demand && !profile.restless && profile.leases.is_none());
    let profile = params(restless()).profile();
    assert!(profile.restless);
    assert_eq!((profile.interval, profile.trust), (UNICAST * 5, Duration::from_millis(3_500)));
}
