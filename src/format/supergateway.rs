//! `supergateway`: what the bridge between stdio and HTTP prints on its console. Does not read what a child's stderr says.

use memchr::memmem;

use super::{Format, Head};
use crate::{
    clue,
    event::{
        CallKey, Direction, Id, Keys, Kind, Message, PhaseEvent, Remark, RemarkKind, Rpc, Step, StepDetail, Witness,
    },
    frame::Framing,
    inspect, jsonrpc,
    notice::NoticeKind,
    record::{Body, Record, Sink},
    signal,
};

/// Console of supergateway.
pub static FORMAT: Format = Format {
    name: "supergateway",
    title: "supergateway console",
    doc: "\
# Written by
supergateway 3 and 4, on stdout and stderr; `Child stderr`, `Child non-JSON` and `Child exited` are on stderr.

# A record
`[supergateway] text`, without stamp and level. Untagged lines behind `Child stderr:` belong to the child's stderr, those
behind `Child → SSE:` to a `util.inspect` object.

# What it proves
`StreamableHttp → Child: {json}`: the bridge had the message, and announces it; not that the server had it.
`Child → StreamableHttp: {json}`: the server wrote it. `Failed to send to session`: an answer was lost. `Child exited`: the
end of the process the bridge started, which is a shell or runner where the command names one.

# What it is silent about
Times. Which child ended, where each session has its own: `Child exited` says nothing about messages behind it. Which session a message of the streamable transport belongs to. In SSE mode one child serves all sessions, so ids
of different clients collide. An `initialize` with an id `init_…` is the bridge's own, not the client's.
",
    framing: Framing::Headed(is_header),
    json_lines: false,
    gist: None,
    witness: Some(Witness::Proxy),
    sniff: |head: &Head<'_>| head.lines().any(is_header),
    decode,
};

const TAG: &str = "[supergateway] ";
const STDERR: &str = "Child stderr:";

fn is_header(line: &[u8]) -> bool {
    line.starts_with(TAG.as_bytes())
}

fn decode<'a>(record: &Record<'a>, sink: &mut Sink<'a>) -> bool {
    let Some(text) = record.text.strip_prefix(TAG) else { return false };
    let bridge = Bridge { record };
    let end = memchr::memchr(b'\n', text.as_bytes()).unwrap_or(text.len());
    let first = text.get(..end).unwrap_or(text).trim_end_matches('\r');
    if let Some(chunk) = first.strip_prefix(STDERR) {
        // A chunk of the child's stderr: its further lines have no tag.
        let blank = usize::from(chunk.starts_with(' '));
        bridge.lines(TAG.len() + STDERR.len() + blank, Some(Witness::Server), sink);
        return true;
    }
    if first.starts_with("Child non-JSON:") {
        bridge.push(Keys::default(), Kind::Pollution, sink);
    } else if let Some((direction, keys, body)) = forwarded(text) {
        // What stands behind a message that is whole is no part of it: some child wrote it.
        let line = forwarded(first).map(|(.., line)| line).filter(|_| end < text.trim_end().len());
        let line = line.filter(|line| jsonrpc::read(line, record.arena).0 != [Rpc::Malformed]);
        bridge.messages(direction, keys, line.unwrap_or(body), sink);
        if line.is_some() {
            bridge.lines(TAG.len() + end, Some(Witness::Server), sink);
        }
        return true;
    } else if !bridge.state(first, sink) {
        clue::read(first, &bridge.body(Keys::default(), Some(Witness::Proxy)), sink);
    }
    bridge.lines(TAG.len() + end, None, sink);
    true
}

/// `A → B: …` or `A → B (session S): …`: direction, session, and the message.
fn forwarded(text: &str) -> Option<(Direction, Keys<'_>, &str)> {
    let (from, rest) = text.split_once(" → ")?;
    if from.is_empty() || !from.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
        return None;
    }
    let (to, message) = rest.split_once(':')?;
    let (to, session) = match to.split_once(" (session ") {
        Some((to, session)) => (to, session.strip_suffix(')')),
        None => (to, None),
    };
    let keys = Keys { session, ..Keys::default() };
    let direction = match (from, to) {
        (_, "Child") | ("Stdio", _) => Direction::ToServer,
        ("Child", _) | (_, "Stdio") => Direction::ToClient,
        _ => return None,
    };
    Some((direction, keys, message.trim()))
}

struct Bridge<'r, 'a> {
    record: &'r Record<'a>,
}

