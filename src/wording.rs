//! What an error text says, as far as it decides something. One table; the first pattern that fits wins.
//!
//! Sources: `mcp` Python SDK 1.x and 2.x, `@modelcontextprotocol/sdk` 1.x and 2.x, rmcp, `FastMCP`, Envoy, nginx.

use std::sync::LazyLock;

use aho_corasick::AhoCorasick;

use crate::event::Wording;

mod door;
mod refusal;

pub use door::refuses_in_known_words;

/// Patterns in order: specific before general. All are matched without regard to ASCII case.
static WORDINGS: &[(&str, Wording)] = &[
    ("output validation error", Wording::OutputValidation),
    ("unexpected return type from tool", Wording::OutputValidation),
    ("has an output schema but", Wording::OutputValidation),
    ("structured content does not match", Wording::OutputValidation),
    ("invalid structured content returned", Wording::OutputValidation),
    ("invalid arguments for tool", Wording::ArgumentValidation),
    ("input validation error", Wording::ArgumentValidation),
    ("unknown tool", Wording::UnknownTool),
    ("invalid or expired requeststate", Wording::RequestState),
    ("session not found", Wording::Session),
    ("session has been terminated", Wording::Session),
    ("session terminated", Wording::Session),
    ("no valid session id", Wording::Session),
    ("missing session id", Wording::Session),
    ("invalid or missing session id", Wording::Session),
    ("mcp-session-id header is required", Wording::Session),
    ("could not find session", Wording::Session),
    ("server not initialized", Wording::NotInitialized),
    ("before initialization was complete", Wording::NotInitialized),
    ("unsupported protocol version", Wording::Version),
    ("protocol version is not supported", Wording::Version),
    ("not acceptable", Wording::Header),
    ("unsupported media type", Wording::Header),
    ("invalid content-type", Wording::Header),
    ("invalid host header", Wording::Header),
    ("invalid origin header", Wording::Header),
    ("header mismatch", Wording::Header),
    ("does not match the request body", Wording::Header),
    ("request body too large", Wording::Header),
    ("method not allowed", Wording::Header),
    ("connect() failed", Wording::UpstreamUnreachable),
    ("no healthy upstream", Wording::UpstreamUnreachable),
    ("delayed connect error", Wording::UpstreamUnreachable),
    ("connection refused", Wording::UpstreamUnreachable),
    ("upstream connect error or disconnect/reset", Wording::UpstreamReset),
    ("upstream request timeout", Wording::UpstreamReset),
    ("upstream timed out", Wording::UpstreamReset),
    ("gateway time-out", Wording::UpstreamReset),
    ("gateway timeout", Wording::UpstreamReset),
    ("prematurely closed", Wording::UpstreamReset),
    ("connection reset", Wording::UpstreamReset),
    ("response blocked", Wording::AnswerDenied),
    ("blocked response", Wording::AnswerDenied),
    ("response was blocked", Wording::AnswerDenied),
    ("response policy", Wording::AnswerDenied),
    ("response too large", Wording::AnswerDenied),
    ("response denied", Wording::AnswerDenied),
    ("tool output", Wording::AnswerDenied),
    ("tool result", Wording::AnswerDenied),
    ("tool response", Wording::AnswerDenied),
    ("result too large", Wording::AnswerDenied),
    ("result withheld", Wording::AnswerDenied),
    ("result hidden", Wording::AnswerDenied),
    ("result blocked", Wording::AnswerDenied),
    ("blocked result", Wording::AnswerDenied),
    ("output too large", Wording::AnswerDenied),
    ("output exceeds", Wording::AnswerDenied),
    ("output blocked", Wording::AnswerDenied),
    ("output policy", Wording::AnswerDenied),
    ("content_filter", Wording::AnswerDenied),
    ("during execution", Wording::AnswerDenied),
    ("was in progress", Wording::AnswerDenied),
    ("action completed", Wording::AnswerDenied),
    ("was executed", Wording::AnswerDenied),
    ("been executed", Wording::AnswerDenied),
    ("already executed", Wording::AnswerDenied),
    ("provider returned", Wording::AnswerDenied),
    // ModSecurity: the phases of the answer's headers and body.
    ("phase 3)", Wording::AnswerDenied),
    ("phase 4)", Wording::AnswerDenied),
    ("data loss prevention", Wording::AnswerDenied),
    ("dlp policy", Wording::AnswerDenied),
    ("dlp rule", Wording::AnswerDenied),
    ("by dlp", Wording::AnswerDenied),
    ("dlp:", Wording::AnswerDenied),
    ("guardrail", Wording::AnswerDenied),
    ("rbac: access denied", Wording::PolicyDenied),
    ("ext_authz", Wording::PolicyDenied),
    ("maximum total timeout exceeded", Wording::TimedOut),
    ("timed out", Wording::TimedOut),
    ("request timeout", Wording::TimedOut),
    ("connection closed", Wording::ConnectionClosed),
    ("transport closed", Wording::ConnectionClosed),
    ("aborterror", Wording::Aborted),
    ("user aborted", Wording::Aborted),
    ("request cancelled", Wording::Aborted),
    ("caller cancelled", Wording::Aborted),
    ("parse error", Wording::Parse),
    // Whoever speaks of an upstream had got further than the door.
    ("upstream", Wording::AnswerDenied),
    ("backend", Wording::AnswerDenied),
];

