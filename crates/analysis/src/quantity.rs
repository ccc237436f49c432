//! What can be computed, by name: the list behind `bellwether analyze`.
//!
//! To add a quantity, add one entry to the list of its family, beside the formulas it names.

use crate::inputs::{OutOfDomain, ValidInputs};
use crate::point::Point;
use crate::{announce_listen, classic, local_leader, probabilistic};
use bellwether_sim::Measure;

/// What a number counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Seconds.
    Seconds,
    /// Messages; a multicast is one.
    Messages,
    /// Messages in a second; a multicast is one.
    MessagesPerSecond,
    /// Events in an hour.
    PerHour,
    /// Announcements of one leader.
    Announcements,
    /// A part of the time, or a probability: 0 to 1.
    Fraction,
    /// Processes.
    Members,
    /// Parts of a graph without an edge between them.
    Components,
    /// Decimal logarithms, of what is too large to be a number.
    PowersOfTen,
}

impl Unit {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Seconds => "s",
            Self::Messages => "messages",
            Self::MessagesPerSecond => "messages/s",
            Self::PerHour => "per hour",
            Self::Announcements => "announcements",
            Self::Fraction => "fraction",
            Self::Members => "members",
            Self::Components => "components",
            Self::PowersOfTen => "powers of ten",
        }
    }
}

/// A formula.
pub type Formula = fn(&ValidInputs) -> Result<f64, OutOfDomain>;

/// A quantity: both of its forms, and what to simulate to see which is right.
#[derive(Clone, Copy, Debug)]
pub struct Quantity {
    /// Its dotted name, such as `le-s.leadership-delay`.
    pub name: &'static str,
    /// Where it is from, such as `5.3.1`.
    pub section: &'static str,
    /// What it is, in a line.
    pub about: &'static str,
    /// What it counts.
    pub unit: Unit,
    /// The names of the parameters it depends on; `nodes` and `loss` among them.
    pub reads: &'static [&'static str],
    /// As printed; an error where the text gives none or it has no value.
    pub printed: Formula,
    /// As it should read.
    pub corrected: Formula,
    /// What differs and why, in a line, for these arguments.
    pub note: fn(&ValidInputs) -> &'static str,
    /// Whether the corrected form is exact for these arguments, or an approximation.
    pub exact: fn(&ValidInputs) -> bool,
    /// Whether it is what 99 of 100 runs do not exceed; their mean otherwise.
    pub is_percentile: bool,
    /// The simulation that measures it, if one does.
    pub simulation: fn(&ValidInputs) -> Option<(Point, Measure)>,
}

impl Quantity {
    /// Whether the corrected form is an upper bound of what happens in any run. Their mean lies
    /// below it, and says nothing about it.
    pub fn is_bound(&self) -> bool {
        self.about.ends_with("an upper bound")
    }
}

/// All quantities, by family.
pub fn quantities() -> impl Iterator<Item = &'static Quantity> {
    let families = announce_listen::QUANTITIES.iter().chain(classic::QUANTITIES);
    let families = families.chain(probabilistic::QUANTITIES).chain(local_leader::QUANTITIES);
    families.copied().flatten().copied()
}

/// The quantity of this name.
pub fn quantity(name: &str) -> Option<&'static Quantity> {
    quantities().find(|quantity| quantity.name == name)
}
