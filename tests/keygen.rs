//! `bellwether keygen` as scripts and people meet it.

use bellwether_net::frame::Keyring;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn keygen(file: Option<&Path>) -> Output {
    Command::new(env!("CARGO_BIN_EXE_bellwether"))
        .arg("keygen")
        .args(file)
        .output()
        .expect("the command starts")
}

/// What it prints, without a word on the standard error.
fn said(output: Output) -> String {
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    assert_eq!(errors, "");
    String::from_utf8(output.stdout).expect("the output is text")
}

/// The one line with which it fails.
fn refusal(output: Output) -> String {
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(output.stdout, b"");
    let errors = String::from_utf8(output.stderr).expect("errors are text");
    assert_eq!(errors.lines().count(), 1, "{errors}");
    assert!(errors.starts_with("bellwether: "), "{errors}");
    errors
}

/// A folder of this test's own, gone with it.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let name = format!("bellwether-keygen-{name}-{}", std::process::id());
        let path = std::env::temp_dir().join(name);
        fs::create_dir_all(&path).expect("there is room for a folder");
        Self(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0); // a failed test has said what matters
    }
}

#[test]
fn a_key_is_printed_and_differs_every_time() {
    let (one, other) = (said(keygen(None)), said(keygen(None)));
    assert_eq!(one.lines().count(), 1);
    assert!(Keyring::parse(&one).is_ok(), "the form is right");
    assert_ne!(one, other);
}

#[test]
fn a_new_file_is_one_that_a_member_can_read_and_nobody_else() {
    let folder = Folder::new("new");
    let path = folder.0.join("group.key");
    let output = keygen(Some(&path));
    assert!(output.status.success() && output.stdout.is_empty());
    let told = String::from_utf8(output.stderr).expect("it is text");
    assert_eq!(told.lines().count(), 1, "{told}");
    assert!(told.contains(&format!("wrote a new key to {}", path.display())), "{told}");
    assert!(told.contains("copy the file to every member"), "{told}");
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o7777, 0o600);
    let ring = Keyring::read(&path).unwrap();
    assert!(!ring.is_insecure());

    // The way to a second key that --help shows.
    let both = fs::read_to_string(&path).unwrap() + &said(keygen(None));
    fs::write(&path, both).unwrap();
    let ids = Keyring::read(&path).unwrap().ids("g");
    assert_eq!((ids.len(), &ids[0]), (2, &ring.ids("g")[0]));
}

#[test]
fn a_file_that_is_there_is_never_touched() {
    let folder = Folder::new("old");
    let path = folder.0.join("group.key");
    fs::write(&path, "precious").unwrap();
    let line = refusal(keygen(Some(&path)));
    assert!(line.contains(&path.display().to_string()), "{line}");
    assert!(line.contains("never overwritten"), "{line}");
    assert_eq!(fs::read(&path).unwrap(), b"precious");
    let link = folder.0.join("link");
    std::os::unix::fs::symlink(folder.0.join("nowhere"), &link).unwrap();
    refusal(keygen(Some(&link)));
    assert!(!folder.0.join("nowhere").exists(), "nor is anything made through a link");
}

#[test]
fn a_file_that_cannot_be_made_is_named() {
    let folder = Folder::new("missing");
    let path = folder.0.join("no-such-folder").join("group.key");
    let line = refusal(keygen(Some(&path)));
    assert!(line.contains(&path.display().to_string()), "{line}");
}

#[test]
fn help_has_an_example() {
    let output = Command::new(env!("CARGO_BIN_EXE_bellwether")).args(["keygen", "--help"]).output();
    let text = said(output.expect("the command starts"));
    assert!(text.contains("bellwether keygen group.key"), "{text}");
}
