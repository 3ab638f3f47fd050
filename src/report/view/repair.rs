//! What has to be repaired before any retry: why a server could not work at all.

use rustc_hash::FxHashMap;

use super::{Desk, advice::AdviceRow, and_more};
use crate::judge::{Answer, Confidence};

/// Findings that tell why a server never came to answer, in words that say what to change.
const CAUSES: [&str; 3] = ["spawn-failed", "startup-crash", "stdout-pollution"];

/// One row for each cause that leaves no doubt, of runs that never came to work.
pub(super) fn repairs(desk: &Desk<'_, '_>) -> Vec<AdviceRow> {
    let verdicts = &desk.report.verdicts;
    let stopped = |run: u32| {
        let run = verdicts.runs.get(run as usize);
        run.is_some_and(|run| run.stop.is_some() && run.initialized.answer != Answer::Yes)
    };
    let mut rows: Vec<(u32, String, u64)> = Vec::new();
    let mut known: FxHashMap<(Option<_>, String), usize> = FxHashMap::default();
    for finding in verdicts.findings.iter().filter(|finding| desk.selected.finding(finding)) {
        let sure = finding.confidence == Confidence::High && CAUSES.contains(&finding.rule.id);
        let Some(run) = finding.run.filter(|run| sure && stopped(*run)) else { continue };
        let text = format!("{} {}", desk.names.text(&finding.claim), finding.advice);
        let slot = *known.entry((desk.server(run as usize), text.clone())).or_insert(rows.len());
        match rows.get_mut(slot) {
            Some(row) => row.2 += 1,
            None => rows.push((run, text, 1)),
        }
    }
    let row = |(run, text, count): (u32, String, u64)| {
        let which = and_more(desk.names.run(run as usize), count);
        match desk.server(run as usize) {
            Some(server) => AdviceRow { subject: desk.names.name(server).to_owned(), which, text },
            None => AdviceRow { subject: which, which: String::new(), text },
        }
    };
    rows.into_iter().map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::FINDING_RULES;

    #[test]
    fn the_causes_are_findings() {
        assert!(CAUSES.iter().all(|cause| FINDING_RULES.iter().any(|rule| rule.id == *cause)));
    }
}
