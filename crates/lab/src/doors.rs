//! Who may ask: the host, the origin and the token of a request.
//!
//! **Source.** A page of somebody else, open in the same browser, can send requests to this
//! machine's own addresses. Three things keep it out: the name that it was reached by must be an
//! address or `localhost` (a name that somebody else's server resolves to this machine is neither),
//! a request that another page makes has that page's origin, and the token is known to none but
//! whoever started the server.
//!
//! **Promise.** Without the token nothing is computed, started or ended. Static files say nothing,
//! and need none.

use crate::reply;
use axum::http::HeaderValue;
use axum::http::header::{AUTHORIZATION, HOST, HeaderMap, HeaderName, ORIGIN, WWW_AUTHENTICATE};
use axum::response::Response;
use bellwether_http::Token;
use hyper::{StatusCode, Uri};
use std::net::IpAddr;

const SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// What the server knows of those who may ask.
#[derive(Clone, Debug)]
pub(crate) struct Doors {
    pub(crate) token: Token,
    pub(crate) port: u16,
    /// Other names that it may be reached by.
    pub(crate) hosts: Vec<String>,
}

impl Doors {
    /// Why a request is refused, if it is.
    pub(crate) fn refusal(&self, uri: &Uri, headers: &HeaderMap) -> Option<Response> {
        let text = |name: &HeaderName| headers.get(name).and_then(|value| value.to_str().ok());
        let forbidden = |why: String| Some(reply::error(StatusCode::FORBIDDEN, why));
        let host = text(&HOST).unwrap_or_default();
        if !self.is_ours(host) {
            return forbidden(format!(
                "the host '{}' is not ours: use the address that was printed at the start, or \
                 start with the name that you use",
                shown(host)
            ));
        }
        let origin = text(&ORIGIN);
        let foreign = origin.is_some_and(|origin| origin != format!("http://{host}"));
        let site = text(&SITE).is_some_and(|site| site == "cross-site" || site == "same-site");
        if foreign || (site && uri.path().starts_with("/api/")) {
            let origin = origin.unwrap_or("another page");
            return forbidden(format!("the origin '{}' may not ask this server", shown(origin)));
        }
        if !uri.path().starts_with("/api/") {
            return None;
        }
        let given = headers.get(AUTHORIZATION).map(HeaderValue::as_bytes);
        let token = given.and_then(|given| {
            let (scheme, token) = given.split_at_checked(7)?;
            scheme.eq_ignore_ascii_case(b"bearer ").then_some(token.trim_ascii())
        });
        if token.is_some_and(|token| self.token.is(token)) {
            return None;
        }
        let why = "the header Authorization must be: Bearer TOKEN, with the token of the address \
                   that was printed at the start";
        let mut refused = reply::error(StatusCode::UNAUTHORIZED, why);
        refused.headers_mut().insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        Some(refused)
    }

    /// Whether this host is an address, `localhost` or one of the names that were given.
    fn is_ours(&self, host: &str) -> bool {
        let (name, port) = match host.rsplit_once(':') {
            Some((name, port)) if !name.is_empty() && !port.ends_with(']') => {
                (name, port.parse().ok())
            }
            _ => (host, Some(80)),
        };
        let bare = name.trim_start_matches('[').trim_end_matches(']');
        let known = bare == "localhost"
            || bare.parse::<IpAddr>().is_ok()
            || self.hosts.iter().any(|own| own.eq_ignore_ascii_case(name));
        known && port == Some(self.port)
    }
}

/// What a refusal shows of a header.
fn shown(text: &str) -> String {
    text.chars().take(64).flat_map(char::escape_debug).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_and_localhost_are_ours_and_other_names_are_not() {
        let token = Token::of("0123456789abcdef");
        let doors = Doors { token, port: 7481, hosts: vec!["lab.example".to_owned()] };
        for host in ["127.0.0.1:7481", "localhost:7481", "[::1]:7481", "Lab.example:7481"] {
            assert!(doors.is_ours(host), "{host}");
        }
        for host in [
            "127.0.0.1",
            "127.0.0.1:7482",
            "evil.example:7481",
            "localhost.evil.example:7481",
            "",
            ":7481",
            "[::1]",
        ] {
            assert!(!doors.is_ours(host), "{host}");
        }
    }
}
