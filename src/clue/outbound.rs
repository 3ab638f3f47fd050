//! Lines in which an HTTP client library tells of its own outbound requests.
//!
//! Claims what the line proves and no more; whether the address is the MCP endpoint itself is decided by correlation.
//! Errors that only a class or an errno names are read by `crash`.

use super::{Clue, scan};
use crate::{
    event::{Kind, Reach, ReachSource, ReachStage, RemarkKind},
    record::{Body, Sink},
};

/// Whole outbound requests in one line.
pub(super) static HTTP: Clue = Clue {
    name: "outbound-http",
    title: "Outbound HTTP requests: httpx, urllib3, requests, undici, Go, go-github",
    doc: "\
## What it means
A client library inside the writing process contacted something. httpx `HTTP Request: POST https://h/p \"HTTP/1.1 200 OK\"` and \
urllib3 `https://h:443 \"POST /p HTTP/1.1\" 201 512` prove an answer. `Starting new HTTPS connection` and undici `connecting to` \
only announce. Go's `Post \"https://h/p\": dial tcp …: connection refused` proves that nothing was sent; `EOF`, `read tcp` and \
`awaiting headers` prove nothing against it. urllib3 `Retrying (Retry(` is a retry that no caller sees.
## How it is recognized
By the library's fixed wording and an address behind an envelope.
## What it is not
Not every address is outside: the same httpx line of a client or bridge is the way to the MCP endpoint. \
httpx logs nothing for a request that failed or timed out: its silence proves nothing.
## What to do
Compare with the log of the service that is named.
",
    needles: &[
        "HTTP Request: ",
        "Starting new HTTP",
        "HTTP/1.1\" ",
        "HTTP/2\" ",
        "Retrying (Retry(",
        "Incremented Retry for (url=",
        "Resetting dropped connection: ",
        "ConnectionPool(host=",
        "sending request to ",
        "received response to ",
        " errored - ",
        "connecting to ",
        "Get \"http",
        "Post \"http",
        "Put \"http",
        "Patch \"http",
        "Delete \"http",
        "Head \"http",
        "GET http",
        "POST http",
        "PUT http",
        "PATCH http",
        "DELETE http",
    ],
    read: read_http,
};

fn read_http<'a>(text: &'a str, body: &Body<'a>, sink: &mut Sink<'a>) -> bool {
    let Some(text) = scan::head(text) else {
        return false;
    };
    let reach =
        httpx(text, body).or_else(|| urllib3(text, body)).or_else(|| undici(text, body)).or_else(|| go(text, body));
    let reach = reach.or_else(|| pool(text, body));
    if let Some(reach) = reach {
        sink.push(body.event(Kind::Reach(reach)));
        return true;
    }
    let retry =
        ["Retrying (Retry(", "Incremented Retry for (url="].iter().any(|words| scan::find(text, words).is_some());
    if retry {
        sink.push(body.event(Kind::Remark(scan::remark(RemarkKind::HiddenRetry))));
    }
    retry
}

fn line(stage: ReachStage, target: &str) -> Reach<'_> {
    Reach::new(stage, ReachSource::LibraryLine, target)
}

/// httpx 0.2x INFO: `HTTP Request: POST https://h/p "HTTP/1.1 200 OK"`.
fn httpx<'a>(text: &'a str, body: &Body<'a>) -> Option<Reach<'a>> {
    let (_, rest) = scan::find(text, "HTTP Request: ")?;
    let (method, rest) = scan::method(rest)?;
    let address = scan::address(rest, body.record.arena)?;
    let status =
        address.rest.trim_start().strip_prefix("\"HTTP/").and_then(|rest| scan::status(rest.split_once(' ')?.1));
    Some(Reach {
        method: Some(method),
        path: address.path,
        status,
        ..line(if status.is_some() { ReachStage::Answered } else { ReachStage::Attempted }, address.target)
    })
}

