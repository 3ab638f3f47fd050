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
    /// Of the attempts before it, the latest one of those that forbade it most.
    pub after: u32,
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
    // What a retry doubles may have been done by any attempt before it, not by the last one alone.
    let mut earlier = (0, 0);
    let mut gravest = 0;
    let mut retries = Vec::new();
    for (before, (call, _, own, _, origin)) in verdicts.iter().enumerate().skip(1).map(|(at, this)| (at - 1, this)) {
        earlier = (earlier.0 + verdicts[before].2.0, earlier.1 + verdicts[before].2.1);
        if verdicts[before].3.verdict >= verdicts[gravest].3.verdict {
            gravest = before;
        }
        let added = if absorbing { (0, 0) } else { *own };
        let after = (verdicts[gravest].0, &verdicts[gravest].3);
        retries.push(retry_verdict(after, earlier, *call, added, origin.clone()));
    }
    OperationVerdict { attempts: operation.attempts.clone(), effects: sum, duplicate, retries, assumptions }
}

fn retry_verdict(
    (after, before): (u32, &Opinion),
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
    RetryVerdict { call, after, origin, ex_ante: before.verdict, ex_post, quadrant }
}

#[cfg(test)]
mod tests {
    use crate::judge::testing::judged;

    /// A payment that is answered like this, in a trace of messages.
    fn paid(id: u32, answer: &str) -> String {
        let line = |second: u32, way: &str, rest: &str| {
            format!(
                r#"{{"ts":"2026-07-22T14:00:{second:02}.000Z","server":"acme","direction":"{way}","message":{{"jsonrpc":"2.0","id":{id},{rest}}}}}"#
            ) + "\n"
        };
        let asked = r#""method":"tools/call","params":{"name":"pay","arguments":{"amount":5}}"#;
        line(2 * id, "in", asked) + &line(2 * id + 1, "out", answer)
    }

    #[test]
    fn a_retry_may_double_what_any_attempt_before_it_did() {
        let done = r#""result":{"content":[]}"#;
        let unsure = r#""error":{"code":-32603,"message":"boom"}"#;
        let turned_away = r#""result":{"content":[{"type":"text","text":"Error executing tool pay: 1 validation error for payArguments\namount\n  Field required [type=missing, input_value={}, input_type=dict]\n    For further information visit https://errors.pydantic.dev/2.14/v/missing"}],"isError":true}"#;
        let ex_post = |first: &str| {
            let (_, verdicts) = judged(&[&(paid(1, first) + &paid(2, turned_away) + &paid(3, done))]);
            let retries = &verdicts.operations[0].retries;
            assert_eq!(retries[0].ex_post, "harmless");
            (retries[1].ex_post, retries[1].after)
        };
        assert_eq!(ex_post(done), ("possible", 0));
        assert_eq!(ex_post(unsure), ("possible", 0));
        assert_eq!(ex_post(turned_away).0, "harmless");
    }
}
