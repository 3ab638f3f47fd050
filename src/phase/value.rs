//! The value of a key of a phase record, in JSON or in key=value notation.

use serde::de::DeserializeSeed;

use crate::{
    event::Id,
    jsonrpc::Reader,
    time::{self, Stamp},
};

/// The value of a key, in either notation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value<'a> {
    /// JSON `null`, or nothing behind the equals sign.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A JSON number.
    Number(f64),
    /// A JSON integer that fits.
    Int(i64),
    /// Text; in key=value notation every value.
    Text(&'a str),
    /// An array or object, as written.
    Raw(&'a str),
}

impl<'a> Value<'a> {
    /// The value of a raw JSON text.
    pub fn of_json(raw: &'a str, reader: &Reader<'a>) -> Self {
        match raw.as_bytes().first() {
            Some(b'"') => {
                let inner = &raw[1..raw.len() - 1];
                if memchr::memchr(b'\\', inner.as_bytes()).is_none() {
                    return Self::Text(inner);
                }
                let mut json = serde_json::Deserializer::from_str(raw);
                reader.text().deserialize(&mut json).ok().flatten().map_or(Self::Raw(raw), Self::Text)
            }
            Some(b'n') | None => Self::Null,
            Some(b't') => Self::Bool(true),
            Some(b'f') => Self::Bool(false),
            Some(b'[' | b'{') => Self::Raw(raw),
            _ => raw.parse().map_or_else(|_| raw.parse().map_or(Self::Raw(raw), Self::Number), Self::Int),
        }
    }

    pub(super) fn text(self) -> Option<&'a str> {
        match self {
            Self::Text(text) | Self::Raw(text) if !text.is_empty() => Some(text),
            _ => None,
        }
    }

    pub(super) fn integer(self) -> Option<i64> {
        match self {
            Self::Int(number) => Some(number),
            Self::Text(text) => text.parse().ok(),
            _ => None,
        }
    }

    pub(super) fn flag(self) -> Option<bool> {
        match self {
            Self::Bool(flag) => Some(flag),
            Self::Text("true") => Some(true),
            Self::Text("false") => Some(false),
            _ => None,
        }
    }

    /// Key=value notation has no types: digits are a number, as the wire's ids nearly always are.
    pub(super) fn id(self) -> Option<Id<'a>> {
        match self {
            Self::Int(number) => Some(Id::Int(number)),
            Self::Text(text) | Self::Raw(text) => Some(Id::Text(text)),
            _ => None,
        }
    }

    pub(super) fn stamp(self) -> Option<Stamp> {
        #[expect(clippy::cast_precision_loss, reason = "an epoch in seconds to microseconds is exact enough")]
        match self {
            Self::Text(text) => time::parse(text).or_else(|| text.parse().ok().and_then(time::epoch)),
            Self::Int(number) if number.unsigned_abs() >= 100_000_000_000_000_000 => {
                Some(time::epoch_nanoseconds(number))
            }
            Self::Int(number) => time::epoch(number as f64),
            Self::Number(number) => time::epoch(number),
            _ => None,
        }
    }
}
