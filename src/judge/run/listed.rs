//! What a tool list proves about a tool that it lacks.
//!
//! Does not ask when the list was made: that is a question about a call.

use super::RunFacts;
use crate::{
    correlate::{AnswerKind, Author, Call, Seen, ToolsFacts},
    event::Wording,
    symbol::Symbol,
};

/// Whether the run's complete list names every tool that the server has: all of its entries can be read, and no tool
/// that it lacks was at work in the run.
pub(super) fn is_whole(facts: &RunFacts<'_>) -> bool {
    let Some(list) = facts.complete_tools() else { return false };
    let readable = list.tools.iter().all(|tool| {
        let name = facts.case.name(tool.name);
        tool.schema_ok && !name.is_empty() && !name.contains(char::REPLACEMENT_CHARACTER)
    });
    let lacks = |target: Symbol| list.tools.iter().all(|tool| tool.name != target);
    let at_work = |index: &u32| {
        let call = &facts.case.calls[*index as usize];
        call.target.is_some_and(lacks)
            && facts.case.name(call.method) == "tools/call"
            && is_at_work(facts, *index, call)
    };
    readable && !facts.run.calls.iter().any(at_work)
}

/// Whether a tool answered, or shows that it began. A refusal that names it as unknown shows neither.
fn is_at_work(facts: &RunFacts<'_>, index: u32, call: &Call) -> bool {
    let answer = &call.answer;
    let refused = answer.wording == Wording::UnknownTool && answer.names_target
        || answer.has_code && matches!(answer.code, -32700 | -32600 | -32601);
    let answered = match answer.kind {
        AnswerKind::Result | AnswerKind::Task | AnswerKind::InputRequired | AnswerKind::InvalidResult => true,
        AnswerKind::ToolError | AnswerKind::Error => answer.author == Author::Server && !answer.foreign_id && !refused,
        _ => false,
    };
    let began = |seen| matches!(seen, Seen::Handled | Seen::HandlerDone | Seen::ServerRequest | Seen::LateAnswer);
    answered || facts.case.contacts_of(index).next().is_some() || facts.case.sightings(call).any(|row| began(row.seen))
}

/// Whether a listed name may be the called tool under another spelling, or behind a prefix that a gateway adds.
pub(super) fn names_akin(facts: &RunFacts<'_>, list: &ToolsFacts, target: Symbol) -> bool {
    let target = facts.case.name(target);
    list.tools.iter().any(|tool| akin(facts.case.name(tool.name), target))
}

/// Whether two names may be one tool's: another spelling, or one of them with a prefix or suffix.
pub(in crate::judge) fn akin(one: &str, other: &str) -> bool {
    let (one, other) = (one.trim().to_lowercase(), other.trim().to_lowercase());
    let (long, short) = if one.len() > other.len() { (&one, &other) } else { (&other, &one) };
    let parted = |rest: Option<&str>, at: fn(&str) -> Option<char>| {
        rest.is_some_and(|rest| at(rest).is_none_or(|next| !next.is_alphanumeric()))
    };
    parted(long.strip_suffix(short.as_str()), |rest| rest.chars().next_back())
        || parted(long.strip_prefix(short.as_str()), |rest| rest.chars().next())
}

#[cfg(test)]
mod tests {
    use super::akin;

    #[test]
    fn a_prefix_of_a_gateway_makes_no_other_tool() {
        for (one, other) in [("acme__pay", "pay"), ("pay", "Pay"), ("pay", "acme.pay"), ("pay_v2", "pay")] {
            assert!(akin(one, other), "{one} {other}");
        }
        for (one, other) in [("repay", "pay"), ("payment", "pay"), ("add", "pay"), ("acme_pay", "acme_add")] {
            assert!(!akin(one, other), "{one} {other}");
        }
    }
}
