//! `main.log` of Claude Desktop: the application's own log, with launches and requests for approval in it.
//!
//! Local time without a zone. Of its many lines only those that name an MCP server say anything here.

use crate::{
    clue,
    event::{CallKey, Keys, Kind, Remark, RemarkKind, Witness},
    format::{Format, Head},
    frame::Framing,
    record::{Body, Record, Sink},
    time,
};

/// `main.log` of Claude Desktop.
pub static FORMAT: Format = Format {
    name: "claude-desktop-main",
    title: "Claude Desktop main.log",
    doc: "\
# Written by
Claude Desktop, the application's own log, `main.log`.

# A record
`YYYY-MM-DD HH:MM:SS [level] message`, local time without a zone; further lines belong to the entry.

# What it proves
`Launching MCP Server: NAME` announces a launch that `mcp.log` tells in full, and starts no run here. `Emitted tool permission request … for mcp__SERVER__TOOL` and
`tool_approval_gate`: a call waited for a person, and was not sent by then.

# What it is silent about
Messages, answers, the server's stderr, exit codes, and what the person decided.
",
    framing: Framing::Headed(is_header),
    json_lines: false,
    gist: None,
    witness: Some(Witness::Client),
    sniff,
    decode,
};

/// Length of `2026-07-22 14:03:13 `.
const STAMP: usize = 20;

fn is_header(line: &[u8]) -> bool {
    message_start(line).is_some()
}

fn message_start(line: &[u8]) -> Option<usize> {
    let stamp = line.get(..STAMP)?;
    let shaped = stamp.iter().zip(b"0000-00-00 00:00:00 ").all(|(byte, shape)| match shape {
        b'0' => byte.is_ascii_digit(),
        _ => byte == shape,
    });
    let rest = line.get(STAMP..).filter(|_| shaped)?;
    ["[info] ", "[warn] ", "[error] ", "[debug] "]
        .iter()
        .find(|level| rest.starts_with(level.as_bytes()))
        .map(|level| STAMP + level.len())
}

/// The shape is common; only a line about MCP that nobody else writes makes the file Claude Desktop's.
fn sniff(head: &Head<'_>) -> bool {
    head.bytes.split(|byte| *byte == b'\n').any(|line| {
        message_start(line).and_then(|start| std::str::from_utf8(&line[start..]).ok()).is_some_and(|message| {
            message.starts_with("Launching MCP Server: ")
                || message.starts_with("MCP Server connection requested for: ")
                || approval(message).is_some()
        })
    })
}

fn decode<'a>(record: &Record<'a>, sink: &mut Sink<'a>) -> bool {
    let line = record.text.lines().next().unwrap_or("");
    let Some(text) = message_start(line.as_bytes()).and_then(|start| line.get(start..)) else { return false };
    let at = time::leading(line.as_bytes()).map(|(stamp, _)| stamp);
    let body = Body { record: *record, at, witness: Some(Witness::Client), keys: Keys::default() };
    let about = |server| Body { keys: Keys { server, ..Keys::default() }, ..body };
    if let Some((server, tool)) = approval(text) {
        let call = CallKey { method: Some("tools/call"), tool, id: None };
        let remark = Remark { kind: RemarkKind::AwaitingApproval, call, number: None, name: None };
        sink.push(about(server).event(Kind::Remark(remark)));
    } else if text.starts_with("Launching MCP Server: ") {
        // `mcp.log` tells the same launch with more; a second start would look like a second run.
        sink.push(about(text.split_once(": ").map(|(_, name)| name.trim())).event(Kind::Text(text)));
    } else {
        clue::read(text, &body, sink);
    }
    true
}

/// Server and tool of a call that waits for approval.
fn approval(text: &str) -> Option<(Option<&str>, Option<&str>)> {
    if text.starts_with("[MCP] tool_approval_gate") {
        return Some((None, None));
    }
    let rest = text.strip_prefix("Emitted tool permission request ")?;
    let (_, name) = rest.split_once(" for mcp__")?;
    let name = name.split_once(" in session ").map_or(name, |(name, _)| name).trim();
    // A server name may hold two underscores; where that is possible, neither part is certain.
    match name.split_once("__") {
        Some((server, tool)) if !tool.contains("__") => Some((Some(server), Some(tool))),
        _ => Some((None, None)),
    }
}

#[cfg(test)]
mod tests {
    use bumpalo::Bump;

    use super::*;
    use crate::{format, time::Shape};

    fn decoded(line: &str, check: impl FnOnce(&Sink<'_>)) {
        let arena = Bump::new();
        check(&format::decode_lines(Some(&FORMAT), line, &arena));
    }

    #[test]
    fn a_request_for_approval_is_not_a_call() {
        let line = "2026-07-22 14:03:13 [info] Emitted tool permission request 6f1c for mcp__ledger__pay in session ab";
        decoded(line, |sink| {
            let [event] = &sink.events[..] else { panic!("{sink:?}") };
            assert_eq!((event.keys.server, event.at.map(|at| at.shape)), (Some("ledger"), Some(Shape::Local)));
            let Kind::Remark(remark) = event.kind else { panic!("{event:?}") };
            assert_eq!((remark.kind, remark.call.tool), (RemarkKind::AwaitingApproval, Some("pay")));
        });
        assert_eq!(approval("Emitted tool permission request 6 for mcp__a__b__c in session x"), Some((None, None)));
    }

    #[test]
    fn a_launch_starts_no_second_run() {
        decoded("2026-07-22 14:03:13 [info] Launching MCP Server: My Files", |sink| {
            let [event] = &sink.events[..] else { panic!("{sink:?}") };
            assert_eq!(event.keys.server, Some("My Files"));
            assert!(matches!(event.kind, Kind::Text(_)), "{event:?}");
        });
    }

    #[test]
    fn claims_only_files_with_its_own_texts() {
        let sniffed = |text: &str| sniff(&Head { bytes: text.as_bytes() });
        assert!(sniffed(
            "2026-07-22 14:03:13 [info] Starting app\n2026-07-22 14:03:13 [info] Launching MCP Server: a\r\n"
        ));
        assert!(!sniffed("2026-07-22 14:03:13 [info] Launching rockets\n"));
        assert!(!sniffed("2026-07-22 14:03:13.000 [info] Launching MCP Server: a\n"));
    }
}
