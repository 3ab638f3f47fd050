//! What was told that no call accounts for. It proves nothing, but "nothing else happened" is no longer proven either.

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;

use super::{AnswerKind, Call, Case, Contact, Correlator, Lane, Mark, NONE, StrandEvent, StrandFact};
use crate::{
    event::{Direction, Origin, RemarkKind, SourceId, is_effect_free},
    symbol::Symbol,
    time::{MILLISECOND, SECOND, Shape, Stamp, Timestamp},
};

/// Two clocks of one machine room may differ by this much.
const SKEW: i64 = 50 * MILLISECOND;

/// Zones lie whole quarters of an hour apart.
const QUARTER: i64 = 900 * SECOND;

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
    /// Its stamps name their zone, or an option does.
    zoned: bool,
}

/// Records of one kind by their time.
#[derive(Clone, Debug, Default)]
pub struct Times {
    /// Instants on the common clock, ascending.
    placed: Vec<Timestamp>,
    /// The first that has none.
    unplaced: Option<Mark>,
}

impl Times {
    /// The first record that has no time on the common clock.
    pub fn unplaced(&self) -> Option<Mark> {
        self.unplaced
    }

    /// Whether one may lie inside a window. An end that is not known is open.
    pub fn any_within(&self, from: Option<Timestamp>, to: Option<Timestamp>) -> bool {
        let from = from.map_or(i64::MIN, |from| from.0.saturating_sub(SECOND));
        let to = to.map_or(i64::MAX, |to| to.0.saturating_add(SECOND));
        let first = self.placed.partition_point(|at| at.0 < from);
        self.placed.get(first).is_some_and(|at| at.0 <= to)
    }

    fn of(case: &Case, marks: impl Iterator<Item = Mark>) -> Self {
        let mut times = Self::default();
        for mark in marks {
            match case.on_common_clock(mark) {
                Some(at) => times.placed.push(at),
                None => times.unplaced = times.unplaced.or(Some(mark)),
            }
        }
        times.placed.sort_unstable();
        times
    }
}

/// Which hop recorded a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hop {
    source: SourceId,
    endpoint: Option<Symbol>,
}

impl Hop {
    /// The hop of a call.
    pub fn of(case: &Case, call: &Call) -> Self {
        let endpoint = case.strands[call.strand as usize].endpoint;
        Self { source: case.place(call).origin.source, endpoint }
    }

    fn differs(self, other: Self) -> bool {
        let elsewhere = self.endpoint.zip(other.endpoint).is_some_and(|(one, other)| one != other);
        self.source != other.source || elsewhere
    }
}

/// A call that may have an effect.
#[derive(Clone, Copy, Debug)]
struct Asked {
    at: Timestamp,
    hop: Hop,
    mark: Mark,
}

/// What no call accounts for.
#[derive(Clone, Debug, Default)]
pub struct Stray {
    /// Where a hop lost its upstream behind a request, or looked at its answer, in records that name no call.
    pub broken: Times,
    /// Requests to an MCP endpoint that a log tells of and no call accounts for: the first of each source.
    pub posts: Vec<Mark>,
    /// Answers and cancellations of requests that nobody recorded, so that calls are missing: the first of each source.
    pub orphans: Vec<Mark>,
    /// What may have been requests, and cannot be read: the first of each source.
    pub unreadable: Vec<Mark>,
    /// Requests that were sent without an id: target, what remains of the key of their arguments, and place.
    nameless: Vec<(Option<Symbol>, i64, Mark)>,
    /// A client, or a layer below it, tells of attempts that no call can be: the first of each source.
    pub retold: Vec<Mark>,
    /// A server tells of work, and names neither its call nor a time on the common clock.
    pub unplaced: Option<Mark>,
    /// Free text that a server may have written, without a time: the first of each source.
    pub timeless: Vec<Mark>,
    /// What a server wrote or did that names no call, and contacts of nobody, by first instant; instants are placed.
    words: Vec<Span>,
    /// The longest of these spans, in nanoseconds.
    longest: i64,
    /// When calls that may have an effect were asked, and where; ascending.
    asked: Vec<Asked>,
    /// The same without a time on the common clock: the first of each source.
    asked_untimed: Vec<Mark>,
    /// The same of sources whose zone nobody knows, by their time within a quarter of an hour: zones differ by whole
    /// quarters. In nanoseconds, ascending.
    local: Vec<i64>,
    /// These sources, each once, ascending.
    pub local_sources: Vec<SourceId>,
    /// All sources that have words of a server, or a contact of nobody, at whatever time; each once, ascending.
    word_sources: Vec<SourceId>,
    /// Work that traces show and that belongs to no call, by its beginning; instants are placed.
    work: Vec<Timestamp>,
    /// Sources in which a program crashed at a time that is not told.
    crashed: Vec<Mark>,
    /// Files that a kernel trace shows being written, by their time on the common clock; those without stand first.
    written: Vec<(Option<Timestamp>, Mark)>,
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

