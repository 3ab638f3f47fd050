//! Evidence on the wire: at most so many places of a claim, the rest as a number.

use super::{Ev, Place};
use crate::{
    correlate::Mark,
    event::Origin,
    judge::{self, Evidence},
    report::{
        Report,
        names::{self, Names},
        place,
    },
};

/// At most so many pieces of evidence are listed of one claim.
const LISTED: usize = 8;

/// The places whose words are shown for a claim.
pub(super) fn listed<'e>(evidence: impl IntoIterator<Item = &'e Evidence>, wanted: &mut Vec<Origin>) {
    for piece in evidence.into_iter().take(LISTED) {
        match piece.place {
            judge::Place::Seen(mark) | judge::Place::Counted { first: mark, .. } => wanted.push(mark.origin),
            judge::Place::Absent { .. } => {}
        }
    }
}

/// The evidence of a claim.
pub(super) fn evidence<'e>(
    report: &Report<'_>,
    names: &Names<'_>,
    evidence: impl IntoIterator<Item = &'e Evidence>,
) -> Vec<Ev> {
    let mut rows = Vec::new();
    let mut more = 0;
    for piece in evidence {
        if rows.len() < LISTED {
            rows.push(one(report, names, piece));
        } else {
            more += 1;
        }
    }
    if let Some(last) = rows.last_mut().filter(|_| more > 0) {
        last.more = Some(more);
    }
    rows
}

/// A piece of evidence.
pub(in crate::report) fn one(report: &Report<'_>, names: &Names<'_>, piece: &Evidence) -> Ev {
    let mut ev = Ev {
        role: names.text(&piece.role),
        source: String::new(),
        record: None,
        line: None,
        byte: None,
        at: None,
        quote: None,
        from: None,
        to: None,
        count: None,
        of: None,
        more: None,
    };
    match piece.place {
        judge::Place::Seen(mark) => seen(report, names, mark, &mut ev),
        judge::Place::Counted { count, of, first } => {
            seen(report, names, first, &mut ev);
            (ev.count, ev.of) = (Some(count), Some(of));
        }
        judge::Place::Absent { from, to } => {
            ev.source = names::source(from.source.0 as usize);
            (ev.from, ev.to) = (Some(bound(from)), Some(bound(to)));
        }
    }
    ev
}

fn seen(report: &Report<'_>, names: &Names<'_>, mark: Mark, ev: &mut Ev) {
    let origin = mark.origin;
    ev.source = names::source(origin.source.0 as usize);
    ev.record = Some(u64::from(origin.record.get()));
    ev.line = place::line(report, origin).filter(|_| !place::are_lines(report, origin));
    ev.byte = Some(origin.offset);
    ev.at = names.instant(mark);
    ev.quote = report.quotes.get(&origin).map(|quote| names.text(quote));
}

fn bound(origin: Origin) -> Place {
    Place { record: u64::from(origin.record.get()), byte: origin.offset }
}
