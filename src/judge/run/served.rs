//! Methods that the server is seen to serve, in a run or in another one of the same server: asked for every call that
//! says otherwise, so they are collected once.

use rustc_hash::FxHashMap;

use crate::{
    correlate::{Call, Case, NONE, Seen, Strand, StrandFact},
    event::RemarkKind,
    judge::RunFacts,
    symbol::Symbol,
};

/// A server with more runs than this is taken to serve what any of its calls asks for: nobody looks through all.
const RUNS: usize = 256;

/// What shows it.
#[derive(Debug, Default)]
pub(super) struct Served {
    /// The server declared tools or listed some, or has too many runs to look through.
    any: bool,
    /// The first call of a method that shows it, and the first other one: a call is no witness about itself.
    methods: FxHashMap<Symbol, (u32, Option<u32>)>,
}

impl Served {
    /// Collects the methods of which a call was received, is at work, or was answered in any other way than with "no
    /// such method".
    pub(super) fn of(facts: &RunFacts<'_>) -> Self {
        let case = facts.case;
        let own = u32::try_from(facts.index).unwrap_or(NONE);
        let others = facts.server().map_or(&[][..], |server| case.servers.runs(server));
        if others.len() > RUNS {
            return Self { any: true, ..Self::default() };
        }
        let mut served = Self::default();
        for run in std::iter::once(own).chain(others.iter().copied().filter(|run| *run != own)) {
            let run = &case.runs[run as usize];
            let mut strands = run.strands.iter().map(|strand| &case.strands[*strand as usize]);
            served.any |= strands.any(shows_tools);
            for index in &run.calls {
                let call = &case.calls[*index as usize];
                if shows_service(case, call) {
                    let known = served.methods.entry(call.method).or_insert((*index, None));
                    known.1 = known.1.or(Some(*index).filter(|index| *index != known.0));
                }
            }
        }
        served
    }

    /// Whether the server, or another call than this one, shows it.
    pub(super) fn beside(&self, method: Symbol, call: u32) -> bool {
        self.any || self.methods.get(&method).is_some_and(|(first, other)| *first != call || other.is_some())
    }
}

/// Whether a conversation shows that its server has tools: declared, listed, counted by a client, or changed.
fn shows_tools(strand: &Strand) -> bool {
    let discovered = strand.events.iter().any(|event| event.what == StrandFact::Remark(RemarkKind::ToolsDiscovered));
    strand.serves_tools || !strand.tools.is_empty() || strand.tools_changed.is_some() || discovered
}

fn shows_service(case: &Case, call: &Call) -> bool {
    let same_refusal = call.answer.has_code && call.answer.code == -32601;
    !same_refusal || case.seen(call).iter().any(|row| matches!(row.seen, Seen::Received | Seen::Handled))
}
