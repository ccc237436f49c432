//! The errors of the paper on probabilistic election.

use super::{Case, Erratum};
use crate::inputs::{Inputs, Loss};
use crate::probabilistic::point;
use bellwether_protocols::probabilistic::Reinitiate;
use bellwether_sim::Measure;

/// Nothing is lost and nobody fails.
fn calm(nodes: u32, k: u32, view: f64) -> Inputs {
    let given = Inputs { nodes, k, view, fail: 0.0, ..Inputs::default() };
    Inputs { unicast_loss: 0.0, multicast_loss: 0.0, ..given }
}

/// Figure 4's parameters.
fn figure_4(k: u32) -> Inputs {
    let given = Inputs { nodes: 10_000, k, view: 0.4, fail: 0.01, ..Inputs::default() };
    Inputs { unicast_loss: 0.01, multicast_loss: 0.01, ..given }
}

/// Half of all unicasts are lost.
fn lossy(k: u32, view: f64) -> Inputs {
    Inputs { unicast_loss: 0.5, ..calm(1000, k, view) }
}

fn forms(quantity: &'static str, given: Inputs) -> Case {
    Case::Forms { quantity, given, runs: 2000 }
}

/// A test that decides.
fn test(command: &'static str) -> Case {
    Case::Test { command }
}

/// All of them.
pub(super) fn errata() -> Vec<Erratum> {
    let mut all = bounds();
    all.push(agreement());
    all.extend(limits());
    all.extend(costs());
    all.extend(programs());
    all.extend(ambiguities());
    all
}

/// E1 and E2.
fn bounds() -> Vec<Erratum> {
    vec![
        Erratum {
            title: "E1: the tails of a normal distribution",
            section: "Gupta and others, section 4, Pr[E1]",
            printed: "Pr[E1] ≥ 1 − 2√(2/πK_1) e^{−K_1/8} − 2√(2/πK_2) e^{−K_2/8}",
            corrected: "sums of binomial distributions, both events together",
            why: "for few relays the bound is far too low, and says nothing below K = 4. For many \
                  it is no bound: the number of relays is nearly Poisson's, whose upper tail is \
                  heavier than the normal distribution's. Where many fail the printed value is too \
                  high from about K_2 = 45 on; where nobody does, from about K = 95 on, when both \
                  are within 10⁻⁵ of 1.",
            cases: vec![
                forms("probabilistic.e1", calm(10_000, 3, 0.5)),
                forms("probabilistic.e1", calm(10_000, 7, 0.5)),
                forms("probabilistic.e1", figure_4(40)),
                forms("probabilistic.e1", Inputs { fail: 0.5, ..calm(10_000, 90, 0.5) }),
                Case::Test {
                    command: "cargo test -p bellwether-analysis --test analysis \
                              relays_are_within_half_of_k_as_often_as_computed",
                },
            ],
        },
        Erratum {
            title: "E2: a limit for what is small, and too few edges",
            section: "Gupta and others, section 4, Pr[E2|E1]",
            printed: "a graph of m members with edges of probability v = view_prob is connected \
                      with probability e^{−m(1−v)^{m−1}}, \"and this rises with m\"; m = K_2/2",
            corrected: "P_1 = 1, P_m = Σ_{k<m} C(m−2, k−1) P_k P_{m−k} (1−(1−p)^k) \
                        (1−p)^{k(m−1−k)}, with p = 1−(1−v)² for the relay graph",
            why: "the expression is a limit for large m. For small m it may be above the exact \
                  value, and then is no lower bound; and P_m falls before \
                  it rises: one relay is connected, two need an edge. But the relay graph has an \
                  edge if one of two sees the other, so it has far more edges than the text counts \
                  on, and in the end the printed value is much too low. `random-graph` takes K and \
                  v for m and the probability of an edge; `connected` is averaged over the number \
                  of relays, its printed form being E1·E2.",
            cases: vec![
                forms("probabilistic.random-graph", calm(6, 6, 0.4)),
                forms("probabilistic.random-graph", calm(12, 12, 0.2)),
                forms("probabilistic.e2", figure_4(20)),
                forms("probabilistic.connected", calm(1000, 7, 0.5)),
                forms("probabilistic.connected", calm(1000, 7, 0.2)),
                forms("probabilistic.connected", calm(1000, 14, 0.2)),
            ],
        },
    ]
}

