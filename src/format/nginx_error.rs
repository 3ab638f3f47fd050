//! The error log of nginx and its relatives: what it says about the next hop.
//!
//! Tells nothing about exchanges that went well: those stand in the access log.

use nom::{
    Parser,
    branch::alt,
    bytes::complete::{tag, take_till, take_until},
    character::complete::{alpha1, digit1},
    combinator::{opt, recognize, rest, verify},
    sequence::{delimited, preceded, separated_pair, terminated},
};

use super::{
    Format, Head, any_line,
    grammar::{NO_MATCH, Parsed, before, stamp, word},
};
use crate::{
    event::{Access, CallKey, Event, Keys, Kind, Pairs, Remark, RemarkKind, Upstream, Witness},
    frame::Framing,
    netloc::{self, Target},
    record::{Record, Sink},
    time::{self, Stamp},
};

/// The format.
pub static FORMAT: Format = Format {
    name: "nginx-error",
    title: "Error log of nginx (also OpenResty, Kong, ingress-nginx)",
    doc: "## Written by

nginx 1.x and what is built on it: OpenResty, Kong, ingress-nginx.

## A record

`YYYY/MM/DD HH:MM:SS [level] pid#tid: *connection message, client: …, server: …, request: \"…\", upstream: \"…\", host: \"…\"`.
Local time without a zone.

## Proves

`while connecting to upstream`, `while SSL handshaking to upstream`, `could not be resolved`: this dispatch did not reach the
upstream. A timeout, reset or early close while sending the request or reading the answer: the request was sent, in part
or whole. An upstream's answer that was buffered, or denied by ModSecurity in phase 3 or 4, or a script that speaks beside
an upstream: the request was answered behind nginx. Limits and access rules: nothing was forwarded.

A failed dispatch is told as an access without a status. A broken one is told as a remark for POST, and as an access for
other methods, so that a cut event stream (GET) is not taken for a cut call.

## Silent about

Whether nginx tried another upstream afterwards, JSON-RPC ids, sessions. Levels below `error` are read as text, but for an
answer that was buffered.
",
    framing: Framing::Lines,
    json_lines: false,
    gist: None,
    witness: Some(Witness::Proxy),
    sniff,
    decode,
};

fn sniff(head: &Head<'_>) -> bool {
    any_line(head, 8, |text, _| line(text).is_ok())
}

fn decode<'a>(record: &Record<'a>, sink: &mut Sink<'a>) -> bool {
    let Ok((_, line)) = line(record.text) else {
        return false;
    };
    let kind = match line.says() {
        Says::Nothing => Kind::Text(record.text),
        // A line about no request (a resolver at start-up) is about no exchange.
        Says::Unreached | Says::Refused if line.method.is_empty() => Kind::Text(record.text),
        Says::Unreached => Kind::Access(record.arena.alloc(line.access(Upstream::ConnectFailed(line.upstream)))),
        Says::Refused => Kind::Access(record.arena.alloc(line.access(Upstream::None))),
        Says::Broken if line.may_be_a_call() => line.remark(RemarkKind::UpstreamBroken),
        Says::Answered if line.may_be_a_call() => line.remark(RemarkKind::AnswerInspected),
        Says::Answered => Kind::Text(record.text),
        Says::Broken => Kind::Access(record.arena.alloc(line.access(Upstream::Once(line.upstream, 0)))),
    };
    sink.push(Event {
        origin: record.origin,
        at: Some(line.at),
        witness: Some(Witness::Proxy),
        keys: Keys { session: Target::parse(line.target).session(), ..Keys::default() },
        kind,
    });
    true
}

/// What a message proves about the next hop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Says {
    Nothing,
    /// The connection to the upstream failed.
    Unreached,
    /// nginx itself refused the request.
    Refused,
    /// It broke after the request, or a part of it, was sent.
    Broken,
    /// The upstream's answer was held, filtered or inspected.
    Answered,
}

