//! What would have been recorded: the windows in which the absence of a record speaks.
//!
//! | absent is | speaks in | from | to |
//! |---|---|---|---|
//! | a contact of a call | a kernel trace with network and children of every process of the server on record | the `execve` of the process | its exit |
//! | a contact of a call | the server's own log, where the policy calls it complete | the call's receipt in it | the call's end in it |
//! | a contact of a call, by the channels it is seen to record | the server's own log | as above, and the contact that shows the channel | as above |
//! | a contact outside calls | a kernel trace, as above | the `execve` of the process | its exit |
//! | a contact outside calls, by the channels it is seen to record | the server's own log | the process's start in it | its last record |
//! | the handshake | a tap that shows the process being created | its creation | its exit |
//! | the answer to `initialize` | the tap that holds the request | the request | the end of the process |
//! | a second dispatch | the log of the hop in front, for the exchange that it tells of | the exchange | the exchange |
//!
//! A window ends at a break of its source ([`Breaks`](crate::correlate::Breaks)): something lost, dropped or not
//! understood, a level that was raised, a clock that goes back. A missing *receipt* never proves anything: no source is
//! known to record all of them. Whether a *source* that lost something may lack other attempts of the same operation is
//! asked by the doubts of `retry`, and not here.

use super::{CallFacts, RunFacts, policy::Assumption, run::Trace};
use crate::{
    correlate::{Call, Case, Mark, Seen, Strand, StrandFact, Transport, Why},
    event::{Origin, PhaseEvent, RemarkKind, Witness},
    time::{SECOND, Timestamp},
};

/// What would have recorded a contact of a call.
#[derive(Clone, Copy, Debug)]
pub(super) enum Recorder<'c> {
    /// A kernel trace over the life of the process.
    Trace,
    /// The server's log, which records every contact by the word of the operator.
    Complete(&'c Assumption),
    /// The server's log, which recorded an attempt of this very process.
    Channel(Mark),
}

/// The window of a call: its receipt and its end, as the server itself recorded them, and what covers the time between.
#[derive(Clone, Copy, Debug)]
pub(super) struct Window<'c> {
    /// The receipt.
    pub(super) received: Mark,
    /// The end.
    pub(super) ended: Mark,
    /// What would have recorded a contact.
    pub(super) by: Recorder<'c>,
}

/// The window of a call in which a contact would be on record. The end is one of `ends`.
pub(super) fn of_call<'c>(facts: &CallFacts<'c>, ends: &[Seen]) -> Option<Window<'c>> {
    let run = facts.run?;
    let own = || facts.seen.iter().filter(|row| row.witness == Witness::Server);
    let received = own().find(|row| row.seen == Seen::Received)?.mark;
    let mut ended = own().filter(|row| ends.contains(&row.seen)).map(|row| row.mark);
    // The end that another party tells of may be that of another process, or none at all.
    let source = received.origin.source;
    let ended = ended.find(|end| end.origin.source == source && end.origin > received.origin)?;
    if traced(facts).is_some() {
        return Some(Window { received, ended, by: Recorder::Trace });
    }
    let whole = |from: Mark, to: Mark| break_between(facts.case, from.origin, to.origin).is_none();
    if !whole(received, ended) {
        return None;
    }
    if let Some(assumption) = run.terms.and_then(|terms| terms.complete(source)) {
        return Some(Window { received, ended, by: Recorder::Complete(assumption) });
    }
    // Between the contact that shows the channel and this call the log must not have begun to record less.
    let channel = run.records_attempts.filter(|mark| mark.origin.source == source)?;
    let (from, to) = (channel.origin.min(received.origin), channel.origin.max(ended.origin));
    let shown = break_between(facts.case, from, to).is_none();
    shown.then_some(Window { received, ended, by: Recorder::Channel(channel) })
}

/// The kernel trace in which a contact of a call would be on record, whatever recorded the call: the trace follows every
/// process of the server that is on record, and the call does not lie outside its time.
pub(super) fn traced(facts: &CallFacts<'_>) -> Option<Trace> {
    let trace = facts.run?.trace?;
    let at = |mark: Mark| facts.case.on_common_clock(mark);
    let (from, to) = (at(trace.from), at(trace.to));
    let outside = |mark: Mark| {
        let Some(at) = at(mark) else { return false };
        from.is_some_and(|from| later(from, at)) || to.is_some_and(|to| later(at, to))
    };
    let ends = [facts.call.asked, facts.call.answered];
    (!ends.into_iter().flatten().any(outside)).then_some(trace)
}

/// A receipt of the call in another log of a server than that of its window: another process may have had it as well.
pub(super) fn received_elsewhere(facts: &CallFacts<'_>, window: &Window<'_>) -> Option<Mark> {
    let own = facts.seen.iter().filter(|row| row.witness == Witness::Server && row.seen == Seen::Received);
    own.map(|row| row.mark).find(|mark| mark.origin.source != window.received.origin.source)
}

