//! Radios that move: links come and go as radios pass each other.
//!
//! The model is random way-points. Each radio starts at a uniformly drawn place in a square. It
//! moves straight to another such place at a speed drawn uniformly between two bounds, rests for a
//! time drawn uniformly below a bound, and repeats this. Two radios have a link while they are
//! within range.
//!
//! The moments at which links come and go are exact: they are the roots of a quadratic for each
//! pair and each interval in which both move straight. Steps of fixed length would be simpler. They
//! would miss short contacts and change the links of many pairs at once, which is exactly when
//! elections meet.
//!
//! The slowest speed must be above zero: a radio that draws almost zero never arrives, and after a
//! while most radios would be of that kind. All radios start in motion and uniformly spread, so the
//! first minutes differ from the later ones, in which more radios are near the middle.

use crate::coin::{RunSeed, Stream, StreamPurpose};
use crate::fault::{Fault, Timed};
use crate::graph::{Links, complete, within};
use crate::network::Topology;
use crate::plan::Plan;
use bellwether_core::Duration;
use serde::{Deserialize, Serialize};
use std::fmt;

/// How radios move. Lengths in metres, speeds in metres per second.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, rename_all = "kebab-case", deny_unknown_fields)]
pub struct Motion {
    /// The side of the square.
    pub side: f64,
    /// The distance within which a radio is heard.
    pub range: f64,
    /// The least speed.
    pub slowest: f64,
    /// The greatest speed.
    pub fastest: f64,
    /// The longest rest.
    pub rest: Duration,
    /// When all radios stop moving.
    pub lasts: Duration,
}

/// Describes people in a park.
impl Default for Motion {
    fn default() -> Self {
        Self {
            side: 1_000.0,
            range: 250.0,
            slowest: 1.0,
            fastest: 10.0,
            rest: Duration::from_secs(10),
            lasts: Duration::from_secs(300),
        }
    }
}

/// The paths of all radios, and the links that follow from them.
#[derive(Clone, Debug, PartialEq)]
pub struct Journey {
    /// The links at the start.
    pub links: Links,
    /// The links that come and go, in order of time.
    pub changes: Vec<Timed>,
    legs: Vec<Vec<Leg>>,
}

/// A movement in one direction, until the next leg begins.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Leg {
    /// When it begins, in seconds.
    begins: f64,
    place: [f64; 2],
    velocity: [f64; 2],
}

impl Leg {
    fn at(&self, time: f64) -> [f64; 2] {
        let since = time - self.begins;
        [self.place[0] + since * self.velocity[0], self.place[1] + since * self.velocity[1]]
    }
}

/// The most places that a radio may visit.
const PLACES_MAX: f64 = 1e5;

impl Motion {
    /// Checks the rules that the types cannot express.
    ///
    /// # Errors
    /// [`BadMotion`], naming the values and the rule.
    pub fn check(&self) -> Result<(), BadMotion> {
        let Self { side, range, slowest, fastest, lasts, .. } = *self;
        for (what, value) in [("side", side), ("range", range), ("slowest", slowest)] {
            if !(value > 0.0 && value.is_finite()) {
                return Err(BadMotion::NotPositive { what, value });
            }
        }
        if !(slowest <= fastest && fastest.is_finite()) {
            return Err(BadMotion::Speeds { slowest, fastest });
        }
        if lasts > Duration::LONGEST_WRITTEN || lasts.as_secs_f64() * fastest / side > PLACES_MAX {
            return Err(BadMotion::TooFar { side, fastest, lasts });
        }
        Ok(())
    }

    /// Draws the paths of `nodes` radios. A longer journey begins like a shorter one.
    ///
    /// # Errors
    /// As [`check`](Self::check).
    pub fn draw(&self, nodes: u32, run_seed: RunSeed) -> Result<Journey, BadMotion> {
        self.draw_unless(nodes, run_seed, &|| false)
    }

    /// The same until `over` says to give it up; nobody may use what is drawn by then.
    pub(crate) fn draw_unless(
        &self,
        nodes: u32,
        run_seed: RunSeed,
        over: &dyn Fn() -> bool,
    ) -> Result<Journey, BadMotion> {
        self.check()?;
        let stream = |node: u32| run_seed.world(StreamPurpose::Motion { node });
        let legs: Vec<_> = (0..nodes).map(|node| self.wander(&mut stream(node))).collect();
        let places: Vec<[f64; 2]> = legs.iter().map(|legs| legs[0].place).collect();
        let links = within(&places, self.range);
        let mut changes = Vec::new();
        for (a, b) in complete(nodes) {
            if b == a + 1 && over() {
                break;
            }
            let mut linked = links.binary_search(&(a, b)).is_ok();
            self.meetings(&legs[a as usize], &legs[b as usize], |time, near| {
                if near != linked {
                    linked = near;
                    let at = Duration::from_nanos((time * 1e9 + 0.5) as u64);
                    changes.push(Timed { at, fault: Fault::Link { ends: (a, b), up: near } });
                }
            });
        }
        changes.sort_by_key(|timed| timed.at);
        Ok(Journey { links, changes, legs })
    }

