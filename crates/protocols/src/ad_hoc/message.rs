//! The messages, and the three orders: of claims, of elections, of heartbeats.

use alloc::vec::Vec;
use bellwether_core::{Malformed, Message as Wire, NodeId, Reader, WireWrite};

/// A claim to lead; the greatest leads. Equal weights are ordered by id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Claim {
    /// One bit for *has not retired*, then the value: see [`weigh`].
    pub weight: u64,
    /// The process that makes it.
    pub id: NodeId,
}

/// The largest value that can be told apart from larger ones.
pub const VALUE_MAX: u64 = (1 << 63) - 1;

/// The weight of a claim: retired processes come after all others, whatever their value.
pub fn weigh(active: bool, value: u64) -> u64 {
    (u64::from(active) << 63) | value.min(VALUE_MAX)
}

/// One election. The higher one prevails: the higher number, then the greater starter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Wave {
    /// Higher than that of any election the starter had heard of.
    pub number: u64,
    /// Who called it.
    pub starter: NodeId,
    /// The starter's incarnation, because a restarted process counts from the beginning.
    pub life: u64,
}

/// The number of a leader's heartbeat, over all its incarnations. Zero is before the first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Beat {
    /// The leader's incarnation.
    pub life: u64,
    /// The number of the heartbeat in that life.
    pub number: u64,
}

/// The leader, as far as the sender knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct News {
    /// The highest election the sender has heard of; it is over.
    pub wave: Wave,
    /// The leader.
    pub leader: Claim,
    /// The last heartbeat of that leader.
    pub beat: Beat,
}

/// A message.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Message {
    /// "Take part, and tell me the best of those you ask in turn."
    Election(Wave),
    /// "This is the best of my subtree", or without a claim: "another process asked me first".
    Ack(Wave, Option<Claim>),
    /// "This one leads", down the tree of an election, or to a process that seems not to know.
    Leader(News),
    /// "I lead, and I am still here", forwarded by everyone.
    Heartbeat(News),
}

impl Wire for Message {
    fn kind(&self) -> &'static str {
        match self {
            Self::Election(_) => "election",
            Self::Ack(..) => "ack",
            Self::Leader(_) => "leader",
            Self::Heartbeat(_) => "heartbeat",
        }
    }

    fn latest(&self) -> u64 {
        let (wave, beat) = match self {
            Self::Election(wave) | Self::Ack(wave, _) => (wave, Beat::default()),
            Self::Leader(news) | Self::Heartbeat(news) => (&news.wave, news.beat),
        };
        let numbers = [wave.number, wave.life, beat.life, beat.number];
        numbers.into_iter().fold(0, u64::max)
    }

    fn encode(&self, out: &mut Vec<u8>) {
        match self {
            Self::Election(wave) => {
                out.put_u8(0);
                put_wave(out, *wave);
            }
            Self::Ack(wave, best) => {
                out.put_u8(1);
                put_wave(out, *wave);
                out.put_flag(best.is_some());
                if let Some(best) = best {
                    put_claim(out, *best);
                }
            }
            Self::Leader(news) => {
                out.put_u8(2);
                put_news(out, *news);
            }
            Self::Heartbeat(news) => {
                out.put_u8(3);
                put_news(out, *news);
            }
        }
    }

    fn decode(input: &mut Reader<'_>) -> Result<Self, Malformed> {
        match input.u8()? {
            0 => wave(input).map(Self::Election),
            1 => {
                let wave = wave(input)?;
                let best = if input.flag()? { Some(claim(input)?) } else { None };
                Ok(Self::Ack(wave, best))
            }
            2 => news(input).map(Self::Leader),
            3 => news(input).map(Self::Heartbeat),
            _ => Err(Malformed),
        }
    }
}

fn put_wave(out: &mut Vec<u8>, Wave { number, starter, life }: Wave) {
    out.put_u64(number);
    out.put_node(starter);
    out.put_u64(life);
}

fn wave(input: &mut Reader<'_>) -> Result<Wave, Malformed> {
    Ok(Wave { number: input.u64()?, starter: input.node()?, life: input.u64()? })
}

fn put_claim(out: &mut Vec<u8>, Claim { weight, id }: Claim) {
    out.put_u64(weight);
    out.put_node(id);
}

fn claim(input: &mut Reader<'_>) -> Result<Claim, Malformed> {
    Ok(Claim { weight: input.u64()?, id: input.node()? })
}

fn put_news(out: &mut Vec<u8>, News { wave, leader, beat }: News) {
    put_wave(out, wave);
    put_claim(out, leader);
    out.put_u64(beat.life);
    out.put_u64(beat.number);
}

fn news(input: &mut Reader<'_>) -> Result<News, Malformed> {
    let (wave, leader) = (wave(input)?, claim(input)?);
    Ok(News { wave, leader, beat: Beat { life: input.u64()?, number: input.u64()? } })
}
