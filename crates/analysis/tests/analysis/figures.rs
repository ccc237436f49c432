//! The figures of the announce-listen chapter: what they find, and that they find it.
//!
//! Verdicts must come out of numbers. So known ones are asked for with a moderate number of runs,
//! and forged numbers must turn them round.

use crate::found::{found, named};
use bellwether_analysis::figures::{
    Claim, Figure, Finding, Kind, Points, Verdict, figure, figures, names,
};
use std::collections::BTreeSet;
use std::sync::LazyLock;

/// The figure without what takes long.
pub(crate) fn up_to(most: f64, mut figure: Figure) -> Figure {
    for series in figure.panels.iter_mut().flat_map(|panel| &mut panel.series) {
        match &mut series.points {
            Points::Formula(_, points) => points.retain(|(x, _)| *x <= most),
            Points::Simulated(_, points) => points.retain(|(x, _)| *x <= most),
            Points::Measured(points) => points.retain(|(x, _)| *x <= most),
        }
    }
    figure
}

/// The chapter's figures, with runs added until their verdicts are sure.
static CHAPTER: LazyLock<Vec<Finding>> = LazyLock::new(|| found(chapter(), 300));

fn finding(id: &str) -> Finding {
    named(&CHAPTER, id)
}

fn chapter() -> Vec<Figure> {
    figures().into_iter().filter(|figure| figure.source.starts_with("thesis")).collect()
}

/// The claim that begins with these words.
fn claim<'a>(claims: &'a [Claim], begins: &str) -> &'a Claim {
    let found = claims.iter().find(|claim| claim.says.starts_with(begins));
    found.unwrap_or_else(|| panic!("no claim begins with {begins:?}"))
}

fn assert_verdicts(id: &str, expected: &[(&str, Verdict)]) {
    let finding = finding(id);
    for claim in &finding.claims {
        println!("{id}: {}: {} [{}]", claim.verdict.name(), claim.says, claim.because);
    }
    assert_eq!(finding.claims.len(), expected.len(), "{id}: a claim that no test knows");
    for (begins, verdict) in expected {
        let claim = claim(&finding.claims, begins);
        assert_eq!(claim.verdict, *verdict, "{id}: {}: {}", claim.says, claim.because);
    }
}

#[test]
fn every_figure_has_a_name_of_its_own_and_is_found_by_it() {
    let names: Vec<_> = names().collect();
    assert_eq!(figures().iter().map(|figure| figure.id).collect::<Vec<_>>(), names);
    let distinct: BTreeSet<_> = names.iter().collect();
    assert_eq!(distinct.len(), names.len(), "{names:?}");
    let chapter: Vec<_> = chapter().iter().map(|figure| figure.id).collect();
    let published = ["table-5.1", "5.6", "5.7", "5.8", "5.9", "5.10", "5.11", "5.12", "5.13"];
    assert_eq!(chapter, published);
    for id in ["5.6", "5.7", "5.8", "5.9", "5.10", "5.11"] {
        assert!(names.contains(&format!("{id}-million").as_str()), "{id} goes no farther");
        assert_eq!(figure(&format!("Figure {id}")).map(|figure| figure.id), Some(id));
    }
}

#[test]
fn no_figure_needs_many_runs_or_all_of_its_sizes_to_be_judged() {
    for most in [2.0, 20.0, 500.0] {
        let small: Vec<_> = figures()
            .into_iter()
            .filter(|figure| figure.id.contains("5."))
            .map(|figure| up_to(most, figure))
            .collect();
        for finding in found(small, if most > 100.0 { 5 } else { 20 }) {
            assert!(!finding.claims.is_empty(), "{} claims nothing", finding.id);
            for claim in &finding.claims {
                assert!(!claim.because.is_empty(), "{}: {}", finding.id, claim.says);
                assert!(!claim.because.contains("NaN"), "{}: {}", finding.id, claim.because);
            }
        }
    }
}

use Verdict::{Confirmed as Yes, NotReproducible as Open, Refuted as No, Undecided as Unsure};

