//! Random bytes from the kernel.
//!
//! **Source.** `getrandom(2)`, which blocks only until the machine has been seeded once.

use rustix::io::Errno;
use rustix::rand::{GetRandomFlags, getrandom};
use std::io;

/// Fills an array with random bytes.
pub(crate) fn fill<const N: usize>(bytes: &mut [u8; N]) -> io::Result<()> {
    let mut filled = 0;
    while filled < N {
        match getrandom(&mut bytes[filled..], GetRandomFlags::empty()) {
            Ok(count) => filled += count,
            Err(Errno::INTR) => {} // a signal interrupted it
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

/// A random number.
pub(crate) fn number() -> io::Result<u64> {
    let mut bytes = [0; 8];
    fill(&mut bytes)?;
    Ok(u64::from_ne_bytes(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_is_filled_and_no_two_draws_are_alike() {
        let mut sum = [0_u8; 300]; // longer than the kernel fills without a chance of a signal
        for _ in 0..64 {
            let mut bytes = [0; 300];
            fill(&mut bytes).unwrap();
            sum.iter_mut().zip(bytes).for_each(|(sum, byte)| *sum |= byte);
        }
        assert!(sum.iter().all(|byte| *byte != 0));
        assert_ne!(number().unwrap(), number().unwrap());
    }
}
