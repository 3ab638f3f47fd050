//! What the records say against the policy. A declaration that they contradict is struck, for all calls that it is about.

use rustc_hash::FxHashMap;

use super::{Assumption, Effect, terms::Grant};
use crate::{
    correlate::{Case, Contact, ContactKind, Mark, NONE},
    judge::retry::writes,
    symbol::Symbol,
};

/// How the records contradict a declaration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Contrary {
    /// A tool without effects sent something to a service.
    Wrote,
    /// Two equal calls of an absorbing tool made two things, or came to the service as two intents.
    Added,
    /// Two equal calls with one key came to the service under two keys.
    NotPassedOn,
    /// One key stands in calls with different arguments.
    Reused,
    /// A source that records every contact lacks one.
    Missed,
}

/// One place at which the records contradict a declaration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Contradiction {
    /// How.
    pub what: Contrary,
    /// The tool, where it is about one.
    pub tool: Option<Symbol>,
    /// The declaration.
    pub assumption: Assumption,
    /// The run, or [`NONE`].
    pub run: u32,
    /// The call.
    pub call: Option<u32>,
    /// The record.
    pub mark: Mark,
}

/// Strikes the effects that records contradict.
pub(super) fn strike(case: &Case, grants: &mut [Grant], of_call: &FxHashMap<u32, u32>, out: &mut Vec<Contradiction>) {
    let mut struck = vec![false; grants.len()];
    let mut note = |what: Contrary, grant: u32, call: u32, mark: Mark| {
        let facts = &grants[grant as usize];
        let Some((_, assumption)) = &facts.effect else { return };
        let run = case.calls[call as usize].run;
        struck[grant as usize] = true;
        out.push(Contradiction {
            what,
            tool: Some(facts.tool),
            assumption: assumption.clone(),
            run,
            call: Some(call),
            mark,
        });
    };
    for (call, grant) in in_order(of_call) {
        if effect(grants, grant) == Some(Effect::None) {
            for contact in case.contacts_of(call).filter(|contact| is_write(case, contact)) {
                note(Contrary::Wrote, grant, call, contact.attempt);
            }
        }
    }
    for operation in &case.operations {
        let Some(grant) = operation.attempts.iter().find_map(|call| of_call.get(call)) else { continue };
        if effect(grants, *grant) == Some(Effect::Absorbing) {
            for (call, mark) in added(case, &operation.attempts) {
                note(Contrary::Added, *grant, call, mark);
            }
        }
    }
    for (grant, _) in grants.iter_mut().zip(struck).filter(|(_, struck)| *struck) {
        grant.effect = None;
    }
}

fn effect(grants: &[Grant], grant: u32) -> Option<Effect> {
    grants[grant as usize].effect.as_ref().map(|(effect, _)| *effect)
}

/// Calls with what is declared about them, in the order of the case.
pub(super) fn in_order(of_call: &FxHashMap<u32, u32>) -> Vec<(u32, u32)> {
    let mut calls: Vec<(u32, u32)> = of_call.iter().map(|(call, grant)| (*call, *grant)).collect();
    calls.sort_unstable();
    calls
}

/// More than GET or HEAD to something outside that keeps what it is told.
fn is_write(case: &Case, contact: &Contact) -> bool {
    contact.is_reach()
        && matches!(contact.kind, ContactKind::Service | ContactKind::Credential)
        && writes(case, contact)
}

/// Where a contact is told apart: target, method, path.
type Spot = (Symbol, Option<Symbol>, Option<Symbol>);

/// Attempts that made something that an earlier one had made (201 Created, RFC 9110 15.3.2), or that came to the same
/// place under another key.
fn added(case: &Case, attempts: &[u32]) -> Vec<(u32, Mark)> {
    let mut created: FxHashMap<Spot, u32> = FxHashMap::default();
    let mut found = under_other_keys(case, attempts);
    for call in attempts {
        for contact in case.contacts_of(*call).filter(|contact| contact.status == 201 && writes(case, contact)) {
            let first = *created.entry((contact.target, contact.method, contact.path)).or_insert(*call);
            if first != *call {
                found.push((*call, contact.result.unwrap_or(contact.attempt)));
            }
        }
    }
    found
}

/// Attempts whose contacts came to the same place under another key than those of an earlier one.
pub(super) fn under_other_keys(case: &Case, attempts: &[u32]) -> Vec<(u32, Mark)> {
    let mut keys: FxHashMap<Spot, u64> = FxHashMap::default();
    let mut found = Vec::new();
    for call in attempts {
        for contact in case.contacts_of(*call).filter(|contact| contact.idempotency_key != 0) {
            let key = contact.idempotency_key;
            if *keys.entry((contact.target, contact.method, contact.path)).or_insert(key) != key {
                found.push((*call, contact.attempt));
            }
        }
    }
    found
}

/// A contact of a run that a source tells of, and that this source does not have.
pub(super) fn missed(case: &Case, source: u32) -> Option<&Contact> {
    let tells_of = |run: u32| {
        let run = case.runs.get(run as usize)?;
        run.strands.iter().find(|strand| case.strands[**strand as usize].source == source)
    };
    let has = |mark: Mark| mark.origin.source.0 == source;
    case.contacts.iter().find(|contact| {
        contact.is_reach()
            && contact.run != NONE
            && !has(contact.attempt)
            && !contact.corroborated.is_some_and(has)
            && tells_of(contact.run).is_some()
    })
}
