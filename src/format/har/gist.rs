//! One entry in a few words: what was asked, what came back, how long it took, and the body that was sent.
//!
//! It decides nothing, and reads no more of the entry than a person would be shown.

use std::fmt::Write as _;

use bumpalo::Bump;

use super::times::Times;
use crate::format::loose::Value;

/// `POST http://127.0.0.1:8000/mcp → 504 after 60004 ms: {"jsonrpc":…`. What the beginning of a long entry does not
/// reach is left out.
pub(super) fn gist(text: &str) -> Option<String> {
    let arena = &Bump::new();
    let entry = Value::read(text);
    let request = member(entry, "request")?;
    let method = member(request, "method")?.text(arena)?;
    let url = member(request, "url")?.text(arena)?;
    let mut words = format!("{method} {url}");
    // Writing to a string cannot fail.
    if let Some(response) = member(entry, "response") {
        let _ = match member(response, "status").and_then(Value::number).filter(|status| *status > 0.0) {
            Some(status) => write!(words, " → {status}"),
            None => write!(words, " → no status"),
        };
    }
    if let Some(took) = Times::read(member(entry, "time"), member(entry, "timings")).total() {
        let _ = write!(words, " after {took:.0} ms");
    }
    if let Some(body) = member(request, "postData").and_then(|data| body(data, arena)) {
        let _ = write!(words, ": {body}");
    }
    Some(words)
}

/// The last member of that name, as everywhere.
fn member<'a>(value: Value<'a>, name: &str) -> Option<Value<'a>> {
    value.members().filter(|(key, _)| *key == name).map(|(_, value)| value).last()
}

/// A body that can be read: JSON, also where it is cut. What is encoded may hold what no mask knows.
fn body<'a>(data: Value<'a>, arena: &'a Bump) -> Option<&'a str> {
    let text = member(data, "text")?;
    let body = text.text(arena).unwrap_or_else(|| text.raw().trim_start_matches('"')).trim_start();
    body.starts_with(['{', '[']).then_some(body)
}

#[cfg(test)]
mod tests {
    use super::gist;

    #[test]
    fn an_entry_is_told_in_a_few_words() {
        let text = r#"{"startedDateTime":"2026-07-22T14:03:13Z","time":60004.4,"request":{"method":"POST",
            "url":"http://x.test/mcp?a=1","headers":[],"postData":{"text":"{\"id\":1}"}},"response":{"status":504}}"#;
        assert_eq!(gist(text).as_deref(), Some("POST http://x.test/mcp?a=1 → 504 after 60004 ms: {\"id\":1}"));
        let cut = text.find("}\"}}").expect("the body");
        assert_eq!(
            gist(&text[..cut]).as_deref(),
            Some("POST http://x.test/mcp?a=1 after 60004 ms: {\\\"id\\\":1"),
            "what is behind the cut is not told"
        );
    }

    #[test]
    fn what_is_missing_is_not_made_up() {
        let entry = |request: &str, more: &str| format!("{{\"request\":{request}{more}}}");
        let get = r#"{"method":"GET","url":"/a"}"#;
        assert_eq!(gist(&entry(get, "")).as_deref(), Some("GET /a"));
        assert_eq!(gist(&entry(get, r#","response":{"status":0},"time":-1"#)).as_deref(), Some("GET /a → no status"));
        let encoded = r#"{"method":"POST","url":"/a","postData":{"text":"eyJhIjoxfQ==","encoding":"base64"}}"#;
        assert_eq!(gist(&entry(encoded, "")).as_deref(), Some("POST /a"));
        for text in ["", "{}", "[1]", r#"{"request":{"method":"GET"}}"#, r#"{"request":{"method":"GET","url":"/"#] {
            assert_eq!(gist(text), None, "{text}");
        }
    }
}
