//! How often a leader that is alive loses its leadership, and how many datagrams it takes.
//!
//! **Source.** Ours, from the rules of the candidate: a leader asks P after the last request that
//! enough processes answered; if too few answer, it asks again every 2Δ(1+ρ). A lease runs from
//! the latest request that enough have answered, or a later one.
//!
//! **Assumptions.** Those of [the answers](super::answers). Processes react at once. Where delays
//! differ, a message is on time or counts as lost.
//!
//! In local mode all processes must answer, and in majority mode a majority.
//!
//! **Promise.** In majority mode the true rate lies between [`Renewal::losses_per_second`] and
//! [`Renewal::losses_per_second_at_most`]; it is near the former.
//!
//! Let k requests be answered in time within a lease after the request it runs from, and let q(k)
//! be the probability that too few processes answer any of them. A cycle begins with a request
//! that enough have answered, and ends with the next. So leadership is lost in q(k) of all cycles
//! at least. There are two additions:
//!
//! * Different processes may answer different requests, enough of them together. Then the lease
//!   runs from such a request, which k′ >= k others follow in time. Of those there is at most one
//!   for each request that too few answered, so that this adds at most (1−f)/f·q(k′), where
//!   f = 1 − q(1). With three processes there is no such case, because one answer is enough.
//! * A follower that missed the request that the lease runs from may find its lock lapsed before
//!   the lease ends. Then it stands for election, in vain, and refuses the leader for two or three
//!   requests. The upper bound counts such followers as absent, and supposes of the first case only
//!   that somebody who answered a request answers none of the k′ others. It is far too high; the
//!   simulation found an eighth more than q(k) where lockTime has room for three requests.

use super::answers::{exactly, too_few};
use super::{Goals, LATE};
use crate::inputs::Loss;
use bellwether_core::Duration;
use bellwether_protocols::local_leader::{Mode, Params};
use bellwether_sim::network::DelayModel;

/// A year, in seconds.
pub const YEAR: f64 = 365.25 * 86_400.0;

/// How the leases of a group are renewed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Renewal {
    others: u64,
    /// How many of them must answer.
    needed: u64,
    loss: Loss,
    /// The part of all messages that may be late.
    late: f64,
    renew: Duration,
    round: Duration,
    refresh: Duration,
    lease: Duration,
    /// The shortest and the longest time from a request to its answers.
    trip: [Duration; 2],
    /// How many datagrams a message to everyone is, as the simulator counts.
    copies: u64,
}

impl Renewal {
    /// The renewals of these leases in a group of so many, if each message takes this long.
    pub(crate) fn of(params: &Params, nodes: u32, loss: Loss, delay: Duration) -> Self {
        let goals = Goals {
            nodes,
            loss,
            delay,
            delay_model: DelayModel::Constant,
            scheduling: params.sigma(),
            drift_ppm: params.drift_ppm(),
            fsync: Duration::ZERO,
            // What is asked of a plan does not matter to the renewals of given leases.
            detect: Duration::MAX,
            losses_per_year: f64::INFINITY,
        };
        Self::new(&goals, params, Duration::ZERO)
    }

    /// The renewals of these leases, if each is shorter by a stall.
    pub(super) fn new(goals: &Goals, params: &Params, stall: Duration) -> Self {
        let others = u64::from(goals.nodes.saturating_sub(1));
        let needed = match params.mode() {
            Mode::Majority => params.quorum(goals.nodes as usize) as u64 - 1,
            Mode::Local => others,
        };
        let whole = params.layered().rows_max as u64 >= others;
        let loss = match goals.loss {
            // What goes to each member for itself is lost for itself.
            Loss::Correlated(rate) if !whole => Loss::apart(rate),
            loss => loss,
        };
        let slowest = goals.slowest();
        let trip = match goals.delay_model {
            DelayModel::Constant => [goals.delay * 2; 2],
            _ => [Duration::ZERO, params.round()],
        };
        Self {
            others,
            needed,
            loss,
            late: slowest.1,
            renew: params.renew(),
            round: params.round(),
            refresh: params.refresh(),
            lease: params.lease().saturating_sub(stall),
            trip,
            copies: if whole { 1 } else { others },
        }
    }

    /// How many requests are answered in time, the first of them after P and after 2Δ(1+ρ) since
    /// the one that the lease runs from.
    fn requests(&self, first: Duration, trip: Duration) -> u64 {
        let room = self.lease.saturating_sub(trip + first).as_nanos();
        // An answer at the very end is too late.
        if room == 0 { 0 } else { (room - 1) / self.round.as_nanos().max(1) + 1 }
    }

