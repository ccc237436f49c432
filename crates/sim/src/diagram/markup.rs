//! Numbers and escaped characters for all generated pictures and pages.

use std::fmt;

/// A coordinate, rounded to a tenth of a pixel and written as short as possible.
#[derive(Clone, Copy)]
pub struct N(pub f64);

impl fmt::Display for N {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The cast turns NaN into zero and clamps large values.
        let tenths = (self.0 * 10.0).round() as i64;
        let (whole, tenth) = ((tenths / 10).unsigned_abs(), (tenths % 10).abs());
        let sign = if tenths < 0 { "-" } else { "" };
        match tenth {
            0 => write!(f, "{sign}{whole}"),
            _ => write!(f, "{sign}{whole}.{tenth}"),
        }
    }
}

/// Writes a character escaped for XML and HTML, in text and in quoted attributes.
///
/// # Errors
/// Those of the writer.
pub fn put_safely(out: &mut impl fmt::Write, character: char) -> fmt::Result {
    match character {
        '&' => out.write_str("&amp;"),
        '<' => out.write_str("&lt;"),
        '>' => out.write_str("&gt;"),
        '"' => out.write_str("&quot;"),
        '\'' => out.write_str("&#39;"),
        // XML has no escape for control characters; they are shown as replacement characters.
        _ if character.is_control() => out.write_char('\u{fffd}'),
        '\u{fffe}' | '\u{ffff}' => out.write_char('\u{fffd}'),
        _ => out.write_char(character),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coordinates_are_rounded_to_tenths_and_are_always_numbers() {
        for (number, text) in [
            (0.0, "0"),
            (-0.04, "0"),
            (12.0, "12"),
            (12.34, "12.3"),
            (-0.26, "-0.3"),
            (-7.0, "-7"),
            (f64::NAN, "0"),
        ] {
            assert_eq!(N(number).to_string(), text);
        }
        assert!(N(f64::INFINITY).to_string().parse::<f64>().is_ok_and(f64::is_finite));
        assert!(N(f64::NEG_INFINITY).to_string().parse::<f64>().is_ok_and(f64::is_finite));
    }
}
