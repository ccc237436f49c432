//! Chang and Roberts: a greater process stops the message of a lesser candidate.
//!
//! **Source.** Ernest Chang and Rosemary Roberts, "An improved algorithm for decentralized
//! extrema-finding in circular configurations of processes", Communications of the ACM 22(5), 1979.
//!
//! **Assumptions** and **promise** as in [`extrema`](super::extrema): *eventually one*.
//!
//! | message | sender | meaning | receiver |
//! |---|---|---|---|
//! | `election` | a candidate, and all processes it passes | "this one would lead" | the next: it forwards a greater candidate, replaces a lesser one by itself if it takes no part yet, and drops it otherwise |
//! | `announcement` | the candidate whose message comes back | "this one leads" | everyone, once around |
//!
//! If all n live processes call the election at once, a candidate's message goes as far as the
//! first greater process. In ascending order of ids that is the next one: n−1 messages stop at once
//! and that of the greatest goes around, 2n−1 in all, the best case. In descending order the
//! message of the i-th least goes i hops, n(n+1)/2 in all, the worst case. In random order it is
//! n·H_n on average. The n announcements are added to this. A single call costs n messages if the
//! greatest makes it, and 2n−1 if the process right after the greatest does.
//!
//! # Where the text is silent, and what we chose
//!
//! In addition to what all searches share: the processes of the paper all have messages of their
//! own from the start, or begin when one reaches them. Here a process that has forwarded a greater
//! candidate does not stand any more, and its part in the election begins with that. A process
//! remembers the greatest candidate it knows in an election, to repeat it to the new neighbour
//! after one was lost.

#[cfg(test)]
mod tests;

use super::Key;
use super::extrema::{Finder, Note, Ring, Search, Way};
use alloc::vec::Vec;
use bellwether_core::{Malformed, Reader};
use core::cmp::Ordering;

/// One process.
pub type ChangRoberts = Finder<OneWay>;

/// The part of a process: the greatest candidate it knows of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct OneWay(Key);

/// A candidate on its way around.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Candidate(pub Key);

impl Note for Candidate {
    #[inline]
    fn key(&self) -> Key {
        self.0
    }

    #[inline]
    fn kind(&self) -> &'static str {
        "election"
    }

    fn encode(&self, out: &mut Vec<u8>) {
        self.0.encode(out);
    }

    fn decode(input: &mut Reader<'_>) -> Result<Self, Malformed> {
        Key::decode(input).map(Self)
    }
}

impl Search for OneWay {
    const NAME: &'static str = "chang-roberts";
    type Note = Candidate;

    fn stand(me: Key, ring: &mut Ring<'_, '_, Self>) -> Self {
        ring.say(Way::Forth, Candidate(me));
        Self(me)
    }

    #[inline]
    fn hear(
        part: &mut Option<Self>,
        me: Key,
        Candidate(key): Candidate,
        ring: &mut Ring<'_, '_, Self>,
    ) -> bool {
        match key.cmp(&me) {
            Ordering::Greater => {
                *part = Some(Self(part.map_or(key, |Self(greatest)| greatest.max(key))));
                ring.say(Way::Forth, Candidate(key));
            }
            Ordering::Less if part.is_none() => *part = Some(Self::stand(me, ring)),
            Ordering::Less | Ordering::Equal => {}
        }
        key == me
    }

    fn hope(&self) -> Key {
        self.0
    }

    fn mend(&self, _me: Key, way: Way, ring: &mut Ring<'_, '_, Self>) {
        if way == Way::Forth {
            ring.say(way, Candidate(self.0));
        }
    }
}
