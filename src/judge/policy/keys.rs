//! When each declared key was used first, and whether it is still one.

use rustc_hash::FxHashMap;

use super::{
    contrary::{Contradiction, Contrary, in_order, under_other_keys},
    terms::Grant,
};
use crate::{
    correlate::{Case, Key, Mark},
    symbol::Symbol,
    time::{Shape, Timestamp},
};

/// What is known of the use of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyUse {
    /// First use on record. None where the time of a use is not known as an instant.
    pub first: Option<Timestamp>,
    /// The captures go on behind the end of its life, or it was used for something else: it protects nothing.
    pub spent: bool,
}

/// The uses of all declared keys. A key that the tool does not pass on is none.
pub(super) fn uses(
    case: &Case,
    grants: &mut [Grant],
    of_call: &FxHashMap<u32, u32>,
    out: &mut Vec<Contradiction>,
) -> FxHashMap<(u32, u64), KeyUse> {
    let mut order: Vec<(u32, u64)> = Vec::new();
    let mut calls: FxHashMap<(u32, u64), Vec<u32>> = FxHashMap::default();
    for (call, grant) in in_order(of_call) {
        let key = case.declared_key(&case.calls[call as usize]);
        if key != 0 && grants[grant as usize].key.is_some() {
            let group = calls.entry((grant, key)).or_default();
            if group.is_empty() {
                order.push((grant, key));
            }
            group.push(call);
        }
    }
    let everywhere = everywhere(case);
    let latest = latest(case);
    let mut uses = FxHashMap::default();
    let mut struck: Vec<u32> = Vec::new();
    for (grant, key) in order {
        let (calls, facts) = (&calls[&(grant, key)], &grants[grant as usize]);
        let Some(term) = &facts.key else { continue };
        let mut note = |what: Contrary, call: u32, mark: Mark| {
            let (tool, assumption) = (Some(facts.tool), term.assumption.clone());
            let run = case.calls[call as usize].run;
            out.push(Contradiction { what, tool, assumption, run, call: Some(call), mark });
        };
        let reused = other_payload(case, calls);
        if let Some(call) = reused {
            note(Contrary::Reused, call, case.place(&case.calls[call as usize]));
        }
        for (call, mark) in under_other_keys(case, calls) {
            note(Contrary::NotPassedOn, call, mark);
            struck.push(grant);
        }
        let first = everywhere.get(&(facts.tool, key)).and_then(|calls| first_use(case, calls));
        let end = first.zip(term.lifetime.as_ref()).map(|(first, (lifetime, _))| first.0.saturating_add(*lifetime));
        let over = end.zip(latest).is_some_and(|(end, latest)| latest.0 >= end);
        uses.insert((grant, key), KeyUse { first, spent: over || reused.is_some() });
    }
    for grant in struck {
        grants[grant as usize].key = None;
    }
    uses
}

/// The calls of all servers by tool and key: behind another server there may be the same receiver.
fn everywhere(case: &Case) -> FxHashMap<(Symbol, u64), Vec<u32>> {
    let mut calls: FxHashMap<(Symbol, u64), Vec<u32>> = FxHashMap::default();
    if case.declared_keys.is_empty() {
        return calls;
    }
    for (index, call) in (0_u32..).zip(&case.calls) {
        let key = case.declared_key(call);
        if let Some(tool) = call.target.filter(|_| key != 0) {
            calls.entry((tool, key)).or_default().push(index);
        }
    }
    calls
}

/// A call with the same key and other arguments. Arguments that nobody recorded whole are not compared.
fn other_payload(case: &Case, calls: &[u32]) -> Option<u32> {
    let args = |call: &u32| case.calls[*call as usize].args;
    let mut recorded = calls.iter().copied().filter(|call| args(call) != Key::default());
    let first = recorded.next()?;
    recorded.find(|call| args(call) != args(&first))
}

/// The earliest time at which one of the calls was asked, if all of them are known.
fn first_use(case: &Case, calls: &[u32]) -> Option<Timestamp> {
    let asked = calls.iter().map(|call| instant(case, case.calls[*call as usize].asked?));
    asked.collect::<Option<Vec<_>>>()?.into_iter().min()
}

/// A time with its date and zone.
fn instant(case: &Case, mark: Mark) -> Option<Timestamp> {
    let source = case.sources.get(mark.origin.source.0 as usize)?;
    mark.at.filter(|_| source.shape == Some(Shape::Utc) && source.stepped.is_none())
}

/// The latest instant of all sources.
fn latest(case: &Case) -> Option<Timestamp> {
    let dated = case.sources.iter().filter(|source| source.shape == Some(Shape::Utc));
    dated.filter_map(|source| source.last).max()
}
