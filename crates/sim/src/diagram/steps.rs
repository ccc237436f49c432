//! Round steps for axes: 1, 2 and 5 times a power of ten.

/// 10 to the power of k.
pub fn power(k: i32) -> f64 {
    libm::pow(10.0, f64::from(k))
}

/// The greatest k for which the value is at least 10 to the power of k.
pub fn order(value: f64) -> i32 {
    // Close to a power, the logarithm may fall on the wrong side.
    let guess = libm::floor(libm::log10(value)).clamp(-400.0, 400.0) as i32;
    if value >= power(guess + 1) * (1.0 - 1e-12) { guess + 1 } else { guess }
}

/// The least 1, 2 or 5 times a power of ten that is no smaller, but for this part of it.
pub fn round_step(least: f64, tolerance: f64) -> f64 {
    let unit = power(order(least));
    let fits = |digit: &&f64| **digit * unit >= least * (1.0 - tolerance);
    [1.0, 2.0, 5.0].iter().find(fits).map_or(10.0 * unit, |digit| digit * unit)
}
