//! What the human forms say, prepared once: sentences, rows and citations, clean but not yet escaped for a form.
//!
//! It lays nothing out. Answers that are equal are one row with a count; of very many rows the first are kept.

mod advice;
mod calls;
mod count;
mod coverage;
mod findings;
mod handles;
mod impact;
mod next;
mod repair;
mod runs;
mod scope;
mod timeline;

use std::collections::BTreeSet;

use crate::{
    correlate::{Case, Mark},
    event::Origin,
    judge::{Assumption, Evidence, Place},
    symbol::Symbol,
};

pub(super) use advice::{Advice, Class};
pub(super) use calls::{CallRow, about, outcome, reason};
pub(crate) use count::listed;
pub(super) use count::plural;
pub(super) use coverage::{Coverage, MissingRow, missing_of};
pub(super) use findings::FindingRow;
pub(super) use impact::Impact;
pub(super) use runs::RunRow;
pub(super) use timeline::Moment;

use self::{
    count::{all_of, and_more, none_of},
    scope::Scope,
};
use super::{CallsShown, Report, layout, names::Names, place::Places, select::Selected};

/// At most so many runs are shown.
const RUNS: usize = 20;
/// At most so many calls are shown.
const CALLS: usize = 40;
/// At most so many findings are shown.
const FINDINGS: usize = 25;
/// At most so many places are cited of one claim.
const CITED: usize = 5;

/// The rows of a section, and how many were left out.
#[derive(Debug)]
pub(super) struct Rows<T> {
    /// What is shown.
    pub(super) shown: Vec<T>,
    /// How many more there are, counted one by one.
    pub(super) left: u64,
}

impl<T> Rows<T> {
    pub(super) fn is_empty(&self) -> bool {
        self.shown.is_empty()
    }

    /// Where the rest is. The noun is that of one.
    pub(super) fn rest(&self, noun: &str) -> Option<String> {
        (self.left > 0).then(|| format!("{}: see --output ndjson.", plural(self.left, &format!("more {noun}"))))
    }
}

/// A place that is cited.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Cite {
    /// `path:line`, or `path#record` in a JSON document.
    pub(super) place: String,
    /// What it shows, as a phrase.
    pub(super) role: String,
    /// Its words say it; those of a stretch in which something is absent do not.
    quotable: bool,
    /// Its words.
    pub(super) quote: Option<String>,
    /// The record.
    pub(super) origin: Origin,
}

/// Everything a person is told.
#[derive(Debug)]
pub(super) struct View {
    /// What to do first.
    pub(super) advice: Vec<Advice>,
    /// The runs.
    pub(super) runs: Rows<RunRow>,
    /// The calls that did not end well, or all that are listed.
    pub(super) calls: Rows<CallRow>,
    /// Findings.
    pub(super) findings: Rows<FindingRow>,
    /// What happened outside.
    pub(super) impact: Impact,
    /// Key events of the shown calls and runs.
    pub(super) timeline: Rows<Moment>,
    /// What would settle open questions.
    pub(super) missing: Rows<MissingRow>,
    /// What was read.
    pub(super) coverage: Coverage,
    /// What to log, so that the open questions close by themselves.
    pub(super) next: Vec<&'static str>,
    /// Which calls it is about.
    scope: Scope,
    /// Successes are listed, too.
    all: bool,
}

impl View {
    pub(super) fn new(report: &Report<'_>) -> Self {
        let desk = &Desk::new(report);
        // The sections that walk all calls or all runs, side by side.
        let ((advice, next), (runs, (calls, missing))) = rayon::join(
            || rayon::join(|| advice::advice(desk), || next::next(desk)),
            || rayon::join(|| runs::runs(desk), || rayon::join(|| calls::calls(desk), || coverage::missing(desk))),
        );
        let mut view = Self {
            advice,
            runs,
            calls,
            findings: findings::findings(desk),
            impact: impact::impact(desk),
            timeline: timeline::timeline(desk),
            missing,
            coverage: coverage::coverage(desk),
            next,
            scope: Scope::new(desk),
            all: report.options.calls == CallsShown::All,
        };
        view.quote(report);
        view
    }

    /// Puts the words of the records beside their places.
    pub(super) fn quote(&mut self, report: &Report<'_>) {
        if report.quotes.is_empty() {
            return;
        }
        let names = Names::readable(report);
        let runs = self.runs.shown.iter_mut().flat_map(|row| &mut row.cites);
        let calls = self.calls.shown.iter_mut().flat_map(|row| &mut row.cites);
        let findings = self.findings.shown.iter_mut().flat_map(|row| &mut row.cites);
        for cite in runs.chain(calls).chain(findings).filter(|cite| cite.quotable) {
            cite.quote = report.quotes.get(&cite.origin).map(|quote| flat(&names.whole(quote)));
        }
    }

    /// What there is to say where no call needs to be sent again.
    pub(super) fn nothing_failed(&self) -> String {
        self.scope.nothing_failed()
    }

    /// The heading of the calls.
    pub(super) fn calls_title(&self) -> &'static str {
        if self.all { "Calls" } else { "Calls without a success on record" }
    }

    /// Everything that is cited.
    fn cites(&self) -> impl Iterator<Item = &Cite> {
        let runs = self.runs.shown.iter().flat_map(|row| &row.cites);
        let calls = self.calls.shown.iter().flat_map(|row| &row.cites);
        runs.chain(calls).chain(self.findings.shown.iter().flat_map(|row| &row.cites))
    }
}

