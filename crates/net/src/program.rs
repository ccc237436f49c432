//! A protocol as a member runs it: one of the table, or the application's own type.

use crate::bad_settings::BadSettings;
use crate::peers::Peers;
use bellwether_core::{Boot, Duration, Endpoint, Env, NodeId, Protocol, endpoint, last_will};
use bellwether_protocols::choice::{BadConfig, Choice, Config, Leases, PROTOCOLS, find};
use std::fmt;
use std::sync::Arc;

/// The least drift of live clocks that is accepted, in millionths. Half of it is left to clock
/// steering.
pub(crate) const DRIFT_PPM_MIN: u32 = 2;
/// The most members of an open group that one member knows.
const OPEN_MAX: usize = 1024;

/// Starts an incarnation of any protocol.
type Start = Arc<dyn Fn(Boot<'_>, &mut Env<'_>) -> Box<dyn Endpoint> + Send + Sync>;

/// The last will of an incarnation, if the protocol has one.
type Will = Arc<dyn Fn(u64) -> Option<Vec<u8>> + Send + Sync>;

/// A protocol with its parameters, and the facts that the runtime needs.
#[derive(Clone)]
pub(crate) struct Program {
    pub(crate) name: &'static str,
    /// Its configuration as it is recorded.
    pub(crate) params: String,
    /// Its promise, in words.
    pub(crate) promise: String,
    /// The text of what members must agree on.
    pub(crate) terms: String,
    /// The durations of its leases, where it has any.
    pub(crate) leases: Option<Leases>,
    /// The record of a member that never voted, where members store what they voted for.
    pub(crate) founding_record: Option<Vec<u8>>,
    /// A leader silent for this long is given up.
    pub(crate) trust: Duration,
    /// The row of the table, if it is one.
    pub(crate) choice: Option<Choice>,
    start: Start,
    will: Will,
}

/// Why a protocol cannot be run.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum BadProgram {
    /// No protocol of the table has this name.
    Unknown(String),
    /// Its parameters break a rule.
    Params {
        /// The protocol.
        protocol: &'static str,
        /// The values, the rule and the way out.
        bad: BadConfig,
    },
}

impl fmt::Display for BadProgram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown(name) => {
                let names: Vec<&str> = PROTOCOLS.iter().map(|entry| entry.name).collect();
                write!(f, "no protocol is called '{name}'; there are {}", names.join(", "))
            }
            Self::Params { protocol, bad } => write!(f, "{protocol}: {bad}"),
        }
    }
}

impl std::error::Error for BadProgram {}

impl Program {
    /// A protocol of the table.
    ///
    /// # Errors
    /// [`BadProgram`] names what is wrong with the name or the parameters.
    pub(crate) fn of_table(name: &str, config: Config) -> Result<Self, BadProgram> {
        let entry = find(name).ok_or_else(|| BadProgram::Unknown(name.to_owned()))?;
        let params = config.to_json();
        let choice = Choice::try_from(config)
            .map_err(|bad| BadProgram::Params { protocol: entry.name, bad })?;
        let (profile, chosen, dying) = (choice.profile(), choice.clone(), choice.clone());
        Ok(Self {
            name: entry.name,
            params,
            promise: choice.promise().to_string(),
            terms: format!("{name} {}", choice.terms()),
            leases: profile.leases,
            founding_record: choice.founding_record(),
            trust: profile.trust,
            choice: Some(choice),
            start: Arc::new(move |boot, env| chosen.clone().endpoint(boot, env)),
            will: Arc::new(move |life| dying.clone().last_will(life)),
        })
    }

    /// The application's own protocol. Members must have the same parameters, compared by their
    /// `Debug` text.
    pub(crate) fn own<P: Protocol>(params: P::Params) -> Self {
        let dying = params.clone();
        Self {
            name: P::NAME,
            params: format!("{params:?}"),
            promise: "the promise of its author".to_owned(),
            terms: format!("{} {params:?}", P::NAME),
            leases: None,
            founding_record: None,
            trust: Duration::MAX,
            choice: None,
            start: Arc::new(move |boot, env| endpoint::<P>(boot, env, params.clone())),
            will: Arc::new(move |life| last_will::<P>(life, &dying)),
        }
    }

    /// Starts an incarnation.
    pub(crate) fn start(&self, boot: Boot<'_>, env: &mut Env<'_>) -> Box<dyn Endpoint> {
        (self.start)(boot, env)
    }

    /// The last will of an incarnation, if the protocol has one.
    pub(crate) fn last_will(&self, life: u64) -> Option<Vec<u8>> {
        (self.will)(life)
    }

    /// The rules that its parameters satisfy, with their values.
    pub(crate) fn rules(&self) -> Vec<String> {
        self.choice.as_ref().map(|choice| choice.rules()).unwrap_or_default()
    }

    /// Whether its terms are fencing tokens: those of leases from a majority.
    pub(crate) fn has_tokens(&self) -> bool {
        self.leases.is_some_and(|leases| leases.majority)
    }

    /// How many members a leader needs in a group of this size.
    pub(crate) fn quorum(&self, group: usize) -> usize {
        match self.leases {
            Some(Leases { majority: true, .. }) => group / 2 + 1,
            _ => 1,
        }
    }

    /// How many other members an open group may have, so that messages still fit a datagram.
    pub(crate) fn most_others(&self, body_max: usize) -> usize {
        let fits = |members: &usize| self.fits(*members, body_max);
        (1..=OPEN_MAX).rev().find(fits).unwrap_or(1) - 1
    }

    /// Whether all messages of a group of so many fit a datagram, as far as that is known.
    pub(crate) fn fits(&self, members: usize, body_max: usize) -> bool {
        let longest = self.choice.as_ref().and_then(|choice| choice.longest_message(members));
        longest.is_none_or(|longest| longest <= body_max)
    }

    /// Checks that these members can run it; says how long its messages become, if that is known.
    pub(crate) fn check(
        &self,
        peers: &Peers,
        voters: Option<&[NodeId]>,
        body_max: usize,
    ) -> Result<Option<String>, BadSettings> {
        if self.has_tokens() && !peers.is_list() {
            return Err(BadSettings::NoList { peers: peers.clone() });
        }
        let Some(choice) = &self.choice else { return Ok(None) };
        choice.check_live().map_err(BadSettings::NotLive)?;
        if self.leases.is_some_and(|leases| leases.drift_ppm < DRIFT_PPM_MIN) {
            return Err(BadSettings::DriftTooSmall { least: DRIFT_PPM_MIN });
        }
        let Peers::Listed(list) = peers else { return Ok(None) };
        let voters = voters.map_or(list.len(), <[NodeId]>::len);
        choice.check_nodes(voters as u64).map_err(BadSettings::TooLarge)?;
        let Some(longest) = choice.longest_message(voters) else { return Ok(None) };
        if longest > body_max {
            let fits = |members: &usize| self.fits(*members, body_max);
            let most = (1..voters).rev().find(fits).unwrap_or(0);
            return Err(BadSettings::TooManyVoters { voters, most, longest, fit: body_max });
        }
        Ok(Some(format!("the longest message has {longest} bytes, {body_max} fit a datagram")))
    }
}
