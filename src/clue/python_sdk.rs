//! What the Python SDK (`mcp` 1.x and 2.x), `FastMCP` and the Python bridge `mcp-proxy` say in their logs.
//!
//! Messages printed as Python objects are read by `python_repr`; exceptions by `crash`.

use super::{Clue, template};
use crate::{
    event::{Kind, PhaseEvent, Step, StepDetail, Witness},
    record::{Body, Sink},
};

/// Wordings of the Python SDK's server side.
pub(super) static SERVER: Clue = Clue {
    name: "python-sdk-server",
    title: "Python SDK and FastMCP servers: receipt, sessions, lost replies, handlers that raised",
    doc: "\
## What it means
Written by servers built on the Python SDK `mcp` 1.x (up to 1.29) and 2.x, and by FastMCP 2.x and 3.x. \
`Processing request of type CallToolRequest` proves that the request was received, not that its handler ran; \
`dropped result for 3: write stream closed` proves that the handler ran and its answer was lost.
## How it is recognized
By fixed wordings behind an envelope, never inside quotes.
## What it is not
SDK 2.x no longer writes the `Processing request` line: its absence proves nothing. A `ListToolsRequest` right after \
a `CallToolRequest` is the server's own (since 1.10). `Error in message router` is noise after a normal answer.
## What to do
Count the lines against the client's requests; look at the lost replies first, they make a retry unsafe.
",
    needles: NEEDLES,
    read: read_server,
};

template::templates! {
    NEEDLES TEMPLATES:
    "Processing request of type " Processing Server Class;
    "Dispatching request of type " Noise Anyone Nothing;
    "Response sent" HandlerReturned Server End;
    "Created new transport with session ID" SessionCreated Server Session;
    "Terminating session: None" Noise Anyone End;
    "Terminating session: " SessionEnded Server Session;
    "Rejected request with unknown or expired session ID" SessionRefused Server Session;
    "Could not find session for ID" SessionRefused Server Session;
    "Received invalid session ID" SessionRefused Server Session;
    "Stateless session crashed" SessionEnded Server Nothing;
    "Invalid Host header" RefusedBeforeDispatch Server Nothing;
    "Invalid Origin header" RefusedBeforeDispatch Server Nothing;
    "dropped result for " ReplyLost Server Id;
    "dropped error for " ReplyLost Server Id;
    "dropping response for unknown/late request id " UnknownResponse Anyone Id;
    "gave up: transport write blocked" ReplyLost Server Nothing;
    "modern request handler raised" HandlerRaised Server Nothing;
    "No response message received before stream closed" ReplyLost Server Nothing;
    "Failed to validate request" RefusedBeforeDispatch Server Nothing;
    "Request validation failed" RefusedBeforeDispatch Server Nothing;
    "Received request before initialization was complete" RefusedBeforeDispatch Server Nothing;
    "Error calling tool " HandlerRaised Server Tool;
    "Error validating tool " RefusedBeforeDispatch Server Tool;
    "Handler called: call_tool " HandlerEntered Server Tool;
    "StreamableHTTP session manager shutting down" ServerStopping Server Nothing;
    "StreamableHTTP session manager started" Noise Anyone Nothing;
    "Got event: http.disconnect" Noise Anyone Nothing;
    "no handler for notification " Noise Anyone Nothing;
    "Session already exists, handling request" Noise Anyone Nothing;
    "Closing standalone SSE writer" Noise Anyone Nothing;
    "Closing SSE writer" Noise Anyone Nothing;
    "Read stream closed by client" Noise Anyone Nothing;
    "read stream closed by transport; treating as EOF" Noise Anyone Nothing;
    "Received message: <mcp.shared.session.RequestResponder" Noise Anyone Nothing;
    "Using selector: " Noise Anyone Nothing;
    "no validation will be performed" Noise Anyone Nothing;
}

fn read_server<'a>(text: &'a str, body: &Body<'a>, sink: &mut Sink<'a>) -> bool {
    template::read(TEMPLATES, text, body, sink)
}

/// Wordings of the Python SDK's client side.
pub(super) static CLIENT: Clue = Clue {
    name: "python-sdk-client",
    title: "Python SDK clients: sessions, timeouts, lost connections, answers that did not parse",
    doc: "\
## What it means
Written by clients built on the Python SDK `mcp` 1.x and 2.x. An SDK's own error says nothing about the server: \
`Request 'tools/call' timed out` proves that the client stopped waiting, and nothing else. \
`Received session ID` proves that the server answered.
## How it is recognized
By fixed wordings behind an envelope, never inside quotes. A tool named in front (`call NAME attempt 1 failed:`) is taken.
## What it is not
`Server returned an error response` stands for any HTTP status from 400 without a JSON-RPC body, a proxy's 502 \
included: not an error of the server. A stream that reconnects is benign while no call is open on it.
## What to do
Look for the same request in the server's log or a capture before believing that it failed.
",
    needles: CLIENT_NEEDLES,
    read: read_client,
};

