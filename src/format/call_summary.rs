//! Call summaries: what a careful client logs once per call.
//!
//! Checks no claim against the wire; that needs the wire, and is the work of correlation.

use memchr::memmem;

use super::{Format, Head, any_line};
use crate::{
    event::{CallKey, ContentKind, Event, Id, Keys, Kind, Summary, Witness},
    frame::Framing,
    json::{self, Value},
    notice::NoticeKind,
    record::{Record, Sink},
    time::{SECOND, Stamp},
};

/// The format.
pub static FORMAT: Format = Format {
    name: "call-summary",
    title: "Call summaries, one JSON object a line",
    doc: "## Written by

Clients that log one line for each call, as MCP Test Kitchen asks its users to.

## A record

`client`, `protocolVersion`, `scenario`, `method`, `postCount`, `httpStatuses`, `jsonrpc` (`id`, `errorCode`), `resultType`,
`outcome`, `retryOrigin`; where the client knows them also `runId`, `sessionId`, `tool`, `startedAt`, `endedAt`,
`contentType`, `eventCount`, `abortReason`, `retryAfter` (as the header has it: seconds).

## Proves

What the client says: how often it posted, the statuses it saw, who retried. `outcome` is its claim.

## Silent about

The server. A client that never had an answer cannot say whether the call was carried out.
",
    framing: Framing::Lines,
    json_lines: true,
    gist: None,
    witness: Some(Witness::Client),
    sniff,
    decode,
};

fn sniff(head: &Head<'_>) -> bool {
    any_line(head, 4, |text, arena| looks_like(text) && Line::read(text, arena).is_some())
}

fn looks_like(text: &str) -> bool {
    text.trim_start().starts_with('{')
        && memmem::find(text.as_bytes(), b"\"outcome\"").is_some()
        && ["\"postCount\"", "\"httpStatuses\"", "\"retryOrigin\""].iter().any(|key| text.contains(key))
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
    let summary = Summary {
        call: line.call,
        revision: line.revision,
        outcome: line.outcome,
        // Who counts none and failed otherwise than on connecting had begun to send.
        posts: line.posts.filter(|posts| *posts > 0 || !line.has_sent()),
        statuses: record
            .arena
            .alloc_slice_copy(line.statuses.get(line.statuses.len().saturating_sub(8)..).unwrap_or(&[])),
        code: line.code,
        retry_origin: line.retry_origin,
        retry_after: line.retry_after,
        events: line.events,
        content: line.content,
        ended: line.ended,
        by_server: false,
        cancelled: line.cancelled,
        timed_out: line.timed_out,
    };
    sink.push(Event {
        origin: record.origin,
        at: line.started.or(line.ended),
        witness: Some(Witness::Client),
        keys: line.keys,
        kind: Kind::Summary(record.arena.alloc(summary)),
    });
    true
}

#[derive(Debug, Default)]
struct Line<'a> {
    call: CallKey<'a>,
    keys: Keys<'a>,
    revision: Option<&'a str>,
    outcome: Option<&'a str>,
    posts: Option<u16>,
    statuses: Vec<u16>,
    code: Option<i64>,
    retry_origin: Option<&'a str>,
    retry_after: Option<u32>,
    events: Option<u32>,
    content: ContentKind,
    started: Option<Stamp>,
    ended: Option<Stamp>,
    bad_stamp: bool,
    cancelled: bool,
    timed_out: bool,
    /// The failure that it names may have come behind a connection, or something came back.
    broke: bool,
    /// The failure that it names is one of connecting.
    unconnected: bool,
}

impl<'a> Line<'a> {
    fn read(text: &'a str, arena: &'a bumpalo::Bump) -> Option<Self> {
        let mut line = Self::default();
        let whole = json::members(text, arena, |key, value| line.member(key, value));
        (whole && line.call.method.is_some() && line.outcome.is_some()).then_some(line)
    }

