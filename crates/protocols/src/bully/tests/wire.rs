//! Messages as bytes.

use super::*;
use crate::testing::{deliver_all, fixed};
use bellwether_core::Message as Wire;
use bellwether_core::harness::assert_survives_the_wire;
use proptest::prelude::*;

#[test]
fn messages_survive_the_wire_under_their_names() {
    let stamp = Some(Stamp { at: Instant::NEVER, by: NodeId(u64::MAX) });
    let all = [
        (Says::Election { round: 1, stamp: None }, "election"),
        (Says::Election { round: u64::MAX, stamp }, "election"),
        (Says::Ok { round: 2, of: 3 }, "ok"),
        (Says::Coordinator { round: 4 }, "coordinator"),
        (Says::Resign, "resign"),
        (Says::Query, "query"),
        (Says::Leader(None), "leader"),
        (Says::Leader(Some(NodeId(5))), "leader"),
    ];
    for (says, kind) in all {
        let message =
            Message { availability: Availability { life: u64::MAX, changes: u32::MAX }, says };
        assert_survives_the_wire(&message);
        assert_eq!(message.kind(), kind);
    }
}

/// Bytes that may be a message.
fn any_bytes() -> impl Strategy<Value = Vec<u8>> {
    let rest = prop::collection::vec(0..3_u8, 0..28);
    (1..3_u8, 0..3_u8, 0..7_u8, rest).prop_map(|(life, changes, says, rest)| {
        [&[life, 0, 0, 0, 0, 0, 0, 0, changes, 0, 0, 0, says], &rest[..]].concat()
    })
}

proptest! {
    #![proptest_config(fixed(256))]

    #[test]
    fn no_bytes_make_a_process_panic_and_what_is_read_is_written(
        packets in prop::collection::vec((0..7_u64, any_bytes(), 0..6_u8), 1..40),
        stamps in any::<bool>(),
        ask in any::<bool>(),
    ) {
        let recovery = if ask { Recovery::Ask } else { Recovery::Bully };
        let config = Config { call_after: CALL_AFTER, stamps, recovery, ..Config::default() };
        let mut process = boot(3, 1 + u64::from(ask), config);
        deliver_all(&mut process, &packets, |_| {});
    }
}
