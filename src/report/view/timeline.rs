//! Key events of the shown runs and calls, in order.
//!
//! Inside a call the order is causal, whatever the clocks say; between calls it is that of the placed times.

use super::{Desk, Rows, calls, runs};
use crate::{
    correlate::Mark,
    event::Witness,
    judge::{Evidence, Place},
    report::names,
    time::Timestamp,
};

/// At most so many moments.
const MOMENTS: usize = 60;
/// At most so many moments of one call.
const PER_CALL: usize = 8;

/// One moment.
#[derive(Debug)]
pub(in crate::report) struct Moment {
    /// Time of day.
    pub(in crate::report) time: String,
    /// Call or run.
    pub(in crate::report) who: String,
    /// What happened.
    pub(in crate::report) what: String,
    /// Whose record says so.
    pub(in crate::report) witness: &'static str,
}

/// A moment before it is put in order.
struct Entry {
    order: Option<Timestamp>,
    mark: Mark,
    moment: Moment,
}

/// The moments of the shown calls and of the runs they belong to.
pub(super) fn timeline(desk: &Desk<'_, '_>) -> Rows<Moment> {
    let mut entries: Vec<Entry> = Vec::new();
    let shown = calls::shown(desk);
    for run in runs_of(desk, &shown) {
        run_moments(desk, run, &shown, &mut entries);
    }
    let of_runs: Vec<Mark> = entries.iter().map(|entry| entry.mark).collect();
    for call in shown {
        call_moments(desk, call, &of_runs, &mut entries);
    }
    // A moment without a time stays behind the one before it.
    entries.sort_by_key(|entry| entry.order);
    let left = entries.len().saturating_sub(MOMENTS) as u64;
    Rows { shown: entries.into_iter().take(MOMENTS).map(|entry| entry.moment).collect(), left }
}

fn runs_of(desk: &Desk<'_, '_>, calls: &[u32]) -> Vec<usize> {
    let stopped = desk.report.verdicts.runs.iter().filter(|run| run.stop.is_some() && desk.selected.run(run.index));
    let mut runs: Vec<usize> = stopped.map(|run| run.index).take(super::RUNS).collect();
    runs.extend(calls.iter().map(|call| desk.report.case.calls[*call as usize].run as usize));
    runs.sort_unstable();
    runs.dedup();
    runs.truncate(super::RUNS);
    runs
}

fn run_moments(desk: &Desk<'_, '_>, run: usize, shown: &[u32], entries: &mut Vec<Entry>) {
    let Some(verdict) = desk.report.verdicts.runs.get(run) else { return };
    let who = desk.names.run(run);
    let mut last = None;
    for question in [&verdict.started, &verdict.initialized, &verdict.tools_listed] {
        if let Some((role, mark)) = question.evidence.first().and_then(seen) {
            push(desk, &mut last, who, role, mark, entries);
        }
    }
    let exit = crate::judge::RunFacts::new(desk.report.case, run).exited;
    if let Some(exit) = exit.filter(|exit| entries.iter().all(|entry| entry.mark != exit.mark)) {
        push(desk, &mut None, who, "the process ended", exit.mark, entries);
    }
    contacts(desk, run, shown, entries);
}

/// Contacts with the outside that no shown call tells of.
fn contacts(desk: &Desk<'_, '_>, run: usize, shown: &[u32], entries: &mut Vec<Entry>) {
    let case = desk.report.case;
    let Some(facts) = case.runs.get(run) else { return };
    let who = desk.names.run(run);
    let others = runs::contacts(case, facts).into_iter().filter(|contact| !shown.contains(&contact.call));
    for contact in others.take(PER_CALL) {
        let method = contact.method.map_or("contact", |method| desk.names.name(method));
        let what = format!("{method} to the outside: {}", runs::Target::of(case, contact).name(desk));
        push(desk, &mut None, who, &what, contact.attempt, entries);
        // A log of a service has no witness of its own where its name says nothing.
        if let Some(entry) = entries.last_mut() {
            entry.moment.witness = contact.witness.name();
        }
    }
}

/// What the run's own moments say already is not said again.
fn call_moments(desk: &Desk<'_, '_>, call: u32, of_runs: &[Mark], entries: &mut Vec<Entry>) {
    let verdict = &desk.report.verdicts.calls[&call];
    let who = format!("{} {}", names::call(call), desk.noun(call));
    let pieces = verdict.evidence.iter().filter_map(seen).filter(|(_, mark)| !of_runs.contains(mark));
    let mut pieces: Vec<(&str, Mark)> = pieces.take(PER_CALL).collect();
    // Several witnesses of one event: the earliest record first.
    for alike in pieces.chunk_by_mut(|one, two| one.0 == two.0) {
        alike.sort_by_key(|(_, mark)| desk.report.case.shown(*mark));
    }
    let mut last = None;
    for (role, mark) in pieces {
        push(desk, &mut last, &who, role, mark, entries);
    }
}

fn seen(piece: &Evidence) -> Option<(&str, Mark)> {
    match piece.place {
        Place::Seen(mark) => Some((&*piece.role, mark)),
        _ => None,
    }
}

fn push(
    desk: &Desk<'_, '_>,
    last: &mut Option<Timestamp>,
    who: &str,
    role: &str,
    mark: Mark,
    entries: &mut Vec<Entry>,
) {
    let placed = desk.report.case.shown(mark);
    let order = placed.max(*last);
    *last = order;
    let what = desk.names.text(role);
    let what = what.strip_prefix("shows that ").or_else(|| what.strip_prefix("shows ")).unwrap_or(&what).to_owned();
    let time = placed.map_or_else(|| "–".to_owned(), Timestamp::clock);
    let source = desk.report.case.sources.get(mark.origin.source.0 as usize);
    let witness = source.and_then(|source| source.witness).map_or("–", Witness::name);
    entries.push(Entry { order, mark, moment: Moment { time, who: who.to_owned(), what, witness } });
}
