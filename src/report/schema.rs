//! The JSON Schema of the wire types.

/// The JSON Schema (2020-12) of schema 1: the object of `json`; `$defs/line` is a line of `ndjson`.
pub fn schema() -> &'static str {
    include_str!("schema.json")
}
