//! The records contradict what the policy declares.

use std::collections::BTreeMap;

use super::{Confidence, Doc, Finding, FindingRule, Scene, Severity, count, tally::Tally};
use crate::judge::policy::{Contradiction, Contrary};

/// See [`FindingRule::doc`].
pub(super) static RULE: FindingRule = FindingRule {
    id: "contradicted-declaration",
    title: "The records contradict the policy",
    severity: Severity::High,
    doc: Doc {
        means: "The policy (`--policy`) declares something that this incident disproves. The declaration was not used: the verdicts are those without it.",
        recognized: "A tool with the effect `none`, by the policy or by an annotation of a trusted server: a contact with a service outside in one of its calls by anything but GET or HEAD. An absorbing tool: two equal calls that each created something (201), or that came to one place of a service under two keys. A declared key: the same in calls with different arguments, or equal calls that came to the service under two keys. A source that records every contact: a contact of a run it tells of, that another source has and it lacks.",
        is_not: "A contact with an own endpoint, telemetry or a package download.",
        to_do: "Correct the policy at the line named, or the tool. Do not repeat calls of this tool on the word of the policy before that.",
    },
    check,
};

fn check(scene: &Scene<'_, '_>, out: &mut Vec<Finding>) {
    let mut groups: BTreeMap<_, Vec<&Contradiction>> = BTreeMap::new();
    for contradiction in &scene.terms.contradictions {
        let key = (contradiction.run, contradiction.assumption.place.clone(), contradiction.what, contradiction.tool);
        groups.entry(key).or_default().push(contradiction);
    }
    for ((run, ..), group) in groups {
        let Some((first, rest)) = group.split_first() else { continue };
        let role = role(first.what);
        let mut tally = match first.call {
            Some(call) => Tally::of_call(call, role, first.mark),
            None => Tally::new(role, first.mark),
        };
        for contradiction in rest {
            tally.add(role, contradiction.mark);
        }
        let claim = format!(
            "The policy says that {} ({}); {}.",
            first.assumption.text,
            first.assumption.place,
            contrary(scene, first, tally.count())
        );
        out.push(tally.finding(&RULE, Confidence::High, claim, run));
    }
}

fn contrary(scene: &Scene<'_, '_>, first: &Contradiction, times: u64) -> String {
    let tool = first.tool.map_or("", |tool| scene.case.name(tool));
    match first.what {
        Contrary::Wrote => {
            let contacts = count(times, "contact", "contacts");
            format!("{contacts} of its calls with a service outside may have changed something")
        }
        Contrary::Added => format!("equal calls of \"{tool}\" added something {}", count(times, "time", "times")),
        Contrary::NotPassedOn => {
            format!("equal calls of \"{tool}\" came to the service under another key {}", count(times, "time", "times"))
        }
        Contrary::Reused => {
            format!("{} of \"{tool}\" came with other arguments than before", count(times, "key", "keys"))
        }
        Contrary::Missed => format!("{} of its run is not in it", count(times, "contact", "contacts")),
    }
}

fn role(what: Contrary) -> &'static str {
    match what {
        Contrary::Wrote => "shows a contact that may change something",
        Contrary::Added => "shows a further effect of an equal call",
        Contrary::NotPassedOn => "shows a contact under another key",
        Contrary::Reused => "shows the key with other arguments",
        Contrary::Missed => "shows the contact",
    }
}
