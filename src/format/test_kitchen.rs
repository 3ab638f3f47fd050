//! MCP Test Kitchen: the observations its server exports, and its own log.
//!
//! Never reads who called (`callerEmail`), and takes no repeated POST for a retry.

use memchr::memmem;

use super::{Format, Head, any_line};
use crate::{
    clue,
    event::{CallKey, ContentKind, Event, Id, Keys, Kind, Summary, Witness},
    frame::Framing,
    json::{self, Value},
    jsonrpc,
    notice::NoticeKind,
    record::{Body, Record, Sink},
    time::Stamp,
};

const DOC: &str = "## Written by

The management API of MCP Test Kitchen: one object `{\"items\":[…],\"totalCount\",…}` (`test-kitchen-export`), the items one a
line, or as `data: {…}` lines of its event stream (`test-kitchen`); and its production log, one JSON object a line.

## A record

An item: `id`, `requestId`, `scenarioId`, `method`, `phase`, `durationMs`, `statusCode`, `wasCancelled`, `headersJson` and
`requestParamsJson` (JSON inside text), `clientProtocolVersion`, `occurredAt`. A line of the log: `Category`, `LogLevel`,
`Timestamp`, `Message`.

## Proves

The server had this POST and answered with that status.

## Silent about

Retries: a configured sequence of statuses is consumed by any POST of the session, so that 503 and then 200 are a retry
only if the requests agree. `callerEmail` is personal and is not read.
";

/// Items or log lines, one a line.
pub static FORMAT: Format = Format {
    name: "test-kitchen",
    title: "MCP Test Kitchen observations, one a line",
    doc: DOC,
    framing: Framing::Lines,
    json_lines: true,
    gist: None,
    witness: Some(Witness::Server),
    sniff: sniff_lines,
    decode,
};

/// The answer of the management API as it is.
pub static EXPORT: Format = Format {
    name: "test-kitchen-export",
    title: "MCP Test Kitchen observations, one export",
    doc: DOC,
    framing: Framing::JsonArray(&["items"]),
    json_lines: false,
    gist: None,
    witness: Some(Witness::Server),
    sniff: sniff_export,
    decode,
};

fn sniff_lines(head: &Head<'_>) -> bool {
    !sniff_export(head)
        && any_line(head, 8, |text, arena| {
            looks_like_item(text) && Item::read(text, arena).is_some()
                || looks_like_log(text) && LogLine::read(text, arena).is_some()
        })
}

fn sniff_export(head: &Head<'_>) -> bool {
    let bytes = head.bytes.trim_ascii_start();
    let Some(items) = memmem::find(bytes, b"\"items\"").filter(|_| bytes.starts_with(b"{")) else {
        return false;
    };
    let item = ITEM_KEYS.iter().filter_map(|key| memmem::find(bytes, key.as_bytes())).min();
    let empty = [&b"\"totalCount\""[..], b"\"pageSize\""].iter().all(|key| memmem::find(bytes, key).is_some());
    // In an item the key could stand only inside of text, where its quotes are escaped.
    item.map_or(empty, |item| items < item)
}

/// Keys that no other format has.
const ITEM_KEYS: [&str; 3] = ["\"requestParamsJson\"", "\"headersJson\"", "\"scenarioId\""];

fn looks_like_item(text: &str) -> bool {
    let object = payload(text).starts_with('{');
    object && text.contains("\"occurredAt\"") && ITEM_KEYS.iter().any(|key| text.contains(key))
}

fn looks_like_log(text: &str) -> bool {
    text.starts_with('{') && ["\"Category\"", "\"LogLevel\"", "\"Message\""].iter().all(|key| text.contains(key))
}

/// The object of a `data:` line, or the line itself.
fn payload(text: &str) -> &str {
    text.strip_prefix("data:").unwrap_or(text).trim_start()
}

fn decode<'a>(record: &Record<'a>, sink: &mut Sink<'a>) -> bool {
    if looks_like_item(record.text) {
        return Item::read(record.text, record.arena).is_some_and(|item| item.push(record, sink));
    }
    if looks_like_log(record.text) {
        return LogLine::read(record.text, record.arena).is_some_and(|line| line.push(record, sink));
    }
    false
}

