//! The commands of points, held as text: seeds of figures follow from them.

use super::*;
use bellwether_sim::Churn;

/// Seeds are derived from these texts: if one changes, so do the numbers of figures.
#[test]
fn a_command_says_what_differs_from_the_defaults_always_in_the_same_words() {
    let says = |point: &Point, flags: &str| {
        let Point { protocol, nodes, .. } = point;
        let expected = format!("bellwether sim {protocol} --nodes {nodes}{flags}");
        assert_eq!(point.command(), expected);
    };
    says(&Point::new("le-s", 9), " --runs 1000 --seed 1");
    let churn = Scenario::Churn(Churn { departures: 0.05, arrivals: 0.07 });
    let mut point = Point::new("le-s", 9).loss(Loss::Uncorrelated(0.3)).listen(2.5);
    point.delay = duration(0.25);
    let point = point.with("suppress", "1s").with("as-printed", true).with("bye-copies", 3);
    says(
        &point.scenario(churn, 20.0).runs(7).seed(5),
        " --loss 0.3 --loss-model uncorrelated --delay 0.25s --listen 2.5s --bye-copies 3 \
         --as-printed --scenario churn --departures 0.05 --arrivals 0.07 --window 20s --runs 7 \
         --seed 5",
    );
    let mut point = Point::new("bully", 7).initiators(Initiators::Named(vec![2, 4]));
    (point.initiation.detection, point.initiation.top_dead) = (None, true);
    says(
        &point.with("stamps", true),
        " --initiator 2 --initiator 4 --top-dead --detection never --stamps --runs 1000 --seed 1",
    );
    let point = Point::new("probabilistic", 50).with("choice", "rank").with("max-rounds", 1);
    let point = Point { view: 0.25, fail: 0.1, ..point.with("k", 9).loss(Loss::apart(0.2)) };
    says(
        &point,
        " --k 9 --max-rounds 1 --view 0.25 --loss 0.2 --fail 0.1 --choice rank --runs 1000 \
         --seed 1",
    );
    says(
        &Point { unicast_loss: Loss::None, ..point },
        " --k 9 --max-rounds 1 --view 0.25 --ucast-loss 0 --mcast-loss 0.2 --fail 0.1 \
         --choice rank --runs 1000 --seed 1",
    );
}

/// The default of `wait` is three times `reply`, whatever `reply` is.
#[test]
fn a_parameter_is_left_out_of_the_command_only_if_it_follows_from_the_others() {
    let flags = |wait: &str| {
        let point = Point::new("bully", 7).with("reply", "2s").with("wait", wait);
        let command = point.command();
        let (_, flags) = command.split_once("--nodes 7 ").unwrap();
        flags.strip_suffix(" --runs 1000 --seed 1").unwrap().to_owned()
    };
    assert_eq!(flags("6s"), "--reply 2s");
    assert_eq!(flags("3s"), "--reply 2s --wait 3s", "3 s is the default, but not with this reply");
}

#[test]
fn what_cannot_be_simulated_is_refused_by_name() {
    let refused = |point: Point| {
        assert!(point.command().contains(point.protocol));
        point.experiment(1).unwrap_err().to_string()
    };
    let point = Point::new("le-s", 9);
    for (point, why) in [
        (Point::new("le-x", 9), "'le-x'"),
        (point.clone().with("listne", 3), "'listne'"),
        (point.clone().with("listen", "soon"), "'soon'"),
        (point.clone().with("announce", "0s"), "announce"),
        (point.clone().loss(Loss::Correlated(1.5)), "'1.5'"),
        (Point { view: f64::NAN, ..point }, "'NaN'"),
    ] {
        let told = refused(point);
        assert!(told.contains(why), "{told}");
    }
}

#[test]
fn processes_that_detect_failures_are_not_told_of_them() {
    let point = Point::new("bully", 5);
    assert_eq!(point.experiment(1).unwrap().initiation.detection, Some(Duration::ZERO));
    let point = point.with("detector", "heartbeats");
    assert_eq!(point.experiment(1).unwrap().initiation.detection, None);
    assert!(!point.command().contains("--detection"), "{}", point.command());
}
