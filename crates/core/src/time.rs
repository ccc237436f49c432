//! Types for times and durations.
//!
//! | type | whose | used by |
//! |---|---|---|
//! | [`SimTime`] | the simulated world's | the simulator and its observers |
//! | [`Instant`] | one node's own clock, which may drift | everything a protocol sees |
//! | `f64` seconds | mathematics | analysis, parameters as people write them |
//!
//! Times and durations are whole nanoseconds and saturate: [`Instant::NEVER`] plus anything is
//! still never, and no arithmetic on them can panic.

use alloc::string::{String, ToString};
use core::fmt;
use core::ops::{Add, AddAssign, Div, Mul, Sub};
use core::str::FromStr;
use serde::de::{self, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

macro_rules! point_in_time {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(u64);

        impl $name {
            /// The beginning.
            pub const ZERO: Self = Self(0);
            /// Later than everything that happens.
            pub const NEVER: Self = Self(u64::MAX);

            /// The point this many nanoseconds after the beginning.
            #[inline]
            pub const fn from_nanos(nanos: u64) -> Self {
                Self(nanos)
            }

            /// Nanoseconds since the beginning.
            #[inline]
            pub const fn as_nanos(self) -> u64 {
                self.0
            }

            /// Seconds since the beginning.
            #[inline]
            pub fn as_secs_f64(self) -> f64 {
                self.0 as f64 / 1e9
            }

            /// The duration since `earlier`; zero if this is not later.
            #[inline]
            pub const fn since(self, earlier: Self) -> Duration {
                Duration(self.0.saturating_sub(earlier.0))
            }
        }

        impl Add<Duration> for $name {
            type Output = Self;
            #[inline]
            fn add(self, length: Duration) -> Self {
                Self(self.0.saturating_add(length.0))
            }
        }

        impl AddAssign<Duration> for $name {
            #[inline]
            fn add_assign(&mut self, length: Duration) {
                *self = *self + length;
            }
        }

        impl Sub<Duration> for $name {
            type Output = Self;
            #[inline]
            fn sub(self, length: Duration) -> Self {
                Self(self.0.saturating_sub(length.0))
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(self, f)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                if *self == Self::NEVER {
                    f.write_str("never")
                } else {
                    fmt::Display::fmt(&Duration(self.0), f)
                }
            }
        }
    };
}

point_in_time! {
    /// A time on one node's own clock.
    Instant
}

point_in_time! {
    /// A simulated time, which no node can read.
    SimTime
}

/// A duration, in whole nanoseconds.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Duration(u64);

impl Duration {
    /// Zero.
    pub const ZERO: Self = Self(0);
    /// The longest duration; it means "for ever".
    pub const MAX: Self = Self(u64::MAX);
    /// The longest duration in settings: about 31 years, so that sums of a few stay exact.
    pub const LONGEST_WRITTEN: Self = Self::from_secs(1_000_000_000);

    /// This many nanoseconds.
    #[inline]
    pub const fn from_nanos(nanos: u64) -> Self {
        Self(nanos)
    }

    /// This many microseconds.
    #[inline]
    pub const fn from_micros(micros: u64) -> Self {
        Self(micros.saturating_mul(1_000))
    }

    /// This many milliseconds.
    #[inline]
    pub const fn from_millis(millis: u64) -> Self {
        Self(millis.saturating_mul(1_000_000))
    }

    /// This many seconds.
    #[inline]
    pub const fn from_secs(secs: u64) -> Self {
        Self(secs.saturating_mul(1_000_000_000))
    }

    /// This many seconds, rounded to the nanosecond.
    ///
    /// # Errors
    /// If `secs` is not a number, is negative, or is longer than [`Self::LONGEST_WRITTEN`].
    pub fn from_secs_f64(secs: f64) -> Result<Self, BadDuration> {
        if !(0.0..=Self::LONGEST_WRITTEN.as_secs_f64()).contains(&secs) {
            return Err(BadDuration { written: secs.to_string(), rule: RANGE });
        }
        Ok(Self((secs * 1e9 + 0.5) as u64))
    }

    /// In nanoseconds.
    #[inline]
    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    /// In seconds.
    #[inline]
    pub const fn as_secs_f64(self) -> f64 {
        self.0 as f64 / 1e9
    }

    /// The difference; zero if the other is longer.
    #[inline]
    pub const fn saturating_sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }

    /// How often `other` fits into this duration, rounded up; `None` if this is infinite.
    #[inline]
    pub const fn div_ceil(self, other: Self) -> Option<u64> {
        if other.0 == 0 || self.0 == u64::MAX { None } else { Some(self.0.div_ceil(other.0)) }
    }
}

