//! From numbers to places on an axis, and where its ticks stand.

use crate::figures::Axis;
use crate::numbers::grouped;
use bellwether_sim::diagram::steps::{order, power, round_step};

/// An axis with a beginning, an end and ticks.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Scale {
    log: bool,
    low: f64,
    high: f64,
    /// Where a line and a label stand.
    pub(super) ticks: Vec<Tick>,
    /// Where only a small mark stands.
    pub(super) marks: Vec<f64>,
}

/// A labelled place.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Tick {
    pub(super) at: f64,
    pub(super) label: String,
}

/// How an axis fits its data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fit {
    /// It ends where the data end.
    Tight,
    /// It ends at a tick.
    Round,
}

/// Data from a level above this part of their greatest value are not drawn from zero.
const FAR_FROM_ZERO: f64 = 0.8;

/// No number on an axis has more digits behind its point.
const DIGITS_MAX: usize = 12;

/// How far data may stand out beyond the last tick, in steps.
const SLACK: f64 = 0.05;

impl Scale {
    /// An axis for these values, with about so many ticks at most. Those it cannot show are none.
    pub(super) fn new(
        axis: Axis,
        values: impl Iterator<Item = f64>,
        fit: Fit,
        most: usize,
    ) -> Self {
        let shown = values.filter(|value| value.is_finite() && (!axis.log || *value > 0.0));
        let ends = shown.fold(None, |ends: Option<(f64, f64)>, value| {
            Some(ends.map_or((value, value), |(low, high)| (low.min(value), high.max(value))))
        });
        let most = most.max(2);
        match (axis.log, ends) {
            (true, ends) => Self::by_factors(ends.unwrap_or((1.0, 10.0)), fit, most),
            (false, ends) => Self::by_steps(ends.unwrap_or((0.0, 1.0)), fit, most),
        }
    }

    fn by_steps((mut low, mut high): (f64, f64), fit: Fit, most: usize) -> Self {
        if low >= 0.0 && low <= FAR_FROM_ZERO * high {
            low = 0.0;
        }
        if low == high {
            let room = if low == 0.0 { 1.0 } else { low.abs() * 0.1 };
            (low, high) = (if low == 0.0 { 0.0 } else { low - room }, high + room);
        }
        let step = round_step((high - low) / most as f64, 1e-9);
        if fit == Fit::Round {
            // What is hardly beyond a tick needs no further one.
            low = (low / step + SLACK).floor() * step;
            high = (high / step - SLACK).ceil() * step;
        }
        let digits = usize::try_from(-order(step)).map_or(0, |digits| digits.min(DIGITS_MAX));
        let tick = |index: f64| {
            let at = index * step;
            let label = grouped(&format!("{:.digits$}", if index == 0.0 { 0.0 } else { at }));
            Tick { at, label }
        };
        let first = (low / step - 1e-9).ceil();
        let count = ((high / step + 1e-9).floor() - first).clamp(0.0, 100.0) as u32;
        let ticks = (0..=count).map(|index| tick(first + f64::from(index))).collect();
        Self { log: false, low, high, ticks, marks: Vec::new() }
    }

    fn by_factors((mut low, mut high): (f64, f64), fit: Fit, most: usize) -> Self {
        if low == high {
            (low, high) = (low / 2.0, high * 2.0);
        }
        if fit == Fit::Round {
            (low, high) = (below(low), above(high));
        }
        let (first, last) = (order(low), order(high));
        let within = |value: f64| value >= low * (1.0 - 1e-9) && value <= high * (1.0 + 1e-9);
        let all = |digits: &[f64]| -> Vec<f64> {
            let of = |decade| digits.iter().map(move |digit| digit * power(decade));
            (first..=last).flat_map(of).filter(|value| within(*value)).collect()
        };
        let each = all(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0]);
        let (few, decades) = (all(&[1.0, 2.0, 5.0]), all(&[1.0]));
        let chosen = if few.len() < 3 && each.len() <= most {
            each.clone()
        } else if few.len() <= most || decades.len() < 2 {
            few
        } else {
            let skip = decades.len().div_ceil(most);
            decades.into_iter().step_by(skip).collect()
        };
        let ticks = chosen.into_iter().map(|at| Tick { at, label: plain(at) }).collect();
        Self { log: true, low, high, ticks, marks: each }
    }

    /// How far along the axis a value lies, from 0 to 1.
    pub(super) fn place(&self, value: f64) -> f64 {
        let along = if self.log {
            libm::log(value / self.low) / libm::log(self.high / self.low)
        } else {
            (value - self.low) / (self.high - self.low)
        };
        along.clamp(-1.0, 2.0) // far outside is outside
    }

    /// Whether the value has a place at all.
    pub(super) fn shows(&self, value: f64) -> bool {
        value.is_finite() && (!self.log || value > 0.0)
    }

    /// Whether the axis begins at zero.
    pub(super) fn begins_at_zero(&self) -> bool {
        !self.log && self.low == 0.0
    }

    /// The same with powers of ten as labels, where all ticks are such.
    pub(super) fn as_powers(&self) -> Option<Self> {
        let is_power = |tick: &Tick| tick.at == power(order(tick.at));
        if !self.log || !self.ticks.iter().all(is_power) {
            return None;
        }
        let tick = |tick: &Tick| Tick { at: tick.at, label: raised(order(tick.at)) };
        Some(Self { ticks: self.ticks.iter().map(tick).collect(), ..self.clone() })
    }
}

