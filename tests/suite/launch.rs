//! The launch stories: what the report says of a run that did not come up, or stopped early.

use serde_json::Value;

use super::run::{calls, report_of};

fn run_of(report: &Value) -> &Value {
    let runs = report["runs"].as_array().unwrap();
    assert_eq!(runs.len(), 1, "{report:#}");
    &runs[0]
}

const SPAWN: &str = r#"{"ts":"2026-07-22T14:03:10.000Z","dir":"spawn","argv":["python","srv.py"],"pid":7}
{"ts":"2026-07-22T14:03:10.001Z","dir":"c2s","line":"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{\"protocolVersion\":\"2025-11-25\"}}"}
"#;

#[test]
fn a_wrong_working_directory_is_the_launchers() {
    let tap = format!(
        "{SPAWN}{}\n{}\n{}\n{}\n",
        r#"{"ts":"2026-07-22T14:03:10.100Z","dir":"stderr","line":"Traceback (most recent call last):"}"#,
        r#"{"ts":"2026-07-22T14:03:10.100Z","dir":"stderr","line":"  File \"srv.py\", line 13, in <module>"}"#,
        r#"{"ts":"2026-07-22T14:03:10.100Z","dir":"stderr","line":"FileNotFoundError: [Errno 2] No such file or directory: 'config/server.json'"}"#,
        r#"{"ts":"2026-07-22T14:03:10.200Z","dir":"exit","code":1}"#
    );
    let report = report_of("wire.jsonl", tap);
    let run = run_of(&report);
    assert_eq!(run["deadline_owner"], "launcher", "{run:#}");
    assert_eq!(run["stopped_at"], "exited_before_initialize");
    assert_eq!(run["layer"], "process");
    assert_eq!(run["exit"]["code"], 1);
    assert_eq!(calls(&report)[0]["layer"], "process");
    assert_eq!(calls(&report)[0]["retry"]["helps"], "no");
    let rules: Vec<_> = report["findings"].as_array().unwrap().iter().map(|finding| &finding["rule"]).collect();
    assert!(rules.iter().any(|rule| *rule == "spawn-failed"), "{rules:?}");
    assert!(!rules.iter().any(|rule| *rule == "startup-crash"), "{rules:?}");
}

#[test]
fn a_banner_on_stdout_is_pollution_and_not_a_slow_server() {
    let tap = format!(
        "{SPAWN}{}\n{}\n",
        r#"{"ts":"2026-07-22T14:03:10.100Z","dir":"s2c","line":"Server v1 starting..."}"#,
        r#"{"ts":"2026-07-22T14:04:10.100Z","dir":"c2s_eof"}"#
    );
    let report = report_of("wire.jsonl", tap);
    assert_eq!(run_of(&report)["layer"], "transport", "{report:#}");
    assert_eq!(run_of(&report)["deadline_owner"], "transport");
    assert!(report["findings"].as_array().unwrap().iter().any(|finding| finding["rule"] == "stdout-pollution"));
}

#[test]
fn a_fatal_error_while_answering_initialize_is_the_servers() {
    let log = "ts=2026-07-22T14:03:10Z run_id=r phase=launch event=spawned pid=7\n\
               ts=2026-07-22T14:03:11Z run_id=r phase=handshake event=initialize_received request_id=1\n\
               Traceback (most recent call last):\n  File \"srv.py\", line 3, in handle\nValueError: no capabilities\n\
               ts=2026-07-22T14:03:12Z run_id=r phase=launch event=exited exit_code=1\n";
    let report = report_of("server.log", log);
    assert_eq!(run_of(&report)["stopped_at"], "initialize_received_no_response", "{report:#}");
    assert_eq!(run_of(&report)["deadline_owner"], "server");
}

#[test]
fn a_response_without_initialized_names_the_client() {
    let log = "ts=2026-07-22T14:03:10Z run_id=r phase=launch event=spawned pid=7\n\
               ts=2026-07-22T14:03:11Z run_id=r phase=handshake event=initialize_received request_id=1\n\
               ts=2026-07-22T14:03:12Z run_id=r phase=handshake event=initialize_responded request_id=1 protocol_version=2025-06-18\n";
    let report = report_of("server.log", log);
    assert_eq!(run_of(&report)["stopped_at"], "response_sent_no_initialized", "{report:#}");
}

