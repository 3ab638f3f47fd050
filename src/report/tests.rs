//! The report from text to bytes: small cases through the whole pipeline, in every form.

use std::{borrow::Cow, collections::BTreeSet, num::NonZeroU32};

use bumpalo::Bump;
use serde_json::{Value, json};
use unicode_width::UnicodeWidthStr;

use super::*;
use crate::{
    assemble::Assembler,
    correlate::{Case, Correlator, Mark, SourceMeta},
    event::SourceId,
    format,
    judge::{self, Confidence, Doc, Evidence, Finding, FindingRule, Proof, Severity, Verdicts},
};

/// A case read from texts.
struct Read {
    case: Case,
    verdicts: Verdicts,
    sources: Vec<SourceInfo>,
    texts: Vec<String>,
    options: ReportOptions,
}

fn read_with(options: ReportOptions, texts: &[&str]) -> Read {
    let mut correlator = Correlator::default();
    correlator.keep_trail();
    let mut sources = Vec::new();
    for (number, text) in texts.iter().enumerate() {
        let kind = format::sniff(&format::Head { bytes: text.as_bytes() });
        correlator.begin(&SourceMeta { witness: kind.and_then(|kind| kind.witness), ..SourceMeta::default() });
        let arena = Bump::new();
        let sink = format::decode_lines(kind, text, &arena);
        let mut assembler = Assembler::default();
        for event in &sink.events {
            let mut event = *event;
            event.origin.source = SourceId(u32::try_from(number).expect("few sources"));
            assembler.push(&event, &mut |event| correlator.push(event));
        }
        assembler.finish(&mut |event| correlator.push(event));
        correlator.end(false);
        sources.push(SourceInfo {
            path: format!("logs/source-{number}.log"),
            sha256: "0f".repeat(32),
            bytes: text.len() as u64,
            format: kind.map_or("text", |kind| kind.name),
            records: text.lines().count() as u64,
            content_bytes: text.len() as u64,
            ..SourceInfo::default()
        });
    }
    let case = correlator.link();
    let verdicts = judge::judge(&case, &judge::Terms::default(), |verdict| options.calls.keeps(verdict));
    Read { case, verdicts, sources, texts: texts.iter().map(|text| (*text).to_owned()).collect(), options }
}

fn read(texts: &[&str]) -> Read {
    read_with(ReportOptions { calls: CallsShown::All, ..ReportOptions::default() }, texts)
}

impl Read {
    fn report(&self) -> Report<'_> {
        Report::new(&self.case, &self.verdicts, &self.sources, &self.options)
    }

    fn wanted(&self, name: &str) -> Vec<Origin> {
        self.report().wanted_quotes(&[renderer(name).expect("a renderer")])
    }

    fn quotes(&self, wanted: &[Origin]) -> Quotes {
        let quote = |origin: &Origin| {
            let text = &self.texts[origin.source.0 as usize];
            let line = text.lines().nth(origin.record.get() as usize - 1).unwrap_or_default();
            (*origin, redact::quote(line, QUOTE_LIMIT))
        };
        wanted.iter().map(quote).collect()
    }

    fn timeline(&self, name: &str) -> String {
        let form = TIMELINE_FORMS.iter().find(|form| form.name == name).expect("a form");
        let report = self.report();
        let mut out = Vec::new();
        let fetch = |wanted: &[Origin]| self.quotes(wanted);
        (form.write)(&Timeline::new(&report, None), STYLE, &fetch, &mut out).expect("memory");
        String::from_utf8(out).expect("text")
    }

    fn explanation(&self, call: u32, name: &str) -> String {
        let form = EXPLANATION_FORMS.iter().find(|form| form.name == name).expect("a form");
        let explained = judge::call::explain(&self.case, &judge::Terms::default(), call);
        let report = self.report().with_quotes(self.quotes(&explanation_cites(&explained)));
        let mut out = Vec::new();
        (form.write)(&Explanation::new(&report, call, &explained), STYLE, &mut out).expect("memory");
        String::from_utf8(out).expect("text")
    }

    fn render_in(&self, name: &str, style: Style) -> String {
        let renderer = renderer(name).expect("a renderer");
        let report = self.report();
        let quotes = self.quotes(&report.wanted_quotes(&[renderer]));
        let mut out = Vec::new();
        (renderer.render)(&report.with_quotes(quotes), style, &mut out).expect("memory");
        String::from_utf8(out).expect("text")
    }

    fn render(&self, name: &str) -> String {
        self.render_in(name, STYLE)
    }

    fn json(&self) -> Value {
        serde_json::from_str(&self.render("json")).expect("JSON")
    }
}

