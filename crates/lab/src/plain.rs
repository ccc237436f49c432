//! What a message holds, in words: `Ack(Wave { number: 1, starter: NodeId(0) }, None)` is
//! `ack: wave (number 1, starter 0)`.
//!
//! **Assumption.** The text is what `derive(Debug)` writes. Whatever else it is, it stays as it is.

/// A value as `derive(Debug)` writes it.
enum Value<'a> {
    /// A number, a time, a text, or a variant without fields.
    Word(&'a str),
    List(Vec<Self>),
    /// A type or a variant with fields, which have names or not.
    Named(&'a str, Vec<(Option<&'a str>, Self)>),
}

/// The text in words.
pub(crate) fn plain(debug: &str) -> String {
    let mut reader = Reader { rest: debug };
    match reader.value() {
        Some(value) if reader.rest.is_empty() => value.outermost(),
        _ => debug.to_owned(),
    }
}

struct Reader<'a> {
    rest: &'a str,
}

impl<'a> Reader<'a> {
    fn value(&mut self) -> Option<Value<'a>> {
        if self.skip("[") {
            return Some(Value::List(self.items("]", Self::value)?));
        }
        let name = self.word()?;
        if self.skip(" { ") {
            return Some(Value::Named(name, self.items(" }", Self::field)?));
        }
        if self.skip("(") {
            let item = |reader: &mut Self| Some((None, reader.value()?));
            return Some(Value::Named(name, self.items(")", item)?));
        }
        Some(Value::Word(name))
    }

    fn field(&mut self) -> Option<(Option<&'a str>, Value<'a>)> {
        let name = self.word()?;
        self.skip(": ").then_some(())?;
        Some((Some(name), self.value()?))
    }

    /// Items with commas between, up to this end.
    fn items<T>(&mut self, end: &str, item: impl Fn(&mut Self) -> Option<T>) -> Option<Vec<T>> {
        let mut items = Vec::new();
        while !self.skip(end) {
            if !items.is_empty() && !self.skip(", ") {
                return None;
            }
            items.push(item(self)?);
        }
        Some(items)
    }

    fn skip(&mut self, what: &str) -> bool {
        let rest = self.rest.strip_prefix(what);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    fn word(&mut self) -> Option<&'a str> {
        let end = self.rest.find([' ', ',', ':', '(', ')', '[', ']', '{', '}']);
        let (word, rest) = self.rest.split_at(end.unwrap_or(self.rest.len()));
        self.rest = rest;
        (!word.is_empty()).then_some(word)
    }
}

impl Value<'_> {
    fn outermost(&self) -> String {
        match self {
            Self::Named(name, fields) if *name != "Some" => {
                let fields = listed(fields);
                let colon = if fields.is_empty() { "" } else { ": " };
                format!("{}{colon}{fields}", words(name))
            }
            _ => self.nested(),
        }
    }

    /// As a part of another value.
    fn nested(&self) -> String {
        match self {
            Self::Word(word) => words(word),
            Self::List(items) => {
                let items: Vec<String> = items.iter().map(Self::nested).collect();
                format!("[{}]", items.join(", "))
            }
            Self::Named(name, fields) => match (*name, &fields[..]) {
                ("Some", [(None, value)]) => value.nested(),
                (_, [(None, Self::Word(word))]) => words(word), // as `NodeId(3)`
                _ => format!("{} ({})", words(name), listed(fields)),
            },
        }
    }

    fn is_nothing(&self) -> bool {
        match self {
            Self::Word(word) => *word == "None",
            Self::List(items) => items.is_empty(),
            Self::Named(..) => false,
        }
    }
}

/// The fields that hold something.
fn listed(fields: &[(Option<&str>, Value<'_>)]) -> String {
    let held = fields.iter().filter(|(_, value)| !value.is_nothing());
    let told = held.map(|(field, value)| match field {
        None => value.nested(),
        Some(field) => {
            let (field, value) = (field.replace('_', " "), value.nested());
            // `key (id 3)` and not `key key (id 3)`
            let repeats = value.strip_prefix(&field).is_some_and(|rest| rest.starts_with(" ("));
            if repeats { value } else { format!("{field} {value}") }
        }
    });
    told.collect::<Vec<_>>().join(", ")
}

/// `RoundId` is `round id`. What does not begin with a capital stays as it is.
fn words(name: &str) -> String {
    if !name.starts_with(|first: char| first.is_ascii_uppercase()) {
        return name.to_owned();
    }
    let mut words = String::new();
    for letter in name.chars() {
        if letter.is_ascii_uppercase() && !words.is_empty() {
            words.push(' ');
        }
        words.push(letter.to_ascii_lowercase());
    }
    words
}

#[cfg(test)]
mod tests {
    use super::plain;

    #[test]
    fn messages_are_told_in_words() {
        for (debug, words) in [
            ("Announce(4611686018427387914)", "announce: 4611686018427387914"),
            ("Goodbye", "goodbye"),
            (
                "Ack(Wave { number: 1, starter: NodeId(0), life: 1 }, None)",
                "ack: wave (number 1, starter 0, life 1)",
            ),
            (
                "Message { round: 1, says: Note(Candidate(Key { class: Active, id: NodeId(9) })) }",
                "message: round 1, says note (candidate (key (class active, id 9)))",
            ),
            (
                "Frame { life: 1, sent: 0.001000133s, echoes: [], body: Some(Reply { request: \
                 Request { life: 1, sent: 0s }, support: true }) }",
                "frame: life 1, sent 0.001000133s, body reply (request (life 1, sent 0s), \
                 support true)",
            ),
            (
                "Coordinator { leader: Key { class: Active, id: NodeId(9) }, living: [NodeId(1), \
                 NodeId(2)] }",
                "coordinator: leader key (class active, id 9), living [1, 2]",
            ),
        ] {
            assert_eq!(plain(debug), words);
        }
    }

    #[test]
    fn what_is_no_such_text_stays_as_it_is() {
        for text in ["", "a, b", "Open { a: 1", "Text(\"a b\")", "Open(", "}"] {
            assert_eq!(plain(text), text);
        }
    }
}
