//! The server asked whether it may, and it may not.

use super::{Attempt, Caution, Doc, Helps, Opinion, RetryRule, earlier_in_doubt};
use crate::{correlate::Seen, event::PhaseEvent, judge::Evidence};

/// See [`RetryRule::doc`].
pub(super) static RULE: RetryRule = RetryRule {
    id: "authorization-denied",
    title: "Authorization was denied",
    doc: Doc {
        means: "The gate in front of the action stayed closed.",
        recognized: "`authorization_denied` as the call's last authorization event, no contact before or after it, nothing else that the server wrote or another source tells of inside the call, and the end of the call on record. Without the end it is a condition.",
        is_not: "A failed start of the server, and not a provider's 403.",
        to_do: "Grant the permission, then send it again.",
    },
    check,
};

fn check(attempt: &Attempt<'_, '_>) -> Option<Opinion> {
    let facts = attempt.facts;
    let gate = [Seen::AuthorizationRequested, Seen::AuthorizationGranted, Seen::AuthorizationDenied];
    let last = facts.seen.iter().filter(|row| gate.contains(&row.seen)).max_by_key(|row| row.mark.origin)?;
    let was_granted = facts.has(Seen::AuthorizationGranted);
    // Order is known inside one source only, and equal ids that were open at once may have been mixed up.
    let one_log = facts
        .seen
        .iter()
        .filter(|row| gate.contains(&row.seen))
        .all(|row| row.mark.origin.source == last.mark.origin.source);
    let later = facts.run.is_some_and(|run| {
        run.run.contacts.iter().map(|index| &facts.case.contacts[*index as usize]).any(|contact| {
            contact.is_attempt()
                && (contact.attempt.origin.source != last.mark.origin.source
                    || contact.attempt.origin > facts.place().origin)
        })
    });
    // A request for authorization that could be joined to no call may be this call's.
    let unjoined = facts.run.is_some_and(|run| {
        let gate = [PhaseEvent::AuthorizationRequested, PhaseEvent::AuthorizationGranted];
        gate.iter().any(|event| run.steps.contains_key(event))
    });
    if !one_log || later || unjoined || facts.call.contested || earlier_in_doubt(facts) {
        return None;
    }
    if last.seen != Seen::AuthorizationDenied || was_granted || !facts.contacts.is_empty() || facts.blocking().is_some()
    {
        return None;
    }
    // Whatever the server did besides asking stands before the gate or behind it.
    let worked = [Seen::Handled, Seen::HandlerDone, Seen::ServerRequest].iter().any(|seen| facts.has(*seen));
    if worked || super::began(facts) {
        return None;
    }
    let denied = Evidence::seen("shows that authorization was denied", last.mark);
    let reason = "Authorization was denied, and nothing was attempted.";
    let ended = facts.end().is_some() && !facts.has(Seen::ProcessEnded);
    Some(if ended {
        Opinion::new(Caution::Safe, RULE.id, reason, Helps::No, attempt.end().and(denied))
    } else {
        Opinion::safe_if(
            RULE.id,
            "the gate precedes every action of the tool",
            reason,
            Helps::No,
            attempt.request().and(denied),
        )
    })
}
