//! The closed forms with which simulated means are compared, corrected where the text is wrong.
//!
//! Unless said otherwise T_S = T_A = 1 and timers are uniform. All are written down here from the
//! definitions and share no code with the programs they judge.

use bellwether_protocols::announce_listen::Shape;
use bellwether_sim::network::Loss;

/// X(n), section 5.3.1.3 corrected: the mean number of announcements *beyond the first* until each
/// of n receivers has one, Σ_{i≥1} 1 − (1 − l^i)^n.
pub(crate) fn beyond_first_apart(receivers: u32, l: f64) -> f64 {
    let terms = (1..).map(|i| -(f64::from(receivers) * (-l.powi(i)).ln_1p()).exp_m1());
    terms.take_while(|term| *term > 1e-18).sum()
}

/// The mean number of announcements beyond the first that the leader needs.
pub(crate) fn beyond_first(loss: Loss, receivers: u32) -> f64 {
    let l = loss.rate();
    match loss {
        Loss::Uncorrelated(_) => beyond_first_apart(receivers, l),
        _ => l / (1.0 - l),
    }
}

/// E[t_s] of a timer over [0, 1].
pub(crate) fn mean_wake(shape: Shape) -> f64 {
    let rising = |rate: f64| 1.0 / (1.0 - (-rate).exp()) - 1.0 / rate;
    match shape {
        Shape::Uniform => 0.5,
        Shape::Rising { rate } => rising(rate),
        Shape::Falling { rate } => 1.0 - rising(rate),
    }
}

/// The density and the distribution function of a timer over [0, 1], at t.
fn wake_law(shape: Shape, t: f64) -> (f64, f64) {
    let t = t.clamp(0.0, 1.0);
    match shape {
        Shape::Uniform => (1.0, t),
        Shape::Rising { rate } => {
            let whole = rate.exp_m1();
            (rate * (rate * t).exp() / whole, (rate * t).exp_m1() / whole)
        }
        Shape::Falling { rate } => {
            let whole = -(-rate).exp_m1();
            (rate * (-rate * t).exp() / whole, -(-rate * t).exp_m1() / whole)
        }
    }
}

/// Sections 5.3.3.1 and 5.3.3.2 corrected: messages in [0, T_S] of LE-S, nothing lost or all
/// receivers losing together: N·P(Δ) + (1/(1−l)) ∫ p(t) [1 − (1−(1−l)P(t−Δ))^N]/P(t−Δ) dt.
pub(crate) fn le_s_messages_in_suppression(nodes: u32, l: f64, delay: f64, shape: Shape) -> f64 {
    let (n, kept) = (f64::from(nodes), 1.0 - l);
    let senders = |t: f64| {
        let heard = kept * wake_law(shape, t - delay).1;
        if heard < 1e-12 { n } else { -(n * (-heard).ln_1p()).exp_m1() / heard }
    };
    let late = integral(delay, 1.0, &|t| wake_law(shape, t).0 * senders(t));
    n * wake_law(shape, delay).1 + late
}

/// The same as printed in section 5.3.3.2: 1/(1−l) stands before N·P(Δ) instead of the integral.
pub(crate) fn le_s_messages_in_suppression_printed(nodes: u32, l: f64, delay: f64) -> f64 {
    let n = f64::from(nodes);
    let right = le_s_messages_in_suppression(nodes, l, delay, Shape::Uniform);
    n * delay / (1.0 - l) + (right - n * delay) * (1.0 - l)
}

/// The same with uniform timers, as a sum.
pub(crate) fn le_s_messages_in_suppression_sum(nodes: u32, l: f64, delay: f64) -> f64 {
    let c = l + delay - l * delay;
    let terms = (1..=nodes as i32).map(|k| (1.0 - c.powi(k)) / f64::from(k));
    f64::from(nodes) * delay + terms.sum::<f64>() / (1.0 - l)
}

/// Simpson's rule, fine enough for the smooth functions here.
pub(crate) fn integral(from: f64, to: f64, f: &dyn Fn(f64) -> f64) -> f64 {
    const PANELS: u32 = 20_000;
    let step = (to - from) / f64::from(PANELS);
    let inner = (1..PANELS).map(|i| {
        let weight = if i % 2 == 1 { 4.0 } else { 2.0 };
        weight * f(from + f64::from(i) * step)
    });
    step / 3.0 * (f(from) + f(to) + inner.sum::<f64>())
}

