//! The command that the settings name, and whether programs are there and can be executed.

use crate::cli::failure::Failure;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// The command: what was written after `--`, what a shell is to read, or what the file has. `shell`
/// comes with whether it is a flag.
pub(super) fn command(
    written: Vec<OsString>,
    in_file: Vec<OsString>,
    shell: Option<(&str, bool)>,
) -> Result<Vec<OsString>, Failure> {
    match shell {
        Some((_, true)) if !written.is_empty() => {
            Err(Failure::usage("--shell and -- CMD both name the command: give one of them"))
        }
        Some((line, _)) if written.is_empty() => {
            if line.trim().is_empty() {
                return Err(Failure::Config(
                    "--shell is empty: give a line for /bin/sh, or leave it out".to_owned(),
                ));
            }
            Ok(["/bin/sh", "-c", line].map(OsString::from).to_vec())
        }
        _ => Ok(if written.is_empty() { in_file } else { written }),
    }
}

/// Where the command is, as the system will look for it: a name without a slash in the `PATH`.
pub(super) fn check_command(program: &OsStr) -> Result<String, Failure> {
    let name = Path::new(program);
    if program.as_bytes().contains(&b'/') {
        return check_executable("command", name);
    }
    let path = std::env::var_os("PATH").unwrap_or_else(|| "/bin:/usr/bin".into());
    let found = std::env::split_paths(&path)
        .find_map(|folder| check_executable("command", &folder.join(name)).ok());
    found.ok_or_else(|| {
        let blanks = of_words(program);
        let name = name.display();
        Failure::Config(format!("command {name}: no program in the PATH has that name{blanks}"))
    })
}

/// A hint, if this is a line of words and not the name of a program.
fn of_words(program: &OsStr) -> String {
    let Some(line) = program.to_str().filter(|line| line.contains(char::is_whitespace)) else {
        return String::new();
    };
    let words: Vec<String> = line.split_whitespace().map(|word| format!("{word:?}")).collect();
    format!(
        "; if its blanks separate words, write command = [{}], or shell = {line:?} for /bin/sh",
        words.join(", ")
    )
}

pub(super) fn check_executable(what: &str, program: &Path) -> Result<String, Failure> {
    use rustix::fs::{Access, access};
    let place = program.display();
    let found = std::fs::metadata(program).map_err(|error| {
        let blanks = of_words(program.as_os_str());
        Failure::Config(format!("{what} {place}: {error}; give the path of a program{blanks}"))
    })?;
    if !found.is_file() || access(program, Access::EXEC_OK).is_err() {
        return Err(Failure::Config(format!("{what} {place} is no program; chmod +x it?")));
    }
    Ok(format!("{place} can be executed"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_words_is_no_program_and_the_way_out_is_told() {
        let why = |program: &str| match check_command(program.as_ref()) {
            Err(Failure::Config(text)) => text,
            other => panic!("{other:?}"),
        };
        let told = "write command = [\"sleep\", \"9\"], or shell = \"sleep 9\" for /bin/sh";
        assert!(why("sleep 9").ends_with(told), "{}", why("sleep 9"));
        assert!(why("/bin/sleep 9").contains("[\"/bin/sleep\", \"9\"]"), "{}", why("/bin/sleep 9"));
        assert!(!why("no-such-program").contains("shell ="));
    }
}
