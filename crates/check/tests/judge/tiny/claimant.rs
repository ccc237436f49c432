//! A protocol whose processes say whatever they were told to say, true or not.

use bellwether_core::{
    Boot, Cx, Duration, Fact, Instant, Leadership, Malformed, Message, NodeId, Protocol, Reader,
    Rebase, Stage, timer_kinds,
};
use std::borrow::Cow;

/// What one process says.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Claim {
    /// Who leads.
    pub(crate) names: Vec<u64>,
    /// For how long, if not for ever; counted from the start.
    pub(crate) leads_until: Option<Duration>,
    /// Whether it goes on saying so after that.
    pub(crate) overdue: bool,
    /// Who supports it.
    pub(crate) supporters: Vec<u64>,
    /// Whom it supports.
    pub(crate) locked_to: Option<u64>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Claimant {
    names: Vec<NodeId>,
    claim: Claim,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Tick;

timer_kinds!(Tick);

impl Message for Tick {
    fn kind(&self) -> &'static str {
        "tick"
    }

    fn encode(&self, _out: &mut Vec<u8>) {}

    fn decode(_input: &mut Reader<'_>) -> Result<Self, Malformed> {
        Ok(Self)
    }
}

impl Protocol for Claimant {
    const NAME: &'static str = "claimant";
    type Params = Vec<Claim>;
    type Message = Tick;
    type Timer = Tick;

    fn start(boot: Boot<'_>, cx: &mut Cx<'_, Self>) -> Self {
        let claim = cx.params()[boot.me.0 as usize].clone();
        let names = claim.names.iter().copied().map(NodeId).collect();
        let mut node = Self { names, claim };
        node.on_timer(Tick, cx);
        node
    }

    fn on_message(&mut self, _from: NodeId, _tick: Cow<'_, Tick>, _cx: &mut Cx<'_, Self>) {}

    /// It does nothing but be there.
    fn on_timer(&mut self, _tick: Tick, cx: &mut Cx<'_, Self>) {
        cx.arm(Tick, cx.now() + Duration::from_millis(100));
    }

    /// Nothing before all have started: processes start one after the other.
    fn leadership(&self, now: Instant) -> Leadership<'_> {
        if now < Instant::ZERO + Duration::from_millis(50) {
            return Leadership::NONE;
        }
        let said = Leadership::of(&self.names, Stage::Decided);
        match self.claim.leads_until.map(|length| Instant::ZERO + length) {
            Some(until) if now < until => Leadership { until, ..said },
            Some(_) if !self.claim.overdue => Leadership::NONE,
            _ => said,
        }
    }

    fn facts(&self, _now: Instant, tell: &mut dyn FnMut(Fact)) {
        for peer in &self.claim.supporters {
            tell(Fact::Supporter { peer: NodeId(*peer) });
        }
        if let Some(to) = self.claim.locked_to {
            tell(Fact::Locked { to: NodeId(to), until: Instant::NEVER });
        }
    }

    fn instants(&mut self, _rebase: &Rebase<'_>) {}
}
