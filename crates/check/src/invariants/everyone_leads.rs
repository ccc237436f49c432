//! Where leadership goes round, every member of a stable partition leads again and again.
//!
//! Beyond the paper, which notes that (T) allows it: (T) asks for a leader, whoever that is. A
//! reign and the change to the next leader take at most
//! [`rotates`](bellwether_protocols::time_scales::TimeScales::rotates), so in a stable partition of
//! n each member leads at some moment of every n + 1 of those: one more, because the first reign
//! may have begun before. Witnesses never lead, nor does who has no vote.

use super::{Finding, Invariant};
use crate::nodes::Nodes;
use crate::view::View;
use bellwether_core::SimTime;
use bellwether_protocols::time_scales::TimeScales;

/// Every member of a stable partition leads within a known time.
#[derive(Clone, Debug, Default)]
pub struct EveryoneLeads {
    /// When each process was last seen to lead, by its number.
    led: Vec<SimTime>,
}

impl EveryoneLeads {
    /// Its name in reports.
    pub(crate) const NAME: &'static str = "everyone-leads";

    /// Those of a partition that can lead.
    fn able(view: &View<'_>, members: Nodes) -> Option<Nodes> {
        let mut able = members.without(view.course.witnesses);
        for row in members.iter().map(|node| view.row(node)) {
            match row.list {
                // Its leases may be longer than those that the time was computed for.
                Some(list) if list.lengths.is_some() || !list.committed => return None,
                Some(list) => able = able.and(list.voters),
                None => {}
            }
            if row.no_record {
                return None;
            }
        }
        Some(able)
    }
}

impl Invariant for EveryoneLeads {
    fn name(&self) -> &'static str {
        Self::NAME
    }

    fn needs_calm(&self) -> bool {
        true
    }

    fn applies(&self, time_scales: &TimeScales) -> bool {
        time_scales.rotates.is_some()
    }

    fn begin(&mut self) {
        self.led.clear();
    }

    fn look(&mut self, view: &View<'_>) -> Finding {
        let Some(rotates) = view.course.time_scales.rotates.filter(|_| view.is_settled()) else {
            return Finding::Nothing;
        };
        self.led.resize(view.rows.len(), view.course.settled);
        view.leaders.iter().for_each(|leader| self.led[leader as usize] = view.at);
        let mut finding = Finding::Nothing;
        for part in view.parts.iter().filter(|part| view.is_stable(part)) {
            let Some(able) = Self::able(view, part.members).filter(|_| view.has_records(part))
            else {
                part.members.iter().for_each(|node| self.led[node as usize] = view.at);
                continue;
            };
            let most = rotates * (part.members.len() as u64 + 1);
            let waits = |node: &u32| view.at.since(self.led[*node as usize]) > most;
            if let Some(node) = able.iter().find(waits) {
                return Finding::Broken(format!(
                    "{} are connected with each other and with nobody else since {}, and \
                     leadership goes round, but process {node} has not led since {}, for longer \
                     than {most}",
                    part.members, view.course.calm, self.led[node as usize]
                ));
            }
            finding = Finding::Kept;
        }
        finding
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::invariants::scenes::Stage;
    use crate::view::VoterList;
    use bellwether_core::Duration;

    #[test]
    fn whoever_is_passed_over_for_too_long_is_seen() {
        let (mut stage, mut everyone) = (Stage::new(3), EveryoneLeads::default());
        assert!(!everyone.applies(&stage.course.time_scales));
        let rotates = Duration::from_millis(100);
        stage.course.time_scales.rotates = Some(rotates);
        assert!(everyone.applies(&stage.course.time_scales));
        stage.settle();
        stage.leads(0, &[0, 1, 2]);
        assert_eq!(stage.look(&mut everyone), Finding::Kept);
        stage.at = stage.course.settled + rotates * 3;
        stage.rows[0].leads = false;
        stage.leads(1, &[0, 1, 2]);
        assert_eq!(stage.look(&mut everyone), Finding::Kept);
        stage.at = stage.course.settled + rotates * 4;
        assert_eq!(stage.look(&mut everyone), Finding::Kept, "just in time");
        stage.at += Duration::from_nanos(1);
        assert!(stage.breaks(&mut everyone, "but process 2 has not led since"));
        stage.course.witnesses = Nodes::only(2);
        assert_eq!(stage.look(&mut everyone), Finding::Kept, "it never leads");
        stage.course.witnesses = Nodes::NONE;
        let voters = [0, 1].into_iter().collect();
        let list = VoterList { version: 1, committed: true, voters, ..VoterList::default() };
        (stage.rows[0].list, stage.rows[1].list) = (Some(list), Some(list));
        assert_eq!(stage.look(&mut everyone), Finding::Kept, "it does not vote");
        everyone.begin();
        stage.rows[0].list = Some(VoterList { committed: false, ..list });
        assert_eq!(stage.look(&mut everyone), Finding::Nothing, "the voters change");
    }
}
