//! Sums and powers that many formulas share, without cancellation for any N and l.

use crate::inputs::{OutOfDomain, ValidInputs};
use libm::{ceil, expm1, log, log1p};

/// (1 − e)^n for e in [0, 1].
pub(super) fn power_of_rest(e: f64, n: f64) -> f64 {
    if n == 0.0 { 1.0 } else { libm::exp(n * log1p(-e)) }
}

/// 1 − (1 − e)^n for e in [0, 1].
pub(super) fn any_of(e: f64, n: f64) -> f64 {
    if n == 0.0 { 0.0 } else { -expm1(n * log1p(-e)) }
}

/// Σ_{k=0..n−1} (1 − e)^k, which is n at e = 0.
pub(super) fn geometric(e: f64, n: f64) -> f64 {
    if e * n < 1e-17 { n } else { any_of(e, n) / e }
}

/// The harmonic number H_n, n at least 1.
pub(crate) fn harmonic(n: u32) -> f64 {
    1.0 + harmonic_between(1, n)
}

/// H_n − H_m for n ≥ m, both at least 1.
pub(crate) fn harmonic_between(m: u32, n: u32) -> f64 {
    const ENOUGH: u32 = 100;
    if m < ENOUGH {
        let known = n.min(ENOUGH);
        let few: f64 = (m + 1..=known).map(|k| 1.0 / f64::from(k)).sum();
        return if n > known { few + harmonic_between(known, n) } else { few };
    }
    // ln n + 1/2n − 1/12n² + 1/120n⁴: the next term is below 1e-14 from a hundred on.
    let rest = |n: f64| 1.0 / (2.0 * n) - 1.0 / (12.0 * n * n) + 1.0 / (120.0 * n * n * n * n);
    let (m, n) = (f64::from(m), f64::from(n));
    log(n / m) + (rest(n) - rest(m))
}

/// Σ_{k=1..n} (1 − (1 − e)^k)/k: the harmonic number at e = 1.
pub(super) fn harmonic_any(e: f64, n: u32) -> f64 {
    let (mut sum, mut any) = (0.0, 0.0);
    for k in 1..=n {
        any += (1.0 - any) * e;
        sum += any / f64::from(k);
        if any >= 1.0 - 1e-16 {
            return sum + harmonic_between(k, n);
        }
    }
    sum
}

/// How many announcements follow one before it arrives: ⌈Δ/T_A⌉ − 1, none if Δ ≤ T_A. At equal
/// times a message comes before a timer.
pub(super) fn overrun(inputs: &ValidInputs) -> f64 {
    (ceil(inputs.delay / inputs.announce) - 1.0).max(0.0)
}

/// The chapter wants T_A ≥ T_S + Δ; with ever shorter intervals the sums get ever longer.
const ANNOUNCEMENTS_MAX: f64 = 6.0;

/// Whether somebody announces a second time while others have not woken, or several times before
/// anybody can hear, more often than is worth summing.
pub(super) fn needs_few_announcements(inputs: &ValidInputs) -> Result<(), OutOfDomain> {
    if inputs.suppress.max(inputs.delay) <= ANNOUNCEMENTS_MAX * inputs.announce {
        return Ok(());
    }
    let rule = "suppress and delay must each be at most 6 announce intervals here";
    Err(OutOfDomain::Condition { rule, way_out: "choose a longer announce interval" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_are_what_adding_up_gives() {
        for e in [0.0, 1e-12, 0.03, 0.5, 0.999, 1.0f64] {
            for n in [1u32, 2, 7, 99, 100, 101, 5000] {
                let direct: f64 = (1..=n).map(|k| any_of(e, f64::from(k)) / f64::from(k)).sum();
                let got = harmonic_any(e, n);
                assert!((got - direct).abs() <= 1e-13 * direct, "{e} {n}: {got} {direct}");
                let direct: f64 = (0..n).map(|k| power_of_rest(e, f64::from(k))).sum();
                let got = geometric(e, f64::from(n));
                assert!((got - direct).abs() <= 1e-12 * direct, "{e} {n}: {got} {direct}");
            }
        }
    }

    #[test]
    fn an_announcement_is_overtaken_by_those_sent_strictly_before_it_arrives() {
        let overruns = |delay: f64| {
            let given = crate::Inputs { delay, announce: 2.0, ..Default::default() };
            overrun(&given.try_into().unwrap())
        };
        assert_eq!([0.0, 0.1, 2.0, 2.1, 4.0, 4.1].map(overruns), [0.0, 0.0, 0.0, 1.0, 1.0, 2.0]);
    }
}
