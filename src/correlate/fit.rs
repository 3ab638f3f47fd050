//! Whether two conversations without a common key can be views of one: nothing that both recorded differs.

use rustc_hash::{FxHashMap, FxHashSet};

use super::{Correlator, Strand, clocks::AGREED, merge::SAME_EXCHANGE};
use crate::{event::Witness, symbol::Symbol, time::Timestamp};

/// What a component looks like to another one.
#[derive(Default)]
pub(super) struct View {
    pub(super) sources: FxHashSet<u32>,
    run_id: Option<(Symbol, u32)>,
    process: bool,
    names: Names,
    sessions: FxHashSet<Symbol>,
    endpoints: FxHashSet<Symbol>,
    /// Who recorded its calls, and when.
    witnesses: Vec<Watched>,
    /// Who saw its process start, and how long it was watched.
    starts: Vec<Watched>,
    window: Option<(Timestamp, Timestamp)>,
    calls: Vec<u32>,
}

impl Correlator {
    pub(super) fn view(&self, strands: &[u32]) -> View {
        let mut view = View::default();
        for strand in strands {
            let strand = &self.case.strands[*strand as usize];
            view.sources.insert(strand.source);
            view.run_id = view.run_id.or(strand.run_id.map(|run| (run, strand.life)));
            view.process |= strand.saw_process();
            view.names.add(&Names::of(strand));
            view.sessions.extend(&strand.sessions);
            view.endpoints.extend(strand.endpoint);
            let window = self.case.placed(strand.first).zip(self.case.placed(strand.last));
            if strand.saw_spawn() {
                view.starts.push((strand.witness, window));
            }
            if let Some(call) = strand.calls.first() {
                view.witnesses.push((self.case.calls[*call as usize].witness, window));
            }
            for at in [strand.first, strand.last] {
                if let Some(at) = self.case.placed(at) {
                    let (first, last) = view.window.unwrap_or((at, at));
                    view.window = Some((first.min(at), last.max(at)));
                }
            }
            if strand.calls.len() > view.calls.len() {
                view.calls.clone_from(&strand.calls);
            }
        }
        view
    }

    pub(super) fn fits(&self, a: &View, b: &View, slack: i64) -> bool {
        if a.is_another(b, slack) {
            return false;
        }
        if a.calls.is_empty() || b.calls.is_empty() {
            // Lives without calls fit by window alone, and only a process fits a process.
            return a.process
                && b.process
                && !a.names.differ(&b.names)
                && a.window.is_some()
                && b.window.is_some()
                && a.calls.len() + b.calls.len() < 8;
        }
        // Another address is another hop where each call there lies inside the same call here. Otherwise other names, and
        // two views by one kind of witness, are of two conversations, unless they recorded each request at one time.
        if differ(&a.endpoints, &b.endpoints) {
            return self.calls_agree(&a.calls, &b.calls, |inner, outer| self.encloses(outer, inner))
                || self.calls_agree(&a.calls, &b.calls, |outer, inner| self.encloses(outer, inner));
        }
        let one_kind = a.has_one_kind_with(b);
        !a.names.differ(&b.names)
            && self.calls_agree(&a.calls, &b.calls, |one, other| !one_kind || self.at_one_time(one, other))
    }

    /// Whether two views by witnesses of different kinds fit but for their clocks: the calls that both recorded have the
    /// same pauses, whatever either has lost.
    pub(super) fn fits_in_step(&self, a: &View, b: &View) -> bool {
        let apart = a.is_another(b, AGREED) || differ(&a.endpoints, &b.endpoints) || a.names.differ(&b.names);
        if apart || a.has_one_kind_with(b) {
            return false;
        }
        let common = self.common(&a.calls, &b.calls).unwrap_or_default();
        common.len() * 2 >= a.calls.len().min(b.calls.len()) && self.in_step(&common)
    }

    /// The calls of two lists with the same method and id, which none of them has twice; `None` where such two differ.
    fn common(&self, a: &[u32], b: &[u32]) -> Option<Vec<(u32, u32)>> {
        let mut keys: FxHashMap<_, [Vec<u32>; 2]> = FxHashMap::default();
        for (side, calls) in [a, b].into_iter().enumerate() {
            for index in calls {
                let call = &self.case.calls[*index as usize];
                keys.entry((call.id, call.method)).or_default()[side].push(*index);
            }
        }
        let pairs = keys.values().filter_map(|sides| match sides {
            [one, two] if one.len() == 1 && two.len() == 1 => Some((one[0], two[0])),
            _ => None,
        });
        let pairs: Vec<(u32, u32)> = pairs.collect();
        pairs.iter().all(|(one, two)| self.same_call(*one, *two)).then_some(pairs)
    }

    /// Every call of the shorter list stands in the longer one, in order.
    fn calls_agree(&self, a: &[u32], b: &[u32], also: impl Fn(u32, u32) -> bool) -> bool {
        let (short, long) = if a.len() <= b.len() { (a, b) } else { (b, a) };
        let mut rest = long.iter();
        short.iter().all(|call| rest.any(|other| self.same_call(*call, *other) && also(*call, *other)))
    }

