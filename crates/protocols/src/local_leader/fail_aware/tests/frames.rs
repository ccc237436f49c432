//! Which frames are sent, with which rows, and when.

use super::talker::HELLO;
use super::*;

#[test]
fn a_process_that_would_start_in_silence_says_hello_with_an_empty_frame() {
    let process = start(params());
    assert_eq!(process.effects(), [sends(Dest::Everyone, 0, &[], None), refresh(1000)]);
}

#[test]
fn a_process_that_speaks_when_it_starts_needs_no_empty_frame() {
    let process = start(Params { inner: Temper { speaks_first: true }, ..params() });
    assert_eq!(process.effects(), [sends(Dest::Everyone, 0, &[], Some(HELLO)), refresh(1000)]);
}

#[test]
fn a_broadcast_has_a_row_for_everyone_known_and_a_unicast_the_receivers() {
    let mut process = start(params());
    process.message(3, said(70, &[for_me(0, 70)], None));
    process.wait(ms(5)).message(2, said(90, &[for_me(0, 90)], None));
    process.wait(ms(5)).command(Command::Campaign).unwrap();
    let rows = [row(2, 90, 5), row(3, 70, 0)];
    assert_eq!(process.effects()[0], sends(Dest::Everyone, 10, &rows, Some(HELLO)));
    process.command(Command::Transfer(NodeId(3))).unwrap();
    assert_eq!(process.effects(), [sends(to(3), 10, &rows[1..], Some(HELLO))]);
}

#[test]
fn above_so_many_rows_a_broadcast_becomes_a_unicast_to_each_member() {
    let mut process = start(Params { rows_max: 1, ..params() });
    process.message(3, said(70, &[for_me(0, 70)], None));
    process.command(Command::Campaign).unwrap();
    let single = sends(Dest::Everyone, 0, &[row(3, 70, 0)], Some(HELLO));
    assert_eq!(process.effects(), [single, refresh(1000)], "one row is not above one");
    process.message(2, said(90, &[for_me(0, 90)], None));
    process.wait(ms(10)).command(Command::Campaign).unwrap();
    let (second, third) = ([row(2, 90, 0)], [row(3, 70, 0)]);
    let each = [
        sends(to(2), 10, &second, Some(HELLO)),
        sends(to(3), 10, &third, Some(HELLO)),
        refresh(1010),
    ];
    assert_eq!(process.effects(), each);
}

#[test]
fn members_without_a_row_are_not_left_out_when_a_broadcast_is_taken_apart() {
    let mut process = start(Params { rows_max: 0, ..params() });
    process.message(3, said(70, &[for_me(0, 70)], None));
    process.ring();
    let empty =
        [sends(to(2), 1000, &[], None), sends(to(3), 1000, &[row(3, 70, 0)], None), refresh(2000)];
    assert_eq!(process.effects(), empty);
}

#[test]
fn stamps_are_refreshed_so_long_after_the_last_broadcast() {
    let mut process = start(params());
    process.wait(ms(400)).command(Command::Transfer(NodeId(2))).unwrap();
    assert_eq!(process.node().poll_timeout(), at(1000), "a unicast does not count");
    process.wait(ms(200)).command(Command::Campaign).unwrap();
    assert_eq!(process.node().poll_timeout(), at(1600), "a broadcast does");
    process.ring();
    assert_eq!(process.effects(), [sends(Dest::Everyone, 1600, &[], None), refresh(2600)]);
}

#[test]
fn without_refreshing_nothing_is_armed_but_the_first_hello_is_said() {
    let mut process = start(Params { refresh: Duration::MAX, ..params() });
    assert_eq!(process.effects(), [sends(Dest::Everyone, 0, &[], None)]);
    process.command(Command::Campaign).unwrap();
    assert_eq!(process.effects(), [sends(Dest::Everyone, 0, &[], Some(HELLO))]);
    assert_eq!(process.node().poll_timeout(), Instant::NEVER);
}

#[test]
fn those_who_left_the_group_have_no_row_any_more() {
    let mut process = start(params());
    for peer in [2, 3] {
        process.message(peer, said(50, &[for_me(0, 50)], None));
    }
    process.set_peers(&[NodeId(3)]).ring();
    let hello = sends(Dest::Everyone, 1000, &[row(3, 50, 0)], None);
    assert_eq!(process.effects(), [hello, refresh(2000)]);
}
