//! mitmdump's console: what a proxy says about its connections.
//!
//! Reads no flow file, and joins no flow with its result: the console writes them on two lines without a key.

use super::{Format, Head};
use crate::{
    event::{CallKey, Event, Keys, Kind, Remark, RemarkKind, Witness},
    frame::Framing,
    netloc,
    record::{Record, Sink},
    time::{self, Stamp},
};

/// The format.
pub static FORMAT: Format = Format {
    name: "mitmdump",
    title: "Console of mitmdump",
    doc: "## Written by

mitmdump 9 to 11 on stdout.

## A record

`[HH:MM:SS.mmm][client ip:port] server connect host:port`, with local time and no date; a flow as `ip:port: POST http://h/p` and
then, indented, `<< 200 OK 249b` or `<< an error`, both without a stamp.

## Proves

Where the proxy listens and what it forwards to, and that it connected to the server. A protocol error behind `<<`: an
answer broke off.

## Silent about

Which request a result belongs to, and whether `error establishing server connection` met a request at all: mitmproxy
connects as soon as a client does. `<< Client disconnected.` also ends every event stream that its client no longer wants.
",
    framing: Framing::Lines,
    witness: Some(Witness::Proxy),
    sniff,
    decode,
};

fn sniff(head: &Head<'_>) -> bool {
    head.lines()
        .filter_map(|line| std::str::from_utf8(line).ok())
        .any(|line| matches!(Line::parse(line), Some(line) if line.at.is_some()))
}

fn decode<'a>(record: &Record<'a>, sink: &mut Sink<'a>) -> bool {
    let Some(line) = Line::parse(record.text) else {
        return false;
    };
    let mut push = |kind| {
        let keys = Keys::default();
        sink.push(Event { origin: record.origin, at: line.at, witness: Some(Witness::Proxy), keys, kind });
    };
    match line.says {
        Says::Nothing => push(Kind::Text(record.text)),
        Says::Listens { at, upstream } => {
            for address in at.split(" and ").flat_map(|list| list.split(", ")) {
                push(remark(RemarkKind::Listening, address));
            }
            if let Some(upstream) = upstream {
                push(remark(RemarkKind::ForwardsTo, upstream));
            }
        }
        Says::Connected(to) => push(remark(RemarkKind::ForwardsTo, to)),
        Says::Broken => push(Kind::Remark(Remark {
            kind: RemarkKind::StreamBroken,
            call: CallKey::default(),
            number: None,
            name: None,
        })),
    }
    true
}

/// A remark about an address: host and port, without scheme and path.
fn remark(kind: RemarkKind, address: &str) -> Kind<'_> {
    let target = netloc::Target::parse(address);
    let name = if target.host.is_empty() { address } else { target.host };
    let port = name.rsplit_once(':').and_then(|(_, port)| port.parse::<u16>().ok());
    Kind::Remark(Remark { kind, call: CallKey::default(), number: port.map(i64::from), name: Some(name) })
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Says<'a> {
    Nothing,
    Listens { at: &'a str, upstream: Option<&'a str> },
    Connected(&'a str),
    Broken,
}

#[derive(Clone, Copy, Debug)]
struct Line<'a> {
    at: Option<Stamp>,
    says: Says<'a>,
}

impl<'a> Line<'a> {
    fn parse(text: &'a str) -> Option<Self> {
        if let Some(rest) = text.strip_prefix('[') {
            let (at, used) = time::leading_time_of_day(rest.as_bytes())?;
            let rest = rest.get(used..)?.strip_prefix(']')?;
            let says = match rest.strip_prefix('[') {
                Some(rest) => {
                    let (client, rest) = rest.split_once("] ")?;
                    if !client.contains(':') {
                        return None;
                    }
                    connection(rest)?
                }
                None => console(rest.strip_prefix(' ')?)?,
            };
            return Some(Self { at: Some(at), says });
        }
        let says = if text.starts_with(' ') { result(text.trim_start().strip_prefix("<< ")?)? } else { flow(text)? };
        Some(Self { at: None, says })
    }
}

/// Lines about one connection of a client.
fn connection(text: &str) -> Option<Says<'_>> {
    if let Some(to) = text.strip_prefix("server connect ") {
        return Some(Says::Connected(to.split(' ').next()?));
    }
    // `error establishing server connection` names no request, and there need not be one: mitmproxy connects as soon as
    // a client does. Said about a reconnect, it must not clear the call that was open before it.
    let known =
        ["client connect", "client disconnect", "server disconnect", "Streaming re", "error establishing server"];
    let tls = ["Client TLS handshake", "Server TLS handshake"];
    known.iter().chain(&tls).any(|known| text.starts_with(known)).then_some(Says::Nothing)
}

