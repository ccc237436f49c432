//! The form of answers: JSON, also if something is wrong; that is said in one line.

use axum::body::Body;
use axum::http::HeaderValue;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE, RETRY_AFTER};
use axum::response::Response;
use hyper::StatusCode;
use serde::Serialize;
use std::fmt::Display;

const JSON: HeaderValue = HeaderValue::from_static("application/json");
/// What is computed anew is not kept, and neither is a page that the next release changes.
const FRESH: HeaderValue = HeaderValue::from_static("no-store");
/// When whoever was turned away may come back, in seconds.
const LATER: HeaderValue = HeaderValue::from_static("1");

/// An answer with a body of this type.
pub(crate) fn of(status: StatusCode, kind: HeaderValue, body: impl Into<Body>) -> Response {
    let mut response = Response::new(body.into());
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, kind);
    response.headers_mut().insert(CACHE_CONTROL, FRESH);
    response
}

/// A value as one line of JSON.
pub(crate) fn json(value: &impl Serialize) -> Response {
    let line = serde_json::to_string(value).unwrap_or_default() + "\n";
    of(StatusCode::OK, JSON, line)
}

/// What is wrong, in one line also if it quotes something of more lines.
pub(crate) fn one_line(why: impl Display) -> String {
    let why = why.to_string();
    if !why.contains(char::is_control) {
        return why;
    }
    let shown = |c: char| if c.is_control() { c.escape_debug().to_string() } else { c.to_string() };
    why.chars().map(shown).collect()
}

/// What is wrong.
pub(crate) fn error(status: StatusCode, why: impl Display) -> Response {
    let said = serde_json::json!({ "error": one_line(why) });
    of(status, JSON, said.to_string() + "\n")
}

/// A request that is understood and breaks a rule.
pub(crate) fn refused(why: impl Display) -> Response {
    error(StatusCode::UNPROCESSABLE_ENTITY, why)
}

/// Too much is asked at once.
pub(crate) fn busy(why: impl Display) -> Response {
    let mut response = error(StatusCode::SERVICE_UNAVAILABLE, why);
    response.headers_mut().insert(RETRY_AFTER, LATER);
    response
}