#[test]
fn an_empty_tool_list_keeps_its_reason() {
    let log = "ts=2026-07-22T14:03:11Z run_id=r phase=discovery event=tools_list_received request_id=2\n\
               ts=2026-07-22T14:03:12Z run_id=r phase=discovery event=tools_list_responded request_id=2 tool_count=0 reason=feature_flag_off\n";
    let report = report_of("server.log", log);
    let finding = report["findings"].as_array().unwrap().iter().find(|finding| finding["rule"] == "tools-list-empty");
    let claim = finding.unwrap_or_else(|| panic!("{report:#}"))["claim"].as_str().unwrap();
    assert!(claim.contains("feature_flag_off"), "{claim}");
}

#[test]
fn a_denied_authorization_with_the_calls_end_is_safe_and_no_failed_start() {
    let log = "ts=2026-07-22T14:03:10Z run_id=r phase=launch event=spawned pid=7\n\
               ts=2026-07-22T14:03:11Z run_id=r phase=execution event=tool_call_received request_id=2 tool=pay\n\
               ts=2026-07-22T14:03:12Z run_id=r phase=execution event=authorization_requested request_id=2\n\
               ts=2026-07-22T14:03:13Z run_id=r phase=execution event=authorization_denied request_id=2 reason=policy\n\
               ts=2026-07-22T14:03:14Z run_id=r phase=execution event=tool_call_responded request_id=2 is_error=true\n";
    let report = report_of("server.log", log);
    let call = &calls(&report)[0];
    assert_eq!(call["retry"]["verdict"], "safe", "{call:#}");
    assert_eq!(call["retry"]["rule"], "authorization-denied");
    assert_eq!(run_of(&report)["started"]["answer"], "yes");
    // The twin: without the end of the call it is a condition.
    let open: String = log.split_inclusive('\n').take(4).collect();
    let report = report_of("server.log", open);
    assert_eq!(calls(&report)[0]["retry"]["verdict"], "safe-if", "{report:#}");
}

#[test]
fn three_contacts_at_module_load_make_a_restart_unsafe() {
    let mut log = "ts=2026-07-22T14:03:10Z run_id=r phase=launch event=spawned pid=7\n".to_owned();
    for second in 11..14 {
        log.push_str(&[
            "ts=2026-07-22T14:03:", &second.to_string(),
            "Z run_id=r phase=execution event=external_attempt target=https://api.example.test method=POST path=/warmup\n",
        ].concat());
    }
    log.push_str("ts=2026-07-22T14:03:20Z run_id=r error=handshake_timeout last_event=spawned\n");
    let report = report_of("server.log", log);
    let run = run_of(&report);
    assert_eq!(run["reached_outside"]["answer"], "yes", "{run:#}");
    assert_eq!(run["reach"]["targets"][0]["attempts"], 3);
    assert_eq!(run["restart"]["verdict"], "unsafe");
}

#[test]
fn an_attempt_without_result_and_then_an_exit_is_unsafe() {
    let log = "ts=2026-07-22T14:03:10Z run_id=r phase=launch event=spawned pid=7\n\
               ts=2026-07-22T14:03:11Z run_id=r phase=execution event=tool_call_received request_id=2 tool=pay\n\
               ts=2026-07-22T14:03:12Z run_id=r phase=execution event=external_attempt request_id=2 target=https://pay.example.test method=POST\n\
               ts=2026-07-22T14:03:14Z run_id=r phase=launch event=exited exit_code=137\n";
    let report = report_of("server.log", log);
    let call = &calls(&report)[0];
    assert_eq!(call["retry"]["verdict"], "unsafe", "{call:#}");
    assert_eq!(call["outcome"], "NO_ANSWER");
    assert_eq!(run_of(&report)["stopped_at"], "external_attempt_no_result");
}

