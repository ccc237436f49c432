//! Properties that hold for any inputs in any order.

use super::*;
use crate::testing::fixed;
use proptest::prelude::*;

fn any_wave() -> impl Strategy<Value = Wave> {
    let number = prop_oneof![0..4u64, Just(u64::MAX)];
    (number, 1..7u64, 1..3u64).prop_map(|(number, starter, life)| Wave {
        number,
        starter: NodeId(starter),
        life,
    })
}

fn any_claim() -> impl Strategy<Value = Claim> {
    (any::<bool>(), 0..7u64, 1..7u64)
        .prop_map(|(active, value, id)| Claim { weight: weigh(active, value), id: NodeId(id) })
}

fn any_message() -> impl Strategy<Value = Message> {
    let hearsay = || {
        (any_wave(), any_claim(), 0..3u64).prop_map(|(wave, leader, number)| News {
            wave,
            leader,
            beat: beat(number),
        })
    };
    prop_oneof![
        any_wave().prop_map(Message::Election),
        (any_wave(), prop::option::of(any_claim()))
            .prop_map(|(wave, best)| Message::Ack(wave, best)),
        hearsay().prop_map(Message::Leader),
        hearsay().prop_map(Message::Heartbeat),
    ]
}

#[derive(Clone, Debug)]
enum Step {
    Hear(u64, Message),
    Peer(u64, Reach),
    Ask(Command),
    Ring,
}

fn any_step() -> impl Strategy<Value = Step> {
    let commands = [Command::Campaign, Command::Resign, Command::Rank(3), Command::Rank(9)];
    prop_oneof![
        6 => (1..7u64, any_message()).prop_map(|(from, message)| Step::Hear(from, message)),
        1 => (1..7u64, prop::bool::ANY).prop_map(|(peer, up)| {
            Step::Peer(peer, if up { Reach::Up } else { Reach::Down })
        }),
        1 => prop::sample::select(commands.to_vec()).prop_map(Step::Ask),
        1 => Just(Step::Ring),
    ]
}

proptest! {
    #![proptest_config(fixed(3000))]

    #[test]
    fn a_process_always_waits_for_something_and_never_follows_a_worse_one(
        steps in prop::collection::vec(any_step(), 0..40),
        life in 1..3u64,
    ) {
        let mut process = boot(life, Config::restless());
        for step in steps {
            match step {
                Step::Hear(from, message) => drop(process.message(from, message)),
                Step::Peer(peer, reach) => drop(process.peer(peer, reach)),
                Step::Ask(command) => drop(process.command(command).map(|_| ())),
                Step::Ring => drop(process.ring()),
            }
            let node = process.node();
            prop_assert!(node.poll_timeout() != Instant::NEVER, "nothing would ever wake it");
            let state = node.protocol();
            if let (None, Some(reign)) = (&state.part, state.leader) {
                prop_assert!(reign.leader >= state.me, "{state:?}");
                prop_assert!(!state.leads() || reign.leader == state.me, "{state:?}");
            }
            for (to, _) in process.sends() {
                prop_assert!([2, 3, 5].map(|id| Dest::Node(NodeId(id))).contains(&to));
            }
        }
    }
}
