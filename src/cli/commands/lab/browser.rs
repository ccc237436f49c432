//! Opens the page in a browser.
//!
//! **Assumptions.** The arguments of a process can be read by every user of a machine, and the
//! address has the token. So the browser is given a file that only this user can read, which leads
//! to the address.

use std::env::{temp_dir, var_os};
use std::fs::{OpenOptions, remove_file};
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// A browser that was asked to open the page. The file is removed when this is dropped.
pub(super) struct Opened(PathBuf);

impl Drop for Opened {
    fn drop(&mut self) {
        let _ = remove_file(&self.0); // it may have been removed already
    }
}

/// Asks the desktop to open it. Where there is none, whoever reads the address opens it.
pub(super) fn open(url: &str) -> Option<Opened> {
    let desktop = ["DISPLAY", "WAYLAND_DISPLAY"].iter().any(|name| var_os(name).is_some());
    if !desktop {
        return None;
    }
    let path = temp_dir().join(format!("bellwether-lab-{}.html", std::process::id()));
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path).ok()?;
    let opened = Opened(path);
    // The address has no character that a page would take for something else.
    let page = format!(
        "<!doctype html><meta charset=\"utf-8\"><meta http-equiv=\"refresh\" content=\"0; \
         url={url}\"><a href=\"{url}\">the laboratory</a>\n"
    );
    file.write_all(page.as_bytes()).ok()?;
    let mut command = Command::new("xdg-open");
    command.arg(&opened.0).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = command.spawn().ok()?;
    // It is waited for, so that it leaves nothing behind.
    std::thread::spawn(move || child.wait());
    Some(opened)
}
