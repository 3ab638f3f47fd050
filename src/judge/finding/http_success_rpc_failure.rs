//! HTTP says success, the message inside says failure.

use super::{Confidence, Doc, Finding, FindingRule, Scene, Severity, count, tally::Groups};
use crate::{
    correlate::{AnswerKind, Call, Case},
    judge::call::is_probe,
};

/// See [`FindingRule::doc`].
pub(super) static RULE: FindingRule = FindingRule {
    id: "http-success-rpc-failure",
    title: "HTTP success around a failure",
    severity: Severity::Low,
    doc: Doc {
        means: "The HTTP status is 2xx and the JSON-RPC answer inside is an `error` or a tool result with `isError: true`. That is how MCP works, and everything that watches statuses only takes it for a success.",
        recognized: "An answer with a status of 200–299 whose message is an error.",
        is_not: "A fault of the server. −32601 for a method that is optional is not counted: clients ask for what a server need not have.",
        to_do: "Let alerts and retries look at the JSON-RPC answer, never at the HTTP status alone.",
    },
    check,
};

/// "Method not found".
const METHOD_NOT_FOUND: i32 = -32601;

fn check(scene: &Scene<'_, '_>, out: &mut Vec<Finding>) {
    let mut groups = Groups::default();
    let mut total: std::collections::BTreeMap<u32, u64> = std::collections::BTreeMap::new();
    for (index, call) in scene.calls() {
        if !succeeded(scene.case, call) {
            continue;
        }
        *total.entry(call.run).or_default() += 1;
        if let Some(mark) = call.answered.filter(|_| fails(scene.case, index, call)) {
            groups.add_call(call.run, index, "shows a failure inside an HTTP success", mark);
        }
    }
    for (run, tally) in groups {
        let of = total.get(&run).copied().unwrap_or(0);
        let first = tally.call().map(|call| &scene.case.calls[call as usize]);
        let how = match first {
            Some(call) if call.answer.has_code => format!("error {}", call.answer.code),
            Some(call) if call.answer.kind == AnswerKind::ToolError => "isError".to_owned(),
            _ => "an error".to_owned(),
        };
        let claim = format!(
            "HTTP reports success for {} that failed, first for {} with {how}.",
            count(tally.count(), "call", "calls"),
            scene.first_of(&tally)
        );
        out.push(tally.of(of).finding(&RULE, Confidence::High, claim, run));
    }
}

fn succeeded(case: &Case, call: &Call) -> bool {
    case.http(call).is_some_and(|http| (200..300).contains(&http.status))
}

fn fails(case: &Case, index: u32, call: &Call) -> bool {
    let optional = call.answer.has_code
        && call.answer.code == METHOD_NOT_FOUND
        && !matches!(case.name(call.method), "tools/call" | "tools/list" | "initialize");
    matches!(call.answer.kind, AnswerKind::Error | AnswerKind::ToolError) && !optional && !is_probe(case, index)
}
