//! Groups attempts of one intent into operations: same server, method, target and canonical arguments, never by id.
//!
//! A continuation is no further attempt of what it continues; two of them with the same state are attempts of one leg.
//! Attempts whose arguments nobody recorded are not grouped.

use rayon::slice::ParallelSliceMut;

use super::{Case, Correlator, Key, Operation};
use crate::{
    event::{Direction, is_effect_free},
    symbol::Symbol,
};

impl Correlator {
    pub(super) fn group_operations(&mut self) {
        let servers: Vec<Server> = (0..self.case.runs.len()).map(|run| server_of(&self.case, run)).collect();
        let mut attempts: Vec<(Intent, Server, u32)> = (0_u32..)
            .zip(&self.case.calls)
            .filter(|(_, call)| call.args != Key::default() && call.direction == Direction::ToServer)
            .filter(|(_, call)| {
                (!call.continues || call.state_sent != 0) && !is_effect_free(self.case.name(call.method))
            })
            .filter_map(|(index, call)| Some(((call.args, call.state_sent), *servers.get(call.run as usize)?, index)))
            .collect();
        attempts.par_sort_unstable();
        let mut operations: Vec<Vec<u32>> = Vec::new();
        for same in attempts.chunk_by(|a, b| a.0 == b.0).filter(|same| same.len() > 1) {
            // Two servers are told apart only where both are named: otherwise they may be one.
            let named = same.iter().all(|(_, server, _)| matches!(server, Server::Named(_)));
            for group in same.chunk_by(|a, b| !named || a.1 == b.1).filter(|group| group.len() > 1) {
                let mut group: Vec<u32> = group.iter().map(|(_, _, call)| *call).collect();
                group.sort_unstable();
                operations.push(group);
            }
        }
        operations.sort_unstable();
        for attempts in operations {
            let number = u32::try_from(self.case.operations.len()).expect("fewer than 2^32 operations");
            for call in &attempts {
                self.case.operation_of.insert(*call, number);
            }
            self.case.operations.push(Operation { attempts });
        }
    }
}

/// Canonical arguments, and the state that a continuation carries.
type Intent = (Key, u64);

/// What makes two runs runs of one server: its name, else its endpoint, else the run itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Server {
    Named(Symbol),
    At(Symbol),
    Run(u32),
}

fn server_of(case: &Case, run: usize) -> Server {
    let pick = |get: fn(&super::Strand) -> Option<Symbol>| {
        case.runs[run].strands.iter().find_map(|strand| get(&case.strands[*strand as usize]))
    };
    pick(|strand| strand.server)
        .map(Server::Named)
        .or_else(|| pick(|strand| strand.endpoint).map(Server::At))
        .unwrap_or(Server::Run(u32::try_from(run).unwrap_or(u32::MAX)))
}