/// Only so many bytes of a text are looked at: a hostile text must not cost more than a line.
const LIMIT: usize = 4096;

/// All patterns, and behind them the words that the special readers look for.
static SEARCH: LazyLock<AhoCorasick> = LazyLock::new(|| {
    let patterns = WORDINGS.iter().map(|(pattern, _)| *pattern);
    AhoCorasick::builder()
        .ascii_case_insensitive(true)
        .build(patterns.chain(["tool ", "validation error"]).chain(SUCCESSES.iter().copied()))
        .expect("the patterns are few and short")
});

/// Whether a text speaks anywhere of an answer that was made behind its writer: of one that was denied, of a tool's
/// output, of a success.
pub fn tells_of_an_answer(text: &str) -> bool {
    SEARCH.find_overlapping_iter(text).any(|found| match WORDINGS.get(found.pattern().as_usize()) {
        Some((_, wording)) => matches!(wording, Wording::AnswerDenied | Wording::OutputValidation),
        None => found.pattern().as_usize() > WORDINGS.len() + 1,
    })
}

/// What `text` says, and the tool it names where the whole text is an SDK's own word that it did not enter that tool:
/// nothing stands behind it, and each prefix stands before it at most once.
pub fn read(text: &str) -> (Wording, Option<&str>) {
    let (whole, text) = (text.len() <= LIMIT, head(text));
    let (mut first, mut tool, mut validation, mut success) = (None, false, false, false);
    for found in SEARCH.find_overlapping_iter(text) {
        match found.pattern().as_usize() {
            index if index < WORDINGS.len() => {
                first = first.filter(|known| *known <= index).or(Some(index));
            }
            index if index == WORDINGS.len() => tool = true,
            index if index == WORDINGS.len() + 1 => validation = true,
            _ => success = true,
        }
    }
    let own = Own::of(text);
    if let Some(named) = tool.then(|| own.tool_not_found()).flatten() {
        return (Wording::UnknownTool, Some(named).filter(|_| whole));
    }
    if let Some(named) = validation.then(|| refusal::argument_model(own.words)).flatten() {
        return (Wording::ArgumentValidation, own.fits(named).filter(|_| whole));
    }
    let Some(index) = first else {
        return (if success { Wording::QuotesSuccess } else { Wording::Other }, None);
    };
    let (pattern, wording) = WORDINGS[index];
    if success && wording == Wording::AnswerDenied {
        return (Wording::QuotesSuccess, None);
    }
    let named = match wording {
        Wording::UnknownTool => own.behind(pattern).filter(|_| own.inside.is_none()).and_then(refusal::only_name),
        Wording::ArgumentValidation => {
            own.behind(pattern).and_then(refusal::rejected_tool).and_then(|named| own.fits(named))
        }
        _ => None,
    };
    (wording, named.filter(|_| whole))
}

/// The method that an error of code −32601 calls unknown, where the text is an SDK's; empty where it names none.
pub fn unknown_method(text: &str) -> Option<&str> {
    (text.len() <= LIMIT).then(|| refusal::unknown_method(text)).flatten()
}

fn head(text: &str) -> &str {
    let mut end = text.len().min(LIMIT);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

/// An SDK's own words, behind the prefixes that SDKs put before them. A tool that quotes such words in the middle of
/// its own text says them about something else, and so does one whose prefix stands twice: it called itself.
#[derive(Clone, Copy, Debug)]
struct Own<'a> {
    words: &'a str,
    /// The tool that a prefix says was being executed.
    inside: Option<&'a str>,
}

impl<'a> Own<'a> {
    fn of(text: &'a str) -> Self {
        let text = text.trim_start();
        let coded = text.strip_prefix("MCP error ").and_then(|rest| rest.split_once(": ")).map(|(_, rest)| rest);
        let text = coded.unwrap_or(text);
        for prefix in ["Error executing tool ", "Error calling tool "] {
            if let Some((name, words)) = text.strip_prefix(prefix).and_then(|rest| rest.split_once(": ")) {
                return Self { words, inside: Some(name.trim_matches(QUOTES)) };
            }
        }
        Self { words: text.strip_prefix("Input validation error: ").unwrap_or(text), inside: None }
    }

