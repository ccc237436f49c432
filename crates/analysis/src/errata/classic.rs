//! The errors of the lecture on elections and of the paper on MEREA.

use super::{Case, Erratum};
use crate::figures::Verdict;
use crate::inputs::Inputs;
use crate::point::Point;
use bellwether_protocols::ring::Variant;
use bellwether_sim::{Initiators, Measure};

fn given(nodes: u32) -> Inputs {
    Inputs { nodes, ..Inputs::default() }
}

/// A quantity that reads the number of processes alone, for so many.
fn forms(quantity: &'static str, sizes: &[u32]) -> Vec<Case> {
    let case = |&nodes| Case::Forms { quantity, given: given(nodes), runs: 1000 };
    sizes.iter().map(case).collect()
}

/// All of them.
pub(super) fn errata() -> Vec<Erratum> {
    let mut all = merea_counts();
    all.extend(merea());
    all.extend(lecture());
    all
}

fn merea_counts() -> Vec<Erratum> {
    vec![
        Erratum {
            title: "MEREA's equation (4)",
            section: "MEREA, section 5.B.2",
            printed: "1 + 2 + … + (n−1) + n + n = n + n + n(n−1)/2 = \"n2 − n/2 + 2n\"",
            corrected: "n(n−1)/2 + 2n = (n² + 3n)/2",
            why: "the sum is right and so is the line before the last; the last line, read \
                  literally, has n² where n²/2 belongs, and is twice too large for many processes. \
                  It is not even whole if n is odd. Perhaps (n² − n)/2 + 2n was meant.",
            cases: forms("merea.messages.worst-worst", &[3, 100, 1000]),
        },
        Erratum {
            title: "MEREA on average: \"O(n)\"",
            section: "MEREA, section 5.B.2",
            printed: "in the average case messages are destroyed \"most of the times\" by the next \
                      process, \"which would be O(n)\"",
            corrected: "n·H_n + n if all call, in any order: it grows like n log n",
            why: "of the j oldest calls each is n/j hops from the next on average, and that is how \
                  far the j-th oldest gets. The mean is far from the worst case, as the text says, \
                  but not proportional to n.",
            cases: forms("merea.messages.mean", &[10, 100, 1000, 10_000]),
        },
    ]
}

fn merea() -> Vec<Erratum> {
    let some = |nodes, k| Case::Forms {
        quantity: "merea.wrong-leader",
        given: Inputs { initiators: Some(k), ..given(nodes) },
        runs: 1000,
    };
    vec![
        Erratum {
            title: "MEREA's Table 3 forgets those who called",
            section: "MEREA, Table 3",
            printed: "`if (my F = TRUE) then if (my T < T_i) then destroy … else append PID`: the \
                      `else` belongs to the outer `if`",
            corrected: "every process that does not destroy the message appends its id, also if it \
                        has called an election itself",
            why: "a process that has called an election and lets an older message pass is not in \
                  its list. If it is the highest, another is elected: with k of n calling, in \
                  (k−1)/n of all cases; shown is how often. Counted through in a test for all \
                  orders of up to eight processes, and simulated in figure `merea-table-3`.",
            cases: vec![
                some(10, 2),
                some(10, 10),
                some(100, 2),
                some(100, 100),
                Case::Figure {
                    figure: "merea-table-3",
                    claim: "The process with the highest id is elected, by the rule of Table 3 as \
                            printed.",
                    verdict: Verdict::Refuted,
                },
            ],
        },
        Erratum {
            title: "In MEREA a message may circle for ever",
            section: "MEREA, sections 3 and 4, Tables 1 to 4",
            printed: "a message ends where it began: its initiator turns it into a COORDINATOR \
                      message, and discards that when it comes back",
            corrected: "whoever follows a dead initiator on the ring takes its message for its own",
            why: "if the initiator crashes while its message is under way, nobody ends it: it goes \
                  round until somebody else destroys it, and one that is the oldest is never \
                  destroyed.",
            cases: vec![
                Case::Test {
                    command: "cargo test -p bellwether-analysis --test paper \
                              as_printed_the_message_of_a_dead_initiator_circles_to_the_horizon",
                },
                Case::Test {
                    command: "cargo test -p bellwether-sim --test simulation \
                    the_message_of_a_dead_initiator_is_retired_and_its_election_held_by_the_next",
                },
            ],
        },
        Erratum {
            title: "In MEREA equal stamps destroy nothing",
            section: "MEREA, Table 3",
            printed: "a message is destroyed if `my T < T_i`",
            corrected: "of equal stamps the one with the lesser id is the older",
            why: "clocks have a resolution, and a crash is noticed by many at once. Calls with \
                  equal stamps all go round: 2kn messages, those of the plain ring. And since \
                  a caller appends itself to no list, every caller that is greater than all \
                  who did not call finds itself elected; in our simulation the greatest of them \
                  prevails. Any total order of calls will do, so clocks need not be synchronised \
                  for the result, only for who is first.",
            cases: [
                forms("merea.messages.equal-stamps", &[10, 100]),
                [10, 100].map(all_at_once).to_vec(),
            ]
            .concat(),
        },
    ]
}

/// MEREA as printed, all calling at the same time.
fn all_at_once(nodes: u32) -> Case {
    let point = Point::new(Variant::Merea.name(), nodes).initiators(Initiators::All).runs(2);
    Case::Programs {
        printed: point.with("as-printed", true),
        parameters: format!("N = {nodes}"),
        measure: Measure::Messages,
    }
}

fn lecture() -> Vec<Erratum> {
    vec![
        Erratum {
            title: "The lecture's hop counter starts at 0",
            section: "lecture, HS: sending messages",
            printed: "the hop counter d \"is initially 0 and is incremented by 1 whenever the \
                      message is forwarded\"; the process that receives d = 2^k is the last of the \
                      2^k-neighbourhood",
            corrected: "d is initially 1",
            why: "the neighbour of a candidate is one hop away and receives d = 0; so the process \
                  that receives 2^k is 2^k + 1 hops away. Tokens shall \"travel distance 2^k\". \
                  The right process is elected all the same; shown are the messages, on average \
                  over all orders.",
            cases: forms("hirschberg-sinclair.messages.mean", &[4, 10, 100, 1000]),
        },
        Erratum {
            title: "The lecture's ad hoc election tells nobody",
            section: "lecture, MAH: message types, the algorithm in words",
            printed: "two messages, Election and Acknowledgement; it ends when the source has all \
                      acknowledgements",
            corrected: "a Leader message down the tree, V−1 in all",
            why: "only the source learns who is best. The paper of Vasudevan, Kurose and Towsley, \
                  which the lecture follows, has that message.",
            cases: forms("ad-hoc.messages.leader", &[10, 100]),
        },
        Erratum {
            title: "The lecture's \"LeLann-Chang-Roberts\" is another ring",
            section: "lecture, LCR: background, message complexity",
            printed: "\"always 2N messages\", best case = worst case",
            corrected: "that is the ring of its book, whose message collects all ids. Chang and \
                        Roberts, all calling: 3n−1 at best, n(n+3)/2 at worst, n·H_n + n on \
                        average, the announcement included",
            why: "the lecture says itself that it follows the book and not the paper it cites. The \
                  paper's messages carry one id and are stopped by a greater process, so that \
                  the number of messages depends on the order of the ring.",
            cases: [
                forms("chang-roberts.messages.best", &[100]),
                forms("chang-roberts.messages.mean", &[100]),
                forms("chang-roberts.messages.worst", &[100]),
            ]
            .concat(),
        },
    ]
}
