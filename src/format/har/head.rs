//! What URL and headers of an entry say. Reads the headers in one pass and builds no map; bodies are read elsewhere.

use bumpalo::Bump;
use chrono::DateTime;

use super::behind;
use crate::format::loose::Value;
use crate::{
    base64,
    event::{ContentKind, Upstream},
    jsonrpc,
};

/// The parts of a URL, without credentials and fragment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Url<'a> {
    /// Scheme and authority, lower case; empty where the URL is only a path.
    pub(super) authority: &'a str,
    /// Path without query.
    pub(super) path: &'a str,
    /// Query without its question mark.
    pub(super) query: &'a str,
}

impl<'a> Url<'a> {
    pub(super) fn read(url: &'a str, arena: &'a Bump) -> Self {
        let url = url.split('#').next().unwrap_or("").trim();
        let (front, query) = url.split_once('?').unwrap_or((url, ""));
        let Some(scheme) = front.find("://") else {
            return Self { authority: "", path: front, query };
        };
        let host = scheme + "://".len();
        let path = front[host..].find('/').map_or(front.len(), |slash| host + slash);
        let authority = match front[host..path].rfind('@') {
            Some(at) => arena.alloc_str(&[&front[..host], &front[host + at + 1..path]].concat()),
            None => &front[..path],
        };
        let authority = if authority.bytes().any(|byte| byte.is_ascii_uppercase()) {
            arena.alloc_str(&authority.to_ascii_lowercase())
        } else {
            authority
        };
        Self { authority, path: if path == front.len() { "/" } else { &front[path..] }, query }
    }
}

/// The session id in the query of a URL, as the HTTP+SSE transport (2024-11-05) puts it there: `session_id` (Python
/// SDK) or `sessionId` (TypeScript SDK).
pub(super) fn session_of_query(query: &str) -> Option<&str> {
    query.split('&').filter_map(|pair| pair.split_once('=')).find_map(|(key, value)| {
        (matches!(key, "session_id" | "sessionId" | "sessionid") && !value.is_empty()).then_some(value)
    })
}

/// What the headers of a request say.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Asked<'a> {
    pub(super) session: Option<&'a str>,
    pub(super) revision: Option<&'a str>,
    pub(super) mcp_method: Option<&'a str>,
    pub(super) mcp_name: Option<&'a str>,
    /// `Content-Length`.
    pub(super) length: Option<u64>,
    /// W3C trace id and span.
    pub(super) trace: Option<&'a str>,
    /// `Last-Event-ID` is there.
    pub(super) resumes: bool,
    /// `Accept` names `application/json`.
    pub(super) accepts_json: bool,
    /// `Accept` names `text/event-stream`.
    pub(super) accepts_stream: bool,
    /// A header counts retries of the client's library (`x-stainless-retry-count`).
    pub(super) sent_before: bool,
    /// Headers were recorded at all.
    pub(super) recorded: bool,
}

impl<'a> Asked<'a> {
    pub(super) fn read(headers: Option<Value<'a>>, arena: &'a Bump) -> Self {
        let mut asked = Self::default();
        each(headers, arena, |name, value| {
            asked.recorded = true;
            if is(name, "mcp-session-id") {
                asked.session.get_or_insert(value);
            } else if is(name, "mcp-protocol-version") {
                asked.revision.get_or_insert(value);
            } else if is(name, "mcp-method") {
                asked.mcp_method.get_or_insert(value);
            } else if is(name, "mcp-name") {
                asked.mcp_name.get_or_insert_with(|| plain(value, arena));
            } else if is(name, "content-length") {
                asked.length = value.parse().ok();
            } else if is(name, "traceparent") {
                asked.trace = asked.trace.or_else(|| jsonrpc::trace_context(value));
            } else if is(name, "last-event-id") {
                asked.resumes = true;
            } else if is(name, "accept") {
                let value = value.to_ascii_lowercase();
                asked.accepts_json |= value.contains("application/json");
                asked.accepts_stream |= value.contains("text/event-stream");
            } else {
                asked.sent_before |= behind::repeats(name, value).is_some_and(|count| count > 0);
            }
        });
        asked
    }
}

/// What the headers of an answer say.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Given<'a> {
    pub(super) session: Option<&'a str>,
    pub(super) content: ContentKind,
    /// `Content-Length`.
    pub(super) length: Option<u64>,
    /// `Retry-After`, in milliseconds.
    pub(super) retry_after: Option<u32>,
    /// `WWW-Authenticate` is there.
    pub(super) challenge: bool,
    /// A header names an intermediary.
    pub(super) gateway: bool,
    /// What an intermediary says about its upstream.
    pub(super) upstream: Upstream<'a>,
    /// Milliseconds that somebody behind spent on the request.
    pub(super) spent: Option<f64>,
    /// A header tells of work behind whoever answered.
    pub(super) behind: bool,
}