/// What a client only queued was neither sent nor received, as far as its log tells.
#[test]
fn a_queued_handshake_is_not_received() {
    let log = "2025-09-02T13:05:00.050Z [acme] [info] Initializing server... { metadata: undefined }\n\
               2025-09-02T13:05:00.052Z [acme] [info] Message from client: {\"method\":\"initialize\",\"params\":{\"protocolVersion\":\"2025-06-18\"},\"jsonrpc\":\"2.0\",\"id\":0} { metadata: undefined }\n\
               2025-09-02T13:05:00.060Z [acme] [info] Server started and connected successfully { metadata: undefined }\n\
               2025-09-02T13:05:00.650Z [acme] [info] Server transport closed { metadata: undefined }\n";
    let report = report_of("mcp-server-acme.log", log);
    assert_eq!(run_of(&report)["stopped_at"], "request_queued_no_answer", "{report:#}");
}

#[test]
fn a_stop_is_named_after_its_method() {
    let open = r#"{"ts":"2026-07-22T14:03:10.002Z","dir":"c2s","line":"{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"resources/read\",\"params\":{\"uri\":\"file:///a\"}}"}"#;
    let done = r#"{"ts":"2026-07-22T14:03:10.001Z","dir":"s2c","line":"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"protocolVersion\":\"2025-11-25\",\"capabilities\":{}}}"}"#;
    let report = report_of("wire.jsonl", format!("{SPAWN}{done}\n{open}\n"));
    assert_eq!(run_of(&report)["stopped_at"], "request_sent_not_received", "{report:#}");
}

/// A log without messages says nothing about a handshake; a tap over the life of the process does.
#[test]
fn no_handshake_is_claimed_only_where_it_would_be_on_record() {
    let log = "ts=2026-07-22T14:03:10Z run_id=r phase=launch event=spawned pid=7\n\
               ts=2026-07-22T14:03:12Z run_id=r phase=launch event=exited exit_code=1\n";
    assert_eq!(run_of(&report_of("server.log", log))["initialized"]["answer"], "unknown");
    let (spawn, _) = SPAWN.split_once('\n').unwrap();
    let list = r#"{"ts":"2026-07-22T14:03:10.001Z","dir":"c2s","line":"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}"}"#;
    let exit = r#"{"ts":"2026-07-22T14:03:10.200Z","dir":"exit","code":1}"#;
    let report = report_of("wire.jsonl", format!("{spawn}\n{exit}\n"));
    assert_eq!(run_of(&report)["initialized"]["answer"], "no", "{report:#}");
    // Requests are sent behind a handshake: its lines are missing.
    for lines in [format!("{spawn}\n{list}\n{exit}\n"), format!("{list}\n{exit}\n")] {
        let report = report_of("wire.jsonl", lines);
        assert_eq!(run_of(&report)["initialized"]["answer"], "unknown", "{report:#}");
    }
}

#[test]
fn a_refused_probe_before_a_handshake_is_no_failure() {
    let line = |second: u32, dir: &str, text: &str| {
        let text = text.replace('"', "\\\"");
        format!("{{\"ts\":\"2026-07-30T03:01:{second:02}.000Z\",\"dir\":\"{dir}\",\"line\":\"{text}\"}}\n")
    };
    let tap = [
        line(1, "c2s", r#"{"jsonrpc":"2.0","id":1,"method":"server/discover"}"#),
        line(2, "s2c", r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"Method not found"}}"#),
        line(3, "c2s", r#"{"jsonrpc":"2.0","id":2,"method":"initialize","params":{"protocolVersion":"2025-06-18"}}"#),
        line(4, "s2c", r#"{"jsonrpc":"2.0","id":2,"result":{"protocolVersion":"2025-06-18","capabilities":{}}}"#),
    ];
    let report = report_of("wire.jsonl", tap.concat());
    assert_eq!(calls(&report)[0]["retry"]["helps"], "already-done", "{report:#}");
    // The twin: nothing follows the refusal.
    let report = report_of("wire.jsonl", tap[..2].concat());
    assert_eq!(calls(&report)[0]["retry"]["helps"], "no", "{report:#}");
}
