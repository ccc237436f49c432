//! Replies that reach a leader through a tree of its supporters.
//!
//! With `tree` 2, and from place 0 on, 2 and 3 answer to leader 1, and 4 and 5 answer to 2, which
//! waits for them for Δ/2 = 5.

use super::*;
use alloc::string::ToString;
use bellwether_core::{Message as _, Reader};

fn tree(tree: u32) -> Params {
    valid(Config { drift_ppm: Some(0), tree, ..Config::default() })
}

fn local_tree(tree: u32) -> Params {
    valid(Config { drift_ppm: Some(0), mode: Mode::Local, tree, ..Config::default() })
}

/// The request of leader 1 that its supporters answer through a tree.
fn renew_by(sent: u64, tree: (u16, u16)) -> Message {
    let mut body = renew(sent, &[1, 2, 3, 4, 5]);
    if let Message::Election { tree: by, .. } = &mut body {
        *by = Some(Tree { arity: tree.0, first: tree.1 });
    }
    body
}

/// The replies of these processes to the request of 1.
fn votes(sent: u64, voters: &[u64]) -> Message {
    let voters = voters.iter().copied().map(NodeId).collect();
    let (leader, request) = (NodeId(1), request(sent));
    Message::Collation(Collation { leader, request, highest: 1, list: None, voters })
}

/// This process, which granted leader 1 a renewal at 20, at 70.
fn follower(id: u64) -> Process {
    let mut process = start(id, majority());
    until(&mut process, 20);
    hear(&mut process, 1, renew(20, &[1, 2, 3, 4, 5]));
    until(&mut process, 70);
    process
}

/// What it sends and arms in the last step, but for its turn.
fn acts(process: &Process) -> Vec<Effect> {
    let other = |effect: &Effect| !matches!(effect, Effect::Arm(Timer::Ask, _) | Effect::Store(_));
    process.effects().into_iter().filter(other).collect()
}

#[test]
fn whoever_has_no_children_answers_its_parent_at_once() {
    for (id, first, parent, body) in [
        (4, 0, 2, votes(70, &[4])),
        (5, 0, 2, votes(70, &[5])),
        (2, 1, 3, votes(70, &[2])),
        // A child of the leader itself.
        (3, 0, 1, yes(70)),
        (4, 1, 1, yes(70)),
    ] {
        let mut process = follower(id);
        hear(&mut process, 1, renew_by(70, (2, first)));
        assert_eq!(acts(&process), [tell(parent, body)], "{id} {first}");
        assert_eq!(lock_of(&process), Some((1, at(220))), "it is locked, like any other");
    }
}

#[test]
fn an_inner_process_waits_for_its_children_and_sends_one_message() {
    let mut process = follower(2);
    hear(&mut process, 1, renew_by(70, (2, 0)));
    assert_eq!(acts(&process), [arm(Timer::Collate, 75)]);
    until(&mut process, 72);
    hear(&mut process, 5, votes(70, &[5]));
    assert_eq!(acts(&process), []);
    hear(&mut process, 4, votes(70, &[4]));
    assert_eq!(acts(&process), [disarm(Timer::Collate), tell(1, votes(70, &[2, 5, 4]))]);
}

#[test]
fn it_waits_no_longer_than_its_share_of_the_time_and_passes_on_what_comes_later() {
    let mut process = follower(2);
    hear(&mut process, 1, renew_by(70, (2, 0)));
    hear(&mut process, 5, votes(70, &[5]));
    process.ring();
    assert_eq!((process.now(), acts(&process).pop()), (at(75), Some(tell(1, votes(70, &[2, 5])))));
    hear(&mut process, 4, votes(70, &[4]));
    assert_eq!(acts(&process), [tell(1, votes(70, &[4]))]);
    // In a chain of four the first waits for 3/4 of Δ, the third for a quarter.
    for (id, wait) in [(2, 7_500), (3, 5_000), (4, 2_500)] {
        let mut process = follower(id);
        hear(&mut process, 1, renew_by(70, (1, 0)));
        let due = at(70) + Duration::from_micros(wait);
        assert_eq!(acts(&process), [Effect::Arm(Timer::Collate, due)], "{id}");
    }
}

