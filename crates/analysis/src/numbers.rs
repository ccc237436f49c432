//! Numbers as texts for people, in one place.
//!
//! | function | for |
//! |---|---|
//! | `number` | a sentence: three digits or four |
//! | `short` | a label: about five digits, as a power of ten if there are many zeros |
//! | [`plain`] | a table: about five digits |
//! | `precise` | errata, where small differences are the point: five digits |
//! | `trimmed` | a value that was computed from one with few digits |
//! | `grouped` | a long number, with commas |

/// A value in a sentence: three digits or four, as many zeros as it takes.
pub(crate) fn number(value: f64) -> String {
    let size = value.abs();
    let digits = match size {
        _ if size >= 1000.0 || size == 0.0 => 0,
        _ if size >= 100.0 => 1,
        _ if size >= 10.0 => 2,
        _ if size >= 0.01 => 3,
        _ => (1.0 - libm::floor(libm::log10(size))).min(12.0) as usize,
    };
    format!("{value:.digits$}")
}

/// A number with about five digits that matter, for reading.
pub(crate) fn short(value: f64) -> String {
    let size = value.abs();
    if size != 0.0 && !(1e-4..1e15).contains(&size) {
        return format!("{value:.3e}");
    }
    plain(value)
}

/// A number with about five digits that matter, and at most six behind the point.
pub fn plain(value: f64) -> String {
    let size = value.abs();
    let digits = match size {
        _ if size >= 10_000.0 => 0,
        _ if size >= 100.0 => 2,
        _ if size >= 1.0 => 4,
        _ => 6,
    };
    trimmed(value, digits)
}

/// Whole digits with a comma at every third.
pub(crate) fn grouped(digits: &str) -> String {
    let (sign, digits) = digits.strip_prefix('-').map_or(("", digits), |digits| ("-", digits));
    let (whole, rest) = digits.split_at(digits.find('.').unwrap_or(digits.len()));
    let mut out = sign.to_owned();
    for (place, digit) in whole.chars().enumerate() {
        if place > 0 && (whole.len() - place).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out + rest
}

/// Five digits that matter; small differences are the point here.
pub(crate) fn precise(value: f64) -> String {
    if value == 0.0 || (1e-3..1e6).contains(&value.abs()) {
        let digits = (4 - libm::floor(libm::log10(value.abs().max(1e-3))) as i32).clamp(0, 7);
        return trimmed(value, digits as usize);
    }
    format!("{value:.4e}")
}

/// At most so many digits after the point, without zeros at the end.
pub(crate) fn trimmed(value: f64, digits: usize) -> String {
    let text = format!("{value:.digits$}");
    if text.contains('.') {
        return text.trim_end_matches('0').trim_end_matches('.').to_owned();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_as_long_as_they_need_to_be() {
        let cases = [(0.0, "0"), (7.39854, "7.3985"), (0.0312, "0.0312"), (1e-9, "1.000e-9")];
        for (value, text) in cases {
            assert_eq!(short(value), text);
        }
        let cases =
            [(0.0, "0"), (1.0, "1"), (7.39854, "7.3985"), (68.5, "68.5"), (1e-5, "0.00001")];
        for (value, text) in cases {
            assert_eq!(plain(value), text);
        }
        let cases = [(0.0, "0"), (12.345, "12.35"), (0.5, "0.500"), (0.000_123, "0.00012")];
        for (value, text) in cases {
            assert_eq!(number(value), text);
        }
        let cases = [(0.0, "0"), (7.398_54, "7.3985"), (1234.5, "1234.5"), (1e7, "1.0000e7")];
        for (value, text) in cases {
            assert_eq!(precise(value), text);
        }
        assert_eq!([trimmed(0.1 + 0.2, 7), trimmed(100.0, 0)], ["0.3", "100"]);
        let grouped_cases = [("999", "999"), ("1000000", "1,000,000"), ("-1234.5", "-1,234.5")];
        for (digits, text) in grouped_cases {
            assert_eq!(grouped(digits), text);
        }
    }
}
