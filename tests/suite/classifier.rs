//! The eleven classifier cases, as HAR and as trace, through the real pipeline.

use serde_json::{Value, json};

use super::run::{calls, folders, report, report_of, root};

/// One POST and its answer.
struct Exchange {
    id: i64,
    status: u16,
    body: &'static str,
}

/// Name, exchanges, outcome, layer and code of the last call.
type Case = (&'static str, &'static [Exchange], &'static str, &'static str, Option<i64>);

const OK: &str =
    r#"{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","content":[{"type":"text","text":"ok"}]}}"#;

static CASES: &[Case] = &[
    ("success", &[Exchange { id: 1, status: 200, body: OK }], "TOOL_SUCCESS", "none", None),
    (
        "503, then an explicit second POST",
        &[Exchange { id: 1, status: 503, body: "upstream busy" }, Exchange { id: 1, status: 200, body: OK }],
        "TOOL_SUCCESS",
        "none",
        None,
    ),
    (
        "200 with a JSON-RPC error",
        &[Exchange { id: 1, status: 200, body: r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"bad"}}"# }],
        "JSONRPC_ERROR",
        "protocol",
        Some(-32602),
    ),
    (
        "200 with isError",
        &[Exchange { id: 1, status: 200, body: r#"{"jsonrpc":"2.0","id":1,"result":{"content":[],"isError":true}}"# }],
        "TOOL_ERROR",
        "application",
        None,
    ),
    (
        "500 with a success-looking body",
        &[Exchange { id: 1, status: 500, body: OK }],
        "HTTP_ERROR",
        "transport",
        Some(500),
    ),
    (
        "unclosed JSON",
        &[Exchange { id: 1, status: 200, body: r#"{"jsonrpc":"2.0","id":1,"result":{"content":["# }],
        "MALFORMED_JSON",
        "protocol",
        None,
    ),
    (
        "result and error together",
        &[Exchange {
            id: 1,
            status: 200,
            body: r#"{"jsonrpc":"2.0","id":1,"result":{"content":[]},"error":{"code":-32603,"message":"x"}}"#,
        }],
        "INVALID_ENVELOPE",
        "protocol",
        Some(-32603),
    ),
    (
        "wrong response id",
        &[Exchange { id: 1, status: 200, body: r#"{"jsonrpc":"2.0","id":99,"result":{"content":[]}}"# }],
        "INVALID_ENVELOPE",
        "protocol",
        None,
    ),
    (
        "input_required",
        &[Exchange {
            id: 1,
            status: 200,
            body: r#"{"jsonrpc":"2.0","id":1,"result":{"resultType":"input_required","requestState":"s","inputRequests":{}}}"#,
        }],
        "INPUT_REQUIRED",
        "interaction",
        None,
    ),
    (
        "result without resultType",
        &[Exchange { id: 1, status: 200, body: r#"{"jsonrpc":"2.0","id":1,"result":{"content":[]}}"# }],
        "TOOL_SUCCESS",
        "none",
        None,
    ),
    (
        "content not an array",
        &[Exchange { id: 1, status: 200, body: r#"{"jsonrpc":"2.0","id":1,"result":{"content":"text"}}"# }],
        "INVALID_TOOL_RESULT",
        "protocol",
        None,
    ),
];

fn request(id: i64) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {"name": "pay", "arguments": {"amount": 5}}})
}

fn har(exchanges: &[Exchange]) -> String {
    let entries: Vec<Value> = (0..)
        .zip(exchanges)
        .map(|(second, exchange)| {
            let kind = if exchange.body.starts_with('{') { "application/json" } else { "text/plain" };
            json!({
                "startedDateTime": format!("2026-07-22T14:03:{:02}.000Z", 10 + second), "time": 5,
                "request": {"method": "POST", "url": "http://127.0.0.1:8000/mcp",
                    "headers": [{"name": "Mcp-Session-Id", "value": "5e551011"}, {"name": "Accept", "value": "application/json, text/event-stream"}],
                    "postData": {"mimeType": "application/json", "text": request(exchange.id).to_string()}},
                "response": {"status": exchange.status, "headers": [{"name": "Content-Type", "value": kind}],
                    "content": {"mimeType": kind, "size": exchange.body.len(), "text": exchange.body}},
            })
        })
        .collect();
    json!({"log": {"version": "1.2", "creator": {"name": "test", "version": "1"}, "entries": entries}}).to_string()
}

fn trace(exchanges: &[Exchange]) -> String {
    let lines = (0..).zip(exchanges).flat_map(|(second, exchange)| {
        let at = |half: &str| format!("2026-07-22T14:03:{:02}.{half}00Z", 10 + second);
        let http = json!({"status": exchange.status, "content_type": "application/json"});
        [
            json!({"ts": at("0"), "run_id": "r", "direction": "in", "message": request(exchange.id)}),
            json!({"ts": at("5"), "run_id": "r", "direction": "out", "http": http, "raw": exchange.body}),
        ]
    });
    lines.map(|line| line.to_string() + "\n").collect()
}

#[test]
fn the_eleven_cases() {
    assert_eq!(CASES.len(), 11);
    for (name, exchanges, outcome, layer, code) in CASES {
        for (carrier, report) in
            [("har", report_of("a.har", har(exchanges))), ("trace", report_of("a.jsonl", trace(exchanges)))]
        {
            let call = calls(&report).last().unwrap_or_else(|| panic!("{name} as {carrier}: no call"));
            assert_eq!(call["outcome"], *outcome, "{name} as {carrier}: {call:#}");
            assert_eq!(call["layer"], *layer, "{name} as {carrier}");
            assert_eq!(call["code"].as_i64(), *code, "{name} as {carrier}");
        }
    }
}

#[test]
fn a_second_post_of_the_same_request_is_one_call_with_two_statuses() {
    let report = report_of("a.har", har(CASES[1].1));
    let [call] = calls(&report) else { panic!("{report:#}") };
    assert_eq!(call["http"]["post_count"], 2);
    assert_eq!(call["http"]["statuses"], json!([503, 200]));
    assert_eq!(call["retry"]["verdict"], "unsafe");
}

/// Every operation of every sample: its executions are the sums of what its calls say.
#[test]
fn the_sums_of_operations_are_those_of_their_calls() {
    let mut operations = 0;
    for folder in ["samples/cases", "samples/adversarial"].into_iter().flat_map(|kind| folders(&root().join(kind))) {
        let report = report(&folder, ".");
        let of_call = |handle: &serde_json::Value, bound: usize| -> u64 {
            let row = calls(&report).iter().find(|call| call["call"] == *handle);
            row.and_then(|call| call["effects"][bound].as_u64()).unwrap_or_else(|| panic!("{handle}"))
        };
        for operation in report["operations"].as_array().unwrap() {
            for bound in 0..2 {
                let attempts = operation["attempts"].as_array().unwrap();
                let sum: u64 = attempts.iter().map(|attempt| of_call(attempt, bound)).sum();
                assert_eq!(operation["effects"][bound], sum, "{}: {operation:#}", folder.display());
            }
            operations += 1;
        }
    }
    assert!(operations > 10, "{operations}");
}
