//! Joins the lines of a record that Rich (Python) wrapped into columns.
//!
//! A long word is broken without a blank where it fills the column; the joined text is read with and without blanks.

use bumpalo::Bump;

use super::{LINE_LIMIT, TEXT_LIMIT, census::Told, place::Place, targets::Targets, traceback::Traceback};
use crate::{
    clue,
    event::{Event, Kind},
    record::Sink,
    time::Stamp,
};

/// The record that is open, and the last stamp of the stream.
#[derive(Debug, Default)]
pub(super) struct Columns {
    place: Option<Place>,
    /// The pieces, each closed by a line feed.
    text: String,
    /// Characters of the message column; 0 where the head does not tell.
    width: usize,
    lines: u32,
    last: Option<Stamp>,
}

impl Columns {
    /// Whether a record is open.
    pub(super) fn is_open(&self) -> bool {
        self.place.is_some()
    }

    /// Begins a record. A head with a blank time column stands in the second of the head before it.
    pub(super) fn begin(&mut self, event: &Event<'_>, text: &str) {
        let mut place = Place::of(event);
        place.at = place.at.or(self.last);
        self.last = place.at;
        self.place = Some(place);
        self.width = text.chars().count();
        self.lines = 1;
        self.text.clear();
        self.line(text.trim_end());
    }

    /// Takes a further line; false when there is no head or no room.
    pub(super) fn add(&mut self, text: &str) -> bool {
        if self.place.is_none() || self.lines >= LINE_LIMIT || self.text.len() + text.len() > TEXT_LIMIT {
            return false;
        }
        self.lines += 1;
        self.line(text);
        true
    }

    fn line(&mut self, text: &str) {
        self.text.push_str(text);
        self.text.push('\n');
    }

    /// Hands out the record; returns its place, and whether something was learned from it.
    pub(super) fn close(
        &mut self,
        arena: &mut Bump,
        targets: &mut Targets,
        out: &mut dyn FnMut(&Event<'_>),
    ) -> Option<Told> {
        let place = self.place.take()?;
        let pieces: Vec<&str> = self.text.lines().collect();
        let boxed = pieces.iter().position(|piece| is_traceback(piece)).unwrap_or(pieces.len());
        let (message, traceback) = pieces.split_at(boxed);
        let learned = self.message(&place, message, arena, targets, out);
        let root = root(traceback);
        let told = root.as_deref().is_some_and(|root| super::traceback::tell(root, &place, arena, out));
        self.text.clear();
        arena.reset();
        Some((place.origin, learned || told))
    }

    /// Reads the message: joined by the width of its column, with blanks, without blanks.
    fn message(
        &self,
        place: &Place,
        pieces: &[&str],
        arena: &Bump,
        targets: &mut Targets,
        out: &mut dyn FnMut(&Event<'_>),
    ) -> bool {
        let mut joins = vec![by_width(pieces, self.width)];
        if pieces.len() > 1 {
            joins.push(pieces.iter().map(|piece| piece.trim()).collect::<Vec<_>>().join(" "));
            joins.push(pieces.concat());
        }
        for joined in &joins {
            let mut sink = Sink::new();
            if clue::read(joined, &place.body(joined, arena), &mut sink) {
                for event in &sink.events {
                    targets.push(event, out);
                }
                return true;
            }
        }
        targets.flush(out);
        let text = &joins[0];
        out(&place.body(text, arena).event(Kind::Text(text)));
        false
    }
}

/// Joins with a blank, except where a piece fills the column: there a word was broken.
fn by_width(pieces: &[&str], width: usize) -> String {
    let mut joined = String::new();
    let mut broken = true;
    for piece in pieces {
        if !broken {
            joined.push(' ');
        }
        joined.push_str(piece);
        broken = width > 0 && piece.chars().count() >= width && pieces.len() > 1;
    }
    joined
}

/// Whether a traceback begins here, boxed (also in ASCII) or plain.
fn is_traceback(piece: &str) -> bool {
    piece.contains("Traceback (most recent call last") && piece.starts_with(['╭', '+', 'T'])
}

/// The exception behind the first box: what is caused by it stands further below.
fn root(pieces: &[&str]) -> Option<String> {
    if pieces.first()?.starts_with('T') {
        return Traceback::root_of(pieces);
    }
    let end =
        pieces.iter().position(|piece| piece.starts_with('╰') || piece.starts_with("+--") && !is_traceback(piece))?;
    let lines = pieces[end + 1..].iter().map(|piece| piece.trim()).take_while(|piece| {
        !is_traceback(piece) && !piece.starts_with("The above exception") && !piece.starts_with("During handling")
    });
    let root = lines.collect::<Vec<_>>().join(" ");
    Some(root).filter(|root| !root.is_empty())
}
