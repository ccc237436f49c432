//! The texts of a table, made when the program is compiled: for [`params!`](crate::params) alone.

/// The name of a field as a person writes it: with `-` for `_`.
pub const fn kebab<const N: usize>(field: &str) -> [u8; N] {
    let (from, mut name, mut at) = (field.as_bytes(), [0; N], 0);
    while at < N {
        name[at] = if from[at] == b'_' { b'-' } else { from[at] };
        at += 1;
    }
    name
}

/// How many bytes [`help`] has.
pub const fn help_length(doc: &str) -> usize {
    let (from, mut at, mut length) = (doc.as_bytes(), 1, 0);
    // A line ends with a line feed; one that follows another ends the paragraph.
    while at < from.len() && !(from[at] == b'\n' && from[at - 1] == b'\n') {
        length += (from[at] != b'\n') as usize;
        at += 1;
    }
    assert!(length > 1 && doc.as_bytes()[0] == b' ', "a documentation begins with a space");
    length - 1
}

/// The first paragraph of a documentation as help: the lines are joined, the full stop is left out
/// and the first word has a small letter, unless it is a symbol such as `T_S`.
pub const fn help<const N: usize>(doc: &str) -> [u8; N] {
    let (from, mut help, mut at, mut length) = (doc.as_bytes(), [0; N], 1, 0);
    while length < N {
        if from[at] != b'\n' {
            help[length] = from[at];
            length += 1;
        }
        at += 1;
    }
    assert!(from[at] == b'.', "a help ends with a full stop");
    let word = N > 1 && (help[1].is_ascii_lowercase() || help[0] == b'A' && help[1] == b' ');
    if word {
        help[0] = help[0].to_ascii_lowercase();
    }
    help
}

/// These bytes as a text.
pub const fn str(bytes: &'static [u8]) -> &'static str {
    match core::str::from_utf8(bytes) {
        Ok(text) => text,
        Err(_) => panic!("a text stays one if ASCII letters are changed"),
    }
}
