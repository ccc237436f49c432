//! The file of the address book: like the state file, in the same directory.
//!
//! ```text
//! bellwether-book 1 5c0e…
//! {"member":"billing.4","founding":{…},"entries":[{"id":4,"since":17…,"at":"…"}],…}
//! ```

use super::{Book, Entry, Founding};
use crate::state::{checked, file};
use bellwether_core::NodeId;
use serde::{Deserialize, Serialize};
use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

pub(super) const FORMAT: &str = "bellwether-book 1";

/// The content of the file.
#[derive(Serialize, Deserialize)]
struct Stored {
    member: String,
    founding: Founding,
    entries: Vec<Entry>,
    #[serde(default)]
    taken: Vec<(u64, u64, SocketAddr)>,
}

fn path(dir: &Path, name: &str) -> PathBuf {
    dir.join(format!("{name}.book"))
}

/// Reads the book of this member. The text says why a file was ignored.
pub(super) fn open(dir: &Path, name: &str) -> io::Result<(Option<Book>, Option<String>)> {
    let path = path(dir, name);
    let Some(bytes) = file::read(&path, checked::FILE_MAX)? else { return Ok((None, None)) };
    match decode(&bytes, name) {
        Ok(book) => Ok((Some(book), None)),
        Err(why) => {
            let place = path.display();
            let text = format!(
                "its address book {place} was ignored ({why}): members that joined are learnt again"
            );
            Ok((None, Some(text)))
        }
    }
}

pub(super) fn decode(bytes: &[u8], name: &str) -> Result<Book, String> {
    let body = checked::decode(FORMAT, bytes)?;
    let stored: Stored = serde_json::from_slice(body).map_err(|error| error.to_string())?;
    if stored.member != name {
        return Err(format!("it is that of member {}, not of {name}", stored.member));
    }
    if stored.founding.peers().is_none() {
        return Err("it has no founding list".to_owned());
    }
    let mut book = Book::new(stored.founding);
    book.merge(&stored.entries);
    let taken = stored.taken.into_iter().map(|(id, number, at)| (NodeId(id), (number, at)));
    book.taken = taken.filter(|(id, _)| book.entries.contains_key(id)).collect();
    Ok(book)
}

/// Stores the book durably.
pub(super) fn keep(book: &Book, dir: &Path, name: &str) -> io::Result<()> {
    file::replace(&path(dir, name), encode(book, name)?.as_bytes())
}

/// The text of the file.
pub(super) fn encode(book: &Book, name: &str) -> io::Result<String> {
    let stored = Stored {
        member: name.to_owned(),
        founding: book.founding.clone(),
        entries: book.entries().copied().collect(),
        taken: book.taken.iter().map(|(id, (number, at))| (id.0, *number, *at)).collect(),
    };
    let body = serde_json::to_string(&stored).map_err(io::Error::other)? + "\n";
    Ok(checked::encode(FORMAT, &body))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn book() -> Book {
        let list = "1=10.0.0.1:7400".to_owned();
        let mut book = Book::new(Founding { list, voters: Some(vec![1]), params: "{}".to_owned() });
        let at = Some("10.0.0.7:7400".parse().unwrap());
        assert_eq!(book.take_up(Entry { id: 7, number: 0, since: 9, at }, None), Ok(true));
        book
    }

    #[test]
    fn a_book_comes_back_and_a_damaged_or_foreign_one_is_ignored_with_the_reason() {
        let dir = std::env::temp_dir().join(format!("bellwether-book-{}", std::process::id()));
        let _ = fs::remove_dir_all(&dir);
        fs::create_dir(&dir).unwrap();
        assert!(matches!(open(&dir, "g.7"), Ok((None, None))), "there is none yet");
        keep(&book(), &dir, "g.7").unwrap();
        let (found, why) = open(&dir, "g.7").unwrap();
        assert_eq!((format!("{:?}", found.unwrap()), why), (format!("{:?}", book()), None));
        let file = dir.join("g.7.book");
        let whole = fs::read(&file).unwrap();
        let mut flipped = whole.clone();
        *flipped.last_mut().unwrap() ^= 1;
        let empty = checked::encode(FORMAT, "{\"member\":\"g.7\"}").into_bytes();
        for bytes in [&b""[..], &whole[..whole.len() / 2], &flipped, &[b'x'; 1 << 20], &empty] {
            fs::write(&file, bytes).unwrap();
            let (found, why) = open(&dir, "g.7").unwrap();
            assert!(found.is_none() && why.unwrap().contains("learnt again"));
        }
        fs::write(dir.join("g.8.book"), &whole).unwrap();
        let (found, why) = open(&dir, "g.8").unwrap();
        assert!(found.is_none() && why.unwrap().contains("that of member g.7, not of g.8"));
        fs::remove_dir_all(dir).unwrap();
    }
}
