//! `--fail-on`: each documented class ends the program with 1 where it is found, and with 0 where it is not.

use std::{collections::BTreeSet, fs, path::Path};

use super::run::{root, run, stdout};

/// A payment that failed for its caller and reached the bank, and the same once more with success: what one must not do.
const WIRE: &str = r#"{"run_id":"r","ts":"2026-07-22T14:03:01Z","direction":"in","message":{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{}}}}
{"run_id":"r","ts":"2026-07-22T14:03:02Z","direction":"out","message":{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-06-18","capabilities":{},"serverInfo":{"name":"bank","version":"1"}}}}
{"run_id":"r","ts":"2026-07-22T14:03:05Z","direction":"in","message":{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"pay","arguments":{"amount":5}}}}
{"run_id":"r","ts":"2026-07-22T14:03:07Z","direction":"out","message":{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"it failed"}}}
{"run_id":"r","ts":"2026-07-22T14:03:10Z","direction":"in","message":{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"pay","arguments":{"amount":5}}}}
{"run_id":"r","ts":"2026-07-22T14:03:12Z","direction":"out","message":{"jsonrpc":"2.0","id":2,"result":{"content":[]}}}
"#;

/// What the server logged about the two.
fn server_log() -> String {
    let line = |id: u32, event: &str, about: &str| {
        let head = format!(r#""run_id":"r","phase":"execution","event":"{event}","request_id":{id}"#);
        format!("{{{head},\"at\":\"2026-07-22T14:03:{:02}.500Z\",{about}}}\n", id * 5)
    };
    let attempt = |id: u32| {
        let target = format!(r#""action_id":"a{id}","target":"https://bank.test","method":"POST","path":"/pay""#);
        [
            line(id, "tool_call_received", r#""tool":"pay""#),
            line(id, "external_attempt", &target),
            line(id, "external_result", &format!(r#"{target},"status":201"#)),
        ]
        .concat()
    };
    [attempt(1), attempt(2)].concat()
}

/// A class, a case of the samples where it is found, and one where it is not. `twice` is the payment above.
const CLASSES: &[(&str, &str, &str)] = &[
    ("failed-call", "http-401-www-authenticate", "stdio-healthy-py2"),
    ("unknown", "stdio-never-answers-initialize", "http-429-retry-after"),
    ("unsafe-retry", "twice", "http-429-retry-after"),
    ("duplicate", "twice", "http-429-retry-after"),
    ("finding:RULE", "stdio-import-side-effect-3-contacts", "stdio-healthy-py2"),
    ("finding:high", "stdio-sigkill-after-outbound", "http-504-nginx-late-success"),
    ("finding:medium", "http-504-nginx-late-success", "http-2026-healthy-py"),
    ("finding:low", "http-2026-healthy-py", "stdio-healthy-py2"),
];

fn code(twice: &Path, case: &str, classes: &[&str]) -> Option<i32> {
    let input = root().join("samples/cases").join(case).join("input");
    let input = if case == "twice" { twice } else { input.as_path() };
    let mut arguments = vec!["analyze", "."];
    for class in classes {
        arguments.extend(["--fail-on", if *class == "finding:RULE" { "finding:launch-reach" } else { *class }]);
    }
    run(input, &arguments).status.code()
}

fn twice() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("wire.jsonl"), WIRE).unwrap();
    fs::write(folder.path().join("server.jsonl"), server_log()).unwrap();
    folder
}

#[test]
fn every_class_is_found_where_it_is_and_nowhere_else() {
    let folder = twice();
    for (class, found, not) in CLASSES {
        assert_eq!(code(folder.path(), found, &[class]), Some(1), "{class}: {found}");
        assert_eq!(code(folder.path(), not, &[class]), Some(0), "{class}: {not}");
    }
    assert_eq!(code(folder.path(), "stdio-healthy-py2", &["finding:high", "failed-call"]), Some(0), "none of several");
    assert_eq!(code(folder.path(), "http-401-www-authenticate", &["duplicate", "failed-call"]), Some(1), "one of them");
    assert_eq!(code(folder.path(), "stdio-sigkill-after-outbound", &[]), Some(0), "off by default");
}

#[test]
fn every_documented_class_is_tried() {
    let help = stdout(&root(), &["analyze", "--help"]);
    let help = help.split_whitespace().collect::<Vec<_>>().join(" ");
    let listed = help.split("if this is found: ").nth(1).and_then(|rest| rest.split('.').next()).unwrap();
    let documented: BTreeSet<String> = listed
        .split(", ")
        .flat_map(|class| match class.split_once(':').filter(|(_, rest)| rest.contains('|')) {
            Some((kind, rest)) => rest.split('|').map(|rest| format!("{kind}:{rest}")).collect(),
            None => vec![class.to_owned()],
        })
        .collect();
    assert_eq!(documented, CLASSES.iter().map(|(class, ..)| (*class).to_owned()).collect());
}

#[test]
fn a_class_that_is_none_is_wrong_usage() {
    let folder = twice();
    for class in ["nonsense", "finding:", "finding:none", "finding:no-such-rule", "", "FAILED-CALL"] {
        assert_eq!(code(folder.path(), "twice", &[class]), Some(2), "{class}");
    }
}

/// A filter hides and does not excuse; a path that is missing weighs more.
#[test]
fn what_is_hidden_counts_and_a_missing_path_weighs_more() {
    let folder = twice();
    let with =
        |more: &[&str]| run(folder.path(), &[&["analyze", "--fail-on", "duplicate"], more].concat()).status.code();
    assert_eq!(with(&[".", "--tool", "nosuch"]), Some(1));
    assert_eq!(with(&[".", "nowhere.log"]), Some(2));
}
