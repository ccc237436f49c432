//! Who led when, in the characters of a terminal: a row for each member, time from left to right.
//!
//! **Promise.** A character shows the middle of its stretch of time, which is the same moment in
//! all rows: two rows show a leader in one column only if two led at that moment.

use bellwether::core::SimTime;
use std::io;

/// The width if that of the terminal is unknown.
const COLUMNS: usize = 80;
/// No narrower and no wider.
const COLUMNS_MIN: usize = 40;
const COLUMNS_MAX: usize = 160;
/// The space before each row.
const MARGIN: usize = 4;
/// The least distance of two numbers on the axis.
const APART: usize = 6;

/// What a member does. Where several are true at once, the first is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum State {
    /// It is not there.
    Dead,
    /// It leads.
    Leads,
    /// It stands still.
    Paused,
    /// It is there.
    Follows,
}

impl State {
    fn sign(self) -> char {
        match self {
            Self::Dead => '×',
            Self::Leads => '█',
            Self::Paused => '▒',
            Self::Follows => '·',
        }
    }
}

/// A stretch of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) state: State,
    pub(super) from: SimTime,
    /// The first moment that does not belong to it.
    pub(super) to: SimTime,
}

/// A member and all that it did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Lane {
    pub(super) id: u64,
    pub(super) spans: Vec<Span>,
}

/// The width of the terminal.
pub(super) fn columns() -> usize {
    let size = rustix::termios::tcgetwinsize(io::stdout()).ok();
    let width = size.map(|size| usize::from(size.ws_col)).filter(|width| *width > 0);
    width.unwrap_or(COLUMNS).clamp(COLUMNS_MIN, COLUMNS_MAX)
}

/// Draws the rows, `width` characters wide, with an axis in seconds and a legend.
pub(super) fn draw(lanes: &[Lane], width: usize) -> String {
    let spans = || lanes.iter().flat_map(|lane| &lane.spans);
    let first = spans().map(|span| span.from).min().unwrap_or(SimTime::ZERO).as_nanos();
    let last = spans().map(|span| span.to).max().unwrap_or(SimTime::ZERO).as_nanos();
    let cells = width.saturating_sub(MARGIN).max(1);
    let length = last.saturating_sub(first).max(1);
    let middle = |cell: usize| {
        let part = u128::from(length) * (2 * cell as u128 + 1) / (2 * cells as u128);
        SimTime::from_nanos(first + part as u64)
    };
    let mut text = String::new();
    for lane in lanes {
        let row: String = (0..cells).map(|cell| sign(lane, middle(cell))).collect();
        text += &format!("{:>2}  {}\n", lane.id, row.trim_end());
    }
    text += &axis(length, cells);
    text + "\n    █ leads  · follows  ▒ stands still  × is not there"
}

fn sign(lane: &Lane, at: SimTime) -> char {
    let now = lane.spans.iter().filter(|span| span.from <= at && at < span.to);
    now.map(|span| span.state).min().map_or(' ', State::sign)
}

/// The seconds, as many as fit.
fn axis(length: u64, cells: usize) -> String {
    const SECOND: u64 = 1_000_000_000;
    let cell_of = |second: u64| (second * SECOND) as u128 * cells as u128 / u128::from(length);
    let steps = (0..6).flat_map(|power| [1, 2, 5].map(|digit| digit * 10_u64.pow(power)));
    let step = steps.into_iter().find(|step| cell_of(*step) >= APART as u128).unwrap_or(u64::MAX);
    let mut line = " ".repeat(MARGIN);
    for second in (0..=length / SECOND).step_by(usize::try_from(step).unwrap_or(usize::MAX)) {
        let label = format!("{second}s");
        let column = MARGIN + cell_of(second) as usize;
        let written = line.chars().count();
        if column + label.len() <= MARGIN + cells {
            line += &format!("{}{label}", " ".repeat(column.saturating_sub(written)));
        }
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Spans in tenths of a second.
    fn lane(id: u64, spans: &[(State, u64, u64)]) -> Lane {
        let at = |tenths: u64| SimTime::from_nanos(7_000_000_000 + tenths * 100_000_000);
        let span =
            |&(state, from, to): &(State, u64, u64)| Span { state, from: at(from), to: at(to) };
        Lane { id, spans: spans.iter().map(span).collect() }
    }

    #[test]
    fn a_row_a_member_and_a_column_a_moment() {
        use State::{Dead, Follows, Leads, Paused};
        let lanes = [
            lane(1, &[(Follows, 0, 10), (Leads, 2, 11), (Dead, 10, 16), (Follows, 16, 40)]),
            lane(2, &[(Follows, 0, 40), (Leads, 13, 24), (Paused, 20, 30)]),
            lane(3, &[(Follows, 4, 38), (Leads, 26, 40)]),
        ];
        let drawn = draw(&lanes, MARGIN + 40);
        let rows: Vec<&str> = drawn.lines().collect();
        assert_eq!(rows[0], " 1  ··████████××××××························");
        assert_eq!(rows[1], " 2  ·············███████████▒▒▒▒▒▒··········");
        assert_eq!(rows[2], " 3      ······················██████████████");
        assert_eq!(rows[3], "    0s        1s        2s        3s");
        assert!(rows[4].contains("█ leads"));
    }

    #[test]
    fn a_dead_leader_is_not_drawn_as_leading_and_a_still_one_is_while_its_lease_lasts() {
        use State::{Dead, Leads, Paused};
        let dead = lane(1, &[(Leads, 0, 6), (Dead, 4, 10)]);
        let still = lane(2, &[(Leads, 0, 6), (Paused, 4, 10)]);
        let drawn = draw(&[dead, still], MARGIN + 10);
        assert!(drawn.starts_with(" 1  ████××××××\n 2  ██████▒▒▒▒\n"), "{drawn}");
    }

    #[test]
    fn any_length_and_width_has_a_picture() {
        for width in [0, 1, 7, 40, 160] {
            for tenths in [0, 1, 3, 95, 600, 1_000_000_000] {
                let drawn = draw(&[lane(1, &[(State::Leads, 0, tenths)])], width);
                assert_eq!(drawn.lines().count(), 3);
                let widest = drawn.lines().take(2).map(|line| line.chars().count()).max().unwrap();
                assert!(widest <= width.max(MARGIN + 1), "{width} {tenths}: {drawn}");
            }
        }
        assert_eq!(draw(&[], 80).lines().count(), 2, "nobody has no rows");
    }
}
