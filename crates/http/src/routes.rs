//! The paths, and what is answered at each.
//!
//! **Promise.** `/leader` answers 200 only if the lease lasts for [`MARGIN`] longer, at the moment
//! the answer is made and by the member's clock. Whatever names the leader is noted as told first.
//! Requests that are not understood are refused in one line, and change nothing.

use crate::doors::Doors;
use crate::handler::HttpHandler;
use crate::metrics::{self, Scrape};
use crate::news::News;
use crate::questions::Questions;
use crate::reply;
use crate::token::Token;
use crate::trace::trace;
use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::{Extension, Request, State};
use axum::http::header::{ACCEPT, AUTHORIZATION, CONNECTION, CONTENT_LENGTH, WWW_AUTHENTICATE};
use axum::http::header::{HeaderMap, HeaderName, HeaderValue, RETRY_AFTER};
use axum::middleware::{Next, from_fn};
use axum::response::Response;
use axum::routing::{get, post};
use bellwether_core::{Duration, Instant, NodeId, Term};
use bellwether_net::clock::{BootTime, Clock};
use bellwether_net::control::ControlHandler;
use bellwether_net::{Role, Snapshot};
use hyper::{Method, StatusCode, Uri};
use serde::Deserialize;
use serde_json::json;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::Semaphore;
use tokio::time::timeout;

/// The least time for which the lease must go on if the answer is "it leads".
pub const MARGIN: Duration = Duration::from_millis(10);
/// The most bytes of a request's body.
pub const BODY_MAX: usize = 4096;
/// How long the body of a request may take.
const PATIENCE: std::time::Duration = std::time::Duration::from_secs(5);
/// The most requests to resign that wait.
pub(crate) const CHANGES_MAX: usize = 4;
/// The most characters of a path that nobody knows, which its refusal shows.
const SHOWN: usize = 64;
/// When a client that was turned away may come back, in seconds.
const LATER: &str = "5";

const REMAINING: HeaderName = HeaderName::from_static("bellwether-remaining-ms");
const TERM: HeaderName = HeaderName::from_static("bellwether-term");
const LAST_EVENT: HeaderName = HeaderName::from_static("last-event-id");

/// What all requests share.
pub(crate) struct App {
    pub(crate) handler: Arc<dyn HttpHandler>,
    pub(crate) token: Arc<Mutex<Option<Token>>>,
    pub(crate) news: Arc<News>,
    pub(crate) questions: Questions,
    pub(crate) doors: Arc<Doors>,
    pub(crate) changes: Arc<Semaphore>,
}

pub(crate) type Shared = State<Arc<App>>;

/// Where a request comes from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Origin {
    /// The number of its connection.
    pub(crate) number: u64,
    /// Whether only the member's user and root can have sent it.
    pub(crate) private: bool,
}

/// All paths.
pub(crate) fn router(app: Arc<App>) -> Router {
    Router::new()
        .route("/", get(name).options(name))
        .route("/leader", get(leader).options(leader))
        .route("/replica", get(replica).options(replica))
        .route("/livez", get(livez).options(livez))
        .route("/readyz", get(readyz).options(readyz))
        .route("/metrics", get(page).options(page))
        .route("/v1/status", get(status).options(status))
        .route("/v1/members", get(members).options(members))
        .route("/v1/events", get(events))
        .route("/v1/trace", get(trace).options(trace))
        .route("/v1/resign", post(resign))
        .route("/v1/transfer", post(transfer))
        .method_not_allowed_fallback(bad_method)
        .fallback(unknown)
        .layer(from_fn(without_body))
        .with_state(app)
}

/// The answer to OPTIONS has the code of GET, and nothing else.
async fn without_body(request: Request, next: Next) -> Response {
    let asks = request.method() != Method::OPTIONS;
    let mut response = next.run(request).await;
    if !asks {
        *response.body_mut() = Body::empty();
        response.headers_mut().remove(CONTENT_LENGTH);
    }
    response
}

async fn unknown(uri: Uri) -> Response {
    let path: String = uri.path().chars().take(SHOWN).collect();
    reply::error(
        StatusCode::NOT_FOUND,
        format!(
            "there is no {}; there are /, /leader, /replica, /livez, /readyz, /metrics, \
             /v1/status, /v1/members, /v1/events, /v1/trace, /v1/resign and /v1/transfer",
            path.escape_debug()
        ),
    )
}

