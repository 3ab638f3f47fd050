//! mitmdump's console: what a proxy says about its connections.
//!
//! Reads no flow file, and joins no flow with its result: the console writes them on two lines without a key.

use nom::{
    Parser,
    branch::alt,
    bytes::complete::{tag, take_until, take_while_m_n},
    combinator::{map, map_opt, opt, rest, value, verify},
    sequence::{delimited, preceded},
};

use super::{
    Format, Head, any_line,
    grammar::{NO_MATCH, Parsed, before, known, space, stamp, word, word_end},
};
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

Where the proxy listens and what it forwards to, and that it connected to the server. How many POSTs it had. A protocol error behind `<<`: an
answer broke off.

## Silent about

Which request a result belongs to, and whether `error establishing server connection` met a request at all: mitmproxy
connects as soon as a client does. `<< Client disconnected.` also ends every event stream that its client no longer wants.
",
    framing: Framing::Lines,
    json_lines: false,
    gist: None,
    witness: Some(Witness::Proxy),
    sniff,
    decode,
};

fn sniff(head: &Head<'_>) -> bool {
    any_line(head, 64, |text, _| line(text).is_ok_and(|(_, line)| line.at.is_some()))
}

fn decode<'a>(record: &Record<'a>, sink: &mut Sink<'a>) -> bool {
    let Ok((_, line)) = line(record.text) else {
        return false;
    };
    let mut push = |kind| {
        let keys = Keys::default();
        sink.push(Event { origin: record.origin, at: line.at, witness: Some(Witness::Proxy), keys, kind });
    };
    match line.says {
        Says::Nothing => push(Kind::Text(record.text)),
        Says::Posts(url) => {
            push(Kind::Mention(Some(netloc::Target::parse(url).path)));
            push(Kind::Text(record.text));
        }
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
    /// A flow that is a POST.
    Posts(&'a str),
    Listens {
        at: &'a str,
        upstream: Option<&'a str>,
    },
    Connected(&'a str),
    Broken,
}

#[derive(Clone, Copy, Debug)]
struct Line<'a> {
    at: Option<Stamp>,
    says: Says<'a>,
}

/// `[HH:MM:SS.mmm][client ip:port] …`, `[HH:MM:SS.mmm] …`; without a stamp a flow or, indented, its result.
fn line(text: &str) -> Parsed<'_, Line<'_>> {
    let at = delimited(tag("["), stamp(time::leading_time_of_day), tag("]"));
    let client = verify(preceded(tag("["), before("] ")), |client: &str| client.contains(':'));
    let connection = preceded(client, connection);
    let console = preceded(tag(" "), console);
    match text.as_bytes().first() {
        Some(b'[') => map((at, alt((connection, console))), |(at, says)| Line { at: Some(at), says }).parse(text),
        Some(b' ') => map(preceded((space, tag("<< ")), result), |says| Line { at: None, says }).parse(text),
        _ => map(flow, |says| Line { at: None, says }).parse(text),
    }
}

/// Lines about one connection of a client.
fn connection(text: &str) -> Parsed<'_, Says<'_>> {
    let connected = preceded(tag("server connect "), word);
    alt((map(connected, Says::Connected), value(Says::Nothing, known(&CONNECTION)))).parse(text)
}

/// `error establishing server connection` names no request, and there need not be one: mitmproxy connects as soon as a
/// client does. Said about a reconnect, it must not clear the call that was open before it.
const CONNECTION: [&str; 7] = [
    "client connect",
    "client disconnect",
    "server disconnect",
    "Streaming re",
    "error establishing server",
    "Client TLS handshake",
    "Server TLS handshake",
];

/// Lines about the proxy itself.
fn console(text: &str) -> Parsed<'_, Says<'_>> {
    let Some((mode, at)) = text.split_once(" listening at ") else {
        return value(Says::Nothing, known(&["Loading script ", "HAR file saved "])).parse(text);
    };
    let upstream = mode.strip_prefix("reverse proxy to ").or_else(|| mode.strip_prefix("Reverse proxy to "));
    if upstream.is_none() && !mode.to_ascii_lowercase().contains("proxy") {
        return Err(NO_MATCH);
    }
    Ok(("", Says::Listens { at: at.strip_suffix('.').unwrap_or(at), upstream }))
}

/// `ip:port: POST http://h/p [HTTP/2.0]`.
fn flow(text: &str) -> Parsed<'_, Says<'_>> {
    let client = verify(before(": "), |client: &str| {
        client.rsplit_once(':').is_some_and(|(_, port)| port.parse::<u16>().is_ok())
    });
    let request = verify(map_opt(rest, netloc::request_line), |(_, url)| url.contains("://"));
    let says = |(method, url)| if method == "POST" { Says::Posts(url) } else { Says::Nothing };
    preceded(client, map(request, says)).parse(text)
}

/// What follows `<<`: `[HTTP/2.0 ]200 OK`, or why there is no status.
fn result(text: &str) -> Parsed<'_, Says<'_>> {
    let version = (tag("HTTP/"), word, tag(" "));
    let status = take_while_m_n(3, 3, |c: char| c.is_ascii_digit());
    // A client that leaves says nothing about the answer; a failed connect has been told by its own line already.
    let told = alt((tag("Client disconnected"), take_until("Connect call failed")));
    alt((
        value(Says::Nothing, (opt(version), status, word_end)),
        value(Says::Nothing, told),
        value(Says::Broken, known(&BROKEN)),
    ))
    .parse(text)
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
        let says = |text| result(text).ok().map(|(_, says)| says);
        assert_eq!(says("HTTP/2.0 200 OK 756b"), Some(Says::Nothing));
        assert_eq!(says("504 Gateway Time-out 167b"), Some(Says::Nothing));
        assert_eq!(says("HTTP/1 protocol error: peer closed connection"), Some(Says::Broken));
        assert_eq!(says("Client disconnected."), Some(Says::Nothing));
        assert_eq!(says("EOF"), None);
    }

    #[test]
    fn other_listeners_and_foreign_lines() {
        let (_, line) = line("[03:06:15.312] HTTP(S) proxy listening at *:8080.").expect("a line");
        assert_eq!(line.says, Says::Listens { at: "*:8080", upstream: None });
        for text in [
            "[03:06:15 INF] hello",
            "[03:06:15.312] hello",
            "[03:06:15.312][worker] client connect",
            "note: GET http://h/",
            "  << hello",
        ] {
            assert!(super::line(text).is_err(), "{text}");
            assert!(!sniff(&Head { bytes: text.as_bytes() }), "{text}");
        }
        assert!(sniff(&Head { bytes: SAMPLE.as_bytes() }));
        for cut in 0..SAMPLE.len() {
            let _ = SAMPLE.get(..cut).map(|text| text.lines().last().map(super::line));
        }
    }
}
