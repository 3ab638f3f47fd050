//! Key events of the shown runs and calls, in order.
//!
//! Inside a call the order is causal, whatever the clocks say; between calls it is that of the placed times.

use super::{Desk, Rows, calls};
use crate::{correlate::Mark, judge::Place, report::names, time::Timestamp};

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
}

/// The moments of the shown calls and of the runs they belong to.
pub(super) fn timeline(desk: &Desk<'_, '_>) -> Rows<Moment> {
    let mut moments: Vec<(Option<Timestamp>, Moment)> = Vec::new();
    let shown = calls::shown(desk);
    for run in runs_of(desk, &shown) {
        run_moments(desk, run, &mut moments);
    }
    for call in shown {
        call_moments(desk, call, &mut moments);
    }
    // A moment without a time stays behind the one before it.
    moments.sort_by_key(|(at, _)| *at);
    let left = moments.len().saturating_sub(MOMENTS) as u64;
    Rows { shown: moments.into_iter().take(MOMENTS).map(|(_, moment)| moment).collect(), left }
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

fn run_moments(desk: &Desk<'_, '_>, run: usize, moments: &mut Vec<(Option<Timestamp>, Moment)>) {
    let Some(verdict) = desk.report.verdicts.runs.get(run) else { return };
    let who = desk.names.run(run);
    let mut last = None;
    for question in [&verdict.started, &verdict.initialized, &verdict.tools_listed] {
        if let Some(piece) = question.evidence.first()
            && let Place::Seen(mark) = piece.place
        {
            push(desk, &mut last, who, &piece.role, mark, moments);
        }
    }
    let exit = crate::judge::RunFacts::new(desk.report.case, run).exited;
    if let Some(exit) = exit {
        push(desk, &mut None, who, "the process ended", exit.mark, moments);
    }
}

fn call_moments(desk: &Desk<'_, '_>, call: u32, moments: &mut Vec<(Option<Timestamp>, Moment)>) {
    let verdict = &desk.report.verdicts.calls[&call];
    let who = format!("{} {}", names::call(call), desk.noun(call));
    let mut last = None;
    for piece in verdict.evidence.iter().take(PER_CALL) {
        if let Place::Seen(mark) = piece.place {
            push(desk, &mut last, &who, &piece.role, mark, moments);
        }
    }
}

fn push(
    desk: &Desk<'_, '_>,
    last: &mut Option<Timestamp>,
    who: &str,
    role: &str,
    mark: Mark,
    moments: &mut Vec<(Option<Timestamp>, Moment)>,
) {
    let placed = desk.report.case.placed(mark);
    let order = placed.max(*last);
    *last = order;
    let what = desk.names.text(role);
    let what = what.strip_prefix("shows that ").or_else(|| what.strip_prefix("shows ")).unwrap_or(&what).to_owned();
    let time = placed.map_or_else(|| "–".to_owned(), Timestamp::clock);
    moments.push((order, Moment { time, who: who.to_owned(), what }));
}
