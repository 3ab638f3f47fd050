//! Processes of one run that followed each other.
//!
//! A run over HTTP is put together from what its clients see as one server; its own logs may show several processes.

use super::RunFacts;
use crate::{
    correlate::{Mark, Seen, Strand, StrandEvent, StrandFact},
    event::{Origin, RemarkKind, TroubleKind, Witness},
    judge::CallFacts,
    time::Timestamp,
};

/// A crash behind a request that is open, and the end of the server's pipe behind the crash: the records that show them,
/// all in one source. Nobody recorded the end of the process, and its client had not stopped it.
pub(super) fn broke_down(facts: &RunFacts<'_>, call: &CallFacts<'_>) -> Option<(Mark, Mark)> {
    if facts.exited.is_some() || call.has(Seen::TimedOut) || call.has(Seen::Cancelled) {
        return None;
    }
    let breaks = facts.breaks();
    let behind = call.seen.iter().filter_map(|row| next(breaks, |(crash, _)| crash.origin, row.mark));
    behind.min_by_key(|(crash, _)| crash.origin)
}

/// The crashes of the server that the end of its pipe follows, in order, with that end.
pub(super) fn breaks(facts: &RunFacts<'_>) -> Vec<(Mark, Mark)> {
    let closed = |event: &&StrandEvent| {
        let of_server = event.name.is_some_and(|name| facts.case.name(name) == "server");
        event.what == StrandFact::Remark(RemarkKind::PipeClosed) && of_server
    };
    let events = facts.strands.iter().flat_map(|strand| &strand.events);
    let mut ends: Vec<Mark> = events.filter(closed).map(|event| event.mark).collect();
    ends.sort_unstable_by_key(|mark| mark.origin);
    let crashes = facts.troubles.iter().filter(|(kind, ..)| *kind != TroubleKind::BrokenPipe);
    let mut breaks: Vec<(Mark, Mark)> = crashes
        .filter_map(|(_, crash, _)| {
            let end = next(&ends, |end| end.origin, *crash)?;
            let stopped = facts.stopped_by_client.is_some_and(|stop| !behind(end, stop));
            (!stopped).then_some((*crash, end))
        })
        .collect();
    breaks.sort_unstable_by_key(|(crash, _)| crash.origin);
    breaks
}

/// The first of some records, in order, that stands behind a place in its source.
fn next<T: Copy>(sorted: &[T], origin: impl Fn(&T) -> Origin, place: Mark) -> Option<T> {
    let at = sorted.partition_point(|row| origin(row) <= place.origin);
    sorted.get(at).copied().filter(|row| origin(row).source == place.origin.source)
}

/// Whether one record stands behind another one in its source.
fn behind(earlier: Mark, later: Mark) -> bool {
    earlier.origin.source == later.origin.source && earlier.origin < later.origin
}

/// How many processes of the server began when another one of them had ended. Processes that lived side by side are
/// workers, and count for nothing.
pub(super) fn replaced(facts: &RunFacts<'_>) -> u32 {
    let own = |strand: &&&Strand| strand.witness == Witness::Server && !strand.wrapper && !strand.pids.is_empty();
    let lives: Vec<&Strand> = facts.strands.iter().filter(own).copied().collect();
    let follows =
        |life: &&&Strand| lives.iter().any(|other| other.pids[0] != life.pids[0] && before(facts, other, life));
    u32::try_from(lives.iter().filter(follows).count()).unwrap_or(u32::MAX)
}

/// Whether all that is recorded of one process stands before all of another one: by record order in one source, else by
/// their times.
fn before(facts: &RunFacts<'_>, one: &Strand, other: &Strand) -> bool {
    if one.source == other.source {
        return one.last.origin < other.first.origin;
    }
    let ends = span(facts, one).zip(span(facts, other));
    ends.is_some_and(|((_, end), (begin, _))| end <= begin)
}

/// The first and the last stamp of the source of a strand, placed on the common clock.
fn span(facts: &RunFacts<'_>, strand: &Strand) -> Option<(Timestamp, Timestamp)> {
    let source = facts.case.sources.get(strand.source as usize)?;
    let placed = |at: Timestamp| Timestamp(at.0.saturating_add(source.shift));
    facts.case.has_common_clock(strand.first).then_some(())?;
    Some((placed(source.first?), placed(source.last?)))
}
