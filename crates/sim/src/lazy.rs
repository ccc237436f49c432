//! The lazy engine.

use crate::coin::Coins;
use crate::experiment::{Experiment, Sample};

pub(crate) struct Lazy<'a> {
    experiment: &'a Experiment,
}

impl<'a> Lazy<'a> {
    pub(crate) fn new(experiment: &'a Experiment) -> Self {
        Self { experiment }
    }

    pub(crate) fn run(&mut self, coins: Coins) -> Sample {
        let _ = (self.experiment, coins);
        Sample::new(0)
    }
}
