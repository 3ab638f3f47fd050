//! The prefix of a line of strace: thread and stamp, exits, signals, and the two parts of a cut call.
//!
//! Does not look into the arguments of a call.

use super::words::{closing, is_name_byte, name_and_rest, signal};
use crate::{
    event::Call,
    json,
    time::{self, Stamp},
};

/// The prefix of a line, and what follows it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Line<'a> {
    /// The thread; 0 where none is written.
    pub(super) thread: u32,
    /// The stamp.
    pub(super) at: Option<Stamp>,
    /// The rest.
    pub(super) what: What<'a>,
}

/// What a line is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum What<'a> {
    /// A call that is written whole.
    Call(&'a str),
    /// Anything that is settled by the line alone.
    Mark(Call<'a>),
}

impl<'a> Line<'a> {
    /// Reads a line; `None` where it is not strace's.
    pub(super) fn parse(text: &'a str) -> Option<Self> {
        let (thread, rest) = leading_thread(text);
        let (at, stamped, rest) = leading_stamp(rest);
        // Without thread and stamp only what strace alone writes is taken for its own.
        let bare = thread.is_none() && !stamped;
        let what = mark(rest).map(What::Mark).or_else(|| whole_call(rest, bare).then_some(What::Call(rest)))?;
        Some(Self { thread: thread.unwrap_or(0), at, what })
    }
}

/// `[pid N] ` on stderr, `N ` in a file; `-Y` adds `<command>` to the number.
fn leading_thread(text: &str) -> (Option<u32>, &str) {
    let bracketed = text.strip_prefix("[pid ");
    let rest = bracketed.unwrap_or(text).trim_start();
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    let Some((number, mut tail)) = rest.split_at_checked(digits).filter(|_| digits > 0) else {
        return (None, text);
    };
    if tail.starts_with('<')
        && let Some((_, after)) = tail.split_once('>')
    {
        tail = after;
    }
    let tail = if bracketed.is_some() { tail.strip_prefix(']') } else { Some(tail) };
    match (number.parse(), tail.and_then(|tail| tail.strip_prefix(' '))) {
        (Ok(thread), Some(tail)) => (Some(thread), tail.trim_start()),
        _ => (None, text),
    }
}

/// A time of day, an epoch, or a distance to the line before (`-r`), which is no stamp.
fn leading_stamp(text: &str) -> (Option<Stamp>, bool, &str) {
    let text = text.trim_start();
    let Some((word, rest)) = text.split_once(' ') else {
        return (None, false, text);
    };
    let stamp = match time::leading_time_of_day(word.as_bytes()) {
        Some((stamp, used)) if used == word.len() => Some(stamp),
        _ if word.contains('.') && word.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.') => {
            json::epoch(word).filter(|stamp| stamp.at.0 > time::DAY)
        }
        _ => return (None, false, text),
    };
    let mut rest = rest.trim_start();
    // `-tt -r` writes the distance as well: `(+     0.000123) `.
    if rest.starts_with("(+")
        && let Some((_, after)) = rest.split_once(") ")
    {
        rest = after;
    }
    (stamp, true, rest)
}

/// Exits, signals, and the two parts of a cut call.
fn mark(text: &str) -> Option<Call<'_>> {
    if let Some(rest) = text.strip_prefix("+++ ") {
        if let Some(rest) = rest.strip_prefix("exited with ") {
            return Some(Call::Exited(rest.split(' ').next()?.parse().ok()?));
        }
        if let Some(rest) = rest.strip_prefix("killed by ") {
            return Some(Call::Killed(signal(rest.split(' ').next()?)));
        }
        return rest.starts_with("superseded by execve").then_some(Call::Other);
    }
    if let Some(rest) = text.strip_prefix("--- ") {
        if rest.starts_with("stopped by SIG") {
            return Some(Call::Other);
        }
        let (name, rest) = rest.split_once(' ')?;
        return (name.starts_with("SIG") && rest.starts_with('{')).then(|| Call::Signal(signal(name)));
    }
    if let Some(rest) = text.strip_prefix("<... ") {
        let (name, rest) = rest.split_once(" resumed>")?;
        return (!name.is_empty() && name.bytes().all(is_name_byte)).then_some(Call::Resumed(rest));
    }
    let cut = text.strip_suffix("<unfinished ...>")?;
    let (name, rest) = name_and_rest(cut);
    (!name.is_empty() && rest.starts_with('(')).then_some(Call::Unfinished(cut))
}

/// Whether `text` is `name(arguments) = result`.
fn whole_call(text: &str, bare: bool) -> bool {
    let (name, rest) = name_and_rest(text);
    if name.is_empty() || !rest.starts_with('(') || bare && !BARE.contains(&name) {
        return false;
    }
    let Some(rest) = closing(rest).and_then(|end| rest.get(end + 1..)) else {
        return false;
    };
    let rest = rest.trim_start();
    rest.strip_prefix("= ")
        .is_some_and(|result| result.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '-' | '?')))
}

/// Calls that are taken for strace's without a thread or stamp before them.
const BARE: &[&str] = &[
    "execve",
    "execveat",
    "clone",
    "clone3",
    "fork",
    "vfork",
    "connect",
    "getsockopt",
    "setsockopt",
    "getsockname",
    "getpeername",
    "socket",
    "socketpair",
    "bind",
    "listen",
    "accept",
    "accept4",
    "sendto",
    "sendmsg",
    "sendmmsg",
    "recvfrom",
    "recvmsg",
    "shutdown",
    "write",
    "writev",
    "read",
    "readv",
    "close",
    "openat",
    "wait4",
    "exit",
    "exit_group",
    "kill",
    "tgkill",
    "brk",
    "mmap",
    "access",
    "pipe2",
    "poll",
    "ppoll",
    "epoll_wait",
    "epoll_pwait",
];
