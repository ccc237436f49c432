//! The run of the demonstration: an election, and four faults of the leader.
//!
//! **Assumptions.** Each fault happens when all has been calm for κ, and then a part of a lease
//! later that the seed decides: how long a failover takes depends on the moment at which it begins.

use super::cast::{Cast, MEMBERS};
use crate::cli::failure::Failure;
use bellwether::core::{Duration, Entropy, Instant, Seeded};
use bellwether::net::clock::{BootTime, Clock};
use bellwether::protocols::answers::Answers as _;
use bellwether::protocols::local_leader::Params;
use std::io;

/// How often a fault is tried: if the machine stalls, a leader may lose its lease just before.
const TRIES: u32 = 3;

/// What happens to a leader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LeaderFault {
    /// It is killed.
    Kill,
    /// It is paused for longer than its lease, and then resumed.
    Pause,
    /// It is asked to resign.
    Resign,
    /// It is told to end.
    Terminate,
}

impl LeaderFault {
    pub(super) const ALL: [Self; 4] = [Self::Kill, Self::Pause, Self::Resign, Self::Terminate];

    /// Its name.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Kill => "kill -9",
            Self::Pause => "pause",
            Self::Resign => "resign",
            Self::Terminate => "SIGTERM",
        }
    }

    fn sentence(self, leader: u64) -> String {
        match self {
            Self::Kill => format!("leader {leader} is killed (kill -9)"),
            Self::Pause => format!("leader {leader} is paused for longer than its lease"),
            Self::Resign => format!("leader {leader} is asked to resign"),
            Self::Terminate => format!("leader {leader} is told to end (SIGTERM)"),
        }
    }

    /// Whether the leader can tell the others that it leads no more.
    fn hands_over(self) -> bool {
        matches!(self, Self::Resign | Self::Terminate)
    }
}

/// One leader after another.
#[derive(Clone, Copy, Debug)]
pub(super) struct Failover {
    /// Why.
    pub(super) fault: LeaderFault,
    /// Who led.
    pub(super) old: u64,
    /// Who led next.
    pub(super) new: u64,
    /// From just before the fault until the new leader led.
    pub(super) took: Duration,
    /// The longest that it takes, where the others must find out for themselves.
    pub(super) bound: Option<Duration>,
}

/// What happened.
#[derive(Debug)]
pub(super) struct Story {
    /// From the start of the first process until one led.
    pub(super) elected: Duration,
    /// One for each fault.
    pub(super) failovers: Vec<Failover>,
    bound: Duration,
    calm: Duration,
    lease: Duration,
    phase: Seeded,
}

/// Who hears of it.
type Tell<'a> = &'a mut dyn FnMut(&str) -> io::Result<()>;

impl Story {
    pub(super) fn new(params: &Params, seed: u64) -> Self {
        Self {
            elected: Duration::ZERO,
            failovers: Vec::new(),
            bound: params.failover() + params.stagger(),
            calm: params.time_scales(MEMBERS.len() as u32).settles,
            lease: params.lease(),
            phase: Seeded::new(seed),
        }
    }

    /// Runs it.
    pub(super) fn play(&mut self, cast: &mut Cast<'_>, tell: Tell<'_>) -> Result<(), Failure> {
        tell("five processes start, on this machine, with a new key")?;
        let began = BootTime.now();
        MEMBERS.iter().try_for_each(|id| cast.start(*id))?;
        let (first, at) = cast.wait("nobody was elected", |cast| cast.successor(None, began))?;
        self.elected = at.since(began);
        tell(&format!("member {first} leads, {} ms after the first began", ms(self.elected)))?;
        for fault in LeaderFault::ALL {
            let failover = self.fail_over(fault, cast, tell)?;
            self.failovers.push(failover);
        }
        cast.wait_for_agreement()?;
        self.rest(cast)
    }

    /// Waits until all has been calm for long enough that the judge may expect a leader.
    fn rest(&mut self, cast: &mut Cast<'_>) -> Result<(), Failure> {
        let phase = self.phase.below(self.lease.as_nanos());
        cast.rest(self.calm + Duration::from_nanos(phase))
    }

    fn fail_over(
        &mut self,
        fault: LeaderFault,
        cast: &mut Cast<'_>,
        tell: Tell<'_>,
    ) -> Result<Failover, Failure> {
        for _ in 0..TRIES {
            cast.wait_for_agreement()?;
            self.rest(cast)?;
            let old = cast.wait_for_agreement()?;
            tell(&fault.sentence(old))?;
            let failed_at = BootTime.now();
            inject(fault, old, cast)?;
            let new = cast.wait("no other leader was elected", |cast| {
                let found = cast.successor(Some(old), failed_at);
                // Or another member led already, and the one that failed led no more.
                found.map(Some).or(cast.agreed(Some(old)).map(|_| None))
            })?;
            if let Some((new, at)) = new {
                let took = at.since(failed_at);
                tell(&format!("  member {new} leads, {} ms later", ms(took)))?;
                self.mend(fault, old, failed_at, cast, tell)?;
                let bound = (!fault.hands_over()).then_some(self.bound);
                return Ok(Failover { fault, old, new, took, bound });
            }
            tell("  it did not lead any more; once again")?;
            self.mend(fault, old, failed_at, cast, tell)?;
        }
        Err(Failure::Io(format!(
            "leadership changed by itself {TRIES} times just before a fault: this machine is too \
             busy for leases of {}; try again when it has less to do",
            self.lease
        )))
    }

    /// Starts or resumes the member that failed.
    fn mend(
        &self,
        fault: LeaderFault,
        id: u64,
        failed_at: Instant,
        cast: &mut Cast<'_>,
        tell: Tell<'_>,
    ) -> Result<(), Failure> {
        match fault {
            LeaderFault::Kill => {
                cast.rest(self.lease)?;
                cast.start(id)?;
                tell(&format!("  member {id} is started again"))?;
            }
            LeaderFault::Pause => {
                let length = self.lease * 4;
                cast.rest((failed_at + length).since(BootTime.now()))?;
                cast.resume(id)?;
                tell(&format!("  member {id} goes on, and finds that its lease is over"))?;
            }
            LeaderFault::Resign => {}
            LeaderFault::Terminate => {
                cast.wait_for_end(id)?;
                cast.rest(self.lease)?;
                cast.start(id)?;
                tell(&format!("  member {id} is started again"))?;
            }
        }
        Ok(())
    }
}

fn inject(fault: LeaderFault, id: u64, cast: &mut Cast<'_>) -> Result<(), Failure> {
    match fault {
        LeaderFault::Kill => {
            cast.kill(id);
            Ok(())
        }
        LeaderFault::Pause => cast.pause(id),
        LeaderFault::Resign => cast.resign(id),
        LeaderFault::Terminate => cast.terminate(id),
    }
}

/// Milliseconds with one digit after the point.
pub(super) fn ms(length: Duration) -> String {
    format!("{:.1}", length.as_nanos() as f64 / 1e6)
}
