//! What a replay finds: nothing in a trace as it was recorded, and whatever was changed in it.

use super::eventful;
use super::lab::{Lab, changed, records};
use crate::ms;
use bellwether_check::live::{Trace, judge};
use bellwether_check::replay::{Replay, replay};
use bellwether_core::{Duration, Event, LifeHeader, NodeId, Record};
use bellwether_protocols::announce_listen::{self, Variant};
use bellwether_protocols::choice::Config;
use bellwether_protocols::local_leader::Mode;

/// The replay of one member's trace with a change.
fn again(lab: &Lab, change: impl FnOnce(&mut Vec<Record>)) -> Replay {
    replay(&[changed(&lab.traces()[0], change)]).expect("it can be lived again")
}

fn set_head(all: &mut [Record], change: impl FnOnce(&mut LifeHeader)) {
    match &mut all[0].event {
        Event::Begin(head) => change(head),
        other => panic!("{other:?}"),
    }
}

#[test]
fn what_was_recorded_is_what_the_state_machine_does_step_by_step() {
    for (mode, seed) in [(Mode::Majority, 1), (Mode::Majority, 2), (Mode::Local, 3)] {
        let lab = eventful(mode, seed, 20);
        let Replay { steps, lives, divergence } = replay(&lab.traces()).unwrap();
        assert_eq!((lives, divergence), (4, None), "{mode:?} {seed}");
        assert!(steps > 1_000, "{steps}");
    }
}

#[test]
fn random_choices_are_the_same_again_if_the_seed_is() {
    let config = announce_listen::Config::new(Variant::LeS);
    let mut lab = Lab::new("le-s", Config::AnnounceListen(config), 4, 5);
    lab.run(Duration::from_secs(5));
    assert_eq!(replay(&lab.traces()).unwrap().divergence, None);
    let diverges = |trace: &Trace| {
        let other = changed(trace, |all| set_head(all, |head| head.seed ^= 1));
        replay(&[other]).expect("it can be lived again").divergence
    };
    let found: Vec<_> = lab.traces().iter().filter_map(diverges).collect();
    assert!(!found.is_empty(), "whoever spoke first woke up at another time");
    let timer = |words: &str| words.contains("timer");
    assert!(found.iter().all(|one| timer(&one.recorded) || timer(&one.replayed)), "{found:?}");
}

#[test]
fn the_first_divergence_is_named_with_the_line_and_both_sides() {
    let mut lab = Lab::leases(3, Mode::Majority, 4);
    lab.run(ms(600));
    let whole = records(&lab.traces()[0]);
    let send = whole.iter().position(|one| matches!(one.event, Event::Send { .. })).unwrap();
    let other = again(&lab, |all| {
        if let Event::Send { to, .. } = &mut all[send].event {
            *to = Some(NodeId(77));
        }
    });
    let divergence = other.divergence.expect("it was sent to somebody else");
    assert_eq!(divergence.place, format!("1.jsonl:{}", send + 1));
    assert!(divergence.recorded.contains("77") && !divergence.replayed.contains("77"));
    let missing = again(&lab, |all| drop(all.remove(send)));
    let divergence = missing.divergence.expect("a message is not told of");
    assert!(divergence.replayed.contains("send"), "{divergence:?}");
    let doubled = again(&lab, |all| all.insert(send, all[send].clone()));
    let divergence = doubled.divergence.expect("it was sent once");
    assert_eq!(divergence.place, format!("1.jsonl:{}", send + 2));
    let early = again(&lab, |all| {
        let timer = all.iter().rposition(|one| matches!(one.event, Event::Timer { .. })).unwrap();
        if let Event::Timer { timer } = &mut all[timer].event {
            timer.push('x');
        }
    });
    assert!(early.divergence.expect("no such timer").recorded.contains('x'));
}

#[test]
fn another_configuration_or_message_shows() {
    let mut lab = Lab::leases(3, Mode::Majority, 4);
    lab.run(ms(900));
    let slower = again(&lab, |all| {
        set_head(all, |head| head.params = r#"{"lock":"0.14s"}"#.to_owned());
    });
    assert!(slower.divergence.is_some());
    let garbled = again(&lab, |all| {
        let is = |one: &Record| matches!(one.event, Event::Recv { .. });
        let at = all.iter().position(is).expect("it heard something");
        if let Event::Recv { body, .. } = &mut all[at].event {
            *body = Some("ff".to_owned());
        }
    });
    assert!(garbled.divergence.expect("it is no message").replayed.contains("malformed"));
}

#[test]
fn what_cannot_be_lived_again_is_refused_with_the_reason() {
    let mut lab = Lab::leases(3, Mode::Majority, 4);
    lab.run(ms(300));
    let refused = |change: &dyn Fn(&mut Vec<Record>)| {
        replay(&[changed(&lab.traces()[0], change)]).unwrap_err().to_string()
    };
    let unknown = refused(&|all| set_head(all, |head| head.protocol = "le-x".to_owned()));
    assert!(unknown.starts_with("1.jsonl:1: 'le-x', but no protocol"), "{unknown}");
    let bare = refused(&|all| {
        all.iter_mut().for_each(|one| {
            if let Event::Recv { body, .. } = &mut one.event {
                *body = None;
            }
        });
    });
    assert!(bare.contains("the message's body is not recorded"), "{bare}");
    let memory = refused(&|all| set_head(all, |head| head.memory = Some("x".to_owned())));
    assert!(memory.contains("memory is not in hexadecimal digits"), "{memory}");
}

/// As a member of an earlier release recorded it: with a patience and a spread of replies, which
/// le-s does not have.
const EARLIER: &str = include_str!("earlier.jsonl");

#[test]
fn what_an_earlier_release_recorded_is_lived_again_and_judged() {
    let earlier = Trace::parse("earlier.jsonl", EARLIER.as_bytes()).unwrap();
    let Replay { steps, lives, divergence } = replay(std::slice::from_ref(&earlier)).unwrap();
    assert_eq!((lives, divergence), (1, None));
    assert!(steps > 5, "{steps}");
    // A member of this release in the same group writes the same parameters in fewer words.
    let params = announce_listen::Config {
        listen: Duration::from_secs(3),
        ..announce_listen::Config::new(Variant::LeS)
    };
    let later = changed(&earlier, |all| {
        all.iter_mut().for_each(|one| one.node = NodeId(2));
        set_head(all, |head| head.params = Config::AnnounceListen(params).to_json());
    });
    let both = [earlier, later.clone()];
    assert!(judge(&both, None, None).is_ok(), "{:?}", judge(&both, None, None));
    let other = changed(&later, |all| {
        set_head(all, |head| head.params = head.params.replace("3s", "4s"));
    });
    let told = judge(&[both[0].clone(), other], None, None).unwrap_err().to_string();
    assert!(told.contains("params is"), "{told}");
}