#[test]
fn a_child_may_answer_before_its_parent_is_asked() {
    let mut process = follower(2);
    hear(&mut process, 4, votes(70, &[4]));
    assert_eq!(acts(&process), [arm(Timer::Collate, 80)]);
    hear(&mut process, 5, votes(70, &[5]));
    hear(&mut process, 1, renew_by(70, (2, 0)));
    let all = tell(1, votes(70, &[2, 4, 5]));
    assert_eq!(acts(&process).pop(), Some(all));
    // If the request does not come, they go to the leader.
    let mut process = follower(2);
    hear(&mut process, 4, votes(70, &[4]));
    process.ring();
    assert_eq!(acts(&process), [disarm(Timer::Collate), tell(1, votes(70, &[4]))]);
    // And if it is refused, or slow, to its parent.
    let mut process = follower(2);
    hear(&mut process, 4, votes(70, &[4]));
    hear_slow(&mut process, 1, renew_by(70, (2, 0)));
    assert_eq!(acts(&process), [disarm(Timer::Collate), tell(1, votes(70, &[4]))]);
    hear(&mut process, 5, votes(70, &[5]));
    assert_eq!(acts(&process), [tell(1, votes(70, &[5]))]);
}

#[test]
fn whoever_refuses_says_so_to_the_leader_and_passes_on_what_its_children_say() {
    let mut process = start(2, majority());
    hear(&mut process, 3, ask(0));
    until(&mut process, 70);
    hear(&mut process, 1, in_term(2, renew_by(70, (2, 0))));
    let refusal = in_term(1, no(70, at(150).since(at(70)) + NANO));
    assert_eq!(acts(&process), [tell(1, refusal)]);
    hear(&mut process, 4, votes(70, &[4]));
    assert_eq!(acts(&process), [tell(1, votes(70, &[4]))]);
}

/// Supporters are silent among themselves, and whoever stepped back says so to candidates alone. If
/// an answer that it relays made 4 alive to 2, it would support 4 instead of its leader if that had
/// a place before the leader.
#[test]
fn in_local_mode_whoever_relays_an_answer_does_not_hear_its_sender() {
    for (params, heard) in [(local(), &[1][..]), (majority(), &[1, 4])] {
        let mut process = start(2, params);
        until(&mut process, 20);
        hear(&mut process, 1, renew(20, &[1, 2, 3, 4, 5]));
        until(&mut process, 70);
        hear(&mut process, 1, renew_by(70, (2, 0)));
        hear(&mut process, 4, votes(70, &[4]));
        assert_eq!(alive(&process), heard);
    }
}

#[test]
fn replies_that_differ_are_not_put_together_and_a_later_request_ends_the_wait() {
    let mut process = follower(2);
    hear(&mut process, 1, renew_by(70, (2, 0)));
    let Message::Collation(replies) = votes(70, &[4]) else { unreachable!() };
    let other = Message::Collation(Collation { highest: 2, ..replies });
    hear(&mut process, 4, other.clone());
    assert_eq!(acts(&process), [tell(1, other)]);
    hear(&mut process, 5, votes(70, &[5]));
    assert_eq!(acts(&process).pop(), Some(tell(1, votes(70, &[2, 5]))), "nobody is missing");
    let mut process = follower(2);
    hear(&mut process, 1, renew_by(70, (2, 0)));
    until(&mut process, 73);
    hear(&mut process, 1, renew_by(73, (2, 0)));
    let now = [disarm(Timer::Collate), tell(1, votes(70, &[2])), arm(Timer::Collate, 78)];
    assert_eq!(acts(&process), now);
    hear(&mut process, 4, votes(70, &[4]));
    assert_eq!(acts(&process), [tell(1, votes(70, &[4]))], "it is late");
    // A copy of a request is answered directly.
    hear(&mut process, 1, renew_by(73, (2, 0)));
    assert_eq!(acts(&process), [tell(1, yes(73))]);
}

#[test]
fn without_votes_as_given_a_leader_leads_by_locks_that_nobody_has() {
    for (params, named) in
        [(majority(), &[2][..]), (majority().without(Rule::VotesAsGiven), &[2, 4, 5])]
    {
        let mut process = start(2, params);
        until(&mut process, 70);
        hear(&mut process, 1, renew_by(70, (2, 0)));
        process.ring();
        assert_eq!(acts(&process).pop(), Some(tell(1, votes(70, named))));
    }
}

