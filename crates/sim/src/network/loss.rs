//! Packet loss.

use super::Probability;
use crate::coin::{PacketDraws, Purpose, RunSeed};
use bellwether_protocols::named;
use serde::{Deserialize, Serialize};

/// A model of loss.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Loss {
    /// Nothing is lost.
    None,
    /// One draw per message: all receivers lose it, or none.
    Correlated(Probability),
    /// One draw per message and receiver.
    Uncorrelated(Probability),
    /// Losses come in bursts, independently for each receiver.
    Bursts(Bursts),
}

named! {
    /// Which model of loss.
    pub enum LossModel {
        /// Nothing is lost.
        None = "none",
        /// All receivers lose it, or none.
        Correlated = "correlated",
        /// Each receiver for itself.
        Uncorrelated = "uncorrelated",
        /// Each receiver for itself, in bursts.
        Bursts = "bursts",
    }
}

/// The Gilbert-Elliott channel. Each receiver is in a good or a bad state, which may change with
/// every packet sent to it and decides how often it loses packets. A run starts in the stationary
/// distribution: the first packet is lost as often as any other.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bursts {
    /// The probability that good turns bad.
    pub worsen: Probability,
    /// The probability that bad turns good: a burst lasts for 1/`recover` packets on average.
    pub recover: Probability,
    /// The loss in the good state.
    #[serde(default)]
    pub good: Probability,
    /// The loss in the bad state.
    pub bad: Probability,
}

impl Bursts {
    /// The long-run fraction of packets that meet the bad state. A channel that never changes is
    /// always good.
    fn badly(&self) -> f64 {
        let turns = self.worsen.value() + self.recover.value();
        if turns == 0.0 { 0.0 } else { self.worsen.value() / turns }
    }
}

impl Loss {
    /// Whether the channel to `to` is bad before its first packet. The draw depends on the receiver
    /// alone, so it is the same for every sender.
    pub(crate) fn begins_badly(&self, run_seed: RunSeed, to: u32) -> bool {
        match self {
            Self::Bursts(bursts) => {
                run_seed.packet(to, 0).unit(Purpose::FirstState, to) < bursts.badly()
            }
            Self::None | Self::Correlated(_) | Self::Uncorrelated(_) => false,
        }
    }

    /// Whether `to` loses the packet. `bad` is the state of its channel.
    #[inline]
    pub(crate) fn loses(&self, packet: PacketDraws, to: u32, bad: &mut bool) -> bool {
        match self {
            Self::None => false,
            Self::Correlated(loss) => loss.occurs(shared(packet)),
            Self::Uncorrelated(loss) => loss.occurs(packet.loss(to)),
            Self::Bursts(bursts) => {
                let turns = if *bad { bursts.recover } else { bursts.worsen };
                *bad ^= turns.hits(packet.unit(Purpose::Burst, to));
                let loss = if *bad { bursts.bad } else { bursts.good };
                loss.occurs(packet.loss(to))
            }
        }
    }

    /// The threshold below which a receiver's own draw is a loss; `None` if the whole multicast is
    /// lost.
    #[inline]
    pub(crate) fn of_all(&self, packet: PacketDraws) -> Option<u32> {
        match self {
            Self::None => Some(0),
            Self::Correlated(loss) => (!loss.occurs(shared(packet))).then_some(0),
            Self::Uncorrelated(loss) if loss.is_certain() => None,
            Self::Uncorrelated(loss) => Some(loss.threshold()),
            Self::Bursts(_) => unreachable!("bursts are decided receiver by receiver"),
        }
    }

    /// The long-run fraction of packets lost.
    pub fn rate(&self) -> f64 {
        match self {
            Self::None => 0.0,
            Self::Correlated(loss) | Self::Uncorrelated(loss) => loss.value(),
            Self::Bursts(bursts) => {
                let badly = bursts.badly();
                badly * bursts.bad.value() + (1.0 - badly) * bursts.good.value()
            }
        }
    }
}

/// The draw that all receivers share.
#[inline]
fn shared(packet: PacketDraws) -> u32 {
    packet.word(Purpose::SharedLoss, 0) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    fn p(value: f64) -> Probability {
        Probability::try_from(value).unwrap()
    }

    #[test]
    fn correlated_losses_affect_all_receivers_or_none() {
        let loss = Loss::Correlated(p(0.5));
        let mut losses = 0;
        for number in 0..1000 {
            let packet = RunSeed::new(1, 2).packet(0, number);
            let first = loss.loses(packet, 0, &mut false);
            assert!((1..50).all(|to| loss.loses(packet, to, &mut false) == first));
            assert_eq!(loss.of_all(packet).is_none(), first);
            losses += u32::from(first);
        }
        assert!((400..600).contains(&losses), "{losses}");
    }

    #[test]
    fn bursts_last_as_long_and_lose_as_much_as_they_should() {
        let bursts = Bursts { worsen: p(0.02), recover: p(0.2), good: p(0.0), bad: p(1.0) };
        let loss = Loss::Bursts(bursts);
        let (mut bad, mut lost, mut runs, mut before) = (false, 0u32, 0u32, false);
        let packets = 200_000;
        for number in 0..packets {
            let lost_now = loss.loses(RunSeed::new(4, 0).packet(0, number), 3, &mut bad);
            lost += u32::from(lost_now);
            runs += u32::from(lost_now && !before);
            before = lost_now;
        }
        let (rate, length) = (f64::from(lost) / f64::from(packets), f64::from(lost / runs.max(1)));
        assert!((rate - loss.rate()).abs() < 0.01, "{rate} {}", loss.rate());
        assert!((4.0..=5.5).contains(&length), "mean burst of {length} packets, not 5");
    }
}