/// E3.
fn agreement() -> Erratum {
    Erratum {
        title: "E3: a gap in the proof",
        section: "Gupta and others, section 4, Pr[E3|E1, E2]",
        printed: "(1−p_fail)(1−p_ucastl)^{3K_2/2−1}: the word of the best one arrives along \
                  each edge of a spanning tree",
        corrected: "the same; not proved, and not refuted",
        why: "if only the far end of an edge sees the near one, the near one knows of the other \
              when it has been told something, and can answer then: two unicasts must arrive, and \
              not one. For two relays that see a twentieth of the group, at a loss of a half, one \
              arrival has probability .5 and agreement less than .4. But the exponent counts on \
              the most relays that E1 allows, and most rounds have fewer. A search of small views, \
              much loss and groups in which all are relays found no round that falls below the \
              bound; two unicasts for every edge, as we once had it, is far too low.",
        cases: vec![
            forms("probabilistic.success", figure_4(20)),
            forms("probabilistic.success", lossy(12, 0.4)),
            forms("probabilistic.success", lossy(20, 0.2)),
            forms("probabilistic.success", lossy(40, 0.1)),
            Case::Test {
                command: "cargo test -p bellwether-analysis --test analysis \
                          no_round_with_small_views_and_much_loss_refutes_the_printed_bound_on_e3",
            },
        ],
    }
}

/// What is said of large groups and of failures.
fn limits() -> Vec<Erratum> {
    let failing = |nodes, fail| Inputs { fail, ..calm(nodes, 7, 0.5) };
    let hard_of_hearing = |nodes| Inputs { multicast_loss: 0.1, ..calm(nodes, 7, 1.0) };
    let deaf = |nodes| Inputs { fail: 0.1, multicast_loss: 0.4, ..calm(nodes, 12, 0.5) };
    vec![
        Erratum {
            title: "\"10^107\"",
            section: "Gupta and others, section 4, below figure 4",
            printed: "E4 is near 1 for N ≪ p_mcastl^{−3K_2/2}, \"which, for K = 40, turns out as \
                      10^107\"",
            corrected: "N ≪ p_mcastl^{−K_2/2}: 10^39.2",
            why: "by its own formula the number is 10^117.6. But E4 itself, (p_fail + (1−p_fail) \
                  (1−p_mcastl^{K_2/2}))^N, counts on the fewest relays that E1 allows and not on \
                  the most. Still beyond any group at K = 40; at K = 7 and a loss of .1 it is \
                  some thousands. Shown is the power of ten; and success where everyone sees \
                  everyone, so that only a member who hears no relay spoils a round: at K = 7 it \
                  falls long before 10^9.45.",
            cases: vec![
                forms("probabilistic.largest-group", figure_4(40)),
                forms(
                    "probabilistic.largest-group",
                    Inputs { multicast_loss: 0.1, ..calm(2000, 7, 0.5) },
                ),
                forms("probabilistic.success.full-views", hard_of_hearing(100)),
                forms("probabilistic.success.full-views", hard_of_hearing(10_000)),
            ],
        },
        Erratum {
            title: "Theorem 2: misplaced exponents, and a limit that is not 1",
            section: "Gupta and others, section 4, Theorem 2",
            printed: "Pr[E1] · (1 − (1 − (1−p_fail)(1−p_mcastl))^{3K_2/2})^N, which \"goes to \
                      unity as N tends to infinity\"",
            corrected: "Pr[E1] · [1 − (1 − (1−p_fail)(1−p_mcastl)^{⌊3K_2/2⌋})^N]",
            why: "the line before the theorem has the exponents where they belong; as printed it \
                  goes to 0. Corrected it goes to Pr[E1] and not to 1. Nor is it the probability \
                  that another round begins: a leader that failed within the round is seen by \
                  nobody, and who sees that something is wrong begins again with probability K/N \
                  only, by the rule of figure 3. The test simulates rounds: that somebody hears \
                  all final messages becomes more probable as N grows.",
            cases: vec![
                forms("probabilistic.detection", deaf(100)),
                forms("probabilistic.detection", deaf(10_000)),
                forms("probabilistic.detection", deaf(1_000_000)),
                Case::Test {
                    command: "cargo test -p bellwether-analysis --test analysis \
                              somebody_hears_all_final_messages_more_often_in_larger_groups",
                },
            ],
        },
        Erratum {
            title: "Success is at most 1 − p_fail",
            section: "Gupta and others, sections 4 and 5",
            printed: "success near 1, and graphs for p_fail \"very similar\" to those for loss",
            corrected: "at most about 1 − p_fail in a round, for any K",
            why: "no step of figure 3 notices that the elected leader has failed: all that is \
                  looked at is whether final messages name one leader. Simulated with everyone a \
                  relay, full views and nothing lost, where nothing else can go wrong. Loss can be \
                  made up for by more relays, failures of the leader cannot.",
            cases: [0.01, 0.1, 0.5]
                .map(|fail| forms("probabilistic.ceiling", failing(20, fail)))
                .to_vec(),
        },
    ]
}

