//! The four questions about a run: started, initialized, tools listed, reached outside.

use std::borrow::Cow;

use super::facts::RunFacts;
use crate::{
    correlate::{AnswerKind, Basis, Contact, Mark, Seen, StrandEvent, StrandFact},
    event::{Direction, PhaseEvent, RemarkKind, Witness},
    judge::{
        Evidence, Place, ReachVerdict, call, coverage,
        policy::{self, Assumption},
        reach,
    },
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
    /// What it takes from the policy.
    pub assumptions: Vec<Assumption>,
}

impl Question {
    fn yes(role: &'static str, mark: Mark, witness: Witness) -> Self {
        let basis = if witness == Witness::Server { Basis::SelfReported } else { Basis::Witnessed };
        Self { answer: Answer::Yes, basis, evidence: vec![Evidence::seen(role, mark)], assumptions: Vec::new() }
    }

    /// Yes by the server's own record, by somebody else's, or by both.
    fn by_witness(own: Option<(&'static str, Mark)>, seen: Option<(&'static str, Mark)>) -> Option<Self> {
        match (own, seen) {
            (Some((role, mark)), Some((other, beside))) => Some(Self {
                answer: Answer::Yes,
                basis: Basis::Corroborated,
                evidence: vec![Evidence::seen(role, mark), Evidence::seen(other, beside)],
                assumptions: Vec::new(),
            }),
            (Some((role, mark)), None) => Some(Self::yes(role, mark, Witness::Server)),
            (None, Some((role, mark))) => Some(Self::yes(role, mark, Witness::Network)),
            (None, None) => None,
        }
    }

    fn no(role: &'static str, mark: Mark) -> Self {
        Self { answer: Answer::No, ..Self::yes(role, mark, Witness::Network) }
    }

    fn unknown() -> Self {
        Self { answer: Answer::Unknown, basis: Basis::Absent, evidence: Vec::new(), assumptions: Vec::new() }
    }
}

pub(super) fn started(facts: &RunFacts<'_>) -> Question {
    let own = start(facts, |witness| witness == Witness::Server);
    let seen = start(facts, |witness| witness != Witness::Server).or_else(|| {
        let answered = facts.calls().find(|call| call::answer_is_servers(call) && call.witness != Witness::Server)?;
        Some(("shows an answer of the server", answered.answered?))
    });
    if let Some(question) = Question::by_witness(own, seen) {
        return question;
    }
    let answered = facts.calls().find(|call| call::answer_is_servers(call));
    if let Some(mark) = answered.and_then(|call| call.answered) {
        return Question::yes("shows an answer of the server", mark, Witness::Server);
    }
    if let Some((_, mark)) = facts.spawn_failed {
        return Question::no("shows that the process could not be created", mark);
    }
    Question::unknown()
}

const LISTENING: StrandFact = StrandFact::Remark(RemarkKind::Listening);

/// The first record by such a witness that the process was there, the strongest kind first.
fn start(facts: &RunFacts<'_>, by: impl Fn(Witness) -> bool) -> Option<(&'static str, Mark)> {
    let find = |wanted: [StrandFact; 2]| {
        let events = facts.strands.iter().flat_map(|strand| &strand.events);
        // A proxy or bridge that listens speaks of itself.
        let own = |event: &StrandEvent| event.witness == Witness::Server || event.what != LISTENING;
        let mut events = events.filter(|event| wanted.contains(&event.what) && by(event.witness) && own(event));
        events.next().map(|event| event.mark)
    };
    let ready = find([StrandFact::Step(PhaseEvent::ExecutableReady), LISTENING]);
    let spawned = || find([StrandFact::Step(PhaseEvent::Spawned), StrandFact::Remark(RemarkKind::ProcessStarted)]);
    ready
        .map(|mark| ("shows that the server's own code ran", mark))
        .or_else(|| spawned().map(|mark| ("shows that the process was created", mark)))
}

