//! Bully, input by input.
