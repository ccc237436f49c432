//! What messages are for, whatever a protocol calls them: pictures show it.

/// What a message is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// Calls an election, or announces a candidate.
    Call,
    /// Answers a call.
    Answer,
    /// Answers a call with what was found beyond it.
    Report,
    /// Tells who was elected.
    Result,
    /// Gives something up.
    Farewell,
    /// Asks for something else than an election.
    Question,
    /// Tells what others may want to know.
    News,
    /// Says only that its sender lives.
    SignOfLife,
}

/// A kind of message, by the name that records have for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MessageKind {
    /// Its name.
    pub name: &'static str,
    /// What it is for.
    pub purpose: Purpose,
    /// Tells kinds apart that are for the same and occur in one protocol. A kind has the same one
    /// in all of them.
    pub variety: usize,
}

impl Purpose {
    /// The kind of this name.
    pub const fn of(self, name: &'static str) -> MessageKind {
        MessageKind { name, purpose: self, variety: 0 }
    }

    /// A kind that occurs beside others for the same.
    pub const fn also(self, name: &'static str, variety: usize) -> MessageKind {
        MessageKind { name, purpose: self, variety }
    }
}
