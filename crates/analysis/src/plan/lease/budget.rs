//! What the time of a lease is spent on, and that of a takeover.
//!
//! **Source.** The rules by which [a plan](super) is made.
//!
//! **Promise.** The parts of a bar sum up to the whole; what is left over is the margin.

use super::{Goals, Plan};
use crate::report::bars::{Bar, Part};
use bellwether_core::Duration;

/// The bars of a plan: its lease, and the time until a dead leader is replaced.
pub fn budget(plan: &Plan) -> [Bar; 2] {
    [lease(plan), takeover(plan)]
}

/// What a request and its answers need at most: messages, storing, clocks.
fn round(plan: &Plan) -> [Duration; 3] {
    let Goals { fsync, .. } = plan.goals;
    let ageing = plan.goals.ageing(plan.params.refresh() + plan.params.period());
    [plan.goals.slowest().0 * 4, fsync * 2, ageing * 2]
}

/// How many requests a lease has room for after P and a stall.
fn rounds(plan: &Plan) -> u64 {
    let room = plan.params.lease().saturating_sub(plan.params.renew() + plan.params.sigma());
    room.as_nanos() / plan.params.round().as_nanos().max(1)
}

fn lease(plan: &Plan) -> Bar {
    let (params, rounds) = (&plan.params, rounds(plan));
    let [delay, fsync, clocks] = round(plan).map(|length| length * rounds);
    let clocks = clocks + params.lock().saturating_sub(params.lease());
    let requests = format!(
        "{rounds} requests and their answers after P and a stall, δ each way and as much for what \
         is not known of it"
    );
    let parts = vec![
        Part::new("renewal", params.renew(), "P: until the leader asks for a longer lease"),
        Part::new("delay", delay, &requests),
        Part::new("fsync", fsync, "votes are stored before they are sent"),
        Part::new("clocks", clocks, "what clocks may drift apart: 2ρ of lockTime, and of stamps"),
        Part::new("scheduling", params.sigma(), "σ: one stall"),
    ];
    Bar::new("the lease: lockTime", params.lock(), parts)
}

fn takeover(plan: &Plan) -> Bar {
    let (params, takeover) = (&plan.params, plan.takeover);
    let [delay, fsync, clocks] = round(plan);
    let (stagger, attempts, locks) =
        (params.stagger(), u64::from(takeover.attempts), u64::from(takeover.locks));
    let failed = (stagger + params.delta()) * attempts + stagger * 2 * locks;
    let counted = params.lock() * (locks + 1) + stagger + params.sigma() + failed;
    let clocks = clocks + plan.takeover_within().saturating_sub(counted);
    let lock = match locks {
        0 => "until the followers are free".to_owned(),
        _ => format!("until the followers are free, {} times", locks + 1),
    };
    let parts = vec![
        Part::new("lock", params.lock() * (locks + 1), &lock),
        Part::new("delay", delay, "a request and its answers"),
        Part::new("fsync", fsync, "candidate and voters store their votes"),
        Part::new("clocks", clocks, "what clocks may drift apart"),
        Part::new("scheduling", params.sigma() * 2, "2σ: the candidate asks, and is answered"),
        Part::new("attempts", failed, &format!("{attempts} may fail because of losses")),
    ];
    Bar::new("the takeover: detect", plan.goals.detect, parts)
}
