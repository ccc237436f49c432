//! From written to valid parameters: every rule, on both sides of its boundary.

use super::*;
use alloc::format;
use alloc::string::ToString;

fn ns(length: u64) -> Duration {
    Duration::from_nanos(length)
}

/// The inequality that a configuration breaks first, with its sides.
fn broken(config: Config) -> Option<(&'static str, Duration, Duration)> {
    match Params::try_from(config) {
        Ok(_) => None,
        Err(BadConfig::Constraint { rule, left, right, .. }) => Some((rule, left, right)),
        Err(other) => panic!("not an inequality: {other}"),
    }
}

#[track_caller]
fn refused(config: Config, message: &str) {
    assert_eq!(Params::try_from(config).unwrap_err().to_string(), message);
}

const RETRIES: &str = "lockTime(1-2ρ)-2ε > P+4Δ(1+ρ), so that two retries are sent in time";

#[test]
fn all_presets_but_the_paper_s_are_valid_in_both_modes() {
    for (preset, failover) in
        [(Preset::Lan, 210), (Preset::Fast, 80), (Preset::Fastest, 58), (Preset::Wan, 1200)]
    {
        for mode in [Mode::Majority, Mode::Local] {
            let params = valid(Config { preset, mode, ..Config::default() });
            assert_eq!((params.mode(), params.drift_ppm()), (mode, 200));
            assert_eq!(params.failover(), ms(failover));
        }
    }
}

#[test]
fn the_paper_s_own_values_break_its_own_rules_and_need_an_override() {
    let config = Config { preset: Preset::Paper, ..Config::default() };
    let rule = "lockTime > (2Δ+σ)(1+3ρ)";
    let right = ns(60_036_000);
    assert_eq!(broken(config.clone()), Some((rule, ns(4_995_000), right)));
    let published = Config { as_published: true, ..config.clone() };
    assert_eq!(broken(published.clone()), Some((rule, ns(34_983_002), right)));
    for config in [config, published] {
        let unchecked = valid(Config { unchecked: true, ..config });
        assert_eq!((unchecked.delta(), unchecked.sigma()), (ms(15), ms(30)));
        assert_eq!((unchecked.period(), unchecked.expires()), (ms(50), ms(230)));
    }
}

#[test]
fn whoever_is_alive_does_not_expire_between_two_requests() {
    let config = |expires| Config { expires: Some(ns(expires)), ..Config::default() };
    assert_eq!(broken(config(201_004_000)), None);
    let (left, right) = (ns(201_003_999), ns(201_004_000));
    let rule = "expires >= EP + 2(1+ρ)(Δ-δmin)";
    assert_eq!(broken(config(201_003_999)), Some((rule, left, right)));
    // Where all messages are about as fast, drift over a period is more.
    let fastest = ns(9_999_000);
    let config = |expires| Config { fastest, ..config(expires) };
    let next = broken(config(181_073_409)).map(|(rule, ..)| rule);
    assert_eq!(next, Some(TIMELY), "which leaves nothing that is certain to be fast");
    let rule = "expires > (1+ρ)(EP(1+ρ)+Δ-δmin)";
    let side = ns(181_073_408);
    assert_eq!(broken(config(181_073_408)), Some((rule, side, side)));
}

const TIMELY: &str = "(Δ+δmin-4ρ(refresh+EP)-2ε)/2 > δmin, or no message is certain to be fast";

#[test]
fn some_delay_is_certain_to_count_as_fast() {
    // 10 ms = 4ρ(refresh+EP)+2ε: stamps that are older say nothing.
    let config = |refresh| Config { refresh: Some(refresh), ..Config::default() };
    let too_long = ns(12_068_800_000);
    assert_eq!(broken(config(too_long)), Some((TIMELY, Duration::ZERO, Duration::ZERO)));
    assert_eq!(broken(config(too_long.saturating_sub(ms(1)))), None);
}

#[test]
fn a_lock_is_longer_than_a_round_trip() {
    let config = |lock| Config { lock: Some(ns(lock)), ..Config::default() };
    let side = ns(40_024_000);
    let rule = "lockTime > (2Δ+σ)(1+3ρ)";
    assert_eq!(broken(config(40_024_000)), Some((rule, side, side)));
    let next = broken(config(40_024_001)).map(|(rule, ..)| rule);
    assert_eq!(next, Some("lockTime(1-2ρ)-2ε > 2Δ(1+ρ)+σ"));
}

#[test]
fn a_lock_lapses_between_two_requests() {
    let config = |lock| Config { lock: Some(ns(lock)), ..Config::default() };
    assert_eq!(broken(config(150_937_606)), None);
    let rule = "lockTime <= (1-ρ)[(EP-σ)(1-ρ)-Δ+δmin]";
    let (left, right) = (ns(150_937_607), ns(150_937_606));
    assert_eq!(broken(config(150_937_607)), Some((rule, left, right)));
    let fastest = ms(1);
    let faster = Config { fastest, ..config(151_937_406) };
    assert_eq!(broken(faster.clone()), None);
    let faster = Config { lock: Some(ns(151_937_407)), ..faster };
    assert_eq!(broken(faster), Some((rule, ns(151_937_407), ns(151_937_406))));
}

