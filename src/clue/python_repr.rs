//! JSON-RPC messages printed as Python objects: `jsonrpc='2.0' id=1 method='tools/call' params={…}`.
//!
//! Rewrites Python literals as JSON; what a message means is the business of `jsonrpc`.

use bumpalo::collections::String;

use super::{Clue, scan};
use crate::{
    event::{Direction, Kind, Message, Rpc, Witness},
    jsonrpc,
    record::{Body, Sink},
};

/// Messages in the debug log of the Python SDK.
pub(super) static CLUE: Clue = Clue {
    name: "python-message",
    title: "JSON-RPC messages in the debug log of the Python SDK and of sse-starlette",
    doc: "\
## What it means
`Sending client message: jsonrpc='2.0' id=1 method='tools/call' params={…}` and `SSE message: jsonrpc='2.0' id=1 result={…}` \
(logger `mcp.client.*`, 1.x prints `root=JSONRPCRequest(…)`) are whole messages: the first was handed to the transport, \
the second arrived. `chunk: b'event: message\\r\\ndata: {…}'` (sse-starlette, server side) was written to the stream of the answer.
## How it is recognized
By `jsonrpc='2.0'` or `chunk: b'` behind an envelope. Python literals are rewritten as JSON.
## What it is not
`Sending` stands before the POST: it does not prove receipt. The message is marked thin: an object that does not print \
as a literal is left out. A chunk that was written may never have arrived.
## What to do
Compare with the server's own log or a capture.
",
    needles: &["jsonrpc='2.0'", "chunk: b'"],
    read,
};

/// Only so deep do literals nest.
const DEPTH: u32 = 64;

fn read<'a>(text: &'a str, body: &Body<'a>, sink: &mut Sink<'a>) -> bool {
    if let Some((_, rest)) = scan::find(text, "chunk: b'") {
        return chunk(rest, body, sink);
    }
    let Some(at) = text.find("jsonrpc='2.0'") else {
        return false;
    };
    // 1.x prints `root=JSONRPCRequest(method=…, jsonrpc='2.0', …)`, 2.x the members alone, with `jsonrpc` first.
    let root = text[..at].find("root=").and_then(|root| Some((root, text[root..at].find('(')? + root + 1)));
    let (prefix, start) = root.map_or((at, at), |(root, start)| (root, start));
    if !scan::unquoted(text, prefix) {
        return false;
    }
    let json = message(&text[start..], body);
    let (rpc, _) = jsonrpc::read_one(json, body.record.arena);
    if matches!(rpc, Rpc::Malformed | Rpc::NotRpc) {
        return false;
    }
    let (direction, witness) = parties(&text[..prefix], &rpc);
    push(rpc, direction, witness, body, sink);
    true
}

fn push<'a>(
    rpc: Rpc<'a>,
    direction: Option<Direction>,
    witness: Option<Witness>,
    body: &Body<'a>,
    sink: &mut Sink<'a>,
) {
    let message = Message { direction, queued: false, thin: true, http: None, rpc };
    scan::push_as(Kind::Message(message), witness, body, sink);
}

/// Which way, and who says so. `Received message` is the server's line, `SSE message` and `JSON response` the client's.
fn parties(prefix: &str, rpc: &Rpc<'_>) -> (Option<Direction>, Option<Witness>) {
    if prefix.contains("Sending client message") {
        (Some(Direction::ToServer), Some(Witness::Client))
    } else if prefix.contains("SSE message") {
        (Some(Direction::ToClient), Some(Witness::Client))
    } else if prefix.contains("Received message") && !matches!(rpc, Rpc::Answer(_)) {
        (Some(Direction::ToServer), Some(Witness::Server))
    } else {
        (None, None)
    }
}

/// The members of a printed message as JSON; a member that is no literal is cut down to what can be read.
fn message<'a>(text: &str, body: &Body<'a>) -> &'a str {
    let mut json = String::with_capacity_in(text.len() + 32, body.record.arena);
    json.push('{');
    let mut rest = text;
    loop {
        rest = rest.trim_start_matches([',', ' ']);
        let Some((key, value)) = rest.split_once('=').filter(|(key, _)| is_name(key)) else {
            break;
        };
        let start = json.len();
        if start > 1 {
            json.push(',');
        }
        json.push('"');
        json.push_str(key);
        json.push_str("\":");
        if let Some(behind) = value.strip_prefix("None") {
            // An absent member prints as `None`.
            json.truncate(start);
            rest = behind;
            continue;
        }
        let before = json.len();
        if let Some(after) = literal(value, &mut json, DEPTH) {
            rest = after;
        } else {
            json.truncate(before);
            partial(key, value, &mut json);
            break;
        }
    }
    json.push('}');
    json.into_bump_str()
}

