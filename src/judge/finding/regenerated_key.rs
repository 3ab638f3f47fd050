//! A retry carried a new idempotency key, so the receiver could not recognize it.

use rustc_hash::FxHashMap;

use super::{Confidence, Doc, Finding, FindingRule, Scene, Severity, count, tally::Groups};
use crate::{
    correlate::{AnswerKind, Call, Case},
    symbol::Symbol,
};

/// See [`FindingRule::doc`].
pub(super) static RULE: FindingRule = FindingRule {
    id: "regenerated-key",
    title: "The idempotency key changed with the retry",
    severity: Severity::High,
    doc: Doc {
        means: "A request was sent again with another idempotency key. A key that is made anew for every attempt protects nothing: the receiver takes the attempts for different intents.",
        recognized: "Two contacts of one operation, or of one re-sent call, with the same target, method and path and different keys; or two calls of one tool, the first without a success, whose arguments differ in the key only (medium confidence: arguments are compared by a short sketch).",
        is_not: "Two calls with different payloads, or a new key after a success.",
        to_do: "Make the key once for each intent, before the first attempt, and keep it through all retries.",
    },
    check,
};

fn check(scene: &Scene<'_, '_>, out: &mut Vec<Finding>) {
    let mut sure = Groups::default();
    in_contacts(scene, &mut sure);
    let mut runs = std::collections::BTreeSet::new();
    for (run, tally) in sure {
        runs.insert(run);
        let claim = format!(
            "{} of {} reached its service under another idempotency key than the one before.",
            count(tally.count(), "attempt", "attempts"),
            scene.first_of(&tally)
        );
        out.push(tally.finding(&RULE, Confidence::High, claim, run));
    }
    let mut likely = Groups::default();
    in_arguments(scene, &mut likely);
    for (run, tally) in likely {
        if runs.contains(&run) {
            continue;
        }
        let claim = format!(
            "{} of {} {} from a failed one in nothing but the idempotency key.",
            count(tally.count(), "call", "calls"),
            scene.first_of(&tally),
            if tally.count() == 1 { "differs" } else { "differ" }
        );
        out.push(tally.finding(&RULE, Confidence::Medium, claim, run));
    }
}

/// Contacts of attempts of one operation that carry different keys to the same place.
fn in_contacts(scene: &Scene<'_, '_>, groups: &mut Groups) {
    for operation in &scene.case.operations {
        let mut keys: FxHashMap<(Symbol, Option<Symbol>, Option<Symbol>), u64> = FxHashMap::default();
        for attempt in &operation.attempts {
            for contact in scene.case.contacts_of(*attempt).filter(|contact| contact.idempotency_key != 0) {
                let place = (contact.target, contact.method, contact.path);
                let earlier = keys.insert(place, contact.idempotency_key);
                if earlier.is_some_and(|earlier| earlier != contact.idempotency_key) {
                    let run = scene.case.calls[*attempt as usize].run;
                    groups.add_call(run, *attempt, "shows a contact under a new key", contact.attempt);
                }
            }
        }
    }
}

/// What two calls share that differ in one member only: tool, server, and the sketch without that member.
type Rest = (u32, Symbol, Option<Symbol>, [u32; 4]);

/// A single member besides the key is compared by 32 bits, which repeat by chance among a million calls: only calls this
/// close to each other count then.
const NEAR: u32 = 64;

fn in_arguments(scene: &Scene<'_, '_>, groups: &mut Groups) {
    let mut failed: FxHashMap<Rest, (u64, u32)> = FxHashMap::default();
    for (index, call) in scene.calls() {
        let own = key_of(scene, index, call);
        if own == 0 || call.pairs.len() < 2 {
            continue;
        }
        let rests = rests(call, server(scene, call));
        let earlier = rests.iter().find_map(|rest| {
            let (key, earlier) = failed.get(rest)?;
            let near = call.pairs.len() > 2 || index - earlier <= NEAR;
            (*key != own && near).then_some(*earlier)
        });
        if let Some(earlier) = earlier {
            groups
                .add_call(call.run, index, "shows a call with a new key", scene.case.place(call))
                .also("shows the failed call before it", place(scene.case, earlier));
        }
        for rest in rests {
            if call.answer.kind == AnswerKind::Result {
                failed.remove(&rest);
            } else {
                failed.insert(rest, (own, index));
            }
        }
    }
}

/// The key by its name, else where the policy says, if that is a member by itself: members are what is compared.
fn key_of(scene: &Scene<'_, '_>, index: u32, call: &Call) -> u64 {
    let declared = || scene.terms.of_call(index)?.key.as_ref().filter(|key| key.pointer.matches('/').count() == 1);
    match call.idempotency_key {
        0 if declared().is_some() => scene.case.declared_key(call),
        key => key,
    }
}

fn place(case: &Case, call: u32) -> crate::correlate::Mark {
    case.place(&case.calls[call as usize])
}

/// The runs of one server count together.
fn server(scene: &Scene<'_, '_>, call: &Call) -> u32 {
    let named = scene.runs.get(call.run as usize).and_then(super::RunFacts::server);
    // Symbols and run numbers share one range here: the highest bit keeps them apart.
    named.map_or(call.run | 1 << 31, crate::symbol::Symbol::number)
}

/// The sketch without each of its members in turn.
fn rests(call: &Call, server: u32) -> Vec<Rest> {
    let pairs = call.pairs.0;
    (0..pairs.len())
        .filter(|at| pairs[*at] != 0)
        .map(|at| {
            let mut rest = pairs;
            rest[at] = 0;
            rest.sort_unstable();
            (server, call.method, call.target, rest)
        })
        .collect()
}
