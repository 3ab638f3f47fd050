//! Calls of one kind share one verdict: a batch has millions that differ in nothing a rule asks about.

use rustc_hash::FxHashMap;

use super::CallVerdict;
use crate::{
    correlate::{AnswerFacts, AnswerKind, Case, NONE, Seen},
    event::{Direction, Witness, Wording},
    judge::RunFacts,
    symbol::Symbol,
};

/// Calls that differ in nothing a rule asks about share one verdict. Only calls without any sighting beyond request and
/// answer, in runs without any fact beyond their calls, are told apart so easily; all others are judged one by one.
#[derive(Debug, Default)]
pub(in crate::judge) struct PlainCalls(FxHashMap<Plain, [&'static str; 4]>);

/// Everything that rules can ask about such a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Plain {
    method: Symbol,
    asked_as: Seen,
    answered_as: Seen,
    witness: Witness,
    direction: Direction,
    answer: AnswerFacts,
    asked: bool,
    answered: bool,
}

impl PlainCalls {
    /// The words of a call like one that was judged before and need not be kept.
    pub(in crate::judge) fn known(&self, case: &Case, runs: &[RunFacts<'_>], index: u32) -> Option<[&'static str; 4]> {
        self.0.get(&plain(case, runs, index)?).copied()
    }

    /// Remembers the words of a call.
    pub(in crate::judge) fn learn(&mut self, case: &Case, runs: &[RunFacts<'_>], index: u32, verdict: &CallVerdict) {
        if let Some(plain) = plain(case, runs, index) {
            self.0.insert(plain, verdict.names());
        }
    }
}

fn plain(case: &Case, runs: &[RunFacts<'_>], index: u32) -> Option<Plain> {
    let call = &case.calls[index as usize];
    let run = runs.get(call.run as usize)?;
    // A request without an answer is judged by what its process did afterwards.
    let open = matches!(call.answer.kind, AnswerKind::None | AnswerKind::NotSent);
    let simple = !open
        && call.answer.kind != AnswerKind::NotCaptured
        // What refuses is weighed by times and by what stands beside it.
        && !may_be_refusal(&call.answer)
        && call.sightings == NONE
        && call.http == NONE
        && !call.contested
        && call.idempotency_key == 0
        && call.state_sent == 0
        && call.state_given == 0
        && run.is_plain()
        && !case.contacts_of.contains_key(&index)
        && !case.operation_of.contains_key(&index)
        && run.terms.and_then(|terms| terms.of_call(index)).is_none();
    simple.then_some(Plain {
        method: call.method,
        asked_as: call.asked_as,
        answered_as: call.answered_as,
        witness: call.witness,
        direction: call.direction,
        answer: call.answer,
        asked: call.asked.is_some(),
        answered: call.answered.is_some(),
    })
}

/// Whether a rule may call the request refused: then it asks what else was told in that time, and by whom.
fn may_be_refusal(answer: &AnswerFacts) -> bool {
    answer.wording != Wording::Other
        || answer.names_target
        || answer.has_code && (-32700..=-32600).contains(&answer.code)
}
