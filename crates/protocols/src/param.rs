//! What a parameter is: its name, its kind, its default, its range and what it is for.
//!
//! **Source.** Each protocol describes its parameters once: [`params!`](crate::params) makes its
//! `Config` and the table of it from one description. Files, command lines, results, errors and
//! reference pages read that table.
//!
//! **Assumptions.** A `Config` is flat: each of its fields is one parameter.
//!
//! **Promise.** What is read by name and text is what a file with that key would say. A name that
//! is not in the table, a text of the wrong form and a value without effect are refused with an
//! error that names the parameter.

mod explain;
mod params;
#[doc(hidden)]
pub mod text;

pub use explain::explain;

use crate::surroundings::Surroundings;
use alloc::borrow::ToOwned;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use bellwether_core::Duration;
use core::fmt;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

/// A parameter of a protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Param {
    /// Its one name: the key in a file and, with `_` for `-`, in results.
    pub name: &'static str,
    /// A name that files may still use; empty if there is none.
    pub formerly: &'static str,
    /// Which values it takes.
    pub kind: Kind,
    /// What its number counts; empty if that is plain.
    pub unit: &'static str,
    /// What it is if it is not given.
    pub default: Fallback,
    /// What it is then in an unattended group; empty if that is the same.
    pub unattended: &'static str,
    /// The rule for its value, as an inequality; empty if every value of its kind will do.
    pub range: &'static str,
    /// The parameters on which its default or its range depends.
    pub depends_on: &'static [&'static str],
    /// The parameter without which it has no effect, and the values that parameter must have.
    pub only_with: Option<(&'static str, &'static [&'static str])>,
    /// The members of the family that have it; empty if all do.
    pub only_of: &'static [&'static str],
    /// Whether it is among the first that one changes: forms show it above the others.
    pub leading: bool,
    /// What it is for.
    pub help: &'static str,
}

