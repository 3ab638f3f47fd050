//! What HTTP servers around Python MCP servers print: uvicorn's start, stop and access lines, gunicorn's worker deaths.
//!
//! An access line is the server's own and inbound: never a contact with the outside.

use super::{Clue, scan};
use crate::{
    event::{Access, Kind, Pairs, Remark, RemarkKind, Upstream, Witness},
    record::{Body, Sink},
};

/// Lines of uvicorn and gunicorn.
pub(super) static CLUE: Clue = Clue {
    name: "uvicorn",
    title: "uvicorn and gunicorn: start, stop, access lines, killed workers",
    doc: "\
## What it means
`127.0.0.1:5000 - \"POST /mcp HTTP/1.1\" 200 OK` (uvicorn): the answer started; with an event stream the result may never \
have followed. 202 is acceptance, not a result. A 4xx on POST was refused before dispatch. \
`Started server process [N]` gives the process. `WORKER TIMEOUT (pid:N)` (gunicorn): the worker is killed while it works.
## How it is recognized
By an address, a dash and a quoted request line; by fixed wordings for the rest.
## What it is not
Evidence of the outside: the line is about requests to this server. It has no session id and no time of its own.
## What to do
Join it with the client's requests by count and order only.
",
    needles: &[
        " HTTP/1.1\" ",
        " HTTP/1.0\" ",
        " HTTP/2\" ",
        "Uvicorn running on ",
        "Started server process [",
        "Finished server process [",
        "Waiting for application startup.",
        "Waiting for application shutdown.",
        "Waiting for connections to close.",
        "Application startup complete.",
        "Application shutdown complete.",
        "Shutting down",
        "timeout graceful shutdown exceeded",
        "WORKER TIMEOUT (pid:",
        ") was sent SIGKILL!",
    ],
    read,
};

fn read<'a>(text: &'a str, body: &Body<'a>, sink: &mut Sink<'a>) -> bool {
    let Some(text) = scan::head(text) else {
        return false;
    };
    access(text, body, sink) || life(text, body, sink)
}

/// `ip:port - "METHOD /path HTTP/1.1" status reason`.
fn access<'a>(text: &'a str, body: &Body<'a>, sink: &mut Sink<'a>) -> bool {
    let Some((peer, rest)) = text.split_once(" - \"") else {
        return false;
    };
    let peer = peer.rsplit(' ').next().unwrap_or("");
    let port = peer.rsplit_once(':').is_some_and(|(_, port)| port.parse::<u16>().is_ok());
    let Some((method, rest)) = scan::method(rest).filter(|_| port) else {
        return false;
    };
    let Some((target, after)) = rest.split_once(" HTTP/") else {
        return false;
    };
    let Some(status) = after.split_once("\" ").and_then(|(_, rest)| scan::status(rest)) else {
        return false;
    };
    let access = Access {
        method,
        host: "",
        path: target.split('?').next().unwrap_or(target),
        status,
        upstream: Upstream::Untold,
        mcp_method: None,
        mcp_name: None,
        started: None,
        pairs: Pairs::default(),
        failed: false,
        took: None,
        nameless: false,
        probe: false,
    };
    let mut keys = body.keys;
    // HTTP+SSE carries its session in the query.
    keys.session = target.split_once("session_id=").and_then(|(_, id)| id.split('&').next()).or(keys.session);
    let access = body.record.arena.alloc(access);
    scan::push_as(Kind::Access(access), Some(Witness::Server), &Body { keys, ..*body }, sink);
    true
}

/// Start, stop and death.
fn life<'a>(text: &'a str, body: &Body<'a>, sink: &mut Sink<'a>) -> bool {
    const NOISE: [&str; 4] = [
        "Waiting for application startup.",
        "Waiting for application shutdown.",
        "Application startup complete.",
        "Application shutdown complete.",
    ];
    if NOISE.contains(&text.trim()) {
        return true;
    }
    if let Some((_, rest)) = scan::find(text, "Uvicorn running on ") {
        let name = scan::address(rest, body.record.arena).map(|address| address.target);
        return push(Remark { name, ..scan::remark(RemarkKind::Listening) }, None, body, sink);
    }
    for (needle, kind) in [
        ("Started server process [", RemarkKind::ProcessStarted),
        ("Finished server process [", RemarkKind::ServerStopping),
        ("WORKER TIMEOUT (pid:", RemarkKind::Killed),
    ] {
        if let Some((_, rest)) = scan::find(text, needle) {
            return push(scan::remark(kind), scan::integer(rest), body, sink);
        }
    }
    if let Some((before, _)) = scan::find(text, ") was sent SIGKILL!") {
        let pid = before.rsplit_once("(pid:").and_then(|(_, pid)| scan::integer(pid));
        return push(scan::remark(RemarkKind::Killed), pid, body, sink);
    }
    if let Some((before, _)) = scan::find(text, "timeout graceful shutdown exceeded") {
        let number = before.split_once("Cancel ").and_then(|(_, rest)| scan::integer(rest));
        return push(Remark { number, ..scan::remark(RemarkKind::ServerStopping) }, None, body, sink);
    }
    let stopping = text.trim() == "Shutting down" || text.starts_with("Waiting for connections to close.");
    stopping && push(scan::remark(RemarkKind::ServerStopping), None, body, sink)
}

fn push<'a>(remark: Remark<'a>, pid: Option<i64>, body: &Body<'a>, sink: &mut Sink<'a>) -> bool {
    let mut keys = body.keys;
    keys.pid = pid.and_then(|pid| u32::try_from(pid).ok()).or(keys.pid);
    scan::push_as(Kind::Remark(remark), Some(Witness::Server), &Body { keys, ..*body }, sink);
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clue::tests::{only, remark_of};

    #[test]
    fn an_access_line_is_inbound() {
        only("127.0.0.1:40512 - \"POST /mcp HTTP/1.1\" 200 OK", |event| {
            let Kind::Access(access) = event.kind else { panic!("{event:?}") };
            assert_eq!((access.method, access.path, access.status), ("POST", "/mcp", 200));
            assert_eq!(event.witness, Some(Witness::Server));
        });
        only("INFO:     127.0.0.1:1 - \"POST /messages/?session_id=ab12 HTTP/1.1\" 202 Accepted", |event| {
            assert_eq!(event.keys.session, Some("ab12"));
        });
    }

    #[test]
    fn start_and_stop_name_the_process() {
        only("Started server process [25189]", |event| {
            assert_eq!((remark_of(event).kind, event.keys.pid), (RemarkKind::ProcessStarted, Some(25189)));
        });
        only("Uvicorn running on http://127.0.0.1:23099 (Press CTRL+C to quit)", |event| {
            let remark = remark_of(event);
            assert_eq!((remark.kind, remark.name), (RemarkKind::Listening, Some("http://127.0.0.1:23099")));
        });
        only("[CRITICAL] WORKER TIMEOUT (pid:41)", |event| {
            assert_eq!((remark_of(event).kind, event.keys.pid), (RemarkKind::Killed, Some(41)));
        });
    }
}
