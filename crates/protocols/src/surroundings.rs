//! What the defaults of a protocol's parameters may depend on: the group and its network.

use bellwether_core::Duration;

/// The group and the network around a protocol, as far as a parameter may depend on them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Surroundings {
    /// How many processes there are.
    pub nodes: u32,
    /// Ids lie below this, those of processes that may still come included.
    pub ids: u64,
    /// Ranks lie below this.
    pub ranks: u64,
    /// How long a message takes on average.
    pub delay: Duration,
    /// The longest a message takes, where that varies.
    pub longest: Option<Duration>,
    /// How long a process takes over each message.
    pub processing: Duration,
    /// How often a receiver loses a message.
    pub loss: f64,
    /// Whether messages are lost or doubled, or processes lost.
    pub unsteady: bool,
    /// Whether nobody calls elections or tells who is gone: processes must see to it themselves.
    pub unattended: bool,
    /// Whether processes move, so that links come and go.
    pub moving: bool,
    /// Whether messages are doubled.
    pub copies: bool,
    /// Whether all members are listed.
    pub listed: bool,
    /// Whether the processes are members of a live group, and not simulated.
    pub live: bool,
    /// Whether the process joins a group that runs, and was founded for that.
    pub joins: bool,
}

impl Surroundings {
    /// Nothing goes wrong, and each message takes this long.
    pub fn calm(nodes: u32, delay: Duration) -> Self {
        Self {
            nodes,
            ids: nodes.into(),
            ranks: 1 << 30,
            delay,
            longest: None,
            processing: Duration::ZERO,
            loss: 0.0,
            unsteady: false,
            unattended: false,
            moving: false,
            copies: false,
            listed: true,
            live: false,
            joins: false,
        }
    }

    /// How long a message and what is done with it take. Time-outs are multiples of it, so it is
    /// never zero.
    pub fn hop(&self) -> Duration {
        let hop = self.delay + self.processing;
        if hop == Duration::ZERO { Duration::from_millis(1) } else { hop }
    }

    /// Whether anything may come to nothing, so that it has to be tried again.
    pub(crate) fn restless(&self) -> bool {
        self.unsteady || self.moving
    }
}
