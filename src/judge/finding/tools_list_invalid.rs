//! The list of tools breaks the specification.

use rustc_hash::FxHashSet;

use super::{Confidence, Doc, Finding, FindingRule, Scene, Severity, number_of, tally::Tally};
use crate::{
    correlate::{Case, ToolsFacts},
    symbol::Symbol,
};

/// See [`FindingRule::doc`].
pub(super) static RULE: FindingRule = FindingRule {
    id: "tools-list-invalid",
    title: "The list of tools is invalid",
    severity: Severity::Medium,
    doc: Doc {
        means: "A `tools/list` answer holds something that a client may refuse: then all tools of the server are gone, not only the broken one.",
        recognized: "`tools` is no array, a tool has no name, two tools of one list have one name, or an `inputSchema` is no object of type \"object\".",
        is_not: "A schema that is odd and valid. Unknown members are allowed.",
        to_do: "Fix the definition of the tools that the evidence names, and validate the list in the server's tests.",
    },
    check,
};

const ROLE: &str = "shows the invalid list";

fn check(scene: &Scene<'_, '_>, out: &mut Vec<Finding>) {
    for facts in scene.runs {
        let mut found: Option<(Tally, String)> = None;
        for list in facts.strands.iter().flat_map(|strand| &strand.tools) {
            let Some(fault) = fault(scene.case, list) else { continue };
            match &mut found {
                Some((tally, _)) => tally.add(ROLE, list.mark),
                None => found = Some((Tally::new(ROLE, list.mark), fault)),
            }
        }
        if let Some((tally, fault)) = found {
            out.push(tally.finding(
                &RULE,
                Confidence::High,
                format!("The list of tools is invalid: {fault}."),
                number_of(facts),
            ));
        }
    }
}

fn fault(case: &Case, list: &ToolsFacts) -> Option<String> {
    if list.invalid {
        return Some("it is no array".to_owned());
    }
    if list.tools.iter().any(|tool| case.name(tool.name).is_empty()) {
        return Some("a tool has no name".to_owned());
    }
    if let Some(name) = repeated(list) {
        return Some(format!("the name \"{}\" occurs more than once", case.name(name)));
    }
    let mut bad = list.tools.iter().filter(|tool| !tool.schema_ok);
    let first = bad.next()?;
    let others = match bad.count() {
        0 => String::new(),
        more => format!(" (and those of {more} more)"),
    };
    Some(format!("the input schema of the tool \"{}\"{others} is no object", case.name(first.name)))
}

fn repeated(list: &ToolsFacts) -> Option<Symbol> {
    let mut seen = FxHashSet::default();
    list.tools.iter().map(|tool| tool.name).find(|name| !seen.insert(*name))
}
