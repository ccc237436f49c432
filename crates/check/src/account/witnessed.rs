//! The reigns of members whose records are missing, as the others saw them.
//!
//! **Promise.** A reign begins when the first of the others followed the leader. It ends when the
//! first of them was told that it is over, or else when the last one did not believe in it any
//! more; and when another one led by its own records, at the latest.

use super::clocks::{Timeline, shifted};
use super::{End, MemberKnown, Reign, Wills};
use bellwether_core::{Event, Fact, Instant, LAST_NUMBER, NodeId, Stage, Term};
use std::collections::BTreeMap;

/// A time in which a member followed another one.
#[derive(Clone, Debug)]
struct Following {
    leader: NodeId,
    term: Option<u64>,
    from: u64,
    to: u64,
    /// Why the follower stopped believing.
    end: End,
}

/// All reigns that are in nobody's own records.
pub(super) fn reigns(
    line: &Timeline<'_>,
    members: &[MemberKnown],
    own: &[Reign],
    wills: &Wills,
) -> Vec<Reign> {
    let mut seen: BTreeMap<NodeId, Vec<Following>> = BTreeMap::new();
    for (id, records) in &line.members {
        for following in followings(*id, line, records) {
            seen.entry(following.leader).or_default().push(following);
        }
    }
    let mut all = Vec::new();
    for (leader, mut seen) in seen {
        let covered = lives(line, leader);
        seen.retain(|following| {
            let begins_inside =
                covered.iter().any(|(from, to)| (*from..=*to).contains(&following.from));
            let same = |reign: &Reign| {
                reign.leader == leader && reign.term.is_some() && reign.term == following.term
            };
            !begins_inside && !own.iter().any(same)
        });
        for following in &mut seen {
            let next = covered.iter().map(|(from, _)| *from).find(|from| *from > following.from);
            following.to = next.map_or(following.to, |next| following.to.min(next));
        }
        all.extend(joined(seen));
    }
    debug_assert!(all.iter().all(|reign| members.iter().any(|it| it.id == reign.leader)));
    let ends: Vec<(NodeId, u64)> = own.iter().map(|reign| (reign.leader, reign.from)).collect();
    for reign in &mut all {
        kill(reign, wills);
        let others = ends.iter().filter(|(leader, from)| {
            *leader != reign.leader && (reign.from + 1..reign.to).contains(from)
        });
        reign.to = others.map(|(_, from)| *from).min().unwrap_or(reign.to);
        reign.bound = reign.to;
    }
    all
}

/// A last will that came at the end of a reign, or after it, tells that the leader was killed.
fn kill(reign: &mut Reign, wills: &Wills) {
    let own = wills.iter().filter(|((leader, _), _)| *leader == reign.leader);
    let mut at = own.map(|(_, at)| *at).filter(|at| (reign.from..=reign.to).contains(at));
    if let Some(at) = at.next() {
        (reign.to, reign.end) = (at, End::Killed);
    }
}

/// When each life of a member began, and when its records end.
fn lives(line: &Timeline<'_>, id: NodeId) -> Vec<(u64, u64)> {
    let mut lives: Vec<(u64, u64)> = Vec::new();
    for (at, event) in line.members.get(&id).into_iter().flatten() {
        match (event, lives.last_mut()) {
            (Event::Begin(_), _) | (_, None) => lives.push((*at, *at)),
            (_, Some(life)) => life.1 = *at,
        }
    }
    lives
}

/// Whom one member followed, and why no longer.
fn followings(id: NodeId, line: &Timeline<'_>, records: &[(u64, &Event)]) -> Vec<Following> {
    let mut all: Vec<Following> = Vec::new();
    let mut present: Option<Following> = None;
    let (mut cause, mut add, mut until) = (None, 0, u64::MAX);
    let moment = |until: Instant, add| match until {
        Instant::NEVER => u64::MAX,
        until => shifted(until.as_nanos(), add),
    };
    for (at, event) in records {
        match event {
            Event::Begin(head) => {
                let life = (id, head.incarnation);
                add = line.shifts.get(&life).copied().unwrap_or(0);
                all.extend(ended(present.take(), *at, until, None));
            }
            Event::Recv { from, message, number, .. } => {
                cause = Some((*at, *from, message, *number));
            }
            Event::Fact(Fact::Held { until: held }) => until = moment(*held, add),
            Event::Leadership { leaders, term, until: told, stage } => {
                let cause = cause.take().filter(|(then, ..)| then == at);
                let by = cause.map(|(_, from, message, number)| (from, &**message, number));
                let term = term.map(Term::number);
                let leader = leaders.first().filter(|leader| {
                    *stage == Stage::Decided && !leaders.contains(&id) && **leader != id
                });
                let same = |now: &Following| {
                    Some(&now.leader) == leader && (now.term == term || now.term.is_none())
                };
                if !present.as_ref().is_some_and(same) {
                    all.extend(ended(present.take(), *at, until, by));
                    present = leader.map(|leader| Following {
                        leader: *leader,
                        term,
                        from: *at,
                        to: *at,
                        end: End::Silent,
                    });
                }
                until = told.map_or(u64::MAX, |told| moment(told, add));
            }
            Event::Leave | Event::Withdraw { .. } => {
                all.extend(ended(present.take(), *at, until, None));
            }
            Event::Collected { .. } => {
                let runs = *at < until;
                let now = present.take().map(|now| Following { end: End::Leads, ..now });
                all.extend(now.map(|now| match runs {
                    true => Following { to: *at, ..now },
                    false => Following { to: until, end: End::Silent, ..now },
                }));
            }
            _ => {}
        }
    }
    let last = records.last().map_or(0, |(at, _)| *at);
    all.extend(ended(present, last, until, None));
    all
}

/// What a member followed until now. `by` is the message that changed its mind: whose, which kind
/// and its number.
fn ended(
    present: Option<Following>,
    at: u64,
    until: u64,
    by: Option<(NodeId, &str, u64)>,
) -> Option<Following> {
    let present = present?;
    let end = match by {
        Some((from, _, LAST_NUMBER)) if from == present.leader => End::Killed,
        Some((from, _, _)) if from == present.leader => End::Released,
        Some((from, ..)) if at < until => End::Preempted(from),
        _ => End::Silent,
    };
    Some(Following { to: at.min(until), end, ..present })
}

/// The reigns of one leader: what several members believed at once is one.
fn joined(mut seen: Vec<Following>) -> Vec<Reign> {
    seen.sort_by_key(|following| following.from);
    let mut reigns: Vec<Reign> = Vec::new();
    for Following { leader, term, from, to, end } in seen {
        let known = reigns.last_mut().filter(|reign| {
            from <= reign.to && (reign.term == term || reign.term.is_none() || term.is_none())
        });
        let Some(reign) = known else {
            let (bound, own) = (to, false);
            reigns.push(Reign { leader, from, to, bound, term, end, own });
            continue;
        };
        // Who was told knows better than who waited, and the first to be told knows best.
        let told = |end: &End| !matches!(end, End::Silent | End::Leads);
        let better = match (told(&end), told(&reign.end)) {
            (true, true) => to < reign.to,
            (true, false) => true,
            (false, true) => false,
            (false, false) => to > reign.to,
        };
        if better {
            (reign.to, reign.end) = (to, end);
        }
        reign.term = reign.term.or(term);
    }
    reigns
}
