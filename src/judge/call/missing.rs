//! What would settle an open verdict. An artifact that was read already, or that could not change the verdict, is not
//! asked for.

use super::{
    Artifact,
    facts::{CallFacts, EffectClass},
    milestones::{Milestones, Truth},
};
use crate::{
    correlate::{AnswerKind, Call, Case, Mark, Seen},
    event::{Direction, Witness},
    judge::{
        Condition, RESTART_RULES,
        retry::{self, Caution, Opinion},
    },
    time::Timestamp,
};

/// Something that would settle an open verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Missing {
    /// What it is.
    pub artifact: Artifact,
    /// Over which window; `None` where no time is on record.
    pub window: Option<Window>,
    /// What the verdict would become if it shows the contact or receipt.
    pub if_present: Caution,
    /// What the verdict would become if it covers the window and shows none.
    pub if_absent: Caution,
}

/// From a request to its answer, or to the end of the process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Window {
    /// The request.
    pub from: Instant,
    /// The answer, if there was one.
    pub to: Option<Instant>,
}

impl Window {
    /// As a phrase behind what it is about.
    pub fn text(self) -> String {
        match self.to {
            Some(to) => format!("from {} to {}", self.from.text(), to.text()),
            None => format!("from {} to the end of the process", self.from.text()),
        }
    }

    /// The shortest window that holds both.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        let to = self.to.zip(other.to).map(|(one, two)| if one.at < two.at { two } else { one });
        Self { from: if other.from.at < self.from.at { other.from } else { self.from }, to }
    }
}

/// A time with the precision that its source writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Instant {
    /// When.
    pub at: Timestamp,
    /// Digits of the second's fraction, at most three.
    pub digits: u8,
}

impl Instant {
    fn text(self) -> String {
        self.at.rfc3339(self.digits)
    }
}

/// What would settle an open verdict, cheapest first: in the order of [`ARTIFACTS`](super::ARTIFACTS).
pub(super) fn missing(facts: &CallFacts<'_>, milestones: &Milestones, retry: &Opinion) -> Vec<Missing> {
    // What a server asks its client is not the reader's to send again.
    let open = matches!(retry.verdict, Caution::SafeIf | Caution::Unknown);
    if !open || facts.call.direction == Direction::ToClient {
        return Vec::new();
    }
    if RESTART_RULES.iter().any(|rule| rule.id == retry.rule) {
        let (if_present, if_absent) = (Caution::Unsafe, Caution::SafeIf);
        return vec![Missing { artifact: Artifact::TracedStart, window: None, if_present, if_absent }];
    }
    // What was executed does not matter by the word of the operator.
    if facts.class == EffectClass::None || retry::is_declared(retry) {
        return Vec::new();
    }
    let mut missing: Vec<Missing> = other_attempts(facts, retry).into_iter().collect();
    if !retry.lacks_the_rest() {
        missing.extend(of_this_attempt(facts, milestones, retry));
    }
    missing.sort_by_key(|missing| missing.artifact);
    missing
}

/// What would show the attempts that the capture may lack, or what became of one whose records are cut.
fn other_attempts(facts: &CallFacts<'_>, retry: &Opinion) -> Option<Missing> {
    let lossy = facts.case.anywhere.is_lossy();
    let asked = retry.conditions.iter().any(|condition| condition.elsewhere);
    let artifact = if lossy { Artifact::Rest } else { Artifact::ClientLog };
    let of_the_rest = |condition: &Condition| condition.elsewhere || lossy && is_cut(facts.case, condition);
    let if_absent = match retry.verdict {
        Caution::Unknown => Caution::Unknown,
        _ if retry.conditions.iter().all(of_the_rest) => Caution::Safe,
        _ => Caution::SafeIf,
    };
    let wanted = asked || lossy && retry.verdict == Caution::Unknown;
    wanted.then_some(Missing { artifact, window: None, if_present: Caution::Unsafe, if_absent })
}

/// Whether all that a condition is about is the cut end of a source: the whole file has no such record.
fn is_cut(case: &Case, condition: &Condition) -> bool {
    let marks = condition.spots.marks();
    let cut =
        |mark: &Mark| case.sources[mark.origin.source.0 as usize].breaks.between(mark.origin, mark.origin).is_some();
    !marks.is_empty() && marks.iter().all(cut)
}

/// What would show what became of this very attempt, or of the last one of its operation.
fn of_this_attempt(facts: &CallFacts<'_>, milestones: &Milestones, retry: &Opinion) -> Vec<Missing> {
    // An attempt that was refused did nothing: what the later ones did decides.
    let refused = milestones.reached == Truth::False;
    let window = if refused { window(facts, last_attempt(facts)) } else { window(facts, facts.call) };
    if retry::is_refusal(retry) {
        // Nothing ran for this dispatch: only whoever dispatches can tell of another one, and what the capture has of
        // that hop was read.
        if !retry::asks_the_gateway(retry) || facts.has(Seen::ForwardedOnce) {
            return Vec::new();
        }
        let if_absent = if retry.conditions.len() == 1 { Caution::Safe } else { Caution::SafeIf };
        return vec![Missing { artifact: Artifact::GatewayLog, window, if_present: Caution::Unknown, if_absent }];
    }
    of_the_server(facts, window, retry.verdict)
}

