//! Lessons: runs with captions that step along, and what each comes to.
//!
//! **Promise.** Each is a scenario file that `trace` runs as well. A test runs every one of them,
//! and compares how it ends with what it states.

use crate::head::caption;
use crate::reply;
use crate::routes::Shared;
use crate::what::RunRequest;
use axum::extract::{Path, State};
use axum::response::Response;
use bellwether_sim::ScenarioFile;
use hyper::StatusCode;
use serde_json::{Value, json};

/// A lesson.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lesson {
    /// Its name, which is that of its file.
    pub name: &'static str,
    /// What it is called.
    pub title: &'static str,
    /// Another one that is shown beside it.
    pub beside: Option<&'static str>,
    /// The scenario file.
    pub text: &'static str,
}

macro_rules! lessons {
    ($($name:literal $title:literal $(beside $beside:literal)?;)+) => {
        /// All lessons, in the order in which they are taught.
        pub const LESSONS: &[Lesson] = &[$(Lesson {
            name: $name,
            title: $title,
            beside: lessons!(@beside $($beside)?),
            text: include_str!(concat!("../lessons/", $name, ".toml")),
        }),+];
    };
    (@beside) => { None };
    (@beside $beside:literal) => { Some($beside) };
}

lessons! {
    "bully-3-12" "Bully: the greatest takes over";
    "ring-6-21" "A ring: two elections at once";
    "chang-roberts-best" "Chang and Roberts, best order" beside "chang-roberts-worst";
    "chang-roberts-worst" "Chang and Roberts, worst order" beside "chang-roberts-best";
    "hirschberg-sinclair" "Hirschberg and Sinclair: phases";
    "ad-hoc-6-22" "An ad hoc network: a tree that asks";
    "ad-hoc-merge" "Two networks become one";
    "le-a" "LE-A: announce at once" beside "le-s";
    "le-s" "LE-S: suppression" beside "le-a";
    "le-m" "LE-M: the first to wake leads" beside "le-s";
    "sup-al-deadlock" "A rule that elects nobody";
    "merea-mistake" "MEREA as printed: the highest is missed" beside "merea-corrected";
    "merea-corrected" "MEREA corrected" beside "merea-mistake";
    "probabilistic-round" "A few decide for many";
    "hall-split-local" "A split with local leases" beside "hall-split-majority";
    "hall-split-majority" "A split with majority leases" beside "hall-split-local";
    "hall-bug" "Leases as published: two leaders" beside "hall-bug-corrected";
    "hall-bug-corrected" "Leases corrected: never two" beside "hall-bug";
    "fencing" "A paused leader and its fencing token";
}

/// What a page shows of a lesson in a list.
fn row(lesson: &Lesson) -> Value {
    let Lesson { name, title, beside, text } = lesson;
    let read = ScenarioFile::parse(text).ok();
    let read = read.as_ref();
    json!({
        "name": name,
        "title": title,
        "beside": beside,
        "about": read.map(|read| read.about.as_str()),
        "protocol": read.map(|read| read.protocol.as_str()),
        "captions": read.map(|read| read.captions.len()),
        "outcome": read.and_then(|read| read.outcome.as_ref()).map(|stated| stated.text.as_str()),
    })
}

/// All lessons.
pub(crate) async fn list() -> Response {
    reply::json(&json!({ "lessons": LESSONS.iter().map(row).collect::<Vec<_>>() }))
}

/// One of them.
pub(crate) async fn one(State(app): Shared, Path(name): Path<String>) -> Response {
    let Some(lesson) = LESSONS.iter().find(|lesson| lesson.name == name) else {
        let names: Vec<&str> = LESSONS.iter().map(|lesson| lesson.name).collect();
        let (name, names) = (name.escape_debug(), names.join(", "));
        let why = format!("no lesson is called '{name}'; there are {names}");
        return reply::error(StatusCode::NOT_FOUND, why);
    };
    match RunRequest::of_toml(lesson.text).choose(app.program.as_ref()) {
        Ok(chosen) => reply::json(&json!({
            "name": lesson.name,
            "title": lesson.title,
            "beside": lesson.beside,
            "about": chosen.scenario.about,
            "toml": lesson.text,
            "scenario": chosen.to_json(),
            "captions": chosen.scenario.captions.iter().map(caption).collect::<Vec<_>>(),
            "outcome": chosen.scenario.outcome,
        })),
        Err(why) => reply::error(StatusCode::INTERNAL_SERVER_ERROR, why),
    }
}
