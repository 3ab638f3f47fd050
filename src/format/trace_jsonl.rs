//! `trace-jsonl`: one JSON-RPC message a line, bare or inside an envelope. Decodes one line.
//!
//! The hot path of the whole program: one pass over the line, no copies.

use std::fmt;

use bumpalo::Bump;
use serde::{
    Deserializer,
    de::{DeserializeSeed, IgnoredAny, MapAccess, SeqAccess, Visitor},
};
use serde_json::value::RawValue;

use super::{Format, Head, claims, har::behind};
use crate::{
    event::{ContentKind, Direction, Event, HttpMeta, Kind, Message, Rpc},
    frame::Framing,
    jsonrpc::{self, Members, Reader, not_an_object},
    notice::NoticeKind,
    phase::{Fields, Value},
    record::{Record, Sink},
    wording,
};

/// JSON-RPC messages, one a line.
pub static FORMAT: Format = Format {
    name: "trace-jsonl",
    title: "JSON-RPC trace, JSON lines",
    doc: "Written by tracing middleware, tees and test harnesses: one JSON-RPC message a line, bare or inside an \
          envelope with `ts`, `run_id`, `direction` and more.\n\n\
          ```json\n{\"ts\":\"2026-07-22T14:03:12.900Z\",\"run_id\":\"run_01JX\",\"direction\":\"in\",\"message\":{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\"}}\n```\n\n\
          `direction` is seen from the server. Without `witness` the writer stands between the two parties: it proves \
          that a request was sent and that an answer was given, not that the request was received.",
    framing: Framing::Lines,
    json_lines: true,
    gist: None,
    witness: None,
    sniff: |head: &Head<'_>| claims(decode, head),
    decode,
};

fn decode<'a>(record: &Record<'a>, sink: &mut Sink<'a>) -> bool {
    if let Some(rest) = record.text.strip_prefix("stdout: ") {
        return pollution_line(rest, record, sink);
    }
    if !matches!(record.text.as_bytes().first(), Some(b'{' | b'[')) {
        return false;
    }
    if record.text.starts_with('[') {
        return batch_line(record, sink);
    }
    let reader = Reader::new(record.arena);
    let mut json = serde_json::Deserializer::from_str(record.text);
    let mut line = Line::default();
    let seed = LineSeed { reader: &reader, line: &mut line };
    if seed.deserialize(&mut json).and_then(|()| json.end()).is_err() {
        return torn_line(record, sink);
    }
    if !line.is_trace() {
        return false;
    }
    if reader.oddities().duplicate_key {
        sink.notice(NoticeKind::DuplicateKey, record.origin);
    }
    line.push(record, sink);
    true
}

/// A line `stdout: some text` is stdout pollution, unless the text is a message after all.
fn pollution_line<'a>(rest: &'a str, record: &Record<'a>, sink: &mut Sink<'a>) -> bool {
    let rpc = if rest.starts_with('{') { jsonrpc::read_one(rest, record.arena).0 } else { Rpc::NotRpc };
    let kind = match rpc {
        Rpc::NotRpc | Rpc::Malformed => Kind::Pollution,
        rpc => message(Some(Direction::ToClient), None, rpc),
    };
    sink.push(Event { origin: record.origin, at: None, witness: None, keys: crate::event::Keys::default(), kind });
    true
}

/// A bare batch (2025-03-26).
fn batch_line<'a>(record: &Record<'a>, sink: &mut Sink<'a>) -> bool {
    let (batch, _) = jsonrpc::read(record.text, record.arena);
    if batch.iter().any(|rpc| matches!(rpc, Rpc::NotRpc | Rpc::Malformed)) {
        return false;
    }
    for rpc in batch {
        let keys = crate::event::Keys::default();
        sink.push(Event { origin: record.origin, at: None, witness: None, keys, kind: message(None, None, rpc) });
    }
    true
}

/// A line cut in the middle that began as a trace line: the message is known to have been there, not what it said.
fn torn_line<'a>(record: &Record<'a>, sink: &mut Sink<'a>) -> bool {
    let start = record.text.as_bytes().get(..64.min(record.text.len())).unwrap_or_default();
    let looks_like_trace =
        [&b"\"direction\""[..], b"\"jsonrpc\""].iter().any(|key| memchr::memmem::find(start, key).is_some());
    if looks_like_trace {
        super::note_damage(record, sink);
        let keys = crate::event::Keys::default();
        sink.push(Event { origin: record.origin, at: None, witness: None, keys, kind: Kind::Text(record.text) });
    }
    looks_like_trace
}

