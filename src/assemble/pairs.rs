//! Phase records with one pair a line (`native-formats.md` 2): consecutive lines with different keys are one record.
//!
//! The joined line is read like any other line of text.

use bumpalo::Bump;

use super::{LINE_LIMIT, TEXT_LIMIT, place::Place};
use crate::{
    clue,
    event::{Event, Kind},
    record::Sink,
};

/// The record that is open.
#[derive(Debug, Default)]
pub(super) struct Pairs {
    place: Option<Place>,
    text: String,
    lines: u32,
    last: u32,
}

impl Pairs {
    /// Whether a record is open.
    pub(super) fn is_open(&self) -> bool {
        self.place.is_some()
    }

    /// Takes one pair. A key that stands already, or a gap, begins a new record.
    pub(super) fn push(
        &mut self,
        event: &Event<'_>,
        pair: &str,
        arena: &mut Bump,
        out: &mut dyn FnMut(&Event<'_>),
    ) -> u64 {
        let record = event.origin.record.get();
        let key = pair.split('=').next().unwrap_or("").trim();
        let repeated = self.text.split(' ').any(|known| known.split('=').next() == Some(key));
        let full = self.lines >= LINE_LIMIT || self.text.len() + pair.len() > TEXT_LIMIT;
        let unexplained =
            if self.is_open() && (repeated || full || record != self.last + 1) { self.close(arena, out) } else { 0 };
        if self.place.is_none() {
            self.place = Some(Place::of(event));
        } else {
            self.text.push(' ');
        }
        self.text.push_str(pair.trim());
        self.lines += 1;
        self.last = record;
        unexplained
    }

    /// Hands out the record.
    pub(super) fn close(&mut self, arena: &mut Bump, out: &mut dyn FnMut(&Event<'_>)) -> u64 {
        let Some(place) = self.place.take() else {
            return 0;
        };
        let lines = std::mem::take(&mut self.lines);
        let mut learned = false;
        {
            let arena = &*arena;
            let body = place.body(&self.text, arena);
            let mut sink = Sink::new();
            clue::read(&self.text, &body, &mut sink);
            for event in &sink.events {
                // A single pair comes back as a pair: nothing more is known about it.
                let kind = if let Kind::Piece(piece) = event.kind { Kind::Text(piece.text) } else { event.kind };
                learned |= !matches!(kind, Kind::Text(_));
                out(&Event { kind, ..*event });
            }
        }
        self.text.clear();
        arena.reset();
        if learned { 0 } else { u64::from(lines) }
    }
}
