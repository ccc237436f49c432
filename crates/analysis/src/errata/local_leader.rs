//! The errors of the paper on local leaders.

use super::{Case, Erratum};
use crate::figures::Verdict;
use crate::inputs::{Inputs, Loss};
use crate::local_leader::Leases;
use crate::point::Point;
use bellwether_core::Duration;
use bellwether_protocols::local_leader::Preset;
use bellwether_sim::{Measure, Scenario};

/// So many processes, and messages of a millisecond.
fn given(nodes: u32) -> Inputs {
    Inputs { nodes, delay: 0.001, ..Inputs::default() }
}

fn forms(quantity: &'static str, given: Inputs) -> Case {
    Case::Forms { quantity, given, runs: 1000 }
}

/// With the paper's own constants.
fn of_the_paper(given: Inputs) -> Inputs {
    Inputs { leases: Leases { preset: Preset::Paper, ..Leases::default() }, ..given }
}

/// A claim that its figure refutes.
fn refuted(figure: &'static str, claim: &'static str) -> Case {
    Case::Figure { figure, claim, verdict: Verdict::Refuted }
}

/// A test that decides.
fn test(command: &'static str) -> Case {
    Case::Test { command }
}

/// All of them.
pub(super) fn errata() -> Vec<Erratum> {
    let mut all = safety();
    all.extend(bounds());
    all.extend(measurements());
    all.extend(availability());
    all.extend(wording());
    all
}

fn safety() -> Vec<Erratum> {
    vec![
        Erratum {
            title: "Two global leaders (C3)",
            section: "Fetzer and Cristian, sections VIII and X, figure 31",
            printed: "`CheckIfLeader`, second branch: a request that failed is given up by a \
                      `Release`; `imLeader` stays as it is",
            corrected: "`imLeader` becomes false before `Release` is sent: whoever frees its \
                        supporters no longer leads",
            why: "a leader whose *renewal* fails frees its supporters, who were locked to the \
                  renewal and to nothing else, while the lease before it still runs, for about σ. \
                  They may support another: (SO) is broken, logical partitions overlap, and with \
                  the support of majorities two global leaders lead at once, which section X \
                  excludes. `scenarios/hall-release-bug.toml` is such a run, and \
                  [a page](hall-release-bug.md) tells it.",
            cases: vec![
                test(
                    "cargo test -p bellwether-sim --test simulation \
                     as_published_two_lead_at_once_after_a_renewal_failed",
                ),
                test(
                    "cargo test -p bellwether-sim --test simulation \
                     with_the_third_correction_alone_the_same_events_have_one_leader_at_a_time",
                ),
            ],
        },
        Erratum {
            title: "A crash forgets a promise (C2)",
            section: "Fetzer and Cristian, section IX, figure 30",
            printed: "`lockedUntil: time init 0`, and the assumption that a process that crashes \
                      stays down for at least lockTime",
            corrected: "`lockedUntil` begins as H() + lockTime, unless it is the first life",
            why: "the text knows it, and leaves it to the machine. A service that restarts a \
                  process in less than lockTime breaks (SO): it may support another while the \
                  leader that it supported still leads. Without the rule the judge finds two \
                  leaders, with restarts and partitions.",
            cases: vec![
                test(
                    "cargo test -p bellwether-protocols --lib \
                     without_quarantine_a_process_forgets_its_promises_by_a_crash",
                ),
                test(
                    "cargo test -p bellwether-check --test judge \
                     mutants::judged::the_judge_kills_the_other_half_too",
                ),
            ],
        },
    ]
}

fn bounds() -> Vec<Erratum> {
    vec![
        Erratum {
            title: "(T) is short by σ",
            section: "Fetzer and Cristian, section IX-C.1",
            printed: "κ > (expires + σ + EP)(1+ρ) + 2Δ",
            corrected: "κ > (expires + σ + EP)(1+ρ) + 2Δ + σ + 4ρΔ",
            why: "the least process \"will become leader no later than time v + 2Δ\", v being when \
                  it sends its second request. But it decides when its alarm wakes it, which is \
                  2Δ(1+ρ) later by its own clock, and up to σ after that. Shown are both bounds, \
                  and how long it takes on average after a split; the figure and the test have \
                  runs that are later than the printed bound.",
            cases: vec![
                forms("local-leader.kappa.timeliness", given(5)),
                refuted(
                    "local-leader-27",
                    "There is a leader within κ = (expires + σ + EP)(1+ρ) + 2Δ.",
                ),
                test(
                    "cargo test -p bellwether-analysis --test paper \
                     a_leader_may_come_later_than_the_printed_bound",
                ),
            ],
        },
        Erratum {
            title: "lockTime leaves no room for σ (C1)",
            section: "Fetzer and Cristian, figure 30, against section IX-C.2",
            printed: "lockTime = (1−ρ)(EP(1−ρ) − Δ + δmin)",
            corrected: "lockTime = (1−ρ)((EP−σ)(1−ρ) − Δ + δmin), as the text has it",
            why: "a request may follow the one before after EP−σ. Whoever locked itself to another \
                  just before the first is then still locked at the second, and (T) needs a third. \
                  The second test simulates every phase of a healing: at most .310 s with room, \
                  and .350 s without.",
            cases: vec![
                forms("local-leader.constraint.lock-most", given(5)),
                forms("local-leader.constraint.lock-most", of_the_paper(given(5))),
                test(
                    "cargo test -p bellwether-protocols --lib \
                     without_room_for_scheduling_a_lock_may_outlast_the_time_between_two_requests",
                ),
                test(
                    "cargo test -p bellwether-check --test judge \
                     mutants::delays::room_for_scheduling",
                ),
            ],
        },
    ]
}

