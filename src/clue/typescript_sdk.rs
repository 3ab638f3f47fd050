//! What the TypeScript SDK (`@modelcontextprotocol/sdk` 1.x and 2.x) and clients built on it say in their logs.
//!
//! Late answers are read by `message`, crash banners by `crash`.

use super::{
    Clue, scan,
    template::{self, is_client, is_server},
};
use crate::{
    event::{CallKey, Kind, PhaseEvent, RemarkKind, SpawnFailure, Step, StepDetail, Trouble, TroubleKind, Witness},
    record::{Body, Sink},
};

/// Wordings of the TypeScript SDK.
pub(super) static CLUE: Clue = Clue {
    name: "typescript-sdk",
    title: "TypeScript SDK: timeouts, closed connections, HTTP errors, failed spawns, lost replies",
    doc: "\
## What it means
An SDK's own error says nothing about the server. `MCP error -32001: Request timed out` and `-32000: Connection closed` were made \
by the client: the request had been written, its fate is unknown. `Not connected`: it was not sent. \
`spawn X ENOENT`: no process was created. `No connection established for request ID` (server side): the answer was produced and lost.
## How it is recognized
By fixed wordings behind an envelope, never inside quotes. `-32001` with any other text than a timeout is an abort of the caller; \
with `Session not found` it came from the server.
## What it is not
The same numbers stand in answers of servers: only the text tells. `Failed to open SSE stream` with 405 is normal.
## What to do
Look for the same id in the server's log or a capture.
",
    needles: &NEEDLE_LIST,
    read,
};

const SPECIAL: [&str; 6] =
    ["MCP error ", "Error POSTing to endpoint", "spawn ", "write EPIPE", "Non-200 status code (", "Not connected"];

template::templates! {
    NEEDLES TEMPLATES:
    "Failed to open SSE stream" Noise Anyone Nothing;
    "SSE stream disconnected: " StreamBroken Client Nothing;
    "SSE error: " StreamBroken Client Nothing;
    "Failed to reconnect SSE stream" StreamBroken Client Nothing;
    "Maximum reconnection attempts (" StreamBroken Client Number;
    "Server's protocol version is not supported" VersionRejected Client Name;
    "Unexpected content type: " ParseFailure Client Nothing;
    "Failed to send cancellation" Noise Anyone Nothing;
    "No connection established for request ID" ReplyLost Server Id;
    "Response for request ID " ReplyLost Server Id;
    "Failed to write to the response stream" ReplyLost Server Nothing;
    "Bad Request: Server not initialized" RefusedBeforeDispatch Anyone Nothing;
    "Bad Request: No valid session ID" RefusedBeforeDispatch Anyone Nothing;
    "Bad Request: Mcp-Session-Id header is required" RefusedBeforeDispatch Anyone Nothing;
    "Bad Request: Unsupported protocol version" RefusedBeforeDispatch Anyone Nothing;
    "Invalid or missing session ID" RefusedBeforeDispatch Anyone Nothing;
    "Not Acceptable: Client must accept" RefusedBeforeDispatch Anyone Nothing;
    "Conflict: Only one SSE stream is allowed" Noise Anyone Nothing;
    "has an output schema but did not return structured content" AnswerRejected Client Nothing;
    "Structured content does not match the tool's output schema" AnswerRejected Client Nothing;
    "code: 'REQUEST_TIMEOUT'" TimedOut Client Nothing;
    "code: 'CONNECTION_CLOSED'" ConnectionClosed Client Nothing;
    "code: 'INVALID_RESULT'" AnswerRejected Client Nothing;
}

const NEEDLE_LIST: [&str; NEEDLES.len() + SPECIAL.len()] = {
    let mut all = [""; NEEDLES.len() + SPECIAL.len()];
    let mut at = 0;
    while at < all.len() {
        all[at] = if at < SPECIAL.len() { SPECIAL[at] } else { NEEDLES[at - SPECIAL.len()] };
        at += 1;
    }
    all
};

fn read<'a>(text: &'a str, body: &Body<'a>, sink: &mut Sink<'a>) -> bool {
    let Some(inner) = scan::head(text) else {
        return false;
    };
    let text = inner;
    if let Some((before, rest)) = scan::find(text, "Error POSTing to endpoint") {
        return posting(before, rest, body, sink);
    }
    if let Some((_, rest)) = scan::find(text, "Non-200 status code (") {
        return numbered(RemarkKind::HttpStatus, scan::integer(rest), CallKey::default(), body, sink);
    }
    if let Some((before, rest)) = scan::find(text, "MCP error ")
        && let Some(code) = scan::integer(rest)
    {
        return error(before, code, rest, body, sink);
    }
    template::read(TEMPLATES, text, body, sink)
        || spawn(text, body, sink)
        || broken_pipe(text, body, sink)
        || not_connected(text, body, sink)
}