    /// Whether a trace shows work of nobody that begins inside a window of time: who was answered may work on.
    pub fn work_within(&self, from: Timestamp, to: Timestamp) -> bool {
        let (from, to) = (from.0.saturating_sub(SKEW), to.0.saturating_add(SKEW));
        let first = self.work.partition_point(|begin| begin.0 < from);
        self.work.get(first).is_some_and(|begin| begin.0 <= to)
    }

    /// A file that a kernel trace shows being written in a window of time, or at a time that cannot be compared. Without
    /// a window it may be any.
    pub fn written_within(&self, window: Option<(Timestamp, Timestamp)>) -> Option<Mark> {
        let untimed = self.written.first().filter(|(at, _)| at.is_none() || window.is_none());
        let within = || {
            let (from, to) = window?;
            let from = Some(Timestamp(from.0.saturating_sub(SKEW + NEAR)));
            let next = self.written.get(self.written.partition_point(|(at, _)| *at < from))?;
            (next.0 <= Some(Timestamp(to.0.saturating_add(SKEW)))).then_some(next)
        };
        untimed.or_else(within).map(|(_, mark)| *mark)
    }

    /// Where other sources than `own` record that a program crashed, without its time.
    pub fn crashes_elsewhere(&self, own: SourceId) -> impl Iterator<Item = Mark> {
        self.crashed.iter().copied().filter(move |mark| mark.origin.source != own)
    }

    /// The other sources than `own` that have words of a server, or a contact of nobody, at whatever time.
    pub fn words_elsewhere(&self, own: SourceId) -> impl Iterator<Item = SourceId> {
        self.word_sources.iter().copied().filter(move |source| *source != own)
    }

    /// A call that another source, or the same one at another endpoint, records inside a window: what a gateway sends on
    /// may look like another call.
    pub fn call_within(&self, own: Hop, from: Timestamp, to: Timestamp) -> Option<Mark> {
        let (from, to) = (from.0.saturating_sub(SKEW), to.0.saturating_add(SKEW));
        let first = self.asked.partition_point(|asked| asked.at.0 < from);
        let inside = self.asked[first..].iter().take_while(|asked| asked.at.0 <= to);
        inside.filter(|asked| asked.hop.differs(own)).map(|asked| asked.mark).next()
    }

    /// Calls of other sources that were asked at times which cannot be compared: the first of each.
    pub fn incomparable_calls(&self, own: SourceId) -> impl Iterator<Item = Mark> {
        self.asked_untimed.iter().copied().filter(move |mark| mark.origin.source != own)
    }

    /// Requests without an id that may be attempts of a call: nothing on record tells them apart.
    pub fn nameless_like(&self, call: &Call) -> impl Iterator<Item = Mark> {
        let (target, args) = (call.target, call.args.shortened());
        let alike = move |(other, key, _): &&(Option<Symbol>, i64, Mark)| {
            let same = other.is_none() || target.is_none() || *other == target;
            same && (*key == 0 || args == 0 || *key == args)
        };
        firsts(self.nameless.iter().filter(alike).map(|(_, _, mark)| *mark)).into_iter()
    }

    /// Whether a source whose zone nobody knows tells of something that may lie in a window.
    pub fn words_maybe_within(&self, from: Timestamp, to: Timestamp) -> bool {
        let (from, to) = (from.0.saturating_sub(SECOND), to.0.saturating_add(SECOND));
        let length = to.saturating_sub(from);
        let start = from.rem_euclid(QUARTER);
        let first = self.local.partition_point(|at| *at < start);
        let next = self.local.get(first).map(|at| at - start);
        let wrapped = self.local.first().map(|at| at + QUARTER - start);
        length >= QUARTER && !self.local.is_empty()
            || [next, wrapped].into_iter().flatten().any(|behind| behind <= length)
    }
}

