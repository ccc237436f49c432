//! The errors of the announce-listen chapter.

use super::{Case, Erratum};
use crate::announce_listen::point;
use crate::inputs::{Inputs, Loss};
use crate::point::duration;
use bellwether_protocols::announce_listen::Variant;
use bellwether_sim::{Measure, Scenario};

const CORRELATED: Loss = Loss::Correlated(0.4);
const UNCORRELATED: Loss = Loss::Uncorrelated(0.4);

fn given(nodes: u32, loss: Loss) -> Inputs {
    Inputs { nodes, loss, ..Inputs::default() }
}

fn listening(nodes: u32, loss: Loss, listen: f64) -> Inputs {
    Inputs { listen, ..given(nodes, loss) }
}

fn at_once(nodes: u32, loss: Loss) -> Inputs {
    Inputs { delay: 0.0, ..given(nodes, loss) }
}

fn forms(quantity: &'static str, given: Inputs) -> Case {
    Case::Forms { quantity, given, runs: 4000 }
}

/// All of them.
pub(super) fn errata() -> Vec<Erratum> {
    let mut all = delays();
    all.extend(messages());
    all.extend(lossy_messages());
    all.extend(recovery());
    all.extend(joiners());
    all.extend(inconsistency());
    all.push(programs());
    all
}

fn delays() -> Vec<Erratum> {
    vec![
        Erratum {
            title: "Leadership delay with uncorrelated loss",
            section: "section 5.3.1.3",
            printed: "E[t_s] + Δ + T_A·Σ_{i=1..N} (−1)^{i+1} C(N,i)/(1−l^i)",
            corrected: "E[t_s] + Δ + T_A·X(N−1), X(n) = Σ_{i≥1} [1 − (1−l^i)^n]",
            why: "the sum counts attempts, but only those beyond the first take time; and it \
                  counts N receivers, but the leader is none. As printed the formula is also \
                  worthless in floating point beyond N ≈ 50, where its alternating terms cancel.",
            cases: vec![
                forms("le-s.leadership-delay", given(2, UNCORRELATED)),
                forms("le-s.leadership-delay", given(10, UNCORRELATED)),
                forms("le-s.leadership-delay", given(500, UNCORRELATED)),
                forms("le-a.leadership-delay", given(10, UNCORRELATED)),
            ],
        },
        Erratum {
            title: "\"Asymptotic in N\"",
            section: "sections 5.4.1 and 5.6",
            printed: "as N grows, the delay with uncorrelated loss approaches a limit",
            corrected: "it grows without limit, by T_A·ln 10/ln(1/l) for ten times as \
                        many processes",
            why: "the last of n receivers to lose its last announcement is about the maximum of n \
                  geometric variables, whose mean grows with the logarithm of n.",
            cases: [100, 1_000, 10_000, 100_000, 1_000_000]
                .map(|nodes| Case::Forms {
                    quantity: "le-s.leadership-delay",
                    given: given(nodes, UNCORRELATED),
                    runs: if nodes > 100_000 { 100 } else { 1000 },
                })
                .to_vec(),
        },
    ]
}

fn messages() -> Vec<Erratum> {
    vec![
        Erratum {
            title: "Messages in the suppression interval with correlated loss",
            section: "section 5.3.3.2",
            printed: "N·P(Δ)/(1−l) + ∫ p(t) [1 − (1−(1−l)P(t−Δ))^N]/P(t−Δ) dt",
            corrected: "N·P(Δ) + 1/(1−l) ∫ p(t) [1 − (1−(1−l)P(t−Δ))^N]/P(t−Δ) dt",
            why: "the last step of the derivation sums a geometric series of ratio 1−(1−l)P, which \
                  divides the integral by (1−l)P; the text divides the other term by 1−l instead.",
            cases: vec![
                forms("le-s.messages-in-suppression", given(10, CORRELATED)),
                forms("le-s.messages-in-suppression", given(100, CORRELATED)),
                forms("le-s.messages-in-suppression", given(500, CORRELATED)),
            ],
        },
        Erratum {
            title: "Messages until convergence without loss",
            section: "sections 5.3.3.1 and 5.4.1",
            printed: "N·P(Δ) + ∫ p(t) [1 − (1−P(t−Δ))^N]/P(t−Δ) dt, the messages of the first T_S, \
                      shown as those until convergence",
            corrected: "N·Δ + H_N − Δ with uniform timers, T_A = T_S = 1",
            why: "a leader that wakes within Δ of T_S is heard after T_S, and those that woke \
                  first have announced a second time by then. These messages come before \
                  convergence and after the integral ends. They are few: the difference is less \
                  than one message, and at Δ = .1 a simulation sees it only if second messages are \
                  counted by themselves. With a delay of half of T_S all messages show it. Nor \
                  does the text say when it stops to count: when the converging message is sent, \
                  Δ before it is received, there are fewer.",
            cases: vec![
                forms("le-s.messages", given(10, Loss::None)),
                forms("le-s.messages", given(100, Loss::None)),
                forms("le-s.messages", given(500, Loss::None)),
                forms("le-s.messages", Inputs { delay: 0.5, ..given(10, Loss::None) }),
                forms("le-s.messages-in-second-round", given(10, Loss::None)),
                forms(
                    "le-s.messages-in-second-round",
                    Inputs { delay: 0.5, ..given(10, Loss::None) },
                ),
                forms("le-s.messages-at-convergence", given(10, Loss::None)),
                forms("le-s.messages-at-convergence", given(100, Loss::None)),
            ],
        },
    ]
}

