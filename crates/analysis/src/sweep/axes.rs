//! Axes: the values of flags, as lists and ranges. Flags of one axis change together.

use super::{BadSweep, bad};
use bellwether_core::Duration;
use serde_json::{Map, Value};

/// A flag, without dashes, and its value: a text, a number, whether a switch is on, or a list of
/// these for a flag that is given several times.
pub type Setting = (String, Value);

/// Flags that change together: all have as many values.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    /// The flags and their values.
    pub columns: Vec<(String, Vec<Value>)>,
}

/// More values than an axis needs.
const VALUES_MAX: u64 = 100_000;
/// The keys of a range.
const KEYS: [&str; 6] = ["from", "to", "step", "count", "log", "whole"];

impl Axis {
    /// Reads an axis.
    pub(super) fn of(text: &Value) -> Result<Self, BadSweep> {
        let Value::Object(flags) = text else {
            return bad("axis", "an axis must be a table of its own, [[axis]]");
        };
        let mut columns: Vec<(String, Vec<Value>)> = Vec::new();
        for (name, values) in flags {
            let name = flag_name(name)?;
            let values = listed(&name, values)?;
            if let Some((first, others)) = columns.first()
                && others.len() != values.len()
            {
                let rule = format!(
                    "it has {} values, but {first} of the same axis has {}; flags that change \
                     together need equally many, others an [[axis]] of their own",
                    values.len(),
                    others.len()
                );
                return bad(name, rule);
            }
            columns.push((name, values));
        }
        match columns.is_empty() {
            true => bad("axis", "it has no flag; give it one, or leave it out"),
            false => Ok(Self { columns }),
        }
    }

    /// How many values each flag has.
    pub fn len(&self) -> usize {
        self.columns.first().map_or(0, |(_, values)| values.len())
    }

    /// Whether there is no value.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The settings at this place of the axis.
    pub(super) fn at(&self, place: usize) -> impl Iterator<Item = Setting> {
        self.columns.iter().map(move |(name, values)| (name.clone(), values[place].clone()))
    }
}

/// The name of a flag: what results call `timer_rate` is `timer-rate`.
pub(super) fn flag_name(name: &str) -> Result<String, BadSweep> {
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    let flag = name.replace('_', "-");
    match flag.starts_with(|c: char| c.is_ascii_lowercase()) && flag.chars().all(plain) {
        true => Ok(flag),
        false => bad(name, "a flag is named without its dashes, as in loss or loss-model"),
    }
}

/// The value, if it is one.
fn scalar(value: &Value) -> Option<Value> {
    match value {
        Value::String(_) | Value::Bool(_) => Some(value.clone()),
        Value::Number(number) => number.as_f64().filter(|it| it.is_finite()).map(|_| value.clone()),
        _ => None,
    }
}

/// The value, if it is one, or a list of them: what a flag that is given several times has at a
/// point.
pub(super) fn value(value: &Value) -> Option<Value> {
    match value {
        Value::Array(all) if !all.is_empty() => {
            all.iter().map(scalar).collect::<Option<_>>().map(Value::Array)
        }
        one => scalar(one),
    }
}

/// The values of a list or a range.
fn listed(name: &str, text: &Value) -> Result<Vec<Value>, BadSweep> {
    let rule = "it must be a list, as [1, 2, 5], or a range, as { from = 0, to = 1, step = 0.1 }";
    let values: Vec<Value> = match text {
        Value::Array(all) => {
            let values: Option<Vec<Value>> = all.iter().map(value).collect();
            match values {
                Some(values) => values,
                None => {
                    return bad(
                        name,
                        "a list has texts, numbers, true and false, or lists of these",
                    );
                }
            }
        }
        Value::Object(range) => Range::of(name, range)?.values(name)?,
        _ => return bad(name, rule),
    };
    match values.is_empty() || values.len() as u64 > VALUES_MAX {
        true => bad(name, format!("it must have from 1 to {VALUES_MAX} values")),
        false => Ok(values),
    }
}

/// Equal steps or equal factors from one number to another.
struct Range {
    from: f64,
    to: f64,
    steps: Steps,
    /// Only whole numbers.
    whole: bool,
}