impl<'a> Given<'a> {
    pub(super) fn read(headers: Option<Value<'a>>, arena: &'a Bump) -> Self {
        let mut given = Self::default();
        let (mut date, mut wait) = (None, None);
        each(headers, arena, |name, value| {
            if is(name, "mcp-session-id") {
                given.session.get_or_insert(value);
            } else if is(name, "content-type") {
                given.content = content_kind(value);
            } else if is(name, "content-length") {
                given.length = value.parse().ok();
            } else if is(name, "retry-after") {
                wait = Some(value);
            } else if is(name, "date") {
                date = Some(value);
            } else if is(name, "www-authenticate") {
                given.challenge = true;
            } else {
                given.gateway |= names_gateway(name, value);
                given.upstream = given.upstream.and(upstream(name, value));
                given.spent = given.spent.into_iter().chain(behind::spent(name, value)).reduce(f64::max);
                given.behind |= behind::in_header(name, value);
            }
        });
        given.retry_after = wait.and_then(|wait| milliseconds(wait, date));
        given
    }
}

/// Calls `take` with every header that has a value, also where they stand as one object instead of a list.
fn each<'a>(headers: Option<Value<'a>>, arena: &'a Bump, mut take: impl FnMut(&'a str, &'a str)) {
    let Some(headers) = headers else { return };
    let mut take = |name: Option<&'a str>, value: Option<&'a str>| {
        if let (Some(name), Some(value)) = (name, value.map(str::trim).filter(|value| !value.is_empty())) {
            take(name.trim(), value);
        }
    };
    for (name, value) in headers.members() {
        take(Some(name), value.text(arena));
    }
    for header in headers.elements() {
        let (mut name, mut value) = (None, None);
        for (key, member) in header.members() {
            match key {
                "name" => name = member.text(arena),
                "value" => value = member.text(arena),
                _ => {}
            }
        }
        take(name, value);
    }
}

fn is(name: &str, wanted: &str) -> bool {
    name.eq_ignore_ascii_case(wanted)
}

/// A mirrored header without its `=?base64?…?=` wrapping (2026-07-28, `basic/transports/streamable-http.mdx`).
fn plain<'a>(value: &'a str, arena: &'a Bump) -> &'a str {
    value
        .strip_prefix("=?base64?")
        .and_then(|inner| inner.strip_suffix("?="))
        .and_then(|inner| base64::decode(inner, arena))
        .and_then(|bytes| std::str::from_utf8(bytes).ok())
        .unwrap_or(value)
}

/// The kind that a media type names.
pub(super) fn content_kind(media_type: &str) -> ContentKind {
    let media_type = media_type.split(';').next().unwrap_or("").trim().to_ascii_lowercase();
    match media_type.as_str() {
        "" | "x-unknown" => ContentKind::Unknown,
        "text/event-stream" => ContentKind::EventStream,
        "text/html" | "application/xhtml+xml" => ContentKind::Html,
        other if other.ends_with("/json") || other.ends_with("+json") => ContentKind::Json,
        _ => ContentKind::Other,
    }
}

/// `Retry-After` (RFC 9110 section 10.2.3): seconds, or a date, which counts from the `Date` of the same answer because
/// only that is of the same clock.
fn milliseconds(wait: &str, date: Option<&str>) -> Option<u32> {
    if let Ok(seconds) = wait.parse::<f64>() {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a cast of a float saturates")]
        return (seconds.is_finite() && seconds >= 0.0).then_some((seconds * 1000.0).round() as u32);
    }
    let until = DateTime::parse_from_rfc2822(wait).ok()?;
    let from = DateTime::parse_from_rfc2822(date?).ok()?;
    Some(u32::try_from((until - from).num_milliseconds().max(0)).unwrap_or(u32::MAX))
}

/// Servers that are nearly always intermediaries, by their `Server` header.
const GATEWAYS: &[&str] = &[
    "nginx",
    "openresty",
    "cloudflare",
    "envoy",
    "istio-envoy",
    "awselb",
    "cloudfront",
    "caddy",
    "traefik",
    "haproxy",
    "varnish",
    "akamaighost",
    "google frontend",
    "gws",
    "kong",
    "apisix",
    "fly/",
    "vercel",
    "microsoft-azure-application-gateway",
];

/// Headers that only intermediaries write.
const GATEWAY_HEADERS: &[&str] = &[
    "via",
    "cf-ray",
    "x-amz-cf-id",
    "x-amz-apigw-id",
    "apigw-requestid",
    "x-vercel-id",
    "fly-request-id",
    "x-azure-ref",
];

