//! Which trouble a schedule may have, and how much of it.

use crate::swarm::Luck;
use crate::trouble::{Trouble, Troubles};

/// What narrows the random schedules, so that a test can name the trouble it means. Lengths are in
/// leases.
#[derive(Clone, Debug, PartialEq)]
pub struct Regime {
    /// Nothing else happens.
    pub allowed: Troubles,
    /// Of the allowed kinds, these happen in every schedule.
    pub forced: Troubles,
    /// How long it goes wrong.
    pub chaos: (f64, f64),
    /// How often each kind of trouble strikes.
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
    /// How the group is connected in the end; drawn if absent.
    pub finale: Option<Finale>,
}

/// How the group is connected in the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Finale {
    /// Everybody with everybody.
    Whole,
    /// In two halves.
    Halves,
    /// In a row, each with its neighbours.
    Chain,
}

/// Everything, as it comes.
impl Default for Regime {
    fn default() -> Self {
        Self {
            allowed: Troubles::ALL,
            forced: Troubles::NONE,
            chaos: (8.0, 20.0),
            episodes: (1, 3),
            quick: (0.0, 1.0),
            down: (1.0, 5.0),
            pause: (1.0, 3.0),
            cut: (0.2, 4.0),
            drift: 1.0,
            finale: None,
        }
    }
}

impl Regime {
    /// These kinds in every schedule, and no others.
    pub fn only(kinds: &[Trouble]) -> Self {
        let kinds = Troubles::of(kinds);
        Self { allowed: kinds, forced: kinds, ..Self::default() }
    }

    /// Which kinds a schedule has. Half of the schedules have few kinds, because trouble can also
    /// hide trouble: what loses every message leaves nothing to be broken (Groce et al., "Swarm
    /// testing", 2012).
    pub(crate) fn draw(&self, luck: &mut Luck, later: &mut Luck) -> Troubles {
        let chance = if luck.chance(0.5) { 0.5 } else { 0.2 };
        let mut drawn = Troubles::NONE;
        for kind in Trouble::ALL {
            let luck = if Trouble::LATER.contains(&kind) { &mut *later } else { &mut *luck };
            // The coin is tossed in any case, so that a narrower regime has the same luck.
            let on = luck.chance(chance) || self.forced.has(kind);
            if on && self.allowed.has(kind) {
                drawn = drawn.with(kind);
            }
        }
        drawn
    }
}
