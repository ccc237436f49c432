//! Bully: how many messages of which kind, and how many time-outs.
//!
//! | case | Election | OK | Coordinator | all |
//! |---|---|---|---|---|
//! | `worst`: the top is dead, P_0 calls | N(N−1)/2 | (N−1)(N−2)/2 | N−2 | N²−N−1 |
//! | `from`: the top is dead, P_i calls, k = N−i | k(k−1)/2 | (k−1)(k−2)/2 | N−2 | (k−1)²+N−2 |
//! | `all-alive`: P_0 calls | N(N−1)/2 | N(N−1)/2 | N−1 | N²−1 |
//! | `lecture`: the same, the top answers Coordinator instead of OK | N(N−1)/2 | (N−1)(N−2)/2 | N−1 | N(N−1) |
//! | `stamps`: `all-alive`, and who takes part in an older election calls none | N−1 | N−1 | N−1 | 3(N−1) |
//! | `recovery`: the top calls | 0 | 0 | N−1 | N−1 |
//!
//! Everybody who takes part asks all who are greater, the dead too, once: Σ_{j=i..N−2} (N−1−j)
//! Election messages. Each that reaches somebody alive is answered. The leader tells all who are
//! lesser; with a dead top that is all others who live.
//!
//! The lecture prints the sum of Election messages of its worst case and leaves its value, and all
//! the rest, "for exercise"; and N−1 for its best, the recovery of the top. Its worst case is read
//! here with the top dead, since that is what elections are called for; `lecture` is its own rule
//! that the process with the highest id answers with Coordinator, where the top is alive. P_{N−2}
//! who finds the top dead takes N−1 messages too: `from` with i = N−2.
//!
//! `stamps` is the idea of MEREA, which its section 7 would carry over to bully: of two elections
//! the older prevails. A process that takes over an election would call a younger one.
//!
//! **Time.** One time-out R, for the OK that the dead top does not send, whatever N: the others
//! have the answer of somebody greater after 2Δ. R + 2Δ in all, or R + Δ if P_{N−2} calls.

use super::count::{MESSAGES, TIME, group, whole};
use super::point_of;
use crate::inputs::{OutOfDomain, ValidInputs};
use crate::point::{Point, duration};
use crate::quantity::Quantity;
use bellwether_protocols::bully::TopAnswers;
use bellwether_sim::{Initiators, Measure};

/// Who is alive, who calls, and by which rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Case {
    /// The top is dead, P_0 calls.
    Worst,
    /// The top is dead, P_i calls.
    From,
    /// All are alive, P_0 calls.
    AllAlive,
    /// The same, and the top answers Coordinator instead of OK.
    Lecture,
    /// All are alive, P_0 calls, elections are stamped and the older prevails.
    Stamps,
    /// The top calls.
    Recovery,
}

/// What is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Column {
    /// "Is anybody greater alive?"
    Election,
    /// "I am."
    Ok,
    /// "I lead."
    Coordinator,
    /// All of them.
    All,
}

impl Column {
    fn of(self, [election, ok, coordinator]: [u128; 3]) -> f64 {
        whole(match self {
            Self::Election => election,
            Self::Ok => ok,
            Self::Coordinator => coordinator,
            Self::All => election + ok + coordinator,
        })
    }
}

/// What the lecture says.
///
/// # Errors
/// [`OutOfDomain::NoValue`] where it leaves the count as an exercise or does not ask for it.
pub fn printed(case: Case, column: Column, inputs: &ValidInputs) -> Result<f64, OutOfDomain> {
    match (case, column) {
        (Case::Recovery, _) | (Case::Worst | Case::Lecture, Column::Election) => {
            corrected(case, column, inputs)
        }
        (Case::Worst | Case::Lecture, _) => {
            Err(OutOfDomain::NoValue("the lecture leaves it for exercise"))
        }
        (Case::From | Case::AllAlive, _) => {
            Err(OutOfDomain::NoValue("the lecture asks for its worst and its best case only"))
        }
        (Case::Stamps, _) => Err(OutOfDomain::NoValue(
            "the paper (section 7) says that its idea can be applied to bully, and no more",
        )),
    }
}

/// What is sent.
///
/// # Errors
/// [`OutOfDomain`] with losses, for one process alone, and if somebody dead is to call.
pub fn corrected(case: Case, column: Column, inputs: &ValidInputs) -> Result<f64, OutOfDomain> {
    Ok(column.of(counts(case, inputs)?))
}

