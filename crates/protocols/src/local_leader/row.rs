//! What others ask of leases.

use super::params::{BadConfig, Constraint, Mode, Params};
use super::table::Config;
use super::terms::Stored;
use super::{Hall, LocalLeader};
use crate::answers::{Answers, GroupTooLarge, NotLive, Row, Usual};
use crate::choice::{Entry, Family};
use crate::profile::{Goal, Leases, Profile};
use crate::promise::Promise;
use crate::purpose::{MessageKind, Purpose};
use crate::time_scales::TimeScales;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use bellwether_core::{Duration, Protocol as _, Visitor};

/// The most voters of a group: every election carries a row for each of them.
pub const NODES_MAX: u64 = 1024;

impl Row for Params {
    type Config = Config;
    type BadConfig = BadConfig;

    const ROWS: &'static [Entry] = &[Entry {
        name: Hall::NAME,
        summary: "leases from a majority: never two leaders; with mode = local one in each \
                  partition",
        source: "Fetzer and Cristian, sections VIII-X",
        family: Family::LocalLeader,
    }];

    const MESSAGES: &'static [MessageKind] = &[
        Purpose::Call.of("election"),
        Purpose::Answer.of("reply"),
        Purpose::Answer.also("collation", 1),
        Purpose::Result.of("announcement"),
        Purpose::Farewell.of("release"),
        Purpose::Question.of("inquiry"),
        Purpose::Question.also("invite", 1),
        Purpose::News.of("record"),
        Purpose::News.also("standing", 1),
        Purpose::SignOfLife.of("stamp"),
    ];

    const USUAL: Usual =
        Usual { nodes: 5, nodes_shown: 5, delay: Duration::from_millis(1), ..Usual::TEN };

    fn checked(config: Config) -> Result<Self, BadConfig> {
        Self::try_from(config)
    }

    fn visit<V: Visitor>(self, visitor: V) -> V::Output {
        visitor.visit::<LocalLeader>(self.layered())
    }
}

impl Answers for Params {
    fn profile(&self) -> Profile {
        Profile {
            goal: Goal::Same,
            // A member that was just started is bound for a lockTime, then the line moves up.
            opening: self.lock() + self.period(),
            trust: match self.mode() {
                Mode::Majority => self.lock(),
                Mode::Local => self.expires(),
            },
            attempt: self.period(),
            leases: Some(Leases {
                majority: self.mode() == Mode::Majority,
                request: "election",
                answers: &["reply", "collation"],
                lock: self.lock(),
                lease: self.lease(),
                renew: self.renew(),
                round_trip: self.delta() * 2,
                scheduling: self.sigma(),
                drift_ppm: self.drift_ppm(),
                clock_error: self.clock_error(),
                some_answer: self.spare().is_some() && self.by_majority(),
            }),
            ..Profile::every(self.renew())
        }
    }

    /// How they settle. In local mode: κ of (T) or (BI), and an attempt more, because the first can
    /// meet a member that began again and is bound to nobody for a lockTime. In majority mode: the
    /// last lock to an absent leader or of a former life lapses, the line moves up to the first who
    /// is there, and it asks; if it meets a member that is bound for longer, all that once more.
    ///
    /// With tokens that survive restarts, members may have no records at first. They wait for the
    /// end of their quarantines, which the first lockTime above covers; by then each asks within a
    /// period, and again within another, since what it asked before the calm may have met other
    /// lives; each question takes a round trip. Then the first in line probes, which takes a turn
    /// of the whole line and a round trip more.
    fn time_scales(&self, nodes: u32) -> TimeScales {
        let hold = self.refresh() + self.period();
        let settles = match self.mode() {
            Mode::Local => {
                let kappa = self.kappa_timeliness().max(self.kappa_inconsistency());
                kappa + self.period().max(self.lock()) + self.stagger()
            }
            Mode::Majority => {
                let line = self.stagger() * u64::from(nodes);
                let records = (self.period() + self.stagger()) * 2 + line + self.stagger();
                let records = if self.keeps_tokens() { records } else { Duration::ZERO };
                (self.failover() + line) * 2 + records
            }
        };
        TimeScales {
            fastest: self.fastest(),
            timely: self.timely(hold),
            scheduling: self.sigma(),
            drift: self.drift_ppm().saturating_mul(1_000),
            clock_error: self.clock_error(),
            stamps: hold,
            lease: self.lock(),
            announces: if self.by_majority() { self.announce() } else { Duration::ZERO },
            settles,
            leases: true,
            best: false,
            quorum: match self.mode() {
                Mode::Local => None,
                Mode::Majority => Some(self.quorum(nodes as usize)),
            },
            tokens: self.by_majority() && self.keeps_tokens(),
            roles: self.by_majority(),
            proved: self.by_majority() && !self.is_as_published(),
            rotates: self.rotation(),
        }
    }

    fn promise(&self) -> Promise {
        match self.mode() {
            Mode::Majority => Promise::NeverTwo,
            Mode::Local => Promise::OnePerPartition,
        }
    }

    fn attempts_beyond_first(&self, nodes: u32, loss: f64) -> f64 {
        self.requests_beyond_first(nodes.saturating_sub(1).into(), loss)
    }

