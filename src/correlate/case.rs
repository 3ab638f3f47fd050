//! The case: everything known after correlation, as `judge` sees it.

use rustc_hash::FxHashMap;

use super::{
    Call, Clocks, Contact, DeclaredKeys, HttpFacts, Mark, NONE, Operation, Run, Servers, Sighting, SourceFacts, Strand,
    Stray, Streams, Told,
};
use crate::{
    event::SourceId,
    symbol::{Symbol, Symbols},
    time::{Shape, Timestamp},
};

/// Everything known after correlation: the whole input of `judge`.
#[derive(Debug, Default)]
pub struct Case {
    /// Names.
    pub symbols: Symbols,
    /// One per source, in source order.
    pub sources: Vec<SourceFacts>,
    /// Runs, by first place.
    pub runs: Vec<Run>,
    /// Conversations.
    pub strands: Vec<Strand>,
    /// Calls, by first place.
    pub calls: Vec<Call>,
    /// Further sightings of calls, as linked lists.
    pub sightings: Vec<Sighting>,
    /// HTTP sides of calls.
    pub http: Vec<HttpFacts>,
    /// Contacts with the outside.
    pub contacts: Vec<Contact>,
    /// Operations with two attempts or more.
    pub operations: Vec<Operation>,
    /// Operation of each call that is in one.
    pub operation_of: FxHashMap<u32, u32>,
    /// Contacts that fit several runs, or none: they may belong to any.
    pub loose: Vec<u32>,
    /// Runs by server.
    pub servers: Servers,
    /// Contacts of each call that has any, in order.
    pub contacts_of: FxHashMap<u32, Vec<u32>>,
    /// What the stamps that all others are placed by have.
    pub clock: Option<Shape>,
    /// How far the clocks of the sources are apart.
    pub clocks: Clocks,
    /// What no call accounts for.
    pub stray: Stray,
    /// Event streams that carry messages of no call.
    pub streams: Streams,
    /// Keys of requests, where the operator says that they stand.
    pub declared_keys: DeclaredKeys,
    /// What holds somewhere in it.
    pub anywhere: Anywhere,
    /// Every event by its place, if it was asked for.
    pub trail: Vec<Told>,
}

/// What holds somewhere in a case: rules ask it for every call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Anywhere {
    /// The sources of which data was lost while they were read, or before.
    pub lossy_sources: Vec<SourceId>,
    /// Something that belongs to the capture could not be read, and is no source.
    pub unread: bool,
    /// Hidden files or folders that may hold logs were left out.
    pub hidden: bool,
    /// The log of an outside service is among the sources.
    pub service_log: bool,
    /// Bytes of a contact with the outside went out, or may have, that belongs to no call.
    pub reach_outside_calls: bool,
}

impl Anywhere {
    /// Whether data was lost: absence is no evidence.
    pub fn is_lossy(&self) -> bool {
        self.unread || !self.lossy_sources.is_empty()
    }
}

impl Case {
    /// Notes again what depends on which contacts are with the outside.
    pub fn note_reach(&mut self) {
        let mut outside = self.runs.iter().flat_map(|run| &run.contacts).chain(&self.loose);
        let reach = outside.any(|contact| self.contacts[*contact as usize].is_reach());
        self.anywhere.reach_outside_calls = reach;
    }

    /// The name behind a symbol.
    pub fn name(&self, symbol: Symbol) -> &str {
        self.symbols.name(symbol)
    }

    /// The further sightings of a call, in order of recording.
    pub fn sightings(&self, call: &Call) -> impl Iterator<Item = &Sighting> {
        // The list is a ring, known by its last row: so a row is added without walking it.
        let last = self.sightings.get(call.sightings as usize);
        let mut next = last.map(|last| last.next);
        std::iter::from_fn(move || {
            let index = next?;
            let row = self.sightings.get(index as usize)?;
            next = (index != call.sightings).then_some(row.next);
            Some(row)
        })
    }

    /// All that any witness saw of a call: first sightings, then the further ones.
    pub fn seen(&self, call: &Call) -> Vec<Sighting> {
        let mut all = Vec::with_capacity(4);
        if let Some(mark) = call.asked {
            all.push(Sighting { seen: call.asked_as, witness: call.witness, mark, number: 0, next: NONE });
        }
        if let Some(mark) = call.answered {
            all.push(Sighting { seen: call.answered_as, witness: call.witness, mark, number: 0, next: NONE });
        }
        all.extend(self.sightings(call).copied());
        all
    }

    /// The HTTP side of a call.
    pub fn http(&self, call: &Call) -> Option<&HttpFacts> {
        self.http.get(call.http as usize)
    }

    /// The contacts of a call.
    pub fn contacts_of(&self, call: u32) -> impl Iterator<Item = &Contact> {
        self.contacts_of.get(&call).into_iter().flatten().map(|index| &self.contacts[*index as usize])
    }

    /// Whether the clock of a record's source was not seen to be set while it was written.
    pub fn is_steady(&self, mark: Mark) -> bool {
        self.sources[mark.origin.source.0 as usize].stepped.is_none()
    }

    /// An instant, placed: recorded time plus the shift of its source. A clock that was set orders nothing.
    pub fn placed(&self, mark: Mark) -> Option<Timestamp> {
        self.shown(mark).filter(|_| self.is_steady(mark))
    }

    /// The same to be read, not to be compared.
    pub fn shown(&self, mark: Mark) -> Option<Timestamp> {
        let source = &self.sources[mark.origin.source.0 as usize];
        mark.at.map(|at| Timestamp(at.0.saturating_add(source.shift)))
    }

    /// Whether the stamps of a record's source are of a known zone, or were placed beside others.
    pub fn has_common_clock(&self, mark: Mark) -> bool {
        let source = &self.sources[mark.origin.source.0 as usize];
        source.stepped.is_none() && (source.shape.is_some() && source.shape == self.clock || source.aligned)
    }

    /// An instant, placed, where it can be compared with those of other sources.
    pub fn on_common_clock(&self, mark: Mark) -> Option<Timestamp> {
        self.placed(mark).filter(|_| self.has_common_clock(mark))
    }

    /// Whether a call may have made a contact, as far as arguments and clocks tell: those of the contact repeat its
    /// own, or the call was open within what is not known of the clocks.
    pub fn may_have_made(&self, call: &Call, contact: &Contact) -> bool {
        if !contact.pairs.is_empty() && call.pairs.repeats(contact.pairs) {
            return true;
        }
        let (Some(asked), Some(at)) = (call.asked, self.placed(contact.attempt)) else { return true };
        let offset = self.clocks.offset(contact.attempt.origin.source, asked.origin.source);
        let (first, last) = offset.place(at.0);
        let placed = |mark: Option<Mark>| mark.and_then(|mark| self.placed(mark)).map(|at| at.0);
        placed(Some(asked)).is_none_or(|from| last >= from) && placed(call.answered).is_none_or(|to| first <= to)
    }

    /// The first place of a call.
    pub fn place(&self, call: &Call) -> Mark {
        call.asked.or(call.answered).expect("a call has at least one sighting")
    }
}