#[test]
fn as_published_a_lock_need_not_leave_room_for_scheduling() {
    let config = Config { as_published: true, ..Config::default() };
    assert_eq!(valid(config.clone()).lock(), ns(170_929_607), "by the printed formula");
    assert_eq!(broken(Config { lock: Some(ns(170_929_607)), ..config.clone() }), None);
    let rule = "lockTime <= (1-ρ)[EP(1-ρ)-Δ+δmin]";
    let (left, right) = (ns(170_929_608), ns(170_929_607));
    let config = Config { lock: Some(left), ..config };
    assert_eq!(broken(config), Some((rule, left, right)));
}

#[test]
fn a_lease_does_not_end_before_it_can_be_had() {
    // With σ = 0 and much drift this is more than the rule before it.
    let config = |lock| Config {
        lock: Some(ns(lock)),
        drift_ppm: Some(10_000),
        sigma: Some(Duration::ZERO),
        ..Config::default()
    };
    let side = ns(20_200_000);
    let rule = "lockTime(1-2ρ)-2ε > 2Δ(1+ρ)+σ";
    assert_eq!(broken(config(20_816_327)), Some((rule, side, side)));
    let next = broken(config(20_816_328)).map(|(rule, ..)| rule);
    assert_eq!(next, Some("lockTime(1-2ρ)-2ε >= P+2Δ(1+ρ)+σ"));
}

#[test]
fn a_lease_outlives_a_renewal_and_two_more() {
    let config = |lock| Config { lock: Some(ns(lock)), ..Config::default() };
    let rule = "lockTime(1-2ρ)-2ε >= P+2Δ(1+ρ)+σ";
    let (left, right) = (ns(90_003_999), ns(90_004_000));
    assert_eq!(broken(config(90_240_096)), Some((rule, left, right)));
    let (left, right) = (ns(90_004_000), ns(90_008_000));
    assert_eq!(broken(config(90_240_097)), Some((RETRIES, left, right)));
    assert_eq!(broken(config(90_244_098)), Some((RETRIES, right, right)));
    assert_eq!(broken(config(90_244_099)), None);
}

#[test]
fn renewals_do_not_overtake_each_other() {
    let config = |renew| Config { renew: Some(ns(renew)), ..Config::default() };
    assert_eq!(broken(config(20_004_000)), None);
    let (left, right) = (ns(20_003_999), ns(20_004_000));
    assert_eq!(broken(config(20_003_999)), Some(("P >= 2Δ(1+ρ)", left, right)));
}

#[test]
fn as_published_there_are_no_retries_to_leave_room_for() {
    let config = Config { renew: Some(ns(1)), as_published: true, ..Config::default() };
    assert_eq!(broken(config), None);
}

#[test]
fn an_error_names_both_sides_the_rule_and_the_way_out() {
    let config = Config { lock: Some(ms(160)), ..Config::default() };
    let message = "0.16s on the left and 0.150937606s on the right break the rule: lockTime <= \
                   (1-ρ)[(EP-σ)(1-ρ)-Δ+δmin] (lockTime is lock, EP period, P renew, Δ delta, σ \
                   sigma, δmin fastest, ρ drift-ppm; ε is 0.0001s); the nearest values that keep \
                   all rules: lock = 0.15s, or period = 0.191s, or choose a preset (fast, lan, \
                   wan: each has longer leases than the one before), or, in a simulation, \
                   unchecked = true to see what happens";
    refused(config.clone(), message);
    assert_eq!(valid(Config { unchecked: true, ..config }).lock(), ms(160));
}

#[test]
fn nothing_may_take_no_time_at_all_checked_or_not() {
    let none = Some(Duration::ZERO);
    for (name, config) in [
        ("delta", Config { delta: none, ..Config::default() }),
        ("renew", Config { renew: none, ..Config::default() }),
        ("lock", Config { lock: none, ..Config::default() }),
        ("period", Config { period: none, ..Config::default() }),
        ("period", Config { period: Some(ms(20)), ..Config::default() }),
        ("expires", Config { expires: none, ..Config::default() }),
        ("refresh", Config { refresh: none, ..Config::default() }),
    ] {
        let message = alloc::format!("{name} leaves no time at all, but {name} > 0 must hold");
        refused(Config { unchecked: true, ..config }, &message);
    }
    let least = Some(ns(1));
    let config = Config { delta: least, renew: least, lock: least, ..Config::default() };
    let config = Config { period: Some(ms(20) + NANO), expires: least, refresh: least, ..config };
    assert_eq!(valid(Config { unchecked: true, ..config }).stagger(), ms(20) + ns(2));
}

#[test]
fn something_must_be_fast() {
    let config = |fastest| Config { fastest, unchecked: true, ..Config::default() };
    let message = "fastest = 0.01s and delta = 0.01s, but fastest < delta must hold, or no message \
                   could be fast";
    refused(config(ms(10)), message);
    assert_eq!(valid(config(ns(9_999_999))).fastest(), ns(9_999_999));
}

