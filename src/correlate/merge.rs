//! Joins the views of one call by several witnesses into one call.
//!
//! Inside a run a view joins the one call that nothing both recorded contradicts. With several such calls the order
//! decides where it must, the placed window where only one contains the view; else the link is refused and the
//! candidates are contested.

use rustc_hash::FxHashSet;

use super::{AnswerKind, Author, Basis, Call, Correlator, Key, Mark, NONE, RpcId, Seen, ground::Ground};
use crate::{event::Witness, time::MILLISECOND};

/// Two records of one request on one hop differ by no more than this.
pub(super) const SAME_EXCHANGE: u64 = 10 * MILLISECOND.unsigned_abs();

impl Correlator {
    pub(super) fn merge_views(&mut self) {
        self.doubt_apart();
        let mut into: Vec<u32> = (0..u32::try_from(self.case.calls.len()).unwrap_or(u32::MAX)).collect();
        let mut merged = false;
        for run in 0..self.case.runs.len() {
            let mut strands: Vec<u32> = self.case.runs[run]
                .strands
                .iter()
                .copied()
                .filter(|strand| self.case.strands[*strand as usize].has_calls())
                .collect();
            if strands.len() < 2 {
                continue;
            }
            strands.sort_by_key(|strand| self.rank(*strand));
            self.merge_run(&strands, &mut into);
            merged = true;
        }
        // Calls of a single view per run stand in order of their first place already.
        if merged || !self.case.calls.is_sorted_by_key(|call| self.case.place(call).origin) {
            self.renumber(&into);
        }
    }

    /// The order in which strands lay the ground: complete wire views first, then clients, then servers.
    fn rank(&self, strand: u32) -> (u8, u32) {
        let facts = &self.case.strands[strand as usize];
        let thin = facts.calls.iter().all(|call| self.case.calls[*call as usize].thin);
        let witness = match facts.witness {
            Witness::Proxy => 0,
            Witness::Client => 1,
            Witness::Harness | Witness::Network => 2,
            Witness::Server => 3,
        };
        (witness + if thin { 4 } else { 0 }, strand)
    }

    fn merge_run(&mut self, strands: &[u32], into: &mut [u32]) {
        let mut ground = Ground::default();
        let mut contested: FxHashSet<(u32, u32)> = FxHashSet::default();
        for strand in strands {
            let source = self.case.strands[*strand as usize].source;
            let views = self.case.strands[*strand as usize].calls.clone();
            for (view, link) in self.links(&views, source, &ground, into) {
                let key = {
                    let call = &self.case.calls[view as usize];
                    (call.direction, call.method)
                };
                let link = match link {
                    Link::One(call) => self.unless_twins(call, view),
                    link => link,
                };
                match link {
                    Link::Doubtful(call) => {
                        self.doubt_ends(call, view);
                        ground.add(key, self.case.calls[view as usize].id, view, source);
                    }
                    Link::None => ground.add(key, self.case.calls[view as usize].id, view, source),
                    Link::One(call) => {
                        self.absorb(call, view);
                        into[view as usize] = call;
                        ground.seen_by(key, call, source);
                    }
                    Link::Contested(mut candidates) => {
                        // One record of a source says it: a second adds nothing.
                        candidates.retain(|call| contested.insert((*call, source)));
                        self.contest(&candidates, view);
                        into[view as usize] = NONE;
                    }
                }
            }
        }
    }

    /// The links of the views of one conversation. Where traces show that a gateway gave requests ids of its own, equal
    /// ids say nothing.
    fn links(&self, views: &[u32], source: u32, ground: &Ground, into: &[u32]) -> Vec<(u32, Link)> {
        let traced: Vec<Option<Link>> =
            views.iter().map(|view| self.traced_link(*view, source, ground, into)).collect();
        let renumbered = traced.iter().zip(views).any(|(link, view)| {
            matches!(link, Some(Link::One(call) | Link::Doubtful(call)) if self.renumbered(*call, *view))
        });
        let link = |(view, traced): (&u32, Option<Link>)| match traced {
            Some(Link::Contested(candidates)) if !renumbered => match self.link_of(*view, views, source, ground) {
                Link::None => (*view, Link::Contested(candidates)),
                link => (*view, link),
            },
            Some(link) => (*view, link),
            None if renumbered && self.case.calls[*view as usize].id != RpcId::Unknown => (*view, Link::None),
            None => (*view, self.link_of(*view, views, source, ground)),
        };
        views.iter().zip(traced).map(link).collect()
    }

