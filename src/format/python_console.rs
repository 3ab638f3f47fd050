//! Consoles of Python programs: Rich columns, uvicorn, and the usual layouts of the `logging` module.
//!
//! Knows stamps, levels, loggers and columns; what the message says is the business of [`crate::clue`].

use super::{Format, Head};
use crate::{
    clue,
    event::{Kind, Piece, PieceShape, Witness},
    frame::Framing,
    record::{Body, Record, Sink},
    time::{self, Stamp},
};

/// The format.
pub(super) static FORMAT: Format = Format {
    name: "python-console",
    title: "Python consoles: Rich columns, uvicorn, logging",
    doc: "\
Written by servers and clients in Python to stderr.

| shape | writer |
|---|---|
| `[MM/DD/YY HH:MM:SS] LEVEL    message     file.py:NN` | Rich handler: `mcp` SDK 1.x and 2.x servers, FastMCP; wrapped to 80 columns |
| `INFO:     message` | uvicorn, FastMCP without Rich |
| `LEVEL:logger:message` | `logging.basicConfig()` |
| `YYYY-MM-DD HH:MM:SS,mmm LEVEL logger: message`, `… - logger - LEVEL - message`, `… [LEVEL] logger - message` | other layouts of `logging` |
| `[I YYYY-MM-DD HH:MM:SS,mmm.mmm logger] message` | `mcp-proxy` (Python) |

Stamps are local time without a zone; Rich leaves the column blank while the second does not change, uvicorn writes none. \
A wrapped Rich message is joined from its lines twice, with and without blanks, because long words are broken.

Proves what its messages prove. Silent about ids and sessions by default.
",
    framing: Framing::Lines,
    witness: None,
    sniff,
    decode,
};

/// Where the message column of Rich begins: 20 columns of time, 8 of level, a blank.
const MESSAGE: usize = 29;
/// Where the level column of Rich begins.
const LEVEL: usize = 20;
/// So many lines outside the phase vocabulary are looked at.
const LOOKED_AT: usize = 8;

fn sniff(head: &Head<'_>) -> bool {
    head.lines()
        .filter_map(|line| std::str::from_utf8(line).ok())
        .filter(|line| !line.contains("phase=") && !line.starts_with("ts="))
        .take(LOOKED_AT)
        .any(|line| {
            rich_head(line).is_some() || uvicorn(line).is_some() || stamped(line).is_some_and(|line| line.comma)
        })
}

fn decode<'a>(record: &Record<'a>, sink: &mut Sink<'a>) -> bool {
    read(record.text, &Body::bare(*record), sink)
}

/// Reads a line that another envelope carries: the stderr of a server in the log of its client or bridge. The outer
/// stamp goes first: the inner one lacks its zone.
pub(super) fn read<'a>(text: &'a str, outer: &Body<'a>, sink: &mut Sink<'a>) -> bool {
    let mut body = *outer;
    if let Some((at, text)) = rich_head(text) {
        body.at = outer.at.or(at);
        sink.push(body.event(Kind::Piece(Piece { shape: PieceShape::ColumnsHead, text: without_place(text) })));
    } else if let Some(text) = rich_tail(text) {
        sink.push(body.event(Kind::Piece(Piece { shape: PieceShape::ColumnsTail, text })));
    } else if let Some((logger, message)) = uvicorn(text) {
        body.witness = outer.witness.or_else(|| party(logger));
        clue::read(message, &body, sink);
    } else if let Some(line) = stamped(text) {
        body.at = outer.at.or(Some(line.at));
        body.witness = outer.witness.or_else(|| party(line.logger));
        clue::read(line.message, &body, sink);
    } else {
        return false;
    }
    true
}

/// Who writes under a logger's name.
fn party(logger: &str) -> Option<Witness> {
    if logger.starts_with("mcp.client") {
        Some(Witness::Client)
    } else if logger.starts_with("mcp.server") || logger.starts_with("fastmcp.server") {
        Some(Witness::Server)
    } else if logger.starts_with("mcp_proxy") {
        Some(Witness::Proxy)
    } else {
        None
    }
}

/// The level that `text` begins with, and its length.
fn level(text: &str) -> Option<usize> {
    ["DEBUG", "INFO", "WARNING", "WARN", "ERROR", "CRITICAL", "TRACE"]
        .iter()
        .find(|level| text.starts_with(**level))
        .map(|level| level.len())
}

/// The first line of a Rich record: its stamp, unless the column is blank, and the message column.
fn rich_head(text: &str) -> Option<(Option<Stamp>, &str)> {
    let (at, rest) = if let Some(rest) = text.strip_prefix('[') {
        let at = time::rich(rest.as_bytes())?;
        (Some(at), rest.get("MM/DD/YY HH:MM:SS".len()..)?.strip_prefix("] ")?)
    } else {
        let blank = text.as_bytes().get(..LEVEL)?.iter().all(|&byte| byte == b' ');
        (None, text.get(LEVEL..).filter(|_| blank)?)
    };
    let length = level(rest)?;
    let column = MESSAGE - LEVEL;
    let padded = rest.as_bytes().get(length..column)?.iter().all(|&byte| byte == b' ');
    rest.get(column..).filter(|_| padded).map(|message| (at, message))
}