/// Election, OK and Coordinator messages.
fn counts(case: Case, inputs: &ValidInputs) -> Result<[u128; 3], OutOfDomain> {
    let n = group(inputs)?;
    let without_top = |k: u128| [k * (k - 1) / 2, (k - 1) * (k - 2) / 2, n - 2];
    let [election, fewer, _] = without_top(n);
    Ok(match case {
        Case::Worst => [election, fewer, n - 2],
        Case::From => without_top(n - u128::from(caller(inputs)?)),
        Case::AllAlive => [election, election, n - 1],
        Case::Lecture => [election, fewer, n - 1],
        Case::Stamps => [n - 1; 3],
        Case::Recovery => [0, 0, n - 1],
    })
}

/// Who calls the election, if it is alive although the top is not.
fn caller(inputs: &ValidInputs) -> Result<u32, OutOfDomain> {
    let most = inputs.nodes - 2;
    if inputs.initiator <= most {
        return Ok(inputs.initiator);
    }
    let (value, most) = (u64::from(inputs.initiator), u64::from(most));
    let why = "the greatest is dead and calls nothing";
    Err(OutOfDomain::Count { name: "initiator", value, least: 0, most, why })
}

/// How long it takes until all know the leader, in seconds; processing takes no time.
///
/// # Errors
/// [`OutOfDomain`] as for the counts, and if answers take longer than they are waited for.
pub fn time(case: Case, inputs: &ValidInputs) -> Result<f64, OutOfDomain> {
    group(inputs)?;
    let (delay, reply) = (inputs.delay, reply(inputs));
    let last = inputs.nodes - 2;
    let caller = match case {
        Case::AllAlive | Case::Lecture | Case::Stamps => return Ok(2.0 * delay),
        Case::Recovery => return Ok(delay),
        Case::Worst => 0,
        Case::From => caller(inputs)?,
    };
    let asks = if caller < last { delay } else { 0.0 };
    let tells = if last > 0 { delay } else { 0.0 };
    if asks > 0.0 && reply <= 2.0 * delay {
        return Err(OutOfDomain::Condition {
            rule: "reply <= 2 delays: the living are taken for dead before they can answer",
            way_out: "choose a greater `reply` or a smaller `delay`",
        });
    }
    Ok(asks + reply + tells)
}

/// R: ten delays by default, and a moment where the delay is zero, as in simulations.
fn reply(inputs: &ValidInputs) -> f64 {
    let usual = if inputs.delay > 0.0 { 10.0 * inputs.delay } else { 0.01 };
    inputs.reply.unwrap_or(usual)
}

/// The election of one case; nothing in it is random.
fn point(case: Case, inputs: &ValidInputs) -> Point {
    let mut point = point_of("bully", inputs).runs(2);
    point.initiation.top_dead = matches!(case, Case::Worst | Case::From);
    point.initiation.initiators = match case {
        Case::From => Initiators::Named(vec![inputs.initiator]),
        Case::Recovery => Initiators::Named(vec![inputs.nodes - 1]),
        _ => Initiators::One,
    };
    match case {
        Case::Lecture => point.with("top-answers", TopAnswers::Coordinator.name()),
        Case::Stamps => point.with("stamps", true),
        _ => point,
    }
}

fn simulation(case: Case, column: Column, inputs: &ValidInputs) -> Option<(Point, Measure)> {
    let measure = match column {
        Column::Election => Measure::MessagesOf("election"),
        Column::Ok => Measure::MessagesOf("ok"),
        Column::Coordinator => Measure::MessagesOf("coordinator"),
        Column::All => Measure::Messages,
    };
    // What is never sent is not measured.
    (corrected(case, column, inputs).ok()? > 0.0).then(|| (point(case, inputs), measure))
}

/// With a dead top nobody is told who is dead, or nobody would wait for an answer.
fn timed(case: Case, inputs: &ValidInputs) -> Option<(Point, Measure)> {
    time(case, inputs).ok()?;
    let told = point(case, inputs);
    let point = if told.initiation.top_dead { untold(case, inputs) } else { told };
    Some((point, Measure::Time))
}

/// The same election where nobody is told who is dead: time-outs must say so.
pub fn untold(case: Case, inputs: &ValidInputs) -> Point {
    let mut point = point(case, inputs).with("reply", duration(reply(inputs)));
    point.initiation.detection = None;
    point
}

fn note(case: Case) -> &'static str {
    match case {
        Case::Worst => {
            "the top is dead, P_0 calls; the lecture prints the sum of the Election messages, \
             (N-1) + (N-2) + ... + 1, and leaves all else for exercise"
        }
        Case::From => "the top is dead; by P_{N-2} it takes N-1 messages, as few as the recovery",
        Case::AllAlive => "P_0 calls; the top answers OK like everyone else",
        Case::Lecture => "P_0 calls; the top answers with its Coordinator messages instead of OK",
        Case::Stamps => "P_0 calls; a process in an older election calls no younger one",
        Case::Recovery => "nobody is greater, so nobody is asked",
    }
}

const SLIDES: &str = "lecture, bully: message complexity";