    /// What the trace context of a view says: the calls on the ground that were sent in the same one.
    fn traced_link(&self, view: u32, source: u32, ground: &Ground, into: &[u32]) -> Option<Link> {
        let (others, sure) = self.traces.with(view)?;
        let call = &self.case.calls[view as usize];
        let of_source =
            |call: u32| super::source_index(self.case.place(&self.case.calls[call as usize]).origin) == source as usize;
        let alike = || others.iter().copied().filter(|other| self.same_request(view, *other));
        let key = (call.direction, call.method);
        let mut candidates: Vec<u32> = alike()
            .filter(|other| !of_source(*other))
            .map(|other| into[other as usize])
            .filter(|other| ground.awaits(key, *other, source) && self.case.calls[*other as usize].run == call.run)
            .collect();
        candidates.sort_unstable();
        candidates.dedup();
        // A span that holds several requests names one by what it asks.
        let sure = sure || alike().filter(|other| of_source(*other)).count() == 1;
        match candidates[..] {
            [] => None,
            [only] if sure && self.ends_agree(only, view) => Some(Link::One(only)),
            // What ids and session show as well needs no trace.
            [only] if sure && self.same_call(only, view) => None,
            [only] if sure => Some(Link::Doubtful(only)),
            _ => Some(Link::Contested(candidates)),
        }
    }

    fn link_of(&self, view: u32, views: &[u32], source: u32, ground: &Ground) -> Link {
        let call = &self.case.calls[view as usize];
        let ids = [Some(call.id), self.other_spelling(call.id)];
        let mut candidates = ground.candidates((call.direction, call.method), ids, source);
        candidates.retain(|other| self.may_be_views_of_one(view, *other));
        match candidates[..] {
            [] => Link::None,
            [only] if self.within(view, only) != Some(false) => {
                if self.has_rival(view, views, only) {
                    Link::Contested(candidates)
                } else {
                    Link::One(only)
                }
            }
            [_] => Link::None,
            _ => self.choose(view, views, candidates),
        }
    }

    /// Whether two views may be of one request, by what both recorded. Gateways may begin a trace of their own: an id that
    /// both recorded outweighs that.
    fn may_be_views_of_one(&self, a: u32, b: u32) -> bool {
        let nameless = |call: u32| self.case.calls[call as usize].id == RpcId::Unknown;
        self.same_call(a, b)
            && !self.traces.are_two(a, b)
            && !((nameless(a) || nameless(b)) && self.traces.are_apart(a, b))
    }

    /// Whether another view of the same source, which names no request either, may be of the call as well.
    fn has_rival(&self, view: u32, views: &[u32], call: u32) -> bool {
        self.case.calls[view as usize].id == RpcId::Unknown
            && views.iter().any(|other| {
                let nameless = self.case.calls[*other as usize].id == RpcId::Unknown;
                *other != view
                    && nameless
                    && self.may_be_views_of_one(*other, call)
                    && self.within(*other, call) != Some(false)
            })
    }

    /// One of several candidates: by containment in time, else by order where the counts agree and no two overlap.
    fn choose(&self, view: u32, views: &[u32], candidates: Vec<u32>) -> Link {
        let inside: Vec<u32> =
            candidates.iter().copied().filter(|call| self.within(view, *call) != Some(false)).collect();
        if let [only] = inside[..] {
            return Link::One(only);
        }
        let mut alike: Vec<u32> = views.iter().copied().filter(|other| self.same_call(view, *other)).collect();
        // Spans stand in the order in which they ended.
        let begun = |view: &u32| self.case.calls[*view as usize].asked.and_then(|mark| mark.at);
        if self.case.calls[view as usize].thin && alike.iter().all(|view| begun(view).is_some()) {
            alike.sort_by_key(begun);
        }
        let mut ordered = candidates.clone();
        ordered.sort_by_key(|call| self.case.place(&self.case.calls[*call as usize]).origin);
        let apart = ordered.windows(2).all(|pair| self.before(pair[0], pair[1]));
        if apart
            && alike.len() == ordered.len()
            && let Some(at) = alike.iter().position(|other| *other == view)
        {
            return Link::One(ordered[at]);
        }
        Link::Contested(candidates)
    }