fn measurements() -> Vec<Erratum> {
    let later = |period| {
        let leases = of_the_paper(given(8)).leases;
        let period = Some(Duration::from_millis(period));
        Inputs { leases: Leases { period, ..leases }, ..given(8) }
    };
    let slow = Inputs { delay: 0.003, ..of_the_paper(given(8)) };
    vec![
        Erratum {
            title: "The constants of the measurements are not feasible",
            section: "Fetzer and Cristian, section X, sections IX-C and XI",
            printed: "Δ = 15 ms, σ = 30 ms, EP = 50 ms; \"Process p = min(SP) will stay leader as \
                      long as SP stays stable\"",
            corrected: "EP ≥ 3Δ + 2σ − δmin or so, 105 ms; such as EP = 200 ms, expires = 400 ms",
            why: "lockTime is 35 ms by figure 30 and 5 ms by the text, and must exceed \
                  (2Δ+σ)(1+3ρ) = 60 ms. So the alarm for the renewal, at lockTime(1−2ρ) − 2Δ(1+ρ) \
                  − σ after the request, lies in the past, and comes at once: if messages are fast \
                  enough, a leader asks again whenever the last answer has come, in a busy loop, \
                  which may be what was measured as 100,000 elections; if they take more than 2.5 \
                  ms, its lease is over before the answers come, and it leads a sixth of the time. \
                  Shown is how much of the time there is a leader.",
            cases: vec![
                forms("local-leader.presence", slow),
                forms("local-leader.presence", later(45)),
                forms("local-leader.presence", later(200)),
                refuted(
                    "local-leader-presence",
                    "With the constants of section XI the least process stays leader.",
                ),
            ],
        },
        Erratum {
            title: "\"expires could be reduced to about 50 ms\"",
            section: "Fetzer and Cristian, section XI, against IX-C",
            printed: "expires = 230 ms \"could be reduced to about 50ms (see Section IX-C)\"",
            corrected: "to 80 ms: expires ≥ EP + 2(1+ρ)(Δ−δmin); to 65 ms if a leader need not \
                        keep its supporters alive",
            why: "section IX-C is right, and says so: EP alone is 50 ms, and messages differ in \
                  their delays, by up to Δ−δmin each. 230 ms is about four times the lower bound, \
                  as the text also says, only if no message is faster than 11 ms. Shown is the \
                  least expires by section IX-C; the test has processes that are connected and \
                  forget each other with less, each way by its own bound.",
            cases: vec![
                forms("local-leader.constraint.expires", of_the_paper(given(8))),
                forms("local-leader.constraint.expires-heard", of_the_paper(given(8))),
                test(
                    "cargo test -p bellwether-analysis --test paper \
                     with_an_expires_of_about_the_period_connected_processes_forget_each_other",
                ),
            ],
        },
        Erratum {
            title: "\"One has to choose Δ > δ\"",
            section: "Fetzer and Cristian, section IV",
            printed: "Δ > δ, \"since one can only determine an upper bound\"",
            corrected: "Δ ≥ 2δ − δmin + 4ρ·hold, hold being how old the stamps are",
            why: "the bound of a message is that of the round trip that it ends, so that the \
                  message before it counts, too. A message of δ between two connected processes is \
                  fast for certain only if Δ is twice that; with less, the processes of a stable \
                  partition need not elect anybody. The test has groups whose messages take a \
                  little less and a little more than the longest time that Δ allows for.",
            cases: vec![
                forms("local-leader.datagram.bound", Inputs { delay: 0.008, ..given(5) }),
                test(
                    "cargo test -p bellwether-analysis --test paper \
                     a_threshold_just_above_the_delay_elects_nobody",
                ),
            ],
        },
    ]
}

