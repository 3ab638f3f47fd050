//! JSON-RPC messages as they stand on the wire.

use serde_json::{Value, json};

use crate::worlds::truth::{Answer, Ask, Body, World};

pub(super) const REVISION: &str = "2025-06-18";

/// The method of a request.
pub(super) fn method(ask: Ask) -> &'static str {
    match ask {
        Ask::Initialize => "initialize",
        Ask::ToolsList => "tools/list",
        Ask::Call { .. } => "tools/call",
    }
}

pub(super) fn request(world: &World, attempt: usize) -> Value {
    let id = world.attempts[attempt].id;
    match world.attempts[attempt].ask {
        Ask::Initialize => json!({"jsonrpc": "2.0", "id": id, "method": "initialize", "params": {
            "protocolVersion": REVISION, "capabilities": {}, "clientInfo": {"name": "lab", "version": "1.0.0"}}}),
        Ask::ToolsList => json!({"jsonrpc": "2.0", "id": id, "method": "tools/list"}),
        Ask::Call { intent } => {
            let intent = &world.intents[intent];
            json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {
                "name": intent.tool, "arguments": {"amount": intent.amount, "to": "bob"}}})
        }
    }
}

/// The body of an answer, if it is a message.
pub(super) fn answer(world: &World, attempt: usize, answer: &Answer) -> Option<Value> {
    let id = world.attempts[attempt].id;
    Some(match &answer.body {
        Body::Result => json!({"jsonrpc": "2.0", "id": id, "result": result(world.attempts[attempt].ask)}),
        Body::ToolError(text) => json!({"jsonrpc": "2.0", "id": id, "result": {
            "content": [{"type": "text", "text": text}], "isError": true}}),
        Body::Error { code, message, nameless } => {
            let id = if *nameless { Value::Null } else { json!(id) };
            json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": message}})
        }
        Body::Plain(_) => return None,
    })
}

fn result(ask: Ask) -> Value {
    match ask {
        Ask::Initialize => json!({"protocolVersion": REVISION, "capabilities": {"tools": {}},
            "serverInfo": {"name": "acme", "version": "1.4.0"}}),
        Ask::ToolsList => {
            let names = ["add", "lookup", "pay", "save_note"];
            let tools: Vec<Value> =
                names.iter().map(|name| json!({"name": name, "inputSchema": {"type": "object"}})).collect();
            json!({"tools": tools})
        }
        Ask::Call { .. } => json!({"content": [{"type": "text", "text": "done"}]}),
    }
}

pub(super) fn initialized() -> Value {
    json!({"jsonrpc": "2.0", "method": "notifications/initialized"})
}

pub(super) fn cancelled(world: &World, attempt: usize) -> Value {
    json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {
        "requestId": world.attempts[attempt].id, "reason": "no longer wanted"}})
}

/// What a server says of its work, to nobody in particular.
pub(super) fn said() -> Value {
    json!({"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": "at work"}})
}
