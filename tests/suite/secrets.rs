//! No output ever shows a secret: every row of the table of secrets is planted wherever a record may be quoted from.

use std::{fmt::Write as _, fs, path::Path};

use mcp_postmortem::{
    analyze::{Analysis, Options, Silent, analyze},
    event::Origin,
    judge::call,
    report::{
        CallsShown, EXPLANATION_FORMS, Explanation, RENDERERS, Renderer, Report, ReportOptions, Style, TIMELINE_FORMS,
        Timeline, TimelineForm, explanation_cites,
        redact::{SECRETS, Value},
    },
    source::PathArgument,
};
use rayon::prelude::*;
use serde_json::json;

use super::run::run;

/// What begins every planted secret: in three alphabets, and as a word that has no shape at all.
const PIECES: [&str; 4] = ["Zq7xKp29", "9f3a9f3a", "ZQ7XKP29", "sesamoeffne"];

/// What tells of a secret that looks like a word: an option, a sentence, a key written with escapes.
const SHAPELESS: &[&str] = &[
    "mysql -u root -p{} db",
    "mysql -u root -p {} db",
    "psql -p {}",
    "redis-cli -a {} ping",
    "sshpass -p {} ssh x",
    "sshpass -p{} ssh x",
    "[\"mysql\",\"-u\",\"root\",\"-p{}\"]",
    "{\"command\":\"redis-cli\",\"args\":[\"-a\",\"{}\"]}",
    "docker login -u bob -p {} registry.test",
    "sqlcmd -S db -U sa -P {}",
    "curl -u bob:{} https://x.test/",
    "curl -uBOB:{} https://x.test/",
    "X-Api-Key:${X} {}",
    "The password is {}",
    "the new password for bob is now {}",
    "Password for user bob: {}",
    "{\"pass\\u0077ord\": \"{}\"}",
    "{\"api\\u005fkey\":\"{}\"}",
    "{\"tok\\x65n\":\"{}\"}",
    "https://x.test/?pass%77ord={}&b=2",
    "pat={}",
    "{\"pat\":\"{}\"}",
    "{\"tokens\":\"{}\"}",
    "{\"tokens\":[\"a\",\"{}\"]}",
    "tokens: [a, {}]",
    "pin: {}",
    "{\"pin\":\"{}\"}",
    "connection_string={}",
    "{\"connection_string\":\"{}\"}",
];

/// A text with a secret in it for every example and every key of the table. The number in a secret tells which it was.
fn plants() -> Vec<String> {
    let examples = SECRETS.iter().flat_map(|secret| secret.masked).map(|example| (*example).to_owned());
    let words = SHAPELESS.iter().map(|text| text.replace("{}", "sesamoeffne"));
    let keys = SECRETS.iter().flat_map(|secret| secret.keys);
    let keys = keys.flat_map(|key| key.text.split('|').map(|text| (text.trim_start_matches(['*', '+']), key.value)));
    let pairs = keys.enumerate().map(|(at, (key, value))| match (value, at % 4) {
        (Value::Query, _) => format!("https://x.test/?{}={{}}&b=2", key.replace(' ', "-")),
        (_, 0) => format!("{{\"{}\":\"{{}}\"}}", key.replace(' ', "_")),
        (_, 1) => format!("{}={{}}", key.replace(' ', "_").to_ascii_uppercase()),
        (_, 2) => format!("{}: {{}}", key.replace(' ', "-")),
        _ => format!("--{} {{}}", key.replace(' ', "-")),
    });
    let number = |(at, text): (usize, String)| {
        text.replace("{}", &format!("Zq7xKp29L{at:03}mVt83RwYs40BnCd61HgJf5Q"))
            .replace("{hex}", &format!("9f3a9f3a{at:04}9f3a9f3a9f3a9f3a9f3a"))
            .replace("{upper}", &format!("ZQ7XKP29{at:04}RW40"))
    };
    // Lines of a key cannot be known by an end mark that comes later.
    let tail = |text: String| if text.starts_with("{}\n") { text.replace('\n', " ") } else { text };
    words.chain(examples).chain(pairs).map(tail).enumerate().map(number).collect()
}

/// Where a secret may stand in a record.
const PLACES: &[&str] = &["method", "tool", "argument", "header", "url", "stderr", "error", "server", "run", "id"];

/// A record of one call, with a text in one place.
struct Planted<'t> {
    place: &'static str,
    text: &'t str,
    number: usize,
}

