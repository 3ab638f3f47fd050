//! Inputs made to earn a wrong `safe`. Each folder of `samples/adversarial` is one incident, named after its trap.

use std::{collections::BTreeSet, path::Path};

use serde_json::Value;

use super::run::{calls, folders, report, root};

/// Requests that only read or set a state: they may be safe in a trap, which is about something else.
const HARMLESS: &[&str] =
    &["initialize", "logging/setLevel", "ping", "server/discover", "subscriptions/listen", "tools/list"];

/// The folders in which something may be called safe, and why.
const SAFE: &[(&str, &str)] = &[
    ("control-arguments-invalid", "the SDK rejected the arguments before the tool ran: what the traps imitate"),
    ("control-denied", "the gate in front of the tool stayed shut, in a log that is whole: what the traps imitate"),
    ("control-contact-a-minute-before-a-401", "no clock of the incident is off by so much"),
    ("control-hidden-folder-of-git", "nobody logs there"),
    ("control-mitmdump-console-of-all-posts", "each POST on the console is one of the exchanges"),
    (
        "control-not-forwarded-behind-another-hop",
        "the hop in front was given the status of the one that did not forward",
    ),
    ("control-refused-without-a-connection", "no earlier connection is on record that could have been kept open"),
    ("control-request-without-id-of-another-tool", "it is no attempt of the call that was refused"),
    ("control-covered-life", "a network trace of the whole life without a contact: what the traps imitate"),
];

#[test]
fn no_trap_is_called_safe() {
    let traps = folders(&root().join("samples/adversarial"));
    assert!(traps.len() >= 100, "{}", traps.len());
    let mut safe = BTreeSet::new();
    for trap in &traps {
        let name = trap.file_name().unwrap().to_str().unwrap();
        let report = report(trap, ".");
        let restarts = report["runs"].as_array().unwrap().iter().map(|run| &run["restart"]["verdict"]);
        // In traps about an open request it counts whatever its method is.
        let open = |call: &Value| name.starts_with("open-") && call["outcome"] == "NO_ANSWER";
        let retries = calls(&report)
            .iter()
            .filter(|call| HARMLESS.iter().all(|method| call["method"] != *method) || open(call))
            .map(|call| &call["retry"]["verdict"]);
        let verdicts: Vec<_> = restarts.chain(retries).collect();
        assert!(!verdicts.is_empty() || name == "server-spawn-git", "{name} is read as nothing at all");
        if verdicts.iter().any(|verdict| *verdict == "safe") {
            safe.insert(name.to_owned());
        }
    }
    assert_eq!(safe, SAFE.iter().map(|(name, _)| (*name).to_owned()).collect::<BTreeSet<_>>());
}

/// The traps in which two calls look like one, or one call like nothing sent: the outcome of each tool call.
const OUTCOMES: &[(&str, &[&str])] = &[
    ("long-sessions-that-differ-at-the-end", &["HTTP_ERROR", "TOOL_SUCCESS"]),
    ("one-argument-of-seven-differs", &["HTTP_ERROR", "HTTP_ERROR"]),
    ("spawned-again-by-name", &["NO_ANSWER"]),
    ("spawned-again-says-the-server", &["NO_ANSWER"]),
    ("exit-of-a-server-with-another-name", &["NO_ANSWER"]),
    ("inner-hop-answered-otherwise", &["HTTP_ERROR"]),
    ("inner-hop-failed-otherwise", &["HTTP_ERROR"]),
    ("gateway-with-a-name-of-its-own", &["HTTP_ERROR"]),
    ("two-servers-equal-calls", &["JSONRPC_ERROR", "TOOL_SUCCESS"]),
    ("two-clients-equal-calls", &["JSONRPC_ERROR", "TOOL_SUCCESS"]),
    ("two-sessions-equal-calls", &["HTTP_ERROR", "TOOL_SUCCESS"]),
    ("two-taps-equal-calls", &["JSONRPC_ERROR", "TOOL_SUCCESS"]),
    ("pid1-two-servers", &["JSONRPC_ERROR", "TOOL_SUCCESS"]),
    ("two-clients-of-one-endpoint", &["HTTP_ERROR", "TOOL_SUCCESS"]),
];

