//! The server asked whether it may, and it may not.

use super::{AT_ONCE, Attempt, Caution, Doc, Helps, Opinion, RetryRule, earlier_in_doubt};
use crate::{
    correlate::{BEHIND_WORK, Mark, ONE_ACTION, Seen, Sighting},
    event::{PhaseEvent, Witness},
    judge::{CallFacts, Evidence, coverage},
};

/// See [`RetryRule::doc`].
pub(super) static RULE: RetryRule = RetryRule {
    id: "authorization-denied",
    title: "Authorization was denied",
    doc: Doc {
        means: "The gate in front of the action stayed closed.",
        recognized: "`authorization_denied` by the server itself as the call's last authorization event: in the order of its stamps, asked for or told within one second of the request, and within one second of the end. No contact before or after it, nothing else that the server wrote or another source tells of inside the call, and the end of the call told by the server in the same log. Without that end it is a condition (a gateway that stopped waiting ended nothing), and so it is where the gate names one action, host, channel, scope or resource, or gives a reason in words that no gate is known for: the call may have had other actions.",
        is_not: "A failed start of the server, a provider's 403, the gate of a gateway, or a policy about the answer.",
        to_do: "Grant the permission, then send it again.",
    },
    check,
};

fn check(attempt: &Attempt<'_, '_>) -> Option<Opinion> {
    let facts = attempt.facts;
    let gate = Gate::of(facts)?;
    if gate.last.seen != Seen::AuthorizationDenied || facts.has(Seen::AuthorizationGranted) || !gate.is_in_front(facts)
    {
        return None;
    }
    if contact_behind(facts, gate.last.mark) || unjoined(facts) || facts.call.contested || earlier_in_doubt(facts) {
        return None;
    }
    if !facts.contacts.is_empty() || facts.blocking().is_some() {
        return None;
    }
    // Whatever the server did besides asking stands before the gate or behind it.
    let worked = [Seen::Handled, Seen::HandlerDone, Seen::ServerRequest].iter().any(|seen| facts.has(*seen));
    if worked || super::began(facts) {
        return None;
    }
    let denied = Evidence::seen("shows that authorization was denied", gate.last.mark);
    let ended = gate.sees_the_end(facts) && !facts.has(Seen::ProcessEnded);
    let condition = match () {
        () if gate.has(ONE_ACTION) => Some("the call had no other action than the denied one"),
        () if !ended => Some("the gate precedes every action of the tool"),
        () if gate.is_broken(facts) => Some(
            "what its log lacks between the request and the end (a loss, a raised level, a clock that goes back, an unknown event) is no attempt",
        ),
        () if !gate.is_timed(facts) => Some("the gate was asked at once, and the call ended at once behind it"),
        () => None,
    };
    let reason = "Authorization was denied, and nothing was attempted.";
    let shown = if ended { attempt.end() } else { attempt.request() };
    Some(match condition {
        None => Opinion::new(Caution::Safe, RULE.id, reason, Helps::No, shown.and(denied)),
        Some(condition) => Opinion::safe_if(RULE.id, condition, reason, Helps::No, shown.and(denied)),
    })
}

/// What is on record of the gate of a call, in order.
struct Gate<'a> {
    rows: Vec<&'a Sighting>,
    last: &'a Sighting,
}

impl<'a> Gate<'a> {
    fn of(facts: &'a CallFacts<'_>) -> Option<Self> {
        let gate = [Seen::AuthorizationRequested, Seen::AuthorizationGranted, Seen::AuthorizationDenied];
        let mut rows: Vec<&Sighting> = facts.seen.iter().filter(|row| gate.contains(&row.seen)).collect();
        rows.sort_by_key(|row| row.mark.origin);
        let last = *rows.last()?;
        Some(Self { rows, last })
    }

    /// Whether times show that nothing took long in front of it or behind it.
    fn is_timed(&self, facts: &CallFacts<'_>) -> bool {
        let ends = [facts.call.asked, facts.call.answered, self.rows.first().map(|row| row.mark), Some(self.last.mark)];
        ends.into_iter().all(|mark| mark.is_some_and(|mark| mark.at.is_some()))
    }

    /// Whether the log may lack something between the first and the last that it has of the call.
    fn is_broken(&self, facts: &CallFacts<'_>) -> bool {
        let source = self.last.mark.origin.source;
        let own = facts.seen.iter().map(|row| row.mark.origin).filter(|origin| origin.source == source);
        let ends = own.clone().min().zip(own.max());
        ends.is_some_and(|(from, to)| coverage::break_between(facts.case, from, to).is_some())
    }

    /// Whether the server itself tells of the call's end, in the log of its gate.
    fn sees_the_end(&self, facts: &CallFacts<'_>) -> bool {
        let source = self.last.mark.origin.source;
        facts.seen.iter().any(|row| {
            let own = row.witness == Witness::Server && row.mark.origin.source == source;
            own && matches!(row.seen, Seen::Responded | Seen::HandlerDone)
        })
    }

    fn has(&self, bit: i32) -> bool {
        self.rows.iter().any(|row| row.number & bit != 0)
    }

