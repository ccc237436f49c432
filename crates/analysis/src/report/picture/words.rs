//! Text in a picture: how wide it is, and where it is broken.

/// The size of ordinary text.
pub(super) const LABEL: f64 = 12.0;
/// The size of numbers at ticks.
pub(super) const SMALL: f64 = 11.0;
/// The size of the heading.
pub(super) const HEADING: f64 = 15.0;

/// About how wide a text is in a sans-serif face of this size; if it is wrong, it is too wide.
pub(super) fn width_of(text: &str, size: f64) -> f64 {
    let em = |character: char| match character {
        'i' | 'j' | 'l' | '.' | ',' | ':' | ';' | '\'' | '|' | '!' | 'I' => 0.28,
        ' ' | 'f' | 't' | 'r' | '(' | ')' | '-' | '/' | '·' => 0.34,
        'm' | 'w' | 'M' | 'W' | '%' | '—' => 0.89,
        '⁰'..='⁹' | '¹' | '²' | '³' | '⁻' => 0.36,
        _ if character.is_uppercase() => 0.72,
        _ => 0.57,
    };
    size * text.chars().map(em).sum::<f64>()
}

/// The text in lines that fit, broken between words.
pub(super) fn wrapped(text: &str, size: f64, width: f64) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if width_of(&format!("{line} {word}"), size) <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_broken_between_words_and_no_word_is_lost() {
        let text = "inconsistent state as a part of the time";
        let lines = wrapped(text, LABEL, 120.0);
        assert!(lines.len() > 1);
        assert!(lines.iter().all(|line| width_of(line, LABEL) <= 120.0), "{lines:?}");
        assert_eq!(lines.join(" "), text);
        assert_eq!(wrapped("", LABEL, 10.0), Vec::<String>::new());
        assert_eq!(wrapped("unbreakable", LABEL, 1.0), ["unbreakable"]);
    }
}
