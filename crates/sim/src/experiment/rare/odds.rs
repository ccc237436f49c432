//! How packets are lost in a spell of heavy loss, and how much more likely that makes a run.
//!
//! [`spell`](super::spell) says why followers are cut off from their leader, and what the ratios
//! are for.

use crate::coin::{PacketDraws, RunSeed};
use crate::experiment::Experiment;
use crate::fault::{Fault, Timed};
use crate::network::{Link, Loss, Network, Probability};
use crate::plan::Plan;
use bellwether_core::{Dest, Duration, Entropy, SimTime};
use std::ops::Range;
use std::sync::Arc;

/// How often the answers of those that are cut off are lost. Nearly all are to be, but so are other
/// packets on the same way, which may well arrive: the weight of a run in which one does grows by
/// (1 − l)/(1 − .7).
const ANSWERS: f64 = 0.7;
/// How often packets are lost in a spell where all of them are. With three members a
/// renewal fails if two of two to four packets are lost. For such a renewal the second moment of
/// the weights is 2.25 times the square of the first with .5 and with ⅔, and least between them.
const HEAVY: f64 = 0.55;
/// The logarithm of a ratio that is nothing beside that of the usual run, which is 1.
const NOTHING: f64 = -100.0;

/// How packets are lost as usual, and in a spell.
#[derive(Debug)]
pub(super) struct Odds {
    usual: Network,
    heavy: Heavy,
}

/// How packets are lost in a spell.
#[derive(Debug)]
enum Heavy {
    /// All of them, as in this network.
    All(Box<Network>),
    /// Those to and from so many followers, between them and their leader; how many they are is
    /// drawn for each spell.
    Apart { cut: [usize; 2], requests: Probability, answers: Probability },
}

impl Odds {
    /// Nothing if there is none to tilt.
    pub(super) fn of(experiment: &Experiment) -> Option<Self> {
        let usual = experiment.network.clone();
        if usual.links.iter().any(|link| link.loss.is_some()) {
            return None;
        }
        let cut = enough(experiment);
        let heavy = match [usual.multicast.loss, usual.unicast.loss] {
            [Loss::Uncorrelated(requests), Loss::Uncorrelated(answers)]
                if requests.value() > 0.0
                    && answers.value() > 0.0
                    && cut[0] + 1 < experiment.nodes as usize =>
            {
                let [requests, answers] = [requests, answers].map(Probability::value);
                let unanswered = requests + (1.0 - requests) * answers;
                let (requests, answers) = (requests / unanswered, answers.max(ANSWERS));
                let [requests, answers] = [possible(requests)?, possible(answers)?];
                Heavy::Apart { cut, requests, answers }
            }
            _ => Heavy::All(Box::new(heavier_network(&usual)?)),
        };
        Some(Self { usual, heavy })
    }

    /// How packets are lost while these followers are cut off.
    fn network(&self, leader: u32, cut: &[u32]) -> Network {
        match &self.heavy {
            Heavy::All(network) => (**network).clone(),
            Heavy::Apart { requests, answers, .. } => {
                let mut network = self.usual.clone();
                let mut lose = |from, to, loss| {
                    let is = |link: &&mut Link| (link.from, link.to) == (from, to);
                    match network.links.iter_mut().find(is) {
                        Some(link) => link.loss = Some(loss), // its delay stays
                        None => {
                            network.links.push(Link { from, to, delay: None, loss: Some(loss) });
                        }
                    }
                };
                for follower in cut {
                    lose(leader, *follower, *requests);
                    lose(*follower, leader, *answers);
                }
                network
            }
        }
    }
}

/// How many followers fail a renewal if none of them answers; and one less, where there are
/// several: a follower that missed earlier requests may ask for votes itself, and then it refuses
/// those that it hears.
fn enough(experiment: &Experiment) -> [usize; 2] {
    let leases = experiment.choice.profile().leases.filter(|leases| leases.majority);
    let nodes = experiment.nodes;
    let all = leases.map_or(1, |leases| nodes.saturating_sub(leases.quorum(nodes)) as usize + 1);
    [all, (all - 1).max(1)]
}

/// This network with heavier loss; nothing, if it has none that could be heavier.
fn heavier_network(usual: &Network) -> Option<Network> {
    let heavier = |loss: Loss| match loss {
        Loss::Correlated(loss) => heavier(loss).map(Loss::Correlated),
        Loss::Uncorrelated(loss) => heavier(loss).map(Loss::Uncorrelated),
        Loss::None => Some(Loss::None),
        Loss::Bursts(_) => None,
    };
    let mut heavy = usual.clone();
    heavy.multicast.loss = heavier(usual.multicast.loss)?;
    heavy.unicast.loss = heavier(usual.unicast.loss)?;
    (heavy != *usual).then_some(heavy)
}

