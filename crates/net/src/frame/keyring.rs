//! The secrets of a group. The first one seals, all open, so that keys rotate without downtime.
//!
//! To rotate, go through all members three times: add the new key as the last one, make it the
//! first, take the old one away. At any time every member can open the frames of every other.
//!
//! As text: one key a line, `bwk1-` and 64 hexadecimal digits; `#` begins a comment. An error names
//! the number of a line and the rule, never its text, which may be most of a secret.

use super::key::FrameKey;
use crate::keys::KeyId;
use crate::randomness;
use std::fmt;
use std::io;
use zeroize::Zeroizing;

const PREFIX: &str = "bwk1-";

/// The public secret of a group that runs without one. Its frames have the same form, and protect
/// only from accidents.
const PUBLIC: [u8; 32] = [0; 32];

/// An ordered list of secrets, overwritten when dropped.
#[derive(Clone, PartialEq, Eq)]
pub struct Keyring {
    secrets: Vec<Zeroizing<[u8; 32]>>,
}

impl Keyring {
    /// A ring with one new secret, from the machine's source of randomness.
    ///
    /// # Errors
    /// If the machine has none.
    pub fn generate() -> io::Result<Self> {
        let mut secret = Zeroizing::new([0; 32]);
        randomness::fill(&mut secret)?;
        Ok(Self { secrets: vec![secret] })
    }

    /// The ring of a group that runs without a secret, at the explicit wish of its user. It holds
    /// one public key that no other ring may hold, so a group with a secret drops its frames.
    pub fn insecure() -> Self {
        Self { secrets: vec![Zeroizing::new(PUBLIC)] }
    }

    /// Reads the text form.
    ///
    /// # Errors
    /// [`BadKeys`] names the line and the rule it breaks.
    pub fn parse(text: &str) -> Result<Self, BadKeys> {
        let mut secrets: Vec<Zeroizing<[u8; 32]>> = Vec::new();
        let mut lines = Vec::new();
        for (line, content) in (1..).zip(text.lines()) {
            let content = content.split('#').next().unwrap_or_default().trim();
            if content.is_empty() {
                continue;
            }
            let secret = secret(content).ok_or(BadKeys::Form { line })?;
            if *secret == PUBLIC {
                return Err(BadKeys::Public { line });
            }
            if let Some(place) = secrets.iter().position(|known| *known == secret) {
                return Err(BadKeys::Twice { first: lines[place], line });
            }
            secrets.push(secret);
            lines.push(line);
        }
        if secrets.is_empty() {
            return Err(BadKeys::None);
        }
        Ok(Self { secrets })
    }

    /// The text form, as [`parse`](Self::parse) reads it.
    pub fn to_text(&self) -> Zeroizing<String> {
        // Sized at the start: growing would leave parts of the secrets in freed memory.
        let line = PREFIX.len() + 64 + 1;
        let mut text = Zeroizing::new(String::with_capacity(self.secrets.len() * line));
        for secret in &self.secrets {
            text.push_str(PREFIX);
            for digit in secret.iter().flat_map(|byte| [byte >> 4, byte & 15]) {
                text.push(char::from_digit(digit.into(), 16).expect("four bits are one digit"));
            }
            text.push('\n');
        }
        text
    }

    /// Whether this is the ring of a group without a secret.
    pub fn is_insecure(&self) -> bool {
        self.secrets.iter().any(|secret| **secret == PUBLIC)
    }

    /// The ids of this group's keys on the wire, in order, for people to compare.
    pub fn ids(&self, group: &str) -> Vec<String> {
        self.key_ids(group).iter().map(ToString::to_string).collect()
    }

    /// The short names of this group's keys, in order.
    pub(crate) fn key_ids(&self, group: &str) -> Vec<KeyId> {
        self.frame_keys(group).into_iter().map(|key| KeyId(key.id)).collect()
    }

    /// The short name that this secret has in a group.
    pub(crate) fn id_of(secret: &[u8; 32], group: &str) -> KeyId {
        KeyId(FrameKey::derive(secret, group).id)
    }

    /// The secret, if there is just one and it is one.
    pub(crate) fn only_secret(&self) -> Option<Zeroizing<[u8; 32]>> {
        self.secrets.first().filter(|_| self.secrets.len() == 1 && !self.is_insecure()).cloned()
    }

    /// A ring with the key of this name alone, if it is here.
    pub(crate) fn only(&self, id: KeyId, group: &str) -> Option<Self> {
        let secret = &self.secrets[self.place(id, group)?];
        Some(Self { secrets: vec![secret.clone()] })
    }

    /// The ring that accepts this secret, too; `None` if that is the public one.
    pub(crate) fn with(&self, secret: &Zeroizing<[u8; 32]>) -> Option<Self> {
        if **secret == PUBLIC {
            return None;
        }
        let mut ring = self.clone();
        if !ring.secrets.contains(secret) {
            ring.secrets.push(secret.clone());
        }
        Some(ring)
    }

    /// The ring that sends with this key, if it is here.
    pub(crate) fn sending_with(&self, id: KeyId, group: &str) -> Option<Self> {
        let mut ring = self.clone();
        ring.secrets[..=self.place(id, group)?].rotate_right(1);
        Some(ring)
    }

