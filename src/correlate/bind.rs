//! Binds evidence without keys: contacts to runs and calls, a client's remarks to the one call they can mean. What fits more than one thing stays unbound, and then proves nothing and blocks "safe".

use std::cell::LazyCell;

use rustc_hash::{FxHashMap, FxHashSet};

use super::{
    AnswerKind, Basis, Contact, ContactKind, Correlator, Mark, NONE, RpcId, Seen, StrandFact,
    effectful::Effectful,
    opened::Was,
    repeats::{Repeats, RunRepeats},
    windows::Windows,
};
use crate::{
    event::{Direction, ReachSource, ReachStage, RemarkKind, Witness},
    symbol::Symbol,
    time::{MILLISECOND, SECOND},
};

/// Two clocks of one incident may differ by this much before a window excludes a record.
pub(super) const SLACK: i64 = SECOND;
/// Two records of one thing, by clocks that agree, stand this near to each other.
pub(super) const NEAR: i64 = 50 * MILLISECOND;

impl Correlator {
    pub(super) fn bind(&mut self) {
        self.drop_foreign_contacts();
        self.bind_by_trace();
        let mut of_run: Vec<Vec<u32>> = vec![Vec::new(); self.case.runs.len()];
        let of_id = self.runs_of_ids();
        // A body tells of which run a contact is only where there are several.
        let bodies = self.case.runs.len() > 1 && self.case.contacts.iter().any(|contact| !contact.pairs.is_empty());
        let repeats = Repeats::new((0..).zip(&self.case.calls).filter(|_| bodies));
        for index in 0..self.case.contacts.len() {
            let contact = self.case.contacts[index];
            let run = self.run_of(&contact, &of_id, &repeats);
            let kind = self.contact_kind(contact.target, contact.path, contact.method);
            let slot = &mut self.case.contacts[index];
            slot.run = run;
            if slot.vouched != ReachSource::PhaseEvent || slot.call == NONE {
                slot.kind = kind;
            }
            if let (Some(contacts), Ok(index)) = (of_run.get_mut(run as usize), u32::try_from(index)) {
                contacts.push(index);
            }
        }
        for (run, contacts) in (0..).zip(of_run) {
            self.bind_run(run, contacts);
        }
        self.bind_remarks();
    }

    /// The run of a contact: its call's, its run id's, its process's, its strand's, else the only one there is.
    fn run_of(&self, contact: &Contact, of_id: &FxHashMap<Symbol, Vec<u32>>, repeats: &Repeats) -> u32 {
        if contact.call != NONE {
            return self.case.calls[contact.call as usize].run;
        }
        if contact.loose {
            return NONE;
        }
        let strand = &self.case.strands[contact.strand as usize];
        if strand.run != NONE && contact.vouched != ReachSource::ServiceLog {
            return strand.run;
        }
        if let Some(run_id) = contact.run_id {
            match of_id.get(&run_id).map(|runs| &runs[..]) {
                None | Some([]) => {}
                Some([only]) => return *only,
                Some(runs) => return self.run_at(contact.attempt, runs).unwrap_or(NONE),
            }
        }
        if strand.run != NONE {
            return strand.run;
        }
        if let [_] = self.case.runs[..] {
            return 0;
        }
        repeats.only(contact.pairs).map_or(NONE, |only| self.case.calls[only as usize].run)
    }

    /// The runs in which each run id is recorded, in order.
    fn runs_of_ids(&self) -> FxHashMap<Symbol, Vec<u32>> {
        let mut of_id: FxHashMap<Symbol, Vec<u32>> = FxHashMap::default();
        for (index, run) in (0_u32..).zip(&self.case.runs) {
            for run_id in run.strands.iter().filter_map(|strand| self.case.strands[*strand as usize].run_id) {
                let runs = of_id.entry(run_id).or_default();
                if runs.last() != Some(&index) {
                    runs.push(index);
                }
            }
        }
        of_id
    }