    /// All legs of one radio. In the last one it stays where it is.
    fn wander(&self, luck: &mut Stream) -> Vec<Leg> {
        let lasts = self.lasts.as_secs_f64();
        let somewhere = |luck: &mut Stream| [0, 1].map(|_| luck.unit() * self.side);
        let (mut legs, mut time, mut place) = (Vec::new(), 0.0, somewhere(luck));
        while time < lasts {
            let goal = somewhere(luck);
            let speed = self.slowest + luck.unit() * (self.fastest - self.slowest);
            let [x, y] = [goal[0] - place[0], goal[1] - place[1]];
            let takes = (libm::sqrt(x * x + y * y) / speed).max(1e-9);
            legs.push(Leg { begins: time, place, velocity: [x / takes, y / takes] });
            (time, place) = (time + takes, goal);
            legs.push(Leg { begins: time, place, velocity: [0.0; 2] });
            time += luck.unit() * self.rest.as_secs_f64();
        }
        legs.retain(|leg| leg.begins < lasts);
        let place = legs.last().map_or(place, |leg| leg.at(lasts));
        legs.push(Leg { begins: lasts, place, velocity: [0.0; 2] });
        legs
    }

    /// Reports for each interval of time whether two radios are within range.
    fn meetings(&self, one: &[Leg], other: &[Leg], mut tell: impl FnMut(f64, bool)) {
        let mut ends: Vec<f64> = one.iter().chain(other).map(|leg| leg.begins).collect();
        ends.sort_by(f64::total_cmp);
        let (mut a, mut b) = (0, 0);
        for pair in ends.windows(2) {
            let &[from, to] = pair else { continue };
            while one.get(a + 1).is_some_and(|next| next.begins <= from) {
                a += 1;
            }
            while other.get(b + 1).is_some_and(|next| next.begins <= from) {
                b += 1;
            }
            let apart = |time: f64| {
                let (a, b) = (one[a].at(time), other[b].at(time));
                [a[0] - b[0], a[1] - b[1]]
            };
            let velocity = [0, 1].map(|i| one[a].velocity[i] - other[b].velocity[i]);
            let inside = |time: &f64| *time > from && *time < to;
            let cuts = self.crossings(apart(from), velocity).map(|after| from + after);
            let mut begins = from;
            for until in cuts.into_iter().filter(inside).chain([to]) {
                // Checked in the middle of the interval, where rounding cannot change the answer.
                let [x, y] = apart((begins + until) / 2.0);
                if until > begins {
                    tell(begins, x * x + y * y <= self.range * self.range);
                }
                begins = until;
            }
        }
    }

    /// When two radios at this distance, moving apart at this velocity, are exactly within range.
    fn crossings(&self, [x, y]: [f64; 2], [vx, vy]: [f64; 2]) -> [f64; 2] {
        let (a, b) = (vx * vx + vy * vy, x * vx + y * vy);
        let root = libm::sqrt(b * b - a * (x * x + y * y - self.range * self.range));
        // If the root is negative or the radios do not move, these are NaN, and no comparison
        // holds.
        [(-b - root) / a, (-b + root) / a]
    }
}

impl Journey {
    /// Where a radio is at this time, in metres.
    pub fn place(&self, node: u32, at: Duration) -> Option<[f64; 2]> {
        let (legs, time) = (self.legs.get(node as usize)?, at.as_secs_f64());
        let place = legs.partition_point(|leg| leg.begins <= time);
        legs.get(place.saturating_sub(1)).map(|leg| leg.at(time))
    }

    /// Adds the links to a plan, next to what else happens in it.
    pub fn enter(self, plan: &mut Plan) {
        plan.network.topology = Topology::Graph { links: self.links };
        plan.faults.extend(self.changes);
        plan.faults.sort_by_key(|timed| timed.at);
    }
}

/// Which rule a motion breaks.
#[derive(Clone, Debug, PartialEq)]
pub enum BadMotion {
    /// A length, range or speed is not positive.
    NotPositive {
        /// The parameter.
        what: &'static str,
        /// Its value.
        value: f64,
    },
    /// The speeds are not in order.
    Speeds {
        /// The least.
        slowest: f64,
        /// The greatest.
        fastest: f64,
    },
    /// The radios would visit too many places.
    TooFar {
        /// The side.
        side: f64,
        /// The greatest speed.
        fastest: f64,
        /// For how long.
        lasts: Duration,
    },
}

impl fmt::Display for BadMotion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotPositive { what, value } => {
                write!(f, "{what} = {value}, but {what} > 0 must hold, and it must be finite")
            }
            Self::Speeds { slowest, fastest } => write!(
                f,
                "slowest = {slowest} and fastest = {fastest}, but slowest <= fastest must hold"
            ),
            Self::TooFar { side, fastest, lasts } => write!(
                f,
                "fastest = {fastest} for {lasts} in a square of {side}, but nobody may cross it \
                 more than {PLACES_MAX} times; move for a shorter time, or slower"
            ),
        }
    }
}

