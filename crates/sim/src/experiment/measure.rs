//! What is measured, and what one run gave.

/// What is measured. The names are those of the command line's JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Measure {
    /// When the converging announcement was sent.
    ConvergenceTime,
    /// When it was received.
    LeadershipDelay,
    /// Messages sent before that.
    Messages,
    /// Those of them that were sent while the wait that opens an election can last: in T_S.
    MessagesInOpening,
    /// Which of the leader's messages it was.
    Rounds,
    /// The same, averaged over the other processes.
    AverageRounds,
    /// Processes announcing themselves, averaged over the time until then.
    SimultaneousLeaders,
    /// Messages per announce interval.
    AnnouncersPerInterval,
    /// When all name the leader at the same moment.
    AgreementTime,
    /// Time until a disturbed group agrees again.
    ReestablishmentDelay,
    /// Part of the time without agreement.
    InconsistentFraction,
    /// From the sending of the request that made a process leader until it leads.
    ElectionTime,
    /// Part of the time in which some process leads.
    LeaderPresence,
    /// How often a process stops leading for no reason from outside.
    LeadershipLossesPerHour,
    /// Datagrams; one to everyone counts once.
    MessagesPerSecond,
}

impl Measure {
    /// All of them, in the order they are shown.
    pub const ALL: [Self; 15] = [
        Self::ConvergenceTime,
        Self::LeadershipDelay,
        Self::Messages,
        Self::MessagesInOpening,
        Self::Rounds,
        Self::AverageRounds,
        Self::SimultaneousLeaders,
        Self::AnnouncersPerInterval,
        Self::AgreementTime,
        Self::ReestablishmentDelay,
        Self::InconsistentFraction,
        Self::ElectionTime,
        Self::LeaderPresence,
        Self::LeadershipLossesPerHour,
        Self::MessagesPerSecond,
    ];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::ConvergenceTime => "convergence_time",
            Self::LeadershipDelay => "leadership_delay",
            Self::Messages => "messages",
            Self::MessagesInOpening => "messages_in_opening",
            Self::Rounds => "rounds",
            Self::AverageRounds => "average_rounds",
            Self::SimultaneousLeaders => "simultaneous_leaders",
            Self::AnnouncersPerInterval => "announcers_per_interval",
            Self::AgreementTime => "agreement_time",
            Self::ReestablishmentDelay => "reestablishment_delay",
            Self::InconsistentFraction => "inconsistent_fraction",
            Self::ElectionTime => "election_time",
            Self::LeaderPresence => "leader_presence",
            Self::LeadershipLossesPerHour => "leadership_losses_per_hour",
            Self::MessagesPerSecond => "messages_per_second",
        }
    }
}

/// What one run gave. Measures that it did not give are not numbers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sample {
    pub(super) values: [f64; Measure::ALL.len()],
    pub(super) deliveries: u64,
    /// Whether what the run was for did not happen.
    pub(crate) unsettled: bool,
}

impl Sample {
    pub(crate) fn new(deliveries: u64) -> Self {
        Self { values: [f64::NAN; Measure::ALL.len()], deliveries, unsettled: false }
    }

    pub(crate) fn set(&mut self, measure: Measure, value: f64) {
        self.values[measure as usize] = value;
    }
}
