//! Random draws as pure functions: what happens to a packet depends only on its sender, its number
//! and its receiver.
//!
//! There is no generator with a moving state. Draws can be read in any order, by any number of
//! threads, or not at all, without changing the run. The event engine can therefore read a whole
//! group's draws in one vector loop, and the lazy engine can read only the few that matter.

use bellwether_core::{Entropy, STRIDE, Seeded, mix};

/// The seed of one run, from which all its random draws follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunSeed {
    key: u64,
}

/// What a draw decides. Draws for different purposes are independent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// Whether all receivers lose the packet together.
    SharedLoss = 1,
    /// The delay.
    Delay,
    /// Whether the packet arrives twice.
    Duplicate,
    /// How much later the second copy arrives.
    DuplicateDelay,
    /// Whether the packet is delayed further, so that others overtake it.
    Reorder,
    /// How long that further delay is.
    ReorderDelay,
    /// Whether the receiver's channel changes between good and bad.
    Burst,
    /// How late the receiver's scheduler is.
    Scheduling,
    /// The rank of a process.
    Rank,
    /// Whether the receiver's channel is bad before its first packet.
    FirstState,
}

impl RunSeed {
    /// The draws of run number `run` under `seed`.
    pub fn new(seed: u64, run: u64) -> Self {
        Self { key: mix(mix(seed).wrapping_add(run).wrapping_mul(STRIDE)) }
    }

    /// The draws of branch number `number` of a run with these, independent of them and of those of
    /// all other branches.
    pub fn branch(self, number: u64) -> Self {
        Self { key: mix(self.key ^ mix(number ^ BRANCH)) }
    }

    /// The draws of the `number`-th packet of `sender`.
    #[inline]
    pub fn packet(self, sender: u32, number: u32) -> PacketDraws {
        let packet = (u64::from(sender) << 32) | u64::from(number);
        let key = mix(self.key ^ mix(packet.wrapping_add(STRIDE)));
        PacketDraws { low: key as u32, high: (key >> 32) as u32 }
    }

    /// The random stream of one process. Each process has its own stream, so an additional draw in
    /// one process changes nothing in the others.
    #[inline]
    pub fn stream(self, node: u32) -> Stream {
        Stream(Seeded::new(mix(self.key ^ mix(!u64::from(node)))))
    }

    /// A random number that identifies the run; all its processes may know it.
    #[inline]
    pub fn group(self) -> u64 {
        mix(self.key ^ GROUP)
    }

    /// A random stream for the world itself, separate from those of all processes.
    pub fn world(self, purpose: StreamPurpose) -> Stream {
        Stream(Seeded::new(mix(self.key ^ mix(purpose.number() ^ STRIDE))))
    }
}

/// What the world draws from a stream of its own. Two purposes with the same number read the same
/// stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum StreamPurpose {
    /// How fast each clock runs.
    Drifts,
    /// When the event of a scenario happens; in churn, which processes come and go.
    Event,
    /// What each clock reads at the start.
    Offsets,
    /// Which processes a split cuts off.
    Split,
    /// The order of a ring.
    RingOrder,
    /// Which processes start an election, and when.
    Initiators,
    /// How one process moves.
    Motion {
        /// Its number.
        node: u32,
    },
    /// A random network of links.
    Terrain,
    /// Which processes fail in a round of an election.
    Failures {
        /// Which election, from 1.
        election: u32,
        /// Which of its rounds, from 1.
        round: u32,
    },
    /// For a rare event: which losses are forced.
    ForcedLosses,
    /// For a rare event: which run a copy goes on from.
    Parents,
    /// For a rare event: when the spells of heavy loss begin.
    Spells,
    /// For users of this crate, under numbers of their own. Those below 16 are also numbers of the
    /// purposes above, so take others if the same run draws for both.
    Caller(u64),
}

impl StreamPurpose {
    /// The number of the stream. Recorded seeds depend on these numbers: a new purpose gets a new
    /// number, and no number ever changes.
    fn number(self) -> u64 {
        match self {
            // The last two are drawn from branches of the run's key, which draw nothing else.
            Self::Drifts | Self::ForcedLosses | Self::Parents => 1,
            Self::Event => 2,
            // Both share one number for compatibility with recorded seeds. This is safe: only
            // scenario files and schedules draw offsets, and only experiments, in which all clocks
            // start at zero, draw splits.
            Self::Offsets | Self::Split => 3,
            Self::RingOrder => 4,
            Self::Initiators => 5,
            Self::Motion { node } => 6 << 32 | u64::from(node),
            Self::Terrain => 7,
            Self::Spells => 8,
            // Elections count from 1, so these numbers are above all others except those of motion.
            // Protocols with rounds do not use motion.
            Self::Failures { election, round } => u64::from(election) << 32 | u64::from(round),
            Self::Caller(number) => number,
        }
    }
}

/// A stream of random draws, for example those of one process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stream(Seeded);

impl Entropy for Stream {
    #[inline]
    fn below(&mut self, n: u64) -> u64 {
        self.0.below(n)
    }
}

impl Stream {
    /// A number in `[0, 1)`.
    #[inline]
    pub fn unit(&mut self) -> f64 {
        to_unit(self.0.next_u64())
    }
}

/// The random draws of one packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PacketDraws {
    low: u32,
    high: u32,
}

