//! The server contacted something outside before it had shaken hands.

use super::{
    Doc, FindingRule, Severity,
    outside::{Part, report},
};

/// See [`FindingRule::doc`].
pub(super) static RULE: FindingRule = FindingRule {
    id: "launch-reach",
    title: "Starting the server reaches outside",
    severity: Severity::High,
    doc: Doc {
        means: "While it was loaded, started or shook hands, the server contacted something outside the session. Every start repeats it, also the starts that a client makes by itself.",
        recognized: "A contact on record before the answer to `initialize`, or one that its writer places in launch or handshake, and that belongs to no call.",
        is_not: "A contact inside a tool call. Where only packages or telemetry were reached, the severity is low.",
        to_do: "Move such work out of module load and start-up, into the tool that needs it. Until then count the starts before you restart.",
    },
    check: |scene, out| report(scene, &RULE, Part::Launch, "Before it had shaken hands,", out),
};
