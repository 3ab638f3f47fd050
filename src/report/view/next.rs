//! What to log next time, so that the questions that stayed open close by themselves.

use super::Desk;
use crate::{
    correlate::{Call, Key, Seen, SourceFacts},
    event::{ReachSource, Witness},
    judge::{
        Answer, CallVerdict, Caution,
        call::{EffectClass, effect_class},
    },
    report::{select, wire},
};

/// The advice that applies.
pub(super) fn next(desk: &Desk<'_, '_>) -> Vec<&'static str> {
    let case = desk.report.case;
    let runs = || desk.report.verdicts.runs.iter().filter(|run| desk.selected.run(run.index));
    let calls = || select::calls(desk.report).filter(|(_, verdict)| !verdict.outcome.is_success());
    let witnessed = |witness: Witness| {
        let own = |source: &SourceFacts| source.witness == Some(witness);
        case.sources.iter().any(|source| own(source) || witness == Witness::Server && source.server_wrote)
    };
    let open = calls().any(|(_, verdict)| verdict.retry.verdict == Caution::Unknown);
    let undecided = |call: &Call, verdict: &CallVerdict| {
        verdict.reach.answer == Answer::Unknown && effect_class(case.name(call.method)) == EffectClass::Undeclared
    };
    let reach_open = calls().any(|(index, verdict)| undecided(&case.calls[index as usize], verdict))
        || runs().any(|run| run.reached_outside.answer == Answer::Unknown);
    let logged = case.contacts.iter().any(|contact| contact.vouched == ReachSource::PhaseEvent);
    let traced = witnessed(Witness::Network);
    let start_open = runs().any(|run| run.started.answer == Answer::Unknown);
    let handshake_open = runs().any(|run| run.stop.is_some() && run.initialized.answer == Answer::Unknown);
    let contested =
        calls().any(|(index, _)| case.sightings(&case.calls[index as usize]).any(|row| row.seen == Seen::Contested));
    let arguments_open = calls().any(|(index, _)| {
        let call = &case.calls[index as usize];
        wire::tool(case, call).is_some() && call.args == Key::default()
    });
    let zones = desk.report.sources.iter().enumerate().any(|(index, info)| {
        matches!(wire::zone(info, case.sources.get(index)), "aligned" | "unknown") && has_time(desk, index)
    });
    let rows = [
        (
            (open || start_open) && !witnessed(Witness::Server),
            "Keep the server's stderr, and let the server write one line per phase event (run_id, pid, phase, event, request_id): it shows what was received and answered.",
        ),
        (
            (open || handshake_open) && !witnessed(Witness::Client) && !witnessed(Witness::Proxy),
            "Keep the client's log or a capture of the wire: it shows what was sent and what the caller got.",
        ),
        (reach_open && !(logged && traced), reach_log(logged, traced)),
        (start_open, "Let the launcher log spawned with the process id, and exited with code or signal."),
        (contested, "Give every request of a session its own JSON-RPC id, and log it on every line about the call."),
        (
            arguments_open,
            "Record the arguments of tool calls, or a digest of them: without, a retry cannot be told from a new call.",
        ),
        (zones, "Write time stamps with date and zone (RFC 3339)."),
    ];
    rows.into_iter().filter(|(applies, _)| *applies).map(|(_, text)| text).collect()
}

/// What would tell about contacts. What is in the capture is not asked for again.
fn reach_log(logged: bool, traced: bool) -> &'static str {
    match (logged, traced) {
        (true, _) => {
            "Record one start with `strace -f -e trace=network,process`: it covers what the server does not log by itself."
        }
        (false, true) => {
            "Log external_attempt before and external_result after every outbound request, with request_id, action_id, target, method and status: then a contact can be bound to its call."
        }
        (false, false) => {
            "Log external_attempt before and external_result after every outbound request, with request_id, action_id, target, method and status; or record one start with `strace -f -e trace=network,process`. Then \"reached outside\" has an answer."
        }
    }
}

fn has_time(desk: &Desk<'_, '_>, index: usize) -> bool {
    desk.report.case.sources.get(index).is_some_and(|facts| facts.first.is_some())
}