/// Messages of LE-S until the group has converged, nothing lost or all losing together.
///
/// The process behind k greater ones sends its r-th announcement at t unless one that a greater
/// process sent Δ before got through. Each greater process has sent r by then if it woke before
/// t − Δ, r − 2 if it woke after t + T_A − Δ, otherwise r − 1; and whatever of theirs gets through,
/// gets through to all, so that "was silenced before it could send" changes nothing. Hence the
/// probability ∫ h_r(t)^k dt, h_r = l^{r−1}[1 − (1−l)(t−Δ)⁺ + (1/l − 1)(Δ−t)⁺] and
/// h_1 = 1 − (1−l)(t−Δ)⁺. Summed over r, all powers of Δ but the first cancel:
/// Δ + (1 − l^{k+1}) / ((k+1)(1−l)(1−l^k)). The leader itself needs 1/(1−l).
/// With l = 0 this is the N·Δ + H_N − Δ of our reading.
pub(crate) fn le_s_messages_together(nodes: u32, l: f64, delay: f64) -> f64 {
    let behind =
        |k: i32| delay + (1.0 - l.powi(k + 1)) / (f64::from(k + 1) * (1.0 - l) * (1.0 - l.powi(k)));
    1.0 / (1.0 - l) + (1..nodes as i32).map(behind).sum::<f64>()
}

/// Messages of LE-M until the group has converged, nothing lost or all losing together.
///
/// As [`le_s_messages_together`], but whoever wakes earlier is better: a process that wakes at t
/// sends its r-th with probability h_r(t)^{N−1}, h_r = 1 − t + l^{r−1} min(t, Δ) + l^r (t−Δ)⁺. The
/// part (1−t)^{N−1} of it is the leader, who needs 1/(1−l).
pub(crate) fn le_m_messages_together(nodes: u32, l: f64, delay: f64) -> f64 {
    let n = nodes as i32;
    let c = l + delay - l * delay;
    let mut total = 1.0 / (1.0 - l);
    for r in 1..10_000 {
        let kept = 1.0 - l.powi(r - 1);
        let at_delay = 1.0 - kept * delay;
        let early = if r == 1 { f64::from(n) * delay } else { (1.0 - at_delay.powi(n)) / kept };
        let late = at_delay.powi(n) - (l.powi(r - 1) * c).powi(n);
        let others = early + late / (1.0 - l.powi(r)) - 1.0;
        total += others;
        if others < 1e-13 {
            break;
        }
    }
    total
}

/// Messages of LE-A until the group has converged, all losing together: our reading's f(n).
///
/// n announce at once. If the greatest message that gets through is that of the process behind j
/// greater ones, j + 1 go on; if none does, or only the smallest's, all n do; if the greatest
/// process's does, it is over. Counts every announcement up to then, for Δ < T_A.
pub(crate) fn le_a_messages_together(nodes: u32, l: f64) -> f64 {
    let mut f = vec![0.0, 1.0];
    for n in 2..=nodes as usize {
        let power = |j: usize| l.powi(j as i32);
        let fewer: f64 = (1..n - 1).map(|j| power(j) * (1.0 - l) * f[j + 1]).sum();
        f.push((n as f64 + fewer) / (1.0 - power(n) - power(n - 1) * (1.0 - l)));
    }
    f[nodes as usize]
}

/// Messages of LE-A until the group has converged, each losing for itself.
///
/// Of n that announce at once the one behind p greater ones goes on with probability l^p, each for
/// itself, so how many announce is a chain that can be walked exactly. The leader's own are
/// 1 + X(N−1); after convergence nobody else announces, so the others may be counted to the end.
pub(crate) fn le_a_messages_apart(nodes: u32, l: f64) -> f64 {
    let n_max = nodes as usize;
    // go_on[m]: the probability that m of the first n go on. The leader always does.
    let mut go_on = vec![0.0; n_max + 1];
    go_on[1] = 1.0;
    let mut others = vec![0.0; n_max + 1];
    for n in 2..=n_max {
        let loses_all = l.powi(n as i32 - 1);
        for m in (1..=n).rev() {
            go_on[m] = go_on[m] * (1.0 - loses_all) + go_on[m - 1] * loses_all;
        }
        let later: f64 = (1..n).map(|m| go_on[m] * others[m]).sum();
        others[n] = ((n - 1) as f64 + later) / (1.0 - go_on[n]);
    }
    1.0 + beyond_first_apart(nodes - 1, l) + others[n_max]
}

