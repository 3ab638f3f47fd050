//! One entry in a few words: what was asked, what came back or why nothing did, how long it took, and how both bodies
//! begin.
//!
//! It decides nothing, and reads no more of the entry than a person would be shown.

use std::fmt::Write as _;

use bumpalo::Bump;

use super::{body::Text, failure::Failure, times::Times};
use crate::format::loose::Value;

/// `POST http://127.0.0.1:8000/mcp → 504 after 60004 ms`, `: {"jsonrpc":…`, ` → {"jsonrpc":…`. What the beginning of a
/// long entry does not reach is left out.
pub(super) fn gist(text: &str) -> Option<Vec<String>> {
    let arena = &Bump::new();
    let entry = Value::read(text);
    let request = member(entry, "request")?;
    let method = member(request, "method")?.text(arena)?;
    let url = member(request, "url")?.text(arena)?;
    let response = member(entry, "response");
    let status = response.and_then(|response| member(response, "status")).and_then(Value::number).unwrap_or(0.0);
    let mut parts = vec![format!("{method} {url}{}", ended(entry, response, status, arena))];
    if let Some(body) = member(request, "postData").and_then(|data| readable(data, arena)).filter(|body| is_json(body))
    {
        parts.push(format!(": {body}"));
    }
    let answer = response.and_then(|response| member(response, "content")).and_then(|data| readable(data, arena));
    // A page or a sentence says why something failed; in a success it is what somebody asked for.
    if let Some(body) = answer.filter(|body| is_json(body) || is_stream(body) || status >= 400.0) {
        parts.push(format!(" → {}", first_message(body)));
    }
    Some(parts)
}

/// ` → 504 after 60004 ms`, ` → no status (net::ERR_CONNECTION_REFUSED)`.
fn ended<'a>(entry: Value<'a>, response: Option<Value<'a>>, status: f64, arena: &'a Bump) -> String {
    let mut words = String::new();
    // Writing to a string cannot fail.
    if status > 0.0 {
        let _ = write!(words, " → {status}");
    } else {
        let mut failure = Failure::default();
        let members = entry.members().chain(response.iter().flat_map(|response| response.members()));
        members.for_each(|(key, value)| failure.accept(key, value));
        let _ = match failure.words(arena) {
            Some(failure) => write!(words, " → no status ({failure})"),
            None if response.is_some() => write!(words, " → no status"),
            None => Ok(()),
        };
    }
    if let Some(took) = Times::read(member(entry, "time"), member(entry, "timings")).total() {
        let _ = write!(words, " after {took:.0} ms");
    }
    words
}

/// The last member of that name, as everywhere.
fn member<'a>(value: Value<'a>, name: &str) -> Option<Value<'a>> {
    value.members().filter(|(key, _)| *key == name).map(|(_, value)| value).last()
}

/// The beginning of a body, decoded. What stays encoded may hold what no mask knows: of a body whose end is not there,
/// and with it perhaps the name of its encoding, only what is plainly JSON or an event stream is taken.
fn readable<'a>(data: Value<'a>, arena: &'a Bump) -> Option<&'a str> {
    let body = if data.whole() {
        Text::read(data, arena).characters?
    } else {
        member(data, "text")?.beginning(arena).filter(|body| is_json(body) || is_stream(body))?
    };
    let body = body.trim();
    let is_text = |character: char| character.is_whitespace() || !character.is_control() && character != '\u{fffd}';
    (!body.is_empty() && body.chars().take(READ).all(is_text)).then_some(body)
}

/// An event stream from its first message on: what the lines before it say is the same in each.
fn first_message(body: &str) -> &str {
    let data = body.find("data: {").filter(|_| is_stream(body));
    data.and_then(|at| body.get(at..)).unwrap_or(body)
}

/// So many characters of a body decide whether it is text.
const READ: usize = 256;

fn is_json(body: &str) -> bool {
    body.trim_start().starts_with(['{', '['])
}

fn is_stream(body: &str) -> bool {
    ["event:", "data:", "id:", ":"].iter().any(|start| body.trim_start().starts_with(start))
}

#[cfg(test)]
mod tests {
    use super::gist;

    fn told(text: &str) -> Option<String> {
        gist(text).map(|parts| parts.concat())
    }

    fn entry(request: &str, more: &str) -> String {
        format!("{{\"request\":{request}{more}}}")
    }

    const GET: &str = r#"{"method":"GET","url":"/a"}"#;

    #[test]
    fn an_entry_is_told_in_a_few_words() {
        let text = r#"{"startedDateTime":"2026-07-22T14:03:13Z","time":60004.4,"request":{"method":"POST",
            "url":"http://x.test/mcp?a=1","headers":[],"postData":{"text":"{\"id\":1}"}},"response":{"status":504,
            "statusText":"Gateway Timeout","content":{"mimeType":"text/plain","text":"upstream timed out"}}}"#;
        assert_eq!(
            gist(text).expect("an entry"),
            ["POST http://x.test/mcp?a=1 → 504 after 60004 ms", ": {\"id\":1}", " → upstream timed out"]
        );
        let cut = text.find("}\"}}").expect("the body");
        assert_eq!(
            told(&text[..cut]).as_deref(),
            Some("POST http://x.test/mcp?a=1 after 60004 ms: {\"id\":1"),
            "what is behind the cut is not told"
        );
    }

    #[test]
    fn what_is_missing_is_not_made_up() {
        assert_eq!(told(&entry(GET, "")).as_deref(), Some("GET /a"));
        assert_eq!(told(&entry(GET, r#","response":{"status":0},"time":-1"#)).as_deref(), Some("GET /a → no status"));
        for text in ["", "{}", "[1]", r#"{"request":{"method":"GET"}}"#, r#"{"request":{"method":"GET","url":"/"#] {
            assert_eq!(told(text), None, "{text}");
        }
    }

    #[test]
    fn why_nothing_came_back_is_told_in_the_words_of_the_writer() {
        let refused = r#","response":{"status":0,"_error":"net::ERR_CONNECTION_REFUSED","content":{"size":0}}"#;
        let want = "GET /a → no status (net::ERR_CONNECTION_REFUSED)";
        assert_eq!(told(&entry(GET, refused)).as_deref(), Some(want));
        let comment = r#","comment":"connect ECONNREFUSED","response":{"status":-1,"statusText":""}"#;
        assert_eq!(told(&entry(GET, comment)).as_deref(), Some("GET /a → no status (connect ECONNREFUSED)"));
    }

    #[test]
    fn bodies_are_decoded_or_left_out() {
        let encoded = r#"{"method":"POST","url":"/a","postData":{"text":"eyJhIjoxfQ==","encoding":"base64"}}"#;
        assert_eq!(told(&entry(encoded, "")).as_deref(), Some("POST /a: {\"a\":1}"));
        assert_eq!(told(&entry(encoded, "")[..75]).as_deref(), Some("POST /a"), "how it goes on is not known");
        let answer = |status: u16, text: &str| {
            told(&entry(GET, &format!(r#","response":{{"status":{status},"content":{{"text":{text}}}}}"#)))
                .expect("told")
        };
        assert_eq!(answer(200, r#""event: message\r\ndata: {\"id\":1}""#), "GET /a → 200 → data: {\"id\":1}");
        assert_eq!(answer(200, r#""the text of a page""#), "GET /a → 200");
        assert_eq!(answer(503, r#""upstream connect error""#), "GET /a → 503 → upstream connect error");
        assert_eq!(answer(503, r#""\u0001\u0002""#), "GET /a → 503");
    }
}
