//! Never two: at no moment do two processes lead.
//!
//! The safety property (S) of the conventional leader election problem, which section X of Fetzer
//! and Cristian obtains from majorities: "there exists at most one leader at a time".

use super::{Finding, Invariant};
use crate::view::View;

/// At no moment do two processes lead.
#[derive(Clone, Copy, Debug)]
pub struct NeverTwo;

impl Invariant for NeverTwo {
    fn name(&self) -> &'static str {
        "never-two"
    }

    fn look(&mut self, view: &View<'_>) -> Finding {
        Finding::of((view.leaders.len() > 1).then(|| {
            let told: Vec<String> = view.leaders.iter().map(|leader| view.tell(leader)).collect();
            format!("{} lead at once: {}", view.leaders, told.join("; "))
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::invariants::scenes::Stage;

    #[test]
    fn two_leaders_are_one_too_many() {
        let mut stage = Stage::new(3);
        stage.leads(0, &[0, 1]);
        assert_eq!(stage.look(&mut NeverTwo), Finding::Kept);
        stage.leads(2, &[2]);
        assert!(stage.breaks(&mut NeverTwo, "{0, 2} lead at once: process 0 leads until"));
        stage.gone(0);
        assert_eq!(stage.look(&mut NeverTwo), Finding::Kept);
    }
}
