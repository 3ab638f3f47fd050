//! The report as one JSON object: schema 1, written piece by piece.

use std::io;

use serde::{Serialize, Serializer, ser::SerializeStruct};

use super::{
    Renderer, Report, Style,
    wire::{self, SCHEMA, TOOL, Wire},
};

/// See [`Renderer::doc`].
pub(super) const RENDERER: Renderer = Renderer {
    name: "json",
    title: "One JSON object, schema 1",
    doc: "For programs. Holds everything that the report knows, with every piece of evidence by source, record and byte. `mcp-postmortem schema` prints its JSON Schema. For very many calls take `ndjson`.",
    extension: "json",
    cites: wire::cites,
    render,
};

fn render(report: &Report<'_>, _: Style, out: &mut dyn io::Write) -> io::Result<()> {
    let mut out = io::BufWriter::new(out);
    serde_json::to_writer_pretty(&mut out, &Document(Wire::new(report)))?;
    io::Write::write_all(&mut out, b"\n")?;
    io::Write::flush(&mut out)
}

/// The whole report. Its arrays are made while they are written.
struct Document<'a>(Wire<'a>);

impl Serialize for Document<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let wire = &self.0;
        let selection = wire.selection();
        let policy = wire.policy();
        let optional = usize::from(selection.is_some()) + usize::from(policy.is_some());
        let mut document = serializer.serialize_struct("Report", 9 + optional)?;
        document.serialize_field("schema", &SCHEMA)?;
        document.serialize_field("tool", &TOOL)?;
        match &selection {
            Some(selection) => document.serialize_field("selection", selection)?,
            None => document.skip_field("selection")?,
        }
        match &policy {
            Some(policy) => document.serialize_field("policy", policy)?,
            None => document.skip_field("policy")?,
        }
        document.serialize_field("sources", &Lazy(|| wire.sources()))?;
        document.serialize_field("runs", &Lazy(|| wire.runs()))?;
        document.serialize_field("calls", &Lazy(|| wire.calls()))?;
        document.serialize_field("operations", &Lazy(|| wire.operations()))?;
        document.serialize_field("findings", &Lazy(|| wire.findings()))?;
        document.serialize_field("coverage", &wire.coverage())?;
        document.serialize_field("totals", &wire.totals())?;
        document.end()
    }
}

/// An array whose items are made while it is written.
struct Lazy<F>(F);

impl<F, I> Serialize for Lazy<F>
where
    F: Fn() -> I,
    I: Iterator<Item: Serialize>,
{
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq((self.0)())
    }
}