/// Whether nothing shows that a hop in front gave the request to one process only.
pub(super) fn may_be_dispatched_again(facts: &CallFacts<'_>) -> bool {
    facts.http.is_some() && !facts.has(Seen::ForwardedOnce)
}

/// Clocks of one incident are taken to agree so far and no further.
const AGREE: i64 = 10 * SECOND;

fn later(one: Timestamp, other: Timestamp) -> bool {
    one.0.saturating_sub(other.0) > AGREE
}

/// Whether a process of the server is on record that none of these traced ones is: a call may have been its.
pub(super) fn is_partly_traced(run: &RunFacts<'_>, traced: &[u32]) -> bool {
    let own = |strand: &&&Strand| strand.witness == Witness::Server && !strand.wrapper;
    let untraced = |strand: &Strand| !strand.pids.iter().any(|pid| traced.contains(pid));
    let named = run.strands.iter().filter(own).any(|strand| strand.pids.iter().any(|pid| !traced.contains(pid)));
    // Over HTTP one server may be several processes: a log that names none of them may be that of another one.
    let http = matches!(run.transport(), Transport::StreamableHttp | Transport::Sse);
    let log = |strand: &Strand| run.strands.iter().any(|other| other.source == strand.source && !untraced(other));
    let nameless = || run.strands.iter().filter(own).any(|strand| !strand.calls.is_empty() && !log(strand));
    named || http && nameless()
}

/// The contact that shows that the server's own log records attempts, where that log holds the life of the process from
/// its start on and is whole.
pub(super) fn life_in_log(run: &RunFacts<'_>) -> Option<Mark> {
    let channel = run.records_attempts?;
    let source = channel.origin.source;
    let facts = &run.case.sources[source.0 as usize];
    let strands = || run.strands.iter().filter(|strand| strand.source == source.0 && strand.witness == Witness::Server);
    let begins = |strand: &&Strand| {
        let start = strand.events.iter().find(|event| is_start(event.what));
        start.is_some_and(|start| {
            strand.calls.iter().all(|call| start.mark.origin < run.case.place(&run.case.calls[*call as usize]).origin)
        })
    };
    (!facts.lossy && facts.breaks.first().is_none() && strands().any(begins)).then_some(channel)
}

/// The window in which a handshake would be on record: a tap between both sides shows the process being created and
/// ending. A log of either side may be one that does not record messages at all.
pub(super) fn handshake_in_tap(run: &RunFacts<'_>) -> Option<(Mark, Mark)> {
    run.strands.iter().find_map(|strand| {
        let find = |what: StrandFact| strand.events.iter().find(|event| event.what == what).map(|event| event.mark);
        let from = find(StrandFact::Step(PhaseEvent::Spawned))?;
        let to = find(StrandFact::Step(PhaseEvent::Exited)).or_else(|| find(StrandFact::Signaled))?;
        let places = || strand.calls.iter().map(|call| run.case.place(&run.case.calls[*call as usize]).origin);
        let within = places().all(|place| from.origin < place && place < to.origin);
        (is_tap(strand) && within && is_whole(run.case, from, to)).then_some((from, to))
    })
}

/// Whether the answer to a request would be on record up to the end of the process: the tap that holds the request lost
/// nothing of what came behind it.
pub(super) fn answer_in_tap(run: &RunFacts<'_>, call: &Call, end: Mark) -> bool {
    let Some(asked) = call.asked else { return false };
    let strand = &run.case.strands[call.strand as usize];
    let same = asked.origin.source == end.origin.source;
    let after = if same {
        asked.origin < end.origin
    } else {
        let at = |mark: Mark| run.case.on_common_clock(mark);
        at(asked).zip(at(end)).is_none_or(|(asked, end)| !later(asked, end))
    };
    let to = if same { end } else { strand.last };
    is_tap(strand) && strand.source == asked.origin.source.0 && after && is_whole(run.case, asked, to)
}

/// Whether a conversation was recorded between both sides, where the messages of both pass.
fn is_tap(strand: &Strand) -> bool {
    strand.witness == Witness::Proxy && !matches!(strand.transport, Transport::StreamableHttp | Transport::Sse)
}

fn is_whole(case: &Case, from: Mark, to: Mark) -> bool {
    !case.sources[from.origin.source.0 as usize].lossy && break_between(case, from.origin, to.origin).is_none()
}

/// Whether an event shows the process at its start: what it did before is not on record.
fn is_start(what: StrandFact) -> bool {
    matches!(
        what,
        StrandFact::Step(PhaseEvent::Spawned | PhaseEvent::SpawnRequested | PhaseEvent::ExecutableReady)
            | StrandFact::Remark(RemarkKind::ProcessStarted | RemarkKind::Listening | RemarkKind::InstanceStart)
    )
}

/// Why the record between two places of one source may lack something.
pub(super) fn break_between(case: &Case, from: Origin, to: Origin) -> Option<Why> {
    Some(case.sources[from.source.0 as usize].breaks.between(from, to)?.why)
}
