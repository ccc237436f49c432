//! A check with a weight changes the priority, and with `preempt` who leads.

use super::member::{Folder, Member, eventually, leader, peers};
use super::{set_well, while_well};

#[test]
fn weights_change_who_is_preferred() {
    let folder = Folder::new("weights");
    let (list, probe) = (peers(3), while_well(&folder));
    (1..=2).for_each(|id| set_well(&folder, id, true));
    let start = |id: u64| {
        let weight = if id == 3 { 50 } else { -15 };
        let check = format!("exec={probe},interval=100ms,weight={weight},init_fail=yes");
        let priority = [20, 10, 0][id as usize - 1].to_string();
        let flags = ["--check", &check, "--priority", &priority];
        let preempt = ["--preempt", "--preempt-delay", "500ms", "--cooldown", "1s"];
        Member::start(&folder, &list, id, &[&flags[..], &preempt].concat())
    };
    let members: Vec<Member> = (1..=3).map(start).collect();
    let leads = |id: u64, why: &str| {
        eventually(why, || (leader(&members) == id).then_some(()));
    };
    leads(1, "20, 10 and 0");
    set_well(&folder, 1, false);
    members[0].error("check probe fails: exit status: 1; its priority is 5");
    leads(2, "5, 10 and 0");
    set_well(&folder, 3, true);
    leads(3, "5, 10 and 50");
    set_well(&folder, 3, false);
    set_well(&folder, 1, true);
    leads(1, "20, 10 and 0 again");
}
