//! The network: fair or rough, and changing.

use super::Draft;
use super::luck::scaled;
use crate::trouble::Trouble;
use bellwether_core::Duration;
use bellwether_sim::network::{Bursts, Delay, Loss};
use bellwether_sim::{Fault, Network};

/// The kinds of trouble that a network makes.
const ROUGH: [Trouble; 7] = [
    Trouble::Loss,
    Trouble::SharedLoss,
    Trouble::Bursts,
    Trouble::Tails,
    Trouble::Duplicates,
    Trouble::Reordering,
    Trouble::Stragglers,
];

/// No message is longer under way than so many leases, or it would never be calm.
pub(super) const LONGEST: u64 = 4;
/// What is held up or doubled is late by at most so many leases.
pub(super) const STRAGGLE: u64 = 3;
/// And where stragglers are meant, by at most so many.
pub(super) const STRAGGLE_LONG: u64 = 15;

/// An exponential delay is at most so many times its mean: coins have 53 bits.
const EXPONENTIAL_MOST: f64 = 37.0;
/// A normal coin lies at most so many standard deviations from the middle.
const NORMAL_MOST: f64 = 8.3;

impl Draft<'_> {
    /// The network at first; changes of it are faults.
    pub(super) fn draw_weather(&mut self) -> Network {
        if !self.kinds.has_any(&ROUGH) {
            return self.fair(Duration::ZERO);
        }
        for _ in 0..self.luck.below(4) {
            let at = self.luck.within(Duration::ZERO, self.chaos);
            let network =
                if self.luck.chance(0.7) { self.rough() } else { self.fair(Duration::ZERO) };
            self.push(at, Fault::Network { network: Box::new(network) });
        }
        self.rough()
    }

    /// Nothing is lost and every delay is timely, even if the receiver is slow by so much.
    pub(super) fn fair(&mut self, slow: Duration) -> Network {
        let (fastest, longest) = (self.pace.fastest, self.pace.timely.saturating_sub(slow));
        let delay = match self.luck.below(4) {
            0 => Delay::Constant(longest),
            1 => Delay::Constant(fastest),
            _ => Delay::Uniform { min: fastest, max: longest },
        };
        Network::uniform(delay, Loss::None)
    }

    fn rough(&mut self) -> Network {
        let mut network = self.fair(Duration::ZERO);
        let losses = [Trouble::Loss, Trouble::SharedLoss, Trouble::Bursts];
        let on: Vec<Trouble> = losses.into_iter().filter(|kind| self.kinds.has(*kind)).collect();
        if !on.is_empty() {
            let kind = self.luck.pick(&on);
            self.trouble.count(kind);
            let loss = self.loss(kind);
            (network.multicast.loss, network.unicast.loss) = (loss, loss);
        }
        if self.kinds.has(Trouble::Tails) {
            self.trouble.count(Trouble::Tails);
            network.multicast.delay = self.tail();
            network.unicast.delay = self.tail();
        }
        if self.kinds.has(Trouble::Duplicates) {
            self.trouble.count(Trouble::Duplicates);
            network.duplicate = self.luck.odds(&[0.02, 0.1, 0.3]);
        }
        if self.kinds.has(Trouble::Reordering) {
            self.trouble.count(Trouble::Reordering);
            network.reorder = self.luck.odds(&[0.02, 0.1, 0.3]);
        }
        network.straggle = self.luck.stretch(self.pace.lease, (0.1, STRAGGLE as f64));
        if self.kinds.has(Trouble::Stragglers) {
            self.hold_up(&mut network);
        }
        self.late = self.late.max(network.longest());
        network
    }

    /// Few messages come back after many leases, when everybody has long forgotten them.
    fn hold_up(&mut self, network: &mut Network) {
        self.trouble.count(Trouble::Stragglers);
        let rare = self.later.odds(&[0.01, 0.03, 0.1]);
        let channel =
            if self.later.chance(0.5) { &mut network.duplicate } else { &mut network.reorder };
        *channel = rare;
        let range = (STRAGGLE as f64 + 1.0, STRAGGLE_LONG as f64);
        network.straggle = self.later.stretch(self.pace.lease, range);
    }

    fn loss(&mut self, kind: Trouble) -> Loss {
        let rates = [0.01, 0.03, 0.1, 0.2, 0.4, 0.7];
        match kind {
            Trouble::SharedLoss => Loss::Correlated(self.luck.odds(&rates)),
            Trouble::Bursts => Loss::Bursts(Bursts {
                worsen: self.luck.odds(&[0.02, 0.05, 0.1]),
                recover: self.luck.odds(&[0.05, 0.1, 0.3]),
                good: self.luck.odds(&[0.0, 0.02]),
                bad: self.luck.odds(&[0.7, 1.0]),
            }),
            _ => Loss::Uncorrelated(self.luck.odds(&rates)),
        }
    }

    /// Delays that are mostly timely and sometimes longer than a lease, or steadily too long.
    fn tail(&mut self) -> Delay {
        let (min, most) = (self.pace.fastest, self.pace.lease * LONGEST);
        match self.luck.below(4) {
            0 => Delay::Exponential { min, mean: scaled(most, 1.0 / EXPONENTIAL_MOST) },
            1 => Delay::Uniform { min, max: self.pace.timely * 4 },
            _ => {
                let sigma = self.luck.pick(&[0.5, 0.6, 0.7]);
                let median = scaled(most, libm::exp(-NORMAL_MOST * sigma));
                Delay::LogNormal { min, median, sigma }
            }
        }
    }
}
