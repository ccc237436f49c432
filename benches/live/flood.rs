//! Replays at full speed: what somebody without the key can send from the members' own addresses.

use crate::attacker::{Ear, Mouth, Packet};
use crate::changes::Changes;
use crate::lab::clock::{millis, now};
use crate::lab::group::{Ground, Group, Shape};
use crate::overlap;
use crate::row::Row;
use bellwether::core::{Duration, Instant};
use bellwether::protocols::local_leader::Preset;
use std::net::{SocketAddr, SocketAddrV4};

/// So many are sent between two looks at the clock.
const BURST: usize = 64;
/// A frame has a header of that many bytes; what is shorter is none.
const HEADER: usize = 96;

/// Sends what was heard again and again, as fast as one processor can; how many there were.
fn pour(heard: &[Packet], end: Instant) -> u64 {
    let (mut mouth, mut sent) = (Mouth::new(), 0);
    let mut again = heard.iter().cycle();
    while now() < end {
        for packet in again.by_ref().take(BURST) {
            mouth.say(packet);
            sent += 1;
        }
    }
    sent
}

/// Floods three members for so long.
pub(crate) fn measure(preset: Preset, length: Duration) -> Vec<Row> {
    let shape = Shape { preset, ground: Ground::Loopback, ..Shape::lan(3) };
    let mut group = Group::started(shape);
    group.settled(&group.ids());
    let v4 = |place| if let SocketAddr::V4(place) = place { Some(place) } else { None };
    let places: Vec<SocketAddrV4> = group.places().into_iter().filter_map(v4).collect();
    let mut heard = Ear::new().listen(Duration::from_secs(1), &places);
    heard.retain(|packet| packet.bytes.len() > HEADER);
    assert!(!heard.is_empty(), "the members speak to each other");
    let began = now();
    let end = began + length;
    let (sent, changes) = std::thread::scope(|scope| {
        let flood = scope.spawn(|| pour(&heard, end));
        let changes = crate::changes::watch(&group, length);
        (flood.join().expect("it ends"), changes)
    });
    let stall = millis(group.stalls.longest(began));
    let Changes { all, unexplained } = changes;
    let rate = sent as f64 / length.as_secs_f64();
    let leaders = Some(overlap(&group.judge()));
    let row = |what: String, value, unit, target| Row {
        what,
        value,
        unit,
        target,
        worst: None,
        leaders: None,
        stall,
    };
    let what = format!("changes of leader, {} flood, {length}", preset.name());
    vec![
        Row { leaders, ..row(what, all as f64, "", None) },
        row("    of them without a stall".to_owned(), unexplained as f64, "", Some(0.0)),
        row("    replays, to all".to_owned(), rate, "/s", None),
    ]
}
