//! How far a call got: milestones, and the executions that follow from them.

use super::facts::{CallFacts, EffectClass, answer_is_servers};
use crate::{
    correlate::{AnswerKind, Contact, Seen},
    event::Witness,
    judge::{Outcome, policy::Effect, retry},
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

/// The milestones of a call, implications closed in both directions.
pub(in crate::judge) fn milestones(facts: &CallFacts<'_>, outcome: Outcome) -> Milestones {
    let refused = retry::refused_before_dispatch(facts, outcome);
    let dispatched = dispatched(facts, outcome, refused);
    let acked = facts.has(Seen::AnswerRejected)
        || answer_is_servers(facts.call)
            && (facts.call.answered_as == Seen::Delivered
                || facts.has(Seen::Delivered)
                || facts.call.witness == Witness::Proxy && !facts.has(Seen::TimedOut));
    let unsent = facts.not_sent().is_some();
    let sent = dispatched
        || acked
        || facts.seen.iter().any(|row| matches!(row.seen, Seen::Sent | Seen::Resent | Seen::Received));
    let sent = sent && (dispatched || !unsent);
    let applied = facts.attempts().any(|contact| applied(contact));
    let reached_false = unsent || refused;
    Milestones {
        sent: Truth::of(sent, unsent),
        reached: Truth::of(dispatched || applied, reached_false),
        effected: Truth::of(applied, reached_false && !dispatched || retry::nothing_done(facts, outcome)),
        acked: Truth::of(acked, unsent),
    }
}

/// Evidence that the server dispatched the request.
fn dispatched(facts: &CallFacts<'_>, outcome: Outcome, refused: bool) -> bool {
    let answered =
        matches!(
            outcome,
            Outcome::ToolSuccess
                | Outcome::RpcSuccess
                | Outcome::TaskStarted
                | Outcome::InputRequired
                | Outcome::InvalidToolResult
        ) || matches!(outcome, Outcome::ToolError | Outcome::JsonRpcError) && !refused && answer_is_servers(facts.call);
    answered || facts.receipt().is_some() && !refused || facts.has(Seen::ReplyLost) || facts.has(Seen::LateAnswer)
}

/// An external result that shows application: a success status to a request that writes.
fn applied(contact: &Contact) -> bool {
    contact.result.is_some() && (200..300).contains(&contact.status) && !contact.refused
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
    let wrote = || facts.attempts().any(|contact| applied(contact) && retry::writes(facts.case, contact));
    let lo = succeeded_with_effect(facts) || milestones.effected == Truth::True && wrote();
    (u32::from(lo), hi)
}
