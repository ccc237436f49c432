//! What befalls the five: an election, and four blows to whoever leads.
//!
//! **Assumptions.** Each blow falls when all has been calm for κ, and a part of a lease later that
//! the seed decides: failovers are fast or slow by the moment at which they begin.

use super::cast::{Cast, MEMBERS};
use crate::cli::failure::Failure;
use bellwether::core::{Duration, Entropy, Instant, Seeded};
use bellwether::net::clock::{BootTime, Clock};
use bellwether::protocols::answers::Answers as _;
use bellwether::protocols::local_leader::Params;
use std::io;

/// How often a blow is tried: a leader may resign of itself just before it is struck, if the
/// machine stalls.
const TRIES: u32 = 3;

/// What happens to a leader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Blow {
    /// It is killed without a word.
    Kill,
    /// It stands still for longer than its lease, and then goes on.
    Pause,
    /// It is asked to resign.
    Resign,
    /// It is told to end.
    Terminate,
}

impl Blow {
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

    /// Whether the leader can say that it leads no more.
    fn is_told(self) -> bool {
        matches!(self, Self::Resign | Self::Terminate)
    }
}

/// One leader after another.
#[derive(Clone, Copy, Debug)]
pub(super) struct Failover {
    /// Why.
    pub(super) blow: Blow,
    /// Who led.
    pub(super) old: u64,
    /// Who led next.
    pub(super) new: u64,
    /// From just before the blow until the new leader led.
    pub(super) took: Duration,
    /// The longest that it takes, where the others must find out for themselves.
    pub(super) bound: Option<Duration>,
}

/// What happened.
#[derive(Debug)]
pub(super) struct Story {
    /// From the start of the first process until one led.
    pub(super) elected: Duration,
    /// One for each blow.
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

    /// Lets it all happen.
    pub(super) fn play(&mut self, cast: &mut Cast<'_>, tell: Tell<'_>) -> Result<(), Failure> {
        tell("five processes start, on this machine, with a new key")?;
        let began = BootTime.now();
        MEMBERS.iter().try_for_each(|id| cast.start(*id))?;
        let (first, at) = cast.wait("nobody was elected", |cast| cast.successor(None, began))?;
        self.elected = at.since(began);
        tell(&format!("member {first} leads, {} ms after the first began", ms(self.elected)))?;
        for blow in Blow::ALL {
            let failover = self.fail_over(blow, cast, tell)?;
            self.failovers.push(failover);
        }
        cast.wait_for_agreement()?;
        self.rest(cast)
    }

    /// Calm, for long enough that the judge may expect a leader, and then some.
    fn rest(&mut self, cast: &mut Cast<'_>) -> Result<(), Failure> {
        let phase = self.phase.below(self.lease.as_nanos());
        cast.rest(self.calm + Duration::from_nanos(phase))
    }

    fn fail_over(
        &mut self,
        blow: Blow,
        cast: &mut Cast<'_>,
        tell: Tell<'_>,
    ) -> Result<Failover, Failure> {
        for _ in 0..TRIES {
            cast.wait_for_agreement()?;
            self.rest(cast)?;
            let old = cast.wait_for_agreement()?;
            tell(&blow.sentence(old))?;
            let struck = BootTime.now();
            strike(blow, old, cast)?;
            let new = cast.wait("no other leader was elected", |cast| {
                let found = cast.successor(Some(old), struck);
                // Or somebody else led already, and what was struck was no leader any more.
                found.map(Some).or(cast.agreed(Some(old)).map(|_| None))
            })?;
            if let Some((new, at)) = new {
                let took = at.since(struck);
                tell(&format!("  member {new} leads, {} ms later", ms(took)))?;
                self.mend(blow, old, struck, cast, tell)?;
                let bound = (!blow.is_told()).then_some(self.bound);
                return Ok(Failover { blow, old, new, took, bound });
            }
            tell("  it did not lead any more; once again")?;
            self.mend(blow, old, struck, cast, tell)?;
        }
        Err(Failure::Io(format!(
            "leadership changed by itself {TRIES} times just before a blow: this machine is too \
             busy for leases of {}; try again when it has less to do",
            self.lease
        )))
    }

    /// Makes them five again.
    fn mend(
        &self,
        blow: Blow,
        id: u64,
        struck: Instant,
        cast: &mut Cast<'_>,
        tell: Tell<'_>,
    ) -> Result<(), Failure> {
        match blow {
            Blow::Kill => {
                cast.rest(self.lease)?;
                cast.start(id)?;
                tell(&format!("  member {id} is started again"))?;
            }
            Blow::Pause => {
                let length = self.lease * 4;
                cast.rest((struck + length).since(BootTime.now()))?;
                cast.resume(id)?;
                tell(&format!("  member {id} goes on, and finds that its lease is over"))?;
            }
            Blow::Resign => {}
            Blow::Terminate => {
                cast.wait_for_end(id)?;
                cast.rest(self.lease)?;
                cast.start(id)?;
                tell(&format!("  member {id} is started again"))?;
            }
        }
        Ok(())
    }
}

fn strike(blow: Blow, id: u64, cast: &mut Cast<'_>) -> Result<(), Failure> {
    match blow {
        Blow::Kill => {
            cast.kill(id);
            Ok(())
        }
        Blow::Pause => cast.pause(id),
        Blow::Resign => cast.resign(id),
        Blow::Terminate => cast.terminate(id),
    }
}

/// Milliseconds, as they are told.
pub(super) fn ms(length: Duration) -> String {
    format!("{:.1}", length.as_nanos() as f64 / 1e6)
}