impl Lane {
    /// Notes text that no call will account for.
    pub(super) fn stray_text(&mut self, origin: Origin, at: Option<(Timestamp, Stamp)>) {
        match at {
            Some((at, stamp)) => self.note_words(at, stamp.shape == Shape::Utc, stamp.digits),
            None => self.timeless = self.timeless.or(Some(Mark { origin, at: None })),
        }
    }

    /// Notes a record that no call will account for. Without a time its place in its source has to do.
    pub(super) fn stray(&mut self, at: Option<Timestamp>) {
        if let (Some(at), Some(facts)) = (at, &self.facts) {
            self.note_words(at, facts.shape == Some(Shape::Utc), facts.digits);
        }
    }

    fn note_words(&mut self, at: Timestamp, zoned: bool, digits: u8) {
        let Some(facts) = &self.facts else { return };
        let late = facts.last.is_some_and(|last| at < last);
        let zoned = zoned || self.zone.is_some();
        // A stamp of whole seconds may mean any instant of its second.
        let rest = if digits == 0 { SECOND - 1 } else { 0 };
        let to = Timestamp(at.0.saturating_add(rest));
        match self.words.last_mut() {
            Some(span) if span.late == late && at >= span.from && at.0.saturating_sub(span.to.0) <= NEAR => {
                span.to = span.to.max(to);
                span.last = span.last.max(at);
            }
            _ => self.words.push(Span { source: SourceId(self.source), from: at, to, last: at, late, zoned }),
        }
    }
}

impl Correlator {
    /// Notes that a file was written. Of writes that follow one another closely, or have no time, the first is kept.
    pub(super) fn note_written(&mut self, mark: Mark) {
        let follows = |last: &Mark| match (last.at, mark.at) {
            (Some(last), Some(at)) => (0..=NEAR).contains(&at.0.saturating_sub(last.0)),
            (last, at) => last == at,
        };
        let last = self.written.last().filter(|last| last.origin.source == mark.origin.source);
        if !last.is_some_and(follows) {
            self.written.push(mark);
        }
    }

    /// Collects what is left when everything is joined and bound.
    pub(super) fn gather_stray(&mut self) {
        let events = || self.case.strands.iter().flat_map(|strand| &strand.events);
        let behind = [RemarkKind::UpstreamBroken, RemarkKind::AnswerInspected].map(StrandFact::Remark);
        let broken = events().filter(|event| behind.contains(&event.what));
        let nobodys = self.case.contacts.iter().filter(|contact| is_nobodys(contact)).map(|contact| contact.attempt);
        let at_work: Vec<&StrandEvent> = events().filter(|event| self.is_work(event)).collect();
        let told: Vec<Mark> = nobodys.chain(at_work.iter().map(|event| event.mark)).collect();
        let mut words: Vec<Span> = self.words.iter().filter_map(|span| self.place(*span)).collect();
        words.extend(told.iter().filter_map(|mark| self.place(self.span_at(*mark)?)));
        let mut work = self.work.clone();
        work.sort_unstable();
        words.sort_unstable_by_key(|span| (span.from, span.source));
        self.case.stray = Stray {
            broken: Times::of(&self.case, broken.map(|event| event.mark)),
            posts: firsts(
                self.unaccounted(&self.post_rows).into_iter().chain(self.uncompared).chain(self.surplus_receipts()),
            ),
            orphans: firsts(self.orphans()),
            unreadable: firsts(events().filter(|event| event.what == StrandFact::Unreadable).map(|event| event.mark)),
            nameless: events()
                .filter(|event| event.what == StrandFact::Nameless)
                .map(|event| (event.name, event.number, event.mark))
                .collect(),
            retold: firsts(self.retold()),
            unplaced: self.unplaced(&at_work),
            timeless: firsts(self.timeless.iter().copied().chain(self.words_of_set_clocks())),
            local: self.local(),
            word_sources: each_once(words.iter().map(|span| span.source).chain(self.local_sources())),
            local_sources: self.local_sources(),
            asked: self.requests(),
            asked_untimed: firsts(
                self.effectful()
                    .filter_map(|call| call.asked.filter(|mark| self.case.on_common_clock(*mark).is_none())),
            ),
            work,
            crashed: self.crashed.clone(),
            written: self.written(),
            longest: words.iter().map(|span| span.to.0.saturating_sub(span.from.0)).max().unwrap_or(0),
            words,
        };
    }

