//! The collecting ring, input by input.
