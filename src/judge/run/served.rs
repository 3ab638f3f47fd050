//! Methods that the server is seen to serve: asked for every call that says otherwise, so they are collected once.

use rustc_hash::FxHashMap;

use crate::{
    correlate::{AnswerKind, Call, Case, Run, Seen},
    symbol::Symbol,
};

/// The first call that shows it, and the first other one: a call is no witness about itself.
#[derive(Debug, Default)]
pub(super) struct Served(FxHashMap<Symbol, (u32, Option<u32>)>);

impl Served {
    /// Collects the methods of which a call was received, or answered in any other way than with "no such method".
    pub(super) fn of(case: &Case, run: &Run) -> Self {
        let mut served = Self::default();
        for index in &run.calls {
            let call = &case.calls[*index as usize];
            if shows_service(case, call) {
                let known = served.0.entry(call.method).or_insert((*index, None));
                known.1 = known.1.or(Some(*index).filter(|index| *index != known.0));
            }
        }
        served
    }

    /// Whether another call than this one shows it.
    pub(super) fn beside(&self, method: Symbol, call: u32) -> bool {
        self.0.get(&method).is_some_and(|(first, other)| *first != call || other.is_some())
    }
}

fn shows_service(case: &Case, call: &Call) -> bool {
    let same_refusal = call.answer.kind == AnswerKind::Error && call.answer.code == -32601;
    call.answer.kind != AnswerKind::None && !same_refusal
        || case.seen(call).iter().any(|row| matches!(row.seen, Seen::Received | Seen::Handled))
}
