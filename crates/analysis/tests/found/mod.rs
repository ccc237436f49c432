//! Figures with their numbers.

use bellwether_analysis::figures::{Budget, Figure, Finding, Workbench};

/// The figures with their numbers, made as `reproduce` makes them.
pub(crate) fn found(figures: Vec<Figure>, budget: Budget) -> Vec<Finding> {
    let mut bench = Workbench::new(budget);
    let made = figures.into_iter().map(|figure| bench.finding(figure, &mut || ()));
    made.collect::<Result<_, _>>().expect("figures that can be simulated")
}
