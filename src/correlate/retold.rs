//! What clients, and the layers below them, tell of attempts that no call on record can be.

use rustc_hash::FxHashMap;

use super::{AnswerKind, Call, Correlator, Mark, StrandEvent, StrandFact};
use crate::{
    event::{RemarkKind, Witness},
    symbol::Symbol,
};

impl Correlator {
    /// Where a layer tells that it sends again, or a client tells of more attempts, failures or waits in vain than there
    /// are calls. Of those that are only counted, the first that is too many.
    pub(super) fn retold(&self) -> Vec<Mark> {
        let events = || self.case.strands.iter().flat_map(|strand| &strand.events);
        let resends = |event: &&StrandEvent| {
            event.what == StrandFact::Remark(RemarkKind::HiddenRetry) && event.witness != Witness::Server
        };
        let attempts = self.attempts();
        let all: i64 = attempts.values().sum();
        let beyond = |event: &&StrandEvent| {
            // A tool that no call names has no attempt; who names none may mean any.
            let known = event.name.map_or(all, |name| attempts.get(&name).copied().unwrap_or(0));
            counts_attempts(event.what) && event.number > known
        };
        let failed = |call: &Call| call.answer.kind != AnswerKind::Result;
        let timed_out = self.surplus(RemarkKind::TimedOut, |call| self.may_have_timed_out(call));
        let told = [RemarkKind::CallFailed, RemarkKind::HttpStatus].map(|kind| self.surplus(kind, failed));
        let counted = events().filter(|event| resends(event) || beyond(event)).map(|event| event.mark);
        counted.chain(timed_out).chain(self.successes_beyond()).chain(told.into_iter().flatten()).collect()
    }

    /// How often each tool was called, POSTs counted where they are recorded.
    fn attempts(&self) -> FxHashMap<Symbol, i64> {
        let mut attempts: FxHashMap<Symbol, i64> = FxHashMap::default();
        for call in &self.case.calls {
            let posts = self.case.http(call).map_or(1, |http| i64::from(http.posts));
            *attempts.entry(call.target.unwrap_or(call.method)).or_default() += posts;
        }
        attempts
    }

    /// Where a client tells of more successes of a tool than calls of it were answered with one.
    fn successes_beyond(&self) -> Vec<Mark> {
        use AnswerKind::{InputRequired, NotCaptured, Result, Task};
        let mut known: FxHashMap<Option<Symbol>, usize> = FxHashMap::default();
        let calls = self.case.calls.iter().filter(|call| call.target.is_some());
        for call in calls.filter(|call| matches!(call.answer.kind, Result | Task | InputRequired | NotCaptured)) {
            for name in [call.target, None] {
                *known.entry(name).or_default() += 1;
            }
        }
        let events = self.case.strands.iter().flat_map(|strand| &strand.events);
        let told = events.filter(|event| event.what == StrandFact::Remark(RemarkKind::CallSucceeded));
        let beyond = told.filter(|event| match known.get_mut(&event.name) {
            Some(left) if *left > 0 => {
                *left -= 1;
                false
            }
            _ => true,
        });
        beyond.map(|event| event.mark).collect()
    }

    /// The first of a client's remarks of one kind for which no call is left that it may be about.
    fn surplus(&self, kind: RemarkKind, about: impl Fn(&Call) -> bool) -> Option<Mark> {
        let events = self.case.strands.iter().flat_map(|strand| &strand.events);
        let told = |event: &&StrandEvent| event.witness == Witness::Client && event.what == StrandFact::Remark(kind);
        let calls = || self.case.calls.iter().filter(|call| about(call)).count();
        let mut remarks = events.filter(told).peekable();
        remarks.peek()?;
        remarks.nth(calls()).map(|event| event.mark)
    }

    fn may_have_timed_out(&self, call: &Call) -> bool {
        use AnswerKind::{HttpError, NotCaptured, StreamIncomplete};
        let by_hop = || self.case.http(call).is_none_or(|http| matches!(http.status, 0 | 408 | 504));
        match call.answer.kind {
            AnswerKind::None | StreamIncomplete | NotCaptured => true,
            HttpError => by_hop(),
            // Who gave up may have been answered all the same.
            _ => self.gave_up_on(call),
        }
    }

    fn gave_up_on(&self, call: &Call) -> bool {
        use super::Seen::{Cancelled, LateAnswer, TimedOut};
        self.case.sightings(call).any(|row| matches!(row.seen, Cancelled | LateAnswer | TimedOut))
    }
}

/// Whether a remark says which attempt it is about.
fn counts_attempts(what: StrandFact) -> bool {
    use RemarkKind::{CallFailed, CallSucceeded, TimedOut};
    matches!(what, StrandFact::Remark(CallFailed | CallSucceeded | TimedOut))
}
