//! Commands of the application: leave, resign, stand again, change the rank.

use super::{AnnounceListen, Class, Criterion, Message, Phase, STANDING_MAX, Timer, Yields, weigh};
use bellwether_core::{Cx, Instant, Refused};

impl AnnounceListen {
    pub(super) fn leave(&mut self, cx: &mut Cx<'_, Self>) {
        let params = cx.params();
        if self.may_be_followed() || params.bye_from_all {
            (0..params.bye_copies).for_each(|_| cx.broadcast(Message::Bye));
        }
        [Timer::Wake, Timer::Announce, Timer::Listen]
            .into_iter()
            .for_each(|timer| cx.disarm(timer));
        self.phase = Phase::Listening;
        self.next = Instant::NEVER;
        self.board.clear();
        self.raise_min_weight(params);
    }

    /// Whether it believes that it leads and has said so; a query counts as saying so.
    pub(super) fn may_be_followed(&self) -> bool {
        matches!(self.phase, Phase::Announcing | Phase::Querying) && self.board.holds(self.me)
    }

    pub(super) fn resign(&mut self, cx: &mut Cx<'_, Self>) -> Result<(), Refused> {
        if cx.params().yields != Yields::ToBetter {
            return Err(Refused::Unsupported);
        }
        if self.phase != Phase::Announcing {
            return Err(Refused::NotLeading);
        }
        self.stand_lower(weigh(Class::Retired, self.weight & STANDING_MAX), cx);
        Ok(())
    }

    pub(super) fn campaign(&mut self, cx: &mut Cx<'_, Self>) -> Result<(), Refused> {
        if cx.params().yields != Yields::ToBetter {
            return Err(Refused::Unsupported);
        }
        let weight = weigh(Class::Ordinary, self.weight & STANDING_MAX);
        self.board.clear();
        if weight < self.weight {
            self.stand_lower(weight, cx);
        } else {
            self.fall_silent(cx);
            self.weight = weight;
            self.stand(cx);
            self.listen(cx);
        }
        Ok(())
    }

    pub(super) fn take_rank(&mut self, rank: u64, cx: &mut Cx<'_, Self>) -> Result<(), Refused> {
        let params = cx.params();
        if params.criterion != Criterion::Rank {
            return Err(Refused::Unsupported);
        }
        let weight = (self.weight & !STANDING_MAX) | rank.min(STANDING_MAX);
        let ordered = params.yields != Yields::ToAnyone;
        if ordered && weight < self.weight && self.may_be_followed() {
            self.stand_lower(weight, cx);
            return Ok(());
        }
        self.weight = weight;
        if self.board.holds(self.me) {
            self.board.enter(self.claim(), params.leaders);
        } else if ordered && self.board.worst().is_some_and(|worst| self.claim() > worst) {
            match params.yields {
                Yields::Never => self.board.enter(self.claim(), params.leaders),
                _ => self.stand(cx),
            }
        }
        self.listen(cx);
        self.raise_min_weight(params);
        Ok(())
    }

    /// Stands with a lower claim. Others would take a lower claim of the same process for an old
    /// one, so it withdraws the former claim first.
    pub(super) fn stand_lower(&mut self, weight: u64, cx: &mut Cx<'_, Self>) {
        (0..cx.params().bye_copies.max(1)).for_each(|_| cx.broadcast(Message::Bye));
        self.fall_silent(cx);
        self.board.remove(self.me);
        self.weight = weight;
        self.stand(cx);
        self.listen(cx);
    }
}
