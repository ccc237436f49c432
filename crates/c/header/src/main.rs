//! Makes `crates/c/include/bellwether.h` of the crate's source with cbindgen, or with `--check`
//! says whether it is up to date.

use std::path::Path;
use std::process::ExitCode;

const WRITE: &str = "cargo run --manifest-path crates/c/header/Cargo.toml";

/// The header that the source asks for.
fn made(folder: &Path) -> Result<String, String> {
    let config = cbindgen::Config::from_file(folder.join("cbindgen.toml"))?;
    let builder = cbindgen::Builder::new().with_config(config).with_src(folder.join("src/lib.rs"));
    let mut text = Vec::new();
    builder.generate().map_err(|error| error.to_string())?.write(&mut text);
    String::from_utf8(text).map_err(|error| error.to_string())
}

fn run(check: bool) -> Result<(), String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let (header, made) = (folder.join("include/bellwether.h"), made(&folder)?);
    let found = std::fs::read_to_string(&header).unwrap_or_default();
    if found == made {
        return Ok(());
    }
    if check {
        return Err(format!("bellwether.h is not what the source says: `{WRITE}` writes it"));
    }
    std::fs::write(&header, made).map_err(|error| format!("{}: {error}", header.display()))
}

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let done = match words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] => run(false),
        ["--check"] => run(true),
        _ => Err(format!("usage: {WRITE} [-- --check]")),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(line) => {
            eprintln!("{line}");
            ExitCode::FAILURE
        }
    }
}
