//! Formats clock readings as dates and times, for people who compare logs.
//!
//! **Source.** RFC 3339; the calendar is computed as Howard Hinnant's `civil_from_days` does it.
//!
//! **Assumptions.** The wall clock may be set at any moment, so no decision uses it.
//!
//! **Promise.** Always UTC, always to the millisecond, always 24 characters until the year 9999.

use super::{BootTime, Clock, wall};
use bellwether_core::Instant;

/// The date and time of this reading of `CLOCK_BOOTTIME`, by the present offset of the wall clock.
pub fn wall_time(at: Instant) -> String {
    let since_boot = i128::from(BootTime.now().as_nanos()) - i128::from(at.as_nanos());
    written(u64::try_from(i128::from(wall()) - since_boot).unwrap_or(0))
}

/// Nanoseconds since 1970 as a date and a time, in the form of RFC 3339.
pub fn written(nanos: u64) -> String {
    let (seconds, millis) = (nanos / 1_000_000_000, nanos / 1_000_000 % 1_000);
    let (days, second) = (seconds / 86_400, seconds % 86_400);
    // Years begin in March here, so that a leap day is the last of its year.
    let days = days + 719_468;
    let (era, day) = (days / 146_097, days % 146_097);
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let year = era * 400 + year + u64::from(month <= 2);
    let (hour, minute, second) = (second / 3_600, second / 60 % 60, second % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{millis:03}Z")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_those_of_the_calendar() {
        for (seconds, text) in [
            (0, "1970-01-01T00:00:00.000Z"),
            (951_782_399, "2000-02-28T23:59:59.000Z"),
            (951_782_400, "2000-02-29T00:00:00.000Z"),
            (1_709_164_800, "2024-02-29T00:00:00.000Z"),
            (1_709_251_200, "2024-03-01T00:00:00.000Z"),
            (1_794_824_447, "2026-11-16T10:20:47.000Z"),
            (4_102_444_799, "2099-12-31T23:59:59.000Z"),
        ] {
            assert_eq!(written(seconds * 1_000_000_000), text);
        }
        assert!(written(u64::MAX).starts_with("2554-"));
        assert_eq!(written(1_999_999), "1970-01-01T00:00:00.001Z");
    }

    #[test]
    fn what_lies_a_minute_back_is_a_minute_earlier() {
        let now = BootTime.now();
        let (then, now) = (wall_time(Instant::from_nanos(0)), wall_time(now));
        assert!(then < now, "{then} and {now}");
        assert_eq!(now.len(), 24);
    }
}
