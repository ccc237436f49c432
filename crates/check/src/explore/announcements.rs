//! The parameters of announce-listen elections in ticks, small enough that a group can be explored.
//!
//! T_S = 2, T_A = 2, T_L infinite: a process wakes at once, in the middle or at the end, and keeps
//! announcing. The count of announcements is part of its state, so the exploration needs a bound on
//! time to end.

use super::world::{Adversary, Asked, TICK, World};
use bellwether_core::Duration;
use bellwether_protocols::announce_listen::{AnnounceListen, Config, Params, Variant};

/// The parameters in one line.
pub const ABOUT: &str = "in ticks: T_S 2, T_A 2, T_L infinite; every draw is the first number, the \
                         middle or the last";

/// How many values of each draw are tried.
pub const VALUES: u64 = 3;

/// The default number of ticks: enough for all to wake, announce a few times and be heard.
pub const TICKS: u32 = 10;

/// The member of the family with this name, if its processes name leaders.
pub fn variant(name: &str) -> Option<Variant> {
    Variant::ALL.into_iter().find(|variant| variant.name() == name && variant.elects())
}

/// A group of this many processes, with the default bound on time if the adversary has none.
pub fn world(nodes: u8, variant: Variant, adversary: Adversary) -> World<AnnounceListen> {
    let ticks = adversary.ticks.or(Some(TICKS));
    let world = World::new(nodes, in_ticks(variant), Adversary { ticks, ..adversary });
    world.with_draws(VALUES).asking(Asked::Candidate)
}

/// # Panics
/// Never: the values are fixed and keep the rules.
fn in_ticks(variant: Variant) -> Params {
    let (opening, ..) = variant.rules();
    let usual = Config::new(variant);
    let config = Config {
        suppress: if opening.suppresses() { TICK * 2 } else { usual.suppress },
        announce: TICK * 2,
        listen: Duration::MAX,
        patience: if opening.queries() { TICK * 2 } else { usual.patience },
        ..usual
    };
    Params::try_from(config).expect("fixed values that keep the rules")
}
