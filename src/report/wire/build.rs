//! The pieces of the report, in order, each made when it is asked for.

use super::{
    Call, Coverage, Finding, Operation, Policy, Run, Selection, Source, Totals, UnusedTerm, call, evidence::listed,
    run, source,
};
use crate::{
    event::Origin,
    judge::CallVerdict,
    report::{Report, filter::Filter, names::Names, select, select::Selected},
};

/// A report that can be walked piece by piece.
#[derive(Debug)]
pub(in crate::report) struct Wire<'a> {
    report: &'a Report<'a>,
    names: Names<'a>,
    selected: Selected<'a>,
}

/// The words of at most so many calls are quoted; beyond that the places must do.
const QUOTED_CALLS: usize = 20_000;

impl<'a> Wire<'a> {
    pub(in crate::report) fn new(report: &'a Report<'a>) -> Self {
        Self { report, names: Names::new(report), selected: Selected::new(report) }
    }

    /// What was selected; nothing where everything is shown.
    pub(in crate::report) fn selection(&self) -> Option<Selection> {
        let filter = Filter::new(self.report, &self.names, &self.selected)?;
        let value = |name| filter.options.iter().find(|(known, _)| *known == name).map(|(_, value)| value.clone());
        Some(Selection {
            run: value("run"),
            server: value("server"),
            tool: value("tool"),
            since: value("since"),
            until: value("until"),
            runs: filter.runs,
            calls: filter.calls,
        })
    }

    /// The policy, if there is one.
    pub(in crate::report) fn policy(&self) -> Option<Policy> {
        let info = self.report.options.policy.as_ref()?;
        let unused = info
            .unused
            .iter()
            .map(|unused| UnusedTerm { place: self.names.path(&unused.place), reason: self.names.text(&unused.why) });
        let (path, sha256) = (self.names.path(&info.path), info.sha256.clone());
        Some(Policy { path, sha256, unused: unused.collect() })
    }

    pub(in crate::report) fn sources(&self) -> impl Iterator<Item = Source> {
        let sources = self.report.sources.iter().enumerate();
        sources.map(|(index, info)| source::source(self.report, &self.names, index, info))
    }

    pub(in crate::report) fn runs(&self) -> impl Iterator<Item = Run> {
        let runs = self.report.verdicts.runs.iter().filter(|verdict| self.selected.run(verdict.index));
        runs.map(|verdict| run::run(self.report, &self.names, verdict))
    }

    pub(in crate::report) fn calls(&self) -> impl Iterator<Item = Call> {
        select::calls(self.report).map(|(index, verdict)| call::call(self.report, &self.names, index, verdict))
    }

    /// One call, whether it is selected or not.
    pub(in crate::report) fn call(&self, index: u32, verdict: &CallVerdict) -> Call {
        call::call(self.report, &self.names, index, verdict)
    }

    /// The operation of a call.
    pub(in crate::report) fn operation_of(&self, call: u32) -> Option<Operation> {
        let (index, verdict) = self.report.operation_of(call)?;
        Some(call::operation(self.report, &self.names, index, verdict))
    }

    pub(in crate::report) fn operations(&self) -> impl Iterator<Item = Operation> {
        let operations = self.report.verdicts.operations.iter().zip(&self.report.case.operations).enumerate();
        let shown = operations.filter(|(_, (_, operation))| self.selected.operation(operation));
        shown.map(|(index, (verdict, _))| call::operation(self.report, &self.names, index, verdict))
    }

    pub(in crate::report) fn findings(&self) -> impl Iterator<Item = Finding> {
        let shown = self.report.verdicts.findings.iter().filter(|finding| self.selected.finding(finding));
        shown.map(|finding| call::finding(self.report, &self.names, finding))
    }

    pub(in crate::report) fn coverage(&self) -> Coverage {
        source::coverage(self.report, &self.names)
    }

    pub(in crate::report) fn totals(&self) -> Totals {
        source::totals(self.report)
    }
}

/// The places whose words the wire forms show. Of very many calls only those that did not end well are quoted.
pub(in crate::report) fn cites(report: &Report<'_>, wanted: &mut Vec<Origin>) {
    let selected = Selected::new(report);
    for verdict in report.verdicts.runs.iter().filter(|verdict| selected.run(verdict.index)) {
        for question in [&verdict.started, &verdict.initialized, &verdict.tools_listed, &verdict.reached_outside] {
            listed(&question.evidence, wanted);
        }
        listed(verdict.restart.proof.iter(), wanted);
        listed(&verdict.reach.evidence, wanted);
    }
    let few = select::calls(report).nth(QUOTED_CALLS).is_none();
    let quoted = select::calls(report).filter(|(_, verdict)| few || !verdict.outcome.is_success());
    for (_, verdict) in quoted.take(QUOTED_CALLS) {
        cite_call(verdict, wanted);
    }
    for finding in report.verdicts.findings.iter().filter(|finding| selected.finding(finding)) {
        listed(finding.proof.iter(), wanted);
    }
}

fn cite_call(verdict: &CallVerdict, wanted: &mut Vec<Origin>) {
    listed(&verdict.evidence, wanted);
    listed(verdict.retry.proof.iter(), wanted);
    listed(&verdict.reach.evidence, wanted);
    for (_, evidence) in &verdict.conflicts {
        listed(evidence, wanted);
    }
}