    /// Whether it is the tool's own gate, and nothing can have been done in front of it or behind it: the server itself
    /// tells of it, in one log and in order, at once behind the request and directly before the end.
    fn is_in_front(&self, facts: &CallFacts<'_>) -> bool {
        // Order is known inside one source only, and equal ids that were open at once may have been mixed up.
        let source = self.last.mark.origin.source;
        let own = self.rows.iter().all(|row| row.mark.origin.source == source && row.witness == Witness::Server);
        let ends = [facts.call.asked, facts.call.answered].map(|mark| mark.filter(|mark| mark.origin.source == source));
        let mut marks: Vec<Mark> = self.rows.iter().map(|row| row.mark).chain(ends.into_iter().flatten()).collect();
        marks.sort_by_key(|mark| mark.origin);
        let ordered = marks.iter().filter_map(|mark| mark.at).is_sorted();
        let waited = |from: Option<Mark>, to: Option<Mark>| {
            let place = |mark: Option<Mark>| mark.and_then(|mark| facts.case.placed(mark));
            place(from).zip(place(to)).is_some_and(|(from, to)| to.0.saturating_sub(from.0) > AT_ONCE)
        };
        let first = self.rows.first().map(|row| row.mark);
        own && ordered
            && !self.has(BEHIND_WORK)
            && !waited(facts.call.asked, first)
            && !waited(Some(self.last.mark), facts.call.answered)
    }
}

/// A contact of the run behind the denial, or in an order that nothing tells.
fn contact_behind(facts: &CallFacts<'_>, denied: Mark) -> bool {
    facts.run.is_some_and(|run| {
        run.run.contacts.iter().map(|index| &facts.case.contacts[*index as usize]).any(|contact| {
            contact.is_attempt()
                && (contact.attempt.origin.source != denied.origin.source
                    || contact.attempt.origin > facts.place().origin)
        })
    })
}

/// A request for authorization that could be joined to no call may be this call's.
fn unjoined(facts: &CallFacts<'_>) -> bool {
    facts.run.is_some_and(|run| {
        let gate = [PhaseEvent::AuthorizationRequested, PhaseEvent::AuthorizationGranted];
        gate.iter().any(|event| run.steps.contains_key(event))
    })
}

#[cfg(test)]
mod tests {
    use crate::judge::{retry::Caution, testing::judged};

    /// A call that was received at 1 s, asked for and denied at these seconds, and answered at the last one.
    fn verdict([requested, denied, answered]: [u32; 3], detail: &str) -> Caution {
        let line = |second: u32, event: &str, rest: &str| {
            format!(
                r#"{{"run_id":"r","phase":"execution","event":"{event}","at":"2026-07-22T14:00:{second:02}.000Z","request_id":5,"tool":"pay"{rest}}}"#
            )
        };
        let lines = [
            line(1, "tool_call_received", ""),
            line(requested, "authorization_requested", ""),
            line(denied, "authorization_denied", detail),
            line(answered, "tool_call_responded", r#","is_error":true"#),
        ];
        let (_, verdicts) = judged(&[&lines.join("\n")]);
        verdicts.calls.values().next().expect("a denied call").retry.verdict
    }

    #[test]
    fn the_gate_of_the_tool_stands_in_front_of_everything() {
        assert_eq!(verdict([2, 3, 4], ""), Caution::Safe);
        assert_eq!(verdict([2, 40, 41], ""), Caution::Safe, "a person may think for long");
        for times in [[9, 10, 11], [2, 3, 9], [3, 2, 4]] {
            assert_eq!(verdict(times, ""), Caution::Unknown, "{times:?}");
        }
    }

    #[test]
    fn a_gate_about_one_action_speaks_of_no_other() {
        for detail in [
            r#","action_id":"act_2""#,
            r#","host":"mail""#,
            r#","channel":"smtp""#,
            r#","scope":"receipt:write""#,
            r#","resource":"invoice/7""#,
            r#","reason":"cannot refund: already charged TX1""#,
        ] {
            assert_eq!(verdict([2, 3, 4], detail), Caution::SafeIf, "{detail}");
        }
        assert_eq!(verdict([2, 3, 4], r#","reason":"permission denied by policy""#), Caution::Safe);
    }

    #[test]
    fn a_gateway_that_stopped_waiting_ended_nothing() {
        let log = r#"{"run_id":"r","phase":"execution","event":"tool_call_received","at":"2026-07-22T14:00:01.000Z","request_id":5,"tool":"pay"}
{"run_id":"r","phase":"execution","event":"authorization_denied","at":"2026-07-22T14:00:01.800Z","request_id":5,"tool":"pay"}"#;
        let proxy = r#"{"ts":"2026-07-22T14:00:00.990Z","run_id":"r","source":"gateway","direction":"in","message":{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"pay","arguments":{}}}}
{"ts":"2026-07-22T14:00:02.500Z","run_id":"r","source":"gateway","direction":"out","http":{"status":504},"raw":"timeout"}"#;
        let (_, verdicts) = judged(&[log, proxy]);
        assert!(verdicts.calls.values().all(|call| call.retry.verdict != Caution::Safe));
    }

    #[test]
    fn a_gate_behind_the_work_proves_nothing() {
        for detail in [r#","reason":"response policy""#, r#","source":"gateway""#] {
            assert_eq!(verdict([2, 3, 4], detail), Caution::Unknown, "{detail}");
        }
    }
}
