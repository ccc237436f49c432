//! The smallest groups, the largest numbers, and strangers.

use super::*;
use crate::testing::fixed;
use alloc::boxed::Box;
use proptest::prelude::*;

#[test]
fn of_two_both_must_agree() {
    let mut process = boot(1, 2, 1, majority());
    process.ring();
    expect(&process, &[store(1, 1), say(ask(20)), arm(Timer::Count, 40)], None);
    let mut refused = process.clone();
    hear(&mut refused, 2, no(20, ms(30)));
    expect(&refused, &[disarm(Timer::Count), say(release(20)), arm(Timer::Ask, 50)], None);
    hear(&mut process, 2, yes(20));
    assert_eq!(led_until(&process), Some(at(170)));
}

#[test]
fn whoever_is_alone_resigns_and_leads_again() {
    let mut process = boot(1, 1, 1, majority());
    process.ring();
    process.command(Command::Resign).unwrap();
    let effects = [disarm(Timer::Count), say(farewell(20)), arm(Timer::Ask, 170)];
    expect(&process, &effects, None);
    process.ring();
    assert_eq!(led_until(&process), Some(at(320)));
}

#[test]
fn strangers_and_one_s_own_echo_are_not_heard() {
    let inquiry = Message::Inquiry { life: 1, round: 0, founding: None, needs: false };
    let record = Message::Record { asker: 1, round: 0, life: 1, highest: Some(7), list: None };
    let answers = [yes(20), no(20, ms(5)), release(25), farewell(25)];
    for body in [ask(20), renew(20, &[1, 2]), inquiry, record].into_iter().chain(answers) {
        for from in [0, 1, 6, u64::MAX] {
            let packet = Packet { bound: AT_ONCE, body: body.clone() };
            start(1, majority()).ignores(from, packet.clone());
            start(1, local()).ignores(from, packet.clone());
            boot_with(Memory::Lost, 1, 5, 1, majority()).ignores(from, packet.clone());
            leader(majority()).ignores(from, packet);
        }
    }
}

#[test]
fn near_the_end_of_time_everything_is_still_defined() {
    for params in [majority(), local()] {
        let mut process = start(1, params);
        process.wait(Duration::from_nanos(u64::MAX - 2_000_000));
        process.timeout().timeout();
        for from in [2, 3, 4, 5] {
            let request = Request { life: 1, sent: process.now() };
            let (support, remaining) = (true, Duration::MAX);
            hear(
                &mut process,
                from,
                Message::Reply { request, support, remaining, highest: 1, list: None },
            );
            hear(&mut process, from, ask(u64::MAX));
            hear(&mut process, from, farewell(u64::MAX));
        }
        process.wait(ms(1)).timeout();
        let _ = process.command(Command::Resign);
        process.command(Command::Leave).unwrap();
    }
}

/// Numbers at the edges.
fn number() -> impl Strategy<Value = u64> {
    prop_oneof![0..4_u64, 0..200_000_000_u64, Just(u64::MAX), Just(u64::MAX - 1), any::<u64>()]
}

fn any_request() -> impl Strategy<Value = Request> {
    let life = prop_oneof![4 => Just(1_u64), 1 => number()];
    (life, number()).prop_map(|(life, sent)| Request { life, sent: Instant::from_nanos(sent) })
}

/// Terms, most of them near those in use.
fn term() -> impl Strategy<Value = u64> {
    prop_oneof![8 => 0..8_u64, 1 => number()]
}

fn any_message() -> impl Strategy<Value = Message> {
    let node = || prop_oneof![1..6_u64, number()].prop_map(NodeId);
    let farewell = prop::option::of(
        (node(), any_request()).prop_map(|(node, request)| Farewell { node, request }),
    );
    let lock = prop_oneof![Just(150_000_000), number()].prop_map(Duration::from_nanos);
    let supporters = prop::collection::vec(node(), 0..8).prop_map(|ids| ids.into_iter().collect());
    let remaining = number().prop_map(Duration::from_nanos);
    prop_oneof![
        (any_request(), term(), lock, supporters, farewell).prop_map(
            |(request, term, lock, supporters, farewell)| Message::Election {
                request,
                term,
                lock,
                supporters,
                farewell,
                token: None,
                list: None,
                answerers: None,
                tree: None,
            }
        ),
        (any_request(), any::<bool>(), remaining, term()).prop_map(
            |(request, support, remaining, highest)| Message::Reply {
                request,
                support,
                remaining,
                highest,
                list: None
            }
        ),
        (any_request(), any::<bool>(), prop::option::of(node()))
            .prop_map(|(request, leaving, nominee)| Message::Release { request, leaving, nominee }),
        (number(), number()).prop_map(|(life, round)| Message::Inquiry {
            life,
            round,
            founding: None,
            needs: false
        }),
        (any::<u32>(), any::<bool>())
            .prop_map(|(priority, witness)| Message::Standing(Candidacy { priority, witness })),
        (0..3_u64, 0..6_u64, 0..3_u64, prop::option::of(term())).prop_map(
            |(asker, round, life, highest)| Message::Record {
                asker,
                round,
                life,
                highest,
                list: None
            }
        ),
    ]
}

