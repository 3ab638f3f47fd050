//! Exceptions, errno texts and deaths of processes: what a class or code proves about a cause or an outbound contact.
//!
//! Reads single texts; the lines of a traceback are joined by `assemble`, which asks [`diagnose`] about its root.

use super::{Clue, outbound, scan};
use crate::{
    event::{
        CallKey, Kind, PhaseEvent, Reach, ReachSource, ReachStage, Remark, RemarkKind, Step, StepDetail, Trouble,
        TroubleKind, Witness,
    },
    record::{Body, Sink},
};

/// Errors inside a line, and deaths.
pub(super) static CLUE: Clue = Clue {
    name: "crash",
    title: "Tracebacks, panics, errno texts, and the deaths of processes",
    doc: "\
## What it means
The root of a traceback is its first block: in `ConnectError` … `The above exception was the direct cause` … `McpError` the first one \
counts. In an exception group the leaves count, never the headline `unhandled errors in a TaskGroup`. A class can fix how far a \
contact got: `ConnectTimeout`, `ConnectError`, `ECONNREFUSED`, `ENOTFOUND` prove that nothing was sent; `ReadTimeout`, \
`RemoteProtocolError`, `ECONNRESET` that something may have been; `HTTPStatusError` that an answer came. `Killed`, `OOMKilled`, \
`Segmentation fault`: the process died with its calls in flight, their effect is unknown.
## How it is recognized
By Python's, Rich's and Node's traceback shapes, Go and Rust panics, and fixed wordings behind an envelope.
## What it is not
`fetch failed` without a cause, `TimeoutError` and `ConnectionError` alone decide nothing. `BrokenPipeError` follows a client that left: \
an effect, rarely a cause.
## What to do
Missing file: check the working directory. Missing variable: clients pass on only a short environment.
",
    needles: &[
        "Killed",
        "Out of memory: ",
        "OOMKilled",
        "code=killed, status=9/KILL",
        "Segmentation fault",
        "core dumped)",
        "JavaScript heap out of memory",
        "Received signal 15",
        "Received SIGTERM",
        "Caught SIGTERM",
        " exited with code ",
        "panic: ",
        " panicked at ",
        "http: panic serving ",
        "connect ECONNREFUSED",
        "connect ETIMEDOUT",
        "connect EHOSTUNREACH",
        "connect ENETUNREACH",
        "getaddrinfo ENOTFOUND",
        "getaddrinfo EAI_AGAIN",
        "read ECONNRESET",
        "write ECONNRESET",
        "socket hang up",
        "UND_ERR_",
        "EADDRINUSE",
        "ddress already in use",
        "Cannot find module '",
        "environment variable",
        "Broken pipe (os error 32)",
    ],
    read,
};

/// What is known about the surroundings of an exception.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Surroundings {
    /// A frame reads the environment (`os.environ`).
    pub environment: bool,
    /// The frames belong to an MCP client's SDK: the contact is the MCP endpoint.
    pub client: bool,
    /// The frames listen on the optional stream of a client: no call is on it.
    pub listening: bool,
}

/// Class and message of the line that ends a traceback: `pkg.mod.ReadTimeout: text`, `KeyError: 'X'`, `Error: write EPIPE`.
pub fn exception(line: &str) -> Option<(&str, &str)> {
    const ENDS: [&str; 9] =
        ["Error", "Exception", "Timeout", "Interrupt", "Exit", "Group", "Disconnected", "Protocol", "Terminated"];
    let line = line.trim_end();
    let (path, message) = line.split_once(": ").unwrap_or_else(|| (line.strip_suffix(':').unwrap_or(line), ""));
    // Node prints its code in brackets: `Error [ERR_MODULE_NOT_FOUND]: text`.
    let path = path.split_once(" [").filter(|(_, code)| code.ends_with(']')).map_or(path, |(path, _)| path);
    let shaped = !path.is_empty() && path.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.'));
    let class = path.rsplit('.').next().unwrap_or(path);
    let named = class.starts_with(|c: char| c.is_ascii_uppercase()) && ENDS.iter().any(|end| class.ends_with(end));
    (shaped && (named || class == "gaierror")).then_some((path, message))
}