    /// The ring without this key; `None` if it is the only one.
    pub(crate) fn without(&self, id: KeyId, group: &str) -> Option<Self> {
        let mut ring = self.clone();
        if let Some(place) = self.place(id, group) {
            ring.secrets.remove(place);
        }
        (!ring.secrets.is_empty()).then_some(ring)
    }

    fn place(&self, id: KeyId, group: &str) -> Option<usize> {
        self.key_ids(group).iter().position(|own| *own == id)
    }

    /// The keys of this group's frames, in order. Never empty.
    pub(super) fn frame_keys(&self, group: &str) -> Vec<FrameKey> {
        self.secrets.iter().map(|secret| FrameKey::derive(secret, group)).collect()
    }
}

/// Shows the number of keys, and no secret.
impl fmt::Debug for Keyring {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Keyring")
            .field("keys", &self.secrets.len())
            .field("insecure", &self.is_insecure())
            .finish()
    }
}

/// The secret that a line without its comment holds.
fn secret(line: &str) -> Option<Zeroizing<[u8; 32]>> {
    let digits: &[u8; 64] = line.strip_prefix(PREFIX)?.as_bytes().try_into().ok()?;
    let mut secret = Zeroizing::new([0; 32]);
    for (byte, pair) in secret.iter_mut().zip(digits.chunks_exact(2)) {
        for &digit in pair {
            *byte = *byte << 4 | u8::try_from(char::from(digit).to_digit(16)?).ok()?;
        }
    }
    Some(secret)
}

/// Why a text is not a keyring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum BadKeys {
    /// A line is neither a key nor a comment.
    Form {
        /// Its number, from one.
        line: usize,
    },
    /// A line holds the public key of groups without a secret.
    Public {
        /// Its number, from one.
        line: usize,
    },
    /// A key is listed twice.
    Twice {
        /// Its first line.
        first: usize,
        /// Its second line.
        line: usize,
    },
    /// There is no key at all.
    None,
}

impl fmt::Display for BadKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Form { line } => {
                write!(f, "line {line} is no key: a key is '{PREFIX}' and 64 hexadecimal digits")
            }
            Self::Public { line } => write!(
                f,
                "line {line} holds the public key of groups without a secret, and a keyring holds \
                 secrets only; replace it with a random key"
            ),
            Self::Twice { first, line } => write!(
                f,
                "line {line} holds the same key as line {first}, and each key stands once; \
                 remove one"
            ),
            Self::None => write!(f, "it holds no key, and a keyring holds at least one"),
        }
    }
}

impl std::error::Error for BadKeys {}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(digit: char) -> String {
        format!("{PREFIX}{}", String::from(digit).repeat(64))
    }

    #[test]
    fn what_is_generated_reads_back_and_differs_every_time() {
        let ring = Keyring::generate().unwrap();
        assert_eq!(Keyring::parse(&ring.to_text()), Ok(ring.clone()));
        assert_ne!(Keyring::generate().unwrap(), ring);
        assert!(!ring.is_insecure());
    }

    #[test]
    fn comments_blank_lines_and_capitals_are_fine() {
        let text = format!("# ours\n\n  {} # new\r\n\t{}\n#", key('A'), key('b'));
        let ring = Keyring::parse(&text).unwrap();
        assert_eq!(*ring.to_text(), format!("{}\n{}\n", key('a'), key('b')));
    }

    #[test]
    fn a_bad_line_is_named_and_never_shown() {
        let good = key('a');
        let short = &good[..good.len() - 1];
        let cases = [
            (format!("\n{short}"), BadKeys::Form { line: 2 }),
            (format!("{good}\n{good}f"), BadKeys::Form { line: 2 }),
            (format!("{good} {}", key('b')), BadKeys::Form { line: 1 }),
            (format!("{short}g"), BadKeys::Form { line: 1 }),
            (format!("{}é", &good[..good.len() - 2]), BadKeys::Form { line: 1 }),
            (format!("{}+", short), BadKeys::Form { line: 1 }),
            (good.replace("bwk1", "bwk2"), BadKeys::Form { line: 1 }),
            (format!("{good}\n#\n{}", good.to_uppercase()), BadKeys::Form { line: 3 }),
            (format!("{good}\n{}", key('0')), BadKeys::Public { line: 2 }),
            (
                format!("{good}\n#\n{}", good.replace('a', "A")),
                BadKeys::Twice { first: 1, line: 3 },
            ),
            (String::new(), BadKeys::None),
            ("# nothing\n".to_owned(), BadKeys::None),
        ];
        for (text, error) in cases {
            assert_eq!(Keyring::parse(&text), Err(error), "{text}");
            assert!(!error.to_string().contains("aaaa"), "{error}");
        }
    }

    #[test]
    fn debug_shows_no_secret() {
        let ring = Keyring::parse(&key('a')).unwrap();
        assert_eq!(format!("{ring:?}"), "Keyring { keys: 1, insecure: false }");
        let shown = format!("{:?}", ring.frame_keys("g"));
        assert_eq!(shown, format!("[FrameKey({})]", ring.ids("g")[0]));
    }

    #[test]
    fn every_group_and_every_secret_has_its_own_key() {
        let ring = Keyring::parse(&format!("{}\n{}", key('a'), key('b'))).unwrap();
        let mut ids = [ring.ids("one"), ring.ids("two"), Keyring::insecure().ids("one")].concat();
        ids.sort();
        ids.dedup();
        assert_eq!(ids.len(), 5);
        assert!(Keyring::insecure().is_insecure());
    }
}