impl Planted<'_> {
    fn at(&self, place: &str, plain: &str) -> String {
        if self.place == place { self.text.to_owned() } else { plain.to_owned() }
    }

    fn id(&self) -> serde_json::Value {
        if self.place == "id" { json!(self.text) } else { json!(self.number) }
    }

    fn request(&self) -> serde_json::Value {
        let arguments = json!({"q": self.at("argument", "x")});
        let params = json!({"name": self.at("tool", "issue_lookup"), "arguments": arguments});
        json!({"jsonrpc": "2.0", "id": self.id(), "method": self.at("method", "tools/call"), "params": params})
    }

    fn answer(&self) -> serde_json::Value {
        json!({"jsonrpc": "2.0", "id": self.id(), "error": {"code": -32000, "message": self.at("error", "it failed")}})
    }
}

fn har(planted: &[Planted<'_>]) -> String {
    let entry = |one: &Planted<'_>| {
        json!({
            "startedDateTime": "2026-11-30T03:08:10.907Z", "time": 13.5,
            "request": {"method": "POST", "url": one.at("url", "http://127.0.0.1:23097/mcp"), "httpVersion": "HTTP/1.1",
                "cookies": [], "queryString": [], "headersSize": 274, "bodySize": 186,
                "headers": [{"name": "x-note", "value": one.at("header", "a")}],
                "postData": {"mimeType": "application/json", "text": one.request().to_string(), "params": []}},
            "response": {"status": 502, "statusText": one.at("stderr", "Bad Gateway"), "httpVersion": "HTTP/1.1", "cookies": [],
                "headers": [{"name": "server", "value": one.at("server", "nginx")}, {"name": "content-type", "value": "application/json"}],
                "content": {"size": 10, "mimeType": "application/json", "text": one.answer().to_string()}},
            "cache": {}, "timings": {"send": 0, "wait": 1, "receive": 1}
        })
    };
    let entries: Vec<_> = planted.iter().map(entry).collect();
    json!({"log": {"version": "1.2", "creator": {"name": "mitmproxy", "version": "11"}, "pages": [], "entries": entries}}).to_string()
}

