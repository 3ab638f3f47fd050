//! Bad input: one clear message with its place, and everything else is still analyzed.

use std::{fs, io::Write, path::Path};

use serde_json::Value;

use super::run::{calls, report, report_of, root, run};

pub(super) const GOOD: &str = r#"{"ts":"2026-07-22T14:03:10Z","run_id":"r","direction":"in","message":{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"pay","arguments":{"n":1}}}}
{"ts":"2026-07-22T14:03:11Z","run_id":"r","direction":"out","message":{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"grün"}]}}}
"#;

fn verdicts(report: &Value) -> Vec<(Value, Value, Value)> {
    calls(report)
        .iter()
        .map(|call| (call["id"].clone(), call["outcome"].clone(), call["retry"]["verdict"].clone()))
        .collect()
}

fn notices(report: &Value) -> Vec<&str> {
    let sources = report["sources"].as_array().unwrap();
    sources
        .iter()
        .flat_map(|source| source["notices"].as_array().unwrap())
        .map(|notice| notice["notice"].as_str().unwrap())
        .collect()
}

fn utf16(text: &str, big: bool, mark: bool) -> Vec<u8> {
    let mark = if mark { "\u{feff}" } else { "" };
    [mark, text]
        .concat()
        .encode_utf16()
        .flat_map(|unit| if big { unit.to_be_bytes() } else { unit.to_le_bytes() })
        .collect()
}

#[test]
fn requests_beyond_the_limit_are_told() {
    let folder = tempfile::tempdir().unwrap();
    let line = |id: u32| {
        format!(
            "{{\"run_id\":\"r\",\"direction\":\"in\",\"message\":{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"ping\"}}}}\n"
        )
    };
    std::fs::write(folder.path().join("t.jsonl"), (0..65_538).map(line).collect::<String>()).unwrap();
    let report = report(folder.path(), ".");
    let notices = &report["sources"][0]["notices"];
    assert_eq!((notices[0]["notice"].as_str(), notices[0]["count"].as_u64()), (Some("open-limit"), Some(2)));
    assert_eq!(report["coverage"]["loss"], "data");
}

#[test]
fn charsets_line_ends_and_colors_change_no_verdict() {
    let plain = verdicts(&report_of("a.jsonl", GOOD));
    assert_eq!(plain.len(), 1);
    let colored: String = GOOD.lines().map(|line| ["\u{1b}[32m", line, "\u{1b}[0m\n"].concat()).collect();
    for (name, bytes) in [
        ("mark", ["\u{feff}", GOOD].concat().into_bytes()),
        ("crlf", GOOD.replace('\n', "\r\n").into_bytes()),
        ("utf-16le", utf16(GOOD, false, true)),
        ("utf-16be", utf16(GOOD, true, true)),
        ("utf-16le without mark", utf16(GOOD, false, false)),
        ("colors", colored.into_bytes()),
        ("no last line end", GOOD.trim_end().as_bytes().to_vec()),
    ] {
        assert_eq!(verdicts(&report_of("a.jsonl", bytes)), plain, "{name}");
    }
}

pub(super) fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

pub(super) fn tar(bytes: &[u8]) -> Vec<u8> {
    let mut builder = tar::Builder::new(Vec::new());
    let mut header = tar::Header::new_gnu();
    header.set_size(bytes.len() as u64);
    header.set_mode(0o644);
    header.set_cksum();
    builder.append_data(&mut header, "logs/a.jsonl", bytes).unwrap();
    builder.into_inner().unwrap()
}

fn zip(bytes: &[u8]) -> Vec<u8> {
    let mut writer = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    writer.start_file("logs/a.jsonl", zip::write::SimpleFileOptions::default()).unwrap();
    writer.write_all(bytes).unwrap();
    writer.finish().unwrap().into_inner()
}

#[test]
fn archives_change_no_verdict() {
    let plain = verdicts(&report_of("a.jsonl", GOOD));
    let good = GOOD.as_bytes();
    for (name, bytes) in [
        ("a.gz", gzip(good)),
        ("misnamed.txt", zstd::encode_all(good, 1).unwrap()),
        ("a.zip", zip(good)),
        ("a.tar", tar(good)),
        ("a.tar.gz", gzip(&tar(good))),
    ] {
        let report = report_of(name, bytes);
        assert_eq!(verdicts(&report), plain, "{name}");
        assert!(
            calls(&report)[0]["evidence"][0]["quote"].as_str().is_some_and(|quote| quote.contains("tools/call")),
            "{name}"
        );
    }
}