/// Messages of SUP, nothing lost or all losing together: N·Δ + (1 − c^N)/(1−l), c = l + Δ − lΔ.
pub(crate) fn sup_messages_together(nodes: u32, l: f64, delay: f64) -> f64 {
    let c = l + delay - l * delay;
    f64::from(nodes) * delay + (1.0 - c.powi(nodes as i32)) / (1.0 - l)
}

/// t_max of SUP (section 5.4.1), nothing lost or all losing together: when the last message was
/// sent that somebody needed, one's own included.
///
/// If s is when the first message that is not lost is sent, that is the last wake-up up to s + Δ.
/// Given s the mean is s + w − (g/N)[1 − (1−w/g)^N], w = min(Δ, 1−s), g = 1 − (1−l)s; averaged over
/// s, whose density is N(1−l)g^{N−1}, and over the case l^N that everything is lost.
pub(crate) fn sup_convergence_together(nodes: u32, l: f64, delay: f64) -> f64 {
    let (c, n) = (l + delay - l * delay, nodes as i32);
    let sum =
        (1.0 - c.powi(n + 1)) / (1.0 - l) - 1.0 + (1.0 - delay).powi(n + 1) * (1.0 - l.powi(n));
    delay + sum / f64::from(n + 1)
}

/// When the last process of SUP has spoken or been silenced, nothing lost: E[min(t_1 + Δ, t_N)].
pub(crate) fn sup_delay_lossless(nodes: u32, delay: f64) -> f64 {
    let n = f64::from(nodes);
    // The range exceeds x with probability 1 − N x^{N−1} + (N−1) x^N.
    let spread = delay - delay.powf(n) + (n - 1.0) / (n + 1.0) * delay.powf(n + 1.0);
    1.0 / (n + 1.0) + spread
}

/// The term that section 5.3.2.3 misses for a leader's departure with uncorrelated loss.
///
/// T_A·E[max_{j≤others}(max(a − ⌊(s+Δ)/T_A⌋ − K_j, 0) + G_j) − a]: a, K_j announcements of the old
/// leader were lost since the last that the new leader, and listener j, received; listeners ignore
/// the new leader until they give the old one up; then G_j of its announcements are lost. `late` is
/// the probability that ⌊(s+Δ)/T_A⌋ is 1 and not 0. All numbers of losses are geometric.
pub(crate) fn departure_extra_apart(others: u32, l: f64, late: f64) -> f64 {
    const TERMS: usize = 200; // l^200 < 1e-30 for l <= .7
    let lost = |k: usize| l.powi(k as i32) * (1.0 - l);
    let at_most = |x: i64| if x < 0 { 0.0 } else { 1.0 - l.powi(x as i32 + 1) };
    // E[max_j ...] when the head start is a − f announcements.
    let mean_max = |head: usize| {
        let within = |x: usize| -> f64 {
            let heard = |k: usize| lost(k) * at_most(x as i64 - head.saturating_sub(k) as i64);
            (0..head).map(heard).sum::<f64>() + l.powi(head as i32) * at_most(x as i64)
        };
        (0..TERMS).map(|x| 1.0 - within(x).powi(others as i32)).sum::<f64>()
    };
    let mean =
        |a: usize| (1.0 - late) * mean_max(a) + late * mean_max(a.saturating_sub(1)) - a as f64;
    (0..TERMS / 2).map(|a| lost(a) * mean(a)).sum()
}

/// The part of the time in which somebody falsely believes that the leader departed: our reading of
/// section 5.3.4. T_L = (m + θ) T_A.
pub(crate) fn false_departure_fraction(nodes: u32, loss: Loss, m: i32, theta: f64) -> f64 {
    let l = loss.rate();
    let somebody = |count: i32| match loss {
        Loss::Uncorrelated(_) => 1.0 - (1.0 - l.powi(count)).powi(nodes as i32 - 1),
        _ => l.powi(count),
    };
    theta * somebody(m + 1) + (1.0 - theta) * somebody(m)
}

/// How long that lasts each time, in units of T_A: the fraction over the rate at which it begins,
/// which is when T_L ends for somebody while nobody is out. Together: 1/(1−l) − θ.
pub(crate) fn false_departure_length(nodes: u32, loss: Loss, m: i32, theta: f64) -> f64 {
    let l = loss.rate();
    let nobody = |count: i32| match loss {
        Loss::Uncorrelated(_) => (1.0 - l.powi(count)).powi(nodes as i32 - 1),
        _ => 1.0 - l.powi(count),
    };
    false_departure_fraction(nodes, loss, m, theta) / (nobody(m + 1) - nobody(m))
}
