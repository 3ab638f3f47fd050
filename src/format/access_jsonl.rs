//! JSON access logs, one request a line: a reverse proxy's (nginx), or an outside service's own.
//!
//! Does not decide whether the writer is the gateway before the MCP server or the world behind it: correlation sees the address.

use memchr::memmem;

use super::{Format, Head, any_line};
use crate::{
    event::{Access, Event, Keys, Kind, Pairs, Upstream, Witness},
    frame::Framing,
    json::{self, Value},
    jsonrpc,
    netloc::{self, Target},
    notice::NoticeKind,
    record::{Record, Sink},
    time::{SECOND, Stamp, Timestamp},
};

/// The format.
pub static FORMAT: Format = Format {
    name: "access-jsonl",
    title: "HTTP access log, one JSON object a line",
    doc: "## Written by

nginx with a JSON `log_format` (the operator chooses the names), API frameworks, and the log of an outside service.

## A record

An object with `method`, a path (`path`, `uri`, `url`, `request_uri`, or all in `request`) and one of `status`, `peer_port`,
`remote_addr`, `user-agent`, `ua` …; besides `time`, `ts`, `msec`, `request_time`, `upstream_addr`, `upstream_status`,
`mcp_session`, `mcp_method`, `x-run-id`, `traceparent`, `body`. Objects with members of JSON-RPC or of a phase log are not taken.

## Proves

The writer had the request. nginx stamps the end of an exchange; the beginning is that minus `request_time`. A list in
`upstream_addr` or `upstream_status` is one entry for each dispatch; an empty one shows that nothing was forwarded.

## Silent about

JSON-RPC ids, and why an upstream failed: a refused connection and an upstream's own 502 look alike.
",
    framing: Framing::Lines,
    json_lines: true,
    gist: None,
    witness: None,
    sniff,
    decode,
};

fn sniff(head: &Head<'_>) -> bool {
    any_line(head, 4, |text, arena| looks_like(text) && Line::read(text, arena).is_some())
}

/// A byte check that costs little and rejects nearly everything foreign.
fn looks_like(text: &str) -> bool {
    let bytes = text.as_bytes();
    text.trim_start().starts_with('{')
        && memmem::find(bytes, b"\"phase\"").is_none()
        && (memmem::find(bytes, b"method\"").is_some() || memmem::find(bytes, b"\"request\"").is_some())
}

fn decode<'a>(record: &Record<'a>, sink: &mut Sink<'a>) -> bool {
    if !looks_like(record.text) {
        return false;
    }
    let Some(line) = Line::read(record.text, record.arena) else {
        return false;
    };
    if line.bad_stamp {
        sink.notice(NoticeKind::BadTimestamp, record.origin);
    }
    let at = line.exact.or(line.at);
    let started = at.zip(line.took).map(|(at, took)| Stamp { at: Timestamp(at.at.0.saturating_sub(took)), ..at });
    let target = Target::parse(line.target);
    let access = Access {
        method: line.method,
        host: if target.host.is_empty() { line.host.unwrap_or("") } else { target.host },
        path: target.path,
        status: line.status.unwrap_or(0),
        upstream: line.upstream(),
        mcp_method: line.mcp_method,
        mcp_name: line.mcp_name,
        started,
        pairs: if line.pairs.is_empty() { Pairs::of_query(target.query) } else { line.pairs },
        // nginx: 499 is a client that went away, 000 an exchange without an answer.
        failed: line.incomplete || matches!(line.status, Some(0 | 499)),
        took: line.took.max(line.upstream_took),
        nameless: line.nameless,
        probe: netloc::is_probe(line.method, target.path, line.agent),
    };
    let keys = Keys { session: line.keys.session.or_else(|| target.session()), ..line.keys };
    let proxied = line.upstream_addr.is_some() || line.upstream_status.is_some();
    sink.push(Event {
        origin: record.origin,
        at,
        witness: proxied.then_some(Witness::Proxy),
        keys,
        kind: Kind::Access(record.arena.alloc(access)),
    });
    true
}

