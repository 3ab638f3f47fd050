//! Trace contexts (W3C `traceparent`): which records of several sources tell of one request, whatever ids they give it.
//!
//! A trace may hold a whole conversation, and then names no call. The span that a request was sent in does, where each
//! source recorded one request in it; so does a trace in which each source recorded one request at all.

use rustc_hash::{FxHashMap, FxHashSet};

use super::{AnswerKind, Call, Contact, Correlator, Key, NONE, RpcId, Seen, runs::Components};
use crate::{
    event::{Direction, Keys, Origin, Span, SpanRole, Witness, is_effect_free},
    symbol::Symbol,
    time::SECOND,
};

/// A trace, and the span that a request was sent in; 0 where no span is named.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Context {
    trace: Key,
    span: u64,
}

impl Context {
    /// A trace id has 32 digits, a span 16 behind a `-`; what is no such number is none.
    pub(super) fn of(text: Option<&str>) -> Option<Self> {
        let text = text.filter(|text| text.is_ascii())?;
        let number = |from: usize, to: usize| u64::from_str_radix(text.get(from..to)?, 16).ok();
        let span = || number(33, 49).filter(|_| text.len() == 49 && text.as_bytes().get(32) == Some(&b'-'));
        (matches!(text.len(), 32 | 49)).then_some(())?;
        Some(Self { trace: Key([number(0, 16)?, number(16, 32)?]), span: span().unwrap_or(0) })
    }

    /// Whether it names the span, and so the request.
    pub(super) fn names_a_span(self) -> bool {
        self.span != 0
    }
}

/// Contexts of requests and contacts. Few logs carry any, so no call does.
#[derive(Debug, Default)]
pub(super) struct Contexts {
    /// By context once all sources were read.
    rows: Vec<(Context, u32)>,
    /// The spans that calls were told by.
    spans: FxHashMap<u32, Vec<OwnSpan>>,
    /// The traces of the spans that calls were sent in.
    sent_in: FxHashMap<u32, Vec<Key>>,
    /// Calls, and the sources that give them a trace.
    told: FxHashSet<(u32, usize)>,
    /// The traces of records that tell of contacts.
    contacts: FxHashMap<Origin, Key>,
    set_of: FxHashMap<u32, u32>,
    sets: Vec<Set>,
}

/// A span of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct OwnSpan {
    role: SpanRole,
    span: u64,
    parent: u64,
}

impl OwnSpan {
    /// One side makes one span of a request, or several inside of each other.
    fn excludes(self, other: Self) -> bool {
        self.role == other.role && self.span != other.span && self.parent != other.span && other.parent != self.span
    }
}

/// Views that may be of one request.
#[derive(Debug)]
struct Set {
    calls: Vec<u32>,
    /// No source has two of them.
    sure: bool,
}

/// More views than this with one context: it is that of a conversation.
const SHARED: usize = 16;
/// Views that only share a trace are of one time, as far as clocks of one incident agree.
const NEAR: i64 = 10 * SECOND;

impl Contexts {
    /// The views that may be of one request with this one, and whether they are, if nothing contradicts.
    pub(super) fn with(&self, call: u32) -> Option<(&[u32], bool)> {
        let set = self.sets.get(*self.set_of.get(&call)? as usize)?;
        Some((&set.calls, set.sure))
    }

    /// Sets of views of which each source has one at most.
    fn sure(&self) -> impl Iterator<Item = &[u32]> {
        self.sets.iter().filter(|set| set.sure).map(|set| &set.calls[..])
    }

    /// Whether two calls were told by spans of one side that are two requests.
    pub(super) fn are_two(&self, a: u32, b: u32) -> bool {
        let of = |call: u32| self.spans.get(&call).map_or(&[][..], Vec::as_slice);
        let (one, two) = (of(a), of(b));
        one.iter().any(|one| two.iter().any(|two| one.excludes(*two)))
    }

    /// Whether two calls name the spans that they were sent in, and these are of different traces.
    pub(super) fn are_apart(&self, a: u32, b: u32) -> bool {
        match (self.sent_in.get(&a), self.sent_in.get(&b)) {
            (Some(one), Some(two)) => one.iter().all(|trace| !two.contains(trace)),
            _ => false,
        }
    }

    /// Notes that a view is of a call.
    pub(super) fn absorb(&mut self, call: u32, view: u32) {
        if let Some(spans) = self.spans.remove(&view) {
            self.spans.entry(call).or_default().extend(spans);
        }
        if let Some(traces) = self.sent_in.remove(&view) {
            self.sent_in.entry(call).or_default().extend(traces);
        }
    }

