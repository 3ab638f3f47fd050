//! One entry of a HAR file becomes one exchange. Puts together what URL, headers, bodies and causes say.

use bumpalo::Bump;

use super::{
    body::{self, Answered, Text},
    failure::Failure,
    head::{self, Asked, Given, Url},
    times::Times,
};
use crate::{
    event::{Body, ContentKind, Direction, Event, Exchange, HttpFailure, Keys, Kind, Message, Rpc},
    format::loose::Value,
    notice::NoticeKind,
    record::{Record, Sink},
    time::{self, Stamp},
};

/// Decodes one entry. Says yes to everything: in a HAR file nothing else can stand here.
pub(super) fn decode<'a>(record: &Record<'a>, sink: &mut Sink<'a>) -> bool {
    let entry = Value::read(record.text);
    if !entry.is_object() {
        sink.notice(NoticeKind::NotJson, record.origin);
        return true;
    }
    if !entry.whole() {
        sink.notice(NoticeKind::NotJson, record.origin);
    }
    let mut entry = Entry::read(entry);
    let Some(request) = entry.request else {
        if entry.whole {
            sink.notice(NoticeKind::UnknownShape, record.origin);
        }
        return true;
    };
    let asked = Request::read(request, record.arena);
    let given = Response::read(&entry, record.arena);
    let at = entry.started.and_then(|value| stamp(value, record.arena));
    entry.times = entry.times.of_whole(given.content_kind() == ContentKind::EventStream);
    if at.is_none() {
        sink.notice(NoticeKind::BadTimestamp, record.origin);
    }
    if entry.socket {
        sink.notice(NoticeKind::WebSocket, record.origin);
    }
    let read = Read { at, ended: at.and_then(|at| ended(at, entry.times.total()?)), asked, given, entry };
    let twice = if read.asked.url.authority.starts_with("mcp://") {
        read.messages(record, sink)
    } else {
        read.exchange(record, sink)
    };
    if twice {
        sink.notice(NoticeKind::DuplicateKey, record.origin);
    }
    true
}

/// ISO 8601 with a zone; some writers put an epoch number there.
fn stamp<'a>(value: Value<'a>, arena: &'a Bump) -> Option<Stamp> {
    value.text(arena).and_then(time::parse).or_else(|| value.number().and_then(time::epoch))
}

/// The instant that is so many milliseconds later.
fn ended(at: Stamp, milliseconds: f64) -> Option<Stamp> {
    #[expect(clippy::cast_possible_truncation, reason = "a cast of a float saturates")]
    let nanoseconds = (milliseconds * 1e6).round() as i64;
    Some(Stamp { at: time::Timestamp(at.at.0.checked_add(nanoseconds)?), digits: at.digits.max(3), ..at })
}

/// Takes the last of repeated members and notes that there were several.
fn put<'a>(slot: &mut Option<Value<'a>>, value: Value<'a>, twice: &mut bool) {
    *twice |= slot.replace(value).is_some();
}

/// The members of an entry.
#[derive(Debug, Default)]
struct Entry<'a> {
    started: Option<Value<'a>>,
    times: Times,
    request: Option<Value<'a>>,
    response: Option<Value<'a>>,
    events: Option<Value<'a>>,
    failure: Failure<'a>,
    /// A WebSocket carried JSON-RPC.
    socket: bool,
    whole: bool,
    twice: bool,
}

impl<'a> Entry<'a> {
    fn read(value: Value<'a>) -> Self {
        let mut entry = Self { whole: value.whole(), ..Self::default() };
        let (mut time, mut timings) = (None, None);
        for (key, value) in value.members() {
            match key {
                "startedDateTime" => put(&mut entry.started, value, &mut entry.twice),
                "time" => put(&mut time, value, &mut entry.twice),
                "timings" => put(&mut timings, value, &mut entry.twice),
                "request" if value.is_object() => put(&mut entry.request, value, &mut entry.twice),
                "response" => put(&mut entry.response, value, &mut entry.twice),
                "_eventSourceMessages" => entry.events = Some(value),
                "_webSocketMessages" => entry.socket |= value.raw().contains("jsonrpc"),
                _ => entry.failure.accept(key, value),
            }
        }
        entry.times = Times::read(time, timings);
        entry
    }
}

/// What the request says.
#[derive(Debug)]
struct Request<'a> {
    method: &'a str,
    url: Url<'a>,
    headers: Asked<'a>,
    sent: Vec<Rpc<'a>>,
    /// The body is as long as its header says.
    whole: bool,
    /// The body names a call, and is no message.
    wraps: bool,
    twice: bool,
}