/// One observation.
#[derive(Debug, Default)]
struct Item<'a> {
    call: CallKey<'a>,
    keys: Keys<'a>,
    revision: Option<&'a str>,
    status: Option<u16>,
    cancelled: bool,
    at: Option<Stamp>,
    headers: Option<&'a str>,
    params: Option<&'a str>,
}

impl<'a> Item<'a> {
    fn read(text: &'a str, arena: &'a bumpalo::Bump) -> Option<Self> {
        let mut item = Self::default();
        let whole = json::members(payload(text), arena, |key, value| item.member(key, value));
        if !whole || item.call.method.is_none() {
            return None;
        }
        if let Some(headers) = item.headers {
            json::members(headers, arena, |key, value| item.header(key, value));
        }
        if let Some(params) = item.params {
            json::members(params, arena, |key, value| item.param(key, value));
        }
        Some(item)
    }

    fn member(&mut self, key: &str, value: Value<'a>) {
        match key {
            "method" => self.call.method = value.word(),
            "requestId" => self.call.id = Some(value.id()).filter(|id| *id != Id::Null),
            "statusCode" => self.status = value.number(),
            "wasCancelled" => self.cancelled = value.is_true(),
            "clientProtocolVersion" => self.revision = value.word(),
            "occurredAt" => self.at = value.stamp(),
            "headersJson" => self.headers = Some(value.text().unwrap_or(value.raw())),
            "requestParamsJson" => self.params = Some(value.text().unwrap_or(value.raw())),
            _ => {}
        }
    }

    /// A header: its value may be a text or a list of texts.
    fn header(&mut self, name: &str, value: Value<'a>) {
        let mut text = value.word();
        if text.is_none() {
            value.items(|value| text = text.or(value.word()));
        }
        if name.eq_ignore_ascii_case("mcp-session-id") {
            self.keys.session = text;
        } else if name.eq_ignore_ascii_case("traceparent") {
            self.keys.trace = text.and_then(jsonrpc::trace_context);
        } else if name.eq_ignore_ascii_case("mcp-protocol-version") {
            self.revision = self.revision.or(text);
        } else if name.eq_ignore_ascii_case("mcp-name") {
            self.call.tool = self.call.tool.or(text);
        } else if name.eq_ignore_ascii_case("x-run-id") {
            self.keys.run = text;
        }
    }

    /// A member of the parameters, or of the whole request where that was kept.
    fn param(&mut self, key: &str, value: Value<'a>) {
        match key {
            "name" if self.call.method == Some("tools/call") => self.call.tool = value.word().or(self.call.tool),
            "id" => self.call.id = self.call.id.or(Some(value.id()).filter(|id| *id != Id::Null)),
            "params" => {
                value.members(|key, value| {
                    if key != "params" && key != "id" {
                        self.param(key, value);
                    }
                });
            }
            _ => {}
        }
    }

    fn push(self, record: &Record<'a>, sink: &mut Sink<'a>) -> bool {
        if self.at.is_none() {
            sink.notice(NoticeKind::BadTimestamp, record.origin);
        }
        let statuses: &[u16] = match self.status {
            Some(status) => record.arena.alloc_slice_copy(&[status]),
            None => &[],
        };
        let summary = Summary {
            call: self.call,
            revision: self.revision,
            outcome: None,
            posts: None,
            statuses,
            code: None,
            retry_origin: None,
            retry_after: None,
            events: None,
            content: ContentKind::Unknown,
            ended: None,
            by_server: true,
            cancelled: self.cancelled,
            timed_out: false,
        };
        sink.push(Event {
            origin: record.origin,
            at: self.at,
            witness: Some(Witness::Server),
            keys: self.keys,
            kind: Kind::Summary(record.arena.alloc(summary)),
        });
        true
    }
}

/// A line of the production log.
#[derive(Debug, Default)]
struct LogLine<'a> {
    at: Option<Stamp>,
    category: bool,
    message: Option<&'a str>,
}

impl<'a> LogLine<'a> {
    fn read(text: &'a str, arena: &'a bumpalo::Bump) -> Option<Self> {
        let mut line = Self::default();
        let whole = json::members(text, arena, |key, value| match key {
            "Timestamp" => line.at = value.stamp(),
            "Category" => line.category = value.text().is_some(),
            "Message" => line.message = value.text(),
            _ => {}
        });
        (whole && line.category && line.message.is_some()).then_some(line)
    }

