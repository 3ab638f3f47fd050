//! The verdict of a call: the most cautious one among all attempts of its operation.

mod artifact;
mod chain;
mod explained;
mod facts;
mod kin;
mod milestones;
mod missing;
mod negotiation;
mod operation;
mod plain;
mod told;
mod worlds;

pub use artifact::{ARTIFACTS, Artifact, ArtifactRow};
pub use chain::{Link, LinkKind, chain};
pub use explained::{Attempted, Explained, explain};
pub use facts::{CallFacts, EffectClass, effect_class};
pub(super) use facts::{answer_is_servers, last_event};
pub(super) use kin::{Kin, Kinship};
pub(super) use milestones::milestones;
pub use milestones::{Ground, Grounds, Milestones, Truth};
pub use missing::{Instant, Missing, Window};
pub(super) use negotiation::is_probe;
pub(super) use operation::judge_operation;
pub use operation::{OperationVerdict, RetryVerdict};
pub(super) use plain::PlainCalls;
pub use told::gave_up;
pub(super) use told::role_of;
pub use worlds::{World, worlds};

use std::sync::OnceLock;

use rayon::prelude::*;

use super::{
    Evidence, Layer, Outcome, ReachVerdict, RunFacts, outcome,
    policy::{self, Assumption},
    reach,
    retry::{self, Opinion},
};
use crate::{
    correlate::{Author, Case, Mark, Operation},
    event::PhaseEvent,
};
use milestones::effects;
use missing::missing;
use told::{attempt, code, conflicts, evidence, limit, retry_origin};

/// The verdict of a call.
#[derive(Clone, Debug)]
pub struct CallVerdict {
    /// What the caller got.
    pub outcome: Outcome,
    /// Which layer failed.
    pub layer: Layer,
    /// The furthest confirmed event.
    pub last_phase: Option<(PhaseEvent, Mark)>,
    /// JSON-RPC code, else HTTP status behind a failure.
    pub code: Option<i32>,
    /// Who wrote the failing answer.
    pub author: Author,
    /// May it be sent again?
    pub retry: Opinion,
    /// What it reached.
    pub reach: ReachVerdict,
    /// Executions: proven, possible.
    pub effects: (u32, u32),
    /// Its milestones.
    pub milestones: Milestones,
    /// What would settle an open verdict.
    pub missing: Vec<Missing>,
    /// Facts on which witnesses contradict each other.
    pub conflicts: Vec<(&'static str, Vec<Evidence>)>,
    /// Why it was sent, if it repeats an earlier attempt.
    pub retry_origin: Vec<&'static str>,
    /// Number in its operation, counted from 1.
    pub attempt: Option<u32>,
    /// It was refused in the course of a negotiation that succeeded.
    pub is_probe: bool,
    /// A known limit that its duration hits.
    pub limit: Option<&'static str>,
    /// Records that show it, in causal order.
    pub evidence: Vec<Evidence>,
}

impl CallVerdict {
    /// The words of outcome, layer, retry verdict and reach, as totals count them.
    pub fn names(&self) -> [&'static str; 4] {
        [self.outcome.name(), self.layer.name(), self.retry.verdict.name(), self.reach.answer.name()]
    }
}

/// Judges one call; its retry verdict is that of its operation.
pub(super) fn judge_call(case: &Case, runs: &[RunFacts<'_>], others: &Others, index: u32) -> CallVerdict {
    let facts = facts_of(case, runs, index);
    let outcome = outcome::outcome(&facts);
    let milestones = milestones(&facts, outcome);
    let reach = reach::call_reach(&facts, outcome, &milestones);
    let retry = operation_opinion(case, runs, others, &facts, outcome, &milestones);
    let layer = outcome::layer(&facts, outcome);
    let effects = effects(&facts, &milestones);
    let missing = missing(&facts, &milestones, &retry);
    CallVerdict {
        outcome,
        layer,
        last_phase: last_event(case, index),
        code: code(&facts, outcome),
        author: facts.call.answer.author,
        effects,
        milestones,
        missing,
        conflicts: conflicts(&facts, &milestones),
        retry_origin: retry_origin(&facts),
        attempt: attempt(case, index),
        is_probe: is_probe(case, index),
        limit: limit(&facts),
        evidence: evidence(&facts),
        retry,
        reach,
    }
}

fn facts_of<'c>(case: &'c Case, runs: &'c [RunFacts<'c>], index: u32) -> CallFacts<'c> {
    let run = runs.get(case.calls[index as usize].run as usize);
    CallFacts::new(case, run, index)
}

