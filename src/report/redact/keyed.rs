//! Finds keys that name a secret, in any notation, and hands over what stands behind them.
//!
//! It does not decide how far a value reaches: that is `value`.

use super::Scan;
use super::scan::{self, Quote};
use super::secrets::{Key, SECRETS, Secret, Value, name};
use super::value::Context;
use super::words::{HARMLESS_KEYS, TAILS};

/// Pieces of keys worth a look. Everything a key of the table can end in contains one of them.
pub(super) static ANCHORS: &[&str] = &[
    "auth",
    "cookie",
    "token",
    "secret",
    "passw",
    "passphrase",
    "passcode",
    "pass",
    "pwd",
    "pw",
    "key",
    "sess",
    "sid",
    "cred",
    "sig",
    "code",
    "hmac",
    "assertion",
    "ticket",
    "otp",
    "bearer",
];

/// What stands between key and value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Separator {
    Colon,
    Equals,
    /// `("key", "value")`.
    Comma,
    /// `{"name": "key", "value": "…"}`.
    Pair,
    /// `--key value`, `session value`.
    Blank,
    /// `<key>value</key>`.
    Tag,
}

/// A key, where its quotes are and what follows.
#[derive(Clone, Copy, Debug)]
struct Place {
    start: usize,
    end: usize,
    /// The quotes right around the key.
    quotes: Option<(Quote, Quote)>,
}

/// Other spellings of a separator: percent encoding once and twice, escapes, entities.
static COLONS: &[&[u8]] = &[b"%3A", b"%253A", b"\\u003a", b"\\x3a", b"&#58;"];
static EQUALS: &[&[u8]] = &[b"=>", b"%3D", b"%253D", b"\\u003d", b"\\x3d", b"&#61;", b"->"];

impl<'t> Scan<'t> {
    /// Looks at the key around a hit.
    pub(super) fn key(&mut self, from: usize, to: usize) {
        let (start, end) = scan::key_around(self.bytes, from, to);
        let trimmed = self.text.get(start..end).unwrap_or_default().trim_end_matches(['.', '-']).len();
        let mut place = Place { start, end: start + trimmed, quotes: None };
        if place.end <= self.last_key || place.end < to {
            return;
        }
        self.last_key = place.end;
        place = self.session_id(place);
        place.quotes = scan::quote_before(self.bytes, place.start)
            .zip(scan::quote_at(self.bytes, place.end))
            .filter(|(open, close)| open.mark == close.mark);
        if let Some((at, separator)) = self.separator(place) {
            self.behind(place, at, separator);
        } else if let Some(open) = self.value_before(place)
            && let Some((kind, key)) = self.classify(place, Separator::Pair)
        {
            let context = self.context(place, kind, key, Separator::Pair);
            self.value(open.start, context);
        }
    }

    /// `session ID`: the second word belongs to the key.
    fn session_id(&self, place: Place) -> Place {
        let session = self.text.get(place.start..place.end).is_some_and(|key| key.eq_ignore_ascii_case("session"));
        let ends = !self.bytes.get(place.end + 3).is_some_and(|byte| scan::is_key_byte(*byte));
        let longer = session && ends && scan::starts_with(self.bytes, place.end, b" id");
        if longer { Place { end: place.end + 3, ..place } } else { place }
    }

    fn behind(&mut self, place: Place, at: usize, separator: Separator) {
        let Some((kind, key)) = self.classify(place, separator) else { return };
        let context = self.context(place, kind, key, separator);
        if !self.allowed(place, at, separator, key.value) {
            return;
        }
        // A list that merely names keys (`["password", "email"]`) has no opaque value behind the comma.
        let named = separator == Separator::Comma && !self.is_header_pair(place, key);
        self.value(
            at,
            Context { doubtful: context.doubtful || named, separated: context.separated && !named, ..context },
        );
    }

