//! Text on a server's stdout that is no protocol, as taps and bridges report it.
//!
//! Knows only lines that say so themselves; what a capture of stdout holds is the business of its format.

use super::{Clue, scan};
use crate::{
    event::{Kind, Witness},
    jsonrpc,
    record::{Body, Sink},
};

/// Reports of stdout pollution.
pub(super) static CLUE: Clue = Clue {
    name: "stdout-pollution",
    title: "Lines on the server's stdout that are no JSON-RPC message",
    doc: "\
## What it means
The server (or a library inside it) printed to stdout, where only JSON-RPC messages may stand (stdio transport).
## How it is recognized
A line `stdout: some text` (taps and test harnesses), or `[supergateway] Child non-JSON: some text`.
## What it is not
By itself fatal: most clients drop the line. It breaks a session when it is glued to a message or stands where the \
answer to `initialize` is awaited.
## What to do
Send logs to stderr.
",
    needles: &["stdout: ", "Child non-JSON: "],
    read,
};

fn read<'a>(text: &'a str, body: &Body<'a>, sink: &mut Sink<'a>) -> bool {
    if let Some(rest) = text.strip_prefix("stdout: ") {
        if rest.trim().is_empty() || jsonrpc::looks_like_message(rest) {
            return false;
        }
        sink.push(body.event(Kind::Pollution));
        return true;
    }
    let found = scan::find(text, "Child non-JSON: ").is_some_and(|(before, _)| before.trim_end().ends_with(']'));
    if found {
        scan::push_as(Kind::Pollution, Some(Witness::Proxy), body, sink);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clue::tests::only;

    #[test]
    fn pollution_is_told_by_its_reporter() {
        only("stdout: billing module ready", |event| assert_eq!(event.kind, Kind::Pollution));
        only("[supergateway] Child non-JSON: billing module ready", |event| {
            assert_eq!((event.kind, event.witness), (Kind::Pollution, Some(Witness::Proxy)));
        });
    }

    #[test]
    fn a_word_in_a_sentence_is_none() {
        only("the child wrote to stdout: hello", |event| assert!(matches!(event.kind, Kind::Text(_))));
    }
}
