//! What is used of the `params` of a request or notification.

use std::fmt;

use serde::{
    Deserializer,
    de::{DeserializeSeed, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor},
};
use serde_json::value::RawValue;

use super::{
    Reader,
    canonical::{canonical, digest_bytes},
    id, not_an_object,
};
use crate::{
    event::{Digest, Id, Notification, Pairs, Request, Wording},
    wording,
};

/// What is used of `params`.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Params<'a> {
    target: Option<&'a str>,
    args: Option<Digest>,
    /// Nobody knows the arguments from what was written: something was taken out of them, or they are there twice.
    masked: bool,
    arguments: Option<&'a str>,
    pairs: Pairs,
    revision: Option<&'a str>,
    client: Option<&'a str>,
    state: Option<Digest>,
    has_input_responses: bool,
    trace: Option<&'a str>,
    idempotency_key: Option<Digest>,
    as_task: bool,
    pub(super) about: Option<Id<'a>>,
    pub(super) reason: Option<Wording>,
}

impl<'a> Params<'a> {
    pub(super) fn request(self, id: Id<'a>, method: &'a str) -> Request<'a> {
        Request {
            id,
            method,
            target: self.target,
            args: self.args.or_else(|| self.no_arguments(method)),
            arguments: self.arguments,
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

    /// The same where nobody knows whether its reader took these members: the arguments are not known.
    pub(super) fn in_doubt(self) -> Self {
        Self { args: None, masked: true, arguments: None, idempotency_key: None, ..self }
    }

    pub(super) fn notification(self, method: &'a str) -> Notification<'a> {
        Notification {
            method,
            about: self.about,
            names_timeout: self.reason == Some(Wording::TimedOut),
            target: self.target,
            args: self.args.or_else(|| self.no_arguments(method)),
        }
    }

    /// A call of a tool without `arguments` is the same call as one with empty ones.
    fn no_arguments(&self, method: &str) -> Option<Digest> {
        let recorded = method == "tools/call" && self.target.is_some() && !self.masked;
        recorded.then(|| canonical("{}").map(|canonical| canonical.digest).ok()).flatten()
    }
}

pub(super) struct ParamsSeed<'r, 'a>(pub(super) &'r Reader<'a>);

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
        let (mut arguments, mut named) = (None, None);
        while let Some(key) = map.next_key_seed(reader.text())? {
            match key.unwrap_or("") {
                key @ ("name" | "uri" | "taskId") => {
                    let target = map.next_value_seed(reader.text())?;
                    // Which of two tools was meant, nobody knows.
                    params.masked |= key == "name" && named.is_some() && named != target;
                    named = if key == "name" { target } else { named };
                    params.target = target.or(params.target);
                }
                "arguments" => {
                    reader.note_duplicate(arguments.as_ref());
                    params.masked |= arguments.is_some();
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
        if let Some(raw) = arguments.filter(|raw| raw.get() != "null") {
            let canonical = canonical(raw.get()).map_err(|_| M::Error::custom("arguments that cannot be read"))?;
            params.arguments = Some(raw.get()).filter(|_| !params.masked);
            params.masked |= canonical.masked;
            params.args = Some(canonical.digest).filter(|_| !params.masked);
            params.pairs = canonical.pairs;
            params.idempotency_key = canonical.idempotency_key;
        }
        Ok(params)
    }
}

/// Reads `name` out of an `Implementation` object.
pub(super) struct NamedSeed<'r, 'a>(pub(super) &'r Reader<'a>);

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
                "traceparent" => params.trace = map.next_value_seed(reader.text())?.and_then(trace_context),
                _ => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(())
    }
}

/// Trace id and span of a W3C `traceparent` (`00-<32 hex>-<16 hex>-<2 hex>`); all zeros is none.
pub fn trace_context(traceparent: &str) -> Option<&str> {
    let (_, rest) = traceparent.split_once('-')?;
    let id = rest.split('-').next()?;
    let valid =
        id.len() == 32 && id.bytes().all(|byte| byte.is_ascii_hexdigit()) && id.bytes().any(|byte| byte != b'0');
    valid.then(|| rest.get(..49).unwrap_or(id))
}
