//! A JSON-RPC 2.0 message, read in one pass and without copying.
//!
//! Settles once what serde leaves open: `null` differs from absent, ids keep their JSON type, duplicate keys are
//! tolerated (the last one counts) and reported, arguments become a digest of their canonical form.

mod answer;
mod canonical;
mod params;

pub use canonical::{Canonical, canonical, digest_text, key_at};
pub use params::trace_context;

use std::{cell::Cell, fmt, ops::BitOr};

use bumpalo::Bump;
use serde::{
    Deserializer,
    de::{DeserializeSeed, IgnoredAny, MapAccess, SeqAccess, Visitor},
};
use serde_json::value::RawValue;

use crate::event::{Answer, Detail, ErrorShape, Id, ResultShape, Rpc, is_effect_free};
use answer::{ErrorSeed, ResultSeed};
use params::{Params, ParamsSeed};

/// What reading a message met besides the message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Oddities {
    /// A key stood twice in one object.
    pub duplicate_key: bool,
}

impl BitOr for Oddities {
    type Output = Self;
    fn bitor(self, other: Self) -> Self {
        Self { duplicate_key: self.duplicate_key | other.duplicate_key }
    }
}

/// Reads one message or one batch.
///
/// Cut or damaged JSON gives [`Rpc::Malformed`], other JSON [`Rpc::NotRpc`]. A batch (2025-03-26) gives its members;
/// an empty batch is no message.
pub fn read<'a>(text: &'a str, arena: &'a Bump) -> (Vec<Rpc<'a>>, Oddities) {
    let text = text.trim();
    if !text.starts_with('[') {
        let (rpc, oddities) = read_one(text, arena);
        return (vec![rpc], oddities);
    }
    let Ok(members) = serde_json::from_str::<Vec<&'a RawValue>>(text) else {
        return (vec![Rpc::Malformed], Oddities::default());
    };
    let mut oddities = Oddities::default();
    let mut batch = Vec::with_capacity(members.len());
    for member in members {
        let (rpc, odd) = read_one(member.get(), arena);
        oddities = oddities | odd;
        batch.push(rpc);
    }
    if batch.is_empty() {
        batch.push(Rpc::NotRpc);
    }
    (batch, oddities)
}

/// Reads one message.
pub fn read_one<'a>(text: &'a str, arena: &'a Bump) -> (Rpc<'a>, Oddities) {
    let reader = Reader::new(arena);
    let mut json = serde_json::Deserializer::from_str(text);
    match reader.message().deserialize(&mut json) {
        Ok(rpc) if json.end().is_ok() => (rpc, reader.oddities()),
        _ => (Rpc::Malformed, Oddities::default()),
    }
}

/// Whether `text` can be the beginning of a JSON-RPC message: cheap, for lines of free text.
pub fn looks_like_message(text: &str) -> bool {
    let text = text.trim_start();
    text.starts_with('{')
        && ["\"jsonrpc\"", "\"method\"", "\"result\"", "\"error\""].iter().any(|key| text.contains(key))
}

/// The context of reading: the arena, and what was met.
#[derive(Debug)]
pub struct Reader<'a> {
    arena: &'a Bump,
    duplicate: Cell<bool>,
}

impl<'a> Reader<'a> {
    /// A reader whose unescaped strings go to `arena`.
    pub fn new(arena: &'a Bump) -> Self {
        Self { arena, duplicate: Cell::new(false) }
    }

    /// Where unescaped strings go.
    pub fn arena(&self) -> &'a Bump {
        self.arena
    }

    /// What was met so far.
    pub fn oddities(&self) -> Oddities {
        Oddities { duplicate_key: self.duplicate.get() }
    }

    /// A seed that reads a whole message out of any deserializer.
    pub fn message(&self) -> MessageSeed<'_, 'a> {
        MessageSeed(self)
    }

    /// A seed that reads a string, borrowed where it has no escapes. Other JSON gives `None`.
    pub fn text(&self) -> TextSeed<'_, 'a> {
        TextSeed(self)
    }

    fn note_duplicate<T>(&self, slot: Option<&T>) {
        if slot.is_some() {
            self.duplicate.set(true);
        }
    }
}

