//! From facts to verdicts: outcome, layer, last confirmed phase, reach, retry, restart, findings.
//!
//! Pure functions of a [`Case`]. Verdicts are never joined; they are recomputed from joined facts. Rules see facts,
//! never text, and a verdict without evidence cannot be written.

pub mod call;
pub mod condition;
mod coverage;
pub mod doc;
pub mod finding;
pub mod inputs;
pub mod outcome;
pub mod policy;
pub mod reach;
pub mod restart;
pub mod retry;
pub mod run;
#[cfg(test)]
pub(crate) mod testing;

use std::{borrow::Cow, collections::BTreeMap};

use rayon::prelude::*;

pub use call::{CallFacts, CallVerdict, Milestones, Missing, Truth, Window};
pub use condition::{Condition, Spots};
pub use doc::Doc;
pub use finding::{Confidence, FINDING_RULES, Finding, FindingRule, Severity};
pub use outcome::{Layer, Outcome};
pub use policy::{Assumption, Policy, Terms};
pub use reach::{ReachVerdict, Target};
pub use restart::{RESTART_RULES, RestartRule};
pub use retry::{Caution, Helps, Opinion, RETRY_RULES, RetryRule};
pub use run::{Answer, RunFacts, RunVerdict, STOPS, StopKind};

use crate::{
    correlate::{Case, Mark},
    event::Origin,
};

/// Where a claim can be checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Evidence {
    /// What the place shows, as a phrase: "shows the request was received".
    pub role: Cow<'static, str>,
    /// The place.
    pub place: Place,
}

/// The place of a piece of evidence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// This record says so.
    Seen(Mark),
    /// Everything from here to there was read and it is not in it.
    Absent {
        /// First record searched.
        from: Origin,
        /// Last record searched.
        to: Origin,
    },
    /// So many of so many, the first of them here.
    Counted {
        /// How many.
        count: u64,
        /// Of how many.
        of: u64,
        /// The first.
        first: Mark,
    },
}

impl Evidence {
    /// A record that says so.
    pub fn seen(role: impl Into<Cow<'static, str>>, mark: Mark) -> Self {
        Self { role: role.into(), place: Place::Seen(mark) }
    }
}

/// Evidence that is never empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proof {
    first: Evidence,
    more: Vec<Evidence>,
}

/// A further piece of evidence is compared with so many.
const COMPARED: usize = 64;

impl Proof {
    /// A proof by one piece of evidence.
    pub fn new(first: Evidence) -> Self {
        Self { first, more: Vec::new() }
    }

    /// A proof by one record.
    pub fn seen(role: impl Into<Cow<'static, str>>, mark: Mark) -> Self {
        Self::new(Evidence::seen(role, mark))
    }

    /// Adds a piece of evidence. Of very many, a piece may be there twice.
    #[must_use]
    pub fn and(mut self, evidence: Evidence) -> Self {
        let compared = &self.more[..self.more.len().min(COMPARED)];
        if evidence != self.first && !compared.contains(&evidence) {
            self.more.push(evidence);
        }
        self
    }

    /// Adds pieces of evidence.
    #[must_use]
    pub fn with(self, evidence: impl IntoIterator<Item = Evidence>) -> Self {
        evidence.into_iter().fold(self, Self::and)
    }

    /// All pieces, the first one first.
    pub fn iter(&self) -> impl Iterator<Item = &Evidence> {
        std::iter::once(&self.first).chain(&self.more)
    }

    /// The first piece.
    pub fn first(&self) -> &Evidence {
        &self.first
    }
}

/// Everything judged. Calls that ended well are judged too, and kept only as counts unless asked for.
#[derive(Debug, Default)]
pub struct Verdicts {
    /// One per run.
    pub runs: Vec<RunVerdict>,
    /// The calls that are kept, by index.
    pub calls: BTreeMap<u32, CallVerdict>,
    /// Operations with two attempts or more, in the order of the case.
    pub operations: Vec<call::OperationVerdict>,
    /// Findings, most severe first.
    pub findings: Vec<Finding>,
    /// Counts over all calls.
    pub totals: Totals,
}

/// Counts over all calls.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// All calls.
    pub calls: u64,
    /// By outcome.
    pub by_outcome: BTreeMap<&'static str, u64>,
    /// By layer.
    pub by_layer: BTreeMap<&'static str, u64>,
    /// By retry verdict.
    pub by_retry: BTreeMap<&'static str, u64>,
    /// By reach.
    pub by_reach: BTreeMap<&'static str, u64>,
    /// Of those that did not end well, the steps of a negotiation that succeeded.
    pub probes: u64,
}

impl Totals {
    fn count(&mut self, verdict: &CallVerdict) {
        self.add(verdict.names());
        self.probes += u64::from(verdict.is_probe);
    }

    fn add(&mut self, [outcome, layer, retry, reach]: [&'static str; 4]) {
        self.calls += 1;
        *self.by_outcome.entry(outcome).or_default() += 1;
        *self.by_layer.entry(layer).or_default() += 1;
        *self.by_retry.entry(retry).or_default() += 1;
        *self.by_reach.entry(reach).or_default() += 1;
    }

    fn merge(mut self, other: Self) -> Self {
        self.calls += other.calls;
        self.probes += other.probes;
        for (mine, theirs) in [
            (&mut self.by_outcome, other.by_outcome),
            (&mut self.by_layer, other.by_layer),
            (&mut self.by_retry, other.by_retry),
            (&mut self.by_reach, other.by_reach),
        ] {
            for (name, count) in theirs {
                *mine.entry(name).or_default() += count;
            }
        }
        self
    }
}

/// How many calls are judged in one piece of parallel work.
const CHUNK: usize = 4096;

/// Judges a case under what the operator declares. `keep` says which calls the report lists; all are counted.
pub fn judge(case: &Case, terms: &Terms, keep: impl Fn(&CallVerdict) -> bool + Sync) -> Verdicts {
    let run = |run| RunFacts::new(case, run).under(terms);
    let runs: Vec<RunFacts<'_>> = (0..case.runs.len()).into_par_iter().map(run).collect();
    let others = call::Others::of(case, &runs);
    let indices: Vec<u32> = (0..u32::try_from(case.calls.len()).unwrap_or(u32::MAX)).collect();
    let chunks: Vec<(Totals, Vec<(u32, CallVerdict)>)> = indices
        .par_chunks(CHUNK)
        .map(|chunk| {
            let mut totals = Totals::default();
            let mut kept = Vec::new();
            let mut plain = call::PlainCalls::default();
            for index in chunk {
                if let Some(names) = plain.known(case, &runs, *index) {
                    totals.add(names);
                    continue;
                }
                let verdict = call::judge_call(case, &runs, &others, *index);
                totals.count(&verdict);
                if keep(&verdict) {
                    kept.push((*index, verdict));
                } else {
                    plain.learn(case, &runs, *index, &verdict);
                }
            }
            (totals, kept)
        })
        .collect();
    let mut verdicts = Verdicts::default();
    for (totals, kept) in chunks {
        verdicts.totals = std::mem::take(&mut verdicts.totals).merge(totals);
        verdicts.calls.extend(kept);
    }
    verdicts.runs = runs.par_iter().map(|facts| run::judge_run(facts)).collect();
    verdicts.operations =
        case.operations.iter().map(|operation| call::judge_operation(case, &runs, operation)).collect();
    verdicts.findings = finding::judge_findings(case, terms, &runs, &verdicts);
    verdicts
}
