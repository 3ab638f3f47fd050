//! Runs on the wire.

use sha2::{Digest, Sha256};

use super::{Assumption, Exit, LastPhase, Question, Reach, Restart, Run, Target, Tools, evidence::evidence};
use crate::{
    correlate::{Mark, ToolsFacts},
    event::PhaseEvent,
    judge::{self, Opinion, ReachVerdict, RunFacts, RunVerdict, run},
    report::{Report, names::Names, place::Places},
};

/// One run.
pub(super) fn run(report: &Report<'_>, names: &Names<'_>, verdict: &RunVerdict) -> Run {
    let case = report.case;
    let facts = RunFacts::new(case, verdict.index);
    let question = |question: &run::Question| Question {
        answer: question.answer.name(),
        basis: question.basis.name(),
        assumptions: assumptions(names, &question.assumptions),
        evidence: evidence(report, names, &question.evidence),
    };
    let (first, last) = window(&facts);
    Run {
        run: names.run(verdict.index).to_owned(),
        run_is: if facts.run.recorded { "recorded" } else { "inferred" },
        server: facts.server().map(|name| names.name(name).to_owned()),
        client: facts.client().map(|name| names.name(name).to_owned()),
        pid: facts.pid(),
        transport: facts.transport().name(),
        revision: verdict.revision.map(|(name, _)| names.name(name).to_owned()),
        revision_is: verdict.revision.map(|(_, recorded)| if recorded { "recorded" } else { "inferred" }),
        started: question(&verdict.started),
        initialized: question(&verdict.initialized),
        tools_listed: question(&verdict.tools_listed),
        reached_outside: question(&verdict.reached_outside),
        last_phase: last_phase(verdict.last_phase),
        stopped_at: verdict.stop.map(|stop| stop.row.name),
        deadline_owner: verdict.stop.map(|stop| stop.owner.name()),
        layer: verdict.layer.name(),
        restart: restart(report, names, &verdict.restart),
        tools: facts.tools.map(|list| tools(names, list)),
        reach: reach(report, names, &verdict.reach),
        restarts: verdict.restarts,
        exit: facts.exited.map(|exit| Exit { code: exit.code, signal: exit.signal }),
        first_at: first.and_then(|mark| names.instant(mark)),
        last_at: last.and_then(|mark| names.instant(mark)),
    }
}

/// The earliest and latest stamps of a run.
fn window(facts: &RunFacts<'_>) -> (Option<Mark>, Option<Mark>) {
    let timed = |mark: &Mark| facts.case.shown(*mark).is_some();
    let placed = |mark: &Mark| facts.case.shown(*mark);
    let first = facts.strands.iter().map(|strand| strand.first).filter(timed).min_by_key(placed);
    let last = facts.strands.iter().map(|strand| strand.last).filter(timed).max_by_key(placed);
    (first, last)
}

pub(super) fn last_phase(last: Option<(PhaseEvent, Mark)>) -> Option<LastPhase> {
    last.map(|(event, _)| LastPhase { phase: event.phase().name(), event: event.name() })
}

fn restart(report: &Report<'_>, names: &Names<'_>, opinion: &Opinion) -> Restart {
    Restart {
        verdict: opinion.verdict.name(),
        rule: opinion.rule,
        condition: Places::whole(report, names).conditions(opinion),
        reason: names.text(&opinion.reason),
        assumptions: assumptions(names, &opinion.assumptions),
        evidence: evidence(report, names, opinion.proof.iter()),
    }
}

/// What a verdict takes from the policy.
pub(super) fn assumptions(names: &Names<'_>, known: &[judge::Assumption]) -> Vec<Assumption> {
    let assumption =
        |known: &judge::Assumption| Assumption { assumption: names.text(&known.text), place: names.path(&known.place) };
    known.iter().map(assumption).collect()
}

/// Reach of a call or of a run.
pub(super) fn reach(report: &Report<'_>, names: &Names<'_>, verdict: &ReachVerdict) -> Reach {
    let targets = verdict.targets.iter().map(|target| Target {
        target: names.name(target.target).to_owned(),
        kind: target.kind.name(),
        local: target.local,
        attempts: target.attempts,
        results: target.results,
    });
    Reach {
        answer: verdict.answer.name(),
        basis: verdict.basis.name(),
        targets: targets.collect(),
        assumptions: assumptions(names, &verdict.assumptions),
        evidence: evidence(report, names, &verdict.evidence),
    }
}

/// How many tools a list has; a list of which only the number is known has no entries.
pub(in crate::report) fn tool_count(list: &ToolsFacts) -> u64 {
    u64::from(list.count).max(list.tools.len() as u64)
}

fn tools(names: &Names<'_>, list: &ToolsFacts) -> Tools {
    let names = list.tools.iter().map(|tool| names.name(tool.name).to_owned()).collect();
    Tools { count: tool_count(list), digest: tools_digest(list), names }
}

/// SHA-256 over the digests of the definitions, which hold the names, whatever the order of the list.
fn tools_digest(list: &ToolsFacts) -> Option<String> {
    if list.tools.is_empty() {
        return None;
    }
    let mut digests: Vec<[u64; 2]> = list.tools.iter().map(|tool| tool.digest.0).collect();
    digests.sort_unstable();
    let mut hash = Sha256::new();
    for digest in digests {
        hash.update(digest[0].to_be_bytes());
        hash.update(digest[1].to_be_bytes());
    }
    Some(format!("sha256:{}", hex(&hash.finalize())))
}

fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut out, byte| {
        let _ = write!(out, "{byte:02x}");
        out
    })
}