const STYLE: Style = Style { width: 80, color: false };
const FORMS: [&str; 4] = ["table", "markdown", "json", "ndjson"];

/// A tap between client and server: a payment without an answer, then a lookup that fails.
const TAP: &str = r#"{"ts":"2026-11-30T03:01:15.798+00:00","dir":"spawn","argv":["python","pysrv.py"],"pid":4711}
{"ts":"2026-11-30T03:01:15.802+00:00","dir":"c2s","line":"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{\"protocolVersion\":\"2025-11-25\",\"capabilities\":{},\"clientInfo\":{\"name\":\"agent\",\"version\":\"1\"}}}"}
{"ts":"2026-11-30T03:01:15.900+00:00","dir":"s2c","line":"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"capabilities\":{\"tools\":{}},\"protocolVersion\":\"2025-11-25\",\"serverInfo\":{\"name\":\"invoice-server\",\"version\":\"1\"}}}"}
{"ts":"2026-11-30T03:01:15.910+00:00","dir":"c2s","line":"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}"}
{"ts":"2026-11-30T03:01:15.920+00:00","dir":"c2s","line":"{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/list\"}"}
{"ts":"2026-11-30T03:01:15.930+00:00","dir":"s2c","line":"{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{\"tools\":[{\"name\":\"pay\",\"inputSchema\":{\"type\":\"object\"}},{\"name\":\"lookup\",\"inputSchema\":{\"type\":\"object\"}}]}}"}
{"ts":"2026-11-30T03:01:16.000+00:00","dir":"c2s","line":"{\"jsonrpc\":\"2.0\",\"id\":\"three\",\"method\":\"tools/call\",\"params\":{\"name\":\"lookup\",\"arguments\":{\"a\":1}}}"}
{"ts":"2026-11-30T03:01:16.020+00:00","dir":"s2c","line":"{\"jsonrpc\":\"2.0\",\"id\":\"three\",\"error\":{\"code\":-32603,\"message\":\"boom\"}}"}
{"ts":"2026-11-30T03:01:17.000+00:00","dir":"c2s","line":"{\"jsonrpc\":\"2.0\",\"id\":4,\"method\":\"tools/call\",\"params\":{\"name\":\"pay\",\"arguments\":{\"a\":1}}}"}
"#;

/// The log of the same server: the payment reached a service outside.
const LOG: &str = r#"{"run_id":"run-1x","server":"invoice-server","pid":4711,"phase":"launch","event":"spawned","at":"2026-11-30T03:01:15.799Z"}
{"run_id":"run-1x","phase":"handshake","event":"initialize_received","request_id":1,"at":"2026-11-30T03:01:15.850Z"}
{"run_id":"run-1x","phase":"handshake","event":"initialize_responded","request_id":1,"at":"2026-11-30T03:01:15.890Z"}
{"run_id":"run-1x","phase":"execution","event":"tool_call_received","request_id":4,"tool":"pay","at":"2026-11-30T03:01:17.001Z"}
{"run_id":"run-1x","phase":"execution","event":"external_attempt","request_id":4,"tool":"pay","target":"https://api.example.test","method":"POST","at":"2026-11-30T03:01:17.010Z"}
"#;

fn keys(value: &Value) -> Vec<&str> {
    value.as_object().expect("an object").keys().map(String::as_str).collect()
}

fn call<'v>(report: &'v Value, tool: &str) -> &'v Value {
    let calls = report["calls"].as_array().expect("calls");
    calls.iter().find(|call| call["tool"] == tool).expect("the call")
}