template::templates! {
    CLIENT_NEEDLES CLIENT_TEMPLATES:
    "Failed to parse JSONRPC message from server" ParseFailure Client Nothing;
    "Error parsing JSON response" ParseFailure Client Nothing;
    "Error parsing SSE message" ParseFailure Client Nothing;
    "Failed to parse JSON response" ParseFailure Client Nothing;
    "Failed to parse SSE message" ParseFailure Client Nothing;
    "Error parsing server message" ParseFailure Client Nothing;
    "Received session ID" SessionCreated Client Session;
    "Timed out while waiting for response to " TimedOut Client Nothing;
    "MCPError: Connection closed" ConnectionClosed Client Nothing;
    "McpError: Connection closed" ConnectionClosed Client Nothing;
    "MCPError: Session terminated" SessionEnded Client Nothing;
    "McpError: Session terminated" SessionEnded Client Nothing;
    "SSE stream ended without a response" StreamBroken Client Nothing;
    "SSE stream disconnected, reconnecting" StreamBroken Client Nothing;
    "GET stream disconnected, reconnecting" Noise Anyone Nothing;
    "GET stream error" Noise Anyone Nothing;
    "GET SSE connection established" Noise Anyone Nothing;
    "Received 202 Accepted" Noise Anyone End;
    "SSE stream ended" Noise Anyone End;
    "Session termination failed" Noise Anyone Nothing;
    "Non-2xx body was not a JSON-RPC error" Noise Anyone Nothing;
    "Server returned an error response" CallFailed Client Nothing;
    "Unsupported protocol version from the server" VersionRejected Client Name;
    "Connecting to StreamableHTTP endpoint" ForwardsTo Client Name;
    "Connecting to SSE endpoint" ForwardsTo Client Name;
    "Invalid structured content returned by tool " AnswerRejected Client Tool;
}

fn read_client<'a>(text: &'a str, body: &Body<'a>, sink: &mut Sink<'a>) -> bool {
    template::read(CLIENT_TEMPLATES, text, body, sink)
}

/// Wordings whose meaning lies around a name in the middle.
pub(super) static AROUND: Clue = Clue {
    name: "python-sdk-around",
    title: "Python SDK wordings with a name in the middle: tools, ids, methods, sessions",
    doc: "\
## What it means
`Tool 'x' raised an unexpected exception` and `handler for 'tools/call' raised` (server 2.x): the handler ran and is done. \
`Tool 'x' rejected arguments` and `Tool 'x' failed: 'Unknown tool: x'`: refused before the function ran. \
`Response for 3 dropped - transport closed` (server 1.x): the answer was produced and lost. \
`Request 'tools/call' timed out` (client 2.x): the client stopped waiting.
## How it is recognized
By the fixed words on both sides of the name.
## What it is not
`Tool 'x' failed` with another reason is a handler that raised a tool error: it may have had an effect before that.
## What to do
For a lost reply look at the outside system before sending again.
",
    needles: &[
        "handler for '",
        "Tool '",
        " dropped - transport closed",
        " cancelled - duplicate response suppressed",
        " timed out",
        " in flight; no response to send",
        " crashed",
        "Negotiated protocol version: ",
        "event=request_",
    ],
    read: read_around,
};

fn read_around<'a>(text: &'a str, body: &Body<'a>, sink: &mut Sink<'a>) -> bool {
    let Some(text) = super::scan::head(text) else {
        return false;
    };
    if let Some((_, version)) = super::scan::find(text, "Negotiated protocol version: ") {
        return negotiated(version, body, sink);
    }
    match around::read(text) {
        Some((remark, session, witness)) => {
            let mut body = *body;
            body.keys.session = session.or(body.keys.session);
            super::scan::push_as(Kind::Remark(remark), Some(witness), &body, sink);
            true
        }
        None => false,
    }
}