    /// Whether the request of a view lies in the window of a call, as far as times tell.
    fn within(&self, view: u32, call: u32) -> Option<bool> {
        let (view, call) = (&self.case.calls[view as usize], &self.case.calls[call as usize]);
        let mark = view.asked.or(view.answered)?;
        let at = self.case.placed(mark)?.0;
        let on_clock = |other: Mark| {
            let offset = self.case.clocks.offset(other.origin.source, mark.origin.source);
            Some(offset.place(self.case.placed(other)?.0))
        };
        let (from, _) = on_clock(call.asked.or(call.answered)?)?;
        let to = call.answered.and_then(on_clock).map(|(_, to)| to);
        Some(at >= from && to.is_none_or(|to| at <= to))
    }

    /// Whether one call was answered before the other was asked, by record order or by one source's clock.
    fn before(&self, a: u32, b: u32) -> bool {
        let (a, b) = (&self.case.calls[a as usize], &self.case.calls[b as usize]);
        match (a.answered, b.asked) {
            (Some(answered), Some(asked)) if answered.origin.source == asked.origin.source => {
                match (answered.at, asked.at) {
                    (Some(before), Some(after)) if self.case.is_steady(answered) => before <= after,
                    _ => answered.origin < asked.origin,
                }
            }
            _ => false,
        }
    }

    /// No session tells two clients of one endpoint apart: equal requests that one kind of witness recorded there are two
    /// calls, unless their stamps agree. Where stamps do not tell, neither is proof.
    fn unless_twins(&mut self, call: u32, view: u32) -> Link {
        let (known, new) = (self.case.calls[call as usize], self.case.calls[view as usize]);
        let endpoint = |call: &Call| self.case.strands[call.strand as usize].endpoint;
        let keyed = known.session.is_some() && new.session.is_some();
        if keyed || new.http == NONE || endpoint(&new).is_none() || endpoint(&known) != endpoint(&new) {
            return Link::One(call);
        }
        let at = new.asked.and_then(|mark| self.case.placed(mark));
        let apart: Vec<Option<u64>> = self
            .case
            .seen(&known)
            .iter()
            .filter(|row| row.witness == new.witness && row.seen == new.asked_as)
            .map(|row| Some(self.case.placed(row.mark)?.0.abs_diff(at?.0)))
            .collect();
        if apart.is_empty() || apart.iter().flatten().any(|apart| *apart <= SAME_EXCHANGE) {
            return Link::One(call);
        }
        if apart.contains(&None) {
            self.contest(&[call], view);
            self.contest(&[view], call);
        }
        Link::None
    }

    /// Adds what a view saw to its call.
    fn absorb(&mut self, call: u32, view: u32) {
        self.traces.absorb(call, view);
        let other = self.case.calls[view as usize];
        if let Some(mark) = other.asked {
            self.sight(call, other.asked_as, other.witness, mark, 0);
        }
        self.absorb_answer(call, &other);
        for row in self
            .case
            .seen(&other)
            .into_iter()
            .skip(usize::from(other.asked.is_some()) + usize::from(other.answered.is_some()))
        {
            self.sight(call, row.seen, row.witness, row.mark, row.number);
        }
        let target = &mut self.case.calls[call as usize];
        fill(target, &other);
        let (here, there) = (target.http as usize, other.http as usize);
        if let Some(view) = self.case.http.get(there).copied().filter(|_| here != there) {
            self.case.http[here].add_view(view);
        }
    }

    /// The outcome is what the caller got: an answer further from the caller never replaces one nearer to it.
    fn absorb_answer(&mut self, call: u32, other: &Call) {
        let Some(mark) = other.answered else { return };
        let target = self.case.calls[call as usize];
        if other.thin && other.witness == Witness::Server && self.gave_up_or_cut(&target) {
            // A span ends when its handler is cancelled, too: the end is no answer.
            self.sight(call, Seen::HandlerDone, other.witness, mark, 0);
            return;
        }
        let unknown = matches!(target.answer.kind, AnswerKind::NotCaptured | AnswerKind::None);
        let known = !matches!(other.answer.kind, AnswerKind::NotCaptured | AnswerKind::None);
        let nearer = target.answered.is_some() || !self.watched_to_the_end(&target);
        if unknown && known && nearer && !self.gave_up_or_cut(&target) {
            if let Some(first) = target.answered {
                self.sight(call, target.answered_as, target.witness, first, 0);
            }
            let slot = &mut self.case.calls[call as usize];
            slot.answered = Some(mark);
            slot.answered_as = other.answered_as;
            slot.answer = other.answer;
            return;
        }
        // A span tells failures: one whose status is not set contradicts nobody.
        let spans = other.thin && other.answer.author == Author::Server;
        let silent = spans && other.answer.kind == AnswerKind::Result;
        let differs = known && !unknown && !silent && self.differing(&target, other);
        // Only the server's own record tells what the server did behind an answer of another party.
        let seen = if differs && other.witness != Witness::Server { Seen::OtherAnswer } else { other.answered_as };
        self.sight(call, seen, other.witness, mark, other.answer.kind.number());
        let slot = &mut self.case.calls[call as usize].answer;
        if slot.wording == crate::event::Wording::Other && slot.kind == other.answer.kind {
            slot.wording = other.answer.wording;
        }
        slot.echoes_id |= slot.kind == other.answer.kind && other.answer.echoes_id;
    }

