//! What answers for a member: whoever implements [`Desk`] decides what its visitors hear.

use super::Change;
use crate::status::Status;

/// What is asked of a member; every method may block for a moment, and may be called by several
/// threads at once.
pub trait Desk: Send + Sync + 'static {
    /// All that it knows of itself.
    ///
    /// # Errors
    /// Why it does not tell, in a sentence.
    fn status(&self) -> Result<Status, String>;

    /// Gives up the leadership, and comes back once that is so.
    ///
    /// # Errors
    /// Why it does not, in a sentence.
    fn resign(&self) -> Result<(), String>;

    /// Its present state and what becomes of it.
    fn watch(&self) -> Box<dyn Watcher>;
}

/// Who is told of changes.
pub trait Watcher: Send {
    /// Waits for the next change, or for this long. The first is the present state, at once.
    fn next(&mut self, within: std::time::Duration) -> Heard;
}

/// What a [`Watcher`] was told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Heard {
    /// Something changed.
    Change(Change),
    /// Nothing did.
    Nothing,
    /// Nothing ever will: the member has ended.
    Ended,
}
