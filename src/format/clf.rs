//! Access lines in the Common or Combined Log Format, whoever writes them.
//!
//! Does not tell the writers apart: the grammar is the same for a gateway, an MCP server and an outside service.

use nom::{
    Parser,
    branch::alt,
    bytes::complete::{tag, take},
    character::complete::digit0,
    combinator::{map, map_res, opt, rest, value, verify},
    sequence::{delimited, preceded, terminated},
};

use super::{
    Format, Head, any_line,
    grammar::{NO_MATCH, Parsed, before, quoted, space, stamp, word, word_end},
};
use crate::{
    event::{Access, Event, Keys, Kind, Pairs, Upstream, Witness},
    frame::Framing,
    netloc::{self, Target},
    record::{Record, Sink},
    time::{self, SECOND, Stamp, Timestamp},
};

/// The format.
pub static FORMAT: Format = Format {
    name: "common-log",
    title: "Access log in Common or Combined Log Format",
    doc: "## Written by

Apache, nginx, ingress-nginx, Traefik (`common`), Caddy, Python's `http.server` and werkzeug.

## A record

`host ident user [dd/Mon/yyyy:HH:MM:SS +zzzz] \"POST /mcp HTTP/1.1\" status bytes`, then `\"referer\" \"agent\"` and what the
writer adds. ingress-nginx adds lengths, seconds and the upstreams it tried; Apache may begin with the virtual host.

## Proves

The writer had the request and ended the exchange with that status; 499 (nginx) is a client that went away. A `session_id`
in the query of HTTP+SSE names the session. With the fields of ingress-nginx: how often the request was dispatched.

## Silent about

Bodies, headers, JSON-RPC ids; outside of ingress-nginx also the next hop. Whether the stamp is begin or end depends on the writer.
",
    framing: Framing::Lines,
    json_lines: false,
    gist: None,
    witness: None,
    sniff,
    decode,
};

fn sniff(head: &Head<'_>) -> bool {
    any_line(head, 4, |text, _| line(text).is_ok())
}

fn decode<'a>(record: &Record<'a>, sink: &mut Sink<'a>) -> bool {
    let Ok((_, line)) = line(record.text) else {
        return false;
    };
    let mut event = Event {
        origin: record.origin,
        at: Some(line.at),
        witness: None,
        keys: Keys::default(),
        kind: Kind::Text(record.text),
    };
    // Bytes that are no HTTP request (a TLS greeting, a connection that stayed silent) name no exchange.
    if let Some((method, target)) = netloc::request_line(line.request) {
        let target = Target::parse(target);
        let ingress = ingress(line.extras).ok().map(|(_, ingress)| ingress);
        let took = ingress.and_then(|ingress| ingress.took);
        let started = took.map(|took| Stamp { at: Timestamp(line.at.at.0.saturating_sub(took)), ..line.at });
        let access = Access {
            method,
            host: if target.host.is_empty() { line.host } else { target.host },
            path: target.path,
            status: line.status,
            upstream: ingress.map_or(Upstream::Untold, |ingress| ingress.upstream),
            mcp_method: None,
            mcp_name: None,
            started,
            pairs: Pairs::default(),
            failed: matches!(line.status, 0 | 499),
            took,
            nameless: false,
            probe: netloc::is_probe(method, target.path, line.agent),
        };
        event.witness = ingress.map(|_| Witness::Proxy);
        event.keys.session = target.session();
        event.kind = Kind::Access(record.arena.alloc(access));
    }
    sink.push(event);
    true
}

/// A line, taken apart.
#[derive(Clone, Copy, Debug)]
struct Line<'a> {
    /// The virtual host that Apache's `vhost_combined` puts first.
    host: &'a str,
    at: Stamp,
    request: &'a str,
    status: u16,
    /// As quoted.
    agent: &'a str,
    /// What follows the agent.
    extras: &'a str,
}