impl PacketDraws {
    /// The draw that decides whether `receiver` loses the packet: 32 uniform bits, from a few cheap
    /// steps that the compiler vectorises. The two halves of the packet's key enter at different
    /// steps, so that no two packets read shifted copies of one sequence.
    #[inline(always)]
    pub fn loss(self, receiver: u32) -> u32 {
        let mut x = receiver.wrapping_mul(0x9e37_79b1) ^ self.low;
        x = (x ^ (x >> 16)).wrapping_mul(0x7feb_352d);
        x = (x ^ (x >> 15) ^ self.high).wrapping_mul(0x846c_a68b);
        x ^ (x >> 16)
    }

    /// The draw for any other purpose: 64 uniform bits.
    #[inline]
    pub fn word(self, purpose: Purpose, receiver: u32) -> u64 {
        let packet = (u64::from(self.high) << 32) | u64::from(self.low);
        mix(packet ^ mix(u64::from(receiver) | ((purpose as u64) << 40)))
    }

    /// The draw for any other purpose, as a number in `[0, 1)`.
    #[inline]
    pub fn unit(self, purpose: Purpose, receiver: u32) -> f64 {
        to_unit(self.word(purpose, receiver))
    }
}

const BRANCH: u64 = 0x6120_6e65_7720_6b65;
const GROUP: u64 = 0x6772_6f75_7020_6964;

#[inline]
fn to_unit(word: u64) -> f64 {
    (word >> 11) as f64 / (1u64 << 53) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How many standard deviations `hits` of `trials` is away from probability one half.
    fn sigmas(hits: u64, trials: u64) -> f64 {
        (hits as f64 - trials as f64 / 2.0).abs() / (trials as f64 / 4.0).sqrt()
    }

    /// Those that share a number are never drawn from one key; `number` says why.
    #[test]
    fn what_a_run_draws_from_one_key_comes_from_different_streams() {
        let purposes = [
            StreamPurpose::Drifts,
            StreamPurpose::Event,
            StreamPurpose::Offsets,
            StreamPurpose::RingOrder,
            StreamPurpose::Initiators,
            StreamPurpose::Motion { node: 0 },
            StreamPurpose::Terrain,
            StreamPurpose::Failures { election: 1, round: 1 },
            StreamPurpose::Spells,
        ];
        let mut numbers = purposes.map(StreamPurpose::number).to_vec();
        numbers.sort_unstable();
        numbers.dedup();
        assert_eq!(numbers.len(), purposes.len());
    }

    #[test]
    fn every_bit_of_a_loss_coin_is_even() {
        let run_seed = RunSeed::new(1, 0);
        let mut ones = [0u64; 32];
        let (packets, receivers) = (400, 500);
        for number in 0..packets {
            let packet = run_seed.packet(number % 7, number);
            for receiver in 0..receivers {
                let coin = packet.loss(receiver);
                ones.iter_mut().enumerate().for_each(|(bit, n)| *n += u64::from(coin >> bit & 1));
            }
        }
        for (bit, &hits) in ones.iter().enumerate() {
            assert!(sigmas(hits, u64::from(packets * receivers)) < 4.5, "bit {bit}: {hits}");
        }
    }

    /// Draws of neighbouring receivers, numbers, senders and runs must be independent.
    #[test]
    fn coins_that_lie_side_by_side_are_independent() {
        let coin = |run, sender, number, receiver| {
            u64::from(RunSeed::new(9, run).packet(sender, number).loss(receiver) >> 31)
        };
        let trials = 200_000u64;
        let mut same = [0u64; 4];
        for i in 0..trials {
            let (a, b, c) = ((i % 40) as u32, (i / 40 % 50) as u32, (i / 2000) as u32);
            let one = coin(0, a, b, c);
            same[0] += one ^ coin(0, a, b, c + 1);
            same[1] += one ^ coin(0, a, b + 1, c);
            same[2] += one ^ coin(0, a + 1, b, c);
            same[3] += one ^ coin(1, a, b, c);
        }
        for (neighbour, &differing) in same.iter().enumerate() {
            assert!(sigmas(differing, trials) < 4.5, "neighbour {neighbour}: {differing}");
        }
    }

    #[test]
    fn losses_of_one_packet_are_binomial_over_its_receivers() {
        // 2000 packets, 500 receivers, loss .4: the variance of the number lost is 500·.4·.6 = 120.
        let threshold = (0.4 * 2f64.powi(32)) as u32;
        let run_seed = RunSeed::new(3, 5);
        let lost: Vec<f64> = (0..2000)
            .map(|number| {
                let packet = run_seed.packet(17, number);
                (0..500).filter(|r| packet.loss(*r) < threshold).count() as f64
            })
            .collect();
        let mean = lost.iter().sum::<f64>() / 2000.0;
        let variance = lost.iter().map(|n| (n - mean).powi(2)).sum::<f64>() / 1999.0;
        assert!((mean - 200.0).abs() < 4.0 * (120.0f64 / 2000.0).sqrt(), "{mean}");
        assert!((variance - 120.0).abs() < 4.0 * 120.0 * (2.0f64 / 1999.0).sqrt(), "{variance}");
    }

    #[test]
    fn a_coin_is_the_same_coin_for_ever() {
        // Pinned: a change of these values changes the result of every recorded seed.
        let packet = RunSeed::new(42, 7).packet(3, 11);
        assert_eq!((packet.loss(0), packet.loss(499)), PINNED_LOSS);
        assert_eq!(packet.word(Purpose::Delay, 5), PINNED_WORD);
        let mut stream = RunSeed::new(42, 7).stream(3);
        assert_eq!(stream.below(1_000_000_000), PINNED_DRAW);
    }

    const PINNED_LOSS: (u32, u32) = (387_282_437, 6_222_971);
    const PINNED_WORD: u64 = 10_553_145_142_675_960_444;
    const PINNED_DRAW: u64 = 137_120_044;
}