    /// How many requests a lease has room for, at least.
    pub fn requests_in_a_lease(&self) -> u64 {
        self.requests(self.renew, self.trip[1])
    }

    /// What is lost, with what is late if that counts as lost.
    fn lost(&self, late: bool) -> Loss {
        let late = if late { self.late } else { 0.0 };
        let all = |rate: f64| rate + (1.0 - rate) * late;
        match self.loss {
            Loss::None => Loss::apart(all(0.0)),
            Loss::Uncorrelated(rate) => Loss::apart(all(rate)),
            Loss::Correlated(rate) => Loss::together(all(rate)),
        }
    }

    fn fails(&self, requests: u64, late: bool) -> f64 {
        too_few(self.others, self.needed, requests, self.lost(late))
    }

    /// f: how often enough processes answer a request.
    fn answered(&self) -> f64 {
        1.0 - self.fails(1, false)
    }

    /// The time from one request that enough have answered to the next, in seconds.
    fn cycle(&self) -> f64 {
        let f = self.answered();
        self.renew.as_secs_f64() + self.round.as_secs_f64() * (1.0 - f) / f
    }

    /// How probable it is that too few answer any of the requests of a lease.
    pub(crate) fn loss_of_a_lease(&self) -> f64 {
        self.fails(self.requests_in_a_lease(), true)
    }

    /// How often in a second of leadership it is lost, if followers wait: at least, and at most.
    pub fn losses_per_second(&self) -> [f64; 2] {
        let [short, long] = self.trip;
        let least = self.fails(self.requests(self.renew, short), false);
        let missed = self.fails(1, true);
        let later = self.fails(self.requests(self.round, long), true);
        let mixed = if self.needed > 1 { missed / (1.0 - missed) * later } else { 0.0 };
        let most = self.fails(self.requests(self.renew, long), true) + mixed;
        [least, most].map(|chance| if chance > 0.0 { chance / self.cycle() } else { 0.0 })
    }

    /// How often in a second of leadership it is lost, at most.
    pub fn losses_per_second_at_most(&self) -> f64 {
        let (long, loss) = (self.trip[1], self.lost(true));
        let (l, missed) = (loss.rate(), self.fails(1, true));
        let requests = self.requests(self.renew, long);
        // Of the others, so many did not hear the request that the lease runs from.
        let absent = |count: u64| {
            let chance = exactly(self.others, count, l);
            chance * too_few(self.others - count, self.needed, requests, loss)
        };
        let first = match loss {
            // All heard a request that enough have answered.
            Loss::Correlated(_) => self.fails(requests, true),
            _ => (0..=self.others - self.needed).map(absent).sum::<f64>() / (1.0 - missed),
        };
        let silent = too_few(1, 1, self.requests(self.round, long), loss);
        let mixed = missed / (1.0 - missed) * self.others as f64 * silent;
        let chance = first + if self.needed > 1 { mixed } else { 0.0 };
        if chance > 0.0 { chance / self.cycle() } else { 0.0 }
    }

    /// Datagrams a second in the whole group: as sent, where one to everyone counts once, and as
    /// they cross the network.
    pub fn datagrams_per_second(&self) -> [f64; 2] {
        let heard = 1.0 - self.loss.rate();
        let others = self.others as f64;
        let requests = 1.0 / (self.answered() * self.cycle());
        // Every follower sends stamps of its own, and a leader that asks more seldom does.
        let refresh = self.refresh.as_secs_f64().max(1e-9);
        let between = self.renew.as_nanos().div_ceil(self.refresh.as_nanos().max(1));
        let idle = between.saturating_sub(1) as f64 / self.cycle();
        let to_all = requests + others / refresh + idle;
        let replies = requests * others * heard;
        [self.copies as f64, others].map(|copies| to_all * copies + replies)
    }
}

const _: () = assert!(LATE < 0.01, "what is late is rare");

#[cfg(test)]
mod tests {
    use super::*;

    fn renewal(nodes: u64, loss: Loss, lease: u64) -> Renewal {
        let ms = Duration::from_millis;
        Renewal {
            others: nodes - 1,
            needed: nodes / 2,
            loss,
            late: 0.0,
            renew: ms(50),
            round: ms(20),
            refresh: ms(500),
            lease: ms(lease),
            trip: [ms(2); 2],
            copies: 1,
        }
    }

