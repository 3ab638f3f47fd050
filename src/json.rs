//! A JSON object read member by member, tolerant of wrong types: for log lines whose keys come in any order.
//!
//! Knows no format and keeps no tree; a JSON-RPC message is the business of [`crate::jsonrpc`].

use std::fmt;

use bumpalo::Bump;
use serde::{
    Deserializer,
    de::{DeserializeSeed, MapAccess, SeqAccess, Visitor},
};
use serde_json::value::RawValue;

use crate::{
    event::Id,
    jsonrpc::{self, Reader},
    time::{self, MILLISECOND, SECOND, Stamp},
};

/// A JSON value that nobody has looked into yet.
#[derive(Clone, Copy, Debug)]
pub struct Value<'a> {
    raw: &'a RawValue,
    arena: &'a Bump,
}

/// Shows every member of the object that `text` is. False where `text` is no object or is damaged; members before the
/// damage have been shown by then.
pub fn members<'a>(text: &'a str, arena: &'a Bump, each: impl FnMut(&'a str, Value<'a>)) -> bool {
    let mut json = serde_json::Deserializer::from_str(text);
    Walk { arena, each, keyed: true }.deserialize(&mut json).is_ok() && json.end().is_ok()
}

impl<'a> Value<'a> {
    /// The JSON text.
    pub fn raw(self) -> &'a str {
        self.raw.get()
    }

    /// The string it is, unescaped.
    pub fn text(self) -> Option<&'a str> {
        let mut json = serde_json::Deserializer::from_str(self.raw.get());
        Reader::new(self.arena).text().deserialize(&mut json).ok().flatten()
    }

    /// A string that is not empty, or a number as it is written.
    pub fn word(self) -> Option<&'a str> {
        match self.raw().as_bytes().first() {
            Some(b'"') => self.text().filter(|text| !text.is_empty()),
            Some(b'-' | b'0'..=b'9') => Some(self.raw()),
            _ => None,
        }
    }

    /// An integer, also where it is written as a string or with a fraction of zero.
    pub fn integer(self) -> Option<i64> {
        let word = self.word()?.trim();
        word.strip_suffix(".0").unwrap_or(word).parse().ok()
    }

    /// An integer that fits the wanted type.
    pub fn number<N: TryFrom<i64>>(self) -> Option<N> {
        N::try_from(self.integer()?).ok()
    }

    /// It is `true`, or the string `"true"`.
    pub fn is_true(self) -> bool {
        matches!(self.raw(), "true" | "\"true\"")
    }

    /// It is `null`.
    pub fn is_null(self) -> bool {
        self.raw() == "null"
    }

    /// A stamp: RFC 3339 and its relatives, the date of the Common Log Format, or an epoch number without loss.
    pub fn stamp(self) -> Option<Stamp> {
        let word = self.word()?.trim();
        epoch(word).or_else(|| time::parse(word)).or_else(|| {
            time::common_log(word.as_bytes()).filter(|(_, used)| *used == word.len()).map(|(stamp, _)| stamp)
        })
    }

    /// A JSON-RPC id, with its JSON type.
    pub fn id(self) -> Id<'a> {
        jsonrpc::id(self.raw, &Reader::new(self.arena))
    }

    /// Shows every member, if it is an object.
    pub fn members(self, each: impl FnMut(&'a str, Value<'a>)) -> bool {
        members(self.raw(), self.arena, each)
    }

    /// Shows every item, if it is an array.
    pub fn items(self, mut each: impl FnMut(Value<'a>)) -> bool {
        let mut json = serde_json::Deserializer::from_str(self.raw());
        Walk { arena: self.arena, each: |_, value| each(value), keyed: false }.deserialize(&mut json).is_ok()
    }
}

