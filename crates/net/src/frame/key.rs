//! The key of a group's frames, derived from a secret, and its id on the wire.
//!
//! **Source.** HKDF (RFC 5869) with SHA-256; XChaCha20-Poly1305
//! (draft-irtf-cfrg-xchacha-03).
//!
//! One secret may serve many groups: the group's whole name goes into the derivation, so a frame
//! of one group is a forgery in any other.

use super::header::{Header, front};
use super::{HEADER, TAG};
use chacha20poly1305::aead::AeadInOut;
use chacha20poly1305::{KeyInit, XChaCha20Poly1305};
use hkdf::Hkdf;
use sha2::{Digest, Sha256};
use std::fmt;
use zeroize::Zeroizing;

/// The key that one secret gives to one group.
#[derive(Clone)]
pub(super) struct FrameKey {
    /// Four bytes of a hash of the key, which tell a receiver with several keys which one to use.
    /// An observer learns only whether two frames were sealed with the same key; finding the key is
    /// a search through 2^256.
    pub(super) id: [u8; 4],
    cipher: XChaCha20Poly1305,
}

impl FrameKey {
    pub(super) fn derive(secret: &[u8; 32], group: &str) -> Self {
        let mut key = Zeroizing::new([0; 32]);
        Hkdf::<Sha256>::new(None, secret)
            .expand_multi_info(&[b"bellwether frame v1", group.as_bytes()], &mut *key)
            .expect("HKDF gives up to 255 times as many bytes");
        let id = front(&Sha256::digest(*key));
        Self { id, cipher: XChaCha20Poly1305::new((&*key).into()) }
    }

    /// Seals the bytes after the header in `frame`, and appends the tag.
    pub(super) fn seal(&self, header: &Header, frame: &mut Vec<u8>) {
        let (front, body) = frame.split_at_mut(HEADER);
        let tag = self
            .cipher
            .encrypt_inout_detached(&header.nonce().into(), front, body.into())
            .expect("the cipher takes up to 256 GiB, a frame is shorter");
        frame.extend_from_slice(&tag);
    }

    /// Opens `sealed` into `body`; false, and an empty body, if it is not authentic.
    pub(super) fn open(
        &self,
        header: &Header,
        bytes: &[u8; HEADER],
        sealed: &[u8],
        body: &mut Vec<u8>,
    ) -> bool {
        body.clear();
        let Some((text, tag)) = sealed.split_last_chunk::<TAG>() else { return false };
        body.extend_from_slice(text);
        let nonce = header.nonce().into();
        let opened = self.cipher.decrypt_inout_detached(
            &nonce,
            bytes,
            body.as_mut_slice().into(),
            tag.into(),
        );
        if opened.is_err() {
            body.clear();
        }
        opened.is_ok()
    }
}

/// Shows the id and never the key.
impl fmt::Debug for FrameKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "FrameKey({:08x})", u32::from_be_bytes(self.id))
    }
}
