//! Phase records: their keys, whichever notation carried them.
//!
//! Knows the vocabulary and the aliases, not the notation: JSON lines and key=value text both fill [`Fields`].

mod value;

pub use value::Value;

use crate::{
    event::{
        CallKey, Digest, Event, GateScope, Id, Keys, Kind, Phase, PhaseEvent, Reach, ReachSource, ReachStage, Remark,
        RemarkKind, Step, StepDetail, Witness, Wording,
    },
    jsonrpc, launcher,
    notice::NoticeKind,
    record::{Record, Sink},
    signal,
    time::Stamp,
    wording,
};

/// The keys of one phase record.
#[derive(Clone, Copy, Debug, Default)]
pub struct Fields<'a> {
    /// Run, session and parties.
    pub keys: Keys<'a>,
    /// When.
    pub at: Option<Stamp>,
    /// A stamp was there and could not be read.
    pub bad_stamp: bool,
    /// The id of the request concerned.
    pub id: Option<Id<'a>>,
    /// The id of the request inside which this one was made.
    pub parent: Option<Id<'a>>,
    /// `event`.
    pub event: Option<&'a str>,
    /// `phase`.
    pub phase: Option<Phase>,
    /// `tool`.
    pub tool: Option<&'a str>,
    /// Who wrote the record, if not the server.
    pub witness: Option<Witness>,
    command: Option<&'a str>,
    exit_code: Option<i32>,
    signal: Option<i32>,
    revision: Option<&'a str>,
    tool_count: Option<u32>,
    reason: Option<&'a str>,
    is_error: Option<bool>,
    code: Option<i64>,
    action: Option<&'a str>,
    channel: Option<&'a str>,
    host: Option<&'a str>,
    target: Option<&'a str>,
    path: Option<&'a str>,
    scope: Option<&'a str>,
    resource: Option<&'a str>,
    method: Option<&'a str>,
    status: Option<u16>,
    error: Option<&'a str>,
    idempotency_key: Option<Digest>,
    last_event: Option<&'a str>,
}

/// Every key a phase record may have. In key=value notation a record begins at the first of them.
pub static KEYS: &[&str] = &[
    "run_id",
    "phase",
    "event",
    "at",
    "started_at",
    "ts",
    "timestamp",
    "time",
    "server_name",
    "server",
    "pid",
    "client",
    "session_id",
    "trace_id",
    "request_id",
    "parent_request_id",
    "jsonrpc_id",
    "id",
    "command",
    "argv",
    "cwd",
    "env",
    "exit_code",
    "signal",
    "stderr",
    "protocol_version",
    "tool_count",
    "schema_digest",
    "reason",
    "tool",
    "is_error",
    "error_code",
    "code",
    "action_id",
    "channel",
    "host",
    "target",
    "path",
    "scope",
    "resource",
    "method",
    "status",
    "duration_ms",
    "error",
    "idempotency_key",
    "last_event",
    "source",
    "witness",
];

/// The length of the longest of them.
const LONGEST_KEY: usize = {
    let (mut longest, mut at) = (0, 0);
    while at < KEYS.len() {
        longest = if KEYS[at].len() > longest { KEYS[at].len() } else { longest };
        at += 1;
    }
    longest
};

impl<'a> Fields<'a> {
    /// Takes one key; false where the key is none of a phase record's.
    pub fn set(&mut self, key: &str, value: Value<'a>) -> bool {
        match key {
            "run_id" => self.keys.run = value.text(),
            "phase" => self.phase = value.text().and_then(Phase::parse),
            "event" => self.event = value.text(),
            "at" | "started_at" | "ts" | "timestamp" | "time" => {
                let stamp = value.stamp();
                self.bad_stamp |= stamp.is_none() && value != Value::Null;
                self.at = self.at.or(stamp);
            }
            "server_name" | "server" => self.keys.server = value.text().or(self.keys.server),
            "pid" => self.keys.pid = value.integer().and_then(|pid| u32::try_from(pid).ok()),
            "client" => self.keys.client = value.text(),
            "session_id" => self.keys.session = value.text(),
            "trace_id" => self.keys.trace = value.text(),
            "request_id" | "jsonrpc_id" | "id" => self.id = value.id().or(self.id),
            "parent_request_id" => self.parent = value.id().filter(|id| *id != Id::Null),
            "source" | "witness" => self.witness = value.text().and_then(Witness::parse).or(self.witness),
            _ => return self.set_detail(key, value),
        }
        true
    }

