//! The four questions about a run: started, initialized, tools listed, reached outside.

use super::facts::RunFacts;
use crate::{
    correlate::{AnswerKind, Basis, Contact, Mark, StrandFact},
    event::{PhaseEvent, ReachStage, RemarkKind, Witness},
    judge::{Evidence, ReachAnswer, ReachVerdict, call, reach},
};

/// Yes, no, or unknown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Answer {
    /// Proven.
    Yes,
    /// Excluded.
    No,
    /// Neither.
    Unknown,
}

impl Answer {
    /// The word used in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Yes => "yes",
            Self::No => "no",
            Self::Unknown => "unknown",
        }
    }
}

/// Answer to one of the operator's questions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Question {
    /// Yes, no or unknown.
    pub answer: Answer,
    /// How strong.
    pub basis: Basis,
    /// Why; empty where unknown.
    pub evidence: Vec<Evidence>,
}

impl Question {
    fn yes(role: &'static str, mark: Mark, witness: Witness) -> Self {
        let basis = if witness == Witness::Server { Basis::SelfReported } else { Basis::Witnessed };
        Self { answer: Answer::Yes, basis, evidence: vec![Evidence::seen(role, mark)] }
    }

    fn no(role: &'static str, mark: Mark) -> Self {
        Self { answer: Answer::No, basis: Basis::Witnessed, evidence: vec![Evidence::seen(role, mark)] }
    }

    fn unknown() -> Self {
        Self { answer: Answer::Unknown, basis: Basis::Absent, evidence: Vec::new() }
    }
}

pub(super) fn started(facts: &RunFacts<'_>) -> Question {
    for (step, role) in [
        (PhaseEvent::ExecutableReady, "shows that the server's own code ran"),
        (PhaseEvent::Spawned, "shows that the process was created"),
    ] {
        if let Some((mark, witness)) = facts.steps.get(&step) {
            return Question::yes(role, *mark, *witness);
        }
    }
    let answered = facts.calls().find(|call| call::answer_is_servers(call));
    if let Some(mark) = answered.and_then(|call| call.answered) {
        return Question::yes("shows an answer of the server", mark, Witness::Proxy);
    }
    if let Some((_, mark)) = facts.spawn_failed {
        return Question::no("shows that the process could not be created", mark);
    }
    Question::unknown()
}

pub(super) fn initialized(facts: &RunFacts<'_>) -> Question {
    for step in [PhaseEvent::InitializedReceived, PhaseEvent::InitializedSent] {
        if let Some((mark, witness)) = facts.steps.get(&step) {
            return Question::yes("shows that the handshake was completed", *mark, *witness);
        }
    }
    let modern = facts.calls().find(|call| {
        matches!(facts.case.name(call.method), "server/discover" | "tools/list" | "tools/call")
            && call.answer.kind == AnswerKind::Result
    });
    if let Some((call, mark)) = modern.and_then(|call| Some((call, call.answered?))) {
        return Question::yes("shows that the server served a request", mark, call.witness);
    }
    if let Some((_, mark)) = facts.spawn_failed {
        return Question::no("shows that the process could not be created", mark);
    }
    match (facts.exited, facts.initialize) {
        (Some(exit), Some(call)) if call.answered.is_none() => {
            Question::no("shows that the process ended before it answered", exit.mark)
        }
        (Some(exit), None) => Question::no("shows that the process ended before any handshake", exit.mark),
        _ => Question::unknown(),
    }
}

pub(super) fn tools_listed(facts: &RunFacts<'_>) -> Question {
    let listed = facts
        .calls()
        .find(|call| facts.case.name(call.method) == "tools/list" && call.answer.kind == AnswerKind::Result);
    if let Some((call, mark)) = listed.and_then(|call| Some((call, call.answered?))) {
        return Question::yes("shows the answer to tools/list", mark, call.witness);
    }
    let counted = facts
        .strands
        .iter()
        .flat_map(|strand| &strand.events)
        .find(|event| event.what == StrandFact::Remark(RemarkKind::ToolsDiscovered));
    if let Some(event) = counted {
        return Question::yes("shows that the client counted the tools", event.mark, event.witness);
    }
    match facts.spawn_failed {
        Some((_, mark)) => Question::no("shows that the process could not be created", mark),
        None => Question::unknown(),
    }
}

pub(super) fn reached_outside(facts: &RunFacts<'_>, outside_calls: &ReachVerdict) -> Question {
    let in_calls = facts.run.calls.iter().flat_map(|call| facts.case.contacts_of(*call));
    let all = facts.run.contacts.iter().map(|contact| &facts.case.contacts[*contact as usize]).chain(in_calls);
    let contacts: Vec<&Contact> = all.filter(|contact| contact.stage >= ReachStage::Attempted).collect();
    if !contacts.is_empty() {
        let evidence =
            contacts.iter().map(|contact| Evidence::seen("shows a contact with the outside", contact.attempt));
        let basis = contacts.iter().map(|contact| reach::basis(contact)).max().unwrap_or(Basis::SelfReported);
        return Question { answer: Answer::Yes, basis, evidence: evidence.collect() };
    }
    if let Some((_, mark)) = facts.spawn_failed
        && facts.run.calls.is_empty()
    {
        return Question::no("shows that the process could not be created", mark);
    }
    match outside_calls.answer {
        ReachAnswer::No => {
            Question { answer: Answer::No, basis: Basis::Witnessed, evidence: outside_calls.evidence.clone() }
        }
        _ => Question::unknown(),
    }
}
