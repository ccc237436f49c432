//! What members say to each other about keys: the bodies of frames of the kind `Keys`.
//!
//! Bytes, and not text: a secret would be copied into texts that nobody erases. Integers are little
//! endian, as in frames.
//!
//! | bytes | what |
//! |---|---|
//! | 0 | 1 for a question, 2 for an answer |
//! | 1..9 | the number of the question |
//! | 9 | question: 0 list, 1 install, 2 use, 3 remove; answer: 0 done, 1 refused |
//! | 10..18 | challenge; 0 in a question for the list |
//! | 18.. | install: the secret; use and remove: the key's short name; answer: how many keys, their short names, and why it refuses |

use super::KeyId;
use crate::frame::BODY_MAX;
use std::fmt;
use zeroize::Zeroizing;

/// The most keys that an answer names. No ring that members make themselves has more.
pub(super) const KEYS_MAX: usize = 32;
/// The most bytes of a reason.
const WHY_MAX: usize = 400;
const SECRET: usize = 32;
const HEAD: usize = 1 + 8 + 1 + 8;

/// A step, as a member is told to take it.
#[derive(Clone, PartialEq, Eq)]
pub(super) enum Order {
    /// Accept this secret, too.
    Install(Zeroizing<[u8; SECRET]>),
    /// Send with this key.
    Use(KeyId),
    /// Accept this key no longer.
    Remove(KeyId),
}

/// Not the secret.
impl fmt::Debug for Order {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Install(_) => f.write_str("Install"),
            Self::Use(id) => write!(f, "Use({id})"),
            Self::Remove(id) => write!(f, "Remove({id})"),
        }
    }
}

/// What is said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Word {
    /// Which keys do you have? The answer has a challenge, without which no order is obeyed.
    List {
        /// Which question this is.
        number: u64,
    },
    /// Take a step, for whoever shows the challenge.
    Do {
        /// Which question this is.
        number: u64,
        /// What the receiver said.
        challenge: u64,
        order: Order,
    },
    /// The answer to either.
    Answer {
        /// The question.
        number: u64,
        /// What an order must show.
        challenge: u64,
        /// The keys it has now; it sends with the first.
        keys: Vec<KeyId>,
        /// Why it does not take the step, or could take none.
        refused: Option<String>,
    },
}

impl Word {
    /// Its bytes, erased when dropped.
    pub(super) fn encode(&self) -> Zeroizing<Vec<u8>> {
        // Sized at the start: growing would leave parts of a secret in freed memory.
        let mut bytes = Zeroizing::new(Vec::with_capacity(BODY_MAX));
        let (kind, number, what, challenge) = match self {
            Self::List { number } => (1, *number, 0, 0),
            Self::Do { number, challenge, order } => (1, *number, order.tag(), *challenge),
            Self::Answer { number, challenge, refused, .. } => {
                (2, *number, u8::from(refused.is_some()), *challenge)
            }
        };
        bytes.push(kind);
        bytes.extend_from_slice(&number.to_le_bytes());
        bytes.push(what);
        bytes.extend_from_slice(&challenge.to_le_bytes());
        match self {
            Self::List { .. } => {}
            Self::Do { order: Order::Install(secret), .. } => bytes.extend_from_slice(&**secret),
            Self::Do { order: Order::Use(id) | Order::Remove(id), .. } => {
                bytes.extend_from_slice(&id.0);
            }
            Self::Answer { keys, refused, .. } => {
                let keys = &keys[..keys.len().min(KEYS_MAX)];
                bytes.push(u8::try_from(keys.len()).unwrap_or(0)); // at most KEYS_MAX
                keys.iter().for_each(|id| bytes.extend_from_slice(&id.0));
                let why = refused.as_deref().unwrap_or_default();
                bytes.extend_from_slice(&why.as_bytes()[..why.floor_char_boundary(WHY_MAX)]);
            }
        }
        bytes
    }

    /// Reads it; `None` if it is no such word.
    pub(super) fn decode(bytes: &[u8]) -> Option<Self> {
        let (head, rest) = bytes.split_first_chunk::<HEAD>()?;
        let number = u64::from_le_bytes(*head[1..].first_chunk()?);
        let challenge = u64::from_le_bytes(*head[10..].first_chunk()?);
        let id = || Some(KeyId(rest.try_into().ok()?));
        let order = match (head[0], head[9]) {
            (1, 0) => {
                return (rest.is_empty() && challenge == 0).then_some(Self::List { number });
            }
            (1, 1) => {
                let mut secret = Zeroizing::new([0; SECRET]);
                if rest.len() != SECRET {
                    return None;
                }
                secret.copy_from_slice(rest);
                Order::Install(secret)
            }
            (1, 2) => Order::Use(id()?),
            (1, 3) => Order::Remove(id()?),
            (2, refuses @ (0 | 1)) => return told(number, challenge, refuses == 1, rest),
            _ => return None,
        };
        Some(Self::Do { number, challenge, order })
    }
}

