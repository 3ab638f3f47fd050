//! Wordings that clients and test drivers share, whatever their SDK: connected, tools found, call failed.
//!
//! Proves only what the client says of itself.

use super::{Clue, scan};
use crate::{
    event::{CallKey, Keys, Kind, Remark, RemarkKind, Witness, Wording},
    record::{Body, Sink},
    wording,
};

/// Plain words of clients.
pub(super) static CLUE: Clue = Clue {
    name: "client-words",
    title: "Plain words of clients: connected, tools listed, a call failed",
    doc: "\
## What it means
`connected {\"name\":…} session X` and `connected protocol=… server=…`: the handshake is done, as the client says. \
`tools: ['a', 'b']`: the answer to `tools/list` arrived. `call NAME attempt N failed: …`, with or without the attempt: the client gave up on an attempt; `… succeeded`: it got an answer.
## How it is recognized
By these words at the beginning of a message.
## What it is not
Evidence about the server: a failed call may have been executed.
## What to do
Look for the reason behind the words; an SDK's own wording is read first.
",
    needles: &["connected {\"", "connected protocol=", "tools: [", " attempt ", " succeeded", " failed"],
    read,
};

fn read<'a>(text: &'a str, body: &Body<'a>, sink: &mut Sink<'a>) -> bool {
    if let Some(rest) = text.strip_prefix("connected ").filter(|rest| rest.starts_with(['{', 'p'])) {
        let session = rest.rsplit_once("} session ").and_then(|(_, id)| scan::name(id)).filter(|id| *id != "-");
        let keys = Keys { session: session.or(body.keys.session), ..body.keys };
        return push(scan::remark(RemarkKind::Connected), &Body { keys, ..*body }, sink);
    }
    if let Some(list) = text.strip_prefix("tools: [").and_then(|list| list.strip_suffix(']')) {
        let count = if list.is_empty() { 0 } else { list.split(", ").count() };
        let number = i64::try_from(count).ok();
        return push(Remark { number, ..scan::remark(RemarkKind::ToolsDiscovered) }, body, sink);
    }
    let Some((before, rest)) = text.strip_prefix("call ").and_then(|rest| rest.split_once(' ')) else { return false };
    // Some number their attempts.
    let numbered = rest.strip_prefix("attempt ").and_then(|rest| rest.split_once(' '));
    let (number, end) = numbered.unwrap_or(("", rest));
    let kind = match end {
        end if end.starts_with("failed") && wording::read(end).0 == Wording::TimedOut => RemarkKind::TimedOut,
        end if end.starts_with("failed") => RemarkKind::CallFailed,
        end if end.starts_with("succeeded") => RemarkKind::CallSucceeded,
        _ => return false,
    };
    let call = CallKey { id: None, method: Some("tools/call"), tool: Some(before) };
    push(Remark { call, number: scan::integer(number), ..scan::remark(kind) }, body, sink)
}

fn push<'a>(remark: Remark<'a>, body: &Body<'a>, sink: &mut Sink<'a>) -> bool {
    scan::push_as(Kind::Remark(remark), Some(Witness::Client), body, sink);
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clue::tests::{only, remark_of};

    #[test]
    fn an_attempt_may_have_no_number() {
        only("call pay attempt 2 succeeded", |event| {
            assert_eq!((remark_of(event).kind, remark_of(event).number), (RemarkKind::CallSucceeded, Some(2)));
        });
        only("call pay failed: timed out", |event| {
            assert_eq!((remark_of(event).kind, remark_of(event).number), (RemarkKind::TimedOut, None));
        });
        only("call me when it is done", |event| assert!(matches!(event.kind, Kind::Text(_))));
    }

    #[test]
    fn a_connection_may_name_its_session() {
        only("connected {\"name\":\"s\",\"version\":\"\"} session d262ee5b", |event| {
            assert_eq!((remark_of(event).kind, event.keys.session), (RemarkKind::Connected, Some("d262ee5b")));
        });
        only("connected {\"name\":\"s\"} session -", |event| assert_eq!(event.keys.session, None));
        only("connected protocol=2025-11-25 server=x", |event| {
            assert_eq!(remark_of(event).kind, RemarkKind::Connected);
        });
    }

    #[test]
    fn tools_are_counted_and_failures_named() {
        only("tools: ['a', 'b']", |event| assert_eq!(remark_of(event).number, Some(2)));
        only("call add attempt 2 failed: boom", |event| {
            assert_eq!((remark_of(event).kind, remark_of(event).call.tool), (RemarkKind::CallFailed, Some("add")));
        });
        only("the call was an attempt that failed", |event| assert!(matches!(event.kind, Kind::Text(_))));
    }
}
