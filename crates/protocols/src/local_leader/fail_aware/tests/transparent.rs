//! Everything that does not concern the layer passes through it unchanged.

use super::talker::{ANSWER, Alarm, HELLO, QUESTION};
use super::*;
use bellwether_core::{Message, Stage};

#[test]
fn belief_facts_and_name_are_those_of_the_protocol_inside() {
    let mut process = start(params());
    process.message(2, said(0, &[], Some(HELLO)));
    assert_eq!(Layer::NAME, "talker");
    assert_eq!(process.leadership(), Leadership::of(&[NodeId(1)], Stage::Decided));
    assert_eq!(process.facts(), [Fact::Round { number: 1 }]);
}

#[test]
fn the_layer_has_no_bar_whatever_the_protocol_inside_would_do_without() {
    let process = start(params());
    assert_eq!(process.node().protocol().inner().min_weight(), 9);
    assert_eq!(process.node().min_weight(), 0, "every frame refreshes something");
}

#[test]
fn timers_and_stores_pass_through() {
    let mut process = start(params());
    process.command(Command::Rank(300)).unwrap();
    assert_eq!(process.effects(), [Effect::Arm(Layered::Inner(Alarm), at(300))]);
    process.ring();
    assert_eq!(process.now(), at(300));
    assert_eq!(process.effects(), [sends(Dest::Everyone, 300, &[], Some(HELLO)), refresh(1300)]);
    process.command(Command::Leave).unwrap();
    assert_eq!(process.effects(), [Effect::Disarm(Layered::Inner(Alarm))]);
    process.peer(3, Reach::Down);
    assert_eq!(process.effects(), [Effect::Store(vec![3])]);
    process.peer(3, Reach::Up);
    assert_eq!(process.effects(), []);
}

#[test]
fn words_of_the_protocol_inside_go_where_it_sends_them() {
    let mut process = start(params());
    process.command(Command::Transfer(NodeId(3))).unwrap();
    assert_eq!(process.effects(), [sends(to(3), 0, &[], Some(HELLO))]);
    process.message(2, said(40, &[for_me(0, 30)], Some(QUESTION)));
    assert_eq!(process.effects(), [sends(to(2), 0, &[row(2, 40, 0)], Some(ANSWER))]);
}

#[test]
fn a_refused_command_leaves_no_trace_though_the_protocol_inside_spoke() {
    let mut process = start(params());
    process.message(2, said(0, &[], None));
    let before = process.node().clone();
    assert_eq!(process.command(Command::Resign).err(), Some(Refused::NotNow));
    assert_eq!(process.effects(), []);
    assert_eq!(*process.node(), before);
    process.command(Command::Campaign).unwrap();
    let hello = sends(Dest::Everyone, 0, &[row(2, 0, 0)], Some(HELLO));
    assert_eq!(process.effects(), [hello, refresh(1000)], "nor do its words come later");
}

#[test]
fn states_and_frames_that_differ_in_nothing_but_dates_coincide() {
    // Process 1's clock and its peers', which are ahead by this much.
    let at_date = |date: u64, ahead: u64| {
        let mut process = start(params());
        process.wait(ms(date));
        process.message(2, said(date + ahead, &[], Some(HELLO)));
        process.wait(ms(10)).command(Command::Campaign).unwrap();
        let now = process.now();
        let theirs = now + ms(ahead);
        let clocks = |id: NodeId| if id == NodeId(1) { now } else { theirs };
        let rebase = Rebase::with_clocks(now, &clocks);
        let mut layer = process.node().protocol().clone();
        layer.instants(&rebase);
        let Some(Effect::Send(_, mut frame)) = process.effects().into_iter().next() else {
            panic!("it was told to speak");
        };
        frame.body = Some(Word(theirs.as_nanos()));
        frame.instants(NodeId(2), &rebase);
        (layer.heard, frame)
    };
    let (table, frame) = at_date(0, 0);
    assert_eq!((table.clone(), frame.clone()), at_date(5000, 0), "a date is left");
    assert_eq!((table, frame.clone()), at_date(100, 7000), "clocks were mixed up");
    assert_eq!(frame.sent, Rebase::ORIGIN);
    assert_eq!(frame.echoes[0].received, Rebase::ORIGIN - ms(10), "ages are kept");
    assert_eq!(frame.body, Some(Word(Rebase::ORIGIN.as_nanos())), "the body's are moved too");
}

#[test]
fn the_instants_of_the_protocol_inside_are_moved_too() {
    let mut layer = start(params()).node().protocol().clone();
    layer.instants(&Rebase::new(at(5)));
    assert_eq!(layer.inner.started, Rebase::ORIGIN - ms(5));
}