/// Reads the rest of an answer.
fn told(number: u64, challenge: u64, refuses: bool, rest: &[u8]) -> Option<Word> {
    let (count, rest) = rest.split_first()?;
    let count = usize::from(*count);
    if count > KEYS_MAX || rest.len() < 4 * count {
        return None;
    }
    let (ids, why) = rest.split_at(4 * count);
    let keys = ids.as_chunks::<4>().0.iter().copied().map(KeyId).collect();
    let why = std::str::from_utf8(why).ok().filter(|why| why.len() <= WHY_MAX)?;
    // What people read is one line, without what a terminal would act on.
    let plain = !why.chars().any(char::is_control);
    if !plain || refuses == why.is_empty() {
        return None;
    }
    let refused = refuses.then(|| why.to_owned());
    Some(Word::Answer { number, challenge, keys, refused })
}

impl Order {
    fn tag(&self) -> u8 {
        match self {
            Self::Install(_) => 1,
            Self::Use(_) => 2,
            Self::Remove(_) => 3,
        }
    }
}

/// Words about keys, for fuzzers.
#[cfg(feature = "fuzzing")]
pub mod fuzzing {
    use super::{KeyId, Order, Word};
    use zeroize::Zeroizing;

    /// Whether these bytes are a word.
    pub fn read(bytes: &[u8]) -> bool {
        let word = Word::decode(bytes);
        if let Some(word) = &word {
            assert_eq!(Word::decode(&word.encode()).as_ref(), Some(word), "a word comes back");
            assert_eq!(&**word.encode(), bytes, "there is one way to write it");
        }
        word.is_some()
    }

    /// What members write.
    pub fn seeds() -> Vec<Vec<u8>> {
        let (number, challenge, id) = (7, 9, KeyId([0xab, 0xcd, 1, 2]));
        let order = |order| Word::Do { number, challenge, order };
        let told = |refused| Word::Answer { number, challenge, keys: vec![id; 2], refused };
        [
            Word::List { number },
            order(Order::Install(Zeroizing::new([5; 32]))),
            order(Order::Use(id)),
            order(Order::Remove(id)),
            told(None),
            told(Some("its key file cannot be written".to_owned())),
        ]
        .map(|word| word.encode().to_vec())
        .to_vec()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_come_back_fit_a_frame_and_noise_says_nothing() {
        let id = KeyId([1, 2, 3, 4]);
        let orders = [Order::Install(Zeroizing::new([7; 32])), Order::Use(id), Order::Remove(id)];
        let orders = orders.map(|order| Word::Do { number: u64::MAX, challenge: 3, order });
        let told =
            |refused| Word::Answer { number: 5, challenge: 6, keys: vec![id; KEYS_MAX], refused };
        let all = orders.into_iter().chain([
            Word::List { number: 1 },
            told(None),
            told(Some("ä".repeat(WHY_MAX / 2))),
        ]);
        for word in all {
            let bytes = word.encode();
            assert!(bytes.len() <= BODY_MAX, "{}", bytes.len());
            assert_eq!(Word::decode(&bytes), Some(word));
            for end in 0..bytes.len() {
                let cut = Word::decode(&bytes[..end]);
                assert!(cut.is_none_or(|cut| cut.encode().len() == end), "a cut word is no word");
            }
        }
        for noise in [&b""[..], &[0; 18], &[3; 40], &[1; 17], &[0xff; 60]] {
            assert_eq!(Word::decode(noise), None);
        }
    }

    #[test]
    fn a_reason_that_a_terminal_would_act_on_is_not_read_and_a_long_one_is_cut() {
        let told = |why: &str| {
            let word = Word::Answer {
                number: 1,
                challenge: 2,
                keys: Vec::new(),
                refused: Some(why.to_owned()),
            };
            Word::decode(&word.encode())
        };
        assert_eq!(told("two\nlines"), None);
        assert_eq!(told("\u{1b}[2J"), None);
        let long = told(&"x".repeat(5000));
        assert!(
            matches!(long, Some(Word::Answer { refused: Some(why), .. }) if why.len() == WHY_MAX)
        );
    }

    #[test]
    fn debug_shows_no_secret() {
        let order = Order::Install(Zeroizing::new([0xab; 32]));
        let word = Word::Do { number: 1, challenge: 2, order };
        let shown = format!("{word:?}");
        assert!(!shown.contains("171") && !shown.contains("ab"), "{shown}");
    }
}
