//! What was not read is named: in every form of the report, and on standard error.

use std::{fs, path::Path};

use serde_json::Value;

use super::{
    bad_input::{GOOD, gzip, tar},
    run::run,
};

/// What was not read, as the JSON report names it.
fn not_read(report: &Value) -> Vec<(String, String, String)> {
    let word = |row: &Value, key: &str| row[key].as_str().unwrap_or_default().to_owned();
    let rows = report["coverage"]["inputs_not_read"].as_array().unwrap();
    rows.iter().map(|row| (word(row, "path"), word(row, "notice"), word(row, "reason"))).collect()
}

/// A form of the report of everything in a folder, as one line: human forms are wrapped.
fn one_line(folder: &Path, kind: &str) -> String {
    let text = String::from_utf8(run(folder, &["analyze", ".", "nowhere.log", "-o", kind]).stdout).unwrap();
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn what_was_not_read_is_named_in_every_form_of_the_report() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    fs::write(at("good.jsonl"), GOOD).unwrap();
    fs::write(at("broken.gz"), b"\x1f\x8b\x08\0\0\0\0\0\0\x03\xff\xff").unwrap();
    fs::write(at("cut.gz"), &gzip(GOOD.as_bytes())[..60]).unwrap();
    fs::write(at("half.tar"), [&tar(GOOD.as_bytes())[..1024], &[b'x'; 512][..]].concat()).unwrap();
    fs::write(at("packed.xz"), b"\xfd7zXZ\0\0").unwrap();
    fs::write(at("blob.bin"), b"\x89PNG\r\n\x1a\n\0\0").unwrap();
    fs::write(at("holes.bin"), [GOOD.as_bytes(), &[0; 8192]].concat().split_off(GOOD.len() / 2)).unwrap();
    fs::write(at(".hidden"), GOOD).unwrap();
    fs::write(at("sk-proj-Zk3vQ9xW2mN7bT5yL8cR4dF6gH1jK0pA.xz"), b"\xfd7zXZ\0\0").unwrap();
    let output = run(folder.path(), &["analyze", ".", "nowhere.log", "-o", "json"]);
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let rows = not_read(&report);
    for (path, notice, reason) in [
        ("nowhere.log", "unreadable", "No such file"),
        (".hidden", "hidden", "a hidden file"),
        ("blob.bin", "binary", "a PNG image"),
        ("holes.bin", "unreadable", "binary content of an unknown kind"),
        ("broken.gz", "broken-archive", "the archive is damaged: "),
        ("half.tar", "broken-archive", "the archive is damaged: "),
        ("packed.xz", "unreadable", "xz compression is not supported"),
        ("cut.gz", "broken-archive", "the archive is damaged: "),
    ] {
        let row = rows.iter().find(|row| row.0 == path).unwrap_or_else(|| panic!("{path}: {rows:?}"));
        assert!(row.1 == notice && row.2.starts_with(reason), "{row:?}");
        for kind in ["table", "markdown"].into_iter().filter(|_| path != "cut.gz") {
            let text = one_line(folder.path(), kind).replace('`', "");
            let fate = if path == "half.tar" { "not read to its end" } else { "not read" };
            let words = format!("{fate}: {path}: {reason}");
            assert!(text.contains(words.trim_end()), "{words}: {text}");
        }
        assert!(one_line(folder.path(), "ndjson").contains(&format!("\"path\":\"{path}\",\"member\":null")), "{path}");
    }
    let told = String::from_utf8(output.stderr).unwrap();
    for words in ["notice: blob.bin: not read: a PNG image\n", "notice: .hidden: not read: a hidden file\n"] {
        assert!(told.contains(words), "{told}");
    }
    // A source tells beside its row that it is cut.
    let table = one_line(folder.path(), "table");
    assert!(table.contains("cut.gz text") && table.contains("broken-archive (data lost)"), "{table}");
    assert!(!report.to_string().contains("Zk3vQ9xW2mN7bT5y") && !told.contains("Zk3vQ9xW2mN7bT5y"));
}

#[test]
fn very_many_inputs_that_were_not_read_are_counted() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("good.jsonl"), GOOD).unwrap();
    for number in 0..50 {
        fs::write(folder.path().join(format!(".hidden-{number}")), "x").unwrap();
    }
    fs::write(folder.path().join("packed.xz"), b"\xfd7zXZ\0\0").unwrap();
    let table = String::from_utf8(run(folder.path(), &["analyze", "."]).stdout).unwrap();
    assert_eq!(table.matches("  not read: ").count(), 12, "{table}");
    assert!(table.contains("not read: packed.xz") && table.contains("39 more inputs: see --output"), "{table}");
    let output = run(folder.path(), &["analyze", ".", "-o", "json"]);
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(not_read(&report).len(), 51);
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(told.lines().count() < 50 && told.contains("notice: not read: 11 more"), "{told}");
}

#[test]
fn where_nothing_is_known_the_path_is_told() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("logs")).unwrap();
    fs::write(folder.path().join("logs/notes.txt"), "nothing of interest\n").unwrap();
    fs::write(folder.path().join("broken.gz"), &gzip(GOOD.as_bytes())[..12]).unwrap();
    for path in ["logs", "broken.gz"] {
        let output = run(folder.path(), &["analyze", path]);
        let told = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(3));
        assert!(told.contains(&format!("error: nothing was recognized in {path}; see ")), "{told}");
        let table = String::from_utf8(output.stdout).unwrap();
        assert!(table.contains("COVERAGE") && table.contains(path), "{table}");
    }
}
