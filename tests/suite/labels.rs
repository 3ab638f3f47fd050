//! The copies of real captures agree with their labels, column by column.
//!
//! A disagreement must be listed under `known` in `labels.json` with its reason, and a listed one must still be one:
//! the test is exact. A dangerous verdict cannot be listed.

use std::path::Path;

use serde_json::{Map, Value};

use super::run::{calls, folders, report, root, updating};

/// Labels that mean several of our words.
fn outcomes(label: &str) -> Vec<&str> {
    match label {
        "OK" => vec!["RPC_SUCCESS", "TASK_STARTED"],
        "NO_FINAL_RESPONSE" => vec!["NO_ANSWER", "STREAM_INCOMPLETE", "CANCELLED", "ANSWER_NOT_CAPTURED"],
        "CANCELLED" => vec!["CANCELLED", "NO_ANSWER"],
        other => vec![other],
    }
}

fn retries(label: &str) -> Vec<&str> {
    match label {
        "safe" => vec!["safe", "safe-if"],
        "conditional" => vec!["safe-if", "safe", "unknown"],
        "unsafe" => vec!["unsafe"],
        "unknown" => vec!["unknown", "unsafe"],
        other => vec![other],
    }
}

fn texts(value: &Value) -> Vec<&str> {
    match value {
        Value::String(text) => vec![text],
        Value::Array(items) => items.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    }
}

/// The label and its alternatives.
fn wanted<'l>(label: &'l Value, key: &str) -> Vec<&'l str> {
    let mut all = texts(&label[key]);
    all.extend(texts(&label["alternatives"][key]));
    all
}

fn good(label: &Value) -> bool {
    matches!(label["outcome"].as_str(), Some("OK" | "TOOL_SUCCESS"))
}

fn layer_fits(label: &Value, layer: &str) -> bool {
    let mut want = wanted(label, "failing_layer");
    if label["failing_layer"].is_null() {
        want.push("none");
    }
    if label["alternatives"]["failing_layer"].as_array().is_some_and(|list| list.iter().any(Value::is_null)) {
        want.push("none");
    }
    if label["outcome"] == "INPUT_REQUIRED" {
        want.push("interaction");
    }
    if label["outcome"] == "NO_FINAL_RESPONSE" {
        if want.contains(&"transport") {
            want.push("process");
        }
        if want.contains(&"interaction") {
            want.extend(["application", "unknown"]);
            if label["method"] != "tools/call" {
                want.extend(["protocol", "transport", "process"]);
            }
        }
    }
    want.contains(&layer)
}

/// Finer events count as right when they are the same boundary seen from the other side.
fn phase_fits(label: &Value, event: &str) -> bool {
    let mut near: Vec<String> = wanted(label, "last_phase").iter().map(ToString::to_string).collect();
    near.extend(texts(&label["last_phase_without_external_log"]).iter().map(ToString::to_string));
    for name in near.clone() {
        let base = name.rsplit_once('_').map_or("", |(base, _)| base).to_owned();
        if name.ends_with("_responded") {
            near.push(format!("{base}_delivered"));
        }
        if name.ends_with("_received") {
            let sides = if good(label) { &["_responded", "_delivered"][..] } else { &["_sent"] };
            near.extend(sides.iter().map(|side| format!("{base}{side}")));
        }
    }
    if !good(label) {
        let sent = match label["method"].as_str() {
            Some("initialize") => "initialize_sent",
            Some("tools/list") => "tools_list_sent",
            Some("server/discover") => "discover_sent",
            _ => "tool_call_sent",
        };
        near.push(sent.to_owned());
    }
    let answered =
        good(label) || matches!(label["outcome"].as_str(), Some("TOOL_ERROR" | "JSONRPC_ERROR" | "INPUT_REQUIRED"));
    if answered {
        let ends: &[&str] = match label["method"].as_str() {
            Some("tools/call") => &["tool_call_responded", "tool_call_delivered"],
            Some("initialize") => &["initialize_responded", "initialize_delivered"],
            Some("tools/list") => &["tools_list_responded", "tools_list_delivered"],
            _ => &["discover_responded", "discover_delivered"],
        };
        near.extend(ends.iter().map(ToString::to_string));
    }
    near.iter().any(|name| name == event)
}

fn reach_fits(label: &Value, answer: &str, external_log: bool) -> bool {
    let mut want = wanted(label, "external_reach");
    want.extend(texts(&label["external_reach_also_accepted"]));
    if label["external_reach"] == "yes" && !label["last_phase_without_external_log"].is_null() && !external_log {
        want.push("unknown");
    }
    want.contains(&answer)
}

