//! What holds after any history: random parameters, random inputs, one process.

use super::*;
use bellwether_core::{Env, Input, Node, Peers, choose_below};
use proptest::option;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

/// The same cases at every run.
pub(super) fn fixed(cases: u32) -> ProptestConfig {
    let rng_seed = RngSeed::Fixed(0x5eed_0f1e_ade4);
    ProptestConfig { cases, rng_seed, failure_persistence: None, ..ProptestConfig::default() }
}

/// A small generator, so that a process can draw as often as it likes.
#[derive(Clone, Debug)]
pub(super) struct Luck(pub(super) u64);

impl Luck {
    pub(super) fn next(&mut self) -> u64 {
        // splitmix64
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        bellwether_core::mix(self.0)
    }
}

impl Entropy for Luck {
    fn below(&mut self, n: u64) -> u64 {
        choose_below(n, || self.next())
    }
}

/// This family never looks at its peers.
pub(super) struct Nobody;

impl Peers for Nobody {
    fn len(&self) -> usize {
        0
    }
    fn contains(&self, _id: NodeId) -> bool {
        false
    }
    fn after(&self, _id: Option<NodeId>) -> Option<NodeId> {
        None
    }
}

/// One thing that happens.
#[derive(Clone, Debug)]
enum Step {
    /// Time passes and the driver is late: no timer fires.
    Wait(Duration),
    /// The next timer fires, in time or late.
    Ring,
    Message(u64, Message),
    Command(Command),
}

/// The start of a process and everything that happens to it.
#[derive(Clone, Debug)]
struct History {
    me: u64,
    rank: u64,
    luck: u64,
    steps: Vec<Step>,
}

/// A process with its clock and its random stream.
#[derive(Clone)]
struct Life<'a> {
    node: Node<AnnounceListen>,
    params: &'a Params,
    now: Instant,
    luck: Luck,
    sent: Vec<Effect>,
}

impl<'a> Life<'a> {
    fn begin(history: &History, params: &'a Params) -> Self {
        let mut luck = Luck(history.luck);
        let mut sent = Vec::new();
        let mut env = Env { now: Instant::ZERO, peers: &Nobody, entropy: &mut luck };
        let boot = Boot { rank: history.rank, ..Boot::first(NodeId(history.me)) };
        let node = Node::start(boot, &mut env, params, &mut sent);
        Self { node, params, now: Instant::ZERO, luck, sent }
    }

    fn take(&mut self, step: &Step) {
        self.sent.clear();
        let Self { node, params, now, luck, sent } = self;
        if matches!(step, Step::Ring) && node.poll_timeout() != Instant::NEVER {
            *now = node.poll_timeout().max(*now);
        }
        let mut env = Env { now: *now, peers: &Nobody, entropy: luck };
        match step {
            Step::Wait(length) => *now += *length,
            Step::Ring => _ = node.handle(Input::Timeout, &mut env, params, sent),
            Step::Message(from, message) => {
                let input = Input::Message(NodeId(*from), Cow::Borrowed(message));
                _ = node.handle(input, &mut env, params, sent);
            }
            Step::Command(command) => {
                let before = node.clone();
                if node.command(*command, &mut env, params, sent).is_err() {
                    assert_eq!((&*node, sent.len()), (&before, 0), "refused, but done");
                }
            }
        }
    }

    /// Runs everything that is due. This must end: no timer may be armed for the current instant
    /// for ever.
    fn catch_up(&mut self) {
        for _ in 0..1000 {
            if self.node.poll_timeout() > self.now {
                return;
            }
            self.take(&Step::Ring);
        }
        panic!("timers without end: {:?}", self.node);
    }

    fn deadlines(&self) -> [Instant; 3] {
        [Timer::Wake, Timer::Announce, Timer::Listen].map(|timer| self.node.deadline(timer))
    }
}

fn millis(range: core::ops::Range<u64>) -> impl Strategy<Value = Duration> {
    range.prop_map(ms)
}

fn shapes() -> impl Strategy<Value = (Shape, Mapping)> {
    let rate = 0.1..20.0f64;
    let shape = prop_oneof![
        Just(Shape::Uniform),
        rate.clone().prop_map(|rate| Shape::Rising { rate }),
        rate.prop_map(|rate| Shape::Falling { rate }),
    ];
    let by_standing =
        millis(0..300).prop_map(|jitter| Mapping::ByStanding { best: 8, worst: 1, jitter });
    (shape, prop_oneof![3 => Just(Mapping::Random), 1 => by_standing])
}

