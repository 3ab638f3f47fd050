//! How far a call got: milestones, and the executions that follow from them.

use super::{
    facts::{CallFacts, EffectClass, answer_is_servers},
    told::role_of,
};
use crate::{
    correlate::{AnswerKind, Call, Case, Contact, Mark, Seen},
    event::Witness,
    judge::{Evidence, Outcome, policy::Effect, retry},
};

/// The four values of a milestone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Truth {
    /// Nothing is known.
    #[default]
    None,
    /// Proven.
    True,
    /// Excluded.
    False,
    /// Witnesses contradict each other.
    Both,
}

impl Truth {
    /// The word used in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::True => "true",
            Self::False => "false",
            Self::Both => "both",
        }
    }

    /// Knowledge of both kinds side by side.
    fn of(proven: bool, excluded: bool) -> Self {
        match (proven, excluded) {
            (true, true) => Self::Both,
            (true, false) => Self::True,
            (false, true) => Self::False,
            (false, false) => Self::None,
        }
    }
}

/// The milestones of one attempt, in causal order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Milestones {
    /// Bytes left the client.
    pub sent: Truth,
    /// The server dispatched it.
    pub reached: Truth,
    /// Something changed, outside or on the server's own host.
    pub effected: Truth,
    /// The caller saw an answer made by the server.
    pub acked: Truth,
}

/// What a milestone rests on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ground {
    /// The record that proves it.
    pub proven: Option<Evidence>,
    /// The record that excludes it.
    pub excluded: Option<Evidence>,
}

impl Ground {
    fn truth(&self) -> Truth {
        Truth::of(self.proven.is_some(), self.excluded.is_some())
    }
}

/// What the milestones of an attempt rest on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Grounds {
    /// Bytes left the client.
    pub sent: Ground,
    /// The server dispatched it.
    pub reached: Ground,
    /// Something changed.
    pub effected: Ground,
    /// The caller saw an answer made by the server.
    pub acked: Ground,
}

/// The milestones of a call, implications closed in both directions.
pub(in crate::judge) fn milestones(facts: &CallFacts<'_>, outcome: Outcome) -> Milestones {
    let grounds = grounds(facts, outcome);
    Milestones {
        sent: grounds.sent.truth(),
        reached: grounds.reached.truth(),
        effected: grounds.effected.truth(),
        acked: grounds.acked.truth(),
    }
}

/// The records that the milestones of a call rest on: one for each side.
pub(super) fn grounds(facts: &CallFacts<'_>, outcome: Outcome) -> Grounds {
    let refused = retry::refused_before_dispatch(facts, outcome);
    let dispatched = dispatched(facts, outcome, refused);
    let acked = acked(facts).filter(|_| refused || dispatched.is_some() || !facts.call.answer.foreign_id);
    // Whoever answered had the request; only a refusal, or what may be one, comes from before the tool.
    let behind_the_door = !refused && !at_the_door(facts.call);
    let reached = dispatched.clone().or_else(|| acked.clone().filter(|_| behind_the_door));
    let unsent = facts.not_sent();
    let seen = facts.seen.iter().find(|row| matches!(row.seen, Seen::Sent | Seen::Resent | Seen::Received));
    let sent = seen.map(|row| Evidence::seen(role_of(row), row.mark));
    let sent = sent.or_else(|| dispatched.clone()).or_else(|| acked.clone());
    let sent = sent.filter(|_| dispatched.is_some() || unsent.is_none());
    let applied = facts.attempts().find(|contact| applied(facts.case, contact));
    let applied = applied.map(|contact| {
        Evidence::seen("shows the success of a contact with the outside", contact.result.unwrap_or(contact.attempt))
    });
    let contact = answered_contact(facts);
    let refusal = refused.then(|| Evidence::seen("shows that it was refused before it was dispatched", end(facts)));
    let unreached = unsent.clone().or(refusal);
    let idle = retry::nothing_done(facts, outcome)
        .then(|| Evidence::seen("shows the end of a call in whose time nothing was done", end(facts)));
    Grounds {
        sent: Ground { proven: sent, excluded: unsent.clone() },
        reached: Ground { proven: reached.or(contact), excluded: unreached.clone() },
        effected: Ground { proven: applied, excluded: unreached.filter(|_| dispatched.is_none()).or(idle) },
        acked: Ground { proven: acked, excluded: unsent },
    }
}

/// Where the answer stands, else the request.
fn end(facts: &CallFacts<'_>) -> Mark {
    facts.call.answered.unwrap_or_else(|| facts.place())
}

/// Evidence that the caller saw an answer made by the server.
fn acked(facts: &CallFacts<'_>) -> Option<Evidence> {
    if let Some(row) = facts.first(Seen::AnswerRejected) {
        return Some(Evidence::seen(role_of(row), row.mark));
    }
    let delivered = answer_is_servers(facts.call)
        && (facts.call.answered_as == Seen::Delivered
            || facts.has(Seen::Delivered)
            || tapped(facts.call) && !facts.has(Seen::TimedOut));
    let mark = || facts.first(Seen::Delivered).map_or_else(|| end(facts), |row| row.mark);
    delivered.then(|| Evidence::seen("shows the server's answer on its way to the caller", mark()))
}

/// Whether the answer passed whoever saw the request pass, between the client and the server.
fn tapped(call: &Call) -> bool {
    let one_view =
        call.asked.zip(call.answered).is_some_and(|(asked, answered)| asked.origin.source == answered.origin.source);
    call.witness == Witness::Proxy && one_view
}

