//! A capture of the client's HTTP exchanges.

use serde_json::{Value, json};

use super::{Clock, File, Shows, messages, stream};
use crate::worlds::truth::{Answer, Ask, Attempt, Body, Ending, Nanos, Revision, What, World};

pub(super) const HEAD: &str = "{\"log\": {\"version\": \"1.2\", \"creator\": {\"name\": \"mitmproxy\", \"version\": \"11.0.2\"}, \"entries\": [\n";

pub(super) fn file(world: &World, clock: Clock) -> File {
    let mut file =
        File { name: "client/capture.har".to_owned(), lines: Vec::new(), frame: (HEAD, "\n]}}\n"), between: ",\n" };
    for fact in &world.facts {
        let attempt = match fact.what {
            What::Sent { attempt } => attempt,
            What::Replied { question } => {
                let attempt = world.asking(question);
                let body = messages::reply(world, question).to_string();
                let entry = accepted(world, attempt, clock, fact.at, &body);
                file.push(entry.to_string(), Some((attempt, Shows::Reply(question))));
                continue;
            }
            What::CancelSent { attempt } => {
                let body = messages::cancelled(world, attempt).to_string();
                let entry = accepted(world, attempt, clock, fact.at, &body);
                file.push(entry.to_string(), Some((attempt, Shows::About)));
                continue;
            }
            What::NotSent { attempt } => {
                let mut entry = entry(world, attempt, clock, fact.at, None);
                entry["_error"] = json!("net::ERR_CONNECTION_REFUSED");
                entry["timings"] = json!({"send": -1, "wait": -1, "receive": -1});
                file.push(entry.to_string(), Some((attempt, Shows::NotSent)));
                continue;
            }
            _ => continue,
        };
        let ending = world.facts.iter().find_map(|end| match &end.what {
            What::Delivered { attempt: ended, answer } if *ended == attempt => Some((end.at, Some(answer))),
            What::Closed { attempt: ended } | What::TimedOut { attempt: ended } if *ended == attempt => {
                Some((end.at, None))
            }
            _ => None,
        });
        let shows = if matches!(ending, Some((_, Some(_)))) { Shows::Delivered } else { Shows::Sent };
        file.push(entry(world, attempt, clock, fact.at, ending).to_string(), Some((attempt, shows)));
        let opened = matches!(ending, Some((_, Some(Answer { body: Body::Result, .. }))));
        if world.attempts[attempt].ask == Ask::Initialize && opened {
            let until = ending.map_or(fact.at, |(until, _)| until);
            let body = messages::initialized().to_string();
            file.push(accepted(world, attempt, clock, until + 1_000_000, &body).to_string(), None);
        }
    }
    file
}

pub(super) fn headers(world: &World, attempt: usize, told: bool) -> Vec<Value> {
    let mut headers = vec![
        json!({"name": "content-type", "value": "application/json"}),
        json!({"name": "accept", "value": "application/json, text/event-stream"}),
    ];
    let mut add = |name: &str, value: &str| headers.push(json!({"name": name, "value": value}));
    let Attempt { ask, context, .. } = world.attempts[attempt];
    if let Some(context) = context.filter(|_| world.carried.in_header) {
        add("traceparent", &context.parent());
    }
    if world.revision.is_stateless() {
        add("mcp-method", messages::method(ask));
        if let Ask::Call { intent } = ask {
            add("mcp-name", &world.intents[intent].tool);
        }
    } else if told {
        add("mcp-session-id", &world.session_of(attempt));
    }
    if world.revision.is_stateless() || told && world.revision >= Revision::June2025 {
        add("mcp-protocol-version", world.revision.name());
    }
    headers
}