    /// The only one of several runs whose window holds an instant.
    fn run_at(&self, mark: Mark, runs: &[u32]) -> Option<u32> {
        let at = self.case.placed(mark)?.0;
        let mut holding = runs.iter().copied().filter(|run| {
            let strands = &self.case.runs[*run as usize].strands;
            let times = |pick: fn(&super::Strand) -> Mark| {
                strands
                    .iter()
                    .filter_map(move |s| self.case.placed(pick(&self.case.strands[*s as usize])))
                    .map(|at| at.0)
            };
            let keyed = strands.iter().any(|s| self.case.strands[*s as usize].first.at.is_some());
            let (first, last) = (times(|s| s.first).min(), times(|s| s.last).max());
            keyed
                && first.is_some_and(|first| first <= at.saturating_add(SLACK))
                && last.is_some_and(|last| at <= last.saturating_add(SLACK))
        });
        let only = holding.next();
        if holding.next().is_some() { None } else { only }
    }

    fn bind_run(&mut self, run: u32, contacts: Vec<u32>) {
        if contacts.is_empty() {
            return;
        }
        // Most logs name the call of each contact: then nobody asks.
        let mut calls = None;
        let repeats = RunRepeats::new(run);
        self.doubt_lonely_log(run, &contacts, &mut calls);
        let kept = self.corroborate(contacts, &repeats);
        for index in &kept {
            let contact = self.case.contacts[*index as usize];
            if contact.call == NONE {
                let calls = calls.get_or_insert_with(|| Effectful::of(self, run));
                let outside = contact.outside && self.log_shows_calls(calls, &contact);
                self.case.contacts[*index as usize].outside = outside;
                if !outside {
                    self.bind_contact(calls, &repeats, *index);
                }
            }
        }
        self.mark_telemetry(&kept);
        for index in kept {
            let contact = &self.case.contacts[index as usize];
            if contact.call == NONE {
                self.case.runs[run as usize].contacts.push(index);
            } else {
                self.case.contacts_of.entry(contact.call).or_default().push(index);
            }
        }
    }

    /// A log that shows one open call where another source shows a further one does not tell which of them made a contact.
    fn doubt_lonely_log(&mut self, run: u32, contacts: &[u32], calls: &mut Option<Effectful>) {
        for index in contacts {
            let contact = self.case.contacts[*index as usize];
            let inferred = contact.call != NONE && contact.bound == Basis::Inferred;
            if inferred && !self.traces.allow(&contact, contact.call) {
                self.unbind(*index);
                continue;
            }
            let Some(at) = self.case.placed(contact.attempt).filter(|_| inferred) else { continue };
            let calls = calls.get_or_insert_with(|| Effectful::of(self, run));
            let open = calls.on_clock(self, contact.attempt.origin.source).open_at(at.0, 0);
            let source = contact.attempt.origin.source;
            let unseen = |call: u32| {
                let seen = self.case.seen(&self.case.calls[call as usize]);
                call != contact.call && seen.iter().all(|row| row.mark.origin.source != source)
            };
            if open.into_iter().flatten().any(unseen) {
                self.unbind(*index);
            }
        }
    }

    /// Gives a contact to no call.
    fn unbind(&mut self, index: u32) {
        let slot = &mut self.case.contacts[index as usize];
        (slot.call, slot.bound) = (NONE, Basis::Absent);
    }

    /// "No call was open in its log" means something only if that log records calls, or there are none.
    fn log_shows_calls(&self, calls: &Effectful, contact: &Contact) -> bool {
        let own = self.case.strands[contact.strand as usize].source;
        calls.received_in.contains(&own) || !calls.any
    }

    /// Binds a contact that names no call: to the one whose arguments its body repeats, else to the only call of the
    /// run that was open throughout the uncertainty of its time.
    fn bind_contact(&mut self, calls: &mut Effectful, repeats: &RunRepeats, index: u32) {
        let contact = self.case.contacts[index as usize];
        let windows = calls.on_clock(self, contact.attempt.origin.source);
        let first = repeats.of(contact.pairs, self).next();
        let several = repeats.of(contact.pairs, self).any(|other| Some(other) != first);
        let at = self.case.placed(contact.attempt).map(|at| at.0).filter(|_| !windows.untimed);
        let elsewhere = at.is_some_and(|at| windows.open_at(at, 0) == [None, None]) || windows.is_empty();
        let alone = at.filter(|_| contact.stage != ReachStage::Announced).and_then(|at| match windows.open_at(at, 0) {
            [only, None] => only,
            _ => None,
        });
        let chosen = match first {
            Some(_) if several => self.only_holding(repeats, at.map(|at| (at, windows)), &contact),
            Some(only) if calls.may_be_an_unrecorded_ones(self, only, &contact) => None,
            Some(only) => self.was_open(only, &contact).is_none_or(|open| open != Was::Not).then_some(only),
            None => alone.filter(|only| {
                self.was_open(*only, &contact) == Some(Was::Certainly)
                    && !calls.may_be_an_orphans(self, &contact)
                    && !calls.connected_anew(self, *only, &contact)
                    && !calls.may_be_a_harmless_ones(self, &contact)
            }),
        };
        let chosen = chosen.filter(|call| self.traces.allow(&contact, *call) && self.may_be_named(&contact, *call));
        let slot = &mut self.case.contacts[index as usize];
        if let Some(call) = chosen {
            slot.call = call;
            slot.bound = Basis::Inferred;
        } else {
            slot.outside = elsewhere;
        }
    }

