//! JSON-RPC messages as they stand on the wire.

use serde_json::{Value, json};

use crate::worlds::truth::{Answer, Ask, Body, Revision, Topic, World};

/// The method of a request.
pub(super) fn method(ask: Ask) -> &'static str {
    match ask {
        Ask::Initialize => "initialize",
        Ask::Discover => "server/discover",
        Ask::ToolsList => "tools/list",
        Ask::Ping => "ping",
        Ask::Call { .. } => "tools/call",
    }
}

pub(super) fn request(world: &World, attempt: usize) -> Value {
    let facts = &world.attempts[attempt];
    let mut message = json!({"jsonrpc": "2.0", "id": facts.id, "method": method(facts.ask)});
    match facts.ask {
        Ask::Initialize => {
            message["params"] = json!({"protocolVersion": world.revision.name(), "capabilities": capabilities(world),
                "clientInfo": {"name": "lab", "version": "1.0.0"}});
        }
        Ask::Call { intent } => {
            let intent = &world.intents[intent];
            message["params"] = json!({"name": intent.tool, "arguments": {"amount": intent.amount, "to": "bob"},
                "_meta": {"progressToken": facts.id}});
            if let Some(state) = &facts.state {
                message["params"]["requestState"] = json!(state);
                message["params"]["inputResponses"] =
                    json!({"need": {"action": "accept", "content": {"name": "ACME GmbH"}}});
            }
        }
        Ask::Discover | Ask::ToolsList | Ask::Ping => {}
    }
    if let Some(context) = facts.context.filter(|_| world.carried.in_meta) {
        message["params"]["_meta"]["traceparent"] = json!(context.parent());
    }
    if world.revision.is_stateless() {
        let meta = &mut message["params"]["_meta"];
        meta["io.modelcontextprotocol/protocolVersion"] = json!(world.revision.name());
        meta["io.modelcontextprotocol/clientInfo"] = json!({"name": "lab", "version": "1.0.0"});
        meta["io.modelcontextprotocol/clientCapabilities"] = capabilities(world);
        meta["io.modelcontextprotocol/logLevel"] = json!("info");
    }
    message
}

fn capabilities(world: &World) -> Value {
    match world.revision {
        Revision::R2024 | Revision::March2025 => json!({"sampling": {}, "roots": {}}),
        _ => json!({"sampling": {}, "roots": {}, "elicitation": {}}),
    }
}

/// The body of an answer, if it is a message.
pub(super) fn answer(world: &World, attempt: usize, answer: &Answer) -> Option<Value> {
    let id = world.attempts[attempt].id;
    let result = match &answer.body {
        Body::Result => result(world, attempt),
        Body::ToolError(text) => json!({"content": [{"type": "text", "text": text}], "isError": true}),
        Body::InputRequired(state) => json!({"resultType": "input_required", "requestState": state, "inputRequests":
            {"need": {"method": "elicitation/create", "params": {"mode": "form", "message": "Which customer?",
            "requestedSchema": {"type": "object", "properties": {"name": {"type": "string"}}}}}}}),
        Body::Error { code, message, nameless } => {
            let id = if *nameless { Value::Null } else { json!(id) };
            return Some(json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": message}}));
        }
        Body::Plain(_) => return None,
    };
    let mut message = json!({"jsonrpc": "2.0", "id": id, "result": result});
    if world.revision.is_stateless() {
        let result = &mut message["result"];
        if result.get("resultType").is_none() {
            result["resultType"] = json!("complete");
        }
        result["_meta"] = json!({"io.modelcontextprotocol/serverInfo": {"name": "acme", "version": "1.4.0"}});
    }
    Some(message)
}

fn result(world: &World, attempt: usize) -> Value {
    match world.attempts[attempt].ask {
        Ask::Initialize => json!({"protocolVersion": world.revision.name(), "capabilities": {"tools": {}},
            "serverInfo": {"name": "acme", "version": "1.4.0"}}),
        Ask::Discover => json!({"supportedVersions": [world.revision.name()], "capabilities": {"tools": {}},
            "ttlMs": 0, "cacheScope": "private"}),
        Ask::Ping => json!({}),
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

/// What a server says in the middle of its work: how far it is, or something that names no request.
pub(super) fn said(world: &World, dispatch: usize) -> Value {
    if dispatch.is_multiple_of(2) {
        let token = world.attempts[world.dispatches[dispatch].attempt].id;
        return json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": {
            "progressToken": token, "progress": 1, "total": 3}});
    }
    json!({"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": "at work"}})
}

/// What a server asks.
pub(super) fn question(world: &World, question: usize) -> Value {
    let question = &world.questions[question];
    let mut message = json!({"jsonrpc": "2.0", "id": question.id, "method": match question.topic {
        Topic::Sampling => "sampling/createMessage",
        Topic::Elicitation => "elicitation/create",
        Topic::Roots => "roots/list",
        Topic::Ping => "ping",
    }});
    match question.topic {
        Topic::Sampling => {
            message["params"] = json!({"maxTokens": 100, "messages":
                [{"role": "user", "content": {"type": "text", "text": "Is bob a person?"}}]});
        }
        Topic::Elicitation => {
            message["params"] = json!({"message": "Which customer?", "requestedSchema":
                {"type": "object", "properties": {"name": {"type": "string"}}}});
        }
        Topic::Roots | Topic::Ping => {}
    }
    message
}

/// What a client tells then.
pub(super) fn reply(world: &World, question: usize) -> Value {
    let question = &world.questions[question];
    let result = match question.topic {
        Topic::Sampling => json!({"role": "assistant", "model": "small-1", "stopReason": "endTurn",
            "content": {"type": "text", "text": "Yes."}}),
        Topic::Elicitation => json!({"action": "accept", "content": {"name": "ACME GmbH"}}),
        Topic::Roots => json!({"roots": []}),
        Topic::Ping => json!({}),
    };
    json!({"jsonrpc": "2.0", "id": question.id, "result": result})
}