enum Steps {
    /// Of this length; the end is met or not.
    Long(f64),
    /// So many values, both ends included.
    Equal(u64),
    /// So many values, each greater than the one before by the same factor.
    Factors(u64),
}

impl Range {
    fn of(name: &str, text: &Map<String, Value>) -> Result<Self, BadSweep> {
        if let Some(key) = text.keys().find(|key| !KEYS.contains(&key.as_str())) {
            return bad(format!("{name}.{key}"), format!("a range has {}", KEYS.join(", ")));
        }
        let number = |key: &str| match text.get(key) {
            None => Ok(None),
            Some(value) => match amount(value) {
                Some(number) => Ok(Some(number)),
                None => bad(format!("{name}.{key}"), "it must be a number or a time, as \"10ms\""),
            },
        };
        let switch = |key: &str| match text.get(key) {
            None => Ok(false),
            Some(Value::Bool(on)) => Ok(*on),
            Some(_) => bad(format!("{name}.{key}"), "it must be true or false"),
        };
        let (Some(from), Some(to)) = (number("from")?, number("to")?) else {
            return bad(name, "a range needs `from` and `to`");
        };
        let count = match text.get("count").map(Value::as_u64) {
            None => None,
            Some(Some(count)) if (2..=VALUES_MAX).contains(&count) => Some(count),
            Some(_) => {
                let rule = format!("it must be a whole number from 2 to {VALUES_MAX}");
                return bad(format!("{name}.count"), rule);
            }
        };
        let steps = match (number("step")?, count, switch("log")?) {
            (Some(step), None, false) => Steps::Long(step),
            (None, Some(count), false) => Steps::Equal(count),
            (None, Some(count), true) => Steps::Factors(count),
            (None, None, _) => return bad(name, "a range needs `step` or `count`"),
            (_, _, true) => return bad(name, "a range with `log` needs `count`, and no `step`"),
            (Some(_), Some(_), _) => {
                return bad(name, "a range has either `step` or `count`; leave one out");
            }
        };
        let ends = ["from", "to", "step"].iter().filter_map(|key| text.get(*key));
        let whole = switch("whole")? || ends.clone().all(Value::is_i64) && count.is_none();
        Ok(Self { from, to, steps, whole })
    }

    fn values(&self, name: &str) -> Result<Vec<Value>, BadSweep> {
        let Self { from, to, .. } = *self;
        let (count, value): (u64, Box<dyn Fn(u64) -> f64>) = match self.steps {
            Steps::Long(step) => {
                if step == 0.0 || (to - from) / step < 0.0 {
                    return bad(format!("{name}.step"), "steps must lead from `from` to `to`");
                }
                // A little more, so that rounding does not lose the last one.
                let steps = ((to - from) / step + 1e-9).floor();
                if steps >= VALUES_MAX as f64 {
                    return bad(name, format!("it must have from 1 to {VALUES_MAX} values"));
                }
                (steps as u64 + 1, Box::new(move |place| from + place as f64 * step))
            }
            Steps::Equal(count) => {
                let step = (to - from) / (count - 1) as f64;
                (count, Box::new(move |place| from + place as f64 * step))
            }
            Steps::Factors(count) => {
                if from <= 0.0 || to <= 0.0 {
                    return bad(name, "a range by factors needs ends above 0");
                }
                let step = (libm::log(to) - libm::log(from)) / (count - 1) as f64;
                (count, Box::new(move |place| from * libm::exp(place as f64 * step)))
            }
        };
        let mut values: Vec<Value> = (0..count).map(|place| self.written(value(place))).collect();
        values.dedup(); // whole numbers may meet
        Ok(values)
    }

    /// The number as a value: twelve digits, which hides rounding and nothing else.
    fn written(&self, number: f64) -> Value {
        if self.whole {
            return Value::from(libm::round(number) as i64);
        }
        let short: f64 = format!("{number:.11e}").parse().unwrap_or(number);
        Value::from(short)
    }
}

/// A number, or a time in seconds.
fn amount(value: &Value) -> Option<f64> {
    match value {
        Value::String(text) => {
            let time: Duration = text.parse().ok()?;
            (time != Duration::MAX).then(|| time.as_secs_f64())
        }
        other => other.as_f64().filter(|number| number.is_finite()),
    }
}
