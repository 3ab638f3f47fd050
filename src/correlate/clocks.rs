//! How far the clocks of two sources are apart, as far as calls that both of them recorded show it.
//!
//! A request is sent before it is received, and answered before its answer is delivered: each call that two sources
//! recorded bounds what one clock shows more than the other. Stamps are never altered.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use super::{AnswerKind, Correlator, Mark, Pace, RpcId, SourceFacts, Strand, pace::Samples};
use crate::{
    event::{SourceId, Witness},
    symbol::Symbol,
    time::{DAY, MILLISECOND, SECOND},
};

/// Clocks of one incident are assumed to agree to ten seconds.
pub(super) const AGREED: i64 = 10 * SECOND;

/// What the clock of one source shows more than that of another, in nanoseconds: at least, and at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Offset {
    /// At least this.
    pub low: i64,
    /// At most this.
    pub high: i64,
}

impl Offset {
    /// A source and itself.
    const NONE: Self = Self { low: 0, high: 0 };
    /// Two sources that recorded no call in common.
    const UNKNOWN: Self = Self { low: -AGREED, high: AGREED };
    /// Nothing is known: further than any two stamps that mean something, and near enough to be added up.
    const ANY: Self = Self { low: i64::MIN / 4, high: i64::MAX / 4 };

    /// Bounds that are not known are left open.
    fn between(low: Option<i64>, high: Option<i64>) -> Self {
        let within = |bound: i64| bound.clamp(Self::ANY.low, Self::ANY.high);
        Self { low: low.map_or(Self::ANY.low, within), high: high.map_or(Self::ANY.high, within) }
    }

    fn turned(self) -> Self {
        Self { low: -self.high, high: -self.low }
    }

    fn plus(self, other: Self) -> Self {
        Self { low: self.low + other.low, high: self.high + other.high }
    }

    fn meets(self, other: Self) -> Self {
        Self { low: self.low.max(other.low), high: self.high.min(other.high) }
    }

    /// Where an instant of the one clock lies on the other: from, to.
    pub(super) fn place(self, at: i64) -> (i64, i64) {
        (at.saturating_add(self.low), at.saturating_add(self.high))
    }
}

/// What is known of the clocks of all sources.
#[derive(Clone, Debug, Default)]
pub struct Clocks {
    /// By pairs, the smaller number first: what the second clock shows more than the first.
    between: FxHashMap<(u32, u32), Offset>,
    /// The sources that each is compared with.
    near: FxHashMap<u32, Vec<u32>>,
    /// Pairs whose difference changed: nothing is known of them.
    paces: BTreeMap<(u32, u32), Pace>,
}

/// Sources through which two others are compared.
const THROUGH: usize = 16;

impl Clocks {
    /// What the clock of `two` shows more than the clock of `one`.
    pub fn offset(&self, one: SourceId, two: SourceId) -> Offset {
        if self.paces.contains_key(&(one.0.min(two.0), one.0.max(two.0))) {
            return Offset::ANY;
        }
        let Some(known) = self.known(one.0, two.0) else { return Offset::UNKNOWN };
        let likely = known.meets(Offset::UNKNOWN);
        if likely.low <= likely.high { likely } else { known }
    }

    /// Pairs of clocks whose difference changed.
    pub fn paces(&self) -> impl Iterator<Item = &Pace> {
        self.paces.values()
    }

    /// Whether calls in common show how far two clocks are apart.
    pub fn compares(&self, one: SourceId, two: SourceId) -> bool {
        self.known(one.0, two.0).is_some()
    }

    /// The source whose clock the others are compared with in reports: the one that has calls in common with most.
    pub fn reference(&self) -> Option<SourceId> {
        let compared = self.near.iter().map(|(source, near)| (std::cmp::Reverse(near.len()), *source));
        compared.min().map(|(_, source)| SourceId(source))
    }

    /// What the clock of a source shows more than the one of the reference, where both bounds are known.
    pub fn against_reference(&self, source: SourceId) -> Option<Offset> {
        let offset = self.known(self.reference()?.0, source.0)?;
        (offset.low > -DAY && offset.high < DAY).then_some(offset)
    }

    fn known(&self, one: u32, two: u32) -> Option<Offset> {
        if one == two {
            return Some(Offset::NONE);
        }
        if let Some(direct) = self.direct(one, two) {
            return Some(direct);
        }
        // What both are compared with tells of them, too.
        let near = self.near.get(&one)?.iter().take(THROUGH);
        let ways = near.filter_map(|third| Some(self.direct(one, *third)?.plus(self.direct(*third, two)?)));
        ways.reduce(Offset::meets).filter(|offset| offset.low <= offset.high)
    }

    fn direct(&self, one: u32, two: u32) -> Option<Offset> {
        if one < two {
            self.between.get(&(one, two)).copied()
        } else {
            self.between.get(&(two, one)).map(|offset| offset.turned())
        }
    }

