//! Simulated groups: what the world does to them, what an experiment measures, and what each
//! protocol promises, over many seeds.
//!
//! They are one program, because each program that runs a protocol compiles the world for it again.

mod ad_hoc;
mod allocation;
mod answering;
mod bully;
mod collating;
mod collecting;
mod detect;
mod determinism;
mod extrema;
mod faults;
mod handover;
mod honesty;
mod large;
mod lazy;
mod lease_records;
mod leases;
mod members;
mod membership;
mod network;
mod observers;
mod probabilistic;
mod replacing;
mod roles;
mod rotating;
mod rounds;
mod scenario_files;
mod scenario_reference;
mod support;
mod surroundings;