    fn member(&mut self, key: &str, value: Value<'a>) {
        match key {
            "client" => self.keys.client = value.word().map(without_version),
            "protocolVersion" => self.revision = value.word(),
            "method" => self.call.method = value.word(),
            "tool" => self.call.tool = value.word(),
            "postCount" => self.posts = value.number(),
            "httpStatuses" => {
                let mut statuses = Vec::new();
                value.items(|status| {
                    let number = status.number::<u16>();
                    // An exchange without a status was one all the same.
                    self.broke |= number.is_none();
                    statuses.extend(number);
                });
                self.statuses = statuses;
            }
            "jsonrpc" => {
                value.members(|key, value| match key {
                    "id" => self.call.id = Some(value.id()).filter(|id| *id != Id::Null),
                    "errorCode" => self.code = value.integer(),
                    _ => {}
                });
            }
            "outcome" => self.outcome = value.word(),
            "retryOrigin" => self.retry_origin = value.word(),
            "retryAfter" => self.retry_after = value.number::<u32>().and_then(|seconds| seconds.checked_mul(1000)),
            "eventCount" => self.events = value.number(),
            "contentType" => self.content = value.word().map_or(ContentKind::Unknown, ContentKind::of),
            "abortReason" => {
                let reason = value.word();
                self.cancelled = reason.is_some();
                let reason = reason.unwrap_or("").to_ascii_lowercase();
                self.timed_out = ["timeout", "timed out", "deadline"].iter().any(|word| reason.contains(word));
            }
            "error" | "cause" | "errorMessage" => {
                let words = value.word().filter(|words| !words.is_empty());
                self.broke |= words.is_some_and(is_no_failed_connection);
                self.unconnected |= words.is_some_and(|words| !is_no_failed_connection(words));
            }
            "resultType" => self.broke |= value.word().is_some_and(|kind| !kind.is_empty()),
            "runId" => self.keys.run = value.word(),
            "sessionId" => self.keys.session = value.word(),
            "startedAt" => self.started = self.stamp(value),
            "endedAt" => self.ended = self.stamp(value),
            _ => {}
        }
    }

    /// Whether it tells of more than of a request that never left: who waited without a word of a connection that failed
    /// may have waited for an answer.
    fn has_sent(&self) -> bool {
        let waited = self.started.zip(self.ended).is_some_and(|(from, to)| to.at.0.saturating_sub(from.at.0) > AT_ONCE);
        self.broke || waited && !self.unconnected
    }

    fn stamp(&mut self, value: Value<'a>) -> Option<Stamp> {
        let stamp = value.stamp();
        self.bad_stamp |= stamp.is_none() && !value.is_null();
        stamp
    }
}

/// What is not sent fails at once.
const AT_ONCE: i64 = 2 * SECOND;

/// Whether words about a failure do not say that there was no connection.
fn is_no_failed_connection(words: &str) -> bool {
    const NO_CONNECTION: [&str; 8] = [
        "econnrefused",
        "enotfound",
        "eai_again",
        "enetunreach",
        "ehostunreach",
        "getaddrinfo",
        "refused",
        "certificate",
    ];
    let words = words.to_ascii_lowercase();
    !words.is_empty() && !NO_CONNECTION.iter().any(|cause| words.contains(cause))
}

/// `@scope/client@1.2.0` without its version.
fn without_version(client: &str) -> &str {
    client.rsplit_once('@').map_or(client, |(name, _)| if name.is_empty() { client } else { name })
}

#[cfg(test)]
mod tests {
    use bumpalo::Bump;

    use super::*;
    use crate::format;

    const SAMPLE: &str = include_str!("../../samples/formats/call-summary/input.jsonl");

