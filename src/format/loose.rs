//! A walk over JSON as writers leave it: `NaN`, raw control characters, lone surrogates, repeated keys, a cut end.
//!
//! Finds members and elements and unescapes strings; builds nothing, and does not check what it steps over.

use bumpalo::{Bump, collections::String as ArenaString};

/// One JSON value as written, without blanks around it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Value<'a> {
    raw: &'a str,
    whole: bool,
}

impl<'a> Value<'a> {
    /// The value that begins `text`.
    pub(super) fn read(text: &'a str) -> Self {
        let text = text.trim_matches(is_blank);
        match end_of_value(text.as_bytes(), 0) {
            Some(end) => Self { raw: text.get(..end).unwrap_or(""), whole: true },
            // A number or word that ends with the text is not known to be whole, except at the top.
            None => Self { raw: text, whole: false },
        }
    }

    /// The text as written.
    pub(super) fn raw(self) -> &'a str {
        self.raw
    }

    /// The end of the value is there.
    pub(super) fn whole(self) -> bool {
        self.whole
    }

    /// It is an object.
    pub(super) fn is_object(self) -> bool {
        self.raw.starts_with('{')
    }

    /// It is an array.
    pub(super) fn is_array(self) -> bool {
        self.raw.starts_with('[')
    }

    /// It is `true`.
    pub(super) fn is_true(self) -> bool {
        self.raw == "true"
    }

    /// The members of an object, with keys as written. Nothing for any other value.
    pub(super) fn members(self) -> Members<'a> {
        Members(Walk { text: if self.is_object() { self.raw } else { "" }, at: 1 })
    }

    /// The elements of an array. Nothing for any other value.
    pub(super) fn elements(self) -> Elements<'a> {
        Elements(Walk { text: if self.is_array() { self.raw } else { "" }, at: 1 })
    }

    /// The number, also where it is written as a string. `NaN` and infinities give nothing.
    pub(super) fn number(self) -> Option<f64> {
        let text = self.whole.then(|| self.raw.trim_matches('"'))?;
        text.trim().parse().ok().filter(|number: &f64| number.is_finite())
    }

    /// The characters of a string, borrowed where it has no escapes. A lone surrogate becomes U+FFFD.
    pub(super) fn text(self, arena: &'a Bump) -> Option<&'a str> {
        let inner = self.raw.strip_prefix('"')?.strip_suffix('"').filter(|_| self.whole)?;
        if memchr::memchr(b'\\', inner.as_bytes()).is_none() {
            return Some(inner);
        }
        Some(unescape(inner, arena))
    }

    /// The same of a string whose end may be missing.
    pub(super) fn beginning(self, arena: &'a Bump) -> Option<&'a str> {
        self.text(arena).or_else(|| Some(unescape(self.raw.strip_prefix('"').filter(|_| !self.whole)?, arena)))
    }
}

fn unescape<'a>(inner: &str, arena: &'a Bump) -> &'a str {
    let mut text = ArenaString::with_capacity_in(inner.len(), arena);
    let mut rest = inner;
    while let Some(at) = memchr::memchr(b'\\', rest.as_bytes()) {
        text.push_str(&rest[..at]);
        let escape = &rest[at + 1..];
        let Some(letter) = escape.chars().next() else {
            return text.into_bump_str();
        };
        rest = &escape[letter.len_utf8()..];
        text.push(match letter {
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'b' => '\u{8}',
            'f' => '\u{c}',
            'u' => {
                let (character, used) = unicode(rest);
                rest = rest.get(used..).unwrap_or("");
                character
            }
            other => other,
        });
    }
    text.push_str(rest);
    text.into_bump_str()
}

/// The character of the four digits that begin `text` (and of a second escape), and how many bytes it took.
fn unicode(text: &str) -> (char, usize) {
    let Some(first) = code_unit(text) else {
        return (char::REPLACEMENT_CHARACTER, 0);
    };
    if let Some(character) = char::from_u32(first) {
        return (character, 4);
    }
    let second = text.get(4..).and_then(|rest| rest.strip_prefix("\\u")).and_then(code_unit);
    match second {
        Some(second @ 0xDC00..=0xDFFF) if first < 0xDC00 => {
            let code = 0x1_0000 + ((first - 0xD800) << 10) + (second - 0xDC00);
            (char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER), 10)
        }
        _ => (char::REPLACEMENT_CHARACTER, 4),
    }
}