    /// Words whose times a step of their clock made meaningless: the record behind the step of each source.
    fn words_of_set_clocks(&self) -> impl Iterator<Item = Mark> {
        let steps = self.words.iter().filter_map(|span| self.case.sources[span.source.0 as usize].stepped);
        steps.map(|(_, after)| Mark { origin: after.origin, at: None })
    }

    fn written(&self) -> Vec<(Option<Timestamp>, Mark)> {
        let timed = self.written.iter().map(|mark| (self.case.on_common_clock(*mark), *mark));
        let mut written: Vec<_> = timed.collect();
        written.sort_unstable_by_key(|(at, mark)| (*at, mark.origin));
        written
    }

    fn span_at(&self, mark: Mark) -> Option<Span> {
        let source = &self.case.sources[mark.origin.source.0 as usize];
        let rest = if source.digits == 0 { SECOND - 1 } else { 0 };
        let (from, to) = (mark.at?, Timestamp(mark.at?.0.saturating_add(rest)));
        let zoned = source.shape == Some(Shape::Utc);
        Some(Span { source: mark.origin.source, from, to, last: from, late: false, zoned })
    }

    /// A span on the common clock.
    fn place(&self, span: Span) -> Option<Span> {
        let source = &self.case.sources[span.source.0 as usize];
        if source.stepped.is_some() {
            return None;
        }
        let placed = |at: Timestamp| Timestamp(at.0.saturating_add(source.shift));
        let common = self.case.clock == Some(Shape::Local) && source.shape <= self.case.clock;
        (span.zoned || source.aligned || common).then(|| Span {
            from: placed(span.from),
            to: placed(span.to),
            last: placed(span.last),
            ..span
        })
    }

    /// Calls that may have an effect.
    fn effectful(&self) -> impl Iterator<Item = &Call> {
        let effectful = self.case.calls.iter().filter(|call| !is_effect_free(self.case.name(call.method)));
        effectful.filter(|call| call.direction == Direction::ToServer)
    }

    /// When they were asked, in order.
    fn requests(&self) -> Vec<Asked> {
        let endpoints = self.case.strands.iter().filter_map(|strand| strand.endpoint);
        // They are asked for by calls of other hops.
        if self.case.sources.len() < 2 && endpoints.collect::<BTreeSet<Symbol>>().len() < 2 {
            return Vec::new();
        }
        let asked = |call: &Call| {
            let mark = call.asked?;
            Some(Asked { at: self.case.on_common_clock(mark)?, hop: Hop::of(&self.case, call), mark })
        };
        let mut asked: Vec<Asked> = self.effectful().filter_map(asked).collect();
        asked.sort_unstable_by_key(|asked| (asked.at, asked.mark.origin));
        asked
    }

    /// Words of sources without a known zone: every second of theirs.
    fn local(&self) -> Vec<i64> {
        let strange = self.words.iter().filter(|span| self.place(**span).is_none());
        let seconds = strange.flat_map(|span| {
            let length = span.to.0.saturating_sub(span.from.0).min(QUARTER);
            (0..=length / SECOND).map(|second| span.from.0.saturating_add(second * SECOND).rem_euclid(QUARTER))
        });
        let mut seen = [false; 900];
        let mut local: Vec<i64> = Vec::new();
        for at in seconds {
            let known = usize::try_from(at / SECOND).ok().and_then(|second| seen.get_mut(second));
            if known.is_some_and(|known| !std::mem::replace(known, true)) {
                local.push(at);
            }
        }
        local.sort_unstable();
        local
    }

    /// Sources that have words in a zone nobody knows.
    fn local_sources(&self) -> Vec<SourceId> {
        each_once(self.words.iter().filter(|span| self.place(**span).is_none()).map(|span| span.source))
    }