/// The columns in which a call disagrees with its label.
fn disagreements(label: &Value, call: &Value, external_log: bool) -> Vec<String> {
    let verdict = call["retry"]["verdict"].as_str().unwrap_or("");
    let mut retry: Vec<&str> = wanted(label, "retry_safe").into_iter().flat_map(retries).collect();
    if label["outcome"] == "TOOL_SUCCESS" && call["retry"]["helps"] == "already-done" {
        retry.extend(["unsafe", "safe-if"]);
    }
    let outcome = call["outcome"].as_str().unwrap_or("");
    let columns = [
        ("outcome", wanted(label, "outcome").into_iter().flat_map(outcomes).any(|want| want == outcome)),
        ("layer", layer_fits(label, call["layer"].as_str().unwrap_or(""))),
        ("last_phase", phase_fits(label, call["last_phase"]["event"].as_str().unwrap_or(""))),
        ("retry", retry.contains(&verdict)),
        ("reach", reach_fits(label, call["reach"]["answer"].as_str().unwrap_or(""), external_log)),
    ];
    columns.iter().filter(|(_, fits)| !fits).map(|(name, _)| (*name).to_owned()).collect()
}

/// The call that a label means: same method, tool and id, and of those the first that was sent in the same second.
fn call_of<'c>(label: &Value, calls: &'c [Value], used: &mut Vec<usize>) -> Option<&'c Value> {
    let fits = |call: &Value| {
        let tool = label["tool"].is_null() || call["tool"].is_null() || call["tool"] == label["tool"];
        let id =
            label["jsonrpc_id"].is_null() || call["id"].is_null() || plain(&call["id"]) == plain(&label["jsonrpc_id"]);
        call["method"] == label["method"] && tool && id
    };
    let score = |call: &Value| {
        let same_time = second(&call["started_at"]) == second(&label["sent_at"]);
        let outcome = wanted(label, "outcome").into_iter().flat_map(outcomes).any(|want| call["outcome"] == want);
        u8::from(same_time) * 2 + u8::from(outcome)
    };
    let best = (0..calls.len())
        .filter(|index| !used.contains(index) && fits(&calls[*index]))
        .max_by_key(|index| (score(&calls[*index]), usize::MAX - index))?;
    used.push(best);
    Some(&calls[best])
}

fn plain(id: &Value) -> String {
    id.as_str().map_or_else(|| id.to_string(), str::to_owned)
}

fn second(instant: &Value) -> &str {
    instant.as_str().and_then(|text| text.get(..19)).unwrap_or("")
}

#[test]
fn the_copies_of_real_captures_agree_with_their_labels() {
    let mut labeled = 0;
    for case in folders(&root().join("samples/cases")) {
        let path = case.join("expected/labels.json");
        let Ok(text) = std::fs::read_to_string(&path) else { continue };
        let mut labels: Value = serde_json::from_str(&text).unwrap();
        let report = report(&case, "input");
        let found = check(&case, &labels, &report);
        labeled += labels["calls"].as_array().map_or(0, Vec::len);
        let known = labels["known"].as_object().cloned().unwrap_or_default();
        if updating() {
            write_known(&path, &mut labels, &known, &found);
            continue;
        }
        let listed: Vec<&String> = known.keys().collect();
        let found: Vec<&String> = found.iter().collect();
        assert_eq!(found, listed, "{}: disagreements found and listed", case.display());
        assert!(known.values().all(|reason| reason.as_str().is_some_and(|text| text.len() > 20)), "{}", path.display());
    }
    assert!(labeled >= 100 || updating(), "{labeled}");
}

/// All disagreements of a case, sorted.
fn check(case: &Path, labels: &Value, report: &Value) -> Vec<String> {
    let external_log = labels["external_log"] == true;
    let mut used = Vec::new();
    let mut found = Vec::new();
    for label in labels["calls"].as_array().unwrap() {
        if label["on_wire"] == false {
            continue;
        }
        let name = format!(
            "{} {} id {}",
            label["method"].as_str().unwrap(),
            label["tool"].as_str().unwrap_or("-"),
            plain(&label["jsonrpc_id"])
        );
        let call = call_of(label, calls(report), &mut used)
            .unwrap_or_else(|| panic!("{}: no call for {name}", case.display()));
        if call["retry"]["verdict"] == "safe" {
            let safe = wanted(label, "retry_safe").contains(&"safe");
            assert!(safe, "{}: {name} is called safe, and its label says {}", case.display(), label["retry_safe"]);
        }
        found.extend(disagreements(label, call, external_log).iter().map(|column| format!("{name}: {column}")));
    }
    found.sort();
    found.dedup();
    found
}

fn write_known(path: &Path, labels: &mut Value, known: &Map<String, Value>, found: &[String]) {
    let reason = |name: &String| known.get(name).cloned().unwrap_or_else(|| Value::String(String::new()));
    let known: Map<String, Value> = found.iter().map(|name| (name.clone(), reason(name))).collect();
    let object = labels.as_object_mut().unwrap();
    if known.is_empty() {
        object.remove("known");
    } else {
        object.insert("known".to_owned(), Value::Object(known));
    }
    std::fs::write(path, serde_json::to_string_pretty(labels).unwrap() + "\n").unwrap();
}
