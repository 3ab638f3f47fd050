//! One contact that the process, the kernel and the service recorded is one contact.

use std::collections::BTreeMap;

use rustc_hash::{FxHashMap, FxHashSet};

use super::{
    AnswerKind, Contact, Correlator, NONE,
    bind::{NEAR, SLACK},
    repeats::RunRepeats,
    windows::{Span, Windows},
};
use crate::{
    event::{ReachSource, ReachStage, SourceId},
    symbol::Symbol,
};

impl Correlator {
    /// One contact seen by the process, the kernel and the service is one contact: records of different kinds with the
    /// same method and path are paired in order, where their counts agree. Returns what remains.
    pub(super) fn corroborate(&mut self, contacts: Vec<u32>, repeats: &RunRepeats) -> Vec<u32> {
        let mut groups: FxHashMap<(Option<Symbol>, Option<Symbol>), Vec<u32>> = FxHashMap::default();
        for index in &contacts {
            let contact = &self.case.contacts[*index as usize];
            if contact.stage > ReachStage::NotConnected && contact.path.is_some() {
                groups.entry((contact.method, contact.path)).or_default().push(*index);
            }
        }
        let mut gone: FxHashSet<u32> = FxHashSet::default();
        let mut groups: Vec<_> = groups.into_values().collect();
        groups.sort_unstable();
        for group in groups {
            let mut by_kind: Vec<(u8, Vec<u32>)> = Vec::new();
            for index in group {
                let rank = vouch_rank(self.case.contacts[index as usize].vouched);
                match by_kind.iter_mut().find(|(known, _)| *known == rank) {
                    Some((_, list)) => list.push(index),
                    None => by_kind.push((rank, vec![index])),
                }
            }
            by_kind.sort_unstable();
            let Some((_, base)) = by_kind.first().cloned() else { continue };
            for (_, others) in &by_kind[1..] {
                let alike = |(first, other): (&u32, &u32)| self.may_be_one(*first, *other, repeats);
                if others.len() != base.len() || !base.iter().zip(others).all(alike) {
                    self.corroborate_nearest(&base, others, repeats, &mut gone);
                    continue;
                }
                for (first, other) in base.iter().zip(others) {
                    self.join_contacts(*first, *other);
                    gone.insert(*other);
                }
            }
        }
        contacts.into_iter().filter(|index| !gone.contains(index)).collect()
    }

    /// Whether two records of different kinds can be of one contact: neither tells another end of it, and their times
    /// agree. Records without a time stand in order.
    fn may_be_one(&self, one: u32, two: u32, repeats: &RunRepeats) -> bool {
        let (first, other) = (&self.case.contacts[one as usize], &self.case.contacts[two as usize]);
        let ends = [first, other].map(|contact| (contact.status, contact.failed && contact.status == 0));
        let agree = match ends {
            [(0, false), _] | [_, (0, false)] => true,
            [first, other] => first == other,
        };
        let spans = self.lasted(one).zip(self.lasted(two));
        let near = spans.is_none_or(|(first, (clock, begin, end))| {
            let (from, to) = self.near(first, clock);
            begin <= to && end >= from
        });
        agree && near && !self.may_be_of_another(first, other, repeats)
    }

    /// From when to when a contact lasted, by the clock of its source.
    fn lasted(&self, contact: u32) -> Option<(SourceId, i64, i64)> {
        let contact = &self.case.contacts[contact as usize];
        let from = self.case.placed(contact.attempt)?.0;
        let end = contact.result.and_then(|mark| self.case.placed(mark));
        let to = end.map_or(from.saturating_add(SLACK), |at| at.0);
        Some((contact.attempt.origin.source, from, to.max(from)))
    }

    /// When another source may have seen what lasted so long, by its clock.
    fn near(&self, (source, from, to): (SourceId, i64, i64), clock: SourceId) -> (i64, i64) {
        let clocks = &self.case.clocks;
        let ((from, _), (_, to)) = if clocks.compares(source, clock) {
            let offset = clocks.offset(source, clock);
            (offset.place(from), offset.place(to))
        } else {
            ((from, from), (to, to))
        };
        (from.saturating_sub(NEAR), to.saturating_add(NEAR))
    }

