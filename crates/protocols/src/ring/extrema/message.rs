//! The messages of the searches: notes about candidates, and announcements.

use super::super::Key;
use alloc::vec::Vec;
use bellwether_core::{Malformed, Message as Wire, Reader, Value, WireWrite};

/// A note: what one kind of search sends around.
pub trait Note: Value + Copy {
    /// The candidate that it is about.
    fn key(&self) -> Key;

    /// Its name in counts and traces.
    fn kind(&self) -> &'static str;

    /// Appends its bytes.
    fn encode(&self, out: &mut Vec<u8>);

    /// Reads one.
    ///
    /// # Errors
    /// [`Malformed`] for bytes that [`encode`](Self::encode) did not write.
    fn decode(input: &mut Reader<'_>) -> Result<Self, Malformed>;
}

/// One message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Message<N> {
    /// The round; zero from a process that has forgotten the number.
    pub round: u64,
    /// The contents.
    pub says: Says<N>,
}

/// The contents of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Says<N> {
    /// A note about a candidate.
    Note(N),
    /// "This one leads."
    Announcement(Key),
}

impl<N: Note> Wire for Message<N> {
    #[inline]
    fn kind(&self) -> &'static str {
        match &self.says {
            Says::Note(note) => note.kind(),
            Says::Announcement(_) => "announcement",
        }
    }

    fn encode(&self, out: &mut Vec<u8>) {
        out.put_u64(self.round);
        match &self.says {
            Says::Note(note) => {
                out.put_flag(false);
                note.encode(out);
            }
            Says::Announcement(leader) => {
                out.put_flag(true);
                leader.encode(out);
            }
        }
    }

    fn decode(input: &mut Reader<'_>) -> Result<Self, Malformed> {
        let round = input.u64()?;
        let says = match input.flag()? {
            false => Says::Note(N::decode(input)?),
            true => Says::Announcement(Key::decode(input)?),
        };
        Ok(Self { round, says })
    }
}