/// The request that it sends when its timer rings, and its tree.
fn asks(process: &mut Process) -> (u64, Option<(u16, u16)>) {
    let Message::Election { request, tree, .. } = rung(process) else { panic!("it asks") };
    (
        request.sent.since(Instant::ZERO).as_nanos() / 1_000_000,
        tree.map(|Tree { arity, first }| (arity, first)),
    )
}

/// Leader 1, whose first request of its reign, at 25, all granted.
fn settled(params: Params) -> Process {
    let mut process = leader(params);
    grant(&mut process, 25, &[2, 3, 4, 5]);
    process
}

#[test]
fn a_leader_asks_by_a_tree_of_those_whose_votes_arrived() {
    let mut process = settled(tree(2));
    for (sent, first) in [(75, 0), (125, 1), (175, 2), (225, 3), (275, 0)] {
        assert_eq!(asks(&mut process), (sent, Some((2, first))));
        hear(&mut process, 2, votes(sent, &[2, 3, 4, 5]));
        assert_eq!(led_until(&process), Some(at(sent + 150)));
        assert_eq!(supporters(&process), [1, 2, 3, 4, 5]);
    }
    // Two answers are as many as it would receive through a tree.
    let mut process = leader(tree(2));
    grant(&mut process, 25, &[2, 3]);
    assert_eq!(asks(&mut process), (75, None));
    assert_eq!(asks(&mut settled(tree(4))), (75, None));
    assert_eq!(asks(&mut settled(tree(3))), (75, Some((3, 0))));
    assert_eq!(asks(&mut settled(majority())), (75, None));
}

#[test]
fn a_candidate_and_a_retry_are_answered_directly() {
    let mut process = start(1, tree(1));
    assert_eq!(asks(&mut process), (20, None));
    let mut process = settled(tree(1));
    assert_eq!(asks(&mut process), (75, Some((1, 1))), "it asked by one at 25 too");
    hear(&mut process, 2, votes(75, &[2]));
    assert_eq!(asks(&mut process), (95, None), "when its round is over");
    grant(&mut process, 95, &[2, 4, 5]);
    assert_eq!(led_until(&process), Some(at(245)));
    // 3 is not in the tree now: it answers directly, if it answers.
    assert_eq!(asks(&mut process), (145, Some((1, 2))));
    assert_eq!(supporters(&process), [1, 2, 4, 5]);
}

#[test]
fn a_vote_that_was_relayed_counts_for_as_long_as_one_that_comes_directly_could() {
    for (ms, counts) in [(95, true), (96, false)] {
        let mut process = settled(tree(2));
        assert_eq!(asks(&mut process), (75, Some((2, 0))));
        until(&mut process, ms);
        hear_slow(&mut process, 2, votes(75, &[2, 4]));
        let end = if counts { 75 + 150 } else { 25 + 150 };
        assert_eq!(led_until(&process), Some(at(end)), "{ms}");
    }
    let former = |life, sent| {
        let Message::Collation(replies) = votes(75, &[2, 3, 4, 5]) else { unreachable!() };
        let request = Request { life, sent: at(sent) };
        Message::Collation(Collation { request, ..replies })
    };
    for (life, sent, lives) in [(2, 75, true), (0, 75, true), (1, 20, true), (0, 75, false)] {
        let params = if lives { tree(2) } else { tree(2).without(Rule::Lives) };
        let mut process = settled(params);
        assert_eq!(asks(&mut process), (75, Some((2, 0))));
        hear(&mut process, 2, former(life, sent));
        let end = if lives { 25 + 150 } else { 75 + 150 };
        assert_eq!(led_until(&process), Some(at(end)), "{life} {sent}");
    }
    // Strangers and the leader itself have no vote.
    let mut process = settled(tree(2));
    assert_eq!(asks(&mut process), (75, Some((2, 0))));
    hear(&mut process, 2, votes(75, &[1, 2, 9, 77]));
    assert_eq!(led_until(&process), Some(at(175)));
}