/// What a line says, by whatever names.
#[derive(Clone, Copy, Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a finding of its own while the members come by")]
struct Line<'a> {
    method: &'a str,
    target: &'a str,
    host: Option<&'a str>,
    status: Option<u16>,
    /// A member that access logs have and other objects with a method and a path have not.
    marked: bool,
    /// A member of a JSON-RPC message, of a phase log or of an envelope around a message.
    foreign: bool,
    at: Option<Stamp>,
    /// `msec` is finer than the stamp that stands beside it.
    exact: Option<Stamp>,
    bad_stamp: bool,
    /// Nanoseconds that the exchange took.
    took: Option<i64>,
    /// Nanoseconds that all upstreams took together.
    upstream_took: Option<i64>,
    /// A time or a size shows that there was an upstream, whatever its address says.
    met: bool,
    upstream_addr: Option<&'a str>,
    upstream_status: Option<&'a str>,
    mcp_method: Option<&'a str>,
    mcp_name: Option<&'a str>,
    pairs: Pairs,
    incomplete: bool,
    nameless: bool,
    agent: &'a str,
    keys: Keys<'a>,
}

impl<'a> Line<'a> {
    fn read(text: &'a str, arena: &'a bumpalo::Bump) -> Option<Self> {
        let mut line = Self::default();
        let whole = json::members(text, arena, |key, value| line.member(key, value));
        let wanted = whole && !line.foreign && line.marked && netloc::is_method(line.method) && !line.target.is_empty();
        wanted.then_some(line)
    }

    fn member(&mut self, key: &str, value: Value<'a>) {
        match key {
            "jsonrpc" | "params" | "phase" | "event" | "direction" | "dir" => self.foreign = true,
            "method" | "request_method" | "http_method" => self.method = value.text().unwrap_or(self.method),
            "path" | "uri" | "url" | "request_uri" | "request_path" => {
                // The longer of two spellings has the query.
                let target = value.text().unwrap_or("");
                self.target = if target.len() > self.target.len() { target } else { self.target };
            }
            "request" => {
                if let Some((method, target)) = value.text().and_then(netloc::request_line) {
                    (self.method, self.target) = (method, target);
                }
            }
            "status" | "status_code" | "response_status" => {
                self.status = value.number();
                self.marked = true;
            }
            "host" | "http_host" => self.host = header(value),
            "body" | "request_body" => self.pairs = pairs(value),
            "request_time" => self.took = value.word().and_then(seconds),
            "upstream_response_time" => {
                self.upstream_took = value.word().and_then(sum);
                self.met |= self.upstream_took.is_some();
            }
            "upstream_connect_time" | "upstream_header_time" => self.met |= value.word().and_then(sum).is_some(),
            "upstream_bytes_received" | "upstream_bytes_sent" | "upstream_response_length" => {
                self.met |=
                    value.word().is_some_and(|list| list.bytes().any(|byte| byte.is_ascii_digit() && byte != b'0'));
            }
            "request_completion" => self.incomplete = value.text() == Some(""),
            "upstream_addr" => self.upstream_addr = value.text(),
            "upstream_status" => self.upstream_status = value.word().or(Some("")),
            "msec" => self.exact = value.stamp(),
            "time" | "ts" | "at" | "timestamp" | "@timestamp" | "time_iso8601" | "time_local" => {
                let stamp = value.stamp();
                self.bad_stamp |= stamp.is_none();
                self.at = self.at.or(stamp);
            }
            _ => self.header_member(key, value),
        }
    }

    /// Members that are headers of the request or facts of its connection.
    fn header_member(&mut self, key: &str, value: Value<'a>) {
        match key.strip_prefix("http_").unwrap_or(key) {
            "peer_port" | "peer" | "remote_addr" | "remote_ip" | "client_ip" | "client_addr" => self.marked = true,
            "user-agent" | "user_agent" | "ua" => {
                self.agent = value.text().unwrap_or("");
                self.marked = true;
            }
            "x-run-id" | "x_run_id" | "run_id" | "mcp_run_id" => self.keys.run = header(value),
            "mcp_session" | "mcp_session_id" | "mcp-session-id" | "Mcp-Session-Id" => {
                self.keys.session = header(value);
                self.nameless = value.text().is_some_and(|text| matches!(text, "" | "-"));
            }
            "mcp_method" | "mcp-method" | "Mcp-Method" => self.mcp_method = header(value),
            "mcp_name" | "mcp-name" | "Mcp-Name" => self.mcp_name = header(value),
            "traceparent" => self.keys.trace = header(value).and_then(jsonrpc::trace_context),
            _ => {}
        }
    }

