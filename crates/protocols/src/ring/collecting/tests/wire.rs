//! Messages as bytes.

use super::*;
use crate::testing::{deliver_all, fixed};
use bellwether_core::harness::{assert_survives_the_wire, bytes_of, decoded, read_as_written};
use bellwether_core::{Malformed, Message as Wire, WireWrite};
use proptest::prelude::*;

#[test]
fn messages_survive_the_wire_under_their_names() {
    let stamped = Call { at: Some(Instant::NEVER), by: NodeId(7), life: u64::MAX, number: 2 };
    for (message, kind) in [
        (election(call(1, 2), 3, &[]), "election"),
        (election(stamped, u64::MAX, &[1, 2, 3]), "election"),
        (coordinator(call(1, 2), 3, 4, &[]), "coordinator"),
        (coordinator(stamped, 3, 4, &[1, u64::MAX]), "coordinator"),
        (passed(coordinator(stamped, 3, 4, &[]), u32::MAX), "coordinator"),
    ] {
        assert_survives_the_wire(&message);
        assert_eq!(message.kind(), kind);
    }
}

#[test]
fn a_list_may_be_as_long_as_the_ring() {
    let ids: Vec<u64> = (0..70_000).collect();
    let long = election(call(1, 1), 0, &ids);
    assert_eq!(decoded(&bytes_of(&long)), Ok(long));
}

#[test]
fn a_count_that_the_bytes_cannot_hold_is_refused() {
    for count in [1_u64, 1 << 40, u64::MAX] {
        let mut bytes = bytes_of(&election(call(1, 1), 0, &[]));
        bytes.truncate(bytes.len() - 8);
        bytes.put_u64(count);
        assert_eq!(decoded::<Message>(&bytes), Err(Malformed), "{count}");
    }
}

/// Bytes that may be a message.
fn any_bytes() -> impl Strategy<Value = Vec<u8>> {
    let word = |below: u64| (0..below).prop_map(u64::to_le_bytes);
    let key = (0..3_u8, word(7));
    let call = (prop::option::of(word(3)), word(7), word(3), word(4));
    let keys = prop::collection::vec(key.clone(), 0..6);
    (0..3_u8, call, word(4), key, 0..9_u64, keys).prop_map(|(kind, call, round, key, lie, keys)| {
        let (at, by, life, number) = call;
        let mut bytes = vec![kind, u8::from(at.is_some())];
        at.iter().for_each(|at| bytes.extend(at));
        [by, life, number, round].iter().for_each(|word| bytes.extend(word));
        let put = |(active, id): &(u8, [u8; 8]), bytes: &mut Vec<u8>| {
            bytes.push(*active);
            bytes.extend(id);
        };
        if kind == 1 {
            put(&key, &mut bytes);
        }
        bytes.put_u64(keys.len() as u64 + lie.saturating_sub(7));
        keys.iter().for_each(|key| put(key, &mut bytes));
        bytes
    })
}

proptest! {
    #![proptest_config(fixed(256))]

    #[test]
    fn no_bytes_make_a_process_panic_and_what_is_read_is_written(
        packets in prop::collection::vec((0..7_u64, any_bytes(), 0..6_u8), 1..40),
        merea in any::<bool>(),
        as_printed in any::<bool>(),
    ) {
        let variant = if merea { Variant::Merea } else { Variant::Ring };
        let config = Config { variant, as_printed: merea && as_printed, ..patient() };
        let mut process = boot(3, 1 + u64::from(as_printed), config);
        deliver_all(&mut process, &packets, |_| {});
    }

    #[test]
    fn any_bytes_at_all_are_read_or_refused(bytes in prop::collection::vec(0..4_u8, 0..120)) {
        read_as_written::<Message>(&bytes);
    }
}
