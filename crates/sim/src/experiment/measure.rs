//! What is measured, and what one run gave.

/// What is measured. The names are those of the command line's JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Measure {
    /// How often all live processes name the same live leader in the end.
    StrongSuccess,
    /// The part of the live processes that name the one whom most name in the end.
    WeakSuccess,
    /// When the converging announcement was sent.
    ConvergenceTime,
    /// When it was received.
    LeadershipDelay,
    /// Messages sent before that.
    Messages,
    /// Those of them that were sent while the wait that opens an election can last: in T_S.
    MessagesInOpening,
    /// Which of the leader's messages it was; of an election in rounds, how many were held.
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
    /// Elections a process took part in.
    ElectionsPerSecond,
    /// Messages to one process.
    Unicasts,
    /// Messages to everyone.
    Multicasts,
    /// Relays of the last round that told everyone whom they chose.
    Relays,
    /// In how many parts these fall, by who knows whom.
    Components,
    /// Rounds without a clear outcome of which some process knows.
    Detected,
    /// How often some process gave up in the end.
    Aborted,
    /// When the last process came to name its leader.
    Time,
    /// Messages of one kind.
    MessagesOf(Kind),
}

/// A kind of message that is counted for itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// A call for an election, or the message that holds it.
    Election,
    /// "I am alive and will take over."
    Ok,
    /// "I am the coordinator", or "this one is".
    Coordinator,
    /// A candidate's message to its neighbourhood.
    Probe,
    /// The answer of the neighbourhood's end.
    Reply,
    /// An acknowledgement.
    Ack,
    /// Who leads, down the tree.
    Leader,
    /// Who leads, round the ring.
    Announcement,
    /// "Who leads?"
    Query,
    /// "I am alive."
    Heartbeat,
}

/// All kinds, in the order they are shown.
pub const KINDS: [Kind; 10] = [
    Kind::Election,
    Kind::Ok,
    Kind::Coordinator,
    Kind::Probe,
    Kind::Reply,
    Kind::Ack,
    Kind::Leader,
    Kind::Announcement,
    Kind::Query,
    Kind::Heartbeat,
];

impl Kind {
    /// The kind with this name, as messages tell it.
    #[inline]
    pub fn of(name: &str) -> Option<Self> {
        Some(match name {
            "election" => Self::Election,
            "ok" => Self::Ok,
            "coordinator" => Self::Coordinator,
            "probe" => Self::Probe,
            "reply" => Self::Reply,
            "ack" => Self::Ack,
            "leader" => Self::Leader,
            "announcement" => Self::Announcement,
            "query" => Self::Query,
            "heartbeat" => Self::Heartbeat,
            _ => return None,
        })
    }
}

impl Measure {
    /// All of them, in the order they are shown.
    pub const ALL: [Self; 35] = [
        Self::StrongSuccess,
        Self::WeakSuccess,
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
        Self::ElectionsPerSecond,
        Self::Unicasts,
        Self::Multicasts,
        Self::Relays,
        Self::Components,
        Self::Detected,
        Self::Aborted,
        Self::Time,
        Self::MessagesOf(Kind::Election),
        Self::MessagesOf(Kind::Ok),
        Self::MessagesOf(Kind::Coordinator),
        Self::MessagesOf(Kind::Probe),
        Self::MessagesOf(Kind::Reply),
        Self::MessagesOf(Kind::Ack),
        Self::MessagesOf(Kind::Leader),
        Self::MessagesOf(Kind::Announcement),
        Self::MessagesOf(Kind::Query),
        Self::MessagesOf(Kind::Heartbeat),
    ];

    /// Its place in [`ALL`](Self::ALL).
    #[inline]
    pub(crate) fn place(self) -> usize {
        match self {
            Self::StrongSuccess => 0,
            Self::WeakSuccess => 1,
            Self::ConvergenceTime => 2,
            Self::LeadershipDelay => 3,
            Self::Messages => 4,
            Self::MessagesInOpening => 5,
            Self::Rounds => 6,
            Self::AverageRounds => 7,
            Self::SimultaneousLeaders => 8,
            Self::AnnouncersPerInterval => 9,
            Self::AgreementTime => 10,
            Self::ReestablishmentDelay => 11,
            Self::InconsistentFraction => 12,
            Self::ElectionTime => 13,
            Self::LeaderPresence => 14,
            Self::LeadershipLossesPerHour => 15,
            Self::MessagesPerSecond => 16,
            Self::ElectionsPerSecond => 17,
            Self::Unicasts => 18,
            Self::Multicasts => 19,
            Self::Relays => 20,
            Self::Components => 21,
            Self::Detected => 22,
            Self::Aborted => 23,
            Self::Time => 24,
            Self::MessagesOf(kind) => 25 + kind as usize,
        }
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::StrongSuccess => "strong_success",
            Self::WeakSuccess => "weak_success",
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
            Self::ElectionsPerSecond => "elections_per_second",
            Self::Unicasts => "unicasts",
            Self::Multicasts => "multicasts",
            Self::Relays => "relays",
            Self::Components => "components",
            Self::Detected => "detected",
            Self::Aborted => "aborted",
            Self::Time => "time",
            Self::MessagesOf(Kind::Election) => "messages_election",
            Self::MessagesOf(Kind::Ok) => "messages_ok",
            Self::MessagesOf(Kind::Coordinator) => "messages_coordinator",
            Self::MessagesOf(Kind::Probe) => "messages_probe",
            Self::MessagesOf(Kind::Reply) => "messages_reply",
            Self::MessagesOf(Kind::Ack) => "messages_ack",
            Self::MessagesOf(Kind::Leader) => "messages_leader",
            Self::MessagesOf(Kind::Announcement) => "messages_announcement",
            Self::MessagesOf(Kind::Query) => "messages_query",
            Self::MessagesOf(Kind::Heartbeat) => "messages_heartbeat",
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
        self.values[measure.place()] = value;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_measure_is_at_its_place_and_every_kind_has_one() {
        for (place, measure) in Measure::ALL.into_iter().enumerate() {
            assert_eq!(measure.place(), place, "{}", measure.name());
        }
        for kind in KINDS {
            let name = Measure::MessagesOf(kind).name();
            assert_eq!(name.strip_prefix("messages_").and_then(Kind::of), Some(kind));
        }
    }
}
