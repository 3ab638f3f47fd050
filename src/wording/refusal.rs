//! The tool that an SDK's refusal names, where nothing stands behind the refusal.
//!
//! Does not know the prefixes before it.

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

/// The method that an error of code −32601 calls unknown, in the words of an SDK or of JSON-RPC; empty where it names
/// none.
pub(super) fn unknown_method(text: &str) -> Option<&str> {
    const WHOLE: &[&str] =
        &["method not found", "unknown method", "method not supported", "the method does not exist / is not available"];
    let text = text.trim().trim_end_matches('.');
    let text = text.strip_prefix("MCP error -32601: ").unwrap_or(text);
    if WHOLE.iter().any(|words| text.eq_ignore_ascii_case(words)) {
        return Some("");
    }
    let named = WHOLE.iter().find_map(|words| {
        let (start, rest) = text.split_at_checked(words.len())?;
        start.eq_ignore_ascii_case(words).then(|| rest.strip_prefix(": ")).flatten()
    });
    let between = || {
        let rest = text.strip_prefix("Method ")?;
        rest.strip_suffix(" not found").or_else(|| rest.strip_suffix(" not supported"))
    };
    // rmcp names the method and says no more.
    named.or_else(between).or(Some(text)).map(|name| name.trim_matches(QUOTES)).filter(|name| is_method(name))
}

fn is_method(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || "/_.-$".contains(c))
}

/// So many problems as pydantic 2 prints them, and nothing else: the place, two blanks and the problem, four blanks and
/// its link. A problem of the whole model has no place. Problems without link are made by validators that somebody
/// wrote, and so are the words of a `value_error`.
fn are_problems(text: &str, count: usize) -> bool {
    let (mut found, mut place) = (0, false);
    let mut lines = text.trim_end().lines();
    while let Some(line) = lines.next() {
        if let Some(kind) = problem(line) {
            if !lines.next().is_some_and(|link| is_link(link, kind)) {
                return false;
            }
            found += 1;
            place = false;
        } else if place || !is_place(line) {
            return false;
        } else {
            place = true;
        }
    }
    found == count && !place
}

/// The kind of `  Field required [type=missing, input_value={}, input_type=dict]`.
fn problem(line: &str) -> Option<&str> {
    let (words, rest) = line.strip_prefix("  ")?.split_once(" [type=")?;
    let (kind, input) = rest.split_once(", input_value=")?;
    let own = !matches!(kind, "value_error" | "assertion_error") && is_word(kind);
    (own && !words.starts_with(' ') && input.contains(", input_type=") && input.ends_with(']')).then_some(kind)
}

fn is_link(line: &str, kind: &str) -> bool {
    let link = line.strip_prefix("    For further information visit https://errors.pydantic.dev/");
    link.and_then(|link| link.split_once("/v/"))
        .is_some_and(|(version, page)| page == kind && version.chars().all(|c| c.is_ascii_digit() || c == '.'))
}

/// The name of an argument, or a path that begins with one. What stands below an answer is no argument.
fn is_place(line: &str) -> bool {
    let (first, below) = line.split_once('.').map_or((line, false), |(first, _)| (first, true));
    let answered = matches!(first, "response" | "result" | "output" | "return");
    !(line.is_empty() || line.contains(char::is_whitespace) || below && answered)
}

fn is_word(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_ascii_lowercase() || c == '_')
}

/// ` X: why` behind "Invalid arguments for tool" (TypeScript SDK). The reason is what zod made of its issues: a list in
/// JSON, or their places and messages in one line.
pub(super) fn rejected_tool(text: &str) -> Option<&str> {
    let (named, why) = text.split_once(':')?;
    let why = why.trim();
    let whole = if why.starts_with('[') { are_issues(why) } else { why.split(", ").all(is_told_issue) };
    name(named).filter(|_| whole)
}