/// How many there are and what they send.
fn costs() -> Vec<Erratum> {
    vec![
        Erratum {
            title: "Half a view, twice the relays",
            section: "Gupta and others, section 3.1",
            printed: "a member passes if H(M_i A_I) × N_i < K, N_i the size of its view",
            corrected: "N_i must be an estimate of the size of the group",
            why: "with views of half the group twice as many pass, with views of a fifth five \
                  times as many, while section 4 counts on K. The text says in brackets that the \
                  size might be gossiped; it is not a refinement.",
            cases: vec![
                forms("probabilistic.relays.by-view", calm(1000, 7, 0.5)),
                forms("probabilistic.relays.by-view", calm(1000, 7, 0.2)),
            ],
        },
        Erratum {
            title: "m³/2 unicasts are no upper bound",
            section: "Gupta and others, section 4, Theorem 3",
            printed: "\"at most m³/2 (since there are at most m²/2 edges … and m initial \
                      preferences)\"",
            corrected: "on average E[R]·(N−1)·view_prob·K/N initial preferences of R relays; \
                        answers and changes of mind come on top unless all see everyone",
            why: "a preference may cross an edge both ways, and a worse one is answered. Three \
                  relays that see each other and prefer three different ones send 14 to 18 \
                  unicasts, which a test simulates; m³/2 is 13.5. Nor does it hold in the mean, \
                  where m is random: m³ is largest when there are many. O(K³) is right.",
            cases: vec![
                forms("probabilistic.unicasts", calm(1000, 1, 1.0)),
                forms("probabilistic.unicasts", calm(1000, 7, 1.0)),
                forms("probabilistic.unicasts", calm(1000, 7, 0.5)),
            ],
        },
    ]
}

/// What the protocol of figure 3 does.
fn programs() -> Vec<Erratum> {
    let by_hash = |loss| {
        let printed = point(1000).loss(Loss::apart(loss));
        let printed = printed.with("reinitiate", Reinitiate::Hash.name());
        let parameters = format!("N = 1000, view = {}, l = {loss}", printed.view);
        Case::Programs { printed, parameters, measure: Measure::StrongSuccess }
    };
    vec![Erratum {
        title: "Nobody begins again where few have reason to",
        section: "Gupta and others, figure 3, step 3; figure 5(a)",
        printed: "who was told of no leader or of several begins another round if its hash \
                      passes K/N_i; strong success is near 1 up to a loss of .4",
        corrected: "it begins after a random delay, unless another has begun, as section 3.1 \
                        suggests",
        why: "with loss a few members miss all final messages, and each of them begins another \
                  round with probability K/N. Mostly none does, and they never know who leads. \
                  Shown is strong success with the hash and with the delay, five rounds at most.",
        cases: [0.001, 0.05, 0.1, 0.2, 0.4].map(by_hash).to_vec(),
    }]
}

