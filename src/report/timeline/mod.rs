//! The timeline: every event of every witness as one aligned stream, as a table or as JSON lines.
//!
//! It judges nothing, and it pretends no order that nobody knows. A row is small; the words of the records are fetched
//! for some rows at a time while they are written.

mod ndjson;
mod order;
mod rows;
mod table;
mod words;

use std::io;

use self::order::Order;
use super::{Quotes, Report, Style, names::Names, select::Selected};
use crate::{
    correlate::{AnswerKind, Case, Mark, NONE},
    event::{Origin, Witness},
    judge::call::{Link, LinkKind},
    time::Timestamp,
};

/// One step that one event tells of. At most 80 bytes.
#[derive(Clone, Copy, Debug)]
struct Row {
    /// Where and when, as recorded.
    mark: Mark,
    /// The time that places it between the sources, if any does.
    key: Option<Timestamp>,
    /// The call, or [`NONE`].
    call: u32,
    /// The run, or [`NONE`].
    run: u32,
    /// What happened.
    word: &'static str,
    /// Who saw it.
    witness: Option<Witness>,
    /// Which step of its call it is, if any.
    step: u8,
    /// How its place behind the row above is known.
    order: Order,
    /// It is the first row of its record.
    first: bool,
}

impl Row {
    fn new(mark: Mark, word: &'static str, witness: Option<Witness>) -> Self {
        Self {
            mark,
            key: None,
            call: NONE,
            run: NONE,
            word,
            witness,
            step: order::NO_STEP,
            order: Order::Record,
            first: true,
        }
    }

    fn source(&self) -> u32 {
        self.mark.origin.source.0
    }
}

/// The word for a record of a call, whose answer was of this kind.
pub(super) fn word(link: &Link, answer: AnswerKind) -> &'static str {
    words::of_link(link, answer)
}

/// Who recorded something of a call. Of a contact that another record tells of, too, only the source tells whose it is;
/// and a tap stands in for whoever is not named.
pub(super) fn witness(case: &Case, link: &Link) -> Option<Witness> {
    let source = case.sources.get(link.mark.origin.source.0 as usize).and_then(|source| source.witness);
    let unnamed = link.witness == Witness::Proxy || link.what == LinkKind::SameContact;
    if unnamed { source } else { Some(link.witness) }
}

/// The words of records are fetched for so many rows at a time.
const WINDOW: usize = 1 << 16;

/// Fetches the words of records, masked and cut.
pub type Fetch<'f> = dyn Fn(&[Origin]) -> Quotes + 'f;

/// The timeline of a case.
#[derive(Debug)]
pub struct Timeline<'r, 'a> {
    report: &'r Report<'a>,
    names: Names<'a>,
    rows: Vec<Row>,
    /// All rows, shown or not.
    of: usize,
}

impl<'r, 'a> Timeline<'r, 'a> {
    /// The rows that the selection of a report lets through, and of these only the ones of some calls, in ascending
    /// order, if any are named.
    /// The case must have been read with its trail.
    pub fn new(report: &'r Report<'a>, calls: Option<&[u32]>) -> Self {
        let selected = Selected::new(report);
        let mut rows = rows::rows(report.case);
        let of = rows.len();
        rows.retain(|row| {
            calls.is_none_or(|calls| calls.binary_search(&row.call).is_ok())
                && selected.event(row.call, row.run, row.key)
        });
        order::settle(report.case, &mut rows);
        Self { report, names: Names::readable(report), rows, of }
    }

    /// How many rows are shown, and how many there are.
    pub fn count(&self) -> (usize, usize) {
        (self.rows.len(), self.of)
    }

    /// The rows some at a time, each with the words of their records.
    fn windows(&self, fetch: &Fetch<'_>, mut each: impl FnMut(&[Row], &Quotes) -> io::Result<()>) -> io::Result<()> {
        for rows in self.rows.chunks(WINDOW) {
            let mut wanted: Vec<Origin> = rows.iter().map(|row| row.mark.origin).collect();
            wanted.sort_unstable();
            wanted.dedup();
            each(rows, &fetch(&wanted))?;
        }
        Ok(())
    }
}

/// One form of the timeline, as a value.
#[derive(Debug)]
pub struct TimelineForm {
    /// The name after `--output`.
    pub name: &'static str,
    /// One line for people.
    pub title: &'static str,
    /// Writes it.
    pub write: fn(&Timeline<'_, '_>, Style, &Fetch<'_>, &mut dyn io::Write) -> io::Result<()>,
}

/// All forms; the first is the default.
pub static TIMELINE_FORMS: &[TimelineForm] = &[table::FORM, ndjson::FORM];
