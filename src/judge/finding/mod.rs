//! Findings: what every release must notice, beside the verdicts. One rule, one file.

use std::borrow::Cow;

use super::{Proof, RunFacts, Verdicts, doc::Doc};
use crate::correlate::Case;

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
    /// How sure it is.
    pub confidence: Confidence,
    /// One sentence.
    pub claim: Cow<'static, str>,
    /// The run it is about, by index.
    pub run: Option<u32>,
    /// The call it is about, by index.
    pub call: Option<u32>,
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
    /// Facts of its runs.
    pub runs: &'s [RunFacts<'c>],
    /// Verdicts so far: runs, kept calls, operations.
    pub verdicts: &'s Verdicts,
}

/// All finding rules, by name.
pub static FINDING_RULES: &[&FindingRule] = &[];

/// Runs all finding rules; the most severe and surest findings come first, then by place.
pub(super) fn judge_findings(case: &Case, runs: &[RunFacts<'_>], verdicts: &Verdicts) -> Vec<Finding> {
    let scene = Scene { case, runs, verdicts };
    let mut findings = Vec::new();
    for rule in FINDING_RULES {
        (rule.check)(&scene, &mut findings);
    }
    findings.sort_by(|a, b| {
        (b.rule.severity, b.confidence, a.rule.id, a.run, a.call).cmp(&(
            a.rule.severity,
            a.confidence,
            b.rule.id,
            b.run,
            b.call,
        ))
    });
    findings
}