    fn context(&self, place: Place, kind: &'static Secret, key: Key, separator: Separator) -> Context<'t> {
        let text = self.text.get(place.start..place.end).unwrap_or_default();
        let colon = separator == Separator::Colon && place.quotes.is_none();
        Context {
            kind: kind.name,
            value: key.value,
            key: text,
            around: scan::quote_before(self.bytes, place.start).filter(|_| place.quotes.is_none()),
            line: colon && scan::begins_line(self.bytes, place.start),
            separated: separator != Separator::Blank,
            // Prose: `with token 3f9c…`. An option of a command line leaves no doubt.
            doubtful: key.value == Value::Opaque || (separator == Separator::Blank && !text.starts_with("--")),
        }
    }

    /// Whether a key of this sort counts with this separator.
    fn allowed(&self, place: Place, at: usize, separator: Separator, value: Value) -> bool {
        match (value, separator) {
            (Value::Query, Separator::Equals) => {
                self.in_query(place.start) || self.bytes.get(self.word_end(at)) == Some(&b'&')
            }
            (Value::Query, Separator::Pair) => true,
            (Value::Query, _) => false,
            // `/etc/passwd: no such file`.
            (_, Separator::Colon) => place.start == 0 || self.bytes.get(place.start - 1) != Some(&b'/'),
            _ => true,
        }
    }

    /// Whether the key begins a parameter of a URL or of a form.
    fn in_query(&self, start: usize) -> bool {
        let head = self.bytes.get(..start).unwrap_or_default();
        let ends = |text: &[u8]| head.len() >= text.len() && head[head.len() - text.len()..].eq_ignore_ascii_case(text);
        matches!(head.last(), Some(b'?' | b'&' | b'#'))
            || [b"%3F".as_slice(), b"%26", b"%23", b"u0026", b"u003f", b"&amp;"].into_iter().any(ends)
    }

    /// A pair in a list where the key can only be a header's name, an option or the first of a tuple.
    fn is_header_pair(&self, place: Place, key: Key) -> bool {
        let text = self.text.get(place.start..place.end).unwrap_or_default();
        let open = place.quotes.map_or(place.start, |(open, _)| open.start);
        let before = self.bytes.get(..open).unwrap_or_default();
        let before = before.strip_suffix(b"b").unwrap_or(before);
        matches!(key.value, Value::Header | Value::Line | Value::Id)
            || text.contains('-')
            || before.last() == Some(&b'(')
    }

    /// The separator after a key and the place behind it.
    fn separator(&self, place: Place) -> Option<(usize, Separator)> {
        let bytes = self.bytes;
        let mut at = place.quotes.map_or(place.end, |(_, close)| close.end);
        if place.quotes.is_some() && bytes.get(at) == Some(&b']') {
            at += 1;
        }
        let (next, broken) = scan::blanks(bytes, at);
        let longer = |list: &[&[u8]]| list.iter().find_map(|text| scan::spelled(bytes, next, text));
        if let Some(end) = longer(COLONS) {
            return Some((end, Separator::Colon));
        }
        if let Some(end) = longer(EQUALS) {
            return Some((end, Separator::Equals));
        }
        match (bytes.get(next)?, bytes.get(next + 1)) {
            (b':', Some(b':')) | (b'=', Some(b'=')) => None,
            (b':', Some(b'=')) => Some((next + 2, Separator::Equals)),
            (b':', _) => Some((next + 1, Separator::Colon)),
            (b'=', _) => Some((next + 1, Separator::Equals)),
            (b',', _) if place.quotes.is_some() => {
                Some(self.pair(next + 1).map_or((next + 1, Separator::Comma), |end| (end, Separator::Pair)))
            }
            (b'>', _) if place.start > 0 && bytes.get(place.start - 1) == Some(&b'<') => {
                Some((next + 1, Separator::Tag))
            }
            _ if next > at && !broken && place.quotes.is_none() => Some((next, Separator::Blank)),
            _ => None,
        }
    }

    /// `"value":` or `"value": {"stringValue":` at this place; gives its end.
    fn pair(&self, at: usize) -> Option<usize> {
        let end = self.member(at, &["value", "val", "v"])?;
        let (next, _) = scan::blanks(self.bytes, end);
        if self.bytes.get(next) == Some(&b'{') {
            return self.member(next + 1, &["stringValue", "string_value"]);
        }
        Some(end)
    }

    /// One of these member names with its colon, quoted or not; gives the end of the colon.
    fn member(&self, at: usize, names: &[&str]) -> Option<usize> {
        let (at, _) = scan::blanks(self.bytes, at);
        let open = scan::quote_at(self.bytes, at);
        let start = open.map_or(at, |open| open.end);
        let name = names.iter().find(|name| {
            let after = self.bytes.get(start + name.len());
            scan::starts_with(self.bytes, start, name.as_bytes()) && !after.is_some_and(u8::is_ascii_alphanumeric)
        })?;
        let end = start + name.len();
        let end = if open.is_some() { scan::quote_at(self.bytes, end)?.end } else { end };
        let (colon, _) = scan::blanks(self.bytes, end);
        matches!(self.bytes.get(colon), Some(b':' | b'=')).then_some(colon + 1)
    }

    /// The value of `{"value": "…", "name": "key"}`, for the key.
    fn value_before(&self, place: Place) -> Option<Quote> {
        let (open, _) = place.quotes?;
        let colon = self.member_before(open.start, &["name", "key", "header"])?;
        let comma = scan::blanks_before(self.bytes, colon).checked_sub(1)?;
        if self.bytes.get(comma) != Some(&b',') {
            return None;
        }
        let mut end = scan::blanks_before(self.bytes, comma);
        if self.bytes.get(end.checked_sub(1)?) == Some(&b'}') {
            end = scan::blanks_before(self.bytes, end - 1);
        }
        let close = scan::quote_before(self.bytes, end)?;
        let value = scan::opening(self.bytes, close, 8192)?;
        self.member_before(value.start, &["value", "val", "v", "stringValue", "string_value"])?;
        Some(value)
    }

    /// One of these member names with its colon just before `at`; gives the start of the name or its quote.
    fn member_before(&self, at: usize, names: &[&str]) -> Option<usize> {
        let colon = scan::blanks_before(self.bytes, at).checked_sub(1)?;
        if self.bytes.get(colon) != Some(&b':') {
            return None;
        }
        let end = scan::blanks_before(self.bytes, colon);
        let close = scan::quote_before(self.bytes, end);
        let end = close.map_or(end, |close| close.start);
        let (start, _) = scan::key_around(self.bytes, end, end);
        let name = self.text.get(start..end)?;
        let known = names.iter().any(|known| known.eq_ignore_ascii_case(name));
        known.then(|| close.and_then(|_| scan::quote_before(self.bytes, start)).map_or(start, |open| open.start))
    }

    /// The kind of secret that a key names.
    fn classify(&self, place: Place, separator: Separator) -> Option<(&'static Secret, Key)> {
        let key = self.text.get(place.start..place.end)?;
        let mut words = words(key);
        if separator != Separator::Pair && words.len() == 1 && place.quotes.is_none() {
            words.splice(0..0, self.word_before(place.start));
        }
        while words.len() > 1 && words.last().is_some_and(|word| is_tail(word)) {
            words.pop();
        }
        let text = words.join(" ");
        if HARMLESS_KEYS.iter().any(|harmless| fits(&text, harmless)) {
            return None;
        }
        let upper = !key.bytes().any(|byte| byte.is_ascii_lowercase()) && key.contains('_');
        if upper && words.len() > 1 && words.last().is_some_and(|word| word == "key") {
            let secret = SECRETS
                .iter()
                .find(|secret| secret.keys.iter().any(|key| fits(&text, key.text) && key.value != Value::Query));
            let secret = secret.or_else(|| SECRETS.iter().find(|secret| secret.name == name::API_KEY))?;
            return Some((secret, Key { text: "key", value: Value::Word }));
        }
        SECRETS.iter().find_map(|secret| {
            secret
                .keys
                .iter()
                .find(|known| fits(&text, known.text) && (known.value != Value::Query || text == known.text))
                .map(|key| (secret, *key))
        })
    }

    /// The word before a key of one word, with one space between: `API key`, `unexpected token`.
    fn word_before(&self, start: usize) -> Option<String> {
        let end = start.checked_sub(1).filter(|&at| self.bytes.get(at) == Some(&b' '))?;
        let (from, _) = scan::key_around(self.bytes, end, end);
        let word = self
            .text
            .get(from..end)
            .filter(|word| !word.is_empty() && word.bytes().all(|b| b.is_ascii_alphabetic()))?;
        Some(word.to_ascii_lowercase())
    }
}

/// Whether the last word only qualifies the key.
fn is_tail(word: &str) -> bool {
    TAILS.contains(&word) || word.bytes().all(|byte| byte.is_ascii_digit())
}

/// Whether the words of a key end as the table says.
fn fits(text: &str, known: &str) -> bool {
    if let Some(end) = known.strip_prefix('*') {
        return text.ends_with(end);
    }
    if let Some(end) = known.strip_prefix('+') {
        return text.strip_suffix(end).is_some_and(|rest| rest.ends_with(' '));
    }
    text.strip_suffix(known).is_some_and(|rest| rest.is_empty() || rest.ends_with(' '))
}

/// The words of a key in lower case: `mcp-Session_id`, `mcpSessionId` and `MCPSessionID` are the same.
fn words(key: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut open = false;
    let bytes = key.as_bytes();
    for (at, &byte) in bytes.iter().enumerate() {
        if !byte.is_ascii_alphanumeric() {
            open = false;
            continue;
        }
        let before = at.checked_sub(1).and_then(|at| bytes.get(at)).copied().unwrap_or(b'_');
        let next_is_lower = bytes.get(at + 1).is_some_and(u8::is_ascii_lowercase);
        let hump = byte.is_ascii_uppercase() && (!before.is_ascii_uppercase() || next_is_lower);
        let digit = byte.is_ascii_digit() && !before.is_ascii_digit();
        let start = !open || hump || digit && before.is_ascii_alphabetic() && bytes.get(at + 1).is_none();
        match words.last_mut() {
            Some(word) if !start => word.push(char::from(byte.to_ascii_lowercase())),
            _ => words.push(char::from(byte.to_ascii_lowercase()).to_string()),
        }
        open = true;
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_keys() {
        for key in ["mcp-Session_id", "mcpSessionId", "MCPSessionID", "mcp.session.id", "MCP_SESSION_ID"] {
            assert_eq!(words(key), ["mcp", "session", "id"], "{key}");
        }
        assert_eq!(words("APIKey2"), ["api", "key", "2"]);
        assert_eq!(words("--token"), ["token"]);
    }

    #[test]
    fn anchors_reach_every_key() {
        for key in SECRETS.iter().flat_map(|secret| secret.keys) {
            let text = key.text.trim_start_matches(['*', '+']);
            let words: Vec<&str> = text.split(' ').collect();
            let last = if text == "session id" { words[0] } else { words.last().copied().unwrap_or_default() };
            let found = ANCHORS.iter().any(|anchor| last.contains(anchor))
                || words.iter().any(|w| ANCHORS.iter().any(|a| w.contains(a)));
            assert!(found, "{text}");
        }
    }
}
