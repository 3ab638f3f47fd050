//! Runs in words: a headline and the four questions.

use rayon::prelude::*;
use rustc_hash::FxHashMap;

use super::{Cite, Desk, RUNS, Rows, all_of, and_more, none_of, plural};
use crate::{
    correlate::{Case, Contact, Mark, NONE, Run, Transport},
    event::SourceId,
    judge::{Answer, Evidence, Outcome, RunFacts, RunVerdict, StopKind, run::Question},
    report::wire,
    symbol::Symbol,
};

/// Runs that are alike.
#[derive(Debug)]
pub(in crate::report) struct RunRow {
    /// `run-1`, or `run-1 and 2 more`.
    pub(in crate::report) name: String,
    /// One sentence, without the name.
    pub(in crate::report) headline: String,
    /// Started, initialized, tools listed, reached outside.
    pub(in crate::report) answers: [String; 4],
    /// Where it stopped, how the process ended, and where it reached the outside.
    pub(in crate::report) cites: Vec<Cite>,
    /// How many runs this row stands for.
    count: u64,
    /// Contacts with the outside of all of them.
    contacts: u64,
}

/// The runs that are shown; equal ones are one row.
pub(super) fn runs(desk: &Desk<'_, '_>) -> Rows<RunRow> {
    let failed = failed_by_run(desk);
    let none = Failed::default();
    let mut rows: Vec<(RunRow, usize)> = Vec::new();
    let mut known: FxHashMap<(String, [String; 4]), usize> = FxHashMap::default();
    let selected = desk.report.verdicts.runs.par_iter().filter(|run| desk.selected.run(run.index));
    let words = selected.map(|verdict| {
        let facts = RunFacts::new(desk.report.case, verdict.index);
        let run = u32::try_from(verdict.index).unwrap_or(NONE);
        let headline = headline(desk, &facts, verdict, failed.get(&run).unwrap_or(&none));
        let contacts = contacts(facts.case, facts.run).len() as u64;
        (verdict.index, headline, answers(&facts, verdict), contacts)
    });
    for (index, headline, answers, contacts) in words.collect::<Vec<_>>() {
        let slot = *known.entry((headline.clone(), answers.clone())).or_insert(rows.len());
        if let Some((row, _)) = rows.get_mut(slot) {
            row.count += 1;
            row.contacts += contacts;
            continue;
        }
        let row = RunRow { name: String::new(), headline, answers, cites: Vec::new(), count: 1, contacts };
        rows.push((row, index));
    }
    if rows.len() > RUNS {
        // Where not all can be shown, those that stopped come first, then those with failed calls.
        let well = |index: usize| {
            let stopped = desk.report.verdicts.runs.get(index).is_some_and(|run| run.stop.is_some());
            (!stopped, u32::try_from(index).is_ok_and(|run| !failed.contains_key(&run)))
        };
        rows.sort_by_key(|(_, index)| well(*index));
    }
    let left = rows.iter().skip(RUNS).map(|(row, _)| row.count).sum();
    let shown = rows.into_iter().take(RUNS).map(|(row, index)| {
        let name = and_more(desk.names.run(index), row.count);
        let headline = if row.count > 1 && row.contacts > 0 {
            format!("{} in each of them, {} in all.", row.headline.trim_end_matches('.'), row.contacts)
        } else {
            row.headline
        };
        RunRow { name, headline, cites: cites(desk, index), ..row }
    });
    Rows { shown: shown.collect(), left }
}

/// Calls of a run that did not end well.
#[derive(Default)]
struct Failed {
    all: u64,
    /// Of some of them no failure is on record: what they were answered, or how they go on, is not.
    open: bool,
    /// Steps of a negotiation that succeeded: they are none of those that did not end well.
    probes: u64,
    /// Requests of either side whose caller got no answer, or not all of it.
    unanswered: u64,
}

fn failed_by_run(desk: &Desk<'_, '_>) -> FxHashMap<u32, Failed> {
    let mut failed: FxHashMap<u32, Failed> = FxHashMap::default();
    for (index, verdict) in desk.report.verdicts.calls.iter().filter(|(_, verdict)| !verdict.outcome.is_success()) {
        let call = &desk.report.case.calls[*index as usize];
        let unanswered = matches!(verdict.outcome, Outcome::NoAnswer | Outcome::StreamIncomplete);
        let of_run = failed.entry(call.run).or_default();
        if verdict.is_probe {
            of_run.probes += 1;
            continue;
        }
        of_run.all += 1;
        of_run.open |=
            matches!(verdict.outcome, Outcome::AnswerNotCaptured | Outcome::TaskStarted | Outcome::InputRequired);
        of_run.unanswered += u64::from(unanswered);
    }
    failed
}