#[test]
fn table_5_1_as_judged() {
    let expected = [
        ("Without loss an agreed leader", Yes),
        ("Loss means more rounds", Yes),
        ("Each process may converge", Yes),
        ("With correlated loss all", Yes),
    ];
    assert_verdicts("table-5.1", &expected);
}

#[test]
fn figure_5_6_as_judged() {
    let expected = [
        ("Without loss LE-S takes .5", Yes),
        ("The delay does not depend", Yes),
        ("LE-S takes more time", Yes),
        ("The analysis of SUP", Yes),
    ];
    assert_verdicts("5.6", &expected);
}

#[test]
fn figure_5_7_as_judged() {
    assert_verdicts("5.7", &[("LE-S generates more", Yes), ("Simulation validates", Yes)]);
}

#[test]
fn figure_5_8_as_judged() {
    let expected = [
        ("With loss, too", Yes),
        ("Loss takes", Yes),
        ("It costs LE-S", Yes),
        ("Uncorrelated loss gives", Yes),
        ("Simulation validates the analysis of the delay with correlated", Yes),
        ("Simulation validates the analysis of the delay with uncorrelated", No),
        ("The delay with uncorrelated loss approaches", No),
    ];
    assert_verdicts("5.8", &expected);
}

#[test]
fn figure_5_9_as_judged() {
    let expected = [
        ("With loss, too", Yes),
        ("Loss makes LE-S", Yes),
        ("It costs LE-S", Yes),
        ("Uncorrelated loss gives", Yes),
        ("Simulation validates the analysis of the messages", No),
    ];
    assert_verdicts("5.9", &expected);
}

#[test]
fn figure_5_10_as_judged() {
    assert_verdicts("5.10", &[("With correlated loss", Yes), ("The simulations match", Yes)]);
}

#[test]
fn figure_5_11_as_judged() {
    let expected =
        [("At small N", Yes), ("The performance of AL", Open), ("LE-S becomes superior", Open)];
    assert_verdicts("5.11", &expected);
}

#[test]
fn figure_5_12_as_judged() {
    let expected = [("In the first round LE-M closely", Yes), ("In the first round LE-M is", Yes)];
    assert_verdicts("5.12", &expected);
}

#[test]
fn figure_5_13_as_judged() {
    let expected = [
        ("LE-M outperforms LE-S", Yes),
        ("With loss SUP outperforms", Yes),
        ("With loss SUP serves", Yes),
        ("Without loss LE-M achieves", Unsure),
        ("Without loss LE-M sends", Yes),
    ];
    assert_verdicts("5.13", &expected);
}

/// The same finding with other numbers on these curves, as sure as with four times the runs, judged
/// again.
fn forged(id: &str, of: &[&str], forge: impl Fn(f64, f64) -> f64) -> Vec<Claim> {
    let judge = figure(id).expect("a figure of this name").claims;
    let mut finding = finding(id);
    for curve in finding.panes.iter_mut().flat_map(|pane| &mut pane.curves) {
        if of.iter().any(|of| curve.name == format!("{of}, simulated")) {
            for dot in &mut curve.dots {
                (dot.y, dot.stderr) = (forge(dot.x, dot.y), 0.5 * dot.stderr);
            }
        }
    }
    judge(&finding)
}

#[test]
fn a_delay_that_grew_with_n_would_refute_that_it_does_not() {
    let claims = forged("5.6", &["LE-S"], |x, y| y + 0.02 * libm::log(x));
    assert_eq!(claim(&claims, "Without loss LE-S takes .5").verdict, No);
    assert_eq!(claim(&claims, "The delay does not depend").verdict, No);
    assert_eq!(claim(&claims, "LE-S takes more time").verdict, Yes);
}

#[test]
fn a_delay_that_levelled_off_would_confirm_a_limit() {
    let claims = forged("5.8", &["LE-S, uncorrelated"], |x, _| 5.0 - 3.0 / x);
    assert_eq!(claim(&claims, "The delay with uncorrelated loss approaches").verdict, Yes);
}

