//! The planner of the probabilistic election: what it chooses, refuses and confirms.
//!
//! Statistical, with fixed seeds: the same runs each time.

use bellwether_analysis::plan::strategy::{
    Attainment, Effort, Found, Goals, Growth, Refused, Trial, search,
};
use bellwether_analysis::{Loss, Point};

fn goals(success: f64) -> Goals {
    let point = Point::new("probabilistic", 100).loss(Loss::apart(0.05));
    Goals { point, success, max_rounds: 3 }
}

/// The same in a group that differs like this.
fn of(mut goals: Goals, change: impl FnOnce(&mut Point)) -> Goals {
    change(&mut goals.point);
    goals
}

fn plan(goals: Goals, effort: f64) -> Result<Found, Refused> {
    search(goals, Effort { scale: effort, seed: 1, threads: 1 }, &|_, _| {})
}

fn found(goals: Goals) -> Found {
    plan(goals, 1.0).unwrap_or_else(|refused| panic!("{refused}"))
}

#[test]
fn a_harder_goal_never_gets_a_cheaper_strategy() {
    let plans = [0.5, 0.8, 0.9, 0.97].map(|success| found(goals(success)));
    for pair in plans.windows(2) {
        let [easy, hard] = [&pair[0].chosen, &pair[1].chosen];
        let same = easy.tactic == hard.tactic;
        assert!(same || easy.messages() < hard.messages(), "{} {}", easy.tactic, hard.tactic);
    }
    let [first, .., last] = &plans;
    assert_ne!(first.chosen.tactic, last.chosen.tactic, "the goal decides something");
}

#[test]
fn what_is_chosen_reaches_the_goal_and_nothing_cheaper_that_was_tried_does() {
    let plan = found(goals(0.9));
    let chosen = &plan.chosen;
    assert_eq!(chosen.standing(0.9), Attainment::Reaches);
    assert!(chosen.interval()[0] >= 0.9, "the narrower interval as well: {chosen:?}");
    let reaches = |trial: &&Trial| trial.standing(0.9) == Attainment::Reaches;
    for other in plan.tried.iter().filter(reaches) {
        // Means of different numbers of runs: what a few per cent decide is left open.
        assert!(other.messages() > 0.9 * chosen.messages(), "{}: {}", other.tactic, chosen.tactic);
    }
    assert!(plan.tried.iter().any(|trial| trial.standing(0.9) == Attainment::FallsShort));
}

#[test]
fn fresh_runs_confirm_what_was_chosen_and_would_not_confirm_much_more() {
    let plan = found(goals(0.9));
    let fresh = plan.confirm(1, &|| {}).expect("it can be simulated");
    assert_eq!(fresh.point.seed, 2, "other luck");
    assert_eq!(fresh.success.runs, 2 * plan.chosen.success.runs);
    assert!(plan.confirmed_by(&fresh), "{fresh:?}");
    let [low, high] = plan.chosen.success.interval(0.999);
    let share = fresh.success.share();
    assert!(low <= share && share <= high, "{share} is not in {low} .. {high}");
    let mut bold = plan.clone();
    bold.goals.success = share;
    assert!(!bold.confirmed_by(&fresh), "the mean alone shows nothing");
}

#[test]
fn nothing_depends_on_threads() {
    let effort = |threads| Effort { scale: 1.0, seed: 3, threads };
    let [one, two] = [1, 2].map(|threads| search(goals(0.8), effort(threads), &|_, _| {}));
    let [one, two] = [one, two].map(|plan| plan.unwrap_or_else(|refused| panic!("{refused}")));
    assert_eq!(one.tried, two.tried);
    assert_eq!(one.chosen, two.chosen);
}

/// Nothing notices the crash of a leader in the round that elects it.
#[test]
fn more_than_failures_allow_is_refused_with_what_can_be_had() {
    let failing = |success| of(goals(success), |group| group.fail = 0.2);
    let refused = plan(failing(0.95), 1.0).expect_err("a fifth of the leaders crash");
    let Refused::Unreached(best) = &refused else { panic!("{refused}") };
    let [low, high] = best.best.interval();
    assert!(low < 0.82 && high > 0.78, "about 1 - fail: {low} .. {high}");
    let text = refused.to_string();
    for words in ["success = 0.95", "1 - fail = 0.8", "try success = 0.7"] {
        assert!(text.contains(words), "{words} is not in {text}");
    }
    let reachable = best.reachable().expect("four of five succeed");
    assert!(reachable > 0.7 && reachable < low, "{reachable}");
    assert!(found(failing(reachable)).chosen.success.share() >= reachable);
}

#[test]
fn where_nothing_succeeds_no_other_goal_is_advised() {
    let refused =
        plan(of(goals(0.9), |group| group.fail = 1.0), 1.0).expect_err("everyone crashes");
    let Refused::Unreached(best) = &refused else { panic!("{refused}") };
    assert_eq!((best.best.success.successes, best.reachable()), (0, None));
    let text = refused.to_string();
    assert!(text.contains("no strategy tried") && text.contains("1 - fail = 0 is"), "{text}");
    assert!(text.contains("; try fewer losses"), "a goal of zero would be refused: {text}");
}

#[test]
fn the_most_there_is_has_no_more_digits_than_it_means() {
    let refused =
        plan(of(goals(0.9), |group| group.fail = 0.999), 1.0).expect_err("nearly all crash");
    assert!(refused.to_string().contains("1 - fail = 0.001 is"), "{refused}");
}