fn entry(world: &World, attempt: usize, clock: Clock, at: Nanos, ending: Option<(Nanos, Option<&Answer>)>) -> Value {
    let took = ending.map_or(0, |(until, _)| until - at);
    let opens = world.attempts[attempt].ask == Ask::Initialize;
    let request = messages::request(world, attempt).to_string();
    let mut entry = frame(clock, at, took, &headers(world, attempt, !opens), &request);
    if let Some((_, Some(answer))) = ending {
        entry["response"] = response(world, attempt, answer, opens);
        return entry;
    }
    let until = ending.map_or(Nanos::MAX, |(until, _)| until);
    let began = stream::events(world, attempt, until);
    if !began.is_empty() {
        entry["response"] = stream::broken(&began, attempt);
    }
    // A stream that ends too early is no error to whoever records it.
    if began.is_empty() || world.attempts[attempt].ending != Ending::Closed {
        let closed = world.attempts[attempt].ending == Ending::Closed;
        entry["_error"] = json!(if closed { "net::ERR_EMPTY_RESPONSE" } else { "net::ERR_ABORTED" });
    }
    entry
}

#[expect(clippy::cast_precision_loss, reason = "milliseconds of an exchange")]
pub(super) fn frame(clock: Clock, at: Nanos, took: Nanos, headers: &[Value], body: &str) -> Value {
    let took = (took / 1_000) as f64 / 1_000.0;
    json!({
        "startedDateTime": clock.rfc3339(at), "time": took,
        "request": {"method": "POST", "url": "http://127.0.0.1:8080/mcp", "httpVersion": "HTTP/1.1", "cookies": [],
            "headers": headers, "queryString": [], "headersSize": -1, "bodySize": body.len(),
            "postData": {"mimeType": "application/json", "text": body}},
        "response": {"status": 0, "statusText": "", "httpVersion": "", "cookies": [], "headers": [],
            "content": {"size": 0, "mimeType": "x-unknown"}, "redirectURL": "", "headersSize": -1, "bodySize": -1},
        "cache": {}, "timings": {"send": 0.1, "wait": (took - 0.2).max(0.0), "receive": 0.1}
    })
}

fn response(world: &World, attempt: usize, answer: &Answer, opens: bool) -> Value {
    let id = world.attempts[attempt].id;
    response_to(world, (attempt, id), answer, opens)
}

/// The answer to a request that has this id where it is recorded.
pub(super) fn response_to(world: &World, (attempt, id): (usize, u64), answer: &Answer, opens: bool) -> Value {
    let mut message = messages::answer(world, attempt, answer);
    if let Some(message) = message.as_mut().filter(|message| !message["id"].is_null()) {
        message["id"] = json!(id);
    }
    let (mime, text) = match (message, &answer.body) {
        (Some(message), _) if stream::is_one(world, attempt, answer) => {
            ("text/event-stream", stream::events(world, attempt, Nanos::MAX) + &stream::event(&message))
        }
        (Some(message), _) => ("application/json", message.to_string()),
        (None, Body::Plain(text)) if text.starts_with('<') => ("text/html", (*text).to_owned()),
        (None, Body::Plain(text)) if text.starts_with('{') => ("application/json", (*text).to_owned()),
        (None, Body::Plain(text)) => ("text/plain", (*text).to_owned()),
        _ => ("application/json", String::new()),
    };
    let mut headers = vec![json!({"name": "content-type", "value": mime})];
    if opens && answer.status == 200 {
        headers.push(json!({"name": "mcp-session-id", "value": world.session_of(attempt)}));
    }
    if answer.status == 401 {
        headers.push(json!({"name": "www-authenticate", "value": "Bearer error=\"invalid_token\""}));
    }
    json!({"status": answer.status, "statusText": "", "httpVersion": "HTTP/1.1", "cookies": [], "headers": headers,
        "content": {"size": text.len(), "mimeType": mime, "text": text}, "redirectURL": "", "headersSize": -1,
        "bodySize": text.len()})
}

/// A message that is no request.
fn accepted(world: &World, attempt: usize, clock: Clock, at: Nanos, body: &str) -> Value {
    let mut entry = frame(clock, at, 2_000_000, &headers(world, attempt, true), body);
    entry["response"] = json!({"status": 202, "statusText": "", "httpVersion": "HTTP/1.1", "cookies": [],
        "headers": [], "content": {"size": 0, "mimeType": "application/json", "text": ""}, "redirectURL": "",
        "headersSize": -1, "bodySize": 0});
    entry
}
