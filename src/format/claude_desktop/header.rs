//! The tagged line of a Claude Desktop log: stamp, level, server name, message. Says nothing about what the message means.

use crate::time::{self, Stamp};

/// Length of `2026-07-22T14:03:13.083Z`.
const STAMP: usize = 24;

/// Messages of November and December 2024, whose lines name the server in their text and have a level only.
const OLD: [&[u8]; 5] = [
    b"Attempting to connect to MCP server",
    b"Connected to MCP server",
    b"MCP server ",
    b"Could not start MCP server",
    b"Error in MCP connection to server",
];

/// A tagged line in its parts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Header<'a> {
    /// The stamp; `None` where its numbers are no date.
    pub(super) at: Option<Stamp>,
    /// The level is `error`.
    pub(super) error: bool,
    /// The server, where a tag names it.
    pub(super) server: Option<&'a str>,
    /// What follows the tags.
    pub(super) message: &'a str,
    /// Where the message begins in the line.
    pub(super) offset: usize,
}

/// Whether an entry begins at this line.
pub(super) fn is_header(line: &[u8]) -> bool {
    parts(line).is_some()
}

/// Reads a tagged line.
pub(super) fn read(line: &str) -> Option<Header<'_>> {
    let parts = parts(line.as_bytes())?;
    let server = match parts.server {
        Some((from, to)) => Some(line.get(from..to)?),
        None => None,
    };
    let message = line.get(parts.message..)?;
    let at = time::leading(line.as_bytes()).map(|(stamp, _)| stamp);
    Some(Header { at, error: parts.error, server, message, offset: parts.message })
}

struct Parts {
    error: bool,
    server: Option<(usize, usize)>,
    message: usize,
}

/// `mcp.log` has `[level] [server]` and `mcp-server-NAME.log` has `[server] [level]`. The first order is tried first,
/// because a server may be called `info`.
fn parts(line: &[u8]) -> Option<Parts> {
    if !is_stamp(line.get(..STAMP)?) || line.get(STAMP) != Some(&b' ') {
        return None;
    }
    let first = tag(line, STAMP + 1)?;
    let second = tag(line, first.1 + 2).filter(|_| line.get(first.1 + 1) == Some(&b' '));
    let level = is_level(&line[first.0..first.1]);
    let (error, server, end) = match (level, second) {
        (Some(error), Some(second)) => (error, Some(second), second.1),
        (None, Some(second)) => (is_level(&line[second.0..second.1])?, Some(first), second.1),
        (Some(error), None) => (error, None, first.1),
        (None, None) => return None,
    };
    let message = match line.get(end + 1) {
        Some(b' ') => end + 2,
        None | Some(b'\r' | b'\n') => end + 1,
        Some(_) => return None,
    };
    let old = OLD.iter().any(|start| line[message..].starts_with(start));
    // Without a server tag only the texts of 2024 are a header: servers print such lines on stderr, too.
    (server.is_some() || old).then_some(Parts { error, server, message })
}

fn is_stamp(text: &[u8]) -> bool {
    text.iter().zip(b"0000-00-00T00:00:00.000Z").all(|(byte, shape)| match shape {
        b'0' => byte.is_ascii_digit(),
        _ => byte == shape,
    })
}

/// The content of the tag that begins at `at`: `[…]`, not empty.
fn tag(line: &[u8], at: usize) -> Option<(usize, usize)> {
    if line.get(at) != Some(&b'[') {
        return None;
    }
    let length = memchr::memchr2(b']', b'\n', &line[at + 1..])?;
    let end = at + 1 + length;
    (length > 0 && line[end] == b']').then_some((at + 1, end))
}

/// `Some(true)` for `error`, `Some(false)` for the other levels.
fn is_level(tag: &[u8]) -> Option<bool> {
    match tag {
        b"error" => Some(true),
        b"info" | b"warn" | b"debug" => Some(false),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(line: &str) -> Option<(Option<&str>, bool, &str)> {
        read(line).map(|header| (header.server, header.error, header.message))
    }

    #[test]
    fn reads_both_orders_of_tags() {
        assert_eq!(named("2025-06-18T10:00:00.000Z [info] [acme] Hi {"), Some((Some("acme"), false, "Hi {")));
        assert_eq!(named("2025-06-18T10:00:00.000Z [acme] [error] Hi"), Some((Some("acme"), true, "Hi")));
        assert_eq!(named("2025-06-18T10:00:00.000Z [info] [info] x"), Some((Some("info"), false, "x")));
        assert_eq!(named("2025-06-18T10:00:00.000Z [acme] [warn]"), Some((Some("acme"), false, "")));
    }

    #[test]
    fn names_may_hold_anything_but_a_bracket() {
        for name in ["My Files (work)", "@scope/pkg:1.0", "a [b", "größe", "it's \"q\""] {
            let line = format!("2025-06-18T10:00:00.000Z [{name}] [info] Initializing server...");
            assert_eq!(named(&line).and_then(|found| found.0), Some(name), "{line}");
        }
    }

    #[test]
    fn lines_of_others_are_no_header() {
        for line in [
            "2025-06-18T10:00:00.000Z [info] listening on 3000",
            "2025-06-18T10:00:00.000Z [acme] [INFO] x",
            "2025-06-18T10:00:00.000Z [] [info] x",
            "2025-06-18T10:00:00Z [acme] [info] x",
            "2025-06-18 10:00:00.000 [info] [acme] x",
            "2025-06-18T10:00:00.000Z [acme] [info]x",
            " 2025-06-18T10:00:00.000Z [acme] [info] x",
            "",
        ] {
            assert!(!is_header(line.as_bytes()), "{line}");
        }
    }

    #[test]
    fn the_lines_of_2024_name_the_server_in_their_text() {
        let line = "2024-11-27T09:00:00.000Z [info] Connected to MCP server acme!";
        assert_eq!(named(line), Some((None, false, "Connected to MCP server acme!")));
    }

    #[test]
    fn an_impossible_date_is_still_a_header() {
        let header = read("2025-13-45T10:00:00.000Z [acme] [info] x").expect("a header");
        assert_eq!(header.at, None);
    }
}