/// Issues of zod with a code of its own. A `custom` one says what somebody wrote who may have done something.
fn are_issues(why: &str) -> bool {
    const CODES: &[&str] = &[
        "invalid_date",
        "invalid_element",
        "invalid_enum_value",
        "invalid_format",
        "invalid_key",
        "invalid_literal",
        "invalid_string",
        "invalid_type",
        "invalid_union",
        "invalid_union_discriminator",
        "invalid_value",
        "not_finite",
        "not_multiple_of",
        "too_big",
        "too_small",
        "unrecognized_keys",
    ];
    #[derive(serde::Deserialize)]
    struct Issue {
        code: String,
        path: Vec<serde_json::Value>,
        message: String,
    }
    let own = |issue: &Issue| {
        let place = issue.path.first().and_then(serde_json::Value::as_str).unwrap_or("");
        let below = if issue.path.len() > 1 { "." } else { "" };
        CODES.contains(&issue.code.as_str())
            && issue.message.lines().count() <= 1
            && (place.is_empty() || is_place(&format!("{place}{below}")))
    };
    serde_json::from_str::<Vec<Issue>>(why).is_ok_and(|issues| !issues.is_empty() && issues.iter().all(own))
}

/// `place: message`, or a part of a message that goes on behind a comma, as zod 4 words its own messages.
fn is_told_issue(part: &str) -> bool {
    const STARTS: &[&str] = &[
        "invalid input",
        "invalid option: expected",
        "invalid key in",
        "too small: expected",
        "too big: expected",
        "unrecognized key",
        "required",
        "expected ",
        "received ",
    ];
    let message = part.split_once(": ").filter(|(place, _)| is_place(place)).map_or(part, |(_, message)| message);
    let message = message.to_ascii_lowercase();
    STARTS.iter().any(|start| message.starts_with(start)) && !message.contains(['.', ';', '\n'])
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
        let problem = |kind: &str| {
            format!(
                "\n  Any words [type={kind}, input_value={{}}, input_type=dict]\n    For further information visit https://errors.pydantic.dev/2.14/v/{kind}"
            )
        };
        let missing = problem("missing");
        for (text, named) in [
            (format!("2 validation errors for addArguments\na{missing}\nb.c{missing}"), Some("add")),
            (format!("1 validation error for call[add]{missing}\n"), Some("add")),
            (format!("2 validation errors for addArguments\na{missing}"), None),
            (format!("1 validation error for addArguments\na{missing}\nbooked"), None),
            (format!("1 validation error for addArguments\na{missing} (booked)"), None),
            (format!("1 validation error for addArguments\nresponse.id{missing}"), None),
            (format!("1 validation error for addArguments\na{}", problem("value_error")), None),
            ("1 validation error for addArguments\na\n  Field required".to_owned(), None),
            ("1 validation error for addArguments".to_owned(), None),
            (format!("1 validation error for Invoice\na{missing}"), None),
        ] {
            assert_eq!(argument_model(&text), named, "{text}");
        }
    }

    #[test]
    fn nothing_stands_behind_a_name() {
        assert_eq!(only_name(": pay"), Some("pay"));
        assert_eq!(only_name(" \"pay\"."), Some("pay"));
        assert_eq!(only_name(": pay, or was it"), None);
        let issues = r#" pay: [{"code":"invalid_type","expected":"string","received":"undefined","path":["x"],"message":"Required"}]"#;
        assert_eq!(rejected_tool(issues), Some("pay"));
        assert_eq!(rejected_tool(&issues.replace("invalid_type", "custom")), None);
        assert_eq!(rejected_tool(&issues.replace(r#"["x"]"#, r#"["response","id"]"#)), None);
        assert_eq!(rejected_tool(" pay: x: Invalid input: expected string, received undefined"), Some("pay"));
        assert_eq!(rejected_tool(" pay: [{}]"), None);
        assert_eq!(rejected_tool(" pay: card charged, but receipt address is invalid"), None);
        assert_eq!(rejected_tool(" pay"), None);
        assert_eq!(rejected_tool(" pay: x\nbooked"), None);
        assert_eq!(rejected_tool(" pay at the ledger"), None);
    }

    #[test]
    fn a_method_is_unknown_in_known_words() {
        for (text, named) in [
            ("Method not found", Some("")),
            ("Method not found: tools/call", Some("tools/call")),
            ("Method not found: bank.refund", Some("bank.refund")),
            ("tools/call", Some("tools/call")),
            ("Method 'tools/call' not found", Some("tools/call")),
            ("backend: Method not found", None),
            ("Method not found behind the charge", None),
        ] {
            assert_eq!(unknown_method(text), named, "{text}");
        }
    }
}
