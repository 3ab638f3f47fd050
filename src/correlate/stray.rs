//! What was told that no call accounts for. It proves nothing, but "nothing else happened" is no longer proven either.

use super::{Case, Contact, Correlator, Lane, Mark, NONE, StrandFact};
use crate::{
    event::{RemarkKind, SourceId},
    time::{MILLISECOND, SECOND, Shape, Timestamp},
};

/// Two clocks of one machine room may differ by this much.
const SKEW: i64 = 50 * MILLISECOND;

/// Words that follow one another so closely are kept as one span.
const NEAR: i64 = 100 * MILLISECOND;

/// Unaccounted records of one source, close to one another in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Span {
    source: SourceId,
    from: Timestamp,
    to: Timestamp,
    /// The last of them, as it is stamped: `to` is where its second may end.
    last: Timestamp,
    /// They stand behind records with later stamps: their order in the source tells nothing.
    late: bool,
}

/// Records of one kind by their time.
#[derive(Clone, Debug, Default)]
pub struct Times {
    /// Instants on the common clock, ascending.
    placed: Vec<Timestamp>,
    /// Some have none.
    unplaced: bool,
}

impl Times {
    /// Whether one may lie inside a window, or nothing places it. An end that is not known is open.
    pub fn any_within(&self, from: Option<Timestamp>, to: Option<Timestamp>) -> bool {
        let from = from.map_or(i64::MIN, |from| from.0.saturating_sub(SECOND));
        let to = to.map_or(i64::MAX, |to| to.0.saturating_add(SECOND));
        let first = self.placed.partition_point(|at| at.0 < from);
        self.unplaced || self.placed.get(first).is_some_and(|at| at.0 <= to)
    }

    fn of(case: &Case, marks: impl Iterator<Item = Mark>) -> Self {
        let mut times = Self::default();
        for mark in marks {
            let source = &case.sources[mark.origin.source.0 as usize];
            let known = source.shape == Some(Shape::Utc) || source.aligned;
            match case.placed(mark).filter(|_| known) {
                Some(at) => times.placed.push(at),
                None => times.unplaced = true,
            }
        }
        times.placed.sort_unstable();
        times
    }
}

/// What no call accounts for.
#[derive(Clone, Debug, Default)]
pub struct Stray {
    /// Where a hop lost its upstream behind a request, in records that name no call.
    pub broken: Times,
    /// Requests to an MCP endpoint in an access log that fit no call.
    pub posts: Times,
    /// Free text that a server may have written, and contacts of nobody, by first instant; instants are placed.
    words: Vec<Span>,
    /// The longest of these spans, in nanoseconds.
    longest: i64,
    /// Work that traces show and that belongs to no call, by its beginning; instants are placed.
    work: Vec<(Timestamp, Timestamp)>,
    /// Sources in which a program crashed at a time that is not told.
    crashed: Vec<SourceId>,
}

impl Stray {
    /// Whether a server may have written something, or somebody contacted something, in a window of time that a source
    /// other than `own` tells of, or `own` out of its order or directly behind the window: a pipe may be read late.
    pub fn words_within(&self, own: SourceId, from: Timestamp, to: Timestamp) -> bool {
        let end = to;
        let (from, to) = (from.0.saturating_sub(SKEW), to.0.saturating_add(SKEW));
        let first = self.words.partition_point(|span| span.from.0 < from.saturating_sub(self.longest));
        let inside = self.words[first..].iter().take_while(|span| span.from.0 <= to);
        inside.filter(|span| span.source != own || span.late || span.last > end).any(|span| span.to.0 >= from)
    }

    /// Whether a trace shows work of nobody that lies inside a window of time.
    pub fn work_within(&self, from: Timestamp, to: Timestamp) -> bool {
        let (from, to) = (from.0.saturating_sub(SKEW), to.0.saturating_add(SKEW));
        let first = self.work.partition_point(|(begin, _)| begin.0 < from);
        self.work[first..].iter().take_while(|(begin, _)| begin.0 <= to).any(|(_, end)| end.0 <= to)
    }

    /// Whether a program crashed at a time that nothing tells, by the record of another source.
    pub fn crash_elsewhere(&self, own: SourceId) -> bool {
        self.crashed.iter().any(|source| *source != own)
    }
}

