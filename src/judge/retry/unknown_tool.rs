//! The server does not have the tool.

use super::{AT_ONCE, Attempt, Caution, Doc, Helps, Opinion, RetryRule, took};
use super::{Refusal, refusal, refusal::contradicted};
use crate::{
    event::Wording,
    judge::{CallFacts, Evidence, Outcome},
};

/// See [`RetryRule::doc`].
pub(super) static RULE: RetryRule = RetryRule {
    id: "unknown-tool",
    title: "The tool does not exist",
    doc: Doc {
        means: "There was no handler to run.",
        recognized: "The answer is, within one second, nothing but an SDK's word that the called tool is unknown, and the run's complete tool list, answered before the call was asked, lacks it and every name akin to it; no tool that the list lacks was at work in the run; no handler, progress, contact or other word of the server is on record inside the call, and no notice behind the list says that it has changed. Without a list the same is a condition.",
        is_not: "The wording alone: a handler can raise \"unknown tool\" about something else, and behind `Error executing tool pay:` it did.",
        to_do: "Do not send it again. Refresh the tool list.",
    },
    check,
};

fn check(attempt: &Attempt<'_, '_>) -> Option<Opinion> {
    let facts = attempt.facts;
    if refusal(facts, attempt.outcome) == Some(Refusal::UnknownTool) {
        let list = facts
            .run
            .and_then(super::super::run::RunFacts::complete_tools)
            .map(|list| Evidence::seen("shows the complete tool list", list.mark));
        let proof = attempt.end().with(list);
        return Some(Opinion::new(Caution::Safe, RULE.id, "The server has no such tool.", Helps::No, proof));
    }
    let worded = facts.call.answer.wording == Wording::UnknownTool && facts.call.answer.names_target;
    let untouched = !contradicted(facts) && took(facts).is_none_or(|took| took <= AT_ONCE);
    let listed = facts.run.is_some_and(|run| run.complete_tools().is_some());
    if !worded
        || !untouched
        || listed
        || facts.blocking().is_some()
        || !matches!(attempt.outcome, Outcome::ToolError | Outcome::JsonRpcError)
    {
        return None;
    }
    let condition = "the server's complete tools/list lacks the tool";
    Some(Opinion::safe_if(
        RULE.id,
        condition,
        "The answer says that the server has no such tool.",
        Helps::No,
        attempt.end(),
    ))
}

/// Whether a complete tool list, made before the request, lacks the called tool.
pub(super) fn list_lacks_tool(facts: &CallFacts<'_>) -> bool {
    let list = facts.run.zip(facts.call.target).and_then(|(run, target)| run.list_without(target));
    let (Some(list), Some(asked)) = (list, facts.call.asked) else { return false };
    let before = if asked.origin.source == list.mark.origin.source {
        list.mark.origin < asked.origin
    } else {
        // Two clocks prove no order.
        false
    };
    // A notice behind the list says that it is no longer the list.
    let changed = facts.run.is_some_and(|run| {
        let notices = run.strands.iter().filter_map(|strand| strand.tools_changed);
        notices
            .into_iter()
            .any(|notice| notice.origin.source != list.mark.origin.source || notice.origin > list.mark.origin)
    });
    before && !changed
}

#[cfg(test)]
mod tests {
    use crate::judge::{retry::Caution, testing::judged};

    const LIST: &str = r#"{"tools":[{"name":"add","inputSchema":{"type":"object"}}]}"#;
    const REFUSED: &str = r#"{"content":[{"type":"text","text":"Unknown tool: pay"}],"isError":true}"#;

    fn line(milliseconds: u32, direction: &str, message: &str) -> String {
        let (second, rest) = (milliseconds / 1000, milliseconds % 1000);
        format!(
            r#"{{"ts":"2026-07-22T14:00:{second:02}.{rest:03}Z","direction":"{direction}","message":{{"jsonrpc":"2.0",{message}}}}}"#
        )
    }

    fn call(at: u32, id: u32, tool: &str, result: &str) -> [String; 2] {
        let asked = format!(r#""id":{id},"method":"tools/call","params":{{"name":"{tool}","arguments":{{"n":{id}}}}}"#);
        [line(at, "in", &asked), line(at + 10, "out", &format!(r#""id":{id},"result":{result}"#))]
    }

    fn list(at: u32, result: &str) -> [String; 2] {
        [
            line(at, "in", r#""id":1,"method":"tools/list""#),
            line(at + 10, "out", &format!(r#""id":1,"result":{result}"#)),
        ]
    }

    /// The verdict of the last call of `pay` that was refused.
    fn verdict(records: &[[String; 2]]) -> Caution {
        let (_, verdicts) = judged(&[&records.concat().join("\n")]);
        verdicts.calls.values().next_back().expect("a refused call").retry.verdict
    }

    #[test]
    fn a_list_without_the_tool_proves_it() {
        assert_eq!(verdict(&[list(0, LIST), call(1000, 5, "pay", REFUSED)]), Caution::Safe);
        let paged = r#"{"tools":[],"nextCursor":"2"}"#;
        assert_eq!(verdict(&[list(0, paged), call(1000, 5, "pay", REFUSED)]), Caution::SafeIf);
    }

    #[test]
    fn a_list_made_later_or_of_damaged_or_akin_names_does_not() {
        let [asked, refused] = call(500, 5, "pay", REFUSED);
        let [listing, listed] = list(501, LIST);
        let during = [[asked, listing], [listed, refused]];
        assert_eq!(verdict(&during), Caution::Unknown);
        for names in [
            r#"{"tools":[{"name":5}]}"#,
            r#"{"tools":[{"name":"add"}]}"#,
            r#"{"tools":[{"name":"acme__pay","inputSchema":{"type":"object"}}]}"#,
        ] {
            assert_eq!(verdict(&[list(0, names), call(1000, 5, "pay", REFUSED)]), Caution::Unknown, "{names}");
        }
    }

    #[test]
    fn a_tool_at_work_that_the_list_lacks_refutes_the_list() {
        let done = r#"{"content":[{"type":"text","text":"done"}]}"#;
        for tool in ["pay", "enable_toolset"] {
            let before = [list(0, LIST), call(500, 4, tool, done), call(1000, 5, "pay", REFUSED)];
            assert_eq!(verdict(&before), Caution::Unknown, "{tool}");
        }
        assert_eq!(
            verdict(&[list(0, LIST), call(500, 5, "pay", REFUSED), call(1000, 6, "pay", REFUSED)]),
            Caution::Safe
        );
        assert_eq!(verdict(&[list(0, LIST), call(500, 4, "add", done), call(1000, 5, "pay", REFUSED)]), Caution::Safe);
    }
}