/// Which values a parameter takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A length of time.
    Length,
    /// A whole number.
    Count,
    /// A number.
    Number,
    /// On or off.
    Switch,
    /// One of these names; beside each stands what it means.
    OneOf(&'static [(&'static str, &'static str)]),
    /// A text of this form.
    Text(&'static str),
}

/// A type of the values of parameters.
pub trait ParamType {
    /// Which values it has.
    const KIND: Kind;
}

macro_rules! kinds {
    ($($Type:ty: $Kind:ident),+) => {
        $(impl ParamType for $Type {
            const KIND: Kind = Kind::$Kind;
        })+
    };
}

kinds!(Duration: Length, u32: Count, u64: Count, usize: Count, f64: Number, bool: Switch);

impl<T: ParamType> ParamType for Option<T> {
    const KIND: Kind = T::KIND;
}

/// What a parameter is if it is not given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fallback {
    /// This value.
    Is(&'static str),
    /// A value that follows from others or from the network, in these words.
    Follows(&'static str),
    /// Nothing: what it is for is not done.
    Absent,
}

impl Param {
    /// A parameter with values of this type. A switch is off by default.
    pub const fn of<T: ParamType>(name: &'static str, help: &'static str) -> Self {
        let default = match T::KIND {
            Kind::Switch => Fallback::Is("false"),
            _ => Fallback::Absent,
        };
        Self {
            name,
            formerly: "",
            kind: T::KIND,
            unit: "",
            default,
            unattended: "",
            range: "",
            depends_on: &[],
            only_with: None,
            only_of: &[],
            leading: false,
            help,
        }
    }

    /// With this default.
    #[must_use]
    pub const fn is(self, default: &'static str) -> Self {
        Self { default: Fallback::Is(default), ..self }
    }

    /// With this default in an unattended group.
    #[must_use]
    pub const fn unattended(self, default: &'static str) -> Self {
        Self { unattended: default, ..self }
    }

    /// With a default that follows, in these words.
    #[must_use]
    pub const fn follows(self, words: &'static str) -> Self {
        Self { default: Fallback::Follows(words), ..self }
    }

    /// With this rule.
    #[must_use]
    pub const fn within(self, range: &'static str) -> Self {
        Self { range, ..self }
    }

    /// With this unit.
    #[must_use]
    pub const fn counted_in(self, unit: &'static str) -> Self {
        Self { unit, ..self }
    }

    /// Depending on these.
    #[must_use]
    pub const fn on(self, depends_on: &'static [&'static str]) -> Self {
        Self { depends_on, ..self }
    }

    /// With an effect only where another parameter has one of these values.
    #[must_use]
    pub const fn only_with(self, other: &'static str, values: &'static [&'static str]) -> Self {
        Self { only_with: Some((other, values)), ..self }
    }

    /// In these members of the family alone.
    #[must_use]
    pub const fn only_of(self, names: &'static [&'static str]) -> Self {
        Self { only_of: names, ..self }
    }

    /// Among the first that one changes.
    #[must_use]
    pub const fn leading(self) -> Self {
        Self { leading: true, ..self }
    }

    /// Whether the member of the family with this name has it.
    pub fn is_of(&self, name: &str) -> bool {
        self.only_of.is_empty() || self.only_of.contains(&name)
    }

    /// With a name that files may still use.
    #[must_use]
    pub const fn formerly(self, formerly: &'static str) -> Self {
        Self { formerly, ..self }
    }

    /// Its key in results.
    pub fn key(&self) -> String {
        self.name.replace('-', "_")
    }

    /// Which text it takes, in words.
    pub fn form(&self) -> String {
        match self.kind {
            Kind::Length => "a length of time such as 250ms, 1.5s or infinite".to_owned(),
            Kind::Count => "a whole number".to_owned(),
            Kind::Number => "a finite number".to_owned(),
            Kind::Switch => "true or false".to_owned(),
            Kind::OneOf(choices) => {
                let names: Vec<&str> = choices.iter().map(|(name, _)| *name).collect();
                names.join(", ")
            }
            Kind::Text(form) => form.to_owned(),
        }
    }

    /// The value that this text says, as a file would hold it.
    ///
    /// # Errors
    /// [`BadParam::Form`], naming the parameter, the text and what it must be.
    pub fn read(&self, text: &str) -> Result<Value, BadParam> {
        let value = match self.kind {
            Kind::Length => text.parse::<Duration>().ok().map(|_| Value::from(text)),
            Kind::Count => text.parse::<u64>().ok().map(Value::from),
            Kind::Number => {
                text.parse::<f64>().ok().filter(|number| number.is_finite()).map(Value::from)
            }
            Kind::Switch => text.parse::<bool>().ok().map(Value::from),
            Kind::OneOf(choices) => {
                choices.iter().find(|(name, _)| *name == text).map(|(name, _)| Value::from(*name))
            }
            Kind::Text(_) => Some(Value::from(text)),
        };
        value.ok_or_else(|| self.refused(text, self.form()))
    }

    /// A value as a person would write it; nothing if it is absent.
    fn written(&self, value: &Value) -> Option<String> {
        match (value, self.kind) {
            (Value::Null, _) => None,
            (Value::String(text), _) => Some(text.clone()),
            // As Rust prints it: 10 and not 10.0.
            (value, Kind::Number) => value.as_f64().map(|number| number.to_string()),
            (value, _) => Some(value.to_string()),
        }
    }

    /// A value for programs: lengths in seconds, infinite ones null.
    fn shown(&self, value: &Value) -> Value {
        let length = |text: &str| text.parse::<Duration>().ok();
        match (self.kind, value) {
            (Kind::Length, Value::String(text)) => match length(text) {
                Some(length) if length < Duration::MAX => Value::from(length.as_secs_f64()),
                _ => Value::Null,
            },
            (_, value) => value.clone(),
        }
    }

    fn refused(&self, text: &str, must: String) -> BadParam {
        BadParam::Form { name: self.name, text: text.to_owned(), must }
    }
}

/// A value that has no effect, because another parameter does not have the value it needs, or
/// because it is a parameter of other protocols of the family.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoEffect {
    /// The parameter.
    pub name: &'static str,
    /// The other; `protocol` for the protocol itself.
    pub needs: &'static str,
    /// What the other would have to be.
    pub values: &'static [&'static str],
    /// What the other is.
    pub found: String,
}

impl fmt::Display for NoEffect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, needs, values, found } = self;
        let values = values.join(" or ");
        write!(
            f,
            "{name} has no effect with {needs} = {found}, only with {needs} = {values}; set that \
             too, or leave {name} out"
        )
    }
}

impl core::error::Error for NoEffect {}

/// Why a parameter is refused before the rules of its protocol are asked.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum BadParam {
    /// The protocol has no parameter of this name.
    Unknown {
        /// As given.
        name: String,
        /// Those that it has.
        known: Vec<&'static str>,
    },
    /// The text is not of the form that the parameter takes.
    Form {
        /// The parameter.
        name: &'static str,
        /// As given.
        text: String,
        /// What it must be.
        must: String,
    },
    /// It has no effect.
    NoEffect(NoEffect),
    /// It does not fit the group or the network.
    Unfit {
        /// The parameter.
        name: &'static str,
        /// As given.
        text: String,
        /// Why, and what to do.
        because: String,
    },
}

