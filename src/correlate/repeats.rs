//! Which calls have arguments that a body repeats: looked up by what two sketches must have in common.

use rustc_hash::FxHashMap;

use super::{Call, Contact};
use crate::event::Pairs;

/// The calls by what [`Pairs::repeats`] asks for: two common members, or the only one of the smaller sketch. A member
/// that all calls share does not make each of them a candidate.
#[derive(Debug, Default)]
pub(super) struct Repeats {
    /// Of each member.
    members: FxHashMap<u32, Vec<u32>>,
    /// Of the only member there is.
    lone: FxHashMap<u32, Vec<u32>>,
    /// Of each two members, the smaller first.
    twos: FxHashMap<(u32, u32), Vec<u32>>,
}

impl Repeats {
    /// Empty where no contact has a body to compare with.
    pub(super) fn new(calls: &[Call], contacts: &[Contact]) -> Self {
        let mut repeats = Self::default();
        if contacts.iter().all(|contact| contact.pairs.is_empty()) {
            return repeats;
        }
        for (index, call) in (0_u32..).zip(calls) {
            for member in call.pairs.members() {
                repeats.members.entry(member).or_default().push(index);
                if call.pairs.len() == 1 {
                    repeats.lone.entry(member).or_default().push(index);
                }
            }
            for two in call.pairs.twos() {
                repeats.twos.entry(two).or_default().push(index);
            }
        }
        repeats
    }

    /// The calls whose arguments repeat these pairs, or the other way round; in order.
    pub(super) fn of(&self, pairs: Pairs, calls: &[Call]) -> Vec<u32> {
        let single = if pairs.len() == 1 { &self.members } else { &self.lone };
        let known = pairs.members().filter_map(|member| single.get(&member));
        let known = known.chain(pairs.twos().filter_map(|two| self.twos.get(&two)));
        let mut found: Vec<u32> = known.flatten().copied().collect();
        found.sort_unstable();
        found.dedup();
        found.retain(|call| calls[*call as usize].pairs.repeats(pairs));
        found
    }
}
