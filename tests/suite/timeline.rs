//! The timeline: every event, in an order that nobody has to take on trust.

use std::{collections::BTreeMap, fs, path::Path, process::Stdio};

use serde_json::Value;

use super::run::{calls, folders, program, report, root, run, stdout};

/// The rows of the timeline of a path.
fn rows(folder: &Path, arguments: &[&str]) -> Vec<Value> {
    let text = stdout(folder, &[&["timeline", "-o", "ndjson"], arguments].concat());
    let lines = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    lines.filter(|line| line["type"] == "event").collect()
}

fn events(rows: &[Value]) -> Vec<&str> {
    rows.iter().map(|row| row["event"].as_str().unwrap()).collect()
}

fn orders(rows: &[Value]) -> Vec<&str> {
    rows.iter().map(|row| row["order"].as_str().unwrap()).collect()
}

#[test]
fn records_of_one_source_keep_their_order() {
    for case in folders(&root().join("samples/cases")) {
        let mut last: BTreeMap<String, u64> = BTreeMap::new();
        let mut above = String::new();
        for row in rows(&case, &["input"]) {
            let (source, record) = (row["source"].as_str().unwrap().to_owned(), row["record"].as_u64().unwrap());
            let known = last.insert(source.clone(), record);
            assert!(known <= Some(record), "{}: {row}", case.display());
            // What two sources tell is never passed off as the order of records.
            let claims = row["order"] == "record" && !above.is_empty() && above != source;
            assert!(!claims, "{}: {row}", case.display());
            above = source;
        }
    }
}

#[test]
fn every_event_and_every_piece_of_evidence_has_a_row() {
    for case in folders(&root().join("samples/cases")) {
        let report = report(&case, "input");
        let rows = rows(&case, &["input"]);
        let count = report["coverage"]["events"].as_u64().unwrap();
        assert!(rows.len() as u64 >= count, "{}: {} rows of {count} events", case.display(), rows.len());
        for call in calls(&report) {
            for piece in call["evidence"].as_array().unwrap() {
                let shows = |row: &&Value| {
                    row["call"] == call["call"] && row["source"] == piece["source"] && row["record"] == piece["record"]
                };
                let row = rows.iter().find(shows);
                let row = row.unwrap_or_else(|| panic!("{}: {}: {piece}", case.display(), call["call"]));
                assert_eq!(row["run"], call["run"], "{}: {row}", case.display());
                assert_eq!(row["quote"], piece["quote"], "{}", case.display());
            }
        }
    }
}

#[test]
fn every_line_of_the_table_fits_80_columns_and_names_the_rows() {
    for case in folders(&root().join("samples/cases")).into_iter().step_by(3) {
        let text = stdout(&case, &["timeline", "input"]);
        let long = text.lines().find(|line| line.chars().count() > 80);
        assert_eq!(long, None, "{}", case.display());
        let count = format!("{} event", rows(&case, &["input"]).len());
        assert!(text.starts_with(&count), "{}: {text}", case.display());
    }
}

#[test]
fn threads_and_the_order_of_arguments_change_nothing() {
    for case in ["http-504-nginx-late-success", "stdio-sigkill-after-outbound"] {
        let case = root().join("samples/cases").join(case);
        let mut files: Vec<String> = fs::read_dir(case.join("input"))
            .unwrap()
            .map(|entry| format!("input/{}", entry.unwrap().file_name().to_str().unwrap()))
            .collect();
        files.sort();
        let forward: Vec<&str> = files.iter().map(String::as_str).collect();
        let backward: Vec<&str> = forward.iter().copied().rev().collect();
        for kind in ["table", "ndjson"] {
            let of = |threads: &str, files: &[&str]| {
                stdout(&case, &[&["timeline", "-o", kind, "--threads", threads], files].concat())
            };
            let one = of("1", &forward);
            assert!(one.lines().count() > 20);
            assert_eq!(one, of("8", &forward));
            assert_eq!(one, of("2", &backward));
        }
    }
}

