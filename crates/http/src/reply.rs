//! The form of answers: JSON, one line each, also if something is wrong.

use axum::body::Body;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderName, HeaderValue};
use axum::response::Response;
use hyper::StatusCode;
use serde::Serialize;

const JSON: HeaderValue = HeaderValue::from_static("application/json");
/// An answer about leadership is old a moment later.
const FRESH: HeaderValue = HeaderValue::from_static("no-store");

/// An answer with a body of this type.
pub(crate) fn of(status: StatusCode, kind: HeaderValue, body: impl Into<Body>) -> Response {
    let mut response = Response::new(body.into());
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, kind);
    response.headers_mut().insert(CACHE_CONTROL, FRESH);
    response
}

/// A value as one line of JSON.
pub(crate) fn json(status: StatusCode, value: &impl Serialize) -> Response {
    let line = serde_json::to_string(value).unwrap_or_default() + "\n";
    of(status, JSON, line)
}

/// What is wrong, in a sentence.
pub(crate) fn error(status: StatusCode, why: impl Into<String>) -> Response {
    json(status, &serde_json::json!({ "error": why.into() }))
}

/// The member cannot answer now.
pub(crate) fn unavailable(why: impl Into<String>) -> Response {
    error(StatusCode::SERVICE_UNAVAILABLE, why)
}

/// Adds a header to an answer, if the value can be one.
pub(crate) fn with(mut response: Response, name: HeaderName, value: &str) -> Response {
    if let Ok(value) = HeaderValue::from_str(value) {
        response.headers_mut().insert(name, value);
    }
    response
}
