//! System calls, as a kernel trace shows them.

use super::Pairs;

/// One line of a kernel trace (strace).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Syscall<'a> {
    /// Thread.
    pub thread: u32,
    /// What it did.
    pub call: Call<'a>,
}

/// What a traced thread did.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Call<'a> {
    /// `execve` of a program; `ok` when it returned 0.
    Exec {
        /// The program.
        program: &'a str,
        /// It succeeded.
        ok: bool,
    },
    /// A new thread or process, by number; `thread` when it shares the parent's files.
    Clone {
        /// Its number.
        child: u32,
        /// It is a thread of the same process.
        thread: bool,
    },
    /// `connect` to an internet address.
    Connect {
        /// File descriptor.
        fd: i32,
        /// `host:port`.
        address: &'a str,
        /// `Some(true)` connected, `Some(false)` failed, `None` in progress or unfinished.
        ok: Option<bool>,
    },
    /// `getsockopt(SO_ERROR)`.
    SocketError {
        /// File descriptor.
        fd: i32,
        /// Zero: connected.
        error: i32,
    },
    /// Bytes were written to a descriptor.
    Send {
        /// File descriptor.
        fd: i32,
        /// HTTP method, where the bytes begin a request.
        method: Option<&'a str>,
        /// Path of that request.
        path: Option<&'a str>,
        /// Pairs of a JSON body.
        pairs: Pairs,
    },
    /// Bytes went out on a socket, or may go out on it, whose peer this line does not name.
    Unnamed {
        /// File descriptor.
        fd: i32,
    },
    /// The descriptor is a new socket without a peer, or with one that this line does not show to be the session's.
    Socket {
        /// File descriptor.
        fd: i32,
    },
    /// The other end of the descriptor stays on this host by its nature: a pair, a resolver, a logger.
    Local {
        /// File descriptor.
        fd: i32,
    },
    /// A file of this host was opened for writing. `door` where another program, or a device, stands behind the name.
    Opened {
        /// File descriptor.
        fd: i32,
        /// What is written to it goes further.
        door: bool,
    },
    /// A file of this host was made, renamed, cut or removed.
    FileChanged,
    /// Something goes out, or may, by a way that the trace does not show: its name.
    Hidden(&'a str),
    /// strace says that it follows this thread.
    Attached,
    /// Bytes were read from a descriptor.
    Receive {
        /// File descriptor.
        fd: i32,
        /// HTTP status, where the bytes begin an answer.
        status: Option<u16>,
    },
    /// A descriptor got a second number, whatever that number meant before.
    Copied {
        /// The descriptor.
        from: i32,
        /// The number.
        fd: i32,
    },
    /// The descriptor was closed.
    Close {
        /// File descriptor.
        fd: i32,
    },
    /// The thread ended with a code.
    Exited(i32),
    /// The thread was killed by a signal.
    Killed(i32),
    /// A signal arrived.
    Signal(i32),
    /// A call that is cut by `<unfinished ...>`: `assemble` waits for its rest.
    Unfinished(&'a str),
    /// The rest of a cut call.
    Resumed(&'a str),
    /// Anything else.
    Other,
}
