//! What a member reads from files and other processes, as plain functions over bytes, for fuzzers.
//!
//! Each function says whether it could read the bytes, and panics if what was read does not come
//! back when it is written and read again. The `seeds` of each are what our own encoders write.

use crate::book::{Book, Entry, Founding, GroupFacts, JoinRefused, Word};
use crate::disputes::BeaconBody;
use crate::frame::BODY_MAX;
use crate::multicast::Multicast;
use bellwether_core::NodeId;

pub use crate::book::fuzzing as book;
pub use crate::control::fuzzing as control;
#[cfg(feature = "guardian")]
pub use crate::guardian::fuzzing as guardian;
pub use crate::keys::fuzzing as keys;
pub use crate::state::fuzzing as state;

/// The bodies of the runtime's own frames: beacons, reports of who hears multicasts, entries of the
/// address book, and what is said to and by a process that joins.
pub mod bodies {
    use super::{
        BODY_MAX, BeaconBody, Book, Entry, Founding, GroupFacts, JoinRefused, Multicast, NodeId,
        Word,
    };

    fn founding() -> Founding {
        let list = "1=10.0.0.1:7400,2=10.0.0.2:7400".to_owned();
        Founding { list, voters: Some(vec![1, 2]), params: "{}".to_owned() }
    }

    fn entry() -> Entry {
        Entry { id: 7, number: 1, since: 9, at: "10.0.0.7:7400".parse().ok() }
    }

    /// Whether any of the readers can read them.
    pub fn read(bytes: &[u8]) -> bool {
        let beacon = BeaconBody::decode(bytes);
        let said = beacon != BeaconBody::default();
        assert!(beacon.encode().len() <= BODY_MAX, "a beacon always fits a frame");
        let word = Word::decode(bytes);
        if let Some((word, rest)) = &word {
            let again = word.encode(rest);
            let back = Word::decode(&again).map(|(word, rest)| (word, rest.to_vec()));
            assert_eq!(back, Some((word.clone(), rest.to_vec())), "a word comes back");
        }
        let mut book = Book::new(founding());
        if let Some((Word::Claim(claim), _)) = word {
            let _ = book.take_up(claim, None);
        }
        let entries = serde_json::from_slice::<Vec<Entry>>(bytes);
        if let Ok(entries) = &entries {
            book.merge(entries);
            assert!(!book.merge(entries), "what is known is no news");
        }
        let told = serde_json::from_slice::<GroupFacts>(bytes);
        if let Ok(told) = &told {
            told.founding.peers();
            told.founding.terms("terms");
        }
        let (me, by) = (NodeId(7), NodeId(8));
        let report = Multicast::new(([239, 1, 2, 3], 7401).into(), None).on_report(
            by,
            me,
            bytes,
            bellwether_core::Instant::ZERO,
        );
        said || word.is_some() || entries.is_ok() || told.is_ok() || report
    }

    /// What our own members write.
    pub fn seeds() -> Vec<Vec<u8>> {
        let told = GroupFacts {
            founding: founding(),
            list: 3,
            voters: vec![1, 2],
            entries: vec![entry()],
        };
        let why = JoinRefused::Closed { by: NodeId(1) };
        let beacon = br#"{"refuses":[{"id":1,"life":9,"why":"list","from":"10.0.0.1:7400"}],
            "list":"1=a:1","terms":"local-leader lan"}"#;
        vec![
            beacon.to_vec(),
            Word::Read { offset: 900 }.encode(&[]),
            Word::Part { life: 1, offset: 0, total: 5, sum: 7 }.encode(b"hello"),
            Word::Claim(entry()).encode(&[]),
            Word::Taken { life: 1, list: Some(3) }.encode(&[]),
            Word::Refused { life: 1, why, last: true }.encode(&[]),
            serde_json::to_vec(&[entry()]).unwrap_or_default(),
            serde_json::to_vec(&told).unwrap_or_default(),
            [7_u64, 900, 8, 901].into_iter().flat_map(u64::to_le_bytes).collect(),
        ]
    }
}
