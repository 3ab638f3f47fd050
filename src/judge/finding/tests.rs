//! Each rule on a case that fires and on its twin that does not, through the real pipeline.

use std::collections::BTreeSet;

use super::{FINDING_RULES, Finding, Severity, fold, tally::Tally};
use crate::{
    correlate::{Case, Mark, NONE, SourceMeta},
    event::{Origin, SourceId, Witness},
    judge::{
        Confidence, Place, RESTART_RULES, RETRY_RULES, RunFacts, Terms, Verdicts,
        finding::judge_findings,
        judge,
        testing::{correlated, judged, judged_with},
    },
};

/// The findings of one rule.
fn of_rule<'v>(verdicts: &'v Verdicts, rule: &str) -> Vec<&'v Finding> {
    assert!(FINDING_RULES.iter().any(|known| known.id == rule), "{rule}");
    verdicts.findings.iter().filter(|finding| finding.rule.id == rule).collect()
}

/// The only finding of a rule: severity, confidence, claim.
fn fires(rule: &str, sources: &[&str]) -> (Severity, Confidence, String) {
    let (_, verdicts) = judged(sources);
    only(rule, &verdicts)
}

fn only(rule: &str, verdicts: &Verdicts) -> (Severity, Confidence, String) {
    let [finding] = of_rule(verdicts, rule)[..] else { panic!("{rule}: {:#?}", verdicts.findings) };
    assert!(finding.proof.iter().count() <= 8, "{rule}");
    (finding.severity, finding.confidence, finding.claim.to_string())
}

fn silent(rule: &str, sources: &[&str]) {
    let (_, verdicts) = judged(sources);
    assert!(of_rule(&verdicts, rule).is_empty(), "{rule}: {:#?}", of_rule(&verdicts, rule));
}

/// Lines of a source.
fn lines(lines: &[String]) -> String {
    lines.join("\n") + "\n"
}

/// A record of the phase log of run `r` at a second of one minute.
fn phase(second: u32, event: &str, rest: &str) -> String {
    phase_of("r", second, event, rest)
}

fn phase_of(run: &str, second: u32, event: &str, rest: &str) -> String {
    let comma = if rest.is_empty() { "" } else { "," };
    format!(r#"{{"run_id":"{run}","at":"2026-07-22T14:03:{second:02}.000Z","event":"{event}"{comma}{rest}}}"#)
}

/// A handshake in the phase log.
fn handshake() -> Vec<String> {
    vec![
        phase(0, "spawned", r#""pid":7"#),
        phase(1, "initialize_received", r#""request_id":0"#),
        phase(2, "initialize_responded", r#""request_id":0,"protocol_version":"2025-06-18""#),
        phase(3, "initialized_received", ""),
    ]
}

fn with(mut before: Vec<String>, more: &[String]) -> String {
    before.extend_from_slice(more);
    lines(&before)
}

/// A line of a stdio tap.
fn tap(second: u32, dir: &str, rest: &str) -> String {
    format!(r#"{{"ts":"2026-07-22T14:03:{second:02}.000+00:00","dir":"{dir}",{rest}}}"#)
}

fn tap_line(second: u32, dir: &str, line: &str) -> String {
    tap(second, dir, &format!(r#""line":{}"#, serde_json::to_string(line).expect("text")))
}

const INIT: &str = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","clientInfo":{"name":"c"}}}"#;
const INIT_OK: &str = r#"{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-06-18","capabilities":{},"serverInfo":{"name":"acme"}}}"#;
const PAY: &str = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"pay","arguments":{"amount":5}}}"#;

fn tap_handshake() -> Vec<String> {
    vec![
        tap(0, "spawn", r#""argv":["python","server.py"],"pid":7"#),
        tap_line(1, "c2s", INIT),
        tap_line(2, "s2c", INIT_OK),
        tap_line(3, "c2s", r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#),
    ]
}

/// A line of a trace with an HTTP status.
fn http(second: u32, status: u16, message: &str) -> String {
    format!(
        r#"{{"ts":"2026-07-22T14:03:{second:02}.000Z","direction":"out","http":{{"status":{status},"content_type":"application/json"}},"message":{message}}}"#
    )
}

fn asked(second: u32, message: &str) -> String {
    format!(r#"{{"ts":"2026-07-22T14:03:{second:02}.000Z","direction":"in","message":{message}}}"#)
}

fn answered(second: u32, message: &str) -> String {
    format!(r#"{{"ts":"2026-07-22T14:03:{second:02}.000Z","direction":"out","message":{message}}}"#)
}

fn call(id: u32, tool: &str, arguments: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"{tool}","arguments":{arguments}}}}}"#
    )
}

fn result(id: u32) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"content":[]}}}}"#)
}

fn failure(id: u32) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":-32603,"message":"x"}}}}"#)
}

#[test]
fn the_rules_are_named_and_documented() {
    let kebab = |id: &str| {
        !id.is_empty()
            && id
                .split('-')
                .all(|word| !word.is_empty() && word.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit()))
    };
    let docs = RETRY_RULES
        .iter()
        .map(|rule| (rule.id, rule.title, rule.doc))
        .chain(RESTART_RULES.iter().map(|rule| (rule.id, rule.title, rule.doc)))
        .chain(FINDING_RULES.iter().map(|rule| (rule.id, rule.title, rule.doc)));
    let mut ids = BTreeSet::new();
    for (id, title, doc) in docs {
        assert!(kebab(id), "{id}");
        assert!(ids.insert(id), "{id} occurs twice");
        for text in [title, doc.means, doc.recognized, doc.is_not, doc.to_do] {
            assert!(!text.trim().is_empty(), "{id}");
        }
    }
    assert!(FINDING_RULES.is_sorted_by_key(|rule| rule.id));
}