/// The members of a message, collected in any order. Envelopes that mix their own keys with those of a message
/// (`trace-jsonl` line form) feed it key by key.
#[derive(Clone, Copy, Debug, Default)]
pub struct Members<'a> {
    /// `jsonrpc` is there and is `"2.0"` (`Some(true)`), or there and something else.
    pub version: Option<bool>,
    /// `id`, if there.
    pub id: Option<Id<'a>>,
    method: Option<Option<&'a str>>,
    params: Option<Params<'a>>,
    result: Option<(ResultShape, Detail<'a>, Option<&'a str>)>,
    error: Option<ErrorShape<'a>>,
    /// One of them stood twice: nobody knows which one its reader took.
    twice: bool,
    /// A member stands beside them that JSON-RPC does not know.
    beside: bool,
}

impl<'a> Members<'a> {
    /// Takes the member `key` if it belongs to JSON-RPC; false leaves the value unread.
    ///
    /// # Errors
    /// Passes on what the deserializer says about damaged JSON.
    pub fn accept<M: MapAccess<'a>>(&mut self, key: &str, map: &mut M, reader: &Reader<'a>) -> Result<bool, M::Error> {
        match key {
            "jsonrpc" => {
                reader.note_duplicate(self.version.as_ref());
                self.twice |= self.version.is_some();
                self.version = Some(map.next_value_seed(reader.text())? == Some("2.0"));
            }
            "id" => {
                reader.note_duplicate(self.id.as_ref());
                self.twice |= self.id.is_some();
                self.id = Some(id(map.next_value::<&'a RawValue>()?, reader));
            }
            "method" => {
                reader.note_duplicate(self.method.as_ref());
                let method = map.next_value_seed(reader.text())?;
                self.twice |= self.method.is_some();
                self.method = Some(self.method.map_or(method, |first| more_harmful(first, method)));
            }
            "params" => {
                reader.note_duplicate(self.params.as_ref());
                self.twice |= self.params.is_some();
                self.params = Some(map.next_value_seed(ParamsSeed(reader))?);
            }
            "result" => {
                reader.note_duplicate(self.result.as_ref());
                self.twice |= self.result.is_some();
                self.result = Some(map.next_value_seed(ResultSeed(reader))?);
            }
            "error" => {
                reader.note_duplicate(self.error.as_ref());
                self.twice |= self.error.is_some();
                self.error = Some(map.next_value_seed(ErrorSeed(reader))?);
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Whether any member of a message was taken besides `id`.
    pub fn any(&self) -> bool {
        self.version.is_some() || self.method.is_some() || self.result.is_some() || self.error.is_some()
    }

    /// The message they make. `version_optional` where the envelope allows `jsonrpc` to be missing.
    pub fn finish(self, version_optional: bool) -> Rpc<'a> {
        let version_ok = self.version.unwrap_or(version_optional);
        let params = self.params.unwrap_or_default();
        let params = if self.twice { params.in_doubt() } else { params };
        match (self.method, self.id) {
            (Some(Some(method)), Some(id)) if self.result.is_none() && self.error.is_none() => {
                Rpc::Request(params.request(id, method))
            }
            (Some(Some(method)), None) if self.result.is_none() && self.error.is_none() => {
                Rpc::Notification(params.notification(method))
            }
            _ if self.result.is_some() || self.error.is_some() || self.id.is_some() && self.method.is_none() => {
                let (result, detail, named) = self
                    .result
                    .map_or((None, Detail::None, None), |(shape, detail, named)| (Some(shape), detail, named));
                // An error object without an envelope is no message, whatever it has beside.
                let beside = version_ok && (self.beside || self.twice);
                Rpc::Answer(Answer { id: self.id, version_ok, result, error: self.error, detail, named, beside })
            }
            _ => Rpc::NotRpc,
        }
    }
}

/// Of two methods under one key, the one that may do harm: a reader may take either.
fn more_harmful<'a>(first: Option<&'a str>, second: Option<&'a str>) -> Option<&'a str> {
    let harmless = |method: Option<&str>| method.is_none_or(is_effect_free);
    if harmless(second) || first == Some("tools/call") { first.or(second) } else { second }
}

/// Reads a message.
#[derive(Debug)]
pub struct MessageSeed<'r, 'a>(&'r Reader<'a>);

impl<'a> DeserializeSeed<'a> for MessageSeed<'_, 'a> {
    type Value = Rpc<'a>;
    fn deserialize<D: Deserializer<'a>>(self, deserializer: D) -> Result<Rpc<'a>, D::Error> {
        deserializer.deserialize_any(self)
    }
}

/// Answers every scalar and array of a visitor with one value: "not the object that should stand here".
macro_rules! not_an_object {
    ($lifetime:lifetime, $value:expr) => {
        not_an_object!(@scalars $value);
        fn visit_str<E>(self, _: &str) -> Result<Self::Value, E> { Ok($value) }
        fn visit_seq<S: SeqAccess<$lifetime>>(self, mut seq: S) -> Result<Self::Value, S::Error> {
            while seq.next_element::<IgnoredAny>()?.is_some() {}
            Ok($value)
        }
    };
    (@scalars $value:expr) => {
        fn visit_unit<E>(self) -> Result<Self::Value, E> { Ok($value) }
        fn visit_bool<E>(self, _: bool) -> Result<Self::Value, E> { Ok($value) }
        fn visit_i64<E>(self, _: i64) -> Result<Self::Value, E> { Ok($value) }
        fn visit_u64<E>(self, _: u64) -> Result<Self::Value, E> { Ok($value) }
        fn visit_f64<E>(self, _: f64) -> Result<Self::Value, E> { Ok($value) }
    };
}

pub(crate) use not_an_object;

impl<'a> Visitor<'a> for MessageSeed<'_, 'a> {
    type Value = Rpc<'a>;
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON-RPC message")
    }
    not_an_object!('a, Rpc::NotRpc);
    fn visit_map<M: MapAccess<'a>>(self, mut map: M) -> Result<Rpc<'a>, M::Error> {
        let mut members = Members::default();
        while let Some(key) = map.next_key_seed(self.0.text())? {
            if !members.accept(key.unwrap_or(""), &mut map, self.0)? {
                members.beside = true;
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(members.finish(false))
    }
}

/// Reads a string; anything else is skipped and gives `None`.
#[derive(Debug)]
pub struct TextSeed<'r, 'a>(&'r Reader<'a>);

impl<'a> DeserializeSeed<'a> for TextSeed<'_, 'a> {
    type Value = Option<&'a str>;
    fn deserialize<D: Deserializer<'a>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'a> Visitor<'a> for TextSeed<'_, 'a> {
    type Value = Option<&'a str>;
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string")
    }
    not_an_object!(@scalars None);
    fn visit_borrowed_str<E>(self, text: &'a str) -> Result<Self::Value, E> {
        Ok(Some(text))
    }
    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Some(self.0.arena.alloc_str(text)))
    }
    fn visit_seq<S: SeqAccess<'a>>(self, mut seq: S) -> Result<Self::Value, S::Error> {
        while seq.next_element::<IgnoredAny>()?.is_some() {}
        Ok(None)
    }
    fn visit_map<M: MapAccess<'a>>(self, mut map: M) -> Result<Self::Value, M::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(None)
    }
}

