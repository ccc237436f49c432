//! One incarnation of a member: the protocol behind its endpoint, and its random numbers.

use crate::program::Program;
use bellwether_core::{
    Boot, Command, Endpoint, Env, Fact, Instant, Leadership, NodeId, Output, Peers, Refused,
    Seeded, Unheard,
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

    /// Handles a message, unless it carries a later number than this.
    pub(crate) fn datagram(
        &mut self,
        from: NodeId,
        body: &[u8],
        peers: &dyn Peers,
        (now, latest): (Instant, u64),
    ) -> Result<&'static str, Unheard> {
        self.endpoint.set_latest(latest);
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

    /// Why the protocol would refuse this command now, as far as it knows.
    pub(crate) fn refusal(
        &mut self,
        command: Command,
        peers: &dyn Peers,
        now: Instant,
    ) -> Option<Refused> {
        let mut env = Env { now, peers, entropy: &mut self.luck };
        self.endpoint.refusal(command, &mut env)
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

    /// Takes back the bytes of a message that was sealed.
    pub(crate) fn recycle(&mut self, bytes: Vec<u8>) {
        self.endpoint.recycle(bytes);
    }

    /// Until when this process leads, if it does so by a lease.
    pub(crate) fn lease(&self, me: NodeId, now: Instant) -> Option<Instant> {
        let Leadership { leaders, until, .. } = self.endpoint.leadership(now);
        (leaders.contains(&me) && until != Instant::NEVER).then_some(until)
    }

    /// When it last asked for a lease.
    pub(crate) fn asked(&self, now: Instant) -> Option<Instant> {
        let mut asked = None;
        self.endpoint.facts(now, &mut |fact| {
            if let Fact::Request { sent, .. } = fact {
                asked = Some(sent);
            }
        });
        asked
    }

    /// Who leads, as the protocol believes.
    pub(crate) fn leadership(&self, now: Instant) -> Leadership<'_> {
        self.endpoint.leadership(now)
    }
}
