//! Reads traces from files: JSON lines, written by processes that may have been killed.
//!
//! **What it takes.** One record per line. A killed process may leave half a line: at the end of
//! the file, or before the next incarnation that was appended. Such a line is counted and skipped;
//! any other line that is not a record is an error that names the line.

use bellwether_core::{Event, Record};
use std::fmt;

/// One file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trace {
    /// Its name in messages.
    pub name: String,
    /// Its records, in order.
    pub lines: Vec<Line>,
    /// How many half lines were skipped.
    pub torn: usize,
}

/// A record and its line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// The number of the line, from 1.
    pub number: usize,
    /// The record.
    pub record: Record,
}

/// Why files are not a recorded run: the place, and the problem.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadTrace {
    /// The file, or the file and the line.
    pub place: String,
    /// What is wrong, and what to do.
    pub problem: String,
}

impl BadTrace {
    pub(crate) fn at(name: &str, line: usize, problem: impl Into<String>) -> Self {
        Self { place: format!("{name}:{line}"), problem: problem.into() }
    }
}

impl fmt::Display for BadTrace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.problem)
    }
}

impl std::error::Error for BadTrace {}

impl Trace {
    /// Reads a file's content.
    ///
    /// # Errors
    /// [`BadTrace`], naming the line that is not a record.
    pub fn parse(name: &str, bytes: &[u8]) -> Result<Self, BadTrace> {
        let whole = bytes.ends_with(b"\n");
        let text = String::from_utf8_lossy(bytes);
        let written = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
        let mut trace = Self { name: name.to_owned(), lines: Vec::new(), torn: 0 };
        let mut torn: Option<BadTrace> = None;
        for (index, line) in written {
            match serde_json::from_str::<Record>(line) {
                Ok(record) => {
                    if let Some(bad) = torn.take() {
                        if !matches!(record.event, Event::Begin(_) | Event::Guardian(_)) {
                            return Err(bad);
                        }
                        trace.torn += 1;
                    }
                    trace.lines.push(Line { number: index + 1, record });
                }
                Err(error) => {
                    if let Some(bad) = torn {
                        return Err(bad);
                    }
                    torn = Some(no_record(name, index + 1, line, &error));
                }
            }
        }
        match torn {
            Some(bad) if whole => Err(bad),
            Some(_) => Ok(Self { torn: trace.torn + 1, ..trace }),
            None => Ok(trace),
        }
    }
}

fn no_record(name: &str, number: usize, line: &str, error: &serde_json::Error) -> BadTrace {
    // The parser reads one line and calls it line 1; only its column is meaningful.
    let whole = error.to_string();
    let problem = whole.rsplit_once(" at line ").map_or(whole.as_str(), |(problem, _)| problem);
    let begins: String = line.chars().take(60).flat_map(char::escape_default).collect();
    let column = error.column();
    BadTrace::at(name, number, format!("no record: {problem} at column {column}: '{begins}'"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const CRASH: &str = r#"{"t":5,"node":3,"kind":"crash"}"#;
    const BEGIN: &str = concat!(
        r#"{"t":9,"node":3,"kind":"begin","boot":"b","group":"g","protocol":"le-s","params":"{}","#,
        r#""incarnation":2,"rank":3,"members":[],"seed":1}"#
    );

    fn parsed(text: &str) -> Result<(usize, usize), String> {
        let trace = Trace::parse("a", text.as_bytes());
        trace.map(|trace| (trace.lines.len(), trace.torn)).map_err(|bad| bad.to_string())
    }

    #[test]
    fn half_a_line_is_passed_over_where_a_process_was_killed_and_nowhere_else() {
        assert_eq!(parsed(&format!("{CRASH}\n\n{CRASH}\n")), Ok((2, 0)));
        assert_eq!(parsed(CRASH), Ok((1, 0)), "only the end of the line is missing");
        assert_eq!(parsed(&format!("{CRASH}\n{}", &CRASH[..9])), Ok((1, 1)));
        assert_eq!(parsed(&format!("{CRASH}\n{}\n{BEGIN}\n", &CRASH[..9])), Ok((2, 1)));
        let refused = |text: String| parsed(&text).unwrap_err();
        let bad = refused(format!("{CRASH}\n{}\n{CRASH}\n", &CRASH[..9]));
        assert!(bad.starts_with("a:2: no record: EOF"), "{bad}");
        let bad = refused(format!("{CRASH}\n{}\n", &CRASH[..9]));
        assert!(bad.starts_with("a:2: no record"), "a whole line is no half: {bad}");
        assert!(refused("{}\n".to_owned()).contains("missing field"));
        assert!(refused("x\ny".to_owned()).starts_with("a:1: no record"));
    }

    proptest! {
        #[test]
        fn no_bytes_cause_a_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = Trace::parse("a", &bytes);
        }

        #[test]
        fn no_damaged_line_causes_a_panic(at in 0..BEGIN.len(), with in any::<u8>()) {
            let mut bytes = BEGIN.as_bytes().to_vec();
            bytes[at] = with;
            let _ = Trace::parse("a", &bytes);
        }
    }
}
