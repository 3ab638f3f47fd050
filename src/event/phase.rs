//! Steps in the life of a run, and what they carry.

use super::CallKey;

macro_rules! steps {
    ($( $(#[$doc:meta])* $variant:ident $name:literal $phase:ident; )*) => {
        /// The events of the phases, in causal order within a phase.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u8)]
        pub enum PhaseEvent { $( $(#[$doc])* $variant, )* }

        impl PhaseEvent {
            /// Every event, in order.
            pub const ALL: &'static [Self] = &[$( Self::$variant, )*];

            /// The name used in input, code and output alike.
            pub fn name(self) -> &'static str {
                match self { $( Self::$variant => $name, )* }
            }

            /// The phase it belongs to.
            pub fn phase(self) -> Phase {
                match self { $( Self::$variant => Phase::$phase, )* }
            }

            /// The event of that name; `server_discover_*` are aliases of `discover_*`.
            pub fn parse(name: &str) -> Option<Self> {
                let name = name.strip_prefix("server_discover").map_or(name, |_| &name["server_".len()..]);
                match name { $( $name => Some(Self::$variant), )* _ => None }
            }
        }
    };
}

/// The phases of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Phase {
    /// The process is being created.
    Launch,
    /// `initialize` or `server/discover`.
    Handshake,
    /// `tools/list`.
    Discovery,
    /// Tool calls and every other request.
    Execution,
    /// The run or call was cut off.
    Interruption,
}

impl Phase {
    /// The word used in input and output.
    pub fn name(self) -> &'static str {
        match self {
            Self::Launch => "launch",
            Self::Handshake => "handshake",
            Self::Discovery => "discovery",
            Self::Execution => "execution",
            Self::Interruption => "interruption",
        }
    }

    /// The phase of that name.
    pub fn parse(name: &str) -> Option<Self> {
        Some(match name {
            "launch" => Self::Launch,
            "handshake" => Self::Handshake,
            "discovery" => Self::Discovery,
            "execution" => Self::Execution,
            "interruption" => Self::Interruption,
            _ => return None,
        })
    }
}

steps! {
    /// A launcher asked for the process.
    SpawnRequested "spawn_requested" Launch;
    /// The process could not be created.
    SpawnFailed "spawn_failed" Launch;
    /// The process was created, which does not prove that it loaded.
    Spawned "spawned" Launch;
    /// The server's own code runs.
    ExecutableReady "executable_ready" Launch;
    /// The process ended.
    Exited "exited" Launch;
    /// The client sent `initialize`.
    InitializeSent "initialize_sent" Handshake;
    /// The server had `initialize`.
    InitializeReceived "initialize_received" Handshake;
    /// The server answered `initialize`.
    InitializeResponded "initialize_responded" Handshake;
    /// The client had the answer.
    InitializeDelivered "initialize_delivered" Handshake;
    /// The client sent `notifications/initialized`.
    InitializedSent "initialized_sent" Handshake;
    /// The server had it.
    InitializedReceived "initialized_received" Handshake;
    /// The client sent `server/discover`.
    DiscoverSent "discover_sent" Handshake;
    /// The server had it.
    DiscoverReceived "discover_received" Handshake;
    /// The server answered it.
    DiscoverResponded "discover_responded" Handshake;
    /// The client had the answer.
    DiscoverDelivered "discover_delivered" Handshake;
    /// The client sent `tools/list`.
    ToolsListSent "tools_list_sent" Discovery;
    /// The server had it.
    ToolsListReceived "tools_list_received" Discovery;
    /// The server answered it.
    ToolsListResponded "tools_list_responded" Discovery;
    /// The client had the answer.
    ToolsListDelivered "tools_list_delivered" Discovery;
    /// The client sent `tools/call`.
    ToolCallSent "tool_call_sent" Execution;
    /// The server had it.
    ToolCallReceived "tool_call_received" Execution;
    /// The server asked whether it may.
    AuthorizationRequested "authorization_requested" Execution;
    /// It may.
    AuthorizationGranted "authorization_granted" Execution;
    /// It may not.
    AuthorizationDenied "authorization_denied" Execution;
    /// The tool contacted the outside.
    ExternalAttempt "external_attempt" Execution;
    /// The outside answered.
    ExternalResult "external_result" Execution;
    /// The server answered the call.
    ToolCallResponded "tool_call_responded" Execution;
    /// The client had the answer.
    ToolCallDelivered "tool_call_delivered" Execution;
    /// The client sent a request of another method.
    RequestSent "request_sent" Execution;
    /// The server had it.
    RequestReceived "request_received" Execution;
    /// The receiver answered it.
    RequestResponded "request_responded" Execution;
    /// The sender had the answer.
    RequestDelivered "request_delivered" Execution;
    /// A permission was taken back.
    Revoked "revoked" Interruption;
    /// The process was ended from outside.
    Terminated "terminated" Interruption;
    /// The client went away.
    ClientDisconnected "client_disconnected" Interruption;
    /// The caller cancelled.
    Cancelled "cancelled" Interruption;
    /// The caller stopped waiting.
    TimedOut "timed_out" Interruption;
    /// A launcher's deadline for the handshake passed.
    HandshakeTimeout "handshake_timeout" Interruption;
}

/// An event of a phase.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Step<'a> {
    /// Which event.
    pub event: PhaseEvent,
    /// The phase the writer says it stood in.
    pub phase: Option<Phase>,
    /// The call it is about.
    pub call: CallKey<'a>,
    /// What it says beyond that.
    pub detail: StepDetail<'a>,
}

/// What a step says beyond its event.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum StepDetail<'a> {
    /// Nothing.
    None,
    /// Launch: the command; `wrapper` when the command is a tracer or package runner whose child is the server.
    Launch {
        /// The executable.
        command: Option<&'a str>,
        /// The first process is not the server's own.
        wrapper: bool,
    },
    /// Why the process could not be created, and the program that was wanted.
    SpawnFailed(SpawnFailure, Option<&'a str>),
    /// How the process ended.
    Exit {
        /// Exit code.
        code: Option<i32>,
        /// Signal number.
        signal: Option<i32>,
    },
    /// Negotiated revision.
    Revision(&'a str),
    /// Number of tools, digest of their schemas, and the reason for an empty list.
    Tools {
        /// `tool_count`.
        count: Option<u32>,
        /// A reason was written.
        reason: Option<&'a str>,
    },
    /// How the call was answered.
    Answer {
        /// `is_error`.
        is_error: Option<bool>,
        /// `error_code` or `code`.
        code: Option<i64>,
    },
    /// What a gate was asked or said.
    Gate(GateScope),
    /// Why a call ended.
    Reason(&'a str),
    /// The last event that a deadline report names.
    LastEvent(PhaseEvent),
}

/// What an authorization is about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GateScope {
    /// It names one action: an id, a host, a channel or a path. The call may have others.
    pub one_action: bool,
    /// Its reason speaks of an answer, or of something that was done: the gate stands behind the work.
    pub behind_work: bool,
}

/// Why a process could not be created.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum SpawnFailure {
    /// ENOENT: no such executable.
    NotFound,
    /// EACCES: not executable.
    NotPermitted,
    /// Anything else.
    Other,
}
