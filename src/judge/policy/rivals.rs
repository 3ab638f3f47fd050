//! Other calls of an absorbing tool: sending a call again may undo what a later one has set.

use rustc_hash::FxHashMap;

use super::{Effect, contrary::in_order, terms::Grant};
use crate::correlate::{Case, Key};

/// How many calls before one are looked at that may still have run when it was asked.
const NEAR: usize = 256;

/// The calls of one absorbing tool, in the order of the case.
#[derive(Clone, Debug, Default)]
pub(super) struct Rivals {
    calls: Vec<u32>,
    /// The first call, and the first one that differs from it; the same from behind.
    first: Two,
    last: Two,
}

type Two = [Option<u32>; 2];

/// The calls of all absorbing tools.
pub(super) fn of(case: &Case, grants: &[Grant], of_call: &FxHashMap<u32, u32>) -> FxHashMap<u32, Rivals> {
    let mut rivals: FxHashMap<u32, Rivals> = FxHashMap::default();
    for (call, grant) in in_order(of_call) {
        let effect = grants[grant as usize].effect.as_ref();
        if effect.is_some_and(|(effect, _)| *effect == Effect::Absorbing) {
            let known = rivals.entry(grant).or_default();
            known.calls.push(call);
            match known.first {
                [None, _] => known.first[0] = Some(call),
                [Some(first), None] if differ(case, first, call) => known.first[1] = Some(call),
                _ => {}
            }
            // Of the calls so far, the last one, and the last one that differs from it.
            match known.last[0] {
                Some(last) if differ(case, last, call) => known.last = [Some(call), Some(last)],
                _ => known.last[0] = Some(call),
            }
        }
    }
    rivals
}

/// Calls whose arguments nobody recorded may differ from all others.
fn differ(case: &Case, one: u32, other: u32) -> bool {
    let args = |call: u32| case.calls[call as usize].args;
    one != other && (args(one) != args(other) || args(one) == Key::default())
}

impl Rivals {
    /// Only the order of records in one source tells what came before.
    pub(super) fn since(&self, case: &Case, call: u32) -> Option<u32> {
        let other_than = |two: Two| two.into_iter().flatten().find(|other| differ(case, *other, call));
        let source = |call: u32| case.place(&case.calls[call as usize]).origin.source;
        let elsewhere = other_than(self.first).filter(|first| source(*first) != source(call));
        let behind = other_than(self.last).filter(|last| *last > call);
        let near = || {
            let at = self.calls.partition_point(|other| *other < call);
            let mut before = self.calls[..at].iter().rev().take(NEAR).copied();
            before.find(|other| differ(case, *other, call) && !ended_before(case, *other, call))
        };
        elsewhere.or(behind).or_else(near)
    }
}

fn ended_before(case: &Case, other: u32, call: u32) -> bool {
    let asked = case.place(&case.calls[call as usize]).origin;
    let answered = case.calls[other as usize].answered.map(|mark| mark.origin);
    answered.is_some_and(|answered| answered.source == asked.source && answered < asked)
}