fn message(direction: Option<Direction>, http: Option<HttpMeta>, rpc: Rpc<'_>) -> Kind<'_> {
    Kind::Message(Message { direction, queued: false, thin: false, http, rpc })
}

/// The messages of a line.
#[derive(Default)]
#[expect(clippy::large_enum_variant, reason = "lives on the stack for one line; a box would be an allocation a line")]
enum Carried<'a> {
    #[default]
    None,
    One(Rpc<'a>),
    Many(&'a [Rpc<'a>]),
    /// Text that is not JSON.
    Text,
}

#[derive(Default)]
struct Line<'a> {
    fields: Fields<'a>,
    members: Members<'a>,
    carried: Carried<'a>,
    direction: Option<Direction>,
    http: Option<HttpMeta>,
    session: Option<&'a str>,
    /// `stream` is `stdout` or `stdin`.
    stdout: bool,
    /// Keys of other formats that carry the same words.
    foreign: bool,
}

impl<'a> Line<'a> {
    fn is_trace(&self) -> bool {
        if self.foreign {
            return false;
        }
        match self.carried {
            Carried::One(Rpc::NotRpc | Rpc::Malformed) | Carried::Text => self.direction.is_some() || self.stdout,
            Carried::One(_) | Carried::Many(_) => true,
            Carried::None => {
                self.members.version.is_some() && (self.members.any() || self.members.id.is_some())
                    || self.direction.is_some() && (self.members.any() || self.members.id.is_some())
            }
        }
    }

    fn push(mut self, record: &Record<'a>, sink: &mut Sink<'a>) {
        if self.fields.bad_stamp {
            sink.notice(NoticeKind::BadTimestamp, record.origin);
        }
        self.fields.keys.session = self.fields.keys.session.or(self.session);
        let one;
        let rpcs: &[Rpc<'a>] = match self.carried {
            Carried::None => {
                one = [self.members.finish(true)];
                &one
            }
            Carried::One(rpc) => {
                one = [rpc];
                &one
            }
            Carried::Many(rpcs) => rpcs,
            // An HTTP body that is no JSON is still the answer of that exchange; its status is the fact.
            // What goes to the server may have been a request.
            Carried::Text if self.http.is_some() || self.direction == Some(Direction::ToServer) => {
                one = [Rpc::Malformed];
                &one
            }
            Carried::Text => &[],
        };
        let direction = self.direction.or(self.stdout.then_some(Direction::ToClient));
        let event = |kind| Event {
            origin: record.origin,
            at: self.fields.at,
            witness: self.fields.witness,
            keys: self.fields.keys,
            kind,
        };
        if rpcs.is_empty() {
            let kind = if self.stdout || direction == Some(Direction::ToClient) {
                Kind::Pollution
            } else {
                Kind::Text(record.text)
            };
            sink.push(event(kind));
        }
        if let Some(http) = self.http.as_mut().filter(|http| http.status >= 300) {
            http.behind = behind::in_body(record.text, rpcs);
            http.unknown_words = !refuses_in_known_words(record.text);
        }
        for rpc in rpcs {
            if direction == Some(Direction::ToServer) && *rpc == Rpc::Malformed {
                sink.notice(NoticeKind::NoRequest, record.origin);
            }
            let pollution = self.stdout && *rpc == Rpc::NotRpc;
            sink.push(event(if pollution { Kind::Pollution } else { message(direction, self.http, *rpc) }));
        }
    }
}

/// Fills a line in place: it is too big to be handed from one parsing function to the next.
struct LineSeed<'r, 'a> {
    reader: &'r Reader<'a>,
    line: &'r mut Line<'a>,
}