/// Lines about the proxy itself.
fn console(text: &str) -> Option<Says<'_>> {
    if let Some((mode, at)) = text.split_once(" listening at ") {
        let upstream = mode.strip_prefix("reverse proxy to ").or_else(|| mode.strip_prefix("Reverse proxy to "));
        let known = upstream.is_some() || mode.to_ascii_lowercase().contains("proxy");
        return known.then(|| Says::Listens { at: at.strip_suffix('.').unwrap_or(at), upstream });
    }
    let known = ["Loading script ", "HAR file saved "];
    known.iter().any(|known| text.starts_with(known)).then_some(Says::Nothing)
}

/// `ip:port: POST http://h/p [HTTP/2.0]`.
fn flow(text: &str) -> Option<Says<'_>> {
    let (client, rest) = text.split_once(": ")?;
    let (_, port) = client.rsplit_once(':')?;
    let (method, url) = netloc::request_line(rest)?;
    (port.parse::<u16>().is_ok() && netloc::is_method(method) && url.contains("://")).then_some(Says::Nothing)
}

/// What follows `<<`: a status line, or why there is none.
fn result(text: &str) -> Option<Says<'_>> {
    let mut words = text.split(' ');
    let first = words.next().unwrap_or("");
    let status = if first.starts_with("HTTP/") { words.next().unwrap_or("") } else { first };
    let answered = status.len() == 3 && status.bytes().all(|byte| byte.is_ascii_digit());
    // A failed connect has been told by its own line already; a client that leaves says nothing about the answer.
    if answered || text.starts_with("Client disconnected") || text.contains("Connect call failed") {
        return Some(Says::Nothing);
    }
    BROKEN.iter().any(|known| text.starts_with(known)).then_some(Says::Broken)
}

/// How mitmproxy begins the text of an error that met an answer under way.
const BROKEN: [&str; 6] = [
    "HTTP/1 protocol error",
    "HTTP/2 protocol error",
    "HTTP/2 connection closed",
    "HTTP/3 protocol error",
    "Server disconnected",
    "Connection killed",
];

#[cfg(test)]
mod tests {
    use bumpalo::Bump;

    use super::*;
    use crate::{format, time::Shape};

    const SAMPLE: &str = include_str!("../../samples/formats/mitmdump/input.log");

    #[test]
    fn the_sample_names_both_ends_and_the_breaks() {
        let arena = Bump::new();
        let sink = format::decode_lines(Some(&FORMAT), SAMPLE, &arena);
        let told: Vec<_> = sink
            .events
            .iter()
            .filter_map(|event| match event.kind {
                Kind::Remark(remark) => Some((event.origin.record.get(), remark.kind, remark.name, remark.number)),
                _ => None,
            })
            .collect();
        assert_eq!(
            told,
            [
                (2, RemarkKind::Listening, Some("127.0.0.1:23051"), Some(23051)),
                (2, RemarkKind::ForwardsTo, Some("127.0.0.1:23050"), Some(23050)),
                (4, RemarkKind::ForwardsTo, Some("127.0.0.1:23050"), Some(23050)),
                (8, RemarkKind::StreamBroken, None, None),
            ]
        );
        assert!(sink.events.iter().all(|event| event.witness == Some(Witness::Proxy)));
        assert_eq!(sink.events[0].at.map(|at| (at.shape, at.digits)), Some((Shape::TimeOfDay, 3)));
    }

    #[test]
    fn results_are_told_from_errors() {
        assert_eq!(result("HTTP/2.0 200 OK 756b"), Some(Says::Nothing));
        assert_eq!(result("504 Gateway Time-out 167b"), Some(Says::Nothing));
        assert_eq!(result("HTTP/1 protocol error: peer closed connection"), Some(Says::Broken));
        assert_eq!(result("Client disconnected."), Some(Says::Nothing));
        assert_eq!(result("EOF"), None);
    }

    #[test]
    fn other_listeners_and_foreign_lines() {
        let line = Line::parse("[03:06:15.312] HTTP(S) proxy listening at *:8080.").expect("a line");
        assert_eq!(line.says, Says::Listens { at: "*:8080", upstream: None });
        for text in [
            "[03:06:15 INF] hello",
            "[03:06:15.312] hello",
            "[03:06:15.312][worker] client connect",
            "note: GET http://h/",
            "  << hello",
        ] {
            assert!(Line::parse(text).is_none(), "{text}");
            assert!(!sniff(&Head { bytes: text.as_bytes() }), "{text}");
        }
        assert!(sniff(&Head { bytes: SAMPLE.as_bytes() }));
        for cut in 0..SAMPLE.len() {
            let _ = SAMPLE.get(..cut).map(|text| text.lines().last().map(Line::parse));
        }
    }
}
