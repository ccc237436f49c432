//! The HTTP face of a live member: health checks, metrics and events.
//!
//! **Source.** The answers are those that existing tools ask for: `/` is that of the Kubernetes
//! leader-elector sidecar, `/leader` and `/replica` are Patroni's for HAProxy, `/metrics` is
//! Prometheus', `/v1/events` are server-sent events.
//!
//! **Assumptions.** Whoever reaches the address may read what `status` tells. What changes
//! something needs a token, or comes through a Unix socket, which only the member's user and root
//! can open.
//!
//! **Promise.** A client can neither block nor slow the member's thread. One thread serves all
//! connections; at most one status is asked for at a time, as through the control socket.
//! Connections, sizes and times are bounded, and no client has a queue of its own. Whoever is told
//! who leads counts as told: the handler notes it before the answer is sent.
//!
//! | module | what it holds |
//! |---|---|
//! | [`HttpHandler`], [`Tallies`] | what the server asks the member |
//! | [`Place`], [`Token`] | where it answers, and who may change something |
//! | [`Patient`] | a connection whose peer must read, for other servers too |
//! | `server`, `doors`, `patient` | the thread, the connections and their bounds |
//! | `routes`, `reply`, `questions` | the answers |
//! | `news`, `history` | events, and what is counted of them |
//! | `metrics` | the page for Prometheus |

mod doors;
mod handler;
mod history;
mod metrics;
mod news;
mod patient;
mod place;
mod questions;
mod reply;
mod routes;
mod server;
mod token;
mod trace;

pub use doors::{PLAIN_MAX, STREAMS_MAX};
pub use handler::{HttpHandler, Tallies};
pub use news::RING;
pub use patient::Patient;
pub use place::Place;
pub use routes::{BODY_MAX, MARGIN};
pub use server::{CannotServe, Server};
pub use token::{BadToken, Token};