/// What other calls have to say about a call.
pub(super) struct Others {
    deciders: Deciders,
    /// Made when the first call asks: most captures have none that does.
    kin: OnceLock<Kin>,
}

impl Others {
    pub(super) fn of(case: &Case, runs: &[RunFacts<'_>]) -> Self {
        Self { deciders: Deciders::of(case, runs), kin: OnceLock::new() }
    }
}

/// What the attempts of an operation say: a call's verdict is the most cautious one among all that are not proven
/// unreached. An attempt is not its own judge, so the second one is kept, too.
struct Deciders(Vec<Decided>);

#[derive(Default)]
struct Decided {
    most: [Option<(u32, Opinion)>; 2],
    /// What the opinions about all of them take from the policy: without it, another one might decide.
    assumptions: Vec<Assumption>,
}

impl Deciders {
    /// Judges each attempt of each operation once.
    fn of(case: &Case, runs: &[RunFacts<'_>]) -> Self {
        Self(case.operations.par_iter().map(|operation| deciders(case, runs, operation)).collect())
    }

    /// The first of the most cautious attempts beside a call.
    fn beside(&self, case: &Case, call: u32) -> Option<&(u32, Opinion)> {
        self.about(case, call)?.most.iter().flatten().find(|(attempt, _)| *attempt != call)
    }

    fn about(&self, case: &Case, call: u32) -> Option<&Decided> {
        self.0.get(*case.operation_of.get(&call)? as usize)
    }
}

/// The first of the most cautious attempts, and the first of the most cautious among the rest.
fn deciders(case: &Case, runs: &[RunFacts<'_>], operation: &Operation) -> Decided {
    let mut decided = Decided::default();
    let [first, second] = &mut decided.most;
    for attempt in &operation.attempts {
        let facts = facts_of(case, runs, *attempt);
        let Some(opinion) = if_reached(&facts) else { continue };
        policy::add(&mut decided.assumptions, &opinion.assumptions);
        let beats =
            |known: &Option<(u32, Opinion)>| known.as_ref().is_none_or(|known| opinion.verdict > known.1.verdict);
        if beats(first) {
            *second = first.replace((*attempt, opinion));
        } else if beats(second) {
            *second = Some((*attempt, opinion));
        }
    }
    decided
}

/// The opinion about an attempt that is not proven unreached.
fn if_reached(facts: &CallFacts<'_>) -> Option<Opinion> {
    let outcome = outcome::outcome(facts);
    let milestones = milestones(facts, outcome);
    (milestones.reached != Truth::False).then(|| retry::opinion(facts, outcome, &milestones))
}

/// The opinion about a call as an attempt of its operation.
fn operation_opinion(
    case: &Case,
    runs: &[RunFacts<'_>],
    others: &Others,
    facts: &CallFacts<'_>,
    outcome: Outcome,
    milestones: &Milestones,
) -> Opinion {
    let mut own = retry::opinion(facts, outcome, milestones);
    if retry::rests_on_no_execution(&own)
        && facts.class == EffectClass::Undeclared
        && let Some((other, kinship)) = others.kin.get_or_init(|| Kin::of(case)).beside(runs, facts)
    {
        own = retry::possibly_the_same(own, &facts_of(case, runs, other), kinship);
    }
    let assumed = own.assumptions.clone();
    let opinion = match others.deciders.beside(case, facts.index) {
        Some((decider, opinion)) if opinion.verdict > own.verdict => {
            opinion.clone().of_another_attempt(&facts_of(case, runs, *decider))
        }
        _ => own,
    };
    let all = others.deciders.about(case, facts.index).map_or(&[][..], |decided| &decided.assumptions);
    opinion.assuming(&assumed).assuming(all)
}
