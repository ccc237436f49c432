//! (T) A stable partition has a leader within κ, and is never without one for κ. Its observers name
//! that leader soon after.
//!
//! Fetzer and Cristian, section V: stablePartition(SP, t−κ, t) ⇒ ∃p ∈ SP, ∃s ∈ [t−κ, t]:
//! Leader_p(s). Where a leader needs a majority, only partitions with a majority count (section X);
//! and where voters need records, only from when on enough of them have them, or can get them.
//!
//! Who does not vote learns of the leader by what it sends: its requests, or in a large group its
//! announcements, which come through other members. So it names one that leads within κ, or
//! the time between two announcements if that is longer, and [`TOLD`] leases. If more than one
//! member is missing, or one is cut off, announcements may be lost on their way, and nothing is
//! asked.

use super::{Finding, Invariant};
use crate::links::Part;
use crate::nodes::Nodes;
use crate::view::View;
use bellwether_core::SimTime;

/// How many leases after a leader is there all observers name it.
const TOLD: u64 = 2;

/// A stable partition has a leader at some moment of every κ.
#[derive(Clone, Debug, Default)]
pub struct Timeliness {
    /// When each stable partition was last seen to have a leader.
    led: Vec<(Nodes, SimTime)>,
    /// When each observer last named a process that led, since the calm began.
    told: Vec<SimTime>,
}

impl Timeliness {
    fn last_led(&mut self, members: Nodes, calm: SimTime) -> &mut SimTime {
        let known = self.led.iter().position(|(known, _)| *known == members);
        let index = known.unwrap_or_else(|| {
            self.led.push((members, calm));
            self.led.len() - 1
        });
        &mut self.led[index].1
    }

    /// An observer of this part that has named no leader for too long, in words.
    fn untold(&mut self, view: &View<'_>, part: &Part) -> Option<String> {
        let scales = &view.course.time_scales;
        self.told.resize(view.rows.len(), view.course.calm);
        let all = view.members.without(part.members).len() <= 1;
        let asked = all && scales.tokens && view.has_records(part);
        if !asked {
            self.told.fill(view.at);
            return None;
        }
        let leaders = view.leaders.and(part.members);
        let longest = scales.settles.max(scales.announces) + scales.lease * TOLD;
        for observer in view.observers(part).iter() {
            let last = &mut self.told[observer as usize];
            if view.row(observer).names.meets(leaders) {
                *last = view.at;
            }
            let without = view.at.since(*last);
            if without > longest {
                return Some(format!(
                    "process {observer} does not vote, is connected with {} since {}, and named \
                     nobody that led for {without}, longer than {longest}",
                    part.members, view.course.calm
                ));
            }
        }
        for voter in part.members.without(view.observers(part)).iter() {
            self.told[voter as usize] = view.at;
        }
        None
    }
}