    /// Whether the request that a contact's writer names may be this call.
    fn may_be_named(&self, contact: &Contact, call: u32) -> bool {
        let id = self.case.calls[call as usize].id;
        let unknown = contact.named == RpcId::Unknown || id == RpcId::Unknown;
        unknown || id == contact.named || self.other_spelling(id) == Some(contact.named)
    }

    /// The only one of several calls whose arguments the body of a contact repeats that may have made it. Whoever was
    /// told to come back later made none, nor did a leg that asked for something where the leg that goes on with it may
    /// have. `open`: the time of the contact and the calls by their times, if all of them have some.
    fn only_holding(&self, repeats: &RunRepeats, open: Option<(i64, &Windows)>, contact: &Contact) -> Option<u32> {
        let goes_on = LazyCell::new(|| {
            repeats.of(contact.pairs, self).any(|call| {
                let call = &self.case.calls[call as usize];
                call.continues || call.state_sent != 0
            })
        });
        let turned_away = |call: u32| {
            let call = &self.case.calls[call as usize];
            call.answer.kind == AnswerKind::InputRequired && *goes_on
                || self.case.http(call).is_some_and(|http| http.status == 429 && http.posts <= 1)
        };
        if let Some((at, windows)) = open {
            let repeats = |call: u32| self.case.calls[call as usize].pairs.repeats(contact.pairs);
            return match windows.open_within(at, at, |call| repeats(call) && !turned_away(call)) {
                [only, None] => only,
                _ => None,
            };
        }
        let open = |call: &u32| self.was_open(*call, contact).is_none_or(|open| open != Was::Not);
        let mut holding = repeats.of(contact.pairs, self).filter(|call| !turned_away(*call)).filter(open);
        holding.next().filter(|first| holding.all(|other| other == *first))
    }

    /// Telemetry looks like it and recurs: the same target outside calls or under several calls.
    fn mark_telemetry(&mut self, contacts: &[u32]) {
        let mut users: FxHashMap<Symbol, FxHashSet<u32>> = FxHashMap::default();
        for index in contacts {
            let contact = &self.case.contacts[*index as usize];
            let user = if contact.call == NONE {
                NONE
            } else {
                self.case.calls[contact.call as usize].target.map_or(NONE, crate::symbol::Symbol::number)
            };
            users.entry(contact.target).or_default().insert(user);
        }
        for index in contacts {
            let contact = self.case.contacts[*index as usize];
            let recurs = users[&contact.target].len() > 1 || users[&contact.target].contains(&NONE);
            let explicit = contact.vouched == ReachSource::PhaseEvent && contact.call != NONE;
            if recurs && !explicit && self.looks_like_telemetry(&contact) {
                self.case.contacts[*index as usize].kind = ContactKind::Telemetry;
            }
        }
    }

    fn looks_like_telemetry(&self, contact: &Contact) -> bool {
        const SIGNS: [&str; 8] = [":4317", ":4318", "sentry", "posthog", "segment.io", "telemetry", "ingest.", "otel"];
        const PATHS: [&str; 3] = ["/v1/traces", "/v1/logs", "/v1/metrics"];
        let target = self.case.name(contact.target);
        let path = contact.path.map_or("", |path| self.case.name(path));
        SIGNS.iter().any(|sign| target.contains(sign)) || PATHS.contains(&path)
    }