    #[test]
    fn a_request_counts_if_its_answers_come_before_the_lease_ends() {
        let count = |lease| renewal(3, Loss::None, lease).requests_in_a_lease();
        assert_eq!([count(52), count(53), count(72), count(73), count(150)], [0, 1, 1, 2, 5]);
    }

    /// Follows every pattern of answers, request by request, until enough answer the same one, the
    /// lease is over, or it is too improbable to matter. Returns how often the lease is over, and
    /// how probable what was left is.
    fn enumerated(renewal: &Renewal) -> [f64; 2] {
        let l = renewal.loss.rate();
        let others = renewal.others as u32;
        let answer = (1.0 - l) * (1.0 - l);
        let at = |request: u64| match request {
            0 => 0,
            later => renewal.renew.as_nanos() + (later - 1) * renewal.round.as_nanos(),
        };
        let (mut over, mut left) = (0.0, 0.0);
        // The latest request that each has answered; how probable.
        let mut open = vec![(vec![0_u64; others as usize], 1.0)];
        for request in 1..=9 {
            let mut next = Vec::new();
            for (latest, chance) in open {
                let mut sorted = latest.clone();
                sorted.sort_unstable();
                let base = sorted[others as usize - renewal.needed as usize];
                let reply = at(request) + renewal.trip[0].as_nanos();
                if reply >= at(base) + renewal.lease.as_nanos() {
                    over += chance;
                    continue;
                }
                for answers in 0_u32..1 << others {
                    let count = answers.count_ones();
                    let missed = (others - count) as i32;
                    let chance = chance * answer.powi(count as i32) * (1.0 - answer).powi(missed);
                    if u64::from(count) >= renewal.needed {
                        continue; // enough answered this one
                    }
                    let mut latest = latest.clone();
                    for voter in (0..others).filter(|voter| answers >> voter & 1 == 1) {
                        latest[voter as usize] = request;
                    }
                    next.push((latest, chance));
                }
            }
            // Processes are alike, so their order does not matter.
            next.iter_mut().for_each(|(latest, _)| latest.sort_unstable());
            next.sort_by(|(one, _), (other, _)| one.cmp(other));
            open = Vec::new();
            for (latest, chance) in next {
                match open.last_mut() {
                    Some((last, sum)) if *last == latest => *sum += chance,
                    _ => open.push((latest, chance)),
                }
            }
        }
        left += open.iter().map(|(_, chance)| chance).sum::<f64>();
        [over, left]
    }

    #[test]
    fn the_true_rate_lies_between_the_bounds() {
        for (nodes, l, lease) in [
            (3, 0.3, 100),
            (4, 0.2, 120),
            (5, 0.1, 93),
            (5, 0.3, 120),
            (7, 0.3, 100),
            (6, 0.05, 120),
        ] {
            let renewal = renewal(nodes, Loss::Uncorrelated(l), lease);
            let [over, left] = enumerated(&renewal);
            let [least, most] = renewal.losses_per_second().map(|rate| rate * renewal.cycle());
            assert!(over > 0.0 && left < 0.3 * over, "{nodes} {l}: {over} {left}");
            assert!(least <= over + left + 1e-15, "{nodes} {l}: {least} {over}");
            assert!(over <= most + 1e-15, "{nodes} {l}: {most} {over}");
            assert!(most <= 1.5 * least, "{nodes} {l}: {least} .. {most}");
            let far = renewal.losses_per_second_at_most() * renewal.cycle();
            assert!(most <= far * (1.0 + 1e-12) && far < 1.0, "{nodes} {l}: {most} {far}");
            if nodes == 3 {
                assert!((least - over).abs() <= 1e-12 && most == least, "{least} {over} {left}");
            }
        }
    }

    #[test]
    fn without_loss_nothing_is_lost_and_the_datagrams_can_be_counted() {
        let renewal = renewal(5, Loss::None, 150);
        assert_eq!(renewal.losses_per_second(), [0.0; 2]);
        assert_eq!(renewal.losses_per_second_at_most(), 0.0);
        // 20 requests and 80 replies a second, and two stamps of each of four.
        let [sent, crossing] = renewal.datagrams_per_second();
        assert!(
            (sent - 108.0).abs() < 1e-9 && (crossing - 192.0).abs() < 1e-9,
            "{sent} {crossing}"
        );
        let seldom = Renewal { renew: Duration::from_secs(2), ..renewal };
        // Half a request and two replies; the leader sends three stamps between two requests.
        let [sent, _] = seldom.datagrams_per_second();
        assert!((sent - (0.5 + 2.0 + 8.0 + 1.5)).abs() < 1e-9, "{sent}");
    }
}
