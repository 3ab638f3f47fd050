//! `stdio-tap`: what a tee between client and server writes. Decodes one line.

use std::borrow::Cow;

use bumpalo::Bump;
use memchr::memmem;

use super::{Format, Head, claims};
use crate::{
    clue,
    event::CallKey,
    event::{Direction, Event, Keys, Kind, Message, PhaseEvent, Remark, RemarkKind, Rpc, Step, StepDetail, Witness},
    frame::Framing,
    jsonrpc, launcher,
    notice::NoticeKind,
    record::{Body, Record, Sink},
    time::{self, Stamp},
};

/// A tee on the pipes of a stdio server.
pub static FORMAT: Format = Format {
    name: "stdio-tap",
    title: "Stdio tap, JSON lines",
    doc: "Written by a tee between client and server: one object a line with `ts`, `dir`, and by `dir`: `spawn` \
          (`argv`, `pid`), `c2s` and `s2c` (`line`), `stderr` (`line`), `c2s_eof`, `s2c_eof`, `signal`, `exit` (`code`).\n\n\
          ```json\n{\"ts\":\"2026-11-30T03:00:06.602+00:00\",\"dir\":\"c2s\",\"line\":\"{\\\"jsonrpc\\\":\\\"2.0\\\",\\\"id\\\":1,\\\"method\\\":\\\"initialize\\\"}\"}\n```\n\n\
          Stands between the two parties: proves sending, not receipt. `pid` is the process the tap started, which may \
          be a wrapper of the server. An `s2c` line that is no JSON is stdout pollution.",
    framing: Framing::Lines,
    json_lines: true,
    gist: None,
    witness: Some(Witness::Proxy),
    sniff: |head: &Head<'_>| claims(decode, head),
    decode,
};

#[derive(serde::Deserialize)]
struct Line<'a> {
    #[serde(borrow, default)]
    ts: Option<Cow<'a, str>>,
    #[serde(borrow)]
    dir: Cow<'a, str>,
    #[serde(borrow, default, rename = "line")]
    text: Option<Cow<'a, str>>,
    #[serde(default)]
    pid: Option<u32>,
    #[serde(default)]
    argv: Option<Vec<String>>,
    #[serde(default)]
    signal: Option<i32>,
    #[serde(default)]
    code: Option<i32>,
}

fn decode<'a>(record: &Record<'a>, sink: &mut Sink<'a>) -> bool {
    let bytes = record.text.as_bytes();
    if bytes.first() != Some(&b'{') || memmem::find(bytes, b"\"dir\"").is_none() {
        return false;
    }
    let Ok(line) = serde_json::from_str::<Line<'a>>(record.text) else { return false };
    let at = line.ts.as_deref().and_then(time::parse);
    if line.ts.is_some() && at.is_none() {
        sink.notice(NoticeKind::BadTimestamp, record.origin);
    }
    let text = line.text.as_ref().map(|text| keep(text, record.arena));
    let envelope = Envelope { record, at };
    match (&*line.dir, text) {
        ("c2s", Some(text)) => envelope.messages(Direction::ToServer, text, sink),
        ("s2c", Some(text)) => envelope.messages(Direction::ToClient, text, sink),
        ("stderr", Some(text)) => {
            let body = Body { record: *record, at, witness: Some(Witness::Server), keys: Keys::default() };
            clue::read(text, &body, sink);
        }
        ("spawn", _) => envelope.spawned(&line, sink),
        ("exit", _) => envelope.exited(line.code, sink),
        ("signal", _) => {
            envelope.step(PhaseEvent::Terminated, StepDetail::Exit { code: None, signal: line.signal }, sink);
        }
        ("c2s_eof", _) => envelope.remark(RemarkKind::ShuttingDown, sink),
        ("s2c_eof", _) => envelope.remark(RemarkKind::PipeClosed, sink),
        _ => return false,
    }
    true
}

fn keep<'a>(text: &Cow<'a, str>, arena: &'a Bump) -> &'a str {
    match text {
        Cow::Borrowed(text) => text,
        Cow::Owned(text) => arena.alloc_str(text),
    }
}

struct Envelope<'r, 'a> {
    record: &'r Record<'a>,
    at: Option<Stamp>,
}

