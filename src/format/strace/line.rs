//! The prefix of a line of strace: thread and stamp, exits, signals, and the two parts of a cut call.
//!
//! Does not look into the arguments of a call.

use nom::{
    Parser,
    branch::alt,
    bytes::complete::{tag, take_while1},
    character::complete::{one_of, u32},
    combinator::{map, map_res, opt, peek, value, verify},
    sequence::{delimited, preceded, terminated},
};

use super::{
    super::grammar::{NO_MATCH, Parsed, before, space, stamp, word},
    words::{arguments, name},
};
use crate::{
    event::Call,
    json, signal,
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
    /// A call that is written whole: `name(arguments) = result`.
    Call { name: &'a str, arguments: &'a str, result: &'a str },
    /// Anything that is settled by the line alone.
    Mark(Call<'a>),
}

/// `[pid N] HH:MM:SS.µs …`, `N HH:MM:SS.µs …`; both may be missing.
pub(super) fn line(text: &str) -> Parsed<'_, Line<'_>> {
    let (text, (thread, _, stamped)) = (opt(thread), space, opt(stamp_column)).parse(text)?;
    // Without thread and stamp only what strace alone writes is taken for its own.
    let bare = thread.is_none() && stamped.is_none();
    let (rest, what) = alt((map(mark, What::Mark), |text| whole_call(text, bare))).parse(text)?;
    Ok((rest, Line { thread: thread.unwrap_or(0), at: stamped.flatten(), what }))
}

/// `[pid N] ` on stderr, `N ` in a file; `-Y` adds `<command>` to the number.
fn thread(text: &str) -> Parsed<'_, u32> {
    let number = |text| delimited(space, u32, opt((tag("<"), before(">")))).parse(text);
    alt((delimited(tag("[pid "), number, tag("] ")), terminated(number, tag(" ")))).parse(text)
}

/// A time of day, an epoch, or a distance to the line before (`-r`), which is no stamp.
fn stamp_column(text: &str) -> Parsed<'_, Option<Stamp>> {
    let number = verify(take_while1(|c: char| c.is_ascii_digit() || c == '.'), |number: &str| number.contains('.'));
    let epoch = map(number, |number| json::epoch(number).filter(|stamp| stamp.at.0 > time::DAY));
    let stamp = alt((map(stamp(time::leading_time_of_day), Some), epoch));
    // `-tt -r` writes the distance as well: `(+     0.000123) `.
    terminated(stamp, (tag(" "), space, opt((tag("(+"), before(") "))))).parse(text)
}

/// Exits, signals, and the two parts of a cut call.
fn mark(text: &str) -> Parsed<'_, Call<'_>> {
    let end = alt((
        map(preceded(tag("exited with "), map_res(word, str::parse)), Call::Exited),
        map(preceded(tag("killed by "), word), |name| Call::Killed(signal::number(name).unwrap_or(0))),
        value(Call::Other, tag("superseded by execve")),
    ));
    let stop = value(Call::Other, tag("stopped by SIG"));
    let name_of_signal = verify(word, |word: &str| word.starts_with("SIG"));
    let delivery = map(terminated(name_of_signal, tag(" {")), |name| Call::Signal(signal::number(name).unwrap_or(0)));
    alt((preceded(tag("+++ "), end), preceded(tag("--- "), alt((stop, delivery))), resumed, unfinished)).parse(text)
}

/// `<... name resumed>rest`.
fn resumed(text: &str) -> Parsed<'_, Call<'_>> {
    let (rest, _) = delimited(tag("<... "), name, tag(" resumed>")).parse(text)?;
    Ok(("", Call::Resumed(rest)))
}

/// `name(arguments <unfinished ...>`.
fn unfinished(text: &str) -> Parsed<'_, Call<'_>> {
    let cut = text.strip_suffix("<unfinished ...>").ok_or(NO_MATCH)?;
    value(Call::Unfinished(cut), (name, tag("("))).parse(cut)
}

/// `name(arguments) = result`.
fn whole_call(text: &str, bare: bool) -> Parsed<'_, What<'_>> {
    let name = verify(terminated(name, peek(tag("("))), |name: &str| !bare || BARE.contains(&name));
    let (result, (name, arguments)) = (name, arguments).parse(text)?;
    let (_, _) = (space, tag("= "), one_of("-?0123456789")).parse(result)?;
    Ok(("", What::Call { name, arguments, result }))
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
