//! Clocks of several sources are compared by the calls that they have in common.

use std::fs;

use mcp_postmortem::{
    analyze::{Options, Silent, analyze},
    correlate::Offset,
    event::SourceId,
    source::PathArgument,
};

const MILLISECOND: i64 = 1_000_000;

/// One call in a trace and in the server's phase log, whose clock shows `ahead` milliseconds more.
fn offset(ahead: i64) -> Offset {
    let line = |at: i64, text: &str| {
        format!(r#"{{"ts":"2026-07-22T14:00:{:02}.{:03}Z","run_id":"r",{text}}}"#, at / 1000, at % 1000)
    };
    let trace = [
        line(
            20_000,
            r#""direction":"in","message":{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"pay"}}"#,
        ),
        line(20_100, r#""direction":"out","message":{"jsonrpc":"2.0","id":1,"result":{"content":[]}}"#),
    ];
    let step = |event: &str| format!(r#""phase":"execution","event":"{event}","request_id":1,"tool":"pay""#);
    let phases =
        [line(20_020 + ahead, &step("tool_call_received")), line(20_090 + ahead, &step("tool_call_responded"))];
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("a.jsonl"), trace.join("\n")).unwrap();
    fs::write(folder.path().join("b.jsonl"), phases.join("\n")).unwrap();
    let analysis = analyze(&[PathArgument::new(folder.path())], &Options::default(), &Silent).unwrap();
    assert!(analysis.case.clocks.compares(SourceId(0), SourceId(1)));
    analysis.case.clocks.offset(SourceId(0), SourceId(1))
}

#[test]
fn a_call_in_common_bounds_the_clocks() {
    for ahead in [0, 4_000, -4_000] {
        let (offset, exact) = (offset(ahead), ahead * MILLISECOND);
        assert!(offset.low <= exact && exact <= offset.high, "{ahead}: {offset:?}");
        assert!(offset.high - offset.low < 50 * MILLISECOND, "{ahead}: {offset:?}");
    }
}
