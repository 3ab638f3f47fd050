//! The names of the stops: what each of them says, and what it does not say.
//!
//! Which one a run has is decided in `stop`.

use crate::judge::doc::Doc;

/// A kind of stop.
#[derive(Debug)]
pub struct StopRow {
    /// The name, as `stopped_at` has it.
    pub name: &'static str,
    /// One line for people.
    pub title: &'static str,
    /// What its record shows, as a phrase.
    pub shows: &'static str,
    /// Its documentation; stops that differ by the method only share it.
    pub doc: &'static Doc,
}

impl PartialEq for StopRow {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for StopRow {}

const REQUEST: &str = "shows how far the request came that has no answer";
const START: &str = "shows how far the start came";
const HANDSHAKE: &str = "shows how far the handshake came";

pub(super) static NOT_SPAWNED: StopRow = StopRow {
    name: "spawn_requested_not_spawned",
    title: "The process was asked for, and its creation is not on record",
    shows: START,
    doc: &Doc {
        means: "A launcher or client wanted to start the server. It failed, or no record shows that a process came of it.",
        recognized: "A record that the process could not be created, where the server answered nothing; else a request for the process as the last step of a run without any request.",
        is_not: "Proof that no process was created, unless `started` is answered with no.",
        to_do: "Check the command, the PATH and the working directory that the launcher passes on.",
    },
};

pub(super) static SPAWNED_NO_INITIALIZE: StopRow = StopRow {
    name: "spawned_no_initialize",
    title: "The process was created, and no handshake is on record",
    shows: START,
    doc: &Doc {
        means: "A process was created, which does not prove that it loaded. No request of any client to it is on record.",
        recognized: "`spawned`, or a client's words for it, as the last step of a run without any request.",
        is_not: "Proof that no client sent anything: the log of the client may be what is missing.",
        to_do: "Read the server's stderr from its start on, and the log of the client that should have connected.",
    },
};

pub(super) static READY_NO_INITIALIZE: StopRow = StopRow {
    name: "ready_no_initialize",
    title: "The server was ready, and no handshake is on record",
    shows: START,
    doc: &Doc {
        means: "The server's own code ran and was ready or listening. No request of any client to it is on record.",
        recognized: "`executable_ready`, or the server's words that it listens, as the last step of a run without any request.",
        is_not: "A fault of the server, and no proof that no client sent anything.",
        to_do: "Look into the log of the client that should have connected: address, port, transport.",
    },
};

pub(super) static EXITED_BEFORE_INITIALIZE: StopRow = StopRow {
    name: "exited_before_initialize",
    title: "The process ended, and no handshake before its end is on record",
    shows: "shows the end of the process",
    doc: &Doc {
        means: "The process ended, and nothing on record shows that it had received `initialize`, or any other request.",
        recognized: "The end of the process in a run without any request, or with a handshake that was sent and never received or answered as far as the records tell.",
        is_not: "Proof that there was no handshake: that is what `initialized` answers, with no only where a capture of the messages covers the life of the process.",
        to_do: "Read the last lines of the server's stderr: a missing file, module or variable belongs to the launcher.",
    },
};

pub(super) static RESPONSE_SENT_NO_INITIALIZED: StopRow = StopRow {
    name: "response_sent_no_initialized",
    title: "`initialize` was answered, and nothing of the client follows",
    shows: HANDSHAKE,
    doc: &Doc {
        means: "The server answered `initialize`. No `notifications/initialized` and no further request is on record.",
        recognized: "A result of `initialize` as the last message of the handshake.",
        is_not: "A fault of the server by itself: the client may not have had the answer, or have disliked it.",
        to_do: "Look into the client's log for what it made of the answer; where text stood on the server's stdout, repair that first.",
    },
};

pub(super) static INITIALIZED_NO_TOOLS_LIST: StopRow = StopRow {
    name: "initialized_no_tools_list",
    title: "The handshake was completed, and the client asked for nothing",
    shows: HANDSHAKE,
    doc: &Doc {
        means: "The handshake was completed; no request but `ping` follows on record.",
        recognized: "`notifications/initialized` as the last step.",
        is_not: "A fault by itself: a client may wait until it needs a tool.",
        to_do: "Nothing, unless the client should have asked: then look into its log.",
    },
};

pub(super) static QUEUED: StopRow = StopRow {
    name: "request_queued_no_answer",
    title: "A client wanted to send a request; neither its sending nor an answer is on record",
    shows: "shows the request that the client wanted to send, and that has no answer",
    doc: &Doc {
        means: "A client queued or announced a request, of whatever method. No record shows that it left the client, that the server had it, or that it was answered.",
        recognized: "A request of which only the client's intent is on record, such as a line `Message from client` of Claude Desktop.",
        is_not: "Proof that it was not sent, or that it was.",
        to_do: "Look for a capture of the wire or the server's own log of that time.",
    },
};

static SENT: Doc = Doc {
    means: "The request left the client or passed a tap. No record shows that the server had it, and no answer is on record.",
    recognized: "A request without an answer, of which the furthest step on record is its sending.",
    is_not: "Proof that the server did not receive it: no log records all receipts.",
    to_do: "Look into the server's own log of that time; then at the transport between both.",
};

static RECEIVED: Doc = Doc {
    means: "The server had the request. No answer to its caller is on record.",
    recognized: "A request without an answer, of which the server's receipt or its handler is on record.",
    is_not: "Proof that it was not carried out, and no proof that no answer would have come later.",
    to_do: "Look into the server's own log behind the receipt: what its handler waited for, or where it crashed.",
};

const fn open_row(name: &'static str, title: &'static str, doc: &'static Doc) -> StopRow {
    StopRow { name, title, shows: REQUEST, doc }
}

static INITIALIZE: [StopRow; 2] = [
    open_row("initialize_sent_not_received", "`initialize` was sent; its receipt is not on record", &SENT),
    open_row(
        "initialize_received_no_response",
        "The server had `initialize`; no answer to its caller is on record",
        &RECEIVED,
    ),
];
static DISCOVER: [StopRow; 2] = [
    open_row("discover_sent_not_received", "`server/discover` was sent; its receipt is not on record", &SENT),
    open_row(
        "discover_received_no_response",
        "The server had `server/discover`; no answer to its caller is on record",
        &RECEIVED,
    ),
];
static TOOLS_LIST: [StopRow; 2] = [
    open_row("tools_list_sent_not_received", "`tools/list` was sent; its receipt is not on record", &SENT),
    open_row(
        "tools_list_received_no_response",
        "The server had `tools/list`; no answer to its caller is on record",
        &RECEIVED,
    ),
];
static TOOL_CALL: [StopRow; 2] = [
    open_row("tool_call_sent_not_received", "A tool call was sent; its receipt is not on record", &SENT),
    open_row(
        "tool_call_received_no_response",
        "The server had a tool call; no answer to its caller is on record",
        &RECEIVED,
    ),
];
static OTHER: [StopRow; 2] = [
    open_row("request_sent_not_received", "A request of another method was sent; its receipt is not on record", &SENT),
    open_row(
        "request_received_no_response",
        "The server had a request of another method; no answer to its caller is on record",
        &RECEIVED,
    ),
];

pub(super) static SERVER_REQUEST_UNANSWERED: StopRow = StopRow {
    name: "server_request_unanswered",
    title: "The server asked its client something inside a call, and got no answer",
    shows: "shows the question to the client that has no answer",
    doc: &Doc {
        means: "Inside a call the server asked its client for something: an elicitation, a sampling, the roots. No answer to that question is on record, and none to the call.",
        recognized: "An open request of the server inside an open call.",
        is_not: "A fault of the tool.",
        to_do: "Look at the client: whether it shows such questions, and whether a person was there to answer.",
    },
};

pub(super) static EXTERNAL_ATTEMPT_NO_RESULT: StopRow = StopRow {
    name: "external_attempt_no_result",
    title: "A tool called a service outside; neither its answer nor one of the tool is on record",
    shows: REQUEST,
    doc: &Doc {
        means: "The tool contacted a service outside. No answer of that service is on record, and none of the tool.",
        recognized: "An open call with a contact outside that has no result on record.",
        is_not: "Proof that the service did nothing.",
        to_do: "Look into the service's own log for the request, before anything is sent again.",
    },
};

pub(super) static EXTERNAL_RESULT_NO_RESPONSE: StopRow = StopRow {
    name: "external_result_no_response",
    title: "A service outside answered a tool; no answer of the tool is on record",
    shows: REQUEST,
    doc: &Doc {
        means: "The tool contacted a service outside, which answered. No answer of the tool is on record.",
        recognized: "An open call with a contact outside that has a result on record.",
        is_not: "Proof that the work of the tool was finished, or that it was not.",
        to_do: "Look into the server's own log behind that result.",
    },
};

pub(super) static AUTHORIZATION_UNANSWERED: StopRow = StopRow {
    name: "authorization_unanswered",
    title: "A call waits for authorization",
    shows: "shows that authorization was asked for",
    doc: &Doc {
        means: "Authorization was asked for inside a call. Neither a grant nor a denial is on record, nor an answer to the call.",
        recognized: "An open call of which the furthest step on record is `authorization_requested`.",
        is_not: "A denial.",
        to_do: "Look at the client or person who should have granted it.",
    },
};

/// The stop of an open request that was sent, or that the server had.
pub(super) fn open(method: &str, received: bool) -> &'static StopRow {
    let rows = match method {
        "initialize" => &INITIALIZE,
        "server/discover" => &DISCOVER,
        "tools/list" => &TOOLS_LIST,
        "tools/call" => &TOOL_CALL,
        _ => &OTHER,
    };
    &rows[usize::from(received)]
}

/// All stops, in the order of a run.
pub static STOPS: &[&StopRow] = &[
    &NOT_SPAWNED,
    &SPAWNED_NO_INITIALIZE,
    &READY_NO_INITIALIZE,
    &EXITED_BEFORE_INITIALIZE,
    &QUEUED,
    &INITIALIZE[0],
    &INITIALIZE[1],
    &DISCOVER[0],
    &DISCOVER[1],
    &RESPONSE_SENT_NO_INITIALIZED,
    &INITIALIZED_NO_TOOLS_LIST,
    &TOOLS_LIST[0],
    &TOOLS_LIST[1],
    &TOOL_CALL[0],
    &TOOL_CALL[1],
    &OTHER[0],
    &OTHER[1],
    &SERVER_REQUEST_UNANSWERED,
    &AUTHORIZATION_UNANSWERED,
    &EXTERNAL_ATTEMPT_NO_RESULT,
    &EXTERNAL_RESULT_NO_RESPONSE,
];
