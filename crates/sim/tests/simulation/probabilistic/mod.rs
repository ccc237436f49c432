//! The probabilistic election in a world: its success rate, compared with theory.

mod chaos;
mod counting;
mod exact;
mod rules;
mod support;
