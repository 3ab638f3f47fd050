//! The server contacted something outside while nothing was asked of it.

use super::{
    Doc, FindingRule, Severity,
    outside::{Part, report},
};

/// See [`FindingRule::doc`].
pub(super) static RULE: FindingRule = FindingRule {
    id: "background-reach",
    title: "The server reaches outside by itself",
    severity: Severity::Medium,
    doc: Doc {
        means: "With no call open, the server contacted something outside the session: a timer, a queue, telemetry, or work that a call left behind.",
        recognized: "A contact on record after the handshake, outside any list, and while no call of the run was open.",
        is_not: "A contact that one of several open calls may have made: such a contact stays possible for each of them.",
        to_do: "Find the job behind it, and decide with the owner of the service whether a restart may repeat it.",
    },
    check: |scene, out| report(scene, &RULE, Part::Background, "With no call open,", out),
};
