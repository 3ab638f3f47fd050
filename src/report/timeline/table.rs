//! The timeline for a terminal of 80 columns.

use std::{
    collections::BTreeSet,
    io::{self, Write},
};

use super::{Fetch, Row, Timeline, TimelineForm, order::Order};
use crate::{
    correlate::NONE,
    event::Witness,
    report::{
        Quotes, Style,
        layout::{Grid, at_most, cut_left, paragraph},
        names,
        page::{Page, Tone},
        place::Places,
        view,
    },
    time::{Timestamp, day_number},
};

/// See [`TimelineForm`].
pub(super) const FORM: TimelineForm =
    TimelineForm { name: "table", title: "For a terminal of 80 columns (default)", write };

/// Paths up to this length are printed whole: with the line they fit their column.
const PATH_LIMIT: usize = 19;
/// At most so many lines of one quote.
const QUOTE_LINES: usize = 2;

/// What was printed last: a day and a run are named when they change.
#[derive(Default)]
struct Above {
    day: Option<i64>,
    run: Option<u32>,
}

fn write(timeline: &Timeline<'_, '_>, style: Style, fetch: &Fetch<'_>, out: &mut dyn Write) -> io::Result<()> {
    let mut page = Page::new(style);
    let root = view::root(timeline.report, &timeline.names, PATH_LIMIT);
    let places = Places { report: timeline.report, names: &timeline.names, root: &root };
    if timeline.rows.is_empty() {
        page.put(Tone::Plain, "No event.");
        return page.write(out);
    }
    head(&mut page, timeline, &root);
    let grid = Grid::new(&[1, 13, 24, 7, 5, 25], 0, page.width);
    page.table_head(&grid, &["", "time (UTC)", "place", "witness", "call", "event"]);
    let mut above = Above::default();
    timeline.windows(fetch, |rows, quotes| {
        for row in rows {
            separators(&mut page, timeline, row, &mut above);
            event(&mut page, &grid, places, row, quotes);
            page.write(out)?;
        }
        Ok(())
    })?;
    out.flush()
}

/// What stands above the rows, with the signs that occur in them.
fn head(page: &mut Page, timeline: &Timeline<'_, '_>, root: &str) {
    let (shown, of) = timeline.count();
    let sources: BTreeSet<u32> = timeline.rows.iter().map(Row::source).collect();
    let more = if shown < of { format!(" of {of}") } else { String::new() };
    let events = view::plural(shown as u64, "event");
    let sources = view::plural(sources.len() as u64, "source");
    page.text(Tone::Plain, "", 2, &format!("{events}{more}, {sources}. Records of one source stand in its own order."));
    if timeline.rows.iter().any(|row| !row.first) {
        page.text(Tone::Plain, "", 2, "A record that tells of several steps stands where the first of them does.");
    }
    if !root.is_empty() {
        page.text(Tone::Plain, "", 2, &format!("All paths are under {root}"));
    }
    let orders: BTreeSet<Order> = timeline.rows.iter().map(|row| row.order).collect();
    for (_, sign, meaning) in Order::MARKED.iter().filter(|(order, ..)| orders.contains(order)) {
        page.text(Tone::Plain, &format!("{sign} "), 2, meaning);
    }
    let moved =
        |row: &Row| timeline.report.case.shown(row.mark).map(Timestamp::clock) != row.mark.at.map(Timestamp::clock);
    if timeline.rows.iter().any(moved) {
        page.text(Tone::Plain, "= ", 2, "the time above it, as other sources place a stamp without zone");
    }
    page.put(Tone::Plain, "");
}

/// Names the day and the run where they change.
fn separators(page: &mut Page, timeline: &Timeline<'_, '_>, row: &Row, above: &mut Above) {
    let day = row.key.map(day_number).filter(|day| *day > 0);
    if day.is_some() && day != above.day {
        let date = row.key.map(|at| at.rfc3339(0)).unwrap_or_default();
        page.put(Tone::Head, date.get(..10).unwrap_or_default());
        above.day = day;
    }
    if above.run != Some(row.run) {
        let run = if row.run == NONE { "no run" } else { timeline.names.run(row.run as usize) };
        page.text(Tone::Head, "", 2, run);
        above.run = Some(row.run);
    }
}

fn event(page: &mut Page, grid: &Grid, places: Places<'_, '_>, row: &Row, quotes: &Quotes) {
    let time = row.mark.at.map_or_else(|| "–".to_owned(), Timestamp::clock);
    let aligned = places.report.case.shown(row.mark).map(Timestamp::clock).filter(|at| *at != time);
    let time = aligned.map_or_else(|| time.clone(), |at| format!("{time}\n={at}"));
    let cells = [
        row.order.sign().to_owned(),
        time,
        cut_left(&places.spot(row.mark.origin), grid.width(2)),
        row.witness.map_or("–", Witness::name).to_owned(),
        if row.call == NONE { String::new() } else { names::call(row.call) },
        row.word.to_owned(),
    ];
    let tone = match row.order {
        Order::Contradicts => Tone::Bad,
        Order::Unknown => Tone::Doubt,
        _ => Tone::Plain,
    };
    page.row(grid, &cells, tone);
    let quote = quotes.get(&row.mark.origin).filter(|_| row.first);
    if let Some(quote) = quote.map(|quote| view::flat(&places.names.whole(quote))).filter(|quote| !quote.is_empty()) {
        let lines = paragraph("    ", 4, &quote, page.width);
        for line in at_most(lines, QUOTE_LINES, page.width) {
            page.put(Tone::Faint, &line);
        }
    }
}
