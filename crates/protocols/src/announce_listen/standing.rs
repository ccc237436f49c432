//! Standing for election: opening one, asking, announcing.

use super::board::Claim;
use super::{
    AnnounceListen, Class, Message, Opening, Phase, Repeat, STANDING_MAX, Timer, wake_up, weigh,
};
use bellwether_core::{Cx, Instant};

/// The largest possible weight.
const HEAVIEST: u64 = (Class::Established as u64) << 62 | STANDING_MAX;

impl AnnounceListen {
    /// Puts its own claim on the board and opens an election.
    pub(super) fn stand(&mut self, cx: &mut Cx<'_, Self>) {
        let params = cx.params();
        if params.names_leaders {
            self.board.enter(self.claim(), params.leaders);
        }
        self.announced = 0;
        self.open(cx);
    }

    /// Begins as the parameters say. The process believes in itself meanwhile.
    pub(super) fn open(&mut self, cx: &mut Cx<'_, Self>) {
        let params = cx.params();
        match params.opening {
            Opening::Announce => self.announce(cx),
            Opening::Query => self.query(cx),
            Opening::Suppress | Opening::SuppressQuery => {
                self.phase = Phase::Suppressing;
                let wait = wake_up(params, self.weight, cx.entropy());
                cx.arm(Timer::Wake, cx.now() + wait);
                if params.repeat == Repeat::Redrawn {
                    cx.arm(Timer::Announce, cx.now() + params.announce);
                }
            }
        }
        self.raise_min_weight(params);
    }

    pub(super) fn query(&mut self, cx: &mut Cx<'_, Self>) {
        self.phase = Phase::Querying;
        cx.broadcast(Message::Query(self.weight));
        cx.arm(Timer::Wake, cx.now() + cx.params().patience);
    }

    pub(super) fn announce(&mut self, cx: &mut Cx<'_, Self>) {
        let params = cx.params();
        self.phase = Phase::Announcing;
        self.announced = self.announced.saturating_add(1);
        if self.announced == params.established_after {
            self.establish(cx);
        }
        assert!(self.weight <= HEAVIEST, "no claim is heavier than an established one");
        cx.broadcast(Message::Announce(self.weight));
        if params.repeat == Repeat::Periodic {
            self.next = cx.now() + params.announce;
            cx.arm(Timer::Announce, self.next);
        }
        self.raise_min_weight(params);
    }

    /// Becomes established after leading for long enough. A resigned process does not: any other
    /// may still take its place.
    pub(super) fn establish(&mut self, cx: &mut Cx<'_, Self>) {
        let params = cx.params();
        if self.weight <= weigh(Class::Retired, STANDING_MAX) {
            return;
        }
        assert!(self.phase == Phase::Announcing, "only a leader is established");
        self.weight = weigh(Class::Established, self.weight & STANDING_MAX);
        if params.names_leaders {
            self.board.hear(self.claim(), Instant::NEVER, params.leaders);
            self.listen(cx);
        }
    }

    pub(super) fn claim(&self) -> Claim {
        Claim { weight: self.weight, id: self.me }
    }
}
