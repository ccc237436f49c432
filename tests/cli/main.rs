//! The command as scripts and people meet it: its output, its files, its one-line errors and its
//! exit codes. Nothing here opens a socket, so that all of it may run side by side.

mod analyze;
mod called;
mod check;
mod command;
mod errata;
mod interrupted;
mod keygen;
mod plan;
mod plan_probabilistic;
mod points;
mod probabilistic;
mod reproduce;
mod sim_and_trace;
mod traces;