    /// Adds what calls in common show of two sources.
    fn learn(&mut self, one: u32, two: u32, offset: Offset) {
        let (key, offset) = if one < two { ((one, two), offset) } else { ((two, one), offset.turned()) };
        if let Some(known) = self.between.get_mut(&key) {
            *known = known.meets(offset);
        } else {
            self.between.insert(key, offset);
            self.near.entry(one).or_default().push(two);
            self.near.entry(two).or_default().push(one);
        }
    }

    /// Forgets what cannot be: a clock that was set, or calls that are not the same after all.
    fn settle(&mut self) {
        self.between.retain(|_, offset| offset.low <= offset.high);
        let between = &self.between;
        self.near.retain(|one, near| {
            near.retain(|two| between.contains_key(&(*one.min(two), *one.max(two))));
            !near.is_empty()
        });
    }
}

/// When a call was asked and answered by one source.
#[derive(Clone, Copy, Debug, Default)]
struct Times {
    asked: Option<i64>,
    answered: Option<i64>,
}

/// So many calls, one after the other, must lie in one another.
const IN_STEP: usize = 3;

/// What calls show of pairs of clocks, and the last call of each.
type Paces = FxHashMap<(u32, u32), (Samples, [Mark; 2])>;

/// A conversation that is compared with at most so many others of its run.
const COMPARED: usize = 8;

impl Correlator {
    /// Compares the clocks of the sources of each run, by the calls that their ids show to be the same.
    pub(super) fn compare_clocks(&mut self) {
        let mut clocks = Clocks::default();
        let mut samples = Paces::default();
        for run in &self.case.runs {
            let with_calls = run.strands.iter().copied().filter(|at| self.case.strands[*at as usize].has_calls());
            let strands: Vec<u32> = with_calls.collect();
            for (at, one) in strands.iter().enumerate() {
                for two in strands[at + 1..].iter().take(COMPARED) {
                    self.compare(*one, *two, &mut clocks, &mut samples);
                }
            }
        }
        // What no one difference fits is drift, or a clock that was set.
        let apart = clocks.between.iter().filter(|(_, offset)| offset.low > offset.high).map(|(pair, _)| *pair);
        let apart: Vec<(u32, u32)> = apart.collect();
        for pair in apart {
            if let Some((samples, marks)) = samples.remove(&pair) {
                clocks.paces.insert(pair, Pace { rate: samples.rate(), marks });
            }
        }
        clocks.settle();
        self.case.clocks = clocks;
    }

    fn compare(&self, one: u32, two: u32, clocks: &mut Clocks, samples: &mut Paces) {
        let (first, second) = (&self.case.strands[one as usize], &self.case.strands[two as usize]);
        if first.source == second.source {
            return;
        }
        let mut of_id: FxHashMap<(RpcId, Symbol), Option<u32>> = FxHashMap::default();
        for call in &second.calls {
            let facts = &self.case.calls[*call as usize];
            // An id that was used twice tells nothing.
            of_id.entry((facts.id, facts.method)).and_modify(|known| *known = None).or_insert(Some(*call));
        }
        let margin = self.margin(first.source, second.source);
        let traced = self.traced_pairs(first, second);
        for (call, other) in &traced {
            if let Some(offset) = self.bounds(*call, *other, margin) {
                clocks.learn(first.source, second.source, offset);
                self.sample(*call, *other, offset, samples);
            }
        }
        // Behind a gateway that numbers requests anew, equal ids are chance.
        if traced.iter().any(|(one, two)| self.renumbered(*one, *two)) {
            return;
        }
        for call in &first.calls {
            let facts = &self.case.calls[*call as usize];
            if matches!(facts.id, RpcId::Unknown | RpcId::Null) {
                continue;
            }
            let Some(Some(other)) = of_id.get(&(facts.id, facts.method)).copied() else { continue };
            if self.same_call(*call, other)
                && let Some(offset) = self.bounds(*call, other, margin)
            {
                clocks.learn(first.source, second.source, offset);
                self.sample(*call, other, offset, samples);
            }
        }
    }

    /// Keeps what a call shows, by the pair of its sources.
    fn sample(&self, one: u32, two: u32, offset: Offset, samples: &mut Paces) {
        let mark = |call: u32| self.case.place(&self.case.calls[call as usize]);
        let (one, two, offset) = match (mark(one), mark(two)) {
            (one, two) if one.origin.source < two.origin.source => (one, two, offset),
            (one, two) => (two, one, offset.turned()),
        };
        let known = offset.low > Offset::ANY.low && offset.high < Offset::ANY.high;
        if let Some(at) = self.case.placed(one).filter(|_| known) {
            let pair = (one.origin.source.0, two.origin.source.0);
            let entry = samples.entry(pair).or_insert((Samples::default(), [one, two]));
            entry.0.add(at.0, offset);
            entry.1 = [one, two];
        }
    }

