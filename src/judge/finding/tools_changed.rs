//! Two runs of one server offer different tools.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use super::{Confidence, Doc, Finding, FindingRule, Scene, Severity, number_of, tally::Tally};
use crate::{
    correlate::{Case, Key, ToolsFacts},
    judge::RunFacts,
    symbol::Symbol,
};

/// See [`FindingRule::doc`].
pub(super) static RULE: FindingRule = FindingRule {
    id: "tools-changed",
    title: "The tools changed between two runs",
    severity: Severity::Low,
    doc: Doc {
        means: "Two runs of one server listed different tools, or the same tools with different definitions. A model that learned the first list works with the second one.",
        recognized: "The digests of the definitions in the complete tool lists of two consecutive runs of one server name differ; where a log has the number of tools only, the numbers differ.",
        is_not: "A list that changes inside one run, or two servers that share a name by accident.",
        to_do: "Find out which release, configuration or credential changed between the two runs, and whether the change was meant.",
    },
    check,
};

const ROLE: &str = "shows the list after the change";

fn check(scene: &Scene<'_, '_>, out: &mut Vec<Finding>) {
    let mut latest: FxHashMap<Symbol, (&RunFacts<'_>, &ToolsFacts)> = FxHashMap::default();
    let mut changes: BTreeMap<Symbol, (Tally, u32, String)> = BTreeMap::new();
    for facts in scene.runs {
        let (Some(server), Some(list)) = (facts.server(), usable(facts)) else { continue };
        if let Some((earlier, before)) = latest.insert(server, (facts, list))
            && let Some(change) = change(scene.case, before, list)
        {
            note(&mut changes, server, (earlier, before), (facts, list), &change);
        }
    }
    for (server, (tally, run, change)) in changes {
        let more = match tally.count() {
            1 => String::new(),
            times => format!(", and {} more times in later runs", times - 1),
        };
        let claim = format!("The tools of \"{}\" {change}{more}.", scene.case.name(server));
        out.push(tally.finding(&RULE, Confidence::High, claim, run));
    }
}

fn note(
    changes: &mut BTreeMap<Symbol, (Tally, u32, String)>,
    server: Symbol,
    (earlier, before): (&RunFacts<'_>, &ToolsFacts),
    (facts, list): (&RunFacts<'_>, &ToolsFacts),
    change: &str,
) {
    if let Some((tally, ..)) = changes.get_mut(&server) {
        tally.add(ROLE, list.mark);
        return;
    }
    let mut tally = Tally::new(ROLE, list.mark);
    tally.also("shows the list before the change", before.mark);
    let change = format!("changed between the runs {} and {}: {change}", earlier.run.name, facts.run.name);
    changes.insert(server, (tally, number_of(facts), change));
}

/// A list that can be compared: a complete one, or a bare number.
fn usable<'c>(facts: &RunFacts<'c>) -> Option<&'c ToolsFacts> {
    facts.complete_tools().or_else(|| facts.tools.filter(|list| is_number(list)))
}

/// Whether only the number of tools is known.
fn is_number(list: &ToolsFacts) -> bool {
    list.tools.is_empty() && !list.invalid && list.count > 0
}

fn change(case: &Case, before: &ToolsFacts, after: &ToolsFacts) -> Option<String> {
    if is_number(before) || is_number(after) {
        return (before.count != after.count).then(|| format!("{} before, {} after", before.count, after.count));
    }
    let (old, new) = (digests(before), digests(after));
    if old == new {
        return None;
    }
    let named = |names: Vec<Symbol>, word: &str| {
        let first = names.first().map(|name| case.name(*name))?;
        Some(match names.len() {
            1 => format!("\"{first}\" {word}"),
            more => format!("\"{first}\" and {} more {word}", more - 1),
        })
    };
    let parts = [
        named(new.keys().filter(|name| !old.contains_key(name)).copied().collect(), "added"),
        named(old.keys().filter(|name| !new.contains_key(name)).copied().collect(), "removed"),
        named(
            new.iter()
                .filter(|(name, digest)| old.get(name).is_some_and(|known| known != *digest))
                .map(|(name, _)| *name)
                .collect(),
            "redefined",
        ),
    ];
    Some(parts.into_iter().flatten().collect::<Vec<_>>().join(", "))
}

fn digests(list: &ToolsFacts) -> BTreeMap<Symbol, Key> {
    list.tools.iter().map(|tool| (tool.name, tool.digest)).collect()
}
