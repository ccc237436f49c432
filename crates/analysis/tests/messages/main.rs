//! The numbers of messages of section 5.3.3 and what is compared with them in section 5.4: against
//! sums written down from the definitions, against enumeration, and against simulation.

mod simulated;

use bellwether_analysis::{Given, OutOfDomain, Setting, quantity};

/// The defaults of the figures with these changes.
pub(crate) fn setting(change: impl FnOnce(&mut Given)) -> Setting {
    let mut given = Given::default();
    change(&mut given);
    given.try_into().expect("inside the domain")
}

/// The corrected value of a quantity.
pub(crate) fn corrected(name: &str, setting: &Setting) -> Result<f64, OutOfDomain> {
    (quantity(name).expect("a name").corrected)(setting)
}
