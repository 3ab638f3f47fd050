//! The server reached outside without being called: a restart does it again.

use super::RestartRule;
use crate::{
    correlate::Contact,
    judge::{Evidence, Helps, Opinion, Proof, RunFacts, doc::Doc, retry::Caution},
};

/// See [`RestartRule::doc`].
pub(super) static RULE: RestartRule = RestartRule {
    id: "reach-outside-calls",
    title: "The server reaches outside by itself",
    doc: Doc {
        means: "While it started, shook hands or listed its tools, or in the background, the server contacted something outside. Every start repeats that.",
        recognized: "A contact on record in this run, or in another recorded run of the same server, that belongs to no call.",
        is_not: "A contact inside a call, which a restart does not repeat. Package downloads by the launcher count and are named as such.",
        to_do: "Find out what those contacts do, count them, and decide with the owner of the service.",
    },
    check,
};

fn check(facts: &RunFacts<'_>) -> Option<Opinion> {
    let own: Vec<&Contact> = outside_calls(facts).collect();
    let (contacts, other) = if own.is_empty() { (other_runs(facts), true) } else { (own, false) };
    let first = contacts.first()?;
    let count = contacts.len();
    let times = if count == 1 { "once".to_owned() } else { format!("{count} times") };
    let whose = if other { "another recorded run of this server" } else { "it" };
    let reason = format!("Outside any call {whose} reached outside {times}; a restart does so again.");
    let proof = Proof::seen("shows a contact outside any call", first.attempt)
        .with(contacts[1..].iter().map(|contact| Evidence::seen("shows a further contact", contact.attempt)));
    Some(Opinion::new(Caution::Unsafe, RULE.id, reason, Helps::Unknown, proof))
}

fn outside_calls<'c>(facts: &RunFacts<'c>) -> impl Iterator<Item = &'c Contact> {
    facts.contacts().filter(|contact| contact.is_reach() && contact.outside)
}

/// Contacts outside calls of other recorded runs of the same server.
fn other_runs<'c>(facts: &RunFacts<'c>) -> Vec<&'c Contact> {
    let Some(server) = facts.server() else { return Vec::new() };
    let case = facts.case;
    let contacts = case.servers.outside(server).iter().map(|index| &case.contacts[*index as usize]);
    contacts.filter(|contact| contact.is_reach()).collect()
}
