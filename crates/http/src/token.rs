//! The token that permits to change something.
//!
//! **Promise.** Only its hash is kept, and hashes are compared in constant time, so an answer's
//! time tells nothing of the token.

use bellwether_net::frame::read_secret;
use sha2::{Digest, Sha256};
use std::fmt;
use std::hint::black_box;
use std::path::{Path, PathBuf};

/// The fewest characters of a token.
const LEAST: usize = 16;
/// The most; it must fit a header.
const MOST: usize = 512;

/// What a client must show.
#[derive(Clone, PartialEq, Eq)]
pub struct Token([u8; 32]);

/// Why a token file cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadToken {
    path: PathBuf,
    why: String,
}

impl fmt::Display for BadToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "token file {}: {}", self.path.display(), self.why)
    }
}

impl std::error::Error for BadToken {}

/// Not even the hash.
impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Token").finish_non_exhaustive()
    }
}

impl Token {
    /// Reads a token from a file that nobody but its owner can read, as key files are read. Space
    /// around the token does not count.
    ///
    /// # Errors
    /// [`BadToken`] if others can read or write the file, or if it is no token.
    pub fn read(path: &Path) -> Result<Self, BadToken> {
        let bad = |why| BadToken { path: path.to_owned(), why };
        let bytes = read_secret(path).map_err(|found| bad(found.reason()))?;
        let token = bytes.trim_ascii();
        if !token.iter().all(u8::is_ascii_graphic) {
            return Err(bad("has other characters than letters, digits and signs, or several \
                            words; write one token: openssl rand -hex 32"
                .to_owned()));
        }
        if !(LEAST..=MOST).contains(&token.len()) {
            return Err(bad(format!(
                "has {} characters, and a token has from {LEAST} to {MOST}; write a longer or \
                 shorter one: openssl rand -hex 32",
                token.len()
            )));
        }
        Ok(Self(Sha256::digest(token).into()))
    }

    /// The token with this text, which the caller has drawn at random.
    pub fn of(text: &str) -> Self {
        Self(Sha256::digest(text).into())
    }

    /// Whether this is the token.
    pub fn is(&self, shown: &[u8]) -> bool {
        let shown: [u8; 32] = Sha256::digest(shown).into();
        let differ = self.0.iter().zip(shown).fold(0, |differ, (own, shown)| {
            black_box(differ | (own ^ shown)) // every byte is compared, wherever the first differs
        });
        differ == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    fn written(text: &str, mode: u32) -> Result<Token, BadToken> {
        let name = format!("bw-token-{}-{mode:o}-{}", std::process::id(), text.len());
        let path = std::env::temp_dir().join(name);
        std::fs::write(&path, text).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
        let token = Token::read(&path);
        std::fs::remove_file(&path).unwrap();
        token
    }

    #[test]
    fn a_token_is_itself_and_nothing_else_is() {
        let token = written("0123456789abcdef0123\n", 0o600).unwrap();
        assert!(token.is(b"0123456789abcdef0123"));
        for other in ["0123456789abcdef0124", "0123456789abcdef012", "", "0123456789abcdef0123\n"] {
            assert!(!token.is(other.as_bytes()), "{other:?}");
        }
        assert!(!format!("{token:?}").contains("0123"));
    }

    #[test]
    fn a_token_that_others_can_read_or_that_can_be_guessed_is_refused() {
        for (text, mode, why) in [
            ("0123456789abcdef0123", 0o644, "has mode 0644, and nobody but its owner may read"),
            ("short", 0o600, "has 5 characters, and a token has from 16 to 512"),
            ("", 0o600, "has 0 characters"),
            ("0123456789 abcdef0123", 0o600, "or several words"),
        ] {
            let error = written(text, mode).unwrap_err().to_string();
            assert!(error.contains(why), "{error}");
        }
    }
}