impl Add for Duration {
    type Output = Self;
    #[inline]
    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl Mul<u64> for Duration {
    type Output = Self;
    #[inline]
    fn mul(self, times: u64) -> Self {
        Self(self.0.saturating_mul(times))
    }
}

/// A part of it, rounded down to nanoseconds; infinity stays infinite. A divisor of zero panics, as
/// with numbers.
impl Div<u64> for Duration {
    type Output = Self;
    #[inline]
    fn div(self, parts: u64) -> Self {
        if self == Self::MAX { self } else { Self(self.0 / parts) }
    }
}

impl fmt::Debug for Duration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Seconds, with as many decimals as are needed: `1.5s`.
impl fmt::Display for Duration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if *self == Self::MAX {
            return f.write_str("infinite");
        }
        let (whole, mut rest) = (self.0 / 1_000_000_000, self.0 % 1_000_000_000);
        write!(f, "{whole}")?;
        if rest > 0 {
            let mut digits = 9;
            while rest.is_multiple_of(10) {
                rest /= 10;
                digits -= 1;
            }
            write!(f, ".{rest:0digits$}")?;
        }
        f.write_str("s")
    }
}

const RANGE: &str = "a duration lies between 0 and 1000000000 seconds";
const FORM: &str =
    "a duration is a number of seconds, or a number with a unit: 1.5, 250ms, 3s, 2min";

/// Why a text is not a duration: the value and the rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadDuration {
    written: String,
    rule: &'static str,
}

impl fmt::Display for BadDuration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "'{}' breaks the rule: {}", self.written, self.rule)
    }
}

impl core::error::Error for BadDuration {}

/// `1.5` and `1.5s` are seconds; `ns`, `us`, `ms`, `min` and `h` are understood, `infinite` too.
impl FromStr for Duration {
    type Err = BadDuration;

    fn from_str(text: &str) -> Result<Self, BadDuration> {
        let bad = |rule| BadDuration { written: text.to_string(), rule };
        let trimmed = text.trim();
        if matches!(trimmed, "infinite" | "inf") {
            return Ok(Self::MAX);
        }
        let unit_at = trimmed
            .find(|c: char| c.is_alphabetic() && !matches!(c, 'e' | 'E'))
            .unwrap_or(trimmed.len());
        let (number, unit) = trimmed.split_at(unit_at);
        let secs_per_unit = match unit {
            "" | "s" => 1.0,
            "ns" => 1e-9,
            "us" | "µs" => 1e-6,
            "ms" => 1e-3,
            "min" => 60.0,
            "h" => 3600.0,
            _ => return Err(bad(FORM)),
        };
        let number: f64 = number.trim().parse().map_err(|_| bad(FORM))?;
        Self::from_secs_f64(number * secs_per_unit).map_err(|_| bad(RANGE))
    }
}

impl Serialize for Duration {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Duration {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct AsWritten;

        impl Visitor<'_> for AsWritten {
            type Value = Duration;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(FORM)
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<Duration, E> {
                text.parse().map_err(E::custom)
            }
            fn visit_f64<E: de::Error>(self, secs: f64) -> Result<Duration, E> {
                Duration::from_secs_f64(secs).map_err(E::custom)
            }
            fn visit_u64<E: de::Error>(self, secs: u64) -> Result<Duration, E> {
                self.visit_f64(secs as f64)
            }
            fn visit_i64<E: de::Error>(self, secs: i64) -> Result<Duration, E> {
                self.visit_f64(secs as f64)
            }
        }

        deserializer.deserialize_any(AsWritten)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_read_as_people_write_them() {
        for (text, nanos) in [
            ("1", 1_000_000_000),
            ("1.5s", 1_500_000_000),
            (".1", 100_000_000),
            ("250ms", 250_000_000),
            ("3 us", 3_000),
            ("2min", 120_000_000_000),
            ("1e-3", 1_000_000),
            ("0", 0),
        ] {
            assert_eq!(text.parse::<Duration>().map(Duration::as_nanos), Ok(nanos), "{text}");
        }
        assert_eq!("infinite".parse(), Ok(Duration::MAX));
    }

    #[test]
    fn what_is_no_duration_is_refused_with_value_and_rule() {
        for text in ["", "s", "-1", "NaN", "1e300", "3 parsecs", "1.2.3", "1e18s"] {
            let error = text.parse::<Duration>().unwrap_err().to_string();
            assert!(error.starts_with(&alloc::format!("'{text}' breaks the rule")), "{error}");
        }
    }

    #[test]
    fn a_duration_prints_as_it_is_read() {
        for nanos in [0, 1, 10, 1_500_000_000, 999_999_999, 60_000_000_000] {
            let length = Duration::from_nanos(nanos);
            assert_eq!(length.to_string().parse(), Ok(length));
        }
        assert_eq!(Duration::from_millis(1500).to_string(), "1.5s");
    }

    #[test]
    fn never_stays_never() {
        assert_eq!(Instant::NEVER + Duration::from_secs(1), Instant::NEVER);
        assert_eq!(Instant::ZERO - Duration::from_secs(1), Instant::ZERO);
        assert_eq!(SimTime::ZERO.since(SimTime::NEVER), Duration::ZERO);
        assert_eq!(Duration::MAX / 2, Duration::MAX);
    }

    #[test]
    fn a_part_is_rounded_down() {
        assert_eq!(Duration::from_secs(1) / 3, Duration::from_nanos(333_333_333));
        assert_eq!(Duration::from_nanos(7) / 8, Duration::ZERO);
    }
}