    /// What the line says about the next hop.
    fn upstream(&self) -> Upstream<'a> {
        let (Some(addresses), statuses) =
            (self.upstream_addr.or(self.upstream_status.map(|_| "")), self.upstream_status)
        else {
            return Upstream::Untold;
        };
        let told = |text: &str| !matches!(text.trim(), "" | "-");
        let statuses = statuses.filter(|text| told(text)).unwrap_or("");
        if statuses.is_empty() && !self.met && self.upstream_addr.is_some_and(|text| !told(text)) {
            return Upstream::None;
        }
        match entries(addresses).max(entries(statuses)) {
            0 | 1 => Upstream::Once(addresses.trim(), statuses.trim().parse().unwrap_or(0)),
            several => Upstream::Several(u16::try_from(several).unwrap_or(u16::MAX)),
        }
    }
}

/// Entries of one of nginx's upstream lists: `, ` between tries, ` : ` between internal redirects.
fn entries(list: &str) -> usize {
    list.split(", ").flat_map(|part| part.split(" : ")).filter(|entry| !entry.trim().is_empty()).count()
}

/// A header, which nginx writes as an empty text or a dash where it is missing.
fn header(value: Value<'_>) -> Option<&str> {
    value.word().filter(|text| *text != "-")
}

/// `1.005` seconds in nanoseconds.
fn seconds(text: &str) -> Option<i64> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let mut nanoseconds = whole.parse::<i64>().ok()?.checked_mul(SECOND)?;
    let mut unit = SECOND;
    for byte in fraction.bytes() {
        unit /= 10;
        nanoseconds = nanoseconds.checked_add(i64::from(byte.is_ascii_digit().then(|| byte - b'0')?) * unit)?;
    }
    (nanoseconds >= 0).then_some(nanoseconds)
}

/// The sum of one of nginx's lists of times; a dash stands for a try without an answer.
fn sum(list: &str) -> Option<i64> {
    let times = list.split([',', ':']).filter_map(|time| seconds(time.trim()));
    times.reduce(i64::saturating_add)
}

/// Pairs of a JSON body, be it text or an object.
fn pairs(value: Value<'_>) -> Pairs {
    let body = value.text().unwrap_or(value.raw());
    let canonical = body.trim_start().starts_with('{').then(|| jsonrpc::canonical(body).ok()).flatten();
    canonical.map_or(Pairs::default(), |canonical| canonical.pairs)
}

#[cfg(test)]
mod tests {
    use bumpalo::Bump;

    use super::*;
    use crate::format;

    const NGINX: &str = include_str!("../../samples/formats/access-jsonl/input.jsonl");

