//! The report as JSON lines: the content of `json`, one object a line, for streams of any length.

use std::io::{self, Write};

use serde::Serialize;

use super::{
    Renderer, Report, Style,
    wire::{self, Policy, SCHEMA, Selection, TOOL, Tool, Wire},
};

/// See [`Renderer::doc`].
pub(super) const RENDERER: Renderer = Renderer {
    name: "ndjson",
    title: "JSON lines: the content of `json`, one object a line",
    doc: "For streams and for very many calls. Each line begins with its `type`: `report`, `source`, `run`, `call`, `operation`, `finding`, `coverage`, `totals`, in this order.",
    extension: "ndjson",
    cites: wire::cites,
    render,
};

fn render(report: &Report<'_>, _: Style, out: &mut dyn Write) -> io::Result<()> {
    let mut out = io::BufWriter::new(out);
    let wire = Wire::new(report);
    line(&mut out, "report", &Head { schema: SCHEMA, tool: TOOL, selection: wire.selection(), policy: wire.policy() })?;
    lines(&mut out, "source", wire.sources())?;
    lines(&mut out, "run", wire.runs())?;
    lines(&mut out, "call", wire.calls())?;
    lines(&mut out, "operation", wire.operations())?;
    lines(&mut out, "finding", wire.findings())?;
    line(&mut out, "coverage", &wire.coverage())?;
    line(&mut out, "totals", &wire.totals())?;
    out.flush()
}

/// The first line.
#[derive(Serialize)]
struct Head {
    schema: u32,
    tool: Tool,
    #[serde(skip_serializing_if = "Option::is_none")]
    selection: Option<Selection>,
    #[serde(skip_serializing_if = "Option::is_none")]
    policy: Option<Policy>,
}

/// A piece with its type in front.
#[derive(Serialize)]
struct Line<'t, T> {
    r#type: &'static str,
    #[serde(flatten)]
    piece: &'t T,
}

fn lines<T: Serialize>(out: &mut impl Write, kind: &'static str, pieces: impl Iterator<Item = T>) -> io::Result<()> {
    for piece in pieces {
        line(out, kind, &piece)?;
    }
    Ok(())
}

/// A piece with its type, on a line of its own.
pub(super) fn line<T: Serialize>(out: &mut impl Write, kind: &'static str, piece: &T) -> io::Result<()> {
    serde_json::to_writer(&mut *out, &Line { r#type: kind, piece })?;
    out.write_all(b"\n")
}