/// Evidence that the server dispatched the request.
fn dispatched(facts: &CallFacts<'_>, outcome: Outcome, refused: bool) -> Option<Evidence> {
    let answered = matches!(
        outcome,
        Outcome::ToolSuccess
            | Outcome::RpcSuccess
            | Outcome::TaskStarted
            | Outcome::InputRequired
            | Outcome::InvalidToolResult
    ) || matches!(outcome, Outcome::ToolError | Outcome::JsonRpcError)
            // Whoever could not tell the id may not have read the request.
            && !facts.call.answer.foreign_id
            && !at_the_door(facts.call)
            && !refused
            && answer_is_servers(facts.call);
    if let Some(mark) = facts.receipt().filter(|_| !refused) {
        return Some(Evidence::seen("shows that the server had the request", mark));
    }
    if answered {
        return Some(Evidence::seen("shows an answer that the server gives when it has the request", end(facts)));
    }
    let row = facts.first(Seen::ReplyLost).or_else(|| facts.first(Seen::LateAnswer))?;
    Some(Evidence::seen(role_of(row), row.mark))
}

/// Whether the answer has a code of what stands before dispatch (MCP 2026-07-28); a handler can raise it as well.
fn at_the_door(call: &Call) -> bool {
    call.answer.has_code && matches!(call.answer.code, -32020 | -32022)
}

/// An external result that shows application: a success status to a request that writes, and no error beside it. 202
/// says that nothing is done yet, 207 that the body tells what was.
fn applied(case: &Case, contact: &Contact) -> bool {
    contact.result.is_some()
        && (200..300).contains(&contact.status)
        && !matches!(contact.status, 202 | 207)
        && !contact.refused
        && !contact.failed
        && retry::writes(case, contact)
}

/// A contact of the call that the outside answered with a success: whoever made it had the request.
fn answered_contact(facts: &CallFacts<'_>) -> Option<Evidence> {
    let succeeded =
        |contact: &&&Contact| contact.result.is_some() && (200..300).contains(&contact.status) && !contact.refused;
    let contact = facts.attempts().find(succeeded)?;
    let mark = contact.result.unwrap_or(contact.attempt);
    Some(Evidence::seen("shows the success of a contact with the outside", mark))
}

/// By the word of the operator, every success of the tool is an effect.
fn succeeded_with_effect(facts: &CallFacts<'_>) -> bool {
    let accumulates = facts.declared().is_some_and(|(effect, _)| effect == Effect::Accumulating);
    accumulates && facts.call.answer.kind == AnswerKind::Result && answer_is_servers(facts.call)
}

/// Executions proven and possible: dispatches, not attempts at contact.
pub(super) fn effects(facts: &CallFacts<'_>, milestones: &Milestones) -> (u32, u32) {
    if facts.class == EffectClass::None || milestones.reached == Truth::False || milestones.effected == Truth::False {
        return (0, 0);
    }
    let posts = facts.http.map_or(1, |http| u32::from(http.posts.max(1)));
    let hidden = facts.seen.iter().filter(|row| matches!(row.seen, Seen::HiddenRetry | Seen::ForwardedAgain)).count();
    let hi = posts + u32::try_from(hidden).unwrap_or(0);
    let lo = succeeded_with_effect(facts) || milestones.effected == Truth::True;
    (u32::from(lo), hi)
}

#[cfg(test)]
mod tests {
    use crate::judge::{Truth, testing::judged};

    /// Executions of a call that made one contact, and its milestones `reached` and `effected`.
    fn of_contact(method: &str, result: &str) -> ((u32, u32), Truth, Truth) {
        let line = |rest: &str| {
            format!(
                r#"{{"run_id":"r","server_name":"acme","phase":"execution","at":"2026-07-22T14:00:01.000Z","request_id":5,"tool":"pay",{rest}}}"#
            )
        };
        let attempt = format!(r#""event":"external_attempt","host":"bank","action_id":"a","method":"{method}""#);
        let result = format!(r#""event":"external_result","host":"bank","action_id":"a",{result}"#);
        let lines = [line(r#""event":"tool_call_received","arguments":{"n":5}"#), line(&attempt), line(&result)];
        let (_, verdicts) = judged(&[&lines.join("\n")]);
        let call = verdicts.calls.values().next().expect("a call without an answer");
        (call.effects, call.milestones.reached, call.milestones.effected)
    }

    #[test]
    fn a_code_of_the_door_proves_no_dispatch() {
        let line = |second: u32, direction: &str, message: &str| {
            format!(r#"{{"ts":"2026-07-22T14:00:{second:02}.000Z","direction":"{direction}","message":{message}}}"#)
        };
        let asked = r#"{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"pay"}}"#;
        let error = r#"{"jsonrpc":"2.0","id":3,"error":{"code":-32020,"message":"no"}}"#;
        let (_, verdicts) = judged(&[&[line(0, "in", asked), line(1, "out", error)].join("\n")]);
        assert_eq!(verdicts.calls[&0].milestones.reached, Truth::None);
    }

    #[test]
    fn only_a_write_that_was_applied_is_an_effect() {
        assert_eq!(of_contact("POST", r#""status":201"#), ((1, 1), Truth::True, Truth::True));
        for (method, result) in [
            ("GET", r#""status":200"#),
            ("HEAD", r#""status":200"#),
            ("POST", r#""status":202"#),
            ("POST", r#""status":207"#),
            ("POST", r#""status":200,"error":"errors: rejected""#),
        ] {
            assert_eq!(of_contact(method, result), ((0, 1), Truth::True, Truth::None), "{method} {result}");
        }
    }
}
