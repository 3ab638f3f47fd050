//! Finds keys that name a secret, in any notation, and hands over what stands behind them.
//!
//! It does not decide how far a value reaches: that is `value`.

use std::sync::LazyLock;

use regex::bytes::{Regex, RegexSet};

use super::scan::{self, Quote};
use super::secrets::{Key, SECRETS, Secret, Value, name};
use super::value::Context;
use super::words::{HARMLESS_KEYS, TAILS};
use super::{Scan, regex};

/// A quote in any state of escaping, and blanks around structure, raw or escaped.
const QUOTE: &str = r#"(?:\\*["'`]|%22|%27|\\+u002[27]|\\+x2[27]|&quot;|&#3[49];|&apos;)"#;
const BLANKS: &str = r"(?:[ \t\r\n]|%20|\\+[nrt])*";

/// The runs of characters that may be a key of the table: they hold the telling word of one.
static KEYS: LazyLock<Regex> = LazyLock::new(|| {
    let mut words: Vec<&str> = SECRETS
        .iter()
        .flat_map(|secret| secret.keys)
        .flat_map(texts)
        .map(telling_word)
        .filter(|word| word.len() > 1)
        .collect();
    words.sort_unstable_by_key(|word| (word.len(), *word));
    words.dedup();
    let shortest: Vec<&str> =
        words.iter().copied().filter(|word| !words.iter().any(|w| w != word && word.contains(w))).collect();
    regex(&format!("(?i)[A-Za-z0-9_.-]*(?:{})[A-Za-z0-9_.-]*", shortest.join("|")))
});