/// What an exception tells: its trouble, and the contact that its class or message fixes.
pub fn diagnose<'a>(
    class: &'a str,
    message: &'a str,
    around: Surroundings,
    body: &Body<'a>,
) -> (Trouble<'a>, Option<Reach<'a>>) {
    let reach = outbound::pool(message, body).or_else(|| typed(class, message, body)).or_else(|| errno(message));
    let short = class.rsplit('.').next().unwrap_or(class);
    let (kind, name) = match short {
        "FileNotFoundError" => (TroubleKind::MissingFile, last_quoted(message)),
        "ModuleNotFoundError" => (TroubleKind::MissingModule, last_quoted(message)),
        "ImportError" if message.starts_with("No module named") => (TroubleKind::MissingModule, last_quoted(message)),
        "KeyError" if around.environment => (TroubleKind::MissingEnvironment, scan::quoted(message)),
        "BrokenPipeError" => (TroubleKind::BrokenPipe, None),
        "MemoryError" => (TroubleKind::OutOfMemory, None),
        _ => cause(message, reach.as_ref()),
    };
    (Trouble { kind, class, name }, reach)
}

/// What a message tells whose class is too general.
fn cause<'a>(message: &'a str, reach: Option<&Reach<'a>>) -> (TroubleKind, Option<&'a str>) {
    if message.contains("EADDRINUSE") || message.contains("ddress already in use") {
        return (TroubleKind::AddressInUse, message.rsplit_once("in use").and_then(|(_, rest)| scan::name(rest)));
    }
    if let Some((_, rest)) =
        message.split_once("Cannot find module ").or_else(|| message.split_once("Cannot find package "))
    {
        return (TroubleKind::MissingModule, scan::quoted(rest));
    }
    if let Some(name) = variable(message) {
        return (TroubleKind::MissingEnvironment, name);
    }
    if message.contains("ENOENT: no such file or directory") {
        return (TroubleKind::MissingFile, last_quoted(message));
    }
    if message.contains("write EPIPE") {
        return (TroubleKind::BrokenPipe, None);
    }
    if let Some(reach) = reach.filter(|reach| reach.stage == ReachStage::NotConnected) {
        return (TroubleKind::ConnectFailed, Some(reach.target).filter(|target| !target.is_empty()));
    }
    (TroubleKind::Other, None)
}

fn last_quoted(message: &str) -> Option<&str> {
    let message = message.trim_end();
    let quote = message.chars().last().filter(|quote| matches!(quote, '\'' | '"'))?;
    let inner = &message[..message.len() - 1];
    inner.rfind(quote).map(|at| &inner[at + 1..])
}

/// `X environment variable is required`, `Missing required environment variable: X`, `environment variable X is not set`.
fn variable(text: &str) -> Option<Option<&str>> {
    const MISSING: [&str; 6] = ["required", "not set", "must be set", "missing", "Missing", "not found"];
    let (before, after) = text.split_once("environment variable")?;
    if !MISSING.iter().any(|word| text.contains(word)) {
        return None;
    }
    let found =
        before.split_whitespace().next_back().into_iter().chain(after.split_whitespace()).map(bare).find(|word| {
            word.len() > 2 && word.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_')
        });
    Some(found)
}

fn bare(word: &str) -> &str {
    word.trim_matches(['\'', '"', '`', ':', ',', '.', '(', ')', '$'])
}

/// Exception classes whose name fixes how far a contact got: httpx, httpcore, requests, urllib3, aiohttp, botocore, sockets.
static CLASSES: &[(&str, ReachStage)] = &[
    ("ConnectTimeout", ReachStage::NotConnected),
    ("ConnectError", ReachStage::NotConnected),
    ("PoolTimeout", ReachStage::NotConnected),
    ("UnsupportedProtocol", ReachStage::NotConnected),
    ("NewConnectionError", ReachStage::NotConnected),
    ("NameResolutionError", ReachStage::NotConnected),
    ("ConnectTimeoutError", ReachStage::NotConnected),
    ("ConnectionRefusedError", ReachStage::NotConnected),
    ("gaierror", ReachStage::NotConnected),
    ("ClientConnectorError", ReachStage::NotConnected),
    ("ClientConnectorDNSError", ReachStage::NotConnected),
    ("ClientConnectorCertificateError", ReachStage::NotConnected),
    ("EndpointConnectionError", ReachStage::NotConnected),
    ("SSLCertVerificationError", ReachStage::NotConnected),
    ("WriteTimeout", ReachStage::Attempted),
    ("WriteError", ReachStage::Attempted),
    ("ReadTimeout", ReachStage::Attempted),
    ("ReadError", ReachStage::Attempted),
    ("RemoteProtocolError", ReachStage::Attempted),
    ("ReadTimeoutError", ReachStage::Attempted),
    ("ConnectionClosedError", ReachStage::Attempted),
    ("ServerDisconnectedError", ReachStage::Attempted),
    ("ServerTimeoutError", ReachStage::Attempted),
    ("RemoteDisconnected", ReachStage::Attempted),
    ("ConnectionResetError", ReachStage::Attempted),
    ("HTTPStatusError", ReachStage::Answered),
    ("ClientResponseError", ReachStage::Answered),
    ("HTTPError", ReachStage::Answered),
];

