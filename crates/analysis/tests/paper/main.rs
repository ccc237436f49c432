//! The paper tier: what the thesis chapter says of announce-listen elections, simulated.
//!
//! **Source.** Chapter 5, "Leader Election", sections 5.3 (metrics and closed forms) and 5.4
//! (simulations), as this crate has them. Every test names its section. Forms that are wrong as
//! printed are tested twice: the corrected one agrees, the printed one is rejected.
//!
//! | file | section | what |
//! |---|---|---|
//! | `leadership_delay` | 5.3.1, 5.3.3 | from a start: delay, rounds, messages, on the whole grid |
//! | `messages` | 5.3.3 | messages of SUP, in T_S, of small groups, with other timers |
//! | `reestablishment` | 5.3.2, 5.7 | after a departure, a Bye, an arrival |
//! | `inconsistency` | 5.3.2, 5.3.4 | false departures, and time without agreement |
//! | `claims` | 5.4, 5.6 | what the text says in words |
//! | `connected_set` | section X of Fetzer and Cristian | who leads where connections are not transitive |
//! | `local_leader` | sections IV and IX to XI of Fetzer and Cristian | bounds, times and costs of leases |
//! | `figure_31` | figures 30 and 31 of Fetzer and Cristian | a model to the letter, and what the text has otherwise |
//! | `as_printed` | figure 3 of Gupta and others; MEREA, Tables 1 to 4 | rules as printed, in small models |
//! | `enumeration` | 5.3.3.3 | small groups counted through, which no formula is needed for |
//!
//! Symbols are those of [`bellwether_analysis::announce_listen`]. Here T_S = T_A = 1, Δ = .1 and
//! timers are uniform unless said otherwise; "together" is correlated loss, "apart" uncorrelated.
//!
//! # What passes
//!
//! A simulated mean agrees with a form if the form lies in the mean's 99.9 % interval
//! (`Summary::agrees_with`), and rejects it if it does not. There is no other tolerance, but for
//! the few comparisons called *roughly*, whose forms are approximations and which say what they
//! grant.
//!
//! # What is chance
//!
//! All points have one seed. There are about 1300 comparisons, many of them of the same runs,
//! so a seed for which one of them fails is nothing unusual, and a bug is not excused by one for
//! which none does. Hence the environment variables `PAPER_SEED` and `PAPER_RUNS` (a factor), and
//! `--nocapture`, which prints by how many standard errors each mean is off:
//!
//! ```text
//! PAPER_SEED=77 PAPER_RUNS=16 cargo test -p bellwether-analysis --test paper -- --nocapture
//! ```
//!
//! So it was checked: 1 was the first seed tried, and all holds. With seeds 2 to 9 four times one
//! point fails, never the same (half a failure a seed is to be expected; protocols that draw the
//! same coins in that point fail with it). No point's deviations, added up over the eight seeds,
//! exceed what one seed may have: the largest is 2.8 standard errors, and their mean square is
//! .88. With sixteen times the runs, and so a quarter of the error, and a seed of its own, 77,
//! all holds again; the mean square over all comparisons is .98. A bias of half an interval would
//! have shown.
//!
//! On failure a test prints the `bellwether sim` command that gives the same numbers.

#![expect(clippy::disallowed_methods, reason = "tolerances dwarf the last bits")]

mod as_printed;
mod claims;
mod connected_set;
mod enumeration;
mod figure_31;
mod inconsistency;
mod leadership_delay;
mod local_leader;
mod messages;
mod reestablishment;
mod support;