    /// The calls of two conversations that their trace contexts show to be the same.
    fn traced_pairs(&self, first: &Strand, second: &Strand) -> Vec<(u32, u32)> {
        let of = |call: &u32| {
            let (others, sure) = self.traces.with(*call)?;
            let mut same = others.iter().filter(|other| second.calls.binary_search(other).is_ok());
            let only = same.next().filter(|other| sure && self.same_request(*call, **other))?;
            self.ends_agree(*call, *only).then_some((*call, *only))
        };
        first.calls.iter().filter_map(of).collect()
    }

    /// What one call shows of the clocks of two sources that recorded it, give or take a margin.
    fn bounds(&self, one: u32, two: u32, margin: i64) -> Option<Offset> {
        let (first, second) = (self.times(one), self.times(two));
        let is_server = |call: u32| self.case.calls[call as usize].witness == Witness::Server;
        let (low, high) = match (is_server(one), is_server(two)) {
            (false, true) => (second.answered.zip(first.answered), second.asked.zip(first.asked)),
            (true, false) => (second.asked.zip(first.asked), second.answered.zip(first.answered)),
            // Of two on the same side nobody is known to be first.
            _ => (second.asked.zip(first.answered), second.answered.zip(first.asked)),
        };
        let low = low.map(|(second, first)| second.saturating_sub(first).saturating_sub(margin));
        let high = high.map(|(second, first)| second.saturating_sub(first).saturating_add(margin));
        (low.is_some() || high.is_some()).then(|| Offset::between(low, high))
    }

    /// Whether calls of two conversations, pair by pair, lie in one another by one offset of their clocks: no two
    /// conversations have the same pauses by chance, to a second at most.
    pub(super) fn in_step(&self, pairs: &[(u32, u32)]) -> bool {
        let work = |call: u32| self.case.name(self.case.calls[call as usize].method) == "tools/call";
        if pairs.len() < IN_STEP || !pairs.iter().any(|(one, _)| work(*one)) {
            return false;
        }
        let source = |call: u32| super::source_index(self.case.place(&self.case.calls[call as usize]).origin);
        let mut all = Offset::ANY;
        for (one, two) in pairs {
            let grain = [*one, *two].map(|call| self.grain_of(source(call))).iter().sum();
            let Some(offset) = self.bounds(*one, *two, grain) else { return false };
            all = all.meets(offset);
        }
        all.low <= all.high && all.high.saturating_sub(all.low) <= SECOND && all.low >= -AGREED && all.high <= AGREED
    }

    /// The last digit of a source's stamps.
    fn grain_of(&self, source: usize) -> i64 {
        if self.case.sources[source].digits == 0 { SECOND } else { MILLISECOND }
    }

    fn times(&self, call: u32) -> Times {
        let call = &self.case.calls[call as usize];
        let at = |mark: Option<Mark>| Some(self.case.on_common_clock(mark?)?.0);
        // An answer that a gateway made is not the one that the server gave.
        let servers =
            !matches!(call.answer.kind, AnswerKind::HttpError | AnswerKind::StreamIncomplete | AnswerKind::NotSent);
        Times { asked: at(call.asked), answered: at(call.answered.filter(|_| servers)) }
    }

    /// Stamps are cut to their digits, and clocks drift: half a thousandth of the time that was recorded.
    fn margin(&self, one: u32, two: u32) -> i64 {
        let of = |source: &SourceFacts| {
            let span = source.first.zip(source.last).map_or(0, |(first, last)| last.0.saturating_sub(first.0));
            span / 2_000
        };
        let drift = [one, two].map(|source| of(&self.case.sources[source as usize])).into_iter().sum::<i64>();
        drift.saturating_add(self.grain_of(one as usize)).saturating_add(self.grain_of(two as usize))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_in_common_leaves_the_clocks_apart() {
        let clocks = Clocks::default();
        assert_eq!(clocks.offset(SourceId(3), SourceId(3)), Offset::NONE);
        assert_eq!(clocks.offset(SourceId(3), SourceId(4)), Offset::UNKNOWN);
    }

    #[test]
    fn a_third_clock_compares_two() {
        let mut clocks = Clocks::default();
        clocks.learn(1, 2, Offset { low: 5, high: 7 });
        clocks.learn(3, 2, Offset { low: -1, high: 1 });
        assert_eq!(clocks.offset(SourceId(1), SourceId(3)), Offset { low: 4, high: 8 });
        clocks.learn(1, 2, Offset { low: 9, high: 12 });
        clocks.settle();
        assert!(!clocks.compares(SourceId(1), SourceId(2)), "a clock that was set tells nothing");
        assert_eq!(clocks.reference(), Some(SourceId(2)), "of equals the first that is still compared");
    }

    #[test]
    fn the_longest_times_are_added_up() {
        let far = Offset::between(Some(i64::MIN), Some(i64::MAX));
        assert_eq!(far, Offset::ANY);
        assert!(far.plus(far.turned()).low < far.low);
        assert_eq!(far.place(i64::MAX).1, i64::MAX);
    }
}