impl std::error::Error for BadMotion {}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;
    use std::collections::BTreeSet;

    fn motion() -> Motion {
        Motion { fastest: 40.0, lasts: Duration::from_secs(120), ..Motion::default() }
    }

    #[test]
    fn at_every_moment_the_links_are_those_within_range() {
        let (motion, nodes) = (motion(), 12);
        for run in 0..5 {
            let journey = motion.draw(nodes, RunSeed::new(1, run)).unwrap();
            assert!(journey.changes.len() > 100, "they meet and part");
            let mut links: BTreeSet<_> = journey.links.iter().copied().collect();
            let mut changes = journey.changes.iter().peekable();
            for step in 0..2_600 {
                let now = Duration::from_millis(step * 50);
                while let Some(timed) = changes.next_if(|timed| timed.at <= now) {
                    let Fault::Link { ends, up } = timed.fault else { panic!("{timed:?}") };
                    let changed = if up { links.insert(ends) } else { links.remove(&ends) };
                    assert!(changed, "{timed:?} was so already");
                }
                for (a, b) in complete(nodes) {
                    let [a, b] = [a, b].map(|node| journey.place(node, now).unwrap());
                    let [x, y] = [a[0] - b[0], a[1] - b[1]];
                    let gap = libm::sqrt(x * x + y * y) - motion.range;
                    // Closer to the edge than this, a nanosecond decides.
                    assert!(gap.abs() > 1e-6, "the test meets an edge; take other seeds");
                }
                let places: Vec<_> =
                    (0..nodes).map(|node| journey.place(node, now).unwrap()).collect();
                assert_eq!(links, within(&places, motion.range).into_iter().collect(), "{now}");
            }
            assert!(changes.next().is_none(), "in the end all stand still");
        }
    }

    #[test]
    fn a_journey_is_given_up_on_the_way() {
        let (motion, asked) = (motion(), Cell::new(0));
        let over = || {
            asked.set(asked.get() + 1);
            asked.get() > 3
        };
        let seed = RunSeed::new(1, 0);
        let part = motion.draw_unless(12, seed, &over).unwrap();
        let whole = motion.draw(12, seed).unwrap();
        assert!(part.changes.len() < whole.changes.len() && asked.get() == 4);
    }

    #[test]
    fn nobody_leaves_the_square_or_breaks_the_limit() {
        let motion = motion();
        let journey = motion.draw(20, RunSeed::new(2, 0)).unwrap();
        let second = Duration::from_secs(1);
        let mut moved = 0;
        for node in 0..20 {
            for after in 0..130 {
                let [from, to] = [after, after + 1].map(|n| journey.place(node, second * n));
                let ([x, y], [u, v]) = (from.unwrap(), to.unwrap());
                assert!([x, y].iter().all(|at| (-1e-6..=motion.side + 1e-6).contains(at)));
                let step = libm::sqrt((u - x) * (u - x) + (v - y) * (v - y));
                assert!(step <= motion.fastest + 1e-6, "{step}");
                assert!(after < 120 || step < 1e-6, "it is over");
                moved += u32::from(step > 0.0);
            }
        }
        assert!(moved > 1_000, "they do move: {moved}");
    }

    #[test]
    fn a_longer_journey_begins_like_a_shorter_one() {
        let long = Motion { lasts: Duration::from_secs(240), ..motion() };
        let [short, long] = [motion(), long].map(|m| m.draw(9, RunSeed::new(3, 0)).unwrap());
        assert_eq!(short.links, long.links);
        let common = short.changes.len();
        assert_eq!(short.changes, long.changes[..common]);
        assert!(long.changes.len() > common);
    }

    #[test]
    fn what_cannot_be_travelled_is_refused() {
        let default = Motion::default;
        for (bad, word) in [
            (Motion { side: 0.0, ..default() }, "side = 0"),
            (Motion { range: f64::NAN, ..default() }, "range = NaN"),
            (Motion { slowest: -1.0, ..default() }, "slowest = -1"),
            (Motion { fastest: 0.5, ..default() }, "fastest = 0.5"),
            (Motion { fastest: f64::INFINITY, ..default() }, "fastest = inf"),
            (Motion { lasts: Duration::MAX, ..default() }, "infinite"),
            (Motion { side: 1e-3, ..default() }, "0.001"),
        ] {
            let error = bad.draw(3, RunSeed::new(1, 0)).unwrap_err().to_string();
            assert!(error.contains(word), "{error}");
        }
        assert_eq!(default().check(), Ok(()));
        let alone = default().draw(1, RunSeed::new(1, 0)).unwrap();
        assert!(alone.links.is_empty() && alone.changes.is_empty());
        assert_eq!(alone.place(1, Duration::ZERO), None);
        assert!(default().draw(0, RunSeed::new(1, 0)).unwrap().links.is_empty());
    }
}
