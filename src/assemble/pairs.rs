//! Phase records with one pair a line: consecutive lines with different keys are one record.
//!
//! Each `EVENT=true` becomes a phase line of its own with the other pairs of the record, and is read like any other line.

use bumpalo::Bump;

use super::{LINE_LIMIT, TEXT_LIMIT, census::Told, place::Place};
use crate::{
    clue,
    event::{Event, Kind},
    record::Sink,
};

/// Keys that may stand alone on a line beside an event.
const KEYS: [&str; 22] = [
    "run_id",
    "server_name",
    "server",
    "pid",
    "client",
    "session_id",
    "trace_id",
    "request_id",
    "jsonrpc_id",
    "id",
    "tool",
    "at",
    "ts",
    "timestamp",
    "time",
    "protocol_version",
    "tool_count",
    "is_error",
    "error_code",
    "code",
    "reason",
    "phase",
];

/// The record that is open.
#[derive(Debug, Default)]
pub(super) struct Pairs {
    lines: Vec<Line>,
    bytes: usize,
}

/// One line of it.
#[derive(Debug)]
struct Line {
    place: Place,
    text: Box<str>,
    /// It names an event; else it belongs to the events around it.
    event: bool,
}

impl Line {
    fn key(&self) -> &str {
        key(&self.text)
    }
}

fn key(text: &str) -> &str {
    text.split('=').next().unwrap_or("")
}

impl Pairs {
    /// Whether a record is open.
    pub(super) fn is_open(&self) -> bool {
        !self.lines.is_empty()
    }

    /// Whether a line of free text is one pair that can belong to a record.
    pub(super) fn fits(text: &str) -> bool {
        let text = text.trim();
        text.len() < 200 && text.contains('=') && !text.contains(char::is_whitespace) && KEYS.contains(&key(text))
    }

    /// Takes one pair. A key that stands already, or a gap, begins a new record.
    pub(super) fn push(
        &mut self,
        event: &Event<'_>,
        (text, names_event): (&str, bool),
        told: &mut Vec<Told>,
        arena: &mut Bump,
        out: &mut dyn FnMut(&Event<'_>),
    ) {
        let text = text.trim();
        let repeated = self.lines.iter().any(|line| line.key() == key(text));
        let full = self.lines.len() >= LINE_LIMIT as usize / 16 || self.bytes + text.len() > TEXT_LIMIT;
        let gap = self.lines.last().is_some_and(|line| event.origin.record.get() != line.place.origin.record.get() + 1);
        if repeated || full || gap {
            self.close(told, arena, out);
        }
        self.bytes += text.len();
        self.lines.push(Line { place: Place::of(event), text: text.into(), event: names_event });
    }

    /// Hands out the record, and tells which of its lines taught something. A line beside an event is part of that.
    pub(super) fn close(&mut self, told: &mut Vec<Told>, arena: &mut Bump, out: &mut dyn FnMut(&Event<'_>)) {
        let lines = std::mem::take(&mut self.lines);
        self.bytes = 0;
        if !lines.iter().any(|line| line.event) {
            for line in &lines {
                out(&line.place.body(&line.text, arena).event(Kind::Text(&line.text)));
                told.push((line.place.origin, false));
            }
            return;
        }
        let context: String = lines.iter().filter(|line| !line.event).flat_map(|line| [" ", &line.text]).collect();
        for line in lines.iter().filter(|line| line.event) {
            let joined = ["event=", line.key(), &context].concat();
            let body = line.place.body(&joined, arena);
            let mut sink = Sink::new();
            told.push((line.place.origin, clue::read(&joined, &body, &mut sink)));
            for event in &sink.events {
                out(event);
            }
        }
        arena.reset();
    }
}
