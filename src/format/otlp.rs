//! OpenTelemetry spans as OTLP/JSON: what was called, by whom, and which spans reached outside.
//!
//! Joins no span with its parent, and takes no missing span for a call that did not happen.

use bumpalo::Bump;
use memchr::memmem;

use super::{Format, Head};
use crate::{
    clue,
    event::{CallKey, Event, Id, Keys, Kind, Span, SpanRole, Witness},
    frame::Framing,
    json::{self, Value},
    notice::NoticeKind,
    record::{Body, Record, Sink},
    time::{self, Stamp},
};

mod attributes;
mod gist;
mod ids;
mod outside;

use attributes::Attributes;

const DOC: &str = "## Written by

The file exporter of the OpenTelemetry collector and the OTLP/JSON exporters of the SDKs: one export request a line
(`otlp-json`) or one document (`otlp-json-document`). Also without the outer array (Java logging exporter), with
`instrumentationLibrarySpans` (before OTLP 0.19) or `batches` (Tempo).

## A record

`resourceSpans` › `scopeSpans` › `spans`, each with `traceId`, `spanId`, `parentSpanId`, `kind`, times in nanoseconds and
attributes in any order. Ids are hexadecimal, or base64 in old files.

## Proves

A SERVER span with `mcp.method.name`: the server had the request, and ended its work at the span's end. A CLIENT span: the client
sent it. `error.type` = `tool_error` is a result with `isError`. An HTTP CLIENT span with a status: the outside answered; with
an error of connecting: nothing was sent; else bytes may have gone out. Database, messaging and RPC spans likewise.

The HTTP span with which a client posts to its MCP server looks the same: its parent, a CLIENT span with `mcp.method.name`,
tells it apart.

## Silent about

Whatever has no span: an unfinished span is in no export, a crash loses the last batch, and sampling drops whole calls.
`mcp.session.id` is not used from 2026-07-28 on, which has no sessions: FastMCP makes one up for every request there.
";

/// One export request a line.
pub static FORMAT: Format = Format {
    name: "otlp-json",
    title: "OpenTelemetry traces, OTLP/JSON lines",
    doc: DOC,
    framing: Framing::Lines,
    json_lines: true,
    gist: Some(gist::gist),
    witness: None,
    sniff: |head| sniff(head) == Some(Layout::Lines),
    decode,
};

/// One document, pretty-printed, or several one after another.
pub static DOCUMENT: Format = Format {
    name: "otlp-json-document",
    title: "OpenTelemetry traces, one OTLP/JSON document",
    doc: DOC,
    framing: Framing::JsonValues,
    json_lines: false,
    gist: Some(gist::gist),
    witness: None,
    sniff: |head| sniff(head) == Some(Layout::Document),
    decode,
};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Layout {
    Lines,
    Document,
}

fn sniff(head: &Head<'_>) -> Option<Layout> {
    let first = head.lines().next()?.trim_ascii();
    let bytes = head.bytes.trim_ascii_start();
    let inner = bytes.strip_prefix(b"{")?.trim_ascii_start();
    let begins = |key: &str| inner.strip_prefix(b"\"").is_some_and(|rest| rest.starts_with(key.as_bytes()));
    let spans = [&b"\"scopeSpans\""[..], b"\"instrumentationLibrarySpans\""]
        .iter()
        .any(|key| memmem::find(bytes, key).is_some());
    let envelope = ["resourceSpans\"", "resourceLogs\"", "resourceMetrics\""].iter().any(|key| begins(key));
    let bare =
        ["resource\"", "batches\"", "scopeSpans\"", "instrumentationLibrarySpans\""].iter().any(|key| begins(key))
            && spans;
    if !envelope && !bare {
        return None;
    }
    // A line that is cut by the end of the head is a line of its own, however long.
    let whole = first.ends_with(b"}") || !bytes.contains(&b'\n');
    Some(if whole && first.len() > 1 { Layout::Lines } else { Layout::Document })
}

