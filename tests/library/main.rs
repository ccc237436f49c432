//! What somebody gets who adds `bellwether` to a program: few packages, examples that run.

mod examples;
mod packages;
