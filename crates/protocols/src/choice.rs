//! The one list of protocols: whoever is in it can be simulated, checked, run and looked at.
//!
//! Protocols that share their parameters are a family. A further one is its directory, which
//! implements [`Row`] and [`Answers`], and one line in `families!` below.

pub use crate::answers::GroupTooLarge;
use crate::answers::{Answers, Row, Usual};
use crate::on_demand::OnDemand;
use crate::param::{self, BadParam, Described, Fit, GivenParams, Param};
pub use crate::profile::{Goal, Leases, Profile};
pub use crate::promise::Promise;
use crate::purpose::MessageKind;
use crate::surroundings::Surroundings;
pub use crate::written::BadText;
use crate::{ad_hoc, announce_listen, bully, detect, local_leader, probabilistic, ring};
use alloc::boxed::Box;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use bellwether_core::{Boot, Endpoint, Env, Protocol, Visitor, endpoint, last_will};
use core::fmt;
use core::ops::Deref;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

/// One row of the table of protocols.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its name on the command line.
    pub name: &'static str,
    /// What it does, in a line.
    pub summary: &'static str,
    /// Where it comes from.
    pub source: &'static str,
    /// Which member of which family.
    pub family: Family,
}

/// Makes of one line for each family everything that has a case for each.
macro_rules! families {
    ($(
        #[doc = $help:literal]
        $Name:ident $(($variant:ident: $Variant:ty))? => $Params:ty,
    )+) => {
        /// Protocols that share their parameters, and which of them.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Family {
            $(#[doc = $help] $Name $(($Variant))?,)+
        }

        /// What a person writes, of any family. Serialized, it has the parameters of the table that
        /// the protocol has.
        #[derive(Clone, Debug, PartialEq)]
        pub enum Config {
            $(#[doc = $help] $Name(<$Params as Row>::Config),)+
        }

        /// Which rule a [`Config`] breaks, with the values that break it.
        #[derive(Clone, Debug, PartialEq)]
        pub enum BadConfig {
            $(#[doc = $help] $Name(<$Params as Row>::BadConfig),)+
        }

        /// A protocol chosen at run time, with its parameters. It answers what [`Answers`] asks.
        #[derive(Clone, Debug, PartialEq)]
        pub enum Choice {
            $(#[doc = $help] $Name($Params),)+
        }

        const FAMILIES: &[&[Entry]] = &[$(<$Params as Row>::ROWS),+];

        const MESSAGES: &[&[MessageKind]] = &[$(<$Params as Row>::MESSAGES),+, detect::MESSAGES];

        impl Family {
            /// The group and the network of experiments by default.
            pub fn usual(self) -> Usual {
                match self {
                    $(Self::$Name { .. } => <$Params as Row>::USUAL,)+
                }
            }

            /// Its kinds of messages, without those of a layer below.
            pub fn messages(self) -> &'static [MessageKind] {
                match self {
                    $(Self::$Name { .. } => <$Params as Row>::MESSAGES,)+
                }
            }

            /// The table of its parameters.
            pub fn params(self) -> &'static [Param] {
                match self {
                    $(Self::$Name { .. } => <<$Params as Row>::Config as Described>::PARAMS,)+
                }
            }

            /// Its parameters if nothing is given or known of the network.
            pub fn default_config(self) -> Config {
                match self {
                    $(Self::$Name $(($variant))? => {
                        let config = <$Params as Row>::Config::default();
                        Config::$Name(config $(.of($variant))?)
                    })+
                }
            }

            /// Its parameters in these surroundings.
            pub fn fitted(self, around: &Surroundings) -> Config {
                let given = GivenParams::default();
                match self.default_config() {
                    $(Config::$Name(config) => Config::$Name(config.fit(around, &given)),)+
                }
            }

            /// Its parameters in these surroundings, with what was given.
            ///
            /// # Errors
            /// [`BadParam`], naming the parameter.
            pub fn config(
                self,
                around: &Surroundings,
                given: &GivenParams,
            ) -> Result<Config, BadParam> {
                match self.default_config() {
                    $(Config::$Name(config) => config.placed(around, given).map(Config::$Name),)+
                }
            }

            /// Reads a configuration of this family, from any form. What is absent has its default.
            ///
            /// # Errors
            /// Those of the reader.
            pub fn read<'de, D: Deserializer<'de>>(self, reader: D) -> Result<Config, D::Error> {
                match self {
                    $(Self::$Name $(($variant))? => {
                        let config = <$Params as Row>::Config::deserialize(reader)?;
                        Ok(Config::$Name(config $(.of($variant))?))
                    })+
                }
            }
        }

        impl Serialize for Config {
            fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
                match self {
                    $(Self::$Name(config) => to.collect_map(config.own_values()),)+
                }
            }
        }

        impl Config {
            /// Of which family it is, and of which member.
            pub fn family(&self) -> Family {
                match self {
                    $(Self::$Name(_config) => {
                        $(let $variant = _config.variant();)?
                        Family::$Name $(($variant))?
                    })+
                }
            }

            /// The same without what only other members of the family have: there it has its
            /// defaults. For what a program wrote, because earlier releases wrote such values.
            #[must_use]
            pub fn own(self) -> Self {
                match self {
                    $(Self::$Name(config) => Self::$Name(config.own()),)+
                }
            }

            /// Whether keys are those that a program writes: every parameter of the family that has
            /// a value. A person leaves out what has its default.
            pub fn is_spelt_out(&self, has: &dyn Fn(&str) -> bool) -> bool {
                match self {
                    $(Self::$Name(config) => config.is_spelt_out(has),)+
                }
            }

            /// The same with this parameter.
            ///
            /// # Errors
            /// [`BadParam`], naming the parameter.
            pub fn with(&self, name: &str, text: &str) -> Result<Self, BadParam> {
                match self {
                    $(Self::$Name(config) => config.with(name, text).map(Self::$Name),)+
                }
            }

            /// All of it for programs, in the order of the table: lengths in seconds, infinite ones
            /// null.
            pub fn to_map(&self) -> Vec<(String, Value)> {
                match self {
                    $(Self::$Name(config) => config.to_map(),)+
                }
            }

            /// What must be given to get from these defaults, of the same protocol, to this: by
            /// name and text. Nothing if they are of another.
            pub fn arguments(&self, defaults: &Self) -> Vec<(&'static str, String)> {
                match (self, defaults) {
                    $((Self::$Name(config), Self::$Name(usual)) => config.arguments(usual),)+
                    _ => Vec::new(),
                }
            }
        }

        impl fmt::Display for BadConfig {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                match self {
                    $(Self::$Name(bad) => bad.fmt(f),)+
                }
            }
        }

        impl BadConfig {
            /// The text of the error, in which `call` says what the reader calls a parameter.
            pub fn explain(&self, call: &dyn Fn(&'static str) -> String) -> String {
                let table = match self {
                    $(Self::$Name(_) => <<$Params as Row>::Config as Described>::PARAMS,)+
                };
                param::explain(&self.to_string(), table, call)
            }
        }

        impl TryFrom<Config> for Choice {
            type Error = BadConfig;

            fn try_from(config: Config) -> Result<Self, BadConfig> {
                match config {
                    $(Config::$Name(config) => <$Params as Row>::checked(config)
                        .map(Self::$Name)
                        .map_err(BadConfig::$Name),)+
                }
            }
        }

        $(impl From<$Params> for Choice {
            fn from(params: $Params) -> Self {
                Self::$Name(params)
            }
        })+

        impl Deref for Choice {
            type Target = dyn Answers;

            fn deref(&self) -> &(dyn Answers + 'static) {
                match self {
                    $(Self::$Name(params) => params,)+
                }
            }
        }

        impl Choice {
            /// Hands the protocol to `visitor` as a type.
            pub fn visit<V: Visitor>(self, visitor: V) -> V::Output {
                match self {
                    $(Self::$Name(params) => Row::visit(params, visitor),)+
                }
            }
        }
    };
}

