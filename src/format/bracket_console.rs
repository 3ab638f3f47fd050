//! Console lines of the shape `[ISO stamp] [level] message`, as clients and servers in TypeScript print them.
//!
//! Knows stamp and level; what the message says is the business of [`crate::clue`].

use super::{Format, Head, any_line};
use crate::{
    clue,
    frame::Framing,
    record::{Body, Record, Sink},
    time::{self, Stamp},
};

/// The format.
pub(super) static FORMAT: Format = Format {
    name: "bracket-console",
    title: "Console lines with stamp and level in brackets",
    doc: "\
Written by many Node programs: `[2026-11-30T02:59:35.869Z] [error] client.onerror: spawn x ENOENT`. The stamp is a full one, \
nearly always UTC. Stack frames and objects follow on lines of their own.

Proves what its messages prove. Silent about ids and sessions by default.
",
    framing: Framing::Lines,
    json_lines: false,
    gist: None,
    witness: None,
    sniff,
    decode,
};

fn sniff(head: &Head<'_>) -> bool {
    any_line(head, 4, |text, _| split(text).is_some())
}

fn decode<'a>(record: &Record<'a>, sink: &mut Sink<'a>) -> bool {
    let Some((at, message)) = split(record.text) else {
        return false;
    };
    clue::read(message, &Body { at: Some(at), ..Body::bare(*record) }, sink);
    true
}

fn split(text: &str) -> Option<(Stamp, &str)> {
    const LEVELS: [&str; 9] = ["trace", "debug", "info", "notice", "warn", "warning", "error", "fatal", "log"];
    let rest = text.strip_prefix('[')?;
    let (at, used) = time::leading(rest.as_bytes())?;
    let rest = rest.get(used..)?.strip_prefix("] [")?;
    let (level, message) = rest.split_once("] ")?;
    LEVELS.iter().any(|known| level.eq_ignore_ascii_case(known)).then_some((at, message))
}

#[cfg(test)]
mod tests {
    use bumpalo::Bump;

    use super::*;
    use crate::{
        event::{Kind, PhaseEvent, SpawnFailure, StepDetail},
        format::decode_lines,
    };

    #[test]
    fn the_message_stands_behind_two_brackets() {
        let text = "[2026-11-30T02:59:35.861Z] [info] connecting to uvx-invoice-server\n\
                    [2026-11-30T02:59:35.869Z] [error] client.onerror: spawn uvx-invoice-server ENOENT\n";
        let arena = Bump::new();
        let sink = decode_lines(Some(&FORMAT), text, &arena);
        assert_eq!((sink.events.len(), sink.notices.len()), (2, 0));
        let Kind::Step(step) = sink.events[1].kind else { panic!("{:?}", sink.events) };
        assert_eq!(
            (step.event, step.detail),
            (PhaseEvent::SpawnFailed, StepDetail::SpawnFailed(SpawnFailure::NotFound, Some("uvx-invoice-server")))
        );
        assert_eq!(sink.events[1].at.map(|at| at.at.rfc3339(3)).as_deref(), Some("2026-11-30T02:59:35.869Z"));
        assert!(sniff(&Head { bytes: text.as_bytes() }));
    }

    #[test]
    fn other_brackets_are_not_claimed() {
        for text in ["[info] x", "[2026-11-30T02:59:35.861Z] [server] x", "2026-11-30T02:59:35.861Z [info] x"] {
            assert!(!sniff(&Head { bytes: text.as_bytes() }), "{text}");
        }
    }
}