/// A line, taken apart.
#[derive(Clone, Copy, Debug)]
struct Line<'a> {
    at: Stamp,
    level: &'a str,
    /// nginx's own words; nothing in them was written by a client.
    message: &'a str,
    method: &'a str,
    target: &'a str,
    /// Host and port of the upstream; empty where none is named.
    upstream: &'a str,
    host: &'a str,
}

impl<'a> Line<'a> {
    fn says(&self) -> Says {
        let has = |words: &[&str]| words.iter().any(|word| self.message.contains(word));
        // nginx names an upstream from the moment it is chosen: a script that speaks then is a filter of the answer.
        let script = !self.upstream.is_empty() && SCRIPTS.iter().any(|start| self.message.contains(start));
        if has(&ANSWERED) || script && !has(&UNREACHED) && !has(&BROKEN) {
            Says::Answered
        } else if !matches!(self.level, "error" | "crit" | "alert" | "emerg") || has(&["dry run"]) {
            Says::Nothing
        } else if has(&UNREACHED) {
            Says::Unreached
        } else if has(&BROKEN) {
            Says::Broken
        } else if has(&REFUSED) {
            Says::Refused
        } else {
            Says::Nothing
        }
    }

    /// Only a POST carries a call; a line without a request may be about one.
    fn may_be_a_call(&self) -> bool {
        matches!(self.method, "POST" | "")
    }

    fn remark(&self, kind: RemarkKind) -> Kind<'a> {
        let name = (!self.upstream.is_empty()).then_some(self.upstream);
        Kind::Remark(Remark { kind, call: CallKey::default(), number: None, name })
    }

    fn access(&self, upstream: Upstream<'a>) -> Access<'a> {
        Access {
            method: self.method,
            host: self.host,
            path: Target::parse(self.target).path,
            status: 0,
            upstream,
            mcp_method: None,
            mcp_name: None,
            started: None,
            pairs: Pairs::default(),
            failed: true,
            took: None,
            nameless: false,
            probe: false,
        }
    }
}

const LEVELS: [&str; 8] = ["debug", "info", "notice", "warn", "error", "crit", "alert", "emerg"];
const UNREACHED: [&str; 4] = [
    "while connecting to upstream",
    "while SSL handshaking to upstream",
    "could not be resolved",
    "no resolver defined to resolve",
];
const BROKEN: [&str; 3] =
    ["while sending request to upstream", "while reading response header from upstream", "while reading upstream"];
/// At any level. `ModSecurity` looks at the answer's headers in phase 3 and at its body in phase 4.
const ANSWERED: [&str; 3] = ["(phase 3)", "(phase 4)", "upstream response is buffered"];
/// How njs and the Lua module begin their lines.
const SCRIPTS: [&str; 2] = ["js: ", "[lua]"];
const REFUSED: [&str; 4] =
    ["client intended to send too large body", "limiting requests", "limiting connections", "access forbidden by rule"];

/// `YYYY/MM/DD HH:MM:SS [level] pid#tid: message, client: …, request: "…", upstream: "…", host: "…"`.
fn line(text: &str) -> Parsed<'_, Line<'_>> {
    let (text, at) = date(text)?;
    let level = delimited(tag(" ["), verify(alpha1, |level: &str| LEVELS.contains(&level)), tag("] "));
    let process = (digit1, tag("#"), digit1, tag(": "));
    let message = alt((take_until(", client: "), rest));
    let (context, (level, _, message)) = (level, process, message).parse(text)?;
    let (after, (method, target)) = match before(", request: \"").parse(context) {
        // A request that cannot be read may hide anything: what follows it is not trusted.
        Ok((text, _)) => request(text).unwrap_or_default(),
        Err(_) => (context, ("", "")),
    };
    // Host and referrer come from the client and stand behind the upstream.
    let (client, ours) = alt((take_until(", host: \""), rest)).parse(after)?;
    let (host, upstream) = (field(", host: \"", client), address(field("upstream: \"", ours)));
    Ok(("", Line { at, level, message, method, target, upstream, host }))
}

