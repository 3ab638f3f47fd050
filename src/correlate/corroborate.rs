//! One contact that the process, the kernel and the service recorded is one contact.

use rustc_hash::{FxHashMap, FxHashSet};

use super::{Correlator, NONE, bind::SLACK};
use crate::{
    event::{ReachSource, ReachStage},
    symbol::Symbol,
};

impl Correlator {
    /// One contact seen by the process, the kernel and the service is one contact: records of different kinds with the
    /// same method and path are paired in order, where their counts agree. Returns what remains.
    pub(super) fn corroborate(&mut self, contacts: Vec<u32>) -> Vec<u32> {
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
                if others.len() != base.len() {
                    self.corroborate_nearest(&base, others, &mut gone);
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

    /// Where the counts differ, a record joins the only one of the other kind within the slack.
    fn corroborate_nearest(&mut self, base: &[u32], others: &[u32], gone: &mut FxHashSet<u32>) {
        for other in others {
            let Some(at) = self.case.placed(self.case.contacts[*other as usize].attempt) else { continue };
            let near = |index: &&u32| {
                let contact = &self.case.contacts[**index as usize];
                self.case.placed(contact.attempt).is_some_and(|first| first.0.abs_diff(at.0) <= SLACK.unsigned_abs())
            };
            let mut close = base.iter().filter(near);
            if let (Some(first), None) = (close.next().copied(), close.next())
                && self.case.contacts[first as usize].corroborated.is_none()
            {
                self.join_contacts(first, *other);
                gone.insert(*other);
            }
        }
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
