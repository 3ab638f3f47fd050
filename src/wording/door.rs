//! Whether the whole body of a refusal is one of the words of a door: an HTTP layer that looks at credentials, headers and
//! the size or the form of a request.
//!
//! It is a list of what is known, since nobody can list what a program says about work that it has done. Knows no status.

use std::{collections::HashSet, sync::LazyLock};

use serde_json::{Map, Value};

/// Longer bodies are no refusal of a few words.
const LIMIT: usize = 64 * 1024;

/// What doors speak of, word by word: RFC 9110, RFC 6750, RFC 9457, the SDKs' own texts, the pages of proxies. None of
/// them can tell of something that was done.
static WORDS: LazyLock<HashSet<&str>> = LazyLock::new(|| {
    "a accept acceptable access account agent allow allowed an and any api application are as at auth authenticate \
     authenticated authentication authorisation authorization authorize authorized bad be bearer because been before body \
     both but by bytes can cannot char character charset client column contain content cors could credential credentials \
     csrf data denied deny describe did disabled do does domain empty encoding entity eof error event exceeded exceeds \
     expected expired failed failure field following for forbidden form format found from get has have header headers \
     host http https id in include incorrect initialize initialized insufficient invalid is it its json jsonrpc key large \
     larger length limit line log login long malformed match matches maximum mcp media message method methods mismatch \
     missing multiple must name need needed needs no none not null object of off on only or origin page parameter parse \
     parsing payload permission permissions permitted please policy position post privileges protocol provide provided put \
     rbac read realm reason received recognized refused reject rejected request requested requests require required \
     requires requesting resource resources revoked rpc s scope scopes security send server session sessions set sign \
     signature size sorry sse status stream streamable string support supported supports syntax t terminated text than \
     that the there this to token tokens too trailing transport type types unable unacceptable unauthenticated \
     unauthorised unauthorized unexpected unknown unprocessable unsupported uri url use user using utf valid value \
     verification verified verify version versions view was were while with without wrong www you your \
     approval consent declined operator \
     apache awselb caddy centos cloudflare cloudfront debian envoy forwarded gateway haproxy istio kong microsoft nginx \
     openresty openssl port rejecting traefik ubuntu unix varnish amp gt lt nbsp quot"
        .split_ascii_whitespace()
        .collect()
});

/// Sentences of doors with words that mean something else elsewhere.
const SENTENCES: &[&str] = &[
    "before initialization was complete",
    "request blocked",
    "request was blocked",
    "request has been blocked",
    "you have been blocked",
];

/// Signs of pages that are one product's own from their first line to their last.
const PAGES: &[&str] = &["cf-error-details", "cloudflare ray id"];

/// Members whose value is words, a number, or more of the same.
const TELLING: &[&str] = &[
    "code",
    "data",
    "description",
    "detail",
    "details",
    "error",
    "error_code",
    "error_description",
    "errorcode",
    "errors",
    "hint",
    "message",
    "msg",
    "reason",
    "requested",
    "status",
    "status_code",
    "statuscode",
    "supported",
    "title",
    "type",
];

/// Members whose value is a name that says nothing: of the request, of the place where it was refused.
const NAMING: &[&str] = &[
    "correlation_id",
    "correlationid",
    "error_uri",
    "instance",
    "path",
    "realm",
    "request_id",
    "requestid",
    "resource_metadata",
    "scope",
    "time",
    "timestamp",
    "trace_id",
    "traceid",
];

/// Whether the body of a refusal is empty, a page of a proxy, or an error object or a text in nothing but known words.
pub fn refuses_in_known_words(text: &str) -> bool {
    let text = text.trim();
    // Two characters cannot tell of anything.
    if text.len() <= 2 {
        return true;
    }
    if text.len() > LIMIT {
        return false;
    }
    if text.lines().any(|line| line.starts_with("data:")) {
        return text.lines().all(is_known_field);
    }
    if text.starts_with('<') {
        return is_known_page(text);
    }
    match serde_json::from_str::<Value>(text) {
        Ok(value) => is_known(&value),
        Err(_) => !text.starts_with('{') && are_known_words(text),
    }
}

/// A line of an event stream.
fn is_known_field(line: &str) -> bool {
    match line.split_once(':') {
        Some(("data", data)) => refuses_in_known_words(data),
        Some((name, _)) => matches!(name, "event" | "id" | "retry" | ""),
        None => line.trim().is_empty(),
    }
}

fn is_known_page(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    if PAGES.iter().any(|sign| lower.contains(sign)) {
        return true;
    }
    let (mut rest, mut words) = (text, String::new());
    while let Some(start) = rest.find('<') {
        words.push_str(&rest[..start]);
        words.push(' ');
        let tag = &rest[start..];
        let end = [("<script", "</script>"), ("<style", "</style>"), ("<!--", "-->")]
            .iter()
            .find(|(open, _)| tag.get(..open.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(open)))
            .map_or(">", |(_, close)| *close);
        let Some(at) = tag.find(end) else { return false };
        rest = &tag[at + end.len()..];
    }
    words.push_str(rest);
    are_known_words(&words)
}