/// The places that show where the run stopped, why its restart verdict is what it is, and the first contact with the
/// outside.
fn cites(desk: &Desk<'_, '_>, index: usize) -> Vec<Cite> {
    let Some(verdict) = desk.report.verdicts.runs.get(index) else { return Vec::new() };
    let stop = verdict.stop.map(|stop| Evidence::seen(stop.row.shows, stop.mark));
    let restart = verdict.restart.proof.iter().skip(1).filter(|_| stop.is_some());
    let (mut cites, _) = desk.cite(stop.iter().chain(restart));
    cites.truncate(2);
    cites.extend(contact(desk, index, &cites));
    cites
}

/// The first contact of a run with the outside, where none of its records is among those cited already.
fn contact(desk: &Desk<'_, '_>, index: usize, cites: &[Cite]) -> Option<Cite> {
    let case = desk.report.case;
    let contacts = contacts(case, case.runs.get(index)?);
    let is_cited = |mark: Mark| cites.iter().any(|cite| cite.origin == mark.origin);
    if contacts.iter().any(|contact| is_cited(contact.attempt) || contact.result.is_some_and(is_cited)) {
        return None;
    }
    let shows = Evidence::seen("shows a contact with the outside", contacts.first()?.attempt);
    desk.cite([&shows]).0.pop()
}

fn headline(desk: &Desk<'_, '_>, facts: &RunFacts<'_>, verdict: &RunVerdict, failed: &Failed) -> String {
    let mut who: Vec<&str> = facts.server().map(|server| desk.names.name(server)).into_iter().collect();
    if facts.transport() != Transport::Unknown {
        who.push(facts.transport().name());
    }
    let who = if who.is_empty() { String::new() } else { format!(" ({})", who.join(", ")) };
    let mut parts = vec![progress(facts, verdict), end(facts, verdict, failed.unanswered), calls(facts, failed)];
    parts.push(reached(desk, facts, verdict));
    parts.retain(|part| !part.is_empty());
    format!("{who}: {}.", parts.join("; "))
}

fn progress(facts: &RunFacts<'_>, verdict: &RunVerdict) -> String {
    if verdict.started.answer == Answer::No {
        return "not started".to_owned();
    }
    let started = if verdict.started.answer == Answer::Yes { "started" } else { "start not recorded" };
    let initialized = match verdict.initialized.answer {
        Answer::Yes => "initialized",
        Answer::No => "not initialized",
        Answer::Unknown => "no complete handshake on record",
    };
    let tools = match (facts.tools.map(wire::tool_count), verdict.tools_listed.answer) {
        (Some(count), _) => plural(count, "tool"),
        (None, Answer::Yes) => "tools listed".to_owned(),
        (None, Answer::No) => "tools not listed".to_owned(),
        (None, Answer::Unknown) => "no tool list on record".to_owned(),
    };
    let again = match verdict.replaced {
        0 => String::new(),
        1 => ", process replaced once".to_owned(),
        times => format!(", process replaced {times} times"),
    };
    format!("{started}, {initialized}, {tools}{again}")
}

fn end(facts: &RunFacts<'_>, verdict: &RunVerdict, unanswered: u64) -> String {
    let stop = match verdict.stop {
        Some(stop) => format!("{} {} (look at: {})", stop_words(stop.kind), stop.row.name, stop.owner.name()),
        None if unanswered > 0 => format!("{} without an answer to its caller", plural(unanswered, "request")),
        None => "nothing left open".to_owned(),
    };
    let exit = facts.exited.and_then(|exit| match (exit.code, exit.signal) {
        (_, Some(signal)) => Some(format!("killed by signal {signal}")),
        (Some(code), None) if code != 0 => Some(format!("exited with code {code}")),
        _ => None,
    });
    match exit {
        Some(exit) => format!("{stop}; {exit}"),
        None => stop,
    }
}

/// A run stopped only where its end is on record: an open request alone ends nothing.
fn stop_words(kind: StopKind) -> &'static str {
    match kind {
        StopKind::Ended => "stopped at",
        StopKind::LeftOpen => "left open at",
        StopKind::LastSeen => "last seen at",
    }
}

