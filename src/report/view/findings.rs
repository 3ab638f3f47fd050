//! Findings in words: equal ones are one row.

use rustc_hash::FxHashMap;

use super::{Cite, Desk, FINDINGS, Rows, and_more};
use crate::{
    judge::{Confidence, Severity},
    report::{names, wire},
};

/// Findings that are alike.
#[derive(Debug)]
pub(in crate::report) struct FindingRow {
    /// How bad.
    pub(in crate::report) severity: Severity,
    /// The rule.
    pub(in crate::report) rule: &'static str,
    /// One sentence.
    pub(in crate::report) claim: String,
    /// Which run and call, and how sure where it is not certain.
    pub(in crate::report) about: String,
    /// What to do.
    pub(in crate::report) advice: &'static str,
    /// The records.
    pub(in crate::report) cites: Vec<Cite>,
    /// Records that are not listed.
    pub(in crate::report) more: usize,
}

/// The findings that are shown, most severe first.
pub(super) fn findings(desk: &Desk<'_, '_>) -> Rows<FindingRow> {
    let mut groups: Vec<(usize, u64)> = Vec::new();
    let mut known: FxHashMap<(String, &str, Severity, bool, Option<usize>), usize> = FxHashMap::default();
    let findings = &desk.report.verdicts.findings;
    for (index, finding) in findings.iter().enumerate().filter(|(_, finding)| desk.selected.finding(finding)) {
        // What is about no run is about a file: no two are alike.
        let alone = finding.run.is_none().then_some(index);
        // Equal but for a number is not equal: what one row says holds for each of them.
        let key =
            (wire::fingerprint(desk.report, finding), &*finding.claim, finding.severity, finding.call.is_some(), alone);
        let slot = *known.entry(key).or_insert(groups.len());
        match groups.get_mut(slot) {
            Some(group) => group.1 += 1,
            None => groups.push((index, 1)),
        }
    }
    let left = groups.iter().skip(FINDINGS).map(|(_, count)| count).sum();
    let shown = groups.iter().take(FINDINGS).map(|(index, count)| row(desk, *index, *count));
    Rows { shown: shown.collect(), left }
}

fn row(desk: &Desk<'_, '_>, index: usize, count: u64) -> FindingRow {
    let finding = &desk.report.verdicts.findings[index];
    let (cites, more) = desk.cite(finding.proof.iter());
    let run = finding.run.map(|run| desk.names.run(run as usize).to_owned());
    let doubt = (finding.confidence < Confidence::High).then(|| format!("confidence {}", finding.confidence.name()));
    let about: Vec<String> = run.into_iter().chain(finding.call.map(names::call)).collect();
    let mut about = and_more(&about.join(", "), count);
    if count > 1 && finding.run.is_some() && finding.call.is_none() {
        about.push_str(", in each");
    }
    let parts: Vec<String> = Some(about).filter(|about| !about.is_empty()).into_iter().chain(doubt).collect();
    FindingRow {
        severity: finding.severity,
        rule: finding.rule.id,
        claim: desk.names.text(&finding.claim),
        about: parts.join("; "),
        advice: finding.advice,
        cites,
        more,
    }
}