#[test]
fn json_has_the_fields_of_the_contract() {
    let report = read(&[LOG, TAP]).json();
    assert_eq!(report["schema"], 1);
    assert_eq!(report["tool"], json!({"name": "mcp-postmortem", "version": env!("CARGO_PKG_VERSION")}));
    let wanted = ["calls", "coverage", "findings", "operations", "runs", "schema", "sources", "tool", "totals"];
    assert_eq!(keys(&report), wanted);
    let run = &report["runs"][0];
    assert_eq!((&run["run"], &run["run_is"]), (&json!("run-1x"), &json!("recorded")));
    assert_eq!((&run["server"], &run["pid"]), (&json!("invoice-server"), &json!(4711)));
    assert_eq!(run["started"]["answer"], "yes");
    assert_eq!(run["tools"]["names"], json!(["pay", "lookup"]));
    assert_eq!(run["tools"]["count"], 2);
    assert_eq!(run["stopped_at"], "external_attempt_no_result");
    assert_eq!(run["deadline_owner"], "remote");
    let pay = call(&report, "pay");
    assert_eq!((&pay["id"], &pay["outcome"]), (&json!(4), &json!("NO_ANSWER")));
    assert_eq!(pay["retry"]["verdict"], "unsafe");
    assert_eq!(pay["retry"]["condition"], Value::Null);
    assert_eq!(pay["reach"]["targets"][0]["target"], "https://api.example.test");
    assert_eq!(pay["last_phase"], json!({"phase": "execution", "event": "external_attempt"}));
    assert_eq!(pay["started_at"].as_str().map(str::len), Some("2026-11-30T03:01:17.000Z".len()));
    let lookup = call(&report, "lookup");
    assert_eq!((&lookup["id"], &lookup["code"], &lookup["duration_ms"]), (&json!("three"), &json!(-32603), &json!(20)));
    assert_eq!(lookup["author"], "server");
    assert!(lookup["session"].is_null() && lookup.get("session").is_none());
    assert_eq!(report["totals"]["calls"], 4);
    assert_eq!(report["coverage"]["records"], 14);
}

#[test]
fn evidence_leads_to_the_record() {
    let read = read(&[LOG, TAP]);
    let report = read.json();
    let evidence = call(&report, "pay")["evidence"].as_array().expect("evidence").clone();
    let piece = evidence.iter().find(|piece| piece["source"] == "s1" && piece["record"] == 5).expect("the attempt");
    let byte = usize::try_from(piece["byte"].as_u64().expect("a byte")).expect("small");
    let line = LOG.get(byte..).and_then(|rest| rest.lines().next()).expect("a line");
    assert!(line.contains("external_attempt"));
    assert_eq!(piece["quote"].as_str(), Some(line));
    assert_eq!(piece["at"], "2026-11-30T03:01:17.010Z");
}

#[test]
fn lines_hold_what_the_object_holds() {
    let read = read(&[LOG, TAP]);
    let report = read.json();
    let lines = read.render("ndjson");
    let lines: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).expect("a line")).collect();
    assert_eq!(lines[0], json!({"type": "report", "schema": 1, "tool": report["tool"]}));
    for (kind, list) in [("source", "sources"), ("run", "runs"), ("call", "calls"), ("finding", "findings")] {
        let of_kind = lines.iter().filter(|line| line["type"] == kind).map(|line| {
            let mut line = line.clone();
            line.as_object_mut().and_then(|line| line.remove("type"));
            line
        });
        assert_eq!(Value::Array(of_kind.collect()), report[list], "{kind}");
    }
    assert!(read.render("ndjson").lines().all(|line| line.starts_with("{\"type\":\"")));
    assert_eq!(lines.last().map(|line| &line["type"]), Some(&json!("totals")));
}

#[test]
fn the_terminal_form_says_what_to_do_first() {
    let text = read_with(ReportOptions::default(), &[LOG, TAP]).render("table");
    let order = ["WHAT TO DO", "RUNS", "THE FOUR QUESTIONS", "CALLS WITHOUT A SUCCESS ON RECORD", "COVERAGE"];
    let places: Vec<usize> = order.iter().map(|head| text.find(head).expect(head)).collect();
    assert!(places.is_sorted(), "{text}");
    assert!(!text.contains("MISSING EVIDENCE\n\n"), "a heading without content: {text}");
    let never = text.find("Never press retry on these:").expect("never");
    assert!(text[never..].lines().nth(1).is_some_and(|line| line.contains("pay (c4)")), "{text}");
    let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        flat.contains(
            "run-1x (invoice-server, stdio): started, initialized, 2 tools; left open at external_attempt_no_result"
        ),
        "{flat}"
    );
    assert!(flat.contains("2 of 4 calls did not end well"), "{flat}");
    assert!(flat.contains("reached outside: yes, 1 contact with https://api.example.test"), "{flat}");
    assert!(flat.contains("logs/source-0.log:5 {\"run_id\":"), "{flat}");
}

