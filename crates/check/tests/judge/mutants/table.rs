//! The mutants: which rules are taken away, and what sees it.

use bellwether_check::FaultKind;
use bellwether_check::FaultKind::{
    Campaign, Crash, Drift, Duplicates, Leave, LongPause, Loss, LostDisk, NonTransitive, OneWay,
    Partition, QuickRestart, Reboot, Reordering, Resign, ShortPause, Tails,
};
use bellwether_check::explore::{Adversary, leases};
use bellwether_protocols::local_leader::{Params, Rule};

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
    /// A slow message is taken for fast; leases are safe all the same, partitions need not agree.
    Bound,
    /// It takes longer; pinned times show it (`delays.rs`, and the simulator's tests for C6).
    Late,
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
    /// Never two, where one member has a third of the others' lockTime.
    Misconfigured,
    /// All invariants.
    All,
    /// All invariants, in majority mode and in local mode.
    BothModes,
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

/// Messages arrive in the tick they are sent in, or never.
const NO_DELAY: Adversary = Adversary {
    fastest: 0,
    slowest: 0,
    crashes: 0,
    copies: 0,
    resignations: 0,
    campaigns: 0,
    sleep: false,
    ticks: Some(7),
};
const CRASH: Adversary = Adversary { crashes: 1, ..NO_DELAY };
const LATE: Adversary = Adversary { slowest: 1, ..NO_DELAY };

const fn never_two(nodes: u32, trouble: &'static [FaultKind], schedules: u64) -> Option<Judged> {
    let (invariant, watched) = ("never-two", Watched::NeverTwo);
    Some(Judged { nodes, trouble, schedules, invariant, watched })
}

const fn bounds(trouble: &'static [FaultKind], schedules: u64) -> Option<Judged> {
    let (invariant, watched) = ("delay-bounds", Watched::BothModes);
    Some(Judged { nodes: 3, trouble, schedules, invariant, watched })
}

const fn reused(trouble: &'static [FaultKind], schedules: u64) -> Option<Judged> {
    let (invariant, watched) = ("tokens-grow", Watched::All);
    Some(Judged { nodes: 3, trouble, schedules, invariant, watched })
}

const fn two_leaders(adversary: Adversary) -> Option<Explored> {
    Some(Explored { nodes: 3, ticks: Ticks::Usual, adversary, property: "never-two" })
}

const fn within(ticks: u32, adversary: Adversary) -> Adversary {
    Adversary { ticks: Some(ticks), ..adversary }
}

const CUTS: &[FaultKind] = &[Loss, OneWay, Partition];
const RESTARTS: &[FaultKind] = &[QuickRestart, Crash, Partition];
const LOST_DISKS: &[FaultKind] = &[QuickRestart, Crash, LostDisk, Partition];
const PAUSES: &[FaultKind] = &[LongPause, ShortPause, Tails];

