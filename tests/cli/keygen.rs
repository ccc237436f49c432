//! `bellwether keygen` as scripts and people meet it.

use crate::command::{bellwether, folder, refusal, stdout};
use bellwether_net::frame::Keyring;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

fn keygen(file: &Path) -> String {
    format!("keygen {}", file.display())
}

#[test]
fn a_key_is_printed_and_differs_every_time() {
    let (one, other) = (stdout("keygen"), stdout("keygen"));
    assert_eq!(one.lines().count(), 1);
    assert!(Keyring::parse(&one).is_ok(), "the form is right");
    assert_ne!(one, other);
}

#[test]
fn a_new_file_is_one_that_a_member_can_read_and_nobody_else() {
    let folder = folder("keygen-new");
    let path = folder.join("group.key");
    let output = bellwether(&keygen(&path));
    assert!(output.status.success() && output.stdout.is_empty());
    let told = String::from_utf8(output.stderr).expect("it is text");
    assert_eq!(told.lines().count(), 1, "{told}");
    assert!(told.contains(&format!("wrote a new key to {}", path.display())), "{told}");
    assert!(told.contains("copy the file to every member"), "{told}");
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o7777, 0o600);
    let ring = Keyring::read(&path).unwrap();
    assert!(!ring.is_insecure());

    // The way to a second key that --help shows.
    let both = fs::read_to_string(&path).unwrap() + &stdout("keygen");
    fs::write(&path, both).unwrap();
    let ids = Keyring::read(&path).unwrap().ids("g");
    assert_eq!((ids.len(), &ids[0]), (2, &ring.ids("g")[0]));
    fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn a_file_that_is_there_is_never_touched() {
    let folder = folder("keygen-old");
    let path = folder.join("group.key");
    fs::write(&path, "precious").unwrap();
    let line = refusal(&keygen(&path), 1);
    assert!(line.contains(&path.display().to_string()), "{line}");
    assert!(line.contains("never overwritten"), "{line}");
    assert_eq!(fs::read(&path).unwrap(), b"precious");
    let link = folder.join("link");
    std::os::unix::fs::symlink(folder.join("nowhere"), &link).unwrap();
    refusal(&keygen(&link), 1);
    assert!(!folder.join("nowhere").exists(), "nor is anything made through a link");
    fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn a_file_that_cannot_be_made_is_named() {
    let folder = folder("keygen-missing");
    let path = folder.join("no-such-folder").join("group.key");
    let line = refusal(&keygen(&path), 1);
    assert!(line.contains(&path.display().to_string()), "{line}");
    fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn help_has_an_example() {
    let text = stdout("keygen --help");
    assert!(text.contains("bellwether keygen group.key"), "{text}");
}