impl Lane {
    /// Notes the time of a record that no call will account for.
    pub(super) fn stray(&mut self, at: Option<Timestamp>) {
        let (Some(at), Some(facts)) = (at, &self.facts) else { return };
        let late = facts.last.is_some_and(|last| at < last);
        match self.words.last_mut() {
            Some(span) if span.late == late && at >= span.from && at.0.saturating_sub(span.to.0) <= NEAR => {
                span.to = span.to.max(at);
                span.last = span.to;
            }
            _ => self.words.push(Span { source: SourceId(self.source), from: at, to: at, last: at, late }),
        }
    }
}

impl Correlator {
    /// Collects what is left when everything is joined and bound.
    pub(super) fn gather_stray(&mut self) {
        let events = self.case.strands.iter().flat_map(|strand| &strand.events);
        let broken = events.filter(|event| event.what == StrandFact::Remark(RemarkKind::UpstreamBroken));
        let broken = Times::of(&self.case, broken.map(|event| event.mark));
        let posts = Times::of(&self.case, std::mem::take(&mut self.posts).into_iter());
        let mut words: Vec<Span> = std::mem::take(&mut self.words);
        let nobodys = self.case.contacts.iter().filter(|contact| is_nobodys(contact));
        words.extend(nobodys.filter_map(|contact| {
            let at = contact.attempt.at?;
            Some(Span { source: contact.attempt.origin.source, from: at, to: at, last: at, late: false })
        }));
        for span in &mut words {
            let source = &self.case.sources[span.source.0 as usize];
            // A stamp of whole seconds may mean any instant of its second.
            let rest = if source.digits == 0 { SECOND - 1 } else { 0 };
            span.from = Timestamp(span.from.0.saturating_add(source.shift));
            span.last = Timestamp(span.last.0.saturating_add(source.shift));
            span.to = Timestamp(span.to.0.saturating_add(source.shift).saturating_add(rest));
        }
        words.sort_unstable_by_key(|span| (span.from, span.source));
        let longest = words.iter().map(|span| span.to.0.saturating_sub(span.from.0)).max().unwrap_or(0);
        let mut work = std::mem::take(&mut self.work);
        work.sort_unstable();
        let crashed = std::mem::take(&mut self.crashed);
        self.case.stray = Stray { broken, posts, words, longest, work, crashed };
    }
}

/// A contact whose writer named neither run nor call, and that was bound to no call.
fn is_nobodys(contact: &Contact) -> bool {
    contact.is_attempt() && contact.call == NONE && contact.run_id.is_none() && contact.pid == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn span(source: u32, from: i64, to: i64, late: bool) -> Span {
        let (from, to) = (Timestamp(from * SECOND), Timestamp(to * SECOND));
        Span { source: SourceId(source), from, to, last: to, late }
    }

    #[test]
    fn words_count_where_order_does_not_exclude_them() {
        let words = vec![span(1, 1, 9, false), span(1, 20, 21, false), span(2, 30, 30, true)];
        let stray = Stray { words, longest: 8 * SECOND, ..Stray::default() };
        let within =
            |own, from, to| stray.words_within(SourceId(own), Timestamp(from * SECOND), Timestamp(to * SECOND));
        assert!(within(0, 8, 10) && within(0, 21, 25) && within(0, 0, 40));
        assert!(!within(0, 10, 19) && !within(0, 22, 29) && !within(0, 31, 40));
        assert!(!within(1, 0, 25) && !within(1, 3, 9));
        assert!(within(2, 30, 31) && within(1, 30, 31));
    }

    #[test]
    fn what_stands_directly_behind_an_answer_may_have_been_read_late() {
        let at = |milliseconds: i64| Timestamp(milliseconds * MILLISECOND);
        let written = |from, to| {
            let words = vec![Span { source: SourceId(1), from: at(from), to: at(to), last: at(to), late: false }];
            Stray { words, longest: (to - from) * MILLISECOND, ..Stray::default() }
        };
        let after = |stray: Stray| stray.words_within(SourceId(1), at(1000), at(2000));
        assert!(after(written(2010, 2010)) && after(written(990, 2010)));
        assert!(!after(written(1990, 1990)) && !after(written(2060, 2070)));
    }

    #[test]
    fn work_counts_where_it_lies_inside() {
        let at = |seconds: i64| Timestamp(seconds * SECOND);
        let stray = Stray { work: vec![(at(1), at(9)), (at(3), at(4))], ..Stray::default() };
        assert!(stray.work_within(at(2), at(5)) && stray.work_within(at(1), at(9)));
        assert!(!stray.work_within(at(4), at(9)) && !stray.work_within(at(2), at(3)));
    }
}