fn code_unit(text: &str) -> Option<u32> {
    let digits = text.get(..4).filter(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()))?;
    u32::from_str_radix(digits, 16).ok()
}

/// Replaces the lone surrogate escapes of a JSON text, which are legal JSON and no legal text. `None` where none stands.
pub(super) fn without_lone_surrogates<'a>(json: &str, arena: &'a Bump) -> Option<&'a str> {
    let mut text = ArenaString::with_capacity_in(json.len(), arena);
    let (mut rest, mut found) = (json, false);
    while let Some(at) = memchr::memchr(b'\\', rest.as_bytes()) {
        let escape = &rest[at + 1..];
        let mut used = escape.chars().next().map_or(0, char::len_utf8);
        let mut lone = false;
        if let Some(digits) = escape.strip_prefix('u') {
            let (character, length) = unicode(digits);
            used = (1 + length).min(escape.len());
            lone = length == 4 && character == char::REPLACEMENT_CHARACTER && !digits[..4].eq_ignore_ascii_case("fffd");
        }
        if lone {
            text.push_str(&rest[..at]);
            text.push_str("\\ufffd");
            found = true;
        } else {
            text.push_str(&rest[..at + 1 + used]);
        }
        rest = &escape[used..];
    }
    text.push_str(rest);
    found.then(|| text.into_bump_str())
}

fn is_blank(character: char) -> bool {
    matches!(character, ' ' | '\t' | '\n' | '\r' | '\0' | '\u{feff}')
}

/// Where the string that begins at `at` ends, behind its closing quote.
fn end_of_string(bytes: &[u8], at: usize) -> Option<usize> {
    let mut at = at + 1;
    loop {
        at += memchr::memchr2(b'"', b'\\', bytes.get(at..)?)?;
        if bytes[at] == b'"' {
            return Some(at + 1);
        }
        at += 2;
    }
}

/// Where the value that begins at `at` ends; `None` where the text ends first.
fn end_of_value(bytes: &[u8], at: usize) -> Option<usize> {
    let (mut at, mut depth) = (at, 0_usize);
    loop {
        match *bytes.get(at)? {
            b'"' => at = end_of_string(bytes, at)?,
            b'{' | b'[' => {
                depth += 1;
                at += 1;
                continue;
            }
            b'}' | b']' if depth > 0 => {
                depth -= 1;
                at += 1;
            }
            _ if depth > 0 => {
                at += 1;
                continue;
            }
            _ => return end_of_word(bytes, at),
        }
        if depth == 0 {
            return Some(at);
        }
    }
}

/// A number, `true`, `NaN`… ends before a blank, a comma or a bracket.
fn end_of_word(bytes: &[u8], at: usize) -> Option<usize> {
    let length = bytes[at..]
        .iter()
        .position(|byte| matches!(byte, b',' | b'}' | b']' | b':' | b'"') || byte.is_ascii_whitespace())?;
    Some(at + length)
}

/// A position inside an object or array.
#[derive(Debug)]
struct Walk<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Walk<'a> {
    /// The next byte that is no blank and none of `skipped`.
    fn peek(&mut self, skipped: u8) -> Option<u8> {
        let bytes = self.text.as_bytes();
        while bytes.get(self.at).is_some_and(|byte| byte.is_ascii_whitespace() || *byte == skipped) {
            self.at += 1;
        }
        bytes.get(self.at).copied()
    }

    fn value(&mut self) -> Option<Value<'a>> {
        let (end, whole) = match end_of_value(self.text.as_bytes(), self.at) {
            Some(end) => (end, true),
            None => (self.text.len(), false),
        };
        let raw = self.text.get(self.at..end).filter(|raw| !raw.is_empty())?;
        self.at = end;
        Some(Value { raw, whole })
    }
}