/// An id keeps its JSON type; integers beyond 64 bits, fractions and objects stay text.
pub fn id<'a>(raw: &'a RawValue, reader: &Reader<'a>) -> Id<'a> {
    let text = raw.get();
    match text.as_bytes().first() {
        Some(b'n') => Id::Null,
        Some(b'"') => {
            let mut json = serde_json::Deserializer::from_str(text);
            reader.text().deserialize(&mut json).ok().flatten().map_or(Id::Raw(text), Id::Text)
        }
        _ => text.parse::<i64>().map_or(Id::Raw(text), Id::Int),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::Request;

    fn one(text: &str, check: impl FnOnce(Rpc<'_>, Oddities)) {
        let arena = Bump::new();
        let (rpc, oddities) = read_one(text, &arena);
        check(rpc, oddities);
    }

    #[test]
    fn a_request_keeps_what_identifies_it() {
        one(
            r#"{"jsonrpc":"2.0","id":"7","method":"tools/call","params":{"name":"pay","arguments":{"b":1,"a":"x"}}}"#,
            |rpc, _| {
                let Rpc::Request(request) = rpc else { panic!("{rpc:?}") };
                assert_eq!((request.id, request.method, request.target), (Id::Text("7"), "tools/call", Some("pay")));
                let same = canonical(r#"{ "a" : "\u0078", "b": 1.0 }"#).expect("valid").digest;
                assert_eq!(request.args, Some(same));
            },
        );
    }

    #[test]
    fn null_differs_from_absent() {
        one(r#"{"jsonrpc":"2.0","id":null,"result":null}"#, |rpc, _| {
            let Rpc::Answer(answer) = rpc else { panic!("{rpc:?}") };
            assert_eq!(answer.id, Some(Id::Null));
            assert!(answer.result.is_some_and(|shape| !shape.object));
        });
        one(r#"{"jsonrpc":"2.0","result":{}}"#, |rpc, _| {
            assert!(matches!(rpc, Rpc::Answer(Answer { id: None, .. })), "{rpc:?}");
        });
    }

    #[test]
    fn ids_keep_their_type_and_size() {
        one(r#"{"jsonrpc":"2.0","id":12345678901234567890123,"method":"ping"}"#, |rpc, _| {
            assert!(matches!(rpc, Rpc::Request(Request { id: Id::Raw("12345678901234567890123"), .. })), "{rpc:?}");
        });
    }

    #[test]
    fn duplicate_keys_are_tolerated_and_told() {
        one(r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}"#, |rpc, oddities| {
            assert!(matches!(rpc, Rpc::Request(Request { id: Id::Int(2), .. })), "{rpc:?}");
            assert!(oddities.duplicate_key);
        });
    }

    #[test]
    fn what_was_asked_twice_is_the_more_harmful_one_with_unknown_arguments() {
        let call = r#""method":"tools/call","params":{"name":"pay","arguments":{}}"#;
        for text in [
            format!(r#"{{"jsonrpc":"2.0","id":1,{call},"method":"tools/list"}}"#),
            format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/list",{call}}}"#),
            format!(r#"{{"jsonrpc":"2.0","id":1,{call},"params":{{"name":"add"}}}}"#),
        ] {
            one(&text, |rpc, _| {
                let Rpc::Request(request) = rpc else { panic!("{rpc:?}") };
                assert_eq!((request.method, request.args), ("tools/call", None), "{text}");
            });
        }
    }

    #[test]
    fn damage_and_foreign_json_are_told_apart() {
        one(r#"{"jsonrpc":"2.0","id":1,"result":{"#, |rpc, _| assert_eq!(rpc, Rpc::Malformed));
        one(r#"{"level":"info"}"#, |rpc, _| assert_eq!(rpc, Rpc::NotRpc));
        one("3", |rpc, _| assert_eq!(rpc, Rpc::NotRpc));
        one(r#"{"jsonrpc":"2.0","id":1} x"#, |rpc, _| assert_eq!(rpc, Rpc::Malformed));
    }

    #[test]
    fn a_batch_gives_its_members() {
        let arena = Bump::new();
        let (batch, _) = read(r#"[{"jsonrpc":"2.0","id":1,"method":"a"},{"jsonrpc":"2.0","method":"b"}]"#, &arena);
        assert!(matches!(batch[..], [Rpc::Request(_), Rpc::Notification(_)]), "{batch:?}");
    }

    #[test]
    fn tools_carry_their_hints() {
        let text = r#"{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"a","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true}},{"name":"b","inputSchema":null}]}}"#;
        one(text, |rpc, _| {
            let Rpc::Answer(Answer { detail: Detail::Tools(list), .. }) = rpc else { panic!("{rpc:?}") };
            assert!(list.tools[0].read_only && list.tools[0].schema_ok && !list.tools[0].idempotent);
            assert!(!list.tools[1].schema_ok && !list.partial);
        });
    }
}