/// All columns of one case.
macro_rules! columns {
    ($case:ident, $name:literal, $when:literal, $reads:expr) => {
        [
            columns!($case, All, "bully.messages.", $name, "messages", $when, $reads),
            columns!(
                $case,
                Election,
                "bully.messages-election.",
                $name,
                "Election messages",
                $when,
                $reads
            ),
            columns!($case, Ok, "bully.messages-ok.", $name, "OK messages", $when, $reads),
            columns!(
                $case,
                Coordinator,
                "bully.messages-coordinator.",
                $name,
                "Coordinator messages",
                $when,
                $reads
            ),
        ]
    };
    ($case:ident, $column:ident, $of:literal, $name:literal, $what:literal, $when:literal,
     $reads:expr) => {
        Quantity {
            name: concat!($of, $name),
            section: SLIDES,
            about: concat!($what, " of bully, ", $when),
            reads: $reads,
            printed: |inputs| printed(Case::$case, Column::$column, inputs),
            corrected: |inputs| corrected(Case::$case, Column::$column, inputs),
            note: |_| note(Case::$case),
            simulation: |inputs| simulation(Case::$case, Column::$column, inputs),
            ..MESSAGES
        }
    };
}

const WORST: [Quantity; 4] =
    columns!(Worst, "worst", "the greatest dead, P_0 calling", MESSAGES.reads);
const FROM: [Quantity; 4] =
    columns!(From, "from", "the greatest dead, P_i calling", &["nodes", "loss", "initiator"]);
const ALL_ALIVE: [Quantity; 4] =
    columns!(AllAlive, "all-alive", "all alive, P_0 calling", MESSAGES.reads);
const LECTURE: [Quantity; 4] =
    columns!(Lecture, "lecture", "the greatest answering Coordinator", MESSAGES.reads);
const STAMPS: [Quantity; 4] =
    columns!(Stamps, "stamps", "all alive, the oldest call prevailing", MESSAGES.reads);
const RECOVERY: [Quantity; 4] =
    columns!(Recovery, "recovery", "the greatest coming back", MESSAGES.reads);

/// How long one case takes.
macro_rules! time {
    ($name:literal, $case:ident, $reads:expr, $note:literal, $about:literal) => {
        Quantity {
            name: $name,
            section: SLIDES,
            about: $about,
            reads: $reads,
            corrected: |inputs| time(Case::$case, inputs),
            note: |_| $note,
            simulation: |inputs| timed(Case::$case, inputs),
            ..TIME
        }
    };
}

/// The quantities of this file.
pub(super) const QUANTITIES: &[&Quantity] = &[
    &WORST[0],
    &WORST[1],
    &WORST[2],
    &WORST[3],
    &FROM[0],
    &FROM[1],
    &FROM[2],
    &FROM[3],
    &ALL_ALIVE[0],
    &ALL_ALIVE[1],
    &ALL_ALIVE[2],
    &ALL_ALIVE[3],
    &LECTURE[0],
    &LECTURE[1],
    &LECTURE[2],
    &LECTURE[3],
    &Quantity { section: "MEREA 7", ..STAMPS[0] },
    &RECOVERY[0],
    &RECOVERY[3],
    &time!(
        "bully.time.worst",
        Worst,
        &["nodes", "loss", "delay", "reply"],
        "one time-out, for the OK of the dead top, and the way to those who wait for it and back",
        "until all know the leader, the greatest dead, P_0 calls"
    ),
    &time!(
        "bully.time.from",
        From,
        &["nodes", "loss", "initiator", "delay", "reply"],
        "one time-out, for the OK of the dead top; P_{N-2} need not ask anybody who asks it",
        "until all know the leader, the greatest dead, P_i calls"
    ),
    &time!(
        "bully.time.all-alive",
        AllAlive,
        &["nodes", "loss", "delay"],
        "no time-out: the greatest knows that nobody is greater",
        "until all know the leader, all alive, P_0 calls"
    ),
    &time!(
        "bully.time.recovery",
        Recovery,
        &["nodes", "loss", "delay"],
        "no time-out, and nobody to ask",
        "until all know the leader, the greatest comes back"
    ),
];

#[cfg(test)]
mod tests {
    use super::super::testing::inputs;
    use super::*;
    use crate::Loss;
    use std::collections::VecDeque;

