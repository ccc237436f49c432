//! Replay protection: a window of received sequence numbers per sender and incarnation.
//!
//! **Source.** The bitmap is the one of RFC 6479, *IPsec Anti-Replay Algorithm without Bit
//! Shifting*: a ring of words, one more than the window is wide, so that moving the window clears
//! whole words and shifts nothing.
//!
//! **Assumptions.** Only authentic frames are recorded; any may be checked, which changes nothing.
//! A sender's incarnations increase, its sequence numbers increase within one, and its session is
//! drawn anew for each.
//!
//! **Promise.** In one incarnation no sequence number is accepted twice, nor one that is [`WIDTH`]
//! or more behind the greatest, nor any after [`LAST`]. Once an incarnation was heard, earlier ones
//! are not accepted. Memory is bounded: when there is no room for a new sender, the one silent for
//! longest is forgotten, and only its frames could be accepted again. That never happens in a group
//! with a list.

use super::LAST;
use super::drop_reason::DropReason;
use super::header::{Header, Session};
use bellwether_core::NodeId;
use std::collections::BTreeMap;

/// How far a frame may be behind the latest of its sender.
pub const WIDTH: u64 = 1024;

const WORD: u64 = u64::BITS as u64;
const WORDS: u64 = WIDTH / WORD + 1;

/// The sequence numbers of one incarnation: the greatest, and a bit for each of the last [`WIDTH`].
#[derive(Clone, Debug, PartialEq, Eq)]
struct Window {
    top: u64,
    ring: [u64; WORDS as usize],
}

impl Window {
    /// The window after its first number.
    fn starting(sequence: u64) -> Self {
        let mut window = Self { top: sequence, ring: [0; WORDS as usize] };
        window.record(sequence);
        window
    }

    fn bit(sequence: u64) -> (usize, u64) {
        ((sequence / WORD % WORDS) as usize, 1 << (sequence % WORD))
    }

    fn is_new(&self, sequence: u64) -> bool {
        if sequence > self.top {
            return true;
        }
        if self.top == LAST {
            return false; // the incarnation is over: what is still under way comes too late
        }
        let (word, bit) = Self::bit(sequence);
        self.top - sequence < WIDTH && self.ring[word] & bit == 0
    }

    /// Only for a number that [`is_new`](Self::is_new).
    fn record(&mut self, sequence: u64) {
        if sequence > self.top {
            let words = (sequence / WORD - self.top / WORD).min(WORDS);
            for ahead in 1..=words {
                self.ring[((self.top / WORD + ahead) % WORDS) as usize] = 0;
            }
            self.top = sequence;
        }
        let (word, bit) = Self::bit(sequence);
        self.ring[word] |= bit;
    }
}

/// The window of one sender.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Life {
    incarnation: u64,
    session: Session,
    window: Window,
    /// The count of frames when it was last heard: the smallest was silent for longest.
    spoke: u64,
}

/// The windows of all senders.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Replay {
    senders_max: usize,
    frames: u64,
    lives: BTreeMap<NodeId, Life>,
}

impl Replay {
    /// Windows for this many senders, at least one.
    pub(super) fn new(senders_max: usize) -> Self {
        Self { senders_max: senders_max.max(1), frames: 0, lives: BTreeMap::new() }
    }

    /// Whether this frame is new. Changes nothing.
    pub(super) fn check(&self, header: &Header) -> Result<(), DropReason> {
        let Some(life) = self.lives.get(&header.sender) else { return Ok(()) };
        if header.incarnation > life.incarnation {
            Ok(())
        } else if header.incarnation < life.incarnation {
            Err(DropReason::FormerLife)
        } else if header.session != life.session {
            Err(DropReason::IdTwice)
        } else if life.window.is_new(header.sequence) {
            Ok(())
        } else {
            Err(DropReason::Replayed)
        }
    }

    /// Whether this is the last frame of an incarnation once more: a will is sent several times.
    pub(super) fn is_will_again(&self, header: &Header) -> bool {
        let is_over = |life: &Life| {
            (life.incarnation, life.session) == (header.incarnation, header.session)
                && life.window.top == LAST
        };
        header.sequence == LAST && self.lives.get(&header.sender).is_some_and(is_over)
    }

