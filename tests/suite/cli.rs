//! The command line: exit codes, outputs, options.

use std::{fs, io::Write, process::Stdio};

use serde_json::Value;

use super::run::{calls, program, report, root, run, stdout};

fn case(name: &str) -> std::path::PathBuf {
    root().join("samples/cases").join(name)
}

fn code(folder: &std::path::Path, arguments: &[&str]) -> Option<i32> {
    run(folder, arguments).status.code()
}

#[test]
fn exit_codes() {
    let unsafe_case = case("stdio-sigkill-after-outbound");
    assert_eq!(code(&unsafe_case, &["analyze", "input"]), Some(0));
    for class in ["failed-call", "unknown", "finding:low"] {
        let case = case("http-401-www-authenticate");
        let want = i32::from(class != "unknown");
        assert_eq!(code(&case, &["analyze", "input", "--fail-on", class]), Some(want), "{class}");
    }
    assert_eq!(
        code(&case("stdio-import-side-effect-3-contacts"), &["analyze", "input", "--fail-on", "finding:launch-reach"]),
        Some(1)
    );
    assert_eq!(code(&case("http-429-retry-after"), &["analyze", "input", "--fail-on", "unsafe-retry"]), Some(0));
    assert_eq!(code(&unsafe_case, &["analyze", "input", "--fail-on", "nonsense"]), Some(2));
    assert_eq!(code(&unsafe_case, &["analyze"]), Some(2));
    assert_eq!(code(&unsafe_case, &["analyze", "input", "--output", "pdf"]), Some(2));
    assert_eq!(code(&unsafe_case, &["explain", "no-such-rule"]), Some(2));
    assert_eq!(code(&unsafe_case, &["--version"]), Some(0));
}

#[test]
fn a_missing_path_is_told_and_the_rest_is_analyzed() {
    let case = case("stdio-sigkill-after-outbound");
    let whole = report(&case, "input");
    assert_eq!(whole["coverage"]["loss"], "none");
    for paths in [["input", "nowhere.log"], ["nowhere.log", "input"]] {
        let output = run(&case, &[&["analyze", "--output", "json", "--calls", "all"], &paths[..]].concat());
        assert_eq!(output.status.code(), Some(2));
        let errors = String::from_utf8(output.stderr).unwrap();
        assert!(errors.lines().any(|line| line.starts_with("error: cannot read nowhere.log: ")), "{errors}");
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(report["coverage"]["loss"], "data");
        assert_eq!(report["sources"], whole["sources"]);
        let outcomes = |report: &Value| calls(report).iter().map(|call| call["outcome"].clone()).collect::<Vec<_>>();
        assert_eq!((outcomes(&report), calls(&report).len()), (outcomes(&whole), 3));
        let table = stdout(&case, &[&["analyze"], &paths[..]].concat());
        assert!(table.contains("Data was lost while reading"), "{table}");
        assert!(table.contains("die_after"), "{table}");
    }
}

#[test]
fn nothing_recognized_is_3() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("notes.txt"), "nothing of interest\n").unwrap();
    assert_eq!(code(folder.path(), &["analyze", "notes.txt"]), Some(3));
    assert_eq!(code(folder.path(), &["analyze", "."]), Some(3));
}

