//! The estimated size of the group.
//!
//! If the size is gossiped, every process regularly sends its traces ([`Sketch`]) to a process in
//! its view; a receiver that knows more answers. A process without news for [`QUIET`] exchanges in
//! a row falls silent until there is some.

use super::params::Size;
use super::{Message, Probabilistic, Sketch, Timer};
use alloc::boxed::Box;
use bellwether_core::{Cx, Duration, NodeId};

/// A process falls silent after this many exchanges without news.
pub(super) const QUIET: u32 = 5;

/// The traces gathered so far.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Gossip {
    traces: Sketch,
    /// The number of exchanges since the last news.
    idle: u32,
}

impl Probabilistic {
    /// N in `H · N < K`, including this process.
    pub(super) fn group_size(&self, cx: &Cx<'_, Self>) -> u64 {
        match cx.params().config().size {
            Size::Group => (cx.peers().group_size_hint() as u64).saturating_add(1),
            Size::Given(nodes) => nodes,
            Size::View => self.view_size(cx),
            // A group is never smaller than a view of it, whatever has been gathered so far.
            Size::Gossip => {
                // Elections ask for it far less often than traces change it.
                let gathered = self.gossip.as_ref().map_or(1, |gossip| gossip.traces.estimate());
                gathered.max(self.view_size(cx))
            }
        }
    }

    fn view_size(&self, cx: &Cx<'_, Self>) -> u64 {
        let met = self.known.as_ref().map_or(0, |known| known.met().count());
        (cx.peers().len() + met) as u64 + 1
    }

    pub(super) fn begin_to_count(&mut self, cx: &mut Cx<'_, Self>) {
        let config = cx.params().config();
        if config.size == Size::Gossip {
            let traces = Sketch::of(cx.peers().group(), [self.me]);
            self.gossip = Some(Box::new(Gossip { traces, idle: 0 }));
            let first = cx.entropy().below(config.gossip.as_nanos());
            cx.arm(Timer::Gossip, cx.now() + Duration::from_nanos(first));
        }
    }

    /// Sends its traces to a random process.
    pub(super) fn spread_traces(&mut self, cx: &mut Cx<'_, Self>) {
        let peer = somebody(cx);
        let Some(gossip) = &mut self.gossip else { return };
        if let Some(peer) = peer {
            cx.send(peer, Message::Gossip(Box::new(gossip.traces.clone())));
        }
        gossip.idle += 1;
        if gossip.idle < QUIET {
            cx.arm(Timer::Gossip, cx.now() + cx.params().config().gossip);
        }
    }

    /// Handles the traces of another process.
    pub(super) fn hear_traces(&mut self, from: NodeId, traces: &Sketch, cx: &mut Cx<'_, Self>) {
        let Some(gossip) = &mut self.gossip else { return };
        let behind = gossip.traces.exceeds(traces);
        if gossip.traces.merge(traces) {
            if gossip.idle >= QUIET {
                cx.arm(Timer::Gossip, cx.now() + cx.params().config().gossip);
            }
            gossip.idle = 0;
        }
        if behind {
            cx.send(from, Message::Gossip(Box::new(gossip.traces.clone())));
        }
    }
}

/// A random process in the view, without reading all of it: the next one after an id drawn from the
/// range of ids. This is not quite uniform, which gossip does not need.
fn somebody(cx: &mut Cx<'_, Probabilistic>) -> Option<NodeId> {
    let peers = cx.peers();
    let (first, last) = (peers.after(None)?, peers.before(None)?);
    let (low, high) = (first.min(last).0, first.max(last).0);
    let drawn = low + cx.entropy().below((high - low).saturating_add(1));
    if peers.contains(NodeId(drawn)) {
        return Some(NodeId(drawn));
    }
    peers.after(Some(NodeId(drawn))).or(Some(first))
}