impl<'a> Request<'a> {
    fn read(value: Value<'a>, arena: &'a Bump) -> Self {
        let (mut method, mut url, mut headers, mut data, mut twice) = (None, None, None, None, false);
        for (key, value) in value.members() {
            let slot = match key {
                "method" => &mut method,
                "url" => &mut url,
                "headers" => &mut headers,
                "postData" => &mut data,
                _ => continue,
            };
            put(slot, value, &mut twice);
        }
        let data = data.map(|data| Text::read(data, arena)).unwrap_or_default();
        let (sent, oddities) = body::sent(&data, arena);
        let method = method.and_then(|method| method.text(arena)).unwrap_or("").trim();
        let headers = Asked::read(headers, arena);
        let length = data.characters.map(|text| text.len() as u64);
        let wraps = sent.contains(&Rpc::NotRpc) && data.characters.is_some_and(|text| text.contains("\"tools/call\""));
        Self {
            method: if method.bytes().any(|byte| byte.is_ascii_lowercase()) {
                arena.alloc_str(&method.to_ascii_uppercase())
            } else {
                method
            },
            url: url.and_then(|url| url.text(arena)).map(|url| Url::read(url, arena)).unwrap_or_default(),
            whole: length.is_some() && headers.length == length,
            headers,
            sent,
            wraps,
            twice: twice || data.twice || oddities.duplicate_key,
        }
    }

    /// A POST whose body was not captured whole: what it asked for is not known. What is no JSON and was captured whole
    /// asked for nothing.
    fn is_lost(&self) -> bool {
        self.method == "POST" && (self.sent.is_empty() || self.sent.contains(&Rpc::Malformed) && !self.whole)
    }

    /// The body holds a request, or no body was captured: an answer was due.
    fn expects_answer(&self) -> bool {
        self.method == "POST"
            && (self.sent.is_empty()
                || self.sent.iter().any(|message| !matches!(message, Rpc::Notification(_) | Rpc::Answer(_))))
    }
}

/// What the response says.
#[derive(Debug)]
struct Response<'a> {
    status: i32,
    headers: Given<'a>,
    content: Text<'a>,
    failure: Failure<'a>,
    /// Bytes came over the wire.
    transferred: bool,
    /// The entry is cut inside or before the response.
    cut: bool,
    twice: bool,
}

impl<'a> Response<'a> {
    fn read(entry: &Entry<'a>, arena: &'a Bump) -> Self {
        let (mut status, mut headers, mut content, mut twice) = (None, None, None, false);
        let (mut failure, mut transferred) = (entry.failure, false);
        for (key, value) in entry.response.iter().flat_map(|value| value.members()) {
            match key {
                "status" => put(&mut status, value, &mut twice),
                "headers" => put(&mut headers, value, &mut twice),
                "content" => put(&mut content, value, &mut twice),
                "_transferSize" => transferred = value.number().is_some_and(|size| size > 0.0),
                _ => failure.accept(key, value),
            }
        }
        let content = content.map(|content| Text::read(content, arena)).unwrap_or_default();
        #[expect(clippy::cast_possible_truncation, reason = "a cast of a float saturates")]
        let status = status.and_then(Value::number).unwrap_or(0.0) as i32;
        Self {
            status,
            headers: Given::read(headers, arena),
            failure,
            transferred,
            cut: !entry.whole && entry.response.is_none_or(|response| !response.whole()),
            twice: twice || content.twice,
            content,
        }
    }

    fn content_kind(&self) -> ContentKind {
        match self.headers.content {
            ContentKind::Unknown => self.content.kind,
            known => known,
        }
    }

    /// The state of a body that has no text (HAR 1.2, `content.text` is optional; what its absence means differs by writer).
    fn without_text(&self, request: &Request<'a>) -> Body {
        let there = self.content.elsewhere || self.content.size.unwrap_or(0).max(self.headers.length.unwrap_or(0)) > 0;
        if self.cut || there && self.status > 0 && request.method != "HEAD" {
            return Body::Missing;
        }
        if self.status <= 0 {
            return if self.transferred { Body::Missing } else { Body::Empty };
        }
        let length = self.headers.length.or(self.content.size);
        if self.status >= 300 && self.content.characters.is_none() && self.content.stated && length != Some(0) {
            // The writer describes a body and wrote none of it: a refusal's words are not known.
            return Body::Missing;
        }
        let success = (200..300).contains(&self.status) && !matches!(self.status, 202 | 204 | 205);
        if !success || self.headers.length == Some(0) || !matches!(request.method, "GET" | "POST") {
            return Body::Empty;
        }
        let stream = self.content_kind() == ContentKind::EventStream;
        // Absence is not emptiness: only a text that is there and empty says that nothing came, and for a call that
        // was due an answer not even that, since mitmproxy writes it for every streamed body.
        match self.content.characters {
            None if self.content.size != Some(0) || stream => Body::Missing,
            Some(_) | None if request.expects_answer() => Body::Missing,
            _ => Body::Empty,
        }
    }
}

/// An entry whose parts are read.
#[derive(Debug)]
struct Read<'a> {
    at: Option<Stamp>,
    ended: Option<Stamp>,
    asked: Request<'a>,
    given: Response<'a>,
    entry: Entry<'a>,
}

