//! The address book: the members that joined a group after it was founded, and where they are.
//!
//! **Source.** Ours. An entry is a register of which the latest value wins, so books that exchange
//! entries in any order become equal.
//!
//! **Assumptions.** The founding list, its voters and the terms are the same for all members. A
//! member is forgotten only when it has ended for good. Between two requests to join under one id
//! the voters are not all replaced by others that have never heard of the first.
//!
//! **Promise.** *One id is one process.* A process that joins takes part only after a majority of
//! the voters has stored that it is the one with this id. A voter says that of one address per id,
//! until the id is forgotten. Two majorities share a voter, so of two processes with one id at most
//! one takes part. A refused request changes nothing. The book is bounded. A damaged file counts as
//! lost: what it held is learnt again from the others.
//!
//! | module | what it holds |
//! |---|---|
//! | `entry` | one member, and which of two entries is right |
//! | `founding` | what all members have in common, as a joining process learns it |
//! | `refusal` | why a process is not taken up |
//! | `stored` | the file |
//! | `words` | what joining processes and members say to each other |

mod entry;
mod founding;
mod refusal;
mod stored;
mod words;

use bellwether_core::NodeId;
use std::collections::BTreeMap;
use std::io;
use std::net::SocketAddr;
use std::path::Path;

pub(crate) use entry::Entry;
pub(crate) use founding::Founding;
pub use refusal::JoinRefused;
pub(crate) use words::{GroupFacts, PART, TOLD_MAX, Word};

/// The most members of a group, founders included: so many senders have replay windows.
pub(crate) const MEMBERS_MAX: usize = crate::frame::SENDERS_MAX;

/// The members that joined, as one member knows them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Book {
    founding: Founding,
    /// The ids of the founding list.
    founders: Vec<NodeId>,
    /// All entries, also of forgotten members.
    entries: BTreeMap<NodeId, Entry>,
    /// The process that was taken up under this id: the number of the entry, and its address.
    taken: BTreeMap<NodeId, (u64, SocketAddr)>,
}

impl Book {
    /// An empty book of the group with this founding list.
    pub(crate) fn new(founding: Founding) -> Self {
        let founders = founding.ids();
        Self { founding, founders, entries: BTreeMap::new(), taken: BTreeMap::new() }
    }

    /// Reads the book of this member, if there is one. The text says why one was ignored.
    pub(crate) fn open(dir: &Path, name: &str) -> io::Result<(Option<Self>, Option<String>)> {
        stored::open(dir, name)
    }

    /// Stores it durably.
    pub(crate) fn keep(&self, dir: &Path, name: &str) -> io::Result<()> {
        stored::keep(self, dir, name)
    }

    /// The same entries, with what the members have in common now.
    pub(crate) fn founded_as(self, founding: Founding) -> Self {
        Self { founding, ..self }
    }

    pub(crate) fn founding(&self) -> &Founding {
        &self.founding
    }

    /// The members that joined, and where they are.
    pub(crate) fn joined(&self) -> BTreeMap<NodeId, SocketAddr> {
        let here = |(id, entry): (&NodeId, &Entry)| Some((*id, entry.at?));
        self.entries.iter().filter_map(here).collect()
    }

    /// All entries, in order of id.
    pub(crate) fn entries(&self) -> impl Iterator<Item = &Entry> {
        self.entries.values()
    }

    /// The entry of this member, if there is one.
    pub(crate) fn entry(&self, id: NodeId) -> Option<&Entry> {
        self.entries.get(&id)
    }

    /// Takes a process up, or says why not. `neighbour` is the member that has its address, if
    /// one does. Returns whether the book changed.
    pub(crate) fn take_up(
        &mut self,
        claim: Entry,
        neighbour: Option<NodeId>,
    ) -> Result<bool, JoinRefused> {
        let (id, Some(at)) = (NodeId(claim.id), claim.at) else { return Ok(false) };
        if self.founders.contains(&id) {
            return Err(JoinRefused::Founder { id });
        }
        if let Some(other) = neighbour.filter(|other| *other != id) {
            return Err(JoinRefused::SameAddress { id: other, at });
        }
        let known = self.entries.get(&id).copied();
        if known.is_some_and(|known| known.number > claim.number) {
            return Err(JoinRefused::Forgotten { id });
        }
        let same = known.filter(|known| known.number == claim.number);
        if let Some(other) = same.and_then(|known| known.at).filter(|other| *other != at) {
            return Err(JoinRefused::InUse { id, at: other });
        }
        let taken = self.taken.get(&id).filter(|(number, _)| *number == claim.number);
        if let Some((_, other)) = taken.filter(|(_, other)| *other != at) {
            return Err(JoinRefused::InUse { id, at: *other });
        }
        let new = same.is_none_or(|known| known.at.is_none());
        if known.is_none() && !self.make_room() {
            return Err(JoinRefused::Full);
        }
        if new {
            self.entries.insert(id, claim);
        }
        let before = self.taken.insert(id, (claim.number, at));
        Ok(new || before != Some((claim.number, at)))
    }

