//! The timeline as JSON lines: a head, the sources, one object for each row.

use std::io::{self, Write};

use serde::Serialize;

use super::{Fetch, Row, Timeline, TimelineForm};
use crate::{
    correlate::NONE,
    event::Witness,
    report::{
        Quotes, Style,
        names::{self, Names},
        ndjson, place,
        wire::{SCHEMA, Selection, TOOL, Tool, Wire},
    },
};

/// See [`TimelineForm`].
pub(super) const FORM: TimelineForm =
    TimelineForm { name: "ndjson", title: "JSON lines: `timeline`, `source`, `event`", write };

/// The first line.
#[derive(Serialize)]
struct Head {
    schema: u32,
    tool: Tool,
    #[serde(skip_serializing_if = "Option::is_none")]
    selection: Option<Selection>,
    events: usize,
}

/// One row.
#[expect(clippy::struct_field_names, reason = "the names are those of the schema")]
#[derive(Debug, Serialize)]
struct Event {
    #[serde(skip_serializing_if = "Option::is_none")]
    at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    aligned_at: Option<String>,
    source: String,
    record: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u32>,
    byte: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    witness: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    run: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    call: Option<String>,
    event: &'static str,
    order: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    quote: Option<String>,
}

fn write(timeline: &Timeline<'_, '_>, _: Style, fetch: &Fetch<'_>, out: &mut dyn Write) -> io::Result<()> {
    let mut out = io::BufWriter::new(out);
    let wire = Wire::new(timeline.report);
    let head = Head { schema: SCHEMA, tool: TOOL, selection: wire.selection(), events: timeline.rows.len() };
    ndjson::line(&mut out, "timeline", &head)?;
    for source in wire.sources() {
        ndjson::line(&mut out, "source", &source)?;
    }
    let names = Names::new(timeline.report);
    timeline.windows(fetch, |rows, quotes| {
        rows.iter().try_for_each(|row| ndjson::line(&mut out, "event", &event(timeline, &names, row, quotes)))
    })?;
    out.flush()
}

fn event(timeline: &Timeline<'_, '_>, names: &Names<'_>, row: &Row, quotes: &Quotes) -> Event {
    let origin = row.mark.origin;
    let at = names.instant(row.mark);
    Event {
        aligned_at: names.aligned(row.mark).filter(|aligned| at.as_ref() != Some(aligned)),
        at,
        source: names::source(origin.source.0 as usize),
        record: u64::from(origin.record.get()),
        line: place::line(timeline.report, origin).filter(|_| !place::are_lines(timeline.report, origin)),
        byte: origin.offset,
        witness: row.witness.map(Witness::name),
        run: (row.run != NONE).then(|| names.run(row.run as usize).to_owned()),
        call: (row.call != NONE).then(|| names::call(row.call)),
        event: row.word,
        order: row.order.name(),
        quote: quotes.get(&origin).map(|quote| names.text(quote)),
    }
}
