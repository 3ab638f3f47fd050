//! Findings: what every release must notice, beside the verdicts. One rule, one file.
//!
//! A rule makes one finding for each run, operation group or server, never one for each call: what recurs is counted
//! ([`Place::Counted`](super::Place)). Successful calls are not among [`Verdicts::calls`] unless the report lists them,
//! so a rule that needs them reads [`Case::calls`]; a rule that needs verdicts reads the kept ones, and may rely only on
//! failed calls being there.

mod auth_required;
mod background_reach;
mod call_timed_out;
mod client_misreport;
mod clock_drift;
mod clock_skew;
mod clock_step;
mod contested_id;
mod contradicted_declaration;
mod discovery_reach;
mod duplicate_effect;
mod evidence_gap;
mod exited_early;
mod handshake_timeout;
mod http_success_rpc_failure;
mod interrupted;
mod late_result;
mod launch_reach;
mod outside;
mod regenerated_key;
mod reused_run_id;
mod second_automatic_retry;
mod secret_in_log;
mod sent_again_elsewhere;
mod session_expired;
mod spawn_failed;
mod startup_crash;
mod stdout_pollution;
mod stream_incomplete;
mod tally;
mod tool_hang;
mod tools_changed;
mod tools_list_empty;
mod tools_list_invalid;
mod unsafe_retry;
mod version_rejected;

use std::borrow::Cow;

use rayon::prelude::*;

use super::{Evidence, Place, Proof, RunFacts, RunVerdict, Terms, Verdicts, call::last_event, doc::Doc, run::Answer};
use crate::{
    correlate::{AnswerKind, Call, Case, Mark, StrandEvent, StrandFact},
    event::{Direction, PhaseEvent},
};

/// How bad a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Severity {
    /// Worth knowing.
    Info,
    /// A nuisance.
    Low,
    /// Explains or prolongs incidents.
    Medium,
    /// Caused harm, or will.
    High,
}

impl Severity {
    /// The word used in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Info => "info",
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
        }
    }
}

/// How sure a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Confidence {
    /// Something points that way.
    Low,
    /// Inferred.
    Medium,
    /// On record.
    High,
}

impl Confidence {
    /// The word used in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
        }
    }
}

/// One finding.
#[derive(Clone, Debug)]
pub struct Finding {
    /// The rule that made it.
    pub rule: &'static FindingRule,
    /// How bad it is: as the rule says, or less where the records show that it did no harm.
    pub severity: Severity,
    /// How sure it is.
    pub confidence: Confidence,
    /// One sentence.
    pub claim: Cow<'static, str>,
    /// The run it is about, by index.
    pub run: Option<u32>,
    /// The call it is about, by index.
    pub call: Option<u32>,
    /// What to do: as the rule says, or what its cause asks for.
    pub advice: &'static str,
    /// Why.
    pub proof: Proof,
}

/// A rule that makes findings.
#[derive(Debug)]
pub struct FindingRule {
    /// Kebab-case name; completes "this run contains …".
    pub id: &'static str,
    /// One line for people.
    pub title: &'static str,
    /// How bad its findings are.
    pub severity: Severity,
    /// Its documentation.
    pub doc: Doc,
    /// Adds its findings.
    pub check: fn(&Scene<'_, '_>, &mut Vec<Finding>),
}

/// What finding rules see.
#[derive(Clone, Copy, Debug)]
pub struct Scene<'s, 'c> {
    /// The case.
    pub case: &'c Case,
    /// What the operator declares.
    pub terms: &'s Terms,
    /// Facts of its runs.
    pub runs: &'s [RunFacts<'c>],
    /// Verdicts so far: runs, kept calls, operations.
    pub verdicts: &'s Verdicts,
}

impl<'s, 'c> Scene<'s, 'c> {
    /// Runs with their verdicts.
    fn runs(&self) -> impl Iterator<Item = (&'s RunFacts<'c>, &'s RunVerdict)> + use<'s, 'c> {
        self.runs.iter().zip(&self.verdicts.runs)
    }

    /// All requests of clients, by index.
    fn calls(&self) -> impl Iterator<Item = (u32, &'c Call)> + use<'c> {
        (0_u32..).zip(&self.case.calls).filter(|(_, call)| call.direction == Direction::ToServer)
    }

    /// How a request is called in a sentence.
    fn what(&self, call: &Call) -> String {
        match (self.case.name(call.method), call.target) {
            ("tools/call", Some(tool)) => format!("the tool \"{}\"", self.case.name(tool)),
            (method, _) => method.to_owned(),
        }
    }

    /// The same for the call that a tally names first.
    fn first_of(&self, tally: &tally::Tally) -> String {
        let call = tally.call().and_then(|call| self.case.calls.get(call as usize));
        call.map_or_else(|| "a request".to_owned(), |call| self.what(call))
    }
}

/// The index of a run, as findings hold it.
fn number_of(facts: &RunFacts<'_>) -> u32 {
    u32::try_from(facts.index).unwrap_or(crate::correlate::NONE)
}

/// What a run recorded besides calls.
fn events<'c>(facts: &RunFacts<'c>) -> impl Iterator<Item = &'c StrandEvent> + use<'c> {
    facts.strands.clone().into_iter().flat_map(|strand| &strand.events)
}

/// The first record of a fact in a run.
fn first_event<'c>(facts: &RunFacts<'c>, wanted: impl Fn(StrandFact) -> bool) -> Option<&'c StrandEvent> {
    events(facts).find(|event| wanted(event.what))
}