fn typed<'a>(class: &str, message: &'a str, body: &Body<'a>) -> Option<Reach<'a>> {
    let short = class.rsplit('.').next()?;
    let (_, stage) = CLASSES.iter().find(|(name, _)| *name == short)?;
    let address = message.find("http").and_then(|at| scan::address(&message[at..], body.record.arena));
    let (mut status, mut target) = (None, address.map_or("", |address| address.target));
    if *stage == ReachStage::Answered {
        // `Client error '404 Not Found' for url`, `404 Client Error`, `HTTP Error 404: …`, `404, message=…`.
        let digits = ["error '", "HTTP Error ", ""];
        status =
            digits.iter().find_map(|start| scan::status(message.split_once(start).map_or(message, |(_, rest)| rest)));
        status?;
    }
    if let Some((_, rest)) = message.split_once("Cannot connect to host ") {
        target = scan::word(rest);
    }
    let mut reach = Reach::new(*stage, ReachSource::TypedError, target);
    reach.path = address.and_then(|address| address.path);
    reach.status = status;
    reach.failed = *stage == ReachStage::Attempted;
    Some(reach)
}

/// Node's and undici's codes (`connect ECONNREFUSED 127.0.0.1:5432`). A reset or a hang-up may follow a request that was sent.
fn errno(text: &str) -> Option<Reach<'_>> {
    const ROWS: [(&str, ReachStage); 13] = [
        ("connect ECONNREFUSED", ReachStage::NotConnected),
        ("connect ETIMEDOUT", ReachStage::NotConnected),
        ("connect EHOSTUNREACH", ReachStage::NotConnected),
        ("connect ENETUNREACH", ReachStage::NotConnected),
        ("getaddrinfo ENOTFOUND", ReachStage::NotConnected),
        ("getaddrinfo EAI_AGAIN", ReachStage::NotConnected),
        ("UND_ERR_CONNECT_TIMEOUT", ReachStage::NotConnected),
        ("UND_ERR_HEADERS_TIMEOUT", ReachStage::Attempted),
        ("UND_ERR_BODY_TIMEOUT", ReachStage::Answered),
        ("UND_ERR_SOCKET", ReachStage::Attempted),
        ("read ECONNRESET", ReachStage::Attempted),
        ("write ECONNRESET", ReachStage::Attempted),
        ("socket hang up", ReachStage::Attempted),
    ];
    let ((needle, stage), (_, rest)) = ROWS.iter().find_map(|row| Some((row, scan::find(text, row.0)?)))?;
    let named = needle.starts_with("connect ") || needle.starts_with("getaddrinfo ");
    let target = if named { scan::name(rest).unwrap_or("") } else { "" };
    let mut reach = Reach::new(*stage, ReachSource::TypedError, target);
    reach.failed = *stage == ReachStage::Attempted;
    Some(reach)
}

/// Adds a contact, or the remark that it is when the writer is the client: its contact is the MCP endpoint.
pub fn contact<'a>(reach: Reach<'a>, client: bool, body: &Body<'a>, sink: &mut Sink<'a>) {
    if !client {
        sink.push(body.event(Kind::Reach(reach)));
        return;
    }
    let kind = match reach.stage {
        ReachStage::Announced | ReachStage::NotConnected => RemarkKind::ConnectFailed,
        ReachStage::Attempted => RemarkKind::StreamBroken,
        ReachStage::Answered => RemarkKind::HttpStatus,
    };
    let name = Some(reach.target).filter(|target| !target.is_empty());
    let remark = Remark { number: reach.status.map(i64::from), name, ..scan::remark(kind) };
    scan::push_as(Kind::Remark(remark), Some(Witness::Client), body, sink);
}

fn read<'a>(text: &'a str, body: &Body<'a>, sink: &mut Sink<'a>) -> bool {
    let Some(text) = scan::head(text) else {
        return false;
    };
    // The end of a traceback, or an error with its stack: `assemble` sees the whole.
    if exception(text).is_some() || text.starts_with("[cause]: ") {
        return false;
    }
    death(text, body, sink) || exit(text, body, sink) || panic(text, body, sink) || inside(text, body, sink)
}

