//! Three verdicts from points and their 95 % intervals.
//!
//! A claim about points is *confirmed* if each of them is on the right side with the whole of its
//! interval: since all have to be, more points do not make a mistake more probable. It is *refuted*
//! if one is on the wrong side beyond doubt. Otherwise there are too few runs to tell, and a point
//! with fewer than [`ENOUGH_RUNS`] of its own confirms nothing, whatever its interval is.

use crate::figures::claim::{ENOUGH_RUNS, fewer_runs};
use crate::figures::evidence::{exactly, scaled};
use crate::figures::{Claim, Dot, Verdict};
use crate::numbers::number;

/// A claim with this verdict; if it is open, that is for lack of runs.
pub(super) fn claim(
    says: &'static str,
    section: &'static str,
    verdict: Verdict,
    because: String,
) -> Claim {
    let open = if verdict == Verdict::NotReproducible { "too few runs to tell: " } else { "" };
    Claim { says, section, verdict, because: format!("{open}{because}") }
}

/// What many points say together; none says nothing.
pub(super) fn together(verdicts: impl IntoIterator<Item = Verdict>) -> Verdict {
    let worse = |one, other| match (one, other) {
        (Verdict::Refuted, _) | (_, Verdict::Refuted) => Verdict::Refuted,
        (Verdict::Confirmed, Verdict::Confirmed) => Verdict::Confirmed,
        _ => Verdict::NotReproducible,
    };
    verdicts.into_iter().reduce(worse).unwrap_or(Verdict::NotReproducible)
}

/// That the first is no less than the second.
pub(super) fn at_least(more: &Dot, less: &Dot) -> Verdict {
    let ([low, high], runs) = (gap(more, less), fewer_runs(more, less));
    let enough = runs == 0 || runs as u64 >= ENOUGH_RUNS;
    // A few runs that were all alike do not know their error.
    let known = enough || (more.stderr > 0.0 || less.stderr > 0.0);
    if low >= 0.0 && enough {
        Verdict::Confirmed
    } else if high < 0.0 && less.exceeds(more) && known {
        Verdict::Refuted
    } else {
        Verdict::NotReproducible
    }
}

/// That a point is no less than a limit.
pub(super) fn no_less(dot: &Dot, limit: f64) -> Verdict {
    at_least(dot, &exactly(dot.x, limit))
}

/// That a point is no more than a limit.
pub(super) fn no_more(dot: &Dot, limit: f64) -> Verdict {
    at_least(&exactly(dot.x, limit), dot)
}

/// That a point is no farther from another than this part of the other.
pub(super) fn within_part(dot: &Dot, of: &Dot, part: f64) -> Verdict {
    together([at_least(dot, &scaled(of, 1.0 - part)), at_least(&scaled(of, 1.0 + part), dot)])
}

/// That two points are no farther apart than this.
pub(super) fn within_distance(one: &Dot, other: &Dot, most: f64) -> Verdict {
    together([at_least(one, &moved(other, -most)), at_least(&moved(other, most), one)])
}

fn moved(dot: &Dot, by: f64) -> Dot {
    Dot { y: dot.y + by, ci95: dot.ci95.map(|end| end + by), ..dot.clone() }
}

/// A point in a sentence, with its interval.
pub(super) fn interval(dot: &Dot) -> String {
    let [low, high] = dot.ci95.map(number);
    format!("{} ({low} to {high} at 95 %, {} runs)", number(dot.y), dot.runs)
}

/// Where the difference of two independent points lies at 95 %: the distances from each to the ends
/// of its own interval, which need not be equal, add up as errors do.
fn gap(more: &Dot, less: &Dot) -> [f64; 2] {
    let below = libm::hypot(more.y - more.ci95[0], less.ci95[1] - less.y);
    let above = libm::hypot(more.ci95[1] - more.y, less.y - less.ci95[0]);
    let apart = more.y - less.y;
    [apart - below, apart + above]
}

#[cfg(test)]
mod tests {
    use super::*;
    use Verdict::{Confirmed, NotReproducible, Refuted};

    fn dot(y: f64, stderr: f64, runs: usize) -> Dot {
        let ci95 = [y - 2.0 * stderr, y + 2.0 * stderr];
        Dot { stderr, ci95, runs, ..exactly(0.0, y) }
    }

    #[test]
    fn between_right_and_wrong_beyond_doubt_it_is_open() {
        let verdicts =
            [0.99, 0.96, 0.95, 0.94, 0.92, 0.90].map(|y| no_less(&dot(y, 0.01, 1000), 0.95));
        let open = NotReproducible;
        assert_eq!(verdicts, [Confirmed, open, open, open, open, Refuted]);
        let verdicts = [0.99, 0.96, 0.94, 0.91].map(|y| no_more(&dot(y, 0.01, 1000), 0.95));
        assert_eq!(verdicts, [open, open, open, Confirmed]);
        assert_eq!(no_more(&dot(1.0, 0.01, 1000), 0.95), Refuted);
    }

    #[test]
    fn few_runs_confirm_nothing_and_refute_only_with_an_error() {
        assert_eq!(no_less(&dot(1.0, 0.0, 300), 0.95), Confirmed);
        assert_eq!(no_less(&dot(1.0, 0.0, 299), 0.95), NotReproducible);
        assert_eq!(no_less(&dot(0.5, 0.0, 30), 0.95), NotReproducible);
        assert_eq!(no_less(&dot(0.5, 0.05, 30), 0.95), Refuted);
        assert_eq!(no_less(&exactly(0.0, 1.0), 0.95), Confirmed, "a formula has no runs");
    }

    #[test]
    fn what_is_near_is_near_on_both_sides() {
        let of = dot(10.0, 0.1, 1000);
        let part = |y| within_part(&dot(y, 0.1, 1000), &of, 0.1);
        assert_eq!(
            [10.5, 9.5, 10.9, 9.1].map(part),
            [Confirmed, Confirmed, NotReproducible, NotReproducible]
        );
        assert_eq!([12.0, 8.0].map(part), [Refuted; 2]);
        let far = |y| within_distance(&dot(y, 0.1, 1000), &of, 1.0);
        assert_eq!(
            [10.5, 11.0, 12.0, 8.0].map(far),
            [Confirmed, NotReproducible, Refuted, Refuted]
        );
    }

    #[test]
    fn one_point_refutes_all_must_confirm_and_none_says_nothing() {
        assert_eq!(together([Confirmed, NotReproducible, Refuted]), Refuted);
        assert_eq!(together([Confirmed, NotReproducible]), NotReproducible);
        assert_eq!(together([Confirmed, Confirmed]), Confirmed);
        assert_eq!(together([]), NotReproducible);
    }

    /// A hundred of a hundred: the mean has no error, and yet the interval is no point.
    #[test]
    fn an_interval_that_is_not_even_is_taken_as_it_is() {
        let sure = Dot { ci95: [0.94, 1.0], ..dot(1.0, 0.0, 1000) };
        assert_eq!(no_less(&sure, 0.95), NotReproducible);
        assert_eq!(within_distance(&sure, &exactly(0.0, 1.0), 0.05), NotReproducible);
        assert_eq!(within_distance(&sure, &exactly(0.0, 1.0), 0.07), Confirmed);
    }
}
