//! The laboratory's server as a browser meets it: the real command, over a real socket.
//!
//! **Assumptions.** Linux with a loopback interface. The machine may be busy, so what is waited for
//! may take long.

mod asking;
mod doors;
mod figures;
mod live;
mod measures;
mod page;
mod stage;

#[path = "../http/client.rs"]
#[allow(dead_code, reason = "these tests need a part of it")]
mod client;
#[path = "../run/member.rs"]
#[allow(dead_code, reason = "these tests need a part of it")]
mod member;
