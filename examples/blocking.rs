//! Exactly one of these processes works at a time. Start it in three terminals, and end one:
//!
//! ```text
//! cargo run --release --example blocking -- 1
//! cargo run --release --example blocking -- 2
//! cargo run --release --example blocking -- 3
//! ```

use bellwether::{Election, Peers};
use std::time::Duration;

const MEMBERS: &str = "1=127.0.0.1:7401,2=127.0.0.1:7402,3=127.0.0.1:7403";

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = std::env::args().skip(1);
    let id = args.next().ok_or("which member is this? 1, 2 or 3")?.parse()?;
    let peers: Peers = args.next().unwrap_or(MEMBERS.to_owned()).parse()?;
    // A real group has a key: `.keyring(Keyring::read(path)?)`.
    let mut member = Election::builder("blocking").peers(peers).id(id).insecure();
    if let Some(dir) = args.next() {
        member = member.control_dir(dir); // for `bellwether status --dir DIR --id ID`
    }
    let election = member.join()?;
    loop {
        println!("member {id} waits for its turn");
        let Some(guard) = election.wait(None)? else { continue };
        println!("member {id} leads");
        while guard.still_leading() {
            // What only a leader may do, in pieces shorter than `guard.remaining()`.
            println!("member {id} works; its lease lasts {:?} more", guard.remaining());
            guard.wait_lost(Some(Duration::from_millis(500)));
        }
        println!("member {id} no longer leads");
    } // dropping a guard resigns
}
