//! Exactly one of these processes works at a time, with tokio. Start it in three terminals, and
//! press Ctrl-C in the one that works:
//!
//! ```text
//! cargo run --release --example tokio -- 1
//! cargo run --release --example tokio -- 2
//! cargo run --release --example tokio -- 3
//! ```

use bellwether::{Election, Peers};
use std::time::Duration;

const MEMBERS: &str = "1=127.0.0.1:7401,2=127.0.0.1:7402,3=127.0.0.1:7403";

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = std::env::args().skip(1);
    let id = args.next().ok_or("which member is this? 1, 2 or 3")?.parse()?;
    let peers: Peers = args.next().unwrap_or(MEMBERS.to_owned()).parse()?;
    // A real group has a key: `.keyring(Keyring::read(path)?)`.
    let election = Election::builder("tokio").peers(peers).id(id).insecure().join()?;
    tokio::select! {
        done = lead(&election, id) => done?,
        pressed = tokio::signal::ctrl_c() => pressed?,
    }
    // Here the guard is dropped, if there was one. Leaving waits until the others know.
    tokio::task::spawn_blocking(move || election.leave()).await?;
    println!("member {id} has left");
    Ok(())
}

async fn lead(election: &Election, id: u64) -> Result<(), Box<dyn std::error::Error>> {
    loop {
        println!("member {id} waits for its turn");
        let guard = election.campaign().await?;
        println!("member {id} leads");
        // Whatever ends first drops the other one: the work stops where it awaits something. Work
        // that awaits nothing for long must ask `guard.still_leading()` by itself.
        tokio::select! {
            () = guard.lost() => println!("member {id} no longer leads"),
            () = work(id) => println!("member {id} is done, and lets another one lead"),
        }
    }
}

/// What only a leader may do.
async fn work(id: u64) {
    for part in 1..=1_000 {
        println!("member {id} works: part {part}");
        tokio::time::sleep(Duration::from_millis(500)).await;
    }
}