#[test]
fn an_al_that_degraded_would_confirm_what_is_not_reproducible() {
    let slow = |x: f64, y: f64| if x < 70.0 { y } else { y + 0.01 * (x - 30.0) };
    let claims = forged("5.11", &["AL, uncorrelated"], slow);
    assert_eq!(claim(&claims, "At small N").verdict, Yes);
    assert_eq!(claim(&claims, "The performance of AL").verdict, Yes);
    assert_eq!(claim(&claims, "LE-S becomes superior").verdict, Yes);
}

#[test]
fn a_sup_that_sent_more_would_refute_that_it_sends_less() {
    let claims = forged("5.9", &["SUP, correlated"], |_, y| 10.0 * y);
    assert_eq!(claim(&claims, "With loss, too").verdict, No);
    assert_eq!(claim(&claims, "Uncorrelated loss gives").verdict, No);
}

#[test]
fn one_wrong_point_would_refute_what_holds_everywhere_else() {
    let slip = |x: f64, y: f64| if x == 10.0 { y + 2.0 } else { y };
    let claims = forged("5.13", &["LE-M, correlated"], slip);
    assert_eq!(claim(&claims, "LE-M outperforms LE-S").verdict, No);
    let claims = forged("5.10", &["l = .3"], slip);
    assert_eq!(claim(&claims, "The simulations match").verdict, No);
}

/// What the text prints for the messages of the first T_S is wrong; what should stand there is not.
#[test]
fn corrected_forms_match_where_printed_ones_do_not() {
    for (id, subject) in [("5.8", "LE-S, uncorrelated"), ("5.9", "LE-S in the first T_S")] {
        let finding = finding(id);
        let of = |kind: &str| finding.curve(&format!("{subject}, {kind}"));
        assert!(of("simulated").agrees(of("corrected")), "{id}");
        assert!(!of("simulated").agrees(of("printed")), "{id}");
    }
    for (id, kinds) in [("5.6", 2), ("5.7", 2), ("5.10", 10), ("5.13", 12), ("table-5.1", 11)] {
        let finding = finding(id);
        let mut compared = 0;
        for pane in &finding.panes {
            for formula in pane.curves.iter().filter(|curve| curve.name.ends_with(", corrected")) {
                let simulated = formula.name.replace(", corrected", ", simulated");
                if (pane.title, formula.name.as_str()) == ("num_msgs", "uncorrelated, corrected") {
                    // The one approximation: as far off as it is said to be.
                    for (form, dot) in formula.beside(pane.curve(&simulated)) {
                        assert!((0.97..1.14).contains(&(form.y / dot.y)), "{form:?} {dot:?}");
                    }
                    continue;
                }
                assert!(pane.curve(&simulated).agrees(formula), "{id}: {}", formula.name);
                compared += 1;
            }
        }
        assert_eq!(compared, kinds, "{id}: so many formulas");
    }
}

/// What the command prints is compared elsewhere, with the command line itself.
#[test]
fn every_simulated_point_names_the_command_that_makes_it_again() {
    for finding in CHAPTER.iter() {
        for pane in &finding.panes {
            for curve in pane.curves.iter().filter(|curve| curve.kind == Kind::Simulated) {
                for dot in &curve.dots {
                    let command = dot.command.as_deref().expect("a command");
                    let told = format!("--nodes {} ", dot.x);
                    assert!(command.contains(&told), "{}: {command}", finding.id);
                    let told = format!("--runs {} ", dot.runs);
                    assert!(command.contains(&told), "{}: {command}", finding.id);
                }
            }
        }
    }
}

/// Runs are added only where a claim is undecided, and the same command makes the point again.
#[test]
fn what_leaves_a_claim_undecided_gets_more_runs() {
    let finding = finding("5.6");
    let runs = |name: &str| finding.curve(name).at(500.0).runs;
    assert!(runs("LE-S, simulated") > 1000, "a thousand runs are too few for a twentieth");
    let command = finding.curve("LE-S, simulated").at(500.0).command.as_deref();
    let told = format!("--runs {} ", runs("LE-S, simulated"));
    assert!(command.is_some_and(|command| command.contains(&told)), "{command:?}");
    for claim in &finding.claims {
        assert!(claim.rule.contains("look"), "{}", claim.rule);
    }
}