    fn set_detail(&mut self, key: &str, value: Value<'a>) -> bool {
        match key {
            "command" => self.command = value.text(),
            "exit_code" => self.exit_code = value.integer().and_then(|code| i32::try_from(code).ok()),
            "signal" => {
                self.signal = value
                    .integer()
                    .and_then(|n| i32::try_from(n).ok())
                    .or(value.text().and_then(|name| signal::number(name).or(name.parse().ok())));
            }
            "protocol_version" => self.revision = value.text(),
            "tool_count" => self.tool_count = value.integer().and_then(|count| u32::try_from(count).ok()),
            "reason" => self.reason = value.text(),
            "tool" => self.tool = value.text(),
            "is_error" => self.is_error = value.flag(),
            "error_code" | "code" => self.code = value.integer().or(self.code),
            "action_id" => self.action = value.text(),
            "channel" => self.channel = value.text(),
            "host" => self.host = value.text(),
            "target" => self.target = value.text(),
            "path" => self.path = value.text(),
            "scope" => self.scope = value.text(),
            "resource" => self.resource = value.text(),
            "method" => self.method = value.text(),
            "status" => self.status = value.integer().and_then(|status| u16::try_from(status).ok()),
            "error" => self.error = value.text(),
            "idempotency_key" => self.idempotency_key = value.text().map(jsonrpc::digest_text),
            "last_event" => self.last_event = value.text(),
            "argv" | "cwd" | "env" | "stderr" | "schema_digest" | "duration_ms" => {}
            _ => return false,
        }
        true
    }

    /// Whether the fields make a phase record at all.
    pub fn is_record(&self) -> bool {
        self.event.is_some() || self.phase.is_some() || self.is_deadline()
    }

    fn is_deadline(&self) -> bool {
        self.error.is_some_and(|error| error.ends_with("_timeout")) && self.last_event.is_some()
    }

