//! Other calls that may be attempts of the same operation although nothing on record says so: asked for every call that
//! is safe by a proof about itself.
//!
//! A phase log, a span and a call summary hold no arguments; a log names a server as its client does; a client adds a
//! stamp to the arguments when it sends a call again. None of that makes two calls one operation, but whoever calls one
//! of them safe would have to know that they are not.

use std::sync::OnceLock;

use rustc_hash::FxHashMap;

use super::{CallFacts, EffectClass, effect_class, facts_of, if_reached};
use crate::{
    correlate::{Call, Case, Key, Strand},
    event::{Direction, Pairs},
    judge::{RunFacts, retry, run::akin},
    symbol::Symbol,
};

/// The calls that may have an effect, by method.
pub(in crate::judge) struct Kin(FxHashMap<Symbol, Group>);

#[derive(Default)]
struct Group {
    calls: Vec<u32>,
    /// Those that may have acted: judged when somebody asks.
    acted: OnceLock<Acted>,
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
                kin.0.entry(call.method).or_default().calls.push(index);
            }
        }
        kin
    }

    /// A call that may be of the same operation and may have acted; those of the recorded operation are judged there.
    pub(in crate::judge) fn beside(&self, runs: &[RunFacts<'_>], facts: &CallFacts<'_>) -> Option<(u32, Kinship)> {
        let (case, call) = (facts.case, facts.call);
        let group = self.0.get(&call.method).filter(|group| group.calls.len() > 1)?;
        let acted = group.acted.get_or_init(|| Acted::of(case, runs, &group.calls));
        let own = One::of(case, facts.index);
        let unrecorded: Vec<&Pool> = acted.unrecorded(call).collect();
        if let Some(near) = unrecorded.iter().find_map(|pool| pool.in_run(call.run, own)) {
            return Some((near, Kinship::SameRun));
        }
        let servers = Servers::of(case, call);
        let other = acted
            .like(call, own)
            .or_else(|| acted.renamed(case, call, own))
            .or_else(|| unrecorded.iter().find_map(|pool| pool.not_apart(&servers, own)));
        other.map(|other| (other, Kinship::Possible))
    }
}

/// A call as one of its operation: attempts of one operation are one.
#[derive(Clone, Copy, PartialEq, Eq)]
struct One {
    call: u32,
    operation: Option<u32>,
}

impl One {
    fn of(case: &Case, call: u32) -> Self {
        Self { call, operation: case.operation_of.get(&call).copied() }
    }

    fn is(self, other: Self) -> bool {
        self.call == other.call || self.operation.is_some() && self.operation == other.operation
    }
}

/// The first two calls that are not one: whoever asks for another than himself is answered by one of them.
#[derive(Clone, Copy, Default)]
struct Two([Option<One>; 2]);

impl Two {
    fn add(&mut self, one: One) {
        match &mut self.0 {
            [first @ None, _] => *first = Some(one),
            [Some(first), second @ None] if !first.is(one) => *second = Some(one),
            _ => {}
        }
    }

    fn other_than(self, own: One) -> Option<u32> {
        self.0.into_iter().flatten().find(|one| !one.is(own)).map(|one| one.call)
    }
}

/// What a call is about: the name of its tool, where it is on record.
type Target = Option<Symbol>;

/// At most so many names of tools are kept of one wish.
const NAMES: usize = 16;

