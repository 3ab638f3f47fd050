//! Other calls that may be attempts of the same operation although nothing on record says so: asked for every call that
//! is safe by a proof about itself.
//!
//! A phase log, a span and a call summary hold no arguments; a log names a server as its client does; a client adds a
//! stamp to the arguments when it sends a call again. None of that makes two calls one operation, but whoever calls one
//! of them safe would have to know that they are not.

use std::sync::OnceLock;

use rustc_hash::{FxHashMap, FxHashSet};

use super::{CallFacts, EffectClass, effect_class, facts_of, if_reached};
use crate::{
    correlate::{Call, Case, Key, Strand},
    event::Direction,
    judge::{RunFacts, retry},
    symbol::Symbol,
};

/// The calls that may have an effect, by method and target.
pub(in crate::judge) struct Kin(FxHashMap<(Symbol, Option<Symbol>), Group>);

#[derive(Default)]
struct Group {
    calls: Vec<u32>,
    /// Those that may have acted: judged when somebody asks.
    acted: OnceLock<Acted>,
}

/// Calls that may have acted, by what another call can be compared with.
#[derive(Default)]
struct Acted {
    all: Vec<u32>,
    /// Those of which nobody recorded the arguments.
    unrecorded: Vec<u32>,
    by_args: FxHashMap<Key, Vec<u32>>,
    by_pair: FxHashMap<u32, Vec<u32>>,
}

/// Why another call may be an attempt of the same operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::judge) enum Kinship {
    /// Of the same run, and not both recorded their arguments.
    SameRun,
    /// Anything weaker.
    Possible,
}

impl Kin {
    pub(in crate::judge) fn of(case: &Case) -> Self {
        let mut kin = Self(FxHashMap::default());
        for (index, call) in (0_u32..).zip(&case.calls) {
            let undeclared = effect_class(case.name(call.method)) == EffectClass::Undeclared;
            if undeclared && call.direction == Direction::ToServer {
                kin.0.entry((call.method, call.target)).or_default().calls.push(index);
            }
        }
        kin
    }

    /// A call that may be of the same operation and may have acted; those of the recorded operation are judged there.
    pub(in crate::judge) fn beside(&self, runs: &[RunFacts<'_>], facts: &CallFacts<'_>) -> Option<(u32, Kinship)> {
        let (case, call) = (facts.case, facts.call);
        let group = self.0.get(&(call.method, call.target)).filter(|group| group.calls.len() > 1)?;
        let acted = group.acted.get_or_init(|| Acted::of(case, runs, &group.calls));
        let operation = case.operation_of.get(&facts.index);
        let attempt = |index: &u32| operation.is_some() && case.operation_of.get(index) == operation;
        let other =
            |index: &u32| *index != facts.index && !attempt(index) && !apart(case, call, &case.calls[*index as usize]);
        let unrecorded = if recorded(call) { &acted.unrecorded } else { &acted.all };
        let near = unrecorded.iter().copied().find(|index| {
            let same_run = case.calls[*index as usize].run == call.run;
            same_run && other(index)
        });
        // The same arguments make one wish, whichever name or address its server has there.
        let same = || acted.same(call).iter().copied().find(|index| *index != facts.index && !attempt(index));
        let near_in = || acted.like(case, call).into_iter().find(other);
        let any = || same().or_else(near_in).or_else(|| unrecorded.iter().copied().find(other));
        near.map(|index| (index, Kinship::SameRun)).or_else(|| any().map(|index| (index, Kinship::Possible)))
    }
}

impl Acted {
    /// As among the attempts of one operation, what is proven unreached does not count, nor what may itself be sent
    /// again.
    fn of(case: &Case, runs: &[RunFacts<'_>], calls: &[u32]) -> Self {
        let mut acted = Self::default();
        for index in calls.iter().copied() {
            let facts = facts_of(case, runs, index);
            if if_reached(&facts).is_none_or(|opinion| opinion.verdict == retry::Caution::Safe) {
                continue;
            }
            acted.all.push(index);
            if !recorded(facts.call) {
                acted.unrecorded.push(index);
                continue;
            }
            acted.by_args.entry(facts.call.args).or_default().push(index);
            for hash in facts.call.pairs.0.iter().filter(|hash| **hash != 0) {
                acted.by_pair.entry(*hash).or_default().push(index);
            }
        }
        acted
    }

    /// The calls with the same arguments.
    fn same(&self, call: &Call) -> &[u32] {
        self.by_args.get(&call.args).map_or(&[], Vec::as_slice)
    }

    /// The calls with arguments that repeat most of these.
    fn like(&self, case: &Case, call: &Call) -> Vec<u32> {
        let near = call.pairs.0.iter().filter_map(|hash| self.by_pair.get(hash)).flatten().copied();
        let mut like: Vec<u32> = near.filter(|index| case.calls[*index as usize].pairs.repeats(call.pairs)).collect();
        like.sort_unstable();
        like.dedup();
        like
    }
}

/// What a log calls the server, where that is not what the server calls itself.
fn given(strand: &Strand) -> Option<Symbol> {
    strand.server.filter(|_| strand.server != strand.server_info)
}

fn recorded(call: &Call) -> bool {
    call.args != Key::default()
}

/// Whether two calls are known to have gone to different servers. Names are compared with names of their kind only, and
/// one endpoint, or one name that the server gives itself, makes one server.
fn apart(case: &Case, a: &Call, b: &Call) -> bool {
    if a.run == b.run {
        return false;
    }
    let of = |call: &Call, pick: fn(&Strand) -> Option<Symbol>| -> FxHashSet<Symbol> {
        let run = case.runs.get(call.run as usize);
        let strands = run.into_iter().flat_map(|run| &run.strands);
        strands.filter_map(|strand| pick(&case.strands[*strand as usize])).collect()
    };
    let compare = |pick| {
        let (a, b) = (of(a, pick), of(b, pick));
        (!a.is_empty() && !b.is_empty()).then(|| !a.is_disjoint(&b))
    };
    let kinds: [fn(&Strand) -> Option<Symbol>; 3] = [|strand| strand.endpoint, |strand| strand.server_info, given];
    let known: Vec<bool> = kinds.into_iter().filter_map(compare).collect();
    !known.is_empty() && !known.contains(&true)
}