/// urllib3 DEBUG: `Starting new HTTPS connection (1): h:443`, `https://h:443 "POST /p HTTP/1.1" 201 512`.
fn urllib3<'a>(text: &'a str, body: &Body<'a>) -> Option<Reach<'a>> {
    let arena = body.record.arena;
    if let Some((_, rest)) = scan::find(text, "Starting new HTTP") {
        let (scheme, rest) = rest.split_once(" connection (")?;
        let host = scan::name(rest.split_once("): ")?.1)?;
        let scheme = if scheme == "S" { "https://" } else { "http://" };
        return Some(line(ReachStage::Announced, arena.alloc_str(&[scheme, host].concat())));
    }
    if let Some((_, host)) = scan::find(text, "Resetting dropped connection: ") {
        return Some(line(ReachStage::Announced, scan::name(host)?));
    }
    let at = text.find(" \"").filter(|&at| scan::unquoted(text, at))?;
    let start = text[..at].rfind(' ').map_or(0, |space| space + 1);
    let address = scan::address(&text[start..at], arena).filter(|address| address.rest.is_empty())?;
    let (method, rest) = scan::method(&text[at + 2..])?;
    let (target, rest) = rest.split_once(" HTTP/")?;
    let status = scan::status(rest.split_once("\" ")?.1)?;
    let path = target.split('?').next();
    Some(Reach { method: Some(method), path, status: Some(status), ..line(ReachStage::Answered, address.target) })
}

/// urllib3 and requests errors: `HTTPSConnectionPool(host='h', port=443): Max retries exceeded with url: /p (Caused by …)`.
pub(super) fn pool<'a>(text: &'a str, body: &Body<'a>) -> Option<Reach<'a>> {
    let at = text.find("ConnectionPool(host=")?;
    let scheme = if text[..at].ends_with("HTTPS") { "https://" } else { "http://" };
    let rest = &text[at + "ConnectionPool(host=".len()..];
    let host = scan::quoted(rest)?;
    let port = scan::integer(rest.split_once("port=")?.1)?;
    let target = body.record.arena.alloc_str(&[scheme, host, ":", &port.to_string()].concat());
    let path = rest.split_once("with url: ").and_then(|(_, rest)| scan::word(rest).split('?').next());
    let stage = if let Some(stage) = connection_error(rest) { stage } else { ReachStage::Attempted };
    let retries = text.contains("Retrying (Retry(");
    Some(Reach { path, retries, failed: stage == ReachStage::Attempted, ..line(stage, target) })
}

/// Classes of urllib3 whose name fixes how far the contact got; `None` leaves it open.
fn connection_error(text: &str) -> Option<ReachStage> {
    const NOT_CONNECTED: [&str; 5] = [
        "NewConnectionError",
        "ConnectTimeoutError",
        "NameResolutionError",
        "Failed to establish a new connection",
        "gaierror",
    ];
    if text.contains("too many ") && text.contains(" error responses") {
        return Some(ReachStage::Answered);
    }
    NOT_CONNECTED.iter().any(|class| text.contains(class)).then_some(ReachStage::NotConnected)
}

/// undici with `NODE_DEBUG=undici` or `fetch`.
fn undici<'a>(text: &'a str, body: &Body<'a>) -> Option<Reach<'a>> {
    let arena = body.record.arena;
    for (words, stage) in [
        ("sending request to ", ReachStage::Attempted),
        ("received response to ", ReachStage::Answered),
        ("request to ", ReachStage::Attempted),
    ] {
        let Some((_, rest)) = scan::find(text, words) else { continue };
        let Some((method, rest)) = scan::method(rest) else { continue };
        let Some(address) = scan::address(rest, arena) else { continue };
        let status = address.rest.strip_prefix(" - HTTP ").and_then(scan::status);
        let failed = address.rest.starts_with(" errored - ");
        if words == "request to " && !failed || stage == ReachStage::Answered && status.is_none() {
            continue;
        }
        return Some(Reach { method: Some(method), path: address.path, status, failed, ..line(stage, address.target) });
    }
    let (words, stage) = if text.contains(" errored - ") {
        ("connection to ", ReachStage::NotConnected)
    } else {
        ("connecting to ", ReachStage::Announced)
    };
    let (_, rest) = scan::find(text, words)?;
    let (host, rest) = rest.split_once(" using ")?;
    (rest.starts_with("http") && !host.contains(' ')).then(|| line(stage, host))
}

