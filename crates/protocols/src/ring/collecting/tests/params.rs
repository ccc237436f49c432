//! Valid and invalid parameters.

use super::*;
use crate::on_demand::Inner as _;
use alloc::string::ToString;

#[test]
fn parameters_that_break_a_rule_are_refused_with_a_way_out() {
    let zero = Duration::ZERO;
    let second = Duration::from_secs(1);
    for (config, bad, words) in [
        (Config { retry: zero, ..ring() }, BadConfig::NoTime { what: "retry" }, "retry = 0s"),
        (
            Config { call_after: zero, ..careful() },
            BadConfig::NoTime { what: "call-after" },
            "call-after = 0s",
        ),
        (
            Config { call_after: second, ..ring() },
            BadConfig::CallWithoutRetry { call_after: second },
            "call-after = 1s and retry = infinite",
        ),
        (
            Config { as_printed: true, ..ring() },
            BadConfig::NothingPrintedWrong,
            "as-printed = true",
        ),
    ] {
        assert_eq!(Params::try_from(config), Err(bad));
        assert!(bad.to_string().starts_with(words) && bad.to_string().contains("; "), "{bad}");
    }
}

#[test]
fn every_variant_has_parameters_for_quiet_and_for_restless_groups() {
    use Variant::{ChangRoberts, HirschbergSinclair, Merea, Ring};
    for (variant, rounds) in [(Ring, 2), (ChangRoberts, 3), (Merea, 3), (HirschbergSinclair, 9)] {
        let quiet = Params::try_from(Config { variant, ..ring() }).unwrap();
        assert_eq!((quiet.wait(5), quiet.settles(5)), (Duration::MAX, Duration::MAX));
        assert!(quiet.profile().on_demand);
        let config = Config::restless(variant);
        let restless = Params::try_from(config).unwrap();
        assert_eq!(restless.wait(5), config.retry * 5 * rounds);
        assert_eq!(restless.config(), &config);
    }
}
