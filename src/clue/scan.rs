//! Small readers that the clues share: what stands before a needle, quoted words, numbers, addresses.
//!
//! Knows no software and decides nothing about MCP.

use bumpalo::Bump;

use crate::{
    event::{CallKey, Event, Id, Kind, Remark, RemarkKind, Witness},
    record::{Body, Sink},
};

/// A needle further right than this stands in a payload, not behind an envelope.
const PREFIX_LIMIT: usize = 400;

/// The text without the gutter of an exception group; `None` where indentation says that it is payload or code.
pub(super) fn head(text: &str) -> Option<&str> {
    let inner = text.trim_start_matches([' ', '\t']);
    let inner = match inner.strip_prefix("| ") {
        Some(inner) => inner,
        None if text.len() - inner.len() >= 4 || text.starts_with('\t') => return None,
        None => inner,
    };
    (!inner.starts_with("    ")).then_some(inner)
}

/// Whether what stands before `at` can be an envelope: short, and with no quote or backtick left open.
pub(super) fn unquoted(text: &str, at: usize) -> bool {
    let Some(prefix) = text.as_bytes().get(..at).filter(|prefix| prefix.len() <= PREFIX_LIMIT) else {
        return false;
    };
    let mut open = None;
    for (index, &byte) in prefix.iter().enumerate() {
        match open {
            Some(quote) if byte == quote => open = None,
            None if matches!(byte, b'"' | b'`') => open = Some(byte),
            // An apostrophe inside a word is no quote.
            None if byte == b'\'' && !index.checked_sub(1).is_some_and(|i| prefix[i].is_ascii_alphanumeric()) => {
                open = Some(byte);
            }
            _ => {}
        }
    }
    open.is_none()
}

/// Where `needle` stands, if it stands behind an envelope-like prefix; the prefix and the rest after the needle.
pub(super) fn find<'a>(text: &'a str, needle: &str) -> Option<(&'a str, &'a str)> {
    let at = text.find(needle)?;
    unquoted(text, at).then(|| (&text[..at], &text[at + needle.len()..]))
}

/// The first word: everything up to white space.
pub(super) fn word(text: &str) -> &str {
    text.split_whitespace().next().unwrap_or("")
}

/// The first word without the punctuation that ends a clause or closes a bracket.
pub(super) fn name(text: &str) -> Option<&str> {
    let word = word(text)
        .trim_start_matches(['\'', '"', '`', '(', '['])
        .trim_end_matches(['\'', '"', '`', ')', ']', ',', ';', ':', '.', '!']);
    (!word.is_empty()).then_some(word)
}

/// The text inside the quotes that `text` begins with.
pub(super) fn quoted(text: &str) -> Option<&str> {
    let quote = text.chars().next().filter(|quote| matches!(quote, '\'' | '"' | '`'))?;
    let inner = &text[1..];
    inner.find(quote).map(|end| &inner[..end])
}

/// The whole number that `text` begins with.
pub(super) fn integer(text: &str) -> Option<i64> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let length = digits.bytes().take_while(u8::is_ascii_digit).count();
    text.get(..text.len() - digits.len() + length)?.parse().ok()
}

/// A three-digit HTTP status that `text` begins with.
pub(super) fn status(text: &str) -> Option<u16> {
    let length = text.bytes().take_while(u8::is_ascii_digit).count();
    let value = text.get(..length)?.parse().ok()?;
    (length == 3 && (100..=599).contains(&value)).then_some(value)
}

/// A JSON-RPC id as a log prints it: digits are a number, anything else is text; quotes are taken off.
pub(super) fn id(text: &str) -> Option<Id<'_>> {
    if let Some(text) = quoted(text) {
        return Some(Id::Text(text));
    }
    let word = name(text)?;
    Some(word.parse().map_or(Id::Text(word), Id::Int))
}

/// An HTTP method at the start of `text`, and what follows it.
pub(super) fn method(text: &str) -> Option<(&str, &str)> {
    const METHODS: [&str; 8] = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "CONNECT"];
    let (first, rest) = text.split_once(' ')?;
    METHODS.contains(&first).then_some((first, rest))
}

/// An address in a log line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Address<'a> {
    /// `scheme://host:port`, lower case, without credentials.
    pub target: &'a str,
    /// Path without query.
    pub path: Option<&'a str>,
    /// What follows in the line.
    pub rest: &'a str,
}