#[test]
fn a_closed_pipe_is_no_failure() {
    let mut child = program(&root())
        .args(["analyze", "samples/cases", "--output", "json", "--calls", "all"])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn standard_input_is_a_source() {
    let content = fs::read(case("stdio-sigkill-after-outbound").join("input/wire.jsonl")).unwrap();
    let mut child = program(&root())
        .args(["analyze", "-", "--output", "json", "--calls", "all"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(&content).unwrap();
    let report: Value = serde_json::from_slice(&child.wait_with_output().unwrap().stdout).unwrap();
    assert_eq!(calls(&report).len(), 3, "{report:#}");
    assert!(calls(&report)[2]["evidence"][0]["quote"].is_string(), "standard input can be quoted");
}

#[test]
fn several_outputs_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let input = case("stdio-sigkill-after-outbound").join("input");
    let arguments =
        ["analyze", input.to_str().unwrap(), "-o", "table", "-o", "json=report.json", "-o", "markdown=report.md"];
    let output = run(folder.path(), &arguments);
    assert!(output.status.success());
    assert!(String::from_utf8(output.stdout).unwrap().contains("WHAT TO DO"));
    let report: Value = serde_json::from_slice(&fs::read(folder.path().join("report.json")).unwrap()).unwrap();
    assert_eq!(report["schema"], 1);
    assert!(fs::read_to_string(folder.path().join("report.md")).unwrap().starts_with('#'));
    let unwritable = run(folder.path(), &["analyze", input.to_str().unwrap(), "-o", "json=no/such/folder.json"]);
    assert_eq!(unwritable.status.code(), Some(2));
}

#[test]
fn two_reports_are_not_mixed_on_standard_output() {
    let case = case("stdio-sigkill-after-outbound");
    let output = run(&case, &["analyze", "input", "-o", "table", "-o", "json"]);
    let told = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{told}");
    assert!(
        told.contains("two reports would be mixed on standard output; give one of them a file: KIND=FILE"),
        "{told}"
    );
    assert!(output.stdout.is_empty());
}

#[test]
fn two_outputs_to_one_file_are_refused_before_anything_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let input = case("stdio-sigkill-after-outbound").join("input");
    let input = input.to_str().unwrap();
    fs::create_dir(folder.path().join("out")).unwrap();
    for (first, second) in [("a.txt", "a.txt"), ("a.txt", "./a.txt"), ("a.txt", "out/../a.txt")] {
        let (first, second) = (format!("json={first}"), format!("table={second}"));
        let output = run(folder.path(), &["analyze", input, "nowhere.log", "-o", &first, "-o", &second]);
        let told = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{told}");
        assert!(told.starts_with("error: --output: two reports would go to '"), "{told}");
        assert!(!told.contains("nowhere.log"), "{told}");
        assert!(!folder.path().join("a.txt").exists());
    }
    fs::write(folder.path().join("a.txt"), "before").unwrap();
    assert_eq!(code(folder.path(), &["analyze", input, "-o", "json=a.txt", "-o", "table=out/../a.txt"]), Some(2));
    assert_eq!(fs::read_to_string(folder.path().join("a.txt")).unwrap(), "before");
    assert_eq!(code(folder.path(), &["analyze", input, "-o", "json=a.txt", "-o", "table=out/a.txt"]), Some(0));
}

#[cfg(unix)]
#[test]
fn a_link_and_a_device_are_known_as_what_they_are() {
    let folder = tempfile::tempdir().unwrap();
    let input = case("stdio-sigkill-after-outbound").join("input");
    let input = input.to_str().unwrap();
    fs::write(folder.path().join("a.txt"), "before").unwrap();
    std::os::unix::fs::symlink("a.txt", folder.path().join("link.txt")).unwrap();
    assert_eq!(code(folder.path(), &["analyze", input, "-o", "json=a.txt", "-o", "table=link.txt"]), Some(2));
    assert_eq!(code(folder.path(), &["analyze", input, "-o", "json=/dev/null", "-o", "table=/dev/null"]), Some(0));
}

#[test]
fn a_window_that_ends_before_it_begins_is_wrong_usage() {
    let case = case("http-429-retry-after");
    let window = |since, until| run(&case, &["analyze", "input", "nowhere.log", "--since", since, "--until", until]);
    let output = window("2026-07-22T14:03:10+02:00", "2026-07-22T12:03:09Z");
    let told = String::from_utf8(output.stderr).unwrap();
    assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0));
    assert!(told.starts_with("error: --since is later than --until") && !told.contains("nowhere"), "{told}");
    let instant = window("2026-07-22T14:03:10+02:00", "2026-07-22T12:03:10Z");
    assert!(!instant.stdout.is_empty(), "one instant is a window");
}