    /// Whether a service's record repeats the arguments of several calls, and nothing tells how far its clock is off.
    fn may_be_of_another(&self, first: &Contact, other: &Contact, repeats: &RunRepeats) -> bool {
        let compared = self.case.clocks.compares(first.attempt.origin.source, other.attempt.origin.source);
        if compared || other.pairs.is_empty() || first.call == NONE {
            return false;
        }
        repeats.of(other.pairs, self).any(|index| {
            let call = &self.case.calls[index as usize];
            index != first.call
                && call.run == first.run
                && !matches!(call.answer.kind, AnswerKind::InputRequired | AnswerKind::NotSent)
        })
    }

    /// Where the counts differ, a record joins the only one of the other kind that it can be of, if that one can be of no
    /// other either.
    fn corroborate_nearest(&mut self, base: &[u32], others: &[u32], repeats: &RunRepeats, gone: &mut FxHashSet<u32>) {
        let (first_by_time, other_by_time) = (self.by_time(base), self.by_time(others));
        let pairs = others.iter().filter_map(|other| {
            let first = self.only_near(*other, &first_by_time, repeats)?;
            (self.only_near(first, &other_by_time, repeats) == Some(*other)).then_some((first, *other))
        });
        for (first, other) in pairs.collect::<Vec<_>>() {
            if self.case.contacts[first as usize].corroborated.is_none() {
                self.join_contacts(first, other);
                gone.insert(other);
            }
        }
    }

    /// The contacts that have a time, of each source by its clock.
    fn by_time(&self, contacts: &[u32]) -> Vec<(SourceId, Windows)> {
        let mut spans: BTreeMap<SourceId, Vec<Option<Span>>> = BTreeMap::new();
        for contact in contacts {
            let Some((source, from, to)) = self.lasted(*contact) else { continue };
            spans.entry(source).or_default().push(Some(Span { call: *contact, from, to: Some(to) }));
        }
        spans.into_iter().map(|(source, spans)| (source, Windows::new(spans.into_iter()))).collect()
    }

    /// The only one of several contacts that one can be, by its time.
    fn only_near(&self, one: u32, among: &[(SourceId, Windows)], repeats: &RunRepeats) -> Option<u32> {
        let lasted = self.lasted(one)?;
        let mut near = among.iter().flat_map(|(clock, windows)| {
            let (from, to) = self.near(lasted, *clock);
            windows.open_within(from, to, |other| self.may_be_one(one, other, repeats))
        });
        let first = near.by_ref().flatten().next();
        first.filter(|_| near.flatten().next().is_none())
    }

    fn join_contacts(&mut self, first: u32, other: u32) {
        let other = self.case.contacts[other as usize];
        let contact = &mut self.case.contacts[first as usize];
        contact.corroborated = contact.corroborated.or(Some(other.attempt));
        contact.stage = contact.stage.max(other.stage);
        contact.result = contact.result.or(other.result);
        if contact.status == 0 {
            contact.status = other.status;
        }
        if contact.pairs.is_empty() {
            contact.pairs = other.pairs;
        }
        if contact.call == NONE && !contact.outside {
            contact.call = other.call;
            contact.bound = other.bound;
            contact.outside = other.outside;
        }
    }
}

/// Order in which kinds of records lay the ground for one contact: the process that made it, then its libraries and
/// spans, then the kernel, then the service.
fn vouch_rank(vouched: ReachSource) -> u8 {
    match vouched {
        ReachSource::PhaseEvent => 0,
        ReachSource::Span => 1,
        ReachSource::LibraryLine => 2,
        ReachSource::TypedError => 3,
        ReachSource::KernelTrace => 4,
        ReachSource::Egress => 5,
        ReachSource::ServiceLog => 6,
    }
}
