//! Merges all traces into one for diagrams: sorted by time from the first record, with the send
//! times that only the senders know.

use super::read::Trace;
use bellwether_core::{Event, Fact, Instant, NodeId, Record, SimTime, Work};
use std::collections::BTreeMap;

/// One trace of a whole run, which starts at time 0.
pub fn merged<'a>(traces: impl IntoIterator<Item = &'a Trace>) -> Vec<Record> {
    let lines = traces.into_iter().flat_map(|trace| &trace.lines);
    let mut records: Vec<Record> = lines.map(|line| line.record.clone()).collect();
    records.sort_by_key(|record| record.t);
    fill_in(&mut records);
    let first = records.first().map_or(0, |record| record.t.as_nanos());
    records.iter_mut().for_each(|record| shift(record, first));
    records
}

/// Fills in the send times, which only senders know. Numbers begin anew with each incarnation, so
/// the last send before the receipt is the right one.
fn fill_in(records: &mut [Record]) {
    let mut sendings: BTreeMap<(NodeId, u64), SimTime> = BTreeMap::new();
    for Record { t, node, event } in records {
        match event {
            Event::Send { number, .. } => {
                sendings.insert((*node, *number), *t);
            }
            Event::Recv { from, number, sent, .. } => {
                *sent = sendings.get(&(*from, *number)).copied().unwrap_or(*sent);
            }
            _ => {}
        }
    }
}

/// Shifts all times of a record by `first`.
fn shift(record: &mut Record, first: u64) {
    let world = |t: &mut SimTime| *t = SimTime::from_nanos(t.as_nanos().saturating_sub(first));
    let clock = |t: &mut Instant| {
        if *t != Instant::NEVER {
            *t = Instant::from_nanos(t.as_nanos().saturating_sub(first));
        }
    };
    world(&mut record.t);
    match &mut record.event {
        Event::Recv { sent, .. } | Event::Drop { sent, .. } => world(sent),
        Event::Leadership { until: Some(until), .. } => clock(until),
        Event::Jump { reads: at }
        | Event::Fact(
            Fact::Locked { until: at, .. }
            | Fact::Bound { until: at }
            | Fact::Held { until: at }
            | Fact::Clock { reads: at },
        ) => clock(at),
        Event::Guardian(watcher) => world(&mut watcher.since),
        Event::Work { guardian, work } => {
            world(guardian);
            if let Work::Ended { from, to, .. } = work {
                from.iter_mut().chain(to).for_each(world);
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trace(lines: &[&str]) -> Trace {
        Trace::parse("a", lines.join("\n").as_bytes()).unwrap()
    }

    #[test]
    fn the_run_begins_at_zero_and_receipts_know_their_sendings() {
        let sender = trace(&[
            r#"{"t":1000,"node":1,"kind":"send","message":"x","number":7}"#,
            r#"{"t":1050,"node":1,"kind":"fact","fact":"held","until":1080}"#,
            r#"{"t":2000,"node":1,"kind":"send","message":"x","number":7}"#,
        ]);
        let receiver = trace(&[
            r#"{"t":1010,"node":2,"kind":"recv","from":1,"message":"x","number":7,"sent":1010}"#,
            r#"{"t":1020,"node":2,"kind":"recv","from":1,"message":"x","number":8,"sent":1020}"#,
        ]);
        let records = merged([&receiver, &sender]);
        let times: Vec<u64> = records.iter().map(|record| record.t.as_nanos()).collect();
        assert_eq!(times, [0, 10, 20, 50, 1000]);
        let sent = |index: usize| match &records[index].event {
            Event::Recv { sent, .. } => sent.as_nanos(),
            other => panic!("{other:?}"),
        };
        assert_eq!((sent(1), sent(2)), (0, 20), "nobody knows when number 8 was sent");
        let until = Instant::from_nanos(80);
        assert_eq!(records[3].event, Event::Fact(Fact::Held { until }));
    }
}
