//! What the numbers in the README come from.
fn main() {}
