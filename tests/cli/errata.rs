//! `docs/errata.md` is what the program writes: no number in it is typed, none is out of date.

use crate::command::stdout;

/// On failure: `cargo run --release -- analyze --errata > docs/errata.md`, and read what changed.
#[test]
fn the_errata_are_what_the_formulas_and_the_simulations_say() {
    let written = stdout("analyze --errata");
    let kept = include_str!("../../docs/errata.md");
    for (line, (written, kept)) in (1..).zip(written.lines().zip(kept.lines())) {
        assert_eq!(written, kept, "docs/errata.md, line {line}");
    }
    assert_eq!(written.lines().count(), kept.lines().count(), "docs/errata.md");
    // Wherever both forms have a value and the right one is exact, the simulation says which.
    let judged: Vec<&str> = written.lines().filter(|line| line.ends_with("orrected |")).collect();
    assert!(judged.len() >= 15, "{} rows are decided", judged.len());
    assert!(!written.contains("| printed |\n") && !written.contains("| neither |"), "{written}");
}