/// The number rounded up to one digit.
fn above(value: f64) -> f64 {
    let unit = power(order(value));
    (value / unit - 1e-9).ceil() * unit
}

/// The number rounded down to one digit.
fn below(value: f64) -> f64 {
    let unit = power(order(value));
    (value / unit + 1e-9).floor() * unit
}

/// A number in digits, or as a power of ten where that would be long.
fn plain(value: f64) -> String {
    let k = order(value);
    if !(-4..=7).contains(&k) {
        let digit = (value / power(k)).round();
        return if digit == 1.0 { raised(k) } else { format!("{digit}·{}", raised(k)) };
    }
    let digits = usize::try_from(-k).unwrap_or(0);
    grouped(&format!("{value:.digits$}"))
}

/// 10ᵏ.
fn raised(k: i32) -> String {
    const HIGH: [char; 10] = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];
    let high = |character: char| character.to_digit(10).map_or('⁻', |digit| HIGH[digit as usize]);
    format!("10{}", k.to_string().chars().map(high).collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(axis: Axis, values: &[f64], fit: Fit, most: usize) -> String {
        let scale = Scale::new(axis, values.iter().copied(), fit, most);
        scale.ticks.into_iter().map(|tick| tick.label).collect::<Vec<_>>().join(" ")
    }

    const STEPS: Axis = Axis::linear("", "");
    const FACTORS: Axis = Axis::log("", "");

    #[test]
    fn steps_are_round_and_begin_at_zero() {
        assert_eq!(labels(STEPS, &[0.3, 7.3], Fit::Round, 5), "0 2 4 6 8");
        assert_eq!(labels(STEPS, &[0.0, 0.95], Fit::Round, 5), "0.0 0.2 0.4 0.6 0.8 1.0");
        assert_eq!(
            labels(STEPS, &[-3_000.0, 12_000.0], Fit::Round, 4),
            "-5,000 0 5,000 10,000 15,000"
        );
    }

    #[test]
    fn what_is_far_begins_at_zero_and_close_together_is_seen() {
        assert_eq!(labels(STEPS, &[95.0, 99.0], Fit::Round, 5), "95 96 97 98 99");
    }

    #[test]
    fn one_value_alone_or_none_has_an_axis() {
        assert_eq!(labels(STEPS, &[0.0], Fit::Round, 5), "0.0 0.2 0.4 0.6 0.8 1.0");
        assert!(!labels(STEPS, &[5.0], Fit::Round, 5).is_empty());
        assert!(!labels(STEPS, &[], Fit::Tight, 5).is_empty());
        assert!(!labels(FACTORS, &[7.0], Fit::Round, 5).is_empty());
        assert!(!labels(FACTORS, &[-1.0, f64::NAN], Fit::Tight, 5).is_empty());
    }

    #[test]
    fn the_largest_and_the_smallest_numbers_are_no_danger() {
        let extremes = [[f64::MIN, f64::MAX], [0.0, f64::MIN_POSITIVE], [1e-320, 1e300], [1.0; 2]];
        for values in extremes {
            for (axis, fit) in [STEPS, FACTORS].into_iter().zip([Fit::Round, Fit::Tight]) {
                let scale = Scale::new(axis, values.into_iter(), fit, 5);
                assert!(scale.ticks.len() <= 120, "{values:?}");
            }
        }
    }

    #[test]
    fn factors_are_decades_or_finer() {
        assert_eq!(labels(FACTORS, &[2.0, 500.0], Fit::Tight, 8), "2 5 10 20 50 100 200 500");
        let million = labels(FACTORS, &[2.0, 1e6], Fit::Tight, 8);
        assert_eq!(million, "10 100 1,000 10,000 100,000 1,000,000");
        assert_eq!(labels(FACTORS, &[0.02, 0.9], Fit::Round, 8), "0.02 0.05 0.1 0.2 0.5");
        assert_eq!(labels(FACTORS, &[1e-12, 1.0], Fit::Round, 5), "10⁻¹² 10⁻⁹ 10⁻⁶ 0.001 1");
    }

    #[test]
    fn powers_replace_digits_where_all_are_powers() {
        let scale = Scale::new(FACTORS, [1.0, 1e6].into_iter(), Fit::Tight, 8);
        let powers = scale.as_powers().unwrap();
        assert_eq!(powers.ticks[6].label, "10⁶");
        let scale = Scale::new(FACTORS, [2.0, 50.0].into_iter(), Fit::Tight, 8);
        assert_eq!(scale.as_powers(), None);
    }

    #[test]
    fn ends_are_at_zero_and_one() {
        let scale = Scale::new(FACTORS, [2.0, 1e6].into_iter(), Fit::Tight, 8);
        assert_eq!((scale.place(2.0), scale.place(1e6)), (0.0, 1.0));
        let scale = Scale::new(STEPS, [1.0, 10.0].into_iter(), Fit::Round, 5);
        assert_eq!((scale.place(0.0), scale.place(10.0)), (0.0, 1.0));
    }
}
