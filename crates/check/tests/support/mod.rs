//! What the tests of the judge share.

pub(crate) mod claimant;