#[test]
fn every_finding_of_the_release_has_a_rule() {
    for id in [
        "stdout-pollution",
        "spawn-failed",
        "startup-crash",
        "exited-early",
        "handshake-timeout",
        "version-rejected",
        "tools-list-empty",
        "tools-list-invalid",
        "tools-changed",
        "launch-reach",
        "discovery-reach",
        "background-reach",
        "tool-hang",
        "late-result",
        "unsafe-retry",
        "duplicate-effect",
        "regenerated-key",
        "contested-id",
        "reused-run-id",
        "client-misreport",
        "secret-in-log",
        "http-success-rpc-failure",
        "stream-incomplete",
        "session-expired",
        "auth-required",
        "interrupted",
        "clock-skew",
        "evidence-gap",
        "second-automatic-retry",
    ] {
        assert!(FINDING_RULES.iter().any(|rule| rule.id == id), "{id}");
    }
}

#[test]
fn a_run_that_went_well_has_no_findings() {
    let tap = with(
        tap_handshake(),
        &[
            tap_line(4, "c2s", r#"{"jsonrpc":"2.0","id":1,"method":"resources/templates/list"}"#),
            tap_line(4, "s2c", r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"Method not found"}}"#),
            tap_line(5, "c2s", &call(2, "pay", "{}")),
            tap_line(6, "s2c", &result(2)),
            tap(7, "c2s_eof", r#""x":1"#),
            tap(8, "exit", r#""code":0"#),
        ],
    );
    let (_, verdicts) = judged(&[&tap]);
    assert!(verdicts.findings.is_empty(), "{:#?}", verdicts.findings);
}

#[test]
fn text_on_stdout() {
    let before = lines(&[tap_line(1, "c2s", INIT), tap_line(2, "s2c", "Loaded"), tap_line(3, "s2c", "Ready")]);
    let (severity, confidence, claim) = fires("stdout-pollution", &[&before]);
    assert_eq!((severity, confidence), (Severity::High, Confidence::High));
    assert_eq!(claim, "The server wrote 2 lines to stdout that are no JSON-RPC messages, before its first message.");
    let between = with(tap_handshake(), &[tap_line(4, "s2c", "debug: x")]);
    let (severity, _, claim) = fires("stdout-pollution", &[&between]);
    assert_eq!(severity, Severity::Medium);
    assert_eq!(claim, "The server wrote 1 line to stdout that is no JSON-RPC message, between its messages.");
    silent("stdout-pollution", &[&with(tap_handshake(), &[tap_line(4, "stderr", "debug: x")])]);
}

#[test]
fn a_server_that_was_never_started() {
    let failed = "client.onerror: spawn uvx-invoice-server ENOENT\n";
    let meta = SourceMeta { witness: Some(Witness::Client), ..SourceMeta::default() };
    let (_, verdicts) = judged_with(&[(failed, meta)]);
    let (severity, confidence, claim) = only("spawn-failed", &verdicts);
    assert_eq!((severity, confidence), (Severity::High, Confidence::High));
    assert!(claim.ends_with("was not found."), "{claim}");
    silent("spawn-failed", &[&lines(&handshake())]);
}

#[test]
fn a_package_runner_that_failed() {
    let tap = |end: &[String]| {
        with(
            vec![
                tap(0, "spawn", r#""argv":["npx","acme"],"pid":7"#),
                tap_line(1, "c2s", INIT),
                tap_line(2, "stderr", "npm error code E404"),
            ],
            end,
        )
    };
    let (_, confidence, claim) = fires("spawn-failed", &[&tap(&[])]);
    assert_eq!(confidence, Confidence::Medium);
    assert!(claim.contains("package runner"), "{claim}");
    silent("spawn-failed", &[&tap(&[tap_line(3, "s2c", INIT_OK)])]);
}

#[test]
fn a_crash_while_starting() {
    let started = |crash| {
        vec![tap(0, "spawn", r#""argv":["node","x"],"pid":7"#), tap_line(1, "c2s", INIT), tap_line(2, "stderr", crash)]
    };
    let missing = started("Error: Cannot find module '/srv/acme/dist/index.js'");
    let taken = started("Error: listen EADDRINUSE: address already in use :::3000");
    let dead = |start: &[String]| with(start.to_vec(), &[tap(3, "exit", r#""code":1"#)]);
    let (severity, confidence, claim) = fires("startup-crash", &[&dead(&taken)]);
    assert_eq!((severity, confidence), (Severity::High, Confidence::High));
    assert!(claim.contains("port"), "{claim}");
    silent("spawn-failed", &[&dead(&taken)]);
    // What the launcher has to supply is a launch that failed, whoever noticed it.
    let (severity, confidence, claim) = fires("spawn-failed", &[&dead(&missing)]);
    assert_eq!((severity, confidence), (Severity::High, Confidence::High));
    assert!(claim.contains("\"/srv/acme/dist/index.js\""), "{claim}");
    silent("startup-crash", &[&dead(&missing)]);
    for start in [missing, taken] {
        let alive = with(start, &[tap_line(3, "s2c", INIT_OK)]);
        silent("startup-crash", &[&alive]);
        silent("spawn-failed", &[&alive]);
    }
}

#[test]
fn a_process_that_ended_early() {
    let dead = lines(&[tap_line(1, "c2s", INIT), tap(2, "exit", r#""code":3"#)]);
    let (_, confidence, claim) = fires("exited-early", &[&dead]);
    assert_eq!(confidence, Confidence::High);
    assert_eq!(claim, "The server's process exited with code 3 before it answered initialize.");
    let killed = with(tap_handshake(), &[tap_line(4, "c2s", PAY), tap(5, "exit", r#""code":-9"#)]);
    assert_eq!(
        fires("exited-early", &[&killed]).2,
        "The server's process was killed by signal 9 while the tool \"pay\" was open."
    );
    // The client left first, and everything was answered.
    let shutdown = with(tap_handshake(), &[tap(5, "c2s_eof", r#""x":1"#), tap(6, "exit", r#""code":0"#)]);
    silent("exited-early", &[&shutdown]);
    let stopped = with(
        tap_handshake(),
        &[tap_line(4, "c2s", PAY), tap(5, "signal", r#""signal":15"#), tap(6, "exit", r#""code":-15"#)],
    );
    silent("exited-early", &[&stopped]);
    let launcher = lines(&[phase(0, "spawned", r#""pid":7"#), phase(1, "exited", r#""exit_code":1"#)]);
    assert_eq!(fires("exited-early", &[&launcher]).1, Confidence::Medium);
    silent("exited-early", &[&launcher.replace(r#""exit_code":1"#, r#""exit_code":0"#)]);
}

#[test]
fn a_handshake_that_was_given_up() {
    let report = "at=2026-07-22T14:03:31.000Z error=handshake_timeout last_event=initialize_received run_id=r";
    let log = lines(&[
        phase(0, "spawned", r#""pid":7"#),
        phase(1, "initialize_received", r#""request_id":0"#),
        report.to_owned(),
    ]);
    let (_, confidence, claim) = fires("handshake-timeout", &[&log]);
    assert_eq!(confidence, Confidence::High);
    assert_eq!(claim, "The client gave up the handshake after 30 s; the last event on record is initialize_received.");
    let left = lines(&[tap_line(1, "c2s", INIT), tap(21, "c2s_eof", r#""x":1"#)]);
    let (_, confidence, claim) = fires("handshake-timeout", &[&left]);
    assert_eq!(confidence, Confidence::Medium);
    assert!(claim.contains("after 20 s; the last event on record is initialize_sent"), "{claim}");
    silent("handshake-timeout", &[&lines(&handshake())]);
    silent("handshake-timeout", &[&lines(&[tap_line(1, "c2s", INIT), tap(3, "c2s_eof", r#""x":1"#)])]);
}

#[test]
fn a_version_that_was_refused() {
    let refused = r#"{"jsonrpc":"2.0","id":0,"error":{"code":-32022,"message":"Unsupported protocol version"}}"#;
    let log = vec![asked(1, INIT), answered(2, refused)];
    let (severity, confidence, claim) = fires("version-rejected", &[&lines(&log)]);
    assert_eq!((severity, confidence), (Severity::High, Confidence::High));
    assert!(claim.starts_with("The server refused the protocol version"), "{claim}");
    let agreed = with(log, &[asked(3, &INIT.replace(":0,", ":1,")), answered(4, &INIT_OK.replace(":0,", ":1,"))]);
    silent("version-rejected", &[&agreed]);
    let words = "Error: Server's protocol version is not supported: 2099-01-01\n";
    let tap = with(tap_handshake(), &[]);
    let meta = SourceMeta { witness: Some(Witness::Client), ..SourceMeta::default() };
    let (_, verdicts) = judged_with(&[(&tap, SourceMeta::default()), (words, meta)]);
    assert_eq!(only("version-rejected", &verdicts).2, "The client refused the protocol version \"2099-01-01\".");
}

#[test]
fn a_list_without_tools() {
    let list = |count: u32, rest: &str| {
        with(
            handshake(),
            &[
                phase(4, "tools_list_received", r#""request_id":1"#),
                phase(5, "tools_list_responded", &format!(r#""request_id":1,"tool_count":{count}{rest}"#)),
            ],
        )
    };
    let (_, confidence, claim) = fires("tools-list-empty", &[&list(0, r#","reason":"no_credentials""#)]);
    assert_eq!(confidence, Confidence::High);
    assert_eq!(claim, "The server offered no tools; the reason it gives is \"no_credentials\".");
    assert!(fires("tools-list-empty", &[&list(0, "")]).2.ends_with("gives no reason."));
    silent("tools-list-empty", &[&list(4, "")]);
}

/// A trace of a `tools/list` with these tools.
fn listing(tools: &str) -> String {
    lines(&[
        asked(1, INIT),
        answered(2, INIT_OK),
        asked(3, r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#),
        answered(4, &format!(r#"{{"jsonrpc":"2.0","id":1,"result":{{"tools":{tools}}}}}"#)),
    ])
}

const GOOD: &str = r#"{"name":"pay","inputSchema":{"type":"object"}}"#;

#[test]
fn a_list_that_breaks_the_specification() {
    let (_, _, claim) = fires("tools-list-invalid", &[&listing(&format!("[{GOOD},{GOOD}]"))]);
    assert_eq!(claim, "The list of tools is invalid: the name \"pay\" occurs more than once.");
    let (_, _, claim) = fires("tools-list-invalid", &[&listing(r#"[{"name":"pay","inputSchema":[]}]"#)]);
    assert_eq!(claim, "The list of tools is invalid: the input schema of the tool \"pay\" is no object.");
    assert!(fires("tools-list-invalid", &[&listing("{}")]).2.ends_with("it is no array."));
    silent("tools-list-invalid", &[&listing(&format!("[{GOOD}]"))]);
}

#[test]
fn tools_that_changed_between_runs() {
    let run =
        |run: &str, tools: &str| listing(tools).replace(r#""direction""#, &format!(r#""run_id":"{run}","direction""#));
    let other = r#"{"name":"refund","inputSchema":{"type":"object"}}"#;
    let both = format!("[{GOOD},{other}]");
    let (_, _, claim) = fires("tools-changed", &[&run("a", &format!("[{GOOD}]")), &run("b", &both)]);
    assert_eq!(claim, "The tools of \"acme\" changed between the runs a and b: \"refund\" added.");
    // The order of the tools is no change.
    silent("tools-changed", &[&run("a", &both), &run("b", &format!("[{other},{GOOD}]"))]);
}

#[test]
fn contacts_outside_any_call() {
    let contact =
        |second, rest: &str| phase(second, "external_attempt", &format!(r#""target":"https://api.test"{rest}"#));
    let launch = with(vec![phase(0, "spawned", r#""pid":7"#), contact(0, "")], &handshake()[1..]);
    let (severity, confidence, claim) = fires("launch-reach", &[&launch]);
    assert_eq!((severity, confidence), (Severity::High, Confidence::High));
    assert_eq!(claim, "Before it had shaken hands, the server reached outside 1 time: https://api.test.");
    silent("discovery-reach", &[&launch]);
    silent("background-reach", &[&launch]);

    let listed = phase(4, "tools_list_received", r#""request_id":1"#);
    let answered = phase(6, "tools_list_responded", r#""request_id":1,"tool_count":1"#);
    let discovery = with(handshake(), &[listed.clone(), contact(5, ""), answered.clone()]);
    assert_eq!(fires("discovery-reach", &[&discovery]).1, Confidence::High);
    silent("launch-reach", &[&discovery]);

    let background = with(handshake(), &[listed, answered, contact(9, ""), contact(10, "")]);
    let (severity, _, claim) = fires("background-reach", &[&background]);
    assert_eq!(severity, Severity::Medium);
    assert!(claim.contains("2 times: https://api.test."), "{claim}");
    silent("discovery-reach", &[&background]);
    silent("launch-reach", &[&background]);

    let received = |second, id: u32| phase(second, "tool_call_received", &format!(r#""request_id":{id},"tool":"pay""#));
    let in_call = with(handshake(), &[received(4, 1), contact(5, r#","request_id":1"#)]);
    let doubtful = with(handshake(), &[received(4, 1), received(5, 2), contact(6, "")]);
    for case in [&in_call, &doubtful] {
        silent("launch-reach", &[case]);
        silent("discovery-reach", &[case]);
        silent("background-reach", &[case]);
    }
}

#[test]
fn a_tool_that_never_returned() {
    let received = phase(4, "tool_call_received", r#""request_id":1,"tool":"pay""#);
    let hang = with(handshake(), std::slice::from_ref(&received));
    let (_, confidence, claim) = fires("tool-hang", &[&hang]);
    assert_eq!(confidence, Confidence::Medium);
    assert_eq!(
        claim,
        "The server had the call of the tool \"pay\" and never answered it; its last event is tool_call_received."
    );
    let given_up = with(handshake(), &[received.clone(), phase(9, "timed_out", r#""request_id":1"#)]);
    assert_eq!(fires("tool-hang", &[&given_up]).1, Confidence::High);
    let answered = phase(5, "tool_call_responded", r#""request_id":1,"is_error":false"#);
    silent("tool-hang", &[&with(handshake(), &[received.clone(), answered])]);
    silent("tool-hang", &[&with(handshake(), &[received, phase(5, "exited", r#""exit_code":1"#)])]);
}

#[test]
fn a_result_that_came_too_late() {
    let cancel =
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1,"reason":"Request timed out"}}"#;
    let late = [tap_line(4, "c2s", PAY), tap_line(34, "c2s", cancel), tap_line(40, "s2c", &result(1))];
    let (_, confidence, claim) = fires("late-result", &[&with(tap_handshake(), &late)]);
    assert_eq!(confidence, Confidence::High);
    assert!(
        claim.ends_with("of the tool \"pay\" although its caller had stopped waiting at its own limit."),
        "{claim}"
    );
    silent("late-result", &[&with(tap_handshake(), &[late[0].clone(), late[2].clone()])]);
    silent("late-result", &[&with(tap_handshake(), &late[..2])]);
}

/// Attempts of one call, seen on the wire and in the server's log: what is answered, and whether the outside applied it.
fn attempts(answers: &[Option<String>], contacts: &[usize]) -> (String, String) {
    let run = |line: String| line.replacen('{', r#"{"run_id":"r","#, 1);
    let mut wire = vec![run(asked(1, INIT)), run(answered(2, INIT_OK))];
    let mut server = Vec::new();
    for (at, answer) in (1_u32..).zip(answers) {
        let second = at * 5;
        wire.push(run(asked(second, &call(at, "pay", r#"{"amount":5}"#))));
        server.push(phase(second, "tool_call_received", &format!(r#""request_id":{at},"tool":"pay""#)));
        if contacts.contains(&(at as usize)) {
            let rest = format!(
                r#""request_id":{at},"action_id":"a{at}","target":"https://bank.test","method":"POST","path":"/pay""#
            );
            server.push(phase(second + 1, "external_attempt", &rest));
            server.push(phase(second + 1, "external_result", &format!(r#"{rest},"status":201"#)));
        }
        if let Some(answer) = answer {
            wire.push(run(answered(second + 2, answer)));
        }
    }
    (lines(&wire), lines(&server))
}

#[test]
fn a_retry_that_was_unsafe_and_its_duplicate() {
    let (wire, server) = attempts(&[Some(failure(1)), Some(result(2))], &[1, 2]);
    let (severity, confidence, claim) = fires("unsafe-retry", &[&wire, &server]);
    assert_eq!((severity, confidence), (Severity::High, Confidence::High));
    assert!(claim.starts_with("A call of the tool \"pay\" was sent again"), "{claim}");
    let (severity, confidence, claim) = fires("duplicate-effect", &[&wire, &server]);
    assert_eq!((severity, confidence), (Severity::High, Confidence::High));
    assert_eq!(claim, "The operation of the tool \"pay\" had its effect at least 2 times.");

    // One effect on record, the other possible.
    let (wire, server) = attempts(&[Some(failure(1)), Some(result(2))], &[1]);
    assert_eq!(fires("duplicate-effect", &[&wire, &server]).1, Confidence::Medium);
    // A repetition after a success is somebody's decision.
    let (wire, server) = attempts(&[Some(result(1)), Some(result(2))], &[]);
    silent("unsafe-retry", &[&wire, &server]);
    silent("duplicate-effect", &[&wire, &server]);
    let (wire, server) = attempts(&[Some(failure(1))], &[1]);
    silent("unsafe-retry", &[&wire, &server]);
    silent("duplicate-effect", &[&wire, &server]);
}

#[test]
fn a_retry_of_a_retry() {
    let (wire, server) = attempts(&[Some(failure(1)), Some(failure(2)), Some(result(3))], &[]);
    let (_, confidence, claim) = fires("second-automatic-retry", &[&wire, &server]);
    assert_eq!(confidence, Confidence::Medium);
    assert_eq!(claim, "A request to the tool \"pay\" was sent 3 times in a row, each time after a failure.");
    let (wire, server) = attempts(&[Some(failure(1)), Some(result(2)), Some(result(3))], &[]);
    silent("second-automatic-retry", &[&wire, &server]);
}

#[test]
fn a_key_that_was_made_anew() {
    let pay =
        |id, key: &str, amount: u32| call(id, "pay", &format!(r#"{{"amount":{amount},"idempotency_key":"{key}"}}"#));
    let trace = |second: String, first_answer: String| {
        lines(&[asked(1, &pay(1, "k1", 5)), answered(2, &first_answer), asked(3, &second), answered(4, &result(2))])
    };
    let (severity, confidence, claim) = fires("regenerated-key", &[&trace(pay(2, "k2", 5), failure(1))]);
    assert_eq!((severity, confidence), (Severity::High, Confidence::Medium));
    assert!(claim.starts_with("1 call of the tool \"pay\" differs"), "{claim}");
    silent("regenerated-key", &[&trace(pay(2, "k1", 5), failure(1))]);
    silent("regenerated-key", &[&trace(pay(2, "k2", 6), failure(1))]);
    silent("regenerated-key", &[&trace(pay(2, "k2", 5), result(1))]);
}

#[test]
fn a_key_that_changed_at_the_service() {
    let (wire, server) = attempts(&[Some(failure(1)), Some(result(2))], &[1, 2]);
    let keyed = |keys: [&str; 2]| {
        (0..2).fold(server.clone(), |text, at| {
            let action = format!(r#""action_id":"a{}""#, at + 1);
            text.replace(&action, &format!(r#"{action},"idempotency_key":"{}""#, keys[at]))
        })
    };
    assert_eq!(fires("regenerated-key", &[&wire, &keyed(["k1", "k2"])]).1, Confidence::High);
    silent("regenerated-key", &[&wire, &keyed(["k1", "k1"])]);
}

#[test]
fn ids_that_do_not_tell_requests_apart() {
    let twice = |id| {
        lines(&[
            asked(1, &call(1, "pay", r#"{"a":1}"#)),
            asked(2, &call(id, "pay", r#"{"a":2}"#)),
            answered(3, &result(1)),
        ])
    };
    let (_, confidence, claim) = fires("contested-id", &[&twice(1)]);
    assert_eq!(confidence, Confidence::High);
    assert_eq!(claim, "2 requests cannot be told apart, among them two that had the id 1 at once.");
    silent("contested-id", &[&twice(2)]);
}

#[test]
fn a_run_id_that_names_two_processes() {
    let life = |pid: u32| phase(pid, "spawned", &format!(r#""pid":{pid}"#));
    let (_, _, claim) = fires("reused-run-id", &[&lines(&[life(7), life(8)])]);
    assert_eq!(claim, "The run id \"r\" names 2 different processes.");
    silent("reused-run-id", &[&lines(&[life(7), phase_of("s", 9, "spawned", r#""pid":8"#)])]);
}

#[test]
fn a_client_that_claims_a_success() {
    let wire = lines(&[
        asked(1, &call(1, "pay", "{}")),
        answered(2, r#"{"jsonrpc":"2.0","id":1,"result":{"content":[],"isError":true}}"#),
    ]);
    let summary = |outcome: &str| {
        format!(
            r#"{{"client":"c@1","method":"tools/call","tool":"pay","postCount":1,"httpStatuses":[200],"jsonrpc":{{"id":1}},"outcome":"{outcome}","startedAt":"2026-07-22T14:03:01.000Z","endedAt":"2026-07-22T14:03:02.000Z","retryOrigin":"none"}}"#
        )
    };
    let (_, confidence, claim) = fires("client-misreport", &[&wire, &summary("TOOL_SUCCESS")]);
    assert_eq!(confidence, Confidence::High);
    assert!(claim.ends_with("first for the tool \"pay\"."), "{claim}");
    silent("client-misreport", &[&wire, &summary("TOOL_ERROR")]);
}

#[test]
fn a_failed_start_of_a_server_that_answered() {
    let failed = "client.onerror: spawn acme ENOENT\n";
    let meta = SourceMeta { witness: Some(Witness::Client), run: Some("r"), ..SourceMeta::default() };
    let tap = with(tap_handshake(), &[]);
    let wire = SourceMeta { run: Some("r"), ..SourceMeta::default() };
    let (_, verdicts) = judged_with(&[(&tap, wire), (failed, meta)]);
    assert_eq!(only("client-misreport", &verdicts).1, Confidence::Medium);
    assert!(of_rule(&verdicts, "spawn-failed").is_empty());
}

#[test]
fn a_secret_is_named_by_its_place_only() {
    let log = lines(&handshake());
    silent("secret-in-log", &[&log]);
    let mut case = correlated(&[(&log, SourceMeta::default())]);
    let (first, last) = (case.strands[0].first.origin, case.strands[0].last.origin);
    (case.sources[0].secrets, case.sources[0].secret_places) = (3, vec![first, last]);
    let verdicts = judge(&case, &Terms::default(), |_| true);
    assert_eq!(only("secret-in-log", &verdicts).2, "Secrets stand in this log, in 3 records.");
    let places: Vec<Place> = of_rule(&verdicts, "secret-in-log")[0].proof.iter().map(|piece| piece.place).collect();
    let at = |origin| Mark { origin, at: None };
    assert_eq!(places, [Place::Counted { count: 3, of: 3, first: at(first) }, Place::Seen(at(last))]);
}

#[test]
fn http_success_around_a_failure() {
    let trace = |method: &str, answer: &str| {
        lines(&[asked(1, &format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}"}}"#)), http(2, 200, answer)])
    };
    let not_found = r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"Method not found"}}"#;
    let (severity, _, claim) = fires("http-success-rpc-failure", &[&trace("tools/list", &failure(1))]);
    assert_eq!(severity, Severity::Low);
    assert_eq!(claim, "HTTP reports success for 1 call that failed, first for tools/list with error -32603.");
    silent("http-success-rpc-failure", &[&trace("prompts/list", not_found)]);
    silent("http-success-rpc-failure", &[&lines(&[asked(1, PAY), answered(2, &failure(1))])]);
    silent("http-success-rpc-failure", &[&lines(&[asked(1, PAY), http(2, 500, &failure(1))])]);
}

#[test]
fn a_stream_without_its_answer() {
    let summary = |outcome: &str| {
        format!(
            r#"{{"client":"c@1","method":"tools/call","tool":"pay","postCount":1,"httpStatuses":[200],"jsonrpc":{{"id":1}},"outcome":"{outcome}","retryOrigin":"none"}}"#
        )
    };
    let (_, _, claim) = fires("stream-incomplete", &[&summary("STREAM_INCOMPLETE")]);
    assert_eq!(claim, "The event stream ended without the answer to the tool \"pay\".");
    silent("stream-incomplete", &[&summary("TOOL_SUCCESS")]);
}

#[test]
fn a_session_that_is_gone() {
    let gone = r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32001,"message":"Session not found"}}"#;
    let (_, _, claim) = fires("session-expired", &[&lines(&[asked(1, PAY), http(2, 404, gone)])]);
    assert_eq!(claim, "The server refused 1 request with HTTP 404: it names no session that it knows.");
    let wrong_path = r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32001,"message":"nothing here"}}"#;
    silent("session-expired", &[&lines(&[asked(1, PAY), http(2, 404, wrong_path)])]);
}

#[test]
fn an_authorization_that_is_missing() {
    let (_, _, claim) = fires("auth-required", &[&lines(&[asked(1, PAY), http(2, 401, &failure(1))])]);
    assert_eq!(claim, "1 request was refused with HTTP 401 for want of an authorization.");
    // A handshake that is refused first and succeeds with a token.
    let login = lines(&[
        asked(1, INIT),
        http(2, 401, &failure(0)),
        asked(3, &INIT.replace(":0,", ":1,")),
        http(4, 200, &INIT_OK.replace(":0,", ":1,")),
    ]);
    assert_eq!(fires("auth-required", &[&login]).0, Severity::Low);
    silent("auth-required", &[&lines(&[asked(1, PAY), http(2, 500, &failure(1))])]);
}

#[test]
fn a_run_that_was_cut_off() {
    let cut = |more: &[String]| {
        let mut all = more.to_vec();
        all.push(tap(9, "signal", r#""signal":15"#));
        with(tap_handshake(), &all)
    };
    let (_, _, claim) = fires("interrupted", &[&cut(&[tap_line(4, "c2s", PAY)])]);
    assert_eq!(
        claim,
        "The run was terminated while the tool \"pay\" was open; the last event on record is tool_call_sent."
    );
    silent("interrupted", &[&cut(&[])]);
    silent("interrupted", &[&cut(&[tap_line(4, "c2s", PAY), tap_line(5, "s2c", &result(1))])]);
    let revoked = with(handshake(), &[phase(5, "revoked", "")]);
    assert!(fires("interrupted", &[&revoked]).2.starts_with("The run was revoked; "));
}

#[test]
fn clocks_that_contradict_each_other() {
    let log = |sent: &str, received: &str| {
        let line = |witness: &str, event: &str, at: &str| {
            format!(
                r#"{{"run_id":"r","source":"{witness}","event":"{event}","request_id":1,"tool":"pay","at":"2026-07-22T14:03:{at}Z"}}"#
            )
        };
        (line("client", "tool_call_sent", sent), line("server", "tool_call_received", received))
    };
    let (client, server) = log("05.500", "05.100");
    let (_, verdicts) = judged(&[&client, &server]);
    let (_, _, claim) = only("clock-skew", &verdicts);
    assert_eq!(claim, "The clocks of two sources differ by at least 400 ms.");
    let (client, server) = log("05.500", "05.501");
    silent("clock-skew", &[&client, &server]);
}

#[test]
fn evidence_that_is_missing() {
    let tap = with(tap_handshake(), &[tap_line(4, "c2s", PAY)]);
    let server = lines(&[phase(4, "tool_call_received", r#""request_id":1,"tool":"pay""#)]);
    let (severity, _, claim) = fires("evidence-gap", &[&tap]);
    assert_eq!(severity, Severity::Info);
    assert!(claim.ends_with("nothing from the server's side."), "{claim}");
    let wire = SourceMeta { run: Some("r"), ..SourceMeta::default() };
    let (_, verdicts) = judged_with(&[(&tap, wire), (&server, SourceMeta::default())]);
    assert!(of_rule(&verdicts, "evidence-gap").is_empty());

    let mut case = correlated(&[(&server, SourceMeta::default())]);
    case.sources[0].lossy = true;
    let (severity, _, claim) = only("evidence-gap", &judge(&case, &Terms::default(), |_| true));
    assert_eq!(severity, Severity::Medium);
    assert!(claim.starts_with("Data was lost in 1 source"), "{claim}");
}

#[test]
fn a_million_failures_are_one_finding() {
    let mut all = vec![asked(1, INIT), http(2, 200, INIT_OK)];
    for id in 1..=300 {
        all.push(asked(3, &call(id, "pay", &format!(r#"{{"n":{id}}}"#))));
        all.push(http(3, 200, &failure(id)));
    }
    let (_, verdicts) = judged(&[&lines(&all)]);
    let [finding] = of_rule(&verdicts, "http-success-rpc-failure")[..] else { panic!("{:#?}", verdicts.findings) };
    assert!(
        matches!(finding.proof.first().place, Place::Counted { count: 300, of: 301, .. }),
        "{:?}",
        finding.proof.first()
    );
    assert_eq!((finding.call, finding.proof.iter().count()), (None, 8));
}

#[test]
fn many_runs_are_folded() {
    let all: Vec<String> = (0..250)
        .flat_map(|run| {
            let name = format!("run-{run}");
            [phase_of(&name, 1, "spawned", ""), phase_of(&name, 2, "exited", r#""exit_code":1"#)]
        })
        .collect();
    let (_, verdicts) = judged(&[&lines(&all)]);
    let found = of_rule(&verdicts, "exited-early");
    assert_eq!(found.len(), 101);
    let last = found[100];
    assert_eq!((last.run, &*last.claim), (None, "The same was found in 150 more runs."));
    assert!(matches!(last.proof.first().place, Place::Counted { count: 150, of: 250, .. }));
    assert_eq!(found[0].run, Some(0));
}

#[test]
fn a_fold_of_few_changes_nothing() {
    let mark = Mark { origin: Origin { source: SourceId(0), record: std::num::NonZeroU32::MIN, offset: 0 }, at: None };
    let rule = FINDING_RULES[0];
    let finding = || Tally::new("x", mark).finding(rule, Confidence::High, "x", NONE);
    assert_eq!(fold(rule, vec![finding()]).len(), 1);
    let case = Case::default();
    let runs: [RunFacts<'_>; 0] = [];
    assert!(judge_findings(&case, &Terms::default(), &runs, &Verdicts::default()).is_empty());
}

/// A record of a tap on standard input and output, at a second of one minute.
fn tapped(second: u32, direction: &str, line: &str) -> String {
    let line = line.replace('"', "\\\"");
    format!(r#"{{"ts":"2026-07-22T14:03:{second:02}.000Z","dir":"{direction}","line":"{line}"}}"#)
}

fn spawned(second: u32) -> String {
    format!(r#"{{"ts":"2026-07-22T14:03:{second:02}.000Z","dir":"spawn","argv":["acme"],"pid":{second}}}"#)
}

fn killed(second: u32) -> String {
    format!(r#"{{"ts":"2026-07-22T14:03:{second:02}.000Z","dir":"exit","code":-15}}"#)
}

#[test]
fn a_call_cut_at_its_clients_limit() {
    let call = r#"{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"nap","arguments":{}}}"#;
    let cancel = |reason: &str| {
        format!(
            r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":3,"reason":"{reason}"}}}}"#
        )
    };
    let late = r#"{"jsonrpc":"2.0","id":3,"result":{"content":[{"type":"text","text":"x"}],"isError":false}}"#;
    let cut = [tapped(0, "c2s", call), tapped(9, "c2s", &cancel("timed out after 9s"))];
    let (severity, confidence, claim) = fires("call-timed-out", &[&lines(&cut)]);
    assert_eq!((severity, confidence), (Severity::Medium, Confidence::High));
    assert_eq!(claim, "The client stopped waiting for the call of the tool \"nap\" at its own limit.");
    let answered = [&cut[..], &[tapped(11, "s2c", late)]].concat();
    silent("call-timed-out", &[&lines(&answered)]);
    let (.., claim) = fires("late-result", &[&lines(&answered)]);
    assert!(claim.ends_with("its caller had stopped waiting at its own limit."), "{claim}");
    silent("call-timed-out", &[&lines(&[tapped(0, "c2s", call), tapped(9, "c2s", &cancel("the user left"))])]);
}

#[test]
fn handshakes_given_up_one_after_the_other() {
    let ask = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}"#;
    let lives = [0, 10].map(|from| [spawned(from), tapped(from + 1, "c2s", ask), killed(from + 9)]).concat();
    let word = "mcp.shared.exceptions.MCPError: Request 'initialize' timed out\n";
    let found = |words: usize| {
        let log = format!("2026-07-22 14:03:00,000 INFO    lab.client: starting\n{}", word.repeat(words));
        let client = SourceMeta { witness: Some(Witness::Client), ..SourceMeta::default() };
        let (_, verdicts) = judged_with(&[(&lines(&lives), SourceMeta::default()), (&log, client)]);
        of_rule(&verdicts, "handshake-timeout").len()
    };
    assert_eq!(found(2), 2);
    // Which of the two it was, nobody knows.
    assert_eq!(found(1), 0);
}

#[test]
fn a_crash_before_the_pipe_closed() {
    let entry = |second: u32, text: &str| format!("2026-07-14T07:42:{second:02}.118Z [acme] [info] {text}");
    let plain = |second: u32, text: &str| entry(second, &format!("{text} {{ metadata: undefined }}"));
    let log = |extra: &[String]| {
        let mut log = vec![
            plain(0, "Initializing server..."),
            plain(1, "Server started and connected successfully"),
            plain(2, r#"Message from client: method="tools/call" id=4 params"#),
            "Traceback (most recent call last):\n  File \"/a.py\", line 1, in f\n    g()\nValueError: x".to_owned(),
        ];
        log.extend_from_slice(extra);
        log.push(plain(4, "Server transport closed"));
        lines(&log)
    };
    let (severity, confidence, claim) = fires("exited-early", &[&log(&[])]);
    assert_eq!((severity, confidence), (Severity::High, Confidence::Medium));
    assert_eq!(claim, "The server crashed and its pipe closed while tools/call was open.");
    silent("exited-early", &[&log(&[plain(3, "Shutting down server...")])]);
}

#[test]
fn a_clock_that_was_set() {
    let received = |second, id| phase(second, "tool_call_received", &format!(r#""request_id":{id},"tool_name":"pay""#));
    let (_, confidence, claim) = fires("clock-step", &[&lines(&[received(9, 1), received(4, 2)])]);
    assert_eq!(
        (confidence, claim.as_str()),
        (Confidence::High, "The clock of a source goes back by 5000 ms between two records.")
    );
    silent("clock-step", &[&lines(&[received(4, 1), received(9, 2)])]);
    silent("clock-step", &[&lines(&[received(9, 1)]), &lines(&[received(4, 2)])]);
}

#[test]
fn a_job_that_was_run_again() {
    let pay = |run: &str, second: u32, to: &str| {
        format!(
            r#"{{"ts":"2026-07-22T14:00:{second:02}.000Z","run_id":"{run}","direction":"in","message":{{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{{"name":"pay","arguments":{{"to":"{to}"}}}}}}}}"#
        )
    };
    let (_, confidence, claim) =
        fires("sent-again-elsewhere", &[&pay("job-7-1", 1, "bob"), &pay("job-7-2", 40, "bob")]);
    assert_eq!(confidence, Confidence::High);
    assert_eq!(claim, "A request to the tool \"pay\" was sent again by run job-7-2 after run job-7-1 had sent it.");
    silent("sent-again-elsewhere", &[&pay("job-7-1", 1, "bob"), &pay("job-7-2", 40, "eve")]);
    silent("sent-again-elsewhere", &[&lines(&[pay("job-7-1", 1, "bob"), pay("job-7-1", 40, "bob")])]);
}
