//! What was asked and heard of addresses, and from when on they are free.
//!
//! **Source.** Our own: see [`lookout`](super::lookout), which also says why it is safe.
//!
//! **Assumptions.** `now` is the time at which all packets that had come were read.
//!
//! **Promise.** It reads no clock and no socket. Nobody counts as silent whom we did not ask at
//! least [`LEAST`] times, each time before the answer to the question before was late.

use super::neighbourhood::Heard;
use bellwether_core::{Duration, Instant};

/// How often each address is asked for in the time that an answer may take.
const PROBES: u64 = 6;
/// So many questions must be without an answer: one of them, or its answer, may be lost.
const LEAST: u32 = 3;

/// What is known of addresses that have numbers.
#[derive(Debug)]
pub(super) struct Knowledge {
    /// How long an answer may take.
    wait: Duration,
    /// For how long it is believed that a member gave an address up.
    believed: Duration,
    each: Vec<Known>,
    asking: Option<Asking>,
}

/// What was heard of an address.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Known {
    /// When somebody last had it, and its hardware address.
    had: Option<(Instant, [u8; 6])>,
    /// When that one gave it up.
    given_up: Option<Instant>,
    /// When it was asked for, first since asking began and since somebody had it.
    asked: Option<Instant>,
    /// How often, since then.
    questions: u32,
}

/// Questions that are sent one after the other.
#[derive(Clone, Copy, Debug)]
struct Asking {
    last: Option<Instant>,
    next: Instant,
    ends: Instant,
}

impl Known {
    fn note(&mut self, now: Instant, heard: Heard) {
        match heard {
            Heard::Has(mac) => *self = Self { had: Some((now, mac)), ..Self::default() },
            // Of another one that had it before it is of no use, and late.
            Heard::GaveUp(mac) if self.had.is_none_or(|(_, owner)| owner == mac) => {
                self.given_up = Some(now);
            }
            Heard::GaveUp(_) => {}
        }
    }

    fn ask_anew(&mut self) {
        (self.asked, self.questions) = (None, 0);
    }
}

impl Knowledge {
    /// Of no address. An answer may take `wait`; that a member gave an address up is `believed` for
    /// so long.
    pub(super) fn new(wait: Duration, believed: Duration) -> Self {
        Self { wait, believed, each: Vec::new(), asking: None }
    }

    /// Nothing is known of so many addresses, and nobody is asked.
    pub(super) fn forget(&mut self, count: usize) {
        self.each = vec![Known::default(); count];
        self.asking = None;
    }

    /// Asks until then. What was asked before counts only if asking is not over.
    pub(super) fn ask_until(&mut self, now: Instant, ends: Instant) {
        if self.asking.is_some_and(|asking| now >= asking.ends) {
            self.cease();
        }
        let asking = self.asking.unwrap_or(Asking { last: None, next: now, ends });
        self.asking = Some(Asking { ends, ..asking });
    }

    /// Asks nobody any more.
    pub(super) fn cease(&mut self) {
        self.asking = None;
        self.each.iter_mut().for_each(Known::ask_anew);
    }

    /// Whether to ask now.
    pub(super) fn is_due(&mut self, now: Instant) -> bool {
        if self.asking.is_some_and(|asking| now >= asking.ends) {
            self.cease();
        }
        self.asking.is_some_and(|asking| now >= asking.next)
    }

    /// When to ask next, or to ask nobody any more.
    pub(super) fn next(&self) -> Instant {
        self.asking.map_or(Instant::NEVER, |asking| asking.next.min(asking.ends))
    }

    /// A question was sent. If the one before is too old, what was asked counts no more: somebody
    /// may have taken the address since.
    pub(super) fn asked(&mut self, now: Instant) {
        let (is_gap, next) = (self.is_gap(now), now + self.wait / PROBES);
        let Some(asking) = &mut self.asking else { return };
        *asking = Asking { last: Some(now), next, ..*asking };
        for known in &mut self.each {
            if is_gap {
                known.ask_anew();
            }
            known.asked = known.asked.or(Some(now));
            known.questions += 1;
        }
    }

    /// Whether no question is open any more, though there should be one.
    fn is_gap(&self, now: Instant) -> bool {
        let last = self.asking.and_then(|asking| asking.last);
        last.is_some_and(|last| now > last + self.wait)
    }

    /// A packet said this of the address of this number.
    pub(super) fn note(&mut self, now: Instant, number: usize, heard: Heard) {
        if let Some(known) = self.each.get_mut(number) {
            known.note(now, heard);
        }
    }

    /// Forgets who gave an address up, so that it is free only if nobody answers.
    pub(super) fn doubt(&mut self) {
        self.each.iter_mut().for_each(|known| known.given_up = None);
    }

    /// From when on nobody has any of them, unless somebody says otherwise before.
    pub(super) fn free_from(&self, now: Instant) -> Instant {
        let is_gap = self.is_gap(now);
        let of = |known: &Known| {
            let given_up = known.given_up.filter(|at| now <= *at + self.believed);
            let asked = known.asked.filter(|_| !is_gap && known.questions >= LEAST);
            given_up.unwrap_or(asked.map_or(Instant::NEVER, |at| at + self.wait))
        };
        self.each.iter().map(of).max().unwrap_or(Instant::ZERO)
    }

