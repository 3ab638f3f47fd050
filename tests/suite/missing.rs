//! What a report says that a missing file would make of a verdict is what the judge says once it has that file.

use std::fs;

use serde_json::Value;

use super::run::{calls, report};

/// A file, by name.
type File = (&'static str, String);

/// An artifact by the beginning of its phrase, and the files that it would be: one that shows something, one that does not.
type Artifact = (&'static str, File, File);

fn judged(files: &[File]) -> Value {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("input")).unwrap();
    for (name, text) in files {
        fs::write(folder.path().join("input").join(name), text).unwrap();
    }
    report(folder.path(), "input")
}

/// The first call of the tool in question.
fn call(report: &Value) -> Value {
    calls(report).iter().find(|call| call["tool"] == "pay").unwrap().clone()
}

/// The same files with one more, or one in place of that of the same name.
fn with(files: &[File], more: &File) -> Vec<File> {
    let mut all: Vec<File> = files.iter().filter(|(name, _)| *name != more.0).cloned().collect();
    all.push(more.clone());
    all
}

/// Fetches each artifact that the report asks for, and compares what became of the verdict. The artifacts are asked for
/// in this order.
fn foretold(files: &[File], artifacts: &[Artifact]) {
    let before = call(&judged(files));
    let missing = before["missing"].as_array().unwrap();
    let phrases: Vec<&str> = missing.iter().map(|row| row["artifact"].as_str().unwrap()).collect();
    assert_eq!(phrases.len(), artifacts.len(), "{phrases:#?}");
    for (row, (phrase, present, absent)) in missing.iter().zip(artifacts) {
        assert!(row["artifact"].as_str().unwrap().starts_with(phrase), "{phrase}: {phrases:#?}");
        for (key, file) in [("if_present", present), ("if_absent", absent)] {
            let after = call(&judged(&with(files, file)));
            let (verdict, rule) = (&after["retry"]["verdict"], &after["retry"]["rule"]);
            assert_eq!(*verdict, row[key], "{key} of {phrase}: {rule} {}", after["retry"]["condition"]);
        }
    }
}

const ASKED: &str = r#"{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"pay","arguments":{"n":1}}}"#;

/// A line of a capture between client and server.
fn wire(second: u32, direction: &str, more: &str, message: &str) -> String {
    format!(
        "{{\"ts\":\"2026-07-22T14:00:{second:02}.000Z\",\"run_id\":\"r\",\"server\":\"acme\",\"direction\":\"{direction}\",{more}\"message\":{message}}}\n"
    )
}

/// A line of the server's own log.
fn told(second: u32, event: &str, more: &str) -> String {
    format!(
        "{{\"run_id\":\"r\",\"server_name\":\"acme\",\"pid\":7,\"phase\":\"execution\",\"event\":\"{event}\",\"at\":\"2026-07-22T14:00:{second:02}.100Z\"{more}}}\n"
    )
}

const CALL: &str = ",\"request_id\":5,\"tool\":\"pay\"";

/// The server's log with these lines of the call, and a contact at its start.
fn server(lines: &[String]) -> File {
    let start = told(0, "external_attempt", ",\"outside\":1,\"target\":\"https://metrics.test\",\"method\":\"POST\"");
    let start = start.replace("execution", "launch");
    ("server.jsonl", told(0, "spawned", "").replace("execution", "launch") + &start + &lines.concat())
}

/// The server's log as it would be: with a contact of the call, and with its end and none.
fn server_log(phrase: &'static str) -> Artifact {
    let contact = format!("{CALL},\"target\":\"https://api.test\",\"method\":\"POST\"");
    let received = told(2, "tool_call_received", CALL);
    let present = server(&[received.clone(), told(2, "external_attempt", &contact)]);
    let error = told(3, "tool_call_responded", &format!("{CALL},\"is_error\":true"));
    (phrase, present, server(&[received, error]))
}

/// The server's log as it would be of a call whose failure it did not make: it holds no end.
fn server_log_without_end() -> Artifact {
    let (phrase, present, _) = server_log("the stderr or phase log of acme");
    (phrase, present, server(&[told(2, "tool_call_received", CALL)]))
}

/// The log of the service, which repeats the arguments of the call.
fn service() -> Artifact {
    let line = "{\"ts\":\"2026-07-22T14:00:02.500+00:00\",\"n\":1,\"method\":\"POST\",\"path\":\"/pay\",\"status\":201,\"body\":\"{\\\"n\\\": 1}\",\"peer_port\":5,\"user-agent\":\"acme\",\"x-run-id\":\"r\"}\n";
    let name = "external.access.jsonl";
    ("the log of the service", (name, line.to_owned()), (name, String::new()))
}

fn stdio(answer: Option<&str>) -> Vec<File> {
    let mut text = wire(1, "in", "", ASKED);
    if let Some(answer) = answer {
        text += &wire(4, "out", "", answer);
    }
    vec![("wire.jsonl", text)]
}

fn http(status: u16, body: &str) -> String {
    let post = "\"http\":{\"method\":\"POST\",\"url\":\"http://gw.test/mcp\"},\"session_id\":\"s1\",";
    let answer =
        format!("\"http\":{{\"status\":{status},\"content_type\":\"application/json\"}},\"session_id\":\"s1\",");
    wire(1, "in", post, ASKED) + &wire(2, "out", &answer, body)
}

const FAILURE: &str =
    r#"{"jsonrpc":"2.0","id":5,"result":{"content":[{"type":"text","text":"no luck"}],"isError":true}}"#;
const SUCCESS: &str = r#"{"jsonrpc":"2.0","id":6,"result":{"content":[{"type":"text","text":"paid"}]}}"#;

#[test]
fn of_an_error_of_the_tool() {
    foretold(&stdio(Some(FAILURE)), &[server_log("the stderr or phase log of acme"), service()]);
    let error = r#"{"jsonrpc":"2.0","id":5,"error":{"code":-32603,"message":"boom"}}"#;
    foretold(&stdio(Some(error)), &[server_log("the stderr or phase log of acme"), service()]);
}

#[test]
fn of_a_call_without_an_answer() {
    foretold(&stdio(None), &[server_log_without_end(), service()]);
}

#[test]
fn of_a_failure_that_somebody_else_may_have_made() {
    foretold(&[("wire.jsonl", http(503, r#"{"busy":true}"#))], &[server_log_without_end(), service()]);
}

#[test]
fn of_an_unknown_session_the_gateway_can_tell() {
    let body = r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"Session not found"}}"#;
    let line = |upstreams: &str, statuses: &str| {
        format!(
            "{{\"time\":\"2026-07-22T14:00:02+00:00\",\"msec\":1784728802.000,\"remote_addr\":\"10.0.0.9\",\"method\":\"POST\",\"uri\":\"/mcp\",\"status\":404,\"bytes\":80,\"request_time\":1.000,\"upstream_addr\":\"{upstreams}\",\"upstream_status\":\"{statuses}\",\"mcp_session_id\":\"s1\"}}\n"
        )
    };
    let twice = line("10.0.0.2:80, 10.0.0.3:80", "502, 404");
    let once = line("10.0.0.2:80", "404");
    let artifact = ("the access log of the gateway", ("nginx.access.jsonl", twice), ("nginx.access.jsonl", once));
    foretold(&[("wire.jsonl", http(404, body))], &[artifact]);
}

#[test]
fn of_a_file_that_is_cut() {
    let refused = http(401, r#"{"error":"unauthorized"}"#);
    let again = wire(5, "in", "", &ASKED.replace(":5,", ":6,")) + &wire(6, "out", "", SUCCESS);
    let ping = wire(5, "in", "", r#"{"jsonrpc":"2.0","id":8,"method":"ping"}"#);
    let cut = refused.clone() + &ping[..ping.len() / 2];
    let whole =
        ("the whole of input/wire.jsonl", ("wire.jsonl", refused.clone() + &again), ("wire.jsonl", refused + &ping));
    foretold(&[("wire.jsonl", cut)], &[whole]);
}

#[test]
fn of_a_rotated_part() {
    let refused = http(401, r#"{"error":"unauthorized"}"#);
    let again = wire(5, "in", "", &ASKED.replace(":5,", ":6,")) + &wire(6, "out", "", SUCCESS);
    let ping = wire(5, "in", "", r#"{"jsonrpc":"2.0","id":8,"method":"ping"}"#);
    let next = ("input/wire.jsonl, which followed input/wire.jsonl.1", ("wire.jsonl", again), ("wire.jsonl", ping));
    foretold(&[("wire.jsonl.1", refused)], &[next]);
}

#[test]
fn what_is_asked_for_first_is_the_cheapest() {
    let torn = format!("{}{{\"ts\":\"2026-07-22T14:00:05", stdio(None)[0].1);
    let report = judged(&[("wire.jsonl", torn)]);
    let call = call(&report);
    let first = call["missing"][0]["artifact"].as_str().unwrap();
    assert_eq!(first, "the whole of input/wire.jsonl");
    let phrases = call["missing"].to_string();
    assert!(!phrases.contains("kernel"), "{phrases}");
}