    fn push(self, record: &Record<'a>, sink: &mut Sink<'a>) -> bool {
        let body = Body { record: *record, at: self.at, witness: Some(Witness::Server), keys: Keys::default() };
        clue::read(self.message.unwrap_or(""), &body, sink);
        true
    }
}

#[cfg(test)]
mod tests {
    use bumpalo::Bump;

    use super::*;
    use crate::format;

    const LINES: &str = include_str!("../../samples/formats/test-kitchen/input.jsonl");
    const WHOLE: &str = include_str!("../../samples/formats/test-kitchen-export/input.json");

    fn summary<'a>(event: &Event<'a>) -> Summary<'a> {
        match event.kind {
            Kind::Summary(summary) => *summary,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn items_are_the_server_speaking() {
        let arena = Bump::new();
        let events = format::decode_lines(Some(&FORMAT), LINES, &arena).events;
        let first = summary(&events[0]);
        assert_eq!((events[0].witness, events[0].keys.session), (Some(Witness::Server), Some("s-77")));
        assert_eq!(events[0].keys.trace, Some("0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331"));
        assert_eq!((first.call.id, first.call.method), (Some(Id::Text("3")), Some("tools/call")));
        assert_eq!((first.call.tool, first.statuses), (Some("create_invoice"), &[503][..]));
        assert!(first.by_server && !first.cancelled);
        assert_eq!(first.revision, Some("2025-11-25"));
        assert_eq!(events[0].at.map(|at| at.at.rfc3339(3)).as_deref(), Some("2026-11-30T03:00:00.100Z"));
        let second = summary(&events[1]);
        assert_eq!((second.call.id, second.call.tool, second.statuses), (Some(Id::Int(4)), Some("add"), &[][..]));
        assert!(second.cancelled);
        assert_eq!(second.revision, Some("2026-07-28"), "the header helps out");
        assert!(matches!(events[2].kind, Kind::Text("Session s-77 closed")), "{:?}", events[2]);
        assert_eq!(events[2].at.map(|at| at.at.rfc3339(3)).as_deref(), Some("2026-11-30T03:00:01.500Z"));
        assert!(!format!("{events:?}").contains("example.test"), "nobody's address leaves");
    }

    #[test]
    fn one_document_and_lines_are_told_apart() {
        for (text, lines, whole) in [
            (LINES, true, false),
            (WHOLE, false, true),
            (r#"{"items":[],"totalCount":0,"page":1,"pageSize":50}"#, false, true),
            (r#"{"items":[1,2]}"#, false, false),
            (r#"data: {"method":"ping","scenarioId":null,"occurredAt":"2026-11-30T03:00:00Z"}"#, true, false),
            (r#"{"level":"info","Message":"x"}"#, false, false),
        ] {
            let head = Head { bytes: text.as_bytes() };
            assert_eq!((sniff_lines(&head), sniff_export(&head)), (lines, whole), "{text}");
        }
    }

    #[test]
    fn elements_of_the_export_decode_alike() {
        let arena = Bump::new();
        let mut found = Vec::new();
        json::members(WHOLE, &arena, |key, value| {
            if key == "items" {
                value.items(|item| found.push(item.raw()));
            }
        });
        let text = arena.alloc_str(&found[0].replace('\n', " "));
        let events = format::decode_lines(Some(&EXPORT), text, &arena).events;
        assert_eq!(summary(&events[0]).call.tool, Some("create_invoice"));
    }

    #[test]
    fn damage_and_wrong_types() {
        let arena = Bump::new();
        let text = r#"{"method":"tools/call","scenarioId":1,"occurredAt":[],"headersJson":"{oops","requestParamsJson":{"name":"add"},"statusCode":"x","requestId":null}"#;
        let sink = format::decode_lines(Some(&FORMAT), text, &arena);
        assert_eq!(sink.notices[0].kind, NoticeKind::BadTimestamp);
        let summary = summary(&sink.events[0]);
        assert_eq!((summary.call.tool, summary.call.id, summary.statuses), (Some("add"), None, &[][..]));
        let cut = &LINES[..LINES.len() / 3];
        let _ = format::decode_lines(Some(&FORMAT), cut, &arena);
    }
}
