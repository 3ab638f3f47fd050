//! The operator declares that the tool changes nothing.

use super::{Attempt, CallFacts, Caution, Doc, Helps, Opinion, RetryRule, effect_free, writes, written_meanwhile};
use crate::{
    correlate::{Contact, ContactKind},
    judge::{
        Condition, Outcome, RunFacts, Spots,
        policy::{Assumption, Effect},
    },
};

/// See [`RetryRule::doc`].
pub(super) static RULE: RetryRule = RetryRule {
    id: "declared-none",
    title: "The policy declares that the tool changes nothing",
    doc: Doc {
        means: "The operator says that no call of this tool changes anything, outside or on the server's own host: executing it any number of times does no harm. The verdict is as good as this word.",
        recognized: "`effect = \"none\"` in the policy (`--policy`), or `readOnlyHint: true` in every tool list of a server that the policy trusts; and in no call of the tool a contact with a service outside by anything but GET or HEAD. A contact that no call accounts for, and a file that a kernel trace shows being written meanwhile, make it a condition.",
        is_not: "A word about starting the server. Where one call of the tool wrote to a service, the declaration counts for none of them: see `contradicted-declaration`.",
        to_do: "Send it again. If it should not have been safe, correct the policy at the line named.",
    },
    check,
};

fn check(attempt: &Attempt<'_, '_>) -> Option<Opinion> {
    let facts = attempt.facts;
    let (_, assumption) = facts.declared().filter(|(effect, _)| *effect == Effect::None)?;
    let reason = "The operator declares that the tool changes nothing, and no record contradicts that.";
    let opinion = Opinion::new(Caution::Safe, RULE.id, reason, helps(attempt), attempt.end());
    Some(opinion.assuming([assumption]).assuming(own(facts)).under(doubts(facts)))
}

/// What may speak against the declaration.
fn doubts(facts: &CallFacts<'_>) -> Vec<Condition> {
    let loose = facts.run.into_iter().flat_map(RunFacts::unattributed);
    let mut writing = loose.filter(|contact| contact.is_reach() && may_change(facts, contact));
    let contact = writing.next().map(|contact| {
        let text = "no contact that no call accounts for (first: {}) was made by it";
        Condition::at(text, Spots::Records(vec![contact.attempt]))
    });
    contact.into_iter().chain(written_meanwhile(facts)).collect()
}

/// The endpoints that are not outside by the policy, and without that word would contradict.
fn own<'c>(facts: &CallFacts<'c>) -> impl Iterator<Item = &'c Assumption> {
    let terms = facts.run.and_then(|run| run.terms);
    let contacts = facts.contacts.iter().filter(|contact| contact.is_attempt() && may_change(facts, contact));
    contacts.filter_map(|contact| terms?.own(contact)).collect::<Vec<_>>().into_iter()
}

fn may_change(facts: &CallFacts<'_>, contact: &Contact) -> bool {
    matches!(contact.kind, ContactKind::Service | ContactKind::Credential) && writes(facts.case, contact)
}

/// As for methods that are free of effects; what a tool calls an error may come again.
pub(super) fn helps(attempt: &Attempt<'_, '_>) -> Helps {
    match attempt.outcome {
        Outcome::ToolError => Helps::Unknown,
        _ => effect_free::helps(attempt),
    }
}
