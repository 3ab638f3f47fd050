//! The server offers no tools.

use super::{Confidence, Doc, Finding, FindingRule, Scene, Severity, events, first_event, number_of, tally::Tally};
use crate::{correlate::StrandFact, event::RemarkKind, judge::RunFacts};

/// See [`FindingRule::doc`].
pub(super) static RULE: FindingRule = FindingRule {
    id: "tools-list-empty",
    title: "The list of tools is empty",
    severity: Severity::Medium,
    doc: Doc {
        means: "The server started, shook hands, and then offered no tool at all: nothing can be called.",
        recognized: "Every `tools/list` answer of the run holds no tool, or a count of zero in a phase log or a client's words.",
        is_not: "A list that is filled later in the same run, a broken list, or an empty list of resources or prompts.",
        to_do: "Look for what registration depends on: credentials, configuration, a feature switch. Make the server say why it registered nothing.",
    },
    check,
};

const ROLE: &str = "shows an empty list of tools";

fn check(scene: &Scene<'_, '_>, out: &mut Vec<Finding>) {
    for (facts, _) in scene.runs() {
        let Some(mut tally) = empty(facts) else { continue };
        let reason = first_event(facts, |what| what == StrandFact::ToolsReason);
        let claim = match reason.and_then(|event| Some((event, event.name?))) {
            Some((event, name)) => {
                tally.also("gives the reason", event.mark);
                format!("The server offered no tools; the reason it gives is \"{}\".", scene.case.name(name))
            }
            None => "The server offered no tools, and gives no reason.".to_owned(),
        };
        out.push(tally.finding(&RULE, Confidence::High, claim, number_of(facts)));
    }
}

/// The places that show an empty list, if every list of the run is empty.
fn empty(facts: &RunFacts<'_>) -> Option<Tally> {
    let lists = facts.strands.iter().flat_map(|strand| &strand.tools).map(|list| (list.count, list.invalid, list.mark));
    let counted = events(facts)
        .filter(|event| event.what == StrandFact::Remark(RemarkKind::ToolsDiscovered))
        .map(|event| (u32::try_from(event.number).unwrap_or(1), false, event.mark));
    let mut tally: Option<Tally> = None;
    for (count, invalid, mark) in lists.chain(counted) {
        if count > 0 || invalid {
            return None;
        }
        Tally::note(&mut tally, ROLE, mark);
    }
    tally
}