/// Calls that may have acted, by what another call can be compared with.
#[derive(Default)]
struct Acted {
    /// All of one tool; those of no name are nobody's, and so anybody's.
    all: FxHashMap<Target, Pool>,
    /// Those of which nobody recorded the arguments.
    unrecorded: FxHashMap<Target, Pool>,
    everyone: Pool,
    /// By tool and arguments.
    by_args: FxHashMap<Key, Two>,
    /// By one member of the arguments, by their only one, and by two of them.
    by_pair: FxHashMap<(Target, u32), Two>,
    by_only_pair: FxHashMap<(Target, u32), Two>,
    by_two_pairs: FxHashMap<(Target, u32, u32), Two>,
    /// By all members, whatever the tool: each name once.
    by_members: FxHashMap<Pairs, Vec<(Target, Two)>>,
    /// Those of them whose names are too many to be kept: any of them may be akin to any name.
    by_members_beyond: FxHashMap<Pairs, Two>,
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
            let (call, one) = (facts.call, One::of(case, index));
            acted.everyone.add(case, call, one);
            acted.all.entry(call.target).or_default().add(case, call, one);
            if recorded(call) {
                acted.add_arguments(call, one);
            } else {
                acted.unrecorded.entry(call.target).or_default().add(case, call, one);
            }
        }
        acted
    }

    fn add_arguments(&mut self, call: &Call, one: One) {
        let target = call.target;
        self.by_args.entry(call.args).or_default().add(one);
        for pair in call.pairs.members() {
            self.by_pair.entry((target, pair)).or_default().add(one);
        }
        if let [only] = call.pairs.members().collect::<Vec<_>>()[..] {
            self.by_only_pair.entry((target, only)).or_default().add(one);
        }
        for (first, second) in call.pairs.twos() {
            self.by_two_pairs.entry((target, first, second)).or_default().add(one);
        }
        if !call.pairs.is_empty() {
            let names = self.by_members.entry(call.pairs).or_default();
            match names.iter().position(|(name, _)| *name == target) {
                Some(at) => names[at].1.add(one),
                None if names.len() < NAMES => names.push((target, Two([Some(one), None]))),
                None => self.by_members_beyond.entry(call.pairs).or_default().add(one),
            }
        }
    }

    /// The calls whose arguments cannot be told from those of a call, because one of both did not record them, or not
    /// even its tool.
    fn unrecorded(&self, call: &Call) -> impl Iterator<Item = &Pool> {
        let pools = if recorded(call) { &self.unrecorded } else { &self.all };
        let nameless = call.target.and_then(|_| self.all.get(&None));
        let everyone = Some(&self.everyone).filter(|_| call.target.is_none());
        pools.get(&call.target).into_iter().chain(nameless).chain(everyone)
    }

    /// A call with the same arguments, or with arguments that repeat most of these ([`Pairs::repeats`]). They make one
    /// wish, whichever name or address its server has there.
    fn like(&self, call: &Call, own: One) -> Option<u32> {
        let other = |two: Option<&Two>| two.and_then(|two| two.other_than(own));
        let (target, alone) = (call.target, call.pairs.len() == 1);
        other(self.by_args.get(&call.args))
            .or_else(|| call.pairs.twos().find_map(|(one, two)| other(self.by_two_pairs.get(&(target, one, two)))))
            .or_else(|| call.pairs.members().find_map(|pair| other(self.by_only_pair.get(&(target, pair)))))
            .or_else(|| {
                call.pairs.members().filter(|_| alone).find_map(|pair| other(self.by_pair.get(&(target, pair))))
            })
    }

    /// A call with the same arguments of a tool with an akin name: a gateway puts the name of its server before it.
    fn renamed(&self, case: &Case, call: &Call, own: One) -> Option<u32> {
        let names = self.by_members.get(&call.pairs)?;
        let target = call.target?;
        let mut like = names
            .iter()
            .filter(|(name, _)| name.is_some_and(|name| name != target && akin(case.name(name), case.name(target))));
        like.find_map(|(_, two)| two.other_than(own))
            .or_else(|| self.by_members_beyond.get(&call.pairs).and_then(|two| two.other_than(own)))
    }
}

/// Calls by their run and by what is known of their server.
#[derive(Default)]
struct Pool {
    runs: FxHashMap<u32, Two>,
    servers: FxHashMap<(usize, Symbol), Two>,
    /// By the kinds of names that are known of their servers, as bits.
    kinds: [Two; 1 << KINDS.len()],
}

impl Pool {
    fn add(&mut self, case: &Case, call: &Call, one: One) {
        self.runs.entry(call.run).or_default().add(one);
        let servers = Servers::of(case, call);
        for name in servers.names() {
            self.servers.entry(name).or_default().add(one);
        }
        self.kinds[servers.kinds()].add(one);
    }

    fn in_run(&self, run: u32, own: One) -> Option<u32> {
        self.runs.get(&run).and_then(|two| two.other_than(own))
    }

    /// A call that is not known to have gone to another server. Names are compared with names of their kind only, and
    /// one endpoint, or one name that the server gives itself, makes one server.
    fn not_apart(&self, servers: &Servers, own: One) -> Option<u32> {
        let named = servers.names().find_map(|name| self.servers.get(&name)?.other_than(own));
        let incomparable = || {
            let kinds = (0..self.kinds.len()).filter(|kinds| kinds & servers.kinds() == 0);
            kinds.filter_map(|kinds| self.kinds[kinds].other_than(own)).min()
        };
        named.or_else(incomparable)
    }
}

/// What names a server: its endpoint, what it calls itself, what a log calls it.
const KINDS: [fn(&Strand) -> Option<Symbol>; 3] = [|strand| strand.endpoint, |strand| strand.server_info, given];

/// What a log calls the server, where that is not what the server calls itself.
fn given(strand: &Strand) -> Option<Symbol> {
    strand.server.filter(|_| strand.server != strand.server_info)
}

/// The names of the server of a call, by kind; each once, sorted.
struct Servers([Vec<Symbol>; KINDS.len()]);

impl Servers {
    fn of(case: &Case, call: &Call) -> Self {
        let run = case.runs.get(call.run as usize);
        let strands = || run.into_iter().flat_map(|run| &run.strands).map(|strand| &case.strands[*strand as usize]);
        Self(KINDS.map(|pick| {
            let mut names: Vec<Symbol> = strands().filter_map(pick).collect();
            names.sort_unstable();
            names.dedup();
            names
        }))
    }

    fn names(&self) -> impl Iterator<Item = (usize, Symbol)> {
        self.0.iter().enumerate().flat_map(|(kind, names)| names.iter().map(move |name| (kind, *name)))
    }

    fn kinds(&self) -> usize {
        self.0.iter().enumerate().filter(|(_, names)| !names.is_empty()).map(|(kind, _)| 1 << kind).sum()
    }
}

fn recorded(call: &Call) -> bool {
    call.args != Key::default()
}
