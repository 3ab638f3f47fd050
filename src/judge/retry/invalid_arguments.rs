//! The arguments failed the called tool's own model before the function ran.

use super::{Attempt, Caution, Doc, Helps, Opinion, RetryRule};
use super::{Refusal, refusal};

/// See [`RetryRule::doc`].
pub(super) static RULE: RetryRule = RetryRule {
    id: "invalid-arguments",
    title: "The arguments were rejected",
    doc: Doc {
        means: "The SDK validates the arguments against the tool's model and does not enter the function when they fail.",
        recognized: "A validation text that names the called tool's own model (`1 validation error for payArguments`, `call[pay]`, with pydantic's link at its end; `Invalid arguments for tool pay` with zod's issues), as −32602 or as `isError`, within one second. It is the whole answer: one text to its last line, without further content, `structuredContent`, `_meta` or `data`. No handler, progress, contact or other word of the server inside the call or directly behind it.",
        is_not: "A validation error of another model: a tool's own code validates its data too, in the middle of its work. Issues of validators that somebody wrote (`custom`, `value_error`), and any other words behind the prefix: they may tell of what was done. A prefix that stands twice: the tool called itself.",
        to_do: "Do not send it again unchanged. Correct the arguments.",
    },
    check,
};

fn check(attempt: &Attempt<'_, '_>) -> Option<Opinion> {
    if refusal(attempt.facts, attempt.outcome) != Some(Refusal::InvalidArguments) {
        return None;
    }
    let reason = "Its arguments failed the tool's own model before the tool ran.";
    Some(Opinion::new(Caution::Safe, RULE.id, reason, Helps::No, attempt.end()))
}

#[cfg(test)]
mod tests {
    use crate::judge::{retry::Caution, testing::judged};

    const TEXT: &str = r"Error executing tool pay: 1 validation error for payArguments\nx\n  Field required [type=missing, input_value={}, input_type=dict]\n    For further information visit https://errors.pydantic.dev/2.11/v/missing";

    fn verdict(answered: &str, result: &str, behind: &str) -> Caution {
        let asked = r#"{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"pay","arguments":{"n":1}}}"#;
        let text = format!(
            r#"{{"ts":"2026-07-22T14:00:01.000Z","direction":"in","message":{asked}}}
{{"ts":"2026-07-22T14:00:{answered}Z","direction":"out","message":{{"jsonrpc":"2.0","id":5,"result":{{{result}}}}}}}
{behind}"#
        );
        let (_, verdicts) = judged(&[&text]);
        verdicts.calls.values().next().expect("a refused call").retry.verdict
    }

    #[test]
    fn the_whole_answer_is_the_word_of_the_sdk() {
        let text = format!(r#"{{"type":"text","text":"{TEXT}"}}"#);
        let safe = format!(r#""content":[{text}],"isError":true"#);
        assert_eq!(verdict("01.010", &safe, ""), Caution::Safe);
        for more in [
            format!(r#""content":[{text},{{"type":"text","text":"TX-1"}}],"isError":true"#),
            format!(r#"{safe},"_meta":{{"payment":"TX-1"}}"#),
            format!(r#"{safe},"structuredContent":{{"payment":"TX-1"}}"#),
            format!(r#"{safe},"payment":"TX-1""#),
        ] {
            assert_eq!(verdict("01.010", &more, ""), Caution::Unknown, "{more}");
        }
        let protocols = format!(r#"{safe},"_meta":{{"io.modelcontextprotocol/serverInfo":{{}}}}"#);
        assert_eq!(verdict("01.010", &protocols, ""), Caution::Safe);
        assert_eq!(verdict("04.000", &safe, ""), Caution::Unknown, "what took long is no validation");
    }

    #[test]
    fn what_stands_directly_behind_the_answer_may_be_about_it() {
        let safe = format!(r#""content":[{{"type":"text","text":"{TEXT}"}}],"isError":true"#);
        let note = |at: &str| {
            format!(
                r#"{{"ts":"2026-07-22T14:00:{at}Z","direction":"out","message":{{"jsonrpc":"2.0","method":"notifications/message","params":{{"data":"x"}}}}}}"#
            )
        };
        assert_eq!(verdict("01.010", &safe, &note("01.020")), Caution::Unknown);
        assert_eq!(verdict("01.010", &safe, &note("05.000")), Caution::Safe);
    }
}
