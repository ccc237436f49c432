//! A few processes on a small network: after a phase of loss and commands, and then some rest, all
//! name the same best ones. The simulator checks this for large groups; here every random case is
//! small enough to read.

use super::properties::{Life, begin};
use super::*;
use crate::testing::fixed;
use bellwether_core::Seeded;
use proptest::option;
use proptest::prelude::*;

/// When loss and commands end, and when agreement is checked.
const TROUBLE: Instant = Instant::from_nanos(10_000_000_000);
const JUDGED: Instant = Instant::from_nanos(40_000_000_000);
const DELAY: Duration = Duration::from_millis(10);

/// All processes; one that left is `None`.
struct Group {
    leaders: usize,
    members: Vec<Option<Life>>,
    /// A message in flight: when it arrives, its sender, its receiver, its contents.
    flying: Vec<(Instant, usize, usize, Message)>,
    now: Instant,
    luck: Seeded,
    /// How many of four messages are lost, until the first phase ends.
    loss: u64,
}

impl Group {
    fn begin(params: &Params, ranks: &[u64], luck: u64, loss: u64) -> Self {
        let mut luck = Seeded::new(luck);
        let member = |(id, rank): (u64, &u64)| Some(begin(id, *rank, luck.next_u64(), params));
        let members = (0..).zip(ranks).map(member).collect();
        let (now, leaders) = (Instant::ZERO, params.leaders);
        let mut group = Self { leaders, members, flying: Vec::new(), now, luck, loss };
        (0..ranks.len()).for_each(|at| group.send(at));
        group
    }

    /// Sends what the last step of a process asked for.
    fn send(&mut self, from: usize) {
        let Some(member) = &self.members[from] else { return };
        for (dest, message) in member.sends() {
            assert_eq!(dest, Dest::Everyone);
            for to in (0..self.members.len()).filter(|to| *to != from) {
                let lost = self.now < TROUBLE && self.luck.below(4) < self.loss;
                if !lost {
                    self.flying.push((self.now + DELAY, from, to, message.clone()));
                }
            }
        }
    }

    /// Lets something happen to a process, if it is there.
    fn step(&mut self, at: usize, act: impl FnOnce(&mut Life)) {
        if let Some(member) = &mut self.members[at] {
            act(member.set_clock(self.now));
            self.send(at);
        }
    }

    fn command(&mut self, at: usize, command: Command) {
        self.step(at, |member| _ = member.command(command));
        if command == Command::Leave {
            self.members[at] = None;
        }
    }

    /// Runs everything that happens before `end`, messages before timers.
    fn run(&mut self, end: Instant) {
        for _ in 0..100_000 {
            let due = |member: &Option<Life>| {
                member.as_ref().map_or(Instant::NEVER, |member| member.node().poll_timeout())
            };
            let message = (0..self.flying.len()).min_by_key(|&at| (self.flying[at].0, at));
            let timer = (0..self.members.len()).min_by_key(|&at| (due(&self.members[at]), at));
            let arrival = message.map_or(Instant::NEVER, |at| self.flying[at].0);
            let deadline = timer.map_or(Instant::NEVER, |at| due(&self.members[at]));
            if arrival.min(deadline) >= end {
                self.now = end;
                return;
            }
            self.now = self.now.max(arrival.min(deadline));
            match (message, timer) {
                (Some(at), _) if arrival <= deadline => {
                    let (_, from, to, message) = self.flying.remove(at);
                    self.step(to, |member| _ = member.message(from as u64, message));
                }
                (_, Some(at)) => self.step(at, |member| _ = member.timeout()),
                _ => unreachable!("something is due"),
            }
        }
        panic!("events without end at {}", self.now);
    }

    fn live(&self) -> impl Iterator<Item = &Life> {
        self.members.iter().flatten()
    }

    /// The best live processes, by their own claims.
    fn best(&self) -> Vec<NodeId> {
        let mut claims: Vec<Claim> = self.live().map(|member| member.state().claim()).collect();
        claims.sort_by_key(|claim| core::cmp::Reverse(*claim));
        claims.iter().map(|claim| claim.id).take(self.leaders).collect()
    }
}

/// Elections whose trust outlasts a few announcements.
fn elections() -> impl Strategy<Value = Params> {
    use {Criterion as C, Variant as V};
    let criteria = prop::sample::select(&[C::HighestId, C::Rank, C::EarliestWakeUp][..]);
    let more = (1..4usize, option::of(Just(ms(2000))), 0..3u32, prop_oneof![Just(0), Just(100)]);
    let variant = prop::sample::select(
        &[V::LeA, V::LeS, V::LeM, V::Al, V::Query, V::SuppressQuery, V::SupAlSpread][..],
    );
    (variant, option::of(criteria), more).prop_filter_map(
        "breaks a rule",
        |(variant, criterion, (leaders, aging, bye_copies, spread))| {
            Params::try_from(Config {
                criterion,
                leaders,
                aging,
                bye_copies,
                listen: ms(3500),
                reply_spread: ms(spread),
                ..Config::new(variant)
            })
            .ok()
        },
    )
}

/// When, to whom, what: in the order of time.
fn orders() -> impl Strategy<Value = Vec<(u64, usize, Command)>> {
    let command = prop_oneof![
        2 => Just(Command::Campaign),
        2 => Just(Command::Resign),
        1 => Just(Command::Leave),
        4 => (0..9u64).prop_map(Command::Rank),
    ];
    prop::collection::vec((0..10_000u64, 0..5usize, command), 0..12).prop_map(|mut orders| {
        orders.sort_by_key(|(at, ..)| *at);
        orders
    })
}

proptest! {
    #![proptest_config(fixed(2000))]

    #[test]
    fn once_messages_get_through_all_the_living_name_the_best_of_them(
        params in elections(),
        ranks in prop::collection::vec(0..9u64, 5),
        orders in orders(),
        luck in any::<u64>(),
        loss in 0..3u64,
    ) {
        let mut group = Group::begin(&params, &ranks, luck, loss);
        for (at, whom, command) in orders {
            group.run(Instant::ZERO + ms(at));
            group.command(whom, command);
        }
        group.run(JUDGED);
        let best = group.best();
        for member in group.live() {
            let belief = Leadership::of(&best, Stage::Decided);
            prop_assert_eq!(member.node().leadership(JUDGED), belief, "{:?}", member);
        }
    }
}