fn numbered<'a>(
    kind: RemarkKind,
    number: Option<i64>,
    call: CallKey<'a>,
    body: &Body<'a>,
    sink: &mut Sink<'a>,
) -> bool {
    let remark = crate::event::Remark { call, number, ..scan::remark(kind) };
    scan::push_as(Kind::Remark(remark), Some(Witness::Client), body, sink);
    true
}

/// `Error POSTing to endpoint (HTTP 503): BODY`; newer releases keep the status only in the error's code, which clients
/// often print in front: `Error 504 Streamable HTTP error: Error POSTing to endpoint: BODY`.
fn posting<'a>(before: &'a str, rest: &'a str, body: &Body<'a>, sink: &mut Sink<'a>) -> bool {
    let stated = rest.trim_start().strip_prefix("(HTTP ").and_then(scan::status);
    let printed = before.rsplit("Error ").find_map(scan::status);
    numbered(RemarkKind::HttpStatus, stated.or(printed).map(i64::from), call_before(before), body, sink)
}

fn call_before(before: &str) -> CallKey<'_> {
    let tool = scan::tool_before(before);
    CallKey { id: None, method: tool.map(|_| "tools/call"), tool }
}

/// `MCP error N: TEXT`: made by the client, or an answer of the server printed by the client. The text decides.
fn error<'a>(before: &'a str, code: i64, rest: &'a str, body: &Body<'a>, sink: &mut Sink<'a>) -> bool {
    let text = rest.split_once(": ").map_or("", |(_, text)| text);
    let mut call = call_before(before);
    let kind = match code {
        -32001 if text.starts_with("Request timed out") || text.starts_with("Maximum total timeout") => {
            RemarkKind::TimedOut
        }
        -32001 if text.contains("ession not found") => RemarkKind::SessionRefused,
        -32001 => RemarkKind::Aborted,
        -32000 if text.starts_with("Connection closed") => RemarkKind::ConnectionClosed,
        _ if text.contains("has an output schema but") || text.starts_with("Structured content does not match") => {
            call = text.strip_prefix("Tool ").and_then(scan::name).map_or(call, |tool| CallKey {
                id: None,
                method: Some("tools/call"),
                tool: Some(tool),
            });
            RemarkKind::AnswerRejected
        }
        _ => RemarkKind::CallFailed,
    };
    // In a server's log the same text is about a request that the server sent to the client.
    let witness = if is_server(body) { Witness::Server } else { Witness::Client };
    let remark = crate::event::Remark { number: Some(code), call, ..scan::remark(kind) };
    scan::push_as(Kind::Remark(remark), Some(witness), body, sink);
    true
}

/// `spawn X ENOENT`: only a client's line is about the server's process; a server may spawn programs of its own.
fn spawn<'a>(text: &'a str, body: &Body<'a>, sink: &mut Sink<'a>) -> bool {
    let Some((before, rest)) = scan::find(text, "spawn ") else {
        return false;
    };
    let mut words = rest.rsplit(' ').map(|word| word.trim_end_matches([',', '.', '\'']));
    // Anything may follow the code: a context in braces.
    let Some(code) = words.find(|word| matches!(*word, "ENOENT" | "EACCES" | "EPERM" | "EINVAL" | "UNKNOWN")) else {
        return false;
    };
    let program = rest.split(code).next().unwrap_or("").trim();
    let failure = match code {
        "ENOENT" => SpawnFailure::NotFound,
        "EACCES" | "EPERM" => SpawnFailure::NotPermitted,
        _ => SpawnFailure::Other,
    };
    if is_about_the_server(before, body) {
        let step = Step {
            event: PhaseEvent::SpawnFailed,
            phase: None,
            call: CallKey::default(),
            detail: StepDetail::SpawnFailed(failure, Some(program).filter(|name| !name.is_empty())),
        };
        scan::push_as(Kind::Step(step), Some(Witness::Client), body, sink);
    } else {
        let name = Some(program).filter(|name| !name.is_empty());
        sink.push(body.event(Kind::Trouble(Trouble { kind: TroubleKind::MissingFile, class: "spawn", name })));
    }
    true
}

/// Whether what failed is the start of the server: nothing stands before it, or what directly stands before it says so.
/// Anything else may name a program that a server wanted, with its work done up to there.
fn is_about_the_server(before: &str, body: &Body<'_>) -> bool {
    let about = before.trim_end().trim_end_matches("Error:").trim_end().trim_end_matches(':');
    let about = about.rsplit(": ").next().unwrap_or("").trim();
    let says = |words: &[&str]| words.iter().any(|word| about.contains(word)) && !about.contains("tool");
    let client = ["client.onerror", "onnect", "MCP", "transport"];
    if is_client(body) {
        return about.is_empty() || says(&client) || says(&["server", "start", "launch"]);
    }
    body.witness.is_none() && says(&client)
}

