//! The verdict of an operation: whether its effect came about more than once, and which retry was justified.

use super::{
    facts_of,
    milestones::{effects, milestones},
    told::retry_origin,
};
use crate::{
    correlate::{Case, Operation},
    judge::{
        RunFacts, outcome,
        policy::{self, Assumption, Effect},
        retry::{self, Opinion},
    },
};

/// The verdict of an operation with two attempts or more.
#[derive(Clone, Debug)]
pub struct OperationVerdict {
    /// The attempts.
    pub attempts: Vec<u32>,
    /// Executions: proven, possible. The sums of what its calls say.
    pub effects: (u32, u32),
    /// Whether the effect happened more than once: `no`, `possible`, `certain`.
    pub duplicate: &'static str,
    /// The attempts after the first.
    pub retries: Vec<RetryVerdict>,
    /// What it takes from the policy.
    pub assumptions: Vec<Assumption>,
}

/// What is to be said of an attempt after the first.
#[derive(Clone, Debug)]
pub struct RetryVerdict {
    /// The call.
    pub call: u32,
    /// Every origin that fits.
    pub origin: Vec<&'static str>,
    /// Was it justified by what the client could see?
    pub ex_ante: retry::Caution,
    /// Could it have added an effect, given everything: `harmed`, `harmless`, `possible`.
    pub ex_post: &'static str,
    /// `justified`, `lucky`, `unsafe`, `defect-below`.
    pub quadrant: &'static str,
}

/// Judges an operation.
pub(in crate::judge) fn judge_operation(case: &Case, runs: &[RunFacts<'_>], operation: &Operation) -> OperationVerdict {
    let mut verdicts = Vec::new();
    let mut assumptions = Vec::new();
    let mut absorbing = true;
    let mut sum = (0, 0);
    for call in &operation.attempts {
        let facts = facts_of(case, runs, *call);
        let outcome = outcome::outcome(&facts);
        let milestones = milestones(&facts, outcome);
        let own = retry::opinion(&facts, outcome, &milestones);
        let effects = effects(&facts, &milestones);
        sum = (sum.0 + effects.0, sum.1 + effects.1);
        // What was turned away before any work is no execution that could have doubled another one.
        let turned_away = own.rule == retry::REJECTED_BEFORE_WORK || retry::turned_away(&facts, outcome);
        let effects = if turned_away { (0, 0) } else { effects };
        policy::add(&mut assumptions, &own.assumptions);
        absorbing &= facts.declared().is_some_and(|(effect, _)| effect == Effect::Absorbing);
        verdicts.push((*call, outcome, effects, own, retry_origin(&facts)));
    }
    let worked = verdicts.iter().map(|verdict| verdict.2);
    let doubling = worked.fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
    // By the word of the operator, an equal call adds nothing.
    let doubling = if absorbing { (doubling.0.min(1), doubling.1.min(1)) } else { doubling };
    let repeated_after_success = verdicts.windows(2).any(|pair| pair[0].1.is_success());
    let duplicate = match doubling {
        (lo, _) if lo >= 2 && !repeated_after_success => "certain",
        (_, hi) if hi >= 2 => "possible",
        _ => "no",
    };
    let retries = verdicts
        .windows(2)
        .map(|pair| {
            let added = if absorbing { (0, 0) } else { pair[1].2 };
            retry_verdict(&pair[0].3, pair[0].2, pair[1].0, added, pair[1].4.clone())
        })
        .collect();
    OperationVerdict { attempts: operation.attempts.clone(), effects: sum, duplicate, retries, assumptions }
}

fn retry_verdict(
    before: &Opinion,
    earlier: (u32, u32),
    call: u32,
    this: (u32, u32),
    origin: Vec<&'static str>,
) -> RetryVerdict {
    use retry::Caution;
    let ex_post = match (earlier, this) {
        ((_, 0), _) | (_, (_, 0)) => "harmless",
        ((lo, _), (other, _)) if lo > 0 && other > 0 => "harmed",
        _ => "possible",
    };
    let justified = matches!(before.verdict, Caution::Safe | Caution::SafeIf);
    let quadrant = match (justified, ex_post) {
        (true, "harmed") => "defect-below",
        (true, _) => "justified",
        (false, "harmless") => "lucky",
        (false, _) => "unsafe",
    };
    RetryVerdict { call, origin, ex_ante: before.verdict, ex_post, quadrant }
}
