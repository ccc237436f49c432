//! Encoding and decoding: little endian, bounded; no input makes it panic.

use crate::few::Few;
use crate::id::NodeId;
use crate::time::Instant;
use alloc::vec::Vec;
use core::fmt;

/// The bytes were not written by our encoder; drop the datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Malformed;

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("malformed bytes; nothing changed")
    }
}

impl core::error::Error for Malformed {}

/// Decodes bytes from the front.
#[derive(Clone, Debug)]
pub struct Reader<'a> {
    left: &'a [u8],
}

impl<'a> Reader<'a> {
    /// A reader of these bytes.
    pub fn new(bytes: &'a [u8]) -> Self {
        Reader { left: bytes }
    }

    /// The next `n` bytes.
    ///
    /// # Errors
    /// [`Malformed`] if fewer are left.
    pub fn bytes(&mut self, n: usize) -> Result<&'a [u8], Malformed> {
        let (front, rest) = self.left.split_at_checked(n).ok_or(Malformed)?;
        self.left = rest;
        Ok(front)
    }

    /// One byte.
    ///
    /// # Errors
    /// [`Malformed`] if none is left.
    pub fn u8(&mut self) -> Result<u8, Malformed> {
        Ok(self.bytes(1)?[0])
    }

    /// One byte that is 0 or 1.
    ///
    /// # Errors
    /// [`Malformed`] if it is another value, or none is left.
    pub fn flag(&mut self) -> Result<bool, Malformed> {
        match self.u8()? {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(Malformed),
        }
    }

    /// Two bytes.
    ///
    /// # Errors
    /// [`Malformed`] if fewer are left.
    pub fn u16(&mut self) -> Result<u16, Malformed> {
        self.array().map(u16::from_le_bytes)
    }

    /// Four bytes.
    ///
    /// # Errors
    /// [`Malformed`] if fewer are left.
    pub fn u32(&mut self) -> Result<u32, Malformed> {
        self.array().map(u32::from_le_bytes)
    }

    /// Eight bytes.
    ///
    /// # Errors
    /// [`Malformed`] if fewer are left.
    pub fn u64(&mut self) -> Result<u64, Malformed> {
        self.array().map(u64::from_le_bytes)
    }

    /// The id of a process.
    ///
    /// # Errors
    /// [`Malformed`] if fewer than eight bytes are left.
    pub fn node(&mut self) -> Result<NodeId, Malformed> {
        self.u64().map(NodeId)
    }

    /// A time of a clock.
    ///
    /// # Errors
    /// [`Malformed`] if fewer than eight bytes are left.
    pub fn instant(&mut self) -> Result<Instant, Malformed> {
        self.u64().map(Instant::from_nanos)
    }

    /// A list: its count, then the items, each of at least `least` bytes. The count is compared
    /// with the remaining bytes before anything is allocated, so a short datagram cannot cause a
    /// large allocation.
    ///
    /// # Errors
    /// [`Malformed`] if the count is too large, or as `item` says.
    pub fn list<T>(
        &mut self,
        least: usize,
        mut item: impl FnMut(&mut Self) -> Result<T, Malformed>,
    ) -> Result<Vec<T>, Malformed> {
        let count = self.count(least)?;
        let mut items = Vec::with_capacity(count);
        for _ in 0..count {
            items.push(item(self)?);
        }
        Ok(items)
    }

    /// The same list, without an allocation if it is short.
    ///
    /// # Errors
    /// As [`list`](Self::list).
    pub fn few<T: Copy + Default, const N: usize>(
        &mut self,
        least: usize,
        mut item: impl FnMut(&mut Self) -> Result<T, Malformed>,
    ) -> Result<Few<T, N>, Malformed> {
        let mut items = Few::new();
        for _ in 0..self.count(least)? {
            items.push(item(self)?);
        }
        Ok(items)
    }

    /// The length of a list whose items have at least so many bytes.
    fn count(&mut self, least: usize) -> Result<usize, Malformed> {
        let count = usize::from(self.u16()?);
        let fits = count.saturating_mul(least.max(1)) <= self.left.len();
        fits.then_some(count).ok_or(Malformed)
    }

    /// Checks that all bytes were read.
    ///
    /// # Errors
    /// [`Malformed`] if bytes are left.
    pub fn finish(self) -> Result<(), Malformed> {
        if self.left.is_empty() { Ok(()) } else { Err(Malformed) }
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], Malformed> {
        self.bytes(N)?.try_into().map_err(|_| Malformed)
    }
}

