//! What keeps the protocol right, one name each, so that a test can take one away and show what
//! goes wrong without it.
//!
//! The paper's pseudo-code lacks the rules C1 to C4 and C6; our reading found them necessary. C5 is
//! part of the datagram service. The others are in the paper, or follow from several requests being
//! under way at once. In real life all of them hold: [`Rules::ALL`]. [`Rules::PUBLISHED`] is the
//! protocol as it was printed, for simulation only.
//!
//! **Promise.** A build without the feature `mutants` cannot lack any rule but the five
//! corrections: [`Rules::keep`] answers for the others with a constant, so that the handlers that
//! ship have no branch for them. The feature cannot be on in a release build.

/// One rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Rule {
    /// C1: lockTime leaves room for σ, by which a request may come early.
    RoomForScheduling,
    /// C2: whoever begins again supports nobody before a lock of its former life has lapsed.
    Quarantine,
    /// C3: whoever releases its supporters no longer leads.
    StepDown,
    /// C4: one's own vote may be the one that was missing.
    OwnVoteDecides,
    /// C5: a datagram that cannot be bounded is answered, so that the next one can.
    Answer,
    /// C6: a request that fails while a lease runs is tried again, and nobody is released.
    Retry,
    /// A lease counts from the sending of the request, not from the last reply.
    LeaseFromSending,
    /// A release names its request, and later ones stay granted.
    ReleaseNamesRequest,
    /// Voters are counted, not votes.
    DistinctVoters,
    /// What a former life asked, granted or released does not count for the present one.
    Lives,
    /// A lease is over at its last instant, a lock only after it.
    StrictExpiry,
    /// A candidate needs its own support, which binds it like any other.
    SelfSupport,
    /// Nobody is released while a lease runs on its lock.
    NoReleaseWhileLeading,
    /// A request with another lockTime is refused.
    EqualLocks,
    /// A lease is shorter than the locks by as much as two clocks may drift apart.
    DriftMargin,
    /// A lease counts from the oldest of the grants it rests on, not from the newest.
    LeaseFromOldestGrant,
    /// A lease counts from a request that was granted, not from the last one that was sent.
    LeaseFromGrantedRequest,
    /// Whoever gives up its requests no longer leads.
    ResignEndsLease,
    /// A release frees from its sender and from nobody else.
    ReleaseNamesSender,
    /// Whoever begins again does not support itself either before the quarantine is over.
    QuarantineBindsItself,
    /// The quarantine lasts for a whole lockTime.
    WholeQuarantine,
    /// A request is later than the last one that was given up: a release names either.
    LaterRequests,
    /// A majority is more than half of the group.
    MoreThanHalf,
    /// Votes are forgotten when their request is given up.
    VotesEndWithCampaign,
    /// A vote for a request that was given up does not count.
    CampaignVotesOnly,
    /// A renewal binds for as long as a first grant.
    RenewalBinds,
    /// A refusal is no vote.
    RefusalIsNoVote,
    /// Whoever is locked to one process supports no other.
    OneLock,
    /// A lock is to one life of a process.
    LockNamesLife,
    /// Whoever votes is locked.
    VoteLocks,
    /// A lease ends.
    LeaseEnds,
    /// Bounds on delays allow for the drift of clocks.
    DriftInBounds,
    /// Bounds on delays allow for what readings lost when they were cut down.
    OutwardRounding,
}

impl Rule {
    /// All of them, in order.
    pub const ALL: [Self; 33] = [
        Self::RoomForScheduling,
        Self::Quarantine,
        Self::StepDown,
        Self::OwnVoteDecides,
        Self::Answer,
        Self::Retry,
        Self::LeaseFromSending,
        Self::ReleaseNamesRequest,
        Self::DistinctVoters,
        Self::Lives,
        Self::StrictExpiry,
        Self::SelfSupport,
        Self::NoReleaseWhileLeading,
        Self::EqualLocks,
        Self::DriftMargin,
        Self::LeaseFromOldestGrant,
        Self::LeaseFromGrantedRequest,
        Self::ResignEndsLease,
        Self::ReleaseNamesSender,
        Self::QuarantineBindsItself,
        Self::WholeQuarantine,
        Self::LaterRequests,
        Self::MoreThanHalf,
        Self::VotesEndWithCampaign,
        Self::CampaignVotesOnly,
        Self::RenewalBinds,
        Self::RefusalIsNoVote,
        Self::OneLock,
        Self::LockNamesLife,
        Self::VoteLocks,
        Self::LeaseEnds,
        Self::DriftInBounds,
        Self::OutwardRounding,
    ];

    const fn bit(self) -> u64 {
        1 << self as u64
    }

    /// Whether the paper lacks it, so that [`Rules::PUBLISHED`] does.
    const fn is_correction(self) -> bool {
        let lacking = Self::RoomForScheduling.bit()
            | Self::Quarantine.bit()
            | Self::StepDown.bit()
            | Self::OwnVoteDecides.bit()
            | Self::Retry.bit();
        lacking & self.bit() != 0
    }
}

/// Whether this build lets tests take rules away.
const MUTANTS: bool = cfg!(any(test, feature = "mutants"));

/// The rules that hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rules(u64);

impl Rules {
    /// All of them.
    pub const ALL: Self = Self((1 << Rule::ALL.len()) - 1);

    /// The protocol as it was printed: without C1, C2, C3, C4 and C6.
    pub const PUBLISHED: Self = {
        let (mut rules, mut at) = (Self::ALL.0, 0);
        while at < Rule::ALL.len() {
            if Rule::ALL[at].is_correction() {
                rules &= !Rule::ALL[at].bit();
            }
            at += 1;
        }
        Self(rules)
    };

    /// Whether this one holds. For all but the corrections that is known when the program is
    /// compiled, unless tests may take rules away.
    #[inline(always)]
    pub const fn keep(self, rule: Rule) -> bool {
        (!MUTANTS && !rule.is_correction()) || self.0 & rule.bit() != 0
    }

    /// Whether all of them hold: then, and only then, what follows from them is asserted.
    #[inline]
    pub const fn are_all(self) -> bool {
        self.0 == Self::ALL.0
    }

    /// These rules but one. For the tests that show what it is for.
    #[cfg(any(test, feature = "mutants"))]
    #[must_use]
    pub const fn without(self, rule: Rule) -> Self {
        Self(self.0 & !rule.bit())
    }

    /// These rules and one. For the tests that show that it is enough.
    #[cfg(any(test, feature = "mutants"))]
    #[must_use]
    pub const fn with(self, rule: Rule) -> Self {
        Self(self.0 | rule.bit())
    }
}

// No build that ships can lack more than the corrections, even if it was told to lack all rules.
const _: () = {
    let mut at = 0;
    while at < Rule::ALL.len() {
        assert!(MUTANTS || Rules(0).keep(Rule::ALL[at]) != Rule::ALL[at].is_correction());
        at += 1;
    }
};
