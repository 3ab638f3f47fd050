//! Which calls the report speaks of, and what there is to say where none of them needs anything.
//!
//! It decides nothing: the selection is applied in `select`.

use super::{Desk, all_of, plural};
use crate::report::filter::Filter;

/// The calls the report speaks of.
#[derive(Debug)]
pub(super) struct Scope {
    /// What selects them, if anything.
    filter: Option<Filter>,
    /// All calls of the case.
    calls: u64,
    /// All runs of the case.
    runs: u64,
    /// One of the selected calls did not end well.
    failed: bool,
    /// Something that belongs to the capture was not read.
    lossy: bool,
}

impl Scope {
    pub(super) fn new(desk: &Desk<'_, '_>) -> Self {
        let mut calls = desk.report.verdicts.calls.iter();
        Self {
            filter: Filter::new(desk.report, &desk.names, &desk.selected),
            calls: desk.report.verdicts.totals.calls,
            runs: desk.report.case.runs.len() as u64,
            failed: calls.any(|(index, verdict)| !verdict.outcome.is_success() && desk.selected.call(*index)),
            lossy: desk.report.case.anywhere.is_lossy(),
        }
    }

    /// What there is to say where no call needs to be sent again.
    pub(super) fn nothing_failed(&self) -> String {
        if let Some(unmatched) = self.filter.as_ref().and_then(Filter::unmatched) {
            let rest = unmatched.strip_prefix('n').unwrap_or_default();
            return format!("N{rest}.");
        }
        match (self.calls, self.runs) {
            (0, 0) => return "No MCP run and no call was recognized in the input.".to_owned(),
            (0, _) => return "No call is on record, so there is nothing to retry.".to_owned(),
            _ => {}
        }
        if self.failed {
            return "Nothing to retry: what did not end well was answered, was done by a later attempt, or is a server's own question to its client."
                .to_owned();
        }
        let lost = if self.lossy { " Data was lost: a call that is missing here may have failed." } else { "" };
        match &self.filter {
            None => format!("Nothing to retry: {} ended well.{lost}", all_of(self.calls, "call")),
            Some(filter) => {
                let (matched, words) = (all_of(filter.calls, "call"), filter.words());
                format!(
                    "Nothing to retry: {matched} selected by {words} ended well (of {}).{lost}",
                    plural(self.calls, "call")
                )
            }
        }
    }
}
