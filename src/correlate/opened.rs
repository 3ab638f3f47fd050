//! When a call was open, on the clock of any source: certainly, and perhaps.

use super::{AnswerKind, Contact, Correlator, Mark, Seen, windows::Span};
use crate::event::SourceId;

/// When a call was open, on the clock of a source.
#[derive(Clone, Copy, Debug)]
pub(super) struct Open {
    /// When it may have been.
    pub(super) span: Span,
    /// When it certainly was: from, to.
    certain: (i64, Option<i64>),
}

/// Whether a call was open at an instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Was {
    Not,
    Perhaps,
    Certainly,
}

impl Open {
    fn at(&self, at: i64) -> Was {
        let within = |from: i64, to: Option<i64>| at >= from && to.is_none_or(|to| at <= to);
        if within(self.certain.0, self.certain.1) {
            Was::Certainly
        } else if within(self.span.from, self.span.to) {
            Was::Perhaps
        } else {
            Was::Not
        }
    }
}

impl Correlator {
    /// When a call was open, on the clock of a source; `None` where its beginning has no time.
    pub(super) fn open_on(&self, clock: SourceId, index: u32) -> Option<Open> {
        let call = &self.case.calls[index as usize];
        let rows = self.case.seen(call);
        let own = |kinds: &[Seen]| {
            let row = rows.iter().find(|row| row.mark.origin.source == clock && kinds.contains(&row.seen))?;
            Some(self.case.placed(row.mark)?.0)
        };
        let (first, last) = match own(&[Seen::Queued, Seen::Sent, Seen::Received]) {
            Some(at) => (at, at),
            None => self.place_on(clock, call.asked?)?,
        };
        // What failed on the way back may have gone on, but nothing says that it did.
        let done = !matches!(call.answer.kind, AnswerKind::HttpError | AnswerKind::StreamIncomplete);
        let told = own(&[Seen::Responded, Seen::Delivered]);
        let end = told.map(|at| (at, at)).or_else(|| call.answered.and_then(|mark| self.place_on(clock, mark)));
        let span = Span { call: index, from: first, to: end.filter(|_| done || told.is_some()).map(|(_, last)| last) };
        Some(Open { span, certain: (last, end.map(|(first, _)| first)) })
    }

    /// Where a record lies on the clock of another source: from, to.
    pub(super) fn place_on(&self, clock: SourceId, mark: Mark) -> Option<(i64, i64)> {
        Some(self.case.clocks.offset(mark.origin.source, clock).place(self.case.placed(mark)?.0))
    }

    /// Whether a call was open at the time of a contact; `None` where times are missing.
    pub(super) fn was_open(&self, call: u32, contact: &Contact) -> Option<Was> {
        let at = self.case.placed(contact.attempt)?.0;
        let open = self.open_on(contact.attempt.origin.source, call)?;
        Some(open.at(at))
    }
}