/// `host ident user [date] "request" status bytes "referer" "agent"`, and what the writer adds.
fn line(text: &str) -> Parsed<'_, Line<'_>> {
    // The cheap check first: other lines have no bracket so early.
    let early = &text.as_bytes()[..text.len().min(256)];
    let (client, text) = text.split_at(memchr::memchr(b'[', early).ok_or(NO_MATCH)?);
    let date = delimited(tag("["), date, tag("] "));
    let request = terminated(quoted, tag(" "));
    let extras = opt(preceded((quoted, space), (quoted, opt(preceded(space, rest)))));
    let (rest, (at, request, status, _, extras)) = (date, request, status, bytes, extras).parse(text)?;
    let (agent, extras) = extras.unwrap_or(("", None));
    let host = host(client).ok_or(NO_MATCH)?;
    Ok((rest, Line { host, at, request, status, agent, extras: extras.unwrap_or("") }))
}

/// The virtual host before `host ident user `; empty where none is written.
fn host(client: &str) -> Option<&str> {
    let client = client.strip_suffix(' ').filter(|client| !client.starts_with(' '))?;
    match client.split(' ').count() {
        0..=2 => None,
        4 => client.split(' ').next(),
        _ => Some(""),
    }
}

/// `30/Nov/2026:10:00:00 +0000`.
fn date(text: &str) -> Parsed<'_, Stamp> {
    match text.as_bytes() {
        [_, _, b'/', _, _, _, b'/', ..] => stamp(time::common_log).parse(text),
        _ => Err(NO_MATCH),
    }
}

/// Three digits, or `-` where nothing was sent.
fn status(text: &str) -> Parsed<'_, u16> {
    terminated(alt((value(0, tag("-")), map_res(take(3_usize), str::parse))), word_end).parse(text)
}

fn bytes(text: &str) -> Parsed<'_, &str> {
    terminated(alt((tag("-"), digit0)), word_end).parse(text)
}

/// What ingress-nginx writes behind the agent: `req_len req_time [proxy] [alt] addr length time status req_id`.
#[derive(Clone, Copy, Debug)]
struct Ingress<'a> {
    took: Option<i64>,
    upstream: Upstream<'a>,
}

fn ingress(text: &str) -> Parsed<'_, Ingress<'_>> {
    let length = map_res(word, str::parse::<u64>);
    let numbers = before(" [").and_then((length, tag(" "), map(rest, nanoseconds)));
    let names = (before("] ["), before("] "));
    let lists = (list, list, list, list);
    let (rest, ((_, _, took), _, ((address, addresses), _, _, (status, statuses)))) =
        (numbers, names, lists).parse(text)?;
    let upstream = match addresses.max(statuses) {
        1 if address == "-" => Upstream::None,
        1 => Upstream::Once(address, status.parse().unwrap_or(0)),
        several => Upstream::Several(u16::try_from(several).unwrap_or(u16::MAX)),
    };
    Ok((rest, Ingress { took, upstream }))
}

/// One of nginx's upstream lists, `a, b : c`: its last entry, and how many there are.
fn list(mut text: &str) -> Parsed<'_, (&str, usize)> {
    let mut entries = 1;
    loop {
        let (rest, entry) = verify(word, |entry: &str| !entry.is_empty()).parse(text)?;
        let separator = if entry.ends_with(',') { word_end(rest) } else { tag(" : ")(rest) };
        match separator {
            Ok((rest, _)) => text = rest,
            Err(_) => return map(word_end, |_| (entry, entries)).parse(rest),
        }
        entries += 1;
    }
}

/// `1.005` seconds in nanoseconds.
fn nanoseconds(text: &str) -> Option<i64> {
    let (whole, fraction) = text.split_once('.')?;
    let milliseconds: i64 = fraction.get(..3)?.parse().ok()?;
    whole.parse::<i64>().ok()?.checked_mul(SECOND)?.checked_add(milliseconds * time::MILLISECOND)
}

#[cfg(test)]
mod tests {
    use bumpalo::Bump;

    use super::*;
    use crate::{format, time::Shape};

    const SAMPLE: &str = include_str!("../../samples/formats/common-log/input.log");