/// The loss in a spell; as usual where that is heavier or nothing is lost, and nothing if all is.
fn heavier(loss: Probability) -> Option<Probability> {
    if loss == Probability::ZERO { Some(loss) } else { possible(loss.value().max(HEAVY)) }
}

/// This probability, if it is one and not certain.
fn possible(value: f64) -> Option<Probability> {
    Probability::try_from(value).ok().filter(|loss| !loss.is_certain())
}

/// A spell: when it is, who leads when it begins, and who is cut off from it.
#[derive(Clone, Debug, Default)]
struct Spell {
    during: Range<u64>,
    leader: u32,
    cut: Vec<u32>,
}

/// A packet whose fate was drawn.
#[derive(Clone, Copy, Debug)]
struct Packet {
    at: u64,
    from: u32,
    to: u32,
    /// The logarithm of the ratio of its fate: how likely it is in a spell, divided by how likely
    /// it is as usual; as a request to somebody who is cut off, and as an answer of somebody.
    ratios: [f64; 2],
}

/// The draws of a run that a spell would have changed.
#[derive(Clone, Debug)]
pub(super) struct Drawn {
    odds: Arc<Odds>,
    key: RunSeed,
    nodes: u32,
    spell: Spell,
    packets: Vec<Packet>,
    /// Since when who leads, or nobody.
    leaders: Vec<(u64, Option<u32>)>,
}

impl Drawn {
    /// Of a run that begins with these draws.
    pub(super) fn new(odds: &Arc<Odds>, key: RunSeed, nodes: u32) -> Self {
        let (odds, spell) = (Arc::clone(odds), Spell::default());
        Self { odds, key, nodes, spell, packets: Vec::new(), leaders: Vec::new() }
    }

    /// Notes who leads.
    pub(super) fn leads(&mut self, at: SimTime, leader: Option<u32>) {
        if self.leaders.last().is_none_or(|(_, before)| *before != leader) {
            self.leaders.push((at.as_nanos(), leader));
        }
    }

    /// Forgets the packets before this time, and who led before whoever leads then.
    pub(super) fn forget(&mut self, before: u64) {
        self.packets.drain(..self.packets.partition_point(|packet| packet.at < before));
        let count = self.leaders.partition_point(|(since, _)| *since < before);
        self.leaders.drain(..count.saturating_sub(1));
    }

    /// Puts a spell into the plan: some of those who do not lead before it are cut off.
    pub(super) fn begin(&mut self, during: &Range<u64>, luck: &mut impl Entropy, plan: &mut Plan) {
        let leader = self.leader_before(during.start);
        let mut cut: Vec<u32> = (0..self.nodes).filter(|node| Some(*node) != leader).collect();
        let wanted = match self.odds.heavy {
            Heavy::Apart { cut: wanted, .. } if leader.is_some() => {
                wanted[luck.below(2) as usize].min(cut.len())
            }
            _ => 0,
        };
        for place in 0..wanted {
            let other = place + luck.below((cut.len() - place) as u64) as usize;
            cut.swap(place, other);
        }
        cut.truncate(wanted);
        let leader = leader.unwrap_or_default();
        let change = |at: u64, network: Network| Timed {
            at: Duration::from_nanos(at),
            fault: Fault::Network { network: Box::new(network) },
        };
        plan.faults.extend([
            change(during.start, self.odds.network(leader, &cut)),
            change(during.end, self.odds.usual.clone()),
        ]);
        plan.faults.sort_by_key(|timed| timed.at);
        self.spell = Spell { during: during.clone(), leader, cut };
    }

    /// Notes the fates of a message's packets. They are drawn again: the same numbers.
    pub(super) fn note(&mut self, at: SimTime, from: u32, to: Dest, number: u32) {
        let usual = loss(&self.odds.usual, to);
        if usual.rate() == 0.0 {
            return; // nothing is drawn
        }
        let packet = self.key.packet(from, number);
        match (to, usual) {
            // One draw for all.
            (_, Loss::Correlated(_)) => self.draw(at, [from, from], to, packet),
            (Dest::Everyone, _) => {
                (0..self.nodes)
                    .filter(|node| *node != from)
                    .for_each(|node| self.draw(at, [from, node], to, packet));
            }
            (Dest::Node(node), _) => {
                if let Some(node) = u32::try_from(node.0).ok().filter(|node| *node != from) {
                    self.draw(at, [from, node], to, packet);
                }
            }
        }
    }