    /// Takes over what another member knows; returns whether anything was new.
    pub(crate) fn merge(&mut self, entries: &[Entry]) -> bool {
        let mut changed = false;
        for entry in entries {
            let id = NodeId(entry.id);
            let better = match self.entries.get(&id) {
                _ if self.founders.contains(&id) => false,
                Some(known) => entry.replaces(known),
                None => self.make_room(),
            };
            if better {
                self.entries.insert(id, *entry);
                changed = true;
            }
        }
        changed
    }

    /// Forgets a member that joined; `false` if there is none with this id.
    pub(crate) fn forget(&mut self, id: NodeId) -> bool {
        let Some(entry) = self.entries.get_mut(&id).filter(|entry| entry.at.is_some()) else {
            return false;
        };
        *entry = Entry { number: entry.number.saturating_add(1), at: None, ..*entry };
        true
    }

    /// Makes room for one more entry: forgotten members leave first. Their numbers are lost then,
    /// which matters only to a process that was forgotten and runs on.
    fn make_room(&mut self) -> bool {
        if self.entries.len() + self.founders.len() < MEMBERS_MAX {
            return true;
        }
        let gone = self.entries.values().find(|entry| entry.at.is_none()).map(|entry| entry.id);
        gone.is_some_and(|id| {
            self.taken.remove(&NodeId(id));
            self.entries.remove(&NodeId(id)).is_some()
        })
    }

    /// The entries after this id that fit so many bytes, and the last of them, from which to go on;
    /// `None` at the end.
    pub(crate) fn page(&self, after: Option<NodeId>, bytes: usize) -> (Vec<Entry>, Option<NodeId>) {
        let mut left = bytes;
        let rest = self.entries.values().filter(|entry| after.is_none_or(|id| entry.id > id.0));
        let fits = |entry: &&Entry| {
            let length = serde_json::to_vec(entry).map_or(usize::MAX, |text| text.len() + 1);
            left.checked_sub(length).inspect(|rest| left = *rest).is_some()
        };
        let page: Vec<Entry> = rest.take_while(fits).copied().collect();
        let last = page.last().map(|entry| NodeId(entry.id));
        let more = self.entries.keys().next_back().copied() > last;
        (page, last.filter(|_| more))
    }
}

/// The file of the address book, for fuzzers.
#[cfg(feature = "fuzzing")]
pub mod fuzzing {
    use super::{Book, Entry, Founding, stored};
    use crate::state::checked;

    /// Whether these bytes are an address book, or would be one below the right checksum.
    pub fn read(bytes: &[u8]) -> bool {
        let summed = checked::encode(stored::FORMAT, &String::from_utf8_lossy(bytes));
        let read = |bytes: &[u8]| stored::decode(bytes, "g.1").ok();
        let found = read(bytes).or_else(|| read(summed.as_bytes()));
        if let Some(book) = &found {
            let again = stored::encode(book, "g.1").map(|text| read(text.as_bytes()));
            assert!(again.is_ok_and(|again| again.as_ref() == Some(book)), "it comes back");
            book.page(None, 900);
        }
        found.is_some()
    }