    /// Follows views into the calls that they have become.
    pub(super) fn follow(&mut self, target: impl Fn(u32) -> u32) {
        for (_, call) in &mut self.rows {
            *call = target(*call);
        }
        self.rows.retain(|(_, call)| *call != NONE);
        self.rows.sort_unstable();
        self.rows.dedup();
        self.told = self.told.iter().map(|(call, source)| (target(*call), *source)).collect();
        (self.set_of, self.sets) = Default::default();
    }

    /// The calls of a trace.
    fn of_trace(&self, trace: Key) -> impl Iterator<Item = u32> {
        let from = self.rows.partition_point(|(context, _)| context.trace < trace);
        self.rows[from..].iter().take_while(move |(context, _)| context.trace == trace).map(|(_, call)| *call)
    }

    /// Whether a contact may be of a call: its trace is known to this one, or unknown to all. A log that gives both a
    /// trace gives them the same one, if they belong together.
    pub(super) fn allow(&self, contact: &Contact, call: u32) -> bool {
        let Some(trace) = self.contacts.get(&contact.attempt.origin) else { return true };
        let mut calls = self.of_trace(*trace).peekable();
        match calls.peek() {
            None => !self.told.contains(&(call, super::source_index(contact.attempt.origin))),
            Some(_) => calls.any(|other| other == call),
        }
    }

    /// The only call with each context that names a span; [`NONE`] where there are several.
    pub(super) fn spans(&self) -> FxHashMap<Context, u32> {
        let mut found = FxHashMap::default();
        for (context, call) in self.rows.iter().filter(|(context, _)| context.names_a_span()) {
            found.entry(*context).and_modify(|known| *known = NONE).or_insert(*call);
        }
        found
    }
}

impl Correlator {
    /// Notes the context that a record gives a request.
    pub(super) fn note_trace(&mut self, call: u32, trace: Option<&str>) {
        if let Some(context) = Context::of(trace) {
            self.traces.rows.push((context, call));
        }
    }

    /// Notes the context of a span: a client's request names the client's span, which a server's has for its parent.
    pub(super) fn note_span(&mut self, call: u32, trace: Option<&str>, span: &Span<'_>) {
        let own = OwnSpan { role: span.role, span: span.span, parent: span.parent };
        self.traces.spans.entry(call).or_default().push(own);
        if let Some(context) = Context::of(trace) {
            let span = if span.role == SpanRole::Client { span.span } else { span.parent };
            self.traces.rows.push((Context { span, ..context }, call));
        }
    }

    /// Notes the trace that a record gives a contact.
    pub(super) fn note_contact_trace(&mut self, origin: Origin, keys: &Keys<'_>) {
        if let Some(context) = Context::of(keys.trace) {
            self.traces.contacts.insert(origin, context.trace);
        }
    }

    /// Finds the views that may be of one request.
    pub(super) fn gather_traces(&mut self) {
        let mut rows = std::mem::take(&mut self.traces.rows);
        if rows.is_empty() {
            return;
        }
        rows.sort_unstable();
        rows.dedup();
        let source = |call: u32| super::source_index(self.case.place(&self.case.calls[call as usize]).origin);
        self.traces.told = rows.iter().map(|(_, call)| (*call, source(*call))).collect();
        for (context, call) in rows.iter().filter(|(context, _)| context.names_a_span()) {
            self.traces.sent_in.entry(*call).or_default().push(context.trace);
        }
        let mut joined = Components::of(self.case.calls.len());
        for trace in rows.chunk_by(|a, b| a.0.trace == b.0.trace) {
            for span in trace.chunk_by(|a, b| a.0 == b.0) {
                if span[0].0.names_a_span() && span.len() <= SHARED {
                    join_all(&mut joined, span);
                }
            }
            if self.is_one_request(trace) {
                join_all(&mut joined, trace);
            }
        }
        let mut members: Vec<(u32, u32)> = rows.iter().map(|(_, call)| (joined.root(*call), *call)).collect();
        members.sort_unstable();
        members.dedup();
        for set in members.chunk_by(|a, b| a.0 == b.0).filter(|set| set.len() > 1 && set.len() <= SHARED) {
            let calls: Vec<u32> = set.iter().map(|(_, call)| *call).collect();
            let number = u32::try_from(self.traces.sets.len()).expect("fewer than 2^32 sets");
            self.traces.set_of.extend(calls.iter().map(|call| (*call, number)));
            let sure = self.once_a_source(calls.iter().copied());
            self.traces.sets.push(Set { calls, sure });
        }
        self.traces.rows = rows;
    }