    fn accesses<'a>(text: &'a str, arena: &'a Bump) -> Vec<(Event<'a>, Access<'a>)> {
        let sink = format::decode_lines(Some(&FORMAT), text, arena);
        assert!(sink.notices.is_empty(), "{:?}", sink.notices);
        sink.events
            .iter()
            .map(|event| match event.kind {
                Kind::Access(access) => (*event, *access),
                other => panic!("{other:?}"),
            })
            .collect()
    }

    #[test]
    fn nginx_stamps_the_end_and_names_its_upstream() {
        let arena = Bump::new();
        let lines = accesses(NGINX, &arena);
        let (event, access) = lines[1];
        assert_eq!(event.witness, Some(Witness::Proxy));
        assert_eq!(event.keys.session, Some("d262ee5ba3b24ab1945256cfd7fea7d8"));
        assert_eq!(event.at.map(|at| at.at.rfc3339(3)).as_deref(), Some("2026-11-30T03:08:18.826Z"));
        assert_eq!(access.started.map(|at| at.at.rfc3339(3)).as_deref(), Some("2026-11-30T03:08:17.821Z"));
        assert_eq!((access.method, access.path, access.status, access.failed), ("POST", "/mcp", 504, false));
        assert_eq!(access.upstream, Upstream::Once("127.0.0.1:23099", 504));
        assert_eq!(lines[0].0.keys.session, None, "an empty header is none");
    }

    #[test]
    fn the_log_of_a_service_has_no_status_and_a_body() {
        let arena = Bump::new();
        let lines = accesses(NGINX, &arena);
        let (event, access) = lines[2];
        assert_eq!((event.witness, event.keys.run), (None, Some("run-http-504-nginx-late-success")));
        assert_eq!((access.method, access.path, access.status), ("POST", "/invoices", 0));
        assert_eq!((access.upstream, access.failed), (Upstream::Untold, false));
        assert_eq!(access.pairs, jsonrpc::canonical(r#"{"customer":"ACME"}"#).expect("valid").pairs);
        assert_eq!(access.started, None);
    }

    #[test]
    fn upstream_lists_are_dispatches() {
        let arena = Bump::new();
        let upstream = |members: &str| {
            let text = arena.alloc_str(&format!(r#"{{"request":"POST /mcp HTTP/1.1","status":"502",{members}}}"#));
            accesses(text, &arena)[0].1.upstream
        };
        assert_eq!(
            upstream(r#""upstream_addr":"10.0.0.1:80, 10.0.0.2:80","upstream_status":"504, 502""#),
            Upstream::Several(2)
        );
        assert_eq!(upstream(r#""upstream_status":"504 : 200""#), Upstream::Several(2));
        assert_eq!(
            upstream(r#""upstream_addr":"10.0.0.1:80","upstream_status":"-""#),
            Upstream::Once("10.0.0.1:80", 0)
        );
        assert_eq!(upstream(r#""upstream_addr":"","upstream_status":"""#), Upstream::None);
        assert_eq!(upstream(r#""upstream_addr":"-""#), Upstream::None);
        assert_eq!(upstream(r#""upstream_addr":"","upstream_response_time":"-""#), Upstream::None);
        for met in
            ["upstream_response_time\":\"1.2", "upstream_connect_time\":\"0.000", "upstream_bytes_received\":\"7"]
        {
            assert_eq!(upstream(&format!(r#""upstream_addr":"","{met}""#)), Upstream::Once("", 0), "{met}");
        }
        assert_eq!(upstream(r#""upstream_status":200"#), Upstream::Once("", 200));
        assert_eq!(upstream(r#""bytes":1"#), Upstream::Untold);
    }

    #[test]
    fn wrong_types_cost_only_their_member() {
        let arena = Bump::new();
        let text = r#"{"method":"GET","url":"https://h:1/messages/?session_id=ab&x=1","status":{"a":1},"remote_addr":7,"request_time":"x","mcp_session":[],"body":3}"#;
        let (event, access) = accesses(text, &arena)[0];
        assert_eq!((event.keys.session, access.host, access.path, access.status), (Some("ab"), "h:1", "/messages/", 0));
        let sink =
            format::decode_lines(Some(&FORMAT), r#"{"method":"GET","path":"/","status":499,"ts":"soon"}"#, &arena);
        assert_eq!(sink.notices[0].kind, NoticeKind::BadTimestamp);
        assert!(matches!(sink.events[0].kind, Kind::Access(Access { failed: true, .. })));
    }

    #[test]
    fn objects_of_other_formats_are_left_to_them() {
        for text in [
            r#"{"jsonrpc":"2.0","id":1,"method":"GET","path":"/","status":200}"#,
            r#"{"run_id":"r","phase":"execution","event":"external_attempt","method":"POST","path":"/x","status":201}"#,
            r#"{"event":"external_result","method":"POST","path":"/x","status":201}"#,
            r#"{"direction":"in","id":1,"method":"initialize","path":"/","status":1}"#,
            r#"{"method":"tools/call","path":"/x","status":200}"#,
            r#"{"method":"POST","path":"/x"}"#,
            r#"{"method":"POST","path":"/x","status":200"#,
        ] {
            let arena = Bump::new();
            let origin = crate::event::Origin {
                source: crate::event::SourceId(0),
                record: std::num::NonZeroU32::MIN,
                offset: 0,
            };
            let mut sink = Sink::new();
            assert!(!decode(&Record { origin, text, arena: &arena }, &mut sink), "{text}");
            assert!(sink.events.is_empty() && !sniff(&Head { bytes: text.as_bytes() }), "{text}");
        }
        assert!(sniff(&Head { bytes: NGINX.as_bytes() }));
    }
}