impl fmt::Display for BadParam {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown { name, known } => {
                write!(f, "no parameter is called '{name}'; there are {}", known.join(", "))
            }
            Self::Form { name, text, must } => {
                write!(f, "{name} = '{text}', but {name} must be: {must}")
            }
            Self::NoEffect(effectless) => effectless.fmt(f),
            Self::Unfit { name, text, because } => write!(f, "{name} = {text}, but {because}"),
        }
    }
}

impl core::error::Error for BadParam {}

impl BadParam {
    /// The parameter, if there is one of this name.
    pub fn name(&self) -> Option<&'static str> {
        match self {
            Self::Unknown { .. } => None,
            Self::NoEffect(NoEffect { name, .. })
            | Self::Form { name, .. }
            | Self::Unfit { name, .. } => Some(name),
        }
    }
}

/// The parameters that were given, by name; all others have their defaults.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GivenParams(Map<String, Value>);

impl GivenParams {
    /// Those of a table among these keys and values of a file.
    ///
    /// # Errors
    /// [`BadParam::Unknown`], naming a key that is not in the table.
    pub fn of_values(table: &[Param], values: Map<String, Value>) -> Result<Self, BadParam> {
        let mut given = Self::default();
        for (name, value) in values {
            given.0.insert(find(table, &name)?.name.to_owned(), value);
        }
        Ok(given)
    }

    /// Gives a parameter of the table this value, whatever it was before.
    ///
    /// # Errors
    /// [`BadParam`], naming the parameter.
    pub fn put(&mut self, table: &[Param], name: &str, text: &str) -> Result<(), BadParam> {
        let param = find(table, name)?;
        self.0.insert(param.name.to_owned(), param.read(text)?);
        Ok(())
    }

    /// Whether this parameter was given.
    pub fn has(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }
}

/// The parameter of a table with this name.
///
/// # Errors
/// [`BadParam::Unknown`], with the names that there are.
pub fn find<'a>(table: &'a [Param], name: &str) -> Result<&'a Param, BadParam> {
    let called =
        |param: &&Param| param.name == name || (param.formerly == name && !name.is_empty());
    table.iter().find(called).ok_or_else(|| BadParam::Unknown {
        name: name.to_owned(),
        known: table.iter().map(|param| param.name).collect(),
    })
}

/// A configuration that a table describes; [`params!`](crate::params) implements it.
pub trait Described: Clone + Default + PartialEq + Serialize + DeserializeOwned {
    /// What tells the protocols apart that share the table.
    type Variant: Copy;

    /// The table, in the order of the fields.
    const PARAMS: &'static [Param];

    /// Which protocol it is of.
    fn variant(&self) -> Self::Variant;

    /// The name of that protocol, by which parameters know whose they are.
    fn member(&self) -> &'static str;

    /// The same values for this protocol.
    #[must_use]
    fn of(self, variant: Self::Variant) -> Self;

    /// The same with this parameter.
    ///
    /// # Errors
    /// [`BadParam`], naming the parameter.
    fn with(&self, name: &str, text: &str) -> Result<Self, BadParam> {
        let mut given = GivenParams::default();
        given.put(Self::PARAMS, name, text)?;
        self.lay(&given)
    }

    /// The same with what was given.
    ///
    /// # Errors
    /// [`BadParam::Form`], naming the parameter.
    fn lay(&self, given: &GivenParams) -> Result<Self, BadParam> {
        let (mut values, mut laid) = (self.values(), self.clone());
        for (name, value) in &given.0 {
            values.insert(name.clone(), value.clone());
            // One by one, so that an error can be told to be of this one.
            laid = serde_json::from_value(Value::Object(values.clone())).map_err(|error| {
                let text = value.as_str().map_or_else(|| value.to_string(), ToOwned::to_owned);
                match find(Self::PARAMS, name) {
                    Ok(param) => param.refused(&text, error.to_string()),
                    Err(unknown) => unknown,
                }
            })?;
        }
        Ok(laid.of(self.variant()))
    }

    /// Its values by name, as a file holds them.
    fn values(&self) -> Map<String, Value> {
        match serde_json::to_value(self) {
            Ok(Value::Object(values)) => values,
            _ => Map::new(),
        }
    }

    /// Those that its member of the family has, in the order of the table.
    fn own_values(&self) -> Vec<(&'static str, Option<Value>)> {
        let (member, mut values) = (self.member(), self.values());
        let mut value = |name| values.remove(name).filter(|value| !value.is_null());
        let own = Self::PARAMS.iter().filter(|param| param.is_of(member));
        own.map(|param| (param.name, value(param.name))).collect()
    }

    /// Refuses what was given and has no effect.
    ///
    /// # Errors
    /// [`NoEffect`], naming both parameters.
    fn check_effects(&self, given: &GivenParams) -> Result<(), NoEffect> {
        let (member, values) = (self.member(), self.values());
        let mut written = Self::PARAMS.iter().filter(|param| given.has(param.name));
        written.try_for_each(|param| param.check_effect(member, &values))
    }

