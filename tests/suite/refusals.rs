//! A refusal of a tool call, and what beside it takes the `safe` away: one exchange is changed in one point.

use serde_json::{Value, json};

use super::run::{calls, report_of};

/// The entry of a call that was refused at once, with a body that says nothing else.
fn refused() -> Value {
    json!({
        "startedDateTime": "2026-07-22T14:00:02.000Z", "time": 20,
        "timings": {"send": 0, "wait": 20, "receive": 0},
        "request": {"method": "POST", "url": "http://127.0.0.1:8000/mcp",
            "headers": [{"name": "Mcp-Session-Id", "value": "S"}],
            "postData": {"mimeType": "application/json", "text": pay(5).to_string()}},
        "response": {"status": 403, "headers": [],
            "content": {"mimeType": "text/plain", "size": 6, "text": "denied"}},
    })
}

fn pay(id: i64) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {"name": "pay", "arguments": {"amount": id}}})
}

/// A stream that was open from 14:00:01 on, for so many milliseconds, with this message.
fn stream(milliseconds: u32, message: &Value) -> Value {
    json!({
        "startedDateTime": "2026-07-22T14:00:01.000Z", "time": milliseconds,
        "request": {"method": "GET", "url": "http://127.0.0.1:8000/mcp",
            "headers": [{"name": "Mcp-Session-Id", "value": "S"}, {"name": "Accept", "value": "text/event-stream"}]},
        "response": {"status": 200, "headers": [],
            "content": {"mimeType": "text/event-stream", "text": format!("event: message\ndata: {message}\n\n")}},
    })
}

/// Verdict and condition of the first tool call.
fn verdict(entries: &[Value]) -> (String, String) {
    let har = json!({"log": {"version": "1.2", "creator": {"name": "test", "version": "1"}, "entries": entries}});
    let report = report_of("a.har", har.to_string());
    let call = calls(&report).iter().find(|call| call["method"] == "tools/call").expect("a tool call");
    let word = |key: &str| call["retry"][key].as_str().unwrap_or("").to_owned();
    (word("verdict"), word("condition"))
}

/// The verdict where members of the entry are replaced; a pointer with the value.
fn changed(changes: &[(&str, Value)]) -> (String, String) {
    let mut entry = refused();
    for (pointer, value) in changes {
        let (parent, key) = pointer.rsplit_once('/').unwrap();
        let parent = if parent.is_empty() { &mut entry } else { entry.pointer_mut(parent).unwrap() };
        if value.is_null() {
            parent.as_object_mut().unwrap().remove(key);
        } else {
            parent[key] = value.clone();
        }
    }
    verdict(&[entry])
}

fn body(text: &str) -> Vec<(&'static str, Value)> {
    vec![("/response/content", json!({"mimeType": "application/json", "size": text.len(), "text": text}))]
}

fn header(name: &str, value: &str) -> Vec<(&'static str, Value)> {
    vec![("/response/headers", json!([{"name": name, "value": value}]))]
}