/// A row of the table and one of its keys.
type Kind = (&'static Secret, Key);

/// Which keys of the table the words of a key end in: first the harmless ones, then those of each kind.
static KINDS: LazyLock<(RegexSet, Vec<Option<Kind>>)> = LazyLock::new(|| {
    let harmless = Key { text: HARMLESS_KEYS, value: Value::Word };
    let mut rows = vec![(ending(&harmless), None)];
    for secret in SECRETS {
        rows.extend(secret.keys.iter().map(|key| (ending(key), Some((secret, *key)))));
    }
    let set = RegexSet::new(rows.iter().map(|(pattern, _)| pattern)).expect("keys of the table make a pattern");
    (set, rows.into_iter().map(|(_, kind)| kind).collect())
});

/// Words behind a key that belong to it: `session ID`, `API key provided`.
static MORE_KEY: LazyLock<Regex> =
    LazyLock::new(|| regex(r"(?i)\A (?:id|provided|supplied|given|used|entered|received)\b"));

/// `the password is: X`, `the password for bob is X`, `password for user bob: X`.
static IS: LazyLock<Regex> = LazyLock::new(|| {
    let whose = "(?: (?:for|of) (?:the )?(?:user |account )?[A-Za-z0-9_.@-]{1,40})";
    regex(&format!(r"(?i)\A(?:{whose}? (?:is set to|is now|is|was|set to)(?: ?[:=])? |{whose}: )"))
});

/// What names the value in `{"name": "key", "value": "…"}`, also as an attribute of OpenTelemetry, or in an object
/// behind the key itself.
static PAIR: LazyLock<Regex> = LazyLock::new(|| {
    let member = |names: &str| format!("{BLANKS}{QUOTE}?(?:{names}){QUOTE}?{BLANKS}[:=]");
    let value = member("value|val|v");
    regex(&format!(r"(?i)\A{value}(?:{BLANKS}\{{{})?", member("stringValue|string_value")))
});

/// The beginning of a value that stands before its key.
static VALUE_FIRST: LazyLock<Regex> = LazyLock::new(|| {
    regex(&format!("(?i){QUOTE}?(?:value|val|v|stringValue|string_value){QUOTE}?{BLANKS}:{BLANKS}({QUOTE})"))
});

/// From the end of such a value to its key.
static THEN_KEY: LazyLock<Regex> = LazyLock::new(|| {
    let name = format!("{QUOTE}?(?:name|key|header){QUOTE}?{BLANKS}:{BLANKS}{QUOTE}([A-Za-z0-9_.-]+){QUOTE}");
    regex(&format!(r"(?i)\A{QUOTE}{BLANKS}\}}?{BLANKS},{BLANKS}{name}"))
});

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
    /// `the key is value`.
    Is,
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
    /// What the name of a column, which stands alone, says about the values below it.
    pub(super) fn column(&self, start: usize, end: usize) -> Option<Context<'t>> {
        let place = Place { start, end, quotes: None };
        let (kind, key) = self.classify(place, Separator::Pair)?;
        Some(self.context(place, kind, key, Separator::Pair))
    }

    /// Looks at everything that may be a key.
    pub(super) fn keys(&mut self) {
        for run in KEYS.find_iter(self.bytes) {
            self.key(run.start(), run.end());
        }
        for first in VALUE_FIRST.captures_iter(self.bytes) {
            let Some(open) = first.get(1).and_then(|quote| scan::quote_at(self.bytes, quote.start())) else { continue };
            let Some(close) = scan::closing(self.bytes, open) else { return };
            let Some(key) = THEN_KEY.captures(&self.bytes[close.start..]).and_then(|found| found.get(1)) else {
                continue;
            };
            let place =
                Place { start: close.start + key.start(), end: close.start + key.end(), quotes: Some((open, close)) };
            if let Some((kind, key)) = self.classify(place, Separator::Pair) {
                self.value(open.start, self.context(place, kind, key, Separator::Pair));
            }
        }
    }

    fn key(&mut self, from: usize, to: usize) {
        let start = scan::strip_escape(self.bytes, from);
        let end = start + self.text.get(start..to).unwrap_or_default().trim_end_matches(['.', '-']).len();
        let quotes = scan::quote_before(self.bytes, start)
            .zip(scan::quote_at(self.bytes, end))
            .filter(|(open, close)| open.mark == close.mark);
        let more = MORE_KEY.find(&self.bytes[end..]).filter(|_| quotes.is_none());
        let place = Place { start, end: end + more.map_or(0, |more| more.end()), quotes };
        if let Some((at, separator)) = self.separator(place) {
            self.behind(place, at, separator);
        }
    }

    fn behind(&mut self, place: Place, at: usize, separator: Separator) {
        let Some((kind, key)) = self.classify(place, separator) else { return };
        let context = self.context(place, kind, key, separator);
        if !self.allowed(place, at, separator, key.value) {
            return;
        }
        // A list that merely names keys (`["password", "email"]`) has no opaque value behind the comma.
        let named = separator == Separator::Comma && !self.is_header_pair(place, key);
        // `/etc/passwd: no such file`.
        let path = separator == Separator::Colon
            && self.bytes[..place.start].ends_with(b"/")
            && !self.bytes[..place.start].ends_with(b"://")
            && !matches!(key.value, Value::Header | Value::Line);
        self.value(
            at,
            Context { doubtful: context.doubtful || named || path, separated: context.separated && !named, ..context },
        );
    }

    fn context(&self, place: Place, kind: &'static Secret, key: Key, separator: Separator) -> Context<'t> {
        let text = self.text.get(place.start..place.end).unwrap_or_default();
        let spaced = separator == Separator::Equals && self.bytes.get(place.end) == Some(&b' ');
        let line = (spaced || separator == Separator::Colon) && place.quotes.is_none();
        // What signs an URL has a common name elsewhere.
        let signed = key.value == Value::Signed && separator != Separator::Pair && !self.in_query(place.start);
        Context {
            kind: kind.name,
            value: key.value,
            key: text,
            start: place.start,
            around: scan::quote_before(self.bytes, place.start).filter(|_| place.quotes.is_none()),
            line: line && scan::begins_line(self.bytes, place.start),
            separated: separator != Separator::Blank,
            // Prose: `with token 3f9c…`. An option of a command line leaves no doubt.
            doubtful: key.value == Value::Opaque
                || signed
                || (separator == Separator::Blank && !text.starts_with("--")),
            colon: separator == Separator::Colon,
            prose: separator == Separator::Is,
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
            _ if next > at && !broken && place.quotes.is_none() => {
                let is = IS.find(&bytes[at..]).map(|is| (at + is.end(), Separator::Is));
                Some(is.unwrap_or((next, Separator::Blank)))
            }
            _ => None,
        }
    }

    /// The place behind `"value":` or `"value": {"stringValue":`.
    pub(super) fn pair(&self, at: usize) -> Option<usize> {
        PAIR.find(self.bytes.get(at..)?).map(|found| at + found.end())
    }

    /// The kind of secret that a key names.
    fn classify(&self, place: Place, separator: Separator) -> Option<Kind> {
        let key = self.text.get(place.start..place.end)?;
        // A longer key is none; neither is anything that long read by a person.
        let mut words = words(key.get(key.len().saturating_sub(KEY_REACH)..)?);
        if separator != Separator::Pair
            && place.quotes.is_none()
            && key.bytes().all(|b| b.is_ascii_alphabetic() || b == b' ')
        {
            words.splice(0..0, self.words_before(place.start));
        }
        while words.len() > 1 && words.last().is_some_and(|word| is_tail(word)) {
            words.pop();
        }
        let text = words.join(" ");
        let (set, kinds) = &*KINDS;
        let row = |text: &str| set.matches(text.as_bytes()).iter().next();
        // Capitals do not always begin words: `DPoP`.
        let humps =
            || key.bytes().any(|byte| byte.is_ascii_uppercase()) && key.bytes().any(|byte| byte.is_ascii_lowercase());
        let known =
            row(&text).or_else(|| humps().then(|| row(&key.to_ascii_lowercase())).flatten()).map(|row| kinds[row]);
        let upper = !key.bytes().any(|byte| byte.is_ascii_lowercase()) && key.contains('_');
        match known {
            Some(Some((secret, key))) if key.value != Value::Query || !upper => Some((secret, key)),
            Some(None) => None,
            _ if upper && words.len() > 1 && text.ends_with(" key") => {
                let secret = SECRETS.iter().find(|secret| secret.name == name::API_KEY)?;
                Some((secret, Key { text: "key", value: Value::Word }))
            }
            _ => None,
        }
    }

    /// The two words before a key, with one space between: `API key`, `unexpected token`.
    fn words_before(&self, start: usize) -> Vec<String> {
        let mut words = Vec::new();
        let mut end = start;
        while words.len() < 2 && end > 0 && self.bytes.get(end - 1) == Some(&b' ') {
            let head = &self.bytes[end.saturating_sub(24)..end - 1];
            let length = head.iter().rev().take_while(|byte| byte.is_ascii_alphanumeric()).count();
            let from = scan::strip_escape(self.bytes, end - 1 - length);
            let Some(word) = self.text.get(from..end - 1) else { break };
            if word.is_empty() || !word.bytes().all(|byte| byte.is_ascii_alphabetic()) {
                break;
            }
            words.insert(0, word.to_ascii_lowercase());
            end = from;
        }
        words
    }
}

