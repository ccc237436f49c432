//! Key files: what is read, what is refused, and that the reason tells the way out.

use crate::support::Folder;
use bellwether_net::frame::{BadKeyFile, BadKeys, Fault, KEY_FILE_MAX, Keyring};
use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, chown, symlink};
use std::path::{Path, PathBuf};

/// A file in this folder.
fn file(folder: &Folder, name: &str, content: impl AsRef<[u8]>, mode: u32) -> PathBuf {
    let path = folder.0.join(name);
    fs::write(&path, content).expect("there is room for a file");
    fs::set_permissions(&path, Permissions::from_mode(mode)).expect("the file is ours");
    path
}

fn key(digit: char) -> String {
    format!("bwk1-{}\n", String::from(digit).repeat(64))
}

/// Why the file is refused, and the sentence that says so, which names the file.
fn refused(path: &Path) -> (Fault, String) {
    let error = Keyring::read(path).expect_err("it is refused");
    let text = error.to_string();
    assert!(text.contains(&path.display().to_string()), "{text}");
    assert_eq!(text.lines().count(), 1, "{text}");
    let BadKeyFile { path: named, fault } = error;
    assert_eq!(named, path);
    (fault, text)
}

#[test]
fn a_file_that_only_its_owner_can_read_is_read() {
    let folder = Folder::new();
    let text = format!("# the new one\n{}\n{}", key('a'), key('b'));
    let ring = Keyring::parse(&text).unwrap();
    for mode in [0o600, 0o400, 0o700] {
        let path = file(&folder, &format!("{mode:o}"), &text, mode);
        assert_eq!(Keyring::read(&path).unwrap(), ring);
    }
    let link = folder.0.join("link");
    symlink(folder.0.join("600"), &link).unwrap();
    assert_eq!(Keyring::read(&link).unwrap(), ring);
}

#[test]
fn a_file_that_others_can_read_or_write_is_refused() {
    let folder = Folder::new();
    for bit in [0o001, 0o002, 0o004, 0o010, 0o020, 0o040] {
        let path = file(&folder, "keys", key('a'), 0o600 | bit);
        let (fault, text) = refused(&path);
        assert!(matches!(fault, Fault::Mode(mode) if mode == 0o600 | bit), "{fault:?}");
        assert!(text.ends_with(&format!("chmod 600 {}", path.display())), "{text}");
        assert!(text.contains(&format!("{:04o}", 0o600 | bit)), "{text}");
    }
}

#[test]
fn a_file_of_somebody_else_is_refused() {
    if !rustix::process::geteuid().is_root() {
        return; // only root can give files away
    }
    let folder = Folder::new();
    let path = file(&folder, "keys", key('a'), 0o600);
    chown(&path, Some(12345), None).unwrap();
    let (fault, text) = refused(&path);
    assert!(matches!(fault, Fault::Owner { owner: 12345, user: 0 }), "{fault:?}");
    assert!(text.contains("user 12345") && text.contains("chown 0 "), "{text}");
}

#[test]
fn what_is_no_file_is_refused_at_once() {
    let folder = Folder::new();
    let (fault, _) = refused(&folder.0);
    assert!(matches!(fault, Fault::NotAFile), "{fault:?}");
    let pipe = folder.0.join("pipe");
    let mode = rustix::fs::Mode::from_raw_mode(0o600);
    rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, mode, 0).unwrap();
    let (fault, _) = refused(&pipe);
    assert!(matches!(fault, Fault::NotAFile), "{fault:?}");
    let (fault, text) = refused(&folder.0.join("missing"));
    assert!(matches!(fault, Fault::Io(_)), "{fault:?}");
    assert!(text.contains("missing: cannot be read"), "{text}");
}

#[test]
fn the_size_limit_is_exact() {
    let folder = Folder::new();
    let mut text = key('a');
    text.push_str(&"#".repeat(KEY_FILE_MAX - text.len()));
    assert!(Keyring::read(&file(&folder, "fits", &text, 0o600)).is_ok());
    text.push('#');
    let (fault, text) = refused(&file(&folder, "large", &text, 0o600));
    assert!(matches!(fault, Fault::Large), "{fault:?}");
    assert!(text.contains("65536"), "{text}");
}

#[test]
fn a_file_that_is_no_keyring_is_refused_with_the_line() {
    let folder = Folder::new();
    let cases = [
        (String::new(), BadKeys::None),
        ("# later\nsecret".to_owned(), BadKeys::Form { line: 2 }),
        (key('a') + "\n" + &key('a'), BadKeys::Twice { first: 1, line: 3 }),
        (key('0'), BadKeys::Public { line: 1 }),
    ];
    for (content, expected) in cases {
        // The same if others can read it: what is no key needs no protection.
        for mode in [0o600, 0o644] {
            let (fault, text) = refused(&file(&folder, "keys", &content, mode));
            assert!(matches!(fault, Fault::Keys(bad) if bad == expected), "{fault:?}");
            assert!(text.ends_with(&expected.to_string()), "{text}");
        }
    }
    let (fault, _) = refused(&file(&folder, "keys", b"\xff\xfe", 0o600));
    assert!(matches!(fault, Fault::NotText), "{fault:?}");
}
