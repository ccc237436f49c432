//! The contract carries the hard protocols: skeletons of them, stepping, without a hack.
//!
//! | skeleton | what is hard about it |
//! |---|---|
//! | [`leases`] | a layer that bounds delays; a leadership that ends while nothing happens |
//! | [`collecting_ring`] | a list moved from hop to hop; a layer that detects failures |
//! | [`ad_hoc`] | a protocol driven by link events |
//! | [`probabilistic`] | a group known by a rule, not a list; a protocol that gives up |
//! | [`suppression`] | a protocol that elects nobody |
//!
//! Each is run to its result in a small [`world`], as a node and behind bytes, with equal outcomes;
//! the last one also goes through a small [`explorer`]. [`every`] holds what all of them owe, and
//! [`reluctant`] is a protocol made to refuse a command late.

mod ad_hoc;
mod collecting_ring;
mod every;
mod explorer;
mod leases;
mod probabilistic;
mod reluctant;
mod suppression;
mod world;
