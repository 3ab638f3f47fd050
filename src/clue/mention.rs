//! Requests that a line names which nobody understood otherwise.
//!
//! It says nothing about a call on record; but a line at whose time no call was open shows one that is not on record.

use super::Clue;
use crate::{
    event::Kind,
    record::{Body, Sink},
};

/// A request is named.
pub(super) static CLUE: Clue = Clue {
    name: "mention",
    title: "Lines of unknown make that name a request",
    doc: "\
## What it means
Something wrote about a `tools/call`, or about a POST to a path, in a form that is not known here.
## How it is recognized
The text `tools/call`, or `POST` followed by a URL or a path, in a line that no other clue reads.
## What it is not
An event of a call. The line stays unexplained; that it names a request counts only where no call on record can be it.
## What to do
Find the call that it is about.
",
    needles: &["tools/call", "POST "],
    read,
};

/// The line stays text: nothing is learned from it by itself.
fn read<'a>(text: &'a str, body: &Body<'a>, sink: &mut Sink<'a>) -> bool {
    if text.contains("tools/call") {
        sink.push(body.event(Kind::Mention(None)));
    } else if let Some(path) = text.split_once("POST ").and_then(|(_, rest)| path(rest)) {
        sink.push(body.event(Kind::Mention(Some(path))));
    }
    false
}

/// The path of a URL or request target, without query.
fn path(text: &str) -> Option<&str> {
    let target = text.trim_start().split([' ', '"', '\'', '?', '#', ',', ')']).next()?;
    let target = target.split_once("://").map_or(target, |(_, rest)| rest.find('/').map_or("/", |at| &rest[at..]));
    target.starts_with('/').then_some(target)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clue::tests::told;

    #[test]
    fn a_named_request_is_noted_and_the_line_stays_text() {
        for (text, path) in [
            ("proxy: {\"params\": 1, \"method\": \"tools/call\"", None),
            ("127.0.0.1:5: POST http://h:1/mcp?a=b", Some("/mcp")),
            ("served \"POST /mcp HTTP/1.1\"", Some("/mcp")),
        ] {
            told(text, None, |events| {
                assert_eq!(events[0].kind, Kind::Mention(path), "{text}");
                assert!(matches!(events[1].kind, Kind::Text(_)) && events.len() == 2, "{text}");
            });
        }
    }

    #[test]
    fn a_word_alone_names_no_request() {
        told("the POST was slow", None, |events| {
            assert!(matches!(events, [only] if matches!(only.kind, Kind::Text(_))));
        });
    }
}
