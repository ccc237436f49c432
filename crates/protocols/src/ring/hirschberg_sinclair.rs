//! Hirschberg and Sinclair: candidates look both ways, twice as far in every phase.
//!
//! **Source.** D. S. Hirschberg and J. B. Sinclair, "Decentralized extrema-finding in circular
//! configurations of processors", Communications of the ACM 23(11), 1980, as lectures teach it.
//!
//! **Assumptions** and **promise** as in [`extrema`](super::extrema): *eventually one*.
//!
//! | message | sender | meaning | receiver |
//! |---|---|---|---|
//! | `probe` | a candidate, both ways, and all processes it passes | "this one would lead", up to 2^k processes away in phase k | the next: it stops a lesser candidate and forwards a greater one |
//! | `reply` | the process 2^k away, and all on the way back | "nobody greater up to here" | the candidate: with both replies it begins the next phase |
//! | `announcement` | the candidate whose probe comes around | "this one leads" | everyone, once around |
//!
//! In phase k a candidate sends at most 4·2^k probes and replies, and only one of 2^(k−1)+1
//! neighbours has got so far: at most 8n(1+⌈log2 n⌉) messages in any order, and n announcements.
//!
//! # Where the text is wrong or silent, and what we chose
//!
//! * **Hops.** The lecture's counter starts at zero, is incremented at every process that forwards
//!   the probe, and ends it where it is 2^k: at distance 2^k+1. Here it starts at one, and a
//!   process at distance d reads d.
//! * **Who stands.** In the lecture all processes begin after a request to all. Here the request is
//!   the first probe: a process that a lesser candidate reaches before it took part in any way
//!   stands itself. A process that a greater one reaches first need not, since that one or a still
//!   greater one will win. So the greatest wins whichever process calls; and if all call at once
//!   all stand, as in the text.
//! * **Two probes come around** to the winner, one from each side; the second is ignored.
//! * **A lost neighbour**: a candidate sends the probe of its current phase again. Messages that
//!   others forwarded through the lost one are left to `retry`.

#[cfg(test)]
mod tests;

use super::Key;
use super::extrema::{Finder, Note, Ring, Search, Way};
use alloc::vec::Vec;
use bellwether_core::{Malformed, Reader, WireWrite};

/// One process.
pub type HirschbergSinclair = Finder<BothWays>;

/// The last possible phase.
const LAST: u8 = 63;

/// The state of a participant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct BothWays {
    /// The greatest candidate it knows.
    greatest: Key,
    /// Its own candidacy, if it stands.
    candidacy: Option<Candidacy>,
}

/// The progress of a candidate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Candidacy {
    phase: u8,
    /// The sides from which a reply came.
    replied: [bool; 2],
}

/// A note about a candidate, with its direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Notice {
    /// The candidate.
    pub key: Key,
    /// Its phase.
    pub phase: u8,
    /// Its direction.
    pub way: Way,
    /// How far a probe has gone; `None` for a reply.
    pub hops: Option<u64>,
}

impl Notice {
    fn probe(key: Key, phase: u8, way: Way) -> Self {
        Self { key, phase, way, hops: Some(1) }
    }

    /// How far a probe goes.
    fn reach(&self) -> u64 {
        1 << self.phase.min(LAST)
    }
}

impl Note for Notice {
    fn key(&self) -> Key {
        self.key
    }

    #[inline]
    fn kind(&self) -> &'static str {
        match self.hops {
            Some(_) => "probe",
            None => "reply",
        }
    }

    fn encode(&self, out: &mut Vec<u8>) {
        self.key.encode(out);
        out.put_u8(self.phase);
        out.put_flag(self.way == Way::Back);
        out.put_u64(self.hops.unwrap_or(0));
    }

    fn decode(input: &mut Reader<'_>) -> Result<Self, Malformed> {
        let (key, phase) = (Key::decode(input)?, input.u8()?);
        let way = if input.flag()? { Way::Back } else { Way::Forth };
        let hops = match input.u64()? {
            0 => None,
            hops => Some(hops),
        };
        let notice = Self { key, phase, way, hops };
        let far = hops.is_some_and(|hops| hops > notice.reach());
        if phase > LAST || far { Err(Malformed) } else { Ok(notice) }
    }
}

impl BothWays {
    /// Sends both probes of a phase.
    fn probe(me: Key, phase: u8, ring: &mut Ring<'_, '_, Self>) -> Candidacy {
        assert!(phase <= LAST, "the phase of a probe is bounded");
        Way::BOTH.iter().for_each(|way| ring.say(*way, Notice::probe(me, phase, *way)));
        Candidacy { phase, replied: [false; 2] }
    }

    /// Handles a reply to its own probe.
    fn reply(&mut self, me: Key, note: Notice, ring: &mut Ring<'_, '_, Self>) {
        let Some(candidacy) = &mut self.candidacy else { return };
        if candidacy.phase != note.phase {
            return;
        }
        candidacy.replied[note.way as usize] = true;
        if candidacy.replied == [true; 2] && candidacy.phase < LAST {
            *candidacy = Self::probe(me, candidacy.phase + 1, ring);
        }
    }
}

impl Search for BothWays {
    const NAME: &'static str = "hirschberg-sinclair";
    type Note = Notice;

    fn stand(me: Key, ring: &mut Ring<'_, '_, Self>) -> Self {
        Self { greatest: me, candidacy: Some(Self::probe(me, 0, ring)) }
    }

    fn hear(part: &mut Option<Self>, me: Key, note: Notice, ring: &mut Ring<'_, '_, Self>) -> bool {
        let Notice { key, way, hops, .. } = note;
        let taken = match part {
            Some(part) => part,
            None if key > me => part.insert(Self { greatest: key, candidacy: None }),
            None => part.insert(Self::stand(me, ring)),
        };
        taken.greatest = taken.greatest.max(key);
        match hops {
            Some(_) if key == me => return true,
            Some(_) if key < me => {}
            Some(hops) if hops < note.reach() => {
                ring.say(way, Notice { hops: Some(hops + 1), ..note });
            }
            Some(_) => {
                let way = way.reversed();
                ring.say(way, Notice { hops: None, way, ..note });
            }
            None if key == me => taken.reply(me, note, ring),
            None if key > me => ring.say(way, note),
            None => {} // this process did not stand when the probe passed
        }
        false
    }

    fn hope(&self) -> Key {
        self.greatest
    }

    fn mend(&self, me: Key, way: Way, ring: &mut Ring<'_, '_, Self>) {
        let Some(Candidacy { phase, replied }) = self.candidacy else { return };
        // The reply to a forward probe comes back.
        if !replied[way.reversed() as usize] {
            ring.say(way, Notice::probe(me, phase, way));
        }
    }
}