/// What the server and its surroundings recorded, or may have. Nobody can trace a process of the past.
fn of_the_server(facts: &CallFacts<'_>, window: Option<Window>, verdict: Caution) -> Vec<Missing> {
    let mut missing = Vec::new();
    let mut add = |artifact, if_absent| {
        missing.push(Missing { artifact, window, if_present: Caution::Unsafe, if_absent });
    };
    if !facts.seen.iter().any(|row| row.witness == Witness::Server) {
        let artifact = if server_was_read(facts) { Artifact::ServerPhases } else { Artifact::ServerLog };
        // Only of an error that the server made does the rest of its log tell that nothing came before it.
        let error = matches!(facts.call.answer.kind, AnswerKind::Error | AnswerKind::ToolError);
        add(artifact, if error { Caution::SafeIf } else { verdict });
    }
    let traced = facts.run.is_some_and(|run| run.trace.is_some());
    // Who logs what goes out does not log what changes on the host.
    if !traced && !facts.case.anywhere.service_log {
        add(Artifact::ServiceLog, verdict);
    }
    missing
}

/// Whether something that the server wrote is among the sources, in a file of its own or inside another one.
fn server_was_read(facts: &CallFacts<'_>) -> bool {
    facts.case.sources.iter().any(|source| source.server_wrote || source.witness == Some(Witness::Server))
}

/// The last attempt of the operation of a call.
fn last_attempt<'c>(facts: &CallFacts<'c>) -> &'c Call {
    let operation = facts.case.operation_of.get(&facts.index).map(|index| &facts.case.operations[*index as usize]);
    let last = operation.and_then(|operation| operation.attempts.last()).unwrap_or(&facts.index);
    &facts.case.calls[*last as usize]
}

/// From the request to the latest that any witness saw of `last`, as far as times tell; open where nobody saw its
/// answer whole.
fn window(facts: &CallFacts<'_>, last: &Call) -> Option<Window> {
    let instant = |mark: Mark| {
        let digits = facts.case.sources[mark.origin.source.0 as usize].digits.min(3);
        mark.at.map(|at| Instant { at, digits })
    };
    let from = facts.call.asked.and_then(instant)?;
    let whole = !matches!(last.answer.kind, AnswerKind::None | AnswerKind::StreamIncomplete | AnswerKind::NotCaptured);
    let seen = facts.case.seen(last);
    let latest = seen.iter().map(|row| row.mark).max_by_key(|mark| facts.case.placed(*mark));
    let timed = last.answered.is_some_and(|mark| mark.at.is_some());
    Some(Window { from, to: latest.filter(|_| whole && timed).and_then(instant) })
}

#[cfg(test)]
mod tests {
    use super::Artifact;
    use crate::judge::{CallVerdict, Place, retry::Caution, testing::judged};

    /// A tool call over HTTP that ends with this status and body, as a proxy saw it.
    fn refused(status: u16, body: &str) -> CallVerdict {
        let asked = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"pay","arguments":{"n":1}}}"#;
        let text = format!(
            r#"{{"ts":"2026-07-22T14:00:01.000Z","direction":"in","message":{asked}}}
{{"ts":"2026-07-22T14:00:01.010Z","direction":"out","http":{{"status":{status},"content_type":"application/json"}},"message":{body}}}
"#
        );
        let (_, mut verdicts) = judged(&[&text]);
        verdicts.calls.remove(&0).expect("a failed call")
    }

    #[test]
    fn of_an_unknown_session_only_the_gateway_can_tell_more() {
        let call = refused(404, r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"Session not found"}}"#);
        assert_eq!(call.retry.verdict, Caution::SafeIf);
        let artifacts: Vec<_> = call.missing.iter().map(|missing| (missing.artifact, missing.if_absent)).collect();
        assert_eq!(artifacts, [(Artifact::GatewayLog, Caution::Safe)]);
        let roles: Vec<_> = call.evidence.iter().map(|piece| &*piece.role).collect();
        assert!(roles.contains(&"shows the HTTP error that ended the exchange"), "{roles:?}");
        assert!(call.evidence.iter().all(|piece| matches!(piece.place, Place::Seen(_))));
    }

    #[test]
    fn of_work_in_doubt_the_server_and_its_surroundings_tell() {
        let call = refused(503, r#"{"busy":true}"#);
        assert_eq!(call.retry.verdict, Caution::Unknown);
        let artifacts: Vec<_> = call.missing.iter().map(|missing| (missing.artifact, missing.if_absent)).collect();
        let wanted = [(Artifact::ServerLog, Caution::Unknown), (Artifact::ServiceLog, Caution::Unknown)];
        assert_eq!(artifacts, wanted);
    }
}
