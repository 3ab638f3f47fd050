//! The call contacted something outside that it may have changed.

use super::{Attempt, Caution, Doc, Helps, Opinion, RetryRule, contact_evidence, harmful_contact};
use crate::{event::ReachSource, judge::Proof};

/// See [`RetryRule::doc`].
pub(super) static RULE: RetryRule = RetryRule {
    id: "external-attempt",
    title: "An external attempt is on record",
    doc: Doc {
        means: "The tool sent something to a service. Whether it was applied or not, sending the call again sends it again.",
        recognized: "A contact bound to the call: recorded by the server, by a library inside it, by a span, a kernel trace, an egress log, or the log of the service; with or without a result.",
        is_not: "A contact that failed to connect, that only read (GET, HEAD), that the remote refused, or that is telemetry or a package download.",
        to_do: "Ask the service whether it was applied, under the key, number or time that the evidence shows. Only then decide.",
    },
    check,
};

fn check(attempt: &Attempt<'_, '_>) -> Option<Opinion> {
    let contact = harmful_contact(attempt)?;
    let helps = if attempt.outcome.is_success() || attempt.milestones.effected == crate::judge::Truth::True {
        Helps::AlreadyDone
    } else {
        Helps::Unknown
    };
    let own_log = contact.vouched == ReachSource::ServiceLog;
    let reason = match contact.result {
        _ if attempt.outcome.is_success() => {
            "It succeeded and contacted a service outside; sending it again does both again."
        }
        Some(_) if (200..300).contains(&contact.status) => {
            "It contacted a service outside, and the service answered with success."
        }
        Some(_) => "It contacted a service outside, and the service answered.",
        None if own_log => "It contacted a service outside, whose own log shows the request.",
        None => "It contacted a service outside, and no result is on record.",
    };
    let proof = Proof::seen("shows the contact with the outside", contact.attempt).with(contact_evidence(attempt));
    Some(Opinion::new(Caution::Unsafe, RULE.id, reason, helps, proof))
}