#[test]
fn markdown_cites_by_footnotes() {
    let text = read_with(ReportOptions::default(), &[LOG, TAP]).render("markdown");
    for head in
        ["## What is safe", "## Summary", "## Impact", "## Timeline", "## Calls without", "## Coverage", "## Tool"]
    {
        assert!(text.contains(head), "{head}: {text}");
    }
    let defined: BTreeSet<&str> =
        text.lines().filter(|line| line.starts_with("[^")).filter_map(|line| line.split(']').next()).collect();
    let used: BTreeSet<&str> = text.match_indices("[^").filter_map(|(at, _)| text[at..].split(']').next()).collect();
    assert!(!defined.is_empty());
    assert_eq!(defined, used);
    assert!(text.contains(&"0f".repeat(32)));
    let rows: Vec<&str> = text.lines().filter(|line| line.starts_with("| ") && line.contains("c4")).collect();
    assert!(rows.iter().any(|row| row.contains("**unsafe**") && row.contains("`pay`")), "{rows:?}");
}

#[test]
fn nothing_is_quoted_that_is_not_shown() {
    let failed = read_with(ReportOptions::default(), &[LOG, TAP]);
    let listed = Origin { source: SourceId(1), record: NonZeroU32::new(5).expect("five"), offset: 0 };
    let is = |wanted: &[Origin]| wanted.iter().any(|at| (at.source, at.record) == (listed.source, listed.record));
    assert!(!is(&failed.wanted("table")), "tools/list succeeded and is not shown");
    assert!(!is(&failed.wanted("markdown")));
    assert!(is(&read(&[LOG, TAP]).wanted("json")));
    let wanted = failed.wanted("table");
    assert!(wanted.is_sorted() && !wanted.is_empty());
}

#[test]
fn the_same_bytes_give_the_same_report() {
    for form in FORMS {
        assert_eq!(read(&[LOG, TAP]).render(form), read(&[LOG, TAP]).render(form));
    }
}

#[test]
fn an_empty_case_has_an_empty_report() {
    for texts in [&[][..], &[""], &["nothing to see here\n"]] {
        let read = read(texts);
        for form in FORMS {
            assert!(!read.render(form).is_empty());
        }
        let report = read.json();
        valid(&report, &schema_value(), "$");
        assert_eq!(report["calls"], json!([]));
        assert!(read.render("table").contains("No MCP run"));
        assert!(!read.render("table").contains("RUNS"));
        assert!(!read.render("markdown").contains("## Summary"));
    }
}

const HOSTILE: &str = "\u{1b}]0;evil\u{7}\u{202e}pay|`x`<b>@all\n::error::x ##[error] ✅❤\u{fe0f}日本語日本語日本語";
const SECRET: &str = "sk-ant-api03-AbCdEfGhIjKlMnOpQrStUvWxYz0123456789AbCdEfGhIjKlMnOp";

/// Calls whose every name is hostile, over sessions.
fn hostile() -> String {
    let tool = format!("{HOSTILE}{SECRET}");
    let session = "9f8e7d6c-5b4a-4c3d-8e1f-0a1b2c3d4e5f";
    let envelope = |direction: &str, message: Value| {
        let line = json!({
            "ts": "2026-11-30T03:01:15.798Z", "run_id": format!("run {tool}"), "server": format!("srv {tool}"),
            "session_id": session, "direction": direction, "message": message
        });
        format!("{line}\n")
    };
    let mut text = envelope(
        "in",
        json!({"jsonrpc": "2.0", "id": tool, "method": "tools/call",
        "params": {"name": tool, "arguments": {"note": format!("in session {session}")}}}),
    );
    text += &envelope("in", json!({"jsonrpc": "2.0", "id": 2, "method": format!("x/{tool}")}));
    text += &envelope(
        "in",
        json!({"jsonrpc": "2.0", "id": 3, "method": "tools/call",
        "params": {"name": format!("lookup {session}"), "arguments": {}}}),
    );
    let attempt = json!({
        "run_id": format!("run {tool}"), "phase": "execution", "event": "external_attempt", "target": format!("https://{tool}"),
        "request_id": tool, "session_id": session, "at": "2026-11-30T03:01:16.798Z"
    });
    text + &format!("{attempt}\n")
}