    /// Who had one of them since then: its number, and whose hardware address.
    pub(super) fn owner_since(&self, since: Instant) -> Option<(usize, [u8; 6])> {
        self.each.iter().enumerate().find_map(|(number, known)| {
            known.had.filter(|(at, _)| *at >= since).map(|(_, mac)| (number, mac))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAC: [u8; 6] = [2, 0, 0, 0, 0, 7];
    const OTHER: [u8; 6] = [2, 0, 0, 0, 0, 8];
    const WAIT: Duration = Duration::from_millis(6);

    fn at(millis: u64) -> Instant {
        Instant::from_nanos(0) + Duration::from_millis(millis)
    }

    /// Of one address, which is asked for from then on.
    fn asking(from: u64) -> Knowledge {
        let mut known = Knowledge::new(WAIT, WAIT * 2);
        known.forget(1);
        known.ask_until(at(from), at(1_000));
        known
    }

    fn ask(known: &mut Knowledge, times: impl IntoIterator<Item = u64>) {
        for time in times {
            assert!(known.is_due(at(time)), "{time}");
            known.asked(at(time));
        }
    }

    #[test]
    fn an_address_is_free_when_nobody_has_answered_a_question_for_so_long() {
        let mut known = asking(10);
        assert_eq!(known.free_from(at(10)), Instant::NEVER, "nobody was asked");
        ask(&mut known, [10, 11, 12]);
        assert_eq!(known.free_from(at(12)), at(16));
        known.note(at(14), 0, Heard::Has(MAC));
        assert_eq!(known.free_from(at(16)), Instant::NEVER, "nobody was asked since then");
        assert_eq!(known.owner_since(at(14)), Some((0, MAC)));
        assert_eq!(known.owner_since(at(15)), None);
        ask(&mut known, 16..20);
        assert_eq!(known.free_from(at(19)), at(22));
    }

    #[test]
    fn one_old_question_proves_nothing() {
        let mut known = asking(10);
        ask(&mut known, [10, 15]);
        assert_eq!(known.free_from(at(16)), Instant::NEVER, "two may be lost");
        ask(&mut known, [16]);
        assert_eq!(known.free_from(at(16)), at(16));
        // Whoever asks was stopped meanwhile. Somebody may have taken the address.
        assert_eq!(known.free_from(at(23)), Instant::NEVER);
        ask(&mut known, [40, 41]);
        assert_eq!(known.free_from(at(46)), Instant::NEVER);
        ask(&mut known, [42]);
        assert_eq!(known.free_from(at(42)), at(46), "asked anew at 40");
    }

    #[test]
    fn asking_that_is_over_is_not_gone_on_with() {
        let mut known = asking(10);
        known.ask_until(at(10), at(14));
        ask(&mut known, 10..14);
        known.ask_until(at(15), at(100));
        assert_eq!(known.free_from(at(16)), Instant::NEVER, "it was over at 14");
        ask(&mut known, 15..18);
        assert_eq!(known.free_from(at(18)), at(21));
        known.ask_until(at(18), at(200));
        assert_eq!(known.free_from(at(18)), at(21), "that was not over");
    }

    #[test]
    fn an_address_that_was_given_up_is_free_for_a_while_unless_somebody_has_it() {
        let mut known = asking(18);
        known.note(at(9), 0, Heard::Has(MAC));
        known.note(at(10), 0, Heard::GaveUp(MAC));
        assert_eq!(known.free_from(at(22)), at(10));
        assert_eq!(known.free_from(at(23)), Instant::NEVER, "that was too long ago");
        ask(&mut known, 18..23);
        assert_eq!(known.free_from(at(22)), at(10));
        assert_eq!(known.free_from(at(23)), at(24));
        known.note(at(23), 0, Heard::Has(OTHER));
        assert_eq!(known.free_from(at(24)), Instant::NEVER, "there is another leader");
    }

    #[test]
    fn only_who_had_an_address_last_can_give_it_up() {
        let mut known = asking(0);
        known.note(at(9), 0, Heard::GaveUp(MAC));
        assert_eq!(known.free_from(at(9)), at(9), "nobody else was heard");
        known.note(at(10), 0, Heard::Has(OTHER));
        known.note(at(11), 0, Heard::GaveUp(MAC));
        assert_eq!(known.free_from(at(11)), Instant::NEVER, "that one was late");
        known.note(at(12), 0, Heard::GaveUp(OTHER));
        assert_eq!(known.free_from(at(12)), at(12));
        known.note(at(20), 0, Heard::GaveUp(MAC));
        assert_eq!(known.free_from(at(25)), Instant::NEVER, "it makes it last no longer");
        known.note(at(25), 0, Heard::GaveUp(OTHER));
        known.doubt();
        assert_eq!(known.free_from(at(25)), Instant::NEVER, "nobody was asked");
    }
}