fn lossy_messages() -> Vec<Erratum> {
    vec![
        Erratum {
            title: "Number of messages with uncorrelated loss",
            section: "section 5.3.3.3",
            printed: "Σ_{r≥1} Σ_{1≤i<N} i·r·Q(i,N,r)",
            corrected: "Σ_{r≥1} [Σ_{i≤N} i·Q(i,N,r) − (1−l^{r−1})^{N−1}], with Q as corrected \
                        below, or by the closure of `le-s.closure`",
            why: "a message of round r is one message, not r; all N can send; and the leader goes \
                  on announcing after convergence, so that the rounds after it have to be taken \
                  out: with Q as the text describes it, a probability, the sum is infinite. With \
                  Q as printed, which shrinks from round to round, it is finite and wrong; that is \
                  the printed value here. It is 38 % too low for five processes and far outside \
                  the interval for all three groups. The corrected value, by the closure, is an \
                  approximation that is too high, by 1 to 5 %. At N = 500 the printed value, which \
                  grows faster, passes the simulated one and is nearer to it by chance.",
            cases: vec![
                forms("le-s.messages", at_once(5, UNCORRELATED)),
                forms("le-s.messages", at_once(50, UNCORRELATED)),
                forms("le-s.messages", at_once(500, UNCORRELATED)),
            ],
        },
        Erratum {
            title: "The recurrence Q(i, n, r), S(n, r)",
            section: "section 5.3.3.3",
            printed: "Q(i,n,r) in terms of Q(·,n−1,r−1) and S(n,r−1); exponent i−q; \
                      Q(i,i,r) = l^{r·i(i−1)/2}",
            corrected: "Q(i,n,r) = S(n,r)·a_{i−1}·Q(i−1,n−1,r) + (1 − S(n,r)·a_i)·Q(i,n−1,r), a_i \
                        = (1−l^{i+1})/((i+1)(1−l)), S(n,r) = S(n,r−1)·Σ_{i≥0} Q(i,n−1,r−1)·l^i, \
                        Q(0,0,r) = S(n,1) = S(1,r) = 1",
            why: "who sends in round r depends on who else sends in round r; a process that did \
                  not reach the round sends nothing, whatever it heard; and of processes that have \
                  not spoken yet nothing has to be lost. Even so corrected, the recurrence takes \
                  the times of the messages as independent of who sends, and is too high for many \
                  processes: without loss it should give H_N. At N = 100 and a loss of .4 it is \
                  nearly a half too high and the printed value a third too low: that one is nearer \
                  to the simulation, and far outside its interval, too. `first-round` is Q(i,n,1), \
                  printed and exact.",
            cases: vec![
                forms("le-s.first-round", Inputs { sent: 3, ..at_once(3, UNCORRELATED) }),
                forms("le-s.first-round", Inputs { sent: 4, ..at_once(10, UNCORRELATED) }),
                forms(
                    "le-s.recurrence.q",
                    Inputs { round: 1, sent: 3, ..at_once(3, UNCORRELATED) },
                ),
                forms(
                    "le-s.recurrence.q",
                    Inputs { round: 2, sent: 2, ..at_once(2, UNCORRELATED) },
                ),
                forms("le-s.recurrence.s", Inputs { round: 2, ..at_once(3, UNCORRELATED) }),
                forms("le-s.recurrence", at_once(5, UNCORRELATED)),
                forms("le-s.recurrence", at_once(100, UNCORRELATED)),
                forms("le-s.recurrence", at_once(100, Loss::None)),
            ],
        },
    ]
}

/// A test that decides.
fn test(command: &'static str) -> Case {
    Case::Test { command }
}

