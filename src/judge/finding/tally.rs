//! Places of one claim: all are counted, the first few are kept.
//!
//! Knows nothing of rules; it is what keeps a log with a million failing calls at one finding.

use std::{borrow::Cow, collections::BTreeMap};

use super::{Confidence, Evidence, Finding, FindingRule, Place, Proof, Severity};
use crate::correlate::{Mark, NONE};

/// Places that a finding shows; the rest is counted.
const SHOWN: usize = 8;

/// The places of one claim. It has at least one.
#[derive(Clone, Debug)]
pub(super) struct Tally {
    count: u64,
    of: u64,
    call: Option<u32>,
    first: (Cow<'static, str>, Mark),
    more: Vec<Evidence>,
}

impl Tally {
    /// The first place.
    pub(super) fn new(role: impl Into<Cow<'static, str>>, mark: Mark) -> Self {
        Self { count: 1, of: 0, call: None, first: (role.into(), mark), more: Vec::new() }
    }

    /// The first place, of a call.
    pub(super) fn of_call(call: u32, role: impl Into<Cow<'static, str>>, mark: Mark) -> Self {
        Self { call: Some(call), ..Self::new(role, mark) }
    }

    /// A further place that counts.
    pub(super) fn add(&mut self, role: impl Into<Cow<'static, str>>, mark: Mark) {
        self.count += 1;
        self.also(role, mark);
    }

    /// The same for a claim whose places were counted before.
    #[must_use]
    pub(super) fn times(self, count: u64) -> Self {
        Self { count, ..self }
    }

    /// Counts a place of a claim that may have none yet.
    pub(super) fn note(tally: &mut Option<Self>, role: impl Into<Cow<'static, str>>, mark: Mark) {
        if let Some(tally) = tally {
            tally.add(role, mark);
        } else {
            *tally = Some(Self::new(role, mark));
        }
    }

    /// A place that supports the last one and does not count.
    pub(super) fn also(&mut self, role: impl Into<Cow<'static, str>>, mark: Mark) {
        if self.more.len() + 1 < SHOWN {
            self.more.push(Evidence::seen(role, mark));
        }
    }

    /// Out of how many; at least as many as were counted.
    #[must_use]
    pub(super) fn of(self, of: u64) -> Self {
        Self { of, ..self }
    }

    /// How many places were counted.
    pub(super) fn count(&self) -> u64 {
        self.count
    }

    /// The call of the first place.
    pub(super) fn call(&self) -> Option<u32> {
        self.call
    }

    /// Makes the finding. It names its call where it is about one call only.
    pub(super) fn finding(
        self,
        rule: &'static FindingRule,
        confidence: Confidence,
        claim: impl Into<Cow<'static, str>>,
        run: u32,
    ) -> Finding {
        let call = self.call.filter(|_| self.count == 1);
        Finding {
            rule,
            severity: rule.severity,
            confidence,
            claim: claim.into(),
            run: Some(run).filter(|run| *run != NONE),
            call,
            advice: rule.doc.to_do,
            proof: self.proof(),
        }
    }

    fn proof(self) -> Proof {
        let (role, mark) = self.first;
        let place = match self.count {
            1 => Place::Seen(mark),
            count => Place::Counted { count, of: self.of.max(count), first: mark },
        };
        Proof::new(Evidence { role, place }).with(self.more)
    }
}

impl Finding {
    /// The same finding, less severe than its rule, or as severe as said.
    #[must_use]
    pub(super) fn with_severity(self, severity: Severity) -> Self {
        Self { severity, ..self }
    }

    /// The same finding with what its cause asks for.
    #[must_use]
    pub(super) fn with_advice(self, advice: &'static str) -> Self {
        Self { advice, ..self }
    }
}

/// Tallies by run, in order of the runs; what belongs to no run comes last.
#[derive(Debug, Default)]
pub(super) struct Groups(BTreeMap<u32, Tally>);

impl Groups {
    /// Counts a place.
    pub(super) fn add(&mut self, run: u32, role: &'static str, mark: Mark) -> &mut Tally {
        self.insert(run, Tally::new(role, mark))
    }

    /// Counts a place of a call.
    pub(super) fn add_call(&mut self, run: u32, call: u32, role: &'static str, mark: Mark) -> &mut Tally {
        self.insert(run, Tally::of_call(call, role, mark))
    }

    fn insert(&mut self, run: u32, tally: Tally) -> &mut Tally {
        let (role, mark) = tally.first.clone();
        self.0.entry(run).and_modify(|known| known.add(role, mark)).or_insert(tally)
    }
}

impl IntoIterator for Groups {
    type Item = (u32, Tally);
    type IntoIter = std::collections::btree_map::IntoIter<u32, Tally>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}
