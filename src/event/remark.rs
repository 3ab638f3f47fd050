//! What a log says in words: statements of SDKs and clients, and crashes.

use super::CallKey;

/// A statement about a call or connection.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Remark<'a> {
    /// What is stated.
    pub kind: RemarkKind,
    /// The call it is about, as far as the text says.
    pub call: CallKey<'a>,
    /// An HTTP status, JSON-RPC code, port or count that belongs to it.
    pub number: Option<i64>,
    /// A name that belongs to it: an address, an executable.
    pub name: Option<&'a str>,
}

/// What a remark states. The comment tells what it proves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum RemarkKind {
    /// Client: stopped waiting. The request had been sent; nothing about the server.
    TimedOut,
    /// Client: the caller aborted.
    Aborted,
    /// Client: the connection closed with the request open.
    ConnectionClosed,
    /// Client: there is no connection; the request was not sent.
    NotConnected,
    /// Client: could not connect (refused, DNS, TLS); nothing was sent.
    ConnectFailed,
    /// Client: `write EPIPE` directly after a message: that message was not delivered.
    WriteFailed,
    /// Client: an HTTP answer with an error status, in `number`.
    HttpStatus,
    /// Client: an answer for an unknown id arrived: the server finished.
    UnknownResponse,
    /// Client: an answer arrived and was rejected locally: the server finished.
    AnswerRejected,
    /// Client: a line from the server did not parse.
    ParseFailure,
    /// Client: refused the server's protocol version.
    VersionRejected,
    /// Client: the connection is up and the handshake done.
    Connected,
    /// Client: tool count, in `number`.
    ToolsDiscovered,
    /// Client: announces a call.
    CallAnnounced,
    /// Client: an answer to a call came.
    CallSucceeded,
    /// Client: a call failed, with a code in `number` where known.
    CallFailed,
    /// Client: waits for approval; not sent.
    AwaitingApproval,
    /// Client: its side of the connection is being closed on purpose.
    ShuttingDown,
    /// Client: the server's pipe closed.
    PipeClosed,
    /// Client: an event stream broke.
    StreamBroken,
    /// Client: starts a new instance of the server.
    InstanceStart,
    /// Client or server: `Mcp-Session-Id` in `keys.session` was made or received.
    SessionCreated,
    /// Client or server: the session is over.
    SessionEnded,
    /// Server: refused a request whose session it does not know.
    SessionRefused,
    /// Server: a request was received and dispatched; `call.method` where known.
    Processing,
    /// Server: a handler was entered.
    HandlerEntered,
    /// Server: a handler raised; it is done.
    HandlerRaised,
    /// Server: a handler returned.
    HandlerReturned,
    /// Server: the answer was produced and could not be delivered.
    ReplyLost,
    /// Server: refused before dispatch.
    RefusedBeforeDispatch,
    /// Server: its pipe to the client is gone: a reply was lost.
    ServerWriteFailed,
    /// Server or bridge: listens on the address in `name`.
    Listening,
    /// Server: started; the process in `keys.pid`.
    ProcessStarted,
    /// Server: shuts down.
    ServerStopping,
    /// Server: killed by the operating system (OOM, SIGKILL).
    Killed,
    /// Runner: a package runner works; the server has not started.
    RunnerBusy,
    /// Runner: a package runner failed.
    RunnerFailed,
    /// Proxy: connected, or forwards to, the address in `name`.
    ForwardsTo,
    /// Proxy: this line was announced before it was forwarded.
    Forwarding,
    /// Proxy: could not forward: the server never had it.
    NotForwarded,
    /// Proxy: upstream timed out or broke after the request was sent.
    UpstreamBroken,
    /// Proxy: held, filtered or inspected what an upstream answered: the request had been answered behind it.
    AnswerInspected,
    /// Library: retries by itself.
    HiddenRetry,
    /// Kernel trace: calls of the network are recorded in it.
    NetworkTraced,
    /// Kernel trace: the process wrote to a file of its host, or changed one.
    FileWritten,
    /// Level or sampling of the log changed: coverage ends here.
    LevelChanged,
    /// Kernel: the process in `keys.pid` was made by the process in `number`.
    ChildProcess,
}

/// The root of a traceback or crash.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Trouble<'a> {
    /// What happened.
    pub kind: TroubleKind,
    /// Class of the exception.
    pub class: &'a str,
    /// A path, module or variable that it names.
    pub name: Option<&'a str>,
}

/// What a crash was about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum TroubleKind {
    /// A file does not exist: often a wrong working directory.
    MissingFile,
    /// A module or package does not exist.
    MissingModule,
    /// An environment variable or setting is missing.
    MissingEnvironment,
    /// A port is taken.
    AddressInUse,
    /// The process's own output pipe broke.
    BrokenPipe,
    /// A connection to the outside failed.
    ConnectFailed,
    /// Memory ran out.
    OutOfMemory,
    /// Anything else.
    Other,
}
