//! The algorithms.
#![no_std]
extern crate alloc;
