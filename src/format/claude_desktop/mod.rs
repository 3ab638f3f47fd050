//! `mcp.log` and `mcp-server-NAME.log` of Claude Desktop, all generations, told apart line by line.
//!
//! Does not join the two files of one incident: that is correlation's business, with the key given in the
//! documentation of the format.

mod entry;
mod header;
mod main_log;
mod message;
mod statement;

use crate::{
    clue,
    event::{Keys, Origin, Witness},
    format::{Format, Head},
    frame::Framing,
    notice::NoticeKind,
    record::{Body, Record, Sink},
};

pub use main_log::FORMAT as MAIN;

/// `mcp.log` and `mcp-server-NAME.log` of Claude Desktop.
pub static FORMAT: Format = Format {
    name: "claude-desktop",
    title: "Claude Desktop mcp.log and mcp-server-NAME.log",
    doc: "\
# Written by
Claude Desktop, November 2024 to at least July 2026. `mcp.log` holds all servers; `mcp-server-NAME.log` holds one server
and, without any mark, the raw stderr of its process.

# A record
`YYYY-MM-DDTHH:MM:SS.mmmZ [level] [server] message` in `mcp.log`, `… [server] [level] message` in `mcp-server-NAME.log`;
both orders may stand in one file. The untagged lines behind it are either the rest of an object that the message opens
(one-line JSON until mid 2025, `util.inspect` blocks since) or stderr of the server. In 2024 a line has a level only and
names the server in its text. Since app 1.24012 bodies are redacted to method and id.

# What it proves
`Message from server`: the request with that id was answered. `Message from client`: queued, not more; `write EPIPE` may
follow. `Server started and connected successfully`: a process was spawned, not more. `… closed unexpectedly …`: the pipe
is closed, not by whom. Redacted lines name no tool, and do not tell whether a tool failed.

# What it is silent about
Exit code and signal of the process, whether a person approved a call, timeouts other than through
`notifications/cancelled`.

# The same event in two files
Merge key: server name, message up to the first ` {`, stamps at most 2 ms apart; one line of one file with one line of the
other. Two lines of the same file are never one event: the application may run two instances of one server, both with
ids from 0.
",
    framing: Framing::Headed(header::is_header),
    json_lines: false,
    gist: None,
    witness: Some(Witness::Client),
    sniff,
    decode,
};

/// Tagged lines alone are not enough: other Node loggers write the same shape.
fn sniff(head: &Head<'_>) -> bool {
    head.bytes.split(|byte| *byte == b'\n').any(|line| {
        // The last line of the head may be cut inside a character.
        std::str::from_utf8(line)
            .ok()
            .and_then(header::read)
            .is_some_and(|header| statement::SIGNS.iter().any(|sign| header.message.starts_with(sign)))
    })
}

fn decode<'a>(record: &Record<'a>, sink: &mut Sink<'a>) -> bool {
    let mut lines = Lines { text: record.text, at: 0 };
    let Some((_, first)) = lines.next() else { return false };
    let Some(header) = header::read(first) else {
        // The beginning of a rotated file, or the rest of an entry beyond the limit: stderr, of an unknown server.
        let mut owner = entry::Continuation::new("", false);
        read_stderr(Lines { text: record.text, at: 0 }, &mut owner, record, None, sink);
        return true;
    };
    let keys = Keys { server: header.server, ..Keys::default() };
    let body = Body { record: *record, at: header.at, witness: Some(Witness::Client), keys };
    if header.at.is_none() {
        sink.notice(NoticeKind::BadTimestamp, record.origin);
    }
    let suffix = statement::read(header.message, header.error, &body, sink);
    let mut owner = entry::Continuation::new(suffix, header.error);
    read_stderr(lines, &mut owner, record, header.server, sink);
    if owner.is_open() {
        sink.notice(NoticeKind::InterruptedRecord, record.origin);
    }
    true
}

/// Hands the lines that the server wrote to the clues. Their own clocks are not used: they need an offset first.
fn read_stderr<'a>(
    lines: Lines<'a>,
    owner: &mut entry::Continuation,
    record: &Record<'a>,
    server: Option<&'a str>,
    sink: &mut Sink<'a>,
) {
    for (offset, text) in lines {
        if text.trim().is_empty() || owner.owns(text) {
            continue;
        }
        let origin = Origin { offset: record.origin.offset + offset as u64, ..record.origin };
        let record = Record { origin, text, ..*record };
        let keys = Keys { server, ..Keys::default() };
        clue::read(text, &Body { record, at: None, witness: Some(Witness::Server), keys }, sink);
    }
}

/// The lines of a record with their places, without line ends.
#[derive(Debug)]
struct Lines<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Iterator for Lines<'a> {
    type Item = (usize, &'a str);
    fn next(&mut self) -> Option<Self::Item> {
        let rest = self.text.get(self.at..).filter(|rest| !rest.is_empty())?;
        let start = self.at;
        let end = memchr::memchr(b'\n', rest.as_bytes()).unwrap_or(rest.len());
        self.at += end + 1;
        let line = rest.get(..end)?;
        Some((start, line.strip_suffix('\r').unwrap_or(line)))
    }
}

#[cfg(test)]
mod tests;
