//! What to do first: press retry on these, never on these, fetch this to decide the rest.

use std::fmt::Write as _;

use rustc_hash::FxHashMap;

use super::{Desk, and_more, calls::done, plural, repair::repairs};
use crate::{
    event::Direction,
    judge::{Assumption, CallVerdict, Caution, Condition, Helps, Missing, Opinion, Outcome, RunVerdict},
    report::{fetch, names},
    symbol::Symbol,
};

/// At most so many rows of one class.
const ROWS: usize = 8;

/// What to do with a call or a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(in crate::report) enum Class {
    /// What keeps a server from working at all.
    Repair,
    /// Press retry.
    Retry,
    /// Press retry when a condition holds.
    RetryIf,
    /// Never press retry.
    Never,
    /// An artifact decides.
    Open,
    /// Harmless and useless.
    Useless,
    /// Start the server again, or not.
    Restart,
}

impl Class {
    /// The heading of the class.
    pub(in crate::report) fn title(self) -> &'static str {
        match self {
            Self::Repair => "Repair first",
            Self::Retry => "Press retry on these",
            Self::RetryIf => "Press retry on these only under the condition named",
            Self::Never => "Never press retry on these",
            Self::Open => "Not decided: fetch the artifact named to decide these",
            Self::Useless => "A retry does no harm and does not help: repair the cause first",
            Self::Restart => "Starting the server again",
        }
    }

    /// Whether its rows are about calls.
    pub(in crate::report) fn is_about_calls(self) -> bool {
        !matches!(self, Self::Repair | Self::Restart)
    }
}

/// One class with its rows.
#[derive(Debug)]
pub(in crate::report) struct Advice {
    /// The class.
    pub(in crate::report) class: Class,
    /// The rows.
    pub(in crate::report) rows: Vec<AdviceRow>,
    /// Rows that were left out.
    left: u64,
}

impl Advice {
    /// `2 more kinds of calls`, if rows were left out.
    pub(in crate::report) fn rest(&self) -> Option<String> {
        (self.left > 0).then(|| format!("{} of calls", plural(self.left, "more kind")))
    }
}

/// What to do with calls that are alike.
#[derive(Debug)]
pub(in crate::report) struct AdviceRow {
    /// Tool or server.
    pub(in crate::report) subject: String,
    /// `c3 and 11 more`, or the runs.
    pub(in crate::report) which: String,
    /// Why, with the condition or the artifact.
    pub(in crate::report) text: String,
}

/// Calls with equal advice.
#[derive(PartialEq, Eq, Hash)]
struct Key<'v> {
    class: Class,
    method: Symbol,
    target: Option<Symbol>,
    reason: &'v str,
    conditions: &'v [Condition],
    assumptions: &'v [Assumption],
}

/// The classes that have rows, in order.
pub(super) fn advice(desk: &Desk<'_, '_>) -> Vec<Advice> {
    let mut groups: Vec<(Key<'_>, u32, u64)> = Vec::new();
    let mut known: FxHashMap<Key<'_>, usize> = FxHashMap::default();
    let failed = desk.report.verdicts.calls.iter().filter(|(_, verdict)| !verdict.outcome.is_success());
    let asked = failed.filter(|(index, verdict)| desk.selected.call(**index) && concerns(desk, **index, verdict));
    for (index, verdict) in asked {
        let slot = *known.entry(key(desk, *index, verdict)).or_insert(groups.len());
        match groups.get_mut(slot) {
            Some(group) => group.2 += 1,
            None => groups.push((key(desk, *index, verdict), *index, 1)),
        }
    }
    let mut rows: Vec<(Class, AdviceRow)> =
        groups.iter().map(|(key, first, count)| (key.class, call_row(desk, *first, *count))).collect();
    rows.extend(repairs(desk).into_iter().map(|row| (Class::Repair, row)));
    rows.extend(restarts(desk).into_iter().map(|row| (Class::Restart, row)));
    rows.sort_by_key(|(class, _)| *class);
    let mut advice: Vec<Advice> = Vec::new();
    for (class, row) in rows {
        match advice.last_mut().filter(|last| last.class == class) {
            Some(last) if last.rows.len() >= ROWS => last.left += 1,
            Some(last) => last.rows.push(row),
            None => advice.push(Advice { class, rows: vec![row], left: 0 }),
        }
    }
    advice
}

/// Whether a person could press retry, and would: what a server asks its client is not theirs to send, and what did no
/// harm and was answered, or was done by a later attempt, needs nothing.
fn concerns(desk: &Desk<'_, '_>, index: u32, verdict: &CallVerdict) -> bool {
    let answered = verdict.outcome == Outcome::AnswerNotCaptured || verdict.retry.helps == Helps::AlreadyDone;
    let answered = answered && verdict.retry.verdict == Caution::Safe || verdict.is_probe;
    desk.report.case.calls[index as usize].direction == Direction::ToServer && !answered
}

fn key<'v>(desk: &Desk<'_, 'v>, index: u32, verdict: &'v CallVerdict) -> Key<'v> {
    let call = &desk.report.case.calls[index as usize];
    let (reason, conditions) = (&*verdict.retry.reason, &verdict.retry.conditions[..]);
    let assumptions = &verdict.retry.assumptions[..];
    Key { class: class(&verdict.retry), method: call.method, target: call.target, reason, conditions, assumptions }
}

