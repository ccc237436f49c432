//! The paper tier: what the thesis chapter says of announce-listen elections, simulated.
//!
//! **Source.** Chapter 5, "Leader Election", sections 5.3 (metrics and closed forms) and 5.4
//! (simulations), as corrected in our reading. Every test names its section. Forms that are wrong
//! as printed are tested twice: the corrected one agrees, the printed one is rejected.
//!
//! | file | section | what |
//! |---|---|---|
//! | `leadership_delay` | 5.3.1, 5.3.3 | from a start: delay, rounds, messages, on the whole grid |
//! | `messages` | 5.3.3 | messages of SUP, in T_S, of small groups, with other timers |
//! | `reestablishment` | 5.3.2, 5.7 | after a departure, a Bye, an arrival |
//! | `inconsistency` | 5.3.2, 5.3.4 | false departures, and time without agreement |
//! | `claims` | 5.4, 5.6 | what the text says in words |
//! | `exact`, `exact_apart` | | the forms, each with its derivation where the text has none |
//!
//! | paper | code | meaning |
//! |---|---|---|
//! | N | `nodes` | all processes, the leader included |
//! | l | `loss`, `l` | how often a message is lost |
//! | corr | `Loss::Correlated`, `correlated`, "together" | one coin per message |
//! | uc | `Loss::Uncorrelated`, `uncorrelated`, "apart" | one coin per message and receiver |
//! | Δ | `delay`, `D` = .1 | how long a message takes |
//! | T_S, t_s, E[t_s] | `suppress`, the wake-up, `mean_wake` | the wait before the first message |
//! | p, P | `wake_law` | density and distribution function of t_s |
//! | T_A | `announce` | between a leader's announcements; = T_S = 1 unless said otherwise |
//! | T_L = (m+θ)T_A | `listen`, `m`, `theta` | silence after which a leader is given up |
//! | t_d, t_a | the phase that `Scenario` draws | when the leader departs, another arrives |
//! | X(n), E[# consecutive lost] | `beyond_first` | those after the first until n have one |
//! | t_max | `convergence_time` | when the converging announcement was sent |
//! | num_msgs, rounds, avg_rounds | `messages`, `rounds`, `average_rounds` | Table 5.1 |
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
//! All cells have one seed. There are about a thousand comparisons, many of them of the same runs,
//! so a seed for which one of them fails is nothing unusual, and a bug is not excused by one for
//! which none does. Hence the environment variables `PAPER_SEED` and `PAPER_RUNS` (a factor), and
//! `--nocapture`, which prints by how many standard errors each mean is off:
//!
//! ```text
//! PAPER_SEED=77 PAPER_RUNS=16 cargo test -p bellwether-sim --test paper -- --nocapture
//! ```
//!
//! So it was checked: 1 was the first seed tried, and all holds. With seeds 2 to 9 five times one
//! cell fails, never the same (half a failure a seed is to be expected; protocols that draw the
//! same coins in that cell fail with it). No cell's deviations, added up over the nine seeds,
//! exceed what one seed may have: the largest is 3.0 standard errors, and their mean square is
//! .96. With sixteen times the runs, and so a quarter of the error, and a seed of its own, 77,
//! all holds again; the mean square over all comparisons is 1.1. A bias of half an interval would
//! have shown.
//!
//! On failure a test prints the `bellwether sim` command that gives the same numbers.

#![expect(clippy::disallowed_methods, reason = "tolerances dwarf the last bits")]

mod claims;
mod exact;
mod exact_apart;
mod inconsistency;
mod leadership_delay;
mod messages;
mod reestablishment;
mod support;
