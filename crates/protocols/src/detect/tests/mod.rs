//! The layer, input by input.