impl<'a> DeserializeSeed<'a> for LineSeed<'_, 'a> {
    type Value = ();
    fn deserialize<D: Deserializer<'a>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'a> Visitor<'a> for LineSeed<'_, 'a> {
    type Value = ();
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a trace line")
    }
    fn visit_map<M: MapAccess<'a>>(self, mut map: M) -> Result<(), M::Error> {
        let Self { reader, line } = self;
        while let Some(key) = map.next_key_seed(reader.text())? {
            let key = key.unwrap_or("");
            match key {
                "ts" | "run_id" | "server" | "server_name" | "at" | "started_at" | "timestamp" | "time" | "pid"
                | "client" | "session_id" | "trace_id" | "witness" | "source" => {
                    let value = map.next_value::<&'a RawValue>()?;
                    line.fields.set(key, Value::of_json(value.get(), reader));
                }
                "message" | "msg" | "payload" | "raw" => line.carried = map.next_value_seed(CarriedSeed(reader))?,
                "direction" => line.direction = map.next_value_seed(reader.text())?.and_then(direction),
                "stream" => line.stdout = map.next_value_seed(reader.text())? == Some("stdout"),
                "http" => {
                    let (meta, session) = http_meta(map.next_value::<&'a RawValue>()?.get(), reader);
                    (line.http, line.session) = (Some(meta), session);
                }
                "dir" | "resourceSpans" | "scenario" | "scenarioId" | "phase" | "postCount" | "httpStatuses"
                | "retryOrigin" => {
                    line.foreign = true;
                    map.next_value::<IgnoredAny>()?;
                }
                _ if line.members.accept(key, &mut map, reader)? => {}
                _ => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(())
    }
}

/// `in` and `out` are seen from the server, `send` and `recv` from the client.
fn direction(word: &str) -> Option<Direction> {
    Some(match word {
        "in" | "client->server" | "c2s" | "send" | "request" => Direction::ToServer,
        "out" | "server->client" | "s2c" | "recv" | "response" => Direction::ToClient,
        _ => return None,
    })
}

fn http_meta<'a>(raw: &'a str, reader: &Reader<'a>) -> (HttpMeta, Option<&'a str>) {
    #[derive(Default, serde::Deserialize)]
    #[serde(default)]
    struct Http<'a> {
        status: serde_json::Value,
        content_type: serde_json::Value,
        #[serde(borrow)]
        session_id: Option<&'a RawValue>,
    }
    let http: Http<'a> = serde_json::from_str(raw).unwrap_or_default();
    let status = http.status.as_u64().and_then(|status| u16::try_from(status).ok()).unwrap_or(0);
    let session = http.session_id.and_then(|raw| match Value::of_json(raw.get(), reader) {
        crate::phase::Value::Text(text) => Some(text),
        _ => None,
    });
    let content = ContentKind::of(http.content_type.as_str().unwrap_or(""));
    (HttpMeta { status, content, behind: false, unknown_words: false }, session)
}

/// Whether what a line carries of an HTTP body is nothing but the words of a door.
fn refuses_in_known_words(line: &str) -> bool {
    #[derive(serde::Deserialize)]
    struct Carriers<'a> {
        #[serde(borrow, alias = "msg", alias = "payload", alias = "raw")]
        message: Option<&'a RawValue>,
        #[serde(borrow)]
        error: Option<&'a RawValue>,
    }
    let Ok(carriers) = serde_json::from_str::<Carriers<'_>>(line) else { return false };
    let Some(body) = carriers.message.or(carriers.error) else { return true };
    let text = serde_json::from_str::<String>(body.get());
    wording::refuses_in_known_words(text.as_deref().unwrap_or(body.get()))
}

struct CarriedSeed<'r, 'a>(&'r Reader<'a>);

impl<'a> DeserializeSeed<'a> for CarriedSeed<'_, 'a> {
    type Value = Carried<'a>;
    fn deserialize<D: Deserializer<'a>>(self, deserializer: D) -> Result<Carried<'a>, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'a> Visitor<'a> for CarriedSeed<'_, 'a> {
    type Value = Carried<'a>;
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a message, as an object or as JSON text")
    }
    not_an_object!(@scalars Carried::None);
    fn visit_borrowed_str<E>(self, text: &'a str) -> Result<Self::Value, E> {
        Ok(carried_text(text, self.0.arena()))
    }
    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        let arena = self.0.arena();
        Ok(carried_text(arena.alloc_str(text), arena))
    }
    fn visit_seq<S: SeqAccess<'a>>(self, mut seq: S) -> Result<Self::Value, S::Error> {
        let mut rpcs = Vec::new();
        while let Some(rpc) = seq.next_element_seed(self.0.message())? {
            rpcs.push(rpc);
        }
        Ok(Carried::Many(self.0.arena().alloc_slice_copy(&rpcs)))
    }
    fn visit_map<M: MapAccess<'a>>(self, map: M) -> Result<Self::Value, M::Error> {
        self.0.message().visit_map(map).map(Carried::One)
    }
}