impl Invariant for Timeliness {
    fn name(&self) -> &'static str {
        "timeliness"
    }

    fn needs_calm(&self) -> bool {
        true
    }

    fn begin(&mut self) {
        self.led.clear();
        self.told.clear();
    }

    fn look(&mut self, view: &View<'_>) -> Finding {
        if !view.is_calm() {
            return Finding::Nothing;
        }
        let mut finding = Finding::Nothing;
        for part in view.parts {
            if !view.is_stable(part) {
                self.told.fill(view.at);
                continue;
            }
            let last = self.last_led(part.members, view.course.calm);
            // A leader seen last leads until its lease ends, or until now if that is earlier.
            *last = (*last).min(view.at);
            if !view.has_records(part) {
                *last = view.at;
                self.told.fill(view.at);
                continue;
            }
            for leader in view.leaders.and(part.members).iter() {
                *last = (*last).max(view.at).max(view.row(leader).ends);
            }
            let without = view.at.since(*last);
            if without > view.course.time_scales.settles {
                return Finding::Broken(format!(
                    "{} are connected with each other and with nobody else since {}, but had no \
                     leader for {without}, longer than {}",
                    part.members, view.course.calm, view.course.time_scales.settles
                ));
            }
            if let Some(untold) = self.untold(view, part) {
                return Finding::Broken(untold);
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
    use bellwether_protocols::time_scales::TimeScales;

    #[test]
    fn a_stable_partition_is_never_without_a_leader_for_long() {
        let mut stage = Stage::new(3);
        let mut timeliness = Timeliness::default();
        stage.at = SimTime::ZERO;
        assert_eq!(stage.look(&mut timeliness), Finding::Nothing, "it is not calm yet");
        stage.at = stage.course.settled;
        assert_eq!(stage.look(&mut timeliness), Finding::Kept, "just in time");
        stage.leads(0, &[0, 1, 2]);
        assert_eq!(stage.look(&mut timeliness), Finding::Kept);
        stage.rows[0].leads = false;
        stage.at = stage.course.settled + stage.course.time_scales.settles;
        assert_eq!(stage.look(&mut timeliness), Finding::Kept, "it was without for κ, no longer");
        stage.settle();
        stage.at += stage.course.time_scales.settles;
        assert!(stage.breaks(&mut timeliness, "{0, 1, 2} are connected with each other"));
        timeliness.begin();
        stage.course.time_scales.quorum = Some(4);
        assert_eq!(stage.look(&mut timeliness), Finding::Nothing, "too few to have a leader");
    }

    #[test]
    fn observers_name_the_leader_soon_after_it_is_there() {
        let mut stage = Stage::new(4);
        let mut timeliness = Timeliness::default();
        stage.course.time_scales.tokens = true;
        stage.course.time_scales.quorum = Some(2);
        stage.course.founders = Some(Nodes::first(3));
        let list = VoterList { version: 1, voters: Nodes::first(3), ..VoterList::default() };
        let list = VoterList { committed: true, ..list };
        stage.rows.iter_mut().for_each(|row| row.list = Some(list));
        stage.leads(0, &[0, 1, 2]);
        stage.at = stage.course.calm;
        assert_eq!(stage.look(&mut timeliness), Finding::Kept);
        let TimeScales { lease, settles, .. } = stage.course.time_scales;
        stage.at += settles + lease * TOLD;
        assert_eq!(stage.look(&mut timeliness), Finding::Kept, "just in time");
        stage.rows[3].names = Nodes::only(0);
        assert_eq!(stage.look(&mut timeliness), Finding::Kept);
        stage.rows[3].names = Nodes::only(1);
        stage.at += settles + lease * TOLD;
        assert_eq!(stage.look(&mut timeliness), Finding::Kept);
        stage.at += Duration::from_nanos(1);
        let mut seldom = timeliness.clone();
        stage.course.time_scales.announces = settles + Duration::from_millis(1);
        assert_eq!(stage.look(&mut seldom), Finding::Kept, "the next announcement is to come");
        stage.course.time_scales.announces = settles;
        assert!(stage.breaks(&mut timeliness, "process 3 does not vote"), "1 does not lead");
    }

    #[test]
    fn whoever_cannot_have_records_need_not_have_a_leader() {
        let mut stage = Stage::new(3);
        let mut timeliness = Timeliness::default();
        stage.course.time_scales.quorum = Some(2);
        stage.rows[0].highest = 7;
        (stage.rows[1].no_record, stage.rows[2].no_record) = (true, true);
        assert_eq!(stage.look(&mut timeliness), Finding::Nothing, "two must tell their terms");
        stage.at += stage.course.time_scales.settles * 9;
        assert_eq!(stage.look(&mut timeliness), Finding::Nothing);
        stage.rows[1].no_record = false;
        assert_eq!(stage.look(&mut timeliness), Finding::Kept, "κ begins");
        stage.at += stage.course.time_scales.settles + Duration::from_nanos(1);
        assert!(stage.breaks(&mut timeliness, "had no leader"));
        timeliness.begin();
        stage.rows[1].no_record = true;
        stage.rows[0].highest = 0;
        assert!(stage.breaks(&mut timeliness, "had no leader"), "they could found the group");
    }
}
