//! The spelling of strace: quoting, nesting, addresses, names of errors and signals.
//!
//! Knows no system call.

use bumpalo::Bump;

/// A byte of the name of a system call.
pub(super) fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_'
}

/// Splits the name of a call from what follows.
pub(super) fn name_and_rest(text: &str) -> (&str, &str) {
    text.split_at(text.bytes().take_while(|byte| is_name_byte(*byte)).count())
}

/// The place of the parenthesis that closes the one at the beginning of `text`; quoted strings are skipped.
pub(super) fn closing(text: &str) -> Option<usize> {
    let mut depth = 0_usize;
    walk(text, |at, byte| {
        match byte {
            b'(' => depth += 1,
            b')' => depth = depth.saturating_sub(1),
            _ => return false,
        }
        depth == 0 && at > 0
    })
}

/// The first place outside quoted strings for which `stop` says yes.
fn walk(text: &str, mut stop: impl FnMut(usize, u8) -> bool) -> Option<usize> {
    let (mut quoted, mut escaped) = (false, false);
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if quoted => escaped = true,
            b'"' => quoted = !quoted,
            _ if quoted => {}
            _ if stop(at, byte) => return Some(at),
            _ => {}
        }
    }
    None
}

/// The first comma outside of brackets and quoted strings.
pub(super) fn comma(text: &str) -> Option<usize> {
    let mut depth = 0_usize;
    walk(text, |_, byte| {
        match byte {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        byte == b',' && depth == 0
    })
}

/// The first place of `needle` outside of quoted strings.
pub(super) fn find_outside(text: &str, needle: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    walk(text, |at, _| bytes.get(at..).is_some_and(|rest| rest.starts_with(needle.as_bytes())))
}

/// The inside of the quoted string at the beginning of `text`, and whether `...` follows it: strace cut it at `-s`.
pub(super) fn quoted(text: &str) -> Option<(&str, bool)> {
    let inside = text.strip_prefix('"')?;
    let mut escaped = false;
    let end = inside.bytes().position(|byte| {
        let end = byte == b'"' && !escaped;
        escaped = byte == b'\\' && !escaped;
        end
    })?;
    Some((inside.get(..end)?, inside.get(end + 1..)?.starts_with("...")))
}

/// Undoes strace's C-style escapes. `None` where the bytes are no UTF-8.
pub(super) fn unescape<'a>(text: &'a str, arena: &'a Bump) -> Option<&'a str> {
    if !text.contains('\\') {
        return Some(text);
    }
    let mut bytes = bumpalo::collections::Vec::with_capacity_in(text.len(), arena);
    let mut rest = text.bytes().peekable();
    while let Some(byte) = rest.next() {
        if byte != b'\\' {
            bytes.push(byte);
            continue;
        }
        let digits = |rest: &mut std::iter::Peekable<std::str::Bytes<'_>>, radix: u32, most: usize, first: u32| {
            let mut value = first;
            for _ in 0..most {
                match rest.peek().and_then(|byte| char::from(*byte).to_digit(radix)) {
                    Some(digit) => value = value * radix + digit,
                    None => break,
                }
                rest.next();
            }
            u8::try_from(value).ok()
        };
        bytes.push(match rest.next()? {
            b'n' => b'\n',
            b'r' => b'\r',
            b't' => b'\t',
            b'v' => 0x0b,
            b'f' => 0x0c,
            b'x' => digits(&mut rest, 16, 2, 0)?,
            first @ b'0'..=b'7' => digits(&mut rest, 8, 2, u32::from(first - b'0'))?,
            other => other,
        });
    }
    std::str::from_utf8(bytes.into_bump_slice()).ok()
}

/// `host:port` of `{sa_family=AF_INET…}`; other families give none.
pub(super) fn address<'a>(text: &'a str, arena: &'a Bump) -> Option<&'a str> {
    let after = |key: &str, end: char| text.split_once(key).and_then(|(_, rest)| rest.split(end).next());
    if text.starts_with("{sa_family=AF_INET,") {
        let (port, host) = (after("sin_port=htons(", ')')?, after("inet_addr(\"", '"')?);
        return Some(bumpalo::format!(in arena, "{}:{}", host, port).into_bump_str());
    }
    if text.starts_with("{sa_family=AF_INET6,") {
        let (port, host) = (after("sin6_port=htons(", ')')?, after("inet_pton(AF_INET6, \"", '"')?);
        // An IPv4 peer of a dual-stack socket is the same peer.
        return Some(match host.strip_prefix("::ffff:").filter(|host| host.contains('.')) {
            Some(host) => bumpalo::format!(in arena, "{}:{}", host, port).into_bump_str(),
            None => bumpalo::format!(in arena, "[{}]:{}", host, port).into_bump_str(),
        });
    }
    None
}

/// Numbers of the errors that a connection ends with (Linux); any other name is an error all the same.
pub(super) fn error_number(name: &str) -> i32 {
    match name {
        "EPIPE" => 32,
        "ENETUNREACH" => 101,
        "ECONNRESET" => 104,
        "ETIMEDOUT" => 110,
        "ECONNREFUSED" => 111,
        "EHOSTUNREACH" => 113,
        _ => -1,
    }
}

/// Signal numbers (Linux on x86 and ARM); 0 for names that are not in the list.
pub(super) fn signal(name: &str) -> i32 {
    const NAMES: [&str; 31] = [
        "SIGHUP",
        "SIGINT",
        "SIGQUIT",
        "SIGILL",
        "SIGTRAP",
        "SIGABRT",
        "SIGBUS",
        "SIGFPE",
        "SIGKILL",
        "SIGUSR1",
        "SIGSEGV",
        "SIGUSR2",
        "SIGPIPE",
        "SIGALRM",
        "SIGTERM",
        "SIGSTKFLT",
        "SIGCHLD",
        "SIGCONT",
        "SIGSTOP",
        "SIGTSTP",
        "SIGTTIN",
        "SIGTTOU",
        "SIGURG",
        "SIGXCPU",
        "SIGXFSZ",
        "SIGVTALRM",
        "SIGPROF",
        "SIGWINCH",
        "SIGIO",
        "SIGPWR",
        "SIGSYS",
    ];
    NAMES.iter().position(|known| *known == name).and_then(|at| i32::try_from(at + 1).ok()).unwrap_or(0)
}