async fn bad_method(method: Method, uri: Uri) -> Response {
    let why = format!("{method} is not for {}; the header Allow says what is", uri.path());
    reply::error(StatusCode::METHOD_NOT_ALLOWED, why)
}

/// The leader as the Kubernetes sidecar names it.
async fn name(State(app): Shared) -> Response {
    let leader = |standing: Snapshot| standing.leaders.first().map(|leader| leader.0.to_string());
    match app.handler.standing() {
        Ok(standing) => {
            let me = standing.me.0;
            let mut said = json!({ "name": leader(standing).unwrap_or_default() });
            if let Some(name) = app.handler.name() {
                said["member"] = json!({ "id": me, "name": name });
            }
            reply::json(StatusCode::OK, &said)
        }
        Err(why) => reply::unavailable(why),
    }
}

/// Whether the member has this role at an instant, and how long its lease lasts from then on. In
/// the last [`MARGIN`] of a lease it has not: the answer must still hold when it is used.
fn has(standing: &Snapshot, wanted: Role, now: Instant) -> (bool, Option<Duration>) {
    let remaining = standing.remaining().map(|_| standing.until.since(now));
    let lasts = remaining.is_none_or(|remaining| remaining > MARGIN);
    (standing.role() == wanted && lasts, remaining)
}

