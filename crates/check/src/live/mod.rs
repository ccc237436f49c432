//! Live runs, judged: what members recorded, read together and shown to the same invariants that
//! watch a simulated world.
//!
//! **What it assumes.** Members that name the same boot id read the same clock, so that their
//! records can be put in one order. A process believes what it recorded last, until that ends by
//! its own word; one that records nothing more still leads until then, whether it was killed,
//! stands still or was cut off.
//!
//! **What it promises.** Each invariant holds, is violated, or cannot be decided from what there
//! is, with the reason. What was violated is told with the file and the line. Where it cannot be
//! known it is never said to hold.
//!
//! | part | holds |
//! |---|---|
//! | `read` | lines, and what a killed process may leave |
//! | `lives` | who lived when, and whether they are of one group |
//! | `court` | records become rows; the invariants look |
//! | `doubts` | what was not recorded, and what cannot be decided for it |
//! | `works`, `commands` | when the command ran, and whether it ran twice or without a lease |
//! | `weather` | what the fault schedule says: who is cut off, who stands still |
//! | `reigns` | who led from when to when |
//! | `merge` | all of it as one trace, for pictures |

mod commands;
mod court;
mod doubts;
mod lives;
mod merge;
mod read;
mod reigns;
mod weather;
mod works;

pub use court::{Judgement, Outcome, Ruling, judge};
pub use doubts::Doubt;
pub(crate) use lives::opens;
pub use lives::{Group, Life, lives};
pub use merge::merged;
pub use read::{BadTrace, Line, Trace};
pub use reigns::{Gap, Reign, Reigns};
