//! The client had an answer and rejected it: the server had finished.

use super::{Attempt, Caution, Doc, Helps, Opinion, RetryRule};
use crate::{correlate::Seen, event::Wording, judge::Proof};

/// See [`RetryRule::doc`].
pub(super) static RULE: RetryRule = RetryRule {
    id: "rejected-answer",
    title: "The client rejected an answer",
    doc: Doc {
        means: "An SDK checked the answer against the tool's output schema, or could not parse it, and raised an error of its own. The tool had run.",
        recognized: "An SDK's text about output schema, structured content or an unparsable answer.",
        is_not: "An error of the server.",
        to_do: "Do not send it again. Repair the output schema or the client.",
    },
    check,
};

fn check(attempt: &Attempt<'_, '_>) -> Option<Opinion> {
    if !attempt.may_harm() {
        return None;
    }
    let rejected = attempt.facts.first(Seen::AnswerRejected).map(|row| row.mark);
    let worded = attempt.facts.call.answered.filter(|_| attempt.facts.call.answer.wording == Wording::OutputValidation);
    let mark = rejected.or(worded)?;
    let proof = Proof::seen("shows that an answer was there and was rejected", mark);
    let reason = "The tool had run: its answer was rejected afterwards.";
    Some(Opinion::new(Caution::Unsafe, RULE.id, reason, Helps::AlreadyDone, proof))
}
