//! The page: static files, embedded in the program.
//!
//! **Promise.** Nothing is read from disk and nothing is fetched from elsewhere. A file of the page
//! that is not listed here fails a test, which names it. What is for who writes it, comments and
//! indentation, is not sent; lines keep their numbers.

use crate::reply;
use axum::http::HeaderValue;
use axum::response::Response;
use hyper::StatusCode;

/// A file and what it holds.
pub(crate) type File = (&'static str, &'static [u8]);

macro_rules! page {
    [$($name:literal),* $(,)?] => {
        /// The files of the page.
        pub(crate) const FILES: &[File] =
            &[$(($name, include_bytes!(concat!("../page/", $name)))),*];
    };
}

page![
    "address.js",
    "api.js",
    "bench.js",
    "captions.js",
    "diagram.js",
    "dialog.js",
    "dom.js",
    "figures.js",
    "find.js",
    "flights.js",
    "form.js",
    "format.js",
    "icon.svg",
    "index.html",
    "inspector.js",
    "judge.js",
    "lanes.js",
    "lessons.js",
    "live.js",
    "live_lanes.js",
    "load.js",
    "machine.js",
    "main.js",
    "measure.js",
    "palette.js",
    "pane.js",
    "places.js",
    "player.js",
    "plot.js",
    "run.js",
    "scene.js",
    "share.js",
    "side.js",
    "sliders.js",
    "stage.js",
    "style.css",
    "sweep.js",
    "transport.js",
    "types.js",
    "words.js",
    "writing.js",
];

/// What kind of file it is, by its name.
fn kind(name: &str) -> HeaderValue {
    let kind = match name.rsplit_once('.').map(|(_, end)| end) {
        Some("html") => "text/html; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("js") => "text/javascript; charset=utf-8",
        Some("svg") => "image/svg+xml",
        _ => "text/plain; charset=utf-8",
    };
    HeaderValue::from_static(kind)
}

/// The file at this path, if there is one.
pub(crate) fn at(path: &str) -> Option<Response> {
    let name = match path.trim_start_matches('/') {
        "" => "index.html",
        name => name,
    };
    let (name, bytes) = FILES.iter().find(|(own, _)| *own == name)?;
    let sent = if name.ends_with(".js") { without_comments(bytes) } else { bytes.to_vec() };
    Some(reply::of(StatusCode::OK, kind(name), sent))
}

/// A script without its indentation and without comments that have lines of their own.
fn without_comments(script: &[u8]) -> Vec<u8> {
    let mut sent = String::with_capacity(script.len());
    let mut inside = false;
    for line in String::from_utf8_lossy(script).lines().map(str::trim) {
        let end = line.find("*/").map(|at| at + 2);
        // Behind a type there may be code.
        inside |= line.starts_with("/*") && end.is_none_or(|end| end == line.len());
        if !inside && !line.starts_with("//") {
            sent += line;
        }
        inside &= end.is_none();
        sent.push('\n');
    }
    sent.into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_of_the_page_is_embedded() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/page");
        for entry in std::fs::read_dir(folder).unwrap() {
            let name = entry.unwrap().file_name().into_string().unwrap();
            let served = [".html", ".css", ".js", ".svg"].iter().any(|end| name.ends_with(end));
            let listed = FILES.iter().any(|(own, _)| *own == name);
            assert!(listed || !served, "write \"{name}\" into the list of crates/lab/src/files.rs");
        }
        assert!(at("/").is_some() && at("/../Cargo.toml").is_none());
    }

    #[test]
    fn a_script_is_sent_without_what_is_for_its_writers_and_with_all_its_lines() {
        let script = "// Of a.\n\n/**\n * @param {number} a\n */\nfunction b(a) {\n\
                      \x20   /* no */\n    /** @type {A} */ (a).b = 3;\n\
                      \x20   return a // its double\n        * 2;\n}\n";
        let sent = "\n\n\n\n\nfunction b(a) {\n\n/** @type {A} */ (a).b = 3;\n\
                    return a // its double\n* 2;\n}\n";
        assert_eq!(String::from_utf8(without_comments(script.as_bytes())).unwrap(), sent);
        // A text over several lines would lose its spaces.
        for (name, bytes) in FILES.iter().filter(|(name, _)| name.ends_with(".js")) {
            let sent = String::from_utf8(without_comments(bytes)).unwrap();
            for (number, line) in sent.lines().enumerate() {
                let marks = line.matches('`').count() - line.matches("\\`").count();
                assert!(marks.is_multiple_of(2), "{name}:{}: {line}", number + 1);
            }
        }
    }

    #[test]
    fn the_page_has_nothing_from_elsewhere() {
        for (name, bytes) in FILES {
            let text = String::from_utf8_lossy(bytes);
            for foreign in ["src=\"http", "href=\"http", "from \"http", "import(\"http", "@import"]
            {
                assert!(!text.contains(foreign), "{name} has {foreign}");
            }
        }
    }
}
