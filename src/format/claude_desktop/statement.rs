//! What the fixed texts of Claude Desktop state, outside the messages themselves.
//!
//! A text that is none of them goes to the clue table: SDK wordings are the same in every client.

use crate::{
    clue,
    event::{CallKey, Direction, Keys, Kind, PhaseEvent, Remark, RemarkKind, SpawnFailure, Step, StepDetail},
    launcher,
    record::{Body, Sink},
};

use super::{entry, message};

/// How messages begin that only Claude Desktop writes.
pub(super) const SIGNS: [&str; 11] = [
    "Initializing server...",
    "Message from client: ",
    "Message from server: ",
    "Server started and connected successfully",
    "Server transport closed",
    "Client transport closed",
    "Server disconnected. For troubleshooting",
    "Shutting down server...",
    "Using MCP server command: ",
    "Attempting to connect to MCP server ",
    "Connected to MCP server ",
];

/// How the parse errors of Node's JSON begin (V8, Node 18 to 24): stdout is not protocol. One for each polluted line.
const NOT_JSON: [&str; 10] = [
    "Unexpected token ",
    "Unexpected non-whitespace character after JSON",
    "Unexpected end of JSON input",
    "Unexpected number in JSON",
    "Unexpected string in JSON",
    "Unterminated string in JSON",
    "No number after minus sign in JSON",
    "Bad control character in string literal in JSON",
    "Bad escaped character in JSON",
    "Expected ",
];

/// How a message validator's complaint (Zod) begins: JSON that is no valid message.
const NOT_RPC: [&str; 4] = ["ZodError", "Invalid literal value, expected \"2.0\"", "invalid_union", "invalid_literal"];

/// Texts of the interface. They name a failure and prove neither sending nor execution.
const INTERFACE: [&str; 5] = [
    "Failed to call tool ",
    "Tool execution failed",
    "Error executing code: ",
    "No result received from client-side tool execution",
    "No result received from the Claude Desktop app after waiting",
];

/// Reads the message of a tagged line and returns the piece that may open an object of several lines.
pub(super) fn read<'a>(text: &'a str, error: bool, body: &Body<'a>, sink: &mut Sink<'a>) -> &'a str {
    if let Some(rest) = text.strip_prefix("Message from client: ") {
        return message::read(rest, Direction::ToServer, body, sink);
    }
    if let Some(rest) = text.strip_prefix("Message from server: ") {
        return message::read(rest, Direction::ToClient, body, sink);
    }
    let (mut text, suffix) = entry::part(text);
    if text.is_empty() {
        // A bare validator array: its first lines tell what it is.
        text = if suffix == "[" && is_complaint(body.record.text) { "ZodError" } else { suffix };
    }
    let known = life_cycle(text, body, sink) || failure(text, error, body, sink);
    if !known {
        clue::read(text, body, sink);
    }
    suffix
}

/// Starts and ends of an instance.
fn life_cycle<'a>(text: &'a str, body: &Body<'a>, sink: &mut Sink<'a>) -> bool {
    match text {
        "Initializing server..." => remark(RemarkKind::InstanceStart, None, body, sink),
        // Printed as soon as the child has pipes, even when it dies right after.
        "Server started and connected successfully" => step(PhaseEvent::Spawned, StepDetail::None, body, sink),
        "Shutting down server..." | "Server transport closed (intentional shutdown)" => {
            remark(RemarkKind::ShuttingDown, None, body, sink);
        }
        "Client transport closed" => remark(RemarkKind::PipeClosed, Some("client"), body, sink),
        "Server transport closed" => remark(RemarkKind::PipeClosed, Some("server"), body, sink),
        _ if text.starts_with("Server transport closed unexpectedly") => {
            remark(RemarkKind::PipeClosed, Some("server"), body, sink);
        }
        // A summary of the line before it.
        _ if text.starts_with("Server disconnected. ") => sink.push(body.event(Kind::Text(text))),
        _ => return launch(text, body, sink) || first_generation(text, body, sink),
    }
    true
}

/// `Using MCP server command: EXE with args and path:` or `… with path:`.
fn launch<'a>(text: &'a str, body: &Body<'a>, sink: &mut Sink<'a>) -> bool {
    let Some(rest) = text.strip_prefix("Using MCP server command: ") else { return false };
    let end = [" with args and path:", " with path:"].iter().find_map(|tail| rest.find(tail)).unwrap_or(rest.len());
    let command = rest.get(..end).filter(|command| !command.is_empty());
    let wrapper = command.is_some_and(|command| launcher::starts_another(command, None));
    step(PhaseEvent::SpawnRequested, StepDetail::Launch { command, wrapper }, body, sink);
    true
}

