//! The executable could not be started at all.

use super::RestartRule;
use crate::judge::{Helps, Opinion, Proof, RunFacts, doc::Doc, retry::Caution};

/// See [`RestartRule::doc`].
pub(super) static RULE: RestartRule = RestartRule {
    id: "nothing-started",
    title: "Nothing was started",
    doc: Doc {
        means: "No process was created: nothing ran, and nothing can have been reached.",
        recognized: "The first executable could not be started (ENOENT, EACCES), nothing was written to its stderr before, and no other record shows a life of this run.",
        is_not: "A wrapper or package runner that started and failed to start the server.",
        to_do: "Repair command, PATH or permissions, then start it.",
    },
    check,
};

fn check(facts: &RunFacts<'_>) -> Option<Opinion> {
    let mark = facts.nothing_started()?;
    let proof = Proof::seen("shows that the process could not be created", mark);
    Some(Opinion::new(Caution::Safe, RULE.id, "The process could not be created: nothing ran.", Helps::No, proof))
}