#[test]
fn a_plain_refusal_is_safe() {
    let plain = [
        vec![],
        body(r#"{"error":"invalid_token","error_description":"Authentication required"}"#),
        body(r#"{"title":"Forbidden","status":403,"detail":"You do not have permission to access this resource."}"#),
        body(r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"forbidden"}}"#),
        vec![("/response/content", json!({"mimeType": "x-unknown", "size": 0}))],
        header("x-envoy-upstream-service-time", "12"),
        header("x-litellm-attempted-retries", "0"),
        header("x-envoy-attempt-count", "1"),
        header("Server-Timing", "edge;dur=3"),
    ];
    for changes in plain {
        assert_eq!(changed(&changes).0, "safe", "{changes:?}");
    }
}

#[test]
fn whoever_answered_had_it() {
    let answered = [
        body(r#"{"jsonrpc":"2.0","id":1005,"result":{"content":[]}}"#),
        body(r#"{"jsonrpc":"2.0","result":{"content":[]}}"#),
        body(r#"{"jsonrpc":"2.0","id":"5","error":{"code":-32000,"message":"x"}}"#),
        body(r#"{"jsonrpc":"2.0","id":5.0,"error":{"code":-32000,"message":"x"}}"#),
        body(r#"{"error":"blocked","response":{"jsonrpc":"2.0","id":5,"result":{"content":[]}}}"#),
        body(r#""{\"jsonrpc\":\"2.0\",\"id\":5,\"result\":{}}""#),
        body(r#"{"error":"tool result contains secrets"}"#),
        header("x-litellm-attempted-retries", "2"),
        header("X-Upstream-Addr", "10.0.0.1:80, 10.0.0.2:80"),
        header("Server-Timing", "tool;dur=12"),
        header("x-envoy-upstream-service-time", "2500"),
        vec![("/request/headers", json!([{"name": "x-stainless-retry-count", "value": "1"}]))],
    ];
    for changes in answered {
        assert_eq!(changed(&changes).0, "unknown", "{changes:?}");
    }
}

#[test]
fn words_that_no_door_is_known_for_may_tell_of_work() {
    let condition = "the body of its answer (a.har#1) does not speak of work that was done";
    for text in [
        r#"{"error":"Content policy violation","stage":"post_call"}"#,
        r#"{"message":"Payment captured. You are not allowed to view the receipt."}"#,
        r#"{"error":"receipt_forbidden","payment":{"id":"TX1","state":"captured"}}"#,
        r#"{"errorMessage":"Response payload size exceeded","errorType":"Function.ResponseSizeTooLarge"}"#,
        "<html><h1>403 Forbidden</h1><p>Transfer 4711 is done</p></html>",
    ] {
        assert_eq!(changed(&body(text)), ("safe-if".to_owned(), condition.to_owned()), "{text}");
    }
    assert_eq!(changed(&header("Idempotent-Replayed", "true")).0, "unknown");
    let page = "<html><head><title>403 Forbidden</title></head><body><h1>403 Forbidden</h1><hr>nginx</body></html>";
    assert_eq!(changed(&body(page)).0, "safe");
}

#[test]
fn a_body_that_is_not_there_may_be_an_answer() {
    for content in [
        json!({"mimeType": "application/json", "size": 812}),
        json!({"mimeType": "application/json", "size": -1}),
        json!({"mimeType": "application/json", "size": 800, "encoding": "base64", "text": "CwKAeyJ4In0D"}),
        json!({"mimeType": "application/json", "size": 800, "encoding": "base64", "text": "H4sIAA=="}),
        json!({"mimeType": "application/json", "size": 812, "_file": "abc.json"}),
    ] {
        let condition = "the body of its answer, which was not captured (a.har#1), holds no result";
        assert_eq!(changed(&[("/response/content", content)]), ("safe-if".to_owned(), condition.to_owned()));
    }
}

#[test]
fn a_second_attempt_does_not_make_up_for_the_first() {
    let mut first = refused();
    first["response"]["status"] = json!(401);
    let mut second = refused();
    second["startedDateTime"] = json!("2026-07-22T14:00:02.500Z");
    assert_eq!(verdict(&[first.clone(), second.clone()]).0, "safe");
    first["response"]["content"] = json!({"mimeType": "application/json", "size": 812});
    assert_eq!(verdict(&[first.clone(), second.clone()]).0, "safe-if");
    first["response"]["content"] =
        json!({"mimeType": "application/json", "text": r#"{"jsonrpc":"2.0","id":1005,"result":{"content":[]}}"#});
    assert_eq!(verdict(&[first, second]).0, "unknown");
}

#[test]
fn a_wait_counts_wherever_it_is_recorded() {
    let long = json!({"send": 0, "wait": 45000, "receive": 1});
    let nothing = json!({"send": 0, "wait": -1, "receive": 0});
    for changes in [
        vec![("/time", json!(-1)), ("/timings", long.clone())],
        vec![("/timings", long)],
        vec![("/startedDateTime", json!("yesterday")), ("/time", json!(45000))],
    ] {
        assert_eq!(changed(&changes).0, "unknown", "{changes:?}");
    }
    assert_eq!(changed(&[("/startedDateTime", json!("yesterday"))]).0, "safe");
    let unknown = [("/time", json!(0)), ("/timings", nothing)];
    assert_eq!(
        changed(&unknown),
        ("safe-if".to_owned(), "it was refused at once (no duration is on record)".to_owned())
    );
}

#[test]
fn a_message_on_a_stream_beside_it_may_be_about_it() {
    let told =
        json!({"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": "paid"}});
    let asked = json!({"jsonrpc": "2.0", "id": 77, "method": "elicitation/create", "params": {}});
    let condition = "no message on an event stream beside it (first: a.har#1) is about it";
    for message in [&told, &asked] {
        assert_eq!(verdict(&[stream(9000, message), refused()]), ("safe-if".to_owned(), condition.to_owned()));
    }
    assert_eq!(verdict(&[stream(500, &told), refused()]).0, "safe", "it had ended before");
    let list = json!({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"});
    assert_eq!(verdict(&[stream(9000, &list), refused()]).0, "safe");
    let mut other = stream(9000, &told);
    other["request"]["headers"][0]["value"] = json!("T");
    assert_eq!(verdict(&[other, refused()]).0, "safe", "it is another session's");
}

#[test]
fn what_names_nobody_answers_no_batch() {
    let error = r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"Invalid Request"}}"#;
    let sent = |text: String, status: u16, answer: &str| {
        let mut changes = body(answer);
        changes.push(("/request/postData", json!({"mimeType": "application/json", "text": text})));
        changes.push(("/response/status", json!(status)));
        changed(&changes).0
    };
    assert_eq!(sent(pay(5).to_string(), 200, error), "safe");
    assert_eq!(sent(format!("[{}]", pay(5)), 200, error), "safe");
    assert_eq!(sent(format!("[{},{{\"foo\":1}}]", pay(5)), 200, error), "unknown");
    assert_eq!(sent(format!("[{},{}]", pay(5), pay(6)), 200, error), "unknown");
    let both = format!("[{},{}]", pay(5), pay(6));
    assert_eq!(sent(both.clone(), 401, "Unauthorized"), "safe");
    let result = format!("[{error},{{\"jsonrpc\":\"2.0\",\"id\":6,\"result\":{{\"content\":[]}}}}]");
    assert_eq!(sent(both.clone(), 401, &result), "unknown");
    let denied = r#"[{"jsonrpc":"2.0","id":6,"error":{"code":-32003,"message":"forbidden"}}]"#;
    assert_eq!(sent(both, 403, denied), "unknown");
}

#[test]
fn a_trace_shows_the_body_of_a_refusal_too() {
    let read = |raw: &str| {
        let asked = json!({"ts": "2026-07-22T14:00:02.000Z", "run_id": "r", "direction": "in", "message": pay(5)});
        let given = json!({"ts": "2026-07-22T14:00:02.020Z", "run_id": "r", "direction": "out", "http": {"status": 403}, "raw": raw});
        let report = report_of("t.jsonl", format!("{asked}\n{given}\n"));
        calls(&report)[0]["retry"]["verdict"].clone()
    };
    assert_eq!(read("denied"), "safe");
    assert_eq!(read(r#"{"error":"blocked","response":{"jsonrpc":"2.0","id":5,"result":{"content":[]}}}"#), "unknown");
}

#[test]
fn nothing_is_unsent_that_may_have_gone_out() {
    let failed = |changes: &[(&'static str, Value)]| {
        let mut all = vec![("/response", json!({"status": 0, "headers": [], "content": {"size": 0}}))];
        all.push(("/timings", json!({"send": 0, "wait": -1, "receive": -1})));
        all.extend_from_slice(changes);
        changed(&all).0
    };
    let refused = ("/_error", json!("net::ERR_CONNECTION_REFUSED"));
    assert_eq!(failed(std::slice::from_ref(&refused)), "safe");
    assert_eq!(failed(&[refused.clone(), ("/timings", json!({"send": 3, "wait": -1, "receive": -1}))]), "unknown");
    assert_eq!(failed(&[refused, ("/connection", json!("77"))]), "unknown");
    assert_eq!(failed(&[("/_error", json!("2 attempts: ETIMEDOUT, ECONNREFUSED"))]), "unknown");
    assert_eq!(failed(&[("/_wasAborted", json!(true)), ("/time", json!(-1))]), "safe");
    assert_eq!(failed(&[("/_wasAborted", json!(true)), ("/time", json!(9000))]), "unknown");
    assert_eq!(failed(&[("/_wasFulfilled", json!(true)), ("/time", json!(-1))]), "unknown");
}
