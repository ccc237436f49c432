//! MEREA's experiments once more: how long it takes until all know the leader.

use super::common::{STEADY, growth_per_process};
use super::merea_messages::{
    ANY_ORDER, AT_ONCE, BEST, Case, DOWN, RING_ALL, RING_ONE, RUNS, TIMES, WORST_BEST, WORST_WORST,
    living, panel, proportional,
};
use crate::figures::evidence::{Margin, above, matched_within};
use crate::figures::{Axis, Claim, Figure, Finding};
use bellwether_sim::Measure;

/// The figure.
pub(super) fn figure() -> Figure {
    Figure {
        title: "MEREA and the plain ring: time until all know the leader",
        source: "MEREA, sections 5 to 7; the paper has no figure of times",
        says: "The paper gives the times of its experiments, 3 s a hop and 1 s over each message, \
            and says that MEREA performs better in time, too. Its analysis speaks of time \
            complexity and counts messages.",
        choices: &[
            DOWN,
            TIMES,
            "Time is until the last process names the leader. The lines follow from counting hops; \
             the paper has no formula of time.",
            AT_ONCE,
            RUNS,
        ],
        panels: vec![panel(Axis::linear("time", "s"), Measure::Time, Vec::new())],
        claims,
        ..Figure::BARE
    }
}

fn claims(finding: &Finding) -> Vec<Claim> {
    let of = |case: Case| finding.simulated(case.name);
    vec![
        matched_within(
            "In the best case MEREA takes as long as the ring.",
            "5.A",
            Margin::Exact,
            "N =",
            &[(of(BEST), of(RING_ONE))],
        ),
        above(
            "If all call MEREA performs better than the ring in terms of time.",
            "7",
            &[WORST_BEST, WORST_WORST, ANY_ORDER].map(|case| (of(RING_ALL), of(case))),
        ),
        proportional("In the worst-best case the time is O(n).", "5.B.1", of(WORST_BEST)),
        quadratic(finding),
    ]
}

/// Ten times as many processes would take a hundred times as long.
fn quadratic(finding: &Finding) -> Claim {
    let says = "In the worst-worst case the time grows as n².";
    let curve = finding.simulated(WORST_WORST.name);
    let (Some([_, _, squared]), Some([.., linear])) = (
        growth_per_process(curve, |nodes| living(nodes) * living(nodes)),
        growth_per_process(curve, living),
    ) else {
        return Claim::open(says, "5.B.2", "there is nothing to compare");
    };
    let because = format!(
        "from one end to the other time over n² becomes {squared:.3} times what it was, and time \
         over n {linear:.3} times: under this name the paper counts messages"
    );
    Claim::judged(says, "5.B.2", (1.0 / STEADY..=STEADY).contains(&squared), because)
}