/// A further line of a Rich record.
fn rich_tail(text: &str) -> Option<&str> {
    let blank = text.as_bytes().get(..MESSAGE)?.iter().all(|&byte| byte == b' ');
    text.get(MESSAGE..).filter(|_| blank).map(str::trim_end)
}

/// The message without the right-hand `file.py:NN`. Its padding stays: it tells how wide the column is.
fn without_place(text: &str) -> &str {
    let trimmed = text.trim_end();
    let place = trimmed.rsplit(' ').next().unwrap_or("");
    let is_place = place.split_once(".py:").is_some_and(|(file, line)| {
        file.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'<' | b'>'))
            && line.bytes().all(|b| b.is_ascii_digit())
    });
    if is_place { trimmed[..trimmed.len() - place.len()].strip_suffix(' ').unwrap_or("") } else { trimmed }
}

/// `INFO:     message` (uvicorn), `INFO:logger:message` (basicConfig): logger and message.
fn uvicorn(text: &str) -> Option<(&str, &str)> {
    let rest = text[level(text)?..].strip_prefix(':')?;
    if let Some(message) = rest.strip_prefix(' ') {
        return Some(("", message.trim_start()));
    }
    let (logger, message) = rest.split_once(':')?;
    is_logger(logger).then_some((logger, message.trim_start()))
}

fn is_logger(name: &str) -> bool {
    !name.is_empty()
        && name.len() <= 120
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.' | b'-'))
}

/// A line that begins with a full stamp.
struct Stamped<'a> {
    at: Stamp,
    logger: &'a str,
    message: &'a str,
    /// The fraction stands behind a comma, as only `logging` writes it.
    comma: bool,
}

fn stamped(text: &str) -> Option<Stamped<'_>> {
    if let Some(line) = proxy(text) {
        return Some(line);
    }
    let (at, used) = time::leading(text.as_bytes())?;
    let comma = text.as_bytes().get(19) == Some(&b',');
    let rest = text.get(used..)?.trim_start();
    let (logger, message) = level_first(rest).or_else(|| dashes(rest)).or_else(|| brackets(rest))?;
    Some(Stamped { at, logger, message, comma })
}

/// `LEVEL   logger: message`, `LEVEL message`.
fn level_first(text: &str) -> Option<(&str, &str)> {
    let rest = text[level(text)?..].strip_prefix(' ')?.trim_start();
    match rest.split_once(": ") {
        Some((logger, message)) if is_logger(logger) => Some((logger, message)),
        _ => Some(("", rest)),
    }
}

/// `- logger - LEVEL - message`.
fn dashes(text: &str) -> Option<(&str, &str)> {
    let (logger, rest) = text.strip_prefix("- ")?.split_once(" - ")?;
    let (_, message) = rest.split_once(" - ").filter(|(word, _)| level(word) == Some(word.len()))?;
    is_logger(logger).then_some((logger, message))
}

/// `[LEVEL] logger - message`, `[LEVEL] logger: message`.
fn brackets(text: &str) -> Option<(&str, &str)> {
    let (word, rest) = text.strip_prefix('[')?.split_once(']')?;
    let rest = Some(rest.trim_start()).filter(|_| level(word.trim()) == Some(word.trim().len()))?;
    for mark in [" - ", ": "] {
        if let Some((logger, message)) = rest.split_once(mark).filter(|(logger, _)| is_logger(logger)) {
            return Some((logger, message));
        }
    }
    Some(("", rest))
}

/// `[I 2026-11-30 03:05:38,123.123 mcp_proxy.mcp_server] message`: the milliseconds stand twice.
fn proxy(text: &str) -> Option<Stamped<'_>> {
    let rest = text.strip_prefix('[')?;
    let rest = rest.strip_prefix(['D', 'I', 'W', 'E', 'C'])?.strip_prefix(' ')?;
    let (at, used) = time::leading(rest.as_bytes())?;
    let (place, message) = rest.get(used..)?.split_once("] ")?;
    let logger = place.split_whitespace().next_back().filter(|logger| is_logger(logger))?;
    Some(Stamped { at, logger, message, comma: true })
}

#[cfg(test)]
mod tests {
    use bumpalo::Bump;

    use super::*;
    use crate::{
        event::{Access, Event, RemarkKind},
        format::decode_lines,
    };

