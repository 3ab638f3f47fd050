//! What an owner keeps of the event that began its record: place, stamp, writer, keys.
//!
//! Owned, because the block that the event borrowed from is gone when the record ends.

use std::hash::{Hash, Hasher};

use bumpalo::Bump;
use rustc_hash::FxHasher;

use crate::{
    event::{Event, Keys, Origin, Witness},
    record::{Body, Record},
    time::Stamp,
};

/// Place, stamp, writer and keys of an event.
#[derive(Clone, Debug)]
pub(super) struct Place {
    pub origin: Origin,
    pub at: Option<Stamp>,
    pub witness: Option<Witness>,
    run: Option<Box<str>>,
    server: Option<Box<str>>,
    client: Option<Box<str>>,
    session: Option<Box<str>>,
    trace: Option<Box<str>>,
    pid: Option<u32>,
}

impl Place {
    /// The place of an event.
    pub(super) fn of(event: &Event<'_>) -> Self {
        let keys = event.keys;
        Self {
            origin: event.origin,
            at: event.at,
            witness: event.witness,
            run: keys.run.map(Into::into),
            server: keys.server.map(Into::into),
            client: keys.client.map(Into::into),
            session: keys.session.map(Into::into),
            trace: keys.trace.map(Into::into),
            pid: keys.pid,
        }
    }

    /// A body for a joined text.
    pub(super) fn body<'a>(&'a self, text: &'a str, arena: &'a Bump) -> Body<'a> {
        let keys = Keys {
            run: self.run.as_deref(),
            server: self.server.as_deref(),
            client: self.client.as_deref(),
            session: self.session.as_deref(),
            trace: self.trace.as_deref(),
            pid: self.pid,
        };
        let record = Record { origin: self.origin, text, arena };
        Body { record, at: self.at, witness: self.witness, keys }
    }
}

/// Which writer within its source an event comes from. The witness is left out: one console mixes lines that tell
/// their party with lines that do not.
pub(super) fn stream_of(event: &Event<'_>) -> u64 {
    let keys = event.keys;
    if keys.run.is_none() && keys.server.is_none() && keys.client.is_none() {
        return 0;
    }
    let mut hasher = FxHasher::default();
    (keys.run, keys.server, keys.client).hash(&mut hasher);
    hasher.finish()
}
