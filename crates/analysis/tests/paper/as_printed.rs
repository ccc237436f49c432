//! Rules as printed that our protocols have no switch for: small models of what they do, beside the
//! protocols and their numbers.
//!
//! Gupta and others, figure 3 and section 3.3; MEREA, Tables 1 to 4.

use bellwether_analysis::Point;
use bellwether_core::{Duration, Entropy as _, Seeded};
use bellwether_protocols::probabilistic::{Config, Params};
use bellwether_sim::{Control, Measure};

/// What a relay of figure 3, step 2, does with a preference that it receives; smaller is better.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Answer {
    /// "if M_k's preference better": it is taken over.
    TakesOver,
    /// "else inform M_k".
    Informs,
    /// Neither, which is not printed.
    Nothing,
}

fn as_printed(own: u32, other: u32) -> Answer {
    if other < own { Answer::TakesOver } else { Answer::Informs }
}

fn as_corrected(own: u32, other: u32) -> Answer {
    match own.cmp(&other) {
        std::cmp::Ordering::Less => Answer::Informs,
        std::cmp::Ordering::Equal => Answer::Nothing,
        std::cmp::Ordering::Greater => Answer::TakesOver,
    }
}

/// How many unicasts two relays that know each other alone exchange within so many delays of a
/// unicast, beginning with one preference each. Whoever takes a preference over sends it on, too.
fn exchanged(rule: fn(u32, u32) -> Answer, mut choices: [u32; 2], delays: u32) -> u32 {
    // Each delay the messages that were sent to 0 and to 1 arrive.
    let mut under_way = [vec![choices[1]], vec![choices[0]]];
    let mut sent = 2;
    for _ in 1..delays {
        let mut next = [Vec::new(), Vec::new()];
        for me in 0..2 {
            for heard in &under_way[me] {
                let answer = rule(choices[me], *heard);
                choices[me] = choices[me].min(*heard);
                if answer != Answer::Nothing {
                    next[1 - me].push(choices[me]);
                    sent += 1;
                }
            }
        }
        under_way = next;
    }
    sent
}

/// Figure 3, step 2: "if M_k's preference better … else inform M_k".
#[test]
fn if_equals_are_answered_two_relays_write_until_the_time_out() {
    for delays in [10, 20, 40] {
        for choices in [[1, 1], [1, 2]] {
            let printed = exchanged(as_printed, choices, delays);
            assert!(printed >= 2 * delays - 1, "{choices:?}, {delays}: {printed}");
            let corrected = exchanged(as_corrected, choices, delays);
            assert!(corrected <= 4, "{choices:?}, {delays}: {corrected}");
        }
    }
}

/// Section 3.3: Time_Out_1, by which the initiator knows the final choices, if it is no relay. The
/// round of a relay begins when it hears the call, and its final message is sent when Time_Out_2 is
/// over; both multicasts take up to the longest delay.
#[test]
fn by_the_printed_time_outs_an_initiator_decides_too_soon() {
    let (longest, unicast, k) = (Duration::from_millis(200), Duration::from_millis(200), 7);
    let config =
        Config { unicast: Some(unicast), multicast: Some(longest), k, ..Config::default() };
    let params = Params::try_from(config).expect("they are valid");
    let [printed, relaying, _] = params.printed_time_outs(k.into());
    let corrected = params.time_outs(k.into()).decide;
    let mut luck = Seeded::new(1);
    let (mut rounds, mut too_soon) = (0_u32, 0_u32);
    for _ in 0..1000 {
        let mut delay = || Duration::from_nanos(luck.below(longest.as_nanos() + 1));
        let finals = (0..k).map(|_| delay() + relaying + delay());
        let last = finals.max().expect("there are relays");
        too_soon += u32::from(last > printed);
        assert!(last <= corrected, "{last} and {corrected}");
        rounds += 1;
    }
    println!("{too_soon} of {rounds} rounds have a final message after Time_Out_1");
    assert!(too_soon > rounds / 2, "{too_soon} of {rounds}");
}

