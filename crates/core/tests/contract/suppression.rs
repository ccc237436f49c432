//! SUP, suppression alone: in every round each process waits a random while and then speaks, unless
//! it heard another first.
//!
//! The case it makes: a protocol that elects nobody. It has no leaders to name, its stage is all it
//! tells, and it leaves `bar` and `weight` alone.

use crate::world::{Setup, both};
use bellwether_core::harness::{Harness, assert_survives_the_wire};
use bellwether_core::*;
use std::borrow::Cow;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Suppression {
    /// Whether another spoke first in this round.
    pub(crate) suppressed: bool,
    /// Whether this process spoke in this round.
    pub(crate) spoke: bool,
}

#[derive(Clone, Debug)]
pub(crate) struct Params {
    /// A round is this long.
    pub(crate) round: Duration,
    /// A process wakes up at one of this many points of a round,
    pub(crate) points: u64,
    /// which lie so far apart.
    pub(crate) apart: Duration,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Word;

impl Message for Word {
    fn kind(&self) -> &'static str {
        "word"
    }

    fn encode(&self, out: &mut Vec<u8>) {
        out.push(1);
    }

    fn decode(input: &mut Reader<'_>) -> Result<Self, Malformed> {
        if input.u8()? == 1 { Ok(Self) } else { Err(Malformed) }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Timer {
    Wake,
    Round,
}

impl TimerKind for Timer {
    type Slots = [Instant; 2];

    fn slot(self) -> usize {
        self as usize
    }

    fn at(slot: usize) -> Self {
        [Self::Wake, Self::Round][slot]
    }
}

impl Suppression {
    fn begin(cx: &mut Cx<'_, Self>) -> Self {
        let params = cx.params();
        let wait = params.apart * cx.entropy().below(params.points);
        cx.arm(Timer::Wake, cx.now() + wait);
        cx.arm(Timer::Round, cx.now() + params.round);
        Self { suppressed: false, spoke: false }
    }
}

impl Protocol for Suppression {
    const NAME: &'static str = "sup";
    type Params = Params;
    type Message = Word;
    type Timer = Timer;

    fn start(_boot: Boot<'_>, cx: &mut Cx<'_, Self>) -> Self {
        Self::begin(cx)
    }

    fn on_message(&mut self, _from: NodeId, _word: Cow<'_, Word>, cx: &mut Cx<'_, Self>) {
        if !self.spoke {
            self.suppressed = true;
            cx.disarm(Timer::Wake);
        }
    }

    fn on_timer(&mut self, timer: Timer, cx: &mut Cx<'_, Self>) {
        match timer {
            Timer::Wake => {
                self.spoke = true;
                cx.broadcast(Word);
            }
            Timer::Round => *self = Self::begin(cx),
        }
    }

    fn leadership(&self, _now: Instant) -> Leadership<'_> {
        let stage = match self {
            Self { spoke: true, .. } => Stage::Decided,
            Self { suppressed: true, .. } => Stage::Suppressed,
            _ => Stage::Undecided,
        };
        Leadership::of(&[], stage)
    }

    fn instants(&mut self, _rebase: &Rebase<'_>) {} // it stores none
}

/// Rounds of 50 ms with three points to wake up at, 10 ms apart.
pub(crate) fn params() -> Params {
    let (round, apart) = (Duration::from_millis(50), Duration::from_millis(10));
    Params { round, points: 3, apart }
}

#[test]
fn a_word_survives_the_wire() {
    assert_survives_the_wire(&Word);
}

#[test]
fn whoever_hears_another_before_its_own_time_keeps_quiet() {
    let params = params();
    let (round, apart) = (params.round, params.apart);
    let mut node = Harness::<Suppression>::start(NodeId(1), params, &[2]);
    assert_eq!(
        node.effects(),
        [node.armed(Timer::Wake, apart * 2), node.armed(Timer::Round, round)]
    );
    node.message(2, Word);
    assert_eq!(node.effects(), [Effect::Disarm(Timer::Wake)]);
    assert_eq!(node.change(), Change::Changed);
    assert_eq!(node.leadership(), Leadership::of(&[], Stage::Suppressed));
    node.draws(&[0]).ring();
    assert_eq!(node.leadership().stage, Stage::Undecided, "a new round begins");
}

#[test]
fn whoever_has_spoken_has_decided_and_names_nobody() {
    let mut node = Harness::<Suppression>::start(NodeId(1), params(), &[0]);
    node.ring();
    assert_eq!(node.effects(), [Effect::Send(Dest::Everyone, Word)]);
    assert_eq!(node.change(), Change::Changed);
    assert_eq!(node.leadership(), Leadership::of(&[], Stage::Decided));
    node.message(2, Word);
    assert_eq!(node.change(), Change::Same, "it is too late to suppress it");
}

#[test]
fn in_every_round_somebody_speaks_and_nobody_is_elected() {
    both::<Suppression>(&Setup::clique(8), params(), |world| {
        let mut before = 0;
        for _round in 0..20 {
            // The middle of the pause between the last point and the next round.
            world.run_for(Duration::from_millis(40));
            let beliefs = world.beliefs();
            let count = |stage| beliefs.iter().filter(|told| told.stage == stage).count();
            let (spoke, quiet) = (count(Stage::Decided), count(Stage::Suppressed));
            assert_eq!(spoke, world.sent() - before, "each speaks once");
            assert_eq!(spoke + quiet, 8, "who is not suppressed has spoken");
            assert!(spoke > 0, "the first to wake cannot be suppressed");
            assert!(beliefs.iter().all(|told| told.leaders.is_empty()));
            before = world.sent();
            world.run_for(Duration::from_millis(10));
        }
        // The rounds begin together, so words of the next one may be out already.
        assert!(world.sent() - before <= 8);
    });
}
