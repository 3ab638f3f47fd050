//! The runs of each server by its recorded name: what is asked about a server's other lives.
//!
//! A name joins nothing here: it only says which runs are compared.

use rustc_hash::FxHashMap;

use super::Case;
use crate::symbol::Symbol;

/// Runs and contacts by server.
#[derive(Debug, Default)]
pub struct Servers {
    runs: FxHashMap<Symbol, Vec<u32>>,
    lives: FxHashMap<Symbol, Vec<u32>>,
    outside: FxHashMap<Symbol, Vec<u32>>,
}

impl Servers {
    /// Collects the runs of each server.
    pub(super) fn new(case: &Case) -> Self {
        let mut servers = Self::default();
        for (index, run) in (0_u32..).zip(&case.runs) {
            if let Some(id) = run.strands.iter().find_map(|strand| case.strands[*strand as usize].run_id) {
                servers.lives.entry(id).or_default().push(index);
            }
            let server = run.strands.iter().find_map(|strand| case.strands[*strand as usize].server);
            let Some(server) = server else { continue };
            servers.runs.entry(server).or_default().push(index);
            let outside = run.contacts.iter().copied().filter(|contact| {
                let contact = &case.contacts[*contact as usize];
                contact.is_attempt() && contact.outside
            });
            servers.outside.entry(server).or_default().extend(outside);
        }
        servers
    }

    /// How many runs of a server begin after this one.
    pub fn later(&self, server: Symbol, run: usize) -> usize {
        behind(self.runs(server), run)
    }

    /// How many runs under a recorded run id begin after this one: further lives of one server, named or not.
    pub fn later_lives(&self, id: Symbol, run: usize) -> usize {
        behind(self.lives.get(&id).map_or(&[], Vec::as_slice), run)
    }

    /// All recorded runs of a server.
    pub fn runs(&self, server: Symbol) -> &[u32] {
        self.runs.get(&server).map_or(&[], Vec::as_slice)
    }

    /// Contacts outside any call in all recorded runs of a server.
    pub fn outside(&self, server: Symbol) -> &[u32] {
        self.outside.get(&server).map_or(&[], Vec::as_slice)
    }
}

fn behind(runs: &[u32], run: usize) -> usize {
    runs.len() - runs.partition_point(|other| *other as usize <= run)
}
