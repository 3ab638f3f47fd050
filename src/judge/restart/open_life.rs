//! Nothing covers the life of the process.

use super::RestartRule;
use crate::judge::{Helps, Opinion, Proof, RunFacts, doc::Doc, retry::Caution, run};

/// See [`RestartRule::doc`].
pub(super) static RULE: RestartRule = RestartRule {
    id: "open-life",
    title: "Nothing covers the life of the process",
    doc: Doc {
        means: "Whether the server reached outside while it started, no artifact tells.",
        recognized: "No other restart rule fires.",
        is_not: "A sign that a start is harmful.",
        to_do: "Record the network of one start (`strace -f -e trace=network,process`), or let the server log its attempts.",
    },
    check,
};

#[expect(clippy::unnecessary_wraps, reason = "a rule of the table may decline; this one never does")]
fn check(facts: &RunFacts<'_>) -> Option<Opinion> {
    Some(opinion(facts))
}

/// The opinion where nothing covers the life.
pub(super) fn opinion(facts: &RunFacts<'_>) -> Opinion {
    let first = facts.strands.iter().map(|strand| strand.first).min_by_key(|mark| mark.origin);
    let first = first.expect("a run has at least one strand");
    let proof = Proof::seen("is the first record of the run", first).with(facts.exited.map(run::exit_evidence));
    Opinion::new(
        Caution::Unknown,
        RULE.id,
        "No artifact covers what the server reached while it started.",
        Helps::Unknown,
        proof,
    )
}