/// Go's `url.Error`: `Post "https://h/p": dial tcp 10.0.0.1:443: connect: connection refused`; go-github's `GET url: 404 …`.
fn go<'a>(text: &'a str, body: &Body<'a>) -> Option<Reach<'a>> {
    let arena = body.record.arena;
    for (word, method) in [
        ("Get \"", "GET"),
        ("Post \"", "POST"),
        ("Put \"", "PUT"),
        ("Patch \"", "PATCH"),
        ("Delete \"", "DELETE"),
        ("Head \"", "HEAD"),
    ] {
        let Some((_, rest)) = scan::find(text, word) else { continue };
        let Some(address) = scan::address(rest, arena) else { continue };
        let Some(chain) = address.rest.strip_prefix("\": ") else { continue };
        let stage = go_stage(chain);
        let failed = stage == ReachStage::Attempted;
        return Some(Reach { method: Some(method), path: address.path, failed, ..typed(stage, address.target) });
    }
    let at =
        ["GET http", "POST http", "PUT http", "PATCH http", "DELETE http"].iter().find_map(|word| text.find(word))?;
    let (method, rest) = scan::method(text.get(at..).filter(|_| scan::unquoted(text, at))?)?;
    let address = scan::address(rest, arena)?;
    let status = address.rest.trim_start_matches([':', ' ']);
    // `address` takes the colon for the end of a clause.
    let status = scan::status(status).or_else(|| scan::status(rest.split_once(": ")?.1))?;
    Some(Reach {
        method: Some(method),
        path: address.path,
        status: Some(status),
        ..line(ReachStage::Answered, address.target)
    })
}

fn typed(stage: ReachStage, target: &str) -> Reach<'_> {
    Reach::new(stage, ReachSource::TypedError, target)
}

/// How far a Go request got, by the error chain behind its address (`net`, `net/http`).
fn go_stage(chain: &str) -> ReachStage {
    const BEFORE: [&str; 6] = [
        "dial tcp",
        "dial udp",
        "lookup ",
        "x509: ",
        "request canceled while waiting for connection",
        "proxyconnect tcp",
    ];
    if BEFORE.iter().any(|words| chain.starts_with(words) || chain.contains(&[": ", words].concat())) {
        return ReachStage::NotConnected;
    }
    if chain.starts_with("tls: ") || chain.contains("while reading body") {
        return if chain.starts_with("tls: ") { ReachStage::NotConnected } else { ReachStage::Answered };
    }
    ReachStage::Attempted
}

/// Lines that tell one phase of a request each.
pub(super) static PHASES: Clue = Clue {
    name: "outbound-phases",
    title: "Phases of outbound requests: httpcore DEBUG, curl -v",
    doc: "\
## What it means
httpcore (under httpx) and `curl -v` write one line a phase: the connection is tried, the request went out, the answer's head came. \
`connect_tcp.failed` and curl's errors 6, 7 and 35 prove that nothing was sent.
## How it is recognized
httpcore: `connect_tcp.started host='h' port=443`, `send_request_headers.complete`, \
`receive_response_headers.complete return_value=(b'HTTP/1.1', 200, …)`. curl: `*   Trying ip:port...`, `> POST /p HTTP/1.1`, `< HTTP/1.1 200`.
## What it is not
Only the first line of a connection names its target; the others get it where the source connected to one target only. \
A connection that is being tried is a hint.
## What to do
Prefer the httpx line, which names the whole address.
",
    needles: &[
        "connect_tcp.",
        "start_tls.",
        "send_request_headers.",
        "send_request_body.",
        "receive_response_headers.",
        "receive_response_body.",
        "response_closed.",
        "close.started",
        "close.complete",
        "*   Trying ",
        "> POST /",
        "> GET /",
        "> PUT /",
        "> PATCH /",
        "> DELETE /",
        "< HTTP/",
        "curl: (",
    ],
    read: read_phases,
};

fn read_phases<'a>(text: &'a str, body: &Body<'a>, sink: &mut Sink<'a>) -> bool {
    if let Some(found) = curl(text, body) {
        sink.push(body.event(Kind::Reach(found)));
        return true;
    }
    match httpcore(text, body) {
        Some(Some(reach)) => sink.push(body.event(Kind::Reach(reach))),
        // Understood: it adds nothing to its neighbours.
        Some(None) => {}
        None => return false,
    }
    true
}