    /// Turns the fields into an event of `record`. An event outside the vocabulary is a notice and stays text.
    pub fn push(self, record: &Record<'a>, sink: &mut Sink<'a>) {
        if self.bad_stamp {
            sink.notice(NoticeKind::BadTimestamp, record.origin);
        }
        let kind = self.kind(record).unwrap_or_else(|| {
            sink.notice(NoticeKind::UnknownEvent, record.origin);
            Kind::Text(record.text)
        });
        let witness = self.witness.or(Some(Witness::Server));
        let begins = |step: Step<'_>| {
            use PhaseEvent::{RequestReceived, RequestSent, ToolCallReceived, ToolCallSent};
            matches!(step.event, RequestReceived | RequestSent | ToolCallReceived | ToolCallSent)
        };
        let nested = matches!(kind, Kind::Step(step) if begins(step));
        let mut push = |kind| sink.push(Event { origin: record.origin, at: self.at, witness, keys: self.keys, kind });
        // Whoever asks for something inside a request is at work on that one.
        if let Some(parent) = self.parent.filter(|_| nested) {
            let call = CallKey { id: Some(parent), ..CallKey::default() };
            push(Kind::Remark(Remark { kind: RemarkKind::HandlerEntered, call, number: None, name: None }));
        }
        push(kind);
    }

    fn kind(&self, record: &Record<'a>) -> Option<Kind<'a>> {
        if self.event.is_none() && self.is_deadline() {
            let last = self.last_event.and_then(PhaseEvent::parse)?;
            return Some(self.step(PhaseEvent::HandshakeTimeout, StepDetail::LastEvent(last)));
        }
        let event = match self.event {
            Some(name) => PhaseEvent::parse(name)?,
            None if self.phase == Some(Phase::Launch) => self.launch_event(),
            None => return None,
        };
        Some(match event {
            PhaseEvent::ExternalAttempt => Kind::Reach(self.reach(ReachStage::Attempted, record)),
            PhaseEvent::ExternalResult => Kind::Reach(self.reach(ReachStage::Answered, record)),
            _ => self.step(event, self.detail(event)),
        })
    }

    /// A launch record without `event`: `spawned` with a pid, `exited` with an end, else `spawn_requested`.
    fn launch_event(&self) -> PhaseEvent {
        if self.exit_code.is_some() || self.signal.is_some() {
            PhaseEvent::Exited
        } else if self.keys.pid.is_some() {
            PhaseEvent::Spawned
        } else {
            PhaseEvent::SpawnRequested
        }
    }

    fn call(&self) -> CallKey<'a> {
        CallKey { id: self.id, method: None, tool: self.tool }
    }

    fn step(&self, event: PhaseEvent, detail: StepDetail<'a>) -> Kind<'a> {
        Kind::Step(Step { event, phase: self.phase, call: self.call(), detail })
    }

    fn detail(&self, event: PhaseEvent) -> StepDetail<'a> {
        match event {
            PhaseEvent::SpawnRequested | PhaseEvent::Spawned => {
                let wrapper = self.command.is_some_and(|command| launcher::starts_another(command, None));
                StepDetail::Launch { command: self.command, wrapper }
            }
            PhaseEvent::Exited | PhaseEvent::Terminated => StepDetail::Exit {
                code: self.exit_code.or(self.code.and_then(|code| i32::try_from(code).ok())),
                signal: self.signal,
            },
            PhaseEvent::InitializeResponded | PhaseEvent::DiscoverResponded => {
                self.revision.map_or(StepDetail::None, StepDetail::Revision)
            }
            PhaseEvent::ToolsListResponded => StepDetail::Tools { count: self.tool_count, reason: self.reason },
            PhaseEvent::ToolCallResponded | PhaseEvent::RequestResponded => {
                StepDetail::Answer { is_error: self.is_error, code: self.code }
            }
            PhaseEvent::HandshakeTimeout => {
                self.last_event.and_then(PhaseEvent::parse).map_or(StepDetail::None, StepDetail::LastEvent)
            }
            PhaseEvent::AuthorizationRequested | PhaseEvent::AuthorizationGranted | PhaseEvent::AuthorizationDenied => {
                StepDetail::Gate(self.gate())
            }
            _ => self.reason.map_or(StepDetail::None, StepDetail::Reason),
        }
    }

    fn gate(&self) -> GateScope {
        let names =
            [self.action, self.channel, self.host, self.target, self.path, self.method, self.scope, self.resource];
        // What a gate says in words of its own may be about one step of the tool, or behind others.
        let told = [self.reason, self.error].into_iter().flatten().any(|text| !wording::refuses_in_known_words(text));
        let behind = |text| {
            matches!(
                wording::read(text).0,
                Wording::AnswerDenied
                    | Wording::OutputValidation
                    | Wording::QuotesSuccess
                    | Wording::UpstreamReset
                    | Wording::TimedOut
                    | Wording::ConnectionClosed
            )
        };
        GateScope {
            one_action: told || names.iter().any(Option::is_some),
            behind_work: [self.reason, self.error].into_iter().flatten().any(behind),
        }
    }

    fn reach(&self, stage: ReachStage, record: &Record<'a>) -> Reach<'a> {
        Reach {
            path: self.path,
            method: self.method,
            status: self.status,
            failed: self.error.is_some(),
            action: self.action,
            call: self.call(),
            phase: self.phase,
            idempotency_key: self.idempotency_key,
            ..Reach::new(stage, ReachSource::PhaseEvent, self.reach_target(record))
        }
    }

    fn reach_target(&self, record: &Record<'a>) -> &'a str {
        match (self.target, self.channel, self.host) {
            (Some(target), ..) => target,
            (None, Some(channel), Some(host)) if !host.contains("://") => {
                record.arena.alloc_str(&format!("{channel}://{host}"))
            }
            (None, _, Some(host)) => host,
            (None, Some(channel), None) => channel,
            (None, None, None) => "",
        }
    }
}

/// Reads the pairs of a key=value text, from the first known key on. Returns `None` where there is no known key.
///
/// Values end at white space; quoted values hold white space and backslash escapes; a value that starts with a bracket
/// runs to its matching one; `stderr=` takes the rest of the line.
pub fn parse_pairs<'a>(text: &'a str, record: &Record<'a>) -> Option<Fields<'a>> {
    let mut fields = Fields::default();
    let mut rest = first_pair(text)?;
    while let Some((key, tail)) = next_key(rest) {
        let (value, tail) = value(key, tail, record);
        fields.set(key, value);
        rest = tail;
    }
    Some(fields)
}

/// The text from the first `known_key=` that stands at the start of a word.
fn first_pair(text: &str) -> Option<&str> {
    let mut from = 0;
    while let Some(at) = text[from..].find('=').map(|at| from + at) {
        // No key is longer: what stands further back would be looked through again for every sign.
        let near = text.floor_char_boundary(at.saturating_sub(LONGEST_KEY + 4));
        let start = text[near..at]
            .rfind(|c: char| c.is_whitespace() || matches!(c, '[' | '(' | ',' | ';' | ':'))
            .map_or(near, |before| near + before + text[near + before..].chars().next().map_or(1, char::len_utf8));
        if KEYS.contains(&&text[start..at]) && (start > near || near == 0) {
            return Some(&text[start..]);
        }
        from = at + 1;
    }
    None
}

/// The next `key=` of the text: the key and what stands behind the equals sign.
fn next_key(text: &str) -> Option<(&str, &str)> {
    let mut rest = text;
    loop {
        rest = rest.trim_start_matches(|c: char| c.is_whitespace() || matches!(c, ',' | ';'));
        let end = rest.find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.')))?;
        if rest[end..].starts_with('=') && end > 0 {
            return Some((&rest[..end], &rest[end + 1..]));
        }
        rest = rest.find(char::is_whitespace).map(|at| &rest[at..])?;
    }
}

fn value<'a>(key: &str, text: &'a str, record: &Record<'a>) -> (Value<'a>, &'a str) {
    if key == "stderr" {
        return (Value::Text(text), "");
    }
    let (raw, tail) = match text.as_bytes().first() {
        Some(quote @ (b'"' | b'\'')) => return quoted(text, *quote as char, record),
        Some(b'[' | b'{') => text.split_at(bracketed(text)),
        _ => text.split_at(text.find(char::is_whitespace).unwrap_or(text.len())),
    };
    let raw = raw.trim_end_matches([',', ';']);
    let value = match raw {
        "" | "null" | "None" => Value::Null,
        _ if is_integer(raw) && key != "at" => raw.parse().map_or(Value::Text(raw), Value::Int),
        _ => Value::Text(raw),
    };
    (value, tail)
}

