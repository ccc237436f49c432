//! Faults of the network: loss, delay, duplication, and changes of them.

use super::Draft;
use super::random::scaled;
use crate::fault_kind::FaultKind;
use bellwether_core::Duration;
use bellwether_sim::network::{Bursts, Delay, Loss};
use bellwether_sim::{Fault, Network};

/// The kinds of network faults.
const ROUGH: [FaultKind; 7] = [
    FaultKind::Loss,
    FaultKind::SharedLoss,
    FaultKind::Bursts,
    FaultKind::Tails,
    FaultKind::Duplicates,
    FaultKind::Reordering,
    FaultKind::Stragglers,
];

/// The longest delay in leases; longer ones would prevent calm.
pub(super) const LONGEST: u64 = 4;
/// The longest lateness of delayed or duplicated messages, in leases.
pub(super) const STRAGGLE: u64 = 3;
/// The same for stragglers.
pub(super) const STRAGGLE_LONG: u64 = 15;

/// The largest multiple of its mean for an exponential delay: random numbers have 53 bits.
const EXPONENTIAL_MOST: f64 = 37.0;
/// The largest distance from the mean for a normal number, in standard deviations.
const NORMAL_MOST: f64 = 8.3;

impl Draft<'_> {
    /// Draws the initial network. Changes of it are faults.
    pub(super) fn draw_weather(&mut self) -> Network {
        if !self.kinds.has_any(&ROUGH) {
            return self.fair(Duration::ZERO);
        }
        for _ in 0..self.rng.below(4) {
            let at = self.rng.within(Duration::ZERO, self.chaos);
            let network =
                if self.rng.chance(0.7) { self.rough() } else { self.fair(Duration::ZERO) };
            self.push(at, Fault::Network { network: Box::new(network) });
        }
        self.rough()
    }

    /// Draws a network without loss whose delays are timely, also with this reaction time of the
    /// receiver.
    pub(super) fn fair(&mut self, slow: Duration) -> Network {
        let (fastest, longest) =
            (self.time_scales.fastest, self.time_scales.timely.saturating_sub(slow));
        let delay = match self.rng.below(4) {
            0 => Delay::Constant(longest),
            1 => Delay::Constant(fastest),
            _ => Delay::Uniform { min: fastest, max: longest },
        };
        Network::uniform(delay, Loss::None)
    }

    fn rough(&mut self) -> Network {
        let mut network = self.fair(Duration::ZERO);
        let losses = [FaultKind::Loss, FaultKind::SharedLoss, FaultKind::Bursts];
        let on: Vec<FaultKind> = losses.into_iter().filter(|kind| self.kinds.has(*kind)).collect();
        if !on.is_empty() {
            let kind = self.rng.pick(&on);
            self.trouble.count(kind);
            let loss = self.loss(kind);
            (network.multicast.loss, network.unicast.loss) = (loss, loss);
        }
        if self.kinds.has(FaultKind::Tails) {
            self.trouble.count(FaultKind::Tails);
            network.multicast.delay = self.tail();
            network.unicast.delay = self.tail();
        }
        if self.kinds.has(FaultKind::Duplicates) {
            self.trouble.count(FaultKind::Duplicates);
            network.duplicate = self.rng.odds(&[0.02, 0.1, 0.3]);
        }
        if self.kinds.has(FaultKind::Reordering) {
            self.trouble.count(FaultKind::Reordering);
            network.reorder = self.rng.odds(&[0.02, 0.1, 0.3]);
        }
        network.straggle = self.rng.stretch(self.time_scales.lease, (0.1, STRAGGLE as f64));
        if self.kinds.has(FaultKind::Stragglers) {
            self.hold_up(&mut network);
        }
        self.late = self.late.max(network.longest());
        network
    }

    /// Draws stragglers: few messages that arrive after many leases.
    fn hold_up(&mut self, network: &mut Network) {
        self.trouble.count(FaultKind::Stragglers);
        let rare = self.later.odds(&[0.01, 0.03, 0.1]);
        let channel =
            if self.later.chance(0.5) { &mut network.duplicate } else { &mut network.reorder };
        *channel = rare;
        let range = (STRAGGLE as f64 + 1.0, STRAGGLE_LONG as f64);
        network.straggle = self.later.stretch(self.time_scales.lease, range);
    }

    fn loss(&mut self, kind: FaultKind) -> Loss {
        let rates = [0.01, 0.03, 0.1, 0.2, 0.4, 0.7];
        match kind {
            FaultKind::SharedLoss => Loss::Correlated(self.rng.odds(&rates)),
            FaultKind::Bursts => Loss::Bursts(Bursts {
                worsen: self.rng.odds(&[0.02, 0.05, 0.1]),
                recover: self.rng.odds(&[0.05, 0.1, 0.3]),
                good: self.rng.odds(&[0.0, 0.02]),
                bad: self.rng.odds(&[0.7, 1.0]),
            }),
            _ => Loss::Uncorrelated(self.rng.odds(&rates)),
        }
    }

    /// Draws delays that are mostly timely and sometimes longer than a lease, or always too long.
    fn tail(&mut self) -> Delay {
        let (min, most) = (self.time_scales.fastest, self.time_scales.lease * LONGEST);
        match self.rng.below(4) {
            0 => Delay::Exponential { min, mean: scaled(most, 1.0 / EXPONENTIAL_MOST) },
            1 => Delay::Uniform { min, max: self.time_scales.timely * 4 },
            _ => {
                let sigma = self.rng.pick(&[0.5, 0.6, 0.7]);
                let median = scaled(most, libm::exp(-NORMAL_MOST * sigma));
                Delay::LogNormal { min, median, sigma }
            }
        }
    }
}