/// The lines of November and December 2024, which name the server in their text.
fn first_generation<'a>(text: &'a str, body: &Body<'a>, sink: &mut Sink<'a>) -> bool {
    let named = |start: &str, end: &str| {
        let rest = text.strip_prefix(start)?;
        rest.find(end).and_then(|end| rest.get(..end)).filter(|name| !name.is_empty())
    };
    let about = |name| Body { keys: Keys { server: Some(name), ..body.keys }, ..*body };
    if let Some(name) = named("Attempting to connect to MCP server ", "...") {
        remark(RemarkKind::InstanceStart, None, &about(name), sink);
    } else if let Some(name) = text.strip_suffix('!').and_then(|text| text.strip_prefix("Connected to MCP server ")) {
        step(PhaseEvent::Spawned, StepDetail::None, &about(name), sink);
    } else if let Some(name) = named("MCP server ", " disconnected") {
        remark(RemarkKind::PipeClosed, Some("server"), &about(name), sink);
    } else if let Some(name) = named("Could not start MCP server ", ": ") {
        let reason = text.rsplit_once(": ").map_or("", |(_, reason)| reason);
        return spawn_failure(reason, &about(name), sink);
    } else {
        return false;
    }
    true
}

/// Errors.
fn failure<'a>(text: &'a str, error: bool, body: &Body<'a>, sink: &mut Sink<'a>) -> bool {
    let plain = ["Error: ", "SyntaxError: "].iter().find_map(|class| text.strip_prefix(class)).unwrap_or(text);
    if spawn_failure(plain, body, sink) {
        return true;
    }
    if plain == "write EPIPE" {
        remark(RemarkKind::WriteFailed, None, body, sink);
    } else if is_parse_failure(plain, error) {
        remark(RemarkKind::ParseFailure, None, body, sink);
    } else if let Some(rest) = text.strip_prefix("Could not attach to MCP server ") {
        return not_attached(rest, body, sink);
    } else if INTERFACE.iter().any(|start| text.starts_with(start)) {
        let tool =
            text.strip_prefix("Failed to call tool \"").and_then(|rest| rest.split_once('"')).map(|(tool, _)| tool);
        let call = CallKey { tool, ..CallKey::default() };
        sink.push(body.event(Kind::Remark(Remark { kind: RemarkKind::CallFailed, call, number: None, name: None })));
    } else {
        return false;
    }
    true
}

/// `spawn EXE CODE`, `spawn CODE` (Node's child process).
fn spawn_failure<'a>(text: &'a str, body: &Body<'a>, sink: &mut Sink<'a>) -> bool {
    let Some(rest) = text.strip_prefix("spawn ") else { return false };
    let code = rest.rsplit(' ').next().unwrap_or("");
    if code.len() < 4 || !code.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit()) {
        return false;
    }
    let why = match code {
        "ENOENT" => SpawnFailure::NotFound,
        "EACCES" => SpawnFailure::NotPermitted,
        _ => SpawnFailure::Other,
    };
    let program = rest.get(..rest.len() - code.len()).map(str::trim).filter(|program| !program.is_empty());
    step(PhaseEvent::SpawnFailed, StepDetail::SpawnFailed(why, program), body, sink);
    true
}

fn is_parse_failure(text: &str, error: bool) -> bool {
    let json = NOT_JSON.iter().any(|start| text.starts_with(start))
        && (text.contains("JSON") || text.contains("array element") || text.contains("property"));
    json || error && NOT_RPC.iter().any(|start| text.starts_with(start))
}

/// Whether a pretty-printed array is a validator's: looks at its first lines only.
fn is_complaint(record: &str) -> bool {
    record.lines().skip(1).take(8).any(|line| {
        let line = line.trim_start();
        line.starts_with("\"code\": \"invalid_") || line.starts_with("\"code\": \"unrecognized_keys\"")
    })
}

/// `X: Error: Server's protocol version is not supported: V` behind `Could not attach to MCP server `.
fn not_attached<'a>(rest: &'a str, body: &Body<'a>, sink: &mut Sink<'a>) -> bool {
    let Some((name, version)) = rest.split_once(": Error: Server's protocol version is not supported: ") else {
        return false;
    };
    let server = body.keys.server.or(Some(name));
    let body = Body { keys: Keys { server, ..body.keys }, ..*body };
    remark(RemarkKind::VersionRejected, Some(version.trim()), &body, sink);
    true
}

/// Adds a statement about the instance.
fn remark<'a>(kind: RemarkKind, name: Option<&'a str>, body: &Body<'a>, sink: &mut Sink<'a>) {
    let remark = Remark { kind, call: CallKey::default(), number: None, name };
    sink.push(body.event(Kind::Remark(remark)));
}

/// Adds an event of a phase.
fn step<'a>(event: PhaseEvent, detail: StepDetail<'a>, body: &Body<'a>, sink: &mut Sink<'a>) {
    sink.push(body.event(Kind::Step(Step { event, phase: None, call: CallKey::default(), detail })));
}
