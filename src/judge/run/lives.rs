//! Processes of one run that followed each other.
//!
//! A run over HTTP is put together from what its clients see as one server; its own logs may show several processes.

use super::RunFacts;
use crate::{
    correlate::{Mark, Seen, Strand, StrandEvent, StrandFact},
    event::{RemarkKind, TroubleKind, Witness},
    judge::CallFacts,
    time::Timestamp,
};

/// A crash behind a request that is open, and the end of the server's pipe behind the crash: the records that show them,
/// all in one source. Nobody recorded the end of the process, and its client had not stopped it.
pub(super) fn broke_down(facts: &RunFacts<'_>, call: &CallFacts<'_>) -> Option<(Mark, Mark)> {
    if facts.exited.is_some() || call.has(Seen::TimedOut) || call.has(Seen::Cancelled) {
        return None;
    }
    let behind =
        |earlier: Mark, later: Mark| earlier.origin.source == later.origin.source && earlier.origin < later.origin;
    let closed = |event: &&StrandEvent| {
        let of_server = event.name.is_some_and(|name| facts.case.name(name) == "server");
        event.what == StrandFact::Remark(RemarkKind::PipeClosed) && of_server
    };
    let events = || facts.strands.iter().flat_map(|strand| &strand.events);
    facts.troubles.iter().filter(|(kind, ..)| *kind != TroubleKind::BrokenPipe).find_map(|(_, crash, _)| {
        let open = call.seen.iter().any(|row| behind(row.mark, *crash));
        let end = events().filter(closed).find(|event| behind(*crash, event.mark))?;
        let stopped = facts.stopped_by_client.is_some_and(|stop| !behind(end.mark, stop));
        (open && !stopped).then_some((*crash, end.mark))
    })
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
