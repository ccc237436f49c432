//! The rules that keep the protocol correct, one name each, so that a test can remove one and show
//! what goes wrong without it.
//!
//! The paper's pseudo-code lacks the rules C1 to C4 and C6; our reading found them necessary. C5 is
//! part of the datagram service. The others are in the paper, or follow from having several
//! requests in progress at once. In production all of them are in force: [`Rules::ALL`].
//! [`Rules::PUBLISHED`] is the protocol as printed, for simulation only.
//!
//! **Promise.** A build without the feature `mutants` can lack only the five corrections:
//! [`Rules::keep`] is a constant for the others, so that shipped handlers have no branch for them.
//! The feature cannot be enabled in a release build.

/// One rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Rule {
    /// C1: lockTime leaves room for σ, by which a request may come early.
    RoomForScheduling,
    /// C2: a restarted process supports nobody before a lock of its former incarnation has lapsed.
    Quarantine,
    /// C3: a process that releases its supporters no longer leads.
    StepDown,
    /// C4: a candidate's own vote may be the deciding one.
    OwnVoteDecides,
    /// C5: a datagram without a bound is answered, so that the next one has a bound.
    Answer,
    /// C6: a request that fails while a lease runs is tried again, and no supporter is released.
    Retry,
    /// A lease counts from the sending of the request, not from the last reply.
    LeaseFromSending,
    /// A release names its request, and later ones stay granted.
    ReleaseNamesRequest,
    /// Voters are counted, not votes.
    DistinctVoters,
    /// Requests, grants and releases of a former incarnation do not count for the current one.
    Lives,
    /// A lease is over at its last instant, a lock only after it.
    StrictExpiry,
    /// A candidate needs its own support, which locks it like any other.
    SelfSupport,
    /// No supporter is released while a lease runs on its lock.
    NoReleaseWhileLeading,
    /// A request with another lockTime is refused.
    EqualLocks,
    /// A lease is shorter than the locks by as much as two clocks may drift apart.
    DriftMargin,
    /// A lease counts from the oldest of the grants it rests on, not from the newest.
    LeaseFromOldestGrant,
    /// A lease counts from a request that was granted, not from the last one that was sent.
    LeaseFromGrantedRequest,
    /// A process that gives up its requests no longer leads.
    ResignEndsLease,
    /// A release frees from its sender only.
    ReleaseNamesSender,
    /// A restarted process does not support itself either before the quarantine is over.
    QuarantineBindsItself,
    /// The quarantine lasts for a whole lockTime.
    WholeQuarantine,
    /// A request is later than the last one that was given up, because a release would name both.
    LaterRequests,
    /// A majority is more than half of the group.
    MoreThanHalf,
    /// Votes are forgotten when their request is given up.
    VotesEndWithCampaign,
    /// A vote for a request that was given up does not count.
    CampaignVotesOnly,
    /// A renewal locks for as long as a first grant.
    RenewalBinds,
    /// A refusal is no vote.
    RefusalIsNoVote,
    /// A process locked to one candidate supports no other.
    OneLock,
    /// A lock is for one incarnation of a process.
    LockNamesLife,
    /// A process that votes is locked.
    VoteLocks,
    /// A lease ends.
    LeaseEnds,
    /// Bounds on delays allow for the drift of clocks.
    DriftInBounds,
    /// Bounds on delays allow for the rounding of readings.
    OutwardRounding,
    /// A term is granted to one life of one candidate, and no lower one later.
    TermGrantedOnce,
    /// A granted term is stored before the answer leaves.
    TermsAreStored,
    /// A new leadership has a higher term than any that this life has led with.
    NewReignNewTerm,
    /// A new leadership rests on votes for one term.
    OneTermPerReign,
    /// A process that lost its record does not vote before it has read the terms of others.
    LostRecordsAreRead,
    /// It reads from so many that every majority it was in has another member among them.
    ReadsEnough,
    /// It reads after its quarantine.
    ReadAfterQuarantine,
    /// Whoever resigned lets all others have their turns before it asks again.
    CoolDown,
    /// A process that a leader named as the next one comes before all others.
    NomineeFirst,
    /// A witness never asks.
    WitnessNeverAsks,
    /// Of two processes that did not step back the one with the greater priority asks first.
    PriorityFirst,
    /// A leader yields to a better process only after it has heard it steadily for a while.
    PreemptWaits,
    /// Until a list is known to be committed, it takes majorities of it and of the one before it.
    BothMajorities,
    /// A lease rests on votes for one list.
    OneListPerLease,
    /// A list is made only from one that is committed.
    OneChangeAtATime,
    /// Whoever has a newer list supports nobody by an older one.
    OlderListsRefused,
    /// Of two lists of one version the one that is committed counts.
    ForksRefused,
    /// A list is stored before the vote for it leaves.
    ListsAreStored,
    /// Whoever lost its record takes the newest list that it was told of.
    ReadsNewestList,
    /// It reads from enough voters of the list before that one too, unless that one is committed.
    ReadsParentList,
    /// It waits while it was told of two lists of one version, and not which one is committed.
    NoOpenFork,
    /// A group is founded only if all other founders have voted for nobody.
    AllFoundersClean,
    /// And only by answers of lives that were known before the question.
    LivesKnownBefore,
    /// While a list may be open, requests by it ask for no longer locks than the list before it.
    OpenListsLastNoLonger,
    /// A quarantine is as long as the locks of both lists while the newer one may be open.
    QuarantineByBothLists,
    /// Whoever lost its record reads only after a quarantine by the list that it reads.
    WaitsForWhatItReads,
    /// Only answers to what this life asked after its whole quarantine count.
    AnswersToOwnQuestions,
    /// A voter is locked for as long as it is asked, not for its own lockTime.
    LockAsAsked,
    /// A lock never ends earlier because of another vote for the same candidate.
    LocksNeverShrink,
    /// A lease is as long as its request asked for, not as long as a later one may.
    LeaseAsAsked,
    /// A list with a shorter lockTime is committed only when the lease by the one before is over.
    ToldEndsAreKept,
    /// Whoever collects replies passes on the votes that it was given, and no others.
    VotesAsGiven,
    /// A lock outlives the process that it is to, because what that one started may still run.
    CrashFreesNobody,
}

