//! JSON-RPC messages embedded in a line of text, as bridges and clients print them.
//!
//! Takes only a message that stands behind an envelope: what is quoted inside other JSON is payload.

use serde_json::value::RawValue;

use super::{Clue, scan};
use crate::{
    event::{Direction, Kind, Message, Remark, RemarkKind, Rpc, Witness},
    jsonrpc,
    record::{Body, Sink},
};

/// JSON-RPC in text.
pub(super) static CLUE: Clue = Clue {
    name: "embedded-message",
    title: "JSON-RPC messages embedded in text: bridges, editors, debug logs",
    doc: "\
## What it means
A line such as `[supergateway] Child → StreamableHttp: {\"jsonrpc\":\"2.0\",…}` or `[editor -> server] {…}` holds a whole message. \
`StreamableHttp → Child` (supergateway) and `[Local→Remote]` (mcp-remote) are printed before the bridge writes: the bridge had it, \
the server not yet. `Child →` was written by the server. `Message from client` (Claude Desktop) is only queued. \
`Received a response for an unknown message ID` (TypeScript SDK) is a late answer: the server did finish.
## How it is recognized
By `\"jsonrpc\"` in a balanced JSON value behind an envelope with no open quote, or in the `message` of such a value. Words before it tell the direction.
## What it is not
JSON inside a string of other JSON is what a tool returned or a model wrote: never a record.
## What to do
Where no word tells the direction, the method does.
",
    needles: &["\"jsonrpc\"", LATE],
    read,
};

const LATE: &str = "Received a response for an unknown message ID";

fn read<'a>(text: &'a str, body: &Body<'a>, sink: &mut Sink<'a>) -> bool {
    let Some(start) = start_of(text) else {
        return false;
    };
    let prefix = &text[..start];
    let value = balanced(&text[start..]);
    if let Some((_, _)) = scan::find(prefix, LATE) {
        late(value, body, sink);
        return true;
    }
    let hint = hint(prefix);
    let arena = body.record.arena;
    let Some(value) = value else {
        // Cut: worth a record only where words say that a message stands here.
        return hint.direction.is_some() && text[start..].contains("\"jsonrpc\"") && {
            push(Rpc::Malformed, &hint, body, sink);
            true
        };
    };
    let is_none = |rpc: &Rpc<'_>| matches!(rpc, Rpc::NotRpc | Rpc::Malformed);
    let mut messages = jsonrpc::read(value, arena).0;
    if messages.iter().any(is_none) {
        let Some(carried) = carried(value) else { return false };
        messages = jsonrpc::read(carried, arena).0;
        if messages.iter().any(is_none) {
            return false;
        }
    }
    for rpc in messages {
        push(rpc, &hint, body, sink);
    }
    true
}

fn push<'a>(rpc: Rpc<'a>, hint: &Hint, body: &Body<'a>, sink: &mut Sink<'a>) {
    let message = Message { direction: hint.direction, queued: hint.queued, thin: false, http: None, rpc };
    scan::push_as(Kind::Message(message), hint.witness, body, sink);
}

/// What a JSON envelope carries, as traces write it: `{"ts":…,"message":{"jsonrpc":…}}`.
fn carried(value: &str) -> Option<&str> {
    #[derive(serde::Deserialize)]
    struct Envelope<'a> {
        #[serde(borrow)]
        message: &'a RawValue,
    }
    serde_json::from_str::<Envelope<'_>>(value).ok().map(|envelope| envelope.message.get())
}

/// An answer that came after its request was given up.
fn late<'a>(value: Option<&'a str>, body: &Body<'a>, sink: &mut Sink<'a>) {
    let mut remark: Remark<'_> = scan::remark(RemarkKind::UnknownResponse);
    if let Some((Rpc::Answer(answer), _)) = value.map(|value| jsonrpc::read_one(value, body.record.arena)) {
        remark.call.id = answer.id;
        remark.number = answer.error.and_then(|error| error.code);
    }
    sink.push(body.event(Kind::Remark(remark)));
}

/// Where the first JSON object or array of objects begins, if an envelope stands before it.
fn start_of(text: &str) -> Option<usize> {
    let object = text.find("{\"")?;
    let start = if text[..object].ends_with('[') { object - 1 } else { object };
    scan::unquoted(text, start).then_some(start)
}

/// The JSON value that `text` begins with, up to its last bracket.
fn balanced(text: &str) -> Option<&str> {
    let mut depth = 0_usize;
    let mut quoted = false;
    let mut escaped = false;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if quoted => escaped = true,
            b'"' => quoted = !quoted,
            b'{' | b'[' if !quoted => depth += 1,
            b'}' | b']' if !quoted => {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    return text.get(..=at);
                }
            }
            _ => {}
        }
    }
    None
}

/// What the words before a message tell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Hint {
    direction: Option<Direction>,
    witness: Option<Witness>,
    queued: bool,
}

