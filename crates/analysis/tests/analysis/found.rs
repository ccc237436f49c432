//! Figures with their numbers.

use bellwether_analysis::figures::{Budget, Figure, Finding, Workbench};

/// The figures with their numbers, made as `reproduce` makes them.
pub(crate) fn found(figures: Vec<Figure>, runs: u64) -> Vec<Finding> {
    looked_at(figures, Budget { runs, ..Budget::default() })
}

/// The same with a budget. What is added after the first look takes minutes where groups are large.
pub(crate) fn looked_at(figures: Vec<Figure>, budget: Budget) -> Vec<Finding> {
    let mut bench = Workbench::new(budget);
    let made = figures.into_iter().map(|figure| bench.finding(figure, &mut || ()));
    made.collect::<Result<_, _>>().expect("figures that can be simulated")
}

/// A copy of the figure of this name.
pub(crate) fn named(found: &[Finding], id: &str) -> Finding {
    found.iter().find(|finding| finding.id == id).expect("one of these figures").clone()
}
