//! Where ours is not the best, computed from the figures.

use crate::table::Figures;

/// Two systems have the same detection time if the longer one is at most this times the shorter.
pub(crate) const SAME: f64 = 1.25;
/// Ours is equal if it is at most this times the other's: repetitions of one row differ by as much.
const EQUAL: f64 = 1.05;
/// Or if it is more by at most this, in the unit of the column: a scheduler's delay in ms.
const LEAST: f64 = 0.5;

fn is_comparable(ours: &Figures, other: &Figures) -> bool {
    let (one, two) = (ours.gives_up_after, other.gives_up_after);
    !other.is_ours() && one.max(two) <= one.min(two) * SAME
}

/// A line for each column in which another system with the same detection time is better.
pub(crate) fn behind(all: &[Figures]) -> Vec<String> {
    let mut lines = Vec::new();
    for ours in all.iter().filter(|figures| figures.is_ours()) {
        for (column, (name, value, unit)) in ours.columns().into_iter().enumerate() {
            let others = all.iter().filter(|other| is_comparable(ours, other));
            let better = others.filter_map(|other| {
                let theirs = other.columns()[column].1;
                let is_better = value > (theirs * EQUAL).max(theirs + LEAST);
                is_better.then(|| format!("{} {theirs:.1}", other.name))
            });
            let better: Vec<String> = better.collect();
            if !better.is_empty() {
                let (who, whom) = (&ours.name, better.join("; "));
                lines.push(format!("{name}: {who} {value:.1} {unit}, behind {whom}"));
            }
        }
    }
    lines
}

/// The systems of which none of ours has the detection time.
fn not_compared(all: &[Figures]) -> Vec<&str> {
    let ours = || all.iter().filter(|figures| figures.is_ours());
    let alone = |other: &&Figures| !ours().any(|ours| is_comparable(ours, other));
    all.iter().filter(|other| !other.is_ours()).filter(alone).map(|it| it.name.as_str()).collect()
}

/// Prints them.
pub(crate) fn print(all: &[Figures]) {
    let lines = behind(all);
    println!("\nat the same detection time (given up after, within a factor of {SAME}):");
    lines.iter().for_each(|line| println!("  not the best: {line}"));
    if lines.is_empty() {
        println!("  ours is the best or equal in every column");
    }
    for name in not_compared(all) {
        println!("  not compared: {name}: no row of ours has its detection time");
    }
}