/// Whether a word may be a key of the table.
pub(super) fn may_name(word: &str) -> bool {
    KEYS.is_match(word.as_bytes())
}

/// Longer keys are looked at from their end only.
const KEY_REACH: usize = 96;

/// Whether the last word only qualifies the key.
fn is_tail(word: &str) -> bool {
    TAILS.contains(word) || word.bytes().all(|byte| byte.is_ascii_digit())
}

/// The keys of a row, as written in the table.
fn texts(key: &Key) -> impl Iterator<Item = &'static str> {
    key.text.split('|')
}

/// The word of a key that every spelling of it holds.
fn telling_word(text: &'static str) -> &'static str {
    let text = text.trim_start_matches(['*', '+']);
    let last = text.rsplit(' ').next().unwrap_or_default();
    if last.len() > 2 { last } else { text.split(' ').next().unwrap_or_default() }
}

/// The pattern for words that end as a row of the table says.
fn ending(key: &Key) -> String {
    let one = |text: &str| match (text.strip_prefix('*'), text.strip_prefix('+')) {
        (Some(end), _) => format!("{end}$"),
        (_, Some(end)) => format!(" {end}$"),
        _ if key.value == Value::Query => format!("^{text}$"),
        _ => format!("(?:^| ){text}$"),
    };
    key.text.split('|').map(one).collect::<Vec<_>>().join("|")
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
}