impl<'a> Read<'a> {
    fn answered(&self, arena: &'a Bump) -> Answered<'a> {
        let given = &self.given;
        let kind = given.content_kind();
        if let Some(text) = given.content.characters.filter(|text| !text.trim().is_empty()) {
            return Answered::read(&given.content, text, kind, given.status, arena);
        }
        // Newer Chrome keeps the events of a stream here and nowhere else.
        if let Some(events) = self.entry.events.filter(|events| events.elements().next().is_some()) {
            return Answered::stream(
                &Text::default(),
                events.elements().map(|event| stream_event(event, arena)),
                arena,
            );
        }
        Answered::without_text(given.without_text(&self.asked), kind)
    }

    /// What the answer says, or why there is none.
    fn outcome(&mut self, arena: &'a Bump) -> (Answered<'a>, Option<HttpFailure>) {
        let untouched = self.given.status <= 0 && !self.given.transferred && !self.entry.times.any();
        let Some(cause) = self.given.failure.intercepted(untouched && self.entry.whole) else {
            return (self.answered(arena), self.failure(arena));
        };
        // The browser tool gave the answer: no server said this to the client.
        self.given.status = 0;
        (Answered::without_text(Body::Empty, ContentKind::Unknown), Some(cause))
    }

    /// Pushes the exchange; says whether a key stood twice.
    fn exchange(mut self, record: &Record<'a>, sink: &mut Sink<'a>) -> bool {
        let arena = record.arena;
        let (mut answered, failure) = self.outcome(arena);
        let mcp = self.speaks_mcp(&answered);
        if !mcp {
            self.asked.sent.clear();
            answered.messages.clear();
        } else if self.asked.is_lost() {
            sink.notice(NoticeKind::LostRequest, record.origin);
        } else if self.asked.method == "POST" && self.asked.sent.contains(&Rpc::Malformed) {
            sink.notice(NoticeKind::NoRequest, record.origin);
        }
        let keys = self.keys(&answered, mcp);
        let Self { at, ended, asked, given, entry } = self;
        let headers = &asked.headers;
        let exchange = Exchange {
            method: asked.method,
            authority: asked.url.authority,
            path: asked.url.path,
            status: given.status,
            failure,
            session_sent: headers.session,
            nameless: headers.recorded && headers.session.is_none(),
            session_given: given.headers.session,
            revision: headers.revision,
            mcp_method: headers.mcp_method,
            mcp_name: headers.mcp_name,
            resumes: headers.resumes,
            sent: arena.alloc_slice_copy(&asked.sent),
            answered: arena.alloc_slice_copy(&answered.messages),
            body: answered.state,
            content: answered.content,
            retry_after: given.headers.retry_after,
            challenge: given.headers.challenge,
            by_gateway: given.headers.gateway || answered.gateway_page,
            upstream: given.headers.upstream,
            wording: answered.wording,
            event_id: answered.event_id,
            mcp,
            ended,
            took: entry.times.longest(given.headers.spent),
            behind: given.headers.behind || answered.behind,
            unknown_words: answered.unknown_words,
            sent_before: headers.sent_before,
            resends: failure == Some(HttpFailure::NotConnected) && given.failure.is_of_a_browser(arena),
        };
        let mut push = |kind| sink.push(Event { origin: record.origin, at, witness: None, keys, kind });
        push(Kind::Exchange(arena.alloc(exchange)));
        if mcp && asked.wraps {
            push(Kind::Message(Message::UNREADABLE));
        }
        entry.twice || asked.twice || given.twice || answered.oddities.duplicate_key
    }

    /// Why there was no answer.
    fn failure(&self, arena: &'a Bump) -> Option<HttpFailure> {
        match self.given.status {
            1.. => None,
            // What refutes a cause may stand behind the cut.
            _ if !self.entry.whole => Some(HttpFailure::Broken),
            _ => Some(self.given.failure.cause(self.entry.times.sent(), arena)),
        }
    }

    fn keys(&self, answered: &Answered<'a>, mcp: bool) -> Keys<'a> {
        let Self { asked, given, .. } = self;
        let old = || head::session_of_query(asked.url.query).or_else(|| session_of_endpoint(answered.endpoint?));
        let session = asked.headers.session.or(given.headers.session).or_else(|| old().filter(|_| mcp));
        Keys { session, trace: asked.headers.trace, ..Keys::default() }
    }

    /// Whether bodies or headers speak MCP. A plain event stream alone is anybody's.
    fn speaks_mcp(&self, answered: &Answered<'a>) -> bool {
        let Request { method, url, headers, sent, .. } = &self.asked;
        let named =
            headers.session.or(self.given.headers.session).or(headers.revision).or(headers.mcp_method).is_some();
        let asked = match *method {
            "POST" => headers.accepts_json && headers.accepts_stream || sent.is_empty() && is_endpoint(url.path),
            "GET" => headers.accepts_stream && is_endpoint(url.path),
            _ => false,
        };
        let bodies = || {
            let mut all = sent.iter().chain(&answered.messages);
            all.clone().any(body::is_rpc) && !all.any(body::is_other_service)
        };
        let endpoint = || answered.endpoint.is_some_and(|uri| session_of_endpoint(uri).is_some());
        named || asked || bodies() || endpoint()
    }

    /// An entry of mcpsnoop: JSON-RPC over any transport dressed as HTTP. Its status is made up, so no exchange is
    /// claimed. Says whether a key stood twice.
    fn messages(self, record: &Record<'a>, sink: &mut Sink<'a>) -> bool {
        let answered = self.answered(record.arena);
        let server = self.asked.url.authority.strip_prefix("mcp://").filter(|server| !server.is_empty());
        let keys = Keys { server, ..Keys::default() };
        let direction = self.asked.sent.iter().find_map(direction_of);
        let mut push = |at, direction, rpc| {
            let message = Message { direction, queued: false, thin: false, http: None, rpc };
            sink.push(Event { origin: record.origin, at, witness: None, keys, kind: Kind::Message(message) });
        };
        for rpc in &self.asked.sent {
            push(self.at, direction, *rpc);
        }
        for rpc in &answered.messages {
            push(self.ended, direction.map(opposite), *rpc);
        }
        if self.asked.sent.is_empty() && answered.messages.is_empty() {
            sink.notice(NoticeKind::UnknownShape, record.origin);
        }
        self.entry.twice || self.asked.twice || self.given.twice || answered.oddities.duplicate_key
    }
}

/// The paths that MCP servers use by default; `/sse` for HTTP+SSE (2024-11-05).
fn is_endpoint(path: &str) -> bool {
    let path = path.trim_end_matches('/');
    path.ends_with("/mcp") || path.ends_with("/sse")
}

/// Which way a message goes by its method: a server asks for these three, a client for everything else.
fn direction_of(message: &Rpc<'_>) -> Option<Direction> {
    let Rpc::Request(request) = message else { return None };
    let asks_client = ["sampling/", "elicitation/", "roots/"].iter().any(|start| request.method.starts_with(start));
    Some(if asks_client { Direction::ToClient } else { Direction::ToServer })
}

fn opposite(direction: Direction) -> Direction {
    match direction {
        Direction::ToServer => Direction::ToClient,
        Direction::ToClient => Direction::ToServer,
    }
}

fn session_of_endpoint(uri: &str) -> Option<&str> {
    head::session_of_query(uri.split_once('?')?.1)
}

/// One of `_eventSourceMessages`.
fn stream_event<'a>(value: Value<'a>, arena: &'a Bump) -> crate::sse::Event<'a> {
    let mut event = crate::sse::Event { ended: true, ..Default::default() };
    for (key, value) in value.members() {
        match key {
            "eventName" => event.name = value.text(arena).unwrap_or(""),
            "eventId" => event.id = value.text(arena),
            "data" => event.data = value.text(arena).unwrap_or(""),
            _ => {}
        }
    }
    event
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU32;

    use super::*;
    use crate::event::{Answer, Id, Origin, Rpc, SourceId, Wording};

    fn record<'a>(text: &'a str, arena: &'a Bump) -> Record<'a> {
        let origin = Origin { source: SourceId(0), record: NonZeroU32::MIN, offset: 0 };
        Record { origin, text, arena }
    }

    fn read<'a>(text: &'a str, arena: &'a Bump) -> Sink<'a> {
        let mut sink = Sink::new();
        assert!(decode(&record(text, arena), &mut sink));
        sink
    }

    fn exchange<'a>(text: &str, arena: &'a Bump) -> Exchange<'a> {
        let text = arena.alloc_str(text);
        let sink = read(text, arena);
        assert_eq!(sink.events.len(), 1, "{text}");
        let Kind::Exchange(exchange) = sink.events[0].kind else { panic!("no exchange: {text}") };
        *exchange
    }