    /// The lecture's rules, message by message; nobody is told more than the rules say.
    fn held(nodes: usize, caller: usize, top_dead: bool, lecture: bool) -> [u128; 3] {
        let (top, mut sent) = (nodes - 1, [0; 3]);
        let alive = |node: usize| node != top || !top_dead;
        let (mut holds, mut answered) = (vec![false; nodes], vec![false; nodes]);
        let mut elections = VecDeque::new();
        let mut hold = |node: usize, elections: &mut VecDeque<(usize, usize)>| {
            if !std::mem::replace(&mut holds[node], true) {
                elections.extend((node + 1..nodes).map(|greater| (node, greater)));
            }
        };
        hold(caller, &mut elections);
        while let Some((from, to)) = elections.pop_front() {
            sent[0] += 1;
            if alive(to) {
                sent[1] += u128::from(to != top || !lecture);
                answered[from] = true;
                hold(to, &mut elections);
            }
        }
        let leader = (0..nodes).rfind(|node| holds[*node] && !answered[*node]);
        sent[2] = leader.expect("whoever nobody answers leads") as u128;
        sent
    }

    #[test]
    fn every_case_is_what_the_rules_send_message_by_message() {
        for nodes in 2..=64u32 {
            let at = inputs(nodes, |_| ());
            let size = nodes as usize;
            assert_eq!(counts(Case::Worst, &at), Ok(held(size, 0, true, false)));
            assert_eq!(counts(Case::AllAlive, &at), Ok(held(size, 0, false, false)));
            assert_eq!(counts(Case::Lecture, &at), Ok(held(size, 0, false, true)));
            assert_eq!(counts(Case::Recovery, &at), Ok(held(size, size - 1, false, false)));
            for initiator in 0..nodes - 1 {
                let at = inputs(nodes, |given| given.initiator = initiator);
                let sent = held(size, initiator as usize, true, false);
                assert_eq!(counts(Case::From, &at), Ok(sent));
                let k = f64::from(nodes - initiator);
                let closed = (k - 1.0) * (k - 1.0) + f64::from(nodes) - 2.0;
                assert_eq!(corrected(Case::From, Column::All, &at), Ok(closed));
            }
        }
    }

    #[test]
    fn totals_are_the_closed_forms_of_the_table() {
        let at = inputs(1_000_000, |_| ());
        let all = |case| corrected(case, Column::All, &at);
        assert_eq!(all(Case::Worst), Ok(999_998_999_999.0));
        assert_eq!(all(Case::AllAlive), Ok(999_999_999_999.0));
        assert_eq!(all(Case::Lecture), Ok(999_999_000_000.0));
        assert_eq!(all(Case::Stamps), Ok(2_999_997.0));
        assert_eq!(all(Case::Recovery), Ok(999_999.0));
        // Beyond 2⁵³ a count is the nearest float: 10¹⁶ − 10⁸ − 1 is odd.
        let at = inputs(100_000_000, |_| ());
        let all = corrected(Case::Worst, Column::All, &at);
        assert_eq!(all, Ok(9_999_999_900_000_000.0));
    }

    #[test]
    fn the_lecture_leaves_its_worst_case_for_exercise_but_for_one_sum() {
        let at = inputs(6, |_| ());
        assert_eq!(printed(Case::Worst, Column::Election, &at), Ok(15.0));
        for column in [Column::Ok, Column::Coordinator, Column::All] {
            let left = printed(Case::Worst, column, &at);
            assert!(matches!(left, Err(OutOfDomain::NoValue(why)) if why.contains("exercise")));
        }
        assert_eq!(printed(Case::Recovery, Column::All, &at), Ok(5.0));
    }

    #[test]
    fn one_time_out_whatever_the_size() {
        let of = |nodes, initiator| {
            let at = inputs(nodes, |given| {
                (given.initiator, given.reply, given.delay) = (initiator, Some(1.5), 0.25);
            });
            time(Case::From, &at)
        };
        assert_eq!((of(2, 0), of(3, 1), of(3, 0)), (Ok(1.5), Ok(1.75), Ok(2.0)));
        assert_eq!((of(1_000_000, 0), of(1_000_000, 999_998)), (Ok(2.0), Ok(1.75)));
        assert_eq!(time(Case::AllAlive, &inputs(9, |_| ())), Ok(0.2));
        assert_eq!(time(Case::Recovery, &inputs(9, |_| ())), Ok(0.1));
        let hasty = inputs(9, |given| given.reply = Some(0.2));
        assert!(matches!(time(Case::Worst, &hasty), Err(OutOfDomain::Condition { .. })));
    }

    #[test]
    fn outside_its_domain_there_is_no_value() {
        let lossy = inputs(9, |given| given.loss = Loss::Correlated(0.1));
        let refused = corrected(Case::Worst, Column::All, &lossy);
        assert!(matches!(refused, Err(OutOfDomain::Condition { .. })));
        let dead = inputs(9, |given| given.initiator = 8);
        let refused = corrected(Case::From, Column::All, &dead);
        assert!(matches!(refused, Err(OutOfDomain::Count { value: 8, most: 7, .. })));
        let alone = corrected(Case::Recovery, Column::All, &inputs(1, |_| ()));
        assert!(matches!(alone, Err(OutOfDomain::Nodes { least: 2, .. })));
    }
}