fn is_name(key: &str) -> bool {
    !key.is_empty() && key.len() <= 16 && key.bytes().all(|byte| byte.is_ascii_alphabetic() || byte == b'_')
}

/// What can be read of a member that is not a literal as a whole: the tool's name, a failed result, a code.
fn partial(key: &str, value: &str, json: &mut String<'_>) {
    match key {
        "params" => {
            let name = value.strip_prefix("{'name': ").filter(|name| name.starts_with(['\'', '"']));
            json.push_str("{");
            if let Some(name) = name {
                json.push_str("\"name\":");
                if literal(name, json, 1).is_none() {
                    json.push_str("null");
                }
            }
            json.push('}');
        }
        "result" => {
            json.push('{');
            if value.contains("'content': [") {
                json.push_str("\"content\":[]");
                if value.contains("'isError': True") {
                    json.push_str(",\"isError\":true");
                }
            }
            json.push('}');
        }
        "error" => {
            let code = value.split_once("code=").and_then(|(_, rest)| scan::integer(rest));
            json.push_str("{\"message\":\"\"");
            if let Some(code) = code {
                json.push_str(",\"code\":");
                json.push_str(&code.to_string());
            }
            json.push('}');
        }
        _ => json.push_str("null"),
    }
}

/// Rewrites one Python literal as JSON; returns what follows it.
fn literal<'t>(text: &'t str, json: &mut String<'_>, depth: u32) -> Option<&'t str> {
    let depth = depth.checked_sub(1)?;
    for (word, value) in [("True", "true"), ("False", "false"), ("None", "null")] {
        if let Some(rest) = text.strip_prefix(word) {
            json.push_str(value);
            return Some(rest);
        }
    }
    match text.as_bytes().first()? {
        b'\'' | b'"' => string(text, json),
        b'{' => members(text, json, depth),
        b'[' => items(text, json, depth, ']'),
        b'(' => items(text, json, depth, ')'),
        b'-' | b'0'..=b'9' => {
            let end = text.find(|c: char| !matches!(c, '0'..='9' | '-' | '+' | '.' | 'e' | 'E')).unwrap_or(text.len());
            json.push_str(&text[..end]);
            Some(&text[end..])
        }
        _ => {
            // `ErrorData(code=…, message=…, data=None)`: an object whose keys are names.
            let open =
                text.find('(').filter(|&at| text[..at].bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_'))?;
            fields(&text[open + 1..], json, depth)
        }
    }
}

fn string<'t>(text: &'t str, json: &mut String<'_>) -> Option<&'t str> {
    let quote = text.chars().next()?;
    json.push('"');
    let mut chars = text.char_indices().skip(1);
    while let Some((at, c)) = chars.next() {
        match c {
            _ if c == quote => {
                json.push('"');
                return Some(&text[at + 1..]);
            }
            '\\' => escape(&mut chars, json)?,
            '"' => json.push_str("\\\""),
            c if u32::from(c) < 0x20 => hexadecimal(u32::from(c), json),
            c => json.push(c),
        }
    }
    None
}

/// One escape of a Python string.
fn escape(chars: &mut impl Iterator<Item = (usize, char)>, json: &mut String<'_>) -> Option<()> {
    let (_, c) = chars.next()?;
    let digits = match c {
        '\\' | 'n' | 'r' | 't' => {
            json.push('\\');
            json.push(c);
            return Some(());
        }
        '\'' => {
            json.push('\'');
            return Some(());
        }
        '"' => {
            json.push_str("\\\"");
            return Some(());
        }
        'x' => 2,
        'u' => 4,
        'U' => 8,
        _ => return None,
    };
    let mut value = 0;
    for _ in 0..digits {
        value = value * 16 + chars.next()?.1.to_digit(16)?;
    }
    match char::from_u32(value) {
        Some(c) if value >= 0x20 && c != '"' && c != '\\' => json.push(c),
        _ => hexadecimal(value & 0xffff, json),
    }
    Some(())
}

fn hexadecimal(value: u32, json: &mut String<'_>) {
    json.push_str("\\u");
    for shift in [12, 8, 4, 0] {
        json.push(char::from_digit((value >> shift) & 0xf, 16).unwrap_or('0'));
    }
}

fn members<'t>(text: &'t str, json: &mut String<'_>, depth: u32) -> Option<&'t str> {
    json.push('{');
    let mut rest = text[1..].trim_start();
    let mut first = true;
    while !rest.starts_with('}') {
        if !first {
            json.push(',');
            rest = rest.strip_prefix(',')?.trim_start();
        }
        first = false;
        rest = string(Some(rest).filter(|rest| rest.starts_with(['\'', '"']))?, json)?;
        json.push(':');
        rest = literal(rest.trim_start().strip_prefix(':')?.trim_start(), json, depth)?.trim_start();
    }
    json.push('}');
    Some(&rest[1..])
}

fn fields<'t>(text: &'t str, json: &mut String<'_>, depth: u32) -> Option<&'t str> {
    json.push('{');
    let mut rest = text.trim_start();
    let mut first = true;
    while !rest.starts_with(')') {
        if !first {
            json.push(',');
            rest = rest.strip_prefix(',')?.trim_start();
        }
        first = false;
        let (key, value) = rest.split_once('=').filter(|(key, _)| is_name(key))?;
        json.push('"');
        json.push_str(key);
        json.push_str("\":");
        rest = literal(value, json, depth)?.trim_start();
    }
    json.push('}');
    Some(&rest[1..])
}

fn items<'t>(text: &'t str, json: &mut String<'_>, depth: u32, close: char) -> Option<&'t str> {
    json.push('[');
    let mut rest = text[1..].trim_start();
    let mut first = true;
    while !rest.starts_with(close) {
        if !first {
            rest = rest.strip_prefix(',')?.trim_start();
            if rest.starts_with(close) {
                break;
            }
            json.push(',');
        }
        first = false;
        rest = literal(rest, json, depth)?.trim_start();
    }
    json.push(']');
    Some(&rest[1..])
}

/// The messages in a chunk that a server wrote to an event stream; `text` is what follows `chunk: b'`.
fn chunk<'a>(text: &'a str, body: &Body<'a>, sink: &mut Sink<'a>) -> bool {
    let Some((_, data)) = text.split_once("data: ").filter(|(_, data)| data.starts_with('{')) else {
        // A ping or an empty event.
        return true;
    };
    let end = data.find("\\r\\n").unwrap_or(data.len());
    let arena = body.record.arena;
    let mut json = String::with_capacity_in(end, arena);
    let mut chars = data[..end].chars();
    while let Some(c) = chars.next() {
        // In a bytes literal a backslash is doubled, a quote may be escaped, and what is not ASCII is `\xNN`.
        match (c, chars.as_str().as_bytes().first()) {
            ('\\', Some(b'x')) => {
                chars = chars.as_str().get(3..).unwrap_or("").chars();
                json.push(char::REPLACEMENT_CHARACTER);
            }
            ('\\', Some(_)) => json.extend(chars.next()),
            _ => json.push(c),
        }
    }
    let json = json.into_bump_str();
    let (rpc, _) = jsonrpc::read_one(json, arena);
    let rpc = if matches!(rpc, Rpc::Malformed | Rpc::NotRpc) { beginning(json, body) } else { Some(rpc) };
    match rpc {
        Some(rpc) => push(rpc, Some(Direction::ToClient), Some(Witness::Server), body, sink),
        None => return false,
    }
    true
}