fn decode<'a>(record: &Record<'a>, sink: &mut Sink<'a>) -> bool {
    let text = record.text;
    if !text.trim_start().starts_with('{') || !KEYS.iter().any(|key| memmem::find(text.as_bytes(), key).is_some()) {
        return false;
    }
    let mut reader = SpanReader { record, sink, found: false };
    let mut known = false;
    let mut bare = Resource::default();
    let whole = json::members(text, record.arena, |key, value| match key {
        "resourceSpans" | "batches" | "resourceLogs" => {
            known = true;
            value.items(|item| reader.resource(item));
        }
        "resourceMetrics" => known = true,
        _ => known |= bare.member(key, value),
    });
    if bare.scopes.is_some() {
        reader.scopes(&bare);
    }
    // Damaged text may have shown some spans before its damage: those stand.
    if !known || !whole && !reader.found {
        return false;
    }
    if !reader.found {
        sink.push(Body::bare(*record).event(Kind::Text(text)));
    }
    if !whole {
        sink.notice(NoticeKind::NotJson, record.origin);
    }
    true
}

const KEYS: [&[u8]; 5] = [
    b"\"resourceSpans\"",
    b"\"scopeSpans\"",
    b"\"instrumentationLibrarySpans\"",
    b"\"resourceLogs\"",
    b"\"resourceMetrics\"",
];

/// The two halves of a `ResourceSpans` object, which come in any order.
#[derive(Clone, Copy, Debug, Default)]
struct Resource<'a> {
    about: Option<Value<'a>>,
    scopes: Option<Value<'a>>,
    logs: Option<Value<'a>>,
}

impl<'a> Resource<'a> {
    fn member(&mut self, key: &str, value: Value<'a>) -> bool {
        match key {
            "resource" => self.about = Some(value),
            "scopeSpans" | "instrumentationLibrarySpans" => {
                self.scopes = Some(value);
                return true;
            }
            "scopeLogs" => self.logs = Some(value),
            _ => {}
        }
        false
    }
}

/// What the resource says about all of its spans.
#[derive(Clone, Copy, Debug, Default)]
struct Scope<'a> {
    service: Option<&'a str>,
    run: Option<&'a str>,
    pid: Option<u32>,
}

impl<'a> Scope<'a> {
    fn read(resource: Option<Value<'a>>) -> Self {
        let mut scope = Self::default();
        let attributes = |key: &'a str, value: Value<'a>| match key {
            "service.name" => scope.service = value.word(),
            "mcp.run_id" | "run_id" => scope.run = value.word(),
            "process.pid" => scope.pid = value.number(),
            _ => {}
        };
        if let Some(resource) = resource {
            let mut list = None;
            resource.members(|key, value| {
                if key == "attributes" {
                    list = Some(value);
                }
            });
            if let Some(list) = list {
                attributes::each(list, attributes);
            }
        }
        scope
    }
}

struct SpanReader<'r, 'a> {
    record: &'r Record<'a>,
    sink: &'r mut Sink<'a>,
    found: bool,
}

impl<'a> SpanReader<'_, 'a> {
    fn resource(&mut self, item: Value<'a>) {
        let mut resource = Resource::default();
        item.members(|key, value| {
            resource.member(key, value);
        });
        self.scopes(&resource);
    }

    fn scopes(&mut self, resource: &Resource<'a>) {
        let scope = &Scope::read(resource.about);
        for (list, of) in [(resource.scopes, "spans"), (resource.logs, "logRecords")] {
            let Some(list) = list else { continue };
            list.items(|item| {
                item.members(|key, value| {
                    if key == of {
                        value.items(|item| if of == "spans" { self.span(item, scope) } else { self.log(item, scope) });
                    }
                });
            });
        }
    }

    fn span(&mut self, item: Value<'a>, scope: &Scope<'a>) {
        let arena = self.record.arena;
        let mut raw = Raw::default();
        item.members(|key, value| raw.member(key, value, arena));
        if raw.started.is_none() {
            self.sink.notice(NoticeKind::BadTimestamp, self.record.origin);
        }
        self.found = true;
        self.sink.push(raw.event(self.record, scope));
    }

    /// A log record of the same export: its body is free text.
    fn log(&mut self, item: Value<'a>, scope: &Scope<'a>) {
        let (mut at, mut text) = (None, None);
        item.members(|key, value| match key {
            "timeUnixNano" => at = nanoseconds(value),
            "body" => {
                value.members(|key, value| {
                    if key == "stringValue" {
                        text = value.text();
                    }
                });
            }
            _ => {}
        });
        if let Some(text) = text {
            self.found = true;
            let keys = Keys { run: scope.run, pid: scope.pid, ..Keys::default() };
            clue::read(text, &Body { record: *self.record, at, witness: None, keys }, self.sink);
        }
    }
}

