//! What a mutant is, and the ways in which it is caught.

use bellwether_check::explore::{Adversary, leases};
use bellwether_check::{FaultKind, Judge, Trial};
use bellwether_core::Duration;
use bellwether_protocols::local_leader::{Config, LocalLeader, Mode, Params, Rule, fail_aware};
use bellwether_sim::{Timed, World};

/// A protocol without some of its rules, and how it is caught.
pub(crate) struct Mutant {
    pub(crate) without: &'static [Rule],
    /// What is changed, in words.
    pub(crate) changed: &'static str,
    pub(crate) harm: Harm,
    /// The unit test beside the protocol that sees it.
    pub(crate) unit: &'static str,
    /// The random schedules in which the judge sees it.
    pub(crate) judged: Option<Judged>,
    /// The small world in which the explorer sees it.
    pub(crate) explored: Option<Explored>,
    /// How validation sees it.
    pub(crate) validated: Validated,
}

impl Mutant {
    /// The usual leases with all rules, and with those settings without which the rule is not used.
    pub(crate) fn usual(&self, mode: Mode) -> Params {
        let collated = self.without.contains(&Rule::VotesAsGiven);
        let config = Config { mode, tree: u32::from(collated), ..Config::default() };
        Params::try_from(config).expect("a preset is valid")
    }

    /// The lockTime that process 0 has, if the rule is for one that has another one than the
    /// others: a third of theirs.
    pub(crate) fn misfit(&self, usual: &Params) -> Option<Duration> {
        let third = Duration::from_nanos(usual.lock().as_nanos() / 3);
        self.without.contains(&Rule::EqualLocks).then_some(third)
    }

    /// What judges a group with these parameters.
    pub(crate) fn judge(
        &self,
        mut trial: Trial,
        params: fail_aware::Params<Params>,
    ) -> Judge<LocalLeader> {
        let misfit = self.misfit(&params.inner);
        let mut world = World::new(params.clone());
        if let Some(lock) = misfit {
            trial.locks = vec![(0, lock)];
            let inner = params.inner.clone().with_lock(lock);
            world = world.with_params_of(0, fail_aware::Params { inner, ..params });
        }
        Judge::in_world(&trial, world)
    }
}

/// How a step that no action of the model allows is seen.
pub(crate) enum Validated {
    /// In random schedules.
    InSchedules {
        /// The action that comes nearest.
        action: &'static str,
        nodes: u32,
        trouble: &'static [FaultKind],
        /// The mutant is caught within so many; the real protocol gets through all of them.
        schedules: u64,
    },
    /// In the small world of three processes with this adversary.
    InWorld { action: &'static str, adversary: Adversary },
    /// In a schedule of a group of three that is written by hand.
    InScript {
        action: &'static str,
        /// What happens in it.
        story: &'static str,
        faults: fn() -> Vec<Timed>,
    },
    /// Not at all, for this reason.
    Not(&'static str),
}

/// What can come of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Harm {
    /// Two processes lead at once.
    Unsafe,
    /// So too, in stories so rare that its unit test tells one.
    UnsafeRarely,
    /// Two leaders have the same token, one after the other.
    Reused,
    /// So too, in stories so rare that its unit test tells one with five processes.
    ReusedRarely,
    /// Another process may lead while what a dead leader started still runs.
    Work,
    /// A slow message is taken for fast; leases are safe all the same, partitions need not agree.
    Bound,
    /// It takes longer; pinned times show it (`delays.rs`, and the simulator's tests for C6).
    Late,
    /// Another process leads than should; the simulator's tests show it (`handover.rs`,
    /// `roles.rs`).
    Order,
    /// None while the other rules hold.
    Covered,
}

/// Random schedules.
pub(crate) struct Judged {
    pub(crate) nodes: u32,
    pub(crate) trouble: &'static [FaultKind],
    /// The mutant is caught within so many; the real protocol gets through all of them.
    pub(crate) schedules: u64,
    pub(crate) invariant: &'static str,
    pub(crate) watched: Watched,
}

/// What is watched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Watched {
    /// Never two, and nothing else.
    NeverTwo,
    /// All invariants.
    All,
    /// All invariants, in majority mode and in local mode.
    BothModes,
    /// All invariants, in groups with priorities and witnesses.
    Roles,
}

/// A small world.
pub(crate) struct Explored {
    pub(crate) nodes: u8,
    pub(crate) ticks: Ticks,
    pub(crate) adversary: Adversary,
    pub(crate) property: &'static str,
}

/// How long leases are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ticks {
    /// lockTime 4.
    Usual,
    /// lockTime 2.
    Short,
}

impl Ticks {
    pub(crate) fn params(self) -> Params {
        match self {
            Self::Usual => leases::in_ticks(),
            Self::Short => leases::short_in_ticks(),
        }
    }

    pub(crate) fn lock(self) -> u32 {
        match self {
            Self::Usual => 4,
            Self::Short => 2,
        }
    }
}