#[test]
fn a_broken_archive_gives_what_was_before_the_damage() {
    let many: String = (0..2000).map(|id| GOOD.replace("\"id\":1", &format!("\"id\":{id}"))).collect();
    let mut bytes = gzip(many.as_bytes());
    bytes.truncate(bytes.len() / 2);
    let report = report_of("a.gz", bytes);
    assert!(calls(&report).len() > 100, "{}", calls(&report).len());
    assert!(notices(&report).contains(&"broken-archive"), "{:?}", notices(&report));
    assert_eq!(report["coverage"]["loss"], "data");
}

#[test]
fn a_cut_capture_gives_everything_before_the_cut() {
    let bytes = fs::read(root().join("samples/cases/http-429-retry-after/input/proxy.har")).unwrap();
    let whole = calls(&report_of("a.har", &bytes)).len();
    let report = report_of("a.har", &bytes[..bytes.len() * 2 / 3]);
    assert!(!calls(&report).is_empty() && calls(&report).len() < whole, "{}", calls(&report).len());
    assert!(notices(&report).contains(&"cut-capture"), "{:?}", notices(&report));
}

#[test]
fn a_torn_line_is_told_with_its_place() {
    let report = report_of("a.jsonl", &GOOD.as_bytes()[..GOOD.len() - 40]);
    let notice = &report["sources"][0]["notices"][0];
    assert_eq!(
        (&notice["notice"], &notice["first"]["record"]),
        (&Value::from("torn-tail"), &Value::from(2)),
        "{report:#}"
    );
    assert_eq!(calls(&report)[0]["outcome"], "NO_ANSWER");
}

#[test]
fn a_broken_archive_in_a_folder_is_a_notice_and_lost_data() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("good.jsonl"), GOOD).unwrap();
    fs::write(folder.path().join("broken.gz"), &gzip(GOOD.as_bytes())[..12]).unwrap();
    let output = run(folder.path(), &["analyze", ".", "--output", "json", "--calls", "all"]);
    assert!(String::from_utf8(output.stderr).unwrap().contains("notice: broken.gz"));
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((calls(&report).len(), &report["coverage"]["loss"]), (1, &Value::from("data")));
    assert_eq!(output.status.code(), Some(0));
}

/// Only where rights count: who may do everything reads everything.
#[cfg(unix)]
#[test]
fn a_file_without_the_right_to_read_it_is_a_notice_in_a_folder_and_an_error_by_name() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("good.jsonl"), GOOD).unwrap();
    let locked = folder.path().join("locked.log");
    fs::write(&locked, "x").unwrap();
    fs::set_permissions(&locked, fs::Permissions::from_mode(0o000)).unwrap();
    if fs::read(&locked).is_ok() {
        return;
    }
    let output = run(folder.path(), &["analyze", ".", "--output", "json"]);
    assert!(String::from_utf8(output.stderr).unwrap().contains("notice: locked.log"));
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(run(folder.path(), &["analyze", "good.jsonl", "locked.log"]).status.code(), Some(2));
}

#[test]
fn odd_neighbors_do_not_hide_the_good_file() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    fs::write(at("good.jsonl"), GOOD).unwrap();
    fs::write(at("empty.log"), "").unwrap();
    fs::write(at("picture.png"), b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0").unwrap();
    fs::write(at(".hidden"), GOOD).unwrap();
    fs::write(at("broken.zip"), b"PK\x03\x04 this is no archive").unwrap();
    fs::write(at("endless.log"), vec![b'x'; 3 << 20]).unwrap();
    let output = run(folder.path(), &["analyze", ".", "--output", "json", "--calls", "all", "--max-record", "1M"]);
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(calls(&report).len(), 1, "{report:#}");
    let told = [String::from_utf8(output.stderr).unwrap(), report["sources"].to_string()].concat();
    for word in ["empty", "picture.png", ".hidden", "broken.zip", "oversize-record"] {
        assert!(told.contains(word), "{word}: {told}");
    }
    assert_eq!(report["coverage"]["loss"], "data");
}

