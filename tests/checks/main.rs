//! Health checks, hooks and what is there while a member leads: real processes on the loopback.
//!
//! **Assumptions.** A shared machine may stall for a while, so what is waited for may take long,
//! and leases are those of a wide-area network.

mod face;
mod forbidding;
mod hanging;
mod leader_file;
mod looking;
mod refusals;
mod telling;
mod weighing;

#[path = "../http/client.rs"]
#[allow(dead_code, reason = "these tests need a part of it")]
mod client;
#[path = "../run/member.rs"]
#[allow(dead_code, reason = "these tests need a part of it")]
mod member;

use member::{Folder, Member};
use serde_json::Value;

/// A check that is well while there is a file of the member's number.
fn while_well(folder: &Folder) -> String {
    let script = format!("[ -e {}.$BELLWETHER_ID ]", folder.file("well").display());
    folder.script("probe", &script).display().to_string()
}

/// Lets the check of this member be well, or fail.
fn set_well(folder: &Folder, id: u64, well: bool) {
    let file = folder.file(&format!("well.{id}"));
    if well {
        std::fs::write(file, "").expect("there is room");
    } else {
        std::fs::remove_file(file).expect("it was well");
    }
}

/// The first check of a member.
fn check(member: &Member) -> Option<Value> {
    member.status().map(|status| status["checks"][0].clone())
}
