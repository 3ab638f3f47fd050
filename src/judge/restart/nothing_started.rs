//! The executable could not be started at all.

use std::collections::BTreeSet;

use super::RestartRule;
use crate::{
    correlate::Mark,
    event::SourceId,
    judge::{Condition, Helps, Opinion, Proof, RunFacts, Spots, doc::Doc, retry::Caution},
};

/// See [`RestartRule::doc`].
pub(super) static RULE: RestartRule = RestartRule {
    id: "nothing-started",
    title: "Nothing was started",
    doc: Doc {
        means: "No process was created: nothing ran, and nothing can have been reached.",
        recognized: "The first executable could not be started (ENOENT, EACCES), nothing was written to its stderr before, and no other record shows a life of this run: safe. Where another source tells of something that a server did, and not of which one, it is a condition.",
        is_not: "A wrapper or package runner that started and failed to start the server.",
        to_do: "Repair command, PATH or permissions, then start it.",
    },
    check,
};

fn check(facts: &RunFacts<'_>) -> Option<Opinion> {
    let mark = facts.nothing_started()?;
    let proof = Proof::seen("shows that the process could not be created", mark);
    let reason = "The process could not be created: nothing ran.";
    Some(match Spots::sources(lives_elsewhere(facts, mark)) {
        Some(spots) => {
            let condition = Condition::at("what {} tells of is no life of it", spots);
            Opinion::safe_if(RULE.id, condition, reason, Helps::No, proof)
        }
        None => Opinion::new(Caution::Safe, RULE.id, reason, Helps::No, proof),
    })
}

/// The other sources that tell of something a server did, and not of which one: it may have lived after all.
fn lives_elsewhere(facts: &RunFacts<'_>, mark: Mark) -> BTreeSet<SourceId> {
    let case = facts.case;
    let own = mark.origin.source;
    let words = case.stray.words_elsewhere(own).chain(case.stray.timeless.iter().map(|mark| mark.origin.source));
    let runs = case.runs.iter().enumerate().filter(|(index, _)| *index != facts.index);
    let named = |strand: &u32| case.strands[*strand as usize].server.is_some();
    let nameless = runs.filter(|(_, run)| !run.strands.iter().any(named));
    let contacts = nameless.flat_map(|(_, run)| &run.contacts).chain(&case.loose);
    let contacts = contacts.map(|index| &case.contacts[*index as usize]).filter(|contact| contact.is_attempt());
    let told = words.chain(contacts.map(|contact| contact.attempt.origin.source));
    told.filter(|source| *source != own && !is_of_another_server(facts, *source)).collect()
}

/// Whether all that a source tells is about servers of other names.
fn is_of_another_server(facts: &RunFacts<'_>, source: SourceId) -> bool {
    let Some(server) = facts.server() else { return false };
    let mut strands = facts.case.strands.iter().filter(|strand| strand.source == source.0).peekable();
    strands.peek().is_some() && strands.all(|strand| strand.server.is_some_and(|other| other != server))
}

#[cfg(test)]
mod tests {
    use crate::judge::{retry::Caution, testing::judged};

    const FAILED: &str = "2026-07-22T14:00:00.000Z [acme] [info] Initializing server... { metadata: undefined }
2026-07-22T14:00:00.100Z [acme] [error] spawn npx ENOENT { metadata: undefined }
";

    fn verdict(inputs: &[&str]) -> Caution {
        let (_, verdicts) = judged(inputs);
        verdicts.runs.iter().map(|run| run.restart.verdict).min().expect("a run")
    }

    #[test]
    fn what_may_be_its_life_is_named() {
        assert_eq!(verdict(&[FAILED]), Caution::Safe);
        for other in [
            "2026-07-22T14:00:00.050Z acme: sent startup webhook to slack\n",
            "acme listening, startup webhook posted\n",
            r#"{"phase":"launch","event":"external_attempt","at":"2026-07-22T14:00:00.050Z","run_id":"q","host":"slack"}"#,
        ] {
            assert_eq!(verdict(&[FAILED, other]), Caution::SafeIf, "{other}");
        }
    }
}