fn push<'a>(kind: TroubleKind, class: &'a str, name: Option<&'a str>, body: &Body<'a>, sink: &mut Sink<'a>) -> bool {
    sink.push(body.event(Kind::Trouble(Trouble { kind, class, name })));
    true
}

/// An errno, a code or a missing setting inside a line.
fn inside<'a>(text: &'a str, body: &Body<'a>, sink: &mut Sink<'a>) -> bool {
    if let Some(reach) = errno(text) {
        contact(reach, body.witness == Some(Witness::Client), body, sink);
        return true;
    }
    if scan::find(text, "Broken pipe (os error 32)").is_some() {
        return push(TroubleKind::BrokenPipe, "EPIPE", None, body, sink);
    }
    for needle in ["EADDRINUSE", "ddress already in use", "Cannot find module '", "environment variable"] {
        if scan::find(text, needle).is_some() {
            let (kind, name) = cause(text, None);
            return kind != TroubleKind::Other && push(kind, "", name, body, sink);
        }
    }
    false
}

/// Deaths by the operating system, and orders to stop.
fn death<'a>(text: &'a str, body: &Body<'a>, sink: &mut Sink<'a>) -> bool {
    if text.contains("JavaScript heap out of memory") {
        return push(TroubleKind::OutOfMemory, "FATAL ERROR", None, body, sink);
    }
    let mut keys = body.keys;
    let killed = if let Some((_, rest)) = scan::find(text, "Out of memory: Killed process ") {
        keys.pid = scan::integer(rest).and_then(|pid| u32::try_from(pid).ok()).or(keys.pid);
        true
    } else {
        let text = text.trim();
        text == "Killed"
            || text == "Segmentation fault"
            || text.starts_with("Segmentation fault (core dumped)")
            || text.starts_with("Aborted (core dumped)")
            || scan::find(text, "OOMKilled").is_some()
            || scan::find(text, "code=killed, status=9/KILL").is_some()
    };
    let stopping = ["Received signal 15", "Received SIGTERM", "Caught SIGTERM"]
        .iter()
        .any(|words| scan::find(text, words).is_some());
    if killed || stopping {
        let kind = if killed { RemarkKind::Killed } else { RemarkKind::ServerStopping };
        sink.push(Body { keys, ..*body }.event(Kind::Remark(scan::remark(kind))));
    }
    killed || stopping
}

/// `NAME exited with code 137` (docker compose).
fn exit<'a>(text: &'a str, body: &Body<'a>, sink: &mut Sink<'a>) -> bool {
    let Some((_, rest)) = scan::find(text, " exited with code ") else {
        return false;
    };
    let Ok(code) = rest.trim().parse::<i32>() else {
        return false;
    };
    let detail = StepDetail::Exit { code: Some(code), signal: None };
    let step = Step { event: PhaseEvent::Exited, phase: None, call: CallKey::default(), detail };
    sink.push(body.event(Kind::Step(step)));
    true
}

