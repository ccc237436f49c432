//! The probabilistic election in a world: how often it succeeds, beside what theory says.

mod chaos;
mod counting;
mod exact;
mod rules;
mod support;
