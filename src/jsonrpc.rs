//! A JSON-RPC 2.0 message, read in one pass and without copying.
//!
//! Settles once what serde leaves open: `null` differs from absent, ids keep their JSON type, duplicate keys are
//! tolerated (the last one counts) and reported, arguments become a digest of their canonical form (RFC 8785 rules for
//! numbers and key order; integers beyond ±2^53 are compared as text).

use std::{cell::Cell, fmt, ops::BitOr};

use bumpalo::Bump;
use serde::{
    Deserializer,
    de::{DeserializeSeed, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor},
};
use serde_json::value::RawValue;
use smallvec::SmallVec;

use crate::{
    event::{
        Answer, Detail, Digest, ErrorShape, Id, Member, Notification, Pairs, Request, ResultShape, ResultType, Rpc,
        Tool, ToolList, Wording,
    },
    wording,
};

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
                self.version = Some(map.next_value_seed(reader.text())? == Some("2.0"));
            }
            "id" => {
                reader.note_duplicate(self.id.as_ref());
                self.id = Some(id(map.next_value::<&'a RawValue>()?, reader));
            }
            "method" => {
                reader.note_duplicate(self.method.as_ref());
                self.method = Some(map.next_value_seed(reader.text())?);
            }
            "params" => {
                reader.note_duplicate(self.params.as_ref());
                self.params = Some(map.next_value_seed(ParamsSeed(reader))?);
            }
            "result" => {
                reader.note_duplicate(self.result.as_ref());
                self.result = Some(map.next_value_seed(ResultSeed(reader))?);
            }
            "error" => {
                reader.note_duplicate(self.error.as_ref());
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
        match (self.method, self.id) {
            (Some(Some(method)), Some(id)) if self.result.is_none() && self.error.is_none() => {
                Rpc::Request(params.request(id, method))
            }
            (Some(Some(method)), None) if self.result.is_none() && self.error.is_none() => {
                Rpc::Notification(Notification {
                    method,
                    about: params.about,
                    names_timeout: params.reason == Some(Wording::TimedOut),
                })
            }
            _ if self.result.is_some() || self.error.is_some() || self.id.is_some() && self.method.is_none() => {
                let (result, detail, named) = self
                    .result
                    .map_or((None, Detail::None, None), |(shape, detail, named)| (Some(shape), detail, named));
                Rpc::Answer(Answer { id: self.id, version_ok, result, error: self.error, detail, named })
            }
            _ => Rpc::NotRpc,
        }
    }
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

/// What is used of `params`.
#[derive(Clone, Copy, Debug, Default)]
struct Params<'a> {
    target: Option<&'a str>,
    args: Option<Digest>,
    pairs: Pairs,
    revision: Option<&'a str>,
    client: Option<&'a str>,
    state: Option<Digest>,
    has_input_responses: bool,
    trace: Option<&'a str>,
    idempotency_key: Option<Digest>,
    as_task: bool,
    about: Option<Id<'a>>,
    reason: Option<Wording>,
}

impl<'a> Params<'a> {
    fn request(self, id: Id<'a>, method: &'a str) -> Request<'a> {
        Request {
            id,
            method,
            target: self.target,
            args: self.args,
            pairs: self.pairs,
            revision: self.revision,
            client: self.client,
            state: self.state,
            has_input_responses: self.has_input_responses,
            trace: self.trace,
            idempotency_key: self.idempotency_key,
            as_task: self.as_task,
        }
    }
}

struct ParamsSeed<'r, 'a>(&'r Reader<'a>);

