//! Numbers that only grow, and somebody who wants to use them up.

use super::super::fail_aware::{Echo, Frame};
use super::*;
use bellwether_core::harness::bytes_of;
use bellwether_core::{
    Endpoint, Env, Few, Members, Message as _, Output, Seeded, Unheard, endpoint,
};
use core::slice::from_ref;

const LAST: u64 = u64::MAX;

/// A list of this version.
fn list(version: u64) -> List {
    let mut bytes = Vec::new();
    let first = List::founding([1, 2, 3].map(NodeId));
    let next = first.and_then(|list| list.next(None, Some(NodeId(3))));
    next.expect("two are left").encode(&mut bytes);
    bytes[..8].copy_from_slice(&version.to_le_bytes());
    List::decode(&mut bellwether_core::Reader::new(&bytes)).expect("any version can be read")
}

/// Messages that carry the last number there is in one place each, and no other number above ten.
fn far() -> Vec<Message> {
    let request = |life| Request { life, sent: at(7) };
    let election = |life, term, token, gave_up, list| Message::Election {
        request: request(life),
        term,
        token,
        lock: ms(150),
        supporters: Few::new(),
        farewell: Some(Farewell { node: NodeId(3), request: request(gave_up) }),
        list: Some(ListTold::from(list)),
        answerers: None,
        tree: None,
    };
    let reply = |life, highest, list: List| Message::Reply {
        request: request(life),
        support: true,
        remaining: Duration::ZERO,
        highest,
        list: Some(ListTold::Name(list.id(), false)),
    };
    let record = |asker, life, highest, list| Message::Record {
        asker,
        round: 1,
        life,
        highest: Some(highest),
        list: Some(ListTold::from(list)),
    };
    let announcement = |life, token, list| {
        let (leader, last, request) = (NodeId(1), NodeId(4), request(life));
        let (hold, backwards) = (ms(3000), false);
        Message::Announcement(Announcement { leader, request, token, hold, list, last, backwards })
    };
    let near = || list(9);
    let inquiry = Message::Inquiry { life: LAST, round: 1, founding: None, needs: false };
    vec![
        election(LAST, 1, Some(2), 1, near()),
        election(1, LAST, Some(2), 1, near()),
        election(1, 1, Some(LAST), 1, near()),
        election(1, 1, None, LAST, near()),
        election(1, 1, None, 1, list(LAST)),
        reply(LAST, 1, near()),
        reply(1, LAST, near()),
        reply(1, 1, list(LAST)),
        Message::Release { request: request(LAST), leaving: true, nominee: None },
        inquiry,
        Message::Invite { life: LAST },
        record(LAST, 1, 1, near()),
        record(1, LAST, 1, near()),
        record(1, 1, LAST, near()),
        record(1, 1, 1, list(LAST)),
        announcement(LAST, 1, near()),
        announcement(1, LAST, near()),
        announcement(1, 1, list(LAST)),
    ]
}

#[test]
fn a_message_says_which_of_its_numbers_is_the_latest() {
    for message in far() {
        assert_eq!(message.latest(), LAST, "{message:?}");
        let frame = Frame { life: 1, sent: at(1), echoes: Few::new(), body: Some(message) };
        assert_eq!(frame.latest(), LAST, "within a frame");
    }
    let near = [ask(7), yes(7), farewell(7), Message::Standing(priority(7))];
    assert!(near.iter().all(|message| message.latest() <= 1), "times are no such numbers");
    let echo = Echo { node: NodeId(2), life: LAST, sent: at(1), received: at(2) };
    let stamps = |life, echo| Frame::<Message> {
        life,
        sent: at(1),
        echoes: [echo].into_iter().collect(),
        body: None,
    };
    assert_eq!(stamps(1, echo).latest(), LAST, "a life that is echoed");
    assert_eq!(stamps(LAST, Echo { life: 2, ..echo }).latest(), LAST, "the sender's own");
    assert_eq!(stamps(4, Echo { life: 2, ..echo }).latest(), 4);
}

/// A process behind bytes that hears these messages of process 1, one after the other, and what it
/// answers to the last one.
fn hears(
    latest: Option<u64>,
    messages: &[Message],
) -> (Result<&'static str, Unheard>, Vec<Output>) {
    let peers = Members::from_iter(others(2, 5));
    let mut luck = Seeded::new(1);
    let mut env = Env { now: at(0), peers: &peers, entropy: &mut luck };
    let boot = Boot { memory: Memory::First, ..Boot::first(NodeId(2)) };
    let mut process = endpoint::<Bounded>(boot, &mut env, majority());
    latest.into_iter().for_each(|latest| process.set_latest(latest));
    let outputs =
        |process: &mut dyn Endpoint| core::iter::from_fn(|| process.poll_output()).collect();
    let mut last: (Result<_, _>, Vec<Output>) = (Ok("nothing"), outputs(&mut *process));
    env.now = at(500); // after the quarantine
    for message in messages {
        let heard = process.datagram(NodeId(1), &bytes_of(message), &mut env);
        last = (heard, outputs(&mut *process));
    }
    last
}

fn grants(outputs: &[Output], term: u64) -> bool {
    let grant = Stored { highest: term, granted: Some((NodeId(1), 1)) };
    outputs.contains(&Output::Store(grant.encode(None)))
}

#[test]
fn a_term_that_cannot_have_been_reached_is_not_heard_and_uses_up_nothing() {
    let (greedy, modest) = (in_term(LAST, ask(480)), in_term(8, ask(490)));
    let (heard, outputs) = hears(None, from_ref(&greedy));
    assert!(heard.is_ok() && grants(&outputs, LAST), "{outputs:?}");
    let (_, outputs) = hears(None, &[greedy.clone(), modest.clone()]);
    assert!(!grants(&outputs, 8), "without a limit no term is left: {outputs:?}");

    for far in far() {
        assert_eq!(hears(Some(1000), &[far]), (Err(Unheard::Future), Vec::new()));
    }
    assert_eq!(hears(Some(1000), from_ref(&greedy)), (Err(Unheard::Future), Vec::new()));
    let (heard, outputs) = hears(Some(1000), &[greedy, modest]);
    assert_eq!(heard, Ok("election"));
    assert!(grants(&outputs, 8), "{outputs:?}");
    let (heard, _) = hears(Some(1000), &[in_term(1000, ask(480))]);
    assert_eq!(heard, Ok("election"), "the limit itself can have been reached");
}
