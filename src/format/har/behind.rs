//! What body and headers of a refusal tell of an answer that was made behind whoever refused: a message wrapped in other
//! text, a header that times the tool, a status that was replaced. Knows no status and judges nothing.

use memchr::memmem;

use super::body::is_rpc;
use crate::{event::Rpc, wording};

/// Members that only a tool's result has.
const OF_A_RESULT: &[&str] = &["structuredContent", "isError", "tool_output", "tool_result", "toolResult"];

/// Whether the body of a refusal holds, or speaks of, more than its own messages: a JSON-RPC message inside of other
/// JSON (also as a string, or escaped in HTML), a part of a result, words about an answer.
pub(in crate::format) fn in_body(text: &str, messages: &[Rpc<'_>]) -> bool {
    let own = messages.iter().filter(|message| is_rpc(message)).count();
    envelopes(text) > own
        || OF_A_RESULT.iter().any(|member| memmem::find(text.as_bytes(), member.as_bytes()).is_some())
        || wording::tells_of_an_answer(text)
}

/// How many envelopes of JSON-RPC stand in a text, however their quotes are escaped.
fn envelopes(text: &str) -> usize {
    let is_key = |at: usize| {
        let rest = text.get(at + "jsonrpc".len()..).unwrap_or("").trim_start_matches('\\');
        let quotes = ["\"", "'", "&quot;", "&#34;", "&#x22;", "&apos;", "&#39;", "u0022", "u0027"];
        quotes.iter().find_map(|quote| rest.strip_prefix(quote)).is_some_and(|rest| rest.trim_start().starts_with(':'))
    };
    memmem::find_iter(text.as_bytes(), b"jsonrpc").filter(|at| is_key(*at)).count()
}

/// Whether a header tells of work behind the door: a metric of the tool or its handler (`Server-Timing`, W3C), a
/// guardrail that looked at what came out.
pub(super) fn in_header(name: &str, value: &str) -> bool {
    let has = |text: &str, words: &[&str]| {
        let text = text.to_ascii_lowercase();
        words.iter().any(|word| text.contains(word))
    };
    if name.eq_ignore_ascii_case("server-timing") {
        return value.split(',').any(|metric| has(metric.split(';').next().unwrap_or(""), &["tool", "handler"]));
    }
    // Whoever plays back an answer had it (Stripe and others that take an `Idempotency-Key`).
    if has(name, &["replayed"]) {
        return !value.eq_ignore_ascii_case("false");
    }
    has(name, &["guardrail", "dlp-"]) && has(value, &["output", "response", "result"])
}

/// The milliseconds that a header says somebody behind spent on the request.
pub(super) fn spent(name: &str, value: &str) -> Option<f64> {
    if name.eq_ignore_ascii_case("server-timing") {
        let durations = value.split([',', ';']).filter_map(|part| part.trim().strip_prefix("dur=")?.parse().ok());
        return durations.filter(|duration: &f64| duration.is_finite()).reduce(f64::max);
    }
    let unit = SPENT.iter().find(|(known, _)| name.eq_ignore_ascii_case(known)).map(|(_, unit)| *unit)?;
    let (number, unit) = match value.strip_suffix("ms") {
        Some(number) => (number, 1.0),
        None => (value.strip_suffix('s').unwrap_or(value), unit),
    };
    number.trim().parse().ok().filter(|number: &f64| number.is_finite()).map(|number| number * unit)
}

/// Headers with the time of an upstream or an application, and the milliseconds of their unit: Envoy, Kong, `LiteLLM`,
/// nginx's `$upstream_response_time` under its usual name, Rack, ASP.NET and `FastAPI` under theirs.
const SPENT: &[(&str, f64)] = &[
    ("x-envoy-upstream-service-time", 1.0),
    ("x-kong-upstream-latency", 1.0),
    ("x-kong-response-latency", 1.0),
    ("x-litellm-response-duration-ms", 1.0),
    ("x-response-time", 1.0),
    ("x-upstream-response-time", 1000.0),
    ("x-upstream-time", 1000.0),
    ("x-process-time", 1000.0),
    ("x-runtime", 1000.0),
];

/// How many times a header says that the request was sent beyond the first; limits and what remains of them are none.
pub(super) fn repeats(name: &str, value: &str) -> Option<u32> {
    let name = name.to_ascii_lowercase();
    let has = |words: &[&str]| words.iter().any(|word| name.contains(word));
    if !has(&["retries", "retry-count", "retrycount", "retry_count", "attempt", "fallback"])
        || has(&["max", "limit", "remaining", "allowed", "login", "auth"])
    {
        return None;
    }
    let count: u32 = value.parse().ok()?;
    // Attempts are counted from 1, retries and fallbacks from 0.
    Some(if has(&["retr", "fallback"]) { count } else { count.saturating_sub(1) })
}

#[cfg(test)]
mod tests {
    use bumpalo::Bump;

    use super::*;
    use crate::jsonrpc;

    fn body(text: &str) -> bool {
        let arena = Bump::new();
        let (messages, _) = jsonrpc::read(arena.alloc_str(text), &arena);
        in_body(text, &messages)
    }

    #[test]
    fn finds_a_message_in_whatever_wraps_it() {
        for text in [
            r#"{"error":"blocked","response":{"jsonrpc":"2.0","id":5,"result":{}}}"#,
            r#""{\"jsonrpc\": \"2.0\", \"id\": 5, \"result\": {}}""#,
            "<html>blocked <pre>{&quot;jsonrpc&quot;:&quot;2.0&quot;}</pre>",
            "{\"jsonrpc\":\"2.0\",\"id\":5,\"result\":{}}\n{\"error\":\"blocked\"}",
            r#"{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"x","data":{"jsonrpc" : "2.0"}}}"#,
            r#"{"status":"blocked","tool_output":"Transfer 4711 done"}"#,
            r#"{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"x","data":"the tool output was blocked"}}"#,
        ] {
            assert!(body(text), "{text}");
        }
    }

    #[test]
    fn a_plain_refusal_tells_of_nothing_behind() {
        for text in [
            r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"Session not found"}}"#,
            r#"[{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"x"}},{"jsonrpc":"2.0","id":2,"error":{"code":1,"message":"x"}}]"#,
            r#"{"error": "invalid_token", "error_description": "Authentication required"}"#,
            "Invalid JSON-RPC: jsonrpc must be 2.0",
            "",
        ] {
            assert!(!body(text), "{text}");
        }
    }

    #[test]
    fn headers_count_and_time_what_lies_behind() {
        for (name, value, want) in [
            ("X-LiteLLM-Attempted-Retries", "2", Some(2)),
            ("x-litellm-attempted-fallbacks", "0", Some(0)),
            ("x-envoy-attempt-count", "1", Some(0)),
            ("X-Attempt", "2", Some(1)),
            ("x-stainless-retry-count", "1", Some(1)),
            ("x-litellm-max-retries", "3", None),
            ("x-ratelimit-remaining-attempts", "3", None),
            ("retry-after", "3", None),
        ] {
            assert_eq!(repeats(name, value), want, "{name}");
        }
        for (name, value, want) in [
            ("x-envoy-upstream-service-time", "1490", Some(1490.0)),
            ("X-Runtime", "1.5", Some(1500.0)),
            ("X-Response-Time", "12ms", Some(12.0)),
            ("Server-Timing", "edge; dur=1, origin;dur=1300.5", Some(1300.5)),
            ("x-kong-proxy-latency", "9", None),
        ] {
            assert_eq!(spent(name, value), want, "{name}");
        }
        assert!(in_header("Server-Timing", "upstream;dur=1, tool;dur=1200"));
        assert!(in_header("X-Guardrail-Stage", "output") && !in_header("X-Guardrail-Stage", "input"));
        assert!(!in_header("Server-Timing", "cfOrigin;dur=10"));
        assert!(in_header("Idempotent-Replayed", "true") && !in_header("Idempotent-Replayed", "false"));
    }
}
