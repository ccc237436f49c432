//! Who leads first and who never does, as operators say it: `--priority` and `--witness`.

use super::member::{Folder, Member, bellwether, eventually, leader, peers, refusal};
use std::time::Duration;

/// The witness has the least id and the better member the greatest: by their ids the next leaders
/// would be others.
#[test]
fn a_witness_never_leads_and_the_greatest_priority_comes_first() {
    let folder = Folder::new("roles");
    let (list, dir) = (peers(4), folder.dir());
    let start = |id, flags: &[&str]| Member::start(&folder, &list, id, flags);
    let mut members = vec![start(1, &["--witness"]), start(2, &[]), start(3, &[])];
    let first = leader(&members);
    assert!(first == 2 || first == 3, "{first} leads");
    let other = if first == 2 { 3 } else { 2 };
    members.push(start(4, &["--priority", "5"]));
    assert_eq!(leader(&members), first, "a leader is not displaced");
    let refused = refusal(&bellwether(&format!("transfer web 1 --id {first} --dir {dir}")), 1);
    assert!(refused.contains("member 1 cannot be the next leader: it is a witness"), "{refused}");
    // Priorities are told every half second, and no event says that one was heard.
    std::thread::sleep(Duration::from_millis(1_500));
    for (leads, next) in [(first, 4), (4, other)] {
        let asked = members[leads as usize - 1].ask("resign");
        assert!(asked.status.success(), "{}", String::from_utf8_lossy(&asked.stderr));
        let after =
            eventually("another leader", || Some(leader(&members)).filter(|id| *id != leads));
        assert_eq!(after, next, "after {leads}");
    }
    let why = members[0].status().expect("it answers")["why"].to_string();
    assert!(why.contains("is a witness"), "{why}");
}