#[test]
fn the_selection_leaves_out_rows_and_changes_none() {
    let case = root().join("samples/cases/stdio-sigkill-after-outbound");
    let all = rows(&case, &["input"]);
    let call: Vec<Value> = all.iter().filter(|row| row["call"] == "c3").cloned().collect();
    let places =
        |rows: &[Value]| rows.iter().map(|row| (row["source"].clone(), row["byte"].clone())).collect::<Vec<_>>();
    for arguments in [&["input", "--call", "c3"][..], &["input", "--call", "id=3"], &["input", "--tool", "die_after"]] {
        assert_eq!(places(&rows(&case, arguments)), places(&call), "{arguments:?}");
    }
    assert_eq!(call.len(), 7, "{call:#?}");
    let late = rows(&case, &["input", "--since", "2026-11-30T03:01:17.800Z"]);
    assert!((1..all.len()).contains(&late.len()), "{}", late.len());
    let none = run(&case, &["timeline", "input", "--server", "nobody"]);
    assert_eq!(none.status.code(), Some(0));
    assert!(String::from_utf8(none.stderr).unwrap().contains("no event matches"));
    for wrong in ["c99", "nonsense", "c0", "id=99"] {
        assert_eq!(run(&case, &["timeline", "input", "--call", wrong]).status.code(), Some(2), "{wrong}");
    }
}

/// A request as a client saw it, and its receipt in the server's log with this time, or with none.
fn skewed(server: &str) -> Vec<Value> {
    let folder = tempfile::tempdir().unwrap();
    let request = r#"{"ts":"2026-07-22T14:00:01.000Z","run_id":"r","direction":"in","message":{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"pay","arguments":{}}}}"#;
    fs::write(folder.path().join("wire.jsonl"), format!("{request}\n")).unwrap();
    let at = if server.is_empty() { String::new() } else { format!(r#","at":"{server}""#) };
    let receipt =
        format!(r#"{{"run_id":"r","phase":"execution","event":"tool_call_received","request_id":1,"tool":"pay"{at}}}"#);
    fs::write(folder.path().join("server.jsonl"), format!("{receipt}\n")).unwrap();
    rows(folder.path(), &["."])
}

#[test]
fn an_order_that_nobody_knows_is_not_pretended() {
    let behind = skewed("2026-07-22T14:00:01.100Z");
    assert_eq!(events(&behind), ["tool_call_sent", "tool_call_received"]);
    assert_eq!(orders(&behind), ["record", "causal"]);
    let before = skewed("2026-07-22T14:00:00.500Z");
    assert_eq!(events(&before), ["tool_call_received", "tool_call_sent"]);
    assert_eq!(orders(&before), ["record", "contradicts"]);
    // Without a time the receipt takes its place from the request it belongs to.
    let timeless = skewed("");
    assert_eq!(timeless.len(), 2);
    assert!(timeless.iter().any(|row| row.get("at").is_none()), "{timeless:#?}");
    let other = |row: &&Value| row["order"] != "record";
    assert!(
        matches!(timeless.iter().find(other).unwrap()["order"].as_str(), Some("unknown" | "causal")),
        "{timeless:#?}"
    );
}

/// What a client's library tells of its own requests to the server is no contact with the outside.
#[test]
fn only_contacts_are_called_external() {
    let mut external = 0;
    for case in folders(&root().join("samples/cases")) {
        for row in rows(&case, &["input"]) {
            let is_external = row["event"].as_str().unwrap().starts_with("external_");
            assert!(!is_external || row["witness"] != "client", "{}: {row}", case.display());
            external += usize::from(is_external);
        }
    }
    assert!(external > 10, "{external}");
}

#[test]
fn a_local_time_is_shown_with_the_one_that_places_it() {
    let folder = tempfile::tempdir().unwrap();
    let line = r#"{"ts":"2026-07-22T14:00:01.000Z","run_id":"r","direction":"in","message":{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"pay","arguments":{}}}}"#;
    let late = line.replace("14:00:01", "14:00:03").replace("\"id\":1", "\"id\":2");
    fs::write(folder.path().join("wire.jsonl"), format!("{line}\n{late}\n")).unwrap();
    let remark = "2026-07-22 16:00:01,500 ERROR lab.client: call pay attempt 1 failed: MCPError: Connection closed";
    fs::write(folder.path().join("client.log"), format!("{remark}\n")).unwrap();
    let aligned = rows(folder.path(), &["."]);
    let row = aligned.iter().find(|row| row["witness"] == "client").unwrap();
    assert_eq!(
        (&row["at"], &row["aligned_at"]),
        (&"2026-07-22T16:00:01.500Z".into(), &"2026-07-22T14:00:01.500Z".into())
    );
    let table = stdout(folder.path(), &["timeline", "."]);
    assert!(table.contains("=14:00:01.500"), "{table}");
}

#[test]
fn a_closed_pipe_is_no_failure() {
    for arguments in [&["timeline", "samples/cases"][..], &["timeline", "samples/cases", "-o", "ndjson"]] {
        let mut child = program(&root()).args(arguments).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        drop(child.stdout.take());
        assert_eq!(child.wait().unwrap().code(), Some(0), "{arguments:?}");
    }
}