/// Valid parameters of any kind.
fn parameters() -> impl Strategy<Value = Params> {
    use Criterion as C;
    let listen = prop_oneof![1 => Just(Duration::MAX), 3 => millis(1..5000)];
    let criteria = prop::sample::select(&[C::HighestId, C::Rank, C::EarliestWakeUp][..]);
    let timers = (millis(0..1500), millis(1..2000), listen, option::of(millis(1..4000)));
    let switches = (any::<bool>(), prop::bool::weighted(0.2));
    let rest = (option::of(criteria), 1..4usize, 0..3u32, switches);
    let queries = (millis(1..500), millis(0..500));
    let variant = prop::sample::select(&Variant::ALL[..]);
    (variant, shapes(), timers, rest, queries).prop_filter_map(
        "breaks a rule",
        |(variant, (shape, mapping), timers, rest, (patience, reply_spread))| {
            let (suppress, announce, listen, aging) = timers;
            let (criterion, leaders, bye_copies, (bye_from_all, as_printed)) = rest;
            let leaders = if variant.rules().1 == Yields::ToAnyone { 1 } else { leaders };
            let config = Config {
                suppress,
                announce,
                listen,
                aging,
                criterion,
                leaders,
                bye_copies,
                bye_from_all,
                patience,
                reply_spread,
                as_printed,
                ..Config::new(variant)
            };
            Params::try_from(config.shaped(shape).mapped(mapping)).ok()
        },
    )
}

/// Claims that meet each other often: few standings, all classes, a few wake-ups.
fn weights() -> impl Strategy<Value = u64> {
    let class = prop::sample::select(&[Class::Retired, Class::Ordinary, Class::Established][..]);
    let standing = prop_oneof![
        3 => 0..9u64,
        1 => (0..1500u64).prop_map(|wake| STANDING_MAX - luck(wake)),
    ];
    (class, standing).prop_map(|(class, standing)| weigh(class, standing))
}

fn messages(weight: impl Strategy<Value = u64> + Clone) -> impl Strategy<Value = Message> {
    prop_oneof![
        5 => weight.clone().prop_map(Message::Announce),
        2 => weight.prop_map(Message::Query),
        1 => Just(Message::Bye),
    ]
}

fn commands() -> impl Strategy<Value = Command> {
    prop_oneof![
        Just(Command::Campaign),
        Just(Command::Resign),
        Just(Command::Transfer(NodeId(2))),
        (0..9u64).prop_map(Command::Rank),
    ]
}

/// A life among processes 0 to 8, which does not end.
fn histories() -> impl Strategy<Value = History> {
    let step = prop_oneof![
        2 => millis(0..2500).prop_map(Step::Wait),
        4 => Just(Step::Ring),
        6 => (0..9u64, messages(weights().boxed())).prop_map(|(from, m)| Step::Message(from, m)),
        1 => commands().prop_map(Step::Command),
    ];
    let start = (0..9u64, 0..9u64, any::<u64>());
    (start, prop::collection::vec(step, 0..60)).prop_map(|((me, rank, luck), steps)| History {
        me,
        rank,
        luck,
        steps,
    })
}

/// Any input at all.
fn chaos() -> impl Strategy<Value = History> {
    let command = prop_oneof![
        4 => commands(),
        1 => Just(Command::Leave),
        1 => any::<u64>().prop_map(Command::Rank),
    ];
    let step = prop_oneof![
        (0..1u64 << 56).prop_map(|nanos| Step::Wait(Duration::from_nanos(nanos))),
        Just(Step::Ring),
        (any::<u64>(), messages(any::<u64>().boxed())).prop_map(|(from, m)| Step::Message(from, m)),
        (0..3u64, messages(any::<u64>().boxed())).prop_map(|(from, m)| Step::Message(from, m)),
        command.prop_map(Step::Command),
    ];
    let id = || prop_oneof![0..3u64, any::<u64>()];
    ((id(), id(), any::<u64>()), prop::collection::vec(step, 0..60))
        .prop_map(|((me, rank, luck), steps)| History { me, rank, luck, steps })
}

/// The handler itself, past the minimum weight, without random draws: its changes and effects.
fn told(life: &Life<'_>, from: u64, weight: u64) -> (AnnounceListen, Vec<Effect>) {
    struct NoLuck;
    impl Entropy for NoLuck {
        fn below(&mut self, _n: u64) -> u64 {
            panic!("a message below `min_weight` needs no luck")
        }
    }
    let mut effects = Vec::new();
    let mut env = Env { now: life.now, peers: &Nobody, entropy: &mut NoLuck };
    let mut protocol = life.node.protocol().clone();
    let message = Cow::Owned(Message::Announce(weight));
    protocol.on_message(NodeId(from), message, &mut Cx::new(&mut env, life.params, &mut effects));
    (protocol, effects)
}

