//! The directory of running members: their sockets and their state.
//!
//! **Assumptions.** Anybody who may write to it may answer for a member, so only its owner may.

use crate::cli::failure::Failure;
use std::ffi::OsString;
use std::fs::{self, DirBuilder};
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

/// A variable of the environment, by its name.
pub(in crate::cli) type Variable<'a> = &'a dyn Fn(&str) -> Option<OsString>;

/// Variables of this process; empty ones count as absent.
pub(in crate::cli) fn variable(name: &str) -> Option<OsString> {
    std::env::var_os(name).filter(|value| !value.is_empty())
}

/// The directory that was asked for, or the one that this user's members have.
pub(in crate::cli) fn choose(given: Option<&Path>, variable: Variable<'_>, user: u32) -> PathBuf {
    let own = |name| variable(name).map(PathBuf::from);
    if let Some(dir) = given.map(Path::to_owned).or_else(|| own("BELLWETHER_DIR")) {
        return dir;
    }
    // A service manager may name several, with colons between; the first is ours.
    let managed = variable("RUNTIME_DIRECTORY").and_then(|dirs| dirs.into_string().ok());
    if let Some(dir) = managed.as_deref().and_then(|dirs| dirs.split(':').next()) {
        return PathBuf::from(dir);
    }
    match (own("XDG_RUNTIME_DIR"), user) {
        (Some(dir), _) => dir.join("bellwether"),
        (None, 0) => PathBuf::from("/run/bellwether"),
        (None, user) => PathBuf::from(format!("/tmp/bellwether-{user}")),
    }
}

/// The same, for this process.
pub(in crate::cli) fn of_process(given: Option<&Path>) -> PathBuf {
    choose(given, &variable, rustix::process::geteuid().as_raw())
}

/// All directories in which a member of this user, or of this machine, may be found.
pub(in crate::cli) fn all_of_process(given: Option<&Path>) -> Vec<PathBuf> {
    let own = of_process(given);
    if given.is_some() || variable("BELLWETHER_DIR").is_some() {
        return vec![own];
    }
    // A service has its directory from the service manager; who asks does not know that one.
    let user = rustix::process::geteuid().as_raw();
    let others =
        [PathBuf::from("/run/bellwether"), PathBuf::from(format!("/tmp/bellwether-{user}"))];
    let mut all = vec![own];
    all.extend(others);
    all.dedup();
    all
}

/// Makes the directory if it is missing, and refuses one that others may write to.
pub(in crate::cli) fn prepare(dir: &Path) -> Result<(), Failure> {
    let made = DirBuilder::new().recursive(true).mode(0o700).create(dir);
    made.map_err(|error| Failure::io("make the directory", dir, &error))?;
    check(dir).map(drop)
}

/// Why the directory is safe, or why it is not.
pub(in crate::cli) fn check(dir: &Path) -> Result<String, Failure> {
    let found = match fs::metadata(dir) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return Ok(format!("{} is not there, and will be made", dir.display()));
        }
        found => found.map_err(|error| Failure::io("look at", dir, &error))?,
    };
    let (place, owner, me) = (dir.display(), found.uid(), rustix::process::geteuid().as_raw());
    let (mode, bad) = (found.mode() & 0o777, |text| Err(Failure::Config(text)));
    if !found.is_dir() {
        return bad(format!("{place} is no directory; choose another with --dir"));
    }
    if owner != me {
        return bad(format!(
            "{place} belongs to user {owner}, and this is user {me}: members keep their sockets \
             where nobody else can tamper with them; choose another with --dir"
        ));
    }
    if mode & 0o022 != 0 {
        return bad(format!(
            "{place} has mode {mode:03o}, so others may write to it; chmod 700 it, or choose \
             another with --dir"
        ));
    }
    Ok(format!("{place} is ours (mode {mode:03o}), and nobody else may write to it"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn the_first_place_that_is_named_is_taken() {
        let all =
            [("BELLWETHER_DIR", "/a"), ("RUNTIME_DIRECTORY", "/b:/c"), ("XDG_RUNTIME_DIR", "/d")];
        let chosen = |from: usize, given: Option<&str>, user| {
            let variable = |name: &str| {
                let found = all[from..].iter().find(|(key, _)| *key == name);
                found.map(|(_, value)| OsString::from(value))
            };
            choose(given.map(Path::new), &variable, user)
        };
        assert_eq!(chosen(0, Some("/x"), 7), Path::new("/x"));
        assert_eq!(chosen(0, None, 7), Path::new("/a"));
        assert_eq!(chosen(1, None, 7), Path::new("/b"));
        assert_eq!(chosen(2, None, 0), Path::new("/d/bellwether"));
        assert_eq!(chosen(3, None, 0), Path::new("/run/bellwether"));
        assert_eq!(chosen(3, None, 7), Path::new("/tmp/bellwether-7"));
    }

    #[test]
    fn a_directory_is_made_for_its_owner_alone_and_one_open_to_others_is_refused() {
        let dir = std::env::temp_dir().join(format!("bellwether-dir-{}", std::process::id()));
        let _ = fs::remove_dir_all(&dir); // of a process that had this number before
        assert!(check(&dir).unwrap().ends_with("will be made"));
        prepare(&dir).unwrap();
        assert_eq!(fs::metadata(&dir).unwrap().mode() & 0o777, 0o700);
        fs::set_permissions(&dir, fs::Permissions::from_mode(0o770)).unwrap();
        let Err(Failure::Config(text)) = prepare(&dir) else { panic!("it was accepted") };
        assert!(text.contains("mode 770, so others may write to it; chmod 700"), "{text}");
        fs::remove_dir_all(&dir).unwrap();
        fs::write(&dir, "").unwrap();
        let Err(Failure::Config(text)) = check(&dir) else { panic!("it was accepted") };
        assert!(text.contains("is no directory"), "{text}");
        fs::remove_file(&dir).unwrap();
    }
}
