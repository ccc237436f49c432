//! A protocol as a member runs it: one of the table, or the application's own type.

use crate::bad_settings::BadSettings;
use crate::peers::Peers;
use bellwether_core::{Boot, Duration, Endpoint, Env, Protocol, endpoint};
use bellwether_protocols::choice::{Choice, Config, Leases, find};
use std::sync::Arc;

/// The least drift of live clocks that is accepted, in millionths. Half of it is left to clock
/// steering.
const DRIFT_PPM_MIN: u32 = 2;
/// The most members of an open group that one member knows.
const OPEN_MAX: usize = 1024;

/// Starts an incarnation of any protocol.
type Start = Arc<dyn Fn(Boot<'_>, &mut Env<'_>) -> Box<dyn Endpoint> + Send + Sync>;

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
}

impl Program {
    /// A protocol of the table.
    ///
    /// # Errors
    /// A text that says what is wrong with the name or the parameters.
    pub(crate) fn of_table(name: &str, config: Config) -> Result<Self, String> {
        let entry = find(name).ok_or_else(|| {
            format!("no protocol is called '{name}'; `bellwether protocols` lists them")
        })?;
        let params = config.to_json();
        let choice = Choice::try_from(config).map_err(|bad| format!("{name}: {bad}"))?;
        let (profile, chosen) = (choice.profile(), choice.clone());
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
        })
    }

    /// The application's own protocol. Members must have the same parameters, compared by their
    /// `Debug` text.
    pub(crate) fn own<P: Protocol>(params: P::Params) -> Self {
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
        }
    }

    /// Starts an incarnation.
    pub(crate) fn start(&self, boot: Boot<'_>, env: &mut Env<'_>) -> Box<dyn Endpoint> {
        (self.start)(boot, env)
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
    fn fits(&self, members: usize, body_max: usize) -> bool {
        let longest = self.choice.as_ref().and_then(|choice| choice.longest_message(members));
        longest.is_none_or(|longest| longest <= body_max)
    }

    /// Checks that these members can run it; says how long its messages become, if that is known.
    pub(crate) fn check(
        &self,
        peers: &Peers,
        body_max: usize,
    ) -> Result<Option<String>, BadSettings> {
        let rule = |text: String| Err(BadSettings::Rule(text));
        if self.has_tokens() && !peers.is_list() {
            return Err(BadSettings::NoList { peers: peers.clone() });
        }
        let Some(choice) = &self.choice else { return Ok(None) };
        choice.check_live().map_err(|why| BadSettings::Rule(why.to_owned()))?;
        if self.leases.is_some_and(|leases| leases.drift_ppm < DRIFT_PPM_MIN) {
            return rule(format!(
                "drift-ppm is less than {DRIFT_PPM_MIN}, but no clock is that good: leave it out, \
                 or say how wrong the clocks of the members may be"
            ));
        }
        let Peers::Listed(list) = peers else { return Ok(None) };
        choice.check_nodes(list.len() as u64).map_err(|bad| BadSettings::Rule(bad.to_string()))?;
        let Some(longest) = choice.longest_message(list.len()) else { return Ok(None) };
        if longest > body_max {
            let fits = |members: &usize| self.fits(*members, body_max);
            return rule(format!(
                "with {} members a message may have {longest} bytes, but a datagram holds \
                 {body_max}: a group has at most {} members; make several groups, or use a \
                 protocol without leases",
                list.len(),
                (1..list.len()).rev().find(fits).unwrap_or(0)
            ));
        }
        Ok(Some(format!("the longest message has {longest} bytes, {body_max} fit a datagram")))
    }
}
