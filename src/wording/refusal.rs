//! The tool that an SDK's refusal names, where nothing stands behind the refusal.
//!
//! Does not know the prefixes before it.

use serde::de::IgnoredAny;

use super::QUOTES;

/// `N validation error(s) for XArguments` (Python SDK) or `for call[X]` (FastMCP): the argument model of tool X failed
/// before the function ran.
pub(super) fn argument_model(text: &str) -> Option<&str> {
    let (count, rest) = text.split_at(text.find(|c: char| !c.is_ascii_digit())?);
    let rest = rest.strip_prefix(" validation error")?;
    let rest = rest.strip_prefix('s').unwrap_or(rest).strip_prefix(" for ")?;
    let (model, problems) = rest.split_once('\n')?;
    let named = model.strip_suffix("Arguments").or_else(|| model.strip_prefix("call[")?.strip_suffix(']'))?;
    are_problems(problems, count.parse().ok()?).then_some(named)
}

/// So many problems as pydantic prints them, and nothing else: the place, two blanks and the problem, and perhaps four
/// blanks and a link. A problem of the whole model has no place.
fn are_problems(text: &str, count: usize) -> bool {
    let (mut found, mut place) = (0, false);
    for line in text.trim_end().lines() {
        if line.starts_with("    For further information visit ") {
            if place || found == 0 {
                return false;
            }
        } else if line.starts_with("  ") && !line.trim().is_empty() {
            found += 1;
            place = false;
        } else if line.starts_with(' ') || line.is_empty() || place {
            return false;
        } else {
            place = true;
        }
    }
    found == count && !place
}

/// ` X: why` behind "Invalid arguments for tool" (TypeScript SDK). The reason is a list of issues in JSON, or one line.
pub(super) fn rejected_tool(text: &str) -> Option<&str> {
    let (named, why) = text.split_once(':').unwrap_or((text, ""));
    let why = why.trim();
    let whole =
        if why.starts_with('[') { serde_json::from_str::<Vec<IgnoredAny>>(why).is_ok() } else { !why.contains('\n') };
    name(named).filter(|_| whole)
}

/// `: X` or ` "X"`, and nothing else.
pub(super) fn only_name(text: &str) -> Option<&str> {
    name(text.trim_start_matches([':', ' ']).trim_end().trim_end_matches('.'))
}

fn name(text: &str) -> Option<&str> {
    let name = text.trim().trim_matches(QUOTES);
    (!name.is_empty() && !name.contains(|c: char| c.is_whitespace() || QUOTES.contains(&c) || c == ',')).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pydantic_is_read_to_its_end() {
        let link = "\n    For further information visit https://errors.pydantic.dev/2.14/v/missing";
        for (text, named) in [
            (
                format!("2 validation errors for addArguments\na\n  Not a number{link}\nb\n  Field required{link}"),
                Some("add"),
            ),
            ("1 validation error for call[add]\n  Missing required argument\n".to_owned(), Some("add")),
            ("2 validation errors for addArguments\na\n  Field required".to_owned(), None),
            ("1 validation error for addArguments\na\n  Field required\nbooked".to_owned(), None),
            ("1 validation error for addArguments\na\n Field required".to_owned(), None),
            ("1 validation error for addArguments".to_owned(), None),
            ("1 validation error for Invoice\na\n  Field required".to_owned(), None),
        ] {
            assert_eq!(argument_model(&text), named, "{text}");
        }
    }

    #[test]
    fn nothing_stands_behind_a_name() {
        assert_eq!(only_name(": pay"), Some("pay"));
        assert_eq!(only_name(" \"pay\"."), Some("pay"));
        assert_eq!(only_name(": pay, or was it"), None);
        assert_eq!(rejected_tool(" pay: x: expected a string"), Some("pay"));
        assert_eq!(rejected_tool(" pay: x\nbooked"), None);
        assert_eq!(rejected_tool(" pay at the ledger"), None);
    }
}
