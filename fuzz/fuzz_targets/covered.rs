//! Any target of `crates/fuzz`, by coverage: `BELLWETHER_FUZZ=frame cargo fuzz run covered`.
//! CONTRIBUTING.md says how on stable Rust.

#![no_main]

use bellwether_fuzz::{Target, targets};
use libfuzzer_sys::fuzz_target;
use std::sync::OnceLock;

fn target() -> &'static Target {
    static TARGET: OnceLock<Target> = OnceLock::new();
    TARGET.get_or_init(|| {
        let name = std::env::var("BELLWETHER_FUZZ").unwrap_or_default();
        let found = targets().into_iter().find(|target| target.name == name);
        found.unwrap_or_else(|| panic!("set BELLWETHER_FUZZ to one of `bellwether-fuzz list`"))
    })
}

fuzz_target!(|bytes: &[u8]| {
    (target().read)(bytes);
});
