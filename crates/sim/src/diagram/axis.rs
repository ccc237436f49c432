//! The time axis: round steps, in the unit that fits them.

use super::steps::round_step;
use super::svg::{LABEL_SIZE, text_width};

/// The moments to mark, in nanoseconds, and the label of each.
pub(super) fn ticks(from: u64, to: u64, width: f64) -> Vec<(u64, String)> {
    let stretch = to.saturating_sub(from);
    let widest = text_width(&label(to, stretch), LABEL_SIZE) + 28.0;
    let most = (width / widest.max(70.0)).clamp(1.0, 50.0) as u64;
    let step = round_step((stretch / most).saturating_add(1) as f64, 0.0) as u64;
    (from.div_ceil(step)..=u64::MAX)
        .map_while(|index| index.checked_mul(step))
        .take_while(|&at| at <= to)
        .map(|at| (at, label(at, stretch)))
        .collect()
}

/// The unit for an interval of this length: its nanoseconds and its name.
fn unit_of(stretch: u64) -> (u64, &'static str) {
    match stretch {
        1_000_000_000.. => (1_000_000_000, "s"),
        1_000_000.. => (1_000_000, "ms"),
        1_000.. => (1_000, "µs"),
        _ => (1, "ns"),
    }
}

fn label(at: u64, stretch: u64) -> String {
    let (size, unit) = unit_of(stretch);
    let (whole, rest) = (at / size, at % size);
    if rest == 0 {
        return format!("{whole} {unit}");
    }
    let digits = size.ilog10() as usize;
    let decimals = format!("{rest:0digits$}");
    format!("{whole}.{} {unit}", decimals.trim_end_matches('0'))
}

/// A moment as text, to about a thousandth of the interval it belongs to.
pub(super) fn rounded(at: u64, stretch: u64) -> String {
    let step = 10_u64.pow(stretch.max(1).ilog10().saturating_sub(3));
    label(at.saturating_add(step / 2) / step * step, stretch)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(from: u64, to: u64) -> Vec<String> {
        ticks(from, to, 880.0).into_iter().map(|(_, label)| label).collect()
    }

    #[test]
    fn steps_are_round_and_written_in_the_unit_that_fits() {
        assert_eq!(labels(0, 6_000_000_000).join(" | "), "0 s | 1 s | 2 s | 3 s | 4 s | 5 s | 6 s");
        assert_eq!(
            labels(0, 400_000_000).join(" | "),
            "0 ms | 50 ms | 100 ms | 150 ms | 200 ms | 250 ms | 300 ms | 350 ms | 400 ms"
        );
        assert_eq!(labels(0, 2_000).last().unwrap(), "2 µs");
        assert_eq!(labels(1_510_000_000, 3_400_000_000)[0], "1.6 s");
    }

    #[test]
    fn a_moment_for_people_has_no_more_digits_than_they_read() {
        assert_eq!(rounded(5_932_586_986, 5_932_586_986), "5.933 s");
        assert_eq!(rounded(0, 5_932_586_986), "0 s");
        assert_eq!(rounded(123_456, 123_456), "123.5 µs");
        assert_eq!(rounded(7, 0), "7 ns");
        assert_eq!(rounded(u64::MAX, u64::MAX), "18440000000 s");
    }

    #[test]
    fn there_are_a_few_of_them_however_short_or_long_the_run() {
        for (from, to) in [
            (0, 1),
            (0, 7),
            (0, 999),
            (u64::MAX - 1, u64::MAX),
            (0, u64::MAX),
            (1_700_000_000_000_000_000, 1_700_000_001_000_000_000),
        ] {
            let count = labels(from, to).len();
            assert!((1..=13).contains(&count), "{from}..{to}: {count}");
        }
    }
}