fn trace_jsonl(planted: &[Planted<'_>]) -> String {
    planted.iter().fold(String::new(), |mut out, one| {
        let (run, server) = (one.at("run", "run_01JX"), one.at("server", "acme"));
        for (direction, message) in [("in", one.request()), ("out", one.answer())] {
            let line = json!({"ts": "2026-07-22T14:03:12.900Z", "run_id": run, "server": server, "direction": direction, "message": message});
            writeln!(out, "{line}").unwrap();
        }
        writeln!(out, "stderr: {}", one.at("stderr", "ready").replace('\n', " ")).unwrap();
        out
    })
}

fn phase_jsonl(planted: &[Planted<'_>]) -> String {
    planted.iter().fold(String::new(), |mut out, one| {
        for event in ["tool_call_received", "external_attempt", "external_result"] {
            let line = json!({
                "run_id": one.at("run", "run_01JX"), "server_name": one.at("server", "acme"), "pid": 84217, "phase": "execution",
                "event": event, "request_id": one.id(), "tool": one.at("tool", "issue_lookup"), "channel": one.at("method", "https"),
                "host": one.at("url", "api.example.test"), "error": one.at("error", "none"), "detail": one.at("stderr", "none"),
                "at": "2026-07-22T14:03:14.000Z"
            });
            writeln!(out, "{line}").unwrap();
        }
        out
    })
}

fn stdio_tap(planted: &[Planted<'_>]) -> String {
    planted.iter().fold(String::new(), |mut out, one| {
        let lines = [
            json!({"dir": "spawn", "argv": ["python", "server.py", one.at("header", "-v")], "pid": 20723 + one.number}),
            json!({"dir": "c2s", "line": one.request().to_string()}),
            json!({"dir": "stderr", "line": one.at("stderr", "ready")}),
            json!({"dir": "s2c", "line": one.answer().to_string()}),
            json!({"dir": "s2c", "line": one.at("url", "not json")}),
        ];
        for mut line in lines {
            line["ts"] = json!("2026-11-30T03:00:06.598+00:00");
            writeln!(out, "{line}").unwrap();
        }
        out
    })
}

fn stderr(planted: &[Planted<'_>]) -> String {
    planted.iter().fold(String::new(), |mut out, one| {
        let text = one.text;
        writeln!(out, "INFO:     127.0.0.1:50616 - \"POST {} HTTP/1.1\" 200 OK", one.at("url", "/mcp")).unwrap();
        writeln!(out, "2026-11-30 03:06:29,271 ERROR   {}: {text}", one.at("server", "acme")).unwrap();
        writeln!(
            out,
            "2026-11-30 03:06:29,271 INFO    httpx: HTTP Request: POST {} \"HTTP/1.1 201 Created\"",
            one.at("url", "https://a.test/")
        )
        .unwrap();
        writeln!(out, "Traceback (most recent call last):\n  File \"a.py\", line 3, in run\nRuntimeError: {text}\n")
            .unwrap();
        out
    })
}

fn claude_desktop(planted: &[Planted<'_>]) -> String {
    planted.iter().fold(String::new(), |mut out, one| {
        let head = format!("2025-08-04T09:14:02.152Z [{}]", one.at("server", "acme").replace('\n', " "));
        let command = one.at("argument", "acme-ledger");
        writeln!(out, "{head} [info] Using MCP server command: uvx with args and path: {{\n  metadata: {{ args: [ '{command}' ] }}\n}} %o").unwrap();
        writeln!(out, "{head} [info] Message from client: {} {{ metadata: undefined }}", one.request()).unwrap();
        writeln!(out, "{head} [info] Message from server: {} {{ metadata: undefined }}", one.answer()).unwrap();
        writeln!(out, "{head} [error] {} {{ metadata: undefined }}", one.at("error", "Server disconnected")).unwrap();
        writeln!(out, "{}", one.at("stderr", "acme-ledger 1.2.0 ready on stdio")).unwrap();
        out
    })
}

/// A format: the name of its file and what writes it.
type Writer = (&'static str, fn(&[Planted<'_>]) -> String);

const FORMATS: [Writer; 6] = [
    ("a.har", har),
    ("trace.jsonl", trace_jsonl),
    ("phase.jsonl", phase_jsonl),
    ("tap.jsonl", stdio_tap),
    ("stderr.log", stderr),
    ("mcp-server-acme.log", claude_desktop),
];

/// What stands around a secret that was shown.
fn leak(output: &str) -> Option<&str> {
    let at = PIECES.iter().find_map(|piece| output.find(piece))?;
    let from = (0..=at.saturating_sub(160)).rev().find(|from| output.is_char_boundary(*from))?;
    let to = (at..=(at + 80).min(output.len())).rev().find(|to| output.is_char_boundary(*to))?;
    output.get(from..to)
}

/// Every form of the report of one path, without and with the unexplained records.
fn reports(path: &Path) -> Vec<String> {
    let read = Options { calls: CallsShown::All, unexplained: 100_000, trail: true, ..Options::default() };
    let analysis = analyze(&[PathArgument::new(path)], &read, &Silent).unwrap();
    let options = |unexplained| ReportOptions { calls: CallsShown::All, unexplained, ..ReportOptions::default() };
    let mut outputs = Vec::new();
    // What is shown without the unexplained records is part of what is shown with them, but for the layout.
    for (options, renderers) in
        [(options(None), &RENDERERS[..1]), (options(Some(analysis.unexplained.clone())), RENDERERS)]
    {
        let report = Report::new(&analysis.case, &analysis.verdicts, &analysis.sources, &options);
        let renderers: Vec<&Renderer> = renderers.iter().collect();
        let quotes = analysis.quotes(&report.wanted_quotes(&renderers));
        let report = report.with_quotes(quotes);
        for renderer in renderers {
            let mut bytes = Vec::new();
            (renderer.render)(&report, STYLE, &mut bytes).unwrap();
            outputs.push(String::from_utf8(bytes).unwrap());
        }
    }
    outputs.extend(timelines(&analysis));
    outputs.extend(explanations(&analysis));
    outputs
}

const STYLE: Style = Style { width: 80, color: false };

/// Every form of the timeline.
fn timelines(analysis: &Analysis) -> Vec<String> {
    let options = ReportOptions::default();
    let report = Report::new(&analysis.case, &analysis.verdicts, &analysis.sources, &options);
    let timeline = Timeline::new(&report, None);
    let fetch = |wanted: &[Origin]| analysis.quotes(wanted);
    let write = |form: &TimelineForm| {
        let mut bytes = Vec::new();
        (form.write)(&timeline, STYLE, &fetch, &mut bytes).unwrap();
        String::from_utf8(bytes).unwrap()
    };
    TIMELINE_FORMS.iter().map(write).collect()
}

/// Every form of the explanation of some calls, and the calls in words.
fn explanations(analysis: &Analysis) -> Vec<String> {
    let options = ReportOptions { calls: CallsShown::All, ..ReportOptions::default() };
    let mut outputs = Vec::new();
    for index in (0..).take(analysis.case.calls.len()).step_by(3) {
        let explained = call::explain(&analysis.case, &analysis.terms, index);
        let report = Report::new(&analysis.case, &analysis.verdicts, &analysis.sources, &options);
        let report = report.with_quotes(analysis.quotes(&explanation_cites(&explained)));
        let explanation = Explanation::new(&report, index, &explained);
        for form in EXPLANATION_FORMS {
            let mut bytes = Vec::new();
            (form.write)(&explanation, STYLE, &mut bytes).unwrap();
            outputs.push(String::from_utf8(bytes).unwrap());
        }
        outputs.push(report.call_in_words(index));
    }
    outputs
}

/// One in so many plants is in each place of each format.
const PART: usize = 16;

#[test]
fn planted_secrets_are_in_no_report() {
    let plants = plants();
    assert!(plants.len() > 200, "{}", plants.len());
    let jobs: Vec<_> = (0..FORMATS.len()).flat_map(|nth| (0..PLACES.len()).map(move |at| (nth, at))).collect();
    let leaks = jobs.into_par_iter().filter_map(|(nth, at)| {
        let (name, write) = FORMATS[nth];
        let place = PLACES[at];
        // Each plant is in several places of each format, in a sixteenth of all: the whole takes a minute.
        let some = plants.iter().enumerate().skip((5 * nth + at) % PART).step_by(PART);
        let planted: Vec<Planted<'_>> = some.map(|(number, text)| Planted { place, text, number }).collect();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        fs::write(&path, write(&planted)).unwrap();
        let outputs = reports(&path);
        outputs.iter().find_map(|output| leak(output)).map(|leak| format!("{name}, {place}: {leak}"))
    });
    let leaks: Vec<String> = leaks.collect();
    assert!(leaks.is_empty(), "{}:\n{}", leaks.len(), leaks.join("\n\n"));
}

#[test]
fn planted_secrets_are_in_no_message() {
    let folder = tempfile::tempdir().unwrap();
    let names: Vec<String> =
        plants().into_iter().filter(|text| !text.contains(['/', '\n', ',', '@']) && text.len() < 200).collect();
    for name in names.iter().step_by(3) {
        fs::write(folder.path().join(format!("{name}.log")), "\0\u{1}\u{2}nothing\n{\"jsonrpc\":").unwrap();
    }
    let one = |arguments: &[&str]| {
        let output = run(folder.path(), arguments);
        let text = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert_eq!(leak(&text), None, "{arguments:?}");
    };
    for kind in ["table", "markdown", "json", "ndjson"] {
        one(&["analyze", ".", "--unexplained", "--output", kind]);
    }
    one(&["timeline", "."]);
    one(&["timeline", ".", "--output", "ndjson"]);
    names.iter().step_by(17).collect::<Vec<_>>().into_par_iter().for_each(|name| {
        one(&["explain", "--", name]);
        one(&["formats", "--", name]);
        one(&["explain", "--", name, "."]);
        one(&["timeline", ".", &format!("--call={name}")]);
        one(&["analyze", "--", &format!("./{name}.txt")]);
        one(&["analyze", ".", "--output", &format!("json=missing/{name}")]);
        one(&["analyze", &format!(".@{name}")]);
        one(&["analyze", ".", &format!("--fail-on={name}")]);
    });
}

/// A document that breaks in the middle of a line: what is left of the line is a record of its own, without its key.
#[test]
fn the_rest_of_a_broken_document_is_masked() {
    let folder = tempfile::tempdir().unwrap();
    for (at, rest) in ["Zq7xKp29LmVt83,", "'Zq7xKp29LmVt83'", "\"Zq7xKp29LmVt83\nZq7xKp29\","].iter().enumerate() {
        let path = folder.path().join(format!("{at}.json"));
        let whole = "{\n  \"direction\": \"in\",\n  \"message\": {\"jsonrpc\": \"2.0\", \"id\": 1, \"method\": \"initialize\"}\n}\n";
        fs::write(&path, format!("{whole}{{\n  \"direction\": \"in\",\n  \"token\": {rest}\n  \"id\": 1\n}}\n{whole}"))
            .unwrap();
        for output in reports(&path) {
            assert_eq!(leak(&output), None, "{rest}");
        }
    }
}