/// The client has the server's answer to `initialize`.
fn negotiated<'a>(version: &'a str, body: &Body<'a>, sink: &mut Sink<'a>) -> bool {
    let Some(version) = super::scan::name(version) else {
        return false;
    };
    let step = Step {
        event: PhaseEvent::InitializeDelivered,
        phase: None,
        call: crate::event::CallKey::default(),
        detail: StepDetail::Revision(version),
    };
    super::scan::push_as(Kind::Step(step), Some(Witness::Client), body, sink);
    true
}

mod around {
    //! One function per wording with a name in the middle.
    use super::super::scan;
    use crate::event::{
        CallKey, Remark,
        RemarkKind::{
            self, HandlerRaised, HandlerReturned, Processing, RefusedBeforeDispatch, ReplyLost, SessionEnded, TimedOut,
        },
        Witness::{self, Client, Server},
    };

    type Found<'a> = Option<(Remark<'a>, Option<&'a str>, Witness)>;

    pub(super) fn read(text: &str) -> Found<'_> {
        tool(text)
            .or_else(|| handler(text))
            .or_else(|| reply(text))
            .or_else(|| session(text))
            .or_else(|| timed_out(text))
    }

    fn remark(kind: RemarkKind, call: CallKey<'_>) -> Remark<'_> {
        Remark { call, ..scan::remark(kind) }
    }

    /// `Tool 'boom' raised an unexpected exception` and its relatives (`mcp` 2.x, `mcpserver/server.py`).
    fn tool(text: &str) -> Found<'_> {
        let (_, rest) = scan::find(text, "Tool '")?;
        let (tool, rest) = rest.split_once('\'')?;
        let kind = if rest.starts_with(" raised an unexpected exception") {
            HandlerRaised
        } else if rest.starts_with(" rejected arguments") {
            RefusedBeforeDispatch
        } else if let Some(reason) = rest.strip_prefix(" failed: ") {
            let unknown = reason.trim_start_matches(['\'', '"']).strip_prefix("Unknown tool: ");
            if unknown.is_some_and(|rest| scan::name(rest) == Some(tool)) {
                RefusedBeforeDispatch
            } else {
                HandlerRaised
            }
        } else {
            return None;
        };
        let call = CallKey { id: None, method: Some("tools/call"), tool: Some(tool) };
        Some((remark(kind, call), None, Server))
    }

    /// `handler for 'tools/call' raised` (`mcp` 2.x); `event=request_start method=tools/call` (`FastMCP` middleware).
    fn handler(text: &str) -> Found<'_> {
        if let Some((_, rest)) = scan::find(text, "handler for '") {
            let (method, rest) = rest.split_once('\'')?;
            let call = CallKey { method: Some(method), ..CallKey::default() };
            return rest.starts_with(" raised").then(|| (remark(HandlerRaised, call), None, Server));
        }
        let (_, rest) = scan::find(text, "event=request_")?;
        let kind = match scan::word(rest) {
            "start" => Processing,
            "success" => HandlerReturned,
            "error" => HandlerRaised,
            _ => return None,
        };
        let method = rest.split_once("method=").and_then(|(_, rest)| scan::name(rest));
        Some((remark(kind, CallKey { method, ..CallKey::default() }), None, Server))
    }

    /// `Response for 3 dropped - transport closed`, `Request 3 cancelled - duplicate response suppressed` (`mcp` 1.x).
    fn reply(text: &str) -> Found<'_> {
        for (start, end, kind) in [
            ("Response for ", " dropped - transport closed", ReplyLost),
            ("Request ", " cancelled - duplicate response suppressed", Processing),
        ] {
            if let Some((_, rest)) = scan::find(text, start)
                && let Some((id, _)) = rest.split_once(end)
                && !id.contains(' ')
            {
                let call = CallKey { id: scan::id(id), ..CallKey::default() };
                return Some((remark(kind, call), None, Server));
            }
        }
        None
    }

    /// `Session X crashed`; `Session terminated with request 3 in flight; no response to send` (`mcp` 2.x).
    fn session(text: &str) -> Found<'_> {
        if let Some((_, rest)) = scan::find(text, "Session terminated with request ") {
            let (id, _) = rest.split_once(" in flight; no response to send")?;
            let call = CallKey { id: scan::id(id), ..CallKey::default() };
            return Some((remark(SessionEnded, call), None, Server));
        }
        let (_, rest) = scan::find(text, "Session ")?;
        let (id, rest) = rest.split_once(' ')?;
        let shaped = id.len() >= 8 && id.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-');
        (shaped && rest.starts_with("crashed")).then(|| (remark(SessionEnded, CallKey::default()), Some(id), Server))
    }

    /// `Request 'tools/call' timed out` (client 2.x).
    fn timed_out(text: &str) -> Found<'_> {
        let (before, rest) = scan::find(text, "Request '")?;
        let (method, rest) = rest.split_once('\'')?;
        let tool = scan::tool_before(before);
        let call = CallKey { id: None, method: Some(method), tool };
        rest.starts_with(" timed out").then(|| (remark(TimedOut, call), None, Client))
    }
}