impl<'a> Envelope<'_, 'a> {
    fn push(&self, keys: Keys<'a>, kind: Kind<'a>, sink: &mut Sink<'a>) {
        sink.push(Event { origin: self.record.origin, at: self.at, witness: None, keys, kind });
    }

    fn messages(&self, direction: Direction, text: &'a str, sink: &mut Sink<'a>) {
        let (rpcs, oddities) = jsonrpc::read(text, self.record.arena);
        if oddities.duplicate_key {
            sink.notice(NoticeKind::DuplicateKey, self.record.origin);
        }
        for rpc in rpcs {
            if direction == Direction::ToServer && rpc == Rpc::Malformed {
                sink.notice(NoticeKind::NoRequest, self.record.origin);
            }
            let polluted = direction == Direction::ToClient
                && match rpc {
                    Rpc::NotRpc => true,
                    Rpc::Malformed => !text.trim_start().starts_with('{'),
                    _ => false,
                };
            let message = Message { direction: Some(direction), queued: false, thin: false, http: None, rpc };
            self.push(Keys::default(), if polluted { Kind::Pollution } else { Kind::Message(message) }, sink);
        }
    }

    fn step(&self, event: PhaseEvent, detail: StepDetail<'a>, sink: &mut Sink<'a>) {
        self.push(Keys::default(), Kind::Step(Step { event, phase: None, call: CallKey::default(), detail }), sink);
    }

    fn spawned(&self, line: &Line<'a>, sink: &mut Sink<'a>) {
        let command =
            line.argv.as_ref().and_then(|argv| argv.first()).map(|command| &*self.record.arena.alloc_str(command));
        let arguments: Option<Vec<&str>> =
            line.argv.as_ref().map(|argv| argv.iter().skip(1).map(|word| &**word).collect());
        let wrapper = command.is_some_and(|command| launcher::starts_another(command, arguments.as_deref()));
        let step = Step {
            event: PhaseEvent::Spawned,
            phase: None,
            call: CallKey::default(),
            detail: StepDetail::Launch { command, wrapper },
        };
        self.push(Keys { pid: line.pid, ..Keys::default() }, Kind::Step(step), sink);
    }

    /// A negative exit code is the signal that ended the process (Python's convention).
    fn exited(&self, code: Option<i32>, sink: &mut Sink<'a>) {
        let detail = match code {
            Some(code) if code < 0 => StepDetail::Exit { code: None, signal: Some(code.saturating_neg()) },
            code => StepDetail::Exit { code, signal: None },
        };
        self.step(PhaseEvent::Exited, detail, sink);
    }

    fn remark(&self, kind: RemarkKind, sink: &mut Sink<'a>) {
        let remark = Remark { kind, call: CallKey::default(), number: None, name: None };
        self.push(Keys::default(), Kind::Remark(remark), sink);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::decode_lines;

    #[test]
    fn a_life_of_a_process_as_the_tap_saw_it() {
        let arena = Bump::new();
        let text = concat!(
            r#"{"ts": "2026-11-30T03:01:15.798+00:00", "dir": "spawn", "argv": ["strace", "-f", "python"], "pid": 21785}"#,
            "\n",
            r#"{"ts": "2026-11-30T03:01:15.802+00:00", "dir": "c2s", "line": "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\"}"}"#,
            "\n",
            r#"{"ts": "2026-11-30T03:01:16.000+00:00", "dir": "s2c", "line": "Loaded 9 tools"}"#,
            "\n",
            r#"{"ts": "2026-11-30T03:01:17.808+00:00", "dir": "exit", "code": -9}"#,
            "\n",
        );
        let sink = decode_lines(Some(&FORMAT), text, &arena);
        let [spawn, request, banner, exit] = sink.events[..] else { panic!("{sink:?}") };
        assert!(
            matches!(spawn.kind, Kind::Step(Step { detail: StepDetail::Launch { wrapper: true, .. }, .. })),
            "{spawn:?}"
        );
        assert_eq!(spawn.keys.pid, Some(21785));
        assert!(matches!(request.kind, Kind::Message(Message { direction: Some(Direction::ToServer), .. })));
        assert_eq!(banner.kind, Kind::Pollution);
        assert!(matches!(exit.kind, Kind::Step(Step { detail: StepDetail::Exit { code: None, signal: Some(9) }, .. })));
    }

    #[test]
    fn a_torn_message_is_not_pollution() {
        let arena = Bump::new();
        let text = r#"{"ts": "2026-11-30T03:01:16Z", "dir": "s2c", "line": "{\"jsonrpc\":\"2.0\",\"id\":1,"}"#;
        let sink = decode_lines(Some(&FORMAT), text, &arena);
        assert!(matches!(sink.events[0].kind, Kind::Message(Message { rpc: Rpc::Malformed, .. })), "{sink:?}");
    }
}
