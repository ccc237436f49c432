//! An account as records, for a diagram: a lane per member, reigns as bands, faults as signs.

use super::clocks::{Piece, Timeline, shifted};
use super::{Account, End};
use crate::live::BadTrace;
use bellwether_core::{Event, Instant, NodeId, Record, SimTime, Stage, Term};

/// The records of the account's time, which begins at zero. Of a member without records there is
/// what the others believed.
///
/// # Errors
/// [`BadTrace`] as [`Account::of`].
pub fn pictured(account: &Account, pieces: &[Piece]) -> Result<Vec<Record>, BadTrace> {
    let line = Timeline::of(pieces)?;
    let mut records = Vec::new();
    let moment = |t: u64| SimTime::from_nanos(t.clamp(account.from, account.to) - account.from);
    let put = |t: u64, node: NodeId, event| Record { t: moment(t), node, event };
    for (id, own) in &line.members {
        let mut add = 0;
        for (at, event) in own {
            let event = match event {
                Event::Begin(head) => {
                    let life = (*id, head.incarnation);
                    add = line.shifts.get(&life).copied().unwrap_or(0);
                    Event::Start { incarnation: 1 }
                }
                Event::Leadership { leaders, term, until, stage } => {
                    let until = until.map(|until| {
                        let on_line = shifted(until.as_nanos(), add);
                        Instant::from_nanos(on_line.saturating_sub(account.from))
                    });
                    let (leaders, term, stage) = (leaders.clone(), *term, *stage);
                    Event::Leadership { leaders, term, until, stage }
                }
                Event::Command { .. } | Event::Leave => (*event).clone(),
                _ => continue,
            };
            records.push(put(*at, *id, event));
        }
    }
    for id in account.missing() {
        records.push(put(account.from, id, Event::Start { incarnation: 1 }));
    }
    for reign in &account.reigns {
        if !reign.own {
            let leaders = vec![reign.leader];
            let term = reign.term.and_then(Term::new);
            let until = Some(Instant::from_nanos(reign.to.saturating_sub(account.from)));
            let stage = Stage::Decided;
            let believes = Event::Leadership { leaders, term, until, stage };
            records.push(put(reign.from, reign.leader, believes));
        }
        if matches!(reign.end, End::Killed | End::Silent) {
            records.push(put(reign.to, reign.leader, Event::Crash));
        }
    }
    records.sort_by_key(|record| record.t);
    Ok(records)
}
