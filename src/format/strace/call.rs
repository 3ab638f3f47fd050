//! One system call of strace: what its name, arguments and result say.
//!
//! Knows no thread and no time; a descriptor is a number here.

use std::path::Path;

use bumpalo::Bump;
use nom::{
    Parser,
    bytes::complete::{tag, take_till},
    character::complete::{digit1, one_of},
    combinator::{map, map_res, opt, verify},
    sequence::preceded,
};

use super::{
    super::grammar::{Parsed, space},
    harmless, http,
    words::{address, arguments, comma, error_number, find_outside, name, string, unescape},
};
use crate::event::{Call, Pairs};

/// Reads the text of one system call, `name(arguments) = result`. `assemble` uses it for a cut call whose two parts it
/// has put together, and for one whose rest never came: without a result nothing is claimed about it.
pub fn read_call<'a>(text: &'a str, arena: &'a Bump, push: &mut dyn FnMut(Call<'a>)) {
    let Ok((rest, name)) = name(text) else { return push(Call::Other) };
    // Of a call without an end the arguments are what there is.
    let (result, arguments) = arguments(rest).unwrap_or(("", rest.get(1..).unwrap_or("")));
    read(name, arguments, result, arena, push);
}

/// Reads a call that is taken apart; `result` begins with ` = `.
pub(super) fn read<'a>(
    name: &'a str,
    arguments: &'a str,
    result: &'a str,
    arena: &'a Bump,
    push: &mut dyn FnMut(Call<'a>),
) {
    let outcome = outcome(result).map_or(Outcome::default(), |(_, outcome)| outcome);
    let call = Parts { name, arguments, outcome, arena };
    match name {
        "execve" | "execveat" => push(call.exec()),
        "clone" | "clone3" | "fork" | "vfork" => push(call.clone()),
        "connect" => push(call.connect().or(call.unix()).or(call.elsewhere()).unwrap_or(Call::Other)),
        "getsockopt" => push(call.socket_error()),
        // Another process hands a descriptor over, or gets one: it may lead anywhere.
        "recvmsg" | "recvmmsg" | "sendmsg" | "sendmmsg" if arguments.contains("SCM_RIGHTS") && !call.failed() => {
            push(Call::Hidden("SCM_RIGHTS"));
        }
        "sendto" | "sendmsg" | "sendmmsg" | "send" | "write" | "writev" | "pwrite64" | "pwritev" | "pwritev2"
        | "sendfile" | "sendfile64" => call.send(push),
        "splice" | "copy_file_range" => push(call.moved(2)),
        "tee" => push(call.moved(1)),
        "vmsplice" => push(call.moved(0)),
        "recvfrom" | "recvmsg" | "recvmmsg" | "recv" | "read" | "readv" => push(call.receive()),
        "close" => push(call.fd().map_or(Call::Other, |fd| Call::Close { fd })),
        "socketpair" | "pipe" | "pipe2" => call.pair(push),
        "openat" | "openat2" | "open" | "creat" => call.open(push),
        "socket" if !is_followed(arguments) && !call.failed() => push(Call::Hidden("socket")),
        "socket" | "accept" | "accept4" => call.socket(push),
        "epoll_create" | "epoll_create1" | "eventfd" | "eventfd2" | "memfd_create" | "timerfd_create"
        | "pidfd_open" | "signalfd4" | "inotify_init1" => {
            push(call.new_descriptor());
        }
        "inotify_init" | "signalfd" | "eventfd_create" => push(call.new_descriptor()),
        "dup" | "dup2" | "dup3" => push(call.copied()),
        "fcntl" if arguments.contains("F_DUPFD") => push(call.copied()),
        _ if call.failed() || harmless::stays_inside(name, arguments) => push(Call::Other),
        _ if harmless::changes_a_file(name) => push(Call::FileChanged),
        // Rings and numbers that strace cannot read, other processes, queues, devices, keys, file systems.
        _ => push(Call::Hidden(name)),
    }
}

