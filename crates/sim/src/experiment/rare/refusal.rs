//! Why a rare event has no estimate.

use std::fmt;

/// Why a rare event has no estimate: the rule, and a way out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotEstimated {
    /// Names of parameters stand between braces.
    text: &'static str,
    tried: bool,
}

impl NotEstimated {
    /// The parameters break a rule.
    pub(super) const fn rule(text: &'static str) -> Self {
        Self { text, tried: false }
    }

    /// Nothing is wrong with the parameters, but the runs gave no estimate.
    pub(super) const fn tried(text: &'static str) -> Self {
        Self { text, tried: true }
    }

    /// Whether runs were made, and gave no estimate; otherwise the parameters break a rule.
    pub fn was_tried(&self) -> bool {
        self.tried
    }

    /// The text, in which a parameter is called as `called` says.
    pub fn explain(&self, called: &dyn Fn(&str) -> String) -> String {
        let parts = self.text.split(['{', '}']).enumerate();
        parts.map(|(at, part)| if at % 2 == 0 { part.to_owned() } else { called(part) }).collect()
    }
}

impl fmt::Display for NotEstimated {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.explain(&str::to_owned))
    }
}