fn availability() -> Vec<Erratum> {
    let lossy = |rate| Inputs { loss: Loss::apart(rate), ..given(5) };
    let presence = |rate: f64| {
        let point = Point::new("local-leader", 5).loss(Loss::apart(rate)).runs(200);
        Case::Programs {
            printed: point.scenario(Scenario::Start, 60.0).with("as-published", true),
            parameters: format!("N = 5, l = {rate} uncorrelated"),
            measure: Measure::LeadershipLossesPerHour,
        }
    };
    vec![
        Erratum {
            title: "One lost answer deposes a leader (C6)",
            section: "Fetzer and Cristian, section VIII, figure 31",
            printed: "one request in a lease, which all of the alive-set must answer",
            corrected: "a request every P; each that is answered prolongs the lease from its own \
                        sending; one that fails while the lease runs is sent again, without a \
                        `Release`; in majority mode a majority is enough",
            why: "a request and its answer both come through with (1−l)², so that a renewal fails \
                  with 1 − (1−l)^{2(N−1)}: with five processes and a loss of 1 % one in thirteen. \
                  Shown are the losses of leadership in an hour, by formula and by both programs.",
            cases: vec![
                forms("local-leader.losses-per-hour", lossy(0.01)),
                presence(0.01),
                presence(0.1),
                test(
                    "cargo test -p bellwether-protocols --lib \
                     without_retries_one_lost_vote_deposes_a_leader",
                ),
            ],
        },
        Erratum {
            title: "One's own vote decides nothing (C4)",
            section: "Fetzer and Cristian, figure 31",
            printed: "a leader checks early, before its alarm, when a `Reply` completes its \
                      reply-set; its own `Election` puts it into that set and checks nothing",
            corrected: "the same check after both",
            why: "if its own message comes last, the lease is prolonged only when the alarm comes, \
                  2Δ later. A process that is alone waits for its alarm always.",
            cases: vec![
                test(
                    "cargo test -p bellwether-protocols --lib \
                     without_one_s_own_vote_deciding_a_process_alone_waits_for_its_alarm",
                ),
                test(
                    "cargo test -p bellwether-check --test judge mutants::delays::own_vote_decides",
                ),
            ],
        },
        Erratum {
            title: "Supporters are silent towards newcomers (C5)",
            section: "Fetzer and Cristian, sections IV and VIII",
            printed: "a process \"replies to all fast Election-messages and ignores all slow \
                      messages\"",
            corrected: "the datagram service answers a message that it cannot bound with an empty, \
                        stamped one",
            why: "a message is fast only if it ends a round trip, and supporters send nothing but \
                  replies. A newcomer has no round trip with them, so that its messages are slow; \
                  slow messages are not answered, so that it never has one. It asks for ever, and \
                  (BI) is broken.",
            cases: vec![
                test(
                    "cargo test -p bellwether-protocols --lib \
                     without_answers_whoever_comes_late_to_the_silent_is_never_bounded",
                ),
                test("cargo test -p bellwether-check --test judge mutants::delays::answer"),
            ],
        },
    ]
}

fn wording() -> Vec<Erratum> {
    vec![
        Erratum {
            title: "Figure 24 does not say who leads",
            section: "Fetzer and Cristian, section X, figure 24",
            printed: "\"LS contains exactly the set of local leaders\": process after process, \
                      from the least, l leads if neither it nor a process connected to it is \
                      marked; all connected to it are then marked",
            corrected: "a process is local if no neighbour is less, silent if a lesser neighbour \
                        is local, and sporadic otherwise. A local one leads steadily if no \
                        neighbour of its neighbours is less and local or sporadic, and at times if \
                        only sporadic ones are in its way",
            why: "the text marks the neighbours of those who do not lead, too, or of leaders only; \
                  neither is what happens. A process that hears only silent ones that are less \
                  asks now and then, when they have been silent for `expires`, and others lock to \
                  it meanwhile. The figure itself is missing from our copy.",
            cases: vec![
                refuted(
                    "local-leader-24",
                    "The algorithm computes exactly the leaders, the neighbours of leaders marked.",
                ),
                refuted(
                    "local-leader-24",
                    "The algorithm computes exactly the leaders, the neighbours of all marked.",
                ),
                test(
                    "cargo test -p bellwether-analysis --test paper \
                     who_leads_in_a_connected_set_is_known_from_its_graph",
                ),
            ],
        },
        Erratum {
            title: "The text's alarm for the renewal is late by σ",
            section: "Fetzer and Cristian, sections VIII and X, against figure 31",
            printed: "the next `Election` is sent at expirationTime − 2Δ(1+ρ)",
            corrected: "at expirationTime − 2Δ(1+ρ) − σ, as the figure has it",
            why: "the alarm may wake a timely process σ later, and the answers then come when the \
                  lease is over. Shown is how long after its request a leader sends the next; \
                  simulated is the protocol of the figure. The test has the printed pseudo-code \
                  with both alarms, each late by σ.",
            cases: vec![
                forms("local-leader.next-request", given(5)),
                test(
                    "cargo test -p bellwether-analysis --test paper \
                     a_renewal_alarm_that_leaves_no_room_for_sigma_lets_every_lease_lapse",
                ),
            ],
        },
        Erratum {
            title: "By the text no process may support itself",
            section: "Fetzer and Cristian, section VIII, against figure 31 and (LS)",
            printed: "a process q only locks to p if \"p's id is smaller than q's id\"",
            corrected: "no greater: `sender ≤ myid`, as the figure has it",
            why: "p must support itself to lead (LS), and its id is not smaller than its own: by \
                  the text nobody ever leads. If a leader need not support itself, it may support \
                  another.",
            cases: vec![
                test(
                    "cargo test -p bellwether-analysis --test paper \
                     if_a_supporter_demands_a_smaller_id_than_its_own_nobody_ever_leads",
                ),
                test(
                    "cargo test -p bellwether-protocols --lib \
                     without_self_support_a_leader_may_support_another",
                ),
            ],
        },
    ]
}