/// Words before a message, the way they point, and who writes them.
static WORDS: &[(&str, Direction, Option<Witness>)] = &[
    ("→ Child", Direction::ToServer, Some(Witness::Proxy)),
    ("Child →", Direction::ToClient, Some(Witness::Proxy)),
    ("Stdio → ", Direction::ToServer, Some(Witness::Proxy)),
    ("→ Stdio", Direction::ToClient, Some(Witness::Proxy)),
    ("[Local→Remote]", Direction::ToServer, Some(Witness::Proxy)),
    ("[Remote→Local]", Direction::ToClient, Some(Witness::Proxy)),
    ("[editor -> server]", Direction::ToServer, Some(Witness::Client)),
    ("[server -> editor]", Direction::ToClient, Some(Witness::Client)),
    ("[Client Says]", Direction::ToServer, Some(Witness::Client)),
    ("[Server Says]", Direction::ToClient, Some(Witness::Client)),
    ("Message from client:", Direction::ToServer, Some(Witness::Client)),
    ("Message from server:", Direction::ToClient, Some(Witness::Client)),
    ("Transport sending:", Direction::ToServer, Some(Witness::Client)),
    ("Transport received:", Direction::ToClient, Some(Witness::Client)),
    ("client -> server", Direction::ToServer, None),
    ("client->server", Direction::ToServer, None),
    ("server -> client", Direction::ToClient, None),
    ("server->client", Direction::ToClient, None),
    ("stdout: ", Direction::ToClient, None),
    ("stdin: ", Direction::ToServer, None),
];

fn hint(prefix: &str) -> Hint {
    WORDS.iter().find(|(words, ..)| prefix.contains(words)).map_or_else(
        Hint::default,
        |&(words, direction, witness)| Hint {
            direction: Some(direction),
            witness,
            queued: words == "Message from client:",
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        clue::tests::{only, remark_of, told},
        event::{Event, Id},
    };

    fn message_of<'a>(event: &Event<'a>) -> Message<'a> {
        let Kind::Message(message) = event.kind else { panic!("{event:?}") };
        message
    }

    #[test]
    fn an_envelope_in_the_text_carries_its_message() {
        let carried =
            r#"{"ts": "x", "message": {"jsonrpc":"2.0","id":6,"method":"tools/call","params":{"name":"pay"}}}"#;
        only(&format!("acme - INFO - {carried}"), |event| {
            let Rpc::Request(request) = message_of(event).rpc else { panic!("{event:?}") };
            assert_eq!((request.id, request.target), (Id::Int(6), Some("pay")));
        });
        only(r#"acme - INFO - {"message": {"result": "\"jsonrpc\""}}"#, |event| {
            assert!(matches!(event.kind, Kind::Text(_)));
        });
    }

    #[test]
    fn words_before_a_message_tell_its_direction() {
        for (prefix, direction, witness, queued) in [
            ("[supergateway] StreamableHttp → Child: ", Some(Direction::ToServer), Some(Witness::Proxy), false),
            ("[supergateway] SSE → Child (session 4f): ", Some(Direction::ToServer), Some(Witness::Proxy), false),
            ("[supergateway] Child → StreamableHttp: ", Some(Direction::ToClient), Some(Witness::Proxy), false),
            ("[server -> editor] ", Some(Direction::ToClient), Some(Witness::Client), false),
            ("Message from client: ", Some(Direction::ToServer), Some(Witness::Client), true),
            ("got ", None, None, false),
        ] {
            only(
                &format!("{prefix}{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}} {{ metadata: undefined }}"),
                |event| {
                    let message = message_of(event);
                    assert_eq!(
                        (message.direction, event.witness, message.queued),
                        (direction, witness, queued),
                        "{prefix}"
                    );
                    assert!(matches!(message.rpc, Rpc::Request(_)));
                },
            );
        }
    }

    #[test]
    fn a_message_inside_other_json_is_payload() {
        for text in [
            r#"{"op":"call","text":"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}"}"#,
            r#"{"level":"info","body":{"jsonrpc":"2.0","id":1,"method":"ping"}}"#,
            r#"tool said "{"jsonrpc":"2.0","id":1,"method":"ping"}""#,
        ] {
            only(text, |event| assert!(matches!(event.kind, Kind::Text(_)), "{event:?}"));
        }
    }

    #[test]
    fn a_late_answer_names_its_request() {
        only(
            r#"client.onerror: Received a response for an unknown message ID: {"jsonrpc":"2.0","id":"7","result":{}}"#,
            |event| {
                let remark = remark_of(event);
                assert_eq!((remark.kind, remark.call.id), (RemarkKind::UnknownResponse, Some(Id::Text("7"))));
            },
        );
    }

    #[test]
    fn a_cut_message_counts_where_one_must_stand() {
        only(r#"[supergateway] Child → StreamableHttp: {"jsonrpc":"2.0","id":1,"resu"#, |event| {
            assert_eq!(message_of(event).rpc, Rpc::Malformed);
        });
        only(r#"saw {"jsonrpc":"2.0","id":1,"resu"#, |event| assert!(matches!(event.kind, Kind::Text(_))));
    }

    #[test]
    fn a_batch_gives_its_members() {
        told(
            r#"[editor -> server] [{"jsonrpc":"2.0","id":1,"method":"a"},{"jsonrpc":"2.0","method":"b"}]"#,
            None,
            |events| {
                assert_eq!(events.len(), 2);
            },
        );
    }
}
