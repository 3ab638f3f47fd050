//! Sending again may need a new process: then the verdict of the run about a restart counts, too.

use super::{Attempt, Caution, Helps, Opinion, lower_first};
use crate::{
    correlate::{NONE, Seen, Transport},
    event::TroubleKind,
    judge::RunFacts,
};

/// How a request that has no answer can be sent again.
enum Needs {
    /// To the process that is there.
    Nothing,
    /// Only to a new process: the old one has ended, or is given up with its handshake.
    NewProcess(&'static str),
    /// To the old process, if that still runs.
    OldProcess,
}

/// The more cautious of a call's own verdict and that of the start which it needs.
pub(super) fn with_restart(attempt: &Attempt<'_, '_>, own: Opinion) -> Opinion {
    let Some(run) = attempt.facts.run else { return own };
    let needs = needs(attempt, run);
    if matches!(needs, Needs::Nothing) {
        return own;
    }
    let restart = run.restart();
    // What was answered needs the process only for its repetition. A client that closed its server itself starts it
    // again for everything it does, and then only known harm counts; a server that ended by itself is started for this.
    let counts = attempt.outcome.is_open()
        || !attempt.outcome.is_success()
            && (restart.verdict == Caution::Unsafe || attempt.may_harm() && ended_by_itself(run));
    if !counts || restart.verdict <= own.verdict {
        return own;
    }
    match needs {
        Needs::NewProcess(why) => {
            let reason = format!("{why}: {}", lower_first(&restart.reason));
            let helps = if launched_wrongly(run) { Helps::No } else { own.helps };
            // The call would not be up to the restart alone without what its own verdict assumes.
            Opinion { reason: reason.into(), helps, ..restart.clone() }.assuming(&own.assumptions)
        }
        _ if own.verdict == Caution::Safe => {
            let condition = "the process that had it still runs and is sent it again, without a new start";
            let reason = format!("{} No record shows that the process was still alive.", own.reason);
            Opinion { reason: reason.into(), ..own }.under(vec![condition.into()])
        }
        _ => own,
    }
}

/// Whether a server that its client started has ended without having been told to.
fn ended_by_itself(run: &RunFacts<'_>) -> bool {
    run.transport() == Transport::Stdio && run.ended_by_itself()
}

/// What the launcher has to supply was missing: the next start fails like this one.
fn launched_wrongly(run: &RunFacts<'_>) -> bool {
    let missing =
        |kind| matches!(kind, TroubleKind::MissingFile | TroubleKind::MissingModule | TroubleKind::MissingEnvironment);
    let answered = run.initialize.is_some_and(|call| call.answered.is_some());
    run.spawn_failed.is_some() || !answered && run.troubles.iter().any(|(kind, ..)| missing(*kind))
}

fn needs(attempt: &Attempt<'_, '_>, run: &RunFacts<'_>) -> Needs {
    if run.needs_new_process() {
        return Needs::NewProcess("Sending it again needs a new process");
    }
    if attempt.facts.has(Seen::WriteFailed) {
        return Needs::NewProcess("Nobody reads its pipe any more, so sending it again needs a new process");
    }
    if !attempt.outcome.is_open() || over_http(attempt, run) || attempt.may_harm() {
        return Needs::Nothing;
    }
    // A client that gets no answer to its handshake ends the process and starts another.
    if matches!(attempt.facts.method, "initialize" | "server/discover") {
        return Needs::NewProcess("An unanswered handshake is repeated by starting the server again");
    }
    if run.alive_behind(attempt.facts.place(), attempt.facts.index) { Needs::Nothing } else { Needs::OldProcess }
}

/// A server that is reached over HTTP does not start with its client.
fn over_http(attempt: &Attempt<'_, '_>, run: &RunFacts<'_>) -> bool {
    let http = matches!(run.transport(), Transport::StreamableHttp | Transport::Sse);
    http || attempt.facts.call.http != NONE || attempt.facts.call.session.is_some()
}

#[cfg(test)]
mod tests {
    use crate::judge::{retry::Caution, testing::judged};

    /// A call that was refused for its arguments, and what the tap tells behind it.
    fn refused(behind: &[&str]) -> Caution {
        let message = |second: u32, direction: &str, text: &str| {
            let line = serde_json::to_string(text).expect("a string");
            format!(r#"{{"ts":"2026-07-22T14:00:0{second}.000Z","dir":"{direction}","line":{line}}}"#)
        };
        let issues = r#"[{\"code\":\"invalid_type\",\"path\":[\"x\"],\"message\":\"Required\"}]"#;
        let mut lines = vec![
            r#"{"ts":"2026-07-22T14:00:00.000Z","dir":"spawn","argv":["node","s.js"],"pid":77}"#.to_owned(),
            message(
                1,
                "c2s",
                r#"{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"pay","arguments":{"amount":5}}}"#,
            ),
            message(
                1,
                "s2c",
                &format!(
                    r#"{{"jsonrpc":"2.0","id":5,"error":{{"code":-32602,"message":"Invalid arguments for tool pay: {issues}"}}}}"#
                ),
            ),
        ];
        lines.extend(behind.iter().map(|rest| format!(r#"{{"ts":"2026-07-22T14:00:03.000Z",{rest}}}"#)));
        let (_, verdicts) = judged(&[&lines.join("\n")]);
        verdicts.calls.values().next().expect("a refused call").retry.verdict
    }

    #[test]
    fn a_server_that_ended_by_itself_is_started_for_the_next_attempt() {
        assert_eq!(refused(&[]), Caution::Safe);
        assert_eq!(refused(&[r#""dir":"exit","code":139"#]), Caution::Unknown);
        assert_eq!(refused(&[r#""dir":"exit","code":0"#]), Caution::Unknown);
        assert_eq!(refused(&[r#""dir":"c2s_eof""#, r#""dir":"exit","code":0"#]), Caution::Safe);
    }
}