    /// Whether two requests may be one that was recorded twice: stamps that both have agree.
    pub(super) fn at_one_time(&self, a: u32, b: u32) -> bool {
        let at = |call: u32| self.case.placed(self.case.calls[call as usize].asked?);
        match (at(a), at(b)) {
            (Some(a), Some(b)) => a.0.abs_diff(b.0) <= SAME_EXCHANGE,
            _ => false,
        }
    }

    /// Whether one call lies inside the placed window of another.
    fn encloses(&self, outer: u32, inner: u32) -> bool {
        let window = |call: u32| {
            let call = &self.case.calls[call as usize];
            Some((self.case.placed(call.asked?)?, call.answered.and_then(|mark| self.case.placed(mark))))
        };
        let (Some(outer), Some(inner)) = (window(outer), window(inner)) else { return false };
        let begun = inner.0;
        outer.0 <= inner.0
            && outer != inner
            && match (outer.1, inner.1) {
                (Some(outer), Some(inner)) => inner <= outer,
                (Some(outer), None) => begun <= outer,
                (None, _) => true,
            }
    }

    /// Whether two views can be of one call: nothing that both recorded differs.
    pub(super) fn same_call(&self, a: u32, b: u32) -> bool {
        let (a, b) = (&self.case.calls[a as usize], &self.case.calls[b as usize]);
        let ids = a.id == b.id
            || a.id == super::RpcId::Unknown
            || b.id == super::RpcId::Unknown
            || self.other_spelling(a.id) == Some(b.id);
        let both = |x: Option<Symbol>, y: Option<Symbol>| x.is_none() || y.is_none() || x == y;
        ids && a.method == b.method
            && a.direction == b.direction
            && both(a.target, b.target)
            && both(a.session, b.session)
            && (a.args == b.args || a.args == super::Key::default() || b.args == super::Key::default())
    }
}

/// A kind of witness that recorded calls, and when.
type Watched = (Witness, Option<(Timestamp, Timestamp)>);

impl View {
    /// Where its window begins, in nanoseconds; before everything where it has none.
    pub(super) fn begin(&self) -> i64 {
        self.window.map_or(i64::MIN, |(first, _)| first.0)
    }

    /// Where its window ends; behind everything where it has none.
    pub(super) fn end(&self) -> i64 {
        self.window.map_or(i64::MAX, |(_, last)| last.0)
    }

    /// Whether keys or times show that another view is of another conversation.
    fn is_another(&self, other: &Self, slack: i64) -> bool {
        let apart = self.window.zip(other.window).is_some_and(|(one, two)| !meet(one, two, slack));
        let keyed = self.run_id.is_some() && other.run_id.is_some();
        keyed || apart || differ(&self.sessions, &other.sessions) || self.follows(other)
    }

    /// Whether one kind of witness saw a process start twice, one after the other: these are two lives.
    fn follows(&self, other: &Self) -> bool {
        let mut pairs = self.starts.iter().flat_map(|one| other.starts.iter().map(move |two| (one, two)));
        pairs.any(|(one, two)| one.0 == two.0 && one.1.zip(two.1).is_some_and(|(one, two)| !meet(one, two, 0)))
    }

    /// Whether one kind of witness has recorded calls of both, and no other view can be what joins them: two clients that
    /// follow one another may both have gone through one proxy.
    fn has_one_kind_with(&self, other: &Self) -> bool {
        let mut pairs = self.witnesses.iter().flat_map(|one| other.witnesses.iter().map(move |two| (one, two)));
        let at_once = |(one, two): (&Watched, &Watched)| {
            one.0 == two.0 && one.1.zip(two.1).is_none_or(|(one, two)| meet(one, two, 0))
        };
        pairs.clone().any(at_once) || pairs.all(|(one, two)| one.0 == two.0)
    }
}

/// What parties are called, by who says so: what a client calls a server is seldom what the server calls itself.
#[derive(Default)]
pub(super) struct Names([FxHashSet<Symbol>; 3]);

impl Names {
    pub(super) fn of(strand: &Strand) -> Self {
        let given = strand.server.filter(|_| strand.server != strand.server_info);
        Self([given, strand.server_info, strand.client_info].map(|name| name.into_iter().collect()))
    }

    fn add(&mut self, other: &Self) {
        for (names, more) in self.0.iter_mut().zip(&other.0) {
            names.extend(more);
        }
    }

    /// Whether both know a name of one kind and share none.
    pub(super) fn differ(&self, other: &Self) -> bool {
        self.0.iter().zip(&other.0).any(|(a, b)| differ(a, b))
    }
}

/// Whether both are known and nothing is common.
fn differ(a: &FxHashSet<Symbol>, b: &FxHashSet<Symbol>) -> bool {
    !a.is_empty() && !b.is_empty() && a.is_disjoint(b)
}

pub(super) fn meet(a: (Timestamp, Timestamp), b: (Timestamp, Timestamp), slack: i64) -> bool {
    a.0.0 <= b.1.0.saturating_add(slack) && b.0.0 <= a.1.0.saturating_add(slack)
}
