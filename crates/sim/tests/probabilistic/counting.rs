//! A size that is gossiped.