/// httpcore 0.17 to 2.x DEBUG. The outer `None`: not such a line.
fn httpcore<'a>(text: &'a str, body: &Body<'a>) -> Option<Option<Reach<'a>>> {
    let text = text.trim_start();
    let event = scan::word(text);
    let (step, state) =
        event.rsplit_once('.').filter(|(_, state)| matches!(*state, "started" | "complete" | "failed"))?;
    let rest = text[event.len()..].trim_start();
    Some(match (step, state) {
        ("connect_tcp", "started") => {
            let host = scan::quoted(rest.strip_prefix("host=")?)?;
            let port = scan::integer(rest.split_once(" port=")?.1)?;
            Some(line(ReachStage::Announced, scan::host_port(host, &port.to_string(), body.record.arena)))
        }
        ("connect_tcp" | "start_tls", "failed") => Some(line(ReachStage::NotConnected, "")),
        ("send_request_headers", "complete") => Some(line(ReachStage::Attempted, "")),
        ("receive_response_headers", "failed") => Some(Reach { failed: true, ..line(ReachStage::Attempted, "") }),
        ("receive_response_headers", "complete") => {
            let status = rest.split_once("(b'HTTP/").and_then(|(_, rest)| scan::status(rest.split_once(", ")?.1));
            Some(Reach { status, ..line(ReachStage::Answered, "") })
        }
        (
            "connect_tcp"
            | "start_tls"
            | "send_request_headers"
            | "send_request_body"
            | "receive_response_headers"
            | "receive_response_body"
            | "response_closed"
            | "close",
            _,
        ) => None,
        _ => return None,
    })
}

/// `curl -v` and curl's errors. The lines begin at the first column.
fn curl<'a>(text: &'a str, body: &Body<'a>) -> Option<Reach<'a>> {
    if let Some(rest) = text.strip_prefix("*   Trying ") {
        let address = rest.split("...").next().filter(|address| !address.contains(' '))?;
        return Some(line(ReachStage::Announced, address));
    }
    if let Some(rest) = text.strip_prefix("> ") {
        let (method, rest) = scan::method(rest)?;
        let (target, version) = rest.split_once(' ')?;
        let path = target.split('?').next();
        return version.starts_with("HTTP/").then(|| Reach {
            method: Some(method),
            path,
            ..line(ReachStage::Attempted, "")
        });
    }
    if let Some(rest) = text.strip_prefix("< HTTP/") {
        let status = scan::status(rest.split_once(' ')?.1)?;
        return Some(Reach { status: Some(status), ..line(ReachStage::Answered, "") });
    }
    let (_, rest) = scan::find(text, "curl: (")?;
    let number = scan::integer(rest)?;
    let target = named_target(rest, body);
    Some(match number {
        5..=7 | 35 | 60 => typed(ReachStage::NotConnected, target),
        22 => typed(ReachStage::Answered, target),
        _ => Reach { failed: true, ..typed(ReachStage::Attempted, target) },
    })
}