    /// Refuses values that are not the default and have no effect.
    ///
    /// # Errors
    /// [`NoEffect`], naming both parameters.
    fn check_values(&self) -> Result<(), NoEffect> {
        let anywhere = |param: &Param| param.only_with.is_none() && param.only_of.is_empty();
        if Self::PARAMS.iter().all(anywhere) {
            return Ok(());
        }
        let (member, values, usual) = (self.member(), self.values(), Self::default().values());
        let changed = |param: &&Param| values.get(param.name) != usual.get(param.name);
        let mut changed = Self::PARAMS.iter().filter(changed);
        changed.try_for_each(|param| param.check_effect(member, &values))
    }

    /// The same without what only other members of the family have: there it has its defaults.
    ///
    /// For what a program wrote. Whoever gave such a value by hand is told that it has no effect.
    #[must_use]
    fn own(self) -> Self {
        let (member, mut usual) = (self.member(), Self::default().values());
        let of_others = Self::PARAMS.iter().filter(|param| !param.is_of(member));
        let others = of_others.filter_map(|param| usual.remove_entry(param.name)).collect();
        self.lay(&GivenParams(others)).unwrap_or(self)
    }

    /// Whether keys are those that a program writes: every parameter that has a value.
    fn is_spelt_out(&self, has: &dyn Fn(&str) -> bool) -> bool {
        let mut usual = Self::default().values().into_iter();
        usual.all(|(name, value)| value.is_null() || has(&name))
    }

    /// What must be given to get from these defaults to this, by name and text.
    fn arguments(&self, defaults: &Self) -> Vec<(&'static str, String)> {
        let (values, usual) = (self.values(), defaults.values());
        let changed = Self::PARAMS.iter().filter(|param| {
            let name = param.name;
            values.get(name) != usual.get(name)
        });
        let written = changed.filter_map(|param| {
            let value = values.get(param.name)?;
            Some((param.name, param.written(value)?))
        });
        written.collect()
    }
}

/// The defaults of a configuration that follow from others or from the surroundings.
pub trait Fit: Described {
    /// The same with every default that follows, from the surroundings or from what was given.
    #[must_use]
    fn fit(self, _around: &Surroundings, _given: &GivenParams) -> Self {
        self
    }

    /// Checks what was given against the surroundings.
    ///
    /// # Errors
    /// [`BadParam`], naming the parameter.
    fn check_fit(&self, _around: &Surroundings, _given: &GivenParams) -> Result<(), BadParam> {
        Ok(())
    }

    /// The same with all values that follow from its own written out.
    #[must_use]
    fn resolved(&self) -> Self {
        self.clone()
    }

    /// The same in these surroundings, with what was given.
    ///
    /// # Errors
    /// [`BadParam`], naming the parameter.
    fn placed(self, around: &Surroundings, given: &GivenParams) -> Result<Self, BadParam> {
        let mut given = given.clone();
        let own = |param: &Param| param.is_of(self.member()) && !param.unattended.is_empty();
        let unattended = |param: &&Param| around.unattended && own(param);
        for param in Self::PARAMS.iter().filter(unattended) {
            if !given.has(param.name) {
                given.put(Self::PARAMS, param.name, param.unattended)?;
            }
        }
        let config = self.lay(&given)?.fit(around, &given);
        config.check_fit(around, &given)?;
        config.check_effects(&given).map_err(BadParam::NoEffect)?;
        Ok(config)
    }

    /// All of it for programs, in the order of the table: lengths in seconds; null is what is
    /// infinite, and what only other members of the family have.
    fn to_map(&self) -> Vec<(String, Value)> {
        let values = self.resolved().values();
        let shown = |param: &Param| match values.get(param.name) {
            Some(value) if param.is_of(self.member()) => (param.key(), param.shown(value)),
            _ => (param.key(), Value::Null),
        };
        Self::PARAMS.iter().map(shown).collect()
    }
}

impl Param {
    fn check_effect(&self, member: &str, values: &Map<String, Value>) -> Result<(), NoEffect> {
        if !self.is_of(member) {
            let found = member.to_owned();
            return Err(NoEffect {
                name: self.name,
                needs: "protocol",
                values: self.only_of,
                found,
            });
        }
        let Some((needs, wanted)) = self.only_with else { return Ok(()) };
        let found = match values.get(needs) {
            Some(Value::String(found)) => found.clone(),
            Some(found) => found.to_string(),
            None => String::new(),
        };
        if wanted.contains(&found.as_str()) {
            return Ok(());
        }
        Err(NoEffect { name: self.name, needs, values: wanted, found })
    }
}

#[cfg(test)]
mod tests;
