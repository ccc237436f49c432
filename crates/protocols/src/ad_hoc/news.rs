//! The known leader: outcomes of elections, news of neighbours, and heartbeats.

use super::{AdHoc, Beat, Claim, Message, News};
use bellwether_core::{Cx, NodeId};
use core::cmp::Ordering;

/// A leader, and its last heartbeat.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct KnownLeader {
    pub(super) leader: Claim,
    beat: Beat,
}

/// The kind of message that forwards a piece of news.
type Say = fn(News) -> Message;

impl AdHoc {
    pub(super) fn on_news(&mut self, from: NodeId, news: News, say: Say, cx: &mut Cx<'_, Self>) {
        if self.part.is_some() {
            match news.wave.cmp(&self.wave) {
                Ordering::Equal => self.settle(Some(from), news, say, cx),
                // Its own election will not end: the sender does not take part.
                Ordering::Greater => self.begin_above(news.wave, cx),
                Ordering::Less => {}
            }
            return;
        }
        let Some(mine) = self.leader else { return self.settle(Some(from), news, say, cx) };
        let timely = news.wave >= self.wave;
        if mine.leader.id == news.leader.id {
            self.on_same(from, news, mine, say, cx);
        } else if news.leader < mine.leader || !timely {
            self.wave = self.wave.max(news.wave);
            self.tell(from, cx);
        } else if self.down.contains(&news.leader.id) {
            self.begin_above(news.wave, cx); // an election decides whether it still leads
        } else {
            self.settle(Some(from), news, say, cx);
        }
    }

    /// Handles news of the same leader: a later heartbeat, or another claim, of which one is
    /// outdated. The later heartbeat decides which, or else the higher election. If neither does,
    /// calling an election avoids that two neighbours contradict each other for ever.
    fn on_same(
        &mut self,
        from: NodeId,
        news: News,
        mine: KnownLeader,
        say: Say,
        cx: &mut Cx<'_, Self>,
    ) {
        if news.leader == mine.leader {
            if news.beat > mine.beat && !self.leads() {
                self.settle(Some(from), news, say, cx);
            }
            return;
        }
        match (news.beat, news.wave).cmp(&(mine.beat, self.wave)) {
            Ordering::Greater => self.settle(Some(from), news, say, cx),
            Ordering::Equal => self.begin(cx),
            Ordering::Less => self.tell(from, cx),
        }
    }

    /// Accepts the news and forwards it: down the tree after an election, to all neighbours
    /// otherwise.
    pub(super) fn settle(
        &mut self,
        from: Option<NodeId>,
        news: News,
        say: Say,
        cx: &mut Cx<'_, Self>,
    ) {
        if self.objects_to(news.leader) {
            return self.begin_above(news.wave, cx);
        }
        let told = match self.part.take() {
            Some(part) => part.into_informed(),
            None => self.neighbours(cx),
        };
        let known = self.leader.filter(|known| known.leader.id == news.leader.id);
        let beat = known.map_or(news.beat, |known| known.beat.max(news.beat));
        self.leader = Some(KnownLeader { leader: news.leader, beat });
        assert!(!self.leads() || news.leader == self.me, "a leader leads by its current claim");
        self.wave = self.wave.max(news.wave);
        self.failures = 0;
        let news = News { wave: self.wave, leader: news.leader, beat };
        for peer in told.into_iter().filter(|peer| Some(*peer) != from) {
            cx.send(peer, say(news));
        }
        self.pace(cx);
    }

    /// Whether it knows better: it would be the better leader itself, or its claim is not the
    /// stated one.
    fn objects_to(&self, leader: Claim) -> bool {
        if leader.id == self.me.id { leader != self.me } else { leader < self.me }
    }

    /// Tells a neighbour who leads.
    pub(super) fn tell(&mut self, peer: NodeId, cx: &mut Cx<'_, Self>) {
        match self.leader {
            Some(KnownLeader { leader, beat }) => {
                cx.send(peer, Message::Leader(News { wave: self.wave, leader, beat }));
            }
            None => self.begin(cx),
        }
    }

    /// Sends the leader's heartbeat.
    pub(super) fn heartbeat(&mut self, cx: &mut Cx<'_, Self>) {
        let Some(known) = self.leader.as_mut().filter(|known| known.leader == self.me) else {
            return;
        };
        self.beats = self.beats.saturating_add(1);
        known.beat = Beat { life: self.life, number: self.beats };
        let news = News { wave: self.wave, leader: self.me, beat: known.beat };
        for peer in self.neighbours(cx) {
            cx.send(peer, Message::Heartbeat(news));
        }
        self.pace(cx);
    }
}
