//! Basic elements of the picture: numbers, escaped text, colours.

pub(super) use super::markup::N;
use super::markup::put_safely;
use std::fmt;

/// Appends formatted text to a string, which cannot fail.
macro_rules! put {
    ($out:expr, $($text:tt)*) => { $out.push_str(&format!($($text)*)) };
}
pub(super) use put;

/// The size of ordinary text in the picture.
pub(super) const LABEL_SIZE: f64 = 11.0;

/// The size of text in the thinnest bars.
pub(super) const SMALL_SIZE: f64 = 8.0;

/// How many leaders have a colour of their own; all others share one more. As many colours are for
/// messages.
pub(super) const COLOURS: usize = 6;

/// A text from outside, escaped, and cut where it is too long to read.
pub(super) struct Text<'a>(pub(super) &'a str);

const TEXT_MAX: usize = 200;

impl fmt::Display for Text<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use fmt::Write as _;
        for (index, character) in self.0.chars().enumerate() {
            if index == TEXT_MAX {
                return f.write_char('…');
            }
            put_safely(f, character)?;
        }
        Ok(())
    }
}

/// The colour of this index in the order of leaders.
pub(super) fn colour(place: usize) -> usize {
    place.min(COLOURS)
}

/// The text, cut to at most `most` characters.
pub(super) fn shortened(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    text.chars().take(most.saturating_sub(1)).chain(['…']).collect()
}

/// The approximate width of a text in a sans-serif font of this size.
pub(super) fn text_width(text: &str, size: f64) -> f64 {
    text.chars().count() as f64 * size * 0.58
}