/// The id of an answer whose rest was damaged by the columns of a console.
fn beginning<'a>(json: &'a str, body: &Body<'a>) -> Option<Rpc<'a>> {
    let rest = json.strip_prefix("{\"jsonrpc\":\"2.0\",\"id\":")?;
    let at = rest.find(",\"result\":{").or_else(|| rest.find(",\"error\":{"))?;
    let id = rest.get(..at).filter(|id| id.len() <= 80)?;
    let member =
        if rest[at..].starts_with(",\"result\"") { ",\"result\":{}}" } else { ",\"error\":{\"message\":\"\"}}" };
    let whole = body.record.arena.alloc_str(&["{\"jsonrpc\":\"2.0\",\"id\":", id, member].concat());
    match jsonrpc::read_one(whole, body.record.arena).0 {
        Rpc::Malformed | Rpc::NotRpc => None,
        rpc => Some(rpc),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        clue::tests::only,
        event::{Answer, Detail, Id, Member},
    };

    fn message_of<'a>(event: &crate::event::Event<'a>) -> Message<'a> {
        let Kind::Message(message) = event.kind else { panic!("{event:?}") };
        message
    }

    #[test]
    fn a_request_is_the_same_as_on_the_wire() {
        let wire = r#"{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"create_invoice","arguments":{"customer":"ACME \"x\" ü","amount":120,"ok":true,"none":null,"list":[1,2.5]}}}"#;
        let text = r#"Sending client message: jsonrpc='2.0' id=3 method='tools/call' params={'name': 'create_invoice', 'arguments': {'customer': 'ACME "x" \xfc', 'amount': 120, 'ok': True, 'none': None, 'list': [1, 2.5]}}"#;
        let arena = bumpalo::Bump::new();
        let (Rpc::Request(want), _) = jsonrpc::read_one(wire, &arena) else { panic!() };
        only(text, |event| {
            let message = message_of(event);
            let Rpc::Request(request) = message.rpc else { panic!("{event:?}") };
            assert_eq!((message.direction, event.witness), (Some(Direction::ToServer), Some(Witness::Client)));
            assert_eq!((request.id, request.target, request.args), (Id::Int(3), Some("create_invoice"), want.args));
            assert!(message.thin);
        });
    }

    #[test]
    fn an_answer_keeps_its_shape() {
        let text = "SSE message: jsonrpc='2.0' id=4 result={'content': [{'text': \"it's \\\\ bad\", 'type': 'text'}], 'isError': True}";
        only(text, |event| {
            let message = message_of(event);
            let Rpc::Answer(answer) = message.rpc else { panic!("{event:?}") };
            assert_eq!((answer.id, message.direction), (Some(Id::Int(4)), Some(Direction::ToClient)));
            let shape = answer.result.expect("a result");
            assert!(shape.failed && shape.content == Member::Valid);
        });
    }

    #[test]
    fn objects_of_sdk_1_and_absent_params_are_read() {
        only(
            "Sending client message: root=JSONRPCRequest(method='tools/list', params=None, jsonrpc='2.0', id=1)",
            |event| {
                // The members before `jsonrpc` belong to it as well.
                let Rpc::Request(request) = message_of(event).rpc else { panic!("{event:?}") };
                assert_eq!((request.method, request.id), ("tools/list", Id::Int(1)));
            },
        );
        only("Sending client message: jsonrpc='2.0' method='notifications/initialized' params=None", |event| {
            assert!(matches!(message_of(event).rpc, Rpc::Notification(_)), "{event:?}");
        });
        only(
            "Received message: root=InitializedNotification(method='notifications/initialized', params=None, jsonrpc='2.0')",
            |event| {
                assert_eq!(
                    (message_of(event).direction, event.witness),
                    (Some(Direction::ToServer), Some(Witness::Server))
                );
            },
        );
    }

    #[test]
    fn what_is_no_literal_is_left_out() {
        only(
            "Sending client message: jsonrpc='2.0' id=9 method='tools/call' params={'name': 'x', 'arguments': {'a': <object at 0x7f>}}",
            |event| {
                let Rpc::Request(request) = message_of(event).rpc else { panic!("{event:?}") };
                assert_eq!((request.target, message_of(event).thin), (Some("x"), true));
            },
        );
        only(
            "SSE message: jsonrpc='2.0' id=9 error=ErrorData(code=-32602, message='Unknown tool: x', data=None)",
            |event| {
                let Rpc::Answer(Answer { error: Some(error), .. }) = message_of(event).rpc else { panic!("{event:?}") };
                assert_eq!((error.code, error.named), (Some(-32602), Some("x")));
            },
        );
    }

    #[test]
    fn a_chunk_was_written_by_the_server() {
        let text = r#"chunk: b'event: message\r\ndata: {"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","serverInfo":{"name":"a\\"b","version":""}}}\r\n\r\n'"#;
        only(text, |event| {
            let Rpc::Answer(answer) = message_of(event).rpc else { panic!("{event:?}") };
            assert!(matches!(answer.detail, Detail::Initialize { server: Some("a\"b"), .. }), "{answer:?}");
            assert_eq!(event.witness, Some(Witness::Server));
        });
        only(r#"chunk: b'event: message\r\ndata: {"jsonrpc":"2.0","id":7,"result":{"tools":[{"na me'"#, |event| {
            assert!(matches!(message_of(event).rpc, Rpc::Answer(Answer { id: Some(Id::Int(7)), .. })), "{event:?}");
        });
    }

    #[test]
    fn a_quoted_message_is_no_record() {
        only("result={'text': \"jsonrpc='2.0' id=1 method='tools/list'\"}", |event| {
            assert!(matches!(event.kind, Kind::Text(_)), "{event:?}");
        });
    }
}