    /// A contact of nobody, or one of more works than there are calls that were worked on, without a time on the common
    /// clock.
    fn unplaced(&self, at_work: &[&StrandEvent]) -> Option<Mark> {
        let timeless = |mark: &Mark| mark.at.is_none() || !self.case.has_common_clock(*mark);
        let contacts = self.case.contacts.iter().filter(|contact| is_nobodys(contact));
        let contact = contacts.map(|contact| contact.attempt).find(timeless);
        let worked = |call: &&Call| !matches!(call.answer.kind, AnswerKind::HttpError | AnswerKind::NotSent);
        let effectful = |call: &&Call| !is_effect_free(self.case.name(call.method));
        let all = self.case.calls.iter().filter(worked).count();
        let known = self.case.calls.iter().filter(worked).filter(effectful).count();
        let mut told: FxHashMap<(StrandFact, bool), usize> = FxHashMap::default();
        let surplus = at_work.iter().filter(|event| timeless(&event.mark)).find(|event| {
            let named = event.name.is_some();
            let count = told.entry((event.what, named)).or_default();
            *count += 1;
            *count > if named { known } else { all }
        });
        contact.or(surplus.map(|event| event.mark))
    }

    /// A server at work on something that may have an effect: a call was received, its handler entered or left.
    fn is_work(&self, event: &StrandEvent) -> bool {
        use RemarkKind::{HandlerEntered, HandlerRaised, HandlerReturned, Processing};
        let StrandFact::Remark(kind) = event.what else { return false };
        let harmless = event.name.is_some_and(|name| is_effect_free(self.case.name(name)));
        !harmless && matches!(kind, Processing | HandlerEntered | HandlerRaised | HandlerReturned)
    }
}

/// The first record of each source, in their order.
fn firsts(marks: impl IntoIterator<Item = Mark>) -> Vec<Mark> {
    let mut marks: Vec<Mark> = marks.into_iter().collect();
    marks.sort_unstable_by_key(|mark| mark.origin);
    marks.dedup_by_key(|mark| mark.origin.source);
    marks
}

fn each_once(sources: impl Iterator<Item = SourceId>) -> Vec<SourceId> {
    sources.collect::<BTreeSet<SourceId>>().into_iter().collect()
}

/// A contact whose writer named neither run nor call, and that was bound to no call.
fn is_nobodys(contact: &Contact) -> bool {
    contact.is_attempt() && contact.call == NONE && contact.run_id.is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn span(source: u32, from: i64, to: i64, late: bool) -> Span {
        let (from, to) = (Timestamp(from * SECOND), Timestamp(to * SECOND));
        Span { source: SourceId(source), from, to, last: to, late, zoned: true }
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
    fn a_zone_that_nobody_knows_is_any() {
        let stray = Stray { local: vec![2 * SECOND, 600 * SECOND], ..Stray::default() };
        let within = |from: i64, to: i64| stray.words_maybe_within(Timestamp(from * SECOND), Timestamp(to * SECOND));
        assert!(within(7202, 7203) && within(600, 600) && within(898, 901) && within(0, 2000));
        assert!(!within(7205, 7209) && !within(500, 598) && !within(880, 890));
    }

    #[test]
    fn what_stands_directly_behind_an_answer_may_have_been_read_late() {
        let at = |milliseconds: i64| Timestamp(milliseconds * MILLISECOND);
        let written = |from, to| {
            let words =
                vec![Span { source: SourceId(1), from: at(from), to: at(to), last: at(to), late: false, zoned: true }];
            Stray { words, longest: (to - from) * MILLISECOND, ..Stray::default() }
        };
        let after = |stray: Stray| stray.words_within(SourceId(1), at(1000), at(2000));
        assert!(after(written(2010, 2010)) && after(written(990, 2010)));
        assert!(!after(written(1990, 1990)) && !after(written(2060, 2070)));
    }

    #[test]
    fn work_counts_where_it_begins_inside() {
        let at = |seconds: i64| Timestamp(seconds * SECOND);
        let stray = Stray { work: vec![at(1), at(3)], ..Stray::default() };
        assert!(stray.work_within(at(2), at(5)) && stray.work_within(at(0), at(1)));
        assert!(!stray.work_within(at(4), at(9)) && !stray.work_within(at(2), Timestamp(2 * SECOND + 1)));
    }
}
