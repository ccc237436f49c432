//! What the handler tests of several protocols share.

use alloc::vec::Vec;
use bellwether_core::harness::{Harness, read_as_written};
use bellwether_core::{Command, Duration, NodeId, Protocol, Reach, Stage};
use proptest::test_runner::{Config, RngSeed};

/// So many random cases, the same at every run.
pub(crate) fn fixed(cases: u32) -> Config {
    let rng_seed = RngSeed::Fixed(0x5eed_0f1e_ade4);
    Config { cases, rng_seed, failure_persistence: None, ..Config::default() }
}

pub(crate) const fn ms(length: u64) -> Duration {
    Duration::from_millis(length)
}

/// All of 1 to `n` but `me`.
pub(crate) fn others(me: u64, n: u64) -> Vec<NodeId> {
    (1..=n).filter(|id| *id != me).map(NodeId).collect()
}

/// These are reported down.
pub(crate) fn lose<P: Protocol>(process: &mut Harness<P>, ids: &[u64]) {
    for id in ids {
        process.peer(*id, Reach::Down);
    }
}

#[track_caller]
pub(crate) fn campaign<P: Protocol>(process: &mut Harness<P>) -> &mut Harness<P> {
    process.command(Command::Campaign).expect("anyone may call an election")
}

/// A datagram, from whom, and which of the things below happens after it.
pub(crate) type Datagram = (u64, Vec<u8>, u8);

/// Delivers these datagrams, as far as they are messages. After each a timer may fire, its sender
/// may be reported down or up, and a command may be given. Whoever names a leader has decided.
#[track_caller]
pub(crate) fn deliver_all<P: Protocol>(
    process: &mut Harness<P>,
    datagrams: &[Datagram],
    holds: impl Fn(&Harness<P>),
) {
    for (from, bytes, then) in datagrams {
        if let Some(message) = read_as_written(bytes) {
            process.message(*from, message);
        }
        match then {
            0 if !process.is_quiet() => _ = process.ring(),
            1 => _ = process.peer(*from, Reach::Down),
            2 => _ = process.peer(*from, Reach::Up),
            3 => _ = process.command(Command::Campaign),
            4 => _ = process.command(Command::Resign),
            _ => {}
        }
        let named = process.leadership();
        assert_eq!(named.leaders.is_empty(), named.stage == Stage::Undecided);
        holds(process);
    }
}