/// Figure 3, step 2, as indented: the multicast belongs to the `else`.
fn multicasts_as_indented(own: u32, heard: &[u32]) -> usize {
    let (mut best, mut multicasts) = (own, 0);
    for preference in heard {
        match as_printed(best, *preference) {
            Answer::TakesOver => best = *preference,
            _ => multicasts += 1,
        }
    }
    multicasts
}

/// Views in which nobody sees another relay: no relay is contacted, and each multicasts once, as
/// section 3.1 says and Theorem 4 counts. As indented it would be never, or once for each worse
/// preference.
#[test]
fn a_relay_that_nobody_contacts_multicasts_once_all_the_same() {
    let point = Point { view: 1e-9, ..Point::new("probabilistic", 200) };
    let point = point.with("max-rounds", 1).runs(50).seed(1);
    let experiment = point.experiment(1).expect("it is valid");
    let control = Control { progress: &|| (), over: &|| false };
    let (_, samples) = experiment.run_and_keep(control).expect("it can be simulated");
    let place = |measure| samples.measures.iter().position(|known| *known == measure);
    let [unicasts, multicasts, relays] =
        [Measure::Unicasts, Measure::Multicasts, Measure::Relays].map(place);
    let mut some = 0;
    for run in &samples.runs {
        let [unicasts, multicasts, relays] = [unicasts, multicasts, relays]
            .map(|place| run.values[place.expect("it is measured")].expect("in every run"));
        assert_eq!((unicasts, multicasts), (0.0, 1.0 + relays), "{}", point.command());
        some += u32::from(relays > 0.0);
    }
    assert!(some > 40, "{some} runs have relays");
    assert_eq!(multicasts_as_indented(3, &[]), 0, "none, if it is never contacted");
    assert_eq!(multicasts_as_indented(3, &[4, 5, 4]), 3, "one for each worse preference");
}

/// A message on the ring: who created it and when, and whether it is a COORDINATOR message.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Token {
    initiator: usize,
    created: u64,
    coordinator: bool,
}

/// Tables 1 to 4 for one message: it goes from living process to living process. Its initiator
/// turns it into a COORDINATOR message, and discards that when it comes back. A process that
/// created an older one destroys it. `retire`: whoever follows a dead initiator takes its message
/// for its own. Returns after how many hops it ended, if it did within the horizon.
fn circles(token: Token, dead: &[usize], older: &[u64], retire: bool, horizon: u64) -> Option<u64> {
    let size = older.len();
    let (mut token, mut at) = (token, token.initiator);
    for hop in 1..=horizon {
        let start = at;
        at = (1..=size).map(|step| (start + step) % size).find(|place| !dead.contains(place))?;
        let passed = (1..=size).map(|step| (start + step) % size).take_while(|place| *place != at);
        let inherits = retire && passed.into_iter().any(|place| place == token.initiator);
        if at == token.initiator || inherits {
            if token.coordinator {
                return Some(hop);
            }
            token = Token { coordinator: true, initiator: at, ..token };
        } else if !token.coordinator && older[at] < token.created {
            return Some(hop);
        }
    }
    None
}

/// Tables 1 to 4: nobody but its initiator ends a message that is the oldest.
#[test]
fn as_printed_the_message_of_a_dead_initiator_circles_to_the_horizon() {
    const NONE: u64 = u64::MAX;
    let (size, horizon) = (10, 100_000);
    let token = |created| Token { initiator: 3, created, coordinator: false };
    let nobody = vec![NONE; size];
    assert_eq!(circles(token(1), &[], &nobody, false, horizon), Some(20), "it lives: twice round");
    assert_eq!(circles(token(1), &[3], &nobody, false, horizon), None, "it is dead");
    let corrected = circles(token(1), &[3], &nobody, true, horizon).expect("it ends");
    assert!(corrected <= 2 * size as u64, "{corrected}");
    // A younger one is destroyed where somebody called before.
    let mut called = nobody;
    called[7] = 1;
    assert_eq!(circles(token(2), &[3], &called, false, horizon), Some(4));
}
