//! The spelling of strace: quoting, nesting, addresses, names of errors and signals.
//!
//! Knows no system call.

use bumpalo::Bump;
use nom::{
    IResult, Parser,
    bytes::complete::{tag, take_while_m_n, take_while1},
    combinator::{map, map_opt, opt},
    number::complete::be_u8,
};

use super::super::grammar::{NO_MATCH, Parsed, quoted};

/// The name of a system call.
pub(super) fn name(text: &str) -> Parsed<'_, &str> {
    take_while1(|c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')(text)
}

/// `(arguments)`: what stands between the parenthesis at the beginning of `text` and the one that closes it.
pub(super) fn arguments(text: &str) -> Parsed<'_, &str> {
    let (inside, _) = tag("(")(text)?;
    let mut depth = 1_usize;
    let end = walk(inside, |_, byte| {
        match byte {
            b'(' => depth += 1,
            b')' => depth -= 1,
            _ => {}
        }
        depth == 0
    });
    let (arguments, rest) = inside.split_at(end.ok_or(NO_MATCH)?);
    Ok((&rest[1..], arguments))
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

/// The inside of a quoted string, and whether `...` follows it: strace cut it at `-s`.
pub(super) fn string(text: &str) -> Parsed<'_, (&str, bool)> {
    (quoted, map(opt(tag("...")), |dots| dots.is_some())).parse(text)
}

/// Undoes strace's C-style escapes. `None` where the bytes are no UTF-8.
pub(super) fn unescape<'a>(text: &'a str, arena: &'a Bump) -> Option<&'a str> {
    if !text.contains('\\') {
        return Some(text);
    }
    let mut bytes = bumpalo::collections::Vec::with_capacity_in(text.len(), arena);
    let mut rest = text.as_bytes();
    while let Some(at) = memchr::memchr(b'\\', rest) {
        bytes.extend_from_slice(&rest[..at]);
        let (after, byte) = escape(&rest[at + 1..]).ok()?;
        bytes.push(byte);
        rest = after;
    }
    bytes.extend_from_slice(rest);
    std::str::from_utf8(bytes.into_bump_slice()).ok()
}

/// What follows a backslash: a letter, hexadecimal or octal digits, or the byte itself.
fn escape(text: &[u8]) -> IResult<&[u8], u8, ()> {
    let (rest, first) = be_u8(text)?;
    Ok(match first {
        b'n' => (rest, b'\n'),
        b'r' => (rest, b'\r'),
        b't' => (rest, b'\t'),
        b'v' => (rest, 0x0b),
        b'f' => (rest, 0x0c),
        b'x' => map_opt(take_while_m_n(0, 2, |byte: u8| byte.is_ascii_hexdigit()), number(16)).parse(rest)?,
        b'0'..=b'7' => map_opt(take_while_m_n(1, 3, |byte| matches!(byte, b'0'..=b'7')), number(8)).parse(text)?,
        other => (rest, other),
    })
}

/// The byte with these digits.
fn number(radix: u32) -> impl Fn(&[u8]) -> Option<u8> {
    move |digits| {
        let values = digits.iter().filter_map(|digit| char::from(*digit).to_digit(radix));
        u8::try_from(values.fold(0, |number, digit| number * radix + digit)).ok()
    }
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
