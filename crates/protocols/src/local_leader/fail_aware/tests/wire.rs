//! Frames as bytes.

use super::talker::HELLO;
use super::*;
use crate::testing::fixed;
use bellwether_core::harness::{assert_survives_the_wire, bytes_of, decoded, read_as_written};
use bellwether_core::{Malformed, Message, Reader, WireWrite};
use proptest::prelude::*;

#[test]
fn frames_survive_the_wire() {
    let last = Instant::NEVER;
    let extreme = Echo { node: NodeId(u64::MAX), life: u64::MAX, sent: last, received: last };
    for echoes in [vec![], vec![row(2, 3, 4)], vec![row(2, 3, 4), extreme, for_me(0, 0)]] {
        for body in [None, Some(HELLO)] {
            assert_survives_the_wire(&said(5, &echoes, body));
            assert_survives_the_wire(&Frame { life: u64::MAX, ..said(0, &echoes, body) });
        }
    }
}

#[test]
fn the_layout_is_life_stamp_rows_and_perhaps_a_body() {
    let mut bytes = vec![];
    [1, at(5).as_nanos()].iter().for_each(|word| bytes.put_u64(*word));
    bytes.put_u16(1);
    let echo = [2, 1, at(3).as_nanos(), at(4).as_nanos()];
    echo.iter().for_each(|word| bytes.put_u64(*word));
    bytes.put_flag(true);
    bytes.put_u64(HELLO.0);
    assert_eq!(bytes_of(&said(5, &[row(2, 3, 4)], Some(HELLO))), bytes);
}

#[test]
fn frames_are_counted_by_what_they_carry() {
    assert_eq!(said(0, &[], Some(HELLO)).kind(), "word");
    assert_eq!(said(0, &[], None).kind(), "stamp");
    assert_eq!(said(0, &[], None).weight(), u64::MAX, "never skipped");
}

#[test]
fn more_rows_than_there_are_bytes_are_refused() {
    let mut bytes = bytes_of(&said(5, &[row(2, 3, 4)], None));
    for count in [2_u16, u16::MAX] {
        bytes[16..18].copy_from_slice(&count.to_le_bytes());
        assert_eq!(decoded::<Said>(&bytes), Err(Malformed));
    }
}

#[test]
fn what_is_neither_with_nor_without_a_body_is_refused() {
    let mut bytes = bytes_of(&said(5, &[], Some(HELLO)));
    for flag in 2..=u8::MAX {
        bytes[18] = flag;
        assert_eq!(decoded::<Said>(&bytes), Err(Malformed));
    }
    bytes[18] = 0;
    assert_eq!(decoded::<Said>(&bytes), Err(Malformed), "a body where none is announced");
}

fn any_frame() -> impl Strategy<Value = Vec<u8>> {
    let whole = prop::collection::vec(any::<u8>(), 0..120);
    // Small counts, so that some pass the check of the count.
    let likely = (prop::collection::vec(any::<u8>(), 16), 0..3_u8, whole.clone())
        .prop_map(|(head, count, rest)| [&head[..], &[count, 0], &rest].concat());
    prop_oneof![whole, likely]
}

proptest! {
    #![proptest_config(fixed(1000))]

    #[test]
    fn no_bytes_make_a_decoder_panic_and_what_it_reads_it_would_write(bytes in any_frame()) {
        read_as_written::<Said>(&bytes);
    }

    #[test]
    fn no_frame_makes_a_process_panic_or_lie_about_its_frames(
        frames in prop::collection::vec((0..5_u64, any_frame(), 0..1_000_000_000_u64), 1..20),
        drift_ppm in any::<u32>(),
    ) {
        let mut process = start(Params { drift_ppm, ..params() });
        for (from, bytes, wait) in frames {
            process.wait(Duration::from_nanos(wait));
            if let Ok(frame) = Said::decode(&mut Reader::new(&bytes)) {
                process.message(from, frame);
            }
            process.timeout();
            process.sends().for_each(|(_, frame)| assert_survives_the_wire(frame));
        }
    }
}
