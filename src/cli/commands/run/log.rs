//! The form of messages for the operator: text, JSON or lines for the journal; which of them are
//! written, and how many at most.
//!
//! **Source.** Priorities of the journal: `sd-daemon(3)`, `<N>` before each line.
//!
//! **Promise.** Without `--log` and `--log-level` every line is as it always was. A line is one
//! line, whatever it says. No more than [`BURST`] lines are written in [`WINDOW`]; how many were
//! left out is told with the next one.

use crate::cli::output::change;
use bellwether::core::{Duration, Instant};
use bellwether::net::clock::wall_time;
use clap::{Args, ValueEnum};
use serde_json::json;

/// The most lines in a window.
const BURST: u64 = 2_000;
/// A time in which so many lines may be written.
const WINDOW: Duration = Duration::from_secs(10);

#[derive(Args, Clone, Copy, Debug, Default)]
#[command(next_help_heading = "Messages")]
pub(super) struct Logging {
    /// The form of messages on the standard error; each change is one of them then, too [default:
    /// text, and changes only if they are not written to the standard output]
    #[arg(long, value_name = "FORM", value_enum)]
    log: Option<Form>,
    /// Which messages: these and more important ones
    #[arg(long, value_name = "LEVEL", value_enum, default_value_t)]
    log_level: Level,
}

/// How a message is written.
#[derive(ValueEnum, Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Form {
    /// For people
    #[default]
    Text,
    /// For programs: time, level, message
    Json,
    /// For the journal of systemd: with a priority
    Journald,
}

/// How important a message is.
#[derive(ValueEnum, Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Level {
    /// The member cannot go on
    Error,
    /// Somebody should look
    Warning,
    /// What the member believes has changed
    #[default]
    Info,
}

impl Level {
    fn name(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
            Self::Info => "info",
        }
    }

    /// The priority of the journal.
    fn priority(self) -> u8 {
        match self {
            Self::Error => 3,
            Self::Warning => 4,
            Self::Info => 6,
        }
    }
}

impl Form {
    fn name(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Json => "json",
            Self::Journald => "journald",
        }
    }
}

impl Logging {
    /// The name of its form.
    pub(super) fn form(self) -> &'static str {
        self.log.map_or("text, and changes only where nobody else is told", Form::name)
    }

    /// The name of the level of messages that are written.
    pub(super) fn level(self) -> &'static str {
        self.log_level.name()
    }

    /// Whether changes are messages even if they are written to the standard output.
    pub(super) fn is_asked(self) -> bool {
        self.log.is_some()
    }

    /// The line of a message, if it is written at all.
    pub(super) fn line(self, level: Level, message: &str, now: Instant) -> Option<String> {
        if level > self.log_level {
            return None;
        }
        Some(match self.log.unwrap_or_default() {
            Form::Text => format!("bellwether: {message}"),
            Form::Json => {
                // The time is a field of its own, as is the clock by which leases end.
                let (time, clock, message) = match change::unstamped(message) {
                    Some((time, clock, message)) => (time.to_owned(), clock, message),
                    None => (wall_time(now), now.as_secs_f64(), message),
                };
                let level = level.name();
                json!({ "time": time, "clock": clock, "level": level, "message": message })
                    .to_string()
            }
            Form::Journald => {
                // The journal has the time already.
                let message = change::unstamped(message).map_or(message, |(.., message)| message);
                format!("<{}>{}", level.priority(), message.replace('\n', " "))
            }
        })
    }
}

/// Counts the lines of the present window.
#[derive(Debug)]
pub(super) struct Budget {
    since: Instant,
    lines: u64,
}

impl Default for Budget {
    fn default() -> Self {
        Self { since: Instant::ZERO, lines: 0 }
    }
}

impl Budget {
    /// Whether one more line may be written.
    pub(super) fn allows(&mut self, now: Instant) -> bool {
        if now >= self.since + WINDOW {
            (self.since, self.lines) = (now, 0);
        }
        self.lines += 1;
        self.lines <= BURST
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(log: Option<Form>, log_level: Level, level: Level) -> Option<String> {
        let message = "it \"leads\"\nno longer";
        Logging { log, log_level }.line(level, message, Instant::from_nanos(5))
    }

    #[test]
    fn each_form_has_its_line_and_a_level_leaves_out_the_less_important() {
        let text = line(None, Level::Info, Level::Info);
        assert_eq!(
            text.as_deref(),
            Some("bellwether: it \"leads\"\nno longer"),
            "as it always was"
        );
        let journal = line(Some(Form::Journald), Level::Info, Level::Warning).unwrap();
        assert_eq!(journal, "<4>it \"leads\" no longer");
        let json = line(Some(Form::Json), Level::Error, Level::Error).unwrap();
        let json: serde_json::Value = serde_json::from_str(&json).unwrap();
        assert_eq!(
            (&json["level"], &json["message"]),
            (&json!("error"), &json!("it \"leads\"\nno longer"))
        );
        assert_eq!(line(None, Level::Warning, Level::Info), None);
        // A message that begins with its time tells that once.
        let at = Instant::from_nanos(5_250_000_000);
        let stamped = format!("{} it leads", change::stamp(at));
        let tell = |log| {
            let logging = Logging { log: Some(log), log_level: Level::Info };
            logging.line(Level::Info, &stamped, at + WINDOW).unwrap()
        };
        let json: serde_json::Value = serde_json::from_str(&tell(Form::Json)).unwrap();
        let time = json!(stamped.split(' ').next());
        assert_eq!(json["message"], json!("it leads"));
        assert_eq!((&json["clock"], &json["time"]), (&json!(5.25), &time));
        assert_eq!(tell(Form::Journald), "<6>it leads");
        assert_eq!(tell(Form::Text), format!("bellwether: {stamped}"));
        assert!(line(None, Level::Warning, Level::Error).is_some());
    }

    #[test]
    fn a_window_has_so_many_lines_and_then_there_is_another() {
        let mut budget = Budget::default();
        let now = Instant::from_nanos(1) + WINDOW * 5;
        let allowed = (0..BURST * 2).filter(|_| budget.allows(now)).count();
        assert_eq!(allowed as u64, BURST);
        assert!(!budget.allows(now + WINDOW - Duration::from_nanos(1)));
        assert!(budget.allows(now + WINDOW));
    }
}