/// The kind of message with this name, in whichever protocol.
pub fn message_kind(name: &str) -> Option<&'static MessageKind> {
    message_kinds().find(|kind| kind.name == name)
}

/// The kinds of messages of all protocols. One that several have is the same in each.
pub fn message_kinds() -> impl Iterator<Item = &'static MessageKind> {
    MESSAGES.iter().copied().flatten()
}

impl Choice {
    /// Starts a process of the chosen protocol.
    pub fn endpoint(self, boot: Boot<'_>, env: &mut Env<'_>) -> Box<dyn Endpoint> {
        struct Start<'a, 'b>(Boot<'a>, &'a mut Env<'b>);

        impl Visitor for Start<'_, '_> {
            type Output = Box<dyn Endpoint>;

            fn visit<P: Protocol>(self, params: P::Params) -> Box<dyn Endpoint> {
                endpoint::<P>(self.0, self.1, params)
            }
        }

        self.visit(Start(boot, env))
    }

    /// The bytes of the [last will](Protocol::last_will) of this incarnation of any process.
    pub fn last_will(self, life: u64) -> Option<Vec<u8>> {
        struct Will(u64);

        impl Visitor for Will {
            type Output = Option<Vec<u8>>;

            fn visit<P: Protocol>(self, params: P::Params) -> Option<Vec<u8>> {
                last_will::<P>(self.0, &params)
            }
        }

        self.visit(Will(life))
    }
}

families! {
    /// One of the announce-listen family.
    AnnounceListen(variant: announce_listen::Variant) => announce_listen::Params,
    /// Leadership by leases.
    LocalLeader => local_leader::Params,
    /// Whoever is greater takes over.
    Bully => OnDemand<bully::Params>,
    /// Messages go round.
    Ring(variant: ring::Variant) => OnDemand<ring::Params>,
    /// A tree grows through the network and brings back the best.
    AdHoc => OnDemand<ad_hoc::Params>,
    /// An election in rounds, for large groups.
    Probabilistic => probabilistic::Params,
}

impl core::error::Error for BadConfig {}

impl Family {
    /// Whether its leaders lead for no longer than they have support.
    pub fn has_leases(self) -> bool {
        let usual = Choice::try_from(self.default_config());
        usual.is_ok_and(|choice| choice.profile().leases.is_some())
    }

