//! Live traces, from a group in memory that records itself: what the judge says of them as they
//! are, with lines changed, and what a replay finds.

mod judging;
mod lab;
mod missing;
mod replaying;
mod wills;
mod working;

use crate::ms;
use bellwether_core::{Command, NodeId};
use bellwether_protocols::local_leader::Mode;
use lab::Lab;

/// Everything that may happen to three members: the leader is killed and comes back, stands still,
/// is cut off, resigns and leaves. One in `loses` messages is lost; none if that is 0, as it
/// must be where a schedule of faults is to be the whole truth.
fn eventful(mode: Mode, seed: u64, loses: u64) -> Lab {
    let mut lab = Lab::leases(3, mode, seed);
    lab.loses = loses;
    lab.run(ms(1_500));
    let first = lab.leader().expect("three elect one");
    lab.crash(first);
    lab.run(ms(1_500));
    lab.restart(first);
    lab.run(ms(1_500));
    let second = lab.leader().expect("two elect one");
    lab.pause(second);
    lab.run(ms(1_500));
    lab.resume(second);
    lab.run(ms(1_500));
    lab.cut(&[1], &[2, 3]);
    lab.run(ms(1_500));
    lab.heal();
    lab.run(ms(1_500));
    let last = lab.leader().expect("three elect one");
    lab.command(last, Command::Resign);
    lab.run(ms(1_500));
    for id in (1..=3).map(NodeId) {
        lab.command(id, Command::Leave);
        lab.run(ms(300));
    }
    lab
}