#[test]
fn clocks_that_drift_by_more_than_a_tenth_are_no_clocks() {
    let config = |ppm| Config { drift_ppm: Some(ppm), unchecked: true, ..Config::default() };
    let message = "drift-ppm = 100001, but drift-ppm <= 100000 must hold; quartz clocks stay below \
                   200";
    refused(config(100_001), message);
    refused(config(u32::MAX), &message.replace("100001", "4294967295"));
    assert_eq!(valid(config(100_000)).lease(), ns(119_800_000));
}

#[test]
fn nothing_takes_longer_than_a_day() {
    let (day, longer) = (Duration::from_secs(86_400), Duration::from_secs(86_400) + NANO);
    for (name, config) in [
        ("delta", Config { delta: Some(longer), ..Config::default() }),
        ("sigma", Config { sigma: Some(longer), ..Config::default() }),
        ("renew", Config { renew: Some(longer), ..Config::default() }),
        ("lock", Config { lock: Some(longer), ..Config::default() }),
        ("period", Config { period: Some(longer), ..Config::default() }),
        ("expires", Config { expires: Some(longer), ..Config::default() }),
        ("fastest", Config { fastest: longer, ..Config::default() }),
    ] {
        let message = alloc::format!(
            "{name} = 86400.000000001s is too long: no part of a request may take more than 86400s"
        );
        refused(Config { unchecked: true, ..config }, &message);
    }
    let config = Config { lock: Some(day), renew: Some(day), ..Config::default() };
    let config = Config { period: Some(day), expires: Some(day), unchecked: true, ..config };
    assert_eq!(valid(config).lock(), day);
}

#[test]
fn what_is_not_written_is_the_preset_s() {
    let params = valid(Config { preset: Preset::Wan, renew: Some(ms(250)), ..Config::default() });
    assert_eq!((params.delta(), params.renew(), params.lock()), (ms(100), ms(250), ms(900)));
    assert_eq!(params.refresh(), ms(500), "not more than half a second");
    let params = valid(Config { delta: Some(ms(1)), ..Config::default() });
    assert_eq!(params.refresh(), ms(250), "250 Δ");
}

#[test]
fn what_is_promised_follows_from_the_parameters() {
    let params = valid(Config::default());
    assert_eq!(params.stagger(), ms(40));
    assert_eq!(params.kappa_timeliness(), ns(543_108_600));
    assert_eq!(params.kappa_inconsistency(), ns(471_830_348));
    assert_eq!(params.timely(ms(500)), ns(4_699_920));
    assert_eq!(params.timely(Duration::from_secs(60)), Duration::ZERO);
    let quorums: Vec<usize> = (1..=7).map(|group| params.quorum(group)).collect();
    assert_eq!(quorums, [1, 2, 2, 3, 3, 4, 4]);
    assert_eq!(local().quorum(7), 1);
}

#[test]
fn presets_and_modes_have_their_names() {
    let names: Vec<&str> = Preset::ALL.iter().map(|preset| preset.name()).collect();
    assert_eq!(names, ["lan", "fast", "fastest", "wan", "paper"]);
    assert_eq!((Mode::Majority.name(), Mode::Local.name()), ("majority", "local"));
}

#[test]
fn the_layer_below_is_told_what_concerns_it() {
    let layer = majority().layered();
    assert_eq!((layer.drift_ppm, layer.fastest, layer.refresh), (0, Duration::ZERO, ms(500)));
    assert_eq!(layer.rules, Rules::ALL);
}

#[test]
fn the_length_of_a_lease_gives_all_times_and_those_of_the_presets_again() {
    for preset in [Preset::Wan, Preset::Lan, Preset::Fast] {
        let usual = valid(Config { preset, ..Config::default() });
        let derived = Config::default().with_lease(usual.lock()).unwrap();
        assert_eq!(valid(derived), usual, "{}", preset.name());
    }
    let five = valid(Config::default().with_lease(ms(5_000)).unwrap());
    assert_eq!((five.lock(), five.delta(), five.sigma()), (ms(5_000), ms(104), ms(50)));
    assert_eq!((five.renew(), five.period(), five.expires()), (ms(1_667), ms(5_157), ms(8_048)));
}

#[test]
fn every_lease_between_the_shortest_and_the_longest_is_feasible() {
    let mut lease = ms(36);
    while lease <= ms(36_000_000) {
        for drift_ppm in [None, Some(0), Some(50), Some(500)] {
            let config = Config { drift_ppm, ..Config::default() };
            let params = valid(config.with_lease(lease).unwrap());
            assert_eq!(params.lock(), lease);
        }
        lease = lease * 14 / 13;
    }
    for (lease, found) in [(ns(35_999_999), "0.035999999s"), (ms(36_000_001), "36000.001s")] {
        let error = Config::default().with_lease(lease).unwrap_err().to_string();
        let rule = format!("lease = {found}, but 0.036s <= lease <= 36000s must hold");
        assert!(error.starts_with(&rule), "{error}");
    }
    let drifting = Config { drift_ppm: Some(100_001), ..Config::default() };
    assert!(matches!(drifting.with_lease(ms(5_000)), Err(BadConfig::Drift { .. })));
}