    /// Notes the fate of one of them.
    fn draw(&mut self, at: SimTime, [from, to]: [u32; 2], dest: Dest, packet: PacketDraws) {
        let at = at.as_nanos();
        let usual = loss(&self.odds.usual, dest);
        let heavy = match &self.odds.heavy {
            Heavy::All(network) => [loss(network, dest); 2],
            Heavy::Apart { requests, answers, .. } => [*requests, *answers].map(Loss::Uncorrelated),
        };
        let now = match self.way(at, from, to) {
            Some(way) => heavy[way],
            None => usual,
        };
        let lost = now.loses(packet, to, &mut false);
        let l = usual.rate();
        let ratio = |heavy: Loss| {
            let more = heavy.rate();
            libm::log(if lost { more / l } else { (1.0 - more) / (1.0 - l) })
        };
        self.packets.push(Packet { at, from, to, ratios: heavy.map(ratio) });
    }

    /// Which loss of a spell a packet has now, if it has one.
    fn way(&self, at: u64, from: u32, to: u32) -> Option<usize> {
        let Spell { during, leader, cut } = &self.spell;
        match &self.odds.heavy {
            _ if !during.contains(&at) => None,
            Heavy::All(_) => Some(0),
            Heavy::Apart { .. } if from == *leader && cut.contains(&to) => Some(0),
            Heavy::Apart { .. } if to == *leader && cut.contains(&from) => Some(1),
            Heavy::Apart { .. } => None,
        }
    }

    /// How likely the fates of what was sent during a spell at this time are there, on average over
    /// all that may be cut off, divided by how likely they are as usual.
    pub(super) fn ratio(&self, during: &Range<u64>) -> f64 {
        let [first, end] = [during.start, during.end]
            .map(|at| self.packets.partition_point(|packet| packet.at < at));
        let packets = &self.packets[first..end];
        match self.odds.heavy {
            Heavy::All(_) => libm::exp(packets.iter().map(|packet| packet.ratios[0]).sum()),
            Heavy::Apart { cut, .. } => self.leader_before(during.start).map_or(1.0, |leader| {
                let mut sums = vec![0.0; self.nodes as usize];
                for Packet { from, to, ratios, .. } in packets {
                    if *from == leader {
                        sums[*to as usize] += ratios[0];
                    } else if *to == leader {
                        sums[*from as usize] += ratios[1];
                    }
                }
                sums.swap_remove(leader as usize);
                cut.map(|chosen| mean_of_products(&sums, chosen)).iter().sum::<f64>() / 2.0
            }),
        }
    }

    /// Who leads at the end of what happens before this time.
    fn leader_before(&self, at: u64) -> Option<u32> {
        let count = self.leaders.partition_point(|(since, _)| *since < at);
        count.checked_sub(1).and_then(|last| self.leaders[last].1)
    }
}

/// How a message is lost in this network.
fn loss(network: &Network, to: Dest) -> Loss {
    match to {
        Dest::Everyone => network.multicast.loss,
        Dest::Node(_) => network.unicast.loss,
    }
}