    fn summaries<'a>(text: &'a str, arena: &'a Bump) -> Vec<(Event<'a>, Summary<'a>)> {
        let sink = format::decode_lines(Some(&FORMAT), text, arena);
        let summary = |event: &Event<'a>| match event.kind {
            Kind::Summary(summary) => (*event, *summary),
            other => panic!("{other:?}"),
        };
        sink.events.iter().map(summary).collect()
    }

    #[test]
    fn the_sample_is_the_client_speaking() {
        let arena = Bump::new();
        let lines = summaries(SAMPLE, &arena);
        let (event, first) = lines[0];
        assert_eq!((event.witness, event.keys.client, event.at), (Some(Witness::Client), Some("your-client"), None));
        assert_eq!((first.call.id, first.call.method, first.call.tool), (Some(Id::Int(1)), Some("tools/call"), None));
        assert_eq!((first.revision, first.posts, first.statuses), (Some("2026-07-28"), Some(1), &[200][..]));
        assert_eq!(
            (first.outcome, first.code, first.retry_origin),
            (Some("JSONRPC_ERROR"), Some(-32602), Some("none"))
        );
        assert!(!first.by_server && !first.cancelled);
        let (event, second) = lines[1];
        assert_eq!((event.keys.run, event.keys.session), (Some("run_01JX"), Some("s-1")));
        assert_eq!((second.statuses, second.retry_after), (&[503, 200][..], Some(2000)));
        assert_eq!((second.content, second.events, second.cancelled), (ContentKind::EventStream, Some(3), true));
        assert_eq!((second.call.id, second.call.tool), (Some(Id::Text("7")), Some("create_invoice")));
        assert_eq!(event.at.map(|at| at.at.rfc3339(3)).as_deref(), Some("2026-11-30T03:00:00.100Z"));
        assert_eq!(second.ended.map(|at| at.at.rfc3339(3)).as_deref(), Some("2026-11-30T03:00:02.100Z"));
    }

    #[test]
    fn a_summary_that_tells_of_more_counts_no_posts() {
        let arena = Bump::new();
        let posts = |members: &str| {
            let text =
                arena.alloc_str(&format!(r#"{{"method":"tools/call","outcome":"NOT_SENT","postCount":0,{members}}}"#));
            summaries(text, &arena)[0].1.posts
        };
        let (long, short) = (r#""endedAt":"2026-07-22T14:01:01Z""#, r#""endedAt":"2026-07-22T14:00:02Z""#);
        let from = r#""startedAt":"2026-07-22T14:00:01Z""#;
        for members in [
            r#""httpStatuses":[],"resultType":"complete""#.to_owned(),
            r#""httpStatuses":[null]"#.to_owned(),
            format!("{from},{long}"),
        ] {
            assert_eq!(posts(&members), None, "{members}");
        }
        for members in [
            r#""httpStatuses":[],"resultType":null"#.to_owned(),
            format!("{from},{short}"),
            format!(r#"{from},{long},"error":"getaddrinfo EAI_AGAIN h""#),
        ] {
            assert_eq!(posts(&members), Some(0), "{members}");
        }
    }

    #[test]
    fn wrong_types_and_long_lists_cost_little() {
        let arena = Bump::new();
        let text = r#"{"method":"ping","outcome":"X","postCount":"two","httpStatuses":[1,2,3,4,5,6,"7",8,9,null,99999],"jsonrpc":{"id":null},"startedAt":"soon","retryAfter":"Wed, 21 Oct 2026 07:28:00 GMT"}"#;
        let sink = format::decode_lines(Some(&FORMAT), text, &arena);
        assert_eq!(sink.notices[0].kind, NoticeKind::BadTimestamp);
        let Kind::Summary(summary) = sink.events[0].kind else { panic!() };
        assert_eq!((summary.posts, summary.statuses, summary.retry_after), (None, &[2, 3, 4, 5, 6, 7, 8, 9][..], None));
        assert_eq!((summary.call.id, sink.events[0].at), (None, None));
    }

    #[test]
    fn only_summaries_are_taken() {
        let arena = Bump::new();
        assert!(sniff(&Head { bytes: SAMPLE.as_bytes() }));
        for text in [
            r#"{"method":"tools/call","outcome":"X"}"#,
            r#"{"outcome":"X","postCount":1}"#,
            r#"{"method":"a","outcome":"X","postCount":1"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call"}"#,
        ] {
            assert!(!sniff(&Head { bytes: text.as_bytes() }), "{text}");
            let sink = format::decode_lines(None, text, &arena);
            assert!(!sink.events.iter().any(|event| matches!(event.kind, Kind::Summary(_))), "{text}");
        }
        assert_eq!(without_version("@scope/client@1.2"), "@scope/client");
        assert_eq!(without_version("@scope"), "@scope");
    }
}
