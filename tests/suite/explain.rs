//! The explanation of one call.

use std::{fs, path::Path, process::Stdio};

use serde_json::{Value, json};

use super::run::{calls, folders, program, report, root, run, stdout};

fn case(name: &str) -> std::path::PathBuf {
    root().join("samples/cases").join(name)
}

/// The explanation of a call as JSON.
fn explained(folder: &Path, call: &str, input: &str) -> Value {
    serde_json::from_str(&stdout(folder, &["explain", call, input, "-o", "json"])).unwrap()
}

fn errors(folder: &Path, arguments: &[&str]) -> String {
    let output = run(folder, arguments);
    assert_eq!(output.status.code(), Some(2), "{arguments:?}");
    assert!(output.stdout.is_empty(), "{arguments:?}");
    String::from_utf8(output.stderr).unwrap()
}

/// Whether a world fits a milestone of the report.
fn fits(world: &Value, milestone: &Value) -> bool {
    match milestone.as_str().unwrap() {
        "true" => *world == true,
        "false" => *world == false,
        _ => true,
    }
}

#[test]
fn every_call_is_explained_as_the_report_has_it() {
    for case in folders(&root().join("samples/cases")).iter().step_by(4) {
        let report = report(case, "input");
        for call in calls(&report) {
            let explained = explained(case, call["call"].as_str().unwrap(), "input");
            assert_eq!(&explained["call"], call, "{}", case.display());
            let chain = explained["chain"].as_array().unwrap();
            assert!(chain.len() >= call["evidence"].as_array().unwrap().len());
            let worlds = explained["worlds"].as_array().unwrap();
            assert!(!worlds.is_empty(), "{}: {}", case.display(), call["call"]);
            for name in ["sent", "reached", "effected", "acked"] {
                let (value, ground) = (&call["milestones"][name], &explained["grounds"][name]);
                assert!(worlds.iter().all(|world| fits(&world[name], value)), "{}: {name}", case.display());
                assert_eq!(ground["proven"].is_object(), matches!(value.as_str(), Some("true" | "both")));
                assert_eq!(ground["excluded"].is_object(), matches!(value.as_str(), Some("false" | "both")));
            }
            let text = stdout(case, &["explain", call["call"].as_str().unwrap(), "input"]);
            let long = text.lines().find(|line| line.chars().count() > 80);
            assert_eq!(long, None, "{}", case.display());
            assert!(text.contains(&format!("explain {}`", call["retry"]["rule"].as_str().unwrap())), "{text}");
        }
    }
}

#[test]
fn a_condition_and_what_would_settle_it_are_told() {
    let case = case("http-404-session-expired-py2");
    let text = stdout(&case, &["explain", "c4", "input"]);
    assert!(text.contains("safe-if, by the rule session-gone."), "{text}");
    assert!(text.contains("Safe only if"), "{text}");
    let change = text.split("WHAT WOULD CHANGE IT").nth(1).unwrap();
    assert!(change.contains("the access log of the gateway"), "{text}");
    // Sent for certain; whether it got further is open.
    let worlds = explained(&case, "c4", "input")["worlds"].clone();
    let sent: Vec<&Value> = worlds.as_array().unwrap().iter().map(|world| &world["sent"]).collect();
    assert!(sent.len() > 1 && sent.iter().all(|sent| **sent == true), "{worlds:#}");
}

