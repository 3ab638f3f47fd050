//! Which calls the report speaks of, and what there is to say where none of them needs anything.
//!
//! It decides nothing: the selection is applied in `select`.

use super::{Desk, all_of, handles::Handles, plural};
use crate::{event::Direction, judge::Helps, report::filter::Filter};

/// The calls the report speaks of.
#[derive(Debug)]
pub(super) struct Scope {
    /// What selects them, if anything.
    filter: Option<Filter>,
    /// All calls of the case.
    calls: u64,
    /// All runs of the case.
    runs: u64,
    /// The selected calls that did not end well, by why they need nothing.
    failed: Failed,
    /// Something that belongs to the capture was not read.
    lossy: bool,
}

impl Scope {
    pub(super) fn new(desk: &Desk<'_, '_>) -> Self {
        Self {
            filter: Filter::new(desk.report, &desk.names, &desk.selected),
            calls: desk.report.verdicts.totals.calls,
            runs: desk.report.case.runs.len() as u64,
            failed: Failed::new(desk),
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
        if let Some(words) = self.failed.words() {
            return format!("Nothing to retry: {words}.");
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

/// Calls that did not end well and that nobody has to send again.
#[derive(Debug, Default)]
struct Failed {
    questions: Handles,
    done: Handles,
    answered: Handles,
    probes: Handles,
}

impl Failed {
    fn new(desk: &Desk<'_, '_>) -> Self {
        let mut failed = Self::default();
        let calls = desk.report.verdicts.calls.iter().filter(|(_, verdict)| !verdict.outcome.is_success());
        for (index, verdict) in calls.filter(|(index, _)| desk.selected.call(**index)) {
            let is_question = desk.report.case.calls[*index as usize].direction == Direction::ToClient;
            match verdict.retry.helps {
                _ if is_question => failed.questions.add(*index),
                _ if verdict.is_probe => failed.probes.add(*index),
                Helps::AlreadyDone => failed.done.add(*index),
                _ => failed.answered.add(*index),
            }
        }
        failed
    }

    /// `c2 was done by a later attempt; c4 is the server's own question to its client`.
    fn words(&self) -> Option<String> {
        let kinds = [
            (&self.done, "was done by a later attempt", "were done by later attempts"),
            (
                &self.answered,
                "was answered, though what it was told is not on record",
                "were answered, though what they were told is not on record",
            ),
            (&self.probes, "is a step of a negotiation that succeeded", "are steps of negotiations that succeeded"),
            (
                &self.questions,
                "is the server's own question to its client",
                "are the server's own questions to its client",
            ),
        ];
        let told = kinds.iter().filter(|(calls, ..)| !calls.is_empty());
        let told =
            told.map(|(calls, one, many)| format!("{} {}", calls.text(), if calls.is_one() { one } else { many }));
        let told: Vec<String> = told.collect();
        (!told.is_empty()).then(|| told.join("; "))
    }
}
