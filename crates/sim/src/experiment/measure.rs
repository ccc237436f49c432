//! The measures, and the results of one run.

/// What kind of number a measure is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sort {
    /// A number: a count or a fraction.
    Number,
    /// A time until the group settles.
    Time,
    /// Something else that is counted until the group settles, or averaged up to then.
    Until,
    /// 1 if something happened in a run, 0 otherwise; the mean is a probability.
    Chance,
}

/// Generates [`Measure`] and its properties from one table.
macro_rules! measures {
    ($($(#[doc = $about:literal])+ $variant:ident = $name:literal, $sort:ident;)+) => {
        /// What is measured. The names are those of the command line's JSON.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        #[non_exhaustive]
        pub enum Measure {
            $($(#[doc = $about])+ $variant,)+
            /// Messages of one kind, by the name that the message itself gives.
            MessagesOf(&'static str),
        }

        /// The rows of the table, numbered.
        #[derive(Clone, Copy)]
        enum Row {
            $($variant,)+
        }

        impl Measure {
            /// All measures of the table, in the order of display. The measures of message kinds
            /// follow them; their number depends on the protocol.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)+];

            /// The name.
            pub fn name(self) -> String {
                match self {
                    $(Self::$variant => $name.to_owned(),)+
                    Self::MessagesOf(kind) => format!("messages_{kind}"),
                }
            }

            /// What it is, in a sentence.
            pub fn about(self) -> &'static str {
                match self {
                    $(Self::$variant => concat!($($about),+).trim_ascii_start(),)+
                    Self::MessagesOf(_) => "Messages of one kind.",
                }
            }

            /// The measure of the table that has this name.
            pub fn of_name(name: &str) -> Option<Self> {
                match name {
                    $($name => Some(Self::$variant),)+
                    _ => None,
                }
            }

            /// The kind of number.
            pub(super) fn sort(self) -> Sort {
                match self {
                    $(Self::$variant => Sort::$sort,)+
                    Self::MessagesOf(_) => Sort::Number,
                }
            }

            /// The place in [`ALL`](Self::ALL), if it has one.
            #[inline]
            fn row(self) -> Option<usize> {
                match self {
                    $(Self::$variant => Some(Row::$variant as usize),)+
                    Self::MessagesOf(_) => None,
                }
            }
        }
    };
}

measures! {
    /// Whether all live processes name the same live leader at the end.
    StrongSuccess = "strong_success", Chance;
    /// The fraction of live processes that name the most frequently named process at the end.
    WeakSuccess = "weak_success", Number;
    /// When the converging announcement was sent.
    ConvergenceTime = "convergence_time", Until;
    /// When the converging announcement was received.
    LeadershipDelay = "leadership_delay", Time;
    /// Messages sent before that.
    Messages = "messages", Until;
    /// Those of them that were sent by the time of the converging announcement, itself included.
    MessagesAtConvergence = "messages_at_convergence", Until;
    /// Those of them that were sent before T_S, the longest wait that opens an election.
    MessagesInOpening = "messages_in_opening", Until;
    /// The first messages of processes among them: how many announced themselves at all.
    MessagesInFirstRound = "messages_in_first_round", Until;
    /// The second messages of processes among them.
    MessagesInSecondRound = "messages_in_second_round", Until;
    /// When the first message was sent.
    FirstMessageTime = "first_message_time", Until;
    /// When the last process that sent its first message did so.
    FirstRoundEnd = "first_round_end", Until;
    /// Which of the leader's messages converged the group; in protocols with rounds, the number of
    /// rounds.
    Rounds = "rounds", Until;
    /// The same, averaged over the other processes.
    AverageRounds = "average_rounds", Until;
    /// Processes that announce themselves, averaged over the time until convergence.
    SimultaneousLeaders = "simultaneous_leaders", Until;
    /// Messages per announce interval.
    AnnouncersPerInterval = "announcers_per_interval", Until;
    /// When all first name the leader at the same moment.
    AgreementTime = "agreement_time", Time;
    /// The time until a disturbed group agrees again.
    ReestablishmentDelay = "reestablishment_delay", Time;
    /// The fraction of the time without agreement.
    InconsistentFraction = "inconsistent_fraction", Number;
    /// The time from the request that made a process leader until it leads.
    ElectionTime = "election_time", Number;
    /// The fraction of the time in which some process leads.
    LeaderPresence = "leader_presence", Number;
    /// How often a process stops leading without a cause from outside.
    LeadershipLossesPerHour = "leadership_losses_per_hour", Number;
    /// The same for each lease: from a request that enough have answered to the next such one.
    LeadershipLossesPerLease = "leadership_losses_per_lease", Number;
    /// Messages that are sent to a leader as answers to one of its requests.
    AnswersPerRequest = "answers_per_request", Number;
    /// The time from one request of a leader to its next one.
    RequestInterval = "request_interval", Number;
    /// Datagrams; a multicast counts once.
    MessagesPerSecond = "messages_per_second", Number;
    /// Elections a process took part in.
    ElectionsPerSecond = "elections_per_second", Number;
    /// Messages to one process.
    Unicasts = "unicasts", Number;
    /// Messages to everyone.
    Multicasts = "multicasts", Number;
    /// Relays of the last round that told everyone whom they chose.
    Relays = "relays", Number;
    /// How many connected components these have, by who knows whom.
    Components = "components", Number;
    /// Rounds without a clear outcome that some process knows of.
    Detected = "detected", Number;
    /// Whether some process gave up at the end.
    Aborted = "aborted", Chance;
    /// When the last process began to name its leader.
    Time = "time", Number;
}

/// The results of one run. A missing measure is NaN.
#[derive(Clone, Debug)]
pub(crate) struct Sample {
    /// The number of the run, from 0.
    pub(super) number: u64,
    values: [f64; Measure::ALL.len()],
    /// How many messages of each kind were sent, in the order of first use.
    pub(super) kinds: Vec<(&'static str, u64)>,
    pub(super) deliveries: u64,
    /// Whether the run did not reach its goal.
    pub(crate) unsettled: bool,
    /// How many seconds the run was watched, if its end cut off what it was watched for.
    pub(crate) cut: Option<f64>,
}

impl Sample {
    pub(crate) fn new(deliveries: u64) -> Self {
        let values = [f64::NAN; Measure::ALL.len()];
        let kinds = Vec::new();
        Self { number: 0, values, kinds, deliveries, unsettled: false, cut: None }
    }

    /// Sets a measure of the table.
    pub(crate) fn set(&mut self, measure: Measure, value: f64) {
        if let Some(row) = measure.row() {
            self.values[row] = value;
        }
    }

    /// The value of a measure in this run, if it has one.
    pub(super) fn get(&self, measure: Measure) -> Option<f64> {
        let value = match (measure, measure.row()) {
            (Measure::MessagesOf(kind), _) => {
                let (_, count) = self.kinds.iter().find(|(known, _)| *known == kind)?;
                *count as f64
            }
            (_, row) => self.values[row?],
        };
        (!value.is_nan()).then_some(value)
    }
}

/// What every run gave.
#[derive(Clone, Debug, PartialEq)]
pub struct Samples {
    /// What was measured in some run.
    pub measures: Vec<Measure>,
    /// The runs, in their order.
    pub runs: Vec<Run>,
}

/// What one run gave.
#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    /// Its number, from 0, which with the seed gives its random draws.
    pub number: u64,
    /// Whether what the run was for happened.
    pub settled: bool,
    /// Its values, in the order of [`Samples::measures`]; absent where it gave none.
    pub values: Vec<Option<f64>>,
}

impl Samples {
    /// The values of one measure, of the runs that gave one.
    pub fn of_measure(&self, measure: Measure) -> Vec<f64> {
        let Some(place) = self.measures.iter().position(|known| *known == measure) else {
            return Vec::new();
        };
        self.runs.iter().filter_map(|run| run.values[place]).collect()
    }

    /// The values of these measures, run by run.
    pub(super) fn of(measures: Vec<Measure>, samples: &[Sample]) -> Self {
        let run = |sample: &Sample| {
            let settled = !sample.unsettled;
            let value = |measure: &Measure| match (sample.get(*measure), measure.row()) {
                // A run in which none of that kind was sent counts too, and one that did not
                // settle does not: see `columns`.
                (value, None) => settled.then_some(value.unwrap_or_default()),
                (value, Some(_)) => value,
            };
            Run { number: sample.number, settled, values: measures.iter().map(value).collect() }
        };
        let runs = samples.iter().map(run).collect();
        Self { measures, runs }
    }
}

/// Each measure that some run gave.
pub(super) fn present(samples: &[Sample]) -> Vec<Measure> {
    let given = |measure: &Measure| samples.iter().any(|sample| sample.get(*measure).is_some());
    let settled = samples.iter().any(|sample| !sample.unsettled);
    let table = Measure::ALL.iter().copied().filter(given);
    table.chain(kinds(samples).into_iter().map(Measure::MessagesOf).filter(|_| settled)).collect()
}

/// Each measure that some run gave, with its values in order of the runs.
pub(super) fn columns(samples: &[Sample]) -> impl Iterator<Item = (Measure, Vec<f64>)> {
    let values = |measure| samples.iter().filter_map(move |sample| sample.get(measure)).collect();
    let table = Measure::ALL.iter().map(move |&measure| (measure, values(measure)));
    let settled = || samples.iter().filter(|sample| !sample.unsettled);
    // A run without a message of this kind counts as zero.
    let count = move |measure| {
        settled().map(|sample| sample.get(measure).unwrap_or_default()).collect::<Vec<_>>()
    };
    let kinds = kinds(samples).into_iter().map(Measure::MessagesOf);
    table.chain(kinds.map(move |measure| (measure, count(measure))))
}

/// All kinds of messages: first those of the run with the most kinds, in its order, then the
/// others.
fn kinds(samples: &[Sample]) -> Vec<&'static str> {
    let mut known: Vec<&'static str> = Vec::new();
    let most = samples.iter().rev().max_by_key(|sample| sample.kinds.len());
    for (kind, _) in most.into_iter().chain(samples).flat_map(|sample| &sample.kinds) {
        if !known.contains(kind) {
            known.push(kind);
        }
    }
    known
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_measure_is_at_its_place_under_a_name_of_its_own() {
        for (place, measure) in Measure::ALL.iter().enumerate() {
            assert_eq!(measure.row(), Some(place), "{}", measure.name());
            let namesakes = Measure::ALL.iter().filter(|other| other.name() == measure.name());
            assert_eq!(namesakes.count(), 1, "{}", measure.name());
        }
    }

    #[test]
    fn a_kind_that_nobody_has_heard_of_is_reported_by_its_own_name() {
        let run = |kinds: &[(&'static str, u64)]| Sample { kinds: kinds.into(), ..Sample::new(0) };
        let lost = Sample { unsettled: true, ..Sample::new(0) };
        let samples = [run(&[("whisper", 2)]), lost, run(&[("shout", 3), ("whisper", 4)])];
        let counted: Vec<_> = columns(&samples)
            .filter(|(_, column)| !column.is_empty())
            .map(|(measure, column)| (measure.name(), column))
            .collect();
        let expected = [
            ("messages_shout".to_owned(), vec![0.0, 3.0]),
            ("messages_whisper".to_owned(), vec![2.0, 4.0]),
        ];
        assert_eq!(counted, expected);
    }

    #[test]
    fn an_interval_does_not_go_below_zero() {
        let shown = |measure| super::super::summary(measure, &[0.0, 0.0, 3.0]).unwrap();
        let (time, plain) = (shown(Measure::Time), crate::stats::Summary::of(&[0.0, 0.0, 3.0]));
        let plain = plain.unwrap();
        assert!(plain.ci95[0] < 0.0, "{plain:?}");
        assert_eq!(time, crate::stats::Summary { ci95: [0.0, plain.ci95[1]], ..plain.clone() });
        assert_eq!(time.interval(0.95), plain.ci95, "what is judged stays the same");
        assert_eq!(shown(Measure::MessagesOf("ok")), time);
    }
}
