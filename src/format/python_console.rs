//! Consoles of Python programs: Rich columns, uvicorn, and the usual layouts of the `logging` module.
//!
//! Knows stamps, levels, loggers and columns; what the message says is the business of [`crate::clue`].

use nom::{
    Parser,
    branch::alt,
    bytes::complete::{tag, take, take_while1},
    character::complete::one_of,
    combinator::{all_consuming, map, map_opt, success, value, verify},
    sequence::{delimited, preceded, terminated},
};

use super::{
    Format, Head,
    grammar::{Parsed, before, space, stamp},
};
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
    json_lines: false,
    gist: None,
    witness: None,
    sniff,
    decode,
};

/// Columns of Rich, blank: the time and the level, each with a blank behind it.
const TIME: &str = "                    ";
const LEVEL: &str = "         ";
/// So many lines outside the phase vocabulary are looked at.
const LOOKED_AT: usize = 8;

fn sniff(head: &Head<'_>) -> bool {
    head.lines()
        .filter_map(|line| std::str::from_utf8(line).ok())
        .filter(|line| !line.contains("phase=") && !line.starts_with("ts="))
        .take(LOOKED_AT)
        .any(|line| rich_head(line).is_ok() || uvicorn(line).is_ok() || stamped(line).is_ok_and(|(_, line)| line.comma))
}

fn decode<'a>(record: &Record<'a>, sink: &mut Sink<'a>) -> bool {
    read(record.text, &Body::bare(*record), sink)
}

/// Reads a line that another envelope carries: the stderr of a server in the log of its client or bridge. The outer
/// stamp goes first: the inner one lacks its zone.
pub(super) fn read<'a>(text: &'a str, outer: &Body<'a>, sink: &mut Sink<'a>) -> bool {
    let mut body = *outer;
    if let Ok((text, at)) = rich_head(text) {
        body.at = outer.at.or(at);
        sink.push(body.event(Kind::Piece(Piece { shape: PieceShape::ColumnsHead, text: without_place(text) })));
    } else if let Ok((text, _)) = rich_tail(text) {
        sink.push(body.event(Kind::Piece(Piece { shape: PieceShape::ColumnsTail, text: text.trim_end() })));
    } else if let Ok((message, logger)) = uvicorn(text) {
        body.witness = outer.witness.or_else(|| party(logger));
        clue::read(message, &body, sink);
    } else if let Ok((message, line)) = stamped(text) {
        body.at = outer.at.or(Some(line.at));
        body.witness = outer.witness.or_else(|| party(line.logger));
        clue::read(message, &body, sink);
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

/// The name of a level.
fn level(text: &str) -> Parsed<'_, &str> {
    const LEVELS: [&str; 7] = ["DEBUG", "INFO", "WARNING", "WARN", "ERROR", "CRITICAL", "TRACE"];
    verify(take_while1(|c: char| c.is_ascii_uppercase()), |word: &str| LEVELS.contains(&word)).parse(text)
}

/// The name of a logger.
fn logger(text: &str) -> Parsed<'_, &str> {
    let name = take_while1(|c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-'));
    verify(name, |name: &str| name.len() <= 120).parse(text)
}

/// The first line of a Rich record, up to its message: the stamp, unless its column is blank, and the level.
fn rich_head(text: &str) -> Parsed<'_, Option<Stamp>> {
    let time = delimited(
        tag("["),
        map_opt(take("MM/DD/YY HH:MM:SS".len()), |text: &str| time::rich(text.as_bytes())),
        tag("] "),
    );
    let level = verify(take(LEVEL.len()), |column: &str| {
        level(column).is_ok_and(|(padding, _)| padding.trim_end_matches(' ').is_empty())
    });
    terminated(alt((map(time, Some), value(None, tag(TIME)))), level).parse(text)
}

/// A further line of a Rich record, up to its message.
fn rich_tail(text: &str) -> Parsed<'_, (&str, &str)> {
    (tag(TIME), tag(LEVEL)).parse(text)
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

/// `INFO:     message` (uvicorn), `INFO:logger:message` (basicConfig), up to the message: the logger.
fn uvicorn(text: &str) -> Parsed<'_, &str> {
    let logger = alt((value("", tag(" ")), terminated(logger, tag(":"))));
    delimited((level, tag(":")), logger, space).parse(text)
}

/// A line that begins with a full stamp, up to its message.
struct Stamped<'a> {
    at: Stamp,
    logger: &'a str,
    /// The fraction stands behind a comma, as only `logging` writes it.
    comma: bool,
}

fn stamped(text: &str) -> Parsed<'_, Stamped<'_>> {
    let comma = text.as_bytes().get(19) == Some(&b',');
    let logger = alt((level_first, dashes, brackets));
    let ours = map((terminated(stamp(time::leading), space), logger), |(at, logger)| Stamped { at, logger, comma });
    alt((proxy, ours)).parse(text)
}

/// `LEVEL   logger: `, `LEVEL `.
fn level_first(text: &str) -> Parsed<'_, &str> {
    let logger = alt((terminated(logger, tag(": ")), success("")));
    preceded((level, tag(" "), space), logger).parse(text)
}

/// `- logger - LEVEL - `.
fn dashes(text: &str) -> Parsed<'_, &str> {
    delimited(tag("- "), logger, (tag(" - "), level, tag(" - "))).parse(text)
}

/// `[LEVEL] logger - `, `[LEVEL] logger: `, `[LEVEL] `.
fn brackets(text: &str) -> Parsed<'_, &str> {
    let level = (tag("["), space, level, space, tag("]"), space);
    let logger = alt((terminated(logger, alt((tag(" - "), tag(": ")))), success("")));
    preceded(level, logger).parse(text)
}

/// `[I 2026-11-30 03:05:38,123.123 mcp_proxy.mcp_server] `: the milliseconds stand twice.
fn proxy(text: &str) -> Parsed<'_, Stamped<'_>> {
    let level = (tag("["), one_of("DIWEC"), tag(" "));
    let logger = map_opt(before("] "), |place| {
        place.split_whitespace().next_back().filter(|name| all_consuming(logger).parse(name).is_ok())
    });
    map(preceded(level, (stamp(time::leading), logger)), |(at, logger)| Stamped { at, logger, comma: true }).parse(text)
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
