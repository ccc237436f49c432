//! The command as scripts and people meet it: its output, its files, its one-line errors and its
//! exit codes. Nothing here uses the network, so that all of it may run side by side.

mod analyze;
mod called;
mod censored;
mod check;
mod command;
mod completions;
mod effects;
mod errata;
mod interrupted;
mod keygen;
mod plan;
mod plan_local_leader;
mod plan_probabilistic;
mod points;
mod probabilistic;
mod rare;
mod reproduce;
mod shares;
mod sim_and_trace;
mod sweep;
mod traces;
