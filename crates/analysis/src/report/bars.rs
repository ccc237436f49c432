//! Bars that show what a time is spent on: as text, and as SVG.
//!
//! **Promise.** The parts of a bar sum up to the whole, and each that is there is shown. The same
//! bars give the same bytes.

use super::markup::{N, Text, put};
use bellwether_core::Duration;

/// One part of a bar.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// Its name; no two names of a bar begin with the same letter.
    pub name: &'static str,
    /// Its length.
    pub length: Duration,
    /// What it is.
    pub what: String,
}

impl Part {
    /// A part.
    pub fn new(name: &'static str, length: Duration, what: &str) -> Self {
        Self { name, length, what: what.to_owned() }
    }
}

/// A time and its parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bar {
    /// What the time is.
    pub title: &'static str,
    /// The whole.
    pub whole: Duration,
    /// The parts; the last is what is left.
    pub parts: Vec<Part>,
}

/// The cells of a bar that is text.
const CELLS: usize = 64;
/// The name of what is left.
const MARGIN: &str = "margin";
/// The width of a picture, in pixels.
const WIDTH: f64 = 760.0;
/// Around everything.
const EDGE: f64 = 16.0;
/// The height of a bar.
const BAR: f64 = 30.0;
/// The height of a line.
const LINE: f64 = 18.0;
/// The colours of Okabe and Ito, without the yellow.
const COLOURS: [&str; 6] = ["#0072b2", "#d55e00", "#009e73", "#b3488a", "#56b4e9", "#e69f00"];
/// What is left is grey.
const LEFT: &str = "#cccccc";

impl Bar {
    /// A bar of these parts, and a margin of what they leave.
    pub fn new(title: &'static str, whole: Duration, mut parts: Vec<Part>) -> Self {
        let sum = parts.iter().fold(Duration::ZERO, |sum, part| sum + part.length);
        let left = whole.saturating_sub(sum);
        parts.push(Part::new(MARGIN, left, "what is left"));
        Self { title, whole, parts }
    }

    fn share(&self, part: &Part) -> f64 {
        part.length.as_secs_f64() / self.whole.as_secs_f64().max(f64::MIN_POSITIVE)
    }

    /// The cells of each part: at least one if it is there, and all together [`CELLS`].
    fn cells(&self) -> Vec<usize> {
        let there = |part: &Part| part.length > Duration::ZERO;
        let count = |part: &Part| {
            ((self.share(part) * CELLS as f64) as usize).max(usize::from(there(part)))
        };
        let mut cells: Vec<usize> = self.parts.iter().map(count).collect();
        // What rounding left over or took goes to the longest.
        let longest = (0..cells.len()).max_by_key(|place| self.parts[*place].length);
        if let Some(longest) = longest {
            let others = cells.iter().sum::<usize>() - cells[longest];
            cells[longest] = CELLS.saturating_sub(others);
        }
        cells
    }

    /// The bar and its parts, a line each.
    pub fn to_text(&self) -> String {
        let mark = |part: &Part| if part.name == MARGIN { '.' } else { first(part.name) };
        let cells = self.parts.iter().zip(self.cells());
        let drawn: String =
            cells.map(|(part, count)| mark(part).to_string().repeat(count)).collect();
        let mut text = format!("{} {}\n[{drawn}]", self.title, self.whole);
        for part in self.parts.iter().filter(|part| part.length > Duration::ZERO) {
            let (length, percent) = (part.length.to_string(), 100.0 * self.share(part));
            put!(
                text,
                "\n  {} {:<11} {length:<12} {percent:5.1} %  {}",
                mark(part),
                part.name,
                part.what
            );
        }
        text
    }

    fn draw(&self, top: f64, out: &mut String) -> f64 {
        let full = WIDTH - 2.0 * EDGE;
        put!(
            out,
            "<text x=\"{}\" y=\"{}\" font-weight=\"bold\">{}</text>\n",
            N(EDGE),
            N(top),
            Text(&format!("{} {}", self.title, self.whole))
        );
        let (mut x, y) = (EDGE, top + 10.0);
        let mut line = y + BAR + LINE;
        for (place, part) in self.parts.iter().enumerate() {
            if part.length == Duration::ZERO {
                continue;
            }
            let colour = if part.name == MARGIN { LEFT } else { COLOURS[place % COLOURS.len()] };
            let width = full * self.share(part).min(1.0);
            put!(
                out,
                "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"{colour}\" \
                 stroke=\"#ffffff\"/>\n",
                N(x),
                N(y),
                N(width),
                N(BAR)
            );
            put!(
                out,
                "<rect x=\"{}\" y=\"{}\" width=\"12\" height=\"12\" fill=\"{colour}\"/>\n",
                N(EDGE),
                N(line - 10.0)
            );
            let told = format!(
                "{} {} ({:.1} %): {}",
                part.name,
                part.length,
                100.0 * self.share(part),
                part.what
            );
            put!(out, "<text x=\"{}\" y=\"{}\">{}</text>\n", N(EDGE + 18.0), N(line), Text(&told));
            x += width;
            line += LINE;
        }
        line + LINE
    }
}

fn first(name: &str) -> char {
    name.chars().next().unwrap_or(' ')
}

/// The bars one below the other, as SVG.
pub fn svg(title: &str, bars: &[Bar]) -> String {
    let mut body = String::new();
    let mut top = EDGE + 2.0 * LINE;
    for bar in bars {
        top = bar.draw(top, &mut body);
    }
    let mut out = String::new();
    let (width, height) = (N(WIDTH), N(top));
    put!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" \
         width=\"{width}\" height=\"{height}\" font-family=\"sans-serif\" font-size=\"12\">\n"
    );
    put!(out, "<rect width=\"{width}\" height=\"{height}\" fill=\"#ffffff\"/>\n");
    put!(
        out,
        "<text x=\"{}\" y=\"{}\" font-size=\"14\">{}</text>\n",
        N(EDGE),
        N(EDGE + 8.0),
        Text(title)
    );
    out + &body + "</svg>\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bar() -> Bar {
        let ms = Duration::from_millis;
        let parts = vec![
            Part::new("lock", ms(900), "<so long>"),
            Part::new("delay", ms(1), "short"),
            Part::new("fsync", Duration::ZERO, "nothing"),
        ];
        Bar::new("all", ms(1000), parts)
    }

    #[test]
    fn the_parts_are_the_whole_and_the_shortest_is_seen() {
        let bar = bar();
        let sum = bar.parts.iter().fold(Duration::ZERO, |sum, part| sum + part.length);
        assert_eq!(sum, bar.whole);
        assert_eq!(bar.cells(), [57, 1, 0, 6]);
        let expected = "all 1s\n[lllllllllllllllllllllllllllllllllllllllllllllllllllllllll\
                        d......]\n  l lock        0.9s          90.0 %  <so long>\n  d delay       \
                        0.001s         0.1 %  short\n  . margin      0.099s         9.9 %  what \
                        is left";
        assert_eq!(bar.to_text(), expected);
    }

    #[test]
    fn a_picture_has_a_rectangle_for_each_part_and_cannot_be_broken_by_words() {
        let picture = svg("a & b", &[bar()]);
        assert!(picture.starts_with("<svg") && picture.ends_with("</svg>\n"));
        assert_eq!(picture.matches("<rect").count(), 1 + 2 * 3);
        assert!(picture.contains("a &amp; b") && picture.contains("&lt;so long&gt;"), "{picture}");
    }
}