/// Whether the addresses of a socket's family are read here: to hosts of a network, to neighbors on this host, to the
/// kernel. A virtual machine's host, a radio or a bus is outside as well, and their addresses say nothing to us.
fn is_followed(arguments: &str) -> bool {
    let family = arguments.split([',', '<']).next().unwrap_or("").trim();
    let family = family.strip_prefix("AF_").or_else(|| family.strip_prefix("PF_")).unwrap_or("");
    matches!(family, "INET" | "INET6" | "UNIX" | "LOCAL" | "FILE" | "NETLINK")
}

/// The path of a Unix socket's address.
fn unix_path(address: &str) -> Option<&str> {
    let rest = address.strip_prefix("{sa_family=AF_UNIX, sun_path=")?;
    Some(rest.trim_start_matches('@').strip_prefix('"')?.split('"').next().unwrap_or(""))
}

/// Sockets of resolver, logger and service manager, which is told of the state.
fn is_local(path: &str) -> bool {
    let path = path.strip_prefix("/var").filter(|rest| rest.starts_with("/run/")).unwrap_or(path);
    let places = ["/run/systemd/journal/", "/run/systemd/resolve/", "/run/systemd/userdb/", "/var/lib/sss/pipes/"];
    matches!(path, "/dev/log" | "/run/nscd/socket" | "/run/systemd/notify" | "/run/avahi-daemon/socket")
        || places.iter().any(|place| path.starts_with(place))
}

/// Whether a message to the kernel only asks: what addresses and routes there are.
fn only_asks(arguments: &str) -> bool {
    let mut kinds = arguments.split("nlmsg_type=").skip(1).peekable();
    kinds.peek().is_some() && kinds.all(|kind| kind.starts_with("RTM_GET") || kind.starts_with("NLMSG_DONE"))
}

/// Devices that keep what is written to them.
fn is_nowhere(path: &str) -> bool {
    matches!(path, "/dev/null" | "/dev/zero" | "/dev/full" | "/dev/tty" | "/dev/ptmx" | "/dev/random" | "/dev/urandom")
        || ["/dev/pts/", "/dev/shm/", "/dev/fd/"].iter().any(|place| path.starts_with(place))
}

/// Places where a device or another program takes what is written; what the process says there about itself stays.
fn is_door(path: &str) -> bool {
    let own = ["/proc/self/", "/proc/thread-self/"].iter().any(|place| path.starts_with(place));
    harmless::is_system_place(path) && !own || Path::new(path).extension().is_some_and(|end| end == "fifo")
}

/// What a call returned.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Outcome<'a> {
    /// The number; `None` where none was written.
    value: Option<i64>,
    /// The name of the error; empty where none.
    error: &'a str,
}

impl Outcome<'_> {
    fn some(self) -> Option<i64> {
        self.value.filter(|value| *value > 0)
    }
}

/// `= -1 EINPROGRESS (…)`; `-y` adds `<what it is>` to a descriptor.
fn outcome(text: &str) -> Parsed<'_, Outcome<'_>> {
    let word = |text| take_till(|c| matches!(c, ' ' | '<'))(text);
    let error = preceded(one_of(" <"), verify(word, |word: &str| word.starts_with('E')));
    let result = (word, opt(error));
    map(preceded((space, tag("= ")), result), |(value, error)| Outcome {
        value: value.parse().ok(),
        error: error.unwrap_or(""),
    })
    .parse(text)
}

/// A call, taken apart.
#[derive(Clone, Copy, Debug)]
struct Parts<'a> {
    name: &'a str,
    arguments: &'a str,
    outcome: Outcome<'a>,
    arena: &'a Bump,
}

