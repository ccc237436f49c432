//! What holds after any history: random parameters, random inputs, one process.

use super::*;
use crate::testing::fixed;
use bellwether_core::{Members, Seeded};
use proptest::option;
use proptest::prelude::*;

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

/// A process that can draw as often as it likes.
pub(super) type Life = Harness<AnnounceListen, Seeded>;

pub(super) fn begin(me: u64, rank: u64, luck: u64, params: &Params) -> Life {
    let boot = Boot { rank, ..Boot::first(NodeId(me)) };
    // This family never looks at its peers.
    Life::begin(boot, params.clone(), Members::default(), Instant::ZERO, Seeded::new(luck))
}

impl History {
    fn begin(&self, params: &Params) -> Life {
        begin(self.me, self.rank, self.luck, params)
    }
}

fn take(life: &mut Life, step: &Step) {
    match step {
        Step::Wait(length) => _ = life.wait(*length),
        Step::Ring if life.is_quiet() => _ = life.timeout(),
        Step::Ring => _ = life.ring(),
        Step::Message(from, message) => _ = life.message(*from, message.clone()),
        Step::Command(command) => _ = life.command(*command),
    }
}

/// Runs everything that is due. This must end: no timer may be armed for the current instant for
/// ever.
fn catch_up(life: &mut Life) {
    for _ in 0..1000 {
        if life.node().poll_timeout() > life.now() {
            return;
        }
        life.ring();
    }
    panic!("timers without end: {:?}", life.node());
}

fn deadlines(life: &Life) -> [Instant; 3] {
    [Timer::Wake, Timer::Announce, Timer::Listen].map(|timer| life.node().deadline(timer))
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

/// Which timers are armed follows from what the process is doing: none is forgotten or left over.
fn assert_timers_fit(life: &Life, params: &Params) {
    let state = life.state();
    let [wake, announce, listen] = deadlines(life);
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
fn assert_board_fits(life: &Life, params: &Params) {
    let state = life.state();
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
        let mut life = history.begin(&params);
        for step in &history.steps {
            take(&mut life, step);
            let min_weight = life.node().min_weight();
            for &(from, weight) in probes.iter().filter(|(_, weight)| *weight < min_weight) {
                let luck = life.entropy().clone();
                life.ignores(from, Message::Announce(weight));
                prop_assert_eq!(life.entropy(), &luck, "it needs no luck");
            }
        }
    }

    #[test]
    fn the_leaders_are_few_different_and_best_first(
        params in parameters(),
        history in histories(),
    ) {
        let mut life = history.begin(&params);
        assert_board_fits(&life, &params);
        for step in &history.steps {
            take(&mut life, step);
            assert_board_fits(&life, &params);
        }
    }

    #[test]
    fn no_process_is_stuck_with_nothing_to_wait_for(
        params in parameters(),
        history in histories(),
    ) {
        let mut life = history.begin(&params);
        for step in &history.steps {
            take(&mut life, step);
            assert_timers_fit(&life, &params);
            let trusts = params.listen == Duration::MAX && life.state().phase == Phase::Listening;
            let done = params.repeat == Repeat::Once;
            prop_assert!(!life.is_quiet() || trusts || done, "{:?}", life.node());
        }
    }

    #[test]
    fn no_history_makes_a_process_panic(params in parameters(), history in chaos()) {
        let mut life = history.begin(&params);
        for step in &history.steps {
            take(&mut life, step);
            prop_assert!(life.leadership().leaders.len() <= params.leaders);
        }
    }

    #[test]
    fn a_process_behaves_alike_at_any_date(
        params in parameters(),
        before in histories(),
        after in histories(),
    ) {
        let mut here = before.begin(&params);
        before.steps.iter().for_each(|step| take(&mut here, step));
        catch_up(&mut here);
        let rebase = Rebase::new(here.now());
        let shift = |mut at: Instant| {
            if at != Instant::NEVER {
                rebase.stamp(&mut at);
            }
            at
        };
        let mut there = here.clone();
        there.rebase();
        for step in &after.steps {
            take(&mut here, step);
            take(&mut there, step);
            prop_assert_eq!(here.packets(), there.packets());
            prop_assert_eq!(deadlines(&here).map(shift), deadlines(&there));
            prop_assert_eq!(here.node().min_weight(), there.node().min_weight());
            prop_assert_eq!(here.leadership(), there.leadership());
        }
        prop_assert_eq!(here.rebase().node(), there.rebase().node(), "the two states are one");
    }
}
