//! Where tools take their idempotency keys, by the word of the operator: looked up while requests are read, when their
//! arguments are at hand.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::{Call, Case, Correlator, Key};
use crate::{
    event::{Origin, Request},
    jsonrpc,
};

/// JSON Pointers into the arguments of tools, by the name of the tool.
#[derive(Clone, Debug, Default)]
pub struct KeyPaths(FxHashMap<Box<str>, Arc<str>>);

impl KeyPaths {
    /// Adds the pointer of a tool.
    pub fn insert(&mut self, tool: &str, pointer: &Arc<str>) {
        self.0.insert(tool.into(), Arc::clone(pointer));
    }

    /// The key of a request: a text or an integer where its tool takes it.
    fn key_of(&self, request: &Request<'_>) -> Option<u64> {
        if self.0.is_empty() || request.method != "tools/call" {
            return None;
        }
        let key = jsonrpc::key_at(request.arguments?, self.0.get(request.target?)?)?;
        Some(Key::from(key).0[0] | 1)
    }
}

/// Keys of requests by record and arguments: a record may hold several. Few tools have any, so no call carries them.
pub type DeclaredKeys = FxHashMap<(Origin, Key), u64>;

impl Correlator {
    pub(super) fn note_key(&mut self, request: &Request<'_>, origin: Origin, args: Key) {
        if let Some(key) = self.keys.key_of(request) {
            // Two requests of one record that cannot be told apart have no key that could be told.
            let known = self.case.declared_keys.entry((origin, args)).or_insert(key);
            *known = if *known == key { key } else { 0 };
        }
    }
}

impl Case {
    /// Shortened digest of the key that stands where the operator says; 0 where none does.
    pub fn declared_key(&self, call: &Call) -> u64 {
        if self.declared_keys.is_empty() {
            return 0;
        }
        let rows = call.asked.into_iter().chain(self.sightings(call).map(|row| row.mark));
        let places = rows.flat_map(|mark| [(mark.origin, call.args), (mark.origin, Key::default())]);
        places.filter_map(|place| self.declared_keys.get(&place)).copied().next().unwrap_or(0)
    }
}