/// All of them: the rules of the paper's corrections first, then the rules of leases, then those of
/// tokens.
pub(crate) const MUTANTS: &[Mutant] = &[
    Mutant {
        without: &[Rule::RoomForScheduling],
        changed: "C1: lockTime leaves no room for σ",
        harm: Harm::Late,
        unit: "without_room_for_scheduling_a_lock_may_outlast_the_time_between_two_requests",
        judged: None,
        explored: None,
    },
    Mutant {
        without: &[Rule::Quarantine],
        changed: "C2: whoever restarts is free at once",
        harm: Harm::Unsafe,
        unit: "without_quarantine_a_process_forgets_its_promises_by_a_crash",
        judged: never_two(3, &[QuickRestart, Partition], 5_000),
        explored: two_leaders(within(6, CRASH)),
    },
    Mutant {
        without: &[Rule::StepDown, Rule::Retry],
        changed: "C3: whoever releases its supporters leads on (with C6 it never does)",
        harm: Harm::Unsafe,
        unit: "without_stepping_down_a_leader_frees_those_on_whose_locks_it_leads",
        judged: never_two(3, CUTS, 5_000),
        explored: None,
    },
    Mutant {
        without: &[Rule::OwnVoteDecides],
        changed: "C4: one's own vote does not decide",
        harm: Harm::Late,
        unit: "without_one_s_own_vote_deciding_whoever_is_alone_waits_for_nobody",
        judged: None,
        explored: None,
    },
    Mutant {
        without: &[Rule::Answer],
        changed: "C5: what cannot be bounded is not answered",
        harm: Harm::Late,
        unit: "without_answers_and_lives_the_layer_below_does_without",
        judged: None,
        explored: None,
    },
    Mutant {
        without: &[Rule::Retry],
        changed: "C6: one request per lease",
        harm: Harm::Late,
        unit: "without_retries_one_lost_vote_deposes_a_leader",
        judged: None,
        explored: None,
    },
    Mutant {
        without: &[Rule::LeaseFromSending],
        changed: "a lease counts from the last reply",
        harm: Harm::Unsafe,
        unit: "without_counting_from_the_sending_a_lease_outlives_the_locks_it_rests_on",
        judged: never_two(3, &[OneWay, Partition, Tails], 5_000),
        explored: Some(Explored {
            nodes: 3,
            ticks: Ticks::Short,
            adversary: within(6, LATE),
            property: "never-two",
        }),
    },
    Mutant {
        without: &[Rule::ReleaseNamesRequest],
        changed: "an old release ends a newer lock",
        harm: Harm::Unsafe,
        unit: "without_names_in_releases_an_old_one_ends_a_lock_that_a_lease_rests_on",
        judged: never_two(3, &[Loss, Reordering, Partition], 5_000),
        explored: two_leaders(within(6, NO_DELAY)),
    },
    Mutant {
        without: &[Rule::DistinctVoters],
        changed: "votes are counted, not voters",
        harm: Harm::Unsafe,
        unit: "without_distinct_voters_one_is_a_majority",
        judged: never_two(5, &[Duplicates, Partition], 5_000),
        explored: Some(Explored {
            nodes: 4,
            ticks: Ticks::Usual,
            adversary: Adversary { copies: 1, ..within(3, NO_DELAY) },
            property: "support-at-most-one",
        }),
    },
    Mutant {
        without: &[Rule::Lives],
        changed: "messages for and of a former life count",
        harm: Harm::Unsafe,
        unit: "without_lives_votes_for_and_releases_of_a_former_life_count",
        judged: never_two(3, &[Leave, Reboot, Reordering, Duplicates], 20_000),
        explored: None,
    },
    Mutant {
        without: &[Rule::StrictExpiry],
        changed: "a lock ends at the last instant of the lease on it",
        harm: Harm::Unsafe,
        unit: "without_strict_expiry_a_lock_ends_while_the_lease_on_it_runs",
        judged: None,
        explored: two_leaders(within(6, NO_DELAY)),
    },
    Mutant {
        without: &[Rule::SelfSupport],
        changed: "a candidate is not bound by its own vote",
        harm: Harm::Unsafe,
        unit: "without_self_support_a_leader_may_support_another",
        judged: never_two(3, &[OneWay, Partition], 5_000),
        explored: two_leaders(within(6, NO_DELAY)),
    },
    Mutant {
        without: &[Rule::NoReleaseWhileLeading],
        changed: "a failed renewal releases those on whose locks a lease runs",
        harm: Harm::Unsafe,
        unit: "without_that_rule_a_leader_releases_those_on_whose_locks_it_leads",
        judged: never_two(3, &[Loss, OneWay, NonTransitive], 5_000),
        explored: None,
    },
    Mutant {
        without: &[Rule::EqualLocks],
        changed: "a request with another lockTime is granted",
        harm: Harm::Unsafe,
        unit: "without_equal_locks_a_voter_promises_less_than_the_candidate_counts_on",
        judged: Some(Judged {
            nodes: 3,
            trouble: &[Partition],
            schedules: 5_000,
            invariant: "never-two",
            watched: Watched::Misconfigured,
        }),
        explored: None,
    },
    Mutant {
        without: &[Rule::DriftMargin],
        changed: "a lease is as long as a lock, whatever clocks do",
        harm: Harm::Unsafe,
        unit: "without_a_margin_for_drift_a_lease_is_as_long_as_a_lock",
        judged: never_two(3, &[Drift, Partition], 20_000),
        explored: None,
    },
    Mutant {
        without: &[Rule::LeaseFromOldestGrant],
        changed: "a lease counts from the newest vote",
        harm: Harm::Unsafe,
        unit: "without_the_oldest_grant_a_lease_outlives_the_lock_of_who_granted_only_that",
        judged: never_two(3, CUTS, 1_000),
        explored: two_leaders(NO_DELAY),
    },
    Mutant {
        without: &[Rule::LeaseFromGrantedRequest],
        changed: "a lease counts from the newest request",
        harm: Harm::Unsafe,
        unit: "without_granted_requests_a_lease_rests_on_one_that_nobody_has_heard_yet",
        judged: never_two(3, CUTS, 1_000),
        explored: two_leaders(NO_DELAY),
    },
    Mutant {
        without: &[Rule::ResignEndsLease],
        changed: "whoever resigns leads on until its lease ends",
        harm: Harm::Unsafe,
        unit: "without_an_end_by_resigning_a_leader_frees_those_on_whose_locks_it_leads",
        judged: never_two(3, &[Resign, Partition], 1_000),
        explored: two_leaders(Adversary { resignations: 1, ..NO_DELAY }),
    },
    Mutant {
        without: &[Rule::ReleaseNamesSender],
        changed: "any release ends any lock",
        harm: Harm::Unsafe,
        unit: "without_senders_of_releases_anybody_frees_from_anybody",
        judged: never_two(3, CUTS, 1_000),
        explored: two_leaders(NO_DELAY),
    },
    Mutant {
        without: &[Rule::QuarantineBindsItself],
        changed: "whoever restarts supports itself at once",
        harm: Harm::Unsafe,
        unit: "without_being_bound_itself_whoever_begins_again_supports_itself_at_once",
        judged: never_two(3, &[QuickRestart, Partition, Campaign], 5_000),
        explored: two_leaders(Adversary { campaigns: 1, ..within(5, CRASH) }),
    },
    Mutant {
        without: &[Rule::WholeQuarantine],
        changed: "the quarantine lasts for half a lockTime",
        harm: Harm::Unsafe,
        unit: "without_a_whole_quarantine_a_promise_of_the_former_life_may_still_run",
        judged: never_two(3, &[QuickRestart, Partition, Campaign], 5_000),
        explored: two_leaders(Adversary { campaigns: 1, ..within(5, CRASH) }),
    },
    Mutant {
        without: &[Rule::LaterRequests],
        changed: "a request is made at the instant at which one was given up",
        harm: Harm::Unsafe,
        unit: "without_later_requests_one_release_means_two_of_them",
        judged: None,
        explored: two_leaders(Adversary { resignations: 1, campaigns: 1, ..within(4, NO_DELAY) }),
    },
    Mutant {
        without: &[Rule::MoreThanHalf],
        changed: "a majority less one is enough",
        harm: Harm::Unsafe,
        unit: "without_more_than_half_two_halves_elect_one_each",
        judged: never_two(4, CUTS, 1_000),
        explored: two_leaders(NO_DELAY),
    },
    Mutant {
        without: &[Rule::VotesEndWithCampaign],
        changed: "votes are kept when their request is released",
        harm: Harm::Unsafe,
        unit: "without_forgetting_votes_those_who_were_released_still_count",
        judged: Some(Judged {
            nodes: 5,
            trouble: &[Loss, Campaign, OneWay, Duplicates],
            schedules: 100,
            invariant: "locked-supporters",
            watched: Watched::All,
        }),
        explored: None,
    },
    Mutant {
        without: &[Rule::CampaignVotesOnly],
        changed: "a late vote for a released request counts",
        harm: Harm::UnsafeRarely,
        unit: "without_votes_of_one_campaign_a_late_one_counts_of_who_was_released",
        judged: None,
        explored: None,
    },
    Mutant {
        without: &[Rule::RenewalBinds],
        changed: "a renewal does not prolong the lock",
        harm: Harm::Unsafe,
        unit: "without_binding_renewals_a_lock_ends_before_the_lease_that_was_renewed",
        judged: never_two(3, CUTS, 1_000),
        explored: two_leaders(NO_DELAY),
    },
    Mutant {
        without: &[Rule::RefusalIsNoVote],
        changed: "a refusal counts as a vote",
        harm: Harm::Unsafe,
        unit: "without_refusals_being_none_they_are_votes",
        judged: never_two(3, CUTS, 1_000),
        explored: two_leaders(NO_DELAY),
    },
    Mutant {
        without: &[Rule::OneLock],
        changed: "whoever is locked supports others too",
        harm: Harm::Unsafe,
        unit: "without_one_lock_at_a_time_a_process_supports_two",
        judged: never_two(3, CUTS, 1_000),
        // A leader that supports another has its term fall, which the contract's assertion stops.
        explored: None,
    },
    Mutant {
        without: &[Rule::LockNamesLife],
        changed: "a lock to one life of a process does not bind against the next",
        harm: Harm::Covered,
        unit: "without_lives_in_locks_two_processes_of_one_id_share_a_supporter",
        judged: None,
        explored: None,
    },
    Mutant {
        without: &[Rule::VoteLocks],
        changed: "a vote locks nobody",
        harm: Harm::Unsafe,
        unit: "without_locks_a_vote_promises_nothing",
        judged: never_two(3, CUTS, 1_000),
        explored: two_leaders(NO_DELAY),
    },
    Mutant {
        without: &[Rule::LeaseEnds],
        changed: "a lease has no end for a thousand lockTimes",
        harm: Harm::Unsafe,
        unit: "without_an_end_a_lease_outlives_every_lock",
        judged: never_two(3, CUTS, 1_000),
        explored: two_leaders(NO_DELAY),
    },
    Mutant {
        without: &[Rule::DriftInBounds],
        changed: "bounds on delays ignore drift",
        harm: Harm::Bound,
        unit: "without_drift_or_rounding_the_layer_below_bounds_delays_too_tightly",
        judged: bounds(&[Drift, Loss], 300),
        explored: None,
    },
    Mutant {
        without: &[Rule::OutwardRounding],
        changed: "bounds on delays are not rounded outward",
        harm: Harm::Bound,
        unit: "without_rounding_outward_a_bound_is_below_the_true_delay",
        judged: bounds(&[Drift, Loss], 300),
        explored: None,
    },
    Mutant {
        without: &[Rule::TermGrantedOnce],
        changed: "a term is granted to anybody, and lower ones too",
        harm: Harm::Reused,
        unit: "without_granting_a_term_once_two_have_the_same",
        judged: reused(RESTARTS, 100),
        explored: None,
    },
    Mutant {
        without: &[Rule::TermsAreStored],
        changed: "granted terms are not stored",
        harm: Harm::Reused,
        unit: "without_storing_terms_the_next_life_knows_none",
        judged: reused(RESTARTS, 100),
        explored: None,
    },
    Mutant {
        without: &[Rule::NewReignNewTerm],
        changed: "a lease that ran out is had again with its token",
        harm: Harm::Reused,
        unit: "without_a_new_term_a_lease_that_ran_out_is_had_again_with_its_token",
        judged: reused(PAUSES, 100),
        explored: None,
    },
    Mutant {
        without: &[Rule::OneTermPerReign],
        changed: "a new leadership rests on votes of several terms",
        harm: Harm::Reused,
        unit: "without_one_term_a_new_leadership_may_rest_on_one_that_was_led_with",
        judged: reused(PAUSES, 100),
        explored: None,
    },
    Mutant {
        without: &[Rule::LostRecordsAreRead],
        changed: "whoever lost its record votes at once",
        harm: Harm::Reused,
        unit: "without_reading_whoever_lost_its_record_votes_at_once",
        judged: reused(LOST_DISKS, 300),
        explored: None,
    },
    Mutant {
        without: &[Rule::ReadsEnough],
        changed: "whoever lost its record reads that of one other",
        harm: Harm::Reused,
        unit: "without_reading_enough_the_word_of_one_is_taken",
        judged: reused(LOST_DISKS, 300),
        explored: None,
    },
    Mutant {
        without: &[Rule::ReadAfterQuarantine],
        changed: "it reads before its quarantine is over",
        harm: Harm::ReusedRarely,
        unit: "without_waiting_it_reads_before_the_votes_of_its_former_life_are_over",
        judged: None,
        explored: None,
    },
];