#[test]
fn hostile_names_reach_no_output() {
    let text = hostile();
    let mut read = read(&[&text]);
    read.sources[0].path = format!("logs/{HOSTILE}/{SECRET}.log");
    assert!(read.case.calls.len() >= 3, "the calls were read");
    for form in FORMS {
        let out = read.render(form);
        assert!(!out.contains(SECRET) && !out.contains("AbCdEfGhIjKl"), "{form} shows a secret: {out}");
        assert!(!out.contains("9f8e7d6c"), "{form} shows a session: {out}");
        let hidden = |c: char| c.is_control() && c != '\n' || matches!(c, '\u{202e}');
        assert!(!out.chars().any(hidden), "{form} shows a control character: {out:?}");
        assert!(!out.contains("##[error]"), "{form}: {out}");
        assert!(!out.lines().any(|line| line.trim_start().starts_with("::error")), "{form}: {out}");
    }
    let markdown = read.render("markdown");
    for line in markdown.lines().filter(|line| line.contains("all")) {
        let prose = without_code(line);
        assert!(!prose.contains("<b>") && !prose.contains("@all"), "{line}");
    }
    let calls = read.json()["calls"].clone();
    assert!(calls.as_array().expect("calls").iter().all(|call| call["session"] == "S1"), "{calls}");
}

/// A line of Markdown without its code spans: a run of backticks up to the next run of the same length.
fn without_code(line: &str) -> String {
    let mut prose = String::new();
    let mut rest = line;
    while let Some(at) = rest.find('`') {
        let (before, from) = rest.split_at(at);
        prose.push_str(before);
        let inner = from.trim_start_matches('`');
        let fence = from.len() - inner.len();
        if before.ends_with('\\') {
            rest = &from[1..];
            continue;
        }
        let mut end = None;
        let mut run = 0;
        for (at, char) in inner.char_indices().chain([(inner.len(), ' ')]) {
            if char == '`' {
                run += 1;
            } else {
                if run == fence {
                    end = Some(at);
                    break;
                }
                run = 0;
            }
        }
        rest = &inner[end.expect("every code span ends")..];
    }
    prose + rest
}

#[test]
fn every_line_fits() {
    let text = hostile();
    for texts in [&[text.as_str()][..], &[LOG, TAP]] {
        let mut read = read(texts);
        read.sources[0].path = format!("{}/{HOSTILE}.log", "folder".repeat(30));
        add_finding(&mut read);
        for width in [0, 60, 72, 80, 200] {
            let out = read.render_in("table", Style { width, color: false });
            let limit = usize::from(width.clamp(60, 80));
            for line in out.lines() {
                assert!(line.width() <= limit, "{width}: {} columns: {line}", line.width());
            }
        }
    }
}

#[test]
fn color_only_where_it_is_welcome() {
    let read = read(&[LOG, TAP]);
    let colored = read.render_in("table", Style { width: 80, color: true });
    assert!(colored.contains("\u{1b}[31m"));
    assert!(!read.render("table").contains('\u{1b}'));
    let mut plain = String::new();
    for (number, piece) in colored.split("\u{1b}[").enumerate() {
        plain.push_str(if number == 0 { piece } else { piece.split_once('m').map_or("", |(_, rest)| rest) });
    }
    assert_eq!(plain, read.render("table"));
}

static RULE: FindingRule = FindingRule {
    id: "tool-hang",
    title: "A tool that does not return",
    severity: Severity::High,
    doc: Doc { means: "m", recognized: "r", is_not: "n", to_do: "Look at the handler." },
    check: |_, _| {},
};

fn add_finding(read: &mut Read) {
    let call = u32::try_from(read.case.calls.len() - 1).expect("few calls");
    let mark = read.case.place(&read.case.calls[call as usize]);
    let claim: Cow<'static, str> = Cow::Owned(format!("Call 17 of {HOSTILE} with {SECRET} hangs."));
    let twelve = (1..=12).map(|number| {
        let record = NonZeroU32::new(number).expect("not zero");
        Evidence::seen(format!("shows row {number}"), Mark { origin: Origin { record, ..mark.origin }, ..mark })
    });
    let proof = Proof::seen("shows the request", mark).with(twelve);
    for claim in [claim.clone(), Cow::Owned(claim.replace("17", "18"))] {
        let run = Some(read.case.calls[call as usize].run);
        let finding = Finding {
            rule: &RULE,
            severity: RULE.severity,
            confidence: Confidence::Medium,
            claim,
            run,
            call: Some(call),
            advice: RULE.doc.to_do,
            proof: proof.clone(),
        };
        read.verdicts.findings.push(finding);
    }
}