/// Digits as a number would write them: no plus sign, no leading zero.
fn is_integer(text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text);
    !digits.is_empty()
        && digits.bytes().all(|byte| byte.is_ascii_digit())
        && (digits.len() == 1 || !digits.starts_with('0'))
}

fn quoted<'a>(text: &'a str, quote: char, record: &Record<'a>) -> (Value<'a>, &'a str) {
    let mut escaped = false;
    let mut plain = true;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => (escaped, plain) = (true, false),
            _ if c == quote => {
                let inner = &text[1..at];
                let inner = if plain { inner } else { record.arena.alloc_str(&unescape(inner)) };
                return (Value::Text(inner), &text[at + 1..]);
            }
            _ => {}
        }
    }
    (Value::Text(&text[1..]), "")
}

fn unescape(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut characters = text.chars();
    while let Some(c) = characters.next() {
        match c {
            '\\' => match characters.next() {
                Some('n') => plain.push('\n'),
                Some('t') => plain.push('\t'),
                Some(other) => plain.push(other),
                None => {}
            },
            _ => plain.push(c),
        }
    }
    plain
}

/// Length of the bracketed value that begins `text`, quotes respected; the whole text where it does not close.
fn bracketed(text: &str) -> usize {
    let (mut depth, mut quote, mut escaped) = (0_usize, None, false);
    for (at, byte) in text.bytes().enumerate() {
        match (quote, byte) {
            (Some(_), _) if escaped => escaped = false,
            (Some(_), b'\\') => escaped = true,
            (Some(open), _) if byte == open => quote = None,
            (Some(_), _) => {}
            (None, b'"' | b'\'') => quote = Some(byte),
            (None, b'[' | b'{') => depth += 1,
            (None, b']' | b'}') => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return at + 1;
                }
            }
            _ => {}
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU32;

    use bumpalo::Bump;

    use super::*;
    use crate::event::{Origin, SourceId};

    fn with(text: &str, check: impl FnOnce(Option<Fields<'_>>, &Record<'_>)) {
        let arena = Bump::new();
        let origin = Origin { source: SourceId(0), record: NonZeroU32::MIN, offset: 0 };
        let record = Record { origin, text, arena: &arena };
        check(parse_pairs(text, &record), &record);
    }

    #[test]
    fn reads_pairs_behind_any_prefix() {
        with(
            "2026-07-22T14:03:13Z INFO x: phase=handshake event=initialize_responded run_id=run_01JX request_id=1 protocol_version=2025-06-18",
            |fields, record| {
                let fields = fields.expect("a record");
                assert_eq!((fields.keys.run, fields.id), (Some("run_01JX"), Some(Id::Int(1))));
                let mut sink = Sink::new();
                fields.push(record, &mut sink);
                let Kind::Step(step) = sink.events[0].kind else { panic!("{:?}", sink.events) };
                assert_eq!(
                    (step.event, step.detail),
                    (PhaseEvent::InitializeResponded, StepDetail::Revision("2025-06-18"))
                );
            },
        );
    }

    #[test]
    fn quotes_and_brackets_hold_white_space() {
        with(
            r#"event=spawned run_id=r argv=["a", "b c"] command="/opt/my app" stderr=all the rest event=exited"#,
            |fields, _| {
                let fields = fields.expect("a record");
                assert_eq!((fields.event, fields.command), (Some("spawned"), Some("/opt/my app")));
            },
        );
    }

    #[test]
    fn a_launch_record_without_event_tells_by_its_keys() {
        with("phase=launch run_id=r exit_code=1", |fields, record| {
            assert_eq!(
                fields.and_then(|fields| fields.kind(record)).map(|kind| matches!(
                    kind,
                    Kind::Step(Step { event: PhaseEvent::Exited, detail: StepDetail::Exit { code: Some(1), .. }, .. })
                )),
                Some(true)
            );
        });
    }

    #[test]
    fn text_without_known_keys_is_none() {
        with("worker=3 took=5ms", |fields, _| assert!(fields.is_none()));
        with("ümlaut=1 — ü=run_id", |fields, _| assert!(fields.is_none()));
    }
}