    /// Whether two views show different answers: another kind, code or status where both recorded one.
    pub(super) fn differing(&self, one: &Call, other: &Call) -> bool {
        let status = |call: &Call| self.case.http(call).map_or(0, |http| http.status);
        let (here, there) = (status(one), status(other));
        one.answer.kind != other.answer.kind
            || one.answer.has_code && other.answer.has_code && one.answer.code != other.answer.code
            || one.answer.kind == AnswerKind::HttpError && here != 0 && there != 0 && here != there
    }

    /// Whether the first witness would have shown the answer: a wire view that lost nothing.
    fn watched_to_the_end(&self, call: &Call) -> bool {
        let source = &self.case.sources[super::source_index(self.case.place(call).origin)];
        call.witness == Witness::Proxy && !call.thin && !source.lossy
    }

    fn gave_up_or_cut(&self, call: &Call) -> bool {
        self.case
            .sightings(call)
            .any(|row| matches!(row.seen, Seen::Cancelled | Seen::TimedOut | Seen::ConnectionClosed))
    }

    /// A view that several calls could have made: a hint for each of them, proof for none.
    pub(super) fn contest(&mut self, candidates: &[u32], view: u32) {
        let other = self.case.calls[view as usize];
        let Some(mark) = other.asked.or(other.answered) else { return };
        for call in candidates {
            self.sight(*call, Seen::Contested, other.witness, mark, 0);
            self.case.calls[*call as usize].contested = true;
        }
    }

    /// Drops absorbed views and puts calls in order of their first place.
    fn renumber(&mut self, into: &[u32]) {
        let mut order: Vec<u32> = (0..u32::try_from(self.case.calls.len()).unwrap_or(u32::MAX))
            .filter(|call| into[*call as usize] == *call)
            .collect();
        order.sort_by_key(|call| self.case.place(&self.case.calls[*call as usize]).origin);
        let mut number = vec![NONE; into.len()];
        for (new, old) in (0_u32..).zip(&order) {
            number[*old as usize] = new;
        }
        let target = |old: u32| -> u32 {
            let mut at = old;
            while at != NONE && into[at as usize] != at {
                at = into[at as usize];
            }
            if at == NONE { NONE } else { number[at as usize] }
        };
        for contact in &mut self.case.contacts {
            if contact.call != NONE {
                contact.call = target(contact.call);
            }
        }
        for row in &mut self.case.sightings {
            if row.seen == Seen::ServerRequest
                && let Ok(old) = u32::try_from(row.number)
            {
                row.number = i32::try_from(target(old)).unwrap_or(-1);
            }
        }
        self.traces.follow(target);
        for strand in &mut self.case.strands {
            let mut calls: Vec<u32> =
                strand.calls.iter().map(|call| target(*call)).filter(|call| *call != NONE).collect();
            calls.dedup();
            strand.calls = calls;
        }
        self.case.calls = order.iter().map(|old| self.case.calls[*old as usize]).collect();
        for run in &mut self.case.runs {
            run.calls.clear();
        }
        for (index, call) in (0_u32..).zip(&self.case.calls) {
            if let Some(run) = self.case.runs.get_mut(call.run as usize) {
                run.calls.push(index);
            }
        }
    }
}

enum Link {
    None,
    One(u32),
    Contested(Vec<u32>),
    /// Sent in one span, with ends that differ.
    Doubtful(u32),
}

