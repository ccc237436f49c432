//! What is proposed instead of values that break a constraint.

use super::*;
use alloc::string::{String, ToString};
use proptest::option;
use proptest::prelude::*;

/// What is proposed, of which each was tried.
#[track_caller]
fn proposed(config: Config) -> Vec<String> {
    let Err(BadConfig::Constraint { nearest, .. }) = Params::try_from(config.clone()) else {
        panic!("{config:?} breaks no constraint")
    };
    for proposal in &nearest {
        let changed = proposal.0.iter().fold(config.clone(), |config, change| change.made(config));
        assert!(Params::try_from(changed).is_ok(), "{config:?}: {proposal}");
    }
    nearest.iter().map(ToString::to_string).collect()
}

fn us(length: u64) -> Option<Duration> {
    Some(Duration::from_micros(length))
}

#[test]
fn every_constraint_has_a_proposal_that_keeps_it() {
    let lan = Config::default;
    let ns = |length| Some(Duration::from_nanos(length));
    let close = Duration::from_micros(9_999);
    let exact = Config { drift_ppm: Some(10_000), sigma: us(0), ..lan() };
    let raised = "renew = 0.058s with lock = 0.178s with period = 0.211s with delta = 0.0287s";
    let cases: [(Config, &[&str]); 10] = [
        (Config { expires: us(200_000), ..lan() }, &["expires = 0.202s"]),
        (
            Config { expires: ns(181_073_408), fastest: close, ..lan() },
            &["delta = 0.0108s with expires = 0.183s"],
        ),
        (Config { lock: us(20_000), ..lan() }, &["lock = 0.091s"]),
        (Config { lock: us(160_000), ..lan() }, &["lock = 0.15s", "period = 0.191s"]),
        (Config { lock: ns(20_816_327), ..exact }, &[raised]),
        (Config { renew: us(110_000), ..lan() }, &["renew = 0.109s"]),
        (Config { lock: us(90_242), ..lan() }, &["lock = 0.091s", "renew = 0.0499s"]),
        (Config { renew: us(20_000), ..lan() }, &["renew = 0.0201s"]),
        (Config { refresh: us(13_000_000), ..lan() }, &["refresh = 12.068s"]),
        (Config { sigma: us(90_000), ..lan() }, &["sigma = 0.0209s"]),
    ];
    let rule = |(config, _): &(Config, _)| match Params::try_from(config.clone()) {
        Err(BadConfig::Constraint { rule, .. }) => rule,
        other => panic!("{config:?}: {other:?}"),
    };
    let broken: Vec<&str> = cases.iter().map(rule).collect();
    for constraint in valid(lan()).constraints() {
        assert!(broken.contains(&constraint.rule), "{} is not among them", constraint.rule);
    }
    let (found, expected): (Vec<_>, Vec<_>) =
        cases.into_iter().map(|(config, expected)| (proposed(config), expected)).unzip();
    assert_eq!(found, expected);
}

#[test]
fn the_proposed_value_is_the_nearest() {
    for (least, lock) in [(90_244_099, 20), (150_937_606, 160)] {
        let config = Config { lock: Some(ms(lock)), ..Config::default() };
        let Err(BadConfig::Constraint { nearest, .. }) = Params::try_from(config) else {
            panic!("a lock of {lock} ms is accepted")
        };
        let changed = nearest[0].0[0].made(Config::default()).lock.unwrap().as_nanos();
        assert!(changed.abs_diff(least) <= least / 100, "{changed} is not about {least}");
    }
}

/// No single value suffices: all the others are those of a network that is ten times as fast.
#[test]
fn what_depends_on_a_longer_delta_is_raised_with_it() {
    let config = Config { delta: us(100_000), sigma: us(50_000), ..Config::default() };
    let all = "renew = 0.201s with lock = 0.602s with period = 0.753s with expires = 0.954s";
    assert_eq!(proposed(config), [all]);
}

/// Clocks that may be off by a tenth age all stamps before they can be used; and the lock is too
/// short as well.
#[test]
fn where_nothing_is_found_nothing_is_proposed() {
    let drift_ppm = Some(100_000);
    assert_eq!(proposed(Config { drift_ppm, ..Config::default() }), ["drift-ppm = 3210"]);
    let none: [&str; 0] = [];
    assert_eq!(proposed(Config { drift_ppm, lock: us(1_000), ..Config::default() }), none);
}

fn length() -> impl Strategy<Value = Option<Duration>> {
    // From a microsecond to a quarter of an hour, each power of ten as often as the others.
    let any = (0_u32..9, 1_u64..10).prop_map(|(power, digit)| digit * 10_u64.pow(power));
    option::of(any.prop_map(Duration::from_micros))
}

proptest! {
    #[test]
    fn whatever_is_proposed_is_accepted(
        (delta, sigma, renew, lock) in (length(), length(), length(), length()),
        (period, expires, refresh) in (length(), length(), length()),
        fastest in length(),
        drift_ppm in option::of(0_u32..=100_000),
        (wan, as_published) in (any::<bool>(), any::<bool>()),
    ) {
        let preset = if wan { Preset::Wan } else { Preset::Lan };
        let fastest = fastest.unwrap_or_default();
        let config = Config {
            preset, delta, sigma, renew, lock, period, expires, fastest, refresh, drift_ppm,
            as_published, ..Config::default()
        };
        if let Err(BadConfig::Constraint { .. }) = Params::try_from(config.clone()) {
            proposed(config);
        }
    }
}
