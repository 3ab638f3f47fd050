//! What of a case is shown: the options that select, applied to runs, calls, operations and findings.
//!
//! It never changes a verdict or a total.

use super::{Report, Selection};
use crate::{
    correlate::{Call, Case, Mark, Operation},
    judge::{CallVerdict, Finding},
    symbol::Symbol,
    time::Timestamp,
};

/// A name that is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wanted {
    /// None is asked for.
    Any,
    /// This one.
    Name(Symbol),
    /// One that occurs nowhere.
    Nowhere,
}

impl Wanted {
    fn takes(self, symbol: Option<Symbol>) -> bool {
        match self {
            Self::Any => true,
            Self::Name(name) => symbol == Some(name),
            Self::Nowhere => false,
        }
    }
}

/// The selection with its names looked up once.
#[derive(Clone, Copy, Debug)]
pub(super) struct Selected<'a> {
    case: &'a Case,
    select: &'a Selection,
    /// Nothing is selected, so everything is shown: asked for every call of a case.
    everything: bool,
    server: Wanted,
    tool: Wanted,
}

impl<'a> Selected<'a> {
    pub(super) fn new(report: &Report<'a>) -> Self {
        let (case, select) = (report.case, &report.options.select);
        let lookup = |name: &Option<String>| match name {
            Some(name) => case.symbols.get(name).map_or(Wanted::Nowhere, Wanted::Name),
            None => Wanted::Any,
        };
        let named = select.run.is_some() || select.server.is_some() || select.tool.is_some();
        let everything = !named && select.since.is_none() && select.until.is_none();
        Self { case, select, everything, server: lookup(&select.server), tool: lookup(&select.tool) }
    }

    /// Whether a run is shown.
    pub(super) fn run(&self, index: usize) -> bool {
        let Some(run) = self.case.runs.get(index) else { return false };
        if self.tool != Wanted::Any {
            return run.calls.iter().any(|call| self.call(*call));
        }
        let mut strands = run.strands.iter().map(|strand| &self.case.strands[*strand as usize]);
        self.of_run(index) && strands.any(|strand| self.meets(strand.first, strand.last))
    }

    /// Whether a call is shown, if calls like it are listed.
    pub(super) fn call(&self, index: u32) -> bool {
        if self.everything {
            return true;
        }
        let Some(call) = self.case.calls.get(index as usize) else { return false };
        self.tool.takes(call.target) && self.of_run(call.run as usize) && self.in_window(call)
    }

    /// Whether an event is shown: of a call or of none, of a run or of none, placed at some time or at none.
    pub(super) fn event(&self, call: u32, run: u32, at: Option<Timestamp>) -> bool {
        if self.everything {
            return true;
        }
        let target = self.case.calls.get(call as usize).and_then(|call| call.target);
        self.tool.takes(target)
            && self.of_run(run as usize)
            && self.select.since.is_none_or(|since| at.is_none_or(|at| at >= since))
            && self.select.until.is_none_or(|until| at.is_none_or(|at| at <= until))
    }

    /// Whether an operation is shown.
    pub(super) fn operation(&self, operation: &Operation) -> bool {
        operation.attempts.iter().any(|call| self.call(*call))
    }

    /// Whether a finding is shown.
    pub(super) fn finding(&self, finding: &Finding) -> bool {
        match (finding.call, finding.run) {
            (Some(call), _) => self.call(call),
            (None, Some(run)) => self.run(run as usize),
            (None, None) => true,
        }
    }

    fn of_run(&self, index: usize) -> bool {
        let Some(run) = self.case.runs.get(index) else {
            return self.select.run.is_none() && self.server == Wanted::Any;
        };
        let server = self.server == Wanted::Any
            || run.strands.iter().any(|strand| self.server.takes(self.case.strands[*strand as usize].server));
        server && self.select.run.as_ref().is_none_or(|name| *name == run.name)
    }

    fn in_window(&self, call: &Call) -> bool {
        // An end without a time does not make a call last for ever.
        let ended = call.answered.filter(|mark| mark.at.is_some() || call.asked.is_none_or(|asked| asked.at.is_none()));
        match (call.asked.or(call.answered), ended.or(call.asked)) {
            (Some(first), Some(last)) => self.meets(first, last),
            _ => true,
        }
    }

    /// Whether a window meets the selected one. What has no time cannot be left out.
    fn meets(&self, first: Mark, last: Mark) -> bool {
        let after = |mark: Mark, bound: Timestamp| self.case.shown(mark).is_none_or(|at| at >= bound);
        let before = |mark: Mark, bound: Timestamp| self.case.shown(mark).is_none_or(|at| at <= bound);
        self.select.since.is_none_or(|since| after(last, since))
            && self.select.until.is_none_or(|until| before(first, until))
    }
}

/// The calls that are listed.
pub(super) fn calls<'a>(report: &Report<'a>) -> impl Iterator<Item = (u32, &'a CallVerdict)> + use<'a> {
    let selected = Selected::new(report);
    let shown = report.options.calls;
    let kept = report.verdicts.calls.iter().map(|(index, verdict)| (*index, verdict));
    kept.filter(move |(index, verdict)| shown.keeps(verdict) && selected.call(*index))
}
