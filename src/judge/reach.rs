//! Reach: contact with anything outside the MCP session, of a call or of a run outside any call.

use std::collections::BTreeMap;

use super::{Answer, CallFacts, Evidence, Milestones, Outcome, Place, RunFacts, call::Truth, retry};
use crate::{
    correlate::{Basis, Case, Contact, ContactKind},
    event::{ReachSource, ReachStage, Witness},
    symbol::Symbol,
};

/// One target that was reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// `scheme://host:port` or a name.
    pub target: Symbol,
    /// What it is.
    pub kind: ContactKind,
    /// It is this very host.
    pub local: bool,
    /// Contacts.
    pub attempts: u32,
    /// Contacts that were answered.
    pub results: u32,
}

/// The reach of a call, or of a run outside any call.
#[derive(Clone, Debug)]
pub struct ReachVerdict {
    /// Yes, no or unknown.
    pub answer: Answer,
    /// How strong.
    pub basis: Basis,
    /// The targets, in order of first contact.
    pub targets: Vec<Target>,
    /// The records.
    pub evidence: Vec<Evidence>,
}

/// How strong a contact's record is.
pub(super) fn basis(contact: &Contact) -> Basis {
    if contact.corroborated.is_some() {
        return Basis::Corroborated;
    }
    match contact.vouched {
        ReachSource::KernelTrace | ReachSource::ServiceLog | ReachSource::Egress => Basis::Witnessed,
        _ => Basis::SelfReported,
    }
}

/// Reach of a call.
pub(super) fn call_reach(facts: &CallFacts<'_>, outcome: Outcome, milestones: &Milestones) -> ReachVerdict {
    let contacts: Vec<&Contact> = facts.contacts.iter().copied().filter(|contact| contact.is_attempt()).collect();
    if !contacts.is_empty() {
        return reached(facts.case, &contacts);
    }
    if milestones.reached == Truth::False && !retry::may_have_worked(facts, outcome) {
        return no(Vec::new(), Basis::Inferred);
    }
    if let Some(run) = facts.run
        && run.unattributed.is_empty()
        && let Some(evidence) = covered(run, facts)
    {
        return no(vec![evidence], Basis::Witnessed);
    }
    unknown()
}

/// Reach of a run outside any call.
pub(super) fn run_reach(facts: &RunFacts<'_>) -> ReachVerdict {
    let contacts: Vec<&Contact> = facts
        .run
        .contacts
        .iter()
        .map(|contact| &facts.case.contacts[*contact as usize])
        .filter(|contact| contact.is_attempt() && contact.outside)
        .collect();
    if !contacts.is_empty() {
        return reached(facts.case, &contacts);
    }
    if !facts.unattributed.is_empty() {
        return unknown();
    }
    if let Some(mark) = facts.nothing_started() {
        return no(vec![Evidence::seen("shows that the process could not be created", mark)], Basis::Witnessed);
    }
    match facts.trace {
        Some(trace) => {
            let place = Place::Absent { from: trace.from.origin, to: trace.to.origin };
            let role = "a kernel trace of the whole life of the process shows no contact outside a call".into();
            no(vec![Evidence { role, place }], Basis::Witnessed)
        }
        None => unknown(),
    }
}

/// Coverage of class A for one call: the trace spans the life of its process, and the server's own log or the wire
/// shows both its receipt and its end.
fn covered(run: &RunFacts<'_>, facts: &CallFacts<'_>) -> Option<Evidence> {
    let trace = run.trace?;
    let received = facts.seen.iter().any(|row| row.witness == Witness::Server && row.mark.at.is_some());
    (received && facts.end().is_some()).then(|| Evidence {
        role: "a kernel trace of the whole life of the process shows no contact that could be of this call".into(),
        place: Place::Absent { from: trace.from.origin, to: trace.to.origin },
    })
}

fn no(evidence: Vec<Evidence>, basis: Basis) -> ReachVerdict {
    ReachVerdict { answer: Answer::No, basis, targets: Vec::new(), evidence }
}

fn unknown() -> ReachVerdict {
    ReachVerdict { answer: Answer::Unknown, basis: Basis::Absent, targets: Vec::new(), evidence: Vec::new() }
}

fn reached(case: &Case, contacts: &[&Contact]) -> ReachVerdict {
    let mut order: Vec<Symbol> = Vec::new();
    let mut targets: BTreeMap<Symbol, Target> = BTreeMap::new();
    for contact in contacts {
        let target = targets.entry(contact.target).or_insert_with(|| {
            order.push(contact.target);
            Target { target: contact.target, kind: contact.kind, local: contact.local, attempts: 0, results: 0 }
        });
        target.attempts += 1;
        target.results += u32::from(contact.stage == ReachStage::Answered);
    }
    let evidence = contacts.iter().flat_map(|contact| {
        let role = match contact.method.map(|method| case.name(method)) {
            Some(method) => format!("shows a {method} to the outside"),
            None => "shows a contact with the outside".to_owned(),
        };
        let second =
            contact.corroborated.map(|mark| Evidence::seen("shows the same contact from another witness", mark));
        std::iter::once(Evidence::seen(role, contact.attempt)).chain(second)
    });
    ReachVerdict {
        answer: Answer::Yes,
        basis: contacts.iter().map(|contact| basis(contact)).max().unwrap_or(Basis::SelfReported),
        targets: order.iter().filter_map(|target| targets.remove(target)).collect(),
        evidence: evidence.collect(),
    }
}
