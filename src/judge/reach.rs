//! Reach: contact with anything outside the MCP session, of a call or of a run outside any call.

use std::collections::BTreeMap;

use super::{
    Answer, CallFacts, Evidence, Milestones, Outcome, Place, RunFacts,
    call::Truth,
    coverage::{self, Recorder},
    policy::{self, Assumption},
    retry,
};
use crate::{
    correlate::{Basis, Case, Contact, ContactKind, Seen},
    event::{Origin, ReachSource, ReachStage, Witness},
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
    /// What it takes from the policy.
    pub assumptions: Vec<Assumption>,
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
    let mut reach = reach_in_call(facts, outcome, milestones);
    if let Some(run) = facts.run {
        policy::add(&mut reach.assumptions, own(run, facts.contacts.iter().copied()));
    }
    reach
}

/// The endpoints that were left out because they are not outside by the policy.
pub(super) fn own<'c>(
    run: &RunFacts<'c>,
    contacts: impl Iterator<Item = &'c Contact>,
) -> impl Iterator<Item = &'c Assumption> {
    let terms = run.terms.filter(|terms| terms.name_own_endpoints());
    // Else nobody looks at them: there may be as many for each run as there are runs.
    let contacts = contacts.take_while(move |_| terms.is_some()).filter(|contact| contact.is_attempt());
    contacts.filter_map(move |contact| terms?.own(contact))
}

fn reach_in_call(facts: &CallFacts<'_>, outcome: Outcome, milestones: &Milestones) -> ReachVerdict {
    let contacts: Vec<&Contact> = facts.contacts.iter().copied().filter(|contact| contact.is_reach()).collect();
    if !contacts.is_empty() {
        return reached(facts.case, &contacts);
    }
    if milestones.reached == Truth::False && !retry::may_have_worked(facts, outcome) {
        return no(Vec::new(), Basis::Inferred);
    }
    if let Some(run) = facts.run
        && !retry::sent_on_again(facts)
        && !run.unattributed().any(Contact::is_reach)
    {
        if let Some(evidence) = covered(facts) {
            return no(vec![evidence], Basis::Witnessed);
        }
        if let Some((evidence, assumption)) = recorded_whole(facts) {
            return ReachVerdict { assumptions: vec![assumption.clone()], ..no(vec![evidence], Basis::SelfReported) };
        }
    }
    unknown()
}

/// A source that records every contact by the policy, and in which the server tells of the call's receipt and its end.
/// A line between them that nobody understands may tell of a contact.
fn recorded_whole<'c>(facts: &CallFacts<'c>) -> Option<(Evidence, &'c Assumption)> {
    let window = coverage::of_call(facts, &[Seen::Responded, Seen::HandlerDone]).filter(|_| !facts.call.stirred)?;
    let Recorder::Complete(assumption) = window.by else { return None };
    if coverage::received_elsewhere(facts, &window).is_some() || coverage::may_be_dispatched_again(facts) {
        return None;
    }
    let role = "the log, which records every contact, shows none between the call's receipt and its end";
    let place = Place::Absent { from: window.received.origin, to: window.ended.origin };
    Some((Evidence { role: role.into(), place }, assumption))
}

/// Reach of a run outside any call.
pub(super) fn run_reach(facts: &RunFacts<'_>) -> ReachVerdict {
    let mut reach = reach_outside_calls(facts);
    policy::add(&mut reach.assumptions, own(facts, facts.contacts()));
    reach
}

fn reach_outside_calls(facts: &RunFacts<'_>) -> ReachVerdict {
    let contacts: Vec<&Contact> = facts.contacts().filter(|contact| contact.is_reach() && contact.outside).collect();
    if !contacts.is_empty() {
        return reached(facts.case, &contacts);
    }
    if facts.unattributed().any(Contact::is_reach) {
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

/// Coverage of class A for one call: the trace spans the life of its process, and one log of the server's own shows both
/// its receipt and its end.
fn covered(facts: &CallFacts<'_>) -> Option<Evidence> {
    // Nobody traced the other processes that a gateway may have given it to.
    let trace = coverage::traced(facts).filter(|_| !coverage::may_be_dispatched_again(facts))?;
    let rows = || facts.seen.iter().filter(|row| row.witness == Witness::Server);
    let ended = |from: Origin| {
        rows().any(|row| {
            let ends = matches!(row.seen, Seen::Responded | Seen::HandlerDone);
            ends && row.mark.origin.source == from.source && row.mark.origin > from
        })
    };
    let whole = rows().any(|row| row.mark.at.is_some() && ended(row.mark.origin));
    whole.then(|| Evidence {
        role: "a kernel trace of the whole life of the process shows no contact that could be of this call".into(),
        place: Place::Absent { from: trace.from.origin, to: trace.to.origin },
    })
}

fn no(evidence: Vec<Evidence>, basis: Basis) -> ReachVerdict {
    ReachVerdict { answer: Answer::No, basis, targets: Vec::new(), evidence, assumptions: Vec::new() }
}

fn unknown() -> ReachVerdict {
    let (targets, evidence, assumptions) = (Vec::new(), Vec::new(), Vec::new());
    ReachVerdict { answer: Answer::Unknown, basis: Basis::Absent, targets, evidence, assumptions }
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
        assumptions: Vec::new(),
    }
}
