//! Absence is proof only where it would have been recorded: each way in which a record ends, begins late or says less
//! takes the proof away, and the undamaged twin keeps it.

use std::{fs, path::Path};

use serde_json::Value;

use super::run::{calls, run};

/// Files of one incident, by name.
type Files = Vec<(&'static str, String)>;

/// The report of these files; `policy.toml` is the policy if it is one of them.
fn report(files: &Files) -> Value {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("input")).unwrap();
    let mut arguments = vec!["analyze", "input", "--calls", "all", "-o", "json"];
    for (name, text) in files {
        let place = if *name == "policy.toml" { folder.path().to_owned() } else { folder.path().join("input") };
        fs::write(place.join(name), text).unwrap();
        if *name == "policy.toml" {
            arguments.extend(["--policy", "policy.toml"]);
        }
    }
    json(folder.path(), &arguments)
}

fn json(folder: &Path, arguments: &[&str]) -> Value {
    let output = run(folder, arguments);
    serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&output.stderr)))
}

/// Retry and reach of the last tool call, and the restart of the first run.
fn verdicts(files: &Files) -> [String; 3] {
    let report = report(files);
    let call = calls(&report).iter().rfind(|call| call["method"] == "tools/call").unwrap();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    [text(&call["retry"]["verdict"]), text(&call["reach"]["answer"]), text(&report["runs"][0]["restart"]["verdict"])]
}

/// A line of the server's own log.
fn told(second: u32, event: &str, more: &str) -> String {
    format!(
        "{{\"run_id\":\"r\",\"server_name\":\"acme\",\"pid\":7,\"phase\":\"execution\",\"event\":\"{event}\",\"at\":\"2026-07-22T14:00:{second:02}.000Z\",\"request_id\":5,\"tool\":\"pay\"{more}}}\n"
    )
}

/// A call that the server received and answered with an error, in a log that is complete by the policy.
fn covered_error() -> Files {
    let server = [
        told(1, "tool_call_received", ""),
        told(2, "tool_call_responded", ",\"is_error\":true"),
        told(9, "tool_call_received", "").replace(":5,", ":6,").replace("pay", "look"),
    ];
    let policy = "[[tool]]\nname = \"pay\"\nlocal_effects = false\n\n[[source]]\npath = \"input/*\"\ncomplete = [\"attempts\"]\n";
    let wire = [
        r#"{"ts":"2026-07-22T14:00:00.900Z","run_id":"r","server":"acme","direction":"in","message":{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"pay","arguments":{"n":1}}}}"#,
        r#"{"ts":"2026-07-22T14:00:02.100Z","run_id":"r","server":"acme","direction":"out","message":{"jsonrpc":"2.0","id":5,"result":{"content":[{"type":"text","text":"no luck"}],"isError":true}}}"#,
        "",
    ];
    vec![("server.jsonl", server.concat()), ("wire.jsonl", wire.join("\n")), ("policy.toml", policy.into())]
}

/// A call whose gate stayed shut, in the server's own log.
fn denied() -> Files {
    let server = [
        told(1, "tool_call_received", ""),
        told(2, "authorization_requested", ""),
        told(3, "authorization_denied", ""),
        told(4, "tool_call_responded", ",\"is_error\":true"),
    ];
    vec![("server.jsonl", server.concat())]
}

/// The files with these lines put behind the first line of the server's log.
fn with_line(mut files: Files, line: &str) -> Files {
    let text = &mut files[0].1;
    let at = text.find('\n').unwrap() + 1;
    text.insert_str(at, &format!("{line}\n"));
    files
}

fn renamed(mut files: Files, name: &'static str) -> Files {
    files[0].0 = name;
    files
}

/// Every way in which the server's log shows that it lacks something in the time of the call.
fn gaps(files: &dyn Fn() -> Files) -> Vec<(&'static str, Files)> {
    let mut torn = files();
    let kept = torn[0].1.trim_end().len() - 9;
    torn[0].1.truncate(kept);
    let back = told(0, "server_ready", "")
        .replace("\"request_id\":5,\"tool\":\"pay\"", "\"n\":1")
        .replace("14:00:00", "13:59:00");
    vec![
        ("a record that is cut", with_line(files(), "{\"run_id\":\"r\",\"phase\":\"exec")),
        (
            "records that were dropped",
            with_line(files(), "rsyslogd: imuxsock lost 234 messages from pid 7 due to rate-limiting"),
        ),
        (
            "a level that was raised",
            with_line(files(), "{\"level\":30,\"msg\":\"Log level changed from INFO to ERROR\"}"),
        ),
        ("an event that nobody knows", with_line(files(), told(2, "external_atempt", "").trim_end())),
        ("a clock that goes back", with_line(files(), back.trim_end())),
        ("a file that ends in a record", torn),
        ("a part whose next part is missing", renamed(files(), "server.jsonl.1")),
    ]
}

