//! What was not recorded, or was lost, and would decide something.

use std::{collections::BTreeSet, num::NonZeroU32};

use super::{Confidence, Doc, Finding, FindingRule, Scene, Severity, calls_of, count, number_of, tally::Tally};
use crate::{
    correlate::{Mark, NONE},
    event::{Origin, SourceId, Witness},
    judge::{
        Caution, RunFacts,
        call::{EffectClass, effect_class},
    },
};

/// See [`FindingRule::doc`].
pub(super) static RULE: FindingRule = FindingRule {
    id: "evidence-gap",
    title: "Evidence is missing",
    severity: Severity::Medium,
    doc: Doc {
        means: "A source is damaged, so that nothing follows from what it does not show; or calls of unknown effect were recorded on the client's side only, so that nobody can say what the server did.",
        recognized: "A notice of lost data for a source; a run with calls whose retry verdict is unknown and no record of the server, its process or its network.",
        is_not: "A fault of the server or the client. A run whose calls are all decided needs no further log.",
        to_do: "Fetch the undamaged file, or the server's stderr and phase log for the same time, and analyze again.",
    },
    check,
};

const ROLE: &str = "begins a source in which data was lost";

fn check(scene: &Scene<'_, '_>, out: &mut Vec<Finding>) {
    lost(scene, out);
    let unknown: BTreeSet<u32> = scene
        .verdicts
        .calls
        .iter()
        .filter(|(_, verdict)| verdict.retry.verdict == Caution::Unknown)
        .map(|(call, _)| &scene.case.calls[*call as usize])
        .filter(|call| effect_class(scene.case.name(call.method)) != EffectClass::None)
        .map(|call| call.run)
        .collect();
    for facts in scene.runs.iter().filter(|facts| unknown.contains(&number_of(facts))) {
        if server_side(facts) {
            continue;
        }
        let Some((_, first)) = calls_of(facts).next() else { continue };
        let tally = Tally::new("shows the first call that only the other side recorded", scene.case.place(first));
        let claim = "Calls of unknown effect were recorded, and nothing from the server's side.";
        out.push(tally.finding(&RULE, Confidence::High, claim, number_of(facts)).with_severity(Severity::Info));
    }
}

/// Sources that lost data: one finding for all of them.
fn lost(scene: &Scene<'_, '_>, out: &mut Vec<Finding>) {
    let lossy = (0_u32..).zip(&scene.case.sources).filter(|(_, source)| source.lossy).map(|(index, _)| index);
    let mut tally: Option<Tally> = None;
    for source in lossy {
        let origin = Origin { source: SourceId(source), record: NonZeroU32::MIN, offset: 0 };
        let mark = Mark { origin, at: None };
        Tally::note(&mut tally, ROLE, mark);
    }
    if let Some(tally) = tally {
        let number = count(tally.count(), "source", "sources");
        let claim = format!("Data was lost in {number}: what is not recorded there may have happened all the same.");
        out.push(tally.of(scene.case.sources.len() as u64).finding(&RULE, Confidence::High, claim, NONE));
    }
}

/// Whether the server, its process or its network left any record in a run.
fn server_side(facts: &RunFacts<'_>) -> bool {
    let speaks = |witness: Witness| matches!(witness, Witness::Server | Witness::Network);
    let by_strand = facts
        .strands
        .iter()
        .any(|strand| speaks(strand.witness) || strand.events.iter().any(|event| speaks(event.witness)));
    by_strand
        || !facts.run.contacts.is_empty()
        || calls_of(facts).any(|(index, call)| {
            speaks(call.witness)
                || facts.case.sightings(call).any(|row| speaks(row.witness))
                || facts.case.contacts_of(index).next().is_some()
        })
}
