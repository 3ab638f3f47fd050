//! What is used of the `result` or `error` of an answer.

use std::{collections::HashMap, fmt};

use serde::{
    Deserializer,
    de::{DeserializeSeed, IgnoredAny, MapAccess, SeqAccess, Visitor},
};
use serde_json::value::RawValue;

use super::{
    Reader,
    canonical::{canonical, digest_bytes},
    not_an_object,
    params::NamedSeed,
};
use crate::{
    event::{Detail, ErrorShape, Member, ResultShape, ResultType, Tool, ToolList, Wording},
    wording,
};

/// Reads a result: its shape, what it carries, and the tool it names.
pub(super) struct ResultSeed<'r, 'a>(pub(super) &'r Reader<'a>);

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
                "resultType" => shape.result_type = result_type(map.next_value_seed(reader.text())?),
                "task" => shape.task = map.next_value::<&'a RawValue>()?.get().starts_with('{'),
                "structuredContent" => shape.beside |= map.next_value::<&'a RawValue>()?.get() != "null",
                "_meta" => shape.beside |= tells(map.next_value::<&'a RawValue>()?.get()),
                "capabilities" => shape.serves_tools = declares_tools(map.next_value::<&'a RawValue>()?.get()),
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
                    shape.beside = true;
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        if revision.is_some() {
            detail = Detail::Initialize { revision, server };
        } else if let Some(raw) = tools {
            detail = Detail::Tools(reader.arena().alloc(tool_list(raw, partial, reader)));
        }
        let named = content.filter(|_| shape.failed).and_then(|raw| words(raw, reader, &mut shape));
        Ok((shape, detail, named))
    }
}

fn result_type(name: Option<&str>) -> ResultType {
    match name {
        Some("complete") => ResultType::Complete,
        Some("input_required") => ResultType::InputRequired,
        Some("task") => ResultType::Task,
        _ => ResultType::Unknown,
    }
}

/// Notes the wording of the first `text` of a content array, and whether anything stands beside it; returns the tool
/// that it names.
fn words<'a>(raw: &'a str, reader: &Reader<'a>, shape: &mut ResultShape) -> Option<&'a str> {
    #[derive(serde::Deserialize)]
    struct Piece<'a> {
        #[serde(borrow, default)]
        text: Option<&'a RawValue>,
        #[serde(borrow, default, rename = "_meta")]
        meta: Option<&'a RawValue>,
    }
    let pieces = serde_json::from_str::<Vec<Piece<'a>>>(raw).ok()?;
    shape.beside |= pieces.len() != 1 || pieces.iter().any(|piece| piece.meta.is_some_and(|meta| tells(meta.get())));
    let text = pieces.first()?.text?;
    let mut json = serde_json::Deserializer::from_str(text.get());
    let text = reader.text().deserialize(&mut json).ok().flatten()?;
    let named;
    (shape.wording, named) = wording::read(text);
    named
}

/// Whether `_meta` holds anything but what the protocol itself defines.
fn tells(raw: &str) -> bool {
    serde_json::from_str::<Option<HashMap<String, &RawValue>>>(raw).map_or(true, |members| {
        members.into_iter().flatten().any(|(key, _)| !key.starts_with("io.modelcontextprotocol/"))
    })
}

/// Whether `data` of an error adds anything to its code that no SDK writes there: the revisions that a server supports
/// (−32022), what `JSON.parse` said (TypeScript SDK, −32700), an empty text (Python SDK).
fn adds(raw: &str, code: Option<i64>) -> bool {
    if let Ok(text) = serde_json::from_str::<String>(raw) {
        let parser = text.starts_with("SyntaxError: ") && code == Some(-32700) && !wording::tells_of_an_answer(&text);
        return !text.is_empty() && !parser;
    }
    let of_version = |key: &str| code == Some(-32022) && matches!(key, "supported" | "requested");
    serde_json::from_str::<Option<HashMap<String, &RawValue>>>(raw).map_or(true, |members| {
        members.into_iter().flatten().any(|(key, _)| !key.starts_with("io.modelcontextprotocol/") && !of_version(&key))
    })
}

/// Whether a server's `capabilities` name `tools`.
fn declares_tools(raw: &str) -> bool {
    #[derive(serde::Deserialize)]
    struct Capabilities<'a> {
        #[serde(borrow, default)]
        tools: Option<&'a RawValue>,
    }
    serde_json::from_str::<Capabilities<'_>>(raw).is_ok_and(|capabilities| capabilities.tools.is_some())
}

/// Reads the `tools` of a `tools/list` result.
fn tool_list<'a>(raw: &'a str, partial: bool, reader: &Reader<'a>) -> ToolList<'a> {
    let Ok(definitions) = serde_json::from_str::<Vec<&'a RawValue>>(raw) else {
        return ToolList { tools: &[], partial, invalid: true };
    };
    let tools =
        reader.arena().alloc_slice_fill_iter(definitions.iter().map(|definition| tool(definition.get(), reader)));
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

/// Reads an error object.
pub(super) struct ErrorSeed<'r, 'a>(pub(super) &'r Reader<'a>);

impl<'a> DeserializeSeed<'a> for ErrorSeed<'_, 'a> {
    type Value = ErrorShape<'a>;
    fn deserialize<D: Deserializer<'a>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

const NO_ERROR_OBJECT: ErrorShape<'static> =
    ErrorShape { code: None, message_ok: false, wording: Wording::Other, named: None, beside: false };

impl<'a> Visitor<'a> for ErrorSeed<'_, 'a> {
    type Value = ErrorShape<'a>;
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an error object")
    }
    not_an_object!('a, NO_ERROR_OBJECT);
    fn visit_map<M: MapAccess<'a>>(self, mut map: M) -> Result<Self::Value, M::Error> {
        let mut shape = NO_ERROR_OBJECT;
        let (mut code, mut message, mut data) = (None, None, None);
        while let Some(key) = map.next_key_seed(self.0.text())? {
            let slot = match key {
                Some("code") => &mut code,
                Some("message") => &mut message,
                Some("data") => &mut data,
                _ => {
                    shape.beside = true;
                    map.next_value::<IgnoredAny>()?;
                    continue;
                }
            };
            // Nobody knows which of two values its reader took.
            shape.beside |= slot.is_some();
            *slot = Some(map.next_value::<&'a RawValue>()?.get());
        }
        shape.code = code.and_then(|code| code.parse().ok());
        shape.beside |= data.is_some_and(|data| adds(data, shape.code));
        let text = message.and_then(|raw| {
            let mut json = serde_json::Deserializer::from_str(raw);
            self.0.text().deserialize(&mut json).ok().flatten()
        });
        if let Some(text) = text {
            shape.message_ok = true;
            (shape.wording, shape.named) = wording::read(text);
            if let Some(method) = wording::unknown_method(text).filter(|_| shape.code == Some(-32601)) {
                (shape.wording, shape.named) = (Wording::UnknownMethod, Some(method));
            }
        }
        Ok(shape)
    }
}