/// The role of the member if it is this one, for load balancers.
fn role(app: &App, wanted: Role) -> Response {
    // What is about to be told is noted, and then the time is read.
    let standing = match app.handler.standing() {
        Ok(standing) => standing,
        Err(why) => return reply::unavailable(why),
    };
    let (is, remaining) = has(&standing, wanted, BootTime.now());
    let role = standing.role();
    let code = if is { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    let millis = remaining.map(|remaining| remaining.as_nanos() / 1_000_000);
    let term = standing.term.map(Term::number);
    let leaders: Vec<u64> = standing.leaders.iter().map(|leader| leader.0).collect();
    let said = json!({
        "role": role.name(), "leaders": leaders, "term": term, "remaining_ms": millis,
    });
    let mut response = reply::json(code, &said);
    if is {
        for (header, value) in [(REMAINING, millis), (TERM, term)] {
            if let Some(value) = value {
                response = reply::with(response, header, &value.to_string());
            }
        }
    }
    response
}

async fn leader(State(app): Shared) -> Response {
    role(&app, Role::Leader)
}

async fn replica(State(app): Shared) -> Response {
    role(&app, Role::Follower)
}

/// Whether the member's thread answers. One that is still joining lives.
async fn livez(State(app): Shared) -> Response {
    if app.handler.changes().is_none() {
        return reply::json(StatusCode::OK, &json!({ "live": true, "joined": false }));
    }
    match app.questions.status().await {
        Ok(_) => reply::json(StatusCode::OK, &json!({ "live": true, "joined": true })),
        Err(why) => reply::unavailable(why),
    }
}

/// Whether it knows who leads, and no check fails that keeps it from leading.
async fn readyz(State(app): Shared) -> Response {
    match app.handler.standing() {
        Ok(standing) => {
            let role = standing.role();
            let why = app.handler.unready();
            let ready = matches!(role, Role::Leader | Role::Follower) && why.is_none();
            let code = if ready { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
            let mut said = json!({ "ready": ready, "role": role.name() });
            if let Some(why) = why {
                said["why"] = json!(why);
            }
            reply::json(code, &said)
        }
        Err(why) => reply::unavailable(why),
    }
}

async fn status(State(app): Shared) -> Response {
    match app.questions.status().await {
        Ok(status) => reply::json(StatusCode::OK, &status),
        Err(why) => reply::unavailable(why),
    }
}

async fn members(State(app): Shared) -> Response {
    match app.questions.status().await {
        Ok(status) => reply::json(StatusCode::OK, &status.members),
        Err(why) => reply::unavailable(why),
    }
}

/// In the format of OpenMetrics if the client takes it, and otherwise in that of Prometheus.
async fn page(State(app): Shared, headers: HeaderMap) -> Response {
    let status = match app.questions.status().await {
        Ok(status) => status,
        Err(why) => return reply::unavailable(why),
    };
    let standing = match app.handler.standing() {
        Ok(standing) => standing,
        Err(why) => return reply::unavailable(why),
    };
    let accepts = headers.get(ACCEPT).and_then(|accepts| accepts.to_str().ok());
    let open = accepts.is_some_and(|accepts| accepts.contains("application/openmetrics-text"));
    let scrape = Scrape {
        status: &status,
        standing: &standing,
        now: BootTime.now(),
        history: app.news.history(),
        tallies: app.handler.tallies(),
        open: app.doors.open(),
        turned_away: app.doors.turned_away(),
    };
    let kind = if open { metrics::OPENMETRICS } else { metrics::PROMETHEUS };
    match scrape.page(open) {
        Ok(text) => reply::of(StatusCode::OK, HeaderValue::from_static(kind), text),
        Err(error) => reply::error(StatusCode::INTERNAL_SERVER_ERROR, error.to_string()),
    }
}

async fn events(
    State(app): Shared,
    Extension(origin): Extension<Origin>,
    headers: HeaderMap,
    method: Method,
) -> Response {
    const EVENTS: HeaderValue = HeaderValue::from_static("text/event-stream");
    if method == Method::HEAD {
        return reply::of(StatusCode::OK, EVENTS, Body::empty());
    }
    let Some(place) = app.doors.stream(origin.number) else {
        let why = "there are as many event streams as there may be; try again later";
        return reply::with(reply::unavailable(why), RETRY_AFTER, LATER);
    };
    let last = headers.get(LAST_EVENT).and_then(|last| last.to_str().ok());
    let stream = app.news.stream(Arc::clone(&app.handler), last, place);
    let response = reply::of(StatusCode::OK, EVENTS, Body::from_stream(stream));
    // The connection is a stream's until it ends.
    reply::with(response, CONNECTION, "close")
}

/// Whether a request may change something; the refusal, if not.
fn refusal(app: &App, origin: Origin, headers: &HeaderMap) -> Option<Response> {
    if origin.private {
        return None;
    }
    let token = app.token.lock().unwrap_or_else(PoisonError::into_inner).clone();
    let Some(token) = token else {
        return Some(reply::error(
            StatusCode::FORBIDDEN,
            "what changes something needs a token, and this member has none: give it a token file \
             (http-token), or ask through a Unix socket (http = \"unix:PATH\")",
        ));
    };
    let shown = headers.get(AUTHORIZATION).map(HeaderValue::as_bytes);
    let shown = shown.and_then(|shown| {
        let (scheme, token) = shown.split_at_checked(7)?;
        scheme.eq_ignore_ascii_case(b"bearer ").then_some(token.trim_ascii())
    });
    if shown.is_some_and(|shown| token.is(shown)) {
        return None;
    }
    let why = "the header Authorization must be: Bearer TOKEN, with the token of this member";
    let refused = reply::error(StatusCode::UNAUTHORIZED, why);
    Some(reply::with(refused, WWW_AUTHENTICATE, "Bearer"))
}

/// The body of a request that may change something, or the refusal.
async fn body(app: &App, origin: Origin, request: Request) -> Result<Vec<u8>, Response> {
    if let Some(refused) = refusal(app, origin, request.headers()) {
        return Err(refused);
    }
    let large = || {
        let why = format!("the body of a request has at most {BODY_MAX} bytes");
        reply::error(StatusCode::PAYLOAD_TOO_LARGE, why)
    };
    let length = request.headers().get(CONTENT_LENGTH).and_then(|length| length.to_str().ok());
    if length.and_then(|length| length.parse().ok()).is_some_and(|it: u64| it > BODY_MAX as u64) {
        return Err(large());
    }
    match timeout(PATIENCE, to_bytes(request.into_body(), BODY_MAX)).await {
        Ok(Ok(bytes)) => Ok(bytes.trim_ascii().to_vec()),
        Ok(Err(_)) => Err(large()),
        Err(_) => {
            let why = format!("the body did not come within {} s", PATIENCE.as_secs());
            Err(reply::error(StatusCode::REQUEST_TIMEOUT, why))
        }
    }
}

/// Does what may take a while on another thread, and answers when it is done.
async fn done(
    app: Arc<App>,
    change: impl FnOnce(&dyn HttpHandler) -> Result<(), String> + Send + 'static,
) -> Response {
    let Ok(permit) = Arc::clone(&app.changes).try_acquire_owned() else {
        let why = format!("{CHANGES_MAX} requests wait already; ask again later");
        return reply::with(reply::unavailable(why), RETRY_AFTER, LATER);
    };
    let own = Arc::clone(&app.handler);
    // The permit is kept for as long as the thread, also if the client has gone.
    let work = move || {
        let done = change(own.as_ref());
        drop(permit);
        done
    };
    match tokio::task::spawn_blocking(work).await {
        Ok(Ok(())) => reply::json(StatusCode::OK, &json!({ "done": true })),
        Ok(Err(why)) => reply::error(StatusCode::CONFLICT, why),
        Err(_) => reply::unavailable("it cannot be asked"),
    }
}

async fn resign(
    State(app): Shared,
    Extension(origin): Extension<Origin>,
    request: Request,
) -> Response {
    match body(&app, origin, request).await {
        Ok(bytes) if bytes.is_empty() || bytes == b"{}" => done(app, ControlHandler::resign).await,
        Ok(_) => reply::error(StatusCode::BAD_REQUEST, "to resign takes no body; leave it out"),
        Err(refused) => refused,
    }
}

/// The body of a transfer.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct To {
    to: u64,
}

/// Whom a transfer names; why it names nobody.
fn nominee(query: Option<&str>, body: &[u8]) -> Result<NodeId, String> {
    const HOW: &str = "name the member that leads next: {\"to\":2}, or ?to=2";
    let named = query.map(|query| {
        let id = query.strip_prefix("to=").and_then(|id| id.parse().ok());
        id.ok_or_else(|| format!("?{}: {HOW}", query.escape_debug()))
    });
    let written = (!body.is_empty()).then(|| {
        let to: Result<To, _> = serde_json::from_slice(body);
        to.map(|to| to.to).map_err(|error| format!("the body: {error}; {HOW}"))
    });
    match (named.transpose()?, written.transpose()?) {
        (Some(_), Some(_)) => Err("name the member in the body or as ?to=, not both".to_owned()),
        (Some(id), None) | (None, Some(id)) => Ok(NodeId(id)),
        (None, None) => Err(HOW.to_owned()),
    }
}

async fn transfer(
    State(app): Shared,
    Extension(origin): Extension<Origin>,
    request: Request,
) -> Response {
    let query = request.uri().query().map(str::to_owned);
    let body = match body(&app, origin, request).await {
        Ok(body) => body,
        Err(refused) => return refused,
    };
    match nominee(query.as_deref(), &body) {
        Ok(to) => done(app, move |handler| handler.transfer(to)).await,
        Err(why) => reply::error(StatusCode::BAD_REQUEST, why),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bellwether_core::Stage;

    #[test]
    fn in_the_last_margin_of_a_lease_a_member_has_no_role_any_more() {
        let until = Instant::from_nanos(5_000_000_000);
        let standing = |leader: u64, until: Instant| Snapshot {
            me: NodeId(1),
            leaders: vec![NodeId(leader)],
            term: Term::new(7),
            term_kept: true,
            reign: 1,
            until,
            stage: Stage::Decided,
            withdrawn: None,
            at: Instant::ZERO,
        };
        let nano = Duration::from_nanos(1);
        let before = |left: Duration| Instant::from_nanos(until.as_nanos() - left.as_nanos());
        for (leader, own, other) in
            [(1, Role::Leader, Role::Follower), (2, Role::Follower, Role::Leader)]
        {
            let standing_until = standing(leader, until);
            let says = |now: Instant| has(&standing_until, own, now);
            assert_eq!(says(before(MARGIN + nano)), (true, Some(MARGIN + nano)));
            assert_eq!(says(before(MARGIN)), (false, Some(MARGIN)));
            assert_eq!(says(before(nano)), (false, Some(nano)));
            for late in [until, until + MARGIN] {
                assert_eq!(says(late), (false, Some(Duration::ZERO)), "it is over");
            }
            assert!(!has(&standing_until, other, Instant::ZERO).0);
            let without_lease = standing(leader, Instant::NEVER);
            assert_eq!(has(&without_lease, own, until), (true, None));
        }
    }

    #[test]
    fn a_transfer_names_one_member_once() {
        assert_eq!(nominee(Some("to=2"), b""), Ok(NodeId(2)));
        assert_eq!(nominee(None, b"{\"to\": 2}"), Ok(NodeId(2)));
        for (query, body) in [
            (None, &b""[..]),
            (Some("to=x"), b""),
            (Some("to=-1"), b""),
            (Some("from=2"), b""),
            (Some("to=2"), b"{\"to\":2}"),
            (None, b"{\"to\":\"2\"}"),
            (None, b"{\"to\":2,\"also\":3}"),
            (None, b"{"),
            (None, b"\xff\xfe"),
        ] {
            let why = nominee(query, body).unwrap_err();
            assert_eq!(why.lines().count(), 1, "{why}");
        }
    }
}