#[test]
fn in_local_mode_whoever_votes_through_others_is_alive() {
    let mut process = start(1, local_tree(1));
    process.ring().ring().ring();
    assert_eq!(process.now(), at(161), "it asked for the second time");
    grant(&mut process, 161, &[2, 3]);
    process.ring();
    assert_eq!(led_until(&process), Some(at(311)), "it leads");
    grant(&mut process, 181, &[2, 3]);
    assert_eq!(asks(&mut process), (231, Some((1, 1))));
    let Message::Collation(replies) = votes(231, &[2, 3]) else { unreachable!() };
    let both = Message::Collation(Collation { highest: 0, ..replies });
    hear(&mut process, 2, both);
    assert_eq!(led_until(&process), Some(at(381)));
    // 3 was last heard directly at 181, and would be gone at 483.
    until(&mut process, 490);
    assert_eq!(alive(&process), [1, 2, 3]);
}

#[test]
fn every_tree_has_one_root_and_every_child_its_parent() {
    let of = |size: u64| -> Vec<NodeId> { (1..=size).map(NodeId).collect() };
    for (size, arity) in (2..40).flat_map(|size| (1..=6).map(move |arity| (size, arity))) {
        let supporters = of(size);
        for (leader, first) in [(1, 0), (size, 3), (size / 2 + 1, 1000)] {
            let (leader, tree) = (NodeId(leader), Tree { arity, first });
            let here = |id: NodeId| tree.neighbours(id, leader, &supporters);
            assert_eq!(here(leader), None);
            assert_eq!(here(NodeId(99)), None, "it is not among them");
            let mut top = 0;
            for id in supporters.iter().copied().filter(|id| *id != leader) {
                let at = here(id).expect("it is one of them");
                assert!(at.children.len() <= usize::from(arity) && at.height < at.depth);
                for child in at.children.iter() {
                    let below = here(*child).expect("it is one of them");
                    assert_eq!(below.parent, id);
                    assert!(below.height < at.height, "the time it waits grows towards the root");
                }
                top += usize::from(at.parent == leader);
                let (mut up, mut hops) = (id, 0);
                while up != leader {
                    (up, hops) = (here(up).expect("it is one of them").parent, hops + 1);
                    assert!(hops <= at.depth, "no way is longer than the tree is deep");
                }
            }
            assert_eq!(top, usize::from(arity).min(supporters.len() - 1));
        }
    }
}

#[test]
fn what_a_request_names_can_be_read_whatever_it_is() {
    let ids = |ids: &[u64]| -> Vec<NodeId> { ids.iter().copied().map(NodeId).collect() };
    for first in [0, 1, u16::MAX] {
        for supporters in [ids(&[]), ids(&[2]), ids(&[1]), ids(&[2, 2, 2]), ids(&[1, 1, 2])] {
            for arity in [1, 2, u16::MAX] {
                _ = Tree { arity, first }.neighbours(NodeId(2), NodeId(1), &supporters);
            }
        }
    }
    for body in [renew_by(70, (2, 65535)), votes(70, &[1, 2, 3]), votes(70, &[])] {
        let mut bytes = Vec::new();
        body.encode(&mut bytes);
        assert_eq!(Message::decode(&mut Reader::new(&bytes)), Ok(body));
    }
    let length = |body: Message| {
        let mut bytes = Vec::new();
        body.encode(&mut bytes);
        (bytes[0], bytes.len())
    };
    let (direct, by_tree) = (length(renew(70, &[1, 2, 3, 4, 5])), length(renew_by(70, (2, 0))));
    assert_eq!((direct.0, by_tree), (0, (10, direct.1 + 4)), "it costs nothing without");
}

#[test]
fn parameters_that_contradict_each_other_are_refused() {
    let config = Config { tree: 2, ..Config::default() };
    assert_eq!(Params::try_from(config.clone()).map(|params| params.tree()), Ok(2));
    for (config, words) in [
        (Config { tree: 1025, ..Config::default() }, "tree = 1025, but tree <= 1024 must hold"),
        (Config { spare: Some(1), ..config.clone() }, "tree = 2, but spare is given too"),
        (Config { as_published: true, ..config }, "tree = 2, but as-published has one request"),
    ] {
        let bad = Params::try_from(config).unwrap_err().to_string();
        assert!(bad.contains(words), "{bad}");
    }
}
