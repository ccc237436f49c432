//! From written to valid parameters: every rule, and its error message.

use super::*;
use alloc::string::ToString;

#[track_caller]
fn refused(config: Config, error: BadConfig, message: &str) {
    assert_eq!(Params::try_from(config), Err(error.clone()));
    assert_eq!(error.to_string(), message);
}

fn new(variant: Variant) -> Config {
    config(variant)
}

const UNENDING: Duration = Duration::MAX;

#[test]
fn the_defaults_of_every_variant_are_valid() {
    for variant in Variant::ALL {
        let params = valid(Config::new(variant));
        assert_eq!((params.opening(), params.yields(), params.repeat()), variant.rules());
        assert_eq!(params.names_leaders, variant.elects());
        assert_eq!((params.announce(), params.listen()), (ms(1000), UNENDING));
        assert_eq!((params.wake().interval, params.leaders()), (ms(1000), 1));
    }
    // Section 5.4: T_S = T_A = 1.
}

#[test]
fn only_le_m_chooses_by_wake_up_unless_told() {
    for variant in Variant::ALL {
        let own = valid(new(variant)).criterion();
        let earliest = own == Criterion::EarliestWakeUp;
        assert_eq!(earliest, variant == Variant::LeM);
        let told = Config { criterion: Some(Criterion::Rank), ..new(variant) };
        assert_eq!(valid(told).criterion(), Criterion::Rank);
    }
}

#[test]
fn announcements_need_an_interval() {
    let config = |variant| Config { announce: Duration::ZERO, ..new(variant) };
    let message = "announce = 0s, but announcements need announce > 0; try 1s";
    refused(config(Variant::LeA), BadConfig::NoAnnounceInterval, message);
    let error = Params::try_from(config(Variant::Sup)).unwrap_err().to_string();
    assert!(error.starts_with("announce has no effect with protocol = sup"), "{error}");
}

#[test]
fn listening_needs_an_interval() {
    let message = "listen = 0s, but listen > 0 must hold; try 3 times the announce interval";
    let config = Config { listen: Duration::ZERO, ..new(Variant::LeA) };
    refused(config, BadConfig::NoListenInterval, message);
}

#[test]
fn nothing_but_trust_lasts_for_ever() {
    let jitter = Mapping::ByStanding { best: 9, worst: 0, jitter: UNENDING };
    for (what, config) in [
        ("announce", Config { announce: UNENDING, ..new(Variant::LeA) }),
        ("suppress", Config { suppress: UNENDING, ..new(Variant::LeS) }),
        ("jitter", new(Variant::LeS).mapped(jitter)),
        ("patience", Config { patience: UNENDING, ..new(Variant::Query) }),
    ] {
        let message = alloc::format!("{what} = infinite, but only listen may be infinite");
        refused(config, BadConfig::EndlessWait { what }, &message);
    }
    let unused = Config { suppress: UNENDING, ..new(Variant::LeA) };
    let error = Params::try_from(unused).unwrap_err().to_string();
    let waiting = "only with protocol = le-s or le-m or sup or suppress-query or sup-al-elect or \
                   sup-al-limit or sup-al-spread; set that too, or leave suppress out";
    assert_eq!(error, ["suppress has no effect with protocol = le-a, ", waiting].concat());
}

#[test]
fn aging_lies_between_zero_and_a_finite_end_of_trust() {
    for (aging, listen, written) in [
        (ms(3000), ms(3000), "aging = 3s and listen = 3s"),
        (ms(3500), ms(3000), "aging = 3.5s and listen = 3s"),
        (Duration::ZERO, ms(3000), "aging = 0s and listen = 3s"),
        (ms(1500), UNENDING, "aging = 1.5s and listen = infinite"),
    ] {
        let config = Config { aging: Some(aging), listen, ..new(Variant::LeA) };
        let message = alloc::format!("{written}, but 0 < aging < listen < infinite must hold");
        refused(config, BadConfig::AgingNotBelowListen { aging, listen }, &message);
    }
    let just = Config { aging: Some(ms(2999)), ..new(Variant::LeA) };
    assert!(Params::try_from(just).is_ok());
}

#[test]
fn a_board_has_a_place_and_not_too_many() {
    for leaders in [0, LEADERS_MAX + 1, usize::MAX] {
        let message = alloc::format!("leaders = {leaders}, but 1 <= leaders <= 64 must hold");
        let config = Config { leaders, ..new(Variant::LeA) };
        refused(config, BadConfig::LeadersOutOfRange { leaders }, &message);
    }
    assert!(Params::try_from(Config { leaders: LEADERS_MAX, ..new(Variant::LeA) }).is_ok());
}

#[test]
fn several_leaders_need_an_order_of_claims() {
    for variant in [Variant::Sup, Variant::SupAlElect, Variant::SupAlLimit] {
        let name = variant.name();
        let message = alloc::format!(
            "leaders = 2, but in {name} any message silences: it knows no order of claims, so \
             leaders must be 1"
        );
        let error = BadConfig::LeadersWithoutOrder { leaders: 2, variant: name };
        refused(Config { leaders: 2, ..new(variant) }, error, &message);
    }
}

