//! Calls of one method and target in a run: asked for every call that is safe by itself, so they are judged once.

use rustc_hash::FxHashMap;

use super::{CallFacts, EffectClass, if_reached};
use crate::{
    correlate::{Call, Key},
    judge::{RunFacts, retry},
    symbol::Symbol,
};

/// The first two of some calls: one of them is another one than the call that asks.
type FirstTwo = [Option<u32>; 2];

/// The calls that may have acted, where not all of their name recorded their arguments.
#[derive(Debug, Default)]
pub(in crate::judge) struct Namesakes(FxHashMap<Name, Acted>);

type Name = (Symbol, Option<Symbol>);

#[derive(Debug, Default)]
struct Acted {
    all: FirstTwo,
    unrecorded: FirstTwo,
}

impl Namesakes {
    /// Judges the calls of a run whose name has a call without recorded arguments.
    pub(in crate::judge) fn of(run: &RunFacts<'_>) -> Self {
        let calls = || run.run.calls.iter().map(|index| (*index, &run.case.calls[*index as usize]));
        let mut namesakes = Self::default();
        for (_, call) in calls().filter(|(_, call)| unrecorded(call)) {
            namesakes.0.entry(name(call)).or_default();
        }
        for (index, call) in calls() {
            let Some(acted) = namesakes.0.get_mut(&name(call)) else { continue };
            if may_have_acted(run, index) {
                note(&mut acted.all, index);
                if unrecorded(call) {
                    note(&mut acted.unrecorded, index);
                }
            }
        }
        namesakes
    }

    /// Another call that may be the same operation, since not both recorded their arguments, and may have acted.
    pub(in crate::judge) fn beside(&self, facts: &CallFacts<'_>) -> Option<u32> {
        let acted = self.0.get(&name(facts.call))?;
        let fitting = if unrecorded(facts.call) { &acted.all } else { &acted.unrecorded };
        fitting.iter().flatten().copied().find(|index| *index != facts.index)
    }
}

fn name(call: &Call) -> Name {
    (call.method, call.target)
}

fn unrecorded(call: &Call) -> bool {
    call.args == Key::default()
}

fn note(first: &mut FirstTwo, index: u32) {
    if let Some(free) = first.iter_mut().find(|slot| slot.is_none()) {
        *free = Some(index);
    }
}

/// As among the attempts of one operation, what is proven unreached does not count, nor what may itself be sent again.
fn may_have_acted(run: &RunFacts<'_>, index: u32) -> bool {
    let facts = CallFacts::new(run.case, Some(run), index);
    facts.class == EffectClass::Undeclared
        && if_reached(&facts).is_some_and(|opinion| opinion.verdict != retry::Caution::Safe)
}