    /// Whether each source recorded one request of a trace, all at one time.
    fn is_one_request(&self, trace: &[(Context, u32)]) -> bool {
        let mut calls: Vec<u32> = trace.iter().map(|(_, call)| *call).collect();
        calls.sort_unstable();
        calls.dedup();
        let times =
            calls.iter().map(|call| self.case.on_common_clock(self.case.place(&self.case.calls[*call as usize])));
        let times: Vec<i64> = times.flatten().map(|at| at.0).collect();
        let apart = times.iter().max().zip(times.iter().min()).map_or(0, |(last, first)| last.saturating_sub(*first));
        calls.len() > 1
            && calls.len() <= SHARED
            && times.len() == calls.len()
            && apart <= NEAR
            && self.once_a_source(calls.into_iter())
    }

    fn once_a_source(&self, calls: impl Iterator<Item = u32>) -> bool {
        let mut sources = FxHashSet::default();
        calls
            .into_iter()
            .all(|call| sources.insert(super::source_index(self.case.place(&self.case.calls[call as usize]).origin)))
    }

    /// Whether nothing that both recorded of a request differs, but for ids and sessions: gateways have their own.
    pub(super) fn same_request(&self, a: u32, b: u32) -> bool {
        let (a, b) = (&self.case.calls[a as usize], &self.case.calls[b as usize]);
        let both = |x: Option<Symbol>, y: Option<Symbol>| x.is_none() || y.is_none() || x == y;
        a.method == b.method
            && a.direction == b.direction
            && both(a.target, b.target)
            && (a.args == b.args || a.args == Key::default() || b.args == Key::default())
    }

    /// Whether a gateway gave a request another id.
    pub(super) fn renumbered(&self, a: u32, b: u32) -> bool {
        let (a, b) = (self.case.calls[a as usize].id, self.case.calls[b as usize].id);
        let unknown = a == RpcId::Unknown || b == RpcId::Unknown;
        !unknown && a != b && self.other_spelling(a) != Some(b)
    }

    /// Whether two views with different ids show one end. Behind a refusal stands no request, unless it is shown that the
    /// server had it: else what was refused and what was sent on may be two attempts in one span.
    pub(super) fn ends_agree(&self, a: u32, b: u32) -> bool {
        let (a, b) = (&self.case.calls[a as usize], &self.case.calls[b as usize]);
        match (ended(a), ended(b)) {
            (true, true) => !self.differing(a, b),
            (false, false) => true,
            (true, false) => is_success(a) || was_received(b),
            (false, true) => is_success(b) || was_received(a),
        }
    }

    /// Two records in one span whose ends differ: whichever was refused may have been done by the other one.
    pub(super) fn doubt_ends(&mut self, a: u32, b: u32) {
        for (call, other) in [(a, b), (b, a)] {
            if !is_success(&self.case.calls[call as usize]) {
                self.contest(&[call], other);
            }
        }
    }

    /// Doubts the ends of what was sent in one span in conversations that are not joined.
    pub(super) fn doubt_apart(&mut self) {
        let mut apart = Vec::new();
        for calls in self.traces.sure() {
            for (at, one) in calls.iter().enumerate() {
                let run = |call: u32| self.case.calls[call as usize].run;
                let others = calls[at + 1..].iter().filter(|two| run(*one) != run(**two));
                let doubtful = others.filter(|two| self.same_request(*one, **two) && !self.ends_agree(*one, **two));
                apart.extend(doubtful.map(|two| (*one, *two)));
            }
        }
        for (one, two) in apart {
            self.doubt_ends(one, two);
        }
    }

