//! What a member says about the machine's promptness.

use crate::support::{eventually, member, places};
use bellwether_core::Instant;
use bellwether_net::clock::{BootTime, Clock, Readings};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A clock by which the machine stops for a while now and then: all of its time is lost at once.
#[derive(Default)]
struct Stalling(AtomicU64);

impl Stalling {
    fn stall(&self, millis: u64) {
        self.0.fetch_add(millis * 1_000_000, Ordering::AcqRel);
    }
}

impl Clock for Stalling {
    fn now(&self) -> Instant {
        Instant::from_nanos(BootTime.now().as_nanos() + self.0.load(Ordering::Acquire))
    }

    fn readings(&self) -> Option<Readings> {
        let lost = self.0.load(Ordering::Acquire);
        let Readings { boot, monotonic, raw } = BootTime.readings()?;
        Some(Readings { boot: boot + lost, monotonic: monotonic + lost, raw: raw + lost })
    }
}

/// σ of the preset `lan`.
const SIGMA: f64 = 20.0;

#[test]
fn a_member_that_is_woken_later_than_its_leases_allow_says_so() {
    let clock = Arc::new(Stalling::default());
    let alone = member(1, &places(1)).clock(Arc::clone(&clock) as _).join().unwrap();
    let _guard = alone.wait(crate::support::PATIENCE).unwrap().unwrap();
    let before = alone.status().unwrap();
    assert_eq!(before.scheduling_allowed_ms, Some(SIGMA));
    let said = |warnings: &[String]| {
        let late = warnings.iter().filter(|warning| warning.contains("late, but its leases allow"));
        late.count()
    };
    assert_eq!(said(&before.warnings), usize::from(before.scheduling_delay_ms > SIGMA));
    // The stall counts if it comes while the member sleeps, which it does nearly always.
    let late = eventually("a stall that was noticed", || {
        clock.stall(400);
        std::thread::sleep(std::time::Duration::from_millis(60));
        alone.status().ok().filter(|status| status.scheduling_delay_ms > 300.0)
    });
    assert_eq!(said(&late.warnings), 1, "{:?}", late.warnings);
    let warning = late.warnings.iter().find(|warning| warning.contains("(sigma)")).unwrap();
    assert!(warning.contains("allow for 20.0 ms") && warning.contains("preset"), "{warning}");
}
