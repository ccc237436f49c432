//! Messages of LE-S with uncorrelated loss and Δ = 0 (section 5.3.3.3): exact for a few processes,
//! approximate for many.

use crate::exact::beyond_first_apart;

/// Exact, by walking through all orders of wake-up and all sets of processes not yet silenced.
///
/// Without delay only the order of wake-ups matters, and it is the same in every round. After
/// convergence nobody but the leader announces, so the others' announcements may be counted to the
/// end, and the leader's are 1 + X(N−1).
pub(crate) fn by_enumeration(nodes: u32, l: f64) -> f64 {
    let mut orders = Vec::new();
    permute(&mut (0..nodes as usize).collect(), 0, &mut orders);
    let others: f64 = orders.iter().map(|order| others_in_order(order, l)).sum();
    1.0 + beyond_first_apart(nodes - 1, l) + others / orders.len() as f64
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

/// The closure of our reading: process k's chance P_k^r to send in round r, each process hearing
/// the greater ones as if they were independent. Approximate.
pub(crate) fn by_closure(nodes: u32, l: f64) -> f64 {
    let n = nodes as usize;
    // f_j: the chance that a smaller process has lost what j sent in all rounds so far.
    let mut unheard = vec![1.0; n];
    let mut total = 0.0;
    for round in 1..1000 {
        let sends = if round == 1 { first_round(n, l) } else { next_round(&unheard, l, round) };
        let still = 1.0 - (1.0 - l.powi(round - 1)).powi(nodes as i32 - 1);
        // The leader sends in every round, but counts only until all have heard it.
        let sent = sends[1..].iter().sum::<f64>() + still;
        total += sent;
        if sent < 1e-12 {
            break;
        }
        for (unheard, sends) in unheard.iter_mut().zip(&sends) {
            *unheard -= (1.0 - l) * l.powi(round - 1) * sends;
        }
    }
    total
}

/// P_k = (1/(k+1)) Σ_{m≤k} A_m, A_m = Π_{j<m} (1 − (1−l) P_j).
fn first_round(n: usize, l: f64) -> Vec<f64> {
    let (mut sends, mut product, mut sum) = (Vec::new(), 1.0, 0.0);
    for k in 0..n {
        sum += product;
        let chance = sum / (k + 1) as f64;
        sends.push(chance);
        product *= 1.0 - (1.0 - l) * chance;
    }
    sends
}

/// P_k = ∫₀¹ Π_{j<k} [f_j − (1−l) l^{r−1} u P_j] du.
fn next_round(unheard: &[f64], l: f64, round: i32) -> Vec<f64> {
    const PANELS: usize = 64;
    let weigh = |i: usize| match i {
        0 | PANELS => 1.0,
        odd if odd % 2 == 1 => 4.0,
        _ => 2.0,
    };
    let mut products = vec![1.0; PANELS + 1];
    let mut sends = Vec::new();
    for lost in unheard {
        let sum: f64 = products.iter().enumerate().map(|(i, product)| weigh(i) * product).sum();
        let chance = sum / (3 * PANELS) as f64;
        sends.push(chance);
        for (i, product) in products.iter_mut().enumerate() {
            let u = i as f64 / PANELS as f64;
            *product *= lost - (1.0 - l) * l.powi(round - 1) * u * chance;
        }
    }
    sends
}

/// The recurrence of section 5.3.3.3 with its typing errors mended, the factor r and the divergence
/// removed. It takes the times of the messages as independent, which is wrong: without loss it does
/// not give H_N.
pub(crate) fn by_recurrence(nodes: u32, l: f64) -> f64 {
    let n = nodes as usize;
    let a = |i: usize| (1.0 - l.powi(i as i32 + 1)) / ((i + 1) as f64 * (1.0 - l));
    // reaches[k]: S(k+1, r), the chance that the process behind k greater ones reaches round r.
    let mut reaches = vec![1.0; n];
    let mut total = 0.0;
    for round in 1..1000 {
        let mut sent = vec![1.0]; // Q(i, 0, r)
        for reach in &mut reaches {
            let survives: f64 = sent.iter().enumerate().map(|(i, q)| q * l.powi(i as i32)).sum();
            let mut next = vec![0.0; sent.len() + 1];
            for (i, q) in sent.iter().enumerate() {
                next[i + 1] += *reach * a(i) * q;
                next[i] += (1.0 - *reach * a(i)) * q;
            }
            *reach *= survives; // for the next round
            sent = next;
        }
        let mean: f64 = sent.iter().enumerate().map(|(i, q)| i as f64 * q).sum();
        let counted = mean - (1.0 - l.powi(round - 1)).powi(nodes as i32 - 1);
        total += counted;
        if counted < 1e-12 {
            break;
        }
    }
    total
}
