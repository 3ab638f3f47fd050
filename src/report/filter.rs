//! The options that select, in words, and how much they let through.
//!
//! What they select is decided in `select`.

use super::{Report, Selection, names::Names, redact, select::Selected};

/// The longest value that is repeated, in characters.
const VALUE_LIMIT: usize = 80;

/// The options that select, and what they select.
#[derive(Debug)]
pub(super) struct Filter {
    /// Name and value of each option, fit to print.
    pub(super) options: Vec<(&'static str, String)>,
    /// Runs that are shown.
    pub(super) runs: u64,
    /// Calls that are shown, if calls like them are listed.
    pub(super) calls: u64,
    /// All runs and all calls of the case.
    of: (u64, u64),
}

impl Filter {
    /// None where nothing is selected, so that everything is shown.
    pub(super) fn new(report: &Report<'_>, names: &Names<'_>, selected: &Selected<'_>) -> Option<Self> {
        let options = options(&report.options.select, names);
        if options.is_empty() {
            return None;
        }
        let (all_runs, all_calls) = (report.case.runs.len(), report.case.calls.len());
        let runs = (0..all_runs).filter(|index| selected.run(*index)).count() as u64;
        let calls = (0..).take(all_calls).filter(|index| selected.call(*index)).count() as u64;
        Some(Self { options, runs, calls, of: (all_runs as u64, all_calls as u64) })
    }

    /// `--run a and --tool b`.
    pub(super) fn words(&self) -> String {
        let words: Vec<String> = self.options.iter().map(|(name, value)| format!("--{name} {value}")).collect();
        words.join(" and ")
    }

    /// Says that nothing is shown though there is something: a misspelled name must not read like a good report.
    pub(super) fn unmatched(&self) -> Option<String> {
        let (noun, count) = match (self.calls, self.of.1, self.runs, self.of.0) {
            (0, calls @ 1.., ..) => ("call", calls),
            (_, 0, 0, runs @ 1..) => ("run", runs),
            _ => return None,
        };
        let without = if self.options.len() == 1 { "it" } else { "them" };
        let there = if count == 1 { format!("is 1 {noun}") } else { format!("are {count} {noun}s") };
        Some(format!("no {noun} matches {}; without {without} there {there}", self.words()))
    }
}

/// Name and value of each option that selects.
fn options(select: &Selection, names: &Names<'_>) -> Vec<(&'static str, String)> {
    let name = |value: &Option<String>| value.as_ref().map(|value| redact::quote(&names.text(value), VALUE_LIMIT));
    let rows = [
        ("run", name(&select.run)),
        ("server", name(&select.server)),
        ("tool", name(&select.tool)),
        ("since", select.since.map(|at| at.rfc3339(0))),
        ("until", select.until.map(|at| at.rfc3339(0))),
    ];
    rows.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
}
