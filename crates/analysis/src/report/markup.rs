//! Numbers and escaped text for pictures and pages.

pub(super) use bellwether_sim::diagram::markup::N;
use bellwether_sim::diagram::markup::put_safely;
use std::fmt;

/// Appends formatted text to a string, which cannot fail.
macro_rules! put {
    ($out:expr, $($text:tt)*) => { $out.push_str(&format!($($text)*)) };
}
pub(super) use put;

/// A text, escaped for XML and HTML, between tags and within quotes.
pub(super) struct Text<'a>(pub(super) &'a str);

impl fmt::Display for Text<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use fmt::Write as _;
        for character in self.0.chars() {
            match character {
                '\n' | '\t' => f.write_char(character)?,
                _ => put_safely(f, character)?,
            }
        }
        Ok(())
    }
}

/// A text in a picture, with the indices of symbols set low: T_L, t_max.
pub(super) struct Indexed<'a>(pub(super) &'a str);

impl fmt::Display for Indexed<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut low = false;
        for (text, index) in indexed(self.0) {
            match (index, low) {
                (true, _) => write!(f, "<tspan dy=\"3\" font-size=\"75%\">{}</tspan>", Text(text))?,
                // A space at the beginning of an element is not drawn everywhere: a step is.
                (false, true) => match text.strip_prefix(' ') {
                    Some(rest) => write!(f, "<tspan dx=\".3em\" dy=\"-3\">{}</tspan>", Text(rest))?,
                    None => write!(f, "<tspan dy=\"-3\">{}</tspan>", Text(text))?,
                },
                (false, false) => Text(text).fmt(f)?,
            }
            low = index;
        }
        Ok(())
    }
}

/// A text on a page, likewise.
pub(super) struct Prose<'a>(pub(super) &'a str);

impl fmt::Display for Prose<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (text, index) in indexed(self.0) {
            match index {
                true => write!(f, "<sub>{}</sub>", Text(text))?,
                false => Text(text).fmt(f)?,
            }
        }
        Ok(())
    }
}

/// The text in pieces, and whether each is an index: what follows a single letter and a low line.
fn indexed(text: &str) -> Vec<(&str, bool)> {
    let mut pieces = Vec::new();
    let mut rest = text;
    let mut from = 0;
    while let Some(found) = rest[from..].find('_') {
        let low = from + found;
        let mut before = rest[..low].chars().rev();
        let symbol = before.next().is_some_and(char::is_alphabetic)
            && !before.next().is_some_and(|c| c.is_alphanumeric() || c == '_');
        let index = &rest[low + 1..];
        let length = index.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(index.len());
        if !symbol || length == 0 {
            from = low + 1;
            continue;
        }
        pieces.extend([(&rest[..low], false), (&index[..length], true)]);
        (rest, from) = (&index[length..], 0);
    }
    pieces.push((rest, false));
    pieces.retain(|(text, _)| !text.is_empty());
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_cannot_leave_its_place() {
        assert_eq!(Text("<a href='x'>&\"").to_string(), "&lt;a href=&#39;x&#39;&gt;&amp;&quot;");
        assert_eq!(Text("a\0b\n\u{ffff}").to_string(), "a\u{fffd}b\n\u{fffd}");
    }

    #[test]
    fn indices_of_symbols_are_set_low() {
        assert_eq!(Prose("T_L > 2 T_A·x").to_string(), "T<sub>L</sub> &gt; 2 T<sub>A</sub>·x");
        for plain in ["num_msgs", "a_", "_b", "", "--as_printed", "x__y"] {
            assert_eq!(Prose(plain).to_string(), plain);
        }
        let low = "<tspan dy=\"3\" font-size=\"75%\">max</tspan>";
        assert_eq!(Indexed("t_max").to_string(), format!("t{low}"));
        assert_eq!(
            Indexed("t_max (s)").to_string(),
            format!("t{low}<tspan dx=\".3em\" dy=\"-3\">(s)</tspan>")
        );
    }
}
