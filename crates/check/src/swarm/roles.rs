//! Priorities and witnesses.

use super::ScheduleRng;

/// Draws the priorities and the witnesses of a group. Each majority has a member that can lead.
pub(super) fn draw(nodes: u32, rng: &mut ScheduleRng) -> (Vec<u32>, Vec<u32>) {
    let priorities = (0..nodes).map(|_| rng.below(3) as u32).collect();
    let mut witnesses = Vec::new();
    for _ in 0..rng.below(u64::from(nodes.div_ceil(2))) {
        let node = rng.node(nodes);
        if !witnesses.contains(&node) {
            witnesses.push(node);
        }
    }
    (priorities, witnesses)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_majority_has_a_member_that_can_lead() {
        for nodes in 1..=9 {
            let mut most = 0;
            for number in 0..200 {
                let (priorities, witnesses) = draw(nodes, &mut ScheduleRng::roles(1, number));
                assert_eq!(priorities.len(), nodes as usize);
                assert!(witnesses.len() < nodes as usize / 2 + 1, "{witnesses:?} of {nodes}");
                most = most.max(witnesses.len());
            }
            assert_eq!(most, (nodes as usize - 1) / 2, "of {nodes}");
        }
    }
}