fn date(text: &str) -> Parsed<'_, Stamp> {
    match text.as_bytes() {
        [_, _, _, _, b'/', _, _, _, _, _, b' ', ..] => stamp(time::leading).parse(text),
        _ => Err(NO_MATCH),
    }
}

/// Method and target of `POST /mcp HTTP/1.1"`. A target holds no blank, so a client cannot end it early.
fn request(text: &str) -> Parsed<'_, (&str, &str)> {
    let version = (tag(" HTTP/"), before("\""));
    terminated(separated_pair(verify(word, netloc::is_method), tag(" "), word), version).parse(text)
}

/// What stands behind `name`, up to the quote; empty where `name` is not there.
fn field<'a>(name: &'static str, text: &'a str) -> &'a str {
    let value: Parsed<'a, _> = preceded(before(name), take_till(|c| c == '"')).parse(text);
    value.map_or("", |(_, value)| value)
}

/// `http://127.0.0.1:23099/mcp` without scheme and path; `http://unix:/run/app.sock:/mcp` keeps its socket.
fn address(url: &str) -> &str {
    let socket = recognize((tag("unix:"), alt((take_until(":"), rest))));
    let address: Parsed<'_, _> = preceded(opt(before("://")), alt((socket, take_till(|c| c == '/')))).parse(url);
    address.map_or("", |(_, address)| address)
}

#[cfg(test)]
mod tests {
    use bumpalo::Bump;

    use super::*;
    use crate::{format, time::Shape};

    const SAMPLE: &str = include_str!("../../samples/formats/nginx-error/input.log");

    fn kinds<'a>(text: &'a str, arena: &'a Bump) -> Vec<Kind<'a>> {
        format::decode_lines(Some(&FORMAT), text, arena).events.iter().map(|event| event.kind).collect()
    }

