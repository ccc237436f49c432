//! A protocol's configuration as JSON text: what a recorded run keeps, and what it is replayed
//! with.
//!
//! **What it promises.** What [`Config::to_json`] writes, [`Config::from_json`] reads back equal,
//! given the same protocol's name: lengths of time up to ten days to the nanosecond, rates to
//! the last bit. The name stands beside the parameters, as in a scenario file, and not among them.

use crate::announce_listen;
use crate::called::{self, Called};
use crate::choice::{BadConfig, Choice, Config, Family, find};
use crate::ring;
use alloc::borrow::ToOwned;
use alloc::string::{String, ToString};
use core::fmt;
use serde::{Deserialize, Deserializer};

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
                write!(f, "'{name}', but no protocol has that name; see `protocols`")
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
    /// has its default.
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
            Ok(config)
        });
        read.map_err(|error| BadText::Form(error.to_string()))
    }
}

impl Family {
    /// Reads a configuration of this family, from any form. What is absent has its default.
    ///
    /// # Errors
    /// Those of the reader.
    pub fn read<'de, D: Deserializer<'de>>(self, reader: D) -> Result<Config, D::Error> {
        Ok(match self {
            Self::AnnounceListen(variant) => Config::AnnounceListen(announce_listen::Config {
                variant,
                ..Deserialize::deserialize(reader)?
            }),
            Self::LocalLeader => Config::LocalLeader(Deserialize::deserialize(reader)?),
            Self::Called(Called::Bully) => {
                Config::Called(called::Config::Bully(Deserialize::deserialize(reader)?))
            }
            Self::Called(Called::Ring(variant)) => {
                let config = ring::Config { variant, ..Deserialize::deserialize(reader)? };
                Config::Called(called::Config::Ring(config))
            }
            Self::Called(Called::AdHoc) => {
                Config::Called(called::Config::AdHoc(Deserialize::deserialize(reader)?))
            }
            Self::Probabilistic => Config::Probabilistic(Deserialize::deserialize(reader)?),
        })
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
    use crate::announce_listen::{Mapping, Shape};
    use crate::choice::PROTOCOLS;
    use crate::local_leader::{self, Mode};
    use crate::probabilistic;
    use bellwether_core::Duration;
    use proptest::prelude::*;

    #[test]
    fn every_protocols_defaults_come_back_equal() {
        for entry in PROTOCOLS {
            let config = match entry.family {
                Family::AnnounceListen(variant) => {
                    Config::AnnounceListen(announce_listen::Config::new(variant))
                }
                Family::LocalLeader => Config::LocalLeader(local_leader::Config::default()),
                Family::Called(called) => {
                    Config::Called(called.restless(Duration::from_millis(100), 5))
                }
                Family::Probabilistic => Config::Probabilistic(probabilistic::Config::default()),
            };
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
                shape: Shape::Rising { rate },
                mapping: Mapping::ByStanding { best: 9, worst: nanos[0], jitter: c },
                aging: Some(d),
                ..announce_listen::Config::new(announce_listen::Variant::LeS)
            });
            let json = announce.to_json();
            prop_assert_eq!(Config::from_json("le-s", &json), Ok(announce));
        }
    }
}