    /// A client's "timed out" that names no request is about the only call of its run that has no answer.
    fn bind_remarks(&mut self) {
        for run in 0..self.case.runs.len() {
            let mut open = self.case.runs[run].calls.iter().copied().filter(|call| {
                let call = &self.case.calls[*call as usize];
                call.answered.is_none() && call.direction == Direction::ToServer
            });
            let (Some(call), None) = (open.next(), open.next()) else { continue };
            let mut rows = Vec::new();
            for strand in &self.case.runs[run].strands {
                for event in &self.case.strands[*strand as usize].events {
                    let seen = match event.what {
                        StrandFact::Remark(RemarkKind::TimedOut) => Seen::TimedOut,
                        StrandFact::Remark(RemarkKind::Aborted) => Seen::Cancelled,
                        StrandFact::Remark(RemarkKind::ConnectionClosed) => Seen::ConnectionClosed,
                        _ => continue,
                    };
                    if event.witness == Witness::Client {
                        rows.push((seen, event.witness, event.mark));
                    }
                }
            }
            for (seen, witness, mark) in rows {
                self.sight(call, seen, witness, mark, 0);
            }
        }
        for method in ["initialize", "server/discover"] {
            self.bind_handshakes(method);
        }
    }

    /// A client that starts a server again and again gives up one handshake after the other. Where it says so as often
    /// as handshakes were left open, the first word is about the first of them.
    fn bind_handshakes(&mut self, method: &str) {
        let Some(method) = self.case.symbols.get(method) else { return };
        let events = self.case.strands.iter().flat_map(|strand| &strand.events);
        let told = events.filter(|event| {
            event.witness == Witness::Client
                && event.what == StrandFact::Remark(RemarkKind::TimedOut)
                && event.name == Some(method)
        });
        let mut told: Vec<Mark> = told.map(|event| event.mark).collect();
        told.sort_unstable_by_key(|mark| mark.origin);
        let calls = (0..).zip(&self.case.calls).filter(|(_, call)| {
            call.run != NONE
                && call.method == method
                && call.direction == Direction::ToServer
                && call.answered.is_none()
        });
        let mut open: Vec<(u32, Mark)> = calls.map(|(index, call)| (index, self.case.place(call))).collect();
        open.sort_unstable_by_key(|(_, mark)| mark.origin);
        let comparable = of_one_source(&told) && of_one_source(&open.iter().map(|(_, mark)| *mark).collect::<Vec<_>>());
        if told.len() != open.len() || !comparable || open.iter().any(|(call, _)| self.gave_up(*call)) {
            return;
        }
        for ((call, _), mark) in open.into_iter().zip(told) {
            self.sight(call, Seen::TimedOut, Witness::Client, mark, 0);
        }
    }
}

fn of_one_source(marks: &[Mark]) -> bool {
    marks.windows(2).all(|pair| pair[0].origin.source == pair[1].origin.source)
}

#[cfg(test)]
mod tests {
    use crate::{correlate::NONE, judge::testing::judged};

    const HEAD: &str = r#"{"run_id":"r","server_name":"acme","phase":"execution","at":"2026-07-22T14:00:0"#;

    /// A log with a request that stays open, and a contact with these members.
    fn bound(of_request: &str, of_contact: &str) -> bool {
        let log = format!(
            "{HEAD}1.000Z\",\"event\":\"tool_call_received\",\"request_id\":3,\"tool\":\"pay\"{of_request}}}\n{HEAD}2.000Z\",\"event\":\"external_attempt\",\"host\":\"h\",\"method\":\"POST\"{of_contact}}}\n"
        );
        judged(&[&log]).0.contacts[0].call != NONE
    }

    #[test]
    fn a_contact_that_names_another_request_is_not_given_to_the_only_open_one() {
        assert!(bound("", ""));
        assert!(bound("", r#","request_id":3"#));
        assert!(!bound("", r#","request_id":4"#));
    }

    #[test]
    fn a_contact_of_another_trace_is_not_given_to_the_only_open_one() {
        let trace = |number: u8| format!(",\"trace_id\":\"{number:032x}\"");
        assert!(bound(&trace(1), &trace(1)));
        assert!(bound("", &trace(2)));
        assert!(bound(&trace(1), ""));
        assert!(!bound(&trace(1), &trace(2)));
    }
}