impl<'a> DeserializeSeed<'a> for ParamsSeed<'_, 'a> {
    type Value = Params<'a>;
    fn deserialize<D: Deserializer<'a>>(self, deserializer: D) -> Result<Params<'a>, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'a> Visitor<'a> for ParamsSeed<'_, 'a> {
    type Value = Params<'a>;
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("params")
    }
    not_an_object!('a, Params::default());
    fn visit_map<M: MapAccess<'a>>(self, mut map: M) -> Result<Params<'a>, M::Error> {
        let reader = self.0;
        let mut params = Params::default();
        let mut arguments = None;
        while let Some(key) = map.next_key_seed(reader.text())? {
            match key.unwrap_or("") {
                "name" | "uri" | "taskId" => params.target = map.next_value_seed(reader.text())?.or(params.target),
                "arguments" => {
                    reader.note_duplicate(arguments.as_ref());
                    arguments = Some(map.next_value::<&'a RawValue>()?);
                }
                "protocolVersion" => params.revision = map.next_value_seed(reader.text())?,
                "clientInfo" => params.client = map.next_value_seed(NamedSeed(reader))?,
                "requestState" => {
                    params.state =
                        map.next_value_seed(reader.text())?.map(|state| digest_bytes(b's', state.as_bytes()));
                }
                "inputResponses" => {
                    map.next_value::<IgnoredAny>()?;
                    params.has_input_responses = true;
                }
                "task" => {
                    map.next_value::<IgnoredAny>()?;
                    params.as_task = true;
                }
                "requestId" | "progressToken" => params.about = Some(id(map.next_value::<&'a RawValue>()?, reader)),
                "reason" => params.reason = map.next_value_seed(reader.text())?.map(|text| wording::read(text).0),
                "_meta" => map.next_value_seed(MetaSeed(reader, &mut params))?,
                _ => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        if let Some(raw) = arguments {
            let canonical = canonical(raw.get()).map_err(|_| M::Error::custom("arguments that cannot be read"))?;
            params.args = Some(canonical.digest);
            params.pairs = canonical.pairs;
            params.idempotency_key = canonical.idempotency_key;
        }
        Ok(params)
    }
}

/// Reads `name` out of an `Implementation` object.
struct NamedSeed<'r, 'a>(&'r Reader<'a>);

impl<'a> DeserializeSeed<'a> for NamedSeed<'_, 'a> {
    type Value = Option<&'a str>;
    fn deserialize<D: Deserializer<'a>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'a> Visitor<'a> for NamedSeed<'_, 'a> {
    type Value = Option<&'a str>;
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an implementation")
    }
    not_an_object!('a, None);
    fn visit_map<M: MapAccess<'a>>(self, mut map: M) -> Result<Self::Value, M::Error> {
        let mut name = None;
        while let Some(key) = map.next_key_seed(self.0.text())? {
            if key == Some("name") {
                name = map.next_value_seed(self.0.text())?;
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(name)
    }
}

/// Reads `_meta` of a request (2026-07-28 `basic/index.mdx`; `traceparent` opportunistically before that).
struct MetaSeed<'r, 'p, 'a>(&'r Reader<'a>, &'p mut Params<'a>);

impl<'a> DeserializeSeed<'a> for MetaSeed<'_, '_, 'a> {
    type Value = ();
    fn deserialize<D: Deserializer<'a>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'a> Visitor<'a> for MetaSeed<'_, '_, 'a> {
    type Value = ();
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("_meta")
    }
    not_an_object!('a, ());
    fn visit_map<M: MapAccess<'a>>(self, mut map: M) -> Result<(), M::Error> {
        let Self(reader, params) = self;
        while let Some(key) = map.next_key_seed(reader.text())? {
            match key.unwrap_or("") {
                "io.modelcontextprotocol/protocolVersion" => params.revision = map.next_value_seed(reader.text())?,
                "io.modelcontextprotocol/clientInfo" => params.client = map.next_value_seed(NamedSeed(reader))?,
                "traceparent" => params.trace = map.next_value_seed(reader.text())?.and_then(trace_id),
                _ => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(())
    }
}

/// The trace id of a W3C `traceparent` (`00-<32 hex>-<16 hex>-<2 hex>`); all zeros is none.
pub fn trace_id(traceparent: &str) -> Option<&str> {
    let id = traceparent.split('-').nth(1)?;
    (id.len() == 32 && id.bytes().all(|byte| byte.is_ascii_hexdigit()) && id.bytes().any(|byte| byte != b'0'))
        .then_some(id)
}

struct ResultSeed<'r, 'a>(&'r Reader<'a>);

impl<'a> DeserializeSeed<'a> for ResultSeed<'_, 'a> {
    type Value = (ResultShape, Detail<'a>, Option<&'a str>);
    fn deserialize<D: Deserializer<'a>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'a> Visitor<'a> for ResultSeed<'_, 'a> {
    type Value = (ResultShape, Detail<'a>, Option<&'a str>);
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a result")
    }
    not_an_object!('a, (ResultShape::default(), Detail::None, None));
    fn visit_map<M: MapAccess<'a>>(self, mut map: M) -> Result<Self::Value, M::Error> {
        let reader = self.0;
        let mut shape = ResultShape { object: true, ..ResultShape::default() };
        let (mut detail, mut content, mut tools, mut partial) = (Detail::None, None, None, false);
        let (mut revision, mut server) = (None, None);
        while let Some(key) = map.next_key_seed(reader.text())? {
            match key.unwrap_or("") {
                "content" => {
                    let raw = map.next_value::<&'a RawValue>()?.get();
                    shape.content = if raw.starts_with('[') { Member::Valid } else { Member::Invalid };
                    content = Some(raw);
                }
                "isError" => {
                    let raw = map.next_value::<&'a RawValue>()?.get();
                    shape.is_error = if matches!(raw, "true" | "false") { Member::Valid } else { Member::Invalid };
                    shape.failed = raw == "true";
                }
                "resultType" => {
                    shape.result_type = match map.next_value_seed(reader.text())? {
                        Some("complete") => ResultType::Complete,
                        Some("input_required") => ResultType::InputRequired,
                        Some("task") => ResultType::Task,
                        _ => ResultType::Unknown,
                    };
                }
                "task" => shape.task = map.next_value::<&'a RawValue>()?.get().starts_with('{'),
                "tools" => tools = Some(map.next_value::<&'a RawValue>()?.get()),
                "nextCursor" => partial = map.next_value::<&'a RawValue>()?.get() != "null",
                "protocolVersion" => revision = map.next_value_seed(reader.text())?,
                "serverInfo" => server = map.next_value_seed(NamedSeed(reader))?,
                "supportedVersions" => {
                    map.next_value::<IgnoredAny>()?;
                    detail = Detail::Discover;
                }
                "requestState" => {
                    if let Some(state) = map.next_value_seed(reader.text())? {
                        detail = Detail::State(digest_bytes(b's', state.as_bytes()));
                    }
                }
                _ => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        if revision.is_some() {
            detail = Detail::Initialize { revision, server };
        } else if let Some(raw) = tools {
            detail = Detail::Tools(reader.arena.alloc(tool_list(raw, partial, reader)));
        }
        let mut named = None;
        if shape.failed {
            (shape.wording, named) = content.map_or((Wording::Other, None), |raw| first_text(raw, reader));
        }
        Ok((shape, detail, named))
    }
}

/// Wording of the first `text` of a content array, and the tool it names.
fn first_text<'a>(raw: &'a str, reader: &Reader<'a>) -> (Wording, Option<&'a str>) {
    #[derive(serde::Deserialize)]
    struct Piece<'a> {
        #[serde(borrow, default)]
        text: Option<&'a RawValue>,
    }
    let nothing = (Wording::Other, None);
    let Ok(pieces) = serde_json::from_str::<Vec<Piece<'a>>>(raw) else { return nothing };
    let Some(text) = pieces.first().and_then(|piece| piece.text) else { return nothing };
    let mut json = serde_json::Deserializer::from_str(text.get());
    reader.text().deserialize(&mut json).ok().flatten().map_or(nothing, wording::read)
}

/// Reads the `tools` of a `tools/list` result.
fn tool_list<'a>(raw: &'a str, partial: bool, reader: &Reader<'a>) -> ToolList<'a> {
    let Ok(definitions) = serde_json::from_str::<Vec<&'a RawValue>>(raw) else {
        return ToolList { tools: &[], partial, invalid: true };
    };
    let tools = reader.arena.alloc_slice_fill_iter(definitions.iter().map(|definition| tool(definition.get(), reader)));
    ToolList { tools, partial, invalid: false }
}

fn tool<'a>(raw: &'a str, reader: &Reader<'a>) -> Tool<'a> {
    #[derive(Default, serde::Deserialize)]
    #[serde(rename_all = "camelCase", default)]
    struct Definition<'a> {
        #[serde(borrow)]
        name: Option<&'a RawValue>,
        #[serde(borrow)]
        input_schema: Option<&'a RawValue>,
        annotations: Option<Annotations>,
    }
    #[derive(Default, serde::Deserialize)]
    #[serde(rename_all = "camelCase", default)]
    struct Annotations {
        read_only_hint: serde_json::Value,
        idempotent_hint: serde_json::Value,
    }
    #[derive(Default, serde::Deserialize)]
    #[serde(default)]
    struct Schema {
        r#type: serde_json::Value,
    }
    let definition: Definition<'a> = serde_json::from_str(raw).unwrap_or_default();
    let name = definition.name.and_then(|name| {
        let mut json = serde_json::Deserializer::from_str(name.get());
        reader.text().deserialize(&mut json).ok().flatten()
    });
    let schema: Option<Schema> = definition.input_schema.and_then(|schema| serde_json::from_str(schema.get()).ok());
    let annotations = definition.annotations.unwrap_or_default();
    Tool {
        name: name.unwrap_or(""),
        read_only: annotations.read_only_hint == true,
        idempotent: annotations.idempotent_hint == true,
        schema_ok: schema.is_some_and(|schema| schema.r#type == "object"),
        digest: canonical(raw).map_or(digest_bytes(b'?', raw.as_bytes()), |canonical| canonical.digest),
    }
}

struct ErrorSeed<'r, 'a>(&'r Reader<'a>);

impl<'a> DeserializeSeed<'a> for ErrorSeed<'_, 'a> {
    type Value = ErrorShape<'a>;
    fn deserialize<D: Deserializer<'a>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

const NO_ERROR_OBJECT: ErrorShape<'static> =
    ErrorShape { code: None, message_ok: false, wording: Wording::Other, named: None };

impl<'a> Visitor<'a> for ErrorSeed<'_, 'a> {
    type Value = ErrorShape<'a>;
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an error object")
    }
    not_an_object!('a, NO_ERROR_OBJECT);
    fn visit_map<M: MapAccess<'a>>(self, mut map: M) -> Result<Self::Value, M::Error> {
        let mut shape = NO_ERROR_OBJECT;
        while let Some(key) = map.next_key_seed(self.0.text())? {
            match key {
                Some("code") => shape.code = map.next_value::<&'a RawValue>()?.get().parse().ok(),
                Some("message") => {
                    if let Some(message) = map.next_value_seed(self.0.text())? {
                        shape.message_ok = true;
                        (shape.wording, shape.named) = wording::read(message);
                    }
                }
                _ => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(shape)
    }
}

/// What the canonical form of a JSON value is reduced to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Canonical {
    /// Equal exactly when the canonical forms are equal (up to hash collisions).
    pub digest: Digest,
    /// Sketch of the scalar members of the top object.
    pub pairs: Pairs,
    /// Digest of the value of a member named like an idempotency key.
    pub idempotency_key: Option<Digest>,
}

impl Default for Digest {
    fn default() -> Self {
        digest_bytes(b'0', b"")
    }
}

fn digest_bytes(tag: u8, bytes: &[u8]) -> Digest {
    Digest(xxhash_rust::xxh3::xxh3_128_with_seed(bytes, u64::from(tag)))
}

/// Digest of an opaque text, such as an idempotency key.
pub fn digest_text(text: &str) -> Digest {
    digest_bytes(b's', text.as_bytes())
}

/// Reduces a JSON text to its canonical digest.
///
/// # Errors
/// Says what is wrong with damaged JSON.
pub fn canonical(text: &str) -> Result<Canonical, serde_json::Error> {
    let exact = Cell::new(true);
    let mut top = Canonical::default();
    let mut json = serde_json::Deserializer::from_str(text);
    let digest = CanonicalSeed { exact: &exact, top: Some(&mut top) }.deserialize(&mut json)?;
    json.end()?;
    top.digest = if exact.get() { digest } else { exact_digest(text)? };
    Ok(top)
}

/// Largest magnitude below which every integer is exact in a double: RFC 8785 compares numbers as doubles.
const EXACT: u64 = 1 << 53;

fn integer(magnitude: u64, negative: bool) -> Digest {
    if magnitude > EXACT {
        return digest_bytes(b'N', format!("{}{magnitude}", if negative { "-" } else { "" }).as_bytes());
    }
    #[expect(clippy::cast_precision_loss, reason = "exact up to 2^53")]
    let number = magnitude as f64;
    float(if negative { -number } else { number })
}

fn float(number: f64) -> Digest {
    // Minus zero and zero have one canonical form.
    let number = if number == 0.0 { 0.0 } else { number };
    digest_bytes(b'n', &number.to_bits().to_le_bytes())
}

/// Members of an object by the digests of key and value: few, so they rarely leave the stack.
type Pile = SmallVec<[(Digest, Digest); 8]>;
/// Digests one after another.
type Bytes = SmallVec<[u8; 256]>;

struct CanonicalSeed<'c> {
    /// Cleared when a number met cannot be told from its neighbours as a double.
    exact: &'c Cell<bool>,
    /// Filled by the top object only.
    top: Option<&'c mut Canonical>,
}

impl<'de> DeserializeSeed<'de> for CanonicalSeed<'_> {
    type Value = Digest;
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Digest, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for CanonicalSeed<'_> {
    type Value = Digest;
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any JSON value")
    }
    fn visit_unit<E>(self) -> Result<Digest, E> {
        Ok(digest_bytes(b'0', b""))
    }
    fn visit_bool<E>(self, value: bool) -> Result<Digest, E> {
        Ok(digest_bytes(b'b', &[u8::from(value)]))
    }
    fn visit_i64<E>(self, value: i64) -> Result<Digest, E> {
        Ok(integer(value.unsigned_abs(), value < 0))
    }
    fn visit_u64<E>(self, value: u64) -> Result<Digest, E> {
        Ok(integer(value, false))
    }
    fn visit_f64<E>(self, value: f64) -> Result<Digest, E> {
        #[expect(clippy::cast_precision_loss, reason = "2^53 is exact")]
        if value.abs() >= EXACT as f64 {
            self.exact.set(false);
        }
        Ok(float(value))
    }
    fn visit_str<E>(self, text: &str) -> Result<Digest, E> {
        Ok(digest_bytes(b's', text.as_bytes()))
    }
    fn visit_seq<S: SeqAccess<'de>>(self, mut seq: S) -> Result<Digest, S::Error> {
        let mut bytes = Bytes::new();
        while let Some(Digest(item)) = seq.next_element_seed(CanonicalSeed { exact: self.exact, top: None })? {
            bytes.extend_from_slice(&item.to_le_bytes());
        }
        Ok(digest_bytes(b'a', &bytes))
    }
    fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Digest, M::Error> {
        let mut members = Pile::new();
        let mut top = self.top;
        while let Some(key) = map.next_key::<std::borrow::Cow<'de, str>>()? {
            let value = map.next_value_seed(CanonicalSeed { exact: self.exact, top: None })?;
            if let Some(top) = top.as_deref_mut()
                && is_idempotency_key(&key)
            {
                top.idempotency_key = Some(value);
            }
            members.push((digest_bytes(b'k', key.as_bytes()), value));
        }
        if let Some(top) = top {
            top.pairs = sketch(&members);
        }
        Ok(digest_members(members))
    }
}

/// Order of keys does not matter, and of a repeated key the last value counts.
fn digest_members(mut members: Pile) -> Digest {
    members.sort_by_key(|(key, _)| *key);
    let mut bytes = Bytes::new();
    for (index, (key, value)) in members.iter().enumerate() {
        if members.get(index + 1).is_some_and(|(next, _)| next == key) {
            continue;
        }
        bytes.extend_from_slice(&key.0.to_le_bytes());
        bytes.extend_from_slice(&value.0.to_le_bytes());
    }
    digest_bytes(b'o', &bytes)
}

/// The four smallest hashes of the members: two sketches of which one object contains the other share all they can.
fn sketch(members: &[(Digest, Digest)]) -> Pairs {
    #[expect(clippy::cast_possible_truncation, reason = "a hash may be shortened")]
    let mut hashes: SmallVec<[u32; 8]> =
        members.iter().map(|(key, value)| ((key.0 ^ value.0.rotate_left(64)) as u32).max(1)).collect();
    hashes.sort_unstable();
    let mut pairs = Pairs::default();
    for (slot, hash) in pairs.0.iter_mut().zip(hashes) {
        *slot = hash;
    }
    pairs
}

impl Pairs {
    /// The sketch of the pairs of a URL query: `code=EUR` repeats the arguments `{"code":"EUR"}`.
    pub fn of_query(query: &str) -> Self {
        let members: Pile = query
            .split('&')
            .filter_map(|pair| pair.split_once('='))
            .map(|(key, value)| (digest_bytes(b'k', key.as_bytes()), query_value(value)))
            .collect();
        sketch(&members)
    }

    /// Whether one of the two objects repeats the members of the other, as far as the sketches can tell.
    pub fn repeats(self, other: Self) -> bool {
        let common = self.0.iter().filter(|hash| **hash != 0 && other.0.contains(hash)).count();
        let smaller = self.len().min(other.len());
        common > 0 && (common == smaller || common >= 2)
    }

    /// How many members the sketch holds.
    pub fn len(self) -> usize {
        self.0.iter().filter(|hash| **hash != 0).count()
    }

    /// Whether it holds none.
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }
}

/// A query has no types: digits are a number, as arguments nearly always have them.
fn query_value(value: &str) -> Digest {
    let plain = value.replace('+', " ");
    canonical(&plain).map_or_else(|_| digest_bytes(b's', plain.as_bytes()), |canonical| canonical.digest)
}

/// Names under which an idempotency key is passed: `idempotency_key`, `idempotencyKey`, `Idempotency-Key`, `client_token`, `request_token`.
fn is_idempotency_key(key: &str) -> bool {
    let plain: String = key.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect();
    matches!(
        plain.as_str(),
        "idempotencykey" | "idempotencytoken" | "clienttoken" | "clientrequesttoken" | "requesttoken"
    )
}

/// The same digest from the text itself, for values that hold numbers a double cannot tell apart.
fn exact_digest(text: &str) -> Result<Digest, serde_json::Error> {
    let text = text.trim();
    Ok(match text.as_bytes().first() {
        Some(b'{') => {
            let mut members = Pile::new();
            for (key, value) in serde_json::from_str::<RawMembers<'_>>(text)?.0 {
                members.push((digest_bytes(b'k', key.as_bytes()), exact_digest(value.get())?));
            }
            digest_members(members)
        }
        Some(b'[') => {
            let mut bytes = Vec::new();
            for item in serde_json::from_str::<Vec<&RawValue>>(text)? {
                bytes.extend_from_slice(&exact_digest(item.get())?.0.to_le_bytes());
            }
            digest_bytes(b'a', &bytes)
        }
        Some(b'-' | b'0'..=b'9') if !text.contains(['.', 'e', 'E']) => match text.parse::<i64>() {
            Ok(value) => integer(value.unsigned_abs(), value < 0),
            Err(_) => digest_bytes(b'N', text.as_bytes()),
        },
        _ => {
            let exact = Cell::new(true);
            let mut json = serde_json::Deserializer::from_str(text);
            CanonicalSeed { exact: &exact, top: None }.deserialize(&mut json)?
        }
    })
}

/// The members of an object with their raw values, repeated keys included.
struct RawMembers<'a>(Vec<(std::borrow::Cow<'a, str>, &'a RawValue)>);

impl<'de> serde::Deserialize<'de> for RawMembers<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct MembersVisitor;
        impl<'de> Visitor<'de> for MembersVisitor {
            type Value = RawMembers<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Self::Value, M::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(RawMembers(members))
            }
        }
        deserializer.deserialize_map(MembersVisitor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
    fn big_integers_are_compared_as_text() {
        let digest = |text| canonical(text).expect("valid").digest;
        assert_ne!(digest("[12345678901234567890123]"), digest("[12345678901234567890124]"));
        assert_ne!(digest("[9007199254740993]"), digest("[9007199254740992]"));
        assert_eq!(digest("[1e2]"), digest("[100]"));
        assert_eq!(digest("[-0.0]"), digest("[0]"));
        // The slow path agrees with the fast one on everything else.
        assert_eq!(
            exact_digest(r#"{"a":[1,"x",2.5,true,null]}"#).expect("valid"),
            digest(r#"{"a":[1,"x",2.5,true,null]}"#)
        );
    }

    #[test]
    fn a_body_that_repeats_the_arguments_is_seen() {
        let pairs = |text| canonical(text).expect("valid").pairs;
        assert!(pairs(r#"{"customer":"ACME"}"#).repeats(pairs(r#"{"customer":"ACME","seconds":2}"#)));
        assert!(!pairs(r#"{"customer":"ACME"}"#).repeats(pairs(r#"{"customer":"EMCA"}"#)));
        assert!(!pairs("{}").repeats(pairs("{}")));
        assert!(Pairs::of_query("code=EUR&n=3").repeats(pairs(r#"{"code":"EUR","n":3}"#)));
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
