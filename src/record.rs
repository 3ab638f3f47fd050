//! One record of an input, and where its decoder puts what it found.

use bumpalo::Bump;

use crate::{
    event::{Event, Keys, Kind, Origin, Witness},
    notice::{Notice, NoticeKind},
    time::Stamp,
};

/// One record of an input.
#[derive(Clone, Copy, Debug)]
pub struct Record<'a> {
    /// Its place.
    pub origin: Origin,
    /// Its text, without line end.
    pub text: &'a str,
    /// Where unescaped text goes.
    pub arena: &'a Bump,
}

/// What an envelope said about the free text it carries.
#[derive(Clone, Copy, Debug)]
pub struct Body<'a> {
    /// The record the text stands in.
    pub record: Record<'a>,
    /// The stamp of the envelope.
    pub at: Option<Stamp>,
    /// Who wrote the text, if the envelope says so.
    pub witness: Option<Witness>,
    /// Run, session and parties the envelope names.
    pub keys: Keys<'a>,
}

impl<'a> Body<'a> {
    /// Text without an envelope.
    pub fn bare(record: Record<'a>) -> Self {
        Self { record, at: None, witness: None, keys: Keys::default() }
    }

    /// An event that the text tells.
    pub fn event(&self, kind: Kind<'a>) -> Event<'a> {
        Event { origin: self.record.origin, at: self.at, witness: self.witness, keys: self.keys, kind }
    }
}

/// Where a decoder puts what it found.
#[derive(Debug, Default)]
pub struct Sink<'a> {
    /// Events in the order in which they happened.
    pub events: Vec<Event<'a>>,
    /// Trouble while reading.
    pub notices: Vec<Notice>,
}

impl<'a> Sink<'a> {
    /// An empty sink.
    pub fn new() -> Self {
        Self::default()
    }

    /// An empty sink with room for so many events.
    pub fn with_capacity(events: usize) -> Self {
        Self { events: Vec::with_capacity(events), notices: Vec::new() }
    }

    /// Adds an event.
    pub fn push(&mut self, event: Event<'a>) {
        self.events.push(event);
    }

    /// Adds a notice.
    pub fn notice(&mut self, kind: NoticeKind, origin: Origin) {
        self.notices.push(Notice { kind, origin });
    }
}