impl Rule {
    /// All of them, in order.
    pub const ALL: [Self; 66] = [
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
        Self::TermGrantedOnce,
        Self::TermsAreStored,
        Self::NewReignNewTerm,
        Self::OneTermPerReign,
        Self::LostRecordsAreRead,
        Self::ReadsEnough,
        Self::ReadAfterQuarantine,
        Self::CoolDown,
        Self::NomineeFirst,
        Self::WitnessNeverAsks,
        Self::PriorityFirst,
        Self::PreemptWaits,
        Self::BothMajorities,
        Self::OneListPerLease,
        Self::OneChangeAtATime,
        Self::OlderListsRefused,
        Self::ForksRefused,
        Self::ListsAreStored,
        Self::ReadsNewestList,
        Self::ReadsParentList,
        Self::NoOpenFork,
        Self::AllFoundersClean,
        Self::LivesKnownBefore,
        Self::OpenListsLastNoLonger,
        Self::QuarantineByBothLists,
        Self::WaitsForWhatItReads,
        Self::AnswersToOwnQuestions,
        Self::LockAsAsked,
        Self::LocksNeverShrink,
        Self::LeaseAsAsked,
        Self::ToldEndsAreKept,
        Self::VotesAsGiven,
        Self::CrashFreesNobody,
    ];

    const fn bit(self) -> u128 {
        1 << self as u128
    }

    /// Whether the paper lacks it, so that [`Rules::PUBLISHED`] does too.
    const fn is_correction(self) -> bool {
        let lacking = Self::RoomForScheduling.bit()
            | Self::Quarantine.bit()
            | Self::StepDown.bit()
            | Self::OwnVoteDecides.bit()
            | Self::Retry.bit();
        lacking & self.bit() != 0
    }
}

/// Whether this build lets tests remove rules.
const MUTANTS: bool = cfg!(any(test, feature = "mutants"));

/// The rules in force.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rules(u128);

impl Rules {
    /// All of them.
    pub const ALL: Self = Self(u128::MAX >> (128 - Rule::ALL.len()));

    /// The protocol as printed: without C1, C2, C3, C4 and C6.
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

    /// Whether this rule is in force. For all but the corrections this is known at compile time,
    /// unless tests may remove rules.
    #[inline(always)]
    pub const fn keep(self, rule: Rule) -> bool {
        (!MUTANTS && !rule.is_correction()) || self.0 & rule.bit() != 0
    }

    /// Whether all rules are in force: only then their consequences are asserted.
    #[inline]
    pub const fn are_all(self) -> bool {
        self.0 == Self::ALL.0
    }

    /// These rules without one, for the tests that show its purpose.
    #[cfg(any(test, feature = "mutants"))]
    #[must_use]
    pub const fn without(self, rule: Rule) -> Self {
        Self(self.0 & !rule.bit())
    }

    /// These rules with one more, for the tests that show that it is enough.
    #[cfg(any(test, feature = "mutants"))]
    #[must_use]
    pub const fn with(self, rule: Rule) -> Self {
        Self(self.0 | rule.bit())
    }
}

// No shipped build can lack more than the corrections, even if it is told to lack all rules.
const _: () = {
    let mut at = 0;
    while at < Rule::ALL.len() {
        assert!(MUTANTS || Rules(0).keep(Rule::ALL[at]) != Rule::ALL[at].is_correction());
        at += 1;
    }
};
