//! Known verdicts, and forgeries of the numbers that they come from.

use bellwether_analysis::figures::{Curve, Finding, Verdict};

/// The verdicts of a figure's claims, known by how each begins, in their order.
pub(crate) type Known = (&'static str, &'static [(&'static str, Verdict)]);

/// All figures are these, and all their claims have these verdicts.
pub(crate) fn assert_known(found: &[Finding], known: &[Known]) {
    let ids: Vec<&str> = found.iter().map(|finding| finding.id).collect();
    assert_eq!(ids, known.iter().map(|(id, _)| *id).collect::<Vec<_>>());
    for (Finding { id, claims, .. }, (_, known)) in found.iter().zip(known) {
        assert_eq!(claims.len(), known.len(), "{id}: a claim that no test knows");
        for (claim, (begins, verdict)) in claims.iter().zip(*known) {
            println!("{id}: {} [{}]: {}", claim.says, claim.verdict.name(), claim.because);
            assert!(claim.says.starts_with(begins), "{id}: {}", claim.says);
            assert_eq!(claim.verdict, *verdict, "{id}: {}: {}", claim.says, claim.because);
            assert!(!claim.because.is_empty() && !claim.because.contains("NaN"), "{claim:?}");
        }
    }
}

/// Changes a curve of the pane of this number.
pub(crate) fn change(
    finding: &mut Finding,
    pane: usize,
    name: &str,
    change: impl FnOnce(&mut Curve),
) {
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