#[test]
fn the_earliest_to_wake_can_lead_only_where_processes_sleep() {
    for variant in [Variant::LeA, Variant::Al, Variant::Query, Variant::SupAlLimit] {
        let name = variant.name();
        let message = alloc::format!(
            "criterion = earliest-wake-up, but {name} has no one wake-up to go by; try le-m, or \
             criterion highest-id"
        );
        let config = Config { criterion: Some(Criterion::EarliestWakeUp), ..new(variant) };
        refused(config, BadConfig::NoWakeUp { variant: name }, &message);
    }
}

#[test]
fn aging_needs_an_order_of_claims() {
    for variant in [Variant::Sup, Variant::SupAlElect, Variant::SupAlLimit] {
        let name = variant.name();
        let message = alloc::format!(
            "aging lets better claims in, but in {name} any message silences: it knows no order \
             of claims"
        );
        let seconds = Duration::from_secs;
        let config = Config { aging: Some(seconds(1)), listen: seconds(3), ..new(variant) };
        refused(config, BadConfig::AgingWithoutOrder { variant: name }, &message);
    }
}

#[test]
fn the_steepness_of_a_timer_is_a_positive_number_of_reasonable_size() {
    for (rate, written) in [(0.0, "0"), (-1.5, "-1.5"), (500.5, "500.5"), (f64::INFINITY, "inf")] {
        let message = alloc::format!("timer-rate = {written}, but 0 < timer-rate <= 500 must hold");
        for shape in [Shape::Rising { rate }, Shape::Falling { rate }] {
            let config = new(Variant::LeS).shaped(shape);
            refused(config, BadConfig::RateOutOfRange { rate }, &message);
        }
    }
    let config = new(Variant::LeS).shaped(Shape::Rising { rate: f64::NAN });
    let error = Params::try_from(config).unwrap_err();
    assert_eq!(error.to_string(), "timer-rate = NaN, but 0 < timer-rate <= 500 must hold");
}

#[test]
fn the_steepest_timer_still_wakes_within_its_interval() {
    for shape in [Shape::Rising { rate: 500.0 }, Shape::Falling { rate: 500.0 }] {
        for draw in [0, 1, 1 << 52, (1 << 53) - 1] {
            let process = start(5, new(Variant::LeS).shaped(shape), &[draw]);
            assert!(process.node().deadline(Timer::Wake) < Instant::ZERO + ms(1000));
        }
    }
}

#[test]
fn the_best_of_a_mapping_is_better_than_its_worst() {
    for (best, worst) in [(3, 3), (3, 9)] {
        let message =
            alloc::format!("best = {best} and worst = {worst}, but best > worst must hold");
        let mapping = Mapping::ByStanding { best, worst, jitter: Duration::ZERO };
        let config = new(Variant::LeS).mapped(mapping);
        refused(config, BadConfig::MappingUpsideDown { best, worst }, &message);
    }
}

#[test]
fn redrawn_wake_ups_fit_into_their_interval_jitter_and_all() {
    let jitter = Mapping::ByStanding { best: 9, worst: 0, jitter: ms(500) };
    let long = Config { suppress: ms(1500), ..new(Variant::SupAlLimit) };
    let jittery = new(Variant::SupAlLimit).mapped(jitter);
    for config in [long, jittery] {
        let message = "suppress + jitter = 1.5s and announce = 1s, but wake-ups redrawn in every \
                       announce interval need suppress + jitter <= announce";
        let (suppress, announce) = (ms(1500), ms(1000));
        refused(config, BadConfig::SuppressBeyondAnnounce { suppress, announce }, message);
    }
    let elsewhere = Config { suppress: ms(1500), ..new(Variant::LeS) };
    assert!(Params::try_from(elsewhere).is_ok());
}

#[test]
fn a_question_waits_longer_than_its_answers_are_spread() {
    for variant in [Variant::Query, Variant::SuppressQuery] {
        let (patience, reply_spread) = (ms(200), ms(200));
        let message = "patience = 0.2s and reply-spread = 0.2s, but patience > reply-spread must \
                       hold; try a round trip more";
        let config = Config { patience, reply_spread, ..new(variant) };
        refused(config, BadConfig::NoPatience { patience, reply_spread }, message);
    }
    let elsewhere = Config { patience: Duration::ZERO, ..new(Variant::LeA) };
    let error = Params::try_from(elsewhere).unwrap_err().to_string();
    assert!(error.starts_with("patience has no effect with protocol = le-a"), "{error}");
}

#[test]
fn nobody_says_goodbye_more_than_ten_thousand_times() {
    let config = |bye_copies| Config { bye_copies, ..new(Variant::LeA) };
    let message = "bye-copies = 10001, but bye-copies <= 10000 must hold";
    refused(config(10_001), BadConfig::TooManyByes { copies: 10_001 }, message);
    assert!(Params::try_from(config(10_000)).is_ok());
}
