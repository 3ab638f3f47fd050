//! Everything that explains the verdict of one call: its chain, what its milestones rest on, the worlds that remain,
//! the other attempts.
//!
//! It judges nothing anew: every part is what the verdict itself was made of.

use super::{
    CallVerdict, Grounds, Link, Others, World, chain, effects, facts_of, judge_call, milestones, milestones::grounds,
    worlds,
};
use crate::{
    correlate::Case,
    judge::{Outcome, RunFacts, Terms, outcome},
};

/// Everything that explains the verdict of one call.
#[derive(Clone, Debug)]
pub struct Explained {
    /// The verdict.
    pub verdict: CallVerdict,
    /// Every record of it, in causal order.
    pub chain: Vec<Link>,
    /// What its milestones rest on.
    pub grounds: Grounds,
    /// Which assignments of the milestones remain possible.
    pub worlds: Vec<World>,
    /// The attempts of its operation, where there are several.
    pub attempts: Vec<Attempted>,
}

/// One attempt of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Attempted {
    /// The call.
    pub call: u32,
    /// What the caller got.
    pub outcome: Outcome,
    /// Executions: proven, possible.
    pub effects: (u32, u32),
}

/// Judges one call under what the operator declares, and tells what its verdict was made of.
pub fn explain(case: &Case, terms: &Terms, index: u32) -> Explained {
    let runs: Vec<RunFacts<'_>> = (0..case.runs.len()).map(|run| RunFacts::new(case, run).under(terms)).collect();
    let facts = facts_of(case, &runs, index);
    let verdict = judge_call(case, &runs, &Others::of(case, &runs), index);
    let operation = case.operation_of.get(&index).map(|operation| &case.operations[*operation as usize]);
    let attempts = operation.into_iter().flat_map(|operation| &operation.attempts);
    Explained {
        chain: chain(case, index),
        grounds: grounds(&facts, verdict.outcome),
        worlds: worlds(&verdict.milestones),
        attempts: attempts.map(|call| attempted(case, &runs, *call)).collect(),
        verdict,
    }
}

fn attempted(case: &Case, runs: &[RunFacts<'_>], call: u32) -> Attempted {
    let facts = facts_of(case, runs, call);
    let outcome = outcome::outcome(&facts);
    let effects = effects(&facts, &milestones(&facts, outcome));
    Attempted { call, outcome, effects }
}