impl<'a> Bridge<'_, 'a> {
    fn body(&self, keys: Keys<'a>, witness: Option<Witness>) -> Body<'a> {
        Body { record: *self.record, at: None, witness, keys }
    }

    fn push(&self, keys: Keys<'a>, kind: Kind<'a>, sink: &mut Sink<'a>) {
        sink.push(self.body(keys, Some(Witness::Proxy)).event(kind));
    }

    fn remark(
        &self,
        kind: RemarkKind,
        keys: Keys<'a>,
        number: Option<i64>,
        name: Option<&'a str>,
        sink: &mut Sink<'a>,
    ) {
        self.push(keys, Kind::Remark(Remark { kind, call: CallKey::default(), number, name }), sink);
    }

    /// Reads the lines of the record from `start` on as free text, each with its own place.
    fn lines(&self, start: usize, witness: Option<Witness>, sink: &mut Sink<'a>) {
        let mut offset = start;
        for line in self.record.text.get(start..).unwrap_or("").split_inclusive('\n') {
            let mut body = self.body(Keys::default(), witness);
            body.record.origin.offset += offset as u64;
            body.record.text = line.trim_end_matches(['\n', '\r']);
            if !body.record.text.trim().is_empty() {
                clue::read(body.record.text, &body, sink);
            }
            offset += line.len();
        }
    }

    fn messages(&self, direction: Direction, keys: Keys<'a>, text: &'a str, sink: &mut Sink<'a>) {
        let (mut batch, oddities) = jsonrpc::read(text, self.record.arena);
        if oddities.duplicate_key {
            sink.notice(NoticeKind::DuplicateKey, self.record.origin);
        }
        let mut thin = false;
        if batch == [Rpc::Malformed] {
            // A `util.inspect` object, or JSON that the console cut: the bridge itself had parsed it.
            let Some(rpc) = inspect::skeleton(text).rpc() else {
                sink.notice(NoticeKind::NotJson, self.record.origin);
                self.push(keys, Kind::Text(text), sink);
                return;
            };
            batch[0] = rpc;
            thin = true;
        }
        for rpc in batch {
            let own =
                matches!(rpc, Rpc::Request(request) if matches!(request.id, Id::Text(id) if id.starts_with("init_")));
            let keys = Keys { client: own.then_some("supergateway"), ..keys };
            let message = Message { direction: Some(direction), queued: false, thin, http: None, rpc };
            self.push(keys, Kind::Message(message), sink);
            if let (Direction::ToServer, Rpc::Request(request)) = (direction, rpc) {
                let call = CallKey { id: Some(request.id), method: Some(request.method), tool: None };
                let remark = Remark { kind: RemarkKind::Forwarding, call, number: None, name: None };
                self.push(keys, Kind::Remark(remark), sink);
            }
        }
    }

    /// What the bridge says about itself, its child and its sessions.
    fn state(&self, text: &'a str, sink: &mut Sink<'a>) -> bool {
        let none = Keys::default();
        let of = |session: &'a str| Keys { session: Some(session.trim()), ..Keys::default() };
        if let Some(rest) = text.strip_prefix("Child exited: ") {
            let detail = exit(rest);
            let step = Step { event: PhaseEvent::Exited, phase: None, call: CallKey::default(), detail };
            self.push(none, Kind::Step(step), sink);
        } else if let Some(rest) = text.strip_prefix("Listening on port ") {
            self.remark(RemarkKind::Listening, none, rest.trim().parse().ok(), None, sink);
        } else if let Some(session) = initialized_session(text) {
            self.remark(RemarkKind::SessionCreated, of(session), None, None, sink);
        } else if let Some(rest) = text.strip_prefix("Failed to send to session ") {
            let session = rest.split([':', ' ']).next().unwrap_or(rest);
            self.remark(RemarkKind::ReplyLost, of(session), None, None, sink);
        } else if let Some(session) = between(text, "Session ", " timed out, cleaning up") {
            self.remark(RemarkKind::SessionEnded, of(session), None, None, sink);
        } else if let Some(session) = between(text, "Client disconnected (session ", ")") {
            let (event, detail) = (PhaseEvent::ClientDisconnected, StepDetail::None);
            let step = Step { event, phase: None, call: CallKey::default(), detail };
            self.push(of(session), Kind::Step(step), sink);
        } else {
            return false;
        }
        true
    }
}

/// `SessionAccessCounter.inc() S, caused by session initialization`.
fn initialized_session(text: &str) -> Option<&str> {
    between(text, "SessionAccessCounter.inc() ", ", caused by session initialization")
}

fn between<'a>(text: &'a str, start: &str, end: &str) -> Option<&'a str> {
    let rest = text.strip_prefix(start)?;
    rest.get(..memmem::find(rest.as_bytes(), end.as_bytes())?)
}

