//! What messages of live traces carry, in words: a trace has their bytes, and a reader needs more.
//!
//! **Assumptions.** The life that received a message says in its first record which protocol it
//! ran. Bytes that this protocol does not read are left as they are.

use bellwether_core::{Event, Message, NodeId, Protocol, Reader, Record, Visitor, from_hex};
use bellwether_protocols::choice::Choice;
use std::borrow::Cow;
use std::collections::BTreeMap;

/// The most characters of what a message carries.
const SHOWN_MAX: usize = 400;

/// Puts what each message carries after the name of its kind, where its bytes were recorded: whom
/// a final message names, for example.
pub fn show_carried(records: &mut [Record]) {
    let mut lives: BTreeMap<NodeId, Choice> = BTreeMap::new();
    for Record { node, event, .. } in records {
        match event {
            Event::Begin(head) => {
                let choice = Choice::from_json(&head.protocol, &head.params).ok();
                lives.extend(choice.map(|choice| (*node, choice)));
            }
            Event::Recv { message, body: Some(body), .. } => {
                let carried = lives.get(node).cloned().zip(from_hex(body));
                let carried = carried.and_then(|(choice, bytes)| choice.visit(Carried(&bytes)));
                if let Some(carried) = carried {
                    *message = Cow::Owned(format!("{message} {carried}"));
                }
            }
            _ => {}
        }
    }
}

/// Reads a message of any protocol.
struct Carried<'a>(&'a [u8]);

impl Visitor for Carried<'_> {
    type Output = Option<String>;

    fn visit<P: Protocol>(self, _params: P::Params) -> Option<String> {
        let message = P::Message::decode(&mut Reader::new(self.0)).ok()?;
        let text = format!("{message:?}");
        Some(match text.char_indices().nth(SHOWN_MAX) {
            Some((end, _)) => format!("{}…", &text[..end]),
            None => text,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bellwether_core::SimTime;

    #[test]
    fn bytes_that_are_no_message_stay_as_they_are() {
        let text = r#"{"t":1,"node":1,"kind":"recv","from":2,"message":"x","number":1,"sent":1,
            "life":3,"body":"ff"}"#;
        let record: Record = serde_json::from_str(text).unwrap();
        let mut records = vec![record.clone()];
        show_carried(&mut records);
        assert_eq!(records, [record], "nobody has begun");
        assert_eq!(records[0].t, SimTime::from_nanos(1));
    }
}