/// Go `panic: text`, `http: panic serving …`; Rust `thread 'main' panicked at src/main.rs:1:2:`.
fn panic<'a>(text: &'a str, body: &Body<'a>, sink: &mut Sink<'a>) -> bool {
    if scan::find(text, "http: panic serving ").is_some() {
        scan::push_as(Kind::Remark(scan::remark(RemarkKind::HandlerRaised)), Some(Witness::Server), body, sink);
        return true;
    }
    let rust = text.starts_with("thread '") && text.contains(" panicked at ");
    (rust || text.starts_with("panic: ")) && {
        let (kind, name) = cause(text, None);
        push(kind, "panic", name, body, sink)
    }
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU32;

    use bumpalo::Bump;

    use super::*;
    use crate::{
        clue::tests::{only, remark_of, told},
        event::{Origin, SourceId},
        record::Record,
    };

    fn diagnosed(line: &str, around: Surroundings, check: impl FnOnce(Trouble<'_>, Option<Reach<'_>>)) {
        let arena = Bump::new();
        let origin = Origin { source: SourceId(0), record: NonZeroU32::MIN, offset: 0 };
        let body = Body::bare(Record { origin, text: line, arena: &arena });
        let (class, message) = exception(line).expect("an exception");
        let (trouble, reach) = diagnose(class, message, around, &body);
        check(trouble, reach);
    }

    #[test]
    fn the_class_tells_what_is_missing() {
        for (line, kind, name) in [
            (
                "FileNotFoundError: [Errno 2] No such file or directory: 'config/server.json'",
                TroubleKind::MissingFile,
                Some("config/server.json"),
            ),
            ("ModuleNotFoundError: No module named 'billing'", TroubleKind::MissingModule, Some("billing")),
            ("Error: Cannot find module '/srv/x.js'", TroubleKind::MissingModule, Some("/srv/x.js")),
            ("Error: listen EADDRINUSE: address already in use :::3000", TroubleKind::AddressInUse, Some(":::3000")),
            (
                "RuntimeError: API_KEY environment variable is required",
                TroubleKind::MissingEnvironment,
                Some("API_KEY"),
            ),
            (
                "ValueError: Missing required environment variable: API_KEY",
                TroubleKind::MissingEnvironment,
                Some("API_KEY"),
            ),
            ("Error: connect ECONNREFUSED 127.0.0.1:5432", TroubleKind::ConnectFailed, Some("127.0.0.1:5432")),
            ("ValueError: ledger is read-only", TroubleKind::Other, None),
        ] {
            diagnosed(line, Surroundings::default(), |trouble, _| {
                assert_eq!((trouble.kind, trouble.name), (kind, name), "{line}");
            });
        }
        let around = Surroundings { environment: true, ..Surroundings::default() };
        diagnosed("KeyError: 'API_KEY'", around, |trouble, _| {
            assert_eq!((trouble.kind, trouble.name), (TroubleKind::MissingEnvironment, Some("API_KEY")));
        });
        diagnosed("KeyError: 'API_KEY'", Surroundings::default(), |trouble, _| {
            assert_eq!(trouble.kind, TroubleKind::Other);
        });
    }

    #[test]
    fn the_class_fixes_how_far_a_contact_got() {
        for (line, stage) in [
            ("httpx.ConnectTimeout", Some(ReachStage::NotConnected)),
            ("httpcore.ConnectError: All connection attempts failed", Some(ReachStage::NotConnected)),
            ("httpx.ReadTimeout", Some(ReachStage::Attempted)),
            (
                "httpx2.RemoteProtocolError: Server disconnected without sending a response.",
                Some(ReachStage::Attempted),
            ),
            ("httpx.HTTPStatusError: Client error '404 Not Found' for url 'https://h/p'", Some(ReachStage::Answered)),
            (
                "requests.exceptions.HTTPError: 404 Client Error: Not Found for url: https://h/p",
                Some(ReachStage::Answered),
            ),
            ("TypeError: fetch failed", None),
            ("TimeoutError", None),
        ] {
            diagnosed(line, Surroundings::default(), |_, reach| {
                assert_eq!(reach.map(|reach| reach.stage), stage, "{line}");
            });
        }
        diagnosed(
            "httpx.HTTPStatusError: Client error '404 Not Found' for url 'https://h/p?x'",
            Surroundings::default(),
            |_, reach| {
                let reach = reach.expect("a contact");
                assert_eq!((reach.status, reach.target, reach.path), (Some(404), "https://h", Some("/p")));
            },
        );
    }

    #[test]
    fn deaths_are_told() {
        only("Killed", |event| assert_eq!(remark_of(event).kind, RemarkKind::Killed));
        only("kernel: Out of memory: Killed process 42 (python)", |event| assert_eq!(event.keys.pid, Some(42)));
        only("web-1 exited with code 137", |event| {
            let Kind::Step(step) = event.kind else { panic!("{event:?}") };
            assert_eq!(step.detail, StepDetail::Exit { code: Some(137), signal: None });
        });
    }

    #[test]
    fn the_same_errno_is_a_remark_of_a_client() {
        only("could not book: connect ECONNREFUSED 10.0.0.1:443", |event| {
            assert!(matches!(event.kind, Kind::Reach(_)));
        });
        told("failed: connect ECONNREFUSED 10.0.0.1:443", Some(Witness::Client), |events| {
            let remark = remark_of(&events[0]);
            assert_eq!((remark.kind, remark.name), (RemarkKind::ConnectFailed, Some("10.0.0.1:443")));
        });
    }

    #[test]
    fn ordinary_sentences_are_left_alone() {
        for text in
            ["the environment variable page", "Killed the old worker", "panic room: booked", "job exited with code red"]
        {
            only(text, |event| assert!(matches!(event.kind, Kind::Text(_)), "{event:?}"));
        }
    }
}