/// The mean, over all choices of so many of these numbers, of their product; the numbers are given
/// by their logarithms.
///
/// If each number x is chosen by itself, with the probability p = x/(x + e^s), then so many of n
/// are chosen with the probability Π(1 − p)/e^(s·chosen) times the sum of all their products. With
/// an s between the numbers this is at least 2^−n, so that doubles are enough for groups of a
/// thousand: the largest numbers then have p ≥ chosen/n, and the others no more than that.
fn mean_of_products(logarithms: &[f64], chosen: usize) -> f64 {
    let mut sorted = logarithms.to_vec();
    sorted.sort_unstable_by(|a, b| b.total_cmp(a));
    let (largest, others) = sorted.split_at(chosen.min(sorted.len()));
    let most: f64 = largest.iter().sum();
    if most < NOTHING {
        return 0.0;
    }
    let ([.., last], [next, ..]) = (largest, others) else {
        return libm::exp(most); // there is one choice
    };
    let (chosen, left) = (largest.len(), others.len() as f64);
    let s = (last + next) / 2.0 + libm::log(left / chosen as f64);
    // The probabilities of how many of those that were seen are chosen.
    let mut chances = vec![0.0; chosen + 1];
    chances[0] = 1.0;
    let mut sum = 0.0;
    for logarithm in &sorted {
        let odds = logarithm - s;
        let p = 1.0 / (1.0 + libm::exp(-odds));
        sum += odds.max(0.0) + libm::log1p(libm::exp(-odds.abs())); // −ln(1 − p)
        for of in (1..=chosen).rev() {
            chances[of] = (1.0 - p) * chances[of] + p * chances[of - 1];
        }
        chances[0] *= 1.0 - p;
    }
    let ways: f64 = (1..=chosen).map(|of| libm::log(left / of as f64 + 1.0)).sum();
    libm::exp(libm::log(chances[chosen]) + sum + s * chosen as f64 - ways)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::Delay;

    #[test]
    fn the_mean_of_products_is_that_of_all_choices() {
        let numbers = [2.0_f64, 3.0, 5.0, 0.5];
        let logarithms = numbers.map(libm::log);
        let expected = [
            1.0,
            (2.0 + 3.0 + 5.0 + 0.5) / 4.0,
            (6.0 + 10.0 + 1.0 + 15.0 + 1.5 + 2.5) / 6.0,
            (30.0 + 3.0 + 5.0 + 7.5) / 4.0,
            15.0,
        ];
        for (chosen, expected) in expected.into_iter().enumerate() {
            let found = mean_of_products(&logarithms, chosen);
            assert!((found - expected).abs() < 1e-12, "{chosen}: {found} {expected}");
        }
        assert!((mean_of_products(&logarithms, 9) - 15.0).abs() < 1e-12, "no more than there are");
        assert_eq!(mean_of_products(&[-200.0, -300.0], 1), 0.0);
    }

    /// Factors of these means are too large and too small for a double. They were computed with 60
    /// digits.
    #[test]
    fn the_mean_of_products_of_a_large_group_is_a_number() {
        let spread = |below: f64| -> Vec<f64> {
            (0..400).map(|place| f64::from(place) / 10.0 - 19.95 - below).collect()
        };
        for (below, chosen, logarithm) in [
            (0.0, 1, 16.310_703_913_936_1),
            (0.0, 10, 160.815_059_000_632_5),
            (8.7, 200, 0.338_219_284_487_194),
            (4.3, 300, 2.519_038_757_245_8),
            (0.0, 399, 16.310_703_913_936_1),
            (0.0, 400, 0.0),
        ] {
            let found = libm::log(mean_of_products(&spread(below), chosen));
            assert!((found - logarithm).abs() < 1e-9, "{chosen}: {found} {logarithm}");
        }
        assert_eq!(mean_of_products(&spread(0.0), 200), f64::INFINITY, "10⁷⁵⁵ is too large");
        assert_eq!(mean_of_products(&spread(20.0), 200), 0.0);
    }

    /// Whoever is cut off loses more; what takes its way as long as before does so in a spell.
    #[test]
    fn a_spell_changes_no_delay_of_a_link() {
        let [requests, answers, usual] = [0.6, 0.7, 0.1].map(|l| possible(l).expect("it is"));
        let delay = |ms| Some(Delay::Constant(Duration::from_millis(ms)));
        let link = |from, to, delay, loss| Link { from, to, delay, loss };
        let calm = Network::uniform(Delay::Constant(Duration::ZERO), Loss::Uncorrelated(usual));
        let links = vec![link(0, 1, delay(5), None), link(2, 3, delay(7), None)];
        let usual = Network { links, ..calm };
        let heavy = Heavy::Apart { cut: [2, 1], requests, answers };
        let spell = Odds { usual: usual.clone(), heavy }.network(0, &[1]);
        let links = vec![
            link(0, 1, delay(5), Some(requests)),
            link(2, 3, delay(7), None),
            link(1, 0, None, Some(answers)),
        ];
        assert_eq!(spell, Network { links, ..usual });
    }

    /// The fates that no ratio needs any more make none different.
    #[test]
    fn what_is_forgotten_changes_no_later_ratio() {
        let loss = Loss::Uncorrelated(possible(0.1).expect("it is"));
        let usual = Network::uniform(Delay::Constant(Duration::ZERO), loss);
        let [requests, answers] = [0.6, 0.7].map(|l| possible(l).expect("it is"));
        let heavy = Heavy::Apart { cut: [3, 2], requests, answers };
        let odds = Arc::new(Odds { usual, heavy });
        let mut all = Drawn::new(&odds, RunSeed::new(1, 0), 5);
        for number in 0..100 {
            let at = SimTime::from_nanos(u64::from(number) * 10);
            all.leads(at, Some(number / 40));
            all.note(at, number / 40, Dest::Everyone, number);
        }
        let mut fewer = all.clone();
        fewer.forget(600);
        assert!(fewer.packets.len() < all.packets.len() && fewer.leaders.len() == 2);
        for begin in (600..1000).step_by(10) {
            let ratio = all.ratio(&(begin..begin + 300));
            assert_eq!(fewer.ratio(&(begin..begin + 300)), ratio);
            assert!(ratio != 1.0, "{begin}");
        }
    }
}