#[test]
fn findings_have_stable_fingerprints_and_limited_evidence() {
    let mut read = read(&[LOG, TAP]);
    read.verdicts.findings.clear();
    add_finding(&mut read);
    let report = read.json();
    valid(&report, &schema_value(), "$");
    let findings = report["findings"].as_array().expect("findings");
    assert_eq!(findings.len(), 2);
    assert_eq!(findings[0]["fingerprint"], findings[1]["fingerprint"], "numbers do not count");
    let evidence = findings[0]["evidence"].as_array().expect("evidence");
    assert_eq!(evidence.len(), 8);
    assert!(evidence[7]["more"].as_u64().is_some_and(|more| more >= 4), "{}", evidence[7]);
    assert_eq!(findings[0]["advice"], "Look at the handler.");
    let table = read.render("table");
    assert_eq!(table.matches("high tool-hang (run-1x, c4; confidence medium)").count(), 2, "claims differ: {table}");
    assert!(!table.contains(SECRET));
}

#[test]
fn equal_calls_are_one_row() {
    let mut text = TAP.to_owned();
    for id in 100..160 {
        let line = json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {"name": "slow", "arguments": {"n": id}}});
        let line = json!({"ts": "2026-11-30T03:02:00.000+00:00", "dir": "c2s", "line": line.to_string()});
        text += &line.to_string();
        text.push('\n');
    }
    for id in 200..300 {
        let line = json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {"name": format!("tool{id}"), "arguments": {}}});
        let line = json!({"ts": "2026-11-30T03:02:00.000+00:00", "dir": "c2s", "line": line.to_string()});
        text += &line.to_string();
        text.push('\n');
    }
    let read = read_with(ReportOptions::default(), &[&text]);
    let table = read.render("table");
    assert!(table.contains("slow ×60"), "{table}");
    // 103 kinds of calls, of which 40 are shown.
    assert!(table.contains("63 more calls: see --output ndjson."), "{table}");
    assert!(read.render("markdown").contains("63 more calls: see --output ndjson."));
}

#[test]
fn equal_runs_are_one_row() {
    let run = |name: &str| {
        format!(
            "{{\"run_id\":\"{name}\",\"phase\":\"launch\",\"event\":\"spawned\",\"pid\":7,\"at\":\"2026-11-30T03:01:15Z\"}}\n"
        )
    };
    let text = (1..=30).map(|number| run(&format!("life-{number}"))).collect::<String>();
    let table = read(&[&text]).render("table");
    assert!(table.contains("    life-1 and 29 more: not decided."), "{table}");
    assert!(table.contains("  life-1 and 29 more: started,"), "{table}");
    assert!(!table.contains("life-2"), "{table}");
}

#[test]
fn runs_with_trouble_come_first_where_not_all_fit() {
    let mut text = String::new();
    for number in 1..=30 {
        let run = format!("life-{number:02}");
        for event in ["spawned", "initialize_received", "initialize_responded", "initialized_received"] {
            let line = json!({"run_id": run, "server": run, "phase": "handshake", "event": event, "request_id": 1,
                "at": "2026-11-30T03:01:15Z"});
            text += &line.to_string();
            text.push('\n');
        }
        for (id, event) in [(2, "tools_list_received"), (2, "tools_list_responded"), (3, "tool_call_received")] {
            if id == 3 && number < 30 {
                continue;
            }
            let line = json!({"run_id": run, "phase": "execution", "event": event, "request_id": id, "tool": "pay",
                "at": "2026-11-30T03:01:16Z"});
            text += &line.to_string();
            text.push('\n');
        }
    }
    let table = read(&[&text]).render("table");
    let runs = table.split_once("RUNS").map_or("", |(_, runs)| runs);
    assert!(runs.trim_start().starts_with("life-30 (life-30"), "{runs}");
    assert!(table.contains("10 more runs: see --output ndjson."), "{table}");
}

#[test]
fn a_selection_hides_and_never_recounts() {
    let select = Selection { tool: Some("pay".to_owned()), ..Selection::default() };
    let all = ReportOptions { calls: CallsShown::All, select, ..ReportOptions::default() };
    let report = read_with(all.clone(), &[LOG, TAP]).json();
    assert_eq!(report["calls"].as_array().map(Vec::len), Some(1));
    assert_eq!(report["runs"].as_array().map(Vec::len), Some(1));
    assert_eq!(report["totals"]["calls"], 4);
    let until = crate::time::parse("2026-11-30T03:01:16Z").map(|stamp| stamp.at);
    let select = Selection { until, ..Selection::default() };
    let report = read_with(ReportOptions { select, ..all.clone() }, &[LOG, TAP]).json();
    assert_eq!(report["calls"].as_array().map(Vec::len), Some(3), "the payment began later");
    let select = Selection { server: Some("other".to_owned()), ..Selection::default() };
    let read = read_with(ReportOptions { select, ..all }, &[LOG, TAP]);
    assert_eq!((&read.json()["calls"], &read.json()["runs"]), (&json!([]), &json!([])));
    assert!(read.render("table").contains("No call matches --server other; without it there are 4 calls."));
}