    const CALL: &str = r#"{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"tools/call\",\"params\":{\"name\":\"add\"}}"#;
    const RESULT: &str = r#"{\"jsonrpc\":\"2.0\",\"id\":3,\"result\":{\"content\":[]}}"#;

    /// An entry that posts `CALL`, with the given response.
    fn post(response: &str) -> String {
        format!(
            r#"{{"startedDateTime":"2026-11-30T03:08:11.033+01:00","time":5.5,"request":{{"method":"POST",
            "url":"http://127.0.0.1:8000/mcp","headers":[{{"name":"Accept","value":"application/json, text/event-stream"}},
            {{"name":"mcp-session-id","value":"S1"}}],"postData":{{"mimeType":"application/json","text":"{CALL}"}}}},
            "response":{response},"timings":{{"send":0,"wait":-1,"receive":0}}}}"#
        )
    }

    fn response(status: i32, mime: &str, content: &str) -> String {
        format!(
            r#"{{"status":{status},"headers":[{{"name":"Content-Type","value":"{mime}"}}],"content":{{{content}}}}}"#
        )
    }

    fn get(method: &str, headers: &str, response: &str) -> String {
        format!(
            r#"{{"startedDateTime":"2026-11-30T03:08:11Z","time":1,"request":{{"method":"{method}",
            "url":"http://h/mcp","headers":[{headers}]}},"response":{response}}}"#
        )
    }

    fn ids<'a>(messages: &[Rpc<'a>]) -> Vec<Option<Id<'a>>> {
        let id = |message: &Rpc<'a>| match message {
            Rpc::Request(request) => Some(request.id),
            Rpc::Answer(Answer { id, .. }) => *id,
            _ => None,
        };
        messages.iter().map(id).collect()
    }

    #[test]
    fn a_json_answer() {
        let arena = Bump::new();
        let text = post(&response(200, "application/json", &format!(r#""size":54,"text":"{RESULT}""#)));
        let sink = read(&text, &arena);
        assert_eq!(sink.notices, []);
        let event = sink.events[0];
        assert_eq!(event.at.map(|at| at.at.rfc3339(3)).as_deref(), Some("2026-11-30T02:08:11.033Z"));
        assert_eq!((event.witness, event.keys.session), (None, Some("S1")));
        let Kind::Exchange(exchange) = event.kind else { panic!("no exchange") };
        assert_eq!((exchange.method, exchange.authority, exchange.path), ("POST", "http://127.0.0.1:8000", "/mcp"));
        assert_eq!((exchange.status, exchange.failure, exchange.session_sent), (200, None, Some("S1")));
        assert_eq!((ids(exchange.sent), ids(exchange.answered)), (vec![Some(Id::Int(3))], vec![Some(Id::Int(3))]));
        assert_eq!((exchange.body, exchange.content, exchange.mcp), (Body::Parsed, ContentKind::Json, true));
        assert!(!exchange.by_gateway && !exchange.challenge && !exchange.event_id);
        assert_eq!(exchange.ended.map(|at| at.at.rfc3339(6)).as_deref(), Some("2026-11-30T02:08:11.038500Z"));
    }

    #[test]
    fn an_event_stream() {
        let arena = Bump::new();
        let progress =
            r#"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{\"progressToken\":3}}"#;
        let stream = format!(
            r"id: a_1\r\ndata:\r\n\r\n: ping\r\n\r\nevent: message\r\ndata: {progress}\r\n\r\nid: a_2\r\ndata: {RESULT}"
        );
        let whole =
            exchange(&post(&response(200, "text/event-stream", &format!(r#""text":"{stream}\r\n\r\n""#))), &arena);
        assert_eq!(ids(whole.answered), [None, Some(Id::Int(3))]);
        assert_eq!((whole.body, whole.content, whole.event_id), (Body::Parsed, ContentKind::EventStream, true));
        let trimmed = exchange(&post(&response(200, "text/event-stream", &format!(r#""text":"{stream}""#))), &arena);
        assert_eq!((trimmed.answered, trimmed.body), (whole.answered, Body::Parsed));
        let cut = stream.trim_end_matches('}');
        let cut = exchange(&post(&response(200, "text/event-stream", &format!(r#""text":"{cut}""#))), &arena);
        assert_eq!((ids(cut.answered), cut.body), (vec![None], Body::TornStream));
    }

    #[test]
    fn a_malformed_event_of_a_stream() {
        let arena = Bump::new();
        let stream = r#""text":"data: {\"jsonrpc\":\"2.0\",\"id\":3,\n\n""#;
        let read = exchange(&post(&response(200, "text/event-stream", stream)), &arena);
        assert_eq!((read.body, read.answered), (Body::Malformed, [Rpc::Malformed].as_slice()));
    }

    #[test]
    fn a_body_in_base64() {
        let arena = Bump::new();
        let content = r#""encoding":"base64","text":"eyJqc29ucnBjIjoiMi4wIiwiaWQiOjMsInJlc3VsdCI6e319""#;
        let read = exchange(&post(&response(200, "application/json", content)), &arena);
        assert_eq!((ids(read.answered), read.body), (vec![Some(Id::Int(3))], Body::Parsed));
    }

    #[test]
    fn a_body_that_was_not_captured() {
        let arena = Bump::new();
        for (status, mime, content, want) in [
            (200, "application/json", r#""size":54"#, Body::Missing),
            (200, "application/json", r#""size":-1"#, Body::Missing),
            (200, "application/json", "", Body::Missing),
            (200, "application/json", r#""size":0,"_sha1":"ab""#, Body::Missing),
            (200, "text/event-stream", r#""size":0,"text":"""#, Body::Missing),
            (200, "application/json", r#""size":0,"text":"""#, Body::Missing),
            (503, "text/plain", r#""size":57"#, Body::Missing),
            (403, "application/json", r#""size":-1,"mimeType":"text/event-stream""#, Body::Missing),
            (403, "application/json", r#""size":800,"encoding":"base64","text":"CwKAeyJ4In0D""#, Body::Missing),
            (403, "application/json", r#""size":0,"mimeType":"x-unknown""#, Body::Empty),
            (202, "application/json", r#""size":0,"text":"""#, Body::Empty),
            (202, "", "", Body::Empty),
            (404, "", "", Body::Empty),
        ] {
            let read = exchange(&post(&response(status, mime, content)), &arena);
            assert_eq!((read.body, read.answered.len()), (want, 0), "{status} {mime} {content}");
        }
    }

    #[test]
    fn streams_and_ends_of_sessions_need_no_body() {
        let arena = Bump::new();
        let accept = r#"{"name":"Accept","value":"text/event-stream"}"#;
        let streamed = response(200, "text/event-stream", r#""size":0,"text":"""#);
        let read = exchange(&get("GET", accept, &streamed), &arena);
        assert_eq!((read.body, read.mcp), (Body::Empty, true));
        let uncaptured = response(200, "text/event-stream", r#""size":0"#);
        assert_eq!(exchange(&get("GET", accept, &uncaptured), &arena).body, Body::Missing);
        let session = r#"{"name":"Mcp-Session-Id","value":"S1"},{"name":"Last-Event-ID","value":"a_1"}"#;
        let read = exchange(&get("DELETE", session, &response(200, "application/json", "")), &arena);
        assert_eq!((read.method, read.body, read.mcp, read.resumes), ("DELETE", Body::Empty, true, true));
    }

    #[test]
    fn a_request_that_was_not_captured() {
        let arena = Bump::new();
        let lost = |body: &str| {
            let text = post(&response(504, "", "")).replace(&format!("\"text\":\"{CALL}\""), body);
            notices(arena.alloc_str(&text), &arena).contains(&NoticeKind::LostRequest)
        };
        let whole = format!("\"text\":\"{CALL}\"");
        assert!(!lost(&whole));
        assert!(lost("\"x\":0") && lost("\"text\":\"\"") && lost(&whole.replace(":3", "")));
    }

    fn notices<'a>(text: &'a str, arena: &'a Bump) -> Vec<NoticeKind> {
        read(text, arena).notices.iter().map(|notice| notice.kind).collect()
    }

    #[test]
    fn a_request_that_is_no_json_and_was_recorded_whole() {
        let arena = Bump::new();
        let length = r#""headers":[{"name":"Content-Length","value":"9"},{"name":"Accept""#;
        let text = post(&response(400, "", "")).replace(CALL, "{not json");
        let text = text.replacen(r#""headers":[{"name":"Accept""#, length, 1);
        assert_eq!(notices(arena.alloc_str(&text), &arena), [NoticeKind::NoRequest]);
        // Ten bytes were sent: what is missing may have made it a request.
        let cut = text.replace("\"value\":\"9\"", "\"value\":\"10\"");
        assert_eq!(notices(arena.alloc_str(&cut), &arena), [NoticeKind::LostRequest]);
    }

    #[test]
    fn a_malformed_answer() {
        let arena = Bump::new();
        let content =
            r#""size":63,"text":"{\"jsonrpc\":\"2.0\",\"id\":3,\"result\":{\"content\":[{\"type\":\"text\",\"te""#;
        let read = exchange(&post(&response(200, "application/json", content)), &arena);
        assert_eq!((read.body, read.answered), (Body::Malformed, [Rpc::Malformed].as_slice()));
    }

    #[test]
    fn pages_of_a_gateway() {
        let arena = Bump::new();
        let page =
            r#""text":"<html>\r\n<body><h1>503 Service Temporarily Unavailable</h1>\r\n<hr><center>nginx</center>""#;
        let read = exchange(&post(&response(503, "text/html", page)), &arena);
        assert_eq!((read.status, read.body, read.content), (503, Body::Foreign, ContentKind::Html));
        assert!(read.by_gateway && read.mcp);
        let envoy = r#""text":"upstream connect error or disconnect/reset before headers""#;
        let read = exchange(&post(&response(503, "text/plain", envoy)), &arena);
        assert_eq!((read.wording, read.by_gateway), (Wording::UpstreamReset, true));
        let accepted = exchange(&post(&response(202, "application/json", r#""text":"Accepted""#)), &arena);
        assert_eq!((accepted.body, accepted.by_gateway), (Body::Foreign, false));
    }

    #[test]
    fn no_status_at_all() {
        let arena = Bump::new();
        for (response, status, want) in [
            (r#"{"status":0,"_error":"net::ERR_CONNECTION_REFUSED"}"#, 0, HttpFailure::NotConnected),
            (r#"{"status":-1,"_failureText":"net::ERR_ABORTED"}"#, -1, HttpFailure::Aborted),
            (r#"{"status":-1,"content":{"size":-1}}"#, -1, HttpFailure::Broken),
            (r#"{"status":-998}"#, -998, HttpFailure::Broken),
            ("null", 0, HttpFailure::Broken),
        ] {
            let read = exchange(&post(response), &arena);
            assert_eq!((read.status, read.failure, read.body), (status, Some(want), Body::Empty), "{response}");
            assert_eq!(ids(read.sent), [Some(Id::Int(3))]);
        }
        let partial = exchange(&post(r#"{"status":0,"_transferSize":12}"#), &arena);
        assert_eq!(partial.body, Body::Missing);
    }

    #[test]
    fn an_answer_of_the_browser_tool_itself() {
        let arena = Bump::new();
        let entry = post(&response(200, "application/json", &format!(r#""text":"{RESULT}""#)));
        let entry = entry.replacen('{', r#"{"_wasFulfilled":true,"#, 1);
        let read = exchange(&entry, &arena);
        assert_eq!((read.status, read.failure, read.answered.len()), (0, Some(HttpFailure::Broken), 0));
        let aborted = |time: &str| {
            let entry = post(r#"{"status":-1}"#).replacen("\"time\":5.5", time, 1);
            exchange(&entry.replacen('{', r#"{"_wasAborted":true,"#, 1), &arena).failure
        };
        assert_eq!(aborted("\"time\":-1"), Some(HttpFailure::NotConnected));
        assert_eq!(aborted("\"time\":900"), Some(HttpFailure::Broken));
    }

    #[test]
    fn a_challenge_and_a_rate_limit() {
        let arena = Bump::new();
        let headers = r#"{"name":"WWW-Authenticate","value":"Bearer"},{"name":"retry-after","value":"2"}"#;
        let answer = format!(
            r#"{{"status":429,"headers":[{headers}],"content":{{"mimeType":"application/json","text":"{{\"error\":\"x\"}}"}}}}"#
        );
        let read = exchange(&post(&answer), &arena);
        assert_eq!((read.retry_after, read.challenge, read.body), (Some(2000), true, Body::Parsed));
        assert_eq!((read.content, read.by_gateway), (ContentKind::Json, false));
    }

    #[test]
    fn a_batch() {
        let arena = Bump::new();
        let entry = post(&response(200, "application/json", r#""text":"[]""#));
        let batch = format!(r"[{CALL},{}]", CALL.replace(":3", r#":\"x\""#));
        let read = exchange(&entry.replace(CALL, &batch), &arena);
        assert_eq!(ids(read.sent), [Some(Id::Int(3)), Some(Id::Text("x"))]);
        assert_eq!(read.answered, [Rpc::NotRpc]);
    }

    #[test]
    fn traffic_that_is_not_mcp() {
        let arena = Bump::new();
        let html = response(200, "text/html", r#""text":"<html>""#);
        let stream = r#"{"name":"Accept","value":"text/event-stream"}"#;
        let page = get("GET", stream, &html).replace("/mcp", "/events?session_id=S");
        assert!(!exchange(&page, &arena).mcp);
        assert_eq!(read(&page, &arena).events[0].keys.session, None);
        let ethereum = post(&response(200, "application/json", &format!(r#""text":"{RESULT}""#)))
            .replace("tools/call", "eth_call")
            .replace("text/event-stream", "text/plain")
            .replace("mcp-session-id", "x");
        let read = exchange(&ethereum, &arena);
        assert_eq!((read.mcp, read.sent.len(), read.answered.len()), (false, 0, 0));
    }

    #[test]
    fn the_old_transport() {
        let arena = Bump::new();
        let stream = format!(
            r#""text":"event: endpoint\r\ndata: /messages/?session_id=5f\r\n\r\nevent: message\r\ndata: {RESULT}\r\n\r\n""#
        );
        let opened = get("GET", "", &response(200, "text/event-stream", &stream));
        let opened = read(arena.alloc_str(&opened), &arena).events[0];
        let Kind::Exchange(exchange) = opened.kind else { panic!("no exchange") };
        assert_eq!((opened.keys.session, ids(exchange.answered)), (Some("5f"), vec![Some(Id::Int(3))]));
        let sent = post(&response(202, "text/plain", r#""text":"Accepted""#))
            .replace("mcp-session-id", "x")
            .replace("/mcp", "/messages/?session_id=5f");
        let sent = read(arena.alloc_str(&sent), &arena).events[0];
        assert_eq!(sent.keys.session, Some("5f"));
        let Kind::Exchange(exchange) = sent.kind else { panic!("no exchange") };
        assert_eq!((exchange.status, exchange.body, exchange.path), (202, Body::Foreign, "/messages/"));
    }

    #[test]
    fn events_that_only_chrome_kept() {
        let arena = Bump::new();
        let entry = post(&response(200, "text/event-stream", r#""size":0"#));
        let events =
            format!(r#"{{"_eventSourceMessages":[{{"eventName":"message","eventId":"1","data":"{RESULT}"}}],"#);
        let read = exchange(&entry.replacen('{', &events, 1), &arena);
        assert_eq!((ids(read.answered), read.body, read.event_id), (vec![Some(Id::Int(3))], Body::Parsed, true));
    }

    #[test]
    fn lone_surrogates_lose_nothing() {
        let arena = Bump::new();
        let outer = RESULT.replace("[]", r#"[{\"text\":\"\ud83d\"}]"#);
        let inner = CALL.replace("\\\"add\\\"", r#"\"add\",\"arguments\":{\"a\":\"\\ud83d\"}"#);
        let entry = post(&response(200, "application/json", &format!(r#""text":"{outer}""#))).replace(CALL, &inner);
        let read = exchange(&entry, &arena);
        assert_eq!((ids(read.sent), ids(read.answered)), (vec![Some(Id::Int(3))], vec![Some(Id::Int(3))]));
    }

    #[test]
    fn repeated_keys_and_numbers_that_are_none() {
        let arena = Bump::new();
        let text = post(r#"{"status":500,"status":200,"content":{"size":NaN,"text":7}}"#)
            .replace("\"time\":5.5", "\"time\":NaN,\"_x\":[Infinity]");
        let sink = read(&text, &arena);
        assert_eq!(sink.notices.iter().map(|notice| notice.kind).collect::<Vec<_>>(), [NoticeKind::DuplicateKey]);
        let Kind::Exchange(exchange) = sink.events[0].kind else { panic!("no exchange") };
        assert_eq!((exchange.status, exchange.ended, exchange.body), (200, None, Body::Missing));
    }

    #[test]
    fn entries_that_cannot_be_read() {
        let arena = Bump::new();
        for (text, want) in [
            ("", NoticeKind::NotJson),
            ("[1]", NoticeKind::NotJson),
            ("{\"request\":3}", NoticeKind::UnknownShape),
            ("{\"requ", NoticeKind::NotJson),
        ] {
            let sink = read(text, &arena);
            assert_eq!(sink.events, [], "{text}");
            assert_eq!(sink.notices.iter().map(|notice| notice.kind).collect::<Vec<_>>(), [want], "{text}");
        }
    }

    #[test]
    fn a_cut_entry_claims_no_answer() {
        let arena = Bump::new();
        let text = post(&response(200, "application/json", &format!(r#""text":"{RESULT}""#)));
        let inside = text.find(RESULT).expect("the result") + 20;
        let sink = read(text.get(..inside).expect("a boundary"), &arena);
        assert_eq!(sink.notices[0].kind, NoticeKind::NotJson);
        let Kind::Exchange(exchange) = sink.events[0].kind else { panic!("no exchange") };
        assert_eq!((exchange.status, exchange.body, exchange.answered), (200, Body::Missing, [].as_slice()));
        assert_eq!(ids(exchange.sent), [Some(Id::Int(3))]);
    }

    #[test]
    fn a_cut_entry_is_not_known_to_be_unsent() {
        let arena = Bump::new();
        let text = post(r#"{"status":0,"_error":"net::ERR_CONNECTION_REFUSED"}"#);
        let cut = text.find(",\"timings").expect("timings");
        assert_eq!(exchange(&text, &arena).failure, Some(HttpFailure::NotConnected));
        assert_eq!(exchange(&text[..cut], &arena).failure, Some(HttpFailure::Broken));
    }

    #[test]
    fn every_cut_is_survived() {
        let text = post(&response(200, "text/event-stream", &format!(r#""text":"data: {RESULT}\n\n: \ud83d""#)));
        for end in (0..text.len()).filter(|end| text.is_char_boundary(*end)) {
            let arena = Bump::new();
            for event in read(&text[..end], &arena).events {
                let Kind::Exchange(exchange) = event.kind else { panic!("no exchange") };
                assert!(!matches!(exchange.body, Body::Malformed | Body::TornStream), "{end}");
            }
        }
    }

    #[test]
    fn an_entry_of_mcpsnoop_is_no_exchange() {
        let arena = Bump::new();
        let text = post(&response(200, "application/json", &format!(r#""text":"{RESULT}""#)))
            .replace("http://127.0.0.1:8000/mcp", "mcp://Acme/tools/call/add");
        let sink = read(&text, &arena);
        let way = |event: &Event<'_>| match event.kind {
            Kind::Message(message) => message.direction,
            _ => None,
        };
        let ways: Vec<_> = sink.events.iter().map(way).collect();
        assert_eq!(ways, [Some(Direction::ToServer), Some(Direction::ToClient)]);
        assert_eq!(sink.events[0].keys.server, Some("acme"));
        assert_eq!(
            (sink.events[1].at, sink.events[0].at.is_some()),
            (ended(sink.events[0].at.expect("a time"), 5.5), true)
        );
    }
}