fn class(retry: &Opinion) -> Class {
    match (retry.verdict, retry.helps) {
        (Caution::Unsafe, _) => Class::Never,
        (Caution::Unknown, _) => Class::Open,
        (Caution::Safe, Helps::No | Helps::AlreadyDone) => Class::Useless,
        (Caution::SafeIf, _) => Class::RetryIf,
        (Caution::Safe, _) => Class::Retry,
    }
}

fn call_row(desk: &Desk<'_, '_>, first: u32, count: u64) -> AdviceRow {
    let verdict = &desk.report.verdicts.calls[&first];
    let call = &desk.report.case.calls[first as usize];
    let mut text = String::new();
    if let Some(condition) = desk.places().conditions(&verdict.retry) {
        text = format!("only if {condition}. ");
    }
    text.push_str(&desk.names.text(&verdict.retry.reason));
    if let Some(assumed) = desk.assumed(&verdict.retry.assumptions) {
        let _ = write!(text, " Assumed: {assumed}.");
    }
    let wait = desk.report.case.http(call).map(|http| http.retry_after).filter(|wait| *wait != crate::correlate::NONE);
    if let Some(wait) = wait.filter(|_| verdict.retry.verdict <= Caution::SafeIf) {
        let _ = write!(text, " Wait {} s first, as the answer asks.", wait.div_ceil(1000));
    }
    if verdict.retry.verdict == Caution::Unknown && verdict.retry.helps == Helps::No {
        text.push_str(" As things stand, it would fail again.");
    }
    match (verdict.retry.verdict, verdict.missing.first()) {
        (Caution::Unknown, Some(missing)) => {
            text.push_str(&to_fetch(desk, first, missing, "To decide it"));
        }
        (Caution::Unknown, None) => text.push_str(" No artifact is known that would decide it."),
        (Caution::SafeIf, _) if verdict.retry.helps == Helps::No => text.push_str(" It will fail again."),
        (Caution::SafeIf, Some(missing)) => text.push_str(&to_fetch(desk, first, missing, "To check more")),
        (_, _) if verdict.retry.helps == Helps::AlreadyDone => text.push_str(done(desk, first, verdict)),
        _ => {}
    }
    AdviceRow { subject: desk.noun(first), which: and_more(&names::call(first), count), text }
}

/// The cheapest artifact, and what to look for in it.
fn to_fetch(desk: &Desk<'_, '_>, call: u32, missing: &Missing, why: &str) -> String {
    let artifact = fetch::artifact(&desk.places(), call, missing);
    format!(" {why}, fetch {artifact}, and look for {}.", missing.artifact.row().look)
}

/// Servers whose run did not end in order, with equal verdicts. Without a name, runs with equal verdicts are one row.
fn restarts(desk: &Desk<'_, '_>) -> Vec<AdviceRow> {
    let mut rows: Vec<(String, usize, u64)> = Vec::new();
    let mut known: FxHashMap<(Option<Symbol>, String), usize> = FxHashMap::default();
    let stopped = desk.report.verdicts.runs.iter().filter(|run| run.stop.is_some());
    for run in stopped.filter(|run| desk.selected.run(run.index)) {
        let text = restart_text(desk, run);
        let slot = *known.entry((desk.server(run.index), text.clone())).or_insert(rows.len());
        match rows.get_mut(slot) {
            Some(row) => row.2 += 1,
            None => rows.push((text, run.index, 1)),
        }
    }
    let row = |(mut text, first, count): (String, usize, u64)| {
        // The first of equal runs was followed by the most restarts.
        let restarts = desk.report.verdicts.runs.get(first).map_or(0, |run| run.restarts);
        if restarts > 0 {
            let _ = write!(text, " It was started again {} already.", plural(u64::from(restarts), "time"));
        }
        if count > 1 {
            text.push_str(&contacts_of_all(desk, first, count));
        }
        let name = desk.names.run(first);
        match desk.server(first) {
            Some(server) => {
                AdviceRow { subject: desk.names.name(server).to_owned(), which: and_more(name, count), text }
            }
            None => AdviceRow { subject: and_more(name, count), which: String::new(), text },
        }
    };
    rows.into_iter().map(row).collect()
}

/// How often runs that share a row reached outside together: the row itself speaks of one start.
fn contacts_of_all(desk: &Desk<'_, '_>, first: usize, count: u64) -> String {
    let (server, text) = (desk.server(first), desk.report.verdicts.runs.get(first).map(|run| restart_text(desk, run)));
    let stopped = desk.report.verdicts.runs.iter().filter(|run| run.stop.is_some() && desk.selected.run(run.index));
    let alike = stopped.filter(|run| desk.server(run.index) == server && Some(restart_text(desk, run)) == text);
    let contacts: u64 =
        alike.map(|run| run.reach.targets.iter().map(|target| u64::from(target.attempts)).sum::<u64>()).sum();
    if contacts == 0 {
        String::new()
    } else {
        format!(" The {count} starts on record did so {} together.", plural(contacts, "time"))
    }
}

fn restart_text(desk: &Desk<'_, '_>, run: &RunVerdict) -> String {
    let verdict = match run.restart.verdict {
        Caution::Safe => "safe".to_owned(),
        Caution::SafeIf => match desk.places().conditions(&run.restart) {
            Some(condition) => format!("only if {condition}"),
            None => "under a condition".to_owned(),
        },
        Caution::Unknown => "not decided".to_owned(),
        Caution::Unsafe => "not safe".to_owned(),
    };
    let mut text = format!("{verdict}. {}", desk.names.text(&run.restart.reason));
    if let Some(assumed) = desk.assumed(&run.restart.assumptions) {
        let _ = write!(text, " Assumed: {assumed}.");
    }
    text
}
