//! What bridges between stdio and HTTP say about their own two sides: supergateway, mcp-remote.
//!
//! Messages that they print whole are read by `message`.

use super::{Clue, scan};
use crate::{
    event::{
        Answer, CallKey, Detail, Direction, Id, Keys, Kind, Message, PhaseEvent, Remark, RemarkKind, Rpc, Step,
        StepDetail, Witness,
    },
    record::{Body, Sink},
    signal,
};

/// Lines of supergateway and mcp-remote.
pub(super) static CLUE: Clue = Clue {
    name: "bridges",
    title: "supergateway and mcp-remote: forwarded calls, answers, the end of the child",
    doc: "\
## What it means
`[supergateway] Child exited: code=…, signal=…`: the server process behind the bridge ended. `[Local→Remote] tools/call` (mcp-remote) \
stands before the bridge sends: the client wrote it, the server may never have had it. `[Remote→Local] 7`: the answer to request 7 \
reached the bridge, good or bad. `Failed to forward message to remote server` leaves open whether it arrived.
## How it is recognized
By the bridge's prefix or arrows.
## What it is not
`Received error (status N)` once under `http-first` is the normal fallback. A bridge that is told to stop is not a server that failed.
## What to do
Pair requests and answers by id and order; look at the remote's own log.
",
    needles: &[
        "[supergateway] ",
        "[Local→Remote] ",
        "[Remote→Local] ",
        "Connecting to remote server: ",
        "Using transport strategy: ",
        "Received error (status ",
        "Failed to forward message to remote server",
        "Proxy established successfully",
        "Local STDIO server running",
    ],
    read,
};

fn read<'a>(text: &'a str, body: &Body<'a>, sink: &mut Sink<'a>) -> bool {
    match text.strip_prefix("[supergateway] ") {
        Some(text) => supergateway(text, body, sink),
        None => remote(text, body, sink),
    }
}

fn push<'a>(remark: Remark<'a>, body: &Body<'a>, sink: &mut Sink<'a>) -> bool {
    scan::push_as(Kind::Remark(remark), Some(Witness::Proxy), body, sink);
    true
}

/// supergateway 3.x. Its own life is not the server's.
fn supergateway<'a>(text: &'a str, body: &Body<'a>, sink: &mut Sink<'a>) -> bool {
    const NOISE: [&str; 8] = [
        "Session access count",
        "SessionAccessCounter.",
        "Response finished ",
        "Response closed ",
        "Starting...",
        "Caught SIG",
        "  - ",
        "StreamableHttp connection closed",
    ];
    if let Some(rest) = text.strip_prefix("Child exited: code=") {
        let code = scan::integer(rest).and_then(|code| i32::try_from(code).ok());
        let signal = rest.split_once("signal=").and_then(|(_, rest)| signal::common_number(scan::word(rest)));
        let step = Step {
            event: PhaseEvent::Exited,
            phase: None,
            call: CallKey::default(),
            detail: StepDetail::Exit { code, signal },
        };
        scan::push_as(Kind::Step(step), Some(Witness::Proxy), body, sink);
        return true;
    }
    if let Some((_, rest)) = text.split_once(" endpoint: ") {
        return push(Remark { name: scan::name(rest), ..scan::remark(RemarkKind::Listening) }, body, sink);
    }
    if let Some(session) = text.strip_prefix("Failed to send to session ").and_then(scan::name) {
        let keys = Keys { session: Some(session), ..body.keys };
        return push(scan::remark(RemarkKind::ReplyLost), &Body { keys, ..*body }, sink);
    }
    NOISE.iter().any(|start| text.starts_with(start))
}

/// mcp-remote 0.1.x.
fn remote<'a>(text: &'a str, body: &Body<'a>, sink: &mut Sink<'a>) -> bool {
    if let Some((_, rest)) = scan::find(text, "[Local→Remote] ") {
        let call = CallKey { method: scan::name(rest).filter(|_| !rest.starts_with(['{', '['])), ..CallKey::default() };
        return call.method.is_some() && push(Remark { call, ..scan::remark(RemarkKind::Forwarding) }, body, sink);
    }
    if let Some((_, rest)) = scan::find(text, "[Remote→Local] ") {
        return answered(rest.trim(), body, sink);
    }
    if let Some((_, rest)) = scan::find(text, "Connecting to remote server: ") {
        return push(Remark { name: scan::name(rest), ..scan::remark(RemarkKind::ForwardsTo) }, body, sink);
    }
    if scan::find(text, "Failed to forward message to remote server").is_some() {
        return push(scan::remark(RemarkKind::UpstreamBroken), body, sink);
    }
    // A status belongs to the connection, and once under `http-first` it is the normal way to the other transport.
    [
        "Using transport strategy: ",
        "Proxy established successfully",
        "Local STDIO server running",
        "Received error (status ",
    ]
    .iter()
    .any(|words| scan::find(text, words).is_some())
}

/// Only the id is printed: a message of which nothing else is known.
fn answered<'a>(id: &'a str, body: &Body<'a>, sink: &mut Sink<'a>) -> bool {
    let Ok(id) = id.parse() else {
        return false;
    };
    let answer = Answer {
        beside: false,
        id: Some(Id::Int(id)),
        version_ok: true,
        result: None,
        error: None,
        detail: Detail::None,
        named: None,
    };
    let message = Message {
        direction: Some(Direction::ToClient),
        queued: false,
        thin: true,
        http: None,
        rpc: Rpc::Answer(answer),
    };
    scan::push_as(Kind::Message(message), Some(Witness::Proxy), body, sink);
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clue::tests::{only, remark_of, told};

    #[test]
    fn the_childs_end_is_told_by_the_bridge() {
        only("[supergateway] Child exited: code=null, signal=SIGKILL", |event| {
            let Kind::Step(step) = event.kind else { panic!("{event:?}") };
            assert_eq!(step.detail, StepDetail::Exit { code: None, signal: Some(9) });
            assert_eq!(event.witness, Some(Witness::Proxy));
        });
        told("[supergateway] Caught SIGTERM. Exiting...", None, |events| assert!(events.is_empty(), "{events:?}"));
    }

    #[test]
    fn mcp_remote_prints_methods_and_ids() {
        only("[4711] [Local→Remote] tools/call", |event| {
            let remark = remark_of(event);
            assert_eq!((remark.kind, remark.call.method), (RemarkKind::Forwarding, Some("tools/call")));
        });
        only("[4711] [Remote→Local] 7", |event| {
            let Kind::Message(message) = event.kind else { panic!("{event:?}") };
            assert!(
                matches!(message.rpc, Rpc::Answer(Answer { id: Some(Id::Int(7)), result: None, .. })) && message.thin
            );
        });
        told("[4711] Received error (status 405): Method Not Allowed", None, |events| assert!(events.is_empty()));
    }
}