/// One request that is answered twice, and differently.
fn contradiction() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let line = |second: u32, direction: &str, message: Value| {
        let message = json!({"ts": format!("2026-07-22T14:00:0{second}.000Z"), "run_id": "r", "direction": direction, "message": message});
        format!("{message}\n")
    };
    let request =
        json!({"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {"name": "pay", "arguments": {"n": 1}}});
    let error = json!({"jsonrpc": "2.0", "id": 7, "error": {"code": -32603, "message": "boom"}});
    let success = json!({"jsonrpc": "2.0", "id": 7, "result": {"content": [{"type": "text", "text": "paid"}]}});
    let text = [line(1, "in", request), line(2, "out", error), line(3, "out", success)].concat();
    fs::write(folder.path().join("wire.jsonl"), text).unwrap();
    folder
}

#[test]
fn a_contradiction_is_shown_with_its_records() {
    let folder = contradiction();
    let text = stdout(folder.path(), &["explain", "id=7", "."]);
    let section = text.split("CONTRADICTION: ANSWER").nth(1).unwrap_or_else(|| panic!("{text}"));
    assert!(section.contains("wire.jsonl:3 shows another answer to the same request"), "{text}");
    let explained = explained(folder.path(), "c1", ".");
    assert_eq!(explained["call"]["conflicts"][0]["fact"], "answer");
    let records: Vec<&Value> = explained["chain"].as_array().unwrap().iter().map(|link| &link["record"]).collect();
    assert_eq!(records, [1, 2, 3]);
}

#[test]
fn attempts_of_one_operation_are_told_together() {
    let case = case("http-429-retry-after");
    let text = stdout(&case, &["explain", "c4", "input"]);
    let attempts = text.split("ATTEMPTS OF OP1").nth(1).unwrap_or_else(|| panic!("{text}"));
    assert!(attempts.contains("c3:") && attempts.contains("c4, this one:"), "{text}");
    let explained = explained(&case, "c4", "input");
    let calls: Vec<&Value> = explained["attempts"].as_array().unwrap().iter().map(|attempt| &attempt["call"]).collect();
    assert_eq!(calls, ["c3", "c4"]);
    assert_eq!(explained["operation"]["attempts"], json!(["c3", "c4"]));
}

#[test]
fn an_id_that_names_several_calls_names_none() {
    let case = case("http-two-sessions-same-ids");
    let report = report(&case, "input");
    let same: Vec<&str> =
        calls(&report).iter().filter(|call| call["id"] == 1).map(|call| call["call"].as_str().unwrap()).collect();
    assert!(same.len() > 1);
    let told = errors(&case, &["explain", "id=1", "input"]);
    assert!(told.contains(&format!("names {} calls", same.len())), "{told}");
    for call in same {
        assert!(told.contains(&format!("  {call}: ")), "{told}");
    }
}

#[test]
fn what_is_no_call_is_an_error() {
    let case = case("stdio-sigkill-after-outbound");
    assert!(
        errors(&case, &["explain", "c99", "input"]).contains("no call is named \"c99\"; there are 3 calls, c1 to c3")
    );
    assert!(errors(&case, &["explain", "id=99", "input"]).contains("no call is named"));
    assert!(errors(&case, &["explain", "nonsense", "input"]).contains("names no call"));
    assert!(errors(&case, &["explain", "c3"]).contains("name the inputs behind it"));
    assert!(errors(&case, &["explain", "c3", "input", "-o", "pdf"]).contains("not one of text, json"));
    errors(&case, &["explain", "no-proof", "-o", "json"]);
}

#[test]
fn a_text_id_is_told_from_a_number() {
    let folder = tempfile::tempdir().unwrap();
    let line = |id: Value| {
        let message = json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {"name": "pay", "arguments": {"n": id}}});
        format!("{}\n", json!({"ts": "2026-07-22T14:00:01.000Z", "run_id": "r", "direction": "in", "message": message}))
    };
    fs::write(folder.path().join("wire.jsonl"), [line(json!(7)), line(json!("seven"))].concat()).unwrap();
    for (name, call) in [("id=7", "c1"), ("id=seven", "c2"), ("id=\"seven\"", "c2")] {
        assert_eq!(explained(folder.path(), name, ".")["call"]["call"], call, "{name}");
    }
    errors(folder.path(), &["explain", "id=\"7\"", "."]);
}

#[test]
fn a_closed_pipe_is_no_failure() {
    let case = case("stdio-sigkill-after-outbound");
    let mut child =
        program(&case).args(["explain", "c3", "input"]).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    drop(child.stdout.take());
    assert_eq!(child.wait().unwrap().code(), Some(0));
}