/// An epoch number as written: seconds, milliseconds, microseconds or nanoseconds by magnitude, as [`time::epoch`] has
/// it, but without passing through a double, which would lose digits.
pub fn epoch(text: &str) -> Option<Stamp> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    if whole.is_empty() || !whole.bytes().chain(fraction.bytes()).all(|byte| byte.is_ascii_digit()) {
        // An exponent, a sign, or no number at all.
        return text.parse().ok().filter(|_| text.contains(['e', 'E'])).and_then(time::epoch);
    }
    let number: i64 = whole.parse().ok()?;
    let (unit, digits) = match number {
        0..=99_999_999_999 => (SECOND, 0),
        100_000_000_000..=99_999_999_999_999 => (MILLISECOND, 3),
        100_000_000_000_000..=99_999_999_999_999_999 => (1000, 6),
        _ => (1, 9),
    };
    let fraction = fraction.get(..9).unwrap_or(fraction);
    let mut below = 0;
    let mut step = unit;
    for byte in fraction.bytes() {
        step /= 10;
        below += i64::from(byte - b'0') * step;
    }
    let nanoseconds = number.checked_mul(unit)?.checked_add(below)?;
    Some(Stamp::utc(nanoseconds, u8::try_from(fraction.len()).map_or(9, |length| digits + length)))
}

struct Walk<'a, F> {
    arena: &'a Bump,
    each: F,
    keyed: bool,
}

impl<'a, F: FnMut(&'a str, Value<'a>)> DeserializeSeed<'a> for Walk<'a, F> {
    type Value = ();
    fn deserialize<D: Deserializer<'a>>(self, deserializer: D) -> Result<(), D::Error> {
        if self.keyed { deserializer.deserialize_map(self) } else { deserializer.deserialize_seq(self) }
    }
}

impl<'a, F: FnMut(&'a str, Value<'a>)> Visitor<'a> for Walk<'a, F> {
    type Value = ();
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.keyed { "an object" } else { "an array" })
    }
    fn visit_map<M: MapAccess<'a>>(mut self, mut map: M) -> Result<(), M::Error> {
        let reader = Reader::new(self.arena);
        while let Some(key) = map.next_key_seed(reader.text())? {
            let raw = map.next_value()?;
            (self.each)(key.unwrap_or(""), Value { raw, arena: self.arena });
        }
        Ok(())
    }
    fn visit_seq<S: SeqAccess<'a>>(mut self, mut seq: S) -> Result<(), S::Error> {
        while let Some(raw) = seq.next_element()? {
            (self.each)("", Value { raw, arena: self.arena });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrong_type_costs_only_its_member() {
        let arena = Bump::new();
        let mut seen = Vec::new();
        let whole = members(r#"{"a":"x\ny","b":[1],"c":{"d":"7"},"e":null,"f":1.0}"#, &arena, |key, value| {
            seen.push((key, value.text(), value.integer(), value.is_null()));
        });
        assert!(whole);
        assert_eq!(
            seen,
            [
                ("a", Some("x\ny"), None, false),
                ("b", None, None, false),
                ("c", None, None, false),
                ("e", None, None, true),
                ("f", None, Some(1), false)
            ]
        );
        assert!(!members("[1]", &arena, |_, _| ()));
        assert!(!members(r#"{"a":1} x"#, &arena, |_, _| ()));
        assert!(!members(r#"{"a":1,"b"#, &arena, |_, _| ()));
    }

    #[test]
    fn epochs_keep_every_digit() {
        for (text, nanoseconds, digits) in [
            ("1796008097.655", 1_796_008_097_655_000_000, 3),
            ("1796008097", 1_796_008_097_000_000_000, 0),
            ("1796008097655.25", 1_796_008_097_655_250_000, 6),
            ("1796007723088651216", 1_796_007_723_088_651_216, 9),
        ] {
            let stamp = epoch(text).expect("a stamp");
            assert_eq!((stamp.at.0, stamp.digits), (nanoseconds, digits), "{text}");
        }
        assert_eq!(epoch("-5"), None);
        assert_eq!(epoch("99999999999999999999"), None);
        assert_eq!(epoch("nan"), None);
    }
}
