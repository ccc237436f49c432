//! The runtime as applications meet it: members over loopback, frames, keys and the control socket.

mod broken_rules;
mod control;
mod election;
mod frames;
mod guards;
mod handover;
mod identity;
mod joining;
mod key_file;
mod lengths;
mod membership;
mod scheduling;
mod support;
mod tokens;
mod voters;