fn calls(facts: &RunFacts<'_>, failed: &Failed) -> String {
    let all = (facts.run.calls.len() as u64).saturating_sub(failed.probes);
    match (failed.probes, all) {
        (0, _) => ended(all, failed),
        (1, 0) => "its only call was a step of the negotiation".to_owned(),
        (probes, 0) => format!("{} were steps of the negotiation", all_of(probes, "call")),
        (probes, _) => format!("{}, beside {} of the negotiation", ended(all, failed), plural(probes, "step")),
    }
}

fn ended(all: u64, failed: &Failed) -> String {
    match (all, failed.all) {
        (0, _) => "no calls".to_owned(),
        (1, 0) => "its only call ended well".to_owned(),
        (all, 0) => format!("{} ended well", all_of(all, "call")),
        (1, _) if failed.open => "its only call has no success on record".to_owned(),
        (all, failed_calls) if failed.open => {
            format!("{failed_calls} of {all} calls {} no success on record", have(failed_calls))
        }
        (1, _) => "its only call did not end well".to_owned(),
        (all, failed) if all == failed => format!("{} ended well", none_of(all, "call")),
        (all, failed) => format!("{failed} of {all} calls did not end well"),
    }
}

fn have(count: u64) -> &'static str {
    if count == 1 { "has" } else { "have" }
}

/// `reached outside: yes, 2 contacts with A and B`.
fn reached(desk: &Desk<'_, '_>, facts: &RunFacts<'_>, verdict: &RunVerdict) -> String {
    let answer = verdict.reached_outside.answer;
    let assumed = desk.assumed(&verdict.reached_outside.assumptions);
    let assumed = assumed.map_or_else(String::new, |assumed| format!(", assumed that {assumed}"));
    if answer != Answer::Yes {
        return format!("reached outside: {}{assumed}", answer.name());
    }
    let contacts = contacts(facts.case, facts.run);
    let mut targets: Vec<Target> = Vec::new();
    for contact in &contacts {
        let target = Target::of(facts.case, contact);
        if !targets.contains(&target) && targets.len() < 64 {
            targets.push(target);
        }
    }
    let named: Vec<String> = targets.iter().take(2).map(|target| target.name(desk)).collect();
    let more = targets.len().saturating_sub(named.len());
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let count = plural(contacts.len() as u64, "contact");
    let named = named.join(if more.is_empty() { " and " } else { ", " });
    format!("reached outside: yes, {count} with {named}{more}{assumed}")
}

/// What was contacted: by its name, or as the service that wrote a log without naming itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Target {
    Named(Symbol),
    WriterOf(SourceId),
}

impl Target {
    pub(super) fn of(case: &Case, contact: &Contact) -> Self {
        match case.name(contact.target) {
            "service of this log" => Self::WriterOf(contact.attempt.origin.source),
            _ => Self::Named(contact.target),
        }
    }

    /// As it is shown. A contact whose record names no target has the target `unknown`.
    pub(super) fn name(self, desk: &Desk<'_, '_>) -> String {
        match self {
            Self::WriterOf(source) => format!("the service whose log is {}", desk.path(source.0 as usize)),
            Self::Named(target) => match desk.names.name(target) {
                "unknown" => "a target that is not named".to_owned(),
                name => name.to_owned(),
            },
        }
    }
}

/// The contacts of a run with the outside, in and outside calls, of which bytes went out or may have.
pub(super) fn contacts<'c>(case: &'c Case, run: &Run) -> Vec<&'c Contact> {
    let outside = run.contacts.iter().map(|contact| &case.contacts[*contact as usize]);
    let inside = run.calls.iter().flat_map(|call| case.contacts_of(*call));
    outside.chain(inside).filter(|contact| contact.is_reach()).collect()
}

fn answers(facts: &RunFacts<'_>, verdict: &RunVerdict) -> [String; 4] {
    let word = |question: &Question| match question.answer {
        Answer::Unknown => "unknown".to_owned(),
        answer => format!("{}, {}", answer.name(), question.basis.name()),
    };
    let tools = match (facts.tools, verdict.tools_listed.answer) {
        (Some(list), Answer::Yes) => {
            format!("yes, {}, {}", wire::tool_count(list), verdict.tools_listed.basis.name())
        }
        _ => word(&verdict.tools_listed),
    };
    [word(&verdict.started), word(&verdict.initialized), tools, word(&verdict.reached_outside)]
}
