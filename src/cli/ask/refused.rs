//! Refusals in the names of a program: those of the flags, with `_` for `-` and without dashes.

use crate::cli::failure::Failure;

/// Why a question is not answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// A parameter breaks a rule.
    Parameter,
    /// A file does.
    File,
    /// Reading failed, or the system refused something.
    System,
    /// It was ended before there was an answer.
    Ended,
}

/// A question that is not answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// The value, the rule and the way out, in one line with the caller's names.
    pub line: String,
    /// Why.
    pub why: Why,
    parameter: Option<String>,
}

impl Refused {
    /// The first parameter that the line names.
    pub fn parameter(&self) -> Option<&str> {
        self.parameter.as_deref()
    }

    /// A line of the command about a parameter.
    pub(super) fn parameter_line(line: &str) -> Self {
        Self::of(line, Why::Parameter)
    }

    fn of(line: &str, why: Why) -> Self {
        let (line, parameter) = renamed(line);
        Self { line, why, parameter }
    }

    /// The words were those of another command; no caller can cause it.
    pub(super) fn strange() -> Self {
        Self::of("the parameters are those of another question", Why::Parameter)
    }

    pub(super) fn view(view: &str) -> Self {
        let rule = "a picture shows all, time, ring, graph";
        Self::of(&format!("invalid value '{view}' for '--view': {rule}"), Why::Parameter)
    }
}

impl From<Failure> for Refused {
    fn from(failure: Failure) -> Self {
        let why = match &failure {
            Failure::Usage(_) => Why::Parameter,
            Failure::Config(_) => Why::File,
            Failure::Interrupted(_) => Why::Ended,
            _ => Why::System,
        };
        Self::of(&failure.to_string(), why)
    }
}

/// A line with the caller's names for flags, and the first of these. What stands between backticks
/// is a command and stays as it is.
pub(super) fn renamed(line: &str) -> (String, Option<String>) {
    let mut first = None;
    let quoted = line.split('`').enumerate().map(|(at, part)| match at % 2 {
        0 => without_dashes(part, &mut first),
        _ => part.to_owned(),
    });
    (quoted.collect::<Vec<_>>().join("`"), first)
}

fn without_dashes(text: &str, first: &mut Option<String>) -> String {
    let mut parts = text.split("--");
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let letter = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        let (name, rest) = part.split_at(part.find(|c| !letter(c)).unwrap_or(part.len()));
        if !name.starts_with(|c: char| c.is_ascii_lowercase()) {
            out += "--";
            out += part;
            continue;
        }
        let name = name.replace('-', "_");
        // Clap adds the form of the value: '--loss <P>'.
        let form = rest.strip_prefix(" <").and_then(|rest| rest.split_once('>'));
        out += &name;
        out += form.map_or(rest, |(_, rest)| rest);
        first.get_or_insert(name);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_wrong_is_said_with_the_names_of_the_caller() {
        let line = "unexpected argument '--loss-modle' found; did you mean '--loss-model <MODEL>'?";
        let refused = Refused::parameter_line(line);
        let said = "unexpected argument 'loss_modle' found; did you mean 'loss_model'?";
        assert_eq!((refused.line.as_str(), refused.parameter()), (said, Some("loss_modle")));
        assert_eq!(Refused::strange().parameter(), None);
    }

    #[test]
    fn commands_that_a_line_mentions_stay_as_they_are() {
        let (said, name) = renamed("--k 3 is too few; `bellwether sim le-s --k 9` shows more --k");
        assert_eq!(said, "k 3 is too few; `bellwether sim le-s --k 9` shows more k");
        assert_eq!(name.as_deref(), Some("k"));
        assert_eq!(renamed("a dash -- and --no-such <N> x").0, "a dash -- and no_such x");
    }
}
