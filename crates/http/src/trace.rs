//! `GET /v1/trace?since=1h`: the member's recent past, one record a line.
//!
//! **Promise.** It is read-only. The answer is made in pieces of at most [`PIECE`] bytes and a
//! record, as the client reads them; all of it is no longer than the member's memory of its past.

use crate::reply;
use crate::routes::Shared;
use axum::body::Body;
use axum::extract::State;
use axum::http::header::HeaderValue;
use axum::response::Response;
use bellwether_core::Duration;
use bellwether_net::Past;
use futures_util::stream;
use hyper::{Method, StatusCode, Uri};
use std::convert::Infallible;

/// How much is made at once.
const PIECE: usize = 16 * 1024;
const LINES: HeaderValue = HeaderValue::from_static("application/x-ndjson");

pub(crate) async fn trace(State(app): Shared, method: Method, uri: Uri) -> Response {
    let last = match since(uri.query()) {
        Ok(last) => last,
        Err(why) => return reply::error(StatusCode::BAD_REQUEST, why),
    };
    match app.handler.past(last) {
        Ok(_) if method != Method::GET => reply::of(StatusCode::OK, LINES, Body::empty()),
        Ok(past) => reply::of(StatusCode::OK, LINES, Body::from_stream(stream::iter(Pieces(past)))),
        Err(why) => reply::unavailable(why),
    }
}

/// How far back; all that is remembered if the question does not say.
fn since(query: Option<&str>) -> Result<Option<Duration>, String> {
    const HOW: &str = "say how far back: ?since=1h, or leave it out";
    let Some(query) = query else { return Ok(None) };
    let shown: String = query.chars().take(64).collect();
    let shown = shown.escape_debug();
    let Some(text) = query.strip_prefix("since=") else { return Err(format!("?{shown}: {HOW}")) };
    text.parse().map(Some).map_err(|_| format!("?{shown}: that is no duration; {HOW}"))
}

/// The records as text.
struct Pieces(Past);

impl Iterator for Pieces {
    type Item = Result<Vec<u8>, Infallible>;

    fn next(&mut self) -> Option<Self::Item> {
        let mut piece = Vec::new();
        while piece.len() < PIECE {
            let Some(record) = self.0.next() else { break };
            // A record is strings and numbers under fixed keys, and a vector takes all bytes.
            if serde_json::to_writer(&mut piece, &record).is_ok() {
                piece.push(b'\n');
            }
        }
        (!piece.is_empty()).then_some(Ok(piece))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn how_far_back_is_a_duration_or_refused_in_a_line() {
        assert_eq!(since(None), Ok(None));
        assert_eq!(since(Some("since=1h")), Ok(Some(Duration::from_secs(3_600))));
        for bad in ["", "since=", "since=x", "since=-1s", "last=1h", "since=1h&x=1", "\n"] {
            let why = since(Some(bad)).unwrap_err();
            assert!(why.lines().count() == 1 && why.contains("?since=1h"), "{why}");
        }
    }
}
