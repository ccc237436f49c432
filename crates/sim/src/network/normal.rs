//! The quantile function of the normal distribution.
//!
//! M. J. Wichura, "Algorithm AS 241: The Percentage Points of the Normal Distribution", Applied
//! Statistics 37 (1988), routine PPND16: three rational functions, good to 16 digits. Its only
//! logarithm is `libm`'s, and square roots are exact to the last bit, so every machine computes the
//! same delay.

#![expect(clippy::excessive_precision, reason = "the digits are as Wichura prints them")]

/// The central rational function applies below this distance from the middle.
const CENTRE: f64 = 0.425;
/// The one for the far tail applies beyond this.
const FAR: f64 = 5.0;

const CENTRAL: [[f64; 8]; 2] = [
    [
        3.387_132_872_796_366_608,
        133.141_667_891_784_377_45,
        1_971.590_950_306_551_442_7,
        13_731.693_765_509_461_125,
        45_921.953_931_549_871_457,
        67_265.770_927_008_700_853,
        33_430.575_583_588_128_105,
        2_509.080_928_730_122_672_7,
    ],
    [
        1.0,
        42.313_330_701_600_911_252,
        687.187_007_492_057_908_3,
        5_394.196_021_424_751_107_7,
        21_213.794_301_586_595_867,
        39_307.895_800_092_710_61,
        28_729.085_735_721_942_674,
        5_226.495_278_852_545_561,
    ],
];

const TAIL: [[f64; 8]; 2] = [
    [
        1.423_437_110_749_683_577_34,
        4.630_337_846_156_545_295_9,
        5.769_497_221_460_691_405_5,
        3.647_848_324_763_204_605_04,
        1.270_458_252_452_368_382_58,
        0.241_780_725_177_450_611_77,
        0.022_723_844_989_269_184_584,
        7.745_450_142_783_414_076_4e-4,
    ],
    [
        1.0,
        2.053_191_626_637_758_821_87,
        1.676_384_830_183_803_849_4,
        0.689_767_334_985_100_004_55,
        0.148_103_976_427_480_074_59,
        0.015_198_666_563_616_457_204,
        5.475_938_084_995_344_946e-4,
        1.050_750_071_644_416_843_24e-9,
    ],
];

const FAR_TAIL: [[f64; 8]; 2] = [
    [
        6.657_904_643_501_103_777_2,
        5.463_784_911_164_114_369_9,
        1.784_826_539_917_291_335_8,
        0.296_560_571_828_504_891_23,
        0.026_532_189_526_576_123_093,
        0.001_242_660_947_388_078_438_6,
        2.711_555_568_743_487_578_15e-5,
        2.010_334_399_292_288_132_65e-7,
    ],
    [
        1.0,
        0.599_832_206_555_887_937_69,
        0.136_929_880_922_735_805_31,
        0.014_875_361_290_850_615_025,
        7.868_691_311_456_132_591e-4,
        1.846_318_317_510_054_681_8e-5,
        1.421_511_758_316_445_888_7e-7,
        2.044_263_103_389_939_785_64e-15,
    ],
];

/// The quantile of the standard normal distribution; `probability` is above 0 and below 1.
pub(super) fn quantile(probability: f64) -> f64 {
    let off = probability - 0.5;
    if off.abs() <= CENTRE {
        return off * quotient(&CENTRAL, CENTRE * CENTRE - off * off);
    }
    let tail = if off < 0.0 { probability } else { 1.0 - probability };
    let depth = (-libm::log(tail)).sqrt();
    let away =
        if depth <= FAR { quotient(&TAIL, depth - 1.6) } else { quotient(&FAR_TAIL, depth - FAR) };
    away.copysign(off)
}

fn quotient([above, below]: &[[f64; 8]; 2], at: f64) -> f64 {
    let horner = |factors: &[f64; 8]| factors.iter().rev().fold(0.0, |sum, next| sum * at + next);
    horner(above) / horner(below)
}

#[cfg(test)]
mod tests {
    use super::*;
    use statrs::distribution::{ContinuousCDF, Normal};

    #[test]
    fn quantiles_agree_with_another_implementation_and_with_tables() {
        let near = |unit: f64| {
            let (found, expected) = (quantile(unit), Normal::standard().inverse_cdf(unit));
            let off = (found - expected).abs();
            assert!(off <= 1e-9 * expected.abs().max(1.0), "{unit}: {found}, not {expected}");
        };
        (1..100_000).for_each(|i| near(f64::from(i) / 100_000.0));
        (1..300).for_each(|i| near(0.5 * 0.1f64.powi(i)));
        (1..50).for_each(|i| near(1.0 - 0.5f64.powi(i)));
        assert_eq!(quantile(0.5), 0.0);
        // Wichura's own checks.
        for (unit, expected) in [
            (0.25, -0.674_489_750_196_081_7),
            (0.001, -3.090_232_306_167_813_5),
            (1e-20, -9.262_340_089_798_408),
        ] {
            assert!((quantile(unit) - expected).abs() < 1e-14, "{unit}");
        }
    }

    #[test]
    fn the_three_pieces_meet() {
        for seam in [0.5 - CENTRE, 0.5 + CENTRE, libm::exp(-FAR * FAR)] {
            let (below, above) = (quantile(seam * (1.0 - 1e-14)), quantile(seam * (1.0 + 1e-14)));
            assert!((above - below).abs() < 1e-12 && below <= above, "{seam}: {below} {above}");
        }
    }
}