/// The delay after a departure.
const DEPARTURE: &str = "le-s.reestablishment-delay.departure";

fn recovery() -> Vec<Erratum> {
    const FALSE: &str = "le-s.reestablishment-delay.false-departure";
    vec![
        Erratum {
            title: "Delay after a departure with uncorrelated loss",
            section: "sections 5.3.2.3 and 5.4.4",
            printed: "T_L + 2Δ − E[t_d] + E[t_s], as without loss",
            corrected: "the same plus T_A·E[max_{j≤N−2}(max(a − ⌊(s+Δ)/T_A⌋ − K_j, 0) + G_j) − a], \
                        a, K_j, G_j numbers of losses before a success",
            why: "listeners that lost fewer of the old leader's last announcements trust it for \
                  longer, and until then ignore the new one; then each has to receive one of its \
                  announcements. With correlated loss they all lose the same ones, and the two \
                  effects cancel, as the text says.",
            cases: vec![
                forms(DEPARTURE, listening(20, CORRELATED, 30.0)),
                forms(DEPARTURE, listening(20, Loss::Uncorrelated(0.1), 30.0)),
                forms(DEPARTURE, listening(20, UNCORRELATED, 30.0)),
            ],
        },
        Erratum {
            title: "A departure that leaves one process",
            section: "section 5.3.2",
            printed: "T_L + 2Δ − E[t_d] + E[t_s] for N ≥ 1 that are left",
            corrected: "T_L + Δ − E[t_d] − T_A·l/(1−l), if one is left",
            why: "a process that is left alone need not be heard by anybody: it leads as soon as \
                  it notices. And nothing makes up for what it had lost before, by which it \
                  notices sooner.",
            cases: vec![
                forms(DEPARTURE, listening(2, Loss::None, 30.0)),
                forms(DEPARTURE, listening(2, CORRELATED, 30.0)),
            ],
        },
        Erratum {
            title: "Length of a false departure",
            section: "sections 5.3.2.2 and 5.3.2.3",
            printed: "T_A·(E[# consecutive lost] + 1) − T_L",
            corrected: "correlated T_A/(1−l) − θT_A, with T_L = (m+θ)T_A; uncorrelated: the \
                        fraction of time over the rate at which it begins",
            why: "given that the listen timer has run out, losses have no memory: what remains is \
                  a fresh wait for an announcement. The printed value subtracts all of T_L from an \
                  average over all gaps, most of which are shorter than T_L, and is negative \
                  wherever T_L is chosen with any care.",
            cases: vec![
                forms(FALSE, listening(10, CORRELATED, 2.5)),
                forms(FALSE, listening(10, CORRELATED, 4.0)),
                forms(FALSE, listening(10, UNCORRELATED, 4.5)),
            ],
        },
        which_process(),
    ]
}

/// Who ends an election, and how long ago the last announcement was.
fn which_process() -> Erratum {
    Erratum {
        title: "Which process, and which intervals",
        section: "section 5.3.3.2 and footnote 2",
        printed: "all go on \"until such time that it receives a message from process \
                  q_{N−1}\"; E[t_d] is the mean of ∫_{T_A}^0 D(T)dt + ∫_{2T_A}^{T_A} \
                  (t−T_A)·D(T)dt + … + ∫_{(N−1)T_A}^{(N−1)T_A} …",
        corrected: "from process q_0; ∫_{(k−1)T_A}^{kT_A} (t−(k−1)T_A)·D(t)dt",
        why: "section 5.3.3.3 and chapter 3 order processes from the largest address to the \
              smallest, so the leader is q_0, which \"always sends a message\". The limits of \
              the integrals are exchanged, the last one is empty, and the first lacks its t: \
              as printed E[t_d] is negative. For departures at any time it is T_A/2, which the \
              simulations of the delay after a departure support. A test evaluates the printed \
              sum beside such a simulation. Another walks through all orders in which four \
              processes may wake: q_{N−1} announces itself in one of four, and in the others \
              nobody would stop.",
        cases: vec![
            forms(DEPARTURE, listening(20, Loss::None, 30.0)),
            test(
                "cargo test -p bellwether-analysis --test paper \
                 the_mean_time_since_an_announcement_is_half_and_negative_as_printed",
            ),
            test(
                "cargo test -p bellwether-analysis --test paper \
                 the_least_process_is_mostly_silent_so_nobody_can_wait_for_it",
            ),
        ],
    }
}