/// Which timers are armed follows from what the process is doing: none is forgotten or left over.
fn assert_timers_fit(life: &Life<'_>) {
    let (state, params) = (life.node.protocol(), life.params);
    let [wake, announce, listen] = life.deadlines();
    let never = Instant::NEVER;
    let waits = matches!(state.phase, Phase::Suppressing | Phase::Querying);
    assert_eq!(wake != never, waits, "{state:?}");
    let announces = params.repeat == Repeat::Periodic && state.phase == Phase::Announcing;
    assert_eq!(announce != never, announces || params.repeat == Repeat::Redrawn, "{state:?}");
    assert_eq!(state.next, if announces { announce } else { never }, "{state:?}");
    let follows = state.board.ids().iter().any(|id| *id != state.me);
    assert_eq!(listen != never, follows && params.listen != Duration::MAX, "{state:?}");
}

/// What is on the board follows from what the process is doing, too.
fn assert_board_fits(life: &Life<'_>) {
    let (state, params) = (life.node.protocol(), life.params);
    let ids = state.board.ids();
    assert!(ids.len() <= params.leaders, "{state:?}");
    assert!((1..ids.len()).all(|at| !ids[..at].contains(&ids[at])), "{state:?}");
    assert_eq!(ids.is_empty(), !params.names_leaders, "somebody always leads: {state:?}");
    if params.yields != Yields::ToAnyone {
        assert!(state.board.claims().is_sorted_by(|better, worse| better >= worse), "{state:?}");
    }
    if params.yields == Yields::ToBetter {
        let listens = state.phase == Phase::Listening;
        assert_eq!(state.board.holds(state.me), !listens, "{state:?}");
        assert!(!listens || ids.len() == params.leaders, "there was room: {state:?}");
    }
    let own = ids.iter().zip(state.board.claims()).find(|(id, _)| **id == state.me);
    assert!(own.is_none_or(|(_, own)| own == state.claim()), "{state:?}");
}

proptest! {
    #![proptest_config(fixed(1500))]

    #[test]
    fn what_weighs_less_than_the_bar_changes_nothing_and_asks_for_nothing(
        params in parameters(),
        history in histories(),
        probes in prop::collection::vec((0..9u64, weights()), 8),
    ) {
        let mut life = Life::begin(&history, &params);
        for step in &history.steps {
            life.take(step);
            let min_weight = life.node.min_weight();
            for &(from, weight) in probes.iter().filter(|(_, weight)| *weight < min_weight) {
                let (after, effects) = told(&life, from, weight);
                prop_assert_eq!(&after, life.node.protocol());
                prop_assert_eq!(effects, []);
            }
        }
    }

    #[test]
    fn the_leaders_are_few_different_and_best_first(
        params in parameters(),
        history in histories(),
    ) {
        let mut life = Life::begin(&history, &params);
        assert_board_fits(&life);
        for step in &history.steps {
            life.take(step);
            assert_board_fits(&life);
        }
    }

    #[test]
    fn no_process_is_stuck_with_nothing_to_wait_for(
        params in parameters(),
        history in histories(),
    ) {
        let mut life = Life::begin(&history, &params);
        for step in &history.steps {
            life.take(step);
            assert_timers_fit(&life);
            let waits = life.node.poll_timeout() != Instant::NEVER;
            let trusts = params.listen == Duration::MAX
                && life.node.protocol().phase == Phase::Listening;
            let done = params.repeat == Repeat::Once;
            prop_assert!(waits || trusts || done, "{:?}", life.node);
        }
    }

    #[test]
    fn no_history_makes_a_process_panic(params in parameters(), history in chaos()) {
        let mut life = Life::begin(&history, &params);
        for step in &history.steps {
            life.take(step);
            prop_assert!(life.node.leadership(life.now).leaders.len() <= params.leaders);
        }
    }

    #[test]
    fn a_process_behaves_alike_at_any_date(
        params in parameters(),
        before in histories(),
        after in histories(),
    ) {
        let mut here = Life::begin(&before, &params);
        before.steps.iter().for_each(|step| here.take(step));
        here.catch_up();
        let rebase = Rebase::new(here.now);
        let shift = |mut at: Instant| {
            if at != Instant::NEVER {
                rebase.stamp(&mut at);
            }
            at
        };
        let mut there = here.clone();
        there.node.instants(&rebase);
        there.now = Rebase::ORIGIN;
        for step in &after.steps {
            here.take(step);
            there.take(step);
            prop_assert_eq!(&here.sent, &there.sent);
            prop_assert_eq!(here.deadlines().map(shift), there.deadlines());
            prop_assert_eq!(here.node.min_weight(), there.node.min_weight());
            let (now, then) = (here.now, there.now);
            prop_assert_eq!(here.node.leadership(now), there.node.leadership(then));
        }
        here.node.instants(&Rebase::new(here.now));
        there.node.instants(&Rebase::new(there.now));
        prop_assert_eq!(here.node, there.node, "and the two states are one");
    }
}
