//! A protocol's configuration as JSON text: what a recorded run keeps, and what it is replayed
//! with.
//!
//! **What it promises.** What [`Config::to_json`] writes, [`Config::from_json`] reads back equal,
//! given the same protocol's name: lengths of time up to ten days to the nanosecond, rates to
//! the last bit. The name stands beside the parameters, as in a scenario file, and not among them.

use crate::choice::{BadConfig, Choice, Config, Entry, find, names};
use crate::param::{BadParam, GivenParams, Param};
use crate::promise::Promise;
use crate::surroundings::Surroundings;
use alloc::borrow::ToOwned;
use alloc::string::{String, ToString};
use core::fmt;

/// Why a text is no configuration of a protocol.
#[derive(Clone, Debug, PartialEq)]
pub enum BadText {
    /// Nobody knows the protocol.
    Protocol(String),
    /// It does not have the right form.
    Form(String),
    /// The values break a rule.
    Config(BadConfig),
}

impl fmt::Display for BadText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Protocol(name) => {
                let names = names().join(", ");
                write!(f, "'{name}', but no protocol has that name; there are {names}")
            }
            Self::Form(problem) => write!(f, "the parameters are not readable: {problem}"),
            Self::Config(bad) => bad.fmt(f),
        }
    }
}

impl core::error::Error for BadText {}

impl Config {
    /// As one JSON object.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).expect("a configuration has text keys and plain values")
    }

    /// Reads what [`to_json`](Self::to_json) wrote for the protocol with this name. What is absent
    /// has its default, and so has what only other members of the family have: nobody gave it.
    ///
    /// # Errors
    /// [`BadText`], naming the protocol or the place.
    pub fn from_json(protocol: &str, text: &str) -> Result<Self, BadText> {
        let Some(entry) = find(protocol) else {
            return Err(BadText::Protocol(protocol.to_owned()));
        };
        let mut reader = serde_json::Deserializer::from_str(text);
        let read = entry.family.read(&mut reader).and_then(|config| {
            reader.end()?;
            Ok(config.own())
        });
        read.map_err(|error| BadText::Form(error.to_string()))
    }
}

impl Entry {
    /// The table of its family's parameters.
    pub fn params(&self) -> &'static [Param] {
        self.family.params()
    }

    /// The parameters of the table that it has.
    pub fn own_params(&self) -> impl Iterator<Item = &'static Param> + use<> {
        let name = self.name;
        self.params().iter().filter(move |param| param.is_of(name))
    }

    /// What it promises, unless its parameters say otherwise; see
    /// [`Answers::promise`](crate::answers::Answers::promise).
    pub fn promise(&self) -> Promise {
        let usual = Choice::try_from(self.default_config());
        usual.map_or(Promise::Nothing, |choice| choice.promise())
    }

    /// Its parameters if nothing is given or known of the network.
    pub fn default_config(&self) -> Config {
        self.family.default_config()
    }

    /// The parameters that were given, by name and text; the last word about one counts.
    ///
    /// # Errors
    /// [`BadParam`], naming the parameter.
    pub fn given<'a>(
        &self,
        pairs: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) -> Result<GivenParams, BadParam> {
        let (table, mut given) = (self.params(), GivenParams::default());
        pairs.into_iter().try_for_each(|(name, text)| given.put(table, name, text))?;
        Ok(given)
    }

    /// Its parameters in these surroundings, with what was given.
    ///
    /// # Errors
    /// [`BadParam`], naming the parameter.
    pub fn config(&self, around: &Surroundings, given: &GivenParams) -> Result<Config, BadParam> {
        self.family.config(around, given)
    }
}

impl Choice {
    /// The protocol with this name and these parameters; see [`Config::from_json`].
    ///
    /// # Errors
    /// [`BadText`], naming the protocol, the place or the rule.
    pub fn from_json(protocol: &str, text: &str) -> Result<Self, BadText> {
        Self::try_from(Config::from_json(protocol, text)?).map_err(BadText::Config)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::announce_listen::{self, Mapping, Shape};
    use crate::choice::PROTOCOLS;
    use crate::local_leader::{self, Mode};
    use bellwether_core::Duration;
    use proptest::prelude::*;

    #[test]
    fn every_protocols_defaults_come_back_equal() {
        for entry in PROTOCOLS {
            let unsteady = Surroundings {
                unsteady: true,
                ..Surroundings::calm(5, Duration::from_millis(100))
            };
            let fit = entry.config(&unsteady, &GivenParams::default()).unwrap();
            assert_eq!(Config::from_json(entry.name, &fit.to_json()), Ok(fit));
            let config = entry.default_config();
            assert_eq!(Config::from_json(entry.name, &config.to_json()), Ok(config));
        }
    }

    #[test]
    fn what_is_no_configuration_is_refused_with_the_reason() {
        let refused = |protocol, text| Choice::from_json(protocol, text).unwrap_err().to_string();
        assert!(refused("le-x", "{}").starts_with("'le-x', but no protocol has that name"));
        assert!(refused("le-s", "{").contains("EOF"));
        assert!(refused("local-leader", r#"{"locke":"1s"}"#).contains("unknown field `locke`"));
        assert!(refused("local-leader", r#"{"drift-ppm":999999}"#).contains("999999"));
        assert!(Choice::from_json("local-leader", "{}").is_ok(), "what is absent is the default");
    }

    proptest! {
        #[test]
        fn any_configuration_comes_back_equal(
            nanos in proptest::collection::vec(0..10 * 86_400_000_000_000u64, 4),
            rate in 0.0..500.0f64,
            ppm in any::<Option<u32>>(),
            local in any::<bool>(),
        ) {
            let [a, b, c, d] = [0, 1, 2, 3].map(|index| Duration::from_nanos(nanos[index]));
            let mode = if local { Mode::Local } else { Mode::Majority };
            let leases = Config::LocalLeader(local_leader::Config {
                mode,
                delta: Some(a),
                sigma: Some(b),
                lock: Some(c),
                fastest: d,
                drift_ppm: ppm,
                ..local_leader::Config::default()
            });
            let json = leases.to_json();
            prop_assert_eq!(Config::from_json("local-leader", &json), Ok(leases));
            let announce = Config::AnnounceListen(announce_listen::Config {
                suppress: a,
                listen: if local { Duration::MAX } else { b },
                aging: Some(d),
                ..announce_listen::Config::new(announce_listen::Variant::LeS)
                    .shaped(Shape::Rising { rate })
                    .mapped(Mapping::ByStanding { best: 9, worst: nanos[0], jitter: c })
            });
            let json = announce.to_json();
            prop_assert_eq!(Config::from_json("le-s", &json), Ok(announce));
        }
    }
}
