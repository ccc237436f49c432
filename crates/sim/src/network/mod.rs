//! The network: how long a packet takes and whether it arrives.
//!
//! | part | models |
//! |---|---|
//! | [`Delay`] | constant, uniform, exponential, log-normal |
//! | [`Loss`] | none, correlated (all receivers together), uncorrelated, bursts (Gilbert-Elliott) |
//! | duplication, reordering | a probability each, and how much later |
//! | [`Link`] | one sender to one receiver, with delay and loss of its own |
//! | [`Topology`] | who hears whom at all |
//!
//! Partitions come and go and are therefore [faults](crate::fault).

mod delay;
mod loss;
mod normal;
mod probability;
mod topology;

pub use delay::Delay;
pub use loss::{Bursts, Loss};
pub use probability::{BadProbability, Probability};
pub use topology::Topology;
pub(crate) use topology::components;

use crate::coin::{PacketDraws, Purpose};
use bellwether_core::Duration;
use serde::{Deserialize, Serialize};

/// Everything about the network that stays the same through a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Network {
    /// How messages to everyone travel.
    pub multicast: Channel,
    /// How messages to one process travel.
    pub unicast: Channel,
    /// How often a packet arrives twice.
    pub duplicate: Probability,
    /// How often a packet is held up, so that later ones overtake it.
    pub reorder: Probability,
    /// For how long at most a second copy or a held-up packet is late.
    pub straggle: Duration,
    /// Exceptions for single links.
    pub links: Vec<Link>,
    /// Who hears whom.
    pub topology: Topology,
}

/// Delay and loss of one way to send.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Channel {
    /// How long a packet takes.
    pub delay: Delay,
    /// Whether it arrives.
    pub loss: Loss,
}

/// One sender to one receiver, unlike the others.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Link {
    /// The sender.
    pub from: u32,
    /// The receiver.
    pub to: u32,
    /// How long a packet takes here; as everywhere if absent.
    #[serde(default)]
    pub delay: Option<Delay>,
    /// How often a packet is lost here; as everywhere if absent.
    #[serde(default)]
    pub loss: Option<Probability>,
}

/// The thesis's network: a constant .1 s, nothing lost.
impl Default for Channel {
    fn default() -> Self {
        Self { delay: Delay::Constant(Duration::from_millis(100)), loss: Loss::None }
    }
}

impl Default for Network {
    fn default() -> Self {
        Self {
            multicast: Channel::default(),
            unicast: Channel::default(),
            duplicate: Probability::ZERO,
            reorder: Probability::ZERO,
            straggle: Duration::from_millis(100),
            links: Vec::new(),
            topology: Topology::Group,
        }
    }
}

/// What becomes of one packet at one receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It is lost.
    Lost,
    /// It arrives after this time, and once more if there is a second.
    Arrives(Duration, Option<Duration>),
}

impl Network {
    /// A network with this delay and loss for both ways to send.
    pub fn uniform(delay: Delay, loss: Loss) -> Self {
        let channel = Channel { delay, loss };
        Self { multicast: channel.clone(), unicast: channel, ..Self::default() }
    }

    /// Whether a multicast is one event: the same delay for all, and losses that need no memory.
    pub fn is_plain(&self) -> bool {
        matches!(self.multicast.delay, Delay::Constant(_))
            && !matches!(self.multicast.loss, Loss::Bursts(_))
            && self.duplicate == Probability::ZERO
            && self.reorder == Probability::ZERO
            && self.links.is_empty()
            && self.topology == Topology::Group
    }

    /// How long a message to one process takes, if that is certain, and that it arrives once.
    pub(crate) fn unicasts_surely(&self) -> Option<Duration> {
        let Delay::Constant(takes) = self.unicast.delay else { return None };
        let sure = matches!(self.unicast.loss, Loss::None)
            && self.duplicate == Probability::ZERO
            && self.reorder == Probability::ZERO
            && self.links.is_empty();
        sure.then_some(takes)
    }

    /// The largest process number in it.
    pub(crate) fn highest(&self) -> Option<u32> {
        let links = self.links.iter().map(|link| link.from.max(link.to));
        links.chain(self.topology.highest()).max()
    }

    /// No packet and no copy of one is longer under way than this.
    pub fn longest(&self) -> Duration {
        let common = [&self.multicast, &self.unicast].map(|channel| &channel.delay);
        let linked = self.links.iter().filter_map(|link| link.delay.as_ref());
        let delay = common.into_iter().chain(linked).map(Delay::longest).max();
        let late =
            |chance| if chance == Probability::ZERO { Duration::ZERO } else { self.straggle };
        delay.unwrap_or_default() + late(self.reorder) + late(self.duplicate)
    }

    /// What becomes of a packet. `bad` is the receiver's channel state, for bursts.
    #[inline]
    pub(crate) fn fate(
        &self,
        channel: &Channel,
        packet: PacketDraws,
        from: u32,
        to: u32,
        bad: &mut bool,
    ) -> Fate {
        let link = self.links.iter().find(|link| (link.from, link.to) == (from, to));
        let lost = match link.and_then(|link| link.loss) {
            Some(loss) => loss.occurs(packet.loss(to)),
            None => channel.loss.loses(packet, to, bad),
        };
        if lost {
            return Fate::Lost;
        }
        let delay = link.and_then(|link| link.delay.as_ref()).unwrap_or(&channel.delay);
        let mut takes = match delay {
            Delay::Constant(takes) => *takes,
            random => random.draw(packet.unit(Purpose::Delay, to)),
        };
        // Coins for what cannot happen are not read.
        let occurs = |chance: Probability, purpose| {
            chance != Probability::ZERO && chance.hits(packet.unit(purpose, to))
        };
        if occurs(self.reorder, Purpose::Reorder) {
            takes = takes + self.late(packet.unit(Purpose::ReorderDelay, to));
        }
        let twice = occurs(self.duplicate, Purpose::Duplicate);
        let again = twice.then(|| takes + self.late(packet.unit(Purpose::DuplicateDelay, to)));
        Fate::Arrives(takes, again)
    }

    fn late(&self, unit: f64) -> Duration {
        Duration::from_nanos((unit * self.straggle.as_nanos() as f64) as u64)
    }
}