    /// Joins conversations in which one request was recorded, whatever its id. What has several partners that cannot be
    /// one conversation themselves is a client of several servers, or a server of several clients.
    pub(super) fn join_by_trace(&self, sets: &mut Components) {
        let mut near: std::collections::BTreeMap<u32, Vec<u32>> = std::collections::BTreeMap::new();
        for calls in self.traces.sure() {
            for (at, one) in calls.iter().enumerate() {
                for two in &calls[at + 1..] {
                    let strand = |call: &u32| self.case.calls[*call as usize].strand;
                    let (a, b) = (sets.root(strand(one)), sets.root(strand(two)));
                    if a != b && self.shows_one_run(*one, *two) {
                        near.entry(a).or_default().push(b);
                        near.entry(b).or_default().push(a);
                    }
                }
            }
        }
        if near.is_empty() {
            return;
        }
        for list in near.values_mut() {
            list.sort_unstable();
            list.dedup();
        }
        let sides = self.sides(sets, &near.keys().copied().collect());
        let linked = |a: u32, b: u32| near[&a].binary_search(&b).is_ok();
        let is_hub = |list: &[u32]| {
            let apart = |a: u32, b: u32| !linked(a, b) && sides[&a].excludes(&sides[&b]);
            list.len() > SHARED || list.iter().any(|a| list.iter().any(|b| a < b && apart(*a, *b)))
        };
        let hubs: FxHashSet<u32> = near.iter().filter(|(_, list)| is_hub(list)).map(|(root, _)| *root).collect();
        for (a, list) in &near {
            for b in list.iter().filter(|b| *a < **b && !hubs.contains(a) && !hubs.contains(*b)) {
                if sides[a].may_be_one_run(&sides[b]) {
                    sets.join(*a, *b);
                }
            }
        }
    }

    /// Whether two views of one request show that their conversations are one. A client that starts its server anew may
    /// send a request again in the same span and under the same id: two views of one kind are two lives then.
    fn shows_one_run(&self, one: u32, two: u32) -> bool {
        let (a, b) = (&self.case.calls[one as usize], &self.case.calls[two as usize]);
        let two_hops = a.witness != b.witness || self.renumbered(one, two);
        self.same_request(one, two) && self.ends_agree(one, two) && (two_hops || self.at_one_time(one, two))
    }

    fn sides(&self, sets: &mut Components, roots: &FxHashSet<u32>) -> FxHashMap<u32, Side> {
        let mut sides: FxHashMap<u32, Side> = roots.iter().map(|root| (*root, Side::default())).collect();
        for (index, strand) in (0_u32..).zip(&self.case.strands) {
            let Some(side) = sides.get_mut(&sets.root(index)) else { continue };
            side.sources.insert(strand.source);
            side.runs.extend(strand.run_id.map(|run| (run, strand.life)));
            side.servers.extend(strand.server_info);
            side.witnesses.extend(strand.has_calls().then_some(strand.witness));
        }
        sides
    }

    /// A record of a contact whose trace holds one request that may have an effect is about that one, where every such
    /// request of the run has a trace: a request without one may be of any.
    pub(super) fn bind_by_trace(&mut self) {
        if self.traces.contacts.is_empty() {
            return;
        }
        let may_act =
            |call: &Call| call.direction == Direction::ToServer && !is_effect_free(self.case.name(call.method));
        let traced: FxHashSet<u32> = self.traces.rows.iter().map(|(_, call)| *call).collect();
        let calls = (0_u32..).zip(&self.case.calls);
        let mixed: FxHashSet<u32> =
            calls.filter(|(index, call)| may_act(call) && !traced.contains(index)).map(|(_, call)| call.run).collect();
        let mut bound = Vec::new();
        for (index, contact) in self.case.contacts.iter().enumerate().filter(|(_, contact)| contact.call == NONE) {
            let Some(trace) = self.traces.contacts.get(&contact.attempt.origin) else { continue };
            let mut calls: Vec<u32> = self.traces.of_trace(*trace).collect();
            calls.sort_unstable();
            calls.dedup();
            calls.retain(|call| may_act(&self.case.calls[*call as usize]));
            if let [call] = calls[..]
                && !mixed.contains(&self.case.calls[call as usize].run)
                && self.was_open(call, contact).is_none_or(|open| open != super::opened::Was::Not)
            {
                bound.push((index, call));
            }
        }
        for (index, call) in bound {
            let slot = &mut self.case.contacts[index];
            (slot.call, slot.bound, slot.outside) = (call, super::Basis::Inferred, false);
        }
    }
}

/// What a set of conversations looks like to another one.
#[derive(Debug, Default)]
struct Side {
    sources: FxHashSet<u32>,
    runs: FxHashSet<(Symbol, u32)>,
    servers: FxHashSet<Symbol>,
    witnesses: FxHashSet<Witness>,
}

impl Side {
    fn may_be_one_run(&self, other: &Self) -> bool {
        self.runs.is_empty() || other.runs.is_empty() || !self.runs.is_disjoint(&other.runs)
    }

