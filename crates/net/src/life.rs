//! One incarnation of a member: the protocol behind its endpoint, and its random numbers.

use crate::program::Program;
use bellwether_core::{
    Boot, Command, Endpoint, Env, Instant, Leadership, Malformed, NodeId, Output, Peers, Refused,
    Seeded,
};

/// The running protocol.
pub(crate) struct Life {
    endpoint: Box<dyn Endpoint>,
    luck: Seeded,
}

impl Life {
    /// Starts the protocol; its first outputs are ready.
    pub(crate) fn begin(
        program: &Program,
        boot: Boot<'_>,
        seed: u64,
        peers: &dyn Peers,
        now: Instant,
    ) -> Self {
        let mut luck = Seeded::new(seed);
        let mut env = Env { now, peers, entropy: &mut luck };
        let endpoint = program.start(boot, &mut env);
        Self { endpoint, luck }
    }

    /// The endpoint, for questions about the protocol's state.
    pub(crate) fn endpoint(&self) -> &dyn Endpoint {
        &*self.endpoint
    }

    /// Handles a message.
    pub(crate) fn datagram(
        &mut self,
        from: NodeId,
        body: &[u8],
        peers: &dyn Peers,
        now: Instant,
    ) -> Result<&'static str, Malformed> {
        let mut env = Env { now, peers, entropy: &mut self.luck };
        self.endpoint.datagram(from, body, &mut env)
    }

    /// Handles a command of the application.
    pub(crate) fn command(
        &mut self,
        command: Command,
        peers: &dyn Peers,
        now: Instant,
    ) -> Result<(), Refused> {
        let mut env = Env { now, peers, entropy: &mut self.luck };
        self.endpoint.command(command, &mut env)
    }

    /// Handles due timers.
    pub(crate) fn timeout(&mut self, peers: &dyn Peers, now: Instant) {
        let mut env = Env { now, peers, entropy: &mut self.luck };
        self.endpoint.timeout(&mut env);
    }

    /// When the next timer is due.
    pub(crate) fn deadline(&self) -> Instant {
        self.endpoint.poll_timeout()
    }

    /// The next output of the protocol.
    pub(crate) fn output(&mut self) -> Option<Output> {
        self.endpoint.poll_output()
    }

    /// Who leads, as the protocol believes.
    pub(crate) fn leadership(&self, now: Instant) -> Leadership<'_> {
        self.endpoint.leadership(now)
    }
}