pub(super) fn initialized(facts: &RunFacts<'_>) -> Question {
    let completed = |by: fn(Witness) -> bool| {
        let wanted = [StrandFact::Step(PhaseEvent::InitializedReceived), StrandFact::Step(PhaseEvent::InitializedSent)];
        let events = facts.strands.iter().flat_map(|strand| &strand.events);
        let mut events = events.filter(|event| wanted.contains(&event.what) && by(event.witness));
        events.next().map(|event| ("shows that the handshake was completed", event.mark))
    };
    let both = Question::by_witness(
        completed(|witness| witness == Witness::Server),
        completed(|witness| witness != Witness::Server),
    );
    if let Some(question) = both {
        return question;
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
    not_initialized(facts).unwrap_or_else(Question::unknown)
}

/// No handshake, where it would be on record: that none is seen proves nothing by itself.
fn not_initialized(facts: &RunFacts<'_>) -> Option<Question> {
    // Other requests are sent behind a handshake: where they are on record, what was before them is not.
    let went_on = facts.calls().any(|call| {
        call.direction == Direction::ToServer && !matches!(facts.case.name(call.method), "initialize" | "ping")
    });
    let exit = facts.exited.filter(|exit| !exit.wrapper && !went_on)?;
    let Some(call) = facts.initialize else {
        let (from, to) = coverage::handshake_in_tap(facts)?;
        let (from, to) = (from.origin, to.origin);
        let role = Cow::Borrowed("has no handshake, from the start of the process to its end");
        let mut question = Question::no("shows that the process ended before any handshake", exit.mark);
        question.evidence.push(Evidence { role, place: Place::Absent { from, to } });
        return Some(question);
    };
    let told = facts.case.sightings(call).any(|row| row.witness == Witness::Client && without_answer(row.seen));
    let open = call.answered.is_none() && (told || coverage::answer_in_tap(facts, call, exit.mark));
    open.then(|| Question::no("shows that the process ended before it answered", exit.mark))
}

/// Whether a client that says so had no answer.
fn without_answer(seen: Seen) -> bool {
    matches!(
        seen,
        Seen::ConnectionClosed
            | Seen::ProcessEnded
            | Seen::NotConnected
            | Seen::WriteFailed
            | Seen::TimedOut
            | Seen::CallFailed
    )
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
    let all = || facts.contacts().chain(facts.run.calls.iter().flat_map(|call| facts.case.contacts_of(*call)));
    let contacts: Vec<&Contact> = all().filter(|contact| contact.is_reach()).collect();
    let mut question = reach_of(facts, outside_calls, &contacts);
    policy::add(&mut question.assumptions, reach::own(facts, all()));
    question
}

fn reach_of(facts: &RunFacts<'_>, outside_calls: &ReachVerdict, contacts: &[&Contact]) -> Question {
    if !contacts.is_empty() {
        let evidence =
            contacts.iter().map(|contact| Evidence::seen("shows a contact with the outside", contact.attempt));
        let basis = contacts.iter().map(|contact| reach::basis(contact)).max().unwrap_or(Basis::SelfReported);
        return Question { answer: Answer::Yes, basis, evidence: evidence.collect(), assumptions: Vec::new() };
    }
    if let Some(mark) = facts.nothing_started() {
        return Question::no("shows that the process could not be created", mark);
    }
    match outside_calls.answer {
        Answer::No => {
            let evidence = outside_calls.evidence.clone();
            Question { answer: Answer::No, basis: Basis::Witnessed, evidence, assumptions: Vec::new() }
        }
        _ => Question::unknown(),
    }
}

#[cfg(test)]
mod tests {
    use super::Answer;
    use crate::judge::testing::judged;

    fn initialized(lines: &[&str]) -> Answer {
        let (_, verdicts) = judged(&[&(lines.join("\n") + "\n")]);
        verdicts.runs[0].initialized.answer
    }

    #[test]
    fn a_log_that_begins_in_the_middle_does_not_deny_the_handshake() {
        let spawn = r#"{"ts":"2026-07-22T14:00:00.000Z","dir":"spawn","argv":["acme"],"pid":7}"#;
        let asked = r#"{"ts":"2026-07-22T14:00:01.000Z","dir":"c2s","line":"{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{\"protocolVersion\":\"2025-06-18\"}}"}"#;
        let call = r#"{"ts":"2026-07-22T14:00:02.000Z","dir":"c2s","line":"{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"tools/call\",\"params\":{\"name\":\"pay\"}}"}"#;
        let exit = r#"{"ts":"2026-07-22T14:00:09.000Z","dir":"exit","code":1}"#;
        assert_eq!(initialized(&[spawn, asked, exit]), Answer::No);
        assert_eq!(initialized(&[spawn, exit]), Answer::No);
        for lines in [&[exit][..], &[call, exit], &[spawn, call, exit], &[spawn, asked, call, exit]] {
            assert_eq!(initialized(lines), Answer::Unknown, "{lines:?}");
        }
    }
}
