//! The calls of a run that a further view may join, by what a view can be looked up with.

use rustc_hash::FxHashMap;

use super::RpcId;
use crate::{event::Direction, symbol::Symbol};

/// Calls that a view may join.
#[derive(Debug, Default)]
pub(super) struct Ground {
    shelves: FxHashMap<(Direction, Symbol), Shelf>,
    /// Where each call stands in its shelf.
    places: FxHashMap<u32, usize>,
}

/// The calls of one sender and method, in the order in which they came.
#[derive(Debug, Default)]
struct Shelf {
    calls: Vec<Known>,
    by_id: FxHashMap<RpcId, Vec<usize>>,
}

/// A call, and the sources that saw it.
#[derive(Debug)]
struct Known {
    call: u32,
    sources: Vec<u32>,
}

impl Ground {
    /// Adds a call that one source saw.
    pub(super) fn add(&mut self, key: (Direction, Symbol), id: RpcId, call: u32, source: u32) {
        let shelf = self.shelves.entry(key).or_default();
        self.places.insert(call, shelf.calls.len());
        shelf.by_id.entry(id).or_default().push(shelf.calls.len());
        shelf.calls.push(Known { call, sources: vec![source] });
    }

    /// Notes that a further source saw a call.
    pub(super) fn seen_by(&mut self, key: (Direction, Symbol), call: u32, source: u32) {
        let known = self.places.get(&call).and_then(|place| self.shelves.get_mut(&key)?.calls.get_mut(*place));
        if let Some(known) = known {
            known.sources.push(source);
        }
    }

    /// Whether a call is on the ground and a source has not seen it.
    pub(super) fn awaits(&self, key: (Direction, Symbol), call: u32, source: u32) -> bool {
        let known = self.places.get(&call).and_then(|place| self.shelves.get(&key)?.calls.get(*place));
        known.is_some_and(|known| known.call == call && !known.sources.contains(&source))
    }

    /// The calls that a source has not seen and whose ids may be one of these, in the order in which they came. An id
    /// that was not recorded may be any.
    pub(super) fn candidates(&self, key: (Direction, Symbol), ids: [Option<RpcId>; 2], source: u32) -> Vec<u32> {
        let Some(shelf) = self.shelves.get(&key) else { return Vec::new() };
        let unseen = |known: &&Known| !known.sources.contains(&source);
        if ids.contains(&Some(RpcId::Unknown)) {
            return shelf.calls.iter().filter(unseen).map(|known| known.call).collect();
        }
        let ids = ids.into_iter().flatten().chain([RpcId::Unknown]);
        let mut places: Vec<usize> = ids.filter_map(|id| shelf.by_id.get(&id)).flatten().copied().collect();
        places.sort_unstable();
        places.into_iter().map(|place| &shelf.calls[place]).filter(unseen).map(|known| known.call).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::symbol::Symbols;

    #[test]
    fn a_view_is_looked_up_by_id() {
        let key = (Direction::ToServer, Symbols::default().intern("tools/call"));
        let mut ground = Ground::default();
        for (call, id) in [RpcId::Int(1), RpcId::Unknown, RpcId::Int(2), RpcId::Int(1)].into_iter().enumerate() {
            ground.add(key, id, u32::try_from(call).expect("a small number"), 0);
        }
        ground.seen_by(key, 3, 1);
        let found = |id, source| ground.candidates(key, [Some(id), None], source);
        assert_eq!(found(RpcId::Int(1), 2), [0, 1, 3]);
        assert_eq!(found(RpcId::Int(1), 1), [0, 1]);
        assert_eq!(found(RpcId::Int(9), 2), [1]);
        assert_eq!(found(RpcId::Unknown, 2), [0, 1, 2, 3]);
        assert!(found(RpcId::Unknown, 0).is_empty());
    }
}
