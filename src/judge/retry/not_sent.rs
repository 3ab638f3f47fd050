//! The request provably never left the client, or met no living process.

use super::{Attempt, Caution, Doc, Helps, Opinion, RetryRule, told_elsewhere};
use crate::judge::{Proof, Truth};

/// See [`RetryRule::doc`].
pub(super) static RULE: RetryRule = RetryRule {
    id: "not-sent",
    title: "The request was not sent",
    doc: Doc {
        means: "Nothing of this request arrived anywhere: it cannot have had an effect.",
        recognized: "The process could not be created; it had ended before the request in one source's record order; the connection was refused, or DNS or TLS failed, in words about this one attempt to connect, with no time of sending or waiting and no open connection on record; the client had no connection; the pipe broke directly under the message, at once and before the server wrote anything more. A broken pipe needs a new process to send again: then the verdict of the restart counts.",
        is_not: "A timeout, or a connection that closed afterwards: those say nothing about what the server did. Nor an answer that a browser tool gave itself: it may have fetched it before.",
        to_do: "Repair the cause and send it again.",
    },
    check,
};

fn check(attempt: &Attempt<'_, '_>) -> Option<Opinion> {
    let evidence = attempt.facts.not_sent().filter(|_| attempt.milestones.reached == Truth::False)?;
    if told_elsewhere(attempt.facts) {
        return None;
    }
    let spawn = attempt.facts.run.is_some_and(|run| run.spawn_failed.is_some());
    let helps = if spawn { Helps::No } else { Helps::Yes };
    let reason = "It never left the client.";
    Some(Opinion::new(Caution::Safe, RULE.id, reason, helps, Proof::new(evidence)))
}

#[cfg(test)]
mod tests {
    use crate::judge::{retry::Caution, testing::judged};

    fn verdict(summary: &str) -> Caution {
        let text = format!(
            r#"{{"client":"c","method":"tools/call","tool":"pay","outcome":"NOT_SENT","jsonrpc":{{"id":1}},{summary}}}"#
        );
        let (_, verdicts) = judged(&[&text]);
        verdicts.calls.values().next().expect("a call").retry.verdict
    }

    #[test]
    fn a_summary_that_records_what_came_back_contradicts_itself() {
        assert_eq!(verdict(r#""postCount":0,"httpStatuses":[],"retryOrigin":"none""#), Caution::Safe);
        for summary in [
            r#""postCount":1,"httpStatuses":[]"#,
            r#""postCount":0,"httpStatuses":[200]"#,
            r#""postCount":0,"httpStatuses":[],"eventCount":3"#,
            r#""postCount":null,"httpStatuses":[]"#,
            r#""postCount":0,"httpStatuses":[],"retryOrigin":"sdk""#,
            r#""postCount":0,"httpStatuses":[],"abortReason":"user""#,
        ] {
            assert_eq!(verdict(summary), Caution::Unknown, "{summary}");
        }
    }
}
