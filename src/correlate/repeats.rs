//! Which calls have arguments that a body repeats: looked up by the hashes of their pairs.

use rustc_hash::FxHashMap;

use super::{Call, Contact};
use crate::event::Pairs;

/// The calls by the hash of each pair of their arguments.
#[derive(Debug, Default)]
pub(super) struct Repeats(FxHashMap<u32, Vec<u32>>);

impl Repeats {
    /// Empty where no contact has a body to compare with.
    pub(super) fn new(calls: &[Call], contacts: &[Contact]) -> Self {
        let mut by_hash: FxHashMap<u32, Vec<u32>> = FxHashMap::default();
        if contacts.iter().all(|contact| contact.pairs.is_empty()) {
            return Self(by_hash);
        }
        for (index, call) in (0_u32..).zip(calls) {
            for hash in call.pairs.0.iter().filter(|hash| **hash != 0) {
                by_hash.entry(*hash).or_default().push(index);
            }
        }
        Self(by_hash)
    }

    /// The calls whose arguments repeat these pairs, or the other way round; in order.
    pub(super) fn of(&self, pairs: Pairs, calls: &[Call]) -> Vec<u32> {
        let known = pairs.0.iter().filter(|hash| **hash != 0).filter_map(|hash| self.0.get(hash));
        let mut found: Vec<u32> = known.flatten().copied().collect();
        found.sort_unstable();
        found.dedup();
        found.retain(|call| calls[*call as usize].pairs.repeats(pairs));
        found
    }
}
