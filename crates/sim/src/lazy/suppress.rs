//! Suppression only: a process that wakes announces itself once, unless it heard another before.

use super::StartConditions;
use super::calendar::Call;
use super::order::Candidate;
use crate::coin::RunSeed;
use crate::network::Loss;

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
    pub(super) converged: u64,
    pub(super) received: u64,
    pub(super) messages: u64,
}

impl Suppression {
    /// Computes one run; `None` if some process would wake after the world ends.
    pub(super) fn run(&mut self, setting: StartConditions<'_>, run_seed: RunSeed) -> Option<Quiet> {
        let wake = |node| (Candidate::draw(setting, run_seed, node).wake, node);
        self.wakes.clear();
        self.wakes.reserve_exact(setting.nodes as usize);
        self.wakes.extend((0..setting.nodes).map(wake));
        self.wakes.sort_unstable();
        self.said.clear();
        let mut quiet = Quiet::default();
        for &(wake, node) in &self.wakes {
            let heard = first_heard(setting.loss, &self.said, node, wake, setting.delay);
            // A process that speaks settles at that moment; one that hears settles by an earlier
            // message.
            let (sent, settled) = heard.map_or((wake, wake), |at| (at, at + setting.delay));
            if settled > setting.end {
                return None;
            }
            quiet.converged = quiet.converged.max(sent);
            quiet.received = quiet.received.max(settled);
            if heard.is_none() {
                quiet.messages += 1;
                let packet = run_seed.packet(node, 0);
                if setting.loss.of_all(packet).is_some() {
                    self.said.push(Call { at: wake, packet });
                }
            }
        }
        Some(quiet)
    }
}

/// When the first message that reaches this process by the time it wakes was sent.
fn first_heard(loss: Loss, said: &[Call], node: u32, wake: u64, delay: u64) -> Option<u64> {
    let arrived = said.iter().take_while(|call| call.at.saturating_add(delay) <= wake);
    let mut heard = arrived.filter(|call| !loss.loses(call.packet, node, &mut false));
    heard.next().map(|call| call.at)
}
