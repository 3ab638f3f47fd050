//! The server contacted something outside to list its tools.

use super::{
    Doc, FindingRule, Severity,
    outside::{Part, report},
};

/// See [`FindingRule::doc`].
pub(super) static RULE: FindingRule = FindingRule {
    id: "discovery-reach",
    title: "Listing the tools reaches outside",
    severity: Severity::High,
    doc: Doc {
        means: "While it listed its tools, resources or prompts, the server contacted something outside the session. Clients list often, and expect it to change nothing.",
        recognized: "A contact on record while a list was open and no call was, or one that its writer places in discovery.",
        is_not: "A contact inside a tool call. Where only packages or telemetry were reached, the severity is low.",
        to_do: "Let the server list from what it knows, and fetch what a tool needs inside that tool.",
    },
    check: |scene, out| report(scene, &RULE, Part::Discovery, "While it listed what it offers,", out),
};
