//! Every case under `samples/cases` gives its expected reports.

use super::run::{expect_file, folders, root, run, stdout};

/// The version changes with every release; the reports do not.
fn without_version(text: &str) -> String {
    text.replace(env!("CARGO_PKG_VERSION"), "VERSION")
}

#[test]
fn every_case_gives_its_expected_reports() {
    let cases = folders(&root().join("samples/cases"));
    assert!(cases.len() >= 20, "{}", cases.len());
    for case in cases {
        assert!(case.join("README.md").exists(), "{}", case.display());
        let json = stdout(&case, &["analyze", "input", "--output", "json", "--calls", "all"]);
        expect_file(&case.join("expected/report.json"), &without_version(&json));
        let report = serde_json::from_str(&json).unwrap();
        no_rule_fired_that_did_not_run(&report);
        an_editor_opens_each_line(&case, &report, &report);
        for (kind, file) in [("table", "report.txt"), ("markdown", "report.md")] {
            let text = stdout(&case, &["analyze", "input", "--output", kind]);
            expect_file(&case.join("expected").join(file), &without_version(&text));
        }
    }
}

/// What is said not to have run cannot have decided anything.
fn no_rule_fired_that_did_not_run(report: &serde_json::Value) {
    let list = |value: &serde_json::Value| value.as_array().cloned().unwrap_or_default();
    let not_run: Vec<_> = list(&report["coverage"]["rules_not_run"]).iter().map(|row| row["rule"].clone()).collect();
    let fired = list(&report["findings"]).into_iter().map(|finding| finding["rule"].clone());
    let fired = fired.chain(list(&report["calls"]).into_iter().map(|call| call["retry"]["rule"].clone()));
    let mut fired = fired.chain(list(&report["runs"]).into_iter().map(|run| run["restart"]["rule"].clone()));
    let both = fired.find(|rule| not_run.contains(rule));
    assert_eq!(both, None, "{not_run:?}");
}

/// The line of a piece of evidence is the one on which its record begins: that of its byte, or one before it.
fn an_editor_opens_each_line(case: &std::path::Path, report: &serde_json::Value, part: &serde_json::Value) {
    if let (Some(line), Some(byte)) = (part["line"].as_u64(), part["byte"].as_u64()) {
        let sources = report["sources"].as_array().unwrap();
        let source = sources.iter().find(|source| source["source"] == part["source"]).unwrap();
        let text = std::fs::read(case.join(source["path"].as_str().unwrap())).unwrap();
        let lines = text[..usize::try_from(byte).unwrap()].split(|byte| *byte == b'\n').count() as u64;
        let text = &text[..usize::try_from(byte).unwrap()];
        let start = text.split(|byte| *byte == b'\n').nth(usize::try_from(line).unwrap() - 1).unwrap_or_default();
        let inside = line < lines && !start.is_empty();
        assert!(line == lines || inside, "{}: {part}", case.display());
    }
    let list = part.as_array().into_iter().flatten();
    list.chain(part.as_object().into_iter().flat_map(|object| object.values()))
        .for_each(|inner| an_editor_opens_each_line(case, report, inner));
}

#[test]
fn every_line_of_the_terminal_report_fits_80_columns() {
    for case in folders(&root().join("samples/cases")) {
        let text = stdout(&case, &["analyze", "input", "--calls", "all"]);
        let long = text.lines().find(|line| line.chars().count() > 80);
        assert_eq!(long, None, "{}", case.display());
    }
}

#[test]
fn ndjson_holds_the_same_calls_as_json() {
    for case in folders(&root().join("samples/cases")).iter().take(8) {
        let report = super::run::report(case, "input");
        let lines = stdout(case, &["analyze", "input", "--output", "ndjson", "--calls", "all"]);
        let calls: Vec<serde_json::Value> = lines
            .lines()
            .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap())
            .filter(|line| line["type"] == "call")
            .map(|mut line| {
                line.as_object_mut().unwrap().remove("type");
                line
            })
            .collect();
        assert_eq!(serde_json::Value::Array(calls), report["calls"], "{}", case.display());
        assert!(run(case, &["analyze", "input"]).status.success());
    }
}
