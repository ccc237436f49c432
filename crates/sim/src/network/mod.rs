//! The network: how long packets take and whether they arrive.
//!
//! | part | models |
//! |---|---|
//! | [`Delay`] | constant, uniform, exponential, log-normal |
//! | [`Loss`] | none, correlated (all receivers together), uncorrelated, bursts (Gilbert-Elliott) |
//! | duplication, reordering | a probability each, and the additional delay |
//! | [`Link`] | one sender and one receiver, with their own delay and loss |
//! | [`Topology`] | who hears whom at all |
//!
//! Partitions come and go during a run, so they are [faults](crate::fault).

mod delay;
mod loss;
mod normal;
mod probability;
mod topology;

pub use delay::{Delay, DelayModel};
pub use loss::{Bursts, Loss, LossModel};
pub use probability::{BadProbability, Probability};
pub use topology::Topology;
pub(crate) use topology::components;

use crate::coin::{PacketDraws, Purpose};
use bellwether_core::Duration;
use serde::{Deserialize, Serialize};

/// The properties of the network.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Network {
    /// The channel of messages to everyone.
    pub multicast: Channel,
    /// The channel of messages to one process.
    pub unicast: Channel,
    /// The probability that a packet arrives twice.
    pub duplicate: Probability,
    /// The probability that a packet is delayed further, so that later ones overtake it.
    pub reorder: Probability,
    /// The longest additional delay of a second copy or a reordered packet.
    pub straggle: Duration,
    /// Exceptions for single links.
    pub links: Vec<Link>,
    /// Who hears whom.
    pub topology: Topology,
}

/// Delay and loss of multicasts or of unicasts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Channel {
    /// How long a packet takes.
    pub delay: Delay,
    /// How packets are lost.
    pub loss: Loss,
}

/// A link from one sender to one receiver with its own properties.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Link {
    /// The sender.
    pub from: u32,
    /// The receiver.
    pub to: u32,
    /// The delay on this link; that of the channel if absent.
    #[serde(default)]
    pub delay: Option<Delay>,
    /// The loss on this link; that of the channel if absent.
    #[serde(default)]
    pub loss: Option<Probability>,
}

/// The network of the thesis: a constant delay of .1 s and no loss.
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

/// What happens to one packet at one receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It is lost.
    Lost,
    /// It arrives after the first delay, and again after the second if there is one.
    Arrives(Duration, Option<Duration>),
}

impl Network {
    /// A network with this delay and loss for multicasts and unicasts.
    pub fn uniform(delay: Delay, loss: Loss) -> Self {
        let channel = Channel { delay, loss };
        Self { multicast: channel.clone(), unicast: channel, ..Self::default() }
    }

    /// Whether a multicast can be one event: one delay for all receivers, and losses without state.
    pub fn is_plain(&self) -> bool {
        matches!(self.multicast.delay, Delay::Constant(_))
            && !matches!(self.multicast.loss, Loss::Bursts(_))
            && self.duplicate == Probability::ZERO
            && self.reorder == Probability::ZERO
            && self.links.is_empty()
            && self.topology == Topology::Group
    }

    /// The delay of every unicast, if it is constant and each arrives exactly once.
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

    /// The longest time that a packet or a copy of one can be in flight.
    pub fn longest(&self) -> Duration {
        let common = [&self.multicast, &self.unicast].map(|channel| &channel.delay);
        let linked = self.links.iter().filter_map(|link| link.delay.as_ref());
        let delay = common.into_iter().chain(linked).map(Delay::longest).max();
        let late =
            |chance| if chance == Probability::ZERO { Duration::ZERO } else { self.straggle };
        delay.unwrap_or_default() + late(self.reorder) + late(self.duplicate)
    }

    /// Decides what happens to a packet. `bad` is the state of the receiver's channel, for bursts.
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
        // Draws for what cannot happen are not read.
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

    #[inline]
    fn late(&self, unit: f64) -> Duration {
        Duration::from_nanos((unit * self.straggle.as_nanos() as f64) as u64)
    }
}