/// The words of a record with single blanks: indentation tells nobody anything on one line.
pub(super) fn flat(quote: &str) -> String {
    quote.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The places whose words the human forms show.
pub(super) fn cites(report: &Report<'_>, wanted: &mut Vec<Origin>) {
    wanted.extend(report.view().cites().map(|cite| cite.origin));
}

/// What all sections are made from.
pub(super) struct Desk<'r, 'a> {
    report: &'r Report<'a>,
    pub(super) names: Names<'a>,
    selected: Selected<'a>,
    /// The folder that all paths are in, where they are too long to be printed with it.
    pub(super) root: String,
}

/// Paths up to this length are printed whole.
const PATH_LIMIT: usize = 32;

/// The folder that all sources are in, with its slash; empty where the paths are short.
pub(super) fn root(report: &Report<'_>, names: &Names<'_>, limit: usize) -> String {
    let paths: Vec<String> = report.sources.iter().map(|source| names.path(&source.path)).collect();
    let (Some(first), Some(longest)) = (paths.first(), paths.iter().map(|path| layout::width(path)).max()) else {
        return String::new();
    };
    if longest <= limit {
        return String::new();
    }
    let mut root = first.as_str();
    while let Some(at) = root.rfind('/') {
        root = root.get(..at).unwrap_or_default();
        let inside = |path: &String| path.strip_prefix(root).is_some_and(|rest| rest.starts_with('/'));
        if paths.iter().all(inside) {
            return format!("{root}/");
        }
    }
    String::new()
}

/// How a call is called: its tool, else its method with its target.
pub(super) fn noun(case: &Case, names: &Names<'_>, index: u32) -> String {
    let call = &case.calls[index as usize];
    let method = names.name(call.method);
    match call.target.map(|target| names.name(target)) {
        Some(tool) if method == "tools/call" => tool.to_owned(),
        Some(target) => format!("{method} {target}"),
        None => method.to_owned(),
    }
}

impl<'r, 'a> Desk<'r, 'a> {
    pub(super) fn new(report: &'r Report<'a>) -> Self {
        let names = Names::readable(report);
        let root = root(report, &names, PATH_LIMIT);
        Self { report, names, selected: Selected::new(report), root }
    }
}

impl Desk<'_, '_> {
    /// The first places of a claim, each record once.
    pub(super) fn cite<'e>(&self, evidence: impl IntoIterator<Item = &'e Evidence>) -> (Vec<Cite>, usize) {
        let mut cites: Vec<Cite> = Vec::new();
        let mut known: BTreeSet<Origin> = BTreeSet::new();
        let mut left = 0;
        for piece in evidence {
            let origin = match piece.place {
                Place::Seen(mark) | Place::Counted { first: mark, .. } => mark.origin,
                Place::Absent { from, .. } => from,
            };
            if !known.insert(origin) {
                continue;
            }
            if cites.len() < CITED { cites.push(self.place(piece)) } else { left += 1 }
        }
        (cites, left)
    }

    fn place(&self, piece: &Evidence) -> Cite {
        let (origin, place, quotable) = match piece.place {
            Place::Seen(mark) => (mark.origin, self.spot(mark.origin), true),
            Place::Counted { count, of, first } => {
                (first.origin, format!("{} ({count} of {of})", self.spot(first.origin)), true)
            }
            Place::Absent { from, to } => (from, format!("{} to {}", self.spot(from), self.places().number(to)), false),
        };
        Cite { place, role: self.names.text(&piece.role), quotable, quote: None, origin }
    }

    /// What a verdict takes from the policy, as a list of clauses with their lines.
    fn assumed<'t>(&self, known: impl IntoIterator<Item = &'t Assumption>) -> Option<String> {
        let clause =
            |known: &Assumption| format!("{} ({})", self.names.text(&known.text), self.names.path(&known.place));
        let clauses: Vec<String> = known.into_iter().map(clause).collect();
        (!clauses.is_empty()).then(|| clauses.join("; "))
    }

    pub(super) fn places(&self) -> Places<'_, '_> {
        Places { report: self.report, names: &self.names, root: &self.root }
    }

    /// `path:line`; `path#record` in a JSON document.
    pub(super) fn spot(&self, origin: Origin) -> String {
        self.places().spot(origin)
    }

    /// The path of a source, with the path inside its archive.
    fn path(&self, index: usize) -> String {
        self.places().path(index)
    }

    /// A path as it is shown.
    fn path_of(&self, path: &str, member: Option<&str>) -> String {
        self.places().path_of(path, member)
    }

    /// Time of day, placed.
    fn clock(&self, mark: Mark) -> Option<String> {
        self.report.case.shown(mark).map(crate::time::Timestamp::clock)
    }

    /// How a call is called: its tool, else its method with its target.
    pub(super) fn noun(&self, index: u32) -> String {
        noun(self.report.case, &self.names, index)
    }

    /// The server of a run.
    pub(super) fn server(&self, run: usize) -> Option<Symbol> {
        let case = self.report.case;
        case.runs.get(run)?.strands.iter().find_map(|strand| case.strands[*strand as usize].server)
    }
}
