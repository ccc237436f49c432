//! Suppression only: a process that wakes announces itself once, unless it heard another before.
//!
//! Who speaks depends on who spoke before, so processes settle in the order in which they wake. But
//! most hear one of the first announcements, and whoever has heard one is done, whatever others say
//! later. So only the earliest are put in order; of the others only those that heard none of the
//! announcements that had arrived by then.

use super::StartConditions;
use super::calendar::Call;
use super::order::Candidate;
use crate::coin::RunSeed;
use crate::network::Loss;
use std::ops::Range;

/// State that is reused from run to run.
#[derive(Debug, Default)]
pub(super) struct Suppression {
    /// When each process wakes, and its number.
    wakes: Vec<(u64, u32)>,
    /// Announcements that may be heard, in order of time.
    said: Vec<Call>,
}

/// The outcome of a run; times in nanoseconds.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Quiet {
    /// When the first message was sent.
    pub(super) first: u64,
    pub(super) converged: u64,
    pub(super) received: u64,
    pub(super) messages: u64,
}

/// One in so many processes is among the earliest.
const EARLIEST: usize = 8;
/// Smaller groups are put in order as a whole.
const FEW: usize = 64;

impl Suppression {
    /// Computes one run; `None` if some process would wake after the world ends.
    pub(super) fn run(&mut self, setting: StartConditions<'_>, run_seed: RunSeed) -> Option<Quiet> {
        let wake = |node| (Candidate::draw(setting, run_seed, node).wake, node);
        self.wakes.clear();
        self.wakes.reserve_exact(setting.nodes as usize);
        self.wakes.extend((0..setting.nodes).map(wake));
        self.said.clear();
        let all = self.wakes.len();
        let early = if all < FEW { all } else { all.div_ceil(EARLIEST) };
        if early < all {
            self.wakes.select_nth_unstable(early);
        }
        self.wakes[..early].sort_unstable();
        // Whoever wakes first has heard nobody.
        let first = self.wakes.first().map_or(0, |(wake, _)| *wake);
        let mut quiet = Quiet { first, ..Quiet::default() };
        self.settle(0..early, setting, run_seed, &mut quiet)?;
        let left = self.hear(early, setting, &mut quiet)?;
        self.wakes[early..left].sort_unstable();
        self.settle(early..left, setting, run_seed, &mut quiet)?;
        Some(quiet)
    }

    /// These processes, in order of time, speak or are silenced; `None` if one does so after the
    /// world ends.
    fn settle(
        &mut self,
        places: Range<usize>,
        setting: StartConditions<'_>,
        run_seed: RunSeed,
        quiet: &mut Quiet,
    ) -> Option<()> {
        for &(wake, node) in &self.wakes[places] {
            let heard = first_heard(setting.loss, &self.said, node, wake, setting.delay);
            // A process that speaks settles at that moment; one that hears settles by an earlier
            // message.
            let (sent, settled) = heard.map_or((wake, wake), |at| (at, at + setting.delay));
            quiet.settle(sent, settled, setting.end)?;
            if heard.is_none() {
                quiet.messages += 1;
                let packet = run_seed.packet(node, 0);
                if setting.loss.of_all(packet).is_some() {
                    self.said.push(Call { at: wake, packet });
                }
            }
        }
        Some(())
    }

    /// Of the processes that wake after the first `early`, silences those that hear a message which
    /// had arrived when the last of these woke: no message is earlier for them. The others are
    /// moved forward; returns where they end.
    fn hear(
        &mut self,
        early: usize,
        setting: StartConditions<'_>,
        quiet: &mut Quiet,
    ) -> Option<usize> {
        let by = self.wakes[..early].last().map_or(0, |(wake, _)| *wake);
        let mut left = early;
        for place in early..self.wakes.len() {
            let (_, node) = self.wakes[place];
            match first_heard(setting.loss, &self.said, node, by, setting.delay) {
                Some(at) => quiet.settle(at, at + setting.delay, setting.end)?,
                None => {
                    self.wakes.swap(left, place);
                    left += 1;
                }
            }
        }
        Some(left)
    }
}

impl Quiet {
    /// A process settled by a message that was sent then; `None` if that is after the end.
    fn settle(&mut self, sent: u64, settled: u64, end: u64) -> Option<()> {
        self.converged = self.converged.max(sent);
        self.received = self.received.max(settled);
        (settled <= end).then_some(())
    }
}

/// When the first message that reaches this process by the time it wakes was sent.
fn first_heard(loss: Loss, said: &[Call], node: u32, wake: u64, delay: u64) -> Option<u64> {
    let arrived = said.iter().take_while(|call| call.at.saturating_add(delay) <= wake);
    let mut heard = arrived.filter(|call| !loss.loses(call.packet, node, &mut false));
    heard.next().map(|call| call.at)
}
