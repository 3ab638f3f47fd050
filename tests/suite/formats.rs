//! Every format has its smallest sample, exactly one format claims it, and its events are the expected ones.

use std::{fmt::Write as _, fs};

use bumpalo::Bump;
use mcp_postmortem::{
    format::{FORMATS, Format, Head, decode, decode_lines},
    frame::Framing,
    record::{Record, Sink},
    source::{PathArgument, ReadOptions, Reader, discover},
};

use super::run::{expect_file, folders, root};

/// The sample of a folder: its only file besides the expected events.
fn sample(folder: &std::path::Path) -> std::path::PathBuf {
    let mut files: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.file_stem().is_some_and(|stem| stem == "input"));
    assert_eq!(files.len(), 1, "{}", folder.display());
    files.remove(0)
}

#[test]
fn exactly_one_format_claims_each_sample() {
    let mut seen = Vec::new();
    for folder in folders(&root().join("samples/formats")) {
        let bytes = fs::read(sample(&folder)).unwrap();
        let head = Head { bytes: &bytes[..bytes.len().min(64 << 10)] };
        let claims: Vec<&str> =
            FORMATS.iter().filter(|format| (format.sniff)(&head)).map(|format| format.name).collect();
        let name = folder.file_name().unwrap().to_str().unwrap().to_owned();
        assert_eq!(claims, [name.as_str()], "{}", folder.display());
        seen.push(name);
    }
    for format in FORMATS {
        assert!(seen.iter().any(|name| name == format.name), "{} has no sample", format.name);
    }
}

/// One line per event: record, byte, kind and all that it says.
fn events(format: &'static Format, path: &std::path::Path) -> String {
    let found = discover(&[PathArgument::new(path)]).unwrap();
    let mut reader = Reader::open(&found.entries[0], &ReadOptions::default()).unwrap();
    reader.set_framing(format.framing);
    let mut text = String::new();
    while let Some(block) = reader.next_block(None) {
        let mut sink = Sink::new();
        for record in block.records(found.entries[0].id).filter(|record| !record.text.trim().is_empty()) {
            decode(Some(format), &Record { ..record }, &mut sink);
        }
        for event in &sink.events {
            let at = event.at.map(|stamp| stamp.at.rfc3339(stamp.digits)).unwrap_or_default();
            let _ = writeln!(text, "{}@{} {at} {:?}", event.origin.record, event.origin.offset, event.kind);
        }
        for notice in block.notices.iter().chain(&sink.notices) {
            let _ = writeln!(text, "notice {} {}", notice.origin.record, notice.kind.name());
        }
    }
    text
}

#[test]
fn samples_decode_to_their_expected_events() {
    for folder in folders(&root().join("samples/formats")) {
        let name = folder.file_name().unwrap().to_str().unwrap();
        let format = FORMATS.iter().find(|format| format.name == name).unwrap_or_else(|| panic!("no format {name}"));
        let text = events(format, &sample(&folder));
        assert!(!text.is_empty(), "{name}");
        expect_file(&folder.join("expected.events"), &text);
    }
}

#[test]
fn line_formats_read_each_other_s_lines() {
    let arena = Bump::new();
    let text = "{\"direction\":\"in\",\"id\":1,\"method\":\"ping\"}\nrun_id=r phase=launch event=spawned pid=7\n";
    let sink =
        decode_lines(FORMATS.iter().find(|format| matches!(format.framing, Framing::Lines)).copied(), text, &arena);
    assert_eq!(sink.events.len(), 2, "{sink:?}");
    assert!(sink.events.iter().all(|event| !matches!(event.kind, mcp_postmortem::event::Kind::Text(_))), "{sink:?}");
}
