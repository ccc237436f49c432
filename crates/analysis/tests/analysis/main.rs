//! Formulas, figures and plans: values everywhere, agreement with simulation, verdicts.
//!
//! | file | what |
//! |---|---|
//! | `domain` | every formula has a finite value or a reason, for every input |
//! | `messages`, `classic`, `probabilistic` | corrected forms beside the simulation they name |
//! | `figures`, `our_figures` | the figures of the announce-listen chapter, and ours of it |
//! | `classic_figures`, `probabilistic_figures`, `local_leader_figures` | the figures of the other papers |
//! | `page` | how many claims a page has, and what `docs/mathematics.md` says of them |
//! | `lease` | the planner of leases |
//! | `strategy` | the planner of the probabilistic election |
//!
//! One binary, because each is linked against everything. What the thesis claims is in `paper`.

mod classic;
mod classic_figures;
mod domain;
mod figures;
mod found;
mod known;
mod lease;
mod local_leader_figures;
mod messages;
mod our_figures;
mod page;
mod probabilistic;
mod probabilistic_figures;
mod strategy;