/// `write EPIPE` decides by its author: the client lost the server's input, or the server lost its reader.
fn broken_pipe<'a>(text: &'a str, body: &Body<'a>, sink: &mut Sink<'a>) -> bool {
    if scan::find(text, "write EPIPE").is_none() {
        return false;
    }
    match body.witness {
        Some(Witness::Client) => template::one(RemarkKind::WriteFailed, None, body, sink),
        Some(Witness::Server) => template::one(RemarkKind::ServerWriteFailed, None, body, sink),
        _ => {
            let trouble = Trouble { kind: TroubleKind::BrokenPipe, class: "EPIPE", name: None };
            sink.push(body.event(Kind::Trouble(trouble)));
            true
        }
    }
}

/// `Not connected`, alone or as an error's message.
fn not_connected<'a>(text: &'a str, body: &Body<'a>, sink: &mut Sink<'a>) -> bool {
    let Some((before, after)) = scan::find(text, "Not connected") else {
        return false;
    };
    let before = before.trim_end();
    let whole =
        after.trim().is_empty() && (before.is_empty() || before.ends_with("Error:") || before.ends_with("failed:"));
    if !whole || is_server(body) {
        return false;
    }
    numbered(RemarkKind::NotConnected, None, call_before(before), body, sink)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        clue::tests::{only, remark_of, told},
        event::Id,
    };

    #[test]
    fn the_text_decides_what_a_number_means() {
        for (text, kind) in [
            ("McpError: MCP error -32001: Request timed out", RemarkKind::TimedOut),
            ("Error: MCP error -32001: AbortError: This operation was aborted", RemarkKind::Aborted),
            ("MCP error -32001: Session not found", RemarkKind::SessionRefused),
            ("MCP error -32000: Connection closed", RemarkKind::ConnectionClosed),
            ("MCP error -32602: Tool x not found", RemarkKind::CallFailed),
            (
                "MCP error -32600: Tool x has an output schema but did not return structured content",
                RemarkKind::AnswerRejected,
            ),
        ] {
            only(text, |event| {
                assert_eq!(remark_of(event).kind, kind, "{text}");
                assert_eq!(event.witness, Some(Witness::Client));
            });
        }
    }

    #[test]
    fn the_status_stands_in_the_text_or_before_it() {
        for (text, number) in [
            ("Error POSTing to endpoint (HTTP 503): upstream", Some(503)),
            (
                "call hang_then_invoice attempt 1 failed: Error 504 Streamable HTTP error: Error POSTing to endpoint: <html>",
                Some(504),
            ),
            ("client.onerror: Streamable HTTP error: Error POSTing to endpoint: <html>", None),
        ] {
            only(text, |event| {
                let remark = remark_of(event);
                assert_eq!((remark.kind, remark.number), (RemarkKind::HttpStatus, number), "{text}");
            });
        }
    }

    #[test]
    fn only_a_client_tells_that_the_server_was_not_spawned() {
        for text in [
            "client.onerror: spawn uvx-invoice-server ENOENT",
            "connection attempt 1 failed: Error: spawn uvx-invoice-server ENOENT",
        ] {
            only(text, |event| {
                let Kind::Step(step) = event.kind else { panic!("{event:?}") };
                assert_eq!(step.event, PhaseEvent::SpawnFailed);
                assert_eq!(step.detail, StepDetail::SpawnFailed(SpawnFailure::NotFound, Some("uvx-invoice-server")));
            });
        }
        told("Error: spawn git ENOENT", Some(Witness::Server), |events| {
            let want = Trouble { kind: TroubleKind::MissingFile, class: "spawn", name: Some("git") };
            assert_eq!(events[0].kind, Kind::Trouble(want));
        });
        for text in ["Error: spawn git ENOENT", "client.onerror: tool failed after upload: spawn ffmpeg ENOENT"] {
            only(text, |event| assert!(matches!(event.kind, Kind::Trouble(_)), "{text}"));
        }
        for text in ["Error: webhook posted, then spawn git ENOENT", "MCP tool failed: spawn git ENOENT"] {
            told(text, Some(Witness::Client), |events| assert!(matches!(events[0].kind, Kind::Trouble(_)), "{text}"));
        }
    }

    #[test]
    fn a_broken_pipe_belongs_to_its_author() {
        for (witness, kind) in
            [(Witness::Client, RemarkKind::WriteFailed), (Witness::Server, RemarkKind::ServerWriteFailed)]
        {
            told("Error: write EPIPE", Some(witness), |events| assert_eq!(remark_of(&events[0]).kind, kind));
        }
        only("Error: write EPIPE", |event| assert!(matches!(event.kind, Kind::Trouble(_))));
    }

    #[test]
    fn not_connected_must_be_the_whole_message() {
        only("Error: Not connected", |event| assert_eq!(remark_of(event).kind, RemarkKind::NotConnected));
        only("database: Not connected to replica", |event| assert!(matches!(event.kind, Kind::Text(_))));
    }

    #[test]
    fn a_lost_reply_names_its_request() {
        only("Error: No connection established for request ID: 4", |event| {
            let remark = remark_of(event);
            assert_eq!((remark.kind, remark.call.id), (RemarkKind::ReplyLost, Some(Id::Int(4))));
        });
    }
}
