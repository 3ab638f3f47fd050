//! Where a source recorded less than elsewhere, or may have: absence speaks only between two such places.
//!
//! Kept by place and not by time: record order inside one source is certain, and stamps are not. Decides nothing.

use crate::{
    event::Origin,
    notice::{Loss, NoticeKind},
    time::{SECOND, Timestamp},
};

/// Breaks that are kept apart; from the next one on the rest of the source counts as one.
const LIMIT: usize = 256;

/// Loggers with several threads write a little out of order. A clock that goes back further was set, or two files, or
/// two processes, were put into one.
const BACK: i64 = SECOND;

/// Why absence says nothing at a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Why {
    /// Something was lost there, or not understood.
    Unread(NoticeKind),
    /// The clock goes back: order tells nothing across it.
    ClockBack,
}

/// A part of a source of which absence says nothing, by bytes; both ends belong to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Break {
    /// Why.
    pub why: Why,
    from: u64,
    to: u64,
}

/// The breaks of a source, in the order in which they were noted.
#[derive(Clone, Debug, Default)]
pub struct Breaks {
    all: Vec<Break>,
    /// The stamp of the record before.
    latest: Option<Timestamp>,
}

impl Breaks {
    /// The first break between two records of the source. A break at the first one lies before what follows it.
    pub fn between(&self, from: Origin, to: Origin) -> Option<&Break> {
        self.all.iter().find(|part| part.from <= to.offset && part.to > from.offset)
    }

    /// The first break anywhere.
    pub fn first(&self) -> Option<&Break> {
        self.all.first()
    }

    /// Takes a stamp, in record order.
    pub(super) fn stamp(&mut self, origin: Origin, at: Timestamp) {
        let before = self.latest.replace(at);
        if before.is_some_and(|before| before.0.saturating_sub(at.0) > BACK) {
            self.add(Why::ClockBack, origin.offset, origin.offset);
        }
    }

    /// Takes trouble while reading, at its place or, where that is not known, anywhere. A rotated part holds all of what
    /// it holds: what followed it is elsewhere.
    pub(super) fn notice(&mut self, kind: NoticeKind, origin: Option<Origin>) {
        let Some(offset) = origin.map(|origin| origin.offset) else {
            if kind.loss() == Loss::Data && kind != NoticeKind::RotatedAway {
                self.add(Why::Unread(kind), 0, u64::MAX);
            }
            return;
        };
        match kind {
            NoticeKind::LevelRestored => self.restore(offset),
            // What stands behind the place is concerned as well.
            NoticeKind::LevelRaised | NoticeKind::TornTail | NoticeKind::CutCapture | NoticeKind::BrokenArchive => {
                self.add(Why::Unread(kind), offset, u64::MAX);
            }
            // Of these the records are there, but not what they said: it may have been an attempt.
            NoticeKind::UnknownEvent
            | NoticeKind::DuplicateKey
            | NoticeKind::NotUtf8
            | NoticeKind::InterruptedRecord => self.add(Why::Unread(kind), offset, offset),
            _ if kind.loss() == Loss::Data => self.add(Why::Unread(kind), offset, offset),
            _ => {}
        }
    }

    /// The level was lowered again: what it had taken away is recorded from here on.
    fn restore(&mut self, offset: u64) {
        let raised = |part: &&mut Break| part.why == Why::Unread(NoticeKind::LevelRaised) && part.to == u64::MAX;
        for part in self.all.iter_mut().filter(raised) {
            part.to = offset;
        }
    }

    fn add(&mut self, why: Why, from: u64, to: u64) {
        if self.all.len() < LIMIT {
            self.all.push(Break { why, from, to });
        } else if let Some(last) = self.all.last_mut() {
            *last = Break { from: last.from.min(from), to: u64::MAX, ..*last };
        }
    }
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU32;

    use super::*;
    use crate::event::SourceId;

    fn at(offset: u64) -> Origin {
        Origin { source: SourceId(0), record: NonZeroU32::MIN, offset }
    }

    #[test]
    fn a_break_is_between_the_records_around_it_only() {
        let mut breaks = Breaks::default();
        breaks.notice(NoticeKind::NotJson, Some(at(50)));
        assert!(breaks.between(at(10), at(90)).is_some());
        assert!(breaks.between(at(60), at(90)).is_none() && breaks.between(at(10), at(40)).is_none());
        breaks.notice(NoticeKind::TornTail, Some(at(100)));
        assert!(breaks.between(at(60), at(99)).is_none());
        assert!(breaks.between(at(60), at(200)).is_some() && breaks.between(at(150), at(200)).is_some());
    }

    #[test]
    fn what_has_no_place_is_everywhere() {
        let mut breaks = Breaks::default();
        breaks.notice(NoticeKind::Empty, None);
        assert!(breaks.first().is_none());
        breaks.notice(NoticeKind::OpenLimit, None);
        assert!(breaks.between(at(0), at(1)).is_some());
    }

    #[test]
    fn a_raised_level_ends_where_it_is_lowered() {
        let mut breaks = Breaks::default();
        breaks.notice(NoticeKind::LevelRaised, Some(at(10)));
        assert!(breaks.between(at(900), at(999)).is_some());
        breaks.notice(NoticeKind::LevelRestored, Some(at(20)));
        assert!(breaks.between(at(20), at(999)).is_none() && breaks.between(at(15), at(30)).is_some());
    }

    #[test]
    fn a_clock_that_goes_back_breaks_the_order_where_it_does() {
        let mut breaks = Breaks::default();
        for (offset, second) in [(10, 100), (20, 99), (30, 50), (40, 51)] {
            breaks.stamp(at(offset), Timestamp(second * SECOND));
        }
        assert!(breaks.between(at(10), at(20)).is_none(), "within what threads do");
        assert!(breaks.between(at(20), at(30)).is_some());
        assert!(breaks.between(at(30), at(40)).is_none());
    }

    #[test]
    fn many_breaks_are_one_to_the_end() {
        let mut breaks = Breaks::default();
        for offset in 0..1000 {
            breaks.notice(NoticeKind::NotJson, Some(at(2 * offset)));
        }
        assert!(breaks.all.len() == LIMIT && breaks.between(at(5000), at(6000)).is_some());
    }
}