    fn events<'a>(text: &'a str, arena: &'a Bump) -> Vec<Event<'a>> {
        format::decode_lines(Some(&FORMAT), text, arena).events
    }

    fn access<'a>(text: &'a str, arena: &'a Bump) -> Access<'a> {
        match events(text, arena)[0].kind {
            Kind::Access(access) => *access,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn the_sample_is_read_whole() {
        let arena = Bump::new();
        let events = events(SAMPLE, &arena);
        let statuses: Vec<_> = events
            .iter()
            .map(|event| match event.kind {
                Kind::Access(access) => (access.method, access.path, access.status),
                _ => ("", "", 0),
            })
            .collect();
        assert_eq!(
            statuses,
            [
                ("POST", "/mcp", 200),
                ("POST", "/mcp", 499),
                ("POST", "/messages/", 202),
                ("", "", 0),
                ("POST", "/mcp", 200),
                ("POST", "/invoices", 201)
            ]
        );
        assert_eq!(events[0].at.map(|at| at.at.rfc3339(0)).as_deref(), Some("2026-11-30T02:08:17Z"));
        assert_eq!(events[2].keys.session, Some("4f2a0c7e9b1d4e6f8a0b2c4d6e8f0a1b"));
        assert_eq!(events[5].at.map(|at| at.shape), Some(Shape::Local));
        assert!(matches!(events[1].kind, Kind::Access(Access { failed: true, .. })));
    }

    #[test]
    fn ingress_tells_its_dispatches() {
        let arena = Bump::new();
        let line = |extras: &str| {
            access(
                arena.alloc_str(&format!(
                    r#"10.0.0.9 - - [30/Nov/2026:03:08:18 +0000] "POST /mcp HTTP/1.1" 502 167 "-" "node" {extras}"#
                )),
                &arena,
            )
        };
        let once = line("512 1.005 [default-mcp-80] [] 10.0.0.1:80 167 1.000 504 06a9d260");
        assert_eq!(once.upstream, Upstream::Once("10.0.0.1:80", 504));
        assert_eq!(once.started.map(|at| at.at.rfc3339(3)).as_deref(), Some("2026-11-30T03:08:16.995Z"));
        let twice =
            line("512 1.005 [default-mcp-80] [] 10.0.0.1:80, 10.0.0.2:80 0, 167 1.000, 0.005 504, 502 06a9d260");
        assert_eq!(twice.upstream, Upstream::Several(2));
        let redirected = line("512 1.005 [p] [] 10.0.0.1:80 : 10.0.0.2:80 0 : 1 1.000 : 0.005 504 : 200 x");
        assert_eq!(redirected.upstream, Upstream::Several(2));
        assert_eq!(line("512 0.000 [p] [] - - - - x").upstream, Upstream::None);
        assert_eq!(line("").upstream, Upstream::Untold);
        assert_eq!(line(r#"7 "router" "http://10.0.0.1" 12ms"#).upstream, Upstream::Untold);
    }

    #[test]
    fn hosts_quotes_and_foreign_lines() {
        let arena = Bump::new();
        let text = r#"mcp.example.test:443 10.0.0.9 - - [30/Nov/2026:03:08:18 +0000] "GET /a?q=\" HTTP/1.1" - -"#;
        let access = access(text, &arena);
        assert_eq!((access.host, access.path, access.status, access.failed), ("mcp.example.test:443", "/a", 0, true));
        for text in [
            r#"- - [30/Nov/2026:03:08:18 +0000] "GET / HTTP/1.1" 200 1"#,
            "a b c [30/Nov/2026:03:08:18 +0000] GET / 200",
            r#"a b c [30/Nov/2026:03:08:18 +0000] "GET / HTTP/1.1" OK 1"#,
            r#"a b c [30/Nov/2026:03:08:18 +0000] "GET /"#,
            "INFO: [1] x",
        ] {
            assert!(line(text).is_err(), "{text}");
        }
        for cut in 0..SAMPLE.len() {
            let _ = SAMPLE.get(..cut).map(line);
        }
        assert!(sniff(&Head { bytes: SAMPLE.as_bytes() }));
    }
}