/// The address that `text` begins with.
pub(super) fn address<'a>(text: &'a str, arena: &'a Bump) -> Option<Address<'a>> {
    let scheme = text.find("://").filter(|&at| at > 0 && text[..at].bytes().all(is_scheme))?;
    let end = text
        .find(|c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '`' | '<' | '>' | ')' | ',' | '}'))
        .unwrap_or(text.len());
    let url = text[..end].trim_end_matches([':', '.', ';']);
    let start = scheme + 3;
    let tail = url.get(start..)?;
    let authority_end = tail.find(['/', '?', '#']).unwrap_or(tail.len());
    let (authority, path) = tail.split_at(authority_end);
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    if host.is_empty() {
        return None;
    }
    let plain = host.len() == authority.len() && !url[..start + host.len()].bytes().any(|b| b.is_ascii_uppercase());
    let target = if plain {
        &url[..start + host.len()]
    } else {
        let mut whole = bumpalo::collections::String::from_str_in(&url[..start], arena);
        whole.push_str(host);
        whole.make_ascii_lowercase();
        whole.into_bump_str()
    };
    let path = path.split(['?', '#']).next().filter(|path| !path.is_empty());
    Some(Address { target, path, rest: &text[end..] })
}

fn is_scheme(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.')
}

/// `host:port` as one text.
pub(super) fn host_port<'a>(host: &str, port: &str, arena: &'a Bump) -> &'a str {
    let mut whole = bumpalo::collections::String::with_capacity_in(host.len() + port.len() + 1, arena);
    whole.push_str(host);
    if !port.is_empty() {
        whole.push(':');
        whole.push_str(port);
    }
    whole.make_ascii_lowercase();
    whole.into_bump_str()
}

/// A remark of which only the kind is known.
pub(super) fn remark<'a>(kind: RemarkKind) -> Remark<'a> {
    Remark { kind, call: CallKey::default(), number: None, name: None }
}

/// Adds an event that only `witness` writes. What the envelope says about the writer goes first.
pub(super) fn push_as<'a>(kind: Kind<'a>, witness: Option<Witness>, body: &Body<'a>, sink: &mut Sink<'a>) {
    let event = body.event(kind);
    sink.push(Event { witness: event.witness.or(witness), ..event });
}

/// The tool that a client's own line names before an error: `call NAME attempt 1 failed:`, `tool 'NAME' failed`.
pub(super) fn tool_before(prefix: &str) -> Option<&str> {
    const FOLLOWS: [&str; 5] = ["attempt", "failed", "failed:", "error", "error:"];
    for key in ["call ", "tool ", "Tool "] {
        let Some(at) = prefix.rfind(key) else { continue };
        let rest = &prefix[at + key.len()..];
        if let Some(name) = quoted(rest) {
            return Some(name);
        }
        let mut words = rest.split_whitespace();
        if let (Some(name), Some(next)) = (words.next(), words.next())
            && FOLLOWS.contains(&next)
            && name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.' | b'/'))
        {
            return Some(name);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quoted_text_is_no_envelope() {
        let text = r#"{"text":"Request timed out"}"#;
        assert!(find(text, "Request timed out").is_none());
        assert!(find("can't go on: Request timed out", "Request timed out").is_some());
        assert!(find("said 'Request timed out'", "Request timed out").is_none());
    }

    #[test]
    fn gutters_are_taken_off_and_code_is_refused() {
        assert_eq!(head("      | x.MCPError: Connection closed"), Some("x.MCPError: Connection closed"));
        assert_eq!(head("      |     raise MCPError()"), None);
        assert_eq!(head("    raise MCPError()"), None);
        assert_eq!(head("plain"), Some("plain"));
    }

    #[test]
    fn addresses_lose_credentials_and_queries() {
        let arena = Bump::new();
        let address = |text| super::address(text, &arena).map(|a| (a.target, a.path));
        assert_eq!(
            address("https://API.example.test:8443/v1/x?q=1 rest"),
            Some(("https://api.example.test:8443", Some("/v1/x")))
        );
        assert_eq!(address("http://user:secret@h:1/p"), Some(("http://h:1", Some("/p"))));
        assert_eq!(address("http://[::1]:80/"), Some(("http://[::1]:80", Some("/"))));
        assert_eq!(address("no url"), None);
    }

    #[test]
    fn a_tool_stands_before_its_error() {
        assert_eq!(tool_before("call create_invoice attempt 1 failed: MCPError: "), Some("create_invoice"));
        assert_eq!(tool_before("call failed: "), None);
        assert_eq!(tool_before("Failed to call tool \"x\": "), Some("x"));
    }

    #[test]
    fn ids_keep_their_type() {
        assert_eq!(id("3: write stream closed"), Some(Id::Int(3)));
        assert_eq!(id("'3': x"), Some(Id::Text("3")));
        assert_eq!(id(""), None);
    }
}
