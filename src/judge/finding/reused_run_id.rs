//! One run id names several processes.

use std::collections::BTreeMap;

use super::{Confidence, Doc, Finding, FindingRule, Scene, Severity, tally::Tally};
use crate::{correlate::Strand, symbol::Symbol};

/// See [`FindingRule::doc`].
pub(super) static RULE: FindingRule = FindingRule {
    id: "reused-run-id",
    title: "One run id names several processes",
    severity: Severity::Medium,
    doc: Doc {
        means: "A run id is to name one life of a server process. Here it names several, so that records of different lives look alike.",
        recognized: "Two process ids of one witness under one run id, or two `spawned` of one witness. The lives are reported apart, as `ID#1`, `ID#2` and so on.",
        is_not: "A launcher and a server that both log the same start.",
        to_do: "Make a new run id for every process that is started, also for an automatic restart.",
    },
    check,
};

const ROLE: &str = "begins a life under this run id";

fn check(scene: &Scene<'_, '_>, out: &mut Vec<Finding>) {
    let mut ids: BTreeMap<Symbol, BTreeMap<u32, &Strand>> = BTreeMap::new();
    for strand in &scene.case.strands {
        if let Some(run) = strand.run_id {
            ids.entry(run).or_default().entry(strand.life).or_insert(strand);
        }
    }
    for (id, lives) in ids {
        let number = lives.len();
        let mut lives = lives.into_values();
        let Some(first) = lives.next().filter(|_| number > 1) else { continue };
        let mut tally = Tally::new(ROLE, first.first);
        for life in lives {
            tally.add(ROLE, life.first);
        }
        let claim = format!("The run id \"{}\" names {number} different processes.", scene.case.name(id));
        out.push(tally.finding(&RULE, Confidence::High, claim, first.run));
    }
}