    fn error<'a>(message: &str, request: &str, arena: &'a Bump) -> Kind<'a> {
        let text = format!(
            "2026/11/30 03:08:18 [error] 7#7: *3 {message}, client: 127.0.0.1, server: , request: \"{request}\", upstream: \"http://10.0.0.1:80/mcp\", host: \"h:1\""
        );
        kinds(arena.alloc_str(&text), arena)[0]
    }

    #[test]
    fn the_sample_keeps_streams_and_calls_apart() {
        let arena = Bump::new();
        let kinds = kinds(SAMPLE, &arena);
        assert!(matches!(kinds[0], Kind::Text(_)), "a notice proves nothing");
        let Kind::Access(stream) = kinds[1] else { panic!("{:?}", kinds[1]) };
        assert_eq!((stream.method, stream.path, stream.status, stream.failed), ("GET", "/mcp", 0, true));
        assert_eq!(stream.upstream, Upstream::Once("127.0.0.1:23099", 0));
        let Kind::Remark(broken) = kinds[2] else { panic!("{:?}", kinds[2]) };
        assert_eq!((broken.kind, broken.name), (RemarkKind::UpstreamBroken, Some("127.0.0.1:23099")));
        let Kind::Access(refused) = kinds[3] else { panic!("{:?}", kinds[3]) };
        assert_eq!((refused.method, refused.host, refused.path), ("POST", "127.0.0.1:26016", "/mcp"));
        assert_eq!(refused.upstream, Upstream::ConnectFailed("127.0.0.1:26015"));
        assert!(matches!(kinds[4], Kind::Text(_)), "the client's own leaving proves nothing");
        let sink = format::decode_lines(Some(&FORMAT), SAMPLE, &arena);
        assert!(sink.events.iter().all(|event| event.at.is_some_and(|at| at.shape == Shape::Local)));
    }

    #[test]
    fn what_was_not_reached_differs_from_what_broke() {
        let arena = Bump::new();
        let post = "POST /mcp HTTP/1.1";
        for message in [
            "upstream timed out (110: Connection timed out) while connecting to upstream",
            "no live upstreams while connecting to upstream",
            "SSL_do_handshake() failed (SSL: error:0A000086) while SSL handshaking to upstream",
            "api.example.test could not be resolved (3: Host not found)",
        ] {
            let Kind::Access(access) = error(message, post, &arena) else { panic!("{message}") };
            assert_eq!(access.upstream, Upstream::ConnectFailed("10.0.0.1:80"), "{message}");
        }
        for message in [
            "upstream timed out (110: Connection timed out) while sending request to upstream",
            "upstream prematurely closed connection while reading response header from upstream",
            "recv() failed (104: Connection reset by peer) while reading response header from upstream",
            "upstream sent too big header while reading response header from upstream",
        ] {
            assert!(
                matches!(error(message, post, &arena), Kind::Remark(Remark { kind: RemarkKind::UpstreamBroken, .. })),
                "{message}"
            );
        }
        let Kind::Access(access) = error("client intended to send too large body: 9 bytes", post, &arena) else {
            panic!()
        };
        assert_eq!((access.upstream, access.failed), (Upstream::None, true));
        let modsecurity = "ModSecurity: Access denied with code 403 (phase 4). Pattern match at RESPONSE_BODY";
        for message in [modsecurity, "js: response filter: blocked result of pay"] {
            assert!(
                matches!(error(message, post, &arena), Kind::Remark(Remark { kind: RemarkKind::AnswerInspected, .. })),
                "{message}"
            );
        }
        for message in ["ModSecurity: Access denied with code 403 (phase 2)", "something else"] {
            assert!(matches!(error(message, post, &arena), Kind::Text(_)), "{message}");
        }
        let get = error(modsecurity, "GET /mcp HTTP/1.1", &arena);
        assert!(matches!(get, Kind::Text(_)), "{get:?}");
        let buffered = "2026/11/30 03:08:18 [warn] 7#7: *3 an upstream response is buffered to a temporary file /x while reading upstream, client: 1, request: \"POST / HTTP/1.1\"";
        let [Kind::Remark(remark)] = kinds(buffered, &arena)[..] else { panic!() };
        assert_eq!(remark.kind, RemarkKind::AnswerInspected);
    }

    #[test]
    fn a_client_cannot_write_the_verdict() {
        let arena = Bump::new();
        let hostile = "POST /,upstream:\"http://evil/while+connecting+to+upstream HTTP/1.1";
        let Kind::Remark(remark) =
            error("upstream timed out while reading response header from upstream", hostile, &arena)
        else {
            panic!()
        };
        assert_eq!(remark.name, Some("10.0.0.1:80"));
        let referrer = "2026/11/30 03:08:18 [error] 7#7: *3 open() \"/x\" failed, client: 1, request: \"GET /x HTTP/1.1\", host: \"h\", referrer: \"http://a/, upstream: \"http://evil while connecting to upstream\"";
        assert!(matches!(kinds(referrer, &arena)[..], [Kind::Text(_)]));
    }

    #[test]
    fn sockets_keep_their_path_and_foreign_lines_are_left() {
        assert_eq!(address("http://unix:/run/app.sock:/mcp"), "unix:/run/app.sock");
        let arena = Bump::new();
        for text in
            ["2026/11/30 03:08:18 hello", "2026/11/30 03:08:18 [error] hello", "2026-11-30 03:08:18 [error] 7#7: x"]
        {
            assert!(line(text).is_err(), "{text}");
            assert!(!sniff(&Head { bytes: text.as_bytes() }));
        }
        assert!(sniff(&Head { bytes: SAMPLE.as_bytes() }));
        for cut in 0..SAMPLE.len() {
            let _ = kinds(&SAMPLE[..cut], &arena);
        }
    }
}
