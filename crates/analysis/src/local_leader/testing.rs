//! What the tests of leases share.

use super::Leases;
use crate::inputs::{ValidInputs, usual};

/// Five processes, messages of a millisecond, and these leases.
pub(super) fn inputs(change: impl FnOnce(&mut Leases)) -> ValidInputs {
    usual(5, |given| {
        given.delay = 0.001;
        change(&mut given.leases);
    })
}