fn is_known(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => true,
        Value::Bool(true) | Value::Number(_) => false,
        Value::String(text) => are_known_words(text),
        Value::Array(items) => items.iter().all(is_known),
        Value::Object(members) => is_known_object(members),
    }
}

fn is_known_object(members: &Map<String, Value>) -> bool {
    let message = members.get("jsonrpc").is_some_and(|version| version == "2.0");
    members.iter().all(|(key, value)| {
        let key = key.to_ascii_lowercase();
        match key.as_str() {
            "jsonrpc" => message,
            // Whose message it is, others look at.
            "id" => message && !value.is_object() && !value.is_array(),
            "ok" | "success" | "authenticated" => value == false,
            "code" | "status" | "status_code" | "statuscode" | "error_code" | "errorcode" if value.is_number() => true,
            "type" if value.as_str().is_some_and(is_link) => true,
            known if TELLING.contains(&known) => is_known(value),
            known if NAMING.contains(&known) => {
                value.as_str().is_some_and(|name| name.len() <= 256) || value.is_number()
            }
            _ => false,
        }
    })
}

fn is_link(text: &str) -> bool {
    text == "about:blank" || text.starts_with("https://") && !text.contains(char::is_whitespace)
}

fn are_known_words(text: &str) -> bool {
    let mut text = text.to_owned();
    for sentence in SENTENCES {
        // ASCII case does not move a boundary.
        while let Some(at) = text.to_ascii_lowercase().find(sentence) {
            text.replace_range(at..at + sentence.len(), " ");
        }
    }
    text.split(|c: char| !c.is_alphanumeric()).flat_map(humps).all(|word| {
        let number = word.len() <= 4 && word.bytes().all(|byte| byte.is_ascii_digit());
        number || WORDS.contains(word.to_ascii_lowercase().as_str())
    })
}

/// The words of `AccessDenied`.
fn humps(word: &str) -> Vec<&str> {
    let bytes = word.as_bytes();
    let edges = (1..bytes.len()).filter(|at| bytes[at - 1].is_ascii_lowercase() && bytes[*at].is_ascii_uppercase());
    let mut edges: Vec<usize> = edges.collect();
    edges.push(word.len());
    let mut from = 0;
    edges.into_iter().map(|to| &word[std::mem::replace(&mut from, to)..to]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn doors_speak_in_known_words() {
        for text in [
            "",
            "Invalid Content-Type header",
            r#"{"error": "invalid_token", "error_description": "Authentication required"}"#,
            r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"Not Acceptable: Client must accept both application/json and text/event-stream"}}"#,
            r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32020,"message":"mcp-method header does not match the request body's method"}}"#,
            r#"{"jsonrpc":"2.0","id":3,"error":{"code":-32022,"message":"Unsupported protocol version","data":{"supported":["2026-07-28"],"requested":"2027-01-01"}}}"#,
            r#"{"jsonrpc":"2.0","id":"server-error","error":{"code":-32600,"message":"Session not found"}}"#,
            r#"{"type":"https://problems.test/auth","title":"Unauthorized","status":401,"detail":"AccessDenied","instance":"/mcp"}"#,
            "<html>\r\n<head><title>403 Forbidden</title></head><body><center><h1>403 Forbidden</h1></center><hr><center>nginx/1.25.3</center></body></html>\r\n<!-- a padding to disable MSIE -->",
            "event: message\ndata: {\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32600,\"message\":\"forbidden\"}}\n",
            "RBAC: access denied",
        ] {
            assert!(refuses_in_known_words(text), "{text}");
        }
    }

    #[test]
    fn whoever_says_more_may_have_done_more() {
        for text in [
            r#"{"errorMessage":"Response payload size exceeded maximum allowed payload size (6291556 bytes).","errorType":"Function.ResponseSizeTooLarge"}"#,
            r#"{"error":"Content policy violation","stage":"post_call"}"#,
            r#"{"message":"Payment captured. You are not allowed to view the receipt."}"#,
            r#"{"error":"receipt_forbidden","payment":{"id":"TX1","state":"captured"}}"#,
            r#"{"error":"forbidden","id":"TX1"}"#,
            r#"{"error":"forbidden","charged":true}"#,
            r#"{"error":"Bad credentials","documentation_url":"https://docs.github.com/rest"}"#,
            "<html><h1>403 Forbidden</h1><p>Transfer 4711 is done</p></html>",
            "Forbidden (TX471100)",
        ] {
            assert!(!refuses_in_known_words(text), "{text}");
        }
    }
}