fn carried_text<'a>(text: &'a str, arena: &'a Bump) -> Carried<'a> {
    if !text.trim_start().starts_with(['{', '[']) {
        return Carried::Text;
    }
    let (rpcs, _) = jsonrpc::read(text, arena);
    match rpcs[..] {
        [rpc] => Carried::One(rpc),
        _ => Carried::Many(arena.alloc_slice_copy(&rpcs)),
    }
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU32;

    use super::*;
    use crate::{
        event::{Answer, Id, Origin, Request, SourceId},
        format::decode_lines,
    };

    #[test]
    fn reads_the_line_form_and_the_envelope() {
        let arena = Bump::new();
        let text = concat!(
            r#"{"direction":"in","id":1,"method":"initialize"}"#,
            "\n",
            r#"{"ts":"2026-07-22T14:03:12.900Z","run_id":"run_01JX","server":"acme","direction":"out","message":{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-06-18","serverInfo":{"name":"acme"}}}}"#,
            "\n",
        );
        let sink = decode_lines(Some(&FORMAT), text, &arena);
        let [first, second] = sink.events[..] else { panic!("{sink:?}") };
        assert!(
            matches!(
                first.kind,
                Kind::Message(Message {
                    direction: Some(Direction::ToServer),
                    rpc: Rpc::Request(Request { id: Id::Int(1), method: "initialize", .. }),
                    ..
                })
            ),
            "{first:?}"
        );
        assert_eq!((second.keys.run, second.origin.offset), (Some("run_01JX"), 48));
        assert!(
            matches!(
                second.kind,
                Kind::Message(Message { direction: Some(Direction::ToClient), rpc: Rpc::Answer(_), .. })
            ),
            "{second:?}"
        );
    }

    #[test]
    fn a_message_as_text_may_be_damaged_and_carry_http() {
        let arena = Bump::new();
        let text = r#"{"direction":"out","http":{"status":200,"content_type":"application/json; charset=utf-8"},"raw":"{\"jsonrpc\":\"2.0\",\"id\":1,"}"#;
        let sink = decode_lines(Some(&FORMAT), text, &arena);
        let Kind::Message(message) = sink.events[0].kind else { panic!("{sink:?}") };
        assert_eq!(message.rpc, Rpc::Malformed);
        assert_eq!(
            message.http,
            Some(HttpMeta { status: 200, content: ContentKind::Json, behind: false, unknown_words: false })
        );
    }

    #[test]
    fn a_request_that_is_no_json_is_told() {
        let arena = Bump::new();
        let text = r#"{"direction":"in","raw":"{not json"}"#;
        let sink = decode_lines(Some(&FORMAT), text, &arena);
        assert!(sink.notices.iter().any(|notice| notice.kind == NoticeKind::NoRequest), "{sink:?}");
    }

    #[test]
    fn text_on_stdout_is_pollution() {
        let arena = Bump::new();
        for text in [r#"{"stream":"stdout","msg":"Server ready"}"#, "stdout: Server ready"] {
            let sink = decode_lines(Some(&FORMAT), text, &arena);
            assert_eq!(sink.events[0].kind, Kind::Pollution, "{text}");
        }
    }

    #[test]
    fn ordinary_json_logs_are_left_alone() {
        let arena = Bump::new();
        let origin = Origin { source: SourceId(0), record: NonZeroU32::MIN, offset: 0 };
        for text in
            [r#"{"level":"info","msg":"hello","time":1}"#, r#"{"id":7,"name":"x"}"#, r#"{"dir":"c2s","line":"{}"}"#]
        {
            let mut sink = Sink::new();
            assert!(!decode(&Record { origin, text, arena: &arena }, &mut sink), "{text}: {sink:?}");
        }
    }

    #[test]
    fn an_answer_with_both_members_keeps_both() {
        let arena = Bump::new();
        let text = r#"{"direction":"out","jsonrpc":"2.0","id":1,"result":{},"error":{"code":-32603,"message":"x"}}"#;
        let sink = decode_lines(Some(&FORMAT), text, &arena);
        assert!(
            matches!(
                sink.events[0].kind,
                Kind::Message(Message { rpc: Rpc::Answer(Answer { result: Some(_), error: Some(_), .. }), .. })
            ),
            "{sink:?}"
        );
    }
}