    fn decoded(text: &str, check: impl FnOnce(&[Event<'_>])) {
        let arena = Bump::new();
        let sink = decode_lines(Some(&FORMAT), text, &arena);
        assert_eq!(sink.notices, []);
        check(&sink.events);
    }

    fn piece<'a>(event: &Event<'a>) -> Piece<'a> {
        let Kind::Piece(piece) = event.kind else { panic!("{event:?}") };
        piece
    }

    const RICH: &str = "\
[11/30/26 03:08:17] INFO     Created new          streamable_http_manager.py:325
                             transport with                                     \n\
\x20                            session ID:                                        \n\
\x20                            d262ee5ba3b24ab19452                               \n\
\x20                            56cfd7fea7d8                                       \n\
\x20                   DEBUG    Session already      streamable_http_manager.py:281
";

    #[test]
    fn rich_columns_are_cut_where_they_stand() {
        decoded(RICH, |events| {
            assert_eq!(events.len(), 6);
            let head = piece(&events[0]);
            assert_eq!((head.shape, head.text), (PieceShape::ColumnsHead, "Created new         "));
            assert_eq!(events[0].at.map(|at| at.at.rfc3339(0)).as_deref(), Some("2026-11-30T03:08:17Z"));
            assert_eq!(piece(&events[3]), Piece { shape: PieceShape::ColumnsTail, text: "d262ee5ba3b24ab19452" });
            assert_eq!((piece(&events[5]).shape, events[5].at), (PieceShape::ColumnsHead, None));
        });
        assert!(sniff(&Head { bytes: RICH.as_bytes() }));
    }

    #[test]
    fn layouts_of_logging_give_stamp_logger_and_message() {
        for text in [
            "2026-11-30 03:09:14,796 INFO    mcp.client.streamable_http: Received session ID: ab",
            "2026-11-30 03:09:14,796 - mcp.client.streamable_http - INFO - Received session ID: ab",
            "2026-11-30 03:09:14,796 [INFO] mcp.client.streamable_http - Received session ID: ab",
        ] {
            decoded(text, |events| {
                let Kind::Remark(remark) = events[0].kind else { panic!("{events:?}") };
                assert_eq!((remark.kind, events[0].keys.session), (RemarkKind::SessionCreated, Some("ab")), "{text}");
                assert_eq!(events[0].at.map(|at| at.at.rfc3339(3)).as_deref(), Some("2026-11-30T03:09:14.796Z"));
                assert_eq!(events[0].witness, Some(Witness::Client));
            });
            assert!(sniff(&Head { bytes: text.as_bytes() }), "{text}");
        }
        decoded("[I 2026-11-30 03:05:38,123.123 mcp_proxy.mcp_server] hello", |events| {
            assert_eq!((events[0].kind, events[0].witness), (Kind::Text("hello"), Some(Witness::Proxy)));
        });
    }

    #[test]
    fn uvicorn_and_basic_config() {
        decoded(
            "INFO:     127.0.0.1:1 - \"POST /mcp HTTP/1.1\" 200 OK\nINFO:mcp.server.lowlevel.server:Processing request of type PingRequest",
            |events| {
                assert!(matches!(events[0].kind, Kind::Access(Access { status: 200, .. })), "{events:?}");
                let Kind::Remark(remark) = events[1].kind else { panic!("{events:?}") };
                assert_eq!((remark.kind, remark.call.method), (RemarkKind::Processing, Some("ping")));
            },
        );
    }

    #[test]
    fn a_line_inside_another_envelope_keeps_what_that_knows() {
        let arena = Bump::new();
        let mut sink = Sink::new();
        let text = "[11/30/26 03:05:38] DEBUG    Using selector: EpollSelector selector_events.py:54";
        let origin =
            crate::event::Origin { source: crate::event::SourceId(0), record: std::num::NonZeroU32::MIN, offset: 0 };
        let at = time::parse("2026-11-30T03:05:38.123Z");
        let outer = Body { at, witness: Some(Witness::Server), ..Body::bare(Record { origin, text, arena: &arena }) };
        assert!(read(text, &outer, &mut sink));
        assert_eq!(
            (piece(&sink.events[0]).text, sink.events[0].witness),
            ("Using selector: EpollSelector", Some(Witness::Server))
        );
    }

    #[test]
    fn other_lines_are_not_claimed() {
        for text in [
            "hello",
            "{\"a\":1}",
            "2026-07-22T14:03:13.083Z worker 1",
            "INFO about the thing",
            "[2026-11-30T03:09:21.360Z] [info] x",
        ] {
            let arena = Bump::new();
            let mut sink = Sink::new();
            let origin = crate::event::Origin {
                source: crate::event::SourceId(0),
                record: std::num::NonZeroU32::MIN,
                offset: 0,
            };
            assert!(!decode(&Record { origin, text, arena: &arena }, &mut sink), "{text}");
            assert!(!sniff(&Head { bytes: text.as_bytes() }), "{text}");
        }
    }
}
