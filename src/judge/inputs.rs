//! Rules that had nothing to look at: the kind of input that they need is not among the sources.
//!
//! That a rule did not fire means something only where it could have.

use crate::{
    correlate::{Case, Key, NONE, StrandFact},
    event::{PhaseEvent, ReachSource, Witness},
};

/// A kind of input, and the rules that draw on nothing else.
struct Input {
    /// What it is, as the report names it.
    needs: &'static str,
    /// Whether the sources hold it.
    there: fn(&Case) -> bool,
    /// Names of rules of all tables.
    rules: &'static [&'static str],
}

static INPUTS: &[Input] = &[
    Input {
        needs: "a kernel trace of the server process over its whole life, or a server log that records external_attempt",
        there: |case| traced(case) || logged(case),
        rules: &["covered-error", "covered-life"],
    },
    Input {
        needs: "a record of contacts with the outside: the server's own, a trace, an egress log, or the log of a service",
        there: |case| traced(case) || !case.contacts.is_empty(),
        rules: &[
            "background-reach",
            "connect-failed",
            "discovery-reach",
            "external-attempt",
            "launch-reach",
            "reach-outside-calls",
            "read-only-contact",
            "remote-refused",
        ],
    },
    Input {
        needs: "a capture of the HTTP exchanges: a HAR file, or the log of a proxy or client with status codes",
        there: |case| case.calls.iter().any(|call| call.http != NONE),
        rules: &["http-success-rpc-failure", "refused-at-the-door", "rejected-before-work", "session-gone"],
    },
    Input {
        needs: "the log of the proxy in front of the server",
        there: |case| case.sources.iter().any(|source| source.witness == Some(Witness::Proxy)),
        rules: &["not-forwarded"],
    },
    Input {
        needs: "an answer to tools/list",
        there: |case| case.strands.iter().any(|strand| !strand.tools.is_empty()),
        rules: &[
            "hinted-read-only",
            "hinted-read-only-success",
            "tools-changed",
            "tools-list-empty",
            "tools-list-invalid",
        ],
    },
    Input {
        needs: "the arguments of tool calls, or a digest of them",
        there: |case| case.calls.iter().any(|call| call.args != Key::default()),
        rules: &["duplicate-effect", "idempotency-key", "unsafe-retry"],
    },
    Input {
        needs: "the launcher's or a tap's record of the process: spawned, exited, refused",
        there: |case| case.strands.iter().flat_map(|strand| &strand.events).any(|event| is_life(event.what)),
        rules: &["exited-early", "nothing-started"],
    },
    Input {
        needs: "run ids in the logs",
        there: |case| case.strands.iter().any(|strand| strand.run_id.is_some()),
        rules: &["reused-run-id"],
    },
    Input {
        needs: "two sources with time stamps",
        there: |case| case.sources.iter().filter(|source| source.first.is_some()).nth(1).is_some(),
        rules: &["clock-skew"],
    },
];

fn traced(case: &Case) -> bool {
    case.strands.iter().any(|strand| {
        strand.witness == Witness::Network
            && strand.events.iter().any(|event| event.what == StrandFact::Step(PhaseEvent::Spawned))
    })
}

fn logged(case: &Case) -> bool {
    let own = |vouched, witness| vouched == ReachSource::PhaseEvent && witness == Witness::Server;
    case.contacts.iter().any(|contact| own(contact.vouched, contact.witness))
}

fn is_life(what: StrandFact) -> bool {
    matches!(
        what,
        StrandFact::Step(PhaseEvent::SpawnRequested | PhaseEvent::Spawned | PhaseEvent::Exited)
            | StrandFact::SpawnFailed(_)
            | StrandFact::Signaled
            | StrandFact::Remark(crate::event::RemarkKind::InstanceStart | crate::event::RemarkKind::ProcessStarted)
    )
}

/// The rules that could not fire, with what they need, by name. Where no run was recognized, nothing ran at all.
pub fn rules_not_run(case: &Case) -> Vec<(&'static str, &'static str)> {
    if case.runs.is_empty() {
        return Vec::new();
    }
    let absent = INPUTS.iter().filter(|input| !(input.there)(case));
    let mut rules: Vec<_> = absent.flat_map(|input| input.rules.iter().map(|rule| (*rule, input.needs))).collect();
    rules.sort_unstable();
    rules
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::{FINDING_RULES, RESTART_RULES, RETRY_RULES};

    #[test]
    fn every_name_is_a_rule_and_stands_once() {
        let mut names: Vec<&str> = INPUTS.iter().flat_map(|input| input.rules).copied().collect();
        let known = |name: &&str| {
            RETRY_RULES.iter().any(|rule| rule.id == *name)
                || RESTART_RULES.iter().any(|rule| rule.id == *name)
                || FINDING_RULES.iter().any(|rule| rule.id == *name)
        };
        assert!(names.iter().all(known), "{names:?}");
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
    }
}
