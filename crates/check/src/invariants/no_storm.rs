//! No message storm: processes do not answer each other without end.
//!
//! Fetzer and Cristian, section II: a round takes one broadcast and N−1 unicasts. A protocol may
//! send more, but if every answer causes another one at once nothing else happens; without delays,
//! time does not advance.

use super::{Finding, Invariant};
use crate::view::View;
use bellwether_core::SimTime;

/// In the length of a lease, a process makes no more steps than any sensible protocol needs.
#[derive(Clone, Debug)]
pub struct NoStorm {
    since: SimTime,
    steps: u64,
}

/// The most steps of each process. The busiest protocols here need some tens.
const STEPS_MAX: u64 = 1_000;

impl Default for NoStorm {
    fn default() -> Self {
        Self { since: SimTime::ZERO, steps: 0 }
    }
}

impl Invariant for NoStorm {
    fn name(&self) -> &'static str {
        "no-storm"
    }

    fn compares(&self) -> bool {
        false
    }

    fn begin(&mut self) {
        *self = Self::default();
    }

    fn look(&mut self, view: &View<'_>) -> Finding {
        if view.at > self.since + view.course.time_scales.lease {
            (self.since, self.steps) = (view.at, 0);
        }
        self.steps += 1;
        let most = STEPS_MAX.saturating_mul(view.rows.len() as u64);
        Finding::of((self.steps > most).then(|| {
            let (steps, length) = (self.steps, view.at.since(self.since));
            format!("{steps} steps in {length}: the processes do nothing but answer each other")
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::invariants::scenes::Stage;
    use bellwether_core::Duration;

    #[test]
    fn who_never_stops_answering_makes_a_storm() {
        let mut stage = Stage::new(2);
        let mut storm = NoStorm::default();
        for _ in 0..2 {
            assert!((0..2_000).all(|_| stage.look(&mut storm) == Finding::Kept));
            stage.at += stage.course.time_scales.lease + Duration::from_nanos(1);
        }
        stage.at = stage.at - Duration::from_nanos(1);
        assert!(stage.breaks(&mut storm, "2001 steps in 0.1s"));
        storm.begin();
        assert_eq!(stage.look(&mut storm), Finding::Kept);
    }
}