#[test]
fn more_than_losses_allow_is_refused() {
    let deaf = of(Goals { max_rounds: 1, ..goals(0.99) }, |group| {
        (group.multicast_loss, group.nodes) = (Loss::apart(0.8), 60);
    });
    let refused = plan(deaf, 1.0).expect_err("K of everyone is not enough in one round");
    let Refused::Unreached(best) = refused else { panic!("{refused}") };
    assert!(best.best.interval()[1] < 0.99, "{best:?}");
    assert_eq!(best.best.tactic.rounds, 1, "no more than there may be");
}

#[test]
fn what_an_effort_cannot_tell_is_not_claimed() {
    // About 95 of 100 succeed: more than the goal, but not so that a hundred runs show it.
    let near = of(goals(0.9), |group| group.fail = 0.05);
    let refused = plan(near, 0.001).map(|plan| plan.chosen.tactic);
    let refused = refused.expect_err("a hundred runs at most");
    let says = refused.to_string();
    assert!(matches!(refused, Refused::Undecided(_) | Refused::NothingTried { .. }), "{says}");
    assert!(says.contains("greater effort"), "{says}");
    let refused = plan(goals(0.99999), 1.0).expect_err("more runs than there may be");
    assert!(matches!(refused, Refused::TooManyRuns { .. }), "{refused}");
}

#[test]
fn a_group_too_large_for_the_effort_is_refused_before_anything_is_simulated() {
    let large = |nodes| of(goals(0.999), |group| group.nodes = nodes);
    let effort = Effort { scale: 0.5, seed: 1, threads: 1 };
    let refused = search(large(200_000), effort, &|tactic, _| panic!("{tactic} is simulated"))
        .expect_err("7598 runs in a group of 200000 are more than 1500 million deliveries");
    assert!(matches!(refused, Refused::TooManyDeliveries { .. }), "{refused}");
    let text = refused.to_string();
    for words in ["0.999 takes 7598 runs", "nodes = 200000", "1500000000", "above 0.507,"] {
        assert!(text.contains(words), "{words} is not in {text}");
    }
}

/// The looks at a strategy have 120, 360, 1080 runs; a further 3240 would be too many.
#[test]
fn the_last_look_has_as_many_runs_as_the_goal_needs() {
    let calm = goals(0.995);
    let point = Point { view: 1.0, ..calm.point.loss(Loss::None) };
    let calm = Goals { point, ..calm };
    let plan = plan(calm, 0.02).unwrap_or_else(|refused| panic!("{refused}"));
    assert_eq!(plan.chosen.standing(0.995), Attainment::Reaches);
    assert_eq!(plan.chosen.success.runs, 1517, "{:?}", plan.chosen);
    assert!(plan.tried.iter().all(|trial| trial.success.runs <= 2_000));
}

/// What a run takes is asked of one run, and no more are made than the effort has left.
#[test]
fn a_small_effort_is_kept_to() {
    let large = of(Goals { max_rounds: 5, ..goals(0.5) }, |group| {
        (group.nodes, group.view) = (20_000, 1.0);
    });
    let refused = plan(large, 0.001).map(|plan| plan.chosen.tactic);
    let refused = refused.expect_err("twenty runs are too many");
    assert!(refused.to_string().contains("greater effort"), "{refused}");
    let Refused::Undecided(best) = refused else { panic!("{refused}") };
    let taken = best.best.answer.deliveries.expect("they are counted");
    assert!(taken <= 3_000_000, "{taken} of three million deliveries");
}

#[test]
fn goals_that_are_none_are_refused() {
    for success in [0.0, 1.0, -1.0, 1.5, f64::NAN] {
        let refused = plan(goals(success), 1.0).expect_err("it is no goal");
        assert!(matches!(refused, Refused::NoChance { .. }), "{refused}");
    }
    for max_rounds in [0, 17] {
        let refused = plan(Goals { max_rounds, ..goals(0.9) }, 1.0).expect_err("no such rounds");
        assert!(matches!(refused, Refused::Rounds { .. }), "{refused}");
    }
    let refused = plan(of(goals(0.9), |group| group.view = 1.5), 1.0).expect_err("no such view");
    assert!(matches!(refused, Refused::SimulationFailed(_)), "{refused}");
}

#[test]
fn a_group_of_two_is_planned_and_one_alone_has_nobody_to_elect() {
    // Two relays that do not see each other never agree, however many rounds there are.
    let pair = found(of(Goals { max_rounds: 5, ..goals(0.9) }, |group| group.nodes = 2));
    assert_eq!((pair.chosen.tactic.k, pair.chosen.tactic.growth), (1, Growth::Fixed));
    let refused = plan(of(goals(0.9), |group| group.nodes = 1), 1.0).expect_err("it is alone");
    assert!(refused.to_string().contains("nobody to elect"), "{refused}");
}

#[test]
fn the_picture_shows_the_goal_and_the_chosen_one() {
    let plan = found(goals(0.9));
    let picture = plan.picture();
    assert!(picture.starts_with("<svg") && picture.ends_with("</svg>\n"), "{picture}");
    let chosen = format!("chosen: {}", plan.chosen.tactic);
    for words in ["goal 0.9", &chosen, "strong success", "messages of an election"] {
        assert!(picture.contains(words), "{words} is not in\n{picture}");
    }
    assert_eq!(picture, plan.picture());
}
