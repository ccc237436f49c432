//! Commands of the application: call an election, resign, leave, change the rank.

use super::params::Choice;
use super::{Named, Phase, Probabilistic};
use bellwether_core::{Cx, Refused};

impl Probabilistic {
    /// Calls an election, unless one is in progress.
    pub(super) fn campaign(&mut self, cx: &mut Cx<'_, Self>) -> Result<(), Refused> {
        if matches!(self.phase, Phase::Relaying | Phase::Waiting) {
            return Ok(());
        }
        if self.call(cx) { Ok(()) } else { Err(Refused::NotNow) }
    }

    /// Calls another election. False if the numbers are used up.
    pub(super) fn call(&mut self, cx: &mut Cx<'_, Self>) -> bool {
        let Some(round) = self.round.next_election() else { return false };
        assert!(round > self.round, "a new election is later than all known ones");
        self.initiate(round, cx);
        self.calls = true;
        true
    }

    /// Calls an election in which it does not stand.
    pub(super) fn resign(&mut self, cx: &mut Cx<'_, Self>) -> Result<(), Refused> {
        if !self.leads() {
            return Err(Refused::NotLeading);
        }
        let next = self.round.next_election().ok_or(Refused::NotNow)?;
        self.withdraw(next.election, cx);
        self.initiate(next, cx);
        Ok(())
    }

    /// Announces that it will never stand again, and calls an election if it led.
    pub(super) fn leave(&mut self, cx: &mut Cx<'_, Self>) -> Result<(), Refused> {
        let next = self.round.next_election().filter(|_| self.leads());
        self.withdraw(u32::MAX, cx);
        next.into_iter().for_each(|next| self.initiate(next, cx));
        self.named = Named::Nobody;
        self.relay = None;
        self.rest(Phase::Idle, cx);
        cx.disarm(super::Timer::Gossip);
        Ok(())
    }

    /// Changes the rank from the next round on.
    pub(super) fn take_rank(&mut self, rank: u64, cx: &mut Cx<'_, Self>) -> Result<(), Refused> {
        if cx.params().config().choice != Choice::Rank {
            return Err(Refused::Unsupported);
        }
        self.rank = rank;
        Ok(())
    }
}
