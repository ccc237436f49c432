//! Files with a checksum: a line with the format and the SHA-256 of the rest, and then the rest.

use bellwether_core::to_hex;
use sha2::{Digest, Sha256};

/// The largest such file, in bytes.
pub(crate) const FILE_MAX: usize = 1 << 20;

/// The text of a file of this format.
pub(crate) fn encode(format: &str, body: &str) -> String {
    format!("{format} {}\n{body}", checksum(body.as_bytes()))
}

/// The rest of a file of this format. Fails with the reason if the file is damaged.
pub(crate) fn decode<'a>(format: &str, bytes: &'a [u8]) -> Result<&'a [u8], String> {
    if bytes.len() >= FILE_MAX {
        return Err(format!("it is longer than {FILE_MAX} bytes"));
    }
    let first = bytes.iter().position(|byte| *byte == b'\n');
    let (line, body) = first.map_or((&b""[..], bytes), |at| (&bytes[..at], &bytes[at + 1..]));
    let Some(sum) = line.strip_prefix(format!("{format} ").as_bytes()) else {
        return Err(format!("it does not begin with '{format}' and a checksum"));
    };
    if sum != checksum(body).as_bytes() {
        return Err("its checksum is not that of its content".to_owned());
    }
    Ok(body)
}

fn checksum(body: &[u8]) -> String {
    to_hex(&Sha256::digest(body))
}
