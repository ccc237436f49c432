//! One life of a member: the protocol behind its endpoint, and its luck.

use crate::program::Program;
use bellwether_core::{
    Boot, Command, Endpoint, Env, Instant, Leadership, Malformed, NodeId, Output, Peers, Refused,
    Seeded,
};

/// The protocol at work.
pub(crate) struct Life {
    endpoint: Box<dyn Endpoint>,
    luck: Seeded,
}

impl Life {
    /// Begins; the first outputs are waiting.
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

    /// To ask what it believes.
    pub(crate) fn endpoint(&self) -> &dyn Endpoint {
        &*self.endpoint
    }

    /// A message arrived.
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

    /// The application asks for something.
    pub(crate) fn command(
        &mut self,
        command: Command,
        peers: &dyn Peers,
        now: Instant,
    ) -> Result<(), Refused> {
        let mut env = Env { now, peers, entropy: &mut self.luck };
        self.endpoint.command(command, &mut env)
    }

    /// Time passed.
    pub(crate) fn timeout(&mut self, peers: &dyn Peers, now: Instant) {
        let mut env = Env { now, peers, entropy: &mut self.luck };
        self.endpoint.timeout(&mut env);
    }

    /// When something is due.
    pub(crate) fn deadline(&self) -> Instant {
        self.endpoint.poll_timeout()
    }

    /// The next thing to do.
    pub(crate) fn output(&mut self) -> Option<Output> {
        self.endpoint.poll_output()
    }

    /// What it believes.
    pub(crate) fn leadership(&self, now: Instant) -> Leadership<'_> {
        self.endpoint.leadership(now)
    }
}