/// A span as written.
#[derive(Debug, Default)]
struct Raw<'a> {
    name: Option<&'a str>,
    trace: Option<&'a str>,
    span: u64,
    parent: u64,
    /// The first span that it is linked to; 0 where none.
    link: u64,
    role: Option<SpanRole>,
    started: Option<Stamp>,
    ended: Option<Stamp>,
    status_error: bool,
    attributes: Attributes<'a>,
}

impl<'a> Raw<'a> {
    fn member(&mut self, key: &str, value: Value<'a>, arena: &'a Bump) {
        match key {
            "name" => self.name = value.text(),
            "traceId" => self.trace = value.text().and_then(|text| ids::trace(text, arena)),
            "spanId" => self.span = value.text().map_or(0, ids::span),
            "parentSpanId" => self.parent = value.text().map_or(0, ids::span),
            "links" => {
                value.items(|link| {
                    link.members(|key, value| {
                        if key == "spanId" && self.link == 0 {
                            self.link = value.text().map_or(0, ids::span);
                        }
                    });
                });
            }
            "kind" => self.role = value.word().and_then(role),
            "startTimeUnixNano" => self.started = nanoseconds(value),
            "endTimeUnixNano" => self.ended = nanoseconds(value),
            "status" => {
                value.members(|key, value| {
                    if key == "code" {
                        self.status_error = matches!(value.word(), Some("2" | "STATUS_CODE_ERROR"));
                    }
                });
            }
            "attributes" => self.attributes.read(value),
            "events" => {
                value.items(|event| {
                    event.members(|key, value| {
                        if key == "attributes" {
                            self.attributes.read_exception(value);
                        }
                    });
                });
            }
            _ => {}
        }
    }

    fn event(self, record: &Record<'a>, scope: &Scope<'a>) -> Event<'a> {
        let attributes = &self.attributes;
        let role = self.role.unwrap_or(SpanRole::Internal);
        let mcp = attributes.method.is_some();
        let witness = match role {
            SpanRole::Client if mcp => Some(Witness::Client),
            SpanRole::Server if mcp => Some(Witness::Server),
            _ => None,
        };
        let failed = self.status_error || attributes.error.is_some();
        // Sessions ended with 2025-11-25; revisions are dates and sort as text.
        let session = attributes.session.filter(|_| attributes.revision.is_none_or(|revision| revision < "2026-07-28"));
        let keys = Keys {
            run: attributes.run.or(scope.run),
            server: scope.service.filter(|_| witness == Some(Witness::Server)),
            client: scope.service.filter(|_| witness == Some(Witness::Client)),
            session,
            trace: self.trace,
            pid: scope.pid.filter(|_| witness == Some(Witness::Server)),
        };
        let name = self.name.unwrap_or("");
        let call = CallKey {
            id: attributes.id.map(Id::Text),
            method: attributes.method,
            tool: attributes.tool.or_else(|| tool(name)),
        };
        let reach = if mcp { None } else { outside::reach(attributes, role, failed, record.arena) };
        let refusal =
            role == SpanRole::Server && attributes.http_status.is_some_and(|status| (400..500).contains(&status));
        let span = Span {
            name,
            role,
            span: self.span,
            // Work that is taken up later has its cause as a link.
            parent: if self.parent == 0 { self.link } else { self.parent },
            ended: self.ended,
            call,
            revision: attributes.revision,
            failed,
            tool_error: attributes.error == Some("tool_error"),
            // Of an HTTP span the number would be a status.
            code: attributes.code.or_else(|| attributes.error.filter(|_| mcp).and_then(|error| error.parse().ok())),
            reach,
            work: !mcp && reach.is_none() && !refusal,
            service: scope.service,
        };
        Event { origin: record.origin, at: self.started, witness, keys, kind: Kind::Span(record.arena.alloc(span)) }
    }
}