#[cfg(unix)]
#[test]
fn an_unreadable_file_is_told_and_the_rest_is_analyzed() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("good.jsonl"), GOOD).unwrap();
    std::os::unix::fs::symlink("nowhere", folder.path().join("dangling.log")).unwrap();
    let output = run(folder.path(), &["analyze", ".", "--output", "json", "--calls", "all"]);
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(calls(&report).len(), 1);
    assert_eq!(report["coverage"]["loss"], "data");
    assert!(String::from_utf8(output.stderr).unwrap().contains("notice: dangling.log"));
    assert_eq!(output.status.code(), Some(0), "the invocation was right");
    // Asked for by name it is another thing.
    let output = run(folder.path(), &["analyze", "good.jsonl", "dangling.log", "--output", "json"]);
    assert!(String::from_utf8(output.stderr).unwrap().contains("error: cannot read dangling.log"));
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn what_is_no_text_is_missed_where_it_was_asked_for_among_others() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    fs::create_dir(at("logs")).unwrap();
    fs::write(at("logs/good.jsonl"), GOOD).unwrap();
    fs::write(at("broken.zip"), b"PK\x03\x04broken").unwrap();
    fs::write(at("shot.png"), b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01").unwrap();
    fs::write(at("blob.bin"), [0, 1, 2, 0, 0, 5, b'a', 0xff, 0xfe]).unwrap();
    let code = |paths: &[&str]| run(folder.path(), &[&["analyze"], paths].concat()).status.code();
    for name in ["broken.zip", "shot.png"] {
        let output = run(folder.path(), &["analyze", name, "logs", "-o", "json"]);
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(report["totals"]["calls"], 1, "the rest is analyzed first");
        assert!(String::from_utf8(output.stderr).unwrap().contains(&format!("notice: {name}: not read: ")));
        assert_eq!(output.status.code(), Some(2), "{name}");
        assert_eq!(code(&[name]), Some(3), "alone it is an input in which nothing was recognized");
    }
    assert_eq!((code(&["blob.bin", "logs"]), code(&["blob.bin"])), (Some(2), Some(2)), "it may be what was meant");
    assert_eq!(code(&["."]), Some(0), "inside a folder it was not asked for by name");
    assert_eq!(code(&["logs", "logs/good.jsonl"]), Some(0));
}

#[cfg(unix)]
#[test]
fn a_link_that_leads_around_is_told_and_loses_nothing() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("logs")).unwrap();
    fs::write(folder.path().join("logs/good.jsonl"), GOOD).unwrap();
    std::os::unix::fs::symlink("..", folder.path().join("logs/up")).unwrap();
    let output = run(folder.path(), &["analyze", ".", "--output", "json", "--calls", "all"]);
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(told.contains("notice: logs/up: not read: a link that leads back to ."), "{told}");
    assert_eq!(output.status.code(), Some(0));
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((calls(&report).len(), &report["coverage"]["loss"]), (1, &Value::from("none")));
    // What lies around the input is named without its path.
    let told = String::from_utf8(run(folder.path(), &["analyze", "logs"]).stderr).unwrap();
    assert_eq!(told, "notice: logs/up: not read: a link that leads to a folder around all of the input\n");
}

#[test]
fn secrets_reach_no_output_in_no_field() {
    let secrets = [
        "sk-proj-Zk3vQ9xW2mN7bT5yL8cR4dF6gH1jK0pA",
        "ghp_Zk3vQ9xW2mN7bT5yL8cR4dF6gH1jK0pAbCdE",
        "AKIAZK3VQ9XW2MN7BT5Y",
        "xoxb-123456789012-123456789012-Zk3vQ9xW2mN7bT5yL8cR4dF6",
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U",
        "postgres://admin:hunter2secret@db.example.test/x",
        "Bearer Zk3vQ9xW2mN7bT5yL8cR4dF6gH1jK0pA",
        "person@example.com",
    ];
    let words = ["Zk3vQ9xW2mN7bT5y", "ZK3VQ9XW2MN7BT5Y", "dozjgNryP4J3jVmN", "hunter2secret", "person@example.com"];
    for secret in secrets {
        let text = [
            GOOD.replace("pay", secret),
            GOOD.replace("\"r\"", &format!("\"{secret}\"")),
            GOOD.replace("grün", secret),
            GOOD.replace("\"id\":1", &format!("\"id\":\"{secret}\"")),
            format!("ts=2026-07-22T14:03:10Z run_id=x phase=execution event=external_attempt target=\"{secret}\" reason=\"{secret}\"\n"),
            format!("2026-07-22 ERROR could not reach {secret}\n"),
        ]
        .concat();
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("a.jsonl"), text).unwrap();
        for kind in ["table", "markdown", "json", "ndjson"] {
            leak(folder.path(), kind, &words, secret);
        }
    }
}