    /// Records this frame. Only for one that [`check`](Self::check) accepts.
    pub(super) fn record(&mut self, header: &Header) {
        debug_assert_eq!(self.check(header), Ok(()), "recorded unchecked");
        self.frames += 1;
        match self.lives.get_mut(&header.sender) {
            Some(life) if life.incarnation == header.incarnation => {
                life.window.record(header.sequence);
                life.spoke = self.frames;
                return;
            }
            Some(_) => {}
            None => self.make_room(),
        }
        let life = Life {
            incarnation: header.incarnation,
            session: header.session,
            window: Window::starting(header.sequence),
            spoke: self.frames,
        };
        self.lives.insert(header.sender, life);
    }

    /// Makes room for one more sender.
    fn make_room(&mut self) {
        if self.lives.len() < self.senders_max {
            return;
        }
        let silent = self.lives.iter().min_by_key(|(_, life)| life.spoke);
        if let Some((&sender, _)) = silent {
            self.lives.remove(&sender);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::config_digest::ConfigDigest;
    use super::super::header::{GroupTag, Kind, Salt};
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    fn frame(sender: u64, incarnation: u64, session: u8, sequence: u64) -> Header {
        Header {
            kind: Kind::Message as u8,
            key: [0; 4],
            group: GroupTag::of("g"),
            sender: NodeId(sender),
            receiver: None,
            incarnation,
            session: Session([session; 8]),
            sequence,
            digest: ConfigDigest::open(""),
            salt: Salt([0; 16]),
        }
    }

    fn hear(replay: &mut Replay, header: &Header) -> Result<(), DropReason> {
        replay.check(header).inspect(|()| replay.record(header))
    }

    #[test]
    fn the_window_is_exactly_as_wide_as_it_says() {
        for top in [WIDTH - 1, WIDTH, 5000, 5055, 5056, LAST - 1] {
            let window = Window::starting(top);
            assert!(!window.is_new(top));
            assert!(window.is_new(top - (WIDTH - 1)), "{top}");
            assert!(!top.checked_sub(WIDTH).is_some_and(|old| window.is_new(old)), "{top}");
        }
    }

    #[test]
    fn the_last_number_closes_the_window() {
        for before in [None, Some(0), Some(70), Some(LAST - 1)] {
            let mut window = Window::starting(before.unwrap_or(LAST));
            if before.is_some() {
                assert!(window.is_new(LAST), "{before:?}");
                window.record(LAST);
            }
            for late in [0, 1, 69, 71, LAST - WIDTH, LAST - 64, LAST - 2, LAST - 1, LAST] {
                assert!(!window.is_new(late), "{late} after {before:?} and the last");
            }
        }
    }

    #[test]
    fn the_last_frame_of_a_life_closes_only_that_life() {
        let mut replay = Replay::new(4);
        assert_eq!(hear(&mut replay, &frame(1, 3, 30, 900)), Ok(()));
        assert_eq!(hear(&mut replay, &frame(1, 3, 31, LAST)), Err(DropReason::IdTwice));
        assert_eq!(hear(&mut replay, &frame(1, 2, 20, LAST)), Err(DropReason::FormerLife));
        assert_eq!(hear(&mut replay, &frame(1, 3, 30, LAST)), Ok(()));
        for late in [0, 899, 901, LAST - 1, LAST] {
            let found = hear(&mut replay, &frame(1, 3, 30, late));
            assert_eq!(found, Err(DropReason::Replayed), "{late}");
        }
        assert_eq!(hear(&mut replay, &frame(2, 3, 30, 901)), Ok(()), "another sender");
        assert_eq!(hear(&mut replay, &frame(1, 4, 40, 0)), Ok(()), "the next life");
        assert_eq!(hear(&mut replay, &frame(1, 3, 30, LAST)), Err(DropReason::FormerLife));
        assert_eq!(hear(&mut replay, &frame(1, 4, 40, 1)), Ok(()));
    }

    /// All numbers at every place of the ring: random tests seldom find the two that share a word.
    #[test]
    fn whatever_the_stride_the_window_knows_what_it_saw() {
        for stride in [1, 2, 63, 64, 65, 1000, 1023, 1024, 1025, 1088, 1089] {
            let mut window = Window::starting(0);
            for top in (stride..3 * WIDTH).step_by(stride as usize) {
                window.record(top);
                for sequence in 0..=top {
                    let lags = top - sequence >= WIDTH;
                    let seen = sequence % stride == 0;
                    assert_eq!(window.is_new(sequence), !lags && !seen, "{sequence} of {top}");
                }
            }
        }
    }

    #[test]
    fn a_later_life_replaces_the_former_one() {
        let mut replay = Replay::new(4);
        assert_eq!(hear(&mut replay, &frame(1, 3, 30, 900)), Ok(()));
        assert_eq!(hear(&mut replay, &frame(1, 2, 20, 901)), Err(DropReason::FormerLife));
        assert_eq!(hear(&mut replay, &frame(1, 3, 31, 901)), Err(DropReason::IdTwice));
        assert_eq!(hear(&mut replay, &frame(1, 4, 40, 0)), Ok(()));
        assert_eq!(hear(&mut replay, &frame(1, 3, 30, 901)), Err(DropReason::FormerLife));
        assert_eq!(hear(&mut replay, &frame(1, 4, 40, 0)), Err(DropReason::Replayed));
        assert_eq!(hear(&mut replay, &frame(2, 1, 10, 0)), Ok(()), "another sender");
    }

    #[test]
    fn the_sender_that_was_silent_longest_is_forgotten_first() {
        let mut replay = Replay::new(2);
        for (sender, sequence) in [(1, 0), (2, 0), (1, 1), (3, 0)] {
            assert_eq!(hear(&mut replay, &frame(sender, 1, 1, sequence)), Ok(()));
        }
        let known: Vec<_> = replay.lives.keys().copied().collect();
        assert_eq!(known, [NodeId(1), NodeId(3)]);
    }

    proptest! {
        /// Compared with a simple model that keeps every accepted number.
        #[test]
        fn the_window_passes_what_a_set_of_all_numbers_would(
            base in prop_oneof![Just(0), 0..5000u64, Just(LAST - 9000), Just(LAST - 200)],
            steps in prop::collection::vec(
                prop_oneof![6 => 0..200u64, 3 => 0..2400u64, 1 => 0..9000u64],
                1..300,
            ),
        ) {
            let mut replay = Replay::new(1);
            let mut seen = BTreeSet::new();
            for step in steps {
                let sequence = base.saturating_add(step);
                let over = seen.contains(&LAST);
                let lags = seen.last().is_some_and(|top| sequence.saturating_add(WIDTH) <= *top);
                let expected = !over && !lags && seen.insert(sequence);
                prop_assert_eq!(hear(&mut replay, &frame(1, 1, 1, sequence)).is_ok(), expected);
            }
        }

        /// The same with several incarnations, sessions and senders.
        #[test]
        fn no_frame_passes_twice_and_no_life_comes_back(
            frames in prop::collection::vec((0..3u64, 0..4u64, 0..2u8, 0..40u64), 1..400),
        ) {
            let mut replay = Replay::new(3);
            let mut passed = BTreeSet::new();
            let mut latest = BTreeMap::new();
            for (sender, incarnation, session, sequence) in frames {
                let known = latest.entry(sender).or_insert((incarnation, session));
                let expected = if incarnation < known.0 {
                    Err(DropReason::FormerLife)
                } else if incarnation == known.0 && session != known.1 {
                    Err(DropReason::IdTwice)
                } else if !passed.insert((sender, incarnation, session, sequence)) {
                    Err(DropReason::Replayed)
                } else {
                    *known = (incarnation, session);
                    Ok(())
                };
                let before = replay.clone();
                let found = hear(&mut replay, &frame(sender, incarnation, session, sequence));
                prop_assert_eq!(found, expected);
                prop_assert!(found.is_ok() || replay == before, "a refused frame left a trace");
            }
        }
    }
}