/// The tool in a span name `[MCP send ]tools/call TOOL`: the Python SDK's client spans name it nowhere else.
fn tool(name: &str) -> Option<&str> {
    name.strip_prefix("MCP send ").unwrap_or(name).strip_prefix("tools/call ").filter(|tool| !tool.is_empty())
}

fn role(kind: &str) -> Option<SpanRole> {
    Some(match kind.strip_prefix("SPAN_KIND_").unwrap_or(kind) {
        "1" | "INTERNAL" => SpanRole::Internal,
        "2" | "SERVER" => SpanRole::Server,
        "3" | "CLIENT" => SpanRole::Client,
        "4" | "PRODUCER" => SpanRole::Producer,
        "5" | "CONSUMER" => SpanRole::Consumer,
        _ => return None,
    })
}

/// A count of nanoseconds, as text or number; zero is the default of a missing field.
fn nanoseconds(value: Value<'_>) -> Option<Stamp> {
    value.integer().filter(|number| *number > 0).map(time::epoch_nanoseconds)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        event::{Reach, ReachStage},
        format,
    };

    const SAMPLE: &str = include_str!("../../samples/formats/otlp-json/input.jsonl");
    const WHOLE: &str = include_str!("../../samples/formats/otlp-json-document/input.json");

    fn spans<'a>(text: &'a str, arena: &'a Bump) -> Vec<(Event<'a>, Span<'a>)> {
        let sink = format::decode_lines(Some(&FORMAT), text, arena);
        assert!(sink.notices.is_empty(), "{:?}", sink.notices);
        let span = |event: &Event<'a>| match event.kind {
            Kind::Span(span) => (*event, *span),
            other => panic!("{other:?}"),
        };
        sink.events.iter().map(span).collect()
    }

    /// A span of a server with these attributes, `key=value` with `#` before a number.
    fn reach<'a>(kind: &str, attributes: &[(&str, &str)], more: &str, arena: &'a Bump) -> Option<Reach<'a>> {
        let attributes: Vec<_> = attributes
            .iter()
            .map(|(key, value)| match value.strip_prefix('#') {
                Some(number) => format!(r#"{{"value":{{"intValue":"{number}"}},"key":"{key}"}}"#),
                None => format!(r#"{{"key":"{key}","value":{{"stringValue":"{value}"}}}}"#),
            })
            .collect();
        let text = format!(
            r#"{{"resourceSpans":[{{"scopeSpans":[{{"spans":[{{"name":"x","kind":{kind},"startTimeUnixNano":1,"attributes":[{}]{more}}}]}}]}}]}}"#,
            attributes.join(",")
        );
        spans(arena.alloc_str(&text), arena)[0].1.reach.copied()
    }

    #[test]
    fn the_sample_has_the_views_of_both_sides() {
        let arena = Bump::new();
        let spans = spans(SAMPLE, &arena);
        let (event, client) = spans[0];
        assert_eq!((event.witness, client.role), (Some(Witness::Client), SpanRole::Client));
        assert_eq!((event.keys.client, event.keys.server), (Some("agent-host"), None));
        assert_eq!((client.call.id, client.call.method), (Some(Id::Text("4")), Some("tools/call")));
        assert_eq!(client.call.tool, Some("create_invoice"), "its name alone tells it");
        let (event, server) = spans[1];
        assert_eq!((event.witness, event.keys.server), (Some(Witness::Server), Some("invoice-server")));
        assert_eq!(event.keys.run, Some("run-stdio-otel-traces"));
        assert_eq!(event.keys.trace, Some("ec4ead1c87fa28201620203e88b83b52"));
        assert_eq!((server.parent, server.service), (client.span, Some("invoice-server")));
        assert_eq!((server.span, server.revision), (0x5cdd_0ac0_c589_1f4a, Some("2025-11-25")));
        assert_eq!(event.at, Some(time::epoch_nanoseconds(1_796_007_725_056_173_080)));
        assert_eq!(server.ended, Some(time::epoch_nanoseconds(1_796_007_725_068_557_272)));
        assert!(!server.failed && !server.tool_error);
        let (_, boom) = spans[2];
        assert!(boom.failed && boom.tool_error && boom.reach.is_none());
        let (event, rate) = spans[3];
        assert_eq!((rate.call.tool, rate.call.id), (Some("rate"), Some(Id::Text("3"))));
        assert_eq!(event.keys.session, None, "2026-07-28 has no sessions");
    }

    #[test]
    fn http_children_reach_as_far_as_their_status_says() {
        let arena = Bump::new();
        let url = ("url.full", "https://u:p@Api.example.test:8443/v1/invoices?key=1");
        let method = ("http.request.method", "POST");
        let stage = |attributes: &[(&str, &str)], more: &str| reach("3", attributes, more, &arena).expect("reach");
        let answered = stage(&[url, method, ("http.response.status_code", "#201")], "");
        assert_eq!((answered.stage, answered.status), (ReachStage::Answered, Some(201)));
        assert_eq!((answered.target, answered.path), ("https://Api.example.test:8443", Some("/v1/invoices")));
        let refused = stage(&[url, method, ("error.type", "httpx.ConnectError")], "");
        assert_eq!((refused.stage, refused.failed), (ReachStage::NotConnected, false));
        let late = stage(&[url, method, ("error.type", "timeout"), ("http.request.resend_count", "#1")], "");
        assert_eq!((late.stage, late.failed, late.retries), (ReachStage::Attempted, true, true));
        // A connect error of an earlier try does not clear the later one.
        let events = r#","events":[{"attributes":[{"key":"exception.type","value":{"stringValue":"httpx.ConnectError"}}]},{"attributes":[{"key":"exception.type","value":{"stringValue":"httpx.ReadTimeout"}}]}]"#;
        assert_eq!(stage(&[url, method], events).stage, ReachStage::Attempted);
        let old = stage(
            &[("http.method", "get"), ("net.peer.name", "h"), ("net.peer.port", "#80"), ("http.target", "/a?b")],
            "",
        );
        assert_eq!((old.target, old.path, old.method), ("h:80", Some("/a"), Some("GET")));
        assert_eq!(reach("2", &[url, method], "", &arena), None, "a request that came in");
        assert_eq!(reach("3", &[url, method, ("mcp.method.name", "tools/call")], "", &arena), None);
    }

    #[test]
    fn databases_brokers_and_calls_of_other_systems() {
        let arena = Bump::new();
        let reach = |kind: &str, attributes: &[(&str, &str)], more: &str| reach(kind, attributes, more, &arena);
        let host = ("server.address", "db.example.test");
        let done = reach("3", &[("db.system", "postgresql"), host, ("server.port", "#5432")], "").expect("reach");
        assert_eq!((done.stage, done.target), (ReachStage::Answered, "db.example.test:5432"));
        let error = r#","status":{"code":"STATUS_CODE_ERROR"}"#;
        let refused = reach("3", &[("db.system.name", "postgresql"), ("db.response.status_code", "23505")], error)
            .expect("reach");
        assert!(refused.stage == ReachStage::Answered && refused.refused && refused.target == "postgresql");
        let broken = reach("3", &[("db.system.name", "mysql"), host], error).expect("reach");
        assert!(broken.stage == ReachStage::Attempted && broken.failed);
        assert_eq!(reach("3", &[("db.system.name", "sqlite")], ""), None, "a file of the process");
        let sent = reach(r#""SPAN_KIND_PRODUCER""#, &[("messaging.system", "kafka")], "").expect("reach");
        assert_eq!(sent.stage, ReachStage::Attempted);
        assert_eq!(reach("5", &[("messaging.system", "kafka")], ""), None);
        let aws = reach("3", &[("rpc.system", "aws-api"), ("rpc.service", "S3"), ("aws.request_id", "r")], "")
            .expect("reach");
        assert_eq!((aws.stage, aws.target), (ReachStage::Answered, "S3"));
        assert_eq!(reach("3", &[("rpc.system", "mcp")], ""), None);
    }

    #[test]
    fn old_and_bare_shapes() {
        let arena = Bump::new();
        let text = r#"{"instrumentationLibrarySpans":[{"spans":[{"traceId":"sQCjbCMwKwv8tT4y2KD0Hw==","spanId":"OfpQSi7Wf1Y=","parentSpanId":"","kind":"SPAN_KIND_SERVER","startTimeUnixNano":"1796007725056173080","endTimeUnixNano":"0","attributes":[{"value":{"intValue":"7"},"key":"jsonrpc.request.id"},{"key":"mcp.method.name","value":{"stringValue":"tools/call"}},{"key":"error.type","value":{"stringValue":"-32602"}},{"key":"mcp.session.id","value":{"stringValue":"s"}}],"name":7}]}],"resource":{"attributes":[{"key":"run_id","value":{"stringValue":"r"}}]}}"#;
        let (event, span) = spans(text, &arena)[0];
        assert_eq!(event.keys.trace, Some("b100a36c23302b0bfcb53e32d8a0f41f"));
        assert_eq!((event.keys.run, event.keys.session), (Some("r"), Some("s")));
        assert_eq!((span.span, span.parent, span.ended), (0x39fa_504a_2ed6_7f56, 0, None));
        assert_eq!((span.call.id, span.code, span.failed), (Some(Id::Text("7")), Some(-32602), true));
        assert_eq!(sniff(&Head { bytes: text.as_bytes() }), Some(Layout::Lines));
        let bare = r#"{"resource":{},"scopeSpans":[]}"#;
        assert_eq!(sniff(&Head { bytes: bare.as_bytes() }), Some(Layout::Lines));
    }

    #[test]
    fn lines_and_documents_are_told_apart() {
        assert_eq!(sniff(&Head { bytes: SAMPLE.as_bytes() }), Some(Layout::Lines));
        assert_eq!(sniff(&Head { bytes: WHOLE.as_bytes() }), Some(Layout::Document));
        assert_eq!(sniff(&Head { bytes: &SAMPLE.as_bytes()[..300] }), Some(Layout::Lines));
        assert_eq!(sniff(&Head { bytes: br#"{"resource":"/mcp","status":1}"# }), None);
        let arena = Bump::new();
        let flat = arena.alloc_str(&WHOLE.replace('\n', ""));
        assert_eq!(spans(flat, &arena)[0].1.call.tool, Some("create_invoice"));
    }

    #[test]
    fn other_signals_and_damage() {
        let arena = Bump::new();
        let logs = r#"{"resourceLogs":[{"scopeLogs":[{"logRecords":[{"timeUnixNano":"1796007725056173080","body":{"stringValue":"hello"}}]}]}]}"#;
        let events = format::decode_lines(Some(&FORMAT), logs, &arena).events;
        assert!(matches!(events[..], [Event { kind: Kind::Text("hello"), at: Some(_), .. }]), "{events:?}");
        let line = SAMPLE.lines().next().expect("a line");
        let cut = arena.alloc_str(&format!("{line}x"));
        let sink = format::decode_lines(Some(&FORMAT), cut, &arena);
        assert!(matches!(sink.events[..], [Event { kind: Kind::Span(_), .. }]));
        assert_eq!(sink.notices[0].kind, NoticeKind::NotJson);
        for end in 0..line.len() {
            let _ = format::decode_lines(Some(&FORMAT), &line[..end], &arena);
        }
    }
}