/// Takes from another view what the call's own witnesses did not record.
fn fill(call: &mut Call, other: &Call) {
    if call.id == RpcId::Unknown || call.thin && matches!(call.id, RpcId::Text(_)) {
        call.id = if other.id == RpcId::Unknown { call.id } else { other.id };
    }
    call.target = call.target.or(other.target);
    call.session = call.session.or(other.session);
    call.revision = call.revision.or(other.revision);
    if call.args == Key::default() {
        call.args = other.args;
        call.pairs = other.pairs;
    }
    if call.http == NONE {
        call.http = other.http;
    }
    if call.idempotency_key == 0 {
        call.idempotency_key = other.idempotency_key;
    }
    if call.state_sent == 0 {
        call.state_sent = other.state_sent;
    }
    if call.state_given == 0 {
        call.state_given = other.state_given;
    }
    call.contested |= other.contested;
    call.stirred |= other.stirred;
    call.joined = Basis::Corroborated;
}

#[cfg(test)]
mod tests {
    use crate::judge::testing::judged;

    const ASKED: &str = r#"{"ts":"2026-07-22T14:00:01.000Z","server":"acme","direction":"in","message":{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"pay","arguments":{"amount":5}}}}
"#;

    /// A span of a call that names no request, from a second of the same minute on.
    fn span(kind: u8, number: u32, from: u32, until: u32) -> String {
        let nanos = |second: u32| format!("{}000000000", 1_784_728_800 + second);
        format!(
            r#"{{"resourceSpans":[{{"resource":{{"attributes":[{{"key":"service.name","value":{{"stringValue":"acme"}}}}]}},"scopeSpans":[{{"spans":[{{"traceId":"{number:032x}","spanId":"{number:016x}","name":"tools/call pay","kind":{kind},"startTimeUnixNano":"{}","endTimeUnixNano":"{}","attributes":[{{"key":"mcp.method.name","value":{{"stringValue":"tools/call"}}}}],"status":{{}}}}]}}]}}]}}"#,
            nanos(from),
            nanos(until)
        ) + "\n"
    }

    #[test]
    fn two_spans_of_one_source_are_not_both_of_one_request() {
        let (case, _) = judged(&[ASKED, &span(2, 7, 2, 3)]);
        assert_eq!((case.calls.len(), case.calls[0].contested), (1, false));
        let (case, _) = judged(&[ASKED, &(span(2, 7, 2, 3) + &span(2, 8, 4, 5))]);
        assert!(case.calls[0].contested);
    }

    #[test]
    fn spans_of_one_side_are_two_requests() {
        let (case, _) = judged(&[&span(3, 7, 2, 3), &span(3, 7, 2, 3)]);
        assert_eq!(case.calls.len(), 1);
        let (case, _) = judged(&[&span(3, 7, 2, 3), &span(3, 8, 2, 3)]);
        assert_eq!(case.calls.len(), 2);
    }

    #[test]
    fn a_request_that_names_its_span_was_not_sent_in_another_trace() {
        let in_span = |number: u32| {
            let meta = format!(r#","_meta":{{"traceparent":"00-{number:032x}-{number:016x}-01"}}"#);
            ASKED.replace(r#"{"amount":5}"#, &format!(r#"{{"amount":5}}{meta}"#))
        };
        assert_eq!(judged(&[&in_span(7), &span(3, 7, 2, 3)]).0.calls.len(), 1);
        assert_eq!(judged(&[&in_span(9), &span(3, 7, 2, 3)]).0.calls.len(), 2);
    }

    #[test]
    fn spans_are_taken_in_the_order_in_which_they_began() {
        let asked = |second: u32, id: u32| {
            ASKED.replace("00:01.000", &format!("00:{second:02}.000")).replace(r#""id":3"#, &format!(r#""id":{id}"#))
        };
        let refused = r#"{"ts":"2026-07-22T14:00:02.000Z","server":"acme","direction":"out","message":{"jsonrpc":"2.0","id":3,"error":{"code":-32001,"message":"Request timed out"}}}
"#;
        let trace = asked(1, 3) + refused + &asked(4, 4);
        let (case, _) = judged(&[&trace, &(span(2, 8, 5, 6) + &span(2, 7, 2, 30))]);
        let records: Vec<Vec<u32>> = case
            .calls
            .iter()
            .map(|call| {
                let rows = case.seen(call);
                let of_spans = rows.iter().filter(|row| row.mark.origin.source.0 == 1);
                of_spans.map(|row| row.mark.origin.record.get()).collect()
            })
            .collect();
        assert!(records[0].iter().all(|record| *record == 2) && !records[0].is_empty(), "{records:?}");
        assert!(records[1].iter().all(|record| *record == 1) && !records[1].is_empty(), "{records:?}");
    }
}