#[test]
fn a_call_that_failed_is_covered_only_where_its_log_is_whole() {
    assert_eq!(verdicts(&covered_error())[..2], ["safe", "no"]);
    for (gap, files) in gaps(&covered_error) {
        let [retry, reach, _] = verdicts(&files);
        assert!(retry != "safe", "{gap}: {retry}");
        // What followed the file says nothing about what lies between two of its records.
        assert!(reach != "no", "{gap}: {reach}");
    }
    let [retry, reach, _] = verdicts(&with_line(covered_error(), "charging the card of customer 4 now"));
    assert!(retry != "safe" && reach != "no", "{retry}, {reach}");
}

#[test]
fn a_gate_that_stayed_shut_is_believed_only_where_its_log_is_whole() {
    assert_eq!(verdicts(&denied())[0], "safe");
    for (gap, files) in gaps(&denied) {
        let [retry, ..] = verdicts(&files);
        assert!(retry != "safe", "{gap}: {retry}");
    }
}

#[test]
fn the_log_of_one_process_says_nothing_about_another_one() {
    let http = |mut files: Files| {
        let http = "\"http\":{\"method\":\"POST\",\"url\":\"http://gw.test/mcp\"},\"message\"";
        files[1].1 = files[1].1.replace("\"message\"", http);
        files
    };
    let [retry, reach, _] = verdicts(&http(covered_error()));
    assert!(retry != "safe" && reach != "no", "{retry}, {reach}");
    let mut files = covered_error();
    let worker = told(1, "tool_call_received", "").replace("\"pid\":7", "\"pid\":8");
    files.push(("worker.jsonl", worker));
    let [retry, reach, _] = verdicts(&files);
    assert!(retry != "safe" && reach != "no", "{retry}, {reach}");
}

/// The life of a process and its trace.
fn life() -> Files {
    let step = |second: u32, event: &str, more: &str| {
        format!(
            "{{\"run_id\":\"r\",\"server_name\":\"acme\",\"phase\":\"launch\",\"event\":\"{event}\",\"at\":\"2026-07-22T14:00:{second:02}.000Z\",\"pid\":7{more}}}\n"
        )
    };
    let call = told(3, "tool_call_received", "") + &told(4, "tool_call_responded", ",\"is_error\":true");
    let phases = step(0, "spawned", "") + &call + &step(9, "exited", ",\"exit_code\":0");
    let trace = r#"7 14:00:00.000000 execve("/usr/bin/node", ["node", "s.js"], 0x7ffc /* 9 vars */) = 0
7 14:00:01.000000 connect(3, {sa_family=AF_UNIX, sun_path="/dev/log"}, 110) = 0
7 14:00:01.100000 sendto(3, "<30>up", 6, 0, NULL, 0) = 6
7 14:00:09.000000 exit_group(0)       = ?
7 14:00:09.000001 +++ exited with 0 +++
"#;
    vec![("server.jsonl", phases), ("strace.log", trace.into())]
}

#[test]
fn a_trace_covers_the_processes_that_it_follows() {
    assert_eq!(verdicts(&life())[1..], ["no", "safe"]);
    // One of two processes of the server.
    let mut files = life();
    files.push((
        "worker.jsonl",
        told(5, "tool_call_received", "").replace("\"pid\":7", "\"pid\":8").replace(":5,", ":6,"),
    ));
    assert!(verdicts(&files)[1..].iter().all(|verdict| verdict != "no" && verdict != "safe"), "{:?}", verdicts(&files));
    // The trace of another time of the day.
    let mut files = life();
    files[1].1 = files[1].1.replace(" 14:00:", " 14:07:");
    assert_ne!(verdicts(&files)[1], "no");
}

#[test]
fn a_start_is_covered_by_a_log_that_holds_it() {
    let channel = told(5, "external_attempt", ",\"target\":\"https://a.test\",\"method\":\"POST\"");
    let start = |lines: &[String]| vec![("server.jsonl", lines.concat())] as Files;
    let exited = life()[0].1.lines().last().unwrap().to_owned() + "\n";
    let spawned = life()[0].1.lines().next().unwrap().to_owned() + "\n";
    let call = [told(4, "tool_call_received", ""), channel, told(6, "tool_call_responded", ""), exited].concat();
    assert_eq!(verdicts(&start(&[spawned.clone(), call.clone()]))[2], "safe-if");
    assert_eq!(verdicts(&start(std::slice::from_ref(&call)))[2], "unknown", "the log begins in the middle");
    let dropped = "rsyslogd: imuxsock lost 234 messages from pid 7 due to rate-limiting\n".to_owned();
    assert_eq!(verdicts(&start(&[spawned, dropped, call]))[2], "unknown");
}
