//! The executable could not be started at all.

use super::RestartRule;
use crate::{
    event::PhaseEvent,
    judge::{Helps, Opinion, Proof, RunFacts, call, doc::Doc, retry::Caution},
};

/// See [`RestartRule::doc`].
pub(super) static RULE: RestartRule = RestartRule {
    id: "nothing-started",
    title: "Nothing was started",
    doc: Doc {
        means: "No process was created: nothing ran, and nothing can have been reached.",
        recognized: "The first executable could not be started (ENOENT, EACCES), and no other record shows a life of this run.",
        is_not: "A wrapper or package runner that started and failed to start the server.",
        to_do: "Repair command, PATH or permissions, then start it.",
    },
    check,
};

fn check(facts: &RunFacts<'_>) -> Option<Opinion> {
    let (_, mark) = facts.spawn_failed?;
    let lived = facts.exited.is_some()
        || facts.steps.contains_key(&PhaseEvent::Spawned)
        || facts.steps.contains_key(&PhaseEvent::ExecutableReady)
        || facts.run.calls.iter().any(|index| call::answer_is_servers(&facts.case.calls[*index as usize]));
    let others = facts.run.calls.iter().any(|index| !facts.recorded_together(mark, &facts.case.calls[*index as usize]));
    if lived || others {
        return None;
    }
    let proof = Proof::seen("shows that the process could not be created", mark);
    Some(Opinion::new(Caution::Safe, RULE.id, "The process could not be created: nothing ran.", Helps::No, proof))
}
