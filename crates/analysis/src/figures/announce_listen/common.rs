//! What the figures of the chapter have in common: group sizes, axes, and series made of them.
//!
//! A [`Subject`] is one thing that is drawn against N, such as t_max of LE-S with correlated loss.
//! It is drawn up to three times, as printed, as corrected and as simulated, and the names of the
//! curves end with that.

use crate::announce_listen::point;
use crate::announce_listen::{convergence, messages, messages_le_m, suppression};
use crate::figures::series::named;
use crate::figures::{Axis, Kind, Panel, Series};
use crate::inputs::{Inputs, Loss, OutOfDomain, ValidInputs};
use bellwether_protocols::announce_listen::Variant;
use bellwether_sim::Measure;

/// The loss of the chapter's examples, all receivers losing together.
pub(super) const CORRELATED: Loss = Loss::Correlated(0.4);
/// The same, each receiver losing for itself.
pub(super) const UNCORRELATED: Loss = Loss::Uncorrelated(0.4);

/// What figures of a start leave open, and what we chose.
pub(super) const PARAMETERS: &str =
    "T_S = T_A = 1 s and Δ = .1 s, as the text says; timers are uniform.";
pub(super) const CONVERGED: &str = "A group has converged when every process has accepted the \
    leader once. The text gives no T_L; ours is infinite, so that nobody forgets a leader.";
pub(super) const SENT: &str = "t_max is when the converging announcement was sent, as in the text. \
    It was received Δ later.";
pub(super) const QUIET: &str = "SUP elects nobody. Its t_max is, as in the text, when its last \
    message was sent: by then everyone has spoken or is about to be silenced.";
pub(super) const SUP_ANALYSIS: &str = "The text's analysis of SUP is in a chapter that we do not \
    have. The line is our own, exact without loss and with correlated loss.";
pub(super) const COUNTED: &str = "Messages are those sent before the converging reception, a \
    multicast counting once; of SUP, all that are ever sent.";
pub(super) const RUNS: &str = "4000 runs at every point up to N = 100, 1000 up to 10,000, 300 up \
    to 100,000 and 100 at a million, or the number asked for in the same proportion; more where a \
    claim is undecided. The text has 1000 up to 100 and 100 above.";
pub(super) const BOTH_MODELS: &str =
    "The text does not say which loss model the figure shows; both are drawn.";

/// The group sizes of a figure, and how they are drawn.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sizes {
    pub(super) nodes: &'static [u32],
    log: bool,
}

/// The chapter's sizes.
pub(super) const TO_500: Sizes = Sizes {
    nodes: &[2, 5, 10, 20, 50, 70, 100, 150, 200, 250, 300, 350, 400, 450, 500],
    log: false,
};

/// The largest of them.
pub(super) const LARGEST: f64 = 500.0;

/// Three to a decade up to a hundred thousand, and then a million, as far as simulation reaches.
pub(super) const TO_A_MILLION: Sizes = Sizes {
    nodes: &[
        2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000,
        1_000_000,
    ],
    log: true,
};

impl Sizes {
    /// A panel with N across; formulas that have no value leave nothing to draw.
    pub(super) fn panel(&self, title: &'static str, y: Axis, mut series: Vec<Series>) -> Panel {
        series.retain(|series| !series.is_formula_below(2));
        Panel { title, x: Axis { label: "group size N", unit: "", log: self.log }, y, series }
    }

    /// A panel of times.
    pub(super) fn times(&self, title: &'static str, series: Vec<Series>) -> Panel {
        self.panel(title, Axis::linear("convergence time t_max", "s"), series)
    }

    /// A panel of messages: they grow as N does, and are drawn as N is.
    pub(super) fn messages(&self, title: &'static str, series: Vec<Series>) -> Panel {
        self.panel(title, Axis { label: "messages", unit: "", log: self.log }, series)
    }
}

/// One thing that is drawn against N.
#[derive(Clone, Copy, Debug)]
pub(super) struct Subject {
    /// What the names of its curves begin with.
    pub(super) name: &'static str,
    /// What its curves have in common to the eye.
    pub(super) hue: usize,
    /// The protocol.
    pub(super) variant: Variant,
    /// What it suffers.
    pub(super) loss: Loss,
}

/// Names a subject.
pub(super) const fn subject(
    name: &'static str,
    hue: usize,
    variant: Variant,
    loss: Loss,
) -> Subject {
    Subject { name, hue, variant, loss }
}

impl Subject {
    /// What this measure comes to in simulations.
    pub(super) fn simulated(&self, sizes: &Sizes, measure: Measure) -> Series {
        let point = |&nodes: &u32| {
            let point = point(self.variant, nodes, self.loss).runs(runs(nodes));
            (f64::from(nodes), point)
        };
        let name = named(self.name, Kind::Simulated);
        Series::simulated(name, self.hue, measure, sizes.nodes.iter().map(point))
    }

    /// What a formula comes to, wherever it has a value.
    pub(super) fn formula(
        &self,
        kind: Kind,
        sizes: &Sizes,
        formula: impl Fn(Variant, &ValidInputs) -> Result<f64, OutOfDomain>,
    ) -> Series {
        let value = |nodes: u32| {
            let given = Inputs { nodes, loss: self.loss, ..Inputs::default() };
            formula(self.variant, &given.try_into().ok()?).ok()
        };
        let values = sizes.nodes.iter().map(|&nodes| (f64::from(nodes), value(nodes)));
        Series::line(named(self.name, kind), self.hue, kind, values)
    }
}

/// How many runs a group of this size gets of a budget of a thousand: [`RUNS`].
pub(super) fn runs(nodes: u32) -> u64 {
    match nodes {
        0..=100 => 4000,
        101..=10_000 => 1000,
        10_001..=100_000 => 300,
        _ => 100,
    }
}

/// What messages until convergence come to.
pub(super) fn messages_sent(variant: Variant, inputs: &ValidInputs) -> Result<f64, OutOfDomain> {
    match variant {
        Variant::Sup => suppression::messages(inputs),
        Variant::LeM => messages_le_m::corrected(inputs),
        _ => messages::corrected(inputs),
    }
}

/// What t_max comes to.
pub(super) fn t_max(variant: Variant, inputs: &ValidInputs) -> Result<f64, OutOfDomain> {
    match variant {
        Variant::Sup => suppression::convergence_time(inputs),
        _ => convergence::time_corrected(variant, inputs),
    }
}
