//! Luck, and what the network makes of it.

use bellwether_core::{Entropy, Seeded};

/// No packet is under way for longer: five minutes.
const SLOWEST: u64 = 300_000_000_000;

/// Where all choices of one history come from.
pub(crate) struct Luck(Seeded);

impl Luck {
    pub(crate) fn new(seed: u64) -> Self {
        Self(Seeded::new(seed))
    }

    /// One of `0..n`.
    pub(crate) fn below(&mut self, n: u64) -> u64 {
        self.0.below(n)
    }

    pub(crate) fn percent(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    pub(crate) fn one_of<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len() as u64) as usize]
    }

    /// Up to `most`, and of any order of magnitude.
    pub(crate) fn any_size(&mut self, most: u64) -> u64 {
        let shift = self.below(24);
        self.below((most >> shift) + 1)
    }
}

/// The network of one history, and its luck.
pub(crate) struct Weather {
    pub(crate) luck: Luck,
    /// The usual delay beyond the fastest, from a microsecond to ten seconds.
    pub(crate) pace: u64,
    /// No packet is faster.
    pub(crate) fastest: u64,
    /// How many in a hundred are lost, doubled, or much later than usual.
    loss: u64,
    doubling: u64,
    tail: u64,
    /// How many in a hundred are as fast as can be.
    prompt: u64,
}

impl Weather {
    pub(crate) fn new(mut luck: Luck) -> Self {
        let pace = 1_000 * 10_u64.pow(luck.below(8) as u32);
        let fastest = match luck.below(3) {
            0 => 0,
            1 => pace / 2,
            _ => luck.any_size(pace),
        };
        let (loss, doubling) = (luck.one_of(&[0, 5, 20]), luck.one_of(&[0, 0, 20]));
        let (tail, prompt) = (luck.one_of(&[0, 5, 20]), luck.one_of(&[0, 30, 90]));
        Self { luck, pace, fastest, loss, doubling, tail, prompt }
    }

    /// How long the copies of a packet take; both are lost, one arrives, or two.
    pub(crate) fn copies(&mut self) -> [Option<u64>; 2] {
        if self.luck.percent(self.loss) {
            return [None, None];
        }
        let again = self.luck.percent(self.doubling).then(|| self.delay());
        [Some(self.delay()), again]
    }

    fn delay(&mut self) -> u64 {
        if self.luck.percent(self.prompt) {
            return self.fastest;
        }
        let beyond = if self.luck.percent(self.tail) {
            self.luck.below((self.pace * 100).min(SLOWEST))
        } else {
            self.luck.below(self.pace)
        };
        self.fastest + beyond
    }
}
