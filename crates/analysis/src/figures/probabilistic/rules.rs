//! Ours: the two re-initiation rules that section 3.1 names, side by side.

use super::common::{OF_ALL, ends};
use super::loss::SWEEP;
use crate::figures::evidence::{
    ABOVE, Margin, above_from, difference, equal, lies_above, part, value,
};
use crate::figures::tell::{Comparison, at_least};
use crate::figures::{Claim, Curve, Dot, Figure, Finding, Verdict};

/// The figure.
pub(super) fn figure() -> Figure {
    Figure {
        title: "Probabilistic election: who should begin a round again?",
        source: "ours, of the two rules of section 3.1 of the probabilistic election",
        says: "To keep the number of re-initiations constant, those who saw that a round has no \
            clear outcome begin another one if their hash is below K/N (figure 3); or else after a \
            random delay, unless another has done so. The text has both and compares neither.",
        choices: OF_ALL,
        panels: vec![SWEEP.success(), SWEEP.rounds(), SWEEP.messages()],
        claims,
        ..Figure::BARE
    }
}

fn claims(finding: &Finding) -> Vec<Claim> {
    let pair = |what: &str| ["delay", "hash"].map(|rule| finding.curve(&format!("{what}, {rule}")));
    let [success, of_hash] = pair("strong");
    let [rounds, rounds_of_hash] = pair("rounds");
    let [[unicasts, fewer_unicasts], [multicasts, fewer_multicasts]] =
        [pair("unicasts"), pair("multicasts")];
    let lossless = |curve: &Curve| part(curve, |loss| loss == 0.0);
    vec![
        Claim::compared(
            "With `delay` strong success is higher than with `hash`, the more so the more is lost.",
            "ours",
            ABOVE,
            &[lies_above(success, of_hash), falls_behind(success, of_hash)].concat(),
            in_words(success, of_hash),
        ),
        Claim::compared(
            "Without loss both rules do as well.",
            "ours",
            &format!("as well is {}", Margin::Share.in_words()),
            &equal(&lossless(success), &lossless(of_hash), Margin::Share),
            format!("{} and {}", first(success), first(of_hash)),
        ),
        Claim::compared(
            "The price of `delay` is more rounds and more messages.",
            "ours",
            ABOVE,
            &[
                lies_above(rounds, rounds_of_hash),
                lies_above(unicasts, fewer_unicasts),
                lies_above(multicasts, fewer_multicasts),
            ]
            .concat(),
            [rounds, rounds_of_hash, unicasts, fewer_unicasts, multicasts, fewer_multicasts]
                .map(|curve| ends(curve, "loss"))
                .join("; "),
        )
        .explained(Verdict::Confirmed, "they are what mends the rounds that `hash` leaves broken"),
    ]
}

/// That the second curve is farther below the first at the end than in the middle, and there
/// farther than at the beginning.
fn falls_behind(more: &Curve, less: &Curve) -> Vec<Comparison> {
    let gaps: Vec<Dot> = more.beside(less).map(|(more, less)| difference(more, less)).collect();
    let [first, .., last] = &gaps[..] else { return Vec::new() };
    let middle = &gaps[gaps.len() / 2];
    vec![at_least(middle, first), at_least(last, middle)]
}

fn in_words(more: &Curve, less: &Curve) -> String {
    let from = above_from(more, less).map_or_else(
        || "nowhere beyond doubt".to_owned(),
        |x| format!("beyond doubt from loss {x} on"),
    );
    let at: Vec<String> = more
        .beside(less)
        .map(|(more, less)| format!("{} against {} at {}", value(more), value(less), more.x))
        .collect();
    format!("{from}: {}", at.join(", "))
}

fn first(curve: &Curve) -> String {
    curve.dots.first().map_or_else(String::new, value)
}