/// Colours are classes, so that a dark page gets a dark picture. Leaders (`l`), who follows them
/// (`f`) and kinds of messages (`k`) each have a set of colours that people with any kind of colour
/// vision can tell apart, and text is legible on the first two. Each kind also has its own shape.
/// The page of the laboratory has the same sets; `crates/lab/src/palette.rs` tests all of it.
pub(super) const STYLE: &str = "\
.bw{font:11px system-ui,-apple-system,'Segoe UI',Roboto,'DejaVu Sans',sans-serif}\
.bw .page{fill:#fff}\
.bw text{fill:#1d2430}\
.bw .h{font-size:15px;font-weight:600}\
.bw .dim{fill:#667080}\
.bw .on{fill:#fff;font-weight:600}\
.bw .in{font-size:10px;pointer-events:none}\
.bw .grid{stroke:#e6e9ee;fill:none}\
.bw .axis{stroke:#8a94a3;fill:none}\
.bw .life{stroke:#aab2bf;fill:none}\
.bw .down{stroke:#aab2bf;stroke-dasharray:1.5 4;fill:none}\
.bw .und{fill:#dde1e7}\
.bw .sup{fill:#b9c0ca}\
.bw .abo{fill:#f6f7f9;stroke:#8a94a3;stroke-dasharray:3 2}\
.bw .l0{fill:#1d6faa}\
.bw .l1{fill:#c14500}\
.bw .l2{fill:#137a4f}\
.bw .l3{fill:#a74e86}\
.bw .l4{fill:#8e711c}\
.bw .l5{fill:#382d7c}\
.bw .f0{fill:#9dc1d8}\
.bw .f1{fill:#ddad91}\
.bw .f2{fill:#b2d3c4}\
.bw .f3{fill:#caa4b6}\
.bw .f4{fill:#d7ccad}\
.bw .f5{fill:#9ca4c9}\
.bw .l6{fill:#645853}\
.bw .f6{fill:#beb2a9}\
.bw .k0{stroke:#374452}\
.bw .k1{stroke:#b5179e}\
.bw .k2{stroke:#29808d}\
.bw .k3{stroke:#a64c05}\
.bw .k4{stroke:#6e3dd0}\
.bw .k5{stroke:#4d7c12}\
.bw .k6{stroke:#86786e}\
.bw .m path{fill:none;stroke-linecap:round}\
.bw .m .x{stroke-dasharray:2 3;stroke-opacity:.65}\
.bw .m .e{stroke-width:3}\
.bw .m .p{stroke-width:2.4;stroke-opacity:1}\
.bw .m .c{stroke-width:1.3;stroke-opacity:1}\
.bw .m .b{stroke-width:6.4;stroke-opacity:1}\
.bw .m .s{stroke-width:3;stroke-opacity:1;stroke-linecap:butt}\
.bw .fine path{stroke-width:.7}\
.bw .fine .m .x{stroke-opacity:.2}\
.bw .fine .m .c{stroke-width:.8;stroke-opacity:.5}\
.bw .m:hover path{stroke-opacity:1}\
.bw .m:hover path:first-of-type{stroke-width:2}\
.bw .ring{fill:none;stroke:#fff;stroke-opacity:1;stroke-linecap:round}\
.bw .m .rb{stroke-width:8.6}\
.bw .m .rs{stroke-width:5;stroke-linecap:butt}\
.bw .sign{stroke:#1d2430;stroke-width:2;fill:none;stroke-linecap:round}\
.bw .tick{stroke:#1d2430;stroke-width:1.4;fill:none}\
.bw .solid{fill:#1d2430}\
.bw .hollow{fill:#fff}\
.bw .still{fill:url(#bw-hatch)}\
.bw .hatch{stroke:#1d2430;stroke-opacity:.55}\
@media(prefers-color-scheme:dark){\
.bw .page{fill:#12161d}\
.bw text{fill:#e4e8ef}\
.bw .dim{fill:#97a1b0}\
.bw .on{fill:#fff}\
.bw .grid{stroke:#252c37}\
.bw .life,.bw .down{stroke:#596374}\
.bw .und{fill:#343c49}\
.bw .sup{fill:#556072}\
.bw .abo{fill:#1b212b}\
.bw .l0{fill:#147ab7}\
.bw .l1{fill:#b44a00}\
.bw .l2{fill:#1d8465}\
.bw .l3{fill:#af568e}\
.bw .l4{fill:#8a721f}\
.bw .l5{fill:#685ec1}\
.bw .f0{fill:#2d577b}\
.bw .f1{fill:#7a4326}\
.bw .f2{fill:#094d44}\
.bw .f3{fill:#633b5b}\
.bw .f4{fill:#483b10}\
.bw .f5{fill:#3a396f}\
.bw .l6{fill:#70604d}\
.bw .f6{fill:#39342e}\
.bw .k0{stroke:#c1cad5}\
.bw .k1{stroke:#ff94e0}\
.bw .k2{stroke:#4ecae0}\
.bw .k3{stroke:#f2a267}\
.bw .k4{stroke:#a994f7}\
.bw .k5{stroke:#afd85e}\
.bw .k6{stroke:#737d8e}\
.bw .ring{stroke:#12161d}\
.bw .sign,.bw .tick,.bw .hatch{stroke:#fff}\
.bw .solid{fill:#fff}\
.bw .hollow{fill:#12161d}\
}";

/// Additional styles for pictures of leases: lock bars, and lines that differ by more than colour,
/// because every lane has several kinds of messages.
pub(super) const STYLE_OF_LEASES: &str = "\
.bw .hold{stroke:#667080;stroke-width:.8}\
.bw .tiny{font-size:8px;pointer-events:none}\
.bw .k1 path:not([class]){stroke-dasharray:7 2.5}\
.bw .k2 path:not([class]){stroke-width:1.8}\
.bw .k3 path:not([class]){stroke-dasharray:1.5 2.5}\
.bw .quiet{stroke:#667080}\
.bw .quiet path{stroke-width:.6}\
.bw .quiet .p{stroke-width:2.4}\
@media(prefers-color-scheme:dark){.bw .hold,.bw .quiet{stroke:#97a1b0}}";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_cannot_leave_its_place() {
        assert_eq!(Text("<a href='x'>&\"").to_string(), "&lt;a href=&#39;x&#39;&gt;&amp;&quot;");
        assert_eq!(Text("a\0b\n\u{ffff}").to_string(), "a\u{fffd}b\u{fffd}\u{fffd}");
        assert_eq!(Text(&"x".repeat(1_000)).to_string().chars().count(), TEXT_MAX + 1);
        assert_eq!(shortened("announce", 8), "announce");
        assert_eq!(shortened("announcement", 8), "announc…");
    }
}