#[test]
fn no_call_is_lost_in_another() {
    for (trap, expected) in OUTCOMES {
        let report = report(&root().join("samples/adversarial").join(trap), ".");
        let tools = calls(&report).iter().filter(|call| call["method"] == "tools/call");
        let mut outcomes: Vec<_> = tools.map(|call| call["outcome"].as_str().unwrap()).collect();
        outcomes.sort_unstable();
        assert_eq!(&outcomes[..], *expected, "{trap}");
    }
}

#[test]
fn no_trap_with_a_contact_says_that_a_tool_reached_nothing() {
    let honest = |trap: &Path| trap.file_name().is_some_and(|name| name.to_string_lossy().starts_with("control-"));
    for trap in folders(&root().join("samples/adversarial")).into_iter().filter(|trap| !honest(trap)) {
        let report = report(&trap, ".");
        let reach = |list: &Value| -> Vec<String> {
            let rows = list.as_array().unwrap();
            rows.iter().map(|row| row["reach"]["answer"].as_str().unwrap_or("no").to_owned()).collect()
        };
        let answers = [reach(&report["calls"]), reach(&report["runs"])].concat();
        let contact = answers.iter().any(|answer| answer != "no" && answer != "unknown");
        let nothing =
            calls(&report).iter().any(|call| call["method"] == "tools/call" && call["reach"]["answer"] == "no");
        assert!(!contact || !nothing, "{}", trap.display());
    }
}

/// Which artifacts would settle the first tool call of a trap, and what was lost.
fn missing(trap: &str) -> (Vec<String>, String) {
    let report = report(&root().join("samples/adversarial").join(trap), ".");
    let call = calls(&report).iter().find(|call| call["method"] == "tools/call").unwrap();
    let artifacts = call["missing"].as_array().unwrap().iter().map(|row| row["artifact"].as_str().unwrap().to_owned());
    (artifacts.collect(), report["coverage"]["loss"].as_str().unwrap().to_owned())
}

#[test]
fn what_would_settle_it_is_there_to_be_fetched() {
    let whole = |path: &str| format!("the whole of {path}");
    assert_eq!(missing("broken-gz-beside-a-401"), (vec![whole("server.log.gz")], "data".to_owned()));
    let (artifacts, loss) = missing("denied-then-torn-attempt");
    assert_eq!((artifacts[0].as_str(), loss.as_str()), (whole("p.jsonl").as_str(), "data"));
    // Nothing is damaged here: what the second attempt did decides, up to its answer.
    let (artifacts, loss) = missing("401-then-504-without-arguments");
    assert_eq!(
        artifacts[0],
        "the stderr or phase log of the server from 2026-07-22T14:00:02.000Z to 2026-07-22T14:00:18.000Z"
    );
    assert_eq!((artifacts.len(), loss.as_str()), (2, "none"));
}

#[test]
fn a_request_sent_again_has_no_answer_of_its_own_yet() {
    let trap = root().join("samples/adversarial/refused-then-sent-again-unanswered");
    let report = report(&trap, ".");
    let call = &calls(&report)[0];
    assert_eq!(call["outcome"], "NO_ANSWER");
    assert_eq!(call["http"]["post_count"], 2);
    assert_eq!(call["http"]["statuses"], serde_json::json!([401]), "one status was recorded");
    assert!(call["http"]["complete"].is_null());
}

#[test]
fn the_most_cautious_attempt_of_a_leg_decides() {
    let report = report(&root().join("samples/adversarial/second-attempt-of-a-leg"), ".");
    let first = calls(&report).iter().find(|call| call["outcome"] == "INPUT_REQUIRED").unwrap();
    assert_eq!((&first["retry"]["verdict"], &first["retry"]["rule"]), (&"unsafe".into(), &"answered-success".into()));
}