    /// Its name on the command line and in files.
    pub fn name(self) -> &'static str {
        let own = PROTOCOLS.iter().find(|entry| entry.family == self);
        own.map_or("a protocol that is not listed", |entry| entry.name)
    }
}

/// All protocols.
pub const PROTOCOLS: &[Entry] = &listed::<{ count(FAMILIES) }>(FAMILIES);

const fn count(families: &[&[Entry]]) -> usize {
    let (mut sum, mut family) = (0, 0);
    while family < families.len() {
        sum += families[family].len();
        family += 1;
    }
    sum
}

/// The rows of all families on end.
const fn listed<const N: usize>(families: &[&[Entry]]) -> [Entry; N] {
    let mut all = [families[0][0]; N];
    let (mut next, mut family) = (0, 0);
    while family < families.len() {
        let mut row = 0;
        while row < families[family].len() {
            all[next] = families[family][row];
            next += 1;
            row += 1;
        }
        family += 1;
    }
    all
}

/// The names of all protocols.
pub fn names() -> Vec<&'static str> {
    PROTOCOLS.iter().map(|entry| entry.name).collect()
}

/// The row with this name.
pub fn find(name: &str) -> Option<&'static Entry> {
    PROTOCOLS.iter().find(|entry| entry.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::param::Kind;
    use announce_listen::Variant;
    use bellwether_core::Duration;
    use local_leader::Mode;

    /// The protocol of a row, with its defaults.
    fn chosen(entry: &Entry) -> Choice {
        let calm = Surroundings::calm(5, Duration::from_millis(100));
        let config = entry.config(&calm, &GivenParams::default()).unwrap();
        Choice::try_from(config).unwrap()
    }

    #[test]
    fn every_protocol_is_listed_once_under_its_own_name() {
        for entry in PROTOCOLS {
            let Entry { name, family, .. } = *entry;
            assert_eq!(find(name), Some(entry));
            assert_eq!((family.name(), family.default_config().family()), (name, family));
        }
        let announcing =
            Variant::ALL.map(|variant| (variant.name(), Family::AnnounceListen(variant)));
        let rings = ring::Variant::ALL.map(|variant| (variant.name(), Family::Ring(variant)));
        for (name, family) in announcing.into_iter().chain(rings) {
            assert_eq!(find(name).map(|entry| entry.family), Some(family));
        }
        assert_eq!(find("le-x"), None);
    }

    #[test]
    fn a_row_promises_what_its_protocol_does_unless_its_parameters_say_otherwise() {
        for entry in PROTOCOLS {
            assert!(Choice::try_from(entry.default_config()).is_ok(), "{}", entry.name);
            assert_eq!(chosen(entry).promise(), entry.promise(), "{}", entry.name);
        }
        let promise = |name| find(name).map(Entry::promise);
        assert_eq!(promise("local-leader"), Some(Promise::NeverTwo));
        assert_eq!(promise("sup"), Some(Promise::ElectsNobody));
        assert_eq!(promise("sup-al-elect"), Some(Promise::Nothing));
        let config = local_leader::Config { mode: Mode::Local, ..local_leader::Config::default() };
        let local = Choice::try_from(Config::LocalLeader(config)).unwrap();
        assert_eq!(local.promise(), Promise::OnePerPartition);
    }

    #[test]
    fn a_parameter_that_is_of_other_members_of_the_family_is_refused() {
        let calm = Surroundings::calm(5, Duration::from_millis(100));
        let mut refused = 0;
        for entry in PROTOCOLS {
            for param in entry.params().iter().filter(|param| !param.is_of(entry.name)) {
                let text = match param.kind {
                    Kind::Length => "70ms",
                    Kind::Count => "3",
                    Kind::Number => "2.5",
                    Kind::Switch => "true",
                    Kind::OneOf(choices) => choices[1].0,
                    Kind::Text(_) => panic!("{} is a text", param.name),
                };
                let rule =
                    alloc::format!("{} has no effect with protocol = {}", param.name, entry.name);
                let config = entry.default_config().with(param.name, text).unwrap();
                let in_file = Choice::try_from(config).unwrap_err().to_string();
                assert!(in_file.starts_with(&rule), "{in_file}");
                let given = entry.given([(param.name, text)]).unwrap();
                assert_eq!(entry.config(&calm, &given).unwrap_err().to_string(), in_file);
                refused += 1;
            }
        }
        let waits = 3 * 7;
        let (asks, announces, mistakes) = (8 * 2, 1, 3 + 3);
        assert_eq!(refused, waits + asks + announces + mistakes);
    }

    #[test]
    fn only_leases_limit_the_size_of_a_group() {
        for entry in PROTOCOLS {
            let (choice, most) = (chosen(entry), local_leader::NODES_MAX);
            assert_eq!(choice.check_nodes(most), Ok(()));
            let refused = choice.check_nodes(most + 1).is_err();
            assert_eq!(refused, choice.profile().leases.is_some(), "{}", entry.name);
            assert_eq!(refused, entry.family.has_leases(), "{}", entry.name);
        }
    }
}
