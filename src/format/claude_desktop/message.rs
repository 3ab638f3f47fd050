//! The lines of Claude Desktop that carry a JSON-RPC message, whole, cut or redacted.

use crate::{
    event::{Direction, Id, Kind, Message, Notification, Rpc},
    inspect, jsonrpc,
    notice::NoticeKind,
    record::{Body, Sink},
};

use super::entry;

/// Reads the text behind `Message from client: ` or `Message from server: `.
///
/// Returns the piece of the line that may open an object of several lines.
pub(super) fn read<'a>(text: &'a str, direction: Direction, body: &Body<'a>, sink: &mut Sink<'a>) -> &'a str {
    let push = |rpc, thin, sink: &mut Sink<'a>| {
        let queued = direction == Direction::ToServer;
        let message = Message { direction: Some(direction), queued, thin, http: None, rpc };
        sink.push(body.event(Kind::Message(message)));
    };
    if !text.starts_with(['{', '[']) {
        let (text, suffix) = entry::part(text);
        match redacted(text) {
            Some(rpc) => push(rpc, true, sink),
            None => sink.push(body.event(Kind::Text(text))),
        }
        return suffix;
    }
    let mut suffix = "";
    let mut json = entry::bare(text).unwrap_or(text);
    let (mut batch, mut oddities) = jsonrpc::read(json, body.record.arena);
    if batch == [Rpc::Malformed] {
        (json, suffix) = extent(text);
        (batch, oddities) = jsonrpc::read(json, body.record.arena);
    }
    if oddities.duplicate_key {
        sink.notice(NoticeKind::DuplicateKey, body.record.origin);
    }
    for rpc in batch {
        if rpc != Rpc::Malformed {
            push(rpc, false, sink);
            continue;
        }
        // The client printed a message that it had parsed: the damage is the log's, not the message's.
        sink.notice(NoticeKind::NotJson, body.record.origin);
        match inspect::skeleton(json).rpc() {
            Some(rpc) => push(rpc, true, sink),
            None => sink.push(body.event(Kind::Text(text))),
        }
    }
    suffix
}

/// Parts the JSON from what the log adds to it.
fn extent(text: &str) -> (&str, &str) {
    let text = text.trim_end();
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<serde::de::IgnoredAny>();
    if matches!(values.next(), Some(Ok(_))) {
        let end = values.byte_offset();
        return (text.get(..end).unwrap_or(text), text.get(end..).unwrap_or(""));
    }
    if let Some(json) = entry::bare(text) {
        return (json, "");
    }
    // A message is one line: what follows a cut one is not its rest.
    let suffix = if text.ends_with(" {") { "{" } else { "" };
    (text.strip_suffix(" {").unwrap_or(text), suffix)
}

/// The redacted form of app 1.24012 and later: `method="M" id=N params`, `id=N result`, `id=N error`.
fn redacted(text: &str) -> Option<Rpc<'_>> {
    if let Some(rest) = text.strip_prefix("method=\"") {
        let (method, rest) = rest.split_once('"')?;
        return match rest.trim_start().strip_prefix("id=") {
            Some(rest) => Some(inspect::thin_request(id(rest)?.0, method, None)),
            None => Some(Rpc::Notification(Notification::named(method))),
        };
    }
    let (id, rest) = id(text.strip_prefix("id=")?)?;
    match rest.split_whitespace().next()? {
        "result" => Some(inspect::thin_result(id)),
        "error" => Some(inspect::thin_error(id, None)),
        _ => None,
    }
}

/// The id at the start of `text`, and what follows it.
fn id(text: &str) -> Option<(Id<'_>, &str)> {
    if let Some(rest) = text.strip_prefix('"') {
        let (id, rest) = rest.split_once('"')?;
        return Some((Id::Text(id), rest));
    }
    let (word, rest) = text.split_at(text.find(char::is_whitespace).unwrap_or(text.len()));
    match word {
        "" => None,
        "null" => Some((Id::Null, rest)),
        _ => Some((word.parse().map_or(Id::Raw(word), Id::Int), rest)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::{Answer, Request};

    #[test]
    fn reads_the_redacted_forms() {
        assert!(matches!(
            redacted("method=\"tools/call\" id=3 params"),
            Some(Rpc::Request(Request { id: Id::Int(3), method: "tools/call", target: None, .. }))
        ));
        assert!(matches!(
            redacted("method=\"notifications/initialized\""),
            Some(Rpc::Notification(Notification { method: "notifications/initialized", .. }))
        ));
        assert!(matches!(
            redacted("id=\"a-1\" error"),
            Some(Rpc::Answer(Answer { id: Some(Id::Text("a-1")), result: None, error: Some(_), .. }))
        ));
        assert!(matches!(redacted("id=0 result"), Some(Rpc::Answer(Answer { error: None, result: Some(_), .. }))));
        assert_eq!(redacted("id=0"), None);
        assert_eq!(redacted("undefined"), None);
    }

    #[test]
    fn finds_the_end_of_the_message() {
        assert_eq!(extent(r#"{"a":" {}"}"#), (r#"{"a":" {}"}"#, ""));
        assert_eq!(extent(r#"{"a":"cut … { metadata: undefined }"#), (r#"{"a":"cut …"#, ""));
        assert_eq!(extent(r#"{"a":1} {"#), (r#"{"a":1}"#, " {"));
        assert_eq!(extent(r#"{"a":1} { metadata: { x: 1 } }"#), (r#"{"a":1}"#, " { metadata: { x: 1 } }"));
        assert_eq!(extent(r#"{"a":"cut …"#), (r#"{"a":"cut …"#, ""));
    }
}