/// `Failed to connect to h port 443`, `Could not resolve host: h`.
fn named_target<'a>(text: &'a str, body: &Body<'a>) -> &'a str {
    if let Some((_, rest)) = text.split_once("connect to ")
        && let Some((host, rest)) = rest.split_once(" port ")
        && let Some(port) = scan::integer(rest)
    {
        return scan::host_port(host, &port.to_string(), body.record.arena);
    }
    text.split_once("resolve host: ").and_then(|(_, host)| scan::name(host)).unwrap_or("")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        clue::tests::{only, remark_of, told},
        event::Event,
    };

    fn reach_of<'a>(event: &Event<'a>) -> Reach<'a> {
        let Kind::Reach(reach) = event.kind else { panic!("{event:?}") };
        reach
    }

    /// Stage, target, method, path, status of the one contact in a text.
    fn check(
        text: &str,
        stage: ReachStage,
        target: &str,
        method: Option<&str>,
        path: Option<&str>,
        status: Option<u16>,
    ) {
        only(text, |event| {
            let reach = reach_of(event);
            assert_eq!(
                (reach.stage, reach.target, reach.method, reach.path, reach.status),
                (stage, target, method, path, status),
                "{text}"
            );
        });
    }

    #[test]
    fn httpx_proves_an_answer() {
        check(
            "HTTP Request: POST http://127.0.0.1:23128/mcp?x=1 \"HTTP/1.1 200 OK\"",
            ReachStage::Answered,
            "http://127.0.0.1:23128",
            Some("POST"),
            Some("/mcp"),
            Some(200),
        );
    }

    #[test]
    fn urllib3_announces_answers_and_retries() {
        check(
            "Starting new HTTPS connection (1): api.example.test:443",
            ReachStage::Announced,
            "https://api.example.test:443",
            None,
            None,
            None,
        );
        check(
            "https://api.example.test:443 \"POST /v1/issues HTTP/1.1\" 201 512",
            ReachStage::Answered,
            "https://api.example.test:443",
            Some("POST"),
            Some("/v1/issues"),
            Some(201),
        );
        only(
            "Retrying (Retry(total=2, connect=None)) after connection broken by 'RemoteDisconnected('x')': /v1",
            |event| {
                assert_eq!(remark_of(event).kind, RemarkKind::HiddenRetry);
            },
        );
    }

    #[test]
    fn a_pool_error_tells_its_phase() {
        let refused = "HTTPSConnectionPool(host='h', port=443): Max retries exceeded with url: /p?a=1 (Caused by NewConnectionError('<x>: Failed to establish a new connection: [Errno 111] Connection refused'))";
        check(refused, ReachStage::NotConnected, "https://h:443", None, Some("/p"), None);
        only("HTTPConnectionPool(host='h', port=80): Read timed out. (read timeout=5)", |event| {
            let reach = reach_of(event);
            assert_eq!((reach.stage, reach.failed), (ReachStage::Attempted, true));
        });
    }

    #[test]
    fn go_errors_keep_their_phase() {
        for (chain, stage) in [
            ("dial tcp 10.0.0.1:443: connect: connection refused", ReachStage::NotConnected),
            ("dial tcp: lookup h on 10.0.0.2:53: no such host", ReachStage::NotConnected),
            ("read tcp 10.0.0.3:1->10.0.0.1:443: i/o timeout", ReachStage::Attempted),
            ("net/http: request canceled (Client.Timeout exceeded while awaiting headers)", ReachStage::Attempted),
            (
                "net/http: request canceled (Client.Timeout or context cancellation while reading body)",
                ReachStage::Answered,
            ),
            ("EOF", ReachStage::Attempted),
        ] {
            check(&format!("Post \"https://h/p\": {chain}"), stage, "https://h", Some("POST"), Some("/p"), None);
        }
        check(
            "GET https://api.github.com/repos/x: 404 Not Found []",
            ReachStage::Answered,
            "https://api.github.com",
            Some("GET"),
            Some("/repos/x"),
            Some(404),
        );
    }

    #[test]
    fn undici_tells_each_phase() {
        check("connecting to h.test using https:h1", ReachStage::Announced, "h.test", None, None, None);
        check(
            "sending request to POST https://h.test/p",
            ReachStage::Attempted,
            "https://h.test",
            Some("POST"),
            Some("/p"),
            None,
        );
        check(
            "received response to POST https://h.test/p - HTTP 200",
            ReachStage::Answered,
            "https://h.test",
            Some("POST"),
            Some("/p"),
            Some(200),
        );
    }

    #[test]
    fn httpcore_and_curl_tell_phases() {
        check(
            "connect_tcp.started host='127.0.0.1' port=23128 local_address=None timeout=30.0",
            ReachStage::Announced,
            "127.0.0.1:23128",
            None,
            None,
            None,
        );
        check("connect_tcp.failed exception=ConnectError(OSError())", ReachStage::NotConnected, "", None, None, None);
        check(
            "receive_response_headers.complete return_value=(b'HTTP/1.1', 401, b'Unauthorized', [])",
            ReachStage::Answered,
            "",
            None,
            None,
            Some(401),
        );
        told("send_request_body.complete", None, |events| assert!(events.is_empty(), "{events:?}"));
        // Wide blanks before the word: no cut inside a character.
        told("\u{3000}\u{3000}\u{3000}a.failed connect_tcp.", None, |events| assert_eq!(events.len(), 1));
        check("> POST /mcp HTTP/1.1", ReachStage::Attempted, "", Some("POST"), Some("/mcp"), None);
        check(
            "curl: (7) Failed to connect to h port 443 after 1 ms: Couldn't connect to server",
            ReachStage::NotConnected,
            "h:443",
            None,
            None,
            None,
        );
        check("curl: (52) Empty reply from server", ReachStage::Attempted, "", None, None, None);
    }

    #[test]
    fn an_intention_is_no_contact() {
        for text in [
            "Sending email to bob",
            "connecting to the database",
            "will GET http things done",
            "said \"HTTP Request: POST https://h/p\"",
        ] {
            only(text, |event| assert!(matches!(event.kind, Kind::Text(_)), "{event:?}"));
        }
    }
}
