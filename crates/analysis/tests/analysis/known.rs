//! Known verdicts, and forgeries of the numbers that they come from.
//!
//! Verdicts must come out of numbers and records. So a test asks for the verdicts that are known,
//! and forged numbers and records must turn each of them round.

use crate::found::named;
use bellwether_analysis::errata::{self, Case};
use bellwether_analysis::figures::{Curve, Finding, Verdict, figure};

/// How a claim begins, its verdict, and a forgery of its figure that changes the verdict.
pub(crate) type Known = (&'static str, Verdict, fn(&mut Finding));

/// Figures with all their claims, in order.
pub(crate) type Table = &'static [(&'static str, &'static [Known])];

/// All figures are these, and all their claims have these verdicts.
pub(crate) fn assert_known(found: &[Finding], known: Table) {
    let ids: Vec<&str> = found.iter().map(|finding| finding.id).collect();
    assert_eq!(ids, known.iter().map(|(id, _)| *id).collect::<Vec<_>>());
    let mut wrong = Vec::new();
    for (Finding { id, claims, .. }, (_, known)) in found.iter().zip(known) {
        assert_eq!(claims.len(), known.len(), "{id}: a claim that no test knows");
        for (claim, (begins, verdict, _)) in claims.iter().zip(*known) {
            println!("{id}: {} [{}]: {}", claim.says, claim.verdict.name(), claim.because);
            assert!(claim.says.starts_with(begins), "{id}: {}", claim.says);
            assert!(!claim.because.is_empty() && !claim.because.contains("NaN"), "{claim:?}");
            if claim.verdict != *verdict {
                wrong.push((id, claim.says, claim.because.clone()));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// What errata say of claims of these figures is their verdict. Gives how many there are.
pub(crate) fn assert_errata_know(found: &[Finding]) -> usize {
    let cases = errata::errata().into_iter().flat_map(|erratum| erratum.cases);
    let told = cases.filter_map(|case| match case {
        Case::Figure { figure, claim, verdict } => Some((figure, claim, verdict)),
        _ => None,
    });
    let mut count = 0;
    for (figure, claim, verdict) in told {
        let Some(finding) = found.iter().find(|finding| finding.id == figure) else { continue };
        let judged = finding.claims.iter().find(|judged| judged.says == claim);
        let judged = judged.unwrap_or_else(|| panic!("{figure} does not claim: {claim}"));
        assert_eq!(judged.verdict, verdict, "{figure}: {claim}: {}", judged.because);
        count += 1;
    }
    count
}

/// Each forgery changes the verdict of its claim.
pub(crate) fn assert_forgeries_count(found: &[Finding], known: Table) {
    let mut unmoved = Vec::new();
    for (id, known) in known {
        for (place, (.., forge)) in known.iter().enumerate() {
            let mut forged = named(found, id);
            forge(&mut forged);
            let judged = (figure(id).expect("one of these figures").claims)(&forged);
            let before = &forged.claims[place];
            let now = judged.iter().find(|now| now.says == before.says);
            if now.is_none_or(|now| now.verdict == before.verdict) {
                unmoved.push((id, before.says, now.map(|now| &now.because).cloned()));
            }
        }
    }
    assert!(unmoved.is_empty(), "{unmoved:#?}");
}

/// What is undecided is so for want of runs: the same numbers with a thousandth of the error decide
/// it, for or against. A claim that nothing can decide says nothing.
pub(crate) fn assert_runs_would_decide(found: &[Finding], known: Table) {
    let mut open = Vec::new();
    for (id, known) in known {
        let mut sharp = named(found, id);
        let curves = sharp.panes.iter_mut().flat_map(|pane| &mut pane.curves);
        for dot in curves.flat_map(|curve| &mut curve.dots) {
            dot.ci95 = dot.ci95.map(|end| dot.y + (end - dot.y) / 1e3);
            (dot.stderr, dot.runs) = (dot.stderr / 1e3, dot.runs * 1_000_000);
        }
        let judged = (figure(id).expect("one of these figures").claims)(&sharp);
        for (claim, (_, verdict, _)) in judged.iter().zip(*known) {
            if *verdict == Verdict::Undecided && claim.verdict == Verdict::Undecided {
                open.push((id, claim.says, claim.because.clone()));
            }
        }
    }
    assert!(open.is_empty(), "{open:#?}");
}

/// Changes a curve of the pane of this number.
fn change(finding: &mut Finding, pane: usize, name: &str, change: impl FnOnce(&mut Curve)) {
    let curves = &mut finding.panes[pane].curves;
    let found = curves.iter_mut().find(|curve| curve.name == name);
    change(found.unwrap_or_else(|| panic!("no curve is called {name}")));
}

/// Gives a curve the numbers of another.
pub(crate) fn copy(finding: &mut Finding, pane: usize, from: &str, to: &str) {
    let dots = finding.panes[pane].curve(from).dots.clone();
    change(finding, pane, to, |curve| curve.dots = dots);
}

/// Multiplies a curve by a function of x.
pub(crate) fn raise(finding: &mut Finding, pane: usize, name: &str, by: impl Fn(f64) -> f64) {
    change(finding, pane, name, |curve| curve.dots.iter_mut().for_each(|dot| dot.y *= by(dot.x)));
}

/// Gives all points of a curve the same value.
pub(crate) fn level(finding: &mut Finding, pane: usize, name: &str, y: f64) {
    change(finding, pane, name, |curve| curve.dots.iter_mut().for_each(|dot| dot.y = y));
}
