//! The figures of the thesis chapter, and ours about its protocols.

use super::Figure;

/// All of them, in the order of the report.
pub fn figures() -> Vec<Figure> {
    Vec::new()
}
