//! Answers as event streams: what the server says and asks before the answer goes the same way.

use serde_json::{Value, json};

use super::messages;
use crate::worlds::truth::{Answer, Author, Nanos, What, World};

/// Whether an answer came as a stream.
pub(super) fn is_one(world: &World, attempt: usize, answer: &Answer) -> bool {
    world.attempts[attempt].streams && answer.author == Author::Server && answer.status == 200
}

/// A message of a stream.
pub(super) fn event(message: &Value) -> String {
    format!("event: message\r\ndata: {message}\r\n\r\n")
}

/// What came before the answer and before an instant. A gateway holds it back until the answer is there.
pub(super) fn events(world: &World, attempt: usize, until: Nanos) -> String {
    let is_open = world.attempts[attempt].streams && (until == Nanos::MAX || !world.gateway);
    let before = world.facts.iter().filter(|fact| is_open && fact.at < until);
    let messages = before.filter_map(|fact| match fact.what {
        What::Progress { dispatch } if world.dispatches[dispatch].attempt == attempt => {
            Some(messages::said(world, dispatch))
        }
        What::Asked { question } if world.asking(question) == attempt => Some(messages::question(world, question)),
        _ => None,
    });
    messages.map(|message| event(&message)).collect()
}

/// A stream that broke off: between two messages, or inside of one.
pub(super) fn broken(began: &str, attempt: usize) -> Value {
    let torn = if attempt.is_multiple_of(3) {
        "event: message\r\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"notificat"
    } else {
        ""
    };
    let text = format!("{began}{torn}");
    json!({"status": 200, "statusText": "", "httpVersion": "HTTP/1.1", "cookies": [],
        "headers": [{"name": "content-type", "value": "text/event-stream"}],
        "content": {"size": text.len(), "mimeType": "text/event-stream", "text": text}, "redirectURL": "",
        "headersSize": -1, "bodySize": text.len()})
}
