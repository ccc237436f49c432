//! The page: static files, embedded in the program.
//!
//! **Promise.** Nothing is read from disk and nothing is fetched from elsewhere. A file of the page
//! that is not listed here fails a test, which names it.

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
    Some(reply::of(StatusCode::OK, kind(name), *bytes))
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
    fn the_page_is_small_and_has_nothing_from_elsewhere() {
        let all: usize = FILES.iter().map(|(_, bytes)| bytes.len()).sum();
        assert!(all < 300_000, "{all} bytes");
        for (name, bytes) in FILES {
            let text = String::from_utf8_lossy(bytes);
            for foreign in ["src=\"http", "href=\"http", "from \"http", "import(\"http", "@import"]
            {
                assert!(!text.contains(foreign), "{name} has {foreign}");
            }
        }
    }
}