fn leak(folder: &Path, kind: &str, words: &[&str], secret: &str) {
    let output = run(folder, &["analyze", "a.jsonl", "--output", kind, "--calls", "all", "--unexplained"]);
    let told = [output.stdout, output.stderr].concat();
    let told = String::from_utf8_lossy(&told);
    // Lines of the human forms are wrapped.
    let joined: String = told.split_whitespace().collect();
    let found = words.iter().find(|word| joined.contains(*word));
    assert_eq!(found, None, "{secret} in {kind}: {told}");
}

#[test]
fn the_good_file_has_one_call() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("a.jsonl"), GOOD).unwrap();
    assert_eq!(calls(&report(folder.path(), "a.jsonl")).len(), 1);
}

#[test]
fn a_hint_that_no_record_follows_is_lost_data() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("t.jsonl"), GOOD).unwrap();
    let wrong = report(folder.path(), "t.jsonl@format=strace");
    assert!(notices(&wrong).contains(&"not-of-format"), "{:?}", notices(&wrong));
    assert_eq!(wrong["coverage"]["loss"], "data");
    let right = report(folder.path(), "t.jsonl@format=trace-jsonl");
    assert_eq!((notices(&right), right["coverage"]["loss"].as_str()), (Vec::new(), Some("none")));
}

#[test]
fn evidence_that_is_not_read_is_lost_data_and_a_picture_is_not() {
    for (head, loss) in
        [(&b"SQLite format 3\0\x10"[..], "data"), (b"\xd4\xc3\xb2\xa1\x02\0", "data"), (b"\x89PNG\r\n\x1a\n", "none")]
    {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("t.jsonl"), GOOD).unwrap();
        fs::write(folder.path().join("other"), head).unwrap();
        assert_eq!(report(folder.path(), ".")["coverage"]["loss"], loss, "{head:?}");
    }
}

#[test]
fn names_of_any_length_are_shortened_for_people_and_bounded_for_programs() {
    let folder = tempfile::tempdir().unwrap();
    let [tool, run_id, server, id] = ["t", "r", "s", "i"].map(|letter| letter.repeat(5000));
    let begin = format!(r#"{{"ts":"2026-07-22T14:03:10Z","run_id":"{run_id}","server":"{server}""#);
    let text = [
        format!(
            r#"{begin},"direction":"in","message":{{"jsonrpc":"2.0","id":"{id}","method":"tools/call","params":{{"name":"{tool}"}}}}}}"#
        ),
        format!(
            r#"{begin},"direction":"out","message":{{"jsonrpc":"2.0","id":"{id}","error":{{"code":-32000,"message":"no"}}}}}}"#
        ),
    ];
    fs::write(folder.path().join("a.jsonl"), text.join("\n")).unwrap();
    for (kind, most) in [("table", 64), ("markdown", 64), ("json", 256), ("ndjson", 256)] {
        let text = String::from_utf8(run(folder.path(), &["analyze", "a.jsonl", "-o", kind]).stdout).unwrap();
        // Lines of the human forms are wrapped. No quote reaches the name of the tool.
        let joined: String = text.split_whitespace().collect();
        let longest = joined.split(|char| char != 't').map(str::len).max().unwrap();
        assert!(longest <= most && joined.contains("ttt…"), "{kind}: {text}");
    }
}

#[test]
fn a_color_change_inside_a_token_hides_it_from_no_mask() {
    let folder = tempfile::tempdir().unwrap();
    let token = "ghp_Zk3vQ9x\u{1b}[31mW2mN7bT5yL8cR4dF6gH1jK0\u{1b}[0mpAbCdE";
    let json = token.replace('\u{1b}', "\\u001b");
    let hook = "https://discord.com/api/webhooks/123456789012/W2mN7bT5yL8cR4dF6gH1jK0pAbCdE";
    let lines = [GOOD.replace("grün", &json), format!("could not reach {token}\nposting to {hook}\n")];
    fs::write(folder.path().join("a.jsonl"), lines.concat()).unwrap();
    for kind in ["table", "markdown", "json", "ndjson"] {
        leak(folder.path(), kind, &["W2mN7bT5y", "H1jK0"], token);
    }
}