    /// What stands behind the pattern that the words begin with.
    fn behind(&self, pattern: &str) -> Option<&'a str> {
        let (start, rest) = self.words.split_at_checked(pattern.len())?;
        start.eq_ignore_ascii_case(pattern).then_some(rest)
    }

    /// The name, unless a prefix names another tool.
    fn fits(&self, named: &'a str) -> Option<&'a str> {
        Some(named).filter(|named| self.inside.is_none_or(|inside| inside == *named))
    }

    /// `Tool X not found`, `Tool 'X' disabled` (TypeScript SDK 1.x). Behind the prefix of a tool that was being
    /// executed, that tool says it.
    fn tool_not_found(&self) -> Option<&'a str> {
        let rest = self.words.strip_prefix("Tool ").filter(|_| self.inside.is_none())?;
        let rest = rest.trim_end().trim_end_matches('.');
        let name = ["not found", "disabled"].iter().find_map(|tail| rest.strip_suffix(tail))?;
        let name = name.trim().trim_matches(QUOTES);
        (!name.is_empty() && !name.contains(char::is_whitespace)).then_some(name)
    }
}

const QUOTES: [char; 3] = ['"', '\'', '`'];

/// A provider's 2xx inside an error: the provider did the work.
static SUCCESSES: [&str; 6] = ["http 20", "status 20", "status code 20", "status=20", "201 created", "202 accepted"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_decides() {
        assert_eq!(read("Unknown tool: nope"), (Wording::UnknownTool, Some("nope")));
        assert_eq!(read("MCP error -32602: Tool nope not found"), (Wording::UnknownTool, Some("nope")));
        assert_eq!(
            read(
                "Error executing tool add: 1 validation error for addArguments\na\n  Field required [type=missing, input_value={}, input_type=dict]\n    For further information visit https://errors.pydantic.dev/2.11/v/missing"
            ),
            (Wording::ArgumentValidation, Some("add"))
        );
        assert_eq!(read("Error executing tool add: 1 validation error for Invoice").0, Wording::Other);
        assert_eq!(read("MCP error -32602: Output validation error: x").0, Wording::OutputValidation);
        assert_eq!(read("Request 'tools/call' timed out").0, Wording::TimedOut);
        assert_eq!(read("booked, but HTTP 201 body had no id").0, Wording::QuotesSuccess);
        assert_eq!(read("ledger is read-only").0, Wording::Other);
        assert_eq!(read("the provider returned HTTP 201 twice").0, Wording::QuotesSuccess);
        for text in [
            r#"{"error":"tool result contains secrets"}"#,
            r#"{"error":"PII detected in tool output"}"#,
            r#"{"error":"token expired during execution"}"#,
            "<html>403 Forbidden (ModSecurity phase 4)</html>",
        ] {
            assert_eq!(read(text).0, Wording::AnswerDenied, "{text}");
        }
        for text in ["Not authorized to execute this tool", "Forbidden as a result of a security policy"] {
            assert_eq!(read(text).0, Wording::Other, "{text}");
        }
        assert_eq!(read("no healthy upstream").0, Wording::UpstreamUnreachable);
        assert_eq!(read(r#"{"error":"invalid_token","upstream":"api.bank.test"}"#).0, Wording::AnswerDenied);
    }

    #[test]
    fn a_name_is_told_only_by_a_whole_text_of_an_sdk() {
        let problem = "\nx\n  Field required [type=missing, input_value={}, input_type=dict]\n    For further information visit https://errors.pydantic.dev/2.11/v/missing";
        for (text, named) in [
            ("Unknown tool: pay.".to_owned(), Some("pay")),
            ("Unknown tool: pay, but paid".to_owned(), None),
            ("Error executing tool pay: Unknown tool: pay".to_owned(), None),
            ("Error executing tool pay: Tool pay not found".to_owned(), None),
            ("Tool pay not found at the bank".to_owned(), None),
            ("Tool pay disabled".to_owned(), Some("pay")),
            (format!("Error calling tool 'pay': 1 validation error for call[pay]{problem}"), Some("pay")),
            (format!("Error executing tool shop: 1 validation error for payArguments{problem}"), None),
            (
                format!(
                    "Error executing tool pay: Error executing tool pay: 1 validation error for payArguments{problem}"
                ),
                None,
            ),
            (format!("1 validation error for payArguments{problem}\n\nBooked TX-1"), None),
            (
                "MCP error -32602: Invalid arguments for tool pay: [{\"code\":\"invalid_type\",\"path\":[],\"message\":\"x\"}]".to_owned(),
                Some("pay"),
            ),
            ("Invalid arguments for tool pay: [] booked".to_owned(), None),
            (format!("Unknown tool: pay{}", " ".repeat(LIMIT)), None),
        ] {
            assert_eq!(read(&text).1, named, "{text}");
        }
    }

    #[test]
    fn a_tool_may_say_not_found_about_something_else() {
        assert_eq!(read("the tool could not open it: file not found").0, Wording::Other);
    }
}
