//! Messages of LE-S with uncorrelated loss and Δ = 0 (section 5.3.3.3), exact for a few processes:
//! what the approximations for many are judged by, beside simulation.

use bellwether_analysis::Loss;
use bellwether_analysis::announce_listen::losses::beyond_first;

/// Exact, by walking through all orders of wake-up and all sets of processes not yet silenced.
///
/// Without delay only the order of wake-ups matters, and it is the same in every round. After
/// convergence nobody but the leader announces, so the others' announcements may be counted to the
/// end, and the leader's are 1 + X(N−1).
pub(crate) fn by_enumeration(nodes: u32, l: f64) -> f64 {
    leader(nodes, l) + others_by_enumeration(nodes, l)
}

/// What the leader sends.
pub(crate) fn leader(nodes: u32, l: f64) -> f64 {
    1.0 + beyond_first(u64::from(nodes) - 1, Loss::Uncorrelated(l))
}

/// What all others send.
pub(crate) fn others_by_enumeration(nodes: u32, l: f64) -> f64 {
    let orders = orders(nodes as usize);
    orders.iter().map(|order| others_in_order(order, l)).sum::<f64>() / orders.len() as f64
}

/// All orders of so many processes.
pub(crate) fn orders(nodes: usize) -> Vec<Vec<usize>> {
    let mut orders = Vec::new();
    permute(&mut (0..nodes).collect(), 0, &mut orders);
    orders
}

fn permute(order: &mut Vec<usize>, from: usize, all: &mut Vec<Vec<usize>>) {
    if from == order.len() {
        all.push(order.clone());
    }
    for place in from..order.len() {
        order.swap(from, place);
        permute(order, from + 1, all);
        order.swap(from, place);
    }
}

/// The mean number of announcements of all but the leader, process 0, who wake in this order. The
/// bits of an index into `chance` tell who is not silenced.
fn others_in_order(order: &[usize], l: f64) -> f64 {
    let nodes = order.len();
    let mut chance = vec![0.0; 1 << nodes];
    chance[(1 << nodes) - 1] = 1.0;
    let mut messages = 0.0;
    for _round in 0..1000 {
        let before = messages;
        for &sender in order {
            let sends = |set: usize| set >> sender & 1 == 1;
            if sender > 0 {
                let sent = (0..1 << nodes).filter(|set| sends(*set)).map(|set| chance[set]);
                messages += sent.sum::<f64>();
            }
            for hearer in sender + 1..nodes {
                for set in (0..1 << nodes).filter(|set| sends(*set) && set >> hearer & 1 == 1) {
                    chance[set & !(1 << hearer)] += (1.0 - l) * chance[set];
                    chance[set] *= l;
                }
            }
        }
        if messages - before < 1e-15 {
            break;
        }
    }
    messages
}
