//! The server finished although the caller got a failure.

use super::{Attempt, Caution, Doc, Helps, Opinion, RetryRule};
use crate::{
    correlate::{NO_RESULT, Seen, Sighting},
    event::Witness,
    judge::{
        Evidence, Outcome, Proof,
        call::{self, EffectClass},
    },
};

/// See [`RetryRule::doc`].
pub(super) static RULE: RetryRule = RetryRule {
    id: "answered-behind-failure",
    title: "The server finished behind the failure",
    doc: Doc {
        means: "The caller saw a timeout, a gateway error or nothing at all, but the server made an answer: the work is done.",
        recognized: "An answer after the caller had stopped waiting, a server's own record of its answer behind a gateway's error, or a reply that was made and lost.",
        is_not: "A refusal by the server: a server's record of an error is not this rule.",
        to_do: "Do not send it again. Fetch the result where it now lives, and raise the limit that cut it off.",
    },
    check,
};

fn check(attempt: &Attempt<'_, '_>) -> Option<Opinion> {
    let facts = attempt.facts;
    if !attempt.may_harm()
        || facts.class == EffectClass::ByIntent
        || call::answer_is_servers(facts.call) && attempt.outcome != Outcome::AnswerNotCaptured
    {
        return None;
    }
    let shows_an_answer = |row: &&Sighting| match row.seen {
        Seen::ReplyLost | Seen::CallSucceeded => true,
        Seen::LateAnswer => row.number != NO_RESULT,
        Seen::Responded => row.witness == Witness::Server && row.number != NO_RESULT,
        _ => false,
    };
    // An answer of which nothing is known may have been an error.
    let is_done = |row: &&Sighting| row.seen == Seen::CallSucceeded || row.number == 1;
    let mut rows = facts.seen.iter().filter(shows_an_answer);
    let first = rows.next()?;
    let (row, helps) = match std::iter::once(first).chain(rows).find(is_done) {
        Some(row) => (row, Helps::AlreadyDone),
        None => (first, Helps::Unknown),
    };
    let proof = Proof::seen(call::role_of(row), row.mark).and(Evidence::seen("shows the request", facts.place()));
    // Where nobody recorded the caller's side, nothing says that the answer was lost.
    let reason = if attempt.outcome == Outcome::AnswerNotCaptured {
        "The server answered this call; what it said is not on record."
    } else {
        "The server finished this call, although the caller did not get its answer."
    };
    Some(Opinion::new(Caution::Unsafe, RULE.id, reason, helps, proof))
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::judge::{Caution, Helps, testing::judged};

    const ASKED: &str = r#"{"ts":"2026-07-22T14:00:00.000Z","server":"acme","direction":"in","message":{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"pay","arguments":{"amount":5}}}}
{"ts":"2026-07-22T14:00:02.000Z","server":"acme","direction":"in","message":{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}}
"#;

    fn opinion(sources: &[&str]) -> (Caution, &'static str, Helps) {
        let (_, verdicts) = judged(sources);
        let retry = &verdicts.calls[&0].retry;
        (retry.verdict, retry.rule, retry.helps)
    }

    fn late(answer: &str) -> (Caution, &'static str, Helps) {
        let line = format!(
            r#"{{"ts":"2026-07-22T14:00:09.000Z","server":"acme","direction":"out","message":{{"jsonrpc":"2.0","id":1,{answer}}}}}"#
        );
        opinion(&[&format!("{ASKED}{line}\n")])
    }

    #[test]
    fn a_late_error_does_not_say_that_the_work_is_done() {
        assert_eq!(late(r#""result":{"content":[]}"#), (Caution::Unsafe, RULE.id, Helps::AlreadyDone));
        for error in [
            r#""error":{"code":-32603,"message":"boom"}"#,
            r#""result":{"content":[{"type":"text","text":"boom"}],"isError":true}"#,
        ] {
            let (verdict, rule, helps) = late(error);
            assert!(verdict == Caution::Unknown && rule != RULE.id && helps != Helps::AlreadyDone, "{rule}");
        }
    }

    #[test]
    fn an_answer_of_which_nothing_is_known_may_have_been_an_error() {
        let log = |told: &str| {
            format!(
                r#"{{"run_id":"r","server_name":"acme","phase":"execution","event":"tool_call_received","request_id":1,"tool":"pay","at":"2026-07-22T14:00:00.100Z"}}
{{"run_id":"r","server_name":"acme","phase":"execution","event":"tool_call_responded","request_id":1,"tool":"pay"{told},"at":"2026-07-22T14:00:00.200Z"}}
"#
            )
        };
        assert_eq!(opinion(&[&log("")]), (Caution::Unsafe, RULE.id, Helps::Unknown));
    }
}