/// What figure 3 leaves open or has in the wrong place.
fn ambiguities() -> Vec<Erratum> {
    vec![
        Erratum {
            title: "Equals answer each other for ever",
            section: "Gupta and others, figure 3, step 2",
            printed: "\"if M_k's preference better … else inform M_k\"",
            corrected: "a relay answers only if M_k's preference is strictly worse than its own",
            why: "two relays that prefer the same one would each answer the other's answer, until \
                  Time_Out_2 ends it. No preference is better than an equal one, so nothing is \
                  lost with the answer.",
            cases: vec![
                test(
                    "cargo test -p bellwether-analysis --test paper \
                              if_equals_are_answered_two_relays_write_until_the_time_out",
                ),
                test(
                    "cargo test -p bellwether-protocols --lib \
                              only_a_strictly_worse_choice_is_answered",
                ),
            ],
        },
        Erratum {
            title: "The initiator decides too soon",
            section: "Gupta and others, section 3.3",
            printed: "Time_Out_1 = compute + Time_Out_2 + Time_Out_3, and Time_Out_3 is the \
                      longest that a multicast takes",
            corrected: "both phases are longer by a multicast's delay",
            why: "the round begins for its initiator when it sends, for others when they hear: up \
                  to a multicast's delay later. Their final messages are sent as much later, and \
                  arrive up to one more delay after that, when the initiator has decided. Relays \
                  that begin late are in the same way cut short by those that began early.",
            cases: vec![
                test(
                    "cargo test -p bellwether-analysis --test paper \
                              by_the_printed_time_outs_an_initiator_decides_too_soon",
                ),
                test(
                    "cargo test -p bellwether-protocols --lib \
                              time_outs_follow_from_k_and_the_delays",
                ),
            ],
        },
        Erratum {
            title: "Who multicasts, and when",
            section: "Gupta and others, figure 3, step 2",
            printed: "\"multicast current best leader choice to entire group\" stands within the \
                      `else` of the loop",
            corrected: "it follows the loop: each relay multicasts once, when Time_Out_2 is over",
            why: "the text says so: \"finally, at the end of the Relay phase\", and Theorem 4 \
                  counts one multicast for each relay. As indented each answer to a worse \
                  preference would be a multicast, and a relay that is never contacted would send \
                  none. Shown are the multicasts of a round: the call and one for each relay; the \
                  test has relays that nobody contacts.",
            cases: vec![
                forms("probabilistic.multicasts", calm(1000, 7, 0.5)),
                test(
                    "cargo test -p bellwether-analysis --test paper \
                              a_relay_that_nobody_contacts_multicasts_once_all_the_same",
                ),
            ],
        },
        nothing_to_hash(),
    ]
}

/// What whoever heard nothing is to do.
fn nothing_to_hash() -> Erratum {
    Erratum {
        title: "Nothing to hash",
        section: "Gupta and others, figure 3, step 3",
        printed: "\"if received none or more than one leader as final choice: choose one of \
                  the final choice messages F; if H(M_i A_F) × N_i < K\"",
        corrected: "whoever received none hashes the name of the round",
        why: "who received no final message has no F. It is the case that matters: with loss \
              most of those that begin again have received none.",
        cases: vec![test(
            "cargo test -p bellwether-protocols --lib \
                      whoever_heard_nothing_hashes_the_name_of_the_round",
        )],
    }
}
