//! Hearing other processes, and missing them.

use super::board::{Claim, Heard};
use super::{AnnounceListen, Class, Params, Phase, Repeat, STANDING_MAX, Timer, Yields, weigh};
use bellwether_core::{Cx, Duration, Instant, NodeId};

impl AnnounceListen {
    #[inline]
    pub(super) fn hear(&mut self, claim: Claim, cx: &mut Cx<'_, Self>) {
        let params = cx.params();
        if !params.is_credible(claim.weight, claim.id) {
            return;
        }
        if params.yields == Yields::ToAnyone {
            self.give_way(claim, cx);
            return;
        }
        if params.as_printed && self.board.holds(claim.id) {
            return; // line 6 of both programs: only a greater address sets the timer
        }
        match self.board.hear(claim, cx.now() + params.listen, params.leaders) {
            Heard::Refused => return,
            Heard::Refreshed => {}
            Heard::Admitted => {
                if params.yields == Yields::ToBetter && !self.board.holds(self.me) {
                    self.fall_silent(cx);
                }
            }
        }
        self.listen(cx);
        self.raise_min_weight(params);
    }

    /// The rule of suppression: the first process that speaks is right.
    pub(super) fn give_way(&mut self, claim: Claim, cx: &mut Cx<'_, Self>) {
        let params = cx.params();
        let until = cx.now() + params.listen;
        match self.phase {
            Phase::Listening if !self.board.holds(claim.id) => return,
            Phase::Listening => self.board.refresh(claim.id, until),
            Phase::Announcing if params.repeat != Repeat::Periodic => return,
            Phase::Announcing | Phase::Suppressing | Phase::Querying => {
                self.fall_silent(cx);
                self.board.clear();
                if params.names_leaders {
                    self.board.hear(claim, until, params.leaders);
                }
            }
        }
        self.listen(cx);
        self.raise_min_weight(params);
    }

    #[inline]
    pub(super) fn fall_silent(&mut self, cx: &mut Cx<'_, Self>) {
        match self.phase {
            Phase::Suppressing | Phase::Querying => cx.disarm(Timer::Wake),
            Phase::Announcing => cx.disarm(Timer::Announce),
            Phase::Listening => {}
        }
        self.phase = Phase::Listening;
        self.announced = 0;
        self.next = Instant::NEVER;
        if self.weight > weigh(Class::Ordinary, STANDING_MAX) {
            self.weight = weigh(Class::Ordinary, self.weight & STANDING_MAX);
        }
    }

    /// Answers a query: a leader brings its next announcement forward, unless it is near enough. So
    /// several queries at once get one answer, no query delays the answer to another, and a leader
    /// that gives way meanwhile does not answer at all.
    pub(super) fn answer(&mut self, cx: &mut Cx<'_, Self>) {
        let params = cx.params();
        if self.phase == Phase::Announcing && params.repeat == Repeat::Periodic {
            if self.next.since(cx.now()) <= params.reply_spread {
                return;
            }
            let spread = params.reply_spread.as_nanos();
            let wait = if spread == 0 { 0 } else { cx.entropy().below(spread) };
            self.next = cx.now() + Duration::from_nanos(wait);
            cx.arm(Timer::Announce, self.next);
        }
    }

    pub(super) fn part_with(&mut self, peer: NodeId, cx: &mut Cx<'_, Self>) {
        if self.board.remove(peer) {
            self.fill_gap(cx);
        }
    }

    /// A process on the board was silent for too long: its claim ages, or it is removed.
    pub(super) fn on_silence(&mut self, cx: &mut Cx<'_, Self>) {
        let params = cx.params();
        if let Some(aging) = params.aging {
            self.board.sink(cx.now() + params.listen.saturating_sub(aging), self.claim());
        }
        self.board.expire(cx.now());
        self.fill_gap(cx);
    }

    /// Stands for election if there is room on the board now.
    pub(super) fn fill_gap(&mut self, cx: &mut Cx<'_, Self>) {
        let params = cx.params();
        if self.board.ids().len() < params.leaders && !self.board.holds(self.me) {
            if params.yields == Yields::Never {
                self.board.enter(self.claim(), params.leaders);
            } else {
                self.stand(cx);
            }
        }
        self.listen(cx);
        self.raise_min_weight(params);
    }

    /// Arms the listen timer for the first of the others to lose trust.
    #[inline]
    pub(super) fn listen(&mut self, cx: &mut Cx<'_, Self>) {
        let params = cx.params();
        if params.listen == Duration::MAX {
            return;
        }
        let mut at = self.board.first_end();
        if let Some(aging) = params.aging {
            let fresh = self.board.first_end_above(self.claim());
            if fresh != Instant::NEVER {
                at = at.min(fresh - params.listen.saturating_sub(aging));
            }
        }
        if at == Instant::NEVER { cx.disarm(Timer::Listen) } else { cx.arm(Timer::Listen, at) }
    }

    #[inline]
    pub(super) fn raise_min_weight(&mut self, params: &Params) {
        self.min_weight = match (params.yields, self.phase) {
            (Yields::ToBetter | Yields::Never, _) => match self.board.worst() {
                Some(worst) if self.board.ids().len() >= params.leaders => {
                    worst.weight + u64::from(params.knows_enough(worst.weight))
                }
                _ => 0,
            },
            (Yields::ToAnyone, Phase::Suppressing | Phase::Querying) => 0,
            (Yields::ToAnyone, Phase::Announcing) if params.repeat == Repeat::Periodic => 0,
            (Yields::ToAnyone, Phase::Announcing) => u64::MAX,
            (Yields::ToAnyone, Phase::Listening) => {
                let trust_ends = params.names_leaders && params.listen != Duration::MAX;
                if trust_ends { 0 } else { u64::MAX }
            }
        };
    }
}