#[test]
fn digests_and_unexplained_records_only_on_request() {
    let plain = read(&[LOG, TAP]);
    assert!(call(&plain.json(), "pay").get("arguments_digest").is_none());
    let origin = Origin { source: SourceId(0), record: NonZeroU32::MIN, offset: 0 };
    let unexplained = Some(vec![Unexplained { origin, quote: format!("what is {HOSTILE}") }]);
    let options = ReportOptions { calls: CallsShown::All, digests: true, unexplained, ..ReportOptions::default() };
    let read = read_with(options, &[LOG, TAP]);
    let report = read.json();
    valid(&report, &schema_value(), "$");
    assert_eq!(call(&report, "pay")["arguments_digest"].as_str().map(str::len), Some(32));
    assert_eq!(report["coverage"]["unexplained"][0]["source"], "s1");
    assert!(read.render("table").contains("logs/source-0.log:1  what is"));
}

#[test]
fn ids_keep_their_type() {
    let message = |id: &str| {
        format!(
            "{{\"ts\":\"2026-11-30T03:01:15Z\",\"direction\":\"in\",\"message\":{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"tools/call\",\"params\":{{\"name\":\"t\"}}}}}}\n"
        )
    };
    let text = ["2", "\"2\"", "123456789012345678901234567890"].map(message).concat();
    let out = read(&[&text]).render("ndjson");
    for id in ["\"id\":2,", "\"id\":\"2\",", "\"id\":123456789012345678901234567890,"] {
        assert!(out.contains(id), "{id}: {out}");
    }
}

#[test]
fn what_is_read_is_reported() {
    let mut read = read(&[LOG, TAP]);
    read.sources[0].notices = vec![NoticeCount { kind: NoticeKind::TornTail, count: 2, first: Some((5, 600)) }];
    read.sources[0].member = Some("inner/server.log".to_owned());
    read.sources[0].member_sha256 = Some("ee".repeat(32));
    let report = read.json();
    valid(&report, &schema_value(), "$");
    let source = &report["sources"][0];
    assert_eq!(source["notices"][0]["first"], json!({"record": 5, "byte": 600}));
    assert_eq!((&source["member"], &source["clock"]["zone"]), (&json!("inner/server.log"), &json!("recorded")));
    assert_eq!(report["sources"][1]["member"], Value::Null);
    assert_eq!(report["coverage"]["loss"], "data");
    let table = read.render("table");
    assert!(table.contains("logs/source-0.log!inner/server.log:5"), "{table}");
    assert!(table.contains("torn-tail ×2 (data lost)"), "{table}");
}

fn schema_value() -> Value {
    serde_json::from_str(schema()).expect("the schema is JSON")
}

/// Follows a reference inside the schema.
fn resolve<'s>(schema: &'s Value, root: &'s Value) -> &'s Value {
    match schema["$ref"].as_str().and_then(|name| name.strip_prefix("#/$defs/")) {
        Some(name) => &root["$defs"][name],
        None => schema,
    }
}