/// The requests of clients in a run, in order.
fn calls_of<'c>(facts: &RunFacts<'c>) -> impl Iterator<Item = (u32, &'c Call)> + use<'c> {
    let case = facts.case;
    let calls = facts.run.calls.iter().map(move |index| (*index, &case.calls[*index as usize]));
    calls.filter(|(_, call)| call.direction == Direction::ToServer)
}

/// Whether the client and the server came to an understanding.
fn shook_hands(facts: &RunFacts<'_>, verdict: &RunVerdict) -> bool {
    verdict.initialized.answer == Answer::Yes
        || facts.initialize.is_some_and(|call| call.answer.kind == AnswerKind::Result)
}

/// What a run had come to, as the end of a sentence. That its process ended is no such event.
fn last_words(facts: &RunFacts<'_>, verdict: &RunVerdict) -> String {
    let calls = facts.run.calls.iter().filter_map(|call| last_event(facts.case, *call));
    let event = match verdict.last_phase {
        Some((PhaseEvent::Exited, _)) => calls.map(|(event, _)| event).max(),
        other => other.map(|(event, _)| event),
    };
    match event {
        Some(event) => format!("the last event on record is {}", event.name()),
        None => "no event of the server is on record".to_owned(),
    }
}

/// Whether nobody saw any answer of a call.
fn unanswered(call: &Call) -> bool {
    call.answer.kind == AnswerKind::None
}

/// Whether a record stands before another one: by record order in one source; records of two sources have no order.
fn stands_before(first: Mark, second: Mark) -> Option<bool> {
    (first.origin.source == second.origin.source).then(|| first.origin < second.origin)
}

/// The seconds between two records, as far as times tell.
fn seconds_between(case: &Case, from: Mark, to: Mark) -> Option<i64> {
    Some((case.placed(to)?.0.saturating_sub(case.placed(from)?.0)) / crate::time::SECOND)
}

/// "1 line", "2 lines".
fn count(number: u64, one: &str, many: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { many })
}

/// All finding rules, by name.
pub static FINDING_RULES: &[&FindingRule] = &[
    &auth_required::RULE,
    &background_reach::RULE,
    &call_timed_out::RULE,
    &client_misreport::RULE,
    &clock_drift::RULE,
    &clock_skew::RULE,
    &clock_step::RULE,
    &contested_id::RULE,
    &contradicted_declaration::RULE,
    &discovery_reach::RULE,
    &duplicate_effect::RULE,
    &evidence_gap::RULE,
    &exited_early::RULE,
    &handshake_timeout::RULE,
    &http_success_rpc_failure::RULE,
    &interrupted::RULE,
    &late_result::RULE,
    &launch_reach::RULE,
    &regenerated_key::RULE,
    &reused_run_id::RULE,
    &second_automatic_retry::RULE,
    &secret_in_log::RULE,
    &sent_again_elsewhere::RULE,
    &session_expired::RULE,
    &spawn_failed::RULE,
    &startup_crash::RULE,
    &stdout_pollution::RULE,
    &stream_incomplete::RULE,
    &tool_hang::RULE,
    &tools_changed::RULE,
    &tools_list_empty::RULE,
    &tools_list_invalid::RULE,
    &unsafe_retry::RULE,
    &version_rejected::RULE,
];

/// Findings of one rule that are shown one by one; the rest is one finding with a count.
const SHOWN: usize = 100;

/// Runs all finding rules; the most severe and surest findings come first, then by place.
pub(super) fn judge_findings(case: &Case, terms: &Terms, runs: &[RunFacts<'_>], verdicts: &Verdicts) -> Vec<Finding> {
    let scene = Scene { case, terms, runs, verdicts };
    let found = FINDING_RULES.par_iter().flat_map_iter(|rule| {
        let mut own = Vec::new();
        (rule.check)(&scene, &mut own);
        own.sort_by_key(order);
        fold(rule, own)
    });
    let mut findings: Vec<Finding> = found.collect();
    findings.sort_by_key(order);
    findings
}

/// Severe first, sure first, by rule, by place; what belongs to no run comes last.
fn order(finding: &Finding) -> impl Ord + use<> {
    let last = |index: Option<u32>| index.unwrap_or(u32::MAX);
    (std::cmp::Reverse((finding.severity, finding.confidence)), finding.rule.id, last(finding.run), last(finding.call))
}

/// Keeps the first findings of a rule, and counts the rest in one last finding.
fn fold(rule: &'static FindingRule, mut findings: Vec<Finding>) -> Vec<Finding> {
    if findings.len() <= SHOWN {
        return findings;
    }
    let of = findings.len() as u64;
    let rest = findings.split_off(SHOWN);
    let runs = rest.iter().all(|finding| finding.run.is_some());
    let (severity, confidence) =
        rest.last().map_or((rule.severity, Confidence::Low), |last| (last.severity, last.confidence));
    let mut tally: Option<tally::Tally> = None;
    for finding in &rest {
        let evidence = finding.proof.first();
        if let Place::Seen(mark) | Place::Counted { first: mark, .. } = evidence.place {
            tally::Tally::note(&mut tally, evidence.role.clone(), mark);
        }
    }
    if let Some(tally) = tally {
        let claim = format!("The same was found in {}.", count(rest.len() as u64, "more case", "more cases"));
        let claim = if runs { claim.replace("case", "run") } else { claim };
        findings.push(tally.of(of).finding(rule, confidence, claim, crate::correlate::NONE).with_severity(severity));
    }
    findings
}

#[cfg(test)]
mod tests;