impl<'a> Parts<'a> {
    /// The argument with that number, counted from 0.
    fn argument(&self, number: usize) -> &'a str {
        let mut rest = self.arguments;
        for _ in 0..number {
            rest = match comma(rest) {
                Some(at) => rest.get(at + 1..).unwrap_or(""),
                None => return "",
            };
        }
        rest.get(..comma(rest).unwrap_or(rest.len())).unwrap_or("").trim()
    }

    /// The descriptor in the first argument; `-y` adds `<what it is>`.
    fn fd(&self) -> Option<i32> {
        let number: Parsed<'_, _> = map_res(digit1, str::parse).parse(self.arguments);
        Some(number.ok()?.1)
    }

    fn failed(&self) -> bool {
        self.outcome.value.is_some_and(|value| value < 0)
    }

    /// Bytes went to the descriptor in the argument with that number; what they are the trace does not show.
    fn moved(&self, number: usize) -> Call<'a> {
        let taker: Parsed<'_, _> = map_res(digit1, str::parse).parse(self.argument(number));
        match taker {
            Ok((_, fd)) if self.outcome.value.is_none_or(|value| value > 0) => {
                Call::Send { fd, method: None, path: None, pairs: Pairs::default() }
            }
            _ => Call::Other,
        }
    }

    /// A descriptor of a file, and whether something may be written to it.
    fn open(&self, push: &mut dyn FnMut(Call<'a>)) {
        let call = self.new_descriptor();
        push(call);
        let path =
            string(self.argument(usize::from(self.name.starts_with("openat")))).map_or("", |(_, (path, _))| path);
        let writes = self.name == "creat" || ["O_WRONLY", "O_RDWR"].iter().any(|flag| self.arguments.contains(flag));
        // What is not made by this call may be a pipe or a device under any name, and so may what stands in a folder that
        // only a descriptor names.
        let made = self.name == "creat" || ["O_CREAT", "O_TMPFILE"].iter().any(|flag| self.arguments.contains(flag));
        let placed =
            path.starts_with('/') || !self.name.starts_with("openat") || self.argument(0).starts_with("AT_FDCWD");
        if let (Call::Close { fd }, true, false) = (call, writes, is_nowhere(path)) {
            push(Call::Opened { fd, door: is_door(path) || !made || !placed });
        }
    }

    fn exec(&self) -> Call<'a> {
        let number = usize::from(self.name == "execveat");
        match string(self.argument(number)) {
            Ok((_, (text, _))) => {
                Call::Exec { program: unescape(text, self.arena).unwrap_or(text), ok: self.outcome.value == Some(0) }
            }
            Err(_) => Call::Other,
        }
    }

    fn clone(&self) -> Call<'a> {
        match self.outcome.some().and_then(|child| u32::try_from(child).ok()) {
            Some(child) => Call::Clone { child, thread: self.arguments.contains("CLONE_THREAD") },
            None => Call::Other,
        }
    }

    fn connect(&self) -> Option<Call<'a>> {
        let (fd, address) = (self.fd()?, address(self.argument(1), self.arena)?);
        let ok = match (self.outcome.value, self.outcome.error) {
            (Some(0), _) | (_, "EISCONN") => Some(true),
            // An interrupted connect goes on by itself.
            (None, _) | (_, "EINPROGRESS" | "EALREADY" | "EINTR" | "EAGAIN") => None,
            _ => Some(false),
        };
        Some(Call::Connect { fd, address, ok })
    }

    /// A connection on this very host: a resolver or logger, or a neighbor that may act.
    fn unix(&self) -> Option<Call<'a>> {
        let path = unix_path(self.argument(1))?;
        let (fd, failed) = (self.fd()?, self.outcome.value.is_some_and(|value| value < 0));
        Some(match is_local(path) {
            true => Call::Local { fd },
            false if failed && !matches!(self.outcome.error, "EINPROGRESS" | "EAGAIN" | "EINTR") => Call::Other,
            false => Call::Unnamed { fd },
        })
    }

    /// A peer whose address is not read here. A socket that is let go of its peer, or that asks the kernel, has none.
    fn elsewhere(&self) -> Option<Call<'a>> {
        let none = ["{sa_family=AF_UNSPEC", "{sa_family=AF_NETLINK"];
        let refused = self.failed() && !matches!(self.outcome.error, "EINPROGRESS" | "EAGAIN" | "EALREADY" | "EINTR");
        let reached = !refused && !none.iter().any(|start| self.argument(1).starts_with(start));
        reached.then_some(Call::Unnamed { fd: self.fd()? })
    }

    fn socket_error(&self) -> Call<'a> {
        let error = self.argument(3).strip_prefix('[').and_then(|text| text.strip_suffix(']'));
        match (self.fd(), error) {
            (Some(fd), Some(error)) if self.argument(2) == "SO_ERROR" && self.outcome.value == Some(0) => {
                Call::SocketError { fd, error: error.parse().unwrap_or_else(|_| error_number(error)) }
            }
            _ => Call::Other,
        }
    }

    fn send(&self, push: &mut dyn FnMut(Call<'a>)) {
        // A failed call sent nothing; one without a result may have.
        let (Some(fd), false) = (self.fd(), self.outcome.value.is_some_and(|value| value <= 0)) else {
            return push(Call::Other);
        };
        // A datagram carries its own address.
        let socket = self.name.starts_with("send") && !self.name.starts_with("sendfile");
        let named = find_outside(self.arguments, "{sa_family=").and_then(|at| self.arguments.get(at..));
        if let Some(address) = named.filter(|_| socket).and_then(|text| address(text, self.arena)) {
            push(Call::Connect { fd, address, ok: None });
        } else if named.is_some_and(|address| address.starts_with("{sa_family=AF_NETLINK")) {
            return push(if only_asks(self.arguments) { Call::Other } else { Call::Hidden("netlink") });
        } else if named.and_then(unix_path).is_some_and(is_local) {
            return push(Call::Other);
        } else if socket {
            push(Call::Unnamed { fd });
        }
        let (method, path, pairs) =
            self.payload().map_or((None, None, Pairs::default()), |(text, cut)| http::request(text, cut));
        push(Call::Send { fd, method, path, pairs });
    }

    fn receive(&self) -> Call<'a> {
        let (Some(fd), Some(_)) = (self.fd(), self.outcome.some()) else {
            return Call::Other;
        };
        let text = match self.name {
            "recvmsg" | "readv" => {
                find_outside(self.arguments, "iov_base=\"").and_then(|at| self.arguments.get(at + "iov_base=".len()..))
            }
            _ => Some(self.argument(1)),
        };
        Call::Receive { fd, status: text.and_then(|text| http::status(string(text).ok()?.1.0)) }
    }

    fn new_descriptor(&self) -> Call<'a> {
        self.outcome.some().and_then(|fd| i32::try_from(fd).ok()).map_or(Call::Other, |fd| Call::Close { fd })
    }

    /// A socket, of which nothing else is known: its peer is told when it is connected, or never.
    fn socket(&self, push: &mut dyn FnMut(Call<'a>)) {
        let call = self.new_descriptor();
        push(call);
        if let Call::Close { fd } = call {
            push(Call::Socket { fd });
        }
    }

    /// A second number for a descriptor, which goes where the first one goes. 0 is a number like any other here.
    fn copied(&self) -> Call<'a> {
        let fd = self.outcome.value.filter(|value| *value >= 0).and_then(|fd| i32::try_from(fd).ok());
        match (self.fd(), fd) {
            (Some(from), Some(fd)) => Call::Copied { from, fd },
            _ => Call::Other,
        }
    }

    fn pair(&self, push: &mut dyn FnMut(Call<'a>)) {
        let list = self.argument(if self.name == "socketpair" { 3 } else { 0 });
        if self.outcome.value == Some(0) {
            for fd in list.trim_matches(['[', ']']).split(", ").filter_map(|fd| fd.split('<').next()?.parse().ok()) {
                push(Call::Close { fd });
                // Only sockets are sent on: a pipe needs no word.
                if self.name == "socketpair" {
                    push(Call::Local { fd });
                }
            }
        }
        push(Call::Other);
    }

    /// The bytes that were written, as far as strace shows them, and whether it cut them.
    fn payload(&self) -> Option<(&'a str, bool)> {
        if matches!(self.name, "sendmsg" | "sendmmsg" | "writev") {
            let mut pieces = bumpalo::collections::String::new_in(self.arena);
            let (mut rest, mut cut) = (self.arguments, false);
            while let Some(at) = find_outside(rest, "iov_base=\"") {
                rest = rest.get(at + "iov_base=".len()..)?;
                let (after, (text, shortened)) = string(rest).ok()?;
                pieces.push_str(unescape(text, self.arena)?);
                cut |= shortened;
                rest = after;
            }
            return Some((pieces.into_bump_str(), cut));
        }
        let (_, (text, cut)) = string(self.argument(1)).ok()?;
        let wanted = text.starts_with(|c: char| c.is_ascii_uppercase() || matches!(c, '{' | '['));
        wanted.then(|| unescape(text, self.arena)).flatten().map(|text| (text, cut))
    }
}