fn joiners() -> Vec<Erratum> {
    vec![
        Erratum {
            title: "A greater process joins, uncorrelated loss",
            section: "section 5.3.2.3",
            printed: "E[t_s] + Δ + T_A·Σ_{i=1..N} (−1)^{i+1} C(N,i)/(1−l^i)",
            corrected: "E[t_s] + Δ + T_A·X(N), N before the arrival",
            why: "attempts are counted instead of those beyond the first. The number of receivers \
                  happens to be right: all N that were there must hear the joiner.",
            cases: vec![forms(
                "le-s.reestablishment-delay.joiner-greater",
                listening(10, UNCORRELATED, 30.0),
            )],
        },
        Erratum {
            title: "How often a joiner is to lead",
            section: "section 5.3.4",
            printed: "the fraction of time lost to arrivals is the delay times their rate, without \
                      a word on which of the two delays",
            corrected: "one joiner in N+1 is the greatest, if ids are random; N in N+1 are not",
            why: "the two delays differ, by X(N) announcements with uncorrelated loss. Both forms \
                  are weighed like this here, and differ by the errors of the delays.",
            cases: vec![
                forms("le-s.inconsistent-fraction.joiners", given(10, Loss::None)),
                forms("le-s.inconsistent-fraction.joiners", given(10, UNCORRELATED)),
            ],
        },
        Erratum {
            title: "A smaller process joins, uncorrelated loss",
            section: "section 5.3.2.3",
            printed: "the wait for the next announcement + T_A·Σ_{i=1..N} (−1)^{i+1} \
                      C(N,i)/(1−l^i)",
            corrected: "T_A/2 + T_A·l/(1−l), as with correlated loss",
            why: "only the joiner has to hear the leader; all others have.",
            cases: vec![forms(
                "le-s.reestablishment-delay.joiner-smaller",
                listening(10, UNCORRELATED, 30.0),
            )],
        },
    ]
}

fn inconsistency() -> Vec<Erratum> {
    const FALSE: &str = "le-s.inconsistent-fraction.false-departure";
    vec![
        Erratum {
            title: "Fraction of time lost to false departures",
            section: "sections 5.3.4 and 5.4.4",
            printed: "1 − T_L/(T_A·(E[# consecutive lost] + 1)), and none if T_L > T_A·E[# \
                      consecutive lost]",
            corrected: "correlated l^m(1−θ(1−l)); uncorrelated θ[1−(1−l^{m+1})^{N−1}] + \
                        (1−θ)[1−(1−l^m)^{N−1}], with T_L = (m+θ)T_A",
            why: "false departures come from the tail of the number of losses, not from its mean: \
                  no T_L avoids them \"on average\". The printed fraction is negative where T_L \
                  exceeds the mean, and far too large where it does not.",
            cases: vec![
                forms(FALSE, listening(10, CORRELATED, 1.5)),
                forms(FALSE, listening(10, CORRELATED, 2.5)),
                forms(FALSE, listening(10, UNCORRELATED, 4.5)),
            ],
        },
        Erratum {
            title: "Fraction of time lost to departures",
            section: "section 5.3.4",
            printed: "delay/T_d, T_d the time between departures from the system",
            corrected: "delay/(N·T_d): only the leader's departures count, 1/N of random ones",
            why: "a process that does not lead departs without any effect on the agreement of the \
                  others, as section 5.3.2 says itself.",
            cases: vec![forms(
                "le-s.inconsistent-fraction.departures",
                listening(20, Loss::None, 3.0),
            )],
        },
    ]
}

fn programs() -> Erratum {
    let case = |variant, nodes, listen| {
        let point = point(variant, nodes, Loss::None).listen(listen).with("as-printed", true);
        Case::Programs {
            printed: point.scenario(Scenario::FalseDeparture, 1000.0).runs(20),
            parameters: format!("N = {nodes}, T_L = {}, l = 0", duration(listen)),
            measure: Measure::InconsistentFraction,
        }
    };
    Erratum {
        title: "Programs 5.1 and 5.2 never re-arm the listen timer",
        section: "sections 5.1.1 and 5.1.2",
        printed: "`if msg.addr > leader then … set_listen_timer (T_L)`",
        corrected: "an announcement of the current leader re-arms it too; and the tests of the \
                    timers stand beside the receive branch, not inside it",
        why: "as printed every listener gives its leader up T_L after it first heard it, however \
              often it announces, and even if nothing is ever lost. Shown is the part of the time \
              without agreement, nothing being lost, of the program as printed and as corrected.",
        cases: vec![
            case(Variant::LeA, 10, 3.5),
            case(Variant::LeS, 10, 3.5),
            case(Variant::LeS, 100, 10.5),
        ],
    }
}
