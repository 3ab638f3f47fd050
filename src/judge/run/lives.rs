//! Processes of one run that followed each other.
//!
//! A run over HTTP is put together from what its clients see as one server; its own logs may show several processes.

use super::RunFacts;
use crate::{correlate::Strand, event::Witness, time::Timestamp};

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
