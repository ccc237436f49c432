//! A change of what a member believes, as `run` and `watch` write it.

use bellwether::core::Instant;
use bellwether::net::clock::wall_time;
use bellwether::net::control::Change;
use bellwether::net::status::Role;

/// One JSON object, without the end of the line.
pub(in crate::cli) fn json(change: &Change) -> String {
    serde_json::to_string(change).unwrap_or_default() // of numbers and texts: it cannot fail
}

/// A sentence, after the time.
pub(in crate::cli) fn text(change: &Change) -> String {
    let Change { t, group, id, role, leaders, until, term, term_kept, why, wall } = change;
    let said = match role {
        Role::Leader => format!("member {id} leads {group}"),
        Role::Follower => format!("member {id} of {group} follows {}", names(leaders)),
        Role::Looking => format!("member {id} of {group} looks for a leader"),
        Role::Withdrawn => {
            let why = why.as_deref().unwrap_or("something is wrong");
            format!("member {id} of {group} takes no part: {why}")
        }
    };
    let left = until.map_or_else(String::new, |until| {
        let left = Instant::from_nanos(until).since(Instant::from_nanos(*t));
        format!(", for {} unless that is renewed", millis(left.as_nanos() as f64 / 1e6))
    });
    let token = term.map_or_else(String::new, |term| format!("; {}", token(term, *term_kept)));
    format!("{} {said}{left}{token}", stamped(wall, Instant::from_nanos(*t)))
}

/// A fencing token, and whether it is higher than those before a restart.
pub(in crate::cli) fn token(term: u64, kept: bool) -> String {
    format!("token {term}{}", if kept { "" } else { " (not across restarts)" })
}

/// A time stamp: the wall clock, and seconds of the clock by which leases end.
pub(in crate::cli) fn stamp(at: Instant) -> String {
    stamped(&wall_time(at), at)
}

fn stamped(wall: &str, at: Instant) -> String {
    format!("{wall} [{:>12.6}]", at.as_secs_f64())
}

/// The wall clock, the seconds of the other clock, and what follows, of a text that begins with a
/// [`stamp`].
pub(in crate::cli) fn unstamped(text: &str) -> Option<(&str, f64, &str)> {
    let (wall, rest) = text.split_once(" [")?;
    let (clock, rest) = rest.split_once("] ")?;
    let is_wall = wall.len() >= 20 && wall.ends_with('Z') && wall.as_bytes()[0].is_ascii_digit();
    Some((wall, clock.trim().parse().ok().filter(|_| is_wall)?, rest))
}

/// Members, one after the other.
pub(in crate::cli) fn names(ids: &[u64]) -> String {
    ids.iter().map(u64::to_string).collect::<Vec<_>>().join(", ")
}

/// A number of milliseconds in the unit that suits it.
pub(in crate::cli) fn millis(ms: f64) -> String {
    match ms {
        ms if ms >= 120_000.0 => format!("{:.0} min", ms / 60_000.0),
        ms if ms >= 1_000.0 => format!("{:.1} s", ms / 1_000.0),
        ms if ms >= 10.0 => format!("{ms:.0} ms"),
        ms => format!("{ms:.1} ms"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change(role: Role) -> Change {
        Change {
            t: 12_000_000_000,
            group: "web".to_owned(),
            id: 2,
            role,
            leaders: vec![1, 3],
            until: None,
            term: None,
            term_kept: false,
            why: Some("its id is used twice".to_owned()),
            wall: "2026-11-16T10:20:47.123Z".to_owned(),
        }
    }

    #[test]
    fn a_change_is_a_sentence() {
        let leads = Change { until: Some(12_150_000_000), ..change(Role::Leader) };
        let kept = Change { term: Some(7), term_kept: true, ..leads.clone() };
        let volatile = Change { term: Some(7), ..change(Role::Follower) };
        for (change, sentence) in [
            (leads, "member 2 leads web, for 150 ms unless that is renewed"),
            (kept, "member 2 leads web, for 150 ms unless that is renewed; token 7"),
            (volatile, "member 2 of web follows 1, 3; token 7 (not across restarts)"),
            (change(Role::Follower), "member 2 of web follows 1, 3"),
            (change(Role::Looking), "member 2 of web looks for a leader"),
            (change(Role::Withdrawn), "member 2 of web takes no part: its id is used twice"),
        ] {
            assert_eq!(text(&change), format!("{} [   12.000000] {sentence}", change.wall));
        }
    }

    #[test]
    fn lengths_have_the_unit_that_suits_them() {
        for (ms, text) in
            [(0.25, "0.2 ms"), (31.4, "31 ms"), (2_140.0, "2.1 s"), (600_000.0, "10 min")]
        {
            assert_eq!(millis(ms), text);
        }
    }
}
