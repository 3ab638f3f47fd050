//! Groups attempts of one intent into operations: same server, method, target and canonical arguments, never by id.
//!
//! A continuation is no attempt of its own, and attempts whose arguments nobody recorded are not grouped.

use std::collections::BTreeMap;

use super::{Case, Correlator, Key, Operation, bind::is_effect_free};
use crate::{event::Direction, symbol::Symbol};

impl Correlator {
    pub(super) fn group_operations(&mut self) {
        let mut groups: BTreeMap<(Server, Key), Vec<u32>> = BTreeMap::new();
        for (index, call) in (0_u32..).zip(&self.case.calls) {
            let continues = call.continues || call.state_sent != 0;
            if call.args == Key::default()
                || call.direction != Direction::ToServer
                || continues
                || is_effect_free(self.case.name(call.method))
            {
                continue;
            }
            groups.entry((server_of(&self.case, call.run, call.strand), call.args)).or_default().push(index);
        }
        let mut operations: Vec<Vec<u32>> = groups.into_values().filter(|attempts| attempts.len() > 1).collect();
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

/// What makes two runs runs of one server: its name, else its endpoint, else the run itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Server {
    Named(Symbol),
    At(Symbol),
    Run(u32),
}

fn server_of(case: &Case, run: u32, strand: u32) -> Server {
    let strands = case.runs.get(run as usize).map_or(&[strand][..], |run| &run.strands).to_vec();
    let pick = |get: fn(&super::Strand) -> Option<Symbol>| strands.iter().find_map(|s| get(&case.strands[*s as usize]));
    pick(|strand| strand.server)
        .map(Server::Named)
        .or_else(|| pick(|strand| strand.endpoint).map(Server::At))
        .unwrap_or(Server::Run(run))
}