    /// Whether both cannot be views of one conversation.
    fn excludes(&self, other: &Self) -> bool {
        !self.may_be_one_run(other)
            || !self.sources.is_disjoint(&other.sources)
            || !self.witnesses.is_disjoint(&other.witnesses)
            || !self.servers.is_empty() && !other.servers.is_empty() && self.servers.is_disjoint(&other.servers)
    }
}

fn join_all(sets: &mut Components, rows: &[(Context, u32)]) {
    for pair in rows.windows(2) {
        sets.join(pair[0].1, pair[1].1);
    }
}

fn ended(call: &Call) -> bool {
    !matches!(call.answer.kind, AnswerKind::None | AnswerKind::NotCaptured)
}

fn is_success(call: &Call) -> bool {
    matches!(call.answer.kind, AnswerKind::Result | AnswerKind::Task)
}

fn was_received(call: &Call) -> bool {
    call.witness == Witness::Server && call.asked_as == Seen::Received
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        correlate::Case,
        judge::{Caution, Verdicts, testing::judged},
    };

    /// A request to pay in a span of a trace, and its answer a second later.
    fn paid(server: &str, id: u32, minute: u32, (trace, span): (u8, u8), answer: Option<&str>) -> String {
        let message = |second: u32, way: &str, rest: &str| {
            format!(
                r#"{{"ts":"2026-07-22T14:{minute:02}:{second:02}.000Z","server":"{server}","witness":"proxy","direction":"{way}","message":{{"jsonrpc":"2.0","id":{id},{rest}}}}}"#
            )
        };
        let asked = format!(
            r#""method":"tools/call","params":{{"name":"pay","arguments":{{"amount":5}},"_meta":{{"traceparent":"00-{trace:032x}-{span:016x}-01"}}}}"#
        );
        let answered = answer.map(|answer| message(2, "out", answer));
        [Some(message(1, "in", &asked)), answered].into_iter().flatten().map(|line| line + "\n").collect()
    }

    const DONE: &str = r#""result":{"content":[]}"#;
    const REFUSED: &str = r#""error":{"code":-32602,"message":"Unknown tool: pay"}"#;

    fn calls(sources: &[String]) -> usize {
        judged(&texts(sources)).0.calls.len()
    }

    fn texts(sources: &[String]) -> Vec<&str> {
        sources.iter().map(String::as_str).collect()
    }

    fn safe((_, verdicts): &(Case, Verdicts)) -> bool {
        verdicts.calls.values().any(|call| call.retry.verdict == Caution::Safe)
    }

    #[test]
    fn one_span_is_one_call_whatever_its_ids_and_clocks() {
        let front = paid("gate", 1, 0, (7, 1), Some(DONE));
        assert_eq!(calls(&[front.clone(), paid("acme", 90, 40, (7, 1), Some(DONE))]), 1);
        assert_eq!(calls(&[front.clone(), paid("acme", 90, 40, (8, 1), Some(DONE))]), 2, "another trace");
        assert_eq!(calls(&[front.clone(), paid("acme", 90, 40, (7, 2), Some(DONE))]), 2, "one trace, at other times");
        assert_eq!(calls(&[front, paid("acme", 90, 0, (7, 2), Some(DONE))]), 1, "one trace with one request");
    }

    #[test]
    fn a_long_lived_trace_joins_nothing() {
        let front = [1, 2].map(|id| paid("gate", id, id, (7, 0), Some(DONE))).concat();
        assert_eq!(calls(&[front, paid("acme", 90, 1, (7, 0), Some(DONE))]), 3);
    }

    #[test]
    fn ends_that_differ_are_doubted() {
        for behind in [None, Some(DONE)] {
            let told = [paid("gate", 1, 0, (7, 1), Some(REFUSED)), paid("acme", 90, 40, (7, 1), behind)];
            let judged = judged(&texts(&told));
            assert_eq!(judged.0.calls.len(), 2, "{behind:?}");
            assert!(!safe(&judged) && judged.0.calls[0].contested, "{behind:?}");
        }
    }

    #[test]
    fn two_requests_in_one_span_are_contested() {
        let front = [1, 2].map(|id| paid("gate", id, id, (7, 1), None)).concat();
        let judged = judged(&texts(&[front, paid("gate", 90, 3, (7, 1), Some(DONE))]));
        assert!(!safe(&judged));
    }

    #[test]
    fn a_context_is_a_number() {
        assert!(Context::of(Some("0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7")).is_some());
        assert!(Context::of(Some("not a trace at all, but 32 long.")).is_none());
        assert!(Context::of(Some("7")).is_none() && Context::of(None).is_none());
    }
}