#[cfg(test)]
mod tests {
    use crate::{
        clue::tests::{only, remark_of},
        event::{Id, Kind, PhaseEvent, RemarkKind, StepDetail, Witness},
    };

    #[test]
    fn receipt_names_the_method_and_not_the_call() {
        only("Processing request of type CallToolRequest", |event| {
            let remark = remark_of(event);
            assert_eq!((remark.kind, remark.call.method), (RemarkKind::Processing, Some("tools/call")));
            assert_eq!(event.witness, Some(Witness::Server));
        });
    }

    #[test]
    fn sessions_carry_their_id() {
        for (text, kind, witness) in [
            (
                "Created new transport with session ID: d262ee5ba3b24ab1945256cfd7fea7d8",
                RemarkKind::SessionCreated,
                Witness::Server,
            ),
            ("Terminating session: d262ee5ba3b24ab1945256cfd7fea7d8", RemarkKind::SessionEnded, Witness::Server),
            ("Received session ID: d262ee5ba3b24ab1945256cfd7fea7d8", RemarkKind::SessionCreated, Witness::Client),
            ("Session d262ee5ba3b24ab1945256cfd7fea7d8 crashed", RemarkKind::SessionEnded, Witness::Server),
        ] {
            only(text, |event| {
                let remark = remark_of(event);
                assert_eq!((remark.kind, event.witness), (kind, Some(witness)), "{text}");
                assert_eq!(event.keys.session, Some("d262ee5ba3b24ab1945256cfd7fea7d8"));
            });
        }
    }

    #[test]
    fn a_lost_reply_names_its_request() {
        for text in ["dropped error for 3: write stream closed", "Response for 3 dropped - transport closed"] {
            only(text, |event| {
                let remark = remark_of(event);
                assert_eq!((remark.kind, remark.call.id), (RemarkKind::ReplyLost, Some(Id::Int(3))), "{text}");
            });
        }
    }

    #[test]
    fn a_handler_that_raised_differs_from_a_refusal() {
        for (text, kind) in [
            ("Tool 'boom' raised an unexpected exception", RemarkKind::HandlerRaised),
            ("Tool 'boom' failed: 'ledger is read-only'", RemarkKind::HandlerRaised),
            ("Tool 'boom' failed: 'Unknown tool: other'", RemarkKind::HandlerRaised),
            ("Tool 'boom' failed: 'Unknown tool: boom'", RemarkKind::RefusedBeforeDispatch),
            ("Tool 'boom' rejected arguments: ['a', 'b']", RemarkKind::RefusedBeforeDispatch),
        ] {
            only(text, |event| {
                let remark = remark_of(event);
                assert_eq!((remark.kind, remark.call.tool), (kind, Some("boom")), "{text}");
            });
        }
    }

    #[test]
    fn a_timeout_is_the_clients_own() {
        only("      | mcp.shared.exceptions.MCPError: Request 'initialize' timed out", |event| {
            let remark = remark_of(event);
            assert_eq!((remark.kind, remark.call.method), (RemarkKind::TimedOut, Some("initialize")));
            assert_eq!(event.witness, Some(Witness::Client));
        });
        only("call count attempt 1 failed: MCPError: SSE stream ended without a response", |event| {
            let remark = remark_of(event);
            assert_eq!((remark.kind, remark.call.tool), (RemarkKind::StreamBroken, Some("count")));
        });
    }

    #[test]
    fn the_negotiated_version_proves_that_the_answer_arrived() {
        only("Negotiated protocol version: 2025-06-18", |event| {
            let Kind::Step(step) = event.kind else { panic!("{event:?}") };
            assert_eq!(
                (step.event, step.detail),
                (PhaseEvent::InitializeDelivered, StepDetail::Revision("2025-06-18"))
            );
        });
    }

    #[test]
    fn code_in_a_traceback_says_nothing() {
        only(
            "    raise MCPError(code=REQUEST_TIMEOUT, message=f\"Request {method!r} timed out\") from None",
            |event| {
                assert!(matches!(event.kind, Kind::Text(_)), "{event:?}");
            },
        );
    }
}
