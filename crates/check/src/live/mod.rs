//! Checks live runs: reads the traces of all members together and checks the same invariants as in
//! a simulation.
//!
//! **What it assumes.** Members with the same boot id read the same clock, so that their records
//! have a common order. A process believes what it recorded last, until the deadline that it
//! recorded. A process without further records still leads until then, whether it was killed,
//! paused or disconnected; unless others received its last will, which is sent for the dead alone.
//! A belief without a deadline ends with the last record of its life: nobody relies on it longer.
//!
//! **What it promises.** Each invariant holds, is violated, or is undecidable, with the reason. A
//! violation names the file and the line. An invariant that cannot be decided is never reported to
//! hold.
//!
//! | part | holds |
//! |---|---|
//! | `read` | lines of a file, including those of killed processes |
//! | `lives` | the incarnations, and whether they are of one group |
//! | `trace_judge`, `ruling` | applies the records and checks the invariants; what became of each |
//! | `doubts` | what was not recorded, and what is undecidable because of it |
//! | `works`, `commands` | when the command ran, and whether it ran twice or without a lease |
//! | `wills` | lives that others were told are over |
//! | `conditions` | the fault schedule: which processes are disconnected or paused |
//! | `reigns` | the leaders over time |
//! | `merge` | all traces as one, for diagrams |

mod carried;
mod commands;
mod conditions;
mod doubts;
mod lives;
mod merge;
mod read;
mod reigns;
mod ruling;
mod trace_judge;
mod wills;
mod works;

pub use carried::show_carried;
pub use doubts::Doubt;
pub(crate) use lives::opens;
pub use lives::{Group, Life, lives};
pub use merge::merged;
pub use read::{BadTrace, Line, Trace};
pub use reigns::{Gap, Reign, Reigns};
pub use ruling::{Outcome, Ruling};
pub use trace_judge::{Judgement, judge, judge_until};