    fn reads_candidacy(&self) -> bool {
        self.by_majority()
    }

    fn check_nodes(&self, nodes: u64) -> Result<(), GroupTooLarge> {
        if nodes <= NODES_MAX {
            return Ok(());
        }
        let because = "every election carries a row for each voter; let fewer vote, or choose a \
                       protocol without leases";
        Err(GroupTooLarge { protocol: Hall::NAME, nodes, most: NODES_MAX, because })
    }

    fn shown_for(&self) -> Duration {
        Duration::from_secs(1)
    }

    fn check_live(&self) -> Result<(), NotLive> {
        if self.is_as_published() {
            let so = "can have two leaders";
            return Err(NotLive::WithMistakes { param: "as-published", so });
        }
        if self.is_unchecked() { Err(NotLive::Unchecked) } else { Ok(()) }
    }

    fn terms(&self) -> String {
        format!(
            "3 mode={} tokens={} lock={} drift={} error={}",
            self.mode().name(),
            self.tokens.name(),
            self.lock().as_nanos(),
            self.drift_ppm(),
            self.clock_error().as_nanos(),
        )
    }

    fn founding_record(&self) -> Option<Vec<u8>> {
        (self.by_majority() && self.keeps_tokens()).then(|| Stored::FOUNDING.encode(None))
    }

    fn rules(&self) -> Vec<String> {
        let told = |constraint: Constraint| {
            let Constraint { rule, left, right, .. } = constraint;
            format!("{rule}: {left} and {right}")
        };
        self.constraints().into_iter().map(told).collect()
    }

    fn longest_message(&self, group: usize) -> Option<usize> {
        Some(self.longest_request(group))
    }
}

impl Params {
    /// How many requests beyond the first it takes, on average, until one succeeds among so many
    /// others, if each message is lost this often: in majority mode enough of them must hear the
    /// request and be heard, in local mode all.
    pub fn requests_beyond_first(&self, others: u64, loss: f64) -> f64 {
        let needed = match self.mode() {
            Mode::Majority => others.div_ceil(2),
            Mode::Local => others,
        };
        let answers = (1.0 - loss) * (1.0 - loss);
        1.0 / at_least(needed, others, answers) - 1.0
    }
}

/// The probability that at least `needed` of `trials` succeed, each with this chance.
fn at_least(needed: u64, trials: u64, chance: f64) -> f64 {
    if needed == 0 || chance >= 1.0 {
        return 1.0;
    }
    let (n, success, failure) = (trials as f64, libm::log(chance), libm::log1p(-chance));
    // A binomial coefficient may be too large for a number, its logarithm is not.
    let exactly = |count: u64| {
        let k = count as f64;
        let ways = libm::lgamma(n + 1.0) - libm::lgamma(k + 1.0) - libm::lgamma(n - k + 1.0);
        libm::exp(ways + k * success + (n - k) * failure)
    };
    (needed..=trials).map(exactly).sum::<f64>().min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn beyond_first(mode: Mode, others: u64, loss: f64) -> f64 {
        let params = Params::try_from(Config { mode, ..Config::default() }).unwrap();
        params.requests_beyond_first(others, loss)
    }

    fn near(left: f64, right: f64) -> bool {
        (left - right).abs() <= 1e-9 * right.abs().max(1.0)
    }

    #[test]
    fn the_number_of_requests_agrees_with_a_calculation_by_hand() {
        // Two others, of whom one must answer, which takes two messages that each arrive half the
        // time: 1 − (3/4)² = 7/16. Both: 1/16.
        assert!(near(beyond_first(Mode::Majority, 2, 0.5), 16.0 / 7.0 - 1.0));
        assert!(near(beyond_first(Mode::Local, 2, 0.5), 15.0));
        for mode in [Mode::Majority, Mode::Local] {
            assert_eq!(beyond_first(mode, 4, 0.0), 0.0);
            assert_eq!(beyond_first(mode, 0, 0.5), 0.0, "alone");
            assert_eq!(beyond_first(mode, 4, 1.0), f64::INFINITY);
        }
    }

    #[test]
    fn leases_settle_after_the_locks_that_may_still_run() {
        let ms = Duration::from_millis;
        let of = |mode| {
            let params = Params::try_from(Config { mode, ..Config::default() }).unwrap();
            (params.time_scales(5), params.kappa_timeliness())
        };
        let (majority, _) = of(Mode::Majority);
        assert_eq!((majority.lease, majority.quorum), (ms(150), Some(3)));
        let records = (181 + 40) * 2 + 5 * 40 + 40;
        assert_eq!(majority.settles, ms((210 + 5 * 40) * 2 + records));
        let (local, kappa) = of(Mode::Local);
        assert_eq!((local.drift, local.quorum), (200_000, None));
        assert_eq!(local.settles, kappa + ms(181 + 40));
        assert!(local.timely > ms(4) && local.timely < ms(5), "half of what counts as fast");
    }

    #[test]
    fn a_large_group_has_a_majority_where_it_never_has_everybody() {
        assert!(beyond_first(Mode::Majority, 1_000, 0.05) < 1e-9);
        assert!(beyond_first(Mode::Local, 1_000, 0.05) > 1e40);
    }
}