fn is_of(value: &Value, kind: &str) -> bool {
    match kind {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "integer" => value.is_i64() || value.is_u64(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        _ => false,
    }
}

/// Checks the keywords that the schema uses, and that no property is unknown to it.
fn valid_in(value: &Value, schema: &Value, root: &Value, path: &str) {
    let schema = resolve(schema, root);
    let kinds: Vec<&str> = match &schema["type"] {
        Value::String(kind) => vec![kind],
        Value::Array(kinds) => kinds.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    assert!(kinds.is_empty() || kinds.iter().any(|kind| is_of(value, kind)), "{path}: {value} is no {kinds:?}");
    if let Some(choices) = schema["enum"].as_array() {
        assert!(choices.contains(value), "{path}: {value} is none of {choices:?}");
    }
    for name in schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str) {
        assert!(value.get(name).is_some(), "{path}: {name} is missing");
    }
    if let Some(object) = value.as_object() {
        for (name, value) in object {
            let inner = schema["properties"].get(name).or_else(|| schema.get("additionalProperties"));
            let inner = inner.unwrap_or_else(|| panic!("{path}: {name} is not in the schema"));
            valid_in(value, inner, root, &format!("{path}.{name}"));
        }
    }
    for (at, item) in value.as_array().into_iter().flatten().enumerate() {
        valid_in(item, &schema["items"], root, &format!("{path}[{at}]"));
    }
}

fn valid(value: &Value, root: &Value, path: &str) {
    valid_in(value, root, root, path);
}

#[test]
fn reports_are_valid() {
    let text = hostile();
    for texts in [&[LOG, TAP][..], &[TAP], &[LOG], &[text.as_str()]] {
        valid(&read(texts).json(), &schema_value(), "$");
    }
}

/// Every property that the schema names of a shape that occurs in a full example must occur in it.
#[test]
fn the_schema_names_the_fields_of_the_wire_types() {
    let example = wire::full_example();
    let root = schema_value();
    valid(&example, &root, "$");
    complete(&example, &root, &root, "$");
}

fn complete(value: &Value, schema: &Value, root: &Value, path: &str) {
    let schema = resolve(schema, root);
    if let (Some(object), Some(properties)) = (value.as_object(), schema["properties"].as_object()) {
        assert_eq!(keys(value), keys(&schema["properties"]), "{path}");
        for (name, value) in object {
            complete(value, &properties[name], root, &format!("{path}.{name}"));
        }
    }
    if let Some(items) = value.as_array() {
        assert!(!items.is_empty(), "{path} has no example");
        for item in items {
            complete(item, &schema["items"], root, &format!("{path}[]"));
        }
    }
}

/// The objects of the timeline and of the explanations, each as the schema has it.
#[test]
fn timelines_and_explanations_are_valid() {
    let root = schema_value();
    let text = hostile();
    for texts in [&[LOG, TAP][..], &[TAP], &[text.as_str()]] {
        let read = read(texts);
        for line in read.timeline("ndjson").lines() {
            let mut line: Value = serde_json::from_str(line).expect("JSON");
            let kind = line["type"].as_str().expect("a type").to_owned();
            line.as_object_mut().expect("an object").remove("type");
            let shape =
                if kind == "timeline" { &root["$defs"]["timeline_line"]["oneOf"][0] } else { &root["$defs"][&kind] };
            valid_in(&line, shape, &root, &kind);
        }
        for call in (0..).take(read.case.calls.len()) {
            let explained: Value = serde_json::from_str(&read.explanation(call, "json")).expect("JSON");
            valid_in(&explained, &root["$defs"]["explanation"], &root, "explanation");
        }
    }
}

#[test]
fn timelines_and_explanations_keep_hostile_text_inert() {
    let read = read(&[&hostile()]);
    let mut outputs = vec![read.timeline("table"), read.timeline("ndjson")];
    for call in (0..).take(read.case.calls.len()) {
        outputs.extend([read.explanation(call, "text"), read.explanation(call, "json")]);
    }
    assert!(outputs.len() > 3);
    for out in &outputs {
        assert!(!out.contains(SECRET) && !out.contains("9f8e7d6c"), "{out}");
        assert!(out.chars().all(|char| char == '\n' || !char.is_control() && char != '\u{202e}'), "{out:?}");
    }
    for out in [&outputs[0], &outputs[2]] {
        let wide = out.lines().find(|line| line.width() > 80);
        assert_eq!(wide, None);
    }
}

#[test]
fn an_explanation_shows_both_witnesses_and_the_worlds() {
    let read = read(&[LOG, TAP]);
    let pay = (0..)
        .zip(&read.case.calls)
        .find(|(_, call)| read.case.name(call.method) == "tools/call" && call.id == crate::correlate::RpcId::Int(4));
    let (call, _) = pay.expect("the payment");
    let explained: Value = serde_json::from_str(&read.explanation(call, "json")).expect("JSON");
    let chain = explained["chain"].as_array().expect("a chain");
    let events: Vec<&str> = chain.iter().filter_map(|link| link["event"].as_str()).collect();
    assert_eq!(events, ["tool_call_sent", "tool_call_received", "external_attempt"]);
    let witnesses: Vec<&str> = chain.iter().filter_map(|link| link["witness"].as_str()).collect();
    assert_eq!(witnesses, ["proxy", "server", "server"]);
    // It was sent and reached; whether it took effect and whether the caller knows is open.
    assert_eq!(explained["worlds"].as_array().map(Vec::len), Some(4), "{explained:#}");
    assert_eq!(explained["grounds"]["reached"]["proven"]["record"], 4);
    assert_eq!(explained["call"]["retry"]["rule"], "external-attempt");
}
