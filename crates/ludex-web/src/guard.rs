//! Who may ask, and what browsers may do with the answers.
//!
//! A page of another site must neither read nor change anything here, also when its name is made to
//! point to this machine. So a request must name this server as its host and, if it changes
//! anything, come from this page: it carries a header that other sites cannot set without asking.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::header::{self, HeaderName, HeaderValue};
use axum::http::{HeaderMap, Method, StatusCode, Uri};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use crate::app::App;
use crate::handlers::refusal_response;

/// The header of requests that change something.
pub(crate) const HEADER: &str = "x-ludex";
/// The cookie with the token of the server.
const COOKIE: &str = "ludex-token";

/// What browsers may load: only what this server sends, and no script from anywhere else.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' \
                      data: blob:; connect-src 'self'; base-uri 'none'; form-action 'none'; \
                      frame-ancestors 'none'";

/// Refuses requests that do not come from a page of this server.
pub(crate) async fn guard(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    let token = app.config.token.as_deref();
    let mut response = match admit(request.method(), request.uri(), request.headers(), token) {
        Admission::Yes => next.run(request).await,
        Admission::WithCookie(token) => {
            let cookie = format!("{COOKIE}={token}; HttpOnly; SameSite=Strict; Path=/");
            let moved =
                (StatusCode::SEE_OTHER, [(header::LOCATION, "/"), (header::SET_COOKIE, &cookie)]);
            moved.into_response()
        }
        Admission::No(status, message) => refusal_response(status, message),
    };
    let headers = response.headers_mut();
    let fixed: [(HeaderName, &'static str); 5] = [
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
        (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
        (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    ];
    for (name, value) in fixed {
        headers.insert(name, HeaderValue::from_static(value));
    }
    headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    response
}

#[derive(PartialEq, Eq, Debug)]
enum Admission {
    Yes,
    /// The link with the token was opened: remember the token.
    WithCookie(String),
    No(StatusCode, &'static str),
}

fn admit(method: &Method, uri: &Uri, headers: &HeaderMap, token: Option<&str>) -> Admission {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    let host = text("host").unwrap_or("");
    match token {
        None if !is_loopback(host) => {
            let message = "this server answers only to the name of this machine; open the link \
                           that it printed";
            return Admission::No(StatusCode::FORBIDDEN, message);
        }
        None => {}
        Some(token) => {
            let given = uri.query().and_then(|query| query.strip_prefix("token="));
            if uri.path() == "/" && given.is_some_and(|given| is_same(given, token)) {
                return Admission::WithCookie(token.into());
            }
            let cookies = text("cookie").unwrap_or("").split(';').map(str::trim);
            let mut given = cookies.filter_map(|it| it.strip_prefix(COOKIE)?.strip_prefix('='));
            if !given.any(|given| is_same(given, token)) {
                let message = "this server needs its token; open the link that it printed";
                return Admission::No(StatusCode::UNAUTHORIZED, message);
            }
        }
    }
    if method == Method::GET || method == Method::HEAD {
        return Admission::Yes;
    }
    let is_own_origin = |origin: &str| {
        origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://")) == Some(host)
    };
    let is_own_site = text("sec-fetch-site").is_none_or(|site| site == "same-origin");
    let is_own = text("origin").is_none_or(is_own_origin) && is_own_site;
    if !is_own || text(HEADER).is_none() {
        let message = "requests that change something must come from the page of this server";
        return Admission::No(StatusCode::FORBIDDEN, message);
    }
    Admission::Yes
}

/// Whether a host is a name of this machine, with or without a port.
fn is_loopback(host: &str) -> bool {
    let name = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|it| it.is_ascii_digit()) => name,
        _ => host,
    };
    matches!(name, "localhost" | "127.0.0.1" | "[::1]")
}

/// Compares secrets in a time that does not depend on where they differ.
fn is_same(given: &str, wanted: &str) -> bool {
    let differences = given.bytes().zip(wanted.bytes()).fold(0, |sum, (a, b)| sum | (a ^ b));
    given.len() == wanted.len() && differences == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn admitted(method: &str, path: &str, headers: &[(&str, &str)], token: Option<&str>) -> bool {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            let name = HeaderName::from_bytes(name.as_bytes()).expect("a name");
            map.insert(name, HeaderValue::from_str(value).expect("a value"));
        }
        let method = Method::from_bytes(method.as_bytes()).expect("a method");
        admit(&method, &path.parse().expect("a path"), &map, token) == Admission::Yes
    }

    #[test]
    fn only_names_of_this_machine_are_hosts() {
        for host in ["localhost", "localhost:8080", "127.0.0.1:1", "[::1]:80"] {
            assert!(admitted("GET", "/", &[("host", host)], None), "{host}");
        }
        for host in ["evil.example", "evil.example:80", "localhost.evil.example", "", "0.0.0.0"] {
            assert!(!admitted("GET", "/", &[("host", host)], None), "{host}");
        }
    }

    #[test]
    fn other_sites_change_nothing() {
        let (host, own) = (("host", "localhost:80"), (HEADER, "1"));
        assert!(admitted("POST", "/", &[host, own], None));
        assert!(admitted("POST", "/", &[host, own, ("origin", "http://localhost:80")], None));
        assert!(!admitted("POST", "/", &[host], None));
        assert!(!admitted("POST", "/", &[host, own, ("origin", "http://evil.example")], None));
        assert!(!admitted("POST", "/", &[host, own, ("origin", "null")], None));
        assert!(!admitted("POST", "/", &[host, own, ("sec-fetch-site", "cross-site")], None));
        assert!(!admitted("DELETE", "/", &[host], None));
    }

    #[test]
    fn a_token_is_needed_if_there_is_one() {
        let host = ("host", "server.example");
        assert!(!admitted("GET", "/", &[host], Some("abc")));
        assert!(!admitted("GET", "/", &[host, ("cookie", "ludex-token=abd")], Some("abc")));
        assert!(!admitted("GET", "/", &[host, ("cookie", "ludex-token=")], Some("abc")));
        assert!(admitted("GET", "/", &[host, ("cookie", "a=b; ludex-token=abc")], Some("abc")));
        let opened = admit(
            &Method::GET,
            &"/?token=abc".parse().expect("a path"),
            &HeaderMap::new(),
            Some("abc"),
        );
        assert_eq!(opened, Admission::WithCookie("abc".into()));
    }
}