/// Encodes bytes: the inverse of [`Reader`].
pub trait WireWrite {
    /// One byte.
    fn put_u8(&mut self, value: u8);
    /// One byte, 0 or 1.
    fn put_flag(&mut self, value: bool) {
        self.put_u8(u8::from(value));
    }
    /// Two bytes.
    fn put_u16(&mut self, value: u16);
    /// Four bytes.
    fn put_u32(&mut self, value: u32);
    /// Eight bytes.
    fn put_u64(&mut self, value: u64);
    /// The id of a process.
    fn put_node(&mut self, id: NodeId) {
        self.put_u64(id.0);
    }
    /// A time of a clock.
    fn put_instant(&mut self, at: Instant) {
        self.put_u64(at.as_nanos());
    }
    /// A list of at most 65,535 items.
    ///
    /// # Panics
    /// If there are more: a truncated list would be well formed with another meaning. A message
    /// that can grow so long checks before.
    fn put_list<T>(&mut self, items: &[T], put: impl FnMut(&mut Self, &T));
}

impl WireWrite for Vec<u8> {
    fn put_u8(&mut self, value: u8) {
        self.push(value);
    }

    fn put_u16(&mut self, value: u16) {
        self.extend_from_slice(&value.to_le_bytes());
    }

    fn put_u32(&mut self, value: u32) {
        self.extend_from_slice(&value.to_le_bytes());
    }

    fn put_u64(&mut self, value: u64) {
        self.extend_from_slice(&value.to_le_bytes());
    }

    fn put_list<T>(&mut self, items: &[T], mut put: impl FnMut(&mut Self, &T)) {
        let most = usize::from(u16::MAX);
        assert!(items.len() <= most, "a list of {} items is never cut to {most}", items.len());
        self.put_u16(items.len() as u16);
        items.iter().for_each(|item| put(self, item));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_count_that_the_bytes_cannot_hold_is_refused_before_allocating() {
        let bytes = [0xff, 0xff, 1, 2, 3];
        let read = Reader::new(&bytes).list(8, Reader::u64);
        assert_eq!(read, Err(Malformed));
    }

    #[test]
    fn small_numbers_and_flags_survive_the_wire() {
        let mut bytes = Vec::new();
        bytes.put_u8(7);
        bytes.put_u16(0x0102);
        bytes.put_flag(true);
        bytes.put_flag(false);
        assert_eq!(bytes, [7, 2, 1, 1, 0]);
        let mut reader = Reader::new(&bytes);
        assert_eq!((reader.u8(), reader.u16()), (Ok(7), Ok(0x0102)));
        assert_eq!((reader.flag(), reader.flag()), (Ok(true), Ok(false)));
        assert_eq!(reader.flag(), Err(Malformed), "nothing is left");
    }

    #[test]
    fn a_flag_is_zero_or_one_and_nothing_else() {
        for byte in 2..=u8::MAX {
            assert_eq!(Reader::new(&[byte]).flag(), Err(Malformed));
        }
    }

    #[test]
    fn the_longest_list_survives_the_wire() {
        let mut bytes = Vec::new();
        let items = [3; u16::MAX as usize];
        bytes.put_list(&items, |out, item| out.put_u8(*item));
        assert_eq!(Reader::new(&bytes).list(1, Reader::u8).as_deref(), Ok(&items[..]));
    }

    #[test]
    #[should_panic(expected = "a list of 65536 items")]
    fn a_list_that_is_too_long_is_not_cut_in_silence() {
        Vec::new().put_list(&[3; 1 << 16], |out, item| out.put_u8(*item));
    }

    proptest! {
        #[test]
        fn lists_of_ids_survive_the_wire(ids in prop::collection::vec(any::<u64>(), 0..50)) {
            let ids: Vec<NodeId> = ids.into_iter().map(NodeId).collect();
            let mut bytes = Vec::new();
            bytes.put_list(&ids, |out, id| out.put_node(*id));
            let mut reader = Reader::new(&bytes);
            prop_assert_eq!(reader.list(8, Reader::node), Ok(ids));
            prop_assert_eq!(reader.finish(), Ok(()));
        }

        #[test]
        fn no_bytes_make_a_reader_panic(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
            let mut reader = Reader::new(&bytes);
            let _ = reader.u8().and_then(|_| reader.u16()).and_then(|_| reader.u32());
            let _ = reader.flag();
            let _ = reader.list(1, Reader::u8);
            let _ = reader.list(0, |r| r.list(8, Reader::instant));
        }
    }
}
