//! The calls of a run that may have an effect, and what else may have made a contact that names no call: looked through
//! once for all contacts of the run.

use rustc_hash::{FxHashMap, FxHashSet};

use super::{Contact, Correlator, Key, Mark, Seen, StrandFact, windows::Windows};
use crate::{
    event::{Direction, Origin, SourceId, is_effect_free},
    symbol::Symbol,
};

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Effectful {
    /// There are some, in whatever direction.
    pub(super) any: bool,
    /// The sources that record their receipt.
    pub(super) received_in: FxHashSet<u32>,
    /// Those to the server.
    to_server: Vec<u32>,
    /// The calls that have no effect and whose end is on record.
    harmless: Vec<u32>,
    /// The same by when they may have been open, on the clock of each source that was asked for.
    harmless_windows: FxHashMap<u32, Windows>,
    /// Those by when they may have been open, on the clock of each source that was asked for.
    windows: FxHashMap<u32, Windows>,
    /// The same of those whose arguments nobody recorded, and that may call one target, or any.
    unrecorded: FxHashMap<(u32, Option<Symbol>), Windows>,
    /// Handshakes of the run by conversation and record.
    handshakes: Vec<(u32, Origin, Mark)>,
    /// Answers to requests that are not on record.
    orphans: Vec<Mark>,
    /// When the last of them may have come, on the clock of each source that was asked for.
    last_orphans: FxHashMap<u32, i64>,
}

impl Effectful {
    /// Those of a run.
    pub(super) fn of(correlator: &Correlator, run: u32) -> Self {
        let (mut effectful, case) = (Self::default(), &correlator.case);
        for index in &case.runs[run as usize].calls {
            let call = &case.calls[*index as usize];
            let method = case.name(call.method);
            if is_effect_free(method) {
                let begun = call.asked.filter(|_| method == "initialize");
                effectful.handshakes.extend(begun.map(|mark| (call.strand, mark.origin, mark)));
                if call.direction == Direction::ToServer && call.answered.is_some() {
                    effectful.harmless.push(*index);
                }
                continue;
            }
            effectful.any = true;
            if call.direction == Direction::ToServer {
                effectful.to_server.push(*index);
            }
            let received = case.seen(call).into_iter().filter(|row| row.seen == Seen::Received);
            effectful.received_in.extend(received.map(|row| row.mark.origin.source.0));
        }
        effectful.handshakes.sort_unstable_by_key(|(strand, origin, _)| (*strand, *origin));
        let events = case.runs[run as usize].strands.iter().flat_map(|strand| &case.strands[*strand as usize].events);
        let orphans =
            events.filter(|event| matches!(event.what, StrandFact::Unasked { direction: Direction::ToClient, .. }));
        effectful.orphans = orphans.map(|event| event.mark).collect();
        effectful
    }

    /// The calls to the server by when they may have been open, on the clock of a source.
    pub(super) fn on_clock(&mut self, correlator: &Correlator, clock: SourceId) -> &Windows {
        let calls = &self.to_server;
        self.windows
            .entry(clock.0)
            .or_insert_with(|| Windows::new(calls.iter().map(|call| Some(correlator.open_on(clock, *call)?.span))))
    }

    /// Whether a contact may be of a call that has no effect by its class: a list may ask other services.
    pub(super) fn may_be_a_harmless_ones(&mut self, correlator: &Correlator, contact: &Contact) -> bool {
        let clock = contact.attempt.origin.source;
        let calls = &self.harmless;
        let windows = self
            .harmless_windows
            .entry(clock.0)
            .or_insert_with(|| Windows::new(calls.iter().map(|call| Some(correlator.open_on(clock, *call)?.span))));
        let at = correlator.case.placed(contact.attempt);
        at.is_some_and(|at| windows.open_at(at.0, 0) != [None, None])
    }

    /// Whether a call whose arguments nobody recorded may have made a contact as well as the one whose arguments its body
    /// repeats.
    pub(super) fn may_be_an_unrecorded_ones(
        &mut self,
        correlator: &Correlator,
        repeating: u32,
        contact: &Contact,
    ) -> bool {
        let (calls, clock) = (&correlator.case.calls, contact.attempt.origin.source);
        let target = calls[repeating as usize].target;
        let to_server = &self.to_server;
        let windows = self.unrecorded.entry((clock.0, target)).or_insert_with(|| {
            let may_be = |index: &&u32| {
                let call = &calls[**index as usize];
                let same = call.target.is_none() || target.is_none() || call.target == target;
                call.args == Key::default() && call.pairs.is_empty() && same
            };
            let alike = to_server.iter().filter(may_be);
            Windows::new(alike.map(|call| Some(correlator.open_on(clock, *call)?.span)))
        });
        let at = correlator.case.placed(contact.attempt);
        windows.untimed || at.map_or(!windows.is_empty(), |at| windows.open_at(at.0, 0) != [None, None])
    }

    /// Whether a call whose request is not on record, but whose answer is, may have made a contact.
    pub(super) fn may_be_an_orphans(&mut self, correlator: &Correlator, contact: &Contact) -> bool {
        let clock = contact.attempt.origin.source;
        let orphans = &self.orphans;
        let last = *self.last_orphans.entry(clock.0).or_insert_with(|| {
            let latest = |mark: &Mark| correlator.place_on(clock, *mark).map_or(i64::MAX, |(_, latest)| latest);
            orphans.iter().map(latest).max().unwrap_or(i64::MIN)
        });
        !orphans.is_empty() && correlator.case.placed(contact.attempt).is_none_or(|at| last >= at.0)
    }

    /// Whether the client of a call may have begun another handshake before a contact was made: on one pipe that is
    /// another process.
    pub(super) fn connected_anew(&self, correlator: &Correlator, call: u32, contact: &Contact) -> bool {
        let call = &correlator.case.calls[call as usize];
        let Some(asked) = call.asked else { return false };
        let next =
            self.handshakes.partition_point(|(strand, origin, _)| (*strand, *origin) <= (call.strand, asked.origin));
        let Some((_, _, begun)) = self.handshakes.get(next).filter(|(strand, ..)| *strand == call.strand) else {
            return false;
        };
        let place = correlator.place_on(contact.attempt.origin.source, *begun);
        correlator.case.placed(contact.attempt).zip(place).is_none_or(|(at, (earliest, _))| earliest <= at.0)
    }
}
