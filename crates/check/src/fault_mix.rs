//! Which faults a schedule may have, and how many.

use crate::fault_kind::{FaultKind, FaultKinds};
use crate::swarm::ScheduleRng;

/// Restricts random schedules, so that a test can choose its faults. Durations are in leases.
#[derive(Clone, Debug, PartialEq)]
pub struct FaultMix {
    /// The allowed kinds.
    pub allowed: FaultKinds,
    /// The allowed kinds that every schedule has.
    pub forced: FaultKinds,
    /// How long faults happen.
    pub chaos: (f64, f64),
    /// How often each kind of fault happens.
    pub episodes: (u64, u64),
    /// How long a quick restart takes.
    pub quick: (f64, f64),
    /// How long a crash lasts.
    pub down: (f64, f64),
    /// How long a long pause lasts.
    pub pause: (f64, f64),
    /// How long a cut lasts.
    pub cut: (f64, f64),
    /// The drift of clocks, in ρ: 1 is what the protocol allows for.
    pub drift: f64,
    /// The chance that nobody can tell a first life from a lost memory, for protocols with tokens:
    /// such a group must be founded first.
    pub founding: f64,
    /// The chance that members have priorities and some are witnesses, for protocols that have
    /// these.
    pub roles: f64,
    /// The chance that voters change, for protocols in which they can.
    pub members: f64,
    /// How the group is connected after the faults; drawn if absent.
    pub finale: Option<FinalLinks>,
}

/// How the group is connected after the faults.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FinalLinks {
    /// All processes are connected.
    Whole,
    /// In two halves.
    Halves,
    /// In a line, each with its neighbours.
    Chain,
}

/// All kinds of faults.
impl Default for FaultMix {
    fn default() -> Self {
        Self {
            allowed: FaultKinds::ALL,
            forced: FaultKinds::NONE,
            chaos: (8.0, 20.0),
            episodes: (1, 3),
            quick: (0.0, 1.0),
            down: (1.0, 5.0),
            pause: (1.0, 3.0),
            cut: (0.2, 4.0),
            drift: 1.0,
            founding: 0.5,
            roles: 0.25,
            members: 0.25,
            finale: None,
        }
    }
}

/// In how many schedules killed processes are released.
const RELEASED: f64 = 0.3;
/// In how many schedules all processes restart at once.
const ALL_RESTART: f64 = 0.1;
/// In how many schedules lockTime or ρ change, if they can.
const LENGTHS: f64 = 0.2;

impl FaultMix {
    /// These kinds in every schedule, and no others; first lives are known, and members alike.
    pub fn only(kinds: &[FaultKind]) -> Self {
        let kinds = FaultKinds::of(kinds);
        Self { allowed: kinds, forced: kinds, founding: 0.0, roles: 0.0, ..Self::default() }
    }

    /// Draws the kinds of a schedule. Half of the schedules have few kinds, because one fault can
    /// hide another: if every message is lost, nothing can break (Groce et al., "Swarm testing",
    /// 2012).
    pub(crate) fn draw(
        &self,
        rng: &mut ScheduleRng,
        later: &mut ScheduleRng,
        latest: &mut ScheduleRng,
    ) -> FaultKinds {
        let chance = if rng.chance(0.5) { 0.5 } else { 0.2 };
        let mut drawn = FaultKinds::NONE;
        // Those have streams of their own.
        for kind in FaultKind::ALL.into_iter().filter(|kind| !FaultKind::ALONE.contains(kind)) {
            let rng = match kind {
                kind if FaultKind::LATER.contains(&kind) => &mut *later,
                kind if FaultKind::LATEST.contains(&kind) => &mut *latest,
                _ => &mut *rng,
            };
            // Always draw, so that a narrower mix makes the same other random choices.
            let on = rng.chance(chance) || self.forced.has(kind);
            if on && self.allowed.has(kind) {
                drawn = drawn.with(kind);
            }
        }
        drawn
    }

    /// Draws whether killed processes are released in a schedule. This has a random stream of its
    /// own.
    pub(crate) fn draw_release(&self, rng: &mut ScheduleRng) -> bool {
        let drawn = rng.chance(RELEASED) || self.forced.has(FaultKind::Release);
        drawn && self.allowed.has(FaultKind::Release)
    }

    /// Draws whether all processes restart at once in a schedule. This has a random stream of its
    /// own.
    pub(crate) fn draw_all_restart(&self, rng: &mut ScheduleRng) -> bool {
        let drawn = rng.chance(ALL_RESTART) || self.forced.has(FaultKind::AllRestart);
        drawn && self.allowed.has(FaultKind::AllRestart)
    }

    /// Draws whether lockTime or ρ change in a schedule. This has a random stream of its own.
    pub(crate) fn draw_lengths(&self, rng: &mut ScheduleRng) -> bool {
        let drawn = rng.chance(LENGTHS) || self.forced.has(FaultKind::Lengths);
        drawn && self.allowed.has(FaultKind::Lengths)
    }

    /// Draws whether voters change in a schedule. This has a random stream of its own.
    pub(crate) fn draw_members(&self, rng: &mut ScheduleRng) -> bool {
        let drawn = rng.chance(self.members) || self.forced.has(FaultKind::Members);
        drawn && self.allowed.has(FaultKind::Members)
    }
}