/// `code=0, signal=null`.
fn exit(text: &str) -> StepDetail<'_> {
    let value = |key| text.split(", ").find_map(|pair| pair.trim().strip_prefix(key));
    let code = value("code=").and_then(|code| code.parse().ok());
    StepDetail::Exit { code, signal: value("signal=").and_then(signal::common_number) }
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU32;

    use bumpalo::Bump;
    use proptest::prelude::*;

    use super::*;
    use crate::{
        event::{Answer, Event, Origin, Request, SourceId},
        format,
    };

    /// Real: supergateway 4.0.0 before a Python server, without the lines of its session counter.
    const SAMPLE: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/samples/formats/supergateway/input.log"));

    fn decoded(text: &str, check: impl FnOnce(&Sink<'_>)) {
        let arena = Bump::new();
        let mut sink = Sink::new();
        let mut from = 0;
        while from < text.len() {
            let to = text[from + 1..].find("\n[supergateway]").map_or(text.len(), |length| from + 1 + length + 1);
            let origin = Origin { source: SourceId(0), record: NonZeroU32::MIN, offset: from as u64 };
            let record = Record { origin, text: text[from..to].trim_end_matches(['\n', '\r']), arena: &arena };
            format::decode(Some(&FORMAT), &record, &mut sink);
            from = to;
        }
        check(&sink);
    }

    fn messages<'s, 'a>(sink: &'s Sink<'a>) -> impl Iterator<Item = (&'s Event<'a>, Message<'a>)> {
        sink.events.iter().filter_map(|event| match event.kind {
            Kind::Message(message) => Some((event, message)),
            _ => None,
        })
    }

    #[test]
    fn the_sample_holds_the_traffic() {
        let head = Head { bytes: SAMPLE.as_bytes() };
        assert_eq!(format::sniff(&head).map(|format| format.name), Some("supergateway"));
        decoded(SAMPLE, |sink| {
            assert!(sink.notices.is_empty(), "{:?}", sink.notices);
            let told: Vec<_> = messages(sink).map(|(_, message)| (message.direction, message.thin)).collect();
            let (there, back) = (Some(Direction::ToServer), Some(Direction::ToClient));
            assert_eq!(told, [(there, false), (back, false), (there, false), (there, false), (back, false)]);
            let call = messages(sink).nth(3).map(|(_, message)| message.rpc);
            assert!(
                matches!(call, Some(Rpc::Request(Request { id: Id::Int(4), target: Some("create_invoice"), .. }))),
                "{call:?}"
            );
            let created = sink.events.iter().find_map(|event| match event.kind {
                Kind::Remark(Remark { kind: RemarkKind::SessionCreated, .. }) => event.keys.session,
                _ => None,
            });
            assert_eq!(created, Some("0098cb96-0463-42c6-b29f-0d32a252fbeb"));
        });
    }

    #[test]
    fn what_the_child_does_is_told() {
        decoded(
            "[supergateway] Child non-JSON: DEBUG noisy\n[supergateway] Child exited: code=null, signal=SIGTERM\n",
            |sink| {
                let [noise, end] = &sink.events[..] else { panic!("{sink:?}") };
                assert_eq!(noise.kind, Kind::Pollution);
                let Kind::Step(step) = end.kind else { panic!("{end:?}") };
                assert_eq!(
                    (step.event, step.detail),
                    (PhaseEvent::Exited, StepDetail::Exit { code: None, signal: Some(15) })
                );
            },
        );
    }

    #[test]
    fn a_chunk_of_stderr_is_the_servers_line_by_line() {
        let text =
            "[supergateway] Child stderr:      INFO  first\n      second\n\n[supergateway] Listening on port 25007\n";
        decoded(text, |sink| {
            let server: Vec<_> = sink.events.iter().filter(|event| event.witness == Some(Witness::Server)).collect();
            assert_eq!(server.len(), 2, "{sink:?}");
            let places = ["     INFO", "      second"].map(|piece| text.find(piece).expect("in the text") as u64);
            assert_eq!([server[0].origin.offset, server[1].origin.offset], places);
            assert!(matches!(
                sink.events.last().map(|event| event.kind),
                Some(Kind::Remark(Remark { kind: RemarkKind::Listening, number: Some(25007), .. }))
            ));
        });
    }

    #[test]
    fn sse_mode_names_the_session_and_prints_objects() {
        let text = "[supergateway] SSE → Child (session ab-1): {\"jsonrpc\":\"2.0\",\"id\":\"init_17_x\",\"method\":\"initialize\"}\n\
                    [supergateway] Child → SSE: {\n  jsonrpc: '2.0',\n  id: 3,\n  result: { content: [ [Object] ] }\n}\n\
                    [supergateway] Failed to send to session ab-1: Error: gone\n";
        decoded(text, |sink| {
            let all: Vec<_> = messages(sink).collect();
            assert_eq!((all[0].0.keys.session, all[0].0.keys.client), (Some("ab-1"), Some("supergateway")));
            assert!(all[1].1.thin, "{sink:?}");
            assert!(matches!(all[1].1.rpc, Rpc::Answer(Answer { id: Some(Id::Int(3)), result: Some(_), .. })));
            let last = sink.events.last().expect("an event");
            assert_eq!(last.keys.session, Some("ab-1"));
            assert!(matches!(last.kind, Kind::Remark(Remark { kind: RemarkKind::ReplyLost, .. })));
        });
    }

    proptest! {
        #[test]
        fn any_text_is_read_without_a_panic(text in "\\PC{0,60}", wild in "[{}:,'\"` →\r\nChildSE()=]{0,60}") {
            for body in [text, wild] {
                for start in ["", "Child → SSE: {", "Child exited: ", "Child stderr:", "SSE → Child (session ", "Session "] {
                    let arena = Bump::new();
                    let text = format!("{TAG}{start}{body}");
                    let origin = Origin { source: SourceId(0), record: NonZeroU32::MIN, offset: 0 };
                    let _ = decode(&Record { origin, text: &text, arena: &arena }, &mut Sink::new());
                }
            }
        }
    }
}
