//! Drives every protocol of the table without std, or does not compile.
//!
//! **How.** A program has one panic handler. This crate defines it, and so does std: if core,
//! protocols or anything they depend on linked std, there would be two, which the compiler refuses.
//! With the feature `std` that is what happens; `check` shows both.

#![no_std]
#![forbid(unsafe_code)]

#[cfg(feature = "std")]
extern crate std;

use bellwether_core::{Boot, Endpoint, Env, Instant, Members, NodeId, Protocol, Seeded, Visitor};
use bellwether_protocols::choice::{Choice, PROTOCOLS};
use core::panic::PanicInfo;

extern crate alloc;
use alloc::boxed::Box;

#[panic_handler]
fn panic(_panic: &PanicInfo<'_>) -> ! {
    loop {
        core::hint::spin_loop();
    }
}

/// Begins as a member of three, behind bytes.
struct Begin;

impl Visitor for Begin {
    type Output = Box<dyn Endpoint>;

    fn visit<P: Protocol>(self, params: P::Params) -> Box<dyn Endpoint> {
        let (peers, mut luck) = (others(), Seeded::new(1));
        let mut env = Env { now: Instant::ZERO, peers: &peers, entropy: &mut luck };
        bellwether_core::endpoint::<P>(Boot::first(NodeId(1)), &mut env, params)
    }
}

fn others() -> Members {
    [2, 3].map(NodeId).into_iter().collect()
}

/// Runs a process of every protocol through this many deadlines; how many messages they sent.
pub fn drive(deadlines: usize) -> usize {
    let (peers, mut luck) = (others(), Seeded::new(2));
    let mut sent = 0;
    for choice in PROTOCOLS.iter().filter_map(|entry| Choice::from_json(entry.name, "{}").ok()) {
        let mut process = choice.visit(Begin);
        for _ in 0..deadlines {
            let now = process.poll_timeout();
            process.timeout(&mut Env { now, peers: &peers, entropy: &mut luck });
            while process.poll_output().is_some() {
                sent += 1;
            }
        }
    }
    sent
}
