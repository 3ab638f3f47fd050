//! Joins what stands on several records: wrapped columns, tracebacks, one-pair-a-line records, kernel traces.
//!
//! One sequential pass per source. Everything else passes through at once; nothing is judged here.

mod census;
mod columns;
mod pairs;
mod place;
mod syscalls;
mod targets;
mod traceback;

use std::mem;

use bumpalo::Bump;

use self::{
    census::{Census, Told},
    columns::Columns,
    pairs::Pairs,
    place::stream_of,
    syscalls::Syscalls,
    targets::Targets,
    traceback::{Fit, Traceback},
};
use crate::event::{Event, Kind, Origin, PieceShape};

/// The most text one owner holds.
const TEXT_LIMIT: usize = 64 << 10;
/// The most records one owner holds.
const LINE_LIMIT: u32 = 2000;
/// The most streams of one source that are told apart; the oldest is closed for a new one.
const STREAM_LIMIT: usize = 64;

/// Takes the events of one source in record order and hands them on, joined.
#[derive(Debug, Default)]
pub struct Assembler {
    streams: Vec<Stream>,
    syscalls: Syscalls,
    /// Streams that hold something back.
    waiting: bool,
    census: Census,
    arena: Bump,
}

/// What one writer within a source has open.
#[derive(Debug, Default)]
struct Stream {
    key: u64,
    columns: Columns,
    pairs: Pairs,
    traceback: Traceback,
    targets: Targets,
    /// Records that told nothing, or something, since they were last asked for.
    told: Vec<Told>,
}

impl Assembler {
    /// An assembler for a new source, which keeps the places of so many records that told nothing.
    pub fn keeping(places: usize) -> Self {
        Self { census: Census::keeping(places), ..Self::default() }
    }

    /// Takes the next event. What it hands out borrows from the event or from the assembler's own buffer.
    pub fn push<'a>(&mut self, event: &Event<'a>, out: &mut dyn FnMut(&Event<'_>)) {
        if !matches!(event.kind, Kind::Text(_) | Kind::Piece(_)) {
            self.census.note((event.origin, true));
        }
        match event.kind {
            Kind::Syscall(call) => self.syscalls.push(event, call, out),
            Kind::Text(text) if self.syscalls.is_damaged_by(text) => {
                self.syscalls.damaged(event, out);
                self.join(event, out);
            }
            Kind::Piece(_) | Kind::Text(_) | Kind::Reach(_) => self.join(event, out),
            _ if self.waiting => self.join(event, out),
            _ => out(event),
        }
    }

    /// Hands out what is still open.
    pub fn finish(&mut self, out: &mut dyn FnMut(&Event<'_>)) {
        let mut arena = mem::take(&mut self.arena);
        for mut stream in mem::take(&mut self.streams) {
            stream.close(&mut arena, out);
            self.count(&mut stream);
        }
        self.arena = arena;
        self.waiting = false;
        self.syscalls.finish(out);
    }

    /// How many records of free text nothing was learned from.
    pub fn unexplained(&self) -> u64 {
        self.census.count()
    }

    /// The places of the first of them.
    pub fn into_places(self) -> Vec<Origin> {
        self.census.into_places()
    }

    fn count(&mut self, stream: &mut Stream) {
        stream.told.drain(..).for_each(|told| self.census.note(told));
    }

    fn join(&mut self, event: &Event<'_>, out: &mut dyn FnMut(&Event<'_>)) {
        let mut arena = mem::take(&mut self.arena);
        let index = self.stream(stream_of(event), &mut arena, out);
        let stream = &mut self.streams[index];
        stream.push(event, &mut arena, out);
        stream.told.drain(..).for_each(|told| self.census.note(told));
        self.waiting = self.streams.iter().any(Stream::is_open);
        self.arena = arena;
    }

    fn stream(&mut self, key: u64, arena: &mut Bump, out: &mut dyn FnMut(&Event<'_>)) -> usize {
        if let Some(index) = self.streams.iter().position(|stream| stream.key == key) {
            return index;
        }
        if self.streams.len() >= STREAM_LIMIT {
            let mut oldest = self.streams.remove(0);
            oldest.close(arena, out);
            self.count(&mut oldest);
        }
        self.streams.push(Stream { key, ..Stream::default() });
        self.streams.len() - 1
    }
}

impl Stream {
    fn is_open(&self) -> bool {
        self.columns.is_open() || self.pairs.is_open() || self.traceback.is_open() || self.targets.is_open()
    }

    fn push(&mut self, event: &Event<'_>, arena: &mut Bump, out: &mut dyn FnMut(&Event<'_>)) {
        let shape = match event.kind {
            Kind::Piece(piece) => Some(piece.shape),
            _ => None,
        };
        if shape != Some(PieceShape::ColumnsTail) {
            self.close_columns(arena, out);
        }
        let pair = match event.kind {
            Kind::Text(text) if Pairs::fits(text) => Some((text, false)),
            Kind::Piece(piece) if piece.shape == PieceShape::Pair => Some((piece.text, true)),
            _ => None,
        };
        if let Some((text, names_event)) = pair {
            self.close_traceback(arena, out);
            self.pairs.push(event, (text, names_event), &mut self.told, arena, out);
            return;
        }
        self.pairs.close(&mut self.told, arena, out);
        match event.kind {
            Kind::Piece(piece) => {
                self.close_traceback(arena, out);
                if shape == Some(PieceShape::ColumnsHead) {
                    self.columns.begin(event, piece.text);
                } else if !self.columns.add(piece.text) {
                    // A tail without a head, or past the limit: ordinary text.
                    out(&Event { kind: Kind::Text(piece.text), ..*event });
                    self.told.push((event.origin, false));
                }
            }
            Kind::Text(text) => self.text(event, text, arena, out),
            _ => {
                if self.traceback.passes(event) {
                    self.close_traceback(arena, out);
                }
                self.targets.push(event, out);
            }
        }
    }

    fn text(&mut self, event: &Event<'_>, text: &str, arena: &mut Bump, out: &mut dyn FnMut(&Event<'_>)) {
        let mut fit = self.traceback.push(event, text);
        if fit == Fit::Ended {
            self.close_traceback(arena, out);
            fit = self.traceback.push(event, text);
        }
        if fit == Fit::Foreign || fit == Fit::Ended {
            self.targets.flush(out);
            out(event);
            self.told.push((event.origin, false));
        }
    }

    fn close_columns(&mut self, arena: &mut Bump, out: &mut dyn FnMut(&Event<'_>)) {
        let told = self.columns.close(arena, &mut self.targets, out);
        self.told.extend(told);
    }

    fn close_traceback(&mut self, arena: &mut Bump, out: &mut dyn FnMut(&Event<'_>)) {
        if self.traceback.is_open() {
            self.targets.flush(out);
            self.traceback.close(&mut self.told, arena, out);
            arena.reset();
        }
    }

    fn close(&mut self, arena: &mut Bump, out: &mut dyn FnMut(&Event<'_>)) {
        self.close_columns(arena, out);
        self.pairs.close(&mut self.told, arena, out);
        self.close_traceback(arena, out);
        self.targets.flush(out);
    }
}

#[cfg(test)]
mod tests;