/// One thing that happens.
#[derive(Clone, Debug)]
enum Step {
    Wait(Duration),
    Ring,
    Message(u64, Option<Duration>, Box<Message>),
    /// All processes grant the last request.
    Votes,
    Command(Command),
}

fn any_step() -> impl Strategy<Value = Step> {
    let length = number().prop_map(|length| Duration::from_nanos(length % (1 << 50)));
    let bound = prop::option::of(number().prop_map(Duration::from_nanos));
    let bound = prop_oneof![3 => Just(AT_ONCE), 1 => bound];
    let message = (0..7_u64, bound, any_message());
    let commands = [
        Command::Campaign,
        Command::Resign,
        Command::Transfer(NodeId(2)),
        Command::Candidacy(priority(3)),
        Command::Candidacy(Candidacy::default()),
    ];
    prop_oneof![
        2 => length.prop_map(Step::Wait),
        6 => Just(Step::Ring),
        4 => message.prop_map(|(from, bound, body)| Step::Message(from, bound, Box::new(body))),
        2 => Just(Step::Votes),
        1 => prop::sample::select(commands.to_vec()).prop_map(Step::Command),
    ]
}

/// A process, and its last request.
struct Life {
    process: Process,
    asked: Option<(Request, u64)>,
}

impl Life {
    fn take(&mut self, step: Step) {
        let process = &mut self.process;
        match step {
            Step::Wait(length) => _ = process.wait(length),
            Step::Ring => _ = process.ring(),
            Step::Message(from, bound, body) => {
                _ = process.message(from, Packet { bound, body: *body });
            }
            Step::Votes => {
                let Some((request, highest)) = self.asked else { return };
                let (support, remaining) = (true, Duration::ZERO);
                let body = Message::Reply { request, support, remaining, highest, list: None };
                for from in 2..6 {
                    self.take(Step::Message(from, AT_ONCE, Box::new(body.clone())));
                }
            }
            Step::Command(command) => _ = process.command(command),
        }
        for (to, packet) in self.process.sends() {
            if let (Dest::Everyone, Message::Election { request, term, .. }) = (to, &packet.body) {
                self.asked = Some((*request, *term));
            }
        }
    }

    /// What holds after every step.
    fn check(&self) {
        let (node, hall) = (self.process.node(), &self.process.state().0);
        let (ask, count) = (node.deadline(Timer::Ask), node.deadline(Timer::Count));
        if hall.round.is_some() {
            assert_ne!(count, Instant::NEVER, "the votes will be counted");
        } else {
            assert_ne!(ask, Instant::NEVER, "it will see whether to ask");
        }
        if hall.leads(self.process.now()) {
            assert_eq!(hall.lock.and_then(|lock| lock.to), Some(NodeId(1)), "it supports itself");
            let (lease, lock) = (hall.lease.as_ref().map(|lease| lease.until), hall.lock);
            assert!(lease <= lock.map(|lock| lock.until), "for at least as long");
        }
    }
}

proptest! {
    #![proptest_config(fixed(2000))]

    #[test]
    fn whatever_is_said_nobody_panics_stops_asking_or_leads_without_its_own_support(
        mode in prop::sample::select(&[Mode::Majority, Mode::Local][..]),
        n in 1..6_u64,
        lost in any::<bool>(),
        steps in prop::collection::vec(any_step(), 1..60),
    ) {
        let config = Config { mode, drift_ppm: Some(0), ..Config::default() };
        let memory = if lost { Memory::Lost } else { Memory::First };
        let process = boot_with(memory, 1, n, 1, valid(config));
        let mut life = Life { process, asked: None };
        for step in steps {
            life.take(step);
            if life.process.now() >= Instant::from_nanos(u64::MAX / 2) {
                break; // Deadlines beyond the end of time are never.
            }
            life.check();
            life.process.clone().rebase();
        }
    }
}