/// What a header of the answer says about dispatches to the upstream: `x-kong-upstream-status`, nginx's
/// `$upstream_status` under its usual name (with one status for each attempt), the status that Amazon's API gateway
/// replaced, `$upstream_addr` (one address for each attempt), and counts of retries under any name.
fn upstream<'a>(name: &str, value: &'a str) -> Upstream<'a> {
    if ["x-upstream-status", "x-kong-upstream-status", "x-amzn-remapped-status"].iter().any(|known| is(name, known)) {
        let mut statuses = value.split([',', ':']).map(str::trim).filter(|status| !status.is_empty());
        let (first, last) = (statuses.next(), statuses.next_back());
        let status = last.or(first).and_then(|status| status.parse().ok()).unwrap_or(0);
        return match last {
            None if first == Some("-") => Upstream::None,
            None => Upstream::Once("", status),
            Some(_) => Upstream::Several(status),
        };
    }
    let addresses = is(name, "x-upstream-addr") && value.contains(',');
    if addresses || behind::repeats(name, value).is_some_and(|count| count > 0) {
        return Upstream::Several(0);
    }
    Upstream::Untold
}

fn names_gateway(name: &str, value: &str) -> bool {
    if is(name, "server") {
        return GATEWAYS
            .iter()
            .any(|gateway| value.get(..gateway.len()).is_some_and(|start| start.eq_ignore_ascii_case(gateway)));
    }
    GATEWAY_HEADERS.iter().any(|header| is(name, header))
        || ["x-envoy-", "x-kong-"].iter().any(|start| name.get(..start.len()).is_some_and(|name| is(name, start)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(text: &str) -> (String, String, String) {
        let arena = Bump::new();
        let url = Url::read(text, &arena);
        (url.authority.to_owned(), url.path.to_owned(), url.query.to_owned())
    }

    fn parts(authority: &str, path: &str, query: &str) -> (String, String, String) {
        (authority.to_owned(), path.to_owned(), query.to_owned())
    }

    #[test]
    fn splits_urls() {
        assert_eq!(url("HTTPS://User:pa@ss@API.Test:443/Mcp?a=b/c#d"), parts("https://api.test:443", "/Mcp", "a=b/c"));
        assert_eq!(url("http://[::1]:8000"), parts("http://[::1]:8000", "/", ""));
        assert_eq!(url("http://h?x=http://y"), parts("http://h", "/", "x=http://y"));
        assert_eq!(url("/mcp?x"), parts("", "/mcp", "x"));
        assert_eq!(url("mcp://acme/tools/call/add"), parts("mcp://acme", "/tools/call/add", ""));
    }

    #[test]
    fn finds_the_session_of_the_old_transport() {
        assert_eq!(session_of_query("a=1&session_id=5f"), Some("5f"));
        assert_eq!(session_of_query("sessionId="), None);
    }

    #[test]
    fn reads_request_headers_in_any_case_and_shape() {
        let arena = Bump::new();
        let list = r#"[{"name":"MCP-Session-Id","value":"S1"},{"name":"mcp-session-id","value":"S2"},
            {"value":"=?base64?w6k=?=","name":"Mcp-Name"},{"name":"Accept","value":"Application/JSON"},
            {"name":"accept","value":"text/event-stream"},{"name":"Last-Event-ID","value":"7"},{"name":null},3]"#;
        let asked = Asked::read(Some(Value::read(list)), &arena);
        assert_eq!((asked.session, asked.mcp_name), (Some("S1"), Some("é")));
        assert!(asked.accepts_json && asked.accepts_stream && asked.resumes);
        let asked = Asked::read(Some(Value::read(r#"{"mcp-protocol-version":"2025-11-25"}"#)), &arena);
        assert_eq!(asked.revision, Some("2025-11-25"));
    }

    #[test]
    fn retry_after_is_seconds_or_a_date() {
        let date = Some("Mon, 30 Nov 2026 03:08:11 GMT");
        assert_eq!(milliseconds("2", None), Some(2000));
        assert_eq!(milliseconds("Mon, 30 Nov 2026 03:08:41 GMT", date), Some(30_000));
        assert_eq!(milliseconds("Mon, 30 Nov 2026 03:08:01 GMT", date), Some(0));
        assert_eq!(milliseconds("Mon, 30 Nov 2026 03:08:41 GMT", None), None);
        for wrong in ["-1", "NaN", "soon"] {
            assert_eq!(milliseconds(wrong, date), None, "{wrong}");
        }
    }

    #[test]
    fn tells_intermediaries_from_servers() {
        for (name, value) in [("Server", "nginx/1.22.1"), ("CF-Ray", "8a-FRA"), ("Via", "1.1 x"), ("x-envoy-y", "1")] {
            assert!(names_gateway(name, value), "{name}");
        }
        for (name, value) in
            [("server", "uvicorn"), ("server", "BaseHTTP/0.6 Python/3.11.7"), ("x-request-id", "nginx")]
        {
            assert!(!names_gateway(name, value), "{name}: {value}");
        }
    }
}
