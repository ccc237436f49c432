//! Bytes as hexadecimal digits, as records and state files hold them.

use alloc::string::String;
use alloc::vec::Vec;

/// Writes each byte as two digits.
pub fn to_hex(bytes: &[u8]) -> String {
    let nibbles = bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]);
    nibbles.filter_map(|nibble| char::from_digit(nibble.into(), 16)).collect()
}

/// Reads two digits for each byte; `None` if a character is no digit or a digit is missing.
pub fn from_hex(digits: &str) -> Option<Vec<u8>> {
    let digit = |byte: u8| char::from(byte).to_digit(16);
    let pair = |pair: &[u8]| match pair {
        [high, low] => u8::try_from(digit(*high)? * 16 + digit(*low)?).ok(),
        _ => None,
    };
    digits.as_bytes().chunks(2).map(pair).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_two_digits_each() {
        assert_eq!(to_hex(&[0, 127, 255]), "007fff");
        assert_eq!(from_hex("007fff1A"), Some(alloc::vec![0, 127, 255, 26]));
        assert_eq!((to_hex(&[]).as_str(), from_hex("")), ("", Some(Vec::new())));
        for bad in ["0", "0g", "+1", "é", "abc"] {
            assert_eq!(from_hex(bad), None, "{bad}");
        }
    }
}