/// The members of an object. The last value may be cut.
#[derive(Debug)]
pub(super) struct Members<'a>(Walk<'a>);

impl<'a> Iterator for Members<'a> {
    type Item = (&'a str, Value<'a>);

    fn next(&mut self) -> Option<Self::Item> {
        let walk = &mut self.0;
        if walk.peek(b',')? != b'"' {
            return None;
        }
        let end = end_of_string(walk.text.as_bytes(), walk.at)?;
        let key = walk.text.get(walk.at + 1..end - 1)?;
        walk.at = end;
        if walk.peek(b' ')? != b':' {
            return None;
        }
        walk.at += 1;
        walk.peek(b' ')?;
        Some((key, walk.value()?))
    }
}

/// The elements of an array. The last one may be cut.
#[derive(Debug)]
pub(super) struct Elements<'a>(Walk<'a>);

impl<'a> Iterator for Elements<'a> {
    type Item = Value<'a>;

    fn next(&mut self) -> Option<Value<'a>> {
        if self.0.peek(b',')? == b']' {
            return None;
        }
        self.0.value()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(raw: &str) -> Option<String> {
        Value::read(raw).text(&Bump::new()).map(str::to_owned)
    }

    #[test]
    fn walks_what_strict_parsers_refuse() {
        let value =
            Value::read("\u{feff} {\"a\": NaN , \"b\":[1,\"]}\\\"\", {}],\n\"c\":\"x\u{1}y\",\"a\":-Infinity}\0 ");
        let members: Vec<_> = value.members().map(|(key, value)| (key, value.raw())).collect();
        assert_eq!(members, [("a", "NaN"), ("b", "[1,\"]}\\\"\", {}]"), ("c", "\"x\u{1}y\""), ("a", "-Infinity")]);
        assert!(value.whole());
        let elements: Vec<_> = Value::read(members[1].1).elements().map(Value::raw).collect();
        assert_eq!(elements, ["1", "\"]}\\\"\"", "{}"]);
    }

    #[test]
    fn a_cut_value_is_not_whole() {
        let value = Value::read("{\"status\":20");
        assert!(!value.whole());
        assert_eq!(value.members().map(|(_, value)| value.number()).collect::<Vec<_>>(), [None]);
        let (_, cut) = Value::read("{\"a\":{\"t\":\"x\\").members().next().expect("a member");
        assert_eq!(cut.members().map(|(_, value)| value.text(&Bump::new()).is_some()).collect::<Vec<_>>(), [false]);
        assert_eq!(Value::read("{\"a\"").members().count(), 0);
    }

    #[test]
    fn unescapes() {
        assert_eq!(text(r#""a\n\"\\\/\u00e9\ud83d\ude00b""#).as_deref(), Some("a\n\"\\/é😀b"));
        assert_eq!(text(r#""\ud83d""#).as_deref(), Some("\u{fffd}"));
        assert_eq!(text(r#""\ud83dx\ude00\u12""#).as_deref(), Some("\u{fffd}x\u{fffd}\u{fffd}12"));
        assert_eq!(text("12"), None);
    }

    #[test]
    fn numbers() {
        let numbers = ["200", "\"200\"", "NaN", "\"\"", "-1", "1e400", "null"].map(|raw| {
            let object = format!("{{\"n\":{raw}}}");
            Value::read(&object).members().next().and_then(|(_, value)| value.number())
        });
        assert_eq!(numbers, [Some(200.0), Some(200.0), None, None, Some(-1.0), None, None]);
    }

    #[test]
    fn replaces_only_lone_surrogates() {
        let arena = Bump::new();
        assert_eq!(without_lone_surrogates(r#"{"a":"\ud83d\ude00 \\ud83d \ufffd"}"#, &arena), None);
        assert_eq!(without_lone_surrogates(r#"{"a":"\ud83d \n"}"#, &arena), Some(r#"{"a":"\ufffd \n"}"#));
    }

    #[test]
    fn hostile_nesting_costs_no_stack() {
        let deep = "[".repeat(200_000);
        assert!(!Value::read(&deep).whole());
    }
}