    /// What a member writes.
    pub fn seeds() -> Vec<Vec<u8>> {
        let list = "1=10.0.0.1:7400,2=10.0.0.2:7400".to_owned();
        let founding = Founding { list, voters: Some(vec![1, 2]), params: "{}".to_owned() };
        let mut book = Book::new(founding);
        let at = "10.0.0.7:7400".parse().ok();
        let _ = book.take_up(Entry { id: 7, number: 0, since: 9, at }, None);
        let whole = stored::encode(&book, "g.1").unwrap_or_default();
        let body = whole.lines().nth(1).unwrap_or_default().to_owned();
        vec![whole.into_bytes(), body.into_bytes()]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn book() -> Book {
        Book::new(Founding {
            list: "1=10.0.0.1:7400,2=10.0.0.2:7400".to_owned(),
            voters: None,
            params: "{}".to_owned(),
        })
    }

    fn claim(id: u64, number: u64, host: u8) -> Entry {
        let at = SocketAddr::from(([10, 0, 0, host], 7400));
        Entry { id, number, since: 5, at: Some(at) }
    }

    #[test]
    fn an_id_is_one_process_until_it_is_forgotten() {
        let mut book = book();
        let (here, there) = (claim(7, 0, 7), claim(7, 0, 8));
        assert_eq!(book.take_up(here, None), Ok(true));
        assert_eq!(book.take_up(here, Some(NodeId(7))), Ok(false), "it asks again");
        let before = format!("{book:?}");
        let refused = JoinRefused::InUse { id: NodeId(7), at: here.at.unwrap() };
        assert_eq!(book.take_up(there, None), Err(refused));
        assert_eq!(book.take_up(claim(2, 0, 9), None), Err(JoinRefused::Founder { id: NodeId(2) }));
        let same = JoinRefused::SameAddress { id: NodeId(1), at: there.at.unwrap() };
        assert_eq!(book.take_up(claim(8, 0, 8), Some(NodeId(1))), Err(same));
        assert_eq!(format!("{book:?}"), before, "a refused request changes nothing");
        assert!(book.forget(NodeId(7)) && !book.forget(NodeId(7)) && !book.forget(NodeId(1)));
        assert_eq!(book.joined(), BTreeMap::new());
        assert_eq!(book.take_up(here, None), Err(JoinRefused::Forgotten { id: NodeId(7) }));
        assert_eq!(book.take_up(Entry { number: 1, ..there }, None), Ok(true));
    }

    /// Two processes with one id ask different voters at once. The books then agree on one of them,
    /// and still no voter takes up the other one: else both could take part.
    #[test]
    fn a_voter_takes_up_one_process_per_id_whatever_it_hears_later() {
        let (early, late) = (claim(7, 0, 7), Entry { since: 6, ..claim(7, 0, 8) });
        let mut voter = book();
        assert_eq!(voter.take_up(late, None), Ok(true));
        assert!(voter.merge(&[early]), "the one that came first is right");
        assert!(!voter.merge(&[late]), "and stays so");
        assert_eq!(voter.joined()[&NodeId(7)], early.at.unwrap());
        let refused = JoinRefused::InUse { id: NodeId(7), at: late.at.unwrap() };
        assert_eq!(voter.take_up(early, None), Err(refused));
    }

    #[test]
    fn books_become_equal_in_whatever_order_they_hear() {
        let gone = Entry { at: None, ..claim(7, 1, 7) };
        let all = [claim(7, 0, 7), gone, claim(7, 1, 9), claim(8, 0, 8), claim(1, 0, 3)];
        for first in 0..all.len() {
            let mut book = book();
            let mut order = all;
            order.rotate_left(first);
            for entry in order {
                book.merge(&[entry]);
            }
            let joined = BTreeMap::from(
                [(7, 9), (8, 8)]
                    .map(|(id, host)| (NodeId(id), SocketAddr::from(([10, 0, 0, host], 7400)))),
            );
            assert_eq!(book.joined(), joined, "founders are in no book");
        }
    }

    #[test]
    fn a_full_book_says_so_and_forgotten_members_make_room() {
        let mut book = book();
        let fill: Vec<Entry> = (10..10 + MEMBERS_MAX as u64).map(|id| claim(id, 0, 9)).collect();
        assert!(book.merge(&fill));
        assert_eq!(book.entries().count(), MEMBERS_MAX - 2);
        assert_eq!(book.take_up(claim(9, 0, 9), None), Err(JoinRefused::Full));
        assert!(book.forget(NodeId(30)));
        assert_eq!(book.take_up(claim(9, 0, 9), None), Ok(true));
        assert_eq!(book.take_up(claim(8, 0, 8), None), Err(JoinRefused::Full));
    }

    #[test]
    fn pages_have_every_entry_and_fit() {
        let mut book = book();
        let all: Vec<Entry> = (10..200).map(|id| claim(id, 0, 9)).collect();
        assert!(book.merge(&all));
        let (mut seen, mut after) = (Vec::new(), None);
        loop {
            let (page, next) = book.page(after, 1_000);
            assert!(serde_json::to_vec(&page).unwrap().len() <= 1_001);
            seen.extend(page);
            after = next;
            if after.is_none() {
                break;
            }
        }
        assert_eq!(seen, all);
    }
}