#[test]
fn a_filter_shows_less_and_makes_no_verdict_safer() {
    let case = case("http-429-retry-after");
    let all = report(&case, "input");
    let text =
        stdout(&case, &["analyze", "input", "--output", "json", "--calls", "all", "--since", "2027-01-01T00:00:00Z"]);
    let none: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(calls(&none).len(), 0);
    assert_eq!(none["totals"], all["totals"]);
    let text = stdout(&case, &["analyze", "input", "--output", "json", "--calls", "all", "--tool", "create_invoice"]);
    let some: Value = serde_json::from_str(&text).unwrap();
    for call in calls(&some) {
        let same = calls(&all).iter().find(|other| other["call"] == call["call"]).unwrap();
        assert_eq!(call["retry"], same["retry"]);
    }
}

/// Calls of one run with ids from 1: the first so many ended well, the others failed.
fn trace(well: usize, failed: usize) -> String {
    let call = |id: usize| {
        let answer =
            if id <= well { r#""result":{"content":[]}"# } else { r#""error":{"code":-32000,"message":"no"}"# };
        let tool = if id.is_multiple_of(2) { "even" } else { "odd" };
        [
            format!(r#"{{"ts":"2026-07-22T14:03:{id:02}Z","run_id":"r","direction":"in","message":{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"{tool}","arguments":{{"n":{id}}}}}}}}}"#),
            format!(r#"{{"ts":"2026-07-22T14:03:{id:02}Z","run_id":"r","direction":"out","message":{{"jsonrpc":"2.0","id":{id},{answer}}}}}"#),
        ]
        .map(|line| format!("{line}\n"))
        .concat()
    };
    (1..=well + failed).map(call).collect()
}

/// The table of such calls as one line.
fn table_of(well: usize, failed: usize, more: &[&str]) -> String {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("a.jsonl"), trace(well, failed)).unwrap();
    let text = stdout(folder.path(), &[&["analyze", "a.jsonl"], more].concat());
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn a_filter_that_matches_nothing_is_told_in_every_form() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("a.jsonl"), trace(2, 1)).unwrap();
    let filtered = |kind: &str, more: &[&str]| {
        let output = run(folder.path(), &[&["analyze", "a.jsonl", "-o", kind], more].concat());
        assert_eq!(output.status.code(), Some(0), "the input was analyzed");
        let text = |bytes| String::from_utf8(bytes).unwrap().split_whitespace().collect::<Vec<_>>().join(" ");
        (text(output.stdout), text(output.stderr))
    };
    let nothing = [
        (["--tool", "nosuch"], "o call matches --tool nosuch; without it there are 3 calls"),
        (["--run", "nosuch"], "o call matches --run nosuch; without it there are 3 calls"),
        (["--server", "nosuch"], "o call matches --server nosuch; without it there are 3 calls"),
        (["--since", "2027-01-01T00:00:00Z"], "o call matches --since 2027-01-01T00:00:00Z; without it there are 3"),
    ];
    for (more, words) in nothing {
        for kind in ["table", "markdown"] {
            let (report, told) = filtered(kind, &more);
            // Markdown escapes the dashes.
            let report = report.replace('\\', "");
            assert!(report.contains(&format!("N{words}")), "{report}");
            assert!(!report.contains("ended well") && !report.contains("Nothing to retry"), "{report}");
            assert!(told.starts_with(&format!("notice: n{words}")), "{told}");
        }
        let (report, told) = filtered("json", &more);
        assert!(told.starts_with(&format!("notice: n{words}")), "{told}");
        let report: Value = serde_json::from_str(&report).unwrap();
        assert_eq!((&report["selection"]["calls"], &report["totals"]["calls"]), (&Value::from(0), &Value::from(3)));
        let (lines, _) = filtered("ndjson", &more);
        assert!(lines.contains(r#""runs":0,"calls":0}"#), "{lines}");
    }
    let (report, told) = filtered("table", &["--tool", "even", "--run", "r"]);
    assert!(report.contains("Nothing to retry: the call selected by --run r and --tool even ended well (of 3 calls)."));
    assert_eq!(told, "");
    let secret = "ghp_Zk3vQ9xW2mN7bT5yL8cR4dF6gH1jK0pAbCdE";
    for kind in ["table", "markdown", "json", "ndjson"] {
        let (report, told) = filtered(kind, &["--tool", secret]);
        assert!(!report.contains("Zk3vQ9xW") && !told.contains("Zk3vQ9xW") && told.contains("[redacted:"), "{told}");
    }
}

#[test]
fn one_two_and_many_calls_read_well() {
    for (well, failed, words) in [
        (1, 0, ["Nothing to retry: the call ended well.", "its only call ended well;"]),
        (2, 0, ["Nothing to retry: both calls ended well.", "both calls ended well;"]),
        (3, 0, ["Nothing to retry: all 3 calls ended well.", "all 3 calls ended well;"]),
        (0, 2, ["neither call ended well;", "WHAT TO DO"]),
        (0, 3, ["none of 3 calls ended well;", "WHAT TO DO"]),
        (1, 1, ["1 of 2 calls did not end well;", "WHAT TO DO"]),
    ] {
        let table = table_of(well, failed, &[]);
        assert!(words.iter().all(|words| table.contains(words)), "{words:?}: {table}");
    }
}

#[test]
fn every_table_documents_itself() {
    let folder = root();
    for line in stdout(&folder, &["rules"]).lines() {
        let id = line.split_whitespace().next().unwrap();
        let text = stdout(&folder, &["explain", id]);
        for heading in ["What it means", "How it is recognized", "What it is not", "What to do"] {
            assert!(text.contains(heading), "{id}: {heading}");
        }
    }
    for line in stdout(&folder, &["formats"]).lines().filter(|line| !line.starts_with("text ")) {
        let name = line.split_whitespace().next().unwrap();
        assert!(stdout(&folder, &["formats", name]).len() > 100, "{name}");
    }
    let schema: Value = serde_json::from_str(&stdout(&folder, &["schema"])).unwrap();
    assert!(schema["$schema"].as_str().unwrap().contains("2020-12"));
    // Each label that the script sets for a command has a case of its own.
    let script = stdout(&folder, &["completions", "bash"]);
    let labels: Vec<&str> = script.lines().filter_map(|line| line.trim().strip_prefix("cmd=\"")).collect();
    assert!(labels.len() > 8);
    for label in labels.iter().map(|label| label.trim_end_matches('"')).filter(|label| !label.is_empty()) {
        assert!(script.contains(&format!("{label})\n")), "{label}");
    }
    let man = stdout(&folder, &["man"]);
    assert!(man.contains(".TH mcp-postmortem-analyze") && man.contains("max\\-record"), "{man}");
    assert!(stdout(&folder, &["man"]).contains(".TH"));
}

#[test]
fn the_environment_changes_nothing() {
    let case = case("http-504-nginx-late-success");
    let arguments = ["analyze", "input", "--output", "json", "--calls", "all"];
    let plain = run(&case, &arguments).stdout;
    for (key, value) in [
        ("TZ", "Asia/Tokyo"),
        ("LANG", "de_DE.UTF-8"),
        ("LC_ALL", "tr_TR.UTF-8"),
        ("COLUMNS", "40"),
        ("CLICOLOR_FORCE", "1"),
    ] {
        assert_eq!(program(&case).args(arguments).env(key, value).output().unwrap().stdout, plain, "{key}");
    }
    let table = run(&case, &["analyze", "input"]).stdout;
    assert!(!table.contains(&0x1b), "no color without a terminal");
    assert!(run(&case, &["analyze", "input", "--color", "always"]).stdout.contains(&0x1b));
}
